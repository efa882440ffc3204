/* kubernetes#13135, two locks in opposite orders.
 * The cacher holds its own lock while it replaces the content of the watch cache, which takes the cache's lock. Adding
 * to the watch cache takes the cache's lock and calls the cacher with the event, which takes the cacher's lock. The
 * first round is safe, because no fiber adds before it; the round after a lost connection is not.
 * Goes wrong: the two fibers wait for each other. */
#include "kernel.h"

static rad_mutex cacher = RAD_MUTEX_INIT, watch_cache = RAD_MUTEX_INIT;
static rad_chan *ready;
static int version, events;

static void replace(int to)
{
    rad_mutex_lock(&watch_cache);
    version = to;
    rad_mutex_unlock(&watch_cache);
}

static int caches(void *unused)
{
    (void)unused;
    for (int round = 1; round <= 2; round++) {
        if (fixed) replace(round);
        rad_mutex_lock(&cacher);
        if (!fixed) replace(round);
        rad_mutex_unlock(&cacher);
        if (round == 1) rad_chan_close(ready, 0);
    }
    return 0;
}

static int adds(void *unused)
{
    (void)unused;
    RECV(ready);
    rad_mutex_lock(&watch_cache);
    CHECK(version > 0);
    rad_mutex_lock(&cacher); /* on_event */
    events++;
    rad_mutex_unlock(&cacher);
    rad_mutex_unlock(&watch_cache);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    ready = signals(0);
    GO(caches, NULL);
    GO(adds, NULL);
    return 0;
}
