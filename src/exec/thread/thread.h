/* thread.h — the thread shell: one thread per worker, which steps it, sleeps when it has to and wakes others.
 *
 * The steps (worker.h) never wait, draw or look at a clock; all of that is done here. A step or a spawn returns
 * the number of a worker whose thread must be woken; the caller passes it to rad__exec_wake_thread.
 *
 * Search    A worker without work may search for spin_us before it sleeps. The shell looks at the clock every
 *           few misses and then tells the worker that it has searched enough. (Rejected: converting the time to
 *           a number of rounds when the executor is made. A pause takes 10 to 140 cycles, a miss that waits for a
 *           cache line several hundred, and a thread that loses its CPU while it measures gets all wrong.)
 *           How long is worth it depends on what comes: the time is halved after a search for nothing, doubled after
 *           one that found something, and the whole of it again after a sleep that could as well have been one. (With
 *           timers that fire every few microseconds all of the time would be spent searching.) A woken worker
 *           searches for the whole time: while one searches, no other is woken, and waking costs most.
 * Manners   Taking a task from another worker costs both of them some 200 ns, most of it for cache lines that move
 *           between them. So a searcher looks before it steps. A task that is alone in its queue is likely to be next:
 *           it is taken only when it has not moved for a moment. And a worker that stole a task that took less time
 *           than stealing it rests before the next one. (Without: a chain of spawns 193 ns a task with two workers, 21
 *           with one; batches of empty tasks 175 and 13.)
 * Sleep     on the worker's wake word. Hooks (sleep, wake) let one worker at a time sleep elsewhere, where other things
 *           wake it as well (rt: in the poll). A thread that gives a wake word has to know where its worker
 *           sleeps:
 *
 *              worker that goes elsewhere                   waker (rad__exec_wake_thread)
 *         S1   away := itself             (seq_cst)    G1   gives the wake word
 *         S2   loads its wake word            (seq_cst)    G2   writes the wake word, unchanged          (seq_cst)
 *              there ? does not sleep                  G3   loads away                           (seq_cst)
 *         S3   sleeps until `wake` is called                that worker ? `wake`, else wakes its thread
 *         S4   away := none
 *           Claim: no wake word is overlooked. S2 did not see it: then G2 is after S2 in the order of all these, G3
 *           after S1, and `wake` is called, or the worker is at S4. `wake` is remembered: before S3 it ends the
 *           sleep at once, after S4 it ends the next one, for nothing.
 * Waiting   A task that waits for its group steps its own worker from inside its run: group.c.
 * End       A worker's thread ends when its worker has stopped. The last one drops the remaining tasks, and lets
 *           joining threads return. Threads are reaped by destroy.
 * Stopped   by a failure, with work left: each worker drops all tasks that it finds in its own queues and in
 *           others', so that a wait for a job that will never run ends.
 *
 * There is no thread-local variable: functions get the worker as an argument. */
#ifndef RAD_EXEC_THREAD_THREAD_H
#define RAD_EXEC_THREAD_THREAD_H

#include "base/prng.h"
#include "exec/worker.h"
#include "os/barrier.h"
#include "os/thread.h"
#include "os/wait.h"

typedef struct rad_shell {
    rad_worker worker; /* first: a worker of an executor is its shell */
    rad_exec *exec;
    void *scratch;
    uint64_t search_began_ns;
    uint64_t spin_ns;  /* how long it searches before it sleeps */
    uint64_t stole_ns; /* when it last found something */
    uint32_t misses;   /* of this search */
    bool gave_up;
    bool was_woken;    /* another thread began this search */
    bool dozed;        /* it was woken sooner than it could have searched */
    bool gone;         /* it has left its spare seat */
    uintptr_t shallow; /* addresses of the stack above this: less than half of it is used */
    uintptr_t deep;    /* … less than three quarters */
    rad_prng prng;
    rad_os_thread thread;
    bool started;      /* there is a thread to join */
    _Atomic bool left; /* … which has left its seat, or is about to */
    /* For a wait that cannot use the wake word: its worker has not announced that it sleeps. */
    _Alignas(64) _Atomic uint32_t bell; /* rung when something was sent */
    _Atomic uint32_t listening;         /* a thread waits for the bell */
} rad_shell;

enum rad_exec_slept { RAD_SLEPT_NOT = 0, RAD_SLEPT_UNTIL_WOKEN, RAD_SLEPT_TO_THE_END };

/* Hooks for the runtime that builds on the executor, called on the worker's thread: */
typedef struct rad_exec_hooks {
    void *context;
    uint32_t spare;     /* seats for more workers: rad__exec_reinforce */
    uint64_t retire_ns; /* a worker in one of these leaves after so long without anything to do */
    void (*prepare)(void *context, rad_worker *w); /* each seat, before its first thread */
    void (*begin)(void *context, rad_worker *w);   /* before its first step */
    /* Before the thread sleeps, perhaps not for the first time: may make work visible, as any thread does. Answers
     * for how many nanoseconds it may sleep at most: 0 is not at all, UINT64_MAX until it is woken. */
    uint64_t (*rest)(void *context, rad_worker *w);
    /* Instead of sleeping on its wake word it may sleep elsewhere, between rad__shell_away and rad__shell_back, for
     * `ns` at most, or until `wake` was called, by any thread. */
    enum rad_exec_slept (*sleep)(void *context, rad_worker *w, uint64_t ns);
    void (*wake)(void *context);
    /* Before it searches: may wake tasks (rad_worker_wake) or let it be. True: it did. */
    bool (*look)(void *context, rad_worker *w);
    /* Whether it had better sleep than search. */
    bool (*hurry)(void *context, rad_worker *w);
    void (*end)(void *context, rad_worker *w); /* after its last step, for now or for good */
} rad_exec_hooks;

struct rad_exec {
    rad_sched sched;
    rad_exec_hooks hooks;
    rad_shell *shells; /* of all seats; the first `opened` of them are open */
    void *memory;      /* … where they are */
    uint32_t opened;   /* the regular workers; more when they are first needed. Changed by who reinforces alone */
    uint32_t threads;  /* started; of the regular workers */
    size_t stack_size; /* of threads */
    size_t scratch_size;
    uint64_t seed;
    uint64_t spin_ns; /* 0: one round is enough */
    void (*drop)(void *context, rad_task *task);
    void *drop_context;
    _Alignas(64) _Atomic uint32_t running; /* threads that have not come to their end */
    _Atomic uint32_t over;                 /* 1: all have, and what was left is dropped */
    _Alignas(64) _Atomic uint32_t away;    /* the worker that sleeps elsewhere + 1; or 0 */
};

static inline rad_shell *rad__shell_of(rad_worker *w)
{
    return (rad_shell *)w;
}

/* G2, G3. */
static inline void rad__exec_wake_thread(rad_exec *exec, uint32_t worker)
{
    if (RAD_LIKELY(worker == RAD_NONE)) return;
    _Atomic uint32_t *wake_word = &exec->sched.idle.seats[worker].wake_word;
    if (exec->hooks.wake != NULL) {
        /* G2, pairs with S2. It changes no bit: it orders the wake word before the load of `away`. */
        atomic_fetch_or_explicit(wake_word, 0, memory_order_seq_cst);
        /* G3, pairs with S1. */
        if (atomic_load_explicit(&exec->away, memory_order_seq_cst) == worker + 1) {
            exec->hooks.wake(exec->hooks.context);
            return;
        }
    }
    rad__os_word_wake(wake_word, 1);
}

/* S1, S2, in PARKED: false when another is away, or there is no need to sleep. */
static inline bool rad__shell_away(rad_worker *w)
{
    rad_exec *exec = rad__shell_of(w)->exec;
    uint32_t nobody = 0;
    if (atomic_load_explicit(&exec->away, memory_order_relaxed) != 0) return false;
    /* S1, pairs with G3, and with the store of the thread that was away before. */
    if (!atomic_compare_exchange_strong_explicit(&exec->away, &nobody, w->id + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return false;
    const _Atomic uint32_t *wake_word = &w->sched->idle.seats[w->id].wake_word;
    /* S2, pairs with G2. */
    if (atomic_load_explicit(wake_word, memory_order_seq_cst) == 0) return true;
    atomic_store_explicit(&exec->away, 0, memory_order_release); /* pairs with S1 of the next */
    return false;
}

/* S4. */
static inline void rad__shell_back(rad_worker *w)
{
    rad_exec *exec = rad__shell_of(w)->exec;
    atomic_store_explicit(&exec->away, 0, memory_order_release); /* pairs with S1 of the next */
}

/* A guess: whether a thread is. */
static inline bool rad__exec_is_away(const rad_exec *exec)
{
    return atomic_load_explicit(&exec->away, memory_order_relaxed) != 0;
}

/* B of idle.h, before a worker in RECHECK is stepped. Pairs with rad__idle_could_wake. */
static inline void rad__shell_barrier(rad_worker *w)
{
    rad_sched *s = w->sched;
    /* Pairs with rad__sched_enliven: another worker that begins after this sees that this one sleeps. */
    if (atomic_load_explicit(&s->live, memory_order_seq_cst) == 1) return;
    if (!rad__idle_needs_barrier(&s->idle)) return;
    if (RAD_UNLIKELY(!rad__os_barrier())) rad__idle_lighten(&s->idle, false);
}

/* rad_exec_create with hooks, which are copied. */
RAD_INTERNAL int rad__exec_create(rad_exec **exec, const rad_exec_options *options, const rad_exec_hooks *hooks,
                                  rad_error *error);

/* One more worker, in a spare seat, until it has had nothing to do for a while. False: all are taken, the end has
 * come, or there is no thread to be had. By one thread at a time. */
RAD_INTERNAL bool rad__exec_reinforce(rad_exec *exec);

/* Whether a worker sits there; how many there are, with those in spare seats. By the same thread. */
RAD_INTERNAL bool rad__exec_is_manned(const rad_exec *exec, uint32_t seat);
RAD_INTERNAL uint32_t rad__exec_manned(const rad_exec *exec);

/* rad_exec_wake: any sleeping worker may be woken for it, but this one is best. */
RAD_INTERNAL void rad__exec_wake_near(rad_exec *exec, uint32_t index, rad_task *task);

/* One step of a worker that has no task: may sleep. */
RAD_INTERNAL void rad__shell_step_idle(rad_shell *shell);

/* One step. */
static inline void rad__shell_step(rad_shell *shell)
{
    if (RAD_UNLIKELY(shell->worker.phase > RAD_PHASE_RUN)) {
        rad__shell_step_idle(shell);
        return;
    }
    rad_step step = rad__worker_step(&shell->worker, 0);
    rad__exec_wake_thread(shell->exec, step.woken);
}

/* Work lies in the worker's own queue: wakes the thread of `woken`, or finds another to wake. */
RAD_INTERNAL void rad__shell_offer(rad_worker *w, uint32_t woken);

/* To the worker's own queue. Another worker is woken for certain when it hoards; but when it looks as if one slept and
 * none searched, at once: a few large tasks are worth it as well. */
static inline void rad__shell_spawn(rad_worker *w, rad_task *task)
{
    uint32_t woken = rad__worker_spawn(w, task);
    if (RAD_UNLIKELY(woken != RAD_NONE || rad__idle_could_wake(&w->sched->idle))) rad__shell_offer(w, woken);
}

/* The executor is stopped: drops everything that this worker can get hold of. */
RAD_INTERNAL void rad__shell_drain(rad_shell *shell);

/* Drops one task. `shell` is the caller's, or NULL when no worker runs any more. */
RAD_INTERNAL void rad__exec_drop(rad_exec *exec, rad_shell *shell, rad_task *task);

/* Sleeps until the bell is rung, unless something is in the inbox already. May return early. */
RAD_INTERNAL void rad__shell_listen(rad_shell *shell);

/* Something was sent to this worker's inbox: rings the bell if it listens. */
RAD_INTERNAL void rad__shell_ring(rad_shell *shell);

#endif
