/* moby#25384, a wait in the wrong place.
 * Plugins are restored by one fiber each, and a wait group counts all of them. The wait is inside of the loop that
 * starts the fibers, so the first wait expects those that were not started.
 * Goes wrong: the loop waits forever, always, if there is more than one plugin. */
#include "kernel.h"

enum { PLUGINS = 2 };

static rad_waitgroup group = RAD_WAITGROUP_INIT;

static int restores(void *unused)
{
    (void)unused;
    rad_waitgroup_done(&group);
    return 0;
}

static int start(void *unused)
{
    int code = 0;
    (void)unused;
    rad_waitgroup_add(&group, PLUGINS);
    for (int i = 0; i < PLUGINS && code == 0; i++) {
        GO(restores, NULL);
        if (!fixed) code = rad_waitgroup_wait(&group, RAD_FOREVER);
    }
    return fixed ? rad_waitgroup_wait(&group, RAD_FOREVER) : code;
}
