/* ticking.c — two fibers wait for each other's lock, while a third one works for ever: nothing comes to a standstill,
 * and yet two fibers will never run again. */
#include "planted.h"

static rad_mutex accounts, journal;
static int ticks;

static int transfer(void *arg)
{
    (void)arg;
    rad_mutex_lock(&accounts);
    rad_mutex_lock(&journal);
    rad_mutex_unlock(&journal);
    rad_mutex_unlock(&accounts);
    return 0;
}

static int audit(void *arg)
{
    (void)arg;
    rad_mutex_lock(fixed ? &accounts : &journal);
    rad_mutex_lock(fixed ? &journal : &accounts);
    rad_mutex_unlock(fixed ? &journal : &accounts);
    rad_mutex_unlock(fixed ? &accounts : &journal);
    return 0;
}

static int ticker(void *arg)
{
    (void)arg;
    for (ticks = 0; ticks < 50; ticks++)
        if (rad_sleep(1000000) != 0) return 1;
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, ticker, NULL);
    rad_nursery_go(&n, transfer, NULL);
    rad_nursery_go(&n, audit, NULL);
    return rad_nursery_wait(&n);
}
