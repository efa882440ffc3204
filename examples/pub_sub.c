/* pub_sub.c — one publishes, everybody who has subscribed gets everything, each at its own pace. What happens to a
 * subscriber that is too slow is the choice of its channel: it holds up the publisher, misses the newest, or misses
 * the oldest.
 *
 *     cc pub_sub.c $(pkg-config --cflags --libs raddle) -o pub_sub && ./pub_sub */
#include <raddle.h>
#include <stdio.h>

enum { SUBSCRIBERS = 3, MESSAGES = 200, ROOM = 16 };

typedef struct subscriber {
    const char *name;
    enum rad_chan_mode mode;
    rad_chan *inbox;
    uint32_t got, missed, last;
} subscriber;

typedef struct topic {
    subscriber *subscribers;
    uint32_t count;
} topic;

/* A send that answers 1 has thrown something away: for this subscriber only. */
static int publish(topic *t, uint32_t message)
{
    for (uint32_t i = 0; i < t->count; i++) {
        subscriber *s = &t->subscribers[i];
        int code = rad_send(s->inbox, &message, RAD_FOREVER);
        if (code < 0) return code;
        s->missed += (uint32_t)code;
    }
    return 0;
}

static void topic_close(topic *t)
{
    for (uint32_t i = 0; i < t->count; i++) rad_chan_close(t->subscribers[i].inbox, 0);
}

static int subscriber_run(void *arg)
{
    subscriber *s = arg;
    uint32_t message;
    while (rad_recv(s->inbox, &message, RAD_FOREVER) == 0) {
        if (message <= s->last) return 1; /* never twice, never in another order */
        s->last = message;
        s->got++;
        if (s->mode != RAD_CHAN_BLOCKS) rad_sleep(1000000); /* too slow */
    }
    return 0;
}

static int publisher_run(void *arg)
{
    topic *t = arg;
    int code = 0;
    for (uint32_t m = 1; m <= MESSAGES && code == 0; m++) code = publish(t, m);
    topic_close(t); /* what they have not read yet they still get */
    return code;
}

static int start(void *arg)
{
    topic *t = arg;
    rad_nursery n;
    int code = 0;
    for (uint32_t i = 0; i < t->count && code == 0; i++)
        code = rad_chan_create(&t->subscribers[i].inbox, sizeof(uint32_t), ROOM, t->subscribers[i].mode);
    if (code != 0) return code;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < t->count; i++) rad_nursery_go(&n, subscriber_run, &t->subscribers[i]);
    rad_nursery_go(&n, publisher_run, t);
    code = rad_nursery_wait(&n);
    for (uint32_t i = 0; i < t->count; i++) rad_chan_destroy(t->subscribers[i].inbox);
    return code;
}

int main(void)
{
    subscriber s[SUBSCRIBERS] = {{.name = "keeps up", .mode = RAD_CHAN_BLOCKS},
                                 {.name = "misses the newest", .mode = RAD_CHAN_DROPS_NEW},
                                 {.name = "misses the oldest", .mode = RAD_CHAN_DROPS_OLD}};
    topic t = {s, SUBSCRIBERS};
    int code = rad_main(NULL, start, &t, NULL);
    for (int i = 0; i < SUBSCRIBERS; i++) {
        bool whole = s[i].got + s[i].missed == MESSAGES;
        printf("%s: %s\n", s[i].name, !whole ? "WRONG" : s[i].missed ? "got a part" : "got everything");
        if (!whole) code = 1;
    }
    /* The last message is never the one that is too old. */
    return code != 0 || s[0].got != MESSAGES || s[2].last != MESSAGES;
}
