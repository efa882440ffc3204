/* umbra#128, counted too late.
 * Each worker adds itself to the group when it begins. A stop waits for the group.
 * Goes wrong: the stop comes before a worker has begun, waits for nobody, and closes what the worker needs. */
#include "kernel.h"

static rad_waitgroup running;
static bool is_open = true;

static int works(void *unused)
{
    (void)unused;
    if (!fixed) rad_waitgroup_add(&running, 1);
    CHECK(is_open);
    rad_waitgroup_done(&running);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        if (fixed) rad_waitgroup_add(&running, 1);
        GO(works, NULL);
    }
    CHECK(rad_waitgroup_wait(&running, RAD_FOREVER) == 0);
    is_open = false;
    return 0;
}
