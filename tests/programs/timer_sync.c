/* timer_sync.c — a sleep in the place of a join: whoever is slower than 10 ms is overtaken. */
#include "planted.h"

static rad_mutex m;
static int value;

static int setter(void *arg)
{
    (void)arg;
    RAD_IGNORE(rad_sleep(1000000));
    rad_mutex_lock(&m);
    value = 42;
    rad_mutex_unlock(&m);
    return 0;
}

static int start(void *arg)
{
    rad_fiber f;
    (void)arg;
    if (rad_spawn(&f, setter, NULL) != 0) return 1;
    if (fixed)
        RAD_IGNORE(rad_join(f, NULL, RAD_FOREVER));
    else
        RAD_IGNORE(rad_sleep(10000000));
    rad_mutex_lock(&m);
    assert(value == 42);
    rad_mutex_unlock(&m);
    if (!fixed) RAD_IGNORE(rad_join(f, NULL, RAD_FOREVER));
    rad_release(f);
    return 0;
}
