/* etcd#7443, a loop that sends to itself with a lock held.
 * The balancer tells the connection's loop of new addresses, on a channel, under its lock. When a connection is torn
 * down, which the loop does, the balancer is called and sends on that channel. Closing the balancer needs the lock.
 * Goes wrong: the loop waits for itself, and the close for the loop, if a connection is up before the close. */
#include "kernel.h"

static rad_mutex balancer = RAD_MUTEX_INIT;
static bool closed;
static rad_chan *addresses;

static void notify(bool up)
{
    rad_mutex_lock(&balancer);
    if (!closed) RAD_IGNORE(rad_send(addresses, &up, RAD_FOREVER));
    rad_mutex_unlock(&balancer);
}

static int watches_addresses(void *unused)
{
    (void)unused;
    bool up;
    while (rad_recv(addresses, &up, RAD_FOREVER) == 0)
        if (up) notify(false); /* tears the old connection down */
    return 0;
}

static int connects(void *unused)
{
    (void)unused;
    notify(true);
    return 0;
}

static int closes(void *unused)
{
    (void)unused;
    rad_mutex_lock(&balancer);
    closed = true;
    rad_chan_close(addresses, 0);
    rad_mutex_unlock(&balancer);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    /* The repair: the newest addresses replace those that the loop did not take, so that no send waits. */
    enum rad_chan_mode mode = fixed ? RAD_CHAN_DROPS_OLD : RAD_CHAN_BLOCKS;
    CHECK(rad_chan_create(&addresses, sizeof(bool), fixed ? 1 : 0, mode) == 0);
    GO(watches_addresses, NULL);
    GO(connects, NULL);
    GO(closes, NULL);
    return 0;
}
