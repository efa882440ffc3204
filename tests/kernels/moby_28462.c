/* moby#28462 (found as moby#28405), a stop that is sent with the lock held. The monitor of a container probes its
 * health, and takes the container's lock to note the result. An event that stops the container holds that lock,
 * and sends to the monitor's channel, so as to be sure that it has ended.
 * Goes wrong: the monitor has a result and waits for the lock. The repair closes the channel instead. */
#include "kernel.h"

static rad_mutex container = RAD_MUTEX_INIT;
static rad_chan *stop, *results;

static int probes(void *unused)
{
    (void)unused;
    SEND(results);
    return 0;
}

static int monitors(void *unused)
{
    (void)unused;
    for (;;) {
        rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = stop}, {.kind = RAD_ON_RECV, .on.chan = results}};
        if (rad_select(cases, 2, RAD_FOREVER) == 0) return 0;
        rad_mutex_lock(&container); /* notes it */
        rad_mutex_unlock(&container);
    }
}

static int stops(void *unused)
{
    (void)unused;
    rad_mutex_lock(&container);
    if (fixed)
        rad_chan_close(stop, 0);
    else
        SEND(stop);
    rad_mutex_unlock(&container);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    stop = signals(0);
    results = signals(1);
    GO(monitors, NULL);
    GO(probes, NULL);
    GO(stops, NULL);
    return 0;
}
