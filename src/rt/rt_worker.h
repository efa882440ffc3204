/* rt_worker.h — what a worker of the executor has for fibers, in its scratch memory.
 *
 * The only thread-local variable of the runtime points to it. It is read through rad__rt_worker, which is never
 * inlined: a fiber that continued on another worker must not use an address that the compiler has kept.
 *
 * C1  `running` is the strand on whose stack the thread is; NULL on the worker's own.
 * C2  `left` is not NULL only between leaving and landing (strand.h). */
#ifndef RAD_RT_RT_WORKER_H
#define RAD_RT_RT_WORKER_H

#include "base/prng.h"
#include "exec/worker.h"
#include "os/exceptions.h"
#include "os/segv.h"
#include "rt/fiber_stack.h"
#include "rt/timer.h"

typedef struct rad_runtime rad_runtime;
typedef struct rad_slot rad_slot;

typedef struct rad_rt_worker {
    rad_context context; /* of the worker's own stack, while a strand runs */
    rad_strand *running;
    rad_strand *left;
    rad_worker *worker;
    rad_runtime *runtime;
    rad_exceptions *exceptions; /* the thread's, if there is C++; NULL: not asked for yet */
    rad_slot *idle;
    uint32_t idle_count;
    rad_fiber_stack_cache cache;
    uint64_t spawned;
    uint32_t runs; /* while a fiber waits for a file */
    rad_wheel wheel;
    _Atomic uint32_t sharp;        /* fibers that wait for a timer in this wheel without slack */
    uint64_t woke_ns;              /* when timers ended its last rest; 0: it has rested since, or was woken otherwise */
    uint64_t woke_ran;             /* runs until then */
    uint64_t spent_ns, spent_runs; /* how long fibers run that were asleep: see sleep.c */
    rad_prng prng;                 /* of select */
    rad_os_signal_stack signals;
} rad_rt_worker;

/* The caller's, or NULL when it is not a thread of a runtime. To be asked again after anything that may park. */
RAD_INTERNAL rad_rt_worker *rad__rt_worker(void);
RAD_INTERNAL void rad__rt_worker_set(rad_rt_worker *rt_worker);

#endif
