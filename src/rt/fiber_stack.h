/* fiber_stack.h — fiber stacks: a stack, and the place on it where the fiber that is on it left.
 *
 *     pool --take--> of a strand, from its first run until its fiber has ended --give--> pool
 *
 * A fiber that was spawned and did not run yet has none. So ten thousand of them that end without waiting use one
 * stack, the one that is warm, and the next one begins where the last one ended, without a switch.
 *
 * Room      spawning tells when there is no memory, not running: for every slot that is made (fiber.h) a fiber stack is
 *           made, too, for any fiber: its addresses, and its mappings where guards are mappings. What running takes
 *           is memory of the system for what is touched: pages of the stack, and page tables for them and for the marks
 *           of the guard. A fiber never runs without a guard: if neither marks nor a mapping can be had, the process
 *           ends with a message. A worker keeps a few that are warm (its cache), and brought as many into the pool as
 *           it may keep.
 * Claim     a strand that takes one finds one. With S slots, of which at most S - 1 are on a fiber stack, and workers
 *           that keep at most K1, K2, … of them, of S + K1 + K2 + … one is left: with this worker or in the pool. Only
 *           the monitor may have a few in its hands for a moment, while it gives their memory back.
 * Cold      once a second, half of those that no strand needed in that second lose their memory, but at most as many
 *           as the caller says (monitor.c: 16,384, some 10 ms). Their stacks begin anew when they are used next.
 *
 * E1  a fiber stack belongs to one strand (its `strand`, whose `fiber_stack` it is), to one worker, or to the pool.
 * E2  nobody is on the stack of one that no strand has.
 *
 * Rejected: a stack for every slot (a batch of ten thousand spawns went over ten thousand cold stacks: 245 ns each
 * instead of 60); taking one from another worker when there is none (a lock each time). */
#ifndef RAD_RT_FIBER_STACK_H
#define RAD_RT_FIBER_STACK_H

#include "os/context.h"
#include "os/lock.h"
#include "rt/stack.h"

typedef struct rad_fiber_stack rad_fiber_stack;
typedef struct rad_strand rad_strand;

struct rad_fiber_stack {
    rad_context context;   /* first */
    rad_strand *strand;    /* whose it is, or NULL */
    rad_fiber_stack *next; /* in a pool */
    void *base;            /* its stack */
    uint32_t size;
    uint32_t number : 30;  /* of its stack */
    uint32_t was_used : 1; /* its stack has a guard */
    uint32_t is_made : 1;  /* its context can be resumed */
};

enum { RAD_FIBER_STACKS_KEPT = 32 };

typedef struct rad_fiber_stacks {
    /* Called before a stack is used for the first time: makes its guard. NULL: it needs none. */
    void (*first_use)(const rad_stacks *stacks, const rad_fiber_stack *b);
    const rad_stacks *stacks; /* for that */
    rad_lock lock;            /* of everything below */
    rad_fiber_stack *warm, *cold;
    uint32_t warm_count;
    uint32_t warm_least; /* since the monitor looked last */
} rad_fiber_stacks;

/* What a worker keeps. */
typedef struct rad_fiber_stack_cache {
    rad_fiber_stack *first;
    uint32_t count, most; /* most: the number it has brought */
} rad_fiber_stack_cache;

/* Into the pool: a new one with this stack. */
RAD_INTERNAL void rad__fiber_stack_add(rad_fiber_stacks *all, rad_fiber_stack *b, const rad_stack *stack);

/* s runs for the first time: gets one. body(fiber_stack) is what begins there, unless it comes back from its last
 * fiber. */
RAD_INTERNAL void rad__fiber_stack_take(rad_fiber_stacks *all, rad_fiber_stack_cache *cache, rad_strand *s,
                                        void (*body)(void *fiber_stack));

/* Its fiber has ended, and nobody is on it. */
RAD_INTERNAL void rad__fiber_stack_give(rad_fiber_stacks *all, rad_fiber_stack_cache *cache, rad_fiber_stack *b);

/* By the monitor, now and then: gives the memory of up to `most` cold ones back. How many. */
RAD_INTERNAL uint32_t rad__fiber_stacks_cool(rad_fiber_stacks *all, uint32_t most);

#endif
