/* test_rules_sched.c — rules of the scheduler, the watch and the end, one test each, named after it. See
 * test_rules.c. What has to happen is waited for, so a loaded machine only makes it slower. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "patience_support.h"
#include "rt/monitor.h"
#include "rt/runtime.h"
#include "storm_support.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000, PATIENCE_MS = PATIENCE_SECONDS * 1000 };

static rad_chan *chan_of(size_t size, size_t capacity)
{
    rad_chan *c;
    CHECK(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS) == 0);
    return c;
}

static rad_runtime *this_runtime(void)
{
    return rad_self().slot->strand.runtime;
}

static uint32_t this_worker(void)
{
    return rad__rt_worker()->worker->id;
}

/* Blocks the thread until there are so many. */
static bool blocks_until(_Atomic uint32_t *count, uint32_t wanted)
{
    for (int i = 0; i < PATIENCE_MS && atomic_load(count) < wanted; i++) storm_block_ms(1);
    return atomic_load(count) >= wanted;
}

static int counts(void *arg)
{
    atomic_fetch_add((_Atomic uint32_t *)arg, 1);
    return 0;
}

static rad_runtime *runtime_of(uint32_t workers, uint32_t extra)
{
    rad_options o = {.workers = workers, .extra_workers = extra};
    rad_runtime *rt;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    return rt;
}

/* ---- Queues -------------------------------------------------------------------------------------------------- */

static int spawns_and_does_not_let_go(void *arg)
{
    for (int i = 0; i < 50; i++) CHECK(rad_spawn(NULL, counts, arg) == 0);
    return blocks_until(arg, 50) ? 0 : 1;
}

static void rule_idle_workers_steal(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .extra_workers = RAD_NONE};
    _Atomic uint32_t ran = 0;
    assert_int_equal(rad_main(&o, spawns_and_does_not_let_go, &ran, NULL), 0);
}

typedef struct burst {
    _Atomic uint32_t begun, ran, goes_on;
} burst;

static int burst_blocks(void *arg)
{
    burst *b = arg;
    atomic_fetch_add(&b->begun, 1);
    return blocks_until(&b->goes_on, 1) ? 0 : 1;
}

/* More than the ring holds, but for the thread sanitizer, while nobody takes any. */
static void rule_push_never_blocks_and_drops_nothing(void **state)
{
    (void)state;
    uint32_t count = STORM_SLOWER >= 20 ? 300 : 3 * RAD_INJECTOR_RING;
    rad_runtime *rt = runtime_of(1, RAD_NONE);
    burst b = {0};
    assert_int_equal(rad_runtime_spawn(rt, NULL, burst_blocks, &b), 0);
    assert_true(blocks_until(&b.begun, 1));
    for (uint32_t i = 0; i < count; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, counts, &b.ran), 0);
    assert_int_equal(b.ran, 0);
    atomic_store(&b.goes_on, 1);
    rad_runtime_destroy(rt);
    assert_int_equal(b.ran, count);
}

typedef struct chat {
    rad_chan *there, *back;
    _Atomic uint32_t heard;
} chat;

static int chat_answers(void *arg)
{
    chat *c = arg;
    while (rad_recv(c->there, NULL, RAD_FOREVER) == 0) CHECK(rad_send(c->back, NULL, RAD_FOREVER) == 0);
    return 0;
}

static int chat_goes_on(void *arg)
{
    chat *c = arg;
    rad_time end = rad_after((uint64_t)PATIENCE_MS * MS);
    while (atomic_load(&c->heard) == 0 && rad_now() < end)
        CHECK(rad_send(c->there, NULL, RAD_FOREVER) == 0 && rad_recv(c->back, NULL, RAD_FOREVER) == 0);
    rad_chan_close(c->there, 0);
    return atomic_load(&c->heard) == 1 ? 0 : 1;
}

/* Two who wake each other always have something of their own to run. */
static void rule_local_work_does_not_starve_the_rest(void **state)
{
    (void)state;
    rad_runtime *rt = runtime_of(1, RAD_NONE);
    chat c = {.there = chan_of(0, 0), .back = chan_of(0, 0)};
    rad_fiber f;
    rad_fiber_result given;
    assert_int_equal(rad_runtime_spawn(rt, NULL, chat_answers, &c), 0);
    assert_int_equal(rad_runtime_spawn(rt, &f, chat_goes_on, &c), 0);
    storm_block_ms(5);
    assert_int_equal(rad_runtime_spawn(rt, NULL, counts, &c.heard), 0);
    assert_int_equal(rad_join(f, &given, RAD_FOREVER), 0);
    assert_int_equal(given.code, 0);
    rad_release(f);
    rad_runtime_destroy(rt);
    rad_chan_destroy(c.there);
    rad_chan_destroy(c.back);
}

static int meets_the_others(void *arg)
{
    atomic_fetch_add((_Atomic uint32_t *)arg, 1);
    return blocks_until(arg, 4) ? 0 : 1;
}

/* Each keeps its worker until all of them run. */
static void rule_untargeted_work_is_spread(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        rad_runtime *rt = runtime_of(4, RAD_NONE);
        rad_fiber f[4];
        _Atomic uint32_t there = 0;
        if (round % 2) storm_block_ms(2); /* all of them sleep */
        for (int i = 0; i < 4; i++) assert_int_equal(rad_runtime_spawn(rt, &f[i], meets_the_others, &there), 0);
        for (int i = 0; i < 4; i++) {
            rad_fiber_result given;
            assert_int_equal(rad_join(f[i], &given, RAD_FOREVER), 0);
            assert_int_equal(given.code, 0);
            rad_release(f[i]);
        }
        rad_runtime_destroy(rt);
    }
}

/* ---- Affinity ------------------------------------------------------------------------------------------------ */

static void until_all_sleep(rad_runtime *rt)
{
    const rad_idle *idle = &rt->exec->sched.idle;
    uint32_t workers = rt->exec->sched.config.workers;
    uint32_t asleep = 0; /* as the system sees it: they have had a last look */
    for (int i = 0; i < PATIENCE_MS && asleep < workers; i++) {
        storm_block_ms(1);
        asleep = 0;
        for (uint32_t k = 0; k < workers && rad__idle_parked(idle) == workers; k++)
            asleep += rad__os_thread_sleeps(&rt->exec->shells[k].thread);
    }
}

typedef struct called {
    rad_chan *calls;
    _Atomic uint32_t answered, same;
} called;

static int answers_calls(void *arg)
{
    called *c = arg;
    for (;;) {
        uint32_t before = this_worker();
        if (rad_recv(c->calls, NULL, RAD_FOREVER) != 0) return 0;
        c->same += before == this_worker();
        c->answered++;
    }
}

static void rule_soft_affinity_is_to_the_last_worker(void **state)
{
    (void)state;
    rad_runtime *rt = runtime_of(4, RAD_NONE);
    called c = {.calls = chan_of(0, 0)};
    assert_int_equal(rad_runtime_spawn(rt, NULL, answers_calls, &c), 0);
    for (uint32_t i = 1; i <= 40; i++) {
        until_all_sleep(rt);
        assert_int_equal(rad_send(c.calls, NULL, RAD_FOREVER), 0);
        assert_true(blocks_until(&c.answered, i));
    }
    assert_true(c.same >= 25); /* one in four, if it did not matter */
    rad_chan_close(c.calls, 0);
    rad_runtime_destroy(rt);
    rad_chan_destroy(c.calls);
}

typedef struct fallback {
    rad_chan *call;
    uint32_t parked_on;
    _Atomic uint32_t kept_by, waits, ran;
} fallback;

/* Behind the one that waits, on its worker, unless somebody has stolen it. */
static int keeps_the_worker(void *arg)
{
    fallback *b = arg;
    atomic_store(&b->kept_by, this_worker() + 1);
    return blocks_until(&b->ran, 1) ? 0 : 1;
}

static int waits_and_is_kept_out(void *arg)
{
    fallback *b = arg;
    rad_fiber f;
    rad_fiber_result given;
    CHECK(rad_spawn(&f, keeps_the_worker, b) == 0);
    b->parked_on = this_worker();
    CHECK(rad_recv(b->call, NULL, RAD_FOREVER) == 0);
    counts(&b->ran);
    CHECK(rad_join(f, &given, RAD_FOREVER) == 0);
    rad_release(f);
    return given.code;
}

/* The worker it ran on last does not come back before it has run: another one takes it. */
static void rule_soft_affinity_falls_back_and_has_an_escape(void **state)
{
    (void)state;
    uint32_t tried = 0;
    for (int round = 0; round < 200 && tried < 5; round++) {
        rad_runtime *rt = runtime_of(2, RAD_NONE);
        fallback b = {.call = chan_of(0, 0)};
        rad_fiber f;
        rad_fiber_result given;
        assert_int_equal(rad_runtime_spawn(rt, &f, waits_and_is_kept_out, &b), 0);
        assert_true(blocks_until(&b.kept_by, 1));
        assert_int_equal(rad_send(b.call, NULL, RAD_FOREVER), 0);
        assert_int_equal(rad_join(f, &given, RAD_FOREVER), 0);
        assert_int_equal(given.code, 0);
        tried += b.parked_on + 1 == b.kept_by;
        rad_release(f);
        rad_runtime_destroy(rt);
        rad_chan_destroy(b.call);
    }
    assert_true(tried > 0);
}

typedef struct handoff {
    uint32_t turn;
    uint32_t others_before; /* that ran between the end of the producer and its consumer */
} handoff;

static int handoff_other(void *arg)
{
    handoff *h = arg;
    h->turn++;
    return 0;
}

static int handoff_produces(void *arg)
{
    handoff *h = arg;
    for (int i = 0; i < 10; i++) CHECK(rad_spawn(NULL, handoff_other, h) == 0);
    h->others_before = h->turn;
    return 0;
}

/* The consumer runs next, on the same worker, before what waited there already. */
static int handoff_consumes(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) {
        handoff h = {0};
        rad_fiber f;
        CHECK(rad_spawn(&f, handoff_produces, &h) == 0);
        CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
        CHECK(h.turn <= h.others_before + 1); /* one may be due: every 61st turn */
        rad_release(f);
        while (h.turn < 10) rad_yield();
    }
    return 0;
}

static void rule_the_result_is_handed_over_directly(void **state)
{
    (void)state;
    storm_run(1, handoff_consumes, NULL);
}

/* ---- Sleepers ------------------------------------------------------------------------------------------------ */

static int sleeps_long(void *arg)
{
    (void)arg;
    return rad_sleep((uint64_t)3600 * 1000 * MS);
}

static int tells_and_sleeps(void *arg)
{
    counts(arg);
    return sleeps_long(NULL);
}

static int looks_at_sleepers(void *arg)
{
    _Atomic uint32_t begun = 0;
    rad_nursery n;
    rad_sched *s = &this_runtime()->exec->sched;
    const rad_worker *w = rad__rt_worker()->worker;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    uint32_t count = STORM_SLOWER >= 20 ? 200 : 1000;
    for (uint32_t i = 0; i < count; i++) CHECK(rad_nursery_spawn(&n, NULL, tells_and_sleeps, &begun) == 0);
    while (begun < count) rad_yield();
    uint64_t ran = atomic_load(&w->stats.ran);
    for (int i = 0; i < 1000; i++) rad_yield();
    CHECK(rad__injector_is_empty(&s->injector) && rad__inbox_is_empty(&w->inbox));
    CHECK(rad__deque_is_empty(&w->local) && rad__deque_is_empty(&w->later));
    CHECK(atomic_load(&w->stats.ran) <= ran + 1000); /* nobody but the one who yields */
    rad_nursery_cancel(&n, 1);
    CHECK(rad_nursery_wait(&n) == 1);
    return 0;
}

static void rule_sleepers_are_in_no_queue(void **state)
{
    (void)state;
    storm_run(1, looks_at_sleepers, NULL);
}

/* ---- More workers -------------------------------------------------------------------------------------------- */

enum { BLOCKERS = 12, MANY_BLOCKERS = 60 };

typedef struct crowd {
    _Atomic uint32_t begun, goes_on;
    _Atomic uint64_t first, last; /* when one began */
} crowd;

static int crowd_blocks(void *arg)
{
    crowd *c = arg;
    uint64_t now = rad_now(), first = 0, last = c->last;
    atomic_compare_exchange_strong(&c->first, &first, now);
    while (last < now && !atomic_compare_exchange_weak(&c->last, &last, now)) {
    }
    atomic_fetch_add(&c->begun, 1);
    return blocks_until(&c->goes_on, 1) ? 0 : 1;
}

static rad_runtime *crowd_begins(crowd *c, uint32_t count, uint32_t extra, uint32_t expected)
{
    rad_runtime *rt = runtime_of(1, extra);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, crowd_blocks, c), 0);
    assert_true(blocks_until(&c->begun, expected));
    return rt;
}

static void rule_scale_out_has_a_cap(void **state)
{
    (void)state;
    crowd c = {0};
    rad_runtime *rt = crowd_begins(&c, BLOCKERS, 3, 1 + 3);
    storm_block_ms(100); /* time for many more */
    assert_int_equal(c.begun, 1 + 3);
    atomic_store(&c.goes_on, 1);
    rad_runtime_destroy(rt);
    assert_int_equal(c.begun, BLOCKERS);
}

/* One per look, and there are 2 ms between two. A loaded machine is only slower. */
static void rule_scale_out_has_a_rate_limit(void **state)
{
    (void)state;
    crowd c = {0};
    rad_runtime *rt = crowd_begins(&c, MANY_BLOCKERS, MANY_BLOCKERS, MANY_BLOCKERS);
    atomic_store(&c.goes_on, 1);
    rad_runtime_destroy(rt);
    assert_true(c.last - c.first >= (uint64_t)(MANY_BLOCKERS - 3) * 2 * MS);
}

static void rule_scale_out_needs_work(void **state)
{
    (void)state;
    crowd c = {0};
    rad_runtime *rt = runtime_of(1, 8);
    assert_int_equal(rad_runtime_spawn(rt, NULL, crowd_blocks, &c), 0);
    assert_true(blocks_until(&c.begun, 1));
    storm_block_ms(200);                                    /* time for some */
    assert_int_equal(rad__sched_live(&rt->exec->sched), 1); /* nobody came, there was no need */
    atomic_store(&c.goes_on, 1);
    rad_runtime_destroy(rt);
}

static uint32_t threads(void)
{
    return rad__os_thread_total();
}

/* Extra workers leave after a while; what lies in the queue of one that left is found. */
static void rule_extra_workers_leave_and_lose_nothing(void **state)
{
    (void)state;
    uint32_t before = threads();
    crowd c = {0};
    rad_runtime *rt = crowd_begins(&c, BLOCKERS, BLOCKERS, BLOCKERS);
    assert_true(threads() >= before + BLOCKERS);
    atomic_store(&c.goes_on, 1);
    for (int i = 0; i < PATIENCE_MS && threads() > before + 2; i++) storm_block_ms(1);
    assert_true(threads() <= before + 2); /* the worker and the watch; `before` may count one that was ending */
    _Atomic uint32_t ran = 0;
    for (int i = 0; i < 1000; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, counts, &ran), 0);
    rad_runtime_destroy(rt);
    assert_int_equal(ran, 1000);
}

typedef struct noise {
    rad_time end;
    _Atomic uint32_t beats;
} noise;

static int noise_computes(void *arg)
{
    noise *n = arg;
    while (atomic_load(&n->beats) < 5 && rad_now() < n->end) {
    }
    return 0;
}

static int noise_beats(void *arg)
{
    noise *n = arg;
    for (int i = 0; i < 5; i++) {
        CHECK(rad_sleep(2 * MS) == 0);
        n->beats += rad_now() < n->end;
    }
    return 0;
}

/* As many as the workers there are when something is overdue, and none lets go before the heart has beaten. With more
 * of them, those that wait would starve, which brings workers as well. */
static void rule_who_computes_does_not_stop_a_heart(void **state)
{
    (void)state;
    rad_runtime *rt = runtime_of(1, 16);
    noise n = {.end = rad_after((uint64_t)PATIENCE_MS * MS)};
    assert_int_equal(rad_runtime_spawn(rt, NULL, noise_beats, &n), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, noise_computes, &n), 0);
    rad_runtime_destroy(rt);
    assert_int_equal(n.beats, 5);
}

static int sleeps_and_counts(void *arg)
{
    CHECK(rad_sleep(5 * MS) == 0);
    return counts(arg);
}

/* Its worker is kept when its time comes; the other one sleeps, and has no timer of its own. */
static int sleeps_beside_who_sleeps(void *arg)
{
    rad_fiber f;
    CHECK(rad_spawn(&f, sleeps_and_counts, arg) == 0);
    CHECK(rad_sleep(MS) == 0);
    bool ran = blocks_until(arg, 1);
    CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
    rad_release(f);
    return ran ? 0 : 1;
}

static void rule_who_sleeps_is_woken_for_what_is_overdue(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .extra_workers = RAD_NONE};
    for (int round = 0; round < 10; round++) {
        _Atomic uint32_t ran = 0;
        assert_int_equal(rad_main(&o, sleeps_beside_who_sleeps, &ran, NULL), 0);
    }
}

/* ---- Deadlock ------------------------------------------------------------------------------------------------ */

static int waits_for_ever(void *arg)
{
    (void)arg;
    return rad_recv(chan_of(0, 0), NULL, RAD_FOREVER);
}

static void rule_the_deadlock_report_is_off_by_option(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .no_deadlock_report = true};
    int status;
    if (STORM_SLOWER >= 20) skip(); /* forks */
    pid_t child = fork();
    if (child == 0) _exit(rad_main(&o, waits_for_ever, NULL, NULL));
    storm_block_ms(400);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* it waited */
}

/* ---- The end ------------------------------------------------------------------------------------------------- */

/* On one worker: what the gate knows less what the worker may still spend is what is there. */
static uint64_t active(void)
{
    const rad_worker *w = rad__rt_worker()->worker;
    return rad__gate_count(&w->sched->gate) - w->credit;
}

static int counts_who_is_there(void *arg)
{
    rad_fiber f[300];
    (void)arg;
    for (uint32_t i = 0; i < 300; i++) {
        CHECK(active() == 1 + i);
        CHECK(rad_spawn(&f[i], sleeps_long, NULL) == 0);
    }
    for (uint32_t i = 0; i < 300; i++) {
        CHECK(active() == 301 - i);
        rad_cancel(f[i]);
        CHECK(rad_join(f[i], NULL, RAD_FOREVER) == 0);
        rad_release(f[i]);
        rad_yield(); /* off its stack */
    }
    CHECK(active() == 1);
    return 0;
}

static void rule_the_active_count_is_exact(void **state)
{
    (void)state;
    storm_run(1, counts_who_is_there, NULL);
}

static int spawns_some(void *arg)
{
    for (int i = 0; i < 200; i++) CHECK(rad_spawn(NULL, counts, arg) == 0);
    return 0;
}

/* Counted on several workers, ended on others: the end comes when all have ended, and not before. */
static void rule_the_end_comes_at_zero(void **state)
{
    (void)state;
    for (int round = 0; round < (STORM_SLOWER >= 20 ? 2 : 30); round++) {
        rad_runtime *rt = runtime_of(3, RAD_NONE);
        _Atomic uint32_t ran = 0;
        for (int i = 0; i < 10; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, spawns_some, &ran), 0);
        rad_runtime_destroy(rt); /* hangs, or is too early */
        assert_int_equal(ran, 2000);
    }
}

typedef struct leaving {
    rad_runtime *runtime;
    _Atomic bool gone;
} leaving;

static void *leaves(void *arg)
{
    leaving *l = arg;
    rad_runtime_destroy(l->runtime);
    atomic_store(&l->gone, true);
    return NULL;
}

/* Whoever wakes the last fiber from outside is not done with the runtime when that fiber has ended. */
static void rule_the_end_waits_for_who_wakes(void **state)
{
    (void)state;
    leaving l = {.runtime = runtime_of(1, RAD_NONE)};
    pthread_t thread;
    rad_runtime *visited = rad__visit_begin(rad__rt_worker(), l.runtime);
    assert_ptr_equal(visited, l.runtime);
    assert_int_equal(pthread_create(&thread, NULL, leaves, &l), 0);
    storm_block_ms(50);
    assert_false(l.gone);
    rad__visit_end(visited);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_idle_workers_steal),
        cmocka_unit_test(rule_push_never_blocks_and_drops_nothing),
        cmocka_unit_test(rule_local_work_does_not_starve_the_rest),
        cmocka_unit_test(rule_untargeted_work_is_spread),
        cmocka_unit_test(rule_soft_affinity_is_to_the_last_worker),
        cmocka_unit_test(rule_soft_affinity_falls_back_and_has_an_escape),
        cmocka_unit_test(rule_the_result_is_handed_over_directly),
        cmocka_unit_test(rule_sleepers_are_in_no_queue),
        cmocka_unit_test(rule_scale_out_has_a_cap),
        cmocka_unit_test(rule_scale_out_has_a_rate_limit),
        cmocka_unit_test(rule_scale_out_needs_work),
        cmocka_unit_test(rule_extra_workers_leave_and_lose_nothing),
        cmocka_unit_test(rule_who_computes_does_not_stop_a_heart),
        cmocka_unit_test(rule_who_sleeps_is_woken_for_what_is_overdue),
        cmocka_unit_test(rule_the_deadlock_report_is_off_by_option),
        cmocka_unit_test(rule_the_active_count_is_exact),
        cmocka_unit_test(rule_the_end_comes_at_zero),
        cmocka_unit_test(rule_the_end_waits_for_who_wakes),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
