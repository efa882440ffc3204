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
 * Ending    If the next strand has not run yet, it takes over the fiber stack of the one that has ended: no switch.
 * Core      what a worker has for this: the running strand, the one that was left, the context of its own stack. The
 *           only thread-local variable of the runtime points to it. It is read through rad__core, which is never
 *           inlined: a fiber that continued on another worker must not use an address that the compiler has kept.
 *
 * C1  `running` is the strand on whose stack the thread is; NULL on the worker's own.
 * C2  `left` is not NULL only between leaving and landing. */
#ifndef RAD_RT_STRAND_H
#define RAD_RT_STRAND_H

#include "exec/direct_switch.h"
#include "exec/thread/thread.h"
#include "os/exceptions.h"
#include "rt/fiber_stack.h"
#include "rt/state_word.h"

typedef struct rad_core rad_core;
typedef struct rad_runtime rad_runtime;

enum rad_leave { RAD_LEAVE_YIELD = 0, RAD_LEAVE_PARK, RAD_LEAVE_END };

struct rad_strand {
    rad_task task; /* first: the executor's view of it */
    rad_state_word state_word;
    rad_fiber_stack *fiber_stack; /* NULL: it did not run yet */
    rad_runtime *runtime;
    uint8_t leave; /* what it wants of whoever is landed on */
    uint16_t last; /* the worker it parked on */
};

struct rad_core {
    rad_context context; /* of the worker's own stack, while a strand runs */
    rad_strand *running;
    rad_strand *left;
    rad_worker *worker;
    rad_runtime *runtime;
    rad_exceptions *exceptions; /* the thread's, if there is C++; NULL: not asked for yet */
};

/* The caller's core, or NULL when it is not a thread of a runtime. To be asked again after anything that may park. */
RAD_INTERNAL rad_core *rad__core(void);
RAD_INTERNAL void rad__core_set(rad_core *core);

/* The strand on whose stack the caller is, or NULL. */
static inline rad_strand *rad__running(void)
{
    rad_core *core = rad__core();
    return core ? core->running : NULL;
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
RAD_INTERNAL void rad__strand_commit(rad_core *core, rad_strand *left);

/* Provided by whoever makes strands: one that did not run yet gets its fiber stack … */
RAD_INTERNAL void rad__strand_take_stack(rad_core *core, rad_strand *s);

/* … and gives it back, when it is off its stack for good; what it was can be used again. Both on this core. */
RAD_INTERNAL void rad__strand_give_stack(rad_core *core, rad_strand *s);
RAD_INTERNAL void rad__strand_ended(rad_core *core, rad_strand *s);

/* Who is to run next on this core, instead of the worker; or NULL. */
RAD_INLINE rad_strand *rad__strand_next(rad_core *core)
{
    return (rad_strand *)rad__worker_next(core->worker, rad__strand_run);
}

/* The calling fiber's stack pointer is not in its stack: reports it and ends the process. */
RAD_INTERNAL _Noreturn void rad__strand_overflows(rad_strand *self);

/* Goes over to `next` (NULL: to the worker). The same as rad__strand_leave, in line. After a switch the processor
 * expects to return to where the fiber before was called from: every return on the way back to the caller costs a
 * misprediction, so there should be few. */
RAD_INLINE void rad__strand_go(rad_core *core, rad_strand *next, enum rad_leave leave)
{
    rad_strand *self = core->running;
    rad_context *to = &core->context;
    self->leave = (uint8_t)leave;
    core->left = self;
    core->running = next;
    if (next != NULL) {
        rad__state_own(&next->state_word, core->worker->id);
        if (RAD_UNLIKELY(next->fiber_stack == NULL)) rad__strand_take_stack(core, next);
        to = &next->fiber_stack->context;
    }
    rad_fiber_stack *fiber_stack = self->fiber_stack;
    uintptr_t low = (uintptr_t)fiber_stack->base; /* how far above it we are. tidy: address ok */
    if (RAD_UNLIKELY(rad__context_pointer() - low > fiber_stack->size)) rad__strand_overflows(self);
    rad_exceptions held;
    rad__exceptions_leave(&core->exceptions, &held);
    rad__context_switch(&fiber_stack->context, to);
    core = rad__core(); /* perhaps another one */
    if (RAD_UNLIKELY(rad__exceptions_any(&held))) rad__exceptions_resume(&core->exceptions, &held);
    rad_strand *left = core->left;
    if (left != NULL && left->leave == RAD_LEAVE_YIELD) { /* in line what is common and short */
        core->left = NULL;
        rad__state_yield(&left->state_word);
        rad__worker_put_later(core->worker, &left->task);
    } else if (left != NULL) {
        rad__strand_commit(core, left);
    }
}

/* To be called first thing on a stack that was never left before: see above. */
RAD_INTERNAL void rad__strand_landed(void);

/* Anybody, any number of times: if that incarnation is parked, it goes on; if not, its next park does not wait.
 * `core` is rad__core(), which may be NULL. */
RAD_INTERNAL void rad__strand_unpark(rad_core *core, rad_strand *s, uint32_t generation);

/* One that was seen parked with this word is kept from running, so that its stack can be looked at: not for long, for
 * whoever wakes it has to wait. False: it is not parked any more. */
RAD_INTERNAL bool rad__strand_hold(rad_strand *s, uint64_t word);
RAD_INTERNAL void rad__strand_let_go(rad_strand *s);

/* A new incarnation of an idle strand has begun (rad__state_begin): queues it. By a fiber of the same runtime. */
RAD_INTERNAL void rad__strand_start(rad_core *core, rad_strand *s);

#endif
