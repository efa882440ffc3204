/* taken_twice.c — two fibers wait for each other's lock; one of them had its lock before, and gave it back. */
#include "planted.h"

static rad_mutex hall, yard;

static int comes_again(void *arg)
{
    (void)arg;
    rad_mutex_lock(&hall);
    rad_mutex_unlock(&hall);
    rad_mutex_lock(fixed ? &yard : &hall); /* this one is not given back */
    rad_mutex_lock(fixed ? &hall : &yard);
    rad_mutex_unlock(&yard);
    rad_mutex_unlock(&hall);
    return 0;
}

static int comes(void *arg)
{
    (void)arg;
    rad_mutex_lock(&yard);
    rad_mutex_lock(&hall);
    rad_mutex_unlock(&hall);
    rad_mutex_unlock(&yard);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(comes_again, comes);
}
