/* wait_one.h — waiting with one clause (wait.h), in line: after a switch every return that is left to do costs a
 * misprediction (strand.h). */
#ifndef RAD_RT_WAIT_ONE_H
#define RAD_RT_WAIT_ONE_H

#include "rt/runtime.h"

/* For wait.c and this file. */
RAD_INTERNAL int rad__wait_until(rad_waiter *w, rad_clause *clauses, uint64_t until);

/* V2: only its time or its cancellation ends the wait any more. False: another has claimed it. */
RAD_INTERNAL bool rad__wait_give_up(rad_waiter *w, rad_clause *clauses, uint32_t seen);

RAD_INLINE uint32_t rad__waiter_look(const rad_waiter *w)
{
    /* V1, pairs with the store of N6. */
    return atomic_load_explicit(&w->word, memory_order_acquire);
}

/* Of one clause, which is to be queued next. */
RAD_INLINE void rad__waiter_open(rad_waiter *w, rad_clause *c, rad_strand *self)
{
    *w = (rad_waiter){.strand = self, .single = true};
    c->waiter = w;
    c->index = 0;
    if (self == NULL) return;
    w->generation = rad__fiber_generation(self);
    uint64_t now = atomic_load_explicit(&self->runtime->now_ns, memory_order_relaxed);
    rad__fiber_waits_for(self, now, rad__waits_for(c->object), 0);
}

/* A fiber that waits until it is notified or cancelled. */
RAD_INLINE int rad__wait_parked(rad_waiter *w, rad_clause *c, rad_strand *self)
{
    while (rad__waiter_look(w) < RAD_WAIT_NOTIFIED) {
        if (RAD_UNLIKELY(rad__fiber_is_canceled(self)) && rad__wait_give_up(w, c, RAD_WAIT_OPEN)) return RAD_ECANCELED;
        rad_rt_worker *rt_worker = rad__rt_worker();
        rad__strand_go(rt_worker, rad__strand_next(rt_worker), RAD_LEAVE_PARK);
    }
    return 0;
}

/* The clause lies in its queue. */
RAD_INLINE int rad__wait_single(rad_waiter *w, rad_clause *c, uint64_t until)
{
    rad_strand *self = w->strand;
    if (self != NULL && until == RAD_FOREVER && rad__fiber_deadline(self) == RAD_FOREVER)
        return rad__wait_parked(w, c, self);
    return rad__wait_until(w, c, until);
}

/* For one clause that could not be done, with the lock of its object, which is given back. `self` is rad__running(),
 * and `until` is not 0. 0: it was done. */
RAD_INLINE int rad__wait_locked(rad_clause *c, rad_strand *self, uint64_t until)
{
    rad_waiter w;
    rad__waiter_open(&w, c, self);
    rad__queue_put(c->queue, c);
    rad__unlock(&c->object->lock);
    return rad__wait_single(&w, c, until);
}

/* The same, before all others in the queue: it has waited there already. */
RAD_INTERNAL int rad__wait_again(rad_clause *c, rad_strand *self, uint64_t until);

/* The same; after(arg) is called when the clause lies in the queue, and the lock was given back. */
RAD_INTERNAL int rad__wait_after(rad_clause *c, rad_strand *self, uint64_t until, void (*after)(void *arg), void *arg);

#endif
