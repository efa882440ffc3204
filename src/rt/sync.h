/* sync.h — what locks and the like have in common.
 *
 * Each has a word, for calls that need not wait: one compare-and-swap. A call that has to wait, or finds that another
 * waits, uses the object's lock and a queue of clauses (wait.h). A flag of the word says so: a call that is about to
 * queue sets it under the lock, before its last look at the word, so that nothing is given back without a look at the
 * queue.
 *
 * Y1  zeros are a good object: it gets its number and kind, under its lock, before the first wait for it.
 * Y2  as long as a clause lies in a queue, the flag is set; O2 of wait.h.
 * Y3  a call that gives something back does not touch the object after another one could have taken it without the
 *     object's lock, and freed it. So a holder that finds the queue empty clears the flag while it still holds,
 *     unlocks the object's lock, and then tries again without. Objects without a holder (semaphore, wait
 *     group): only calls that take clear the flag; as long as it is set, they have to pass the object's lock.
 * Y4  a waiter is notified after the object's lock was unlocked. */
#ifndef RAD_RT_SYNC_H
#define RAD_RT_SYNC_H

#include <raddle/sync.h>

#include "rt/fiber.h"
#include "rt/wait.h"

/* Around a wait that must not fail: between the two the calling fiber is shielded (rad_shield). A thread is not
 * cancelled, and rad__shield_begin returns NULL. */
static inline rad_strand *rad__shield_begin(void)
{
    rad_strand *self = rad__running();
    if (self != NULL) rad__slot_of(self)->shields++;
    return self;
}

static inline void rad__shield_end(rad_strand *self)
{
    if (self != NULL) rad__slot_of(self)->shields--;
}

/* The calling fiber holds one mutex more (1) or less (-1); NULL: a thread, whose mutexes are not counted. A fiber that
 * holds one when it ends would let others wait for ever: rad__fiber_body stops it. */
static inline void rad__holds_mutex(rad_slot *slot, int change)
{
    if (slot != NULL) slot->mutexes = (uint16_t)(slot->mutexes + change);
}

/* Whom a clause of a lock is for, as rad__who says it: compared with others, and never put in an order. */
static inline uint64_t rad__clause_who(const rad_clause *c)
{
    return (uintptr_t)c->data; /* tidy: address ok */
}

RAD_INTERNAL void rad__mutex_clause(rad_clause *c, rad_mutex *m);

/* After waiting for `writes` without getting it, rad__rwlock_left is called. */
RAD_INTERNAL void rad__rwlock_clause(rad_clause *c, rad_rwlock *l, bool writes);
RAD_INTERNAL void rad__rwlock_left(rad_rwlock *l);

/* It was got by a clause: the fiber of this slot has one more; NULL: a thread. */
RAD_INTERNAL void rad__rwlock_taken(rad_slot *slot, const rad_rwlock *l, bool writes);

RAD_INTERNAL void rad__semaphore_clause(rad_clause *c, rad_semaphore *s);
RAD_INTERNAL void rad__waitgroup_clause(rad_clause *c, rad_waitgroup *g);

/* For reports: who has it, as rad__who says it; 0: nobody, or those who read it, `readers` in number. */
RAD_INTERNAL uint64_t rad__mutex_holder(const rad_waitable *o);
RAD_INTERNAL uint64_t rad__rwlock_holders(const rad_waitable *o, uint64_t *readers, const void **lock);
RAD_INTERNAL uint64_t rad__once_runner(const rad_waitable *o);

#endif
