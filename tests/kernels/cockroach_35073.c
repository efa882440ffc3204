/* cockroach#35073, a consumer that ends without a word.
 * Producers push rows into a channel that the outbox reads. If the outbox fails when it starts, it returns without
 * closing the channel.
 * Goes wrong: the producers wait forever, if the flow is cancelled before the outbox has started. */
#include "kernel.h"

enum { ROWS = 2 };

static rad_chan *rows, *context;

static int produces(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROWS; i++)
        if (rad_send(rows, NULL, RAD_FOREVER) != 0) break; /* the consumer is done */
    return 0;
}

static int outbox(void *unused)
{
    (void)unused;
    if (rad_recv(context, NULL, 0) == RAD_ECLOSED) { /* the stream cannot be set up */
        if (fixed) rad_chan_close(rows, RAD_ECANCELED);
        return 0;
    }
    for (int i = 0; i < 2 * ROWS; i++) RECV(rows);
    return 0;
}

static int cancels(void *unused)
{
    (void)unused;
    rad_chan_close(context, RAD_ECANCELED);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    rows = signals(1);
    context = signals(0);
    GO(outbox, NULL);
    GO(cancels, NULL);
    GO(produces, NULL);
    return produces(NULL);
}
