/* test_decisions.c — the decisions the runtime was built on, one test each, named after it. What races is explored
 * at L2 (src/lab/l2/models) and hammered in test_rt_stress_*.c; here is what can be shown in so many words. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/choose.h"
#include "os/pages.h"
#include "rt/monitor.h"
#include "rt/runtime.h"
#include "storm_support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000 };

static rad_chan *chan_of(size_t size, size_t capacity)
{
    rad_chan *c;
    CHECK(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS) == 0);
    return c;
}

/* Exit status of a child process that does this; 4 is that of an internal error. */
static int status_of(void (*body)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- 1: one word --------------------------------------------------------------------------------------------- */

static void owns_what_is_idle(void)
{
    rad_state_word state;
    rad__state_init(&state);
    rad__state_own(&state, 1);
}

static void retires_what_runs(void)
{
    rad_state_word state;
    rad__state_init(&state);
    rad__state_begin(&state);
    rad__state_own(&state, 1);
    rad__state_retire(&state);
}

static int parks_with_and_without_a_signal(void *arg)
{
    rad_slot *slot = rad_self().slot;
    uint32_t generation = rad_self().generation;
    rad_wheel_timer timer = {0};
    (void)arg;
    for (int i = 0; i < 3; i++) rad__strand_unpark(rad__rt_worker(), &slot->strand, generation);
    rad__strand_leave(RAD_LEAVE_PARK); /* three of them are one: this one does not wait … */
    rad_time until = rad_after(2 * MS);
    rad__wheel_arm(&rad__rt_worker()->wheel, &timer, until, &slot->strand, generation);
    rad__strand_leave(RAD_LEAVE_PARK); /* … and this one does */
    CHECK(rad_now() >= until);
    rad__timer_disarm(&timer);
    return 0;
}

static void decision_01_one_word(void **state)
{
    (void)state;
    assert_int_equal(sizeof(rad_state_word), 8);
    storm_run(2, parks_with_and_without_a_signal, NULL);
    if (STORM_SLOWER >= 20) return; /* forks and the thread sanitizer do not go together */
    assert_int_equal(status_of(owns_what_is_idle), 4);
    assert_int_equal(status_of(retires_what_runs), 4);
}

/* ---- 2: recycling -------------------------------------------------------------------------------------------- */

static int returns_its_arg(void *arg)
{
    return *(int *)arg;
}

static int sleeps_undisturbed(void *arg)
{
    (void)arg;
    int code = rad_sleep(5 * MS);
    return rad_is_canceled() ? -1 : code;
}

static int uses_old_handles(void *arg)
{
    rad_fiber before, after;
    rad_fiber_result result;
    int seven = 7;
    (void)arg;
    CHECK(rad_spawn(&before, returns_its_arg, &seven) == 0);
    CHECK(rad_join(before, &result, RAD_FOREVER) == 0 && result.code == 7);
    rad_release(before);
    while (rad__fiber_generation(&before.slot->strand) == before.generation) rad_yield();
    CHECK(rad_spawn(&after, sleeps_undisturbed, NULL) == 0);
    CHECK(after.slot == before.slot); /* the newest is used first: the same place */
    CHECK(after.generation != before.generation);
    rad_yield(); /* it sleeps */
    rad_cancel(before);
    rad__strand_unpark(rad__rt_worker(), &before.slot->strand, before.generation);
    CHECK(!rad__state_signalled(rad__state_look(&after.slot->strand.state_word)));
    CHECK(rad_join(before, &result, RAD_FOREVER) == RAD_ESTALE);
    rad_select_case join = {.kind = RAD_ON_JOIN, .on.fiber = before};
    CHECK(rad_select(&join, 1, RAD_FOREVER) == RAD_ESTALE);
    CHECK(rad_join(after, &result, RAD_FOREVER) == 0 && result.code == 0);
    rad_release(after);
    return 0;
}

static void decision_02_generations_tell_fibers_apart(void **state)
{
    (void)state;
    storm_run(1, uses_old_handles, NULL);
}

/* ---- 3: sleepers --------------------------------------------------------------------------------------------- */

static int sleeps_while_prodded(void *arg)
{
    _Atomic int *runs = arg;
    rad_time until = rad_after(10 * MS);
    CHECK(rad_sleep_until(until) == 0 && rad_now() >= until);
    atomic_fetch_add(runs, 1);
    return 0;
}

static int prods_a_sleeper(void *arg)
{
    _Atomic int runs = 0;
    rad_fiber f;
    (void)arg;
    CHECK(rad_spawn(&f, sleeps_while_prodded, &runs) == 0);
    while (rad_join(f, NULL, 0) == RAD_ETIMEOUT) {
        rad__strand_unpark(rad__rt_worker(), &f.slot->strand, f.generation);
        rad_yield();
    }
    CHECK(runs == 1);
    rad_release(f);
    return 0;
}

static void decision_03_a_sleeper_is_parked_and_woken_once(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) storm_run(workers, prods_a_sleeper, NULL);
}

/* ---- 4: workers that sleep, threads that join ---------------------------------------------------------------- */

static void decision_04_sleeping_workers_and_threads_are_woken(void **state)
{
    (void)state;
    rad_prng prng = storm_prng(4);
    rad_options o = {.workers = 2};
    rad_runtime *rt;
    int value = 5;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    for (uint64_t i = 0; i < storm_amount(3000); i++) { /* a wake that is lost hangs here */
        rad_fiber f;
        rad_fiber_result result;
        if (i % 100 == 0) storm_block_ms(1); /* all of them sleep */
        assert_int_equal(rad_runtime_spawn(rt, &f, returns_its_arg, &value), 0);
        storm_spin(&prng, 3000);
        assert_int_equal(rad_join(f, &result, RAD_FOREVER), 0);
        assert_int_equal(result.code, 5);
        rad_release(f);
    }
    rad_runtime_destroy(rt);
}

/* ---- 5: startup ---------------------------------------------------------------------------------------------- */

static int counts(void *arg)
{
    atomic_fetch_add((_Atomic uint32_t *)arg, 1);
    return 0;
}

static void decision_05_work_before_the_workers_run(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < storm_amount(50); round++) {
        rad_options o = {.workers = 1 + (uint32_t)(round % 8)};
        _Atomic uint32_t ran = 0;
        rad_runtime *rt;
        assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
        for (int i = 0; i < 100; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, counts, &ran), 0);
        rad_runtime_destroy(rt);
        assert_int_equal(ran, 100);
    }
}

/* ---- 6: nobody waits in the inbox of a worker that does not come --------------------------------------------- */

/* Blocks its worker until the others are done, so what was meant for that worker has to run elsewhere. */
static int blocks_until_done(void *arg)
{
    _Atomic uint32_t *ran = arg;
    while (atomic_load(ran) < 100) storm_block_ms(1);
    return 0;
}

static void decision_06_work_goes_around_a_busy_worker(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .extra_workers = RAD_NONE};
    _Atomic uint32_t ran = 0;
    rad_runtime *rt;
    rad_fiber f;
    rad_fiber_result result;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, &f, blocks_until_done, &ran), 0);
    storm_block_ms(2);
    for (int i = 0; i < 100; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, counts, &ran), 0);
    assert_int_equal(rad_join(f, &result, RAD_FOREVER), 0);
    assert_int_equal(result.code, 0);
    rad_release(f);
    rad_runtime_destroy(rt);
}

/* ---- 7: timers before the backlog ---------------------------------------------------------------------------- */

enum { BACKLOG = 4000, LATE_MOST = 130 }; /* a worker looks at its timers after 61 others, or so */

static struct {
    rad_time due;
    _Atomic bool woken;
    _Atomic uint32_t left, late; /* items; that began when the sleeper's time had come */
} backlog;

static int backlog_item(void *arg)
{
    rad_time now = rad_now(), end = rad_after(5000);
    (void)arg;
    atomic_fetch_add(&backlog.late, now >= backlog.due && !backlog.woken);
    while (rad_now() < end) {
    }
    atomic_fetch_sub(&backlog.left, 1);
    return 0;
}

static int sleeps_beside_a_backlog(void *arg)
{
    (void)arg;
    backlog.due = rad_after(2 * MS);
    CHECK(rad_sleep_until(backlog.due) == 0);
    backlog.woken = true;
    return 0;
}

/* Half of it waits in the worker's own queue, half in the shared one. The watch, which would help, is gone. */
static int has_a_backlog(void *arg)
{
    rad_runtime *rt = rad_self().slot->strand.runtime;
    (void)arg;
    rad__monitor_stop(rt->monitor);
    memset(&backlog, 0, sizeof backlog);
    backlog.left = BACKLOG;
    CHECK(rad_spawn(NULL, sleeps_beside_a_backlog, NULL) == 0);
    while (backlog.due == 0) rad_yield(); /* it sleeps */
    for (int i = 0; i < BACKLOG / 2; i++) {
        CHECK(rad_spawn(NULL, backlog_item, NULL) == 0);
        CHECK(rad_runtime_spawn(rt, NULL, backlog_item, NULL) == 0);
    }
    while (backlog.left > 0) rad_yield();
    CHECK(backlog.woken && backlog.late <= LATE_MOST);
    return 0;
}

static void decision_07_timers_outrank_the_backlog(void **state)
{
    (void)state;
    rad_options o = {.workers = 1};
    rad_runtime *rt;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    rad_fiber f;
    assert_int_equal(rad_runtime_spawn(rt, &f, has_a_backlog, NULL), 0);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    rad_runtime_destroy(rt);
}

static int comes_after_the_sleeper(void *arg)
{
    (void)arg;
    return backlog.woken ? 0 : 1;
}

/* Its time has come when the worker begins the next one, which goes back. (Before that there may be 61 others, who go
 * over to one another without the worker.) */
static int is_picked_too_late(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad__monitor_stop(rad_self().slot->strand.runtime->monitor);
    for (int i = 0; i < 10; i++) {
        memset(&backlog, 0, sizeof backlog);
        rad_nursery_open(&n, RAD_FOREVER);
        CHECK(rad_spawn(NULL, sleeps_beside_a_backlog, NULL) == 0);
        while (backlog.due == 0) rad_yield();
        while (rad_now() < backlog.due) storm_block_ms(1);
        rad_worker *w = rad__rt_worker()->worker;
        while (!rad__choose_fair(w->picks + 1)) w->picks++; /* the worker is asked next */
        CHECK(rad_nursery_spawn(&n, NULL, comes_after_the_sleeper, NULL) == 0);
        CHECK(rad_nursery_wait(&n) == 0);
        while (!backlog.woken) rad_yield();
    }
    return 0;
}

static void decision_07_timers_outrank_the_one_that_was_picked(void **state)
{
    (void)state;
    storm_run(1, is_picked_too_late, NULL);
}

enum { KIDNAPPERS = 3500, KIDNAPPERS_BEFORE = 100 };

typedef struct kidnapping {
    _Atomic uint32_t begun, beat, begun_before;
    _Atomic uint32_t asleep_on, kept_by; /* workers + 1 */
} kidnapping;

static int kidnaps(void *arg)
{
    kidnapping *k = arg;
    atomic_store(&k->kept_by, rad__rt_worker()->worker->id + 1);
    atomic_fetch_add(&k->begun, 1);
    while (atomic_load(&k->beat) == 0) storm_block_ms(1);
    return 0;
}

static int beats_once(void *arg)
{
    kidnapping *k = arg;
    CHECK(rad_sleep(20 * MS) == 0);
    k->begun_before = k->begun;
    k->beat = 1;
    return 0;
}

/* Its worker is kept, and so is every one that comes to replace it; whoever comes takes the heart first. One comes
 * every 2 ms, so there are some ten before it is due; behind all others it would be the last. */
static void decision_07_timers_outrank_what_keeps_the_workers(void **state)
{
    (void)state;
    rad_options o = {.workers = 1};
    kidnapping k = {.begun = 0};
    rad_runtime *rt;
    rad_fiber f;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, &f, beats_once, &k), 0);
    while (rad__state_of(rad__state_look(&f.slot->strand.state_word)) != RAD_FIBER_PARKED) storm_block_ms(1);
    for (int i = 0; i < KIDNAPPERS; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, kidnaps, &k), 0);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    rad_runtime_destroy(rt);
    assert_true(k.begun_before < KIDNAPPERS_BEFORE);
}

static int never_rests(void *arg)
{
    kidnapping *k = arg;
    while (atomic_load(&k->beat) == 0) rad_yield();
    return 0;
}

static int sleeps_on_a_kept_worker(void *arg)
{
    kidnapping *k = arg;
    for (int i = 0; i < 3; i++) CHECK(rad_spawn(NULL, never_rests, k) == 0);
    CHECK(rad_spawn(NULL, kidnaps, k) == 0); /* next on this worker, unless it is stolen */
    k->asleep_on = rad__rt_worker()->worker->id + 1;
    CHECK(rad_sleep(5 * MS) == 0);
    k->beat = 1;
    return 0;
}

/* The worker that has its timer does not come back, and the other one always has something to do. */
static void decision_07_timers_outrank_what_a_busy_worker_has(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .extra_workers = RAD_NONE};
    uint32_t tried = 0;
    for (int round = 0; round < 200 && tried < 3; round++) {
        kidnapping k = {.begun = 0};
        assert_int_equal(rad_main(&o, sleeps_on_a_kept_worker, &k, NULL), 0);
        tried += k.kept_by == k.asleep_on;
    }
    assert_true(tried > 0);
}

/* ---- 8: what belongs to a fiber moves with it ---------------------------------------------------------------- */

/* Who is woken goes back to where it ran last, unless somebody else runs there. */
static int takes_its_place(void *arg)
{
    rad_time busy = rad_after(100000);
    (void)arg;
    while (rad_now() < busy) {
    }
    return 0;
}

static int keeps_its_context(void *arg)
{
    rad_fiber self = rad_self();
    uint64_t given[2] = {self.generation, 42};
    rad_nursery n;
    uint32_t moves = 0;
    rad_set_result(given, sizeof given);
    rad_nursery_open(&n, rad_after((uint64_t)3600 * 1000 * MS));
    rad_shield(true);
    rad_cancel(self);
    rad_time deadline = self.slot->deadline;
    while (moves < 3) {
        uint32_t before = rad__rt_worker()->worker->id; /* pthread_self would be asked only once */
        CHECK(rad_spawn(NULL, takes_its_place, NULL) == 0);
        CHECK(rad_recv(arg, NULL, RAD_FOREVER) == 0); /* cancelled, but shielded */
        rad_time busy = rad_after(20000);
        while (rad_now() < busy) rad_yield();
        moves += before != rad__rt_worker()->worker->id;
        rad_fiber now = rad_self();
        CHECK(now.slot == self.slot && now.generation == self.generation);
        CHECK(rad_is_canceled() && self.slot->deadline == deadline);
    }
    rad_shield(false);
    CHECK(rad_sleep(1) == RAD_ECANCELED);
    rad_shield(true);
    CHECK(rad_nursery_wait(&n) == 0);
    return (int)(given[1]);
}

/* Whom a thread wakes goes on wherever there is somebody to run it. */
static void *wakes_from_outside(void *arg)
{
    while (rad_send(arg, NULL, RAD_FOREVER) == 0) {
    }
    return NULL;
}

static int makes_them_move(void *arg)
{
    enum { COUNT = 16 };
    rad_fiber f[COUNT];
    rad_chan *ticks = chan_of(0, 0);
    pthread_t thread;
    (void)arg;
    CHECK(pthread_create(&thread, NULL, wakes_from_outside, ticks) == 0);
    for (int i = 0; i < COUNT; i++) CHECK(rad_spawn(&f[i], keeps_its_context, ticks) == 0);
    for (int i = 0; i < COUNT; i++) {
        rad_fiber_result result;
        uint64_t given[2];
        CHECK(rad_join(f[i], &result, RAD_FOREVER) == 0);
        memcpy(given, result.bytes, sizeof given);
        CHECK(given[0] == f[i].generation && given[1] == 42 && result.code == 42);
        rad_release(f[i]);
    }
    rad_chan_close(ticks, 0);
    pthread_join(thread, NULL);
    rad_chan_destroy(ticks);
    return 0;
}

static void decision_08_context_survives_migration(void **state)
{
    (void)state;
    storm_run(4, makes_them_move, NULL);
}

/* ---- 9: close drains ----------------------------------------------------------------------------------------- */

static int sends_one(void *arg)
{
    int value = 1;
    return rad_send(arg, &value, RAD_FOREVER);
}

static int closes_and_drains(void *arg)
{
    rad_chan *c = chan_of(sizeof(int), 10);
    rad_fiber f;
    rad_fiber_result result;
    int value;
    (void)arg;
    for (int i = 0; i < 10; i++) CHECK(rad_send(c, &i, 0) == 0);
    CHECK(rad_spawn(&f, sends_one, c) == 0);
    CHECK(rad_join(f, NULL, rad_after(MS)) == RAD_ETIMEOUT); /* it is full: that one waits */
    CHECK(rad_chan_close(c, 77));
    CHECK(rad_join(f, &result, RAD_FOREVER) == 0 && result.code == RAD_ECLOSED); /* was not taken */
    rad_release(f);
    for (int i = 0; i < 10; i++) CHECK(rad_recv(c, &value, RAD_FOREVER) == 0 && value == i);
    for (int i = 0; i < 2; i++) CHECK(rad_recv(c, &value, RAD_FOREVER) == RAD_ECLOSED);
    CHECK(rad_chan_code(c) == 77);
    rad_chan_destroy(c);
    return 0;
}

static void decision_09_close_drains(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) storm_run(workers, closes_and_drains, NULL);
}

/* ---- 10: select ---------------------------------------------------------------------------------------------- */

enum { CASES = 8 };

/* Where its clauses were is overwritten at once: whoever still knew one of them would read nonsense. */
static __attribute__((noinline)) void overwrite_stack(void)
{
    volatile unsigned char many[8192];
    for (size_t i = 0; i < sizeof many; i++) many[i] = 0xa5;
}

static int selects_once(void *arg)
{
    rad_chan **c = arg;
    rad_select_case cases[CASES];
    int values[CASES];
    for (int i = 0; i < CASES; i++)
        cases[i] = (rad_select_case){.kind = RAD_ON_RECV, .on.chan = c[i], .value = &values[i], .code = 99};
    int which = rad_select(cases, CASES, RAD_FOREVER);
    overwrite_stack();
    for (int i = 0; i < CASES; i++) CHECK(cases[i].code == (i == which ? 0 : 99));
    return 100 * which + values[which];
}

static int selects_and_leaves_nothing(void *arg)
{
    rad_chan *c[CASES];
    (void)arg;
    for (int i = 0; i < CASES; i++) c[i] = chan_of(sizeof(int), 0);
    for (int round = 0; round < 200; round++) {
        int which = round % CASES, value = round % 100, other = 0;
        rad_fiber f;
        rad_fiber_result result;
        CHECK(rad_spawn(&f, selects_once, c) == 0);
        CHECK(rad_send(c[which], &value, RAD_FOREVER) == 0); /* one of them, and only once */
        CHECK(rad_join(f, &result, RAD_FOREVER) == 0 && result.code == 100 * which + value);
        rad_release(f);
        for (int i = 0; i < CASES; i++) CHECK(rad_send(c[i], &other, 0) == RAD_ETIMEOUT);
    }
    for (int i = 0; i < CASES; i++) rad_chan_destroy(c[i]);
    return 0;
}

static void decision_10_select_has_one_winner_and_leaves_nothing(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) storm_run(workers, selects_and_leaves_nothing, NULL);
}

/* ---- 11: a kidnapped worker ---------------------------------------------------------------------------------- */

static int queues_and_blocks(void *arg)
{
    _Atomic uint32_t *ran = arg;
    for (int i = 0; i < 100; i++) CHECK(rad_spawn(NULL, counts, ran) == 0);
    return blocks_until_done(ran); /* without yielding: they are all behind it */
}

static void decision_11_a_kidnapped_worker_is_replaced(void **state)
{
    (void)state;
    rad_options o = {.workers = 1};
    _Atomic uint32_t ran = 0;
    assert_int_equal(rad_main(&o, queues_and_blocks, &ran, NULL), 0);
}

static void decision_11_while_something_overflows_pushes_overflow(void **state)
{
    rad_injector q;
    rad_task tasks[9], *got[9];
    (void)state;
    assert_true(rad__injector_open(&q, 4));
    for (int i = 0; i < 6; i++) rad__injector_push(&q, &tasks[i]); /* two too many for the ring */
    assert_int_equal(rad__injector_pop(&q, got, 2), 2);
    for (int i = 6; i < 9; i++) rad__injector_push(&q, &tasks[i]); /* though there is room */
    assert_int_equal(rad__injector_pop(&q, got + 2, 7), 7);
    for (int i = 0; i < 9; i++) assert_ptr_equal(got[i], &tasks[i]);
    rad__injector_close(&q);
}

/* ---- 12: rendezvous and cancel ------------------------------------------------------------------------------- */

typedef struct meeting {
    rad_chan *chan;
    int sent; /* what the send answered */
} meeting;

static int sends_to_meet(void *arg)
{
    meeting *m = arg;
    int value = 33;
    m->sent = rad_send(m->chan, &value, RAD_FOREVER);
    return 0;
}

static int cancels_a_meeting(void *arg)
{
    rad_prng prng = storm_prng(12);
    uint32_t met = 0, canceled = 0;
    (void)arg;
    for (uint64_t round = 0; round < storm_amount(3000); round++) {
        meeting m = {.chan = chan_of(sizeof(int), 0)};
        rad_fiber f;
        int value = 0;
        CHECK(rad_spawn(&f, sends_to_meet, &m) == 0);
        if (rad__prng_below(&prng, 2)) rad_yield();
        storm_spin(&prng, 300);
        bool first = rad__prng_below(&prng, 2);
        if (first) rad_cancel(f);
        int received = rad_recv(m.chan, &value, 0);
        if (!first) rad_cancel(f);
        CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
        rad_release(f);
        CHECK(m.sent == 0 || m.sent == RAD_ECANCELED);
        CHECK((m.sent == 0) == (received == 0) && (received != 0 || value == 33));
        met += received == 0;
        canceled += received != 0;
        rad_chan_destroy(m.chan);
    }
    CHECK(met > 0 && canceled > 0);
    return 0;
}

static void decision_12_a_rendezvous_is_committed_or_cancelled(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) storm_run(workers, cancels_a_meeting, NULL);
}

/* ---- 13: the cap; more of it in test_cap.c ---------------------------------------------------------------- */

static int lets_others_run_at_the_cap(void *arg)
{
    _Atomic uint32_t *ran = arg;
    for (int i = 0; i < 200; i++) CHECK(rad_spawn(NULL, counts, ran) == 0);
    return 0;
}

static void decision_13_at_the_cap_a_spawner_waits_and_its_worker_does_not(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE, .fibers = 3, .spawn_waits = true};
    _Atomic uint32_t ran = 0;
    assert_int_equal(rad_main(&o, lets_others_run_at_the_cap, &ran, NULL), 0);
    assert_int_equal(ran, 200);
}

/* ---- 14: guards ---------------------------------------------------------------------------------------------- */

static uint32_t mappings(void)
{
    uint32_t count = 0;
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) count += strchr(line, '\n') != NULL;
    if (f) fclose(f);
    return count;
}

static int has_many_guards(void *arg)
{
    rad_chan *gate = chan_of(0, 0);
    rad_nursery n;
    rad_stacks_report before, report;
    uint32_t *most = arg;
    const rad_stacks *stacks = &rad_self().slot->strand.runtime->stacks;
    rad__stacks_report(stacks, &before);
    rad_nursery_open(&n, RAD_FOREVER);
    uint32_t count = (uint32_t)storm_live(3000);
    for (uint32_t i = 0; i < count; i++) CHECK(rad_nursery_spawn(&n, NULL, sends_one, gate) == 0);
    rad__stacks_report(stacks, &report);
    CHECK(report.stacks + 64 >= before.stacks + count && report.page_table_bytes > 0);
    *most = mappings();
    rad_chan_close(gate, 0);
    CHECK(rad_nursery_wait(&n) == RAD_ECLOSED);
    rad_chan_destroy(gate);
    return 0;
}

static void decision_14_guards_are_no_mappings(void **state)
{
    (void)state;
    void *page = NULL;
    assert_int_equal(rad__os_pages_map(&page, RAD_PAGE_MAX, NULL), 0);
    bool marks = rad__os_pages_marks_work(page);
    rad__os_pages_unmap(page, RAD_PAGE_MAX);
    if (!marks) skip(); /* an older system: each guard is one */
    uint32_t before = mappings(), most = 0;
    storm_run(2, has_many_guards, &most);
    assert_true(most < before + 100 + storm_live(3000) / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decision_01_one_word),
        cmocka_unit_test(decision_02_generations_tell_fibers_apart),
        cmocka_unit_test(decision_03_a_sleeper_is_parked_and_woken_once),
        cmocka_unit_test(decision_04_sleeping_workers_and_threads_are_woken),
        cmocka_unit_test(decision_05_work_before_the_workers_run),
        cmocka_unit_test(decision_06_work_goes_around_a_busy_worker),
        cmocka_unit_test(decision_07_timers_outrank_the_backlog),
        cmocka_unit_test(decision_07_timers_outrank_the_one_that_was_picked),
        cmocka_unit_test(decision_07_timers_outrank_what_keeps_the_workers),
        cmocka_unit_test(decision_07_timers_outrank_what_a_busy_worker_has),
        cmocka_unit_test(decision_08_context_survives_migration),
        cmocka_unit_test(decision_09_close_drains),
        cmocka_unit_test(decision_10_select_has_one_winner_and_leaves_nothing),
        cmocka_unit_test(decision_11_a_kidnapped_worker_is_replaced),
        cmocka_unit_test(decision_11_while_something_overflows_pushes_overflow),
        cmocka_unit_test(decision_12_a_rendezvous_is_committed_or_cancelled),
        cmocka_unit_test(decision_13_at_the_cap_a_spawner_waits_and_its_worker_does_not),
        cmocka_unit_test(decision_14_guards_are_no_mappings),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
