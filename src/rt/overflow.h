/* overflow.h — says whose stack has overflowed before the process dies of it.
 *
 *     raddle: fiber 42 'name': stack overflow (128 KiB); raise the stack size
 *
 * Pools of stacks are watched from when they are opened until they are closed. The handler of a fault knows the address
 * that was touched and the stack pointer. It reports, in one line:
 *   - an overflow, if the fiber that runs on the thread touched the guard of its own stack, or if its stack pointer is
 *     in another stack of the pool or in a guard: a frame was larger than the guard, and stepped over it;
 *   - a wild pointer, if any other code touched a guard.
 * Then the process dies of the signal as it would have. All other faults go to the handler that was there before.
 *
 *              a thread that faults                       a thread that closes a pool
 *         H1   looking + 1                           C1   the pool's place in the list becomes empty
 *         H2   reads the list, the pools in it       C2   waits until looking is 0
 *         H3   looking - 1                           C3   frees the pool
 * Claim: H2 never reads a pool that C3 has freed. H1 and H2, and C1 and C2, are sequentially consistent: either H2
 * finds the place empty, or C2 finds H1 done and waits for H3. */
#ifndef RAD_RT_OVERFLOW_H
#define RAD_RT_OVERFLOW_H

#include "rt/stack.h"

enum { RAD_OVERFLOW_POOLS = 16, RAD_OVERFLOW_NAME = 128 };

/* The fiber that runs on the calling thread, for instance "fiber 42 'name'": writes at most `size` bytes, returns how
 * many, and sets *stack to the number of its stack. 0: no fiber of this pool runs there. In a signal handler. */
typedef size_t (*rad_overflow_name)(void *context, uint32_t *stack, char *text, size_t size);

/* RAD_ELIMIT: too many pools. */
RAD_INTERNAL int rad__overflow_watch(const rad_stacks *stacks, rad_overflow_name name, void *context, rad_error *error);
RAD_INTERNAL void rad__overflow_unwatch(const rad_stacks *stacks); /* one that is not watched: nothing */

/* The calling fiber's stack pointer is outside its stack, and no fault has shown it: reports that, and aborts. */
RAD_INTERNAL _Noreturn void rad__overflow_die(const rad_stacks *stacks, rad_overflow_name name, void *context);

#endif
