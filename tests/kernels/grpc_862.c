/* grpc-go#862, a connection that is not closed.
 * Dialling starts a fiber that connects, and then lives until the connection is closed. When the caller's context ends
 * first, dialling returns no connection and does not close the one it has begun.
 * Goes wrong: the fiber waits forever, if the context ends before the connection is ready. */
#include "kernel.h"

typedef struct connection {
    rad_chan *ready, *closed;
} connection;

static rad_chan *user_context;

static int connects(void *arg)
{
    connection *c = arg;
    SEND(c->ready);
    RECV(c->closed);
    free(c);
    return 0;
}

static connection *dial(void)
{
    connection *c = malloc(sizeof *c);
    CHECK(c);
    *c = (connection){.ready = signals(1), .closed = signals(0)};
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = c->ready},
                                {.kind = RAD_ON_RECV, .on.chan = user_context}};
    GO(connects, c);
    if (rad_select(cases, 2, RAD_FOREVER) == 0) return c;
    if (fixed) rad_chan_close(c->closed, 0);
    return NULL;
}

static int cancels(void *unused)
{
    (void)unused;
    rad_chan_close(user_context, RAD_ECANCELED);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    user_context = signals(0);
    GO(cancels, NULL);
    connection *c = dial();
    if (c) rad_chan_close(c->closed, 0);
    return 0;
}
