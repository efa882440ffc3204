/* named.c — locks and channels in static variables of many kinds, all of which the report calls by their names. One
 * fiber receives while it holds the lock that the sender needs. */
#include "planted.h"

struct pool {
    int used;
    rad_mutex lock;
    struct {
        rad_semaphore slots[3];
    } parts;
};

static struct pool pool;
rad_chan *jobs[2];

static int take(void *arg)
{
    int job;
    (void)arg;
    if (!fixed) rad_mutex_lock(&pool.lock);
    int code = rad_recv(jobs[1], &job, RAD_FOREVER);
    if (!fixed) rad_mutex_unlock(&pool.lock);
    return code;
}

static int give(void *arg)
{
    static rad_mutex inner;
    int job = arg != NULL;
    rad_mutex_lock(&inner);
    int code = rad_semaphore_acquire(&pool.parts.slots[2], 1, RAD_FOREVER);
    rad_mutex_lock(&pool.lock);
    if (code == 0) code = rad_send(jobs[1], &job, RAD_FOREVER);
    rad_mutex_unlock(&pool.lock);
    rad_mutex_unlock(&inner);
    return code;
}

static int start(void *arg)
{
    (void)arg;
    if (rad_chan_create(&jobs[1], sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_semaphore_init(&pool.parts.slots[2], 1);
    return both(take, give);
}
