/* moby#4395, a promise without a receiver.
 * A helper runs a function in a fiber and returns a channel for its result. A caller that fails meanwhile returns
 * without receiving from it.
 * Goes wrong: the fiber waits forever, if the caller fails before it receives. */
#include "kernel.h"

static rad_chan *failures;

static int runs(void *promise)
{
    int result = 0;
    RAD_IGNORE(rad_send(promise, &result, RAD_FOREVER));
    return 0;
}

static rad_chan *go(void)
{
    rad_chan *promise = channel(sizeof(int), fixed ? 1 : 0);
    GO(runs, promise);
    return promise;
}

static int fails(void *unused)
{
    (void)unused;
    rad_chan_close(failures, RAD_EIO);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    failures = signals(0);
    GO(fails, NULL);
    rad_chan *promise = go();
    if (rad_recv(failures, NULL, 0) == RAD_ECLOSED) return 0; /* the caller reports the error */
    int result = 1;
    RAD_IGNORE(rad_recv(promise, &result, RAD_FOREVER));
    CHECK(result == 0);
    return 0;
}
