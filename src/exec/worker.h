/* worker.h — one worker of the executor as a machine of small steps.
 *
 * A step never waits and makes at most one change that others can see, or moves several tasks, one after the other,
 * from a queue of others to its own. It returns what it did, and the shell calls it again. Where it would wait, it
 * returns PARKED and the shell waits for the worker's wake word.
 *
 *                +-----------------------------< not allowed <----------------+
 *                v                                                            |
 *     PICK --nothing--> SEARCH --allowed--> STEAL (rounds) --nothing--> SETTLE --> ANNOUNCE --> RECHECK
 *      |  ^                                   |      ^                               nothing |      | work
 *      |  |                                found     |                                       v      v
 *      v  |                                   v      +------- wake word ---------------------- PARKED <- NOTIFY
 *     RUN <-------------- (SPREAD) <----   FOUND
 *     PICK, RUN, STEAL, PARKED --done--> STOPPED;  the one that ends the executor: CALL (each worker) --> STOPPED
 *
 * PICK      what is due, what was woken, its newest spawn; then the oldest of what waits behind, its inbox, the
 *           injector (a batch). Every 61st pick begins with another of these (or with its oldest spawn), so that each
 *           gets its turn: see rad__choose_fair.
 * RUN       runs the current task until it is finished, yields or is blocked (AGAIN: one call per step).
 * SEARCH    becomes a searcher, unless half of the workers are.       FOUND, SPREAD  is one no longer: R1, R2
 * STEAL     its own queues and the injector, then one victim a step: the oldest of its tasks, and more when they are a
 *           crowd of woken ones. The first victim is the one at which RECHECK saw work, if that is why the worker
 *           is awake: random victims alone could miss that one forever.
 * SETTLE    gives its credit back to the gate. Only here can the count reach zero.
 * ANNOUNCE, RECHECK, NOTIFY, PARKED   K1-K2, K3, W2-W4 and K4 of idle.h.
 *
 * Queues    due    tasks whose time has come: oldest first for all workers
 *           woken  what was blocked: the newest first while it is fresh, at most three times in a row; otherwise, and
 *                  for thieves, oldest first
 *           local  what it spawned: newest first for itself, oldest first for thieves
 *           later  what yielded, and the rest of a batch: oldest first for all workers
 *           inbox  what only this worker may run
 * Rank      in this order. A queue of higher rank does not shut out the others: see rad__choose_fair, and
 *           rad__choose_turn in direct_switch.h.
 * Brief     Stealing a task that runs for a microsecond costs more than it saves. So tasks that are put into `due` may
 *           be marked as brief: then no other worker takes them or is woken for them. Their worker is awake, and
 *           runs them before all others. If it is stuck in a task, the monitor of rt unmarks them.
 * Fresh     the newest woken task is fresh until the worker takes another woken task. It lies in the queue like the
 *           others: thieves can take it, searchers see it, and it keeps its place in the queue if its turn
 *           as the newest does not come. (Rejected: a slot of its own, as Go and Tokio have. Every search for work
 *           has to look there as well, and displacing a task from it costs an atomic exchange for each wake.)
 *
 * Credit    a worker counts its spawns and ends by itself: a spawn takes one from its credit, an end gives one
 *           to it. It takes CREDIT_STEP at a time from the gate, which all workers share, and gives credit back when
 *           it has too much or nothing to do.
 *
 * Nested    a task that waits for others steps its own worker from inside its run. Meanwhile it is
 *           in flight, but in no queue and no worker's current task: see rad__worker_nest.
 *
 * K1  a worker has a current task exactly in RUN, FOUND and SPREAD; and in STOPPED one that would be run again.
 * K2  credit is 0 in ANNOUNCE, RECHECK, NOTIFY, PARKED. */
#ifndef RAD_EXEC_WORKER_H
#define RAD_EXEC_WORKER_H

#include "exec/deque.h"
#include "exec/inbox.h"
#include "exec/sched.h"

#define RAD_PHASE_LIST(X)                                                                                              \
    X(PICK, "pick")                                                                                                    \
    X(RUN, "run")                                                                                                      \
    X(SEARCH, "search")                                                                                                \
    X(STEAL, "steal")                                                                                                  \
    X(FOUND, "found")                                                                                                  \
    X(SPREAD, "spread")                                                                                                \
    X(SETTLE, "settle")                                                                                                \
    X(ANNOUNCE, "announce")                                                                                            \
    X(RECHECK, "recheck")                                                                                              \
    X(NOTIFY, "notify")                                                                                                \
    X(PARKED, "parked")                                                                                                \
    X(CALL, "call")                                                                                                    \
    X(STOPPED, "stopped")

enum rad_phase_kind {
#define RAD_PHASE_ENUM(name, text) RAD_PHASE_##name,
    RAD_PHASE_LIST(RAD_PHASE_ENUM)
#undef RAD_PHASE_ENUM
        RAD_PHASE_COUNT
};

enum rad_source {
    RAD_FROM_NOWHERE = 0,
    RAD_FROM_LOCAL,  /* its newest */
    RAD_FROM_OLDEST, /* its oldest */
    RAD_FROM_LATER,  /* what yielded */
    RAD_FROM_INBOX,
    RAD_FROM_INJECTOR, /* `moved` more went to later */
    RAD_FROM_VICTIM,   /* stolen: the oldest of `victim` */
    RAD_FROM_VICTIM_LATER,
    RAD_FROM_VICTIM_DUE,
    RAD_FROM_VICTIM_WOKEN,
    RAD_FROM_DUE,
    RAD_FROM_WOKEN
};

static inline bool rad__source_is_stolen(uint32_t source)
{
    return source >= RAD_FROM_VICTIM && source <= RAD_FROM_VICTIM_WOKEN;
}

/* What a step did. */
typedef struct rad_step {
    uint8_t phase;   /* the phase that was stepped */
    uint8_t source;  /* PICK, STEAL: where the current task came from */
    uint8_t run;     /* RUN: what the task answered */
    uint8_t moved;   /* PICK, STEAL: how many more came along, from the injector or a crowd */
    uint32_t victim; /* STEAL: who was tried; RAD_NONE: its own inbox and the injector */
    uint32_t woken;  /* whose thread must be woken, or RAD_NONE */
} rad_step;

enum { RAD_CREDIT_STEP = 64, RAD_FAIR_TURNS = 4 };

typedef struct rad_worker_stats {
    _Atomic uint64_t ran;   /* runs of tasks */
    _Atomic uint64_t ended; /* tasks finished here */
    _Atomic uint64_t spawned;
    _Atomic uint64_t from_local, from_later, from_inbox, from_injector, stolen;
    _Atomic uint64_t tried; /* victims that had nothing */
    _Atomic uint64_t parked;
    _Atomic uint64_t woke; /* others */
} rad_worker_stats;

struct rad_worker {
    rad_deque local;
    rad_deque later;
    rad_deque due;
    rad_deque woken;
    rad_inbox inbox;
    _Atomic bool brief;            /* others leave what is due to it: see below */
    _Alignas(64) rad_sched *sched; /* from here on: of the worker alone */
    rad_task *current;
    uint64_t picks;
    uint32_t id;
    uint32_t credit;
    uint32_t hoard; /* local spawns since it last woke another worker for that */
    uint32_t row;   /* woken tasks taken in a row that were the newest */
    uint32_t tries; /* STEAL: how many so far; CALL: whom next */
    uint32_t hint;  /* whose queue RECHECK saw filled: the first victim; or RAD_NONE */
    uint8_t phase;
    bool searching;
    bool only_mine;  /* NOTIFY: what RECHECK saw is in its inbox */
    int64_t failure; /* code of the current task, should it fail */
    /* Not in the word of `phase`: a compiler reads neighbours that a step compares with one load, and a load that is
     * wider than the store just before it waits for the cache (fib: 16 % more time). */
    bool ahead; /* something may be in `due` or `woken`; false: nothing is */
    bool fresh; /* the newest of `woken` was woken after a woken task was last taken */
    rad_worker_stats stats;
    void *shell; /* the thread, or the lab, that steps it */
};

/* Worker `id` of s; false: out of memory. */
RAD_INTERNAL bool rad__worker_open(rad_worker *w, rad_sched *s, uint32_t id);
RAD_INTERNAL void rad__worker_close(rad_worker *w);
RAD_INTERNAL void rad__worker_reset(rad_worker *w); /* as when opened; nobody else may use it */

/* One step. `draw` is a uniform number below rad__sched_live - 1 when rad__worker_draws says so, otherwise 0. */
RAD_INTERNAL rad_step rad__worker_step(rad_worker *w, uint32_t draw);

/* Whether the next step chooses among victims. */
static inline bool rad__worker_draws(const rad_worker *w)
{
    return w->phase == RAD_PHASE_STEAL && rad__sched_live(w->sched) > 2 && w->hint == RAD_NONE &&
           w->tries % (w->sched->config.steal_tries + 1) != 0;
}

/* Whether a step would wait: the shell must wait for the wake word first. */
static inline bool rad__worker_waits(const rad_worker *w)
{
    return w->phase == RAD_PHASE_PARKED && !rad__idle_has_wake_word(&w->sched->idle, w->id);
}

/* The shell's time is up: the search ends with the next miss. */
static inline void rad__worker_give_up(rad_worker *w)
{
    const rad_sched_config *config = &w->sched->config;
    if (w->phase == RAD_PHASE_STEAL) w->tries = config->rounds * (config->steal_tries + 1) - 1;
}

/* In SEARCH: something has come into its own queue. */
static inline void rad__worker_look_again(rad_worker *w)
{
    RAD_DCHECK(w->phase == RAD_PHASE_SEARCH);
    w->phase = RAD_PHASE_PICK;
}

/* In PARKED: it leaves its seat, for its thread has better things to do. False: it stays, there is something to do. */
RAD_INTERNAL RAD_MUST_USE bool rad__worker_retire(rad_worker *w);

/* ---- Waiting inside a task ----------------------------------------------------------------------------
 * A task that has to wait lets its worker go on: between nest and unnest the worker is stepped as ever, from
 * inside the task's run, as if it had none. It may go back to the task whenever it has no other and has not
 * announced that it sleeps. */

typedef struct rad_nest {
    rad_task *current;
    int64_t failure;
} rad_nest;

static inline rad_nest rad__worker_nest(rad_worker *w)
{
    rad_nest nest = {w->current, w->failure};
    RAD_DCHECK(w->phase == RAD_PHASE_RUN);
    w->current = NULL;
    w->failure = 0;
    w->phase = RAD_PHASE_PICK;
    return nest;
}

static inline bool rad__worker_can_unnest(const rad_worker *w)
{
    return w->current == NULL && w->phase <= RAD_PHASE_ANNOUNCE;
}

/* A searcher stops searching, as if it had found something. Answers whose thread must be woken, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__worker_end_search(rad_worker *w);

/* Back to the task. The same answer. */
static inline uint32_t rad__worker_unnest(rad_worker *w, rad_nest nest)
{
    RAD_DCHECK(rad__worker_can_unnest(w) || w->phase == RAD_PHASE_STOPPED);
    uint32_t woken = RAD_UNLIKELY(w->searching) ? rad__worker_end_search(w) : RAD_NONE;
    w->current = nest.current;
    w->failure = nest.failure;
    w->phase = RAD_PHASE_RUN;
    return woken;
}

static inline bool rad__worker_is_brief(const rad_worker *w)
{
    return atomic_load_explicit(&w->brief, memory_order_relaxed);
}

static inline void rad__worker_set_brief(rad_worker *w, bool brief)
{
    atomic_store_explicit(&w->brief, brief, memory_order_relaxed);
}

/* Besides what is due. */
static inline bool rad__worker_has_more_loot(const rad_worker *w)
{
    return !rad__deque_is_empty(&w->local) || !rad__deque_is_empty(&w->later) || !rad__deque_is_empty(&w->woken);
}

/* Whether something lies where thieves can take it; seen by each worker that announced that it sleeps (K3). */
static inline bool rad__worker_has_loot(const rad_worker *w)
{
    return !rad__deque_is_empty(&w->due) || rad__worker_has_more_loot(w);
}

/* How many were taken at the old ends of its queues so far, a guess: changes when one of those that waited has gone. */
static inline uint64_t rad__worker_taken(const rad_worker *w)
{
    return (uint64_t)(rad__deque_taken(&w->local) + rad__deque_taken(&w->later) + rad__deque_taken(&w->due) +
                      rad__deque_taken(&w->woken));
}

/* A guess by its worker: whether something goes before its own spawns. */
static inline bool rad__worker_is_ahead(const rad_worker *w)
{
    return rad__deque_count(&w->due) > 0 || rad__deque_count(&w->woken) > 0;
}

/* The current task fails: its code is the executor's if it is the first, and the gate is shut. What follows from the
 * failure comes after this. Once more does nothing. */
RAD_INTERNAL void rad__worker_note_failure(rad_worker *w);

/* In PICK: takes what is its own, without a look at what is shared. Every 61st time it begins with something else than
 * its newest task, with `oldest_too` also with the oldest. False: there is nothing. */
RAD_INTERNAL bool rad__worker_take_own(rad_worker *w, bool oldest_too);

/* ---- For the task that runs on this worker ------------------------------------------------------------
 * Each answers whose thread must be woken, or RAD_NONE. */

RAD_INTERNAL uint32_t rad__worker_spawn(rad_worker *w, rad_task *task);        /* to its own deque */
RAD_INTERNAL uint32_t rad__worker_spawn_global(rad_worker *w, rad_task *task); /* to the injector */
RAD_INTERNAL uint32_t rad__worker_spawn_on(rad_worker *w, uint32_t worker, rad_task *task);

/* A blocked task may go on: next on this worker, unless the worker has just run the newest three times in a row, or
 * another worker steals it. */
RAD_INTERNAL uint32_t rad__worker_wake(rad_worker *w, rad_task *task);

/* The time of a blocked task has come: before all others on this worker, behind what is due already. In any phase, and
 * any number of times; then rad__worker_share or, while the worker rests, rad__worker_wake_self lets others see it: the
 * worker itself runs it, also if another one searches. */
RAD_INTERNAL void rad__worker_put_due(rad_worker *w, rad_task *task);
RAD_INTERNAL uint32_t rad__worker_wake_self(rad_worker *w);

/* A counter that only its worker writes and any thread may read. */
RAD_INLINE void rad__worker_count(_Atomic uint64_t *counter)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + 1, memory_order_relaxed);
}

/* The same by the worker's thread while it rests (PARKED): it is its own producer, and goes on with it. */
RAD_INTERNAL uint32_t rad__worker_wake_resting(rad_worker *w, rad_task *task);

/* Lets others see what lies in its own deques, and wakes one of them unless another searches, as when it hoards. */
RAD_INTERNAL uint32_t rad__worker_share(rad_worker *w);

RAD_INTERNAL const char *rad__phase_name(uint32_t phase);

#endif
