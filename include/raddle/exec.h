/* raddle/exec.h — tasks on all cores: a work-stealing executor.
 *
 *     typedef struct fib { rad_job job; int n; long result; } fib;
 *
 *     static enum rad_run fib_run(rad_job *job, rad_worker *w)
 *     {
 *         fib *f = (fib *)job;
 *         if (f->n < 2) { f->result = f->n; return RAD_RUN_DONE; }
 *         fib left = {.n = f->n - 1}, right = {.n = f->n - 2};
 *         rad_group group = RAD_GROUP_INIT(w);
 *         rad_group_spawn(w, &group, &left.job, fib_run);        // any worker may run the left half
 *         enum rad_run ours = fib_run(&right.job, w);            // the right one is ours
 *         if (!rad_group_wait(w, &group)) return RAD_RUN_FAILED; // runs other tasks meanwhile
 *         if (ours != RAD_RUN_DONE) return ours;
 *         f->result = left.result + right.result;
 *         return RAD_RUN_DONE;
 *     }
 *
 * An executor has a number of *workers*, each a thread with a queue of its own: it runs its newest task
 * first, and when it has nothing to do, takes the oldest task of another worker. A *task* is a struct
 * of yours that begins with a rad_task; the executor allocates nothing for it, copies nothing, and never drops one.
 *
 * Ownership  A task belongs to the executor from the moment a call has accepted it until its run returns
 *            DONE or FAILED, or until `drop` gets it. Then it is yours: free it inside its own run, as the last
 *            thing it does, or wherever you know that it has ended. It may also spawn itself as the last thing it
 *            does, and return DONE. A call that refuses a task leaves it yours.
 * Blocking   Only rad_exec_join, rad_exec_destroy and rad_group_wait wait for tasks. All other calls take a
 *            bounded time; some of them wake a thread, which is a system call.
 * fork       An executor stays with the process that made it: a child has no threads for it, and must not call it.
 * Errors     Calls that can fail say how. A programmer's mistake (a worker that is not the caller's, a group with
 *            tasks that was not waited for …) is undefined, or stops the process with a message where that
 *            is cheap to notice.
 *
 * Link with -lraddle (pkg-config raddle). The same calls are in raddle-lab. */
#ifndef RADDLE_EXEC_H
#define RADDLE_EXEC_H

#include <raddle/base.h>

#ifdef __cplusplus
extern "C" {
#define RAD_ATOMIC(type) type /* not to be touched from C++: same size, same place */
#else
#define RAD_ATOMIC(type) _Atomic(type)
#endif

typedef struct rad_exec rad_exec;
typedef struct rad_worker rad_worker;
typedef struct rad_task rad_task;

/* ---- Tasks ---------------------------------------------------------------------------------------- */

/* What a run returns. Anything else stops the process with a message. */
enum rad_run {
    RAD_RUN_DONE = 0,     /* finished; the executor has already forgotten it */
    RAD_RUN_FAILED,       /* finished; the first one to fail is what join reports */
    RAD_RUN_AGAIN,        /* call run once more, at once, on this worker */
    RAD_RUN_YIELD,        /* later: behind all the work of this worker */
    RAD_RUN_YIELD_GLOBAL, /* later: behind all that waits in the queue everybody shares */
    RAD_RUN_BLOCKED       /* not before it is woken; it may be running elsewhere when run returns */
};

/* The beginning of a task of yours. Set `run` before it is spawned; `next` belongs to the executor.
 * `worker` is the one it runs on, valid during the call: all calls for tasks want it. */
struct rad_task {
    RAD_ATOMIC(rad_task *) next;
    enum rad_run (*run)(rad_task *task, rad_worker *worker);
};

/* ---- The executor --------------------------------------------------------------------------------- */

#define RAD_SPIN_NONE UINT32_MAX

/* All zero is a good choice. */
typedef struct rad_exec_options {
    uint32_t workers;     /* threads, at most 256; 0: as many as there are CPUs the process may use */
    uint32_t steal_tries; /* other workers to steal from before a look at the shared queue; 0: 4 */
    uint32_t hoard;       /* after this many local spawns a sleeping worker is woken for certain; 0: 32 */
    uint32_t spin_us;     /* how long a worker may search before it sleeps, 1 … 50 µs; 0: 50, or none if there
                           * are more workers than CPUs; RAD_SPIN_NONE: it tries every worker once */
    uint64_t seed;        /* of the order in which workers steal from each other */
    size_t stack_size;    /* of each worker's thread, at least 64 KiB; 0: 8 MiB */
    size_t scratch_size;  /* bytes of scratch memory for each worker; see rad_worker_scratch */
    bool pin;             /* worker i stays on the i-th CPU the process may use */
    bool plain_wake;      /* wake workers in turn, asleep or not: simple, and slower; stacks of tasks that
                          * wait for groups are not bounded then */
    bool stop_on_failure; /* a task that fails stops the executor; otherwise accepted tasks still run */
    /* When stopped: gets each accepted task that will not run (a blocked one only when it is woken; never a job of a
     * group: the wait for that returns false). Called on threads of the executor or in destroy,
     * perhaps on several at a time. NULL: none. */
    void (*drop)(void *context, rad_task *task);
    void *drop_context;
} rad_exec_options;

/* Starts the workers. `options` may be NULL and is not kept. On failure *exec is NULL: RAD_EINPUT (an option is
 * out of its range), RAD_ENOMEM, RAD_EIO (no thread to be had); nothing is left behind. */
RAD_API RAD_MUST_USE int rad_exec_create(rad_exec **exec, const rad_exec_options *options, rad_error *error);

/* Joins, and frees everything. No other thread may be inside a call on this executor, or make one later: a spawn or
 * wake on another thread may still be running when its task has already ended. NULL is fine. */
RAD_API void rad_exec_destroy(rad_exec *exec);

/* From any thread, tasks included. True: the executor has it, and will run it. False: the gate is shut (close,
 * join, a failure): the task is still yours, untouched. */
RAD_API RAD_MUST_USE bool rad_exec_spawn(rad_exec *exec, rad_task *task);

/* The same for `count` tasks, all or nothing. Wakes no more workers than there are tasks. */
RAD_API RAD_MUST_USE bool rad_exec_spawn_batch(rad_exec *exec, rad_task *const *tasks, uint32_t count);

/* The same for a task that only worker `index` may run. */
RAD_API RAD_MUST_USE bool rad_exec_spawn_on(rad_exec *exec, uint32_t index, rad_task *task);

/* From any thread: a task that returned BLOCKED (or is about to) runs again; once for each time it blocks. Works also
 * when the gate is shut. Call it only after the task has published that it may be woken; from then on the task's run
 * must not touch the task, and returns. */
RAD_API void rad_exec_wake(rad_exec *exec, rad_task *task);
RAD_API void rad_exec_wake_on(rad_exec *exec, uint32_t index, rad_task *task);

/* Shuts the gate: from now on tasks come only from tasks. Does not wait. When the last one has finished (blocked
 * ones count), the workers end. Any number of times, from anywhere. */
RAD_API void rad_exec_close(rad_exec *exec);

/* Shuts the gate and waits until all tasks have finished and the workers have ended. 0, or the code of the first
 * task that failed. Any number of times, from several threads, but not from a task of this executor.
 * Waits forever for a task that stays blocked. */
RAD_API int64_t rad_exec_join(rad_exec *exec);

RAD_API uint32_t rad_exec_workers(const rad_exec *exec);

/* Each worker counts for itself, and the counts are added up while workers run: exact only when nothing runs. A group
 * whose last job ended on another worker spawns a task of its own that ends the wait; that task is counted, too. */
typedef struct rad_exec_counts {
    uint64_t ran;        /* calls of run */
    uint64_t ended;      /* runs that returned DONE or FAILED */
    uint64_t spawned;    /* by rad_worker_spawn … and rad_group_spawn; not by rad_exec_spawn … */
    uint64_t in_flight;  /* tasks taken and not ended; up to 128 too many for each worker that is awake */
    uint64_t from_local; /* where tasks were found: spawned or woken by the worker itself */
    uint64_t from_later, from_inbox, from_shared, stolen;
    uint64_t missed; /* attempts to steal that found nothing */
    uint64_t slept;  /* times a worker was woken from sleep */
    uint64_t woke;   /* times a task or a worker woke another */
} rad_exec_counts;

/* Of worker `index`, or of all together (RAD_NONE). */
RAD_API void rad_exec_stats(const rad_exec *exec, uint32_t index, rad_exec_counts *counts);

/* ---- For tasks ------------------------------------------------------------------------------------
 * Only from inside a run, with the worker that it was given. They never fail and never wait. */

/* To the newest end of this worker's own queue: it is next here, unless another worker steals it. */
RAD_API void rad_worker_spawn(rad_worker *worker, rad_task *task);

/* To the queue everybody shares, first in first out. */
RAD_API void rad_worker_spawn_global(rad_worker *worker, rad_task *task);

/* To worker `index`, which alone will run it. */
RAD_API void rad_worker_spawn_on(rad_worker *worker, uint32_t index, rad_task *task);

/* As rad_exec_wake, but the task runs on this worker, where its data is warm, unless another worker steals it. It is
 * next, unless the worker has run the task that was woken last three times in a row: then the one that was woken first
 * is. */
RAD_API void rad_worker_wake(rad_worker *worker, rad_task *task);

/* What the failure of this task is called: not 0. The run then has to return FAILED, which it does with
 * `return rad_worker_fail(worker, code);`; otherwise the next one to fail on this worker may be called so.
 * Without a code a failure is 1. */
RAD_API enum rad_run rad_worker_fail(rad_worker *worker, int64_t code);

/* options.scratch_size bytes of this worker alone, zero at first, at the start of a cache line; NULL when
 * the size is 0. Tasks that run one after the other on a worker share it without any lock; what rad_group_wait
 * runs in between does, too. */
RAD_API void *rad_worker_scratch(rad_worker *worker);

RAD_API uint32_t rad_worker_index(const rad_worker *worker); /* 0 … workers-1 */
RAD_API rad_exec *rad_worker_exec(const rad_worker *worker);

/* ---- Groups: fork and join ------------------------------------------------------------------------
 * A task opens a group, spawns jobs into it, does something itself, and waits for them. Group and jobs may be local
 * variables of the waiter, since it does not leave before they have ended.
 *
 * Waiting is helping: rad_group_wait runs other tasks on the waiter's stack, its own newest first, then whatever is
 * to be had, stolen tasks too, and sleeps only when there is nothing to run anywhere. It follows that
 *   - waits nest: what runs inside a wait may wait itself, and the outer wait ends after the inner one;
 *   - what a task holds while it waits (a lock, scratch memory) may meet another task on the same thread: hold
 *     no lock across a wait;
 *   - a wait can take longer than its jobs do, by as much as the task takes that it helps with.
 * Stacks do not grow without bound: a wait that finds half of its thread's stack used no longer takes tasks of others.
 * Its worker's own it still takes, as it must; so waiting tasks pile up if their jobs yield all the time.
 * Nothing deadlocks, if each run waits only for groups that it opened itself: the waiting run has begun before
 * everything it waits for. */

typedef struct rad_job rad_job;

typedef struct rad_group {
    rad_worker *worker; /* whose task opened it */
    /* The rest is not for you. */
    int64_t here;                /* spawned minus ended, on that worker */
    RAD_ATOMIC(int64_t) away;    /* the same on all others */
    RAD_ATOMIC(uint32_t) spoilt; /* a job failed or was not run */
    bool folded, finished;
    rad_task finish;
} rad_group;

#define RAD_GROUP_INIT(worker)                                                                                         \
    {                                                                                                                  \
        (worker), 0, 0, 0, false, false,                                                                               \
        {                                                                                                              \
            NULL, NULL                                                                                                 \
        }                                                                                                              \
    }

/* The beginning of a job of yours; nothing in it has to be set. */
struct rad_job {
    rad_task task;
    rad_group *group;
    enum rad_run (*run)(rad_job *job, rad_worker *worker);
};

/* As rad_worker_spawn, into a group. By the task that opened it, or by its jobs. The job may be stolen, may
 * yield (YIELD_GLOBAL is YIELD here) and may return AGAIN, but not BLOCKED. */
RAD_API void rad_group_spawn(rad_worker *worker, rad_group *group, rad_job *job,
                             enum rad_run (*run)(rad_job *job, rad_worker *worker));

/* By the task that opened it, in the same run. Returns when all jobs of the group have ended (at once when there are
 * none); the group is then as new. True: all of them returned DONE. False: one failed, which join will
 * report too, or was not run because the executor was stopped; return FAILED. */
RAD_API bool rad_group_wait(rad_worker *worker, rad_group *group);

#ifdef __cplusplus
}
#endif

#endif
