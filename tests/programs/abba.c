/* abba.c — two locks, taken in two orders. */
#include "planted.h"

static rad_mutex a, b;

static void in_order(rad_mutex *first, rad_mutex *second)
{
    rad_mutex_lock(first);
    rad_mutex_lock(second);
    rad_mutex_unlock(second);
    rad_mutex_unlock(first);
}

static int one(void *arg)
{
    (void)arg;
    in_order(&a, &b);
    return 0;
}

static int two(void *arg)
{
    (void)arg;
    in_order(fixed ? &a : &b, fixed ? &b : &a);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(one, two);
}
