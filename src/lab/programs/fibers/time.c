/* time.c — the clock, which is a runner, and descriptors, which are the system's.
 *
 * Quiet     The clock moves when nothing else can run: to the next timer or deadline, and all that it makes ready is
 *           enabled. So no timeout comes before what others can do without waiting.
 * Free      It may move at any time: a runner that can run may be slower than any timer, and than a deadline that it
 *           has and does not wait for. That finds programs that take a time for a synchronisation, and also reports
 *           those whose times are far apart for good reasons.
 * Looking   A loop that looks at the clock and yields waits for the clock: then it moves, although the loop can run.
 *           One that does not yield moves it by looking.
 * Idle      Loops that yield, or try for a lock in vain, may wait for what another runner does when its time has come.
 *           When all that can run have made thousands of such rounds, the clock moves; then after half as many, and so
 *           on.
 * Files     After each step the system is asked which descriptors are ready, without waiting. It is waited for only
 *           when no runner can run, and the program has descriptors that others can make ready. */
#include "lab/programs/fibers/stage.h"

#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"
#include "lab/rig.h"
#include "rt/ready.h"
#include "rt/timer.h"

enum { EXPIRED_AT_ONCE = 64, LOOKS = 3, LOOKS_IN_STEP = 64, IDLES_MOST = 4096, IDLES_LEAST = 64 };

/* Real time that is spent on waiting for a descriptor when nothing can run; less when the clock could move instead. */
#define PATIENCE_NS       UINT64_C(2000000000)
#define PATIENCE_TIMED_NS UINT64_C(10000000)

static rad_rt_worker *seat_of(rad_lab_exec *x)
{
    return x->shell.scratch;
}

/* The deadline for which a runner that can run may be too late, from that time on; UINT64_MAX: none. It is no timer
 * yet: the runner has asked for it (rad_after) and not called with it, or it is that of its nursery. */
static uint64_t late_ns(const rad_runner *r, uint64_t from)
{
    uint64_t deadline = r->kind == RAD_RUNNER_FIBER ? r->slot->deadline : RAD_FOREVER;
    if (!rad__stage.clock_free || !r->enabled) return UINT64_MAX;
    if (deadline < from) deadline = UINT64_MAX;
    return r->after_ns >= from && r->after_ns < deadline ? r->after_ns : deadline;
}

/* When the clock is to move for a runner: to the end of its sleep, or beyond a deadline for which it is slow. */
static uint64_t due_of(const rad_runner *r)
{
    uint64_t late = late_ns(r, rad__stage.now_ns + 1);
    return r->word != NULL && r->deadline_ns < late ? r->deadline_ns : late;
}

static bool is_looker(const rad_runner *r)
{
    return r->enabled && r->site == RAD_AT_yield && r->looks >= LOOKS;
}

void rad__time_changed(rad_runner *r)
{
    bool looker = is_looker(r);
    rad__stage.lookers += looker;
    rad__stage.lookers -= r->looker;
    r->looker = looker;
    if (RAD_UNLIKELY(r->word != NULL || r->due_ns != UINT64_MAX || rad__stage.clock_free)) rad__due_set(r, due_of(r));
}

/* Of runners that the clock has overtaken the next deadline counts, if there is one. */
uint64_t rad__time_next(void)
{
    uint64_t next = rad__timers_next();
    rad_runner *r;
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        uint64_t at = rad__wheel_next(&seat_of(x)->wheel);
        if (at < next) next = at;
    }
    while ((r = rad__due_first()) != NULL && r->word == NULL && r->due_ns <= rad__stage.now_ns)
        rad__due_set(r, due_of(r));
    return r != NULL && r->due_ns < next ? r->due_ns : next;
}

static bool fibers_expire(void)
{
    rad_expired expired[EXPIRED_AT_ONCE];
    bool any = false;
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        rad_rt_worker *rt_worker = seat_of(x);
        uint32_t count;
        rad__rt_worker_set(rt_worker);
        while ((count = rad__wheel_expire(&rt_worker->wheel, rad__stage.now_ns, expired, EXPIRED_AT_ONCE)) > 0) {
            any = true;
            for (uint32_t i = 0; i < count; i++) rad__strand_unpark(rt_worker, expired[i].who, expired[i].ticket);
        }
        rad__rt_worker_set(NULL);
    }
    return any;
}

/* Sleepers wake. A runner that can run is too late for a deadline that is now. */
static bool runners_are_due(void)
{
    bool any = false;
    rad_runner *r;
    while ((r = rad__due_first()) != NULL && r->due_ns <= rad__stage.now_ns) {
        if (r->word == NULL) {
            any |= r->due_ns == rad__stage.now_ns;
            rad__due_set(r, due_of(r));
            continue;
        }
        r->word = NULL;
        r->deadline_ns = UINT64_MAX;
        rad__due_set(r, UINT64_MAX);
        if (rad__thread_is_waiting(r))
            rad__thread_expired(r);
        else
            rad__runner_enable(r);
        any = true;
    }
    return any;
}

static bool can_others_run(void)
{
    return rad__stage.enabled_count > (rad__stage.clock->enabled ? 1u : 0u);
}

/* ---- Idle loops ---- */

static uint32_t idles_needed(void)
{
    return rad__stage.idles_needed > 0 ? rad__stage.idles_needed : IDLES_MOST;
}

void rad__time_idles(rad_runner *r)
{
    if (r->idles_tick != rad__stage.ticks) r->idles = 0;
    r->idles_tick = rad__stage.ticks;
    r->idles++;
}

static bool is_idle(const rad_runner *r)
{
    return r->idles_tick == rad__stage.ticks && r->idles >= idles_needed();
}

static bool all_idle(void)
{
    uint32_t i = rad__stage.oldest;
    if (!can_others_run()) return false;
    while (i != RAD_NONE && is_idle(&rad__stage.runners[i])) i = rad__stage.runners[i].newer;
    return i == RAD_NONE;
}

/* The next time fewer rounds will do. */
static void idles_end(bool idle)
{
    uint32_t half = idles_needed() / 2;
    if (idle) rad__stage.idles_needed = half > IDLES_LEAST ? half : IDLES_LEAST;
    rad__stage.ticks++;
}

/* Loops that wait for the clock by looking at it say not until when: it moves by 1 ms, then 2, 4, … */
static uint64_t time_for_lookers(void)
{
    uint32_t doublings = rad__stage.idle_ticks < 40 ? rad__stage.idle_ticks : 40;
    return rad__stage.now_ns + (UINT64_C(1000000) << doublings);
}

/* Who could have run instead, for longest, and for how long: a free clock has overtaken it. */
static void note_delay(void)
{
    uint32_t slowest = rad__stage.oldest;
    while (slowest != RAD_NONE && rad__stage.runners[slowest].looker) slowest = rad__stage.runners[slowest].newer;
    if (slowest == RAD_NONE) return;
    const rad_runner *slow = &rad__stage.runners[slowest];
    uint64_t delay = rad__stage.now_ns - slow->since_ns;
    if (delay <= rad__stage.delay_ns) return;
    rad__stage.delay_ns = delay;
    rad__stage.delayed = slow->role;
}

/* The wheel's next time may be that of a coarse slot, in which nothing is due yet. */
/* All fibers wait, so no step of theirs runs the handler, and what it does (a byte into a pipe) may wake one. */
static void handle_for_fibers(void)
{
    if (rad__stage.execs == NULL || rad__signals_pending == 0 || can_others_run()) return;
    rad__stage.running = true; /* its calls are the program's */
    rad__signals_handle();
    rad__stage.running = false;
}

void rad__time_tick(void)
{
    bool looked = rad__stage.lookers > 0, any = false, rang = false, alone = !can_others_run(), idle = all_idle();
    uint64_t limit = looked ? time_for_lookers() : UINT64_MAX, next;
    while (!any && (next = rad__time_next()) <= limit && next != UINT64_MAX) {
        if (next > rad__stage.now_ns) rad__stage.now_ns = next;
        any = fibers_expire();
        any |= runners_are_due();
        alone &= !any;
        rang = rad__timers_ring();
        any |= rang;
    }
    if (rang) rad__timers_rang(alone);
    if (rang) handle_for_fibers();
    if (!any && looked && limit > rad__stage.now_ns) rad__stage.now_ns = limit;
    rad__stage.idle_ticks = any ? 0 : rad__stage.idle_ticks + 1;
    if (!idle) note_delay();
    idles_end(idle);
    if (!rad__stage.prefix) rad__tell_note(RAD_NOTE_TIME, RAD_NONE, (rad__stage.now_ns - RAD_TIME_BEGINS) / 1000);
}

/* ---- For the runner that runs ---------------------------------------------------------------------------- */

/* A loop without a yield is one step: after LOOKS_IN_STEP looks each one moves the clock, by 1 us, 2, 3, … So a
 * loop that waits for an hour ends after 85,000, and a program that looks often for other reasons is not soon too late.
 * All that runs before main is one step. */
static uint64_t look(uint32_t *looks_in_step)
{
    rad_stage *s = &rad__stage;
    if (s->now_ns == 0) s->now_ns = RAD_TIME_BEGINS;
    if (!s->running && s->in_lab) return s->now_ns;
    if (s->running) s->current->looks++;
    if (++*looks_in_step > LOOKS_IN_STEP) s->now_ns += UINT64_C(1000) * (*looks_in_step - LOOKS_IN_STEP);
    return s->now_ns;
}

uint64_t rad__time_look(void)
{
    rad__stage.counts_in_step = 0;
    return look(&rad__stage.looks_in_step);
}

/* After a look at the clock it shows the same: who measures one by the other gets no look too much. */
uint64_t rad__time_count(void)
{
    return look(&rad__stage.counts_in_step);
}

uint64_t rad__time_sleep(uint64_t ns)
{
    static const char sleepers = 0; /* whose address nobody wakes */
    rad_runner *r = rad__stage.current;
    if (r->thread != NULL) return rad__thread_sleeps(ns);
    rad__point(RAD_AT_sleep, NULL);
    if (ns == 0) return 0;
    r->word = &sleepers;
    r->deadline_ns = rad__stage_after(ns);
    if (r->kind == RAD_RUNNER_FIBER)
        rad__strand_leave(RAD_LEAVE_YIELD);
    else
        rad__thread_leave(RAD_RUN_BLOCKED);
    return 0;
}

/* ---- After each step ------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void files_look(rad_lab_exec *x, rad_runtime *rt)
{
    rad_os_event events[RAD_ANSWERS_MOST];
    if (RAD_UNLIKELY(rad__signal_files_used)) rad__signal_files_show(NULL);
    uint32_t count = rad__ready_listen(&rt->ready, events, 0);
    if (count == 0 && rad__stage.external && !can_others_run()) {
        rad__stage_is_uncontrolled();
        bool timed = rad__time_next() != UINT64_MAX;
        count = rad__ready_listen(&rt->ready, events, timed ? PATIENCE_TIMED_NS : PATIENCE_NS);
    }
    rad__rt_worker_set(seat_of(x));
    rad__ready_answer(&rt->ready, events, count);
    rad__rt_worker_set(NULL);
}

static inline void files_settle(void)
{
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        rad_runtime *rt = seat_of(x)->runtime;
        if (rt != NULL && RAD_UNLIKELY(rad__ready_waits(&rt->ready) != 0)) files_look(x, rt);
    }
}

void rad__time_settle(void)
{
    files_settle();
    if (RAD_UNLIKELY(rad__descriptors_used)) rad__descriptors_settle(can_others_run());
    uint32_t others = rad__stage.enabled_count - rad__stage.clock->enabled;
    uint32_t wait_for_it = others > 0 && rad__stage.current->looks >= LOOKS ? rad__stage.lookers : 0;
    bool timers = rad__time_next() != UINT64_MAX;
    if ((timers || wait_for_it > 0) && !rad__stage.timed) {
        rad__stage.timed = true;
        if (rad__stage.shared) rad__stage.shared->timed = 1;
    }
    bool moves = rad__stage.clock_free ? timers || wait_for_it > 0
                                       : (others == 0 && timers) || (others > 0 && others == wait_for_it);
    moves |= timers && RAD_UNLIKELY(is_idle(rad__stage.current)) && all_idle();
    if (moves)
        rad__runner_enable(rad__stage.clock);
    else
        rad__runner_disable(rad__stage.clock);
}
