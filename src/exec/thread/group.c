/* group.c — fork and join: a task waits for the jobs it spawned, and its worker goes on working meanwhile.
 *
 * Pending jobs = here + away. `here` counts what the opener's worker spawns and ends, without atomics; `away` what
 * others do. The opener's worker knows `here`, so it sees the exact sum whenever it looks.
 *
 * Waiting   steps the worker from inside the run of the waiter (rad__worker_nest), and looks after each task, and
 *           after each miss of a search, whether the sum is 0. Before the worker announces that it sleeps,
 *           the group is *folded*: `here` goes into `away` together with the mark WAITED, and from then on
 *           everybody counts in `away`. Whoever brings it to 0 sends the task `finish` to the waiter's
 *           worker, which wakes it as any task sent to it would: the idle protocol knows nothing of groups.
 *
 *              waiter                                      the last to end
 *         F1   away += here + WAITED     (RMW)        L1   away -= 1                (RMW)
 *         F2   sum was 0 ? done                       L2   was WAITED + 1 ? sends finish
 *         F3   sleeps until finish has run
 *
 * Q1  while a group is not folded, nobody but its opener's worker touches it after its last change of `away`.
 * Q2  a folded group is left only when `finish` has run (or when the waiter's own worker was the last: nothing was
 *     sent). So nothing of a group is used after its wait has returned.
 * Q3  a group's jobs are running, in deques, or (when memory ran out) in the inbox of the worker that has them; never
 *     blocked, and never in the injector: whoever has them takes them even when it waits deep or is stopped. So a
 *     job that yields to everybody yields to the work of its worker.
 *
 * Deep      A wait on a stack of which half is used takes only what is its worker's own; then it sleeps on its bell.
 *           The others see a worker that is busy, which is true. Whoever sends it a task rings: not only the sender of
 *           `finish`, for another push that is half done may hide that one (inbox.h, B2).
 * Stopped   The waiter drops all it finds until its jobs are gone, sleeping on its bell in between.
 *
 * No deadlock: draw an edge from each suspended run to the jobs it waits for, and to what runs above it on the
 * same stack. Every edge leads to a run that began later, so there is no circle; and the last one in a
 * chain runs, or what it waits for is queued where its own worker takes it first.
 *
 * Rejected: an atomic count for everything (two more locked operations for each job: 4 of 17 ns); letting the
 * worker's wake word stand for the end of a group (a second reason to wake would have to be told from the first);
 * continuations instead of waiting (no stack to nest, but the program is turned inside out). */
#include "exec/thread/thread.h"

#define WAITED (INT64_C(1) << 62)

/* ---- Counting -------------------------------------------------------------------------------------- */

static enum rad_run group_finish(rad_task *task, rad_worker *w)
{
    (void)w;
    rad_group *g = (rad_group *)((char *)task - offsetof(rad_group, finish));
    g->finished = true;
    return RAD_RUN_DONE;
}

static bool group_counts_here(const rad_group *g, const rad_worker *w)
{
    return RAD_LIKELY(g->worker == w) && RAD_LIKELY(!g->folded);
}

/* The last job of a group that is waited for has ended, on another worker. */
static void group_send_finish(rad_worker *w, rad_group *g)
{
    g->finish.run = group_finish;
    rad_worker_spawn_on(w, g->worker->id, &g->finish);
}

/* By another worker, or when the group is folded. */
static __attribute__((noinline)) void group_leave_away(rad_worker *w, rad_group *g)
{
    /* L1, pairs with F1 and with the load in group_is_complete: what the job did is visible. */
    int64_t before = atomic_fetch_sub_explicit(&g->away, 1, memory_order_acq_rel);
    if (before != WAITED + 1) return;
    if (g->worker == w)
        g->finished = true;
    else
        group_send_finish(w, g);
}

static inline void group_leave(rad_worker *w, rad_group *g)
{
    if (group_counts_here(g, w))
        g->here--;
    else
        group_leave_away(w, g);
}

static void group_spoil(rad_group *g)
{
    atomic_store_explicit(&g->spoilt, 1, memory_order_relaxed);
}

static __attribute__((noinline)) enum rad_run job_answered(rad_worker *w, rad_group *g, enum rad_run answer)
{
    RAD_ASSERT(answer != RAD_RUN_BLOCKED);
    if (answer == RAD_RUN_YIELD_GLOBAL) return RAD_RUN_YIELD; /* Q3 */
    if (answer != RAD_RUN_FAILED) return answer;
    rad__worker_note_failure(w); /* before the waiter knows, which will fail, too */
    group_spoil(g);
    group_leave(w, g);
    return answer;
}

static enum rad_run job_run(rad_task *task, rad_worker *w)
{
    rad_job *job = (rad_job *)task;
    rad_group *g = job->group;
    enum rad_run answer = job->run(job, w);
    if (RAD_UNLIKELY(answer != RAD_RUN_DONE)) return job_answered(w, g, answer);
    group_leave(w, g);
    return RAD_RUN_DONE;
}

void rad_group_spawn(rad_worker *w, rad_group *g, rad_job *job, enum rad_run (*run)(rad_job *job, rad_worker *w))
{
    job->group = g;
    job->run = run;
    job->task.run = job_run;
    if (group_counts_here(g, w))
        g->here++;
    else
        atomic_fetch_add_explicit(&g->away, 1, memory_order_relaxed);
    rad__shell_spawn(w, &job->task);
}

void rad__exec_drop(rad_exec *exec, rad_shell *shell, rad_task *task)
{
    if (task->run == group_finish) {
        group_finish(task, NULL);
    } else if (task->run == job_run) {
        RAD_ASSERT(shell != NULL); /* whoever waits for it still runs */
        group_spoil(((rad_job *)task)->group);
        group_leave(&shell->worker, ((rad_job *)task)->group);
    } else if (exec->drop != NULL) {
        exec->drop(exec->drop_context, task);
    }
}

/* ---- The bell ---------------------------------------------------------------------------------------- */

void rad__shell_listen(rad_shell *shell)
{
    /* Read before the mark: a ring after it changes the bell, and the wait returns at once. */
    uint32_t heard = atomic_load_explicit(&shell->bell, memory_order_relaxed);
    /* Pairs with the load in rad__shell_ring: it rings, or what it sent is in the inbox by now. */
    atomic_store_explicit(&shell->listening, 1, memory_order_seq_cst);
    if (rad__inbox_is_empty(&shell->worker.inbox)) rad__os_word_wait(&shell->bell, heard);
    atomic_store_explicit(&shell->listening, 0, memory_order_relaxed);
}

void rad__shell_ring(rad_shell *shell)
{
    /* Pairs with the store in rad__shell_listen. */
    if (atomic_load_explicit(&shell->listening, memory_order_seq_cst) == 0) return;
    atomic_fetch_add_explicit(&shell->bell, 1, memory_order_relaxed);
    rad__os_word_wake(&shell->bell, 1);
}

/* ---- Waiting ----------------------------------------------------------------------------------------- */

static bool group_is_complete(const rad_group *g)
{
    if (RAD_UNLIKELY(g->folded)) return g->finished;
    /* Pairs with L1. */
    return g->here + atomic_load_explicit(&g->away, memory_order_acquire) == 0;
}

/* F1, F2. */
static void group_fold(rad_group *g)
{
    int64_t here = g->here;
    g->here = 0;
    g->folded = true;
    /* Pairs with L1. */
    int64_t before = atomic_fetch_add_explicit(&g->away, here + WAITED, memory_order_acq_rel);
    g->finished = before + here == 0;
}

static __attribute__((noinline)) void group_wait_stopped(rad_shell *shell, rad_group *g)
{
    if (!g->folded) group_fold(g);
    while (!g->finished) {
        rad__shell_drain(shell);
        if (!g->finished) rad__shell_listen(shell);
    }
}

/* Its own newest tasks are mostly jobs of this wait; what lies below is anything, so it takes that only as long as
 * there is room for it on the stack. */
static bool shell_has_room(const rad_shell *shell)
{
    uintptr_t at = (uintptr_t)__builtin_frame_address(0); /* tidy: address ok: see shell_main */
    return at > shell->deep;
}

static __attribute__((noinline)) void group_wait_deep(rad_shell *shell, rad_group *g)
{
    rad_worker *w = &shell->worker;
    group_fold(g);
    while (!g->finished) {
        if (w->phase == RAD_PHASE_STOPPED || rad__sched_is_done(w->sched))
            group_wait_stopped(shell, g);
        else if (!rad__worker_take_own(w, shell_has_room(shell)))
            rad__shell_listen(shell);
        else
            do rad__shell_step(shell);
            while (w->phase != RAD_PHASE_PICK && w->phase != RAD_PHASE_STOPPED);
    }
}

static void group_wait_helping(rad_shell *shell, rad_group *g)
{
    rad_worker *w = &shell->worker;
    do {
        if (RAD_UNLIKELY(w->phase >= RAD_PHASE_ANNOUNCE)) {
            if (w->phase == RAD_PHASE_STOPPED) {
                group_wait_stopped(shell, g);
                return;
            }
            if (!g->folded) {
                group_fold(g);
                continue;
            }
        }
        rad__shell_step(shell);
    } while (!rad__worker_can_unnest(w) || !group_is_complete(g));
}

/* The plain order wakes workers in turn, also one that is too deep to look: there, all help. */
static bool shell_is_deep(const rad_shell *shell)
{
    uintptr_t at = (uintptr_t)__builtin_frame_address(0); /* tidy: address ok: see shell_main */
    return at < shell->shallow && !shell->worker.sched->config.plain_wake;
}

static void group_help(rad_worker *w, rad_group *g)
{
    rad_shell *shell = rad__shell_of(w);
    rad_nest nest = rad__worker_nest(w);
    if (RAD_UNLIKELY(shell_is_deep(shell)))
        group_wait_deep(shell, g);
    else
        group_wait_helping(shell, g);
    if (RAD_UNLIKELY(w->current != NULL)) rad__shell_drain(shell); /* stopped, and it would run again */
    /* A worker to wake only if this one was the last that searched, and there is more work. */
    rad__exec_wake_thread(shell->exec, rad__worker_unnest(w, nest));
    if (RAD_LIKELY(!g->folded)) return;
    atomic_store_explicit(&g->away, 0, memory_order_relaxed);
    g->folded = false;
}

bool rad_group_wait(rad_worker *w, rad_group *g)
{
    RAD_ASSERT(g->worker == w);
    if (!group_is_complete(g)) group_help(w, g);
    if (RAD_LIKELY(atomic_load_explicit(&g->spoilt, memory_order_relaxed) == 0)) return true;
    atomic_store_explicit(&g->spoilt, 0, memory_order_relaxed);
    return false;
}
