/* grpc-go#660, results without a receiver.
 * The benchmark client starts workers that report each call on a channel. When the client is stopped it returns without
 * taking the reports that are still to come.
 * Goes wrong: a worker waits forever, if the stop comes before its report. */
#include "kernel.h"

enum { CALLS = 2 };

static rad_chan *done, *stop;

static int calls(void *unused)
{
    (void)unused;
    rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = done},
                                {.kind = fixed ? RAD_ON_RECV : RAD_OFF, .on.chan = stop}};
    RAD_IGNORE(rad_select(cases, 2, RAD_FOREVER));
    return 0;
}

static int stops(void *unused)
{
    (void)unused;
    rad_chan_close(stop, 0);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    done = signals(0);
    stop = signals(0);
    GO(stops, NULL);
    for (int i = 0; i < CALLS; i++) GO(calls, NULL);
    for (int i = 0; i < CALLS; i++) {
        rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = done}, {.kind = RAD_ON_RECV, .on.chan = stop}};
        if (rad_select(cases, 2, RAD_FOREVER) != 0) return 0;
    }
    return 0;
}
