/* grpc-go#1353, a send with a lock held that the receiver needs.
 * The round robin balancer sends updates of addresses while it holds its lock. The loop that takes an update calls the
 * balancer, which takes the lock.
 * Goes wrong: the balancer sends its second update while the loop works on the first; each waits for the other. */
#include "kernel.h"

enum { UPDATES = 2 };

static rad_mutex balancer = RAD_MUTEX_INIT;
static rad_chan *updates;
static int last, removed;

static int watches_updates(void *unused)
{
    (void)unused;
    for (int i = 1; i <= UPDATES; i++) {
        rad_mutex_lock(&balancer);
        last = i;
        RAD_IGNORE(rad_send(updates, &i, RAD_FOREVER));
        rad_mutex_unlock(&balancer);
    }
    rad_chan_close(updates, 0);
    return 0;
}

static int loop(void *unused)
{
    (void)unused;
    int got = 0;
    while (rad_recv(updates, &got, RAD_FOREVER) == 0) {
        rad_mutex_lock(&balancer); /* an address goes down */
        CHECK(got <= last);
        removed++;
        rad_mutex_unlock(&balancer);
    }
    CHECK(got == UPDATES);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    /* The repair: an update replaces the one that the loop did not take, so that no send waits. */
    enum rad_chan_mode mode = fixed ? RAD_CHAN_DROPS_OLD : RAD_CHAN_BLOCKS;
    CHECK(rad_chan_create(&updates, sizeof(int), fixed ? 1 : 0, mode) == 0);
    GO(watches_updates, NULL);
    GO(loop, NULL);
    return 0;
}
