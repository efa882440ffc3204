/* lock.h — a lock for a few instructions: a thread that finds it taken spins, then gives its CPU away until it is free.
 *
 * Held only over code that neither waits, nor calls anything of the user's, nor the operating system: then a
 * holder leaves within nanoseconds, unless it loses its CPU, which is what the giving away is for.
 *
 * Taking it is one read-modify-write; giving it back is a plain store, which is why it costs half of what a mutex
 * does. The price is that it cannot know whether a thread sleeps for it, so none does.
 *
 * Checked builds count how many each thread holds, and stop at a system call under one: see rad__locks_held. */
#ifndef RAD_OS_LOCK_H
#define RAD_OS_LOCK_H

#include <stdatomic.h>

#include "base/check.h"

typedef struct rad_lock {
    _Atomic uint32_t taken;
} rad_lock;

/* The slow half of rad__lock. */
RAD_INTERNAL void rad__lock_contended(rad_lock *l);

/* How many locks the calling thread holds, in checked builds; else 0. Functions of their own, never in line: a fiber
 * that parked may be on another thread. The lab has its own threads, which share what is thread-local. */
#if defined(RAD_CHECKED) && !defined(RAD_CONTEXT_CALL)
RAD_INTERNAL uint32_t rad__locks_held(void);
RAD_INTERNAL void rad__locks_count(int32_t change);
#else
static inline uint32_t rad__locks_held(void)
{
    return 0;
}

static inline void rad__locks_count(int32_t change)
{
    (void)change;
}
#endif

static inline bool rad__lock_try(rad_lock *l)
{
    /* Pairs with the store in rad__unlock. */
    return atomic_exchange_explicit(&l->taken, 1, memory_order_acquire) == 0;
}

static inline void rad__lock(rad_lock *l)
{
    if (RAD_UNLIKELY(!rad__lock_try(l))) rad__lock_contended(l);
    rad__locks_count(1);
}

static inline void rad__unlock(rad_lock *l)
{
    RAD_DCHECK(atomic_load_explicit(&l->taken, memory_order_relaxed) == 1);
    /* Pairs with the exchange in rad__lock_try: the next holder sees what this one did. */
    atomic_store_explicit(&l->taken, 0, memory_order_release);
    rad__locks_count(-1);
}

#endif
