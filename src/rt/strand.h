/* strand.h — strands: what a fiber is to the executor; how workers switch from one to the next.
 *
 * To the executor a strand is a task (exec/task.h). Its run switches to the strand's stack, and returns when a fiber
 * switches back to the worker's. In between, fibers switch to one another directly, as long as the worker has
 * others of its own to run: one switch instead of two, and no step of the worker.
 *
 *     worker's stack    strand_run ---------------------------+                         landed, answers
 *     strand a                     ...runs, leaves: next = b --+                          ^
 *     strand b                                    landed: a is committed, b runs, leaves --+  no next
 *
 * The stack is that of a fiber stack (fiber_stack.h), which a strand gets when it first runs.
 *
 * Leaving   A fiber leaves to yield, to park or for good. It says which, picks the next strand, and switches. The
 *           strand (or worker) that it lands on does the rest, for only then is no thread on the stack that was left:
 *           commit comes after the switch. Until then the strand is OWNED, and no other worker can run it.
 * Overflow  A fiber that leaves compares its stack pointer with the bounds of its stack. Outside means that a large
 *           frame has stepped over the guard: the process ends with a report (overflow.h).
 * Ending    If the next strand has not run yet, it takes over the fiber stack of the one that has ended: no switch. */
#ifndef RAD_RT_STRAND_H
#define RAD_RT_STRAND_H

#include "exec/direct_switch.h"
#include "exec/thread/thread.h"
#include "rt/rt_worker.h"
#include "rt/state_word.h"

enum rad_leave { RAD_LEAVE_YIELD = 0, RAD_LEAVE_PARK, RAD_LEAVE_END };

struct rad_strand {
    rad_task task; /* first: the executor's view of it */
    rad_state_word state_word;
    rad_fiber_stack *fiber_stack; /* NULL: it did not run yet */
    rad_runtime *runtime;
    uint8_t leave; /* what the strand or worker that it lands on does for it */
    uint16_t last; /* the worker it parked on */
};

/* The strand on whose stack the caller is, or NULL. */
static inline rad_strand *rad__running(void)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    return rt_worker ? rt_worker->running : NULL;
}

/* Who calls, as a number that nobody else has meanwhile: the address of the strand, or of something that only this
 * thread has. A multiple of 8, not 0. */
RAD_INTERNAL uintptr_t rad__who(void);

/* The same for a strand that is known. */
static inline uintptr_t rad__strand_who(const rad_strand *s)
{
    return (uintptr_t)s; /* asked only whether it is the same. tidy: address ok */
}

/* A strand that is IDLE. */
RAD_INTERNAL void rad__strand_open(rad_strand *s, rad_runtime *runtime);

/* By the strand that runs. Returns when it runs again: after yielding, or after it was unparked (or signalled before).
 */
RAD_INTERNAL void rad__strand_leave(enum rad_leave leave);

/* The same for good, by the strand on this fiber stack. Returns when there is another one on it. */
RAD_INTERNAL void rad__strand_end(rad_fiber_stack *fiber_stack);

/* For the executor: the run of every strand. */
RAD_INTERNAL enum rad_run rad__strand_run(rad_task *task, rad_worker *w);

/* What follows a switch, on the stack that it went to. */
RAD_INTERNAL void rad__strand_commit(rad_rt_worker *rt_worker, rad_strand *left);

/* Provided by fiber.c, which makes strands: one that did not run yet gets its fiber stack … */
RAD_INTERNAL void rad__strand_take_stack(rad_rt_worker *rt_worker, rad_strand *s);

/* … and gives it back, when it is off its stack for good; what it was can be used again. Both on this worker. */
RAD_INTERNAL void rad__strand_give_stack(rad_rt_worker *rt_worker, rad_strand *s);
RAD_INTERNAL void rad__strand_ended(rad_rt_worker *rt_worker, rad_strand *s);

/* The strand that runs next on this worker, without a step of it; or NULL. */
RAD_INLINE rad_strand *rad__strand_next(rad_rt_worker *rt_worker)
{
    return (rad_strand *)rad__worker_next(rt_worker->worker, rad__strand_run);
}

/* The calling fiber's stack pointer is not in its stack: reports it and ends the process. */
RAD_INTERNAL _Noreturn void rad__strand_overflows(rad_strand *self);

/* Goes over to `next` (NULL: to the worker). The same as rad__strand_leave, in line. After a switch the processor
 * expects to return to where the fiber before was called from: every return on the way back to the caller costs a
 * misprediction, so there should be few. */
RAD_INLINE void rad__strand_go(rad_rt_worker *rt_worker, rad_strand *next, enum rad_leave leave)
{
    rad_strand *self = rt_worker->running;
    rad_context *to = &rt_worker->context;
    self->leave = (uint8_t)leave;
    rt_worker->left = self;
    rt_worker->running = next;
    if (next != NULL) {
        rad__state_own(&next->state_word, rt_worker->worker->id);
        if (RAD_UNLIKELY(next->fiber_stack == NULL)) rad__strand_take_stack(rt_worker, next);
        to = &next->fiber_stack->context;
    }
    rad_fiber_stack *fiber_stack = self->fiber_stack;
    uintptr_t low = (uintptr_t)fiber_stack->base; /* how far above it we are. tidy: address ok */
    if (RAD_UNLIKELY(rad__context_pointer() - low > fiber_stack->size)) rad__strand_overflows(self);
    rad_exceptions held;
    rad__exceptions_leave(&rt_worker->exceptions, &held);
    rad__context_switch(&fiber_stack->context, to);
    rt_worker = rad__rt_worker(); /* perhaps another one */
    if (RAD_UNLIKELY(rad__exceptions_any(&held))) rad__exceptions_resume(&rt_worker->exceptions, &held);
    rad_strand *left = rt_worker->left;
    if (left != NULL && left->leave == RAD_LEAVE_YIELD) { /* in line what is common and short */
        rt_worker->left = NULL;
        rad__state_yield(&left->state_word);
        rad__worker_put_later(rt_worker->worker, &left->task);
    } else if (left != NULL) {
        rad__strand_commit(rt_worker, left);
    }
}

/* To be called first thing on a stack that was never left before: see above. */
RAD_INTERNAL void rad__strand_landed(void);

/* By any thread, any number of times: if that incarnation is parked, it continues; if not, its next park does not wait.
 * `rt_worker` is rad__rt_worker(), which may be NULL. */
RAD_INTERNAL void rad__strand_unpark(rad_rt_worker *rt_worker, rad_strand *s, uint32_t generation);

/* One that was seen parked with this word is kept from running, so that its stack can be looked at: not for long, for
 * its waker has to wait. False: it is not parked any more. */
RAD_INTERNAL bool rad__strand_hold(rad_strand *s, uint64_t word);
RAD_INTERNAL void rad__strand_let_go(rad_strand *s);

/* A new incarnation of an idle strand has begun (rad__state_begin): queues it. By a fiber of the same runtime. */
RAD_INTERNAL void rad__strand_start(rad_rt_worker *rt_worker, rad_strand *s);

#endif
