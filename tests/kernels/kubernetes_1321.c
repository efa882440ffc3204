/* kubernetes#1321, a close behind the lock of the sender.
 * The multiplexer sends an event to each watcher while it holds its lock. Stopping a watcher would end that send by a
 * close of the watcher's channel, but takes the lock first.
 * Goes wrong: the two wait for each other, if the event is sent after the watcher took its last one. */
#include "kernel.h"

static rad_mutex mux = RAD_MUTEX_INIT;
static bool watched = true;
static rad_chan *result, *stopped;

static int distributes(void *unused)
{
    (void)unused;
    rad_mutex_lock(&mux);
    if (watched) {
        rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = result},
                                    {.kind = fixed ? RAD_ON_RECV : RAD_OFF, .on.chan = stopped}};
        RAD_IGNORE(rad_select(cases, 2, RAD_FOREVER));
    }
    rad_mutex_unlock(&mux);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    result = signals(0);
    stopped = signals(0);
    GO(distributes, NULL);
    rad_yield();
    rad_chan_close(stopped, 0); /* Stop: at `stopped` only the repaired send looks */
    rad_mutex_lock(&mux);
    watched = false;
    rad_chan_close(result, 0);
    rad_mutex_unlock(&mux);
    return 0;
}
