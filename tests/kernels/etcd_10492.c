/* etcd#10492, double locking.
 * Renewing a lease calls back to the checkpointer while the lessor's lock is held. The checkpointer calls the lessor,
 * which takes the lock.
 * Goes wrong: the fiber waits for itself, always. */
#include "kernel.h"

static rad_rwlock lessor = RAD_RWLOCK_INIT;
static int remaining = 3, checkpoints;

static void checkpoint(void)
{
    rad_rwlock_write(&lessor);
    checkpoints++;
    rad_rwlock_unlock(&lessor);
}

static int renews(void *unused)
{
    (void)unused;
    rad_rwlock_write(&lessor);
    bool reset = remaining > 0;
    remaining = 0;
    if (fixed) rad_rwlock_unlock(&lessor);
    if (reset) checkpoint();
    if (!fixed) rad_rwlock_unlock(&lessor);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, renews, NULL);
    rad_nursery_go(&n, renews, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(checkpoints == 1);
    return code;
}
