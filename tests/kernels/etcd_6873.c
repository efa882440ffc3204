/* etcd#6873, waiting for a loop with its lock held.
 * The loop of the watch broadcasts takes a lock for each update. Stopping takes the same lock, closes the channel of
 * updates, and waits for the end of the loop.
 * Goes wrong: the two wait for each other, if the loop has an update in hand when the stop takes the lock. */
#include "kernel.h"

static rad_mutex broadcasts = RAD_MUTEX_INIT;
static rad_chan *updates, *done;
static int coalesced;

static int loop(void *unused)
{
    (void)unused;
    while (rad_recv(updates, NULL, RAD_FOREVER) == 0) {
        rad_mutex_lock(&broadcasts);
        coalesced++;
        rad_mutex_unlock(&broadcasts);
    }
    rad_chan_close(done, 0);
    return 0;
}

static int stops(void *unused)
{
    (void)unused;
    rad_mutex_lock(&broadcasts);
    rad_chan_close(updates, 0);
    if (fixed) rad_mutex_unlock(&broadcasts);
    RECV(done);
    if (!fixed) rad_mutex_unlock(&broadcasts);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    updates = signals(1);
    done = signals(0);
    SEND(updates);
    GO(loop, NULL);
    GO(stops, NULL);
    return 0;
}
