/* worker_pool.c — a pool of fibers that take jobs from a bounded queue, and three ways to hand in a job when the queue
 * is full: wait, wait a while, do not wait at all and do something else instead.
 *
 *     cc worker_pool.c $(pkg-config --cflags --libs raddle) -o worker_pool && ./worker_pool */
#include <raddle.h>
#include <stdatomic.h>
#include <stdio.h>

enum { WORKERS = 4, QUEUE = 8, JOBS = 300, JOB_NS = 100000 };

typedef struct pool {
    rad_chan *jobs;
    _Atomic uint64_t done, sum;
} pool;

static int worker(void *arg)
{
    pool *p = arg;
    uint64_t job;
    while (rad_recv(p->jobs, &job, RAD_FOREVER) == 0) {
        rad_sleep(JOB_NS); /* what would be work: a query, a request to another service … */
        atomic_fetch_add(&p->sum, job);
        atomic_fetch_add(&p->done, 1);
    }
    return 0;
}

typedef struct outcome {
    uint64_t accepted, timed_out, refused;
} outcome;

static void submit(pool *p, uint64_t job, rad_time until, outcome *o)
{
    int code = rad_send(p->jobs, &job, until);
    if (code == 0)
        o->accepted++;
    else if (until == 0)
        o->refused++; /* the caller may tell its own client to come back later */
    else
        o->timed_out++;
}

static int start(void *arg)
{
    outcome *o = arg;
    pool p = {0};
    rad_nursery n;
    if (rad_chan_create(&p.jobs, sizeof(uint64_t), QUEUE, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < WORKERS; i++) rad_nursery_go(&n, worker, &p);
    for (uint64_t job = 0; job < JOBS; job++) {
        switch (job % 3) {
        case 0: submit(&p, job, RAD_FOREVER, o); break;            /* as fast as the pool */
        case 1: submit(&p, job, rad_after(JOB_NS / 10), o); break; /* not longer than that */
        default: submit(&p, job, 0, o);                            /* now or never */
        }
    }
    rad_chan_close(p.jobs, 0); /* the workers end when what was taken is done */
    int code = rad_nursery_wait(&n);
    rad_chan_destroy(p.jobs);
    return code != 0 ? code : p.done == o->accepted ? 0 : 2;
}

int main(void)
{
    outcome o = {0};
    int code = rad_main(NULL, start, &o, NULL);
    printf("%llu jobs: %llu done, %llu refused at once, %llu after waiting a while\n",
           (unsigned long long)(o.accepted + o.timed_out + o.refused), (unsigned long long)o.accepted,
           (unsigned long long)o.refused, (unsigned long long)o.timed_out);
    return code;
}
