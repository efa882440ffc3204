/* overdue.h — fibers whose time has come while every worker is busy: they go before what waits in queues.
 *
 * A worker that does not come back cannot look at its timers; the monitor does that (monitor.h). Put into the shared
 * queue its fibers would wait behind whatever else waits there, which may well be more of what keeps the workers
 * from coming back. So they lie here, and a worker that is about to run something else, or to rest, runs one of these
 * first.
 *
 * U1  a fiber in here is ASSIGNED and in no other queue. */
#ifndef RAD_RT_OVERDUE_H
#define RAD_RT_OVERDUE_H

#include "os/lock.h"
#include "rt/strand.h"

typedef struct rad_overdue {
    rad_lock lock;
    _Atomic uint32_t count;
    rad_task *first, *last;
} rad_overdue;

RAD_INTERNAL void rad__overdue_put(rad_overdue *u, rad_strand *s);
RAD_INTERNAL rad_strand *rad__overdue_take(rad_overdue *u); /* the oldest, or NULL */

/* A guess. */
static inline uint32_t rad__overdue_count(const rad_overdue *u)
{
    return atomic_load_explicit(&u->count, memory_order_relaxed);
}

static inline bool rad__overdue_any(const rad_overdue *u)
{
    return rad__overdue_count(u) != 0;
}

#endif
