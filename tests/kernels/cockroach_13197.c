/* cockroach#13197, a context that is never cancelled.
 * Beginning a transaction starts a fiber that rolls it back when its context is done. A transaction that ends because
 * the connection is lost returns without cancelling the context.
 * Goes wrong: the fiber waits forever, if the connection is lost before the answer is taken. */
#include "kernel.h"

static rad_chan *context, *answer, *lost;

static int awaits_done(void *unused)
{
    (void)unused;
    RECV(context);
    return 0;
}

static int loses_connection(void *unused)
{
    (void)unused;
    rad_chan_close(lost, RAD_EIO);
    return 0;
}

static int answers(void *unused)
{
    (void)unused;
    SEND(answer);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    context = signals(0);
    answer = signals(1);
    lost = signals(0);
    GO(awaits_done, NULL);
    GO(answers, NULL);
    GO(loses_connection, NULL);
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = answer}, {.kind = RAD_ON_RECV, .on.chan = lost}};
    bool failed = rad_select(cases, 2, RAD_FOREVER) != 0;
    if (!failed || fixed) rad_chan_close(context, RAD_ECANCELED);
    return 0;
}
