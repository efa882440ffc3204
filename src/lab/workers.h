/* workers.h — worker processes that do batches, and the supervisor that survives them.
 *
 * Each worker is a fork with a rig of its own, whose choices lie in memory shared with the supervisor.
 * When a machine kills its process, or a step does not return, the supervisor knows the run and its
 * choices so far, reports them, and forks the worker anew. */
#ifndef RAD_LAB_WORKERS_H
#define RAD_LAB_WORKERS_H

#include "lab/batch.h"
#include "lab/watch.h"
#include "os/process.h"

/* The verdict on a run whose process is gone, from what it left in shared memory; the watch says whether it was
 * killed for not returning. RAD_EINPUT: it died in a policy that the user wrote, which is no verdict. */
RAD_INTERNAL int rad__verdict_of_death(rad_verdict *v, const rad_rig_shared *shared, const rad_os_exit *how,
                                       const rad_run_watch *watch, rad_error *error);

typedef struct rad_workers rad_workers;

enum { RAD_JOBS_MAX = 64 };

/* Runs of a program under test: as ever, each in a process of its own, or told by a new process each, with the kernel,
 * and so the policy, in the worker. */
enum rad_workers_way { RAD_WORKERS_USUAL, RAD_WORKERS_APART, RAD_WORKERS_TOLD };

/* `suppressed` as in rad_explore_options, or NULL. */
RAD_INTERNAL int rad__workers_open(rad_workers **p, const rad_target *t, uint32_t jobs, double hang_seconds,
                                   const char *const *suppressed, enum rad_workers_way way, rad_error *error);
RAD_INTERNAL void rad__workers_close(rad_workers *p); /* kills what still works */

/* How many workers were killed from outside so far. */
RAD_INTERNAL uint32_t rad__workers_killed(const rad_workers *p);
RAD_INTERNAL uint32_t rad__workers_idle(const rad_workers *p);
/* Needs an idle worker. `ticket` comes back with the answer. */
RAD_INTERNAL int rad__workers_start(rad_workers *p, const rad_batch *u, void *ticket, rad_error *error);

typedef struct rad_workers_answer {
    void *ticket; /* NULL: nothing came within the time */
    bool died;    /* the process is gone: `verdict`, `run` and the choices tell of its last run */
    rad_batch_result result;
    rad_verdict verdict;
    uint64_t run;        /* index within the batch */
    uint64_t suppressed; /* as in rad_beacon */
    uint32_t suppressed_by[RAD_PATTERNS_TOLD];
    const rad_choice *choices; /* valid until the next call */
    uint64_t choice_count;
} rad_workers_answer;

/* Waits up to `timeout_ms` for one answer. Errors: resources, a bug of ours in a worker, interrupted. */
RAD_INTERNAL int rad__workers_wait(rad_workers *p, int timeout_ms, rad_workers_answer *a, rad_error *error);

#endif
