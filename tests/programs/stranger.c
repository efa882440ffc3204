/* stranger.c — a lock that could not be had is given back all the same. */
#include "planted.h"

static rad_mutex m;

static int holder(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    rad_yield();
    rad_mutex_unlock(&m);
    return 0;
}

static int tries(void *arg)
{
    (void)arg;
    bool got = rad_mutex_lock_until(&m, 0) == 0;
    if (got || !fixed) rad_mutex_unlock(&m);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(holder, tries);
}
