/* urgent.h — fibers whose time has come while every worker is busy: they go before what waits in queues.
 *
 * A worker that does not come back cannot look at its timers; the watch does that (watch.h). Put into the shared
 * queue its fibers would wait behind whatever else waits there, which may well be more of what keeps the workers
 * from coming back. So they lie here, and a worker that is about to run something else, or to rest, runs one of these
 * first.
 *
 * U1  a fiber in here is ASSIGNED and in no other queue. */
#ifndef RAD_RT_URGENT_H
#define RAD_RT_URGENT_H

#include "os/lock.h"
#include "rt/strand.h"

typedef struct rad_urgent {
    rad_lock lock;
    _Atomic uint32_t count;
    rad_task *first, *last;
} rad_urgent;

RAD_INTERNAL void rad__urgent_put(rad_urgent *u, rad_strand *s);
RAD_INTERNAL rad_strand *rad__urgent_take(rad_urgent *u); /* the oldest, or NULL */

/* A guess. */
static inline uint32_t rad__urgent_count(const rad_urgent *u)
{
    return atomic_load_explicit(&u->count, memory_order_relaxed);
}

static inline bool rad__urgent_any(const rad_urgent *u)
{
    return rad__urgent_count(u) != 0;
}

#endif
