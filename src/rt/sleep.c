/* sleep.c — the clock, and waiting for it: a wait without any clause ends when its time is up; and what workers do
 * when somebody's time has come. */
#include "os/clock.h"
#include "rt/ops.h"
#include "rt/runtime.h"

enum { EXPIRED_AT_ONCE = 64 };

void rad__due_offer(rad_rt_worker *rt_worker)
{
    rad_worker *w = rt_worker->worker;
    if (w->phase == RAD_PHASE_PARKED) {
        uint32_t woken = rad__worker_wake_self(w);
        if (woken != w->id) rad__exec_wake_thread(rt_worker->runtime->exec, woken);
    } else if (!rad__worker_is_brief(w) && rad__idle_could_wake(&w->sched->idle)) {
        rad__shell_offer(w, RAD_NONE);
    }
}

/* ---- Whether what is due is worth a second worker --------------------------------------------------------------
 * Waking another worker takes some 50 microseconds and costs both that much. So a worker learns how long a fiber runs
 * that was asleep: from when its timers woke it until it has nothing to do, divided by the runs. */

enum { HELP_NS = 250000, RUNS_KEPT = 256 };

static uint64_t runs_of(const rad_worker *w)
{
    return atomic_load_explicit(&w->stats.ran, memory_order_relaxed);
}

static bool is_brief(const rad_rt_worker *rt_worker, uint64_t count)
{
    return count <= 1 || (count - 1) * (rt_worker->spent_ns / rt_worker->spent_runs) < HELP_NS;
}

void rad__timers_done(rad_rt_worker *rt_worker)
{
    if (rt_worker->woke_ns == 0) return;
    rt_worker->spent_ns += rad__os_now_ns() - rt_worker->woke_ns;
    rt_worker->spent_runs += runs_of(rt_worker->worker) - rt_worker->woke_ran;
    rt_worker->woke_ns = 0;
    if (rt_worker->spent_runs < RUNS_KEPT) return;
    rt_worker->spent_ns /= 2; /* what was long ago counts for less */
    rt_worker->spent_runs /= 2;
}

void rad__timers_open(rad_rt_worker *rt_worker, uint64_t now)
{
    rad__wheel_open(&rt_worker->wheel, now);
    rt_worker->spent_ns = HELP_NS; /* long, until it is known */
    rt_worker->spent_runs = 1;
}

/* ---- Waking ---------------------------------------------------------------------------------------------------- */

/* These fibers have slept, so that little of them is in the cache. What it takes to run them is fetched for several at
 * a time: their slots, their fiber stacks, then the frames they left. */
static void put_due(rad_worker *w, const rad_expired *expired, uint32_t count)
{
    rad_strand *woken[EXPIRED_AT_ONCE];
    uint32_t woken_count = 0;
    for (uint32_t i = 0; i < count; i++) __builtin_prefetch(expired[i].who);
    for (uint32_t i = 0; i < count; i++) {
        rad_strand *s = expired[i].who;
        if (rad__state_unpark(&s->state_word, expired[i].ticket) != RAD_UNPARK_QUEUE) continue;
        __builtin_prefetch(s->fiber_stack);
        woken[woken_count++] = s;
    }
    for (uint32_t i = 0; i < woken_count; i++) {
        rad__context_fetch(&woken[i]->fiber_stack->context);
        rad__worker_put_due(w, &woken[i]->task);
    }
}

/* They lie in a queue that goes before all others, and one other worker is told of all of them, if that is worth it. */
void rad__timers_expire(rad_rt_worker *rt_worker, uint64_t now)
{
    rad_expired expired[EXPIRED_AT_ONCE];
    rad_worker *w = rt_worker->worker;
    do {
        uint32_t count = rad__wheel_expire(&rt_worker->wheel, now, expired, EXPIRED_AT_ONCE);
        put_due(w, expired, count);
    } while (rad__wheel_next(&rt_worker->wheel) <= now);
    uint64_t count = rad__deque_count(&w->due);
    if (count == 0) return;
    rad__worker_set_brief(w, is_brief(rt_worker, count));
    if (w->phase == RAD_PHASE_PARKED) {
        rt_worker->woke_ns = now;
        rt_worker->woke_ran = runs_of(w);
    }
    rad__due_offer(rt_worker);
}

uint64_t rad__timers_due(rad_rt_worker *rt_worker)
{
    if (RAD_LIKELY(rad__wheel_next(&rt_worker->wheel) == UINT64_MAX)) return 0;
    uint64_t now = rad__os_now_ns();
    return rad__wheel_next(&rt_worker->wheel) <= now ? now : 0;
}

uint64_t rad__timers_slack(const rad_rt_worker *rt_worker)
{
    bool is_sharp = atomic_load_explicit(&rt_worker->sharp, memory_order_relaxed) > 0;
    return is_sharp ? 0 : rt_worker->runtime->slack_ns;
}

uint64_t rad__timers_rest(rad_rt_worker *rt_worker)
{
    uint64_t next = rad__wheel_next(&rt_worker->wheel), slack = rad__timers_slack(rt_worker);
    if (next == UINT64_MAX) return UINT64_MAX;
    uint64_t now = rad__os_now_ns();
    if (next > now) return next - now < UINT64_MAX - slack ? next - now + slack : next - now;
    rad__timers_expire(rt_worker, now);
    return 0;
}

bool rad__timers_late(rad_rt_worker *rt_worker)
{
    uint64_t next = rad__wheel_next(&rt_worker->wheel);
    return next != UINT64_MAX && rad__os_now_ns() - rad__timers_slack(rt_worker) >= next;
}

void rad__op_sharp(bool on)
{
    rad_slot *slot = rad__my_slot("rad_sharp");
    if (!on && slot->sharp == 0) rad__misuse("rad_sharp", "it was not sharp");
    if (on && slot->sharp == UINT8_MAX) rad__misuse("rad_sharp", "it is nested too deeply");
    slot->sharp = (uint8_t)(slot->sharp + (on ? 1 : UINT8_MAX));
}

rad_time rad__op_now(void)
{
    return rad__os_now_ns();
}

rad_time rad__op_after(uint64_t ns)
{
    uint64_t now = rad__os_now_ns();
    return ns < RAD_FOREVER - now ? now + ns : RAD_FOREVER;
}

int rad__op_sleep_until(rad_time until)
{
    int code = rad__wait(NULL, 0, until);
    return code == RAD_ETIMEOUT ? 0 : code;
}

int rad__op_sleep(uint64_t ns)
{
    return rad__op_sleep_until(rad__op_after(ns));
}
