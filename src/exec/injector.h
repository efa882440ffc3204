/* injector.h — the queue everybody shares: a lock-free ring of 4,096 (Vyukov's bounded queue) and, behind it, a
 * list for what does not fit. Push never blocks and never drops.
 *
 *     push   overflow empty and the ring has room ? ring : overflow list
 *     pop    the ring; when it is empty, the overflow list
 * While anything is in the overflow list pushes go there: otherwise newcomers would pass what waits in it for
 * ever (the ring would never be empty). So order is first in, first out up to tasks pushed at the same time.
 *
 * Ring      each cell has a turn: 2·lap when free for the pusher of that lap, 2·lap+1 when filled
 *           (pos = lap · size + index). Pushers claim a position at `tail`, poppers at `head`.
 * Overflow  an inbox (inbox.h) whose receivers take turns through `taken`.
 *
 * J1  what push was given is popped exactly once.
 * J2  spilled >= the number of tasks linked in the overflow list; it is raised before and lowered after.
 * J3  pop may miss a task whose push has not returned; so the pusher wakes a worker after that.
 * J4  is_empty says whether the ring has something to pop: not for a push that has taken a place and not yet filled
 *     it. Its pusher, and nobody else, knows when that is done, and notifies then, also for those behind it.
 *
 * Ordering  what fills a place in the ring, or announces one in the list, is a seq_cst access, which is_empty loads
 *           seq_cst: the Dekker pair of pushing and going to sleep (idle.h, W1 and K3).
 *
 * Rejected: one lock (pushers would wait behind a sleeping holder); an unbounded lock-free queue with
 * allocation (push could fail); ring first, list only when full (starves the list, see above);
 * is_empty by head and tail (a worker would spin for as long as a pusher is kept from filling its place). */
#ifndef RAD_EXEC_INJECTOR_H
#define RAD_EXEC_INJECTOR_H

#include "exec/inbox.h"

enum { RAD_INJECTOR_RING = 4096 };

typedef struct rad_injector_cell {
    _Atomic uint64_t turn;
    rad_task *task; /* owned by the thread that has claimed the position; published by turn */
} rad_injector_cell;

typedef struct rad_injector {
    rad_injector_cell *cells;
    uint64_t mask;
    _Alignas(64) _Atomic uint64_t head;
    _Alignas(64) _Atomic uint64_t tail;
    _Alignas(64) _Atomic uint64_t spilled; /* pushed to the overflow list and not popped from it */
    atomic_flag taken;                     /* a thread pops from the list */
    rad_inbox overflow;                    /* its receiver is the holder of taken */
} rad_injector;

/* `ring` is a power of two (RAD_INJECTOR_RING; small ones for tests). False: out of memory. */
RAD_INTERNAL bool rad__injector_open(rad_injector *q, uint32_t ring);
RAD_INTERNAL void rad__injector_close(rad_injector *q);
RAD_INTERNAL void rad__injector_reset(rad_injector *q); /* empty; nobody else may use it */

RAD_INTERNAL void rad__injector_push(rad_injector *q, rad_task *task);

/* Up to `most` tasks, oldest first; how many there were. */
RAD_INTERNAL uint32_t rad__injector_pop(rad_injector *q, rad_task **tasks, uint32_t most);

/* Whether there is nothing to pop (J4). */
RAD_INTERNAL bool rad__injector_is_empty(const rad_injector *q);

/* How many were taken from the ring so far. */
static inline uint64_t rad__injector_taken(const rad_injector *q)
{
    return atomic_load_explicit(&q->head, memory_order_relaxed);
}

/* A guess: other pushes and pops may be under way. Never 0 when a push has returned and nobody popped. */
RAD_INTERNAL uint64_t rad__injector_count(const rad_injector *q);

#endif
