/* sched.h — the scheduler: what all workers share, and how work gets in.
 *
 * Nothing here waits, reads a clock or draws a number; the caller (a thread, the lab) is a *shell* and does
 * that. Calls that make work visible return the worker whose thread must be woken, if any: the shell wakes it.
 *
 *     outside --spawn--> gate --> injector --> some worker
 *     worker  --spawn--> its own deque (newest first), or the injector, or another worker's inbox
 *     blocked --wake-->  injector, or a deque of the waker, also when the gate is shut: the task was admitted
 *
 * End       close shuts the gate. The thread that brings the count to zero behind a shut gate (gate.h, G1) sets
 *           `done` and calls every worker; a worker that sees `done` stops.
 * Failure   the first task that fails is remembered and the gate is shut. Then tasks in flight run to
 *           their end (drain), or, by option, `done` is set at once and queued tasks stay where they are.
 *
 * Spare     a worker whose task does not return cannot serve the tasks in its queues. So there may be seats for
 *           more workers than usual; the shell decides which are used and when. A seat that was never used has empty
 *           queues, which are never searched. A seat that was left keeps its queues, from which other workers steal.
 *
 * S1  count in the gate = tasks admitted and not finished + credit of all workers.
 * S2  done is set once and stays. */
#ifndef RAD_EXEC_SCHED_H
#define RAD_EXEC_SCHED_H

#include "exec/gate.h"
#include "exec/idle.h"
#include "exec/injector.h"

typedef struct rad_sched_config {
    uint32_t workers;
    uint32_t spare;       /* more seats, for workers that come and go; not with plain_wake */
    uint32_t steal_tries; /* victims in a round of searching */
    uint32_t hoard;       /* local spawns that wake another worker */
    uint32_t rounds;      /* of searching, before a worker goes to sleep */
    uint32_t ring;        /* size of the injector's ring */
    bool plain_wake;      /* idle.h, the plain order */
    bool stop_on_failure;
} rad_sched_config;

typedef struct rad_sched {
    rad_sched_config config;
    rad_worker **workers; /* one per seat, filled by the shell: rad__worker_open */
    rad_gate gate;
    _Atomic uint32_t live; /* seats below this have or had a worker */
    _Alignas(64) _Atomic bool done;
    _Atomic int64_t failure; /* code of the first task that failed; 0: none */
    rad_injector injector;
    rad_idle idle;
} rad_sched;

/* False: out of memory; nothing to close. */
RAD_INTERNAL bool rad__sched_open(rad_sched *s, const rad_sched_config *config);
RAD_INTERNAL void rad__sched_close(rad_sched *s);
RAD_INTERNAL void rad__sched_reset(rad_sched *s); /* as when opened; nobody else may use it */

/* From outside. On anything but ENTERED the task is still the caller's. *woken: as above. */
RAD_INTERNAL RAD_MUST_USE enum rad_gate_enter rad__sched_spawn(rad_sched *s, rad_task *task, uint32_t *woken);

/* All or nothing. Then rad__idle_notify is called until it answers RAD_NONE, at most min(count, workers)
 * times: the first one woken wakes the next when there is more than it can do. */
RAD_INTERNAL RAD_MUST_USE enum rad_gate_enter rad__sched_spawn_batch(rad_sched *s, rad_task *const *tasks,
                                                                     uint32_t count);

/* A task that was blocked may continue. By any thread. */
RAD_INTERNAL uint32_t rad__sched_wake(rad_sched *s, rad_task *task);

/* The same; rather `worker` is woken for it than another, where what it needs may still be warm. (Rejected: its inbox.
 * A worker may find something else to do first, which takes long, and nobody else looks there.) */
RAD_INTERNAL uint32_t rad__sched_wake_near(rad_sched *s, uint32_t worker, rad_task *task);

/* To the inbox of one worker, which alone will run it: a task in flight (wake), or with `spawned` a new one,
 * which a task in flight has counted. */
RAD_INTERNAL uint32_t rad__sched_send(rad_sched *s, uint32_t worker, rad_task *task);

/* Shuts the gate. True: nothing is in flight, and the caller must call rad__sched_finish. */
RAD_INTERNAL RAD_MUST_USE bool rad__sched_shut(rad_sched *s);

/* Sets done; then every worker must be called (rad__idle_call) and its thread woken. */
RAD_INTERNAL void rad__sched_finish(rad_sched *s);

static inline uint32_t rad__sched_seats(const rad_sched *s)
{
    return s->config.workers + s->config.spare;
}

/* How many seats there are to look at. Only grows. */
static inline uint32_t rad__sched_live(const rad_sched *s)
{
    /* Pairs with the store in rad__sched_enliven: a spare seat is opened before the first worker begins there. */
    return atomic_load_explicit(&s->live, memory_order_acquire);
}

/* A worker is about to begin in a spare seat: others will look there from now on. The thread that ends the executor
 * calls it, or it finds at its first step that all is done. One thread at a time. */
RAD_INTERNAL void rad__sched_enliven(rad_sched *s, uint32_t seat);

static inline bool rad__sched_is_done(const rad_sched *s)
{
    /* Pairs with the store in rad__sched_finish. */
    return atomic_load_explicit(&s->done, memory_order_acquire);
}

/* After the end, one thread: a task that is still queued somewhere (the executor was stopped), or NULL. */
RAD_INTERNAL rad_task *rad__sched_leftover(rad_sched *s);

#endif
