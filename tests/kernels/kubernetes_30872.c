/* kubernetes#30872, two locks in opposite orders, one of them behind an interface. Adding a cluster locks its
 * informer and then the federated one, to add it there. Asking whether all is in sync locks the federated informer
 * and then that of each cluster.
 * Goes wrong: the two fibers wait for each other. */
#include "kernel.h"

static rad_mutex federated = RAD_MUTEX_INIT;
static struct {
    rad_mutex lock;
    bool synced;
} sub = {RAD_MUTEX_INIT, false};
static int clusters;

static bool sub_is_synced(void)
{
    rad_mutex_lock(&sub.lock);
    bool synced = sub.synced;
    rad_mutex_unlock(&sub.lock);
    return synced;
}

static int adds_cluster(void *unused)
{
    (void)unused;
    rad_mutex_lock(&sub.lock);
    sub.synced = true;
    rad_mutex_lock(&federated); /* the callback of the informer */
    clusters++;
    rad_mutex_unlock(&federated);
    rad_mutex_unlock(&sub.lock);
    return 0;
}

static int asks_if_synced(void *unused)
{
    (void)unused;
    rad_mutex_lock(&federated);
    bool complete = clusters == 1;
    if (fixed) rad_mutex_unlock(&federated);
    RAD_IGNORE(sub_is_synced() && complete);
    if (!fixed) rad_mutex_unlock(&federated);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(adds_cluster, NULL);
    GO(asks_if_synced, NULL);
    return 0;
}
