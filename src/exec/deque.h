/* deque.h — a worker's own queue: the owner works at the newest end, thieves take the oldest (Chase and Lev
 * 2005, with the orderings of Lê, Pop, Cohen and Zappa Nardelli 2013, on accesses instead of fences).
 *
 * Positions grow without bound; position i lives in slot i mod size. [top, bottom) is what is in it.
 *
 *              pop (owner)                          steal (thief)
 *         P1   bottom = b - 1        (seq_cst)  S1   t = top                  (seq_cst)
 *         P2   t = top               (seq_cst)  S2   b = bottom               (seq_cst)
 *         P3   t == b-1 ? top: t -> t+1 (CAS)   S3   t < b ? top: t -> t+1    (CAS)
 * Claim: when one task is left, P1 comes before S2 or S1 before P2 in the one order of seq_cst accesses: either
 * the thief sees the deque empty, or the owner sees that it must race for `top`, and the CAS has one winner.
 *
 * D1  only the owner writes bottom and array; top only grows.
 * D2  a slot in [top, bottom) holds its task; it is overwritten only after top has passed it.
 * D3  arrays that were outgrown live until the deque is closed: a thief may still read one.
 *
 * Ordering  push publishes the slot by the release of bottom (pairs with S2); growing publishes the array
 *           by its release store (pairs with the acquire in steal).
 *
 * Rejected: a lock (12 ns uncontended against 3); fixed rings with a spill on every overflow (a recursive
 * fork would go through the injector); fences instead of seq_cst accesses (16 ns against 2 on x86-64, and the
 * thread sanitizer does not understand them). */
#ifndef RAD_EXEC_DEQUE_H
#define RAD_EXEC_DEQUE_H

#include "exec/task.h"

/* A power of two; the lab compiles a smaller one, so that growing is within reach of a short test. */
#ifndef RAD_DEQUE_FIRST_SIZE
#define RAD_DEQUE_FIRST_SIZE 256
#endif

typedef struct rad_deque_array rad_deque_array;

struct rad_deque_array {
    rad_deque_array *older; /* outgrown, kept for thieves (D3) */
    int64_t size;           /* a power of two */
    _Atomic(rad_task *) slots[];
};

typedef struct rad_deque {
    _Alignas(64) _Atomic int64_t top; /* thieves and owner */
    _Alignas(64) _Atomic int64_t bottom;
    _Atomic(rad_deque_array *) array;
    int64_t top_seen; /* by the owner: top was at least that, so that a push need not ask thieves' line */
} rad_deque;

RAD_INTERNAL bool rad__deque_open(rad_deque *d); /* false: out of memory */
RAD_INTERNAL void rad__deque_close(rad_deque *d);
RAD_INTERNAL void rad__deque_reset(rad_deque *d); /* empty as when opened; nobody else may use it */

/* Twice the room, if there is none: false when memory ran out. */
RAD_INTERNAL bool rad__deque_make_room(rad_deque *d);

/* Owner only. False when the deque is full and cannot grow: the task is still the caller's. */
static inline bool rad__deque_push(rad_deque *d, rad_task *task)
{
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    rad_deque_array *a = atomic_load_explicit(&d->array, memory_order_relaxed);
    if (RAD_UNLIKELY(bottom - d->top_seen >= a->size)) {
        if (!rad__deque_make_room(d)) return false;
        a = atomic_load_explicit(&d->array, memory_order_relaxed);
    }
    atomic_store_explicit(&a->slots[bottom & (a->size - 1)], task, memory_order_relaxed);
    /* Pairs with S2: a thief that sees the new bottom sees the slot and the task. */
    atomic_store_explicit(&d->bottom, bottom + 1, memory_order_release);
    return true;
}

/* One is left, at `bottom`: race for it. NULL: a thief has it. */
RAD_INTERNAL rad_task *rad__deque_pop_last(rad_deque *d, int64_t bottom, rad_task *task);

/* Owner only: the newest, or NULL. */
static inline rad_task *rad__deque_pop(rad_deque *d)
{
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1;
    rad_deque_array *a = atomic_load_explicit(&d->array, memory_order_relaxed);
    atomic_store_explicit(&d->bottom, bottom, memory_order_seq_cst);   /* P1, pairs with S2 */
    int64_t top = atomic_load_explicit(&d->top, memory_order_seq_cst); /* P2, pairs with S3 */
    if (RAD_UNLIKELY(top > bottom)) {                                  /* it was empty */
        atomic_store_explicit(&d->bottom, bottom + 1, memory_order_relaxed);
        return NULL;
    }
    rad_task *task = atomic_load_explicit(&a->slots[bottom & (a->size - 1)], memory_order_relaxed);
    return RAD_LIKELY(top < bottom) ? task : rad__deque_pop_last(d, bottom, task);
}

enum rad_steal {
    RAD_STEAL_GOT = 0,
    RAD_STEAL_EMPTY,
    RAD_STEAL_LOST /* another thread was quicker: try again */
};

/* Any thread: the oldest. The owner may use it too, to be fair to what has waited longest. */
static inline enum rad_steal rad__deque_steal(rad_deque *d, rad_task **task)
{
    int64_t top = atomic_load_explicit(&d->top, memory_order_seq_cst);       /* S1, pairs with P3 */
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_seq_cst); /* S2, pairs with P1 */
    if (top >= bottom) return RAD_STEAL_EMPTY;
    /* Pairs with the release in rad__deque_make_room: the array is at least the one that holds `top`. */
    rad_deque_array *a = atomic_load_explicit(&d->array, memory_order_acquire);
    *task = atomic_load_explicit(&a->slots[top & (a->size - 1)], memory_order_relaxed);
    /* S3, pairs with P2 and P3, and with the acquire of top in rad__deque_make_room. */
    if (!atomic_compare_exchange_strong_explicit(&d->top, &top, top + 1, memory_order_seq_cst, memory_order_relaxed))
        return RAD_STEAL_LOST;
    return RAD_STEAL_GOT;
}

/* Owner: what was pushed before is seen by whoever calls is_empty after it announced that it sleeps (the Dekker
 * pair of idle.h, W1 and K3). push alone does not promise that: most pushes wake nobody. */
static inline void rad__deque_publish(rad_deque *d)
{
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    atomic_store_explicit(&d->bottom, bottom, memory_order_seq_cst); /* pairs with is_empty */
}

/* Any thread: nothing in it. */
static inline bool rad__deque_is_empty(const rad_deque *d)
{
    int64_t top = atomic_load_explicit(&d->top, memory_order_relaxed);
    return top >= atomic_load_explicit(&d->bottom, memory_order_seq_cst); /* pairs with publish */
}

/* How many the owner or thieves have taken at the old end so far: changes when the oldest one has gone. */
static inline int64_t rad__deque_taken(const rad_deque *d)
{
    return atomic_load_explicit(&d->top, memory_order_relaxed);
}

/* How many there are; a guess unless the owner asks while nobody steals. */
static inline uint64_t rad__deque_count(const rad_deque *d)
{
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    int64_t top = atomic_load_explicit(&d->top, memory_order_relaxed);
    return bottom > top ? (uint64_t)(bottom - top) : 0;
}

#endif
