/* kubernetes#25331, an error without a receiver.
 * The loop of a watch sends an error to the channel of results. A client that has stopped the watch takes no more
 * results; stopping cancels the context, at which the send does not look.
 * Goes wrong: the loop waits forever, if it has taken the error before it sees the cancellation. */
#include "kernel.h"

static rad_chan *context, *errors, *results;

static int watch(void *unused)
{
    (void)unused;
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = errors}, {.kind = RAD_ON_RECV, .on.chan = context}};
    if (rad_select(cases, 2, RAD_FOREVER) != 0) return 0;
    rad_select_case sends[2] = {{.kind = RAD_ON_SEND, .on.chan = results},
                                {.kind = fixed ? RAD_ON_RECV : RAD_OFF, .on.chan = context}};
    RAD_IGNORE(rad_select(sends, 2, RAD_FOREVER));
    return 0;
}

static int fails(void *unused)
{
    (void)unused;
    SEND(errors);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    context = signals(0);
    errors = signals(1);
    results = signals(0);
    GO(watch, NULL);
    GO(fails, NULL);
    rad_yield();
    rad_chan_close(context, RAD_ECANCELED); /* Stop */
    return 0;
}
