/* cockroach#7504, two locks in opposite orders.
 * Releasing a lease locks the lease, then the cache of names, to remove it. Acquiring one by name locks the cache,
 * then the lease that it finds.
 * Goes wrong: the two fibers wait for each other. */
#include "kernel.h"

static rad_mutex cache = RAD_MUTEX_INIT;
static struct {
    rad_mutex lock;
    int references;
    bool cached;
} lease = {RAD_MUTEX_INIT, 1, true};

static int releases(void *unused)
{
    (void)unused;
    rad_mutex_lock(&lease.lock);
    bool last = --lease.references == 0;
    if (fixed) rad_mutex_unlock(&lease.lock);
    if (last) {
        rad_mutex_lock(&cache);
        lease.cached = false;
        rad_mutex_unlock(&cache);
    }
    if (!fixed) rad_mutex_unlock(&lease.lock);
    return 0;
}

static int acquires_by_name(void *unused)
{
    (void)unused;
    rad_mutex_lock(&cache);
    if (lease.cached) {
        rad_mutex_lock(&lease.lock);
        if (lease.references > 0) lease.references++;
        rad_mutex_unlock(&lease.lock);
    }
    rad_mutex_unlock(&cache);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(releases, NULL);
    GO(acquires_by_name, NULL);
    return 0;
}
