/* lock.h — a lock for a few instructions: whoever finds it taken spins, then gives its CPU away until it is free.
 *
 * Held only over code that neither waits, nor calls anything of the user's, nor the operating system: then a
 * holder leaves within nanoseconds, unless it loses its CPU, which is what the giving away is for.
 *
 * Taking it is one read-modify-write; giving it back is a plain store, which is why it costs half of what a mutex
 * does. The price is that it cannot know whether somebody sleeps for it, so nobody does. */
#ifndef RAD_OS_LOCK_H
#define RAD_OS_LOCK_H

#include <stdatomic.h>

#include "base/check.h"

typedef struct rad_lock {
    _Atomic uint32_t taken;
} rad_lock;

/* The slow half of rad__lock. */
RAD_INTERNAL void rad__lock_contended(rad_lock *l);

static inline bool rad__lock_try(rad_lock *l)
{
    /* Pairs with the store in rad__unlock. */
    return atomic_exchange_explicit(&l->taken, 1, memory_order_acquire) == 0;
}

static inline void rad__lock(rad_lock *l)
{
    if (RAD_UNLIKELY(!rad__lock_try(l))) rad__lock_contended(l);
}

static inline void rad__unlock(rad_lock *l)
{
    RAD_DCHECK(atomic_load_explicit(&l->taken, memory_order_relaxed) == 1);
    /* Pairs with the exchange in rad__lock_try: the next holder sees what this one did. */
    atomic_store_explicit(&l->taken, 0, memory_order_release);
}

#endif
