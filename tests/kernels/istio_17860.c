/* istio#17860, reports without a receiver.
 * For each restart the agent starts a fiber that waits for the proxy's exit and sends its status to the agent's loop.
 * The loop ends with its context.
 * Goes wrong: a fiber whose proxy exits after that waits forever. */
#include "kernel.h"

static rad_chan *statuses, *context;

static int waits_for_proxy(void *unused)
{
    (void)unused;
    rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = statuses},
                                {.kind = fixed ? RAD_ON_RECV : RAD_OFF, .on.chan = context}};
    RAD_IGNORE(rad_select(cases, 2, RAD_FOREVER));
    return 0;
}

static int agent(void *unused)
{
    (void)unused;
    for (;;) {
        rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = statuses},
                                    {.kind = RAD_ON_RECV, .on.chan = context}};
        if (rad_select(cases, 2, RAD_FOREVER) != 0) return 0;
    }
}

static int start(void *unused)
{
    (void)unused;
    statuses = signals(0);
    context = signals(0);
    GO(agent, NULL);
    GO(waits_for_proxy, NULL);
    GO(waits_for_proxy, NULL); /* after a restart */
    rad_yield();
    rad_chan_close(context, RAD_ECANCELED);
    return 0;
}
