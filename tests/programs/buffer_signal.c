/* buffer_signal.c — a buffer of one place, with one condition for those who put and those who take. A signal that is
 * meant for a taker wakes another putter, which finds the buffer full and waits again. */
#include "planted.h"

#ifndef TIMES
#define TIMES 1
#endif

static rad_mutex lock;
static rad_cond changed;
static int full;

static void tell(void)
{
    if (fixed)
        rad_cond_broadcast(&changed);
    else
        rad_cond_signal(&changed);
}

static void put_one(void)
{
    rad_mutex_lock(&lock);
    while (full) RAD_IGNORE(rad_cond_wait(&changed, &lock, RAD_FOREVER));
    full = 1;
    tell();
    rad_mutex_unlock(&lock);
}

static void take_one(void)
{
    rad_mutex_lock(&lock);
    while (!full) RAD_IGNORE(rad_cond_wait(&changed, &lock, RAD_FOREVER));
    full = 0;
    tell();
    rad_mutex_unlock(&lock);
}

static int put(void *arg)
{
    (void)arg;
    for (int i = 0; i < TIMES; i++) put_one();
    return 0;
}

static int take(void *arg)
{
    (void)arg;
    for (int i = 0; i < TIMES; i++) take_one();
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 2; i++) {
        rad_nursery_go(&n, take, NULL);
        rad_nursery_go(&n, put, NULL);
    }
    return rad_nursery_wait(&n);
}
