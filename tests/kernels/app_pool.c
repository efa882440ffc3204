/* A worker pool with a bounded queue, and a shutdown that finishes what was accepted.
 * `submit` returns true if the job will be done. `shut_down` refuses new jobs, waits until no job is left, and ends the
 * workers. The number of jobs that are left has a lock of its own, so that finished jobs do not disturb the queue.
 * Goes wrong: `submit` counts the job after it has left the queue's lock. A shutdown in between sees no job left and
 * ends the workers; an accepted job is never done. Repaired, the job is counted before it is queued. */
#include "kernel.h"

enum { WORKERS = 2, SUBMITTERS = 2, JOBS = 2, ROOM = 2 };

typedef struct pool {
    rad_mutex lock;
    rad_cond not_empty, not_full;
    int queue[ROOM];
    int first, count;
    bool stopping; /* no new jobs */
    bool over;     /* workers end */
    rad_mutex left_lock;
    rad_cond idle;
    int left; /* accepted, and not done yet */
} pool;

static pool the_pool;
static rad_mutex tally = RAD_MUTEX_INIT;
static int accepted, done;

static void add_left(pool *p, int n)
{
    rad_mutex_lock(&p->left_lock);
    p->left += n;
    if (p->left == 0) rad_cond_broadcast(&p->idle);
    rad_mutex_unlock(&p->left_lock);
}

static void add_to(int *counter)
{
    rad_mutex_lock(&tally);
    ++*counter;
    rad_mutex_unlock(&tally);
}

static bool submit(pool *p, int job)
{
    rad_mutex_lock(&p->lock);
    while (p->count == ROOM && !p->stopping) RAD_IGNORE(rad_cond_wait(&p->not_full, &p->lock, RAD_FOREVER));
    bool accepts = !p->stopping;
    if (accepts) {
        if (fixed) add_left(p, 1);
        p->queue[(p->first + p->count++) % ROOM] = job;
        rad_cond_signal(&p->not_empty);
    }
    rad_mutex_unlock(&p->lock);
    if (accepts && !fixed) add_left(p, 1);
    return accepts;
}

static bool take(pool *p, int *job)
{
    rad_mutex_lock(&p->lock);
    while (p->count == 0 && !p->over) RAD_IGNORE(rad_cond_wait(&p->not_empty, &p->lock, RAD_FOREVER));
    bool took = !p->over;
    if (took) {
        *job = p->queue[p->first];
        p->first = (p->first + 1) % ROOM;
        p->count--;
        rad_cond_signal(&p->not_full);
    }
    rad_mutex_unlock(&p->lock);
    return took;
}

static int works(void *arg)
{
    int job;
    while (take(arg, &job)) {
        CHECK(job >= 0);
        add_to(&done);
        add_left(arg, -1);
    }
    return 0;
}

static void shut_down(pool *p)
{
    rad_mutex_lock(&p->lock);
    p->stopping = true;
    rad_cond_broadcast(&p->not_full);
    rad_mutex_unlock(&p->lock);
    rad_mutex_lock(&p->left_lock);
    while (p->left != 0) RAD_IGNORE(rad_cond_wait(&p->idle, &p->left_lock, RAD_FOREVER));
    rad_mutex_unlock(&p->left_lock);
    rad_mutex_lock(&p->lock);
    p->over = true;
    rad_cond_broadcast(&p->not_empty);
    rad_mutex_unlock(&p->lock);
}

static int submits(void *arg)
{
    for (int i = 0; i < JOBS && submit(arg, i); i++) add_to(&accepted);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < WORKERS; i++) rad_nursery_go(&n, works, &the_pool);
    for (int i = 0; i < SUBMITTERS; i++) rad_nursery_go(&n, submits, &the_pool);
    rad_yield();
    shut_down(&the_pool);
    int code = rad_nursery_wait(&n);
    CHECK(done == accepted);
    return code;
}
