/* starve.h — whether something that could run waits behind a worker that computes.
 *
 * A worker whose task does not return is stuck (monitor.h). What lies in its queues can be stolen, and what lies in
 * the shared queue can be taken by others; but when they all compute, nobody does. So for each stuck worker the monitor
 * remembers since when the same thing has waited: in its own queues, and in the shared one. "The same" means that
 * nothing was taken from the old end of the queue since then.
 *
 * Time is the CPU time of that worker's thread, not time on the wall. A pool of tasks of 20 ms looks the same on an
 * idle system and on a busy one, and with more workers than CPUs each of them becomes starved later, so that seating
 * one does not by itself make the monitor seat the next.
 *
 * Rejected: the length of queues (a long queue whose workers finish tasks needs no more workers); whether any worker
 * has finished anything (two fibers that talk to each other on one worker never look into the queue of another). */
#ifndef RAD_RT_STARVE_H
#define RAD_RT_STARVE_H

#include "exec/worker.h"

enum { RAD_STARVED_NS = 30000000 };

typedef struct rad_starve_wait {
    uint64_t taken;    /* from that queue so far */
    uint64_t since_ns; /* 0: nothing waits */
} rad_starve_wait;

typedef struct rad_starve {
    rad_starve_wait own, shared;
} rad_starve;

/* By the monitor. `stuck`: the worker computes and has not come back since the last look; `cpu_ns`: of its thread.
 * True: the same thing has waited for RAD_STARVED_NS. */
RAD_INTERNAL bool rad__starve_look(rad_starve *s, const rad_worker *w, bool stuck, uint64_t cpu_ns);

/* One more worker was seated: what waits is given as much time again. */
static inline void rad__starve_forget(rad_starve *s)
{
    *s = (rad_starve){0};
}

#endif
