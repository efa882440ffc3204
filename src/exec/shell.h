/* shell.h — the thread shell: one thread per worker, which steps it, sleeps when it has to and wakes others.
 *
 * The steps (worker.h) never wait, draw or look at a clock; all of that is done here. Whoever calls a step or
 * a spawn gets the number of a worker whose thread must be woken, and hands it to rad__exec_wake_thread.
 *
 * Search    A worker without work may search for spin_us before it sleeps. The shell looks at the clock every
 *           few misses and then tells the worker that it has searched enough. (Rejected: converting the time to
 *           a number of rounds when the executor is made. A pause takes 10 to 140 cycles, a miss that waits for a
 *           cache line several hundred, and a thread that loses its CPU while it measures gets all wrong.)
 * Manners   Taking a task from another worker costs both of them some 200 ns, most of it for cache lines that go to and
 *           fro. So a searcher looks before it steps. A task that is alone in its queue is likely to be next: it
 *           is taken only when it has not moved for a moment. And whoever stole a task that took less time than
 *           stealing it rests before the next one. (Without: a chain of spawns 193 ns a task with two workers, 21
 *           with one; batches of empty tasks 175 and 13.)
 * Waiting   A task that waits for its group steps its own worker from inside its run: shell_group.c.
 * End       A worker's thread ends when its worker has stopped. The last one drops what is left, and lets
 *           those who join go. Threads are reaped by destroy.
 * Stopped   by a failure, with work left: each worker throws away what it can get hold of, on its own and in
 *           others' queues, so that a task waiting for a job which nobody will run is told.
 *
 * There is no thread-local variable: whoever needs the worker has it as an argument. */
#ifndef RAD_EXEC_SHELL_H
#define RAD_EXEC_SHELL_H

#include "base/prng.h"
#include "exec/worker.h"
#include "os/thread.h"
#include "os/wait.h"

typedef struct rad_shell {
    rad_worker worker; /* first: a worker of an executor is its shell */
    rad_exec *exec;
    void *scratch;
    uint64_t search_began_ns;
    uint64_t stole_ns; /* when it last found something */
    uint32_t misses;   /* of this search */
    bool gave_up;
    bool gone;         /* it has left its spare seat */
    uintptr_t shallow; /* addresses of the stack above this: less than half of it is used */
    uintptr_t deep;    /* … less than three quarters */
    rad_prng prng;
    rad_os_thread thread;
    bool started;      /* there is a thread to join */
    _Atomic bool left; /* … which has left its seat, or is about to */
    /* For a wait that cannot use the token: its worker has not announced that it sleeps. */
    _Alignas(64) _Atomic uint32_t bell; /* rung when something was sent */
    _Atomic uint32_t listening;         /* somebody waits for the bell */
} rad_shell;

/* Whoever builds on the executor may have its say, on the worker's thread: */
typedef struct rad_exec_hooks {
    void *context;
    uint32_t spare;     /* seats for more workers: rad__exec_reinforce */
    uint64_t retire_ns; /* a worker in one of these leaves after so long without anything to do */
    void (*prepare)(void *context, rad_worker *w); /* every seat, before there is any thread */
    void (*begin)(void *context, rad_worker *w);   /* before its first step */
    /* Before the thread sleeps, perhaps not for the first time: may make work visible, as anybody else does. Answers
     * for how many nanoseconds it may sleep at most: 0 is not at all, UINT64_MAX as long as nobody wakes it. */
    uint64_t (*rest)(void *context, rad_worker *w);
    void (*end)(void *context, rad_worker *w); /* after its last step, for now or for good */
} rad_exec_hooks;

struct rad_exec {
    rad_sched sched;
    rad_exec_hooks hooks;
    rad_shell *shells;
    uint32_t threads;  /* started; of the regular workers */
    size_t stack_size; /* of threads */
    uint64_t spin_ns;  /* 0: one round is enough */
    void (*drop)(void *context, rad_task *task);
    void *drop_context;
    _Alignas(64) _Atomic uint32_t running; /* threads that have not come to their end */
    _Atomic uint32_t over;                 /* 1: all have, and what was left is dropped */
};

static inline rad_shell *rad__shell_of(rad_worker *w)
{
    return (rad_shell *)w;
}

static inline void rad__exec_wake_thread(rad_exec *exec, uint32_t worker)
{
    if (RAD_UNLIKELY(worker != RAD_NONE))
        rad__os_word_wake(&exec->sched.idle.seats[worker].token, 1);
}

/* rad_exec_create with hooks, which are copied. */
RAD_INTERNAL int rad__exec_create(rad_exec **exec, const rad_exec_options *options,
                                  const rad_exec_hooks *hooks, rad_error *error);

/* One more worker, in a spare seat, until it has had nothing to do for a while. False: all are taken, the end has
 * come, or there is no thread to be had. By one thread at a time. */
RAD_INTERNAL bool rad__exec_reinforce(rad_exec *exec);

/* Whether somebody sits there; how many there are, with those in spare seats. By the same thread. */
RAD_INTERNAL bool rad__exec_is_manned(const rad_exec *exec, uint32_t seat);
RAD_INTERNAL uint32_t rad__exec_manned(const rad_exec *exec);

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

/* Work lies in the worker's own queue: wakes the thread of `woken`, or finds somebody to wake. */
RAD_INTERNAL void rad__shell_offer(rad_worker *w, uint32_t woken);

/* To the worker's own queue. Somebody is woken for certain when it hoards; but when it looks as if somebody slept
 * and nobody searched, at once: a few large tasks are worth it as well. */
static inline void rad__shell_spawn(rad_worker *w, rad_task *task)
{
    uint32_t woken = rad__worker_spawn(w, task);
    if (RAD_UNLIKELY(woken != RAD_NONE || rad__idle_could_wake(&w->sched->idle)))
        rad__shell_offer(w, woken);
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
