/* kubernetes#38669, a watcher that cannot be stopped.
 * The watcher's loop forwards each event to the client's channel. A client that stops reads no more, and closes the
 * watcher's input; a loop that is about to send does not see that.
 * Goes wrong: the loop waits forever, if the client stops while the channel is full. */
#include "kernel.h"

enum { EVENTS = 3 };

static rad_chan *input, *result, *done;

static int watches(void *unused)
{
    (void)unused;
    while (rad_recv(input, NULL, RAD_FOREVER) == 0) {
        rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = result},
                                    {.kind = fixed ? RAD_ON_RECV : RAD_OFF, .on.chan = done}};
        if (rad_select(cases, 2, RAD_FOREVER) != 0) break;
    }
    return 0;
}

static int serves(void *unused)
{
    (void)unused;
    for (int i = 0; i < EVENTS; i++)
        if (rad_send(input, NULL, RAD_FOREVER) != 0) break; /* the watcher was stopped */
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    input = signals(0);
    result = signals(1);
    done = signals(0);
    GO(watches, NULL);
    GO(serves, NULL);
    RECV(result);
    rad_chan_close(done, 0); /* Stop */
    rad_chan_close(input, 0);
    return 0;
}
