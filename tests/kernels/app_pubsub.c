/* A broker with subscribers that come and go; one that is slow misses the oldest messages.
 * Publishing takes a list of the subscribers under the broker's lock, and sends outside of it, so that a slow one does
 * not hold up the others. A subscriber is used again when its last reference is given back.
 * Goes wrong: the references of the list are counted after the lock was left. A subscriber that leaves in between is
 * free while it is being sent to, and may have become another one, which gets a message of a topic that it did not ask
 * for. Repaired, they are counted under the lock. */
#include "kernel.h"

enum { SUBSCRIBERS = 2, MESSAGES = 3, ROOM = 2, TOPICS = 2 };

typedef struct message {
    int topic, number;
} message;

typedef struct subscriber {
    bool used;
    bool listed; /* the broker sends to it */
    int topic;
    int references; /* its owner's, and those of publications under way */
    rad_chan *messages;
} subscriber;

static rad_mutex broker = RAD_MUTEX_INIT;
static subscriber all[SUBSCRIBERS];

static subscriber *subscribe(int topic)
{
    subscriber *found = NULL;
    rad_mutex_lock(&broker);
    for (int i = 0; i < SUBSCRIBERS && !found; i++)
        if (!all[i].used) found = &all[i];
    if (found) {
        found->used = found->listed = true;
        found->topic = topic;
        found->references = 1;
        while (rad_recv(found->messages, &(message){0, 0}, 0) == 0) continue; /* of the one before it */
    }
    rad_mutex_unlock(&broker);
    return found;
}

static void release(subscriber *s) /* under the lock */
{
    if (--s->references == 0) s->used = false;
}

static void unsubscribe(subscriber *s)
{
    rad_mutex_lock(&broker);
    s->listed = false;
    release(s);
    rad_mutex_unlock(&broker);
}

static void publish(message m)
{
    subscriber *list[SUBSCRIBERS];
    int count = 0;
    rad_mutex_lock(&broker);
    for (int i = 0; i < SUBSCRIBERS; i++) {
        if (!all[i].listed || all[i].topic != m.topic) continue;
        list[count++] = &all[i];
        if (fixed) all[i].references++;
    }
    rad_mutex_unlock(&broker);
    for (int i = 0; i < count; i++) {
        if (!fixed) {
            rad_mutex_lock(&broker);
            list[i]->references++;
            rad_mutex_unlock(&broker);
        }
        RAD_IGNORE(rad_send(list[i]->messages, &m, RAD_FOREVER)); /* drops the oldest, and does not wait */
        rad_mutex_lock(&broker);
        release(list[i]);
        rad_mutex_unlock(&broker);
    }
}

static int publishes(void *arg)
{
    for (int i = 0; i < MESSAGES; i++) publish((message){.topic = *(int *)arg, .number = i});
    return 0;
}

static int listens(void *unused)
{
    (void)unused;
    for (int topic = 0; topic < TOPICS; topic++) {
        subscriber *s = subscribe(topic);
        if (!s) continue; /* publications under way still have the others */
        message m;
        for (int i = 0, before = -1; i < 2; i++) {
            if (rad_recv(s->messages, &m, 0) != 0) continue;
            CHECK(m.topic == topic);
            CHECK(m.number > before);
            before = m.number;
        }
        unsubscribe(s);
    }
    return 0;
}

static int start(void *unused)
{
    static int topics[TOPICS] = {0, 1};
    rad_nursery n;
    (void)unused;
    for (int i = 0; i < SUBSCRIBERS; i++)
        CHECK(rad_chan_create(&all[i].messages, sizeof(message), ROOM, RAD_CHAN_DROPS_OLD) == 0);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, listens, NULL);
    rad_nursery_go(&n, listens, NULL);
    for (int i = 0; i < TOPICS; i++) rad_nursery_go(&n, publishes, &topics[i]);
    int code = rad_nursery_wait(&n);
    for (int i = 0; i < SUBSCRIBERS; i++) CHECK(!all[i].used);
    return code;
}
