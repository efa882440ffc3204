/* A store whose values expire. Readers and writers share an RW lock; each key has a timer that removes its value, and
 * writing a key starts the timer anew.
 * Goes wrong: the timer has fired, and its function waits for the lock, while a writer writes the key and starts the
 * timer for the new value. Then the function removes the new value, long before it expires. Repaired, it looks whether
 * the value has expired. */
#include "kernel.h"

enum { MILLISECOND = 1000000, LIFE = 2 * MILLISECOND, KEYS = 2, ROUNDS = 2 };

typedef struct slot {
    bool present;
    int value;
    rad_time expires;
    rad_timer *timer;
} slot;

static rad_rwlock lock = RAD_RWLOCK_INIT;
static slot slots[KEYS];
static rad_mutex tally = RAD_MUTEX_INIT;
static int removals;

static int expire(void *arg)
{
    slot *s = arg;
    rad_rwlock_write(&lock);
    bool removes = s->present && (!fixed || rad_now() >= s->expires);
    if (removes) s->present = false;
    rad_rwlock_unlock(&lock);
    rad_mutex_lock(&tally);
    removals += removes;
    rad_mutex_unlock(&tally);
    return 0;
}

static void put(int key, int value)
{
    slot *s = &slots[key];
    rad_rwlock_write(&lock);
    s->present = true;
    s->value = value;
    s->expires = rad_after(LIFE);
    CHECK(rad_timer_start(s->timer, s->expires) >= 0);
    rad_rwlock_unlock(&lock);
}

/* False: there is none. *expires is when the last one has to go, or had to. */
static bool get(int key, int *value, rad_time *expires)
{
    rad_rwlock_read(&lock);
    bool present = slots[key].present;
    *value = slots[key].value;
    *expires = slots[key].expires;
    rad_rwlock_unlock(&lock);
    return present;
}

static int writes(void *arg)
{
    int key = *(int *)arg, value;
    rad_time expires;
    for (int i = 1; i <= ROUNDS; i++) {
        put(key, i);
        /* Only this fiber writes the key, so it is there until it expires. */
        bool there = get(key, &value, &expires);
        CHECK(there || rad_now() >= expires);
        CHECK(!there || value == i);
        rad_sleep(key == 0 ? LIFE : MILLISECOND);
    }
    return 0;
}

static int reads(void *unused)
{
    (void)unused;
    int value;
    rad_time expires;
    for (int i = 0; i < ROUNDS; i++) {
        for (int key = 0; key < KEYS; key++)
            if (get(key, &value, &expires)) CHECK(value >= 1 && value <= ROUNDS);
        rad_sleep(MILLISECOND);
    }
    return 0;
}

static int start(void *unused)
{
    static int keys[KEYS] = {0, 1};
    rad_nursery n;
    (void)unused;
    for (int i = 0; i < KEYS; i++) CHECK(rad_timer_create(&slots[i].timer, expire, &slots[i]) == 0);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < KEYS; i++) rad_nursery_go(&n, writes, &keys[i]);
    rad_nursery_go(&n, reads, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(removals <= KEYS * ROUNDS);
    return code;
}
