/* etcd#6857, a request to a loop that has ended.
 * The status of a node is asked for by a send to its loop. Stopping the node ends the loop. The request does not look
 * whether the node has stopped.
 * Goes wrong: the request waits forever, if the node stops first. */
#include "kernel.h"

static rad_chan *status, *stop, *done;

static int node(void *unused)
{
    (void)unused;
    for (;;) {
        rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = status}, {.kind = RAD_ON_RECV, .on.chan = stop}};
        if (rad_select(cases, 2, RAD_FOREVER) != 0) break;
    }
    rad_chan_close(done, 0);
    return 0;
}

static int asks(void *unused)
{
    (void)unused;
    rad_select_case cases[2] = {{.kind = RAD_ON_SEND, .on.chan = status},
                                {.kind = fixed ? RAD_ON_RECV : RAD_OFF, .on.chan = done}};
    RAD_IGNORE(rad_select(cases, 2, RAD_FOREVER));
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    status = signals(0);
    stop = signals(0);
    done = signals(0);
    GO(node, NULL);
    GO(asks, NULL);
    SEND(stop);
    RECV(done);
    return 0;
}
