/* cockroach#24808, a send to a channel that is full.
 * Starting the compactor sends itself a first suggestion, on a channel with room for one. A suggestion that has come
 * before the start fills the channel, and the loop that would take it is started only afterwards.
 * Goes wrong: the start waits forever. */
#include "kernel.h"

static rad_chan *suggestions, *stop;
static int compacted;

static int compacts(void *unused)
{
    (void)unused;
    for (;;) {
        rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = suggestions},
                                    {.kind = RAD_ON_RECV, .on.chan = stop}};
        if (rad_select(cases, 2, RAD_FOREVER) != 0) return 0;
        compacted++;
    }
}

static int suggests(void *unused)
{
    (void)unused;
    RAD_IGNORE(rad_send(suggestions, NULL, 0)); /* if it is full, the compactor will run anyway */
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    suggestions = signals(1);
    stop = signals(0);
    GO(suggests, NULL);
    rad_yield();
    RAD_IGNORE(rad_send(suggestions, NULL, fixed ? 0 : RAD_FOREVER));
    GO(compacts, NULL);
    rad_yield();
    rad_chan_close(stop, 0);
    return 0;
}
