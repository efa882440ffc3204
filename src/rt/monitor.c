#include "rt/monitor.h"

#include "base/readable.h"
#include "os/clock.h"
#include "rt/dump.h"
#include "rt/holders.h"
#include "rt/runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TICK_NS = 2000000,
    TICK_MOST_NS = 16000000,
    DOZE_NS = 1000000000,
    QUIET_LOOKS = 50, /* then it dozes */
    STUCK_LOOKS = 2,
    DEAD_LOOKS = 2,
    OVERDUE_NS = 1000000, /* a worker that comes back in time is better placed */
    EXPIRED_AT_ONCE = 64,
    STATUS_DEADLOCK = 124,
    COOL_NS = 1000000000,
    COOLED_MOST = 16384 /* at a time: some 10 ms */
};

static rad_sched *sched_of(rad_monitor *w)
{
    return &w->runtime->exec->sched;
}

static bool is_parked(rad_monitor *w, uint32_t worker)
{
    const rad_idle *idle = &sched_of(w)->idle;
    return atomic_load_explicit(&idle->bits[worker / 64], memory_order_relaxed) >> (worker % 64) & 1;
}

static bool is_queued(rad_monitor *w)
{
    const rad_sched *s = sched_of(w);
    if (rad__overdue_any(&w->runtime->overdue) || !rad__injector_is_empty(&s->injector)) return true;
    for (uint32_t i = 0; i < rad__sched_live(s); i++)
        if (rad__worker_has_loot(s->workers[i]) || !rad__inbox_is_empty(&s->workers[i]->inbox)) return true;
    return false;
}

/* ---- Timers ------------------------------------------------------------------------------------------ */

static void expire_overdue(rad_monitor *w, rad_rt_worker *rt_worker, uint64_t now)
{
    rad_expired expired[EXPIRED_AT_ONCE];
    while (rad__wheel_next(&rt_worker->wheel) < now - OVERDUE_NS - rad__timers_slack(rt_worker)) {
        uint32_t count = rad__wheel_expire(&rt_worker->wheel, now, expired, EXPIRED_AT_ONCE);
        for (uint32_t i = 0; i < count; i++) {
            rad_strand *s = expired[i].who;
            if (rad__state_unpark(&s->state_word, expired[i].ticket) == RAD_UNPARK_QUEUE)
                rad__overdue_put(&w->runtime->overdue, s);
        }
    }
}

/* The next time anybody's timer is due; UINT64_MAX: never. */
static uint64_t look_at_timers(rad_monitor *w, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < rad__sched_live(sched_of(w)); i++) {
        rad_rt_worker *rt_worker = w->runtime->exec->shells[i].scratch;
        if (rad__wheel_next(&rt_worker->wheel) == UINT64_MAX) continue;
        expire_overdue(w, rt_worker, now);
        uint64_t at = rad__wheel_next(&rt_worker->wheel);
        if (at < next) next = at;
    }
    return next;
}

/* ---- Workers that do not come back ------------------------------------------------------------------- */

static bool is_stuck(const rad_monitor_seen *seen)
{
    return seen->stuck >= STUCK_LOOKS;
}

/* Fibers whose time has come wait behind one that does not come back: the worker had expired their timers, and ran
 * another queue in its turn. The other workers may have enough of their own, and never look here. The same goes for
 * what was woken, if the worker is in a system call: a fiber whose time came while it parked is there. */
static void take_over(rad_monitor *w, rad_deque *d)
{
    rad_task *task;
    while (rad__deque_steal(d, &task) == RAD_STEAL_GOT) {
        RAD_DCHECK(task->run == rad__strand_run);
        rad__overdue_put(&w->runtime->overdue, (rad_strand *)task);
    }
}

static void look_at_worker(rad_monitor *w, uint32_t worker)
{
    rad_monitor_seen *seen = &w->seen[worker];
    rad_shell *shell = &w->runtime->exec->shells[worker];
    uint64_t ran = atomic_load_explicit(&shell->worker.stats.ran, memory_order_relaxed);
    bool moves = ran != seen->ran || is_parked(w, worker);
    w->ran += ran;
    seen->ran = ran;
    seen->blocked = false;
    seen->stuck = moves ? 0 : seen->stuck + 1;
    if (moves) return;
    rad__worker_set_brief(&shell->worker, false);
    seen->blocked = seen->stuck > 1 && rad__os_thread_sleeps(&shell->thread);
    if (is_stuck(seen)) take_over(w, &shell->worker.due);
    if (seen->blocked) take_over(w, &shell->worker.woken);
}

/* Whether something has waited behind it for too long. */
static bool starves_others(rad_monitor *w, uint32_t worker, uint64_t now)
{
    rad_monitor_seen *seen = &w->seen[worker];
    const rad_shell *shell = &w->runtime->exec->shells[worker];
    bool computes = is_stuck(seen) && !seen->blocked;
    uint64_t cpu_ns = computes ? rad__os_thread_cpu_ns(&shell->thread) : 0;
    return rad__starve_look(&seen->starve, &shell->worker, computes, cpu_ns ? cpu_ns : now);
}

static void reinforce(rad_monitor *w)
{
    w->overdue = 0;
    for (uint32_t i = 0; i < RAD_WORKERS_MAX; i++) rad__starve_forget(&w->seen[i].starve);
    rad__exec_reinforce(w->runtime->exec);
}

static void look_at_workers(rad_monitor *w, uint64_t now)
{
    rad_exec *exec = w->runtime->exec;
    uint32_t blocked = 0, stuck = 0;
    bool starves = false;
    for (uint32_t i = 0; i < rad__sched_live(&exec->sched); i++) {
        if (!rad__exec_is_manned(exec, i)) continue;
        look_at_worker(w, i);
        blocked += w->seen[i].blocked;
        stuck += is_stuck(&w->seen[i]);
        starves |= starves_others(w, i, now);
    }
    w->overdue = rad__overdue_any(&w->runtime->overdue) ? w->overdue + 1 : 0;
    /* It does not doze: what a thread outside makes ready wakes nobody while all workers are stuck. */
    if (stuck > 0 && w->quiet > QUIET_LOOKS) w->quiet = QUIET_LOOKS;
    if (stuck == 0 || !is_queued(w)) return;
    w->quiet = 0;
    /* A worker sleeps beside the queue of a stuck one: the last pushes there woke no worker. */
    if (rad__idle_parked(&exec->sched.idle) > 0)
        rad__exec_wake_thread(exec, rad__idle_notify(&exec->sched.idle));
    else if (rad__choose_reinforce(rad__exec_manned(exec), blocked, exec->sched.config.workers, w->overdue, starves))
        reinforce(w);
}

/* Who is woken, or searches, takes one before it runs something else or rests. A worker that falls asleep now is seen
 * by the next look, which is soon. (Rejected: putting them into the shared queue when somebody sleeps. Somebody who
 * searches may find something else first, that takes long, and there they are not overdue any more.) */
static void look_at_overdue(rad_monitor *w)
{
    uint32_t most = rad__sched_live(sched_of(w)), woken = 0;
    if (!rad__overdue_any(&w->runtime->overdue)) return;
    w->quiet = 0;
    for (uint32_t i = 0; i < most && woken != RAD_NONE; i++) {
        woken = rad__idle_notify(&sched_of(w)->idle);
        rad__exec_wake_thread(w->runtime->exec, woken);
    }
}

static void look_for_stalls(rad_monitor *w, uint64_t now)
{
    rad_runtime *rt = w->runtime;
    for (uint32_t i = 0; i < rad__sched_live(sched_of(w)) && rt->stall_ns > 0; i++) {
        rad_monitor_seen *seen = &w->seen[i];
        bool stuck = rad__exec_is_manned(rt->exec, i) && seen->stuck > 0;
        if (rad__stall_look(&seen->stall, rt, i, stuck, seen->blocked, now))
            w->quiet = 0; /* looks closely until it is over */
    }
}

/* ---- Deadlock ---------------------------------------------------------------------------------------- */

static bool nothing_can_happen(rad_monitor *w, uint64_t next_timer)
{
    rad_exec *exec = w->runtime->exec;
    rad_sched *s = &exec->sched;
    if (next_timer != UINT64_MAX || rad__sched_is_done(s)) return false;
    if (rad__gate_count(&s->gate) == 0 || rad__idle_searching(&s->idle) > 0) return false;
    uint32_t manned = rad__exec_manned(exec);
    if (rad__idle_parked(&s->idle) != manned || is_queued(w)) return false;
    rad_runtime *rt = w->runtime;
    if (rad__ready_waits(&rt->ready) > 0 || rad__blocking_any(&rt->blocking)) return false;
    uint32_t own = rt->own_threads + rad__blocking_threads(&rt->blocking) + rad__ready_threads();
    return rad__os_thread_total() <= manned + own;
}

static void report_deadlock(rad_monitor *w)
{
    rad_runtime *rt = w->runtime;
    rad__readable_print(stderr, "raddle: deadlock: all fibers are waiting and nothing can wake them\n");
    rad__dump(rt, stderr);
    rad__cycles_print(rt, stderr);
    fflush(stderr);
    _Exit(STATUS_DEADLOCK);
}

static void look_for_deadlock(rad_monitor *w, uint64_t next_timer)
{
    rad_runtime *rt = w->runtime;
    if (!rt->reports_deadlock || !nothing_can_happen(w, next_timer))
        w->dead = 0;
    else if (++w->dead > DEAD_LOOKS)
        report_deadlock(w);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

static void look_at_memory(rad_monitor *w, uint64_t now)
{
    if (now - w->cooled_ns < COOL_NS) return;
    w->cooled_ns = now;
    rad__fiber_stacks_cool(&w->runtime->fiber_stacks, COOLED_MOST);
}

/* ---- The thread -------------------------------------------------------------------------------------- */

static void look(rad_monitor *w)
{
    uint64_t now = rad__os_now_ns(), ran = w->ran;
    w->ran = 0;
    atomic_store_explicit(&w->runtime->now_ns, now, memory_order_relaxed);
    uint64_t next = look_at_timers(w, now);
    w->quiet++;
    if (rad__poller_stands_in(w->runtime, &w->polls)) w->quiet = 0;
    look_at_workers(w, now);
    look_at_overdue(w);
    look_for_stalls(w, now);
    look_at_memory(w, now);
    if (w->ran != ran || (next != UINT64_MAX && next < now + DOZE_NS) || rad__overdue_any(&w->runtime->overdue))
        w->quiet = 0;
    if (w->ran == ran)
        look_for_deadlock(w, next);
    else
        w->dead = 0;
}

static uint64_t pause_ns(const rad_monitor *w)
{
    if (w->dead > 0) return TICK_NS;
    if (w->quiet > QUIET_LOOKS) return DOZE_NS;
    uint64_t ns = (uint64_t)TICK_NS << (w->quiet < 8 ? w->quiet / 2 : 3);
    return ns < TICK_MOST_NS ? ns : TICK_MOST_NS;
}

static void monitor_main(void *context)
{
    rad_monitor *w = context;
    while (!atomic_load_explicit(&w->ends, memory_order_relaxed)) {
        uint64_t ns = pause_ns(w);
        atomic_store_explicit(&w->runtime->dozing, ns == DOZE_NS, memory_order_relaxed);
        rad__os_word_wait_for(&w->bell, 0, ns);
        if (atomic_exchange_explicit(&w->bell, 0, memory_order_relaxed) != 0) w->quiet = 0;
        look(w);
    }
}

void rad__runtime_stir(rad_runtime *rt)
{
    if (rt->monitor) rad__monitor_ring(rt->monitor);
}

void rad__monitor_ring(rad_monitor *w)
{
    atomic_store_explicit(&w->runtime->dozing, false, memory_order_relaxed);
    atomic_store_explicit(&w->bell, 1, memory_order_relaxed);
    rad__os_word_wake(&w->bell, 1);
}

int rad__monitor_start(rad_monitor *w, rad_runtime *rt, rad_error *error)
{
    w->runtime = rt;
    atomic_store_explicit(&w->runtime->now_ns, rad__os_now_ns(), memory_order_relaxed);
    int code = rad__os_thread_create(&w->thread, monitor_main, w, 256 << 10, RAD_NONE, error);
    w->started = code == 0;
    return code;
}

void rad__monitor_stop(rad_monitor *w)
{
    if (!w->started) return;
    atomic_store_explicit(&w->ends, true, memory_order_relaxed);
    rad__monitor_ring(w);
    rad__os_thread_join(&w->thread);
    w->started = false;
}
