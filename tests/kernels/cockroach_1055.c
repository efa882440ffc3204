/* cockroach#1055, waiting for workers with a lock held that they need.
 * Stopping takes the stopper's lock and waits until all workers have stopped. A worker that starts one more task takes
 * the lock.
 * Goes wrong: the two wait for each other, if the worker starts a task after the stop took the lock. */
#include "kernel.h"

static rad_mutex stopper = RAD_MUTEX_INIT;
static rad_waitgroup workers = RAD_WAITGROUP_INIT;
static bool draining;
static int tasks;

static bool start_task(void)
{
    rad_mutex_lock(&stopper);
    bool accepted = !draining;
    tasks += accepted;
    rad_mutex_unlock(&stopper);
    return accepted;
}

static int works(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++)
        if (!start_task()) break;
    rad_waitgroup_done(&workers);
    return 0;
}

static int stops(void *unused)
{
    (void)unused;
    rad_mutex_lock(&stopper);
    draining = true;
    if (fixed) rad_mutex_unlock(&stopper);
    int code = rad_waitgroup_wait(&workers, RAD_FOREVER);
    if (!fixed) rad_mutex_unlock(&stopper);
    return code;
}

static int start(void *unused)
{
    (void)unused;
    rad_waitgroup_add(&workers, 2);
    GO(works, NULL);
    GO(works, NULL);
    return stops(NULL);
}
