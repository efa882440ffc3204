/* pranadb#245, room for one error. A client's loop reports an error to whoever asked, on a channel with room for
 * one. Closing the client waits for the loop to end.
 * Goes wrong: a second error comes while the client is closed and nobody reads any more: the loop waits for a
 * reader, and the close for the loop. */
#include "kernel.h"

static rad_chan *answers, *errors, *ended;

static int loops(void *unused)
{
    bool failed;
    (void)unused;
    while (rad_recv(answers, &failed, RAD_FOREVER) == 0) {
        if (!failed) continue;
        if (fixed)
            RAD_IGNORE(rad_send(errors, NULL, 0)); /* one that nobody has read is enough */
        else
            SEND(errors);
    }
    rad_chan_close(ended, 0);
    return 0;
}

static int server(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        bool failed = true;
        if (rad_send(answers, &failed, RAD_FOREVER) != 0) break;
    }
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    answers = channel(sizeof(bool), 2);
    errors = signals(1);
    ended = signals(0);
    GO(loops, NULL);
    GO(server, NULL);
    rad_yield();                           /* other work */
    RAD_IGNORE(rad_recv(errors, NULL, 0)); /* if there is one already */
    rad_chan_close(answers, 0);            /* what has arrived is still handled */
    RECV(ended);
    return 0;
}
