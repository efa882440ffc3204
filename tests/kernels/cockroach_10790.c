/* cockroach#10790, a drain of channels without a sender.
 * A command waits for the channels of the commands before it. When its context is cancelled it leaves the rest of them
 * to a fiber that drains them. The fiber that would signal these channels stops at the cancellation, too.
 * Goes wrong: the drain waits forever, if the cancellation comes before all signals. */
#include "kernel.h"

enum { COMMANDS = 2 };

static rad_chan *context, *before[COMMANDS];

static int drains(void *first)
{
    for (rad_chan **c = first; c < before + COMMANDS; c++) RECV(*c);
    return 0;
}

static int signals_commands(void *unused)
{
    (void)unused;
    for (int i = 0; i < COMMANDS; i++) {
        rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = before[i]},
                                    {.kind = RAD_ON_RECV, .on.chan = context}};
        if (rad_select(cases, 2, RAD_FOREVER) == 0) continue;
        for (; fixed && i < COMMANDS; i++) rad_chan_close(before[i], RAD_ECANCELED);
        return 0;
    }
    return 0;
}

static int begins(void *unused)
{
    (void)unused;
    for (int i = 0; i < COMMANDS; i++) {
        rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = before[i]},
                                    {.kind = RAD_ON_RECV, .on.chan = context}};
        if (rad_select(cases, 2, RAD_FOREVER) == 0) continue;
        GO(drains, before + i);
        return 0;
    }
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    context = signals(0);
    for (int i = 0; i < COMMANDS; i++) before[i] = signals(0);
    GO(signals_commands, NULL);
    GO(begins, NULL);
    rad_yield();
    rad_chan_close(context, RAD_ECANCELED);
    return 0;
}
