/* world.h — the executor on trial: production's scheduler and workers, the tasks they run, what comes from outside,
 * and what we know about all of it.
 *
 *     machine.c    the kernel's view: actors, actions, time, the end
 *     vm.c         one instruction of a task; calls production as a task does
 *     ledger.c     what must be true: where each task is, in which order, who is parked; compares
 *     words.c      how a step reads in a report
 *
 * The *ledger* is bookkeeping, not a second scheduler: it is told what a step says it did (source, victim, woken) and
 * checks that this was possible and allowed. It decides nothing.
 *
 * States of a task
 *     UNBORN --admitted--> QUEUED --picked--> CURRENT --> QUEUED, SLEEPING, WAITING, ENDED
 *     UNBORN --gate is shut--> REFUSED          SLEEPING, WAITING --their event--> QUEUED
 *
 * L1  a QUEUED task is in exactly one line of the ledger; a WAITING one in the line of its token.
 * L2  alive = tasks QUEUED, CURRENT, SLEEPING or WAITING; runnable = QUEUED. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_WORLD_H
#define RAD_LAB_MACHINES_EXECUTOR_WORLD_H

#include "exec/worker.h"
#include "lab/machines/executor/case.h"
#include "lab/machines/executor/event_queue.h"

#include <raddle/machine.h>

#define RAD_EXEC_ORACLE_LIST(X)                                                                                        \
    X(LOST_TASK, "lost-task")                                                                                          \
    X(DOUBLE_RUN, "double-run")                                                                                        \
    X(STATE_OVERLAP, "state-overlap")                                                                                  \
    X(IN_FLIGHT, "in-flight")                                                                                          \
    X(GATE, "gate")                                                                                                    \
    X(PERMIT_UNDERFLOW, "permit-underflow")                                                                            \
    X(PERMIT_OVERFLOW, "permit-overflow")                                                                              \
    X(PERMIT_LEAK, "permit-leak")                                                                                      \
    X(DOUBLE_RELEASE, "double-release")                                                                                \
    X(LOST_WAKEUP, "lost-wakeup")                                                                                      \
    X(ILLEGAL_UNBLOCK, "illegal-unblock")                                                                              \
    X(STARVATION, "starvation")                                                                                        \
    X(HOARD, "wake-on-hoard")                                                                                          \
    X(UNPARK_ORDER, "unpark-order")                                                                                    \
    X(STEAL_ORDER, "steal-order")                                                                                      \
    X(DONE, "done")                                                                                                    \
    X(PANIC_ESCAPED, "panic-escaped")                                                                                  \
    X(OUTCOME, "outcome")

enum rad_exec_oracle {
    RAD_EXEC_ORACLE_FIRST = RAD_ORACLE_OWN - 1,
#define RAD_EXEC_ORACLE_ENUM(name, text) RAD_EXEC_##name,
    RAD_EXEC_ORACLE_LIST(RAD_EXEC_ORACLE_ENUM)
#undef RAD_EXEC_ORACLE_ENUM
        RAD_EXEC_ORACLE_END
};

enum rad_task_state {
    RAD_TASK_UNBORN = 0,
    RAD_TASK_QUEUED,
    RAD_TASK_CURRENT,
    RAD_TASK_SLEEPING,
    RAD_TASK_WAITING,
    RAD_TASK_ENDED,
    RAD_TASK_REFUSED
};

/* A queue as it should be: oldest … newest. */
typedef struct rad_line_of_tasks {
    uint32_t oldest, newest; /* task numbers, or RAD_NONE */
    uint32_t count;
} rad_line_of_tasks;

typedef struct rad_vm_task {
    rad_task task; /* first: production knows only this */
    uint32_t id;
    uint16_t program, pc;
    uint8_t state;
    uint8_t line_kind;     /* QUEUED: enum rad_line_kind */
    uint16_t where;        /* QUEUED: of which worker; CURRENT: on which; WAITING: for which token */
    uint32_t older, newer; /* neighbours in its line */
    uint64_t token;        /* of the admission or wake that made it runnable: each is picked once */
    uint64_t deadline;     /* QUEUED: picks after which it has waited too long */
    uint64_t until;        /* SLEEPING */
    uint64_t slept;        /* SLEEPING: how many fell asleep before it, in the whole run */
    uint32_t held[RAD_CASE_RESOURCES_MAX];
} rad_vm_task;

enum rad_line_kind { RAD_LINE_LOCAL = 0, RAD_LINE_LATER, RAD_LINE_INBOX, RAD_LINE_INJECTOR, RAD_LINE_TOKEN };

enum { RAD_TASKS_CHUNK = 64, RAD_TASK_CHUNKS_MAX = 1024 };

enum rad_token_state { RAD_TOKEN_OPEN = 0, RAD_TOKEN_CAME, RAD_TOKEN_FAILED };

/* What the ledger knows of one worker. */
typedef struct rad_ledger_worker {
    rad_line_of_tasks lines[3]; /* local, later, inbox */
    uint32_t hoard;             /* local spawns since one of them woke a worker */
    uint32_t credit;            /* as of its last step */
    uint64_t picks;
    uint32_t current; /* task, or RAD_NONE */
    bool searching;
} rad_ledger_worker;

typedef struct rad_ledger {
    rad_ledger_worker workers[RAD_CASE_WORKERS_MAX];
    rad_line_of_tasks injector;
    rad_line_of_tasks tokens[RAD_CASE_TOKENS_MAX];
    uint32_t alive, runnable, current, refused, ended;
    uint64_t credit; /* of all workers */
    uint64_t picks;  /* of all workers */
    uint64_t last_token;
    uint64_t parked; /* bit per worker: announced, not woken */
    uint32_t searching, next;
    bool shut, done;
    int64_t failure; /* what join will have to report */
} rad_ledger;

typedef struct rad_code_texts rad_code_texts;

typedef struct rad_exec_world {
    const rad_exec_case *c;
    rad_kernel *k;
    bool oracles_off; /* for measuring what they cost */
    /* Production. */
    rad_sched sched;
    rad_worker *workers;
    bool open;
    /* Tasks. */
    rad_vm_task *chunks[RAD_TASK_CHUNKS_MAX];
    uint32_t chunk_count;
    uint32_t task_count;
    bool too_many_tasks;
    /* Outside. */
    uint64_t now;
    rad_event_queue sleepers; /* by time, then by `slept` */
    uint64_t sleeps;
    uint32_t available[RAD_CASE_RESOURCES_MAX];
    uint8_t tokens[RAD_CASE_TOKENS_MAX]; /* enum rad_token_state */
    bool delivered[RAD_CASE_EVENTS_MAX];
    uint32_t calls;  /* close: whom to call next */
    uint32_t closer; /* which event does so */
    /* The kernel's numbers. */
    uint32_t worker_actors[RAD_CASE_WORKERS_MAX], worker_actions[RAD_CASE_WORKERS_MAX];
    uint32_t event_actions[RAD_CASE_EVENTS_MAX];
    uint32_t timer_action, clock_action;
    uint32_t gate_object, idle_object, injector_object, time_object, task_object;
    uint32_t worker_objects[RAD_CASE_WORKERS_MAX];
    uint32_t resource_objects[RAD_CASE_RESOURCES_MAX];
    uint64_t coverage;      /* bits of what was exercised: enum rad_cover */
    rad_code_texts **texts; /* of instructions; *texts is NULL until it is first used */
    rad_ledger ledger;
} rad_exec_world;

static inline rad_vm_task *rad__world_task(const rad_exec_world *w, uint32_t id)
{
    return &w->chunks[id / RAD_TASKS_CHUNK][id % RAD_TASKS_CHUNK];
}

/* ---- vm.c ------------------------------------------------------------------------------------------- */

/* A new task; NULL when there are too many or memory ran out (the run then ends). */
RAD_INTERNAL rad_vm_task *rad__vm_task(rad_exec_world *w, uint32_t program, uint32_t at);

/* The operation its next run will do. */
RAD_INTERNAL enum rad_op rad__vm_next_op(const rad_exec_world *w, const rad_vm_task *t);

/* From outside: through the gate. */
RAD_INTERNAL void rad__vm_start(rad_exec_world *w, rad_vm_task *t);

/* A blocked task continues; `why` names the event for the ledger. */
RAD_INTERNAL void rad__vm_unblock(rad_exec_world *w, rad_vm_task *t);

/* ---- machine.c -------------------------------------------------------------------------------------- */

/* A production call answered that this worker's thread must be woken. */
RAD_INTERNAL void rad__world_wake(rad_exec_world *w, uint32_t worker);

enum rad_cover {
    RAD_COVER_OP = 0,      /* + op */
    RAD_COVER_PLACE = 16,  /* + place of a spawn */
    RAD_COVER_SOURCE = 24, /* + source */
    RAD_COVER_EVENT = 32,  /* + kind of event */
    RAD_COVER_TIMER = 40,
    RAD_COVER_CLOCK,
    RAD_COVER_PHASE = 48 /* + phase */
};

static inline void rad__world_cover(rad_exec_world *w, uint32_t what)
{
    w->coverage |= UINT64_C(1) << what;
}

/* ---- words.c ---------------------------------------------------------------------------------------- */

/* What a step has to tell beside its site; % is the value. Sources are in the order of enum rad_source. */
#define RAD_EXEC_NOTE_LIST(X)                                                                                          \
    X(NOWHERE, "finds nothing")                                                                                        \
    X(LOCAL, "takes task %, its newest")                                                                               \
    X(OLDEST, "takes task %, its oldest")                                                                              \
    X(LATER, "takes task % from behind")                                                                               \
    X(INBOX, "takes task % from its inbox")                                                                            \
    X(INJECTOR, "takes task % from the injector")                                                                      \
    X(VICTIM, "steals task %")                                                                                         \
    X(VICTIM_LATER, "steals task % from behind")                                                                       \
    X(MOVED, "moves % more behind")                                                                                    \
    X(STOLEN_FROM, "of worker %")                                                                                      \
    X(TRIED, "finds nothing at worker %")                                                                              \
    X(SEARCHES, "searches")                                                                                            \
    X(SEES, "sees work, does not park")                                                                                \
    X(PARKS, "sees nothing, parks")                                                                                    \
    X(GETS_UP, "gets up")                                                                                              \
    X(WAKES, "wakes worker %")                                                                                         \
    X(STARTS, "task % comes")                                                                                          \
    X(REFUSED, "task % is refused")                                                                                    \
    X(GOES_ON, "task % goes on")                                                                                       \
    X(BLOCKS, "has to wait")                                                                                           \
    X(TOO_FEW, "not enough left: %")                                                                                   \
    X(TOKEN, "token %")                                                                                                \
    X(SHUTS, "shuts the gate")                                                                                         \
    X(CALLS, "calls worker %")                                                                                         \
    X(TIME, "it is %")

enum rad_exec_note {
#define RAD_EXEC_NOTE_ENUM(name, text) RAD_NOTE_##name,
    RAD_EXEC_NOTE_LIST(RAD_EXEC_NOTE_ENUM)
#undef RAD_EXEC_NOTE_ENUM
        RAD_EXEC_NOTE_COUNT
};

/* Kinds of actions and notes. */
enum {
    RAD_KIND_WORKER = 0,
    RAD_KIND_EVENT, /* + kind of event */
    RAD_KIND_TIMER = RAD_KIND_EVENT + RAD_EVENT_CLOSE + 1,
    RAD_KIND_CLOCK,
    RAD_KIND_NOTE,
    RAD_KIND_CODE = RAD_KIND_NOTE + RAD_EXEC_NOTE_COUNT /* + program * (RAD_CODE_MAX + 1) + pc */
};
_Static_assert(RAD_KIND_CODE + RAD_CASE_PROGRAMS_MAX * (RAD_CODE_MAX + 1) <= 0x8000, "16 bits");

/* What happens before the first step is nobody's. */
static inline void rad__world_note(rad_exec_world *w, enum rad_exec_note what, uint64_t value)
{
    if (rad_current_actor(w->k) == RAD_NONE) return;
    rad_note(w->k, RAD_KIND_NOTE + (uint32_t)what, RAD_NONE, value);
}

RAD_INTERNAL const char *rad__exec_kind_name(const void *self, uint32_t kind);
RAD_INTERNAL void rad__code_texts_free(rad_code_texts *t);

/* ---- ledger.c --------------------------------------------------------------------------------------- */

RAD_INTERNAL void rad__ledger_reset(rad_exec_world *w);

/* A task becomes runnable: pushed by production to that queue of that worker. */
RAD_INTERNAL void rad__ledger_queued(rad_exec_world *w, rad_vm_task *t, enum rad_line_kind line, uint32_t worker);
RAD_INTERNAL void rad__ledger_admitted(rad_exec_world *w, rad_vm_task *t);
RAD_INTERNAL void rad__ledger_waits(rad_exec_world *w, rad_vm_task *t, uint32_t token);
RAD_INTERNAL rad_vm_task *rad__ledger_waiter(rad_exec_world *w, uint32_t token); /* oldest, or NULL */

/* A notice was given and answered `woken`; what it should have been. */
RAD_INTERNAL void rad__ledger_notified(rad_exec_world *w, uint32_t woken);
RAD_INTERNAL void rad__ledger_notified_worker(rad_exec_world *w, uint32_t worker, uint32_t woken);

/* A local spawn on `worker` answered `woken`. */
RAD_INTERNAL void rad__ledger_local_spawn(rad_exec_world *w, uint32_t worker, uint32_t woken);

/* The gate answered an external spawn. */
RAD_INTERNAL void rad__ledger_entered(rad_exec_world *w, const rad_vm_task *t, enum rad_gate_enter answer);

/* After a step of a worker; `phase` before it. */
RAD_INTERNAL void rad__ledger_stepped(rad_exec_world *w, uint32_t worker, const rad_step *step);

/* After every action. */
RAD_INTERNAL void rad__ledger_check(rad_exec_world *w);

/* Everything from scratch; every 1,024 steps and at the end. */
RAD_INTERNAL void rad__ledger_census(rad_exec_world *w);

/* Everything that may matter to what happens next, deadlines of waiting tasks included. */
RAD_INTERNAL void rad__ledger_state(const rad_exec_world *w, rad_state_hash *h);

#define RAD_EXEC_FAIL(w, oracle, object, ...) rad_fail((w)->k, RAD_EXEC_##oracle, (object), __VA_ARGS__)

/* Counts the evaluation; on failure the run ends after this step. */
#define RAD_EXEC_CHECK(w, oracle, condition, object, ...)                                                              \
    (rad_evaluated((w)->k, RAD_EXEC_##oracle), (condition) ? (void)0 : RAD_EXEC_FAIL(w, oracle, object, __VA_ARGS__))

#endif
