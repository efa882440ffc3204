/* etcd#5509, a read lock that is never released.
 * `acquire` returns with the client's lock held for reading if it succeeds. It also does so when it fails because the
 * context is cancelled, and then the caller does not release it.
 * Goes wrong: closing the client waits forever for its write lock, if the context is cancelled before the request. */
#include "kernel.h"

static rad_rwlock client = RAD_RWLOCK_INIT;
static rad_chan *context, *closed;

static bool acquire(void)
{
    rad_rwlock_read(&client);
    if (rad_recv(context, NULL, 0) != RAD_ECLOSED) return true;
    if (fixed) rad_rwlock_unlock(&client);
    return false;
}

static int requests(void *unused)
{
    (void)unused;
    if (acquire()) rad_rwlock_unlock(&client); /* after the request */
    RECV(closed);
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
    context = signals(0);
    closed = signals(0);
    GO(requests, NULL);
    GO(cancels, NULL);
    rad_rwlock_write(&client); /* Close */
    rad_chan_close(closed, 0);
    rad_rwlock_unlock(&client);
    return 0;
}
