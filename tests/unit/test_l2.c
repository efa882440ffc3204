/* test_l2.c — production code one memory operation at a time: the models are clean as far as they can be tried out,
 * and everything that L2 looks for is found where it was put, and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "core/kernel.h"
#include "lab/l2/machine.h"
#include "lab/rig.h"

#include <raddle/lab.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_missing(void)
{
    return rad__l2_machine(0) == NULL; /* a sanitizer's build; meson has said so */
}

static rad_target target_of(const char *words, bool repaired)
{
    rad_target t;
    rad_error error = {0};
    char name[64];
    size_t length = strcspn(words, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, words);
    if (rad_target_init(&t, name, &error) != 0) fail_msg("%s", error.text);
    if (words[length] && rad_target_set(&t, words + length + 1, &error) != 0)
        fail_msg("%s", error.text);
    t.c.repaired = repaired;
    return t;
}

static rad_exploration tried(const rad_target *t, const char *strategy, uint64_t runs, bool stops)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {
        .strategy = strategy, .runs = runs, .seed = 5, .jobs = 2, .stop_on_first = stops};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s: %s", t->machine->name, error.text);
    return e;
}

static rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs)
{
    return tried(t, strategy, runs, false);
}

/* ---- Models of production code ------------------------------------------------------------------------- */

typedef struct trial {
    const char *words, *strategy;
    uint64_t at_least; /* runs of the last phase: it did not stop early for another reason */
} trial;

/* Nothing is found, and everything within the bound was tried. */
static void clean(const trial *t)
{
    rad_target target = target_of(t->words, false);
    rad_exploration e = tried(&target, t->strategy, 2000000, true);
    const rad_phase *last = &e.phases[e.phase_count - 1];
    if (e.finding_count > 0)
        fail_msg("%s: %s", t->words, rad_artifact_verdict(e.findings[0].artifact)->message);
    if (!last->exhausted) fail_msg("%s: %s is not exhausted", t->words, t->strategy);
    if (last->runs < t->at_least)
        fail_msg("%s: only %llu runs", t->words, (unsigned long long)last->runs);
    assert_string_equal(last->name, t->strategy);
    assert_true(e.evaluations[RAD_ORACLE_OWN] > e.runs); /* races were looked for */
    rad_exploration_free(&e);
}

static void all_clean(const trial *trials, size_t count)
{
    if (is_missing()) skip();
    for (size_t i = 0; i < count; i++) clean(&trials[i]);
}

static void the_deque_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-deque", "preempt:3", 1000},
        {"l2-deque tasks=1 steals=1", "dfs", 100},
        {"l2-deque tasks=3", "preempt:3", 4000}, /* it grows */
        {"l2-deque thieves=2", "preempt:3", 20000},
        {"l2-deque thieves=2 tasks=1 steals=1", "preempt:3", 1000},
        {"l2-deque tasks=5 steals=3", "preempt:2", 500}, /* it grows twice */
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_injector_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-injector", "preempt:3", 2000},
        {"l2-injector tasks=2", "preempt:3", 20000}, /* it spills */
        {"l2-injector pushers=1 tasks=3 pops=2", "preempt:3", 1000},
        {"l2-injector pushers=1 tasks=3 poppers=2", "preempt:2", 1000},
        {"l2-injector tasks=2 pops=2 counts=1", "preempt:2", 1000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_gate_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-gate", "preempt:3", 400},
        {"l2-gate visitors=1", "dfs", 5},
        {"l2-gate visitors=3", "preempt:3", 2000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_inbox_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-inbox", "preempt:3", 500},
        {"l2-inbox senders=1 tasks=1", "dfs", 10},
        {"l2-inbox tasks=2 pops=3", "preempt:3", 3000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_idle_protocol_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-idle", "preempt:3", 200},
        {"l2-idle items=2", "preempt:3", 500},
        {"l2-idle workers=2", "preempt:3", 5000},
        {"l2-idle producers=2", "preempt:3", 2000},
        {"l2-idle workers=2 items=2", "preempt:2", 3000},
        {"l2-idle workers=2 items=2 meet=1", "preempt:2", 3000},
        {"l2-idle letters=2", "preempt:2", 2000},
        {"l2-idle workers=2 letters=1", "preempt:2", 50000},
        {"l2-idle workers=3 letters=1", "preempt:1", 20000},
        {"l2-idle producers=2 letters=1", "preempt:2", 20000},
        {"l2-idle workers=2 letters=1 plain=1", "preempt:2", 5000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_life_of_a_fiber_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-life", "preempt:3", 5000},
        {"l2-life workers=2", "preempt:2", 30000},
        {"l2-life wakers=1 wakes=3", "preempt:3", 100},
        {"l2-life lookers=1", "preempt:3", 5000},
        {"l2-life wakers=1 wakes=2 lookers=2", "preempt:2", 500},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void locks_and_the_like_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-mutex turns=2", "preempt:3", 1000},
        {"l2-mutex threads=3", "preempt:2", 2000},
        {"l2-mutex hasty=2", "preempt:3", 500},
        {"l2-mutex way=1", "preempt:3", 500},
        {"l2-mutex way=1 threads=3", "preempt:2", 1000},
        {"l2-cond", "preempt:3", 500},
        {"l2-cond hasty=1", "preempt:3", 500},
        {"l2-cond way=1 threads=3", "preempt:2", 1000},
        {"l2-cond way=2 threads=3", "preempt:2", 1000},
        {"l2-rwlock", "preempt:3", 500},
        {"l2-rwlock threads=3 hasty=1", "preempt:2", 10000},
        {"l2-rwlock threads=4", "preempt:1", 500},
        {"l2-semaphore hasty=1", "preempt:2", 1000},
        {"l2-semaphore turns=2", "preempt:2", 500},
        {"l2-permit threads=3 hasty=1", "preempt:2", 2000},
        {"l2-permit threads=3 way=1", "preempt:2", 500},
        {"l2-waitgroup hasty=1", "preempt:2", 1000},
        {"l2-barrier turns=2", "preempt:3", 500},
        {"l2-barrier threads=3 hasty=3", "preempt:2", 5000},
        {"l2-once callers=2 fails=1 hasty=2", "preempt:3", 100},
        {"l2-once fails=1", "preempt:2", 4000},
        {"l2-once fails=2 hasty=1", "preempt:2", 4000},
        {"l2-once callers=2 fiber=1", "preempt:1", 500}, /* it is cancelled in the middle */
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_wheel_of_timers_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-timer sleepers=1", "preempt:3", 5000},
        {"l2-timer sleepers=1 naps=2", "preempt:3", 40000},
        {"l2-timer sleepers=1 readers=1", "preempt:2", 5000},
        {"l2-timer sleepers=1 expirers=2", "preempt:1", 3000},
        {"l2-timer", "preempt:1", 3000}, /* a slot that is half moved */
        {"l2-timer apart=0", "preempt:1", 3000},
        {"l2-timer sleepers=3", "preempt:0", 100},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_executor_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-executor", "preempt:3", 8000},
        {"l2-executor tasks=2", "preempt:2", 1000},
        {"l2-executor children=1", "preempt:2", 500},
        {"l2-executor workers=2", "preempt:1", 400},
        {"l2-executor workers=2 children=1", "preempt:1", 400},
        {"l2-executor sent=2", "preempt:2", 1000},
        {"l2-executor workers=2 sent=1", "preempt:1", 500},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void a_worker_leaves_nothing_of_its_own(void **state)
{
    static const trial trials[] = {
        {"l2-own", "preempt:3", 50},
        {"l2-own thieves=2 tasks=4", "preempt:2", 500},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void the_largest_cases_run(void **state)
{
    const rad_machine *m;
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; (m = rad__l2_machine(i)) != NULL; i++) {
        rad_target t = target_of(m->name, true);
        for (uint32_t p = 0; m->params[p].name; p++) t.c.params[p] = m->params[p].max;
        rad_exploration e = explored(&t, "random", 20);
        if (e.failures)
            fail_msg("%s: %s", m->name, rad_artifact_verdict(e.findings[0].artifact)->message);
        rad_exploration_free(&e);
    }
}

/* What takes more preemptions than can all be tried. */
static void clean_at_random(const char *words, uint64_t runs)
{
    rad_target target = target_of(words, false);
    rad_exploration e = explored(&target, "random", runs);
    if (e.finding_count > 0)
        fail_msg("%s: %s", words, rad_artifact_verdict(e.findings[0].artifact)->message);
    assert_int_equal(e.runs, runs);
    rad_exploration_free(&e);
}

static void groups_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-group", "preempt:2", 8000},
        {"l2-group deep=1", "preempt:2", 8000}, /* it sleeps on its bell */
        {"l2-group workers=1 jobs=2 grandchild=1", "dfs", 1},
        {"l2-group jobs=2 grandchild=1", "preempt:1", 200},
        {"l2-group jobs=2 deep=1", "preempt:1", 200},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
    clean_at_random("l2-group", 5000);
    clean_at_random("l2-group deep=1", 5000); /* the bell takes three preemptions */
    clean_at_random("l2-group jobs=2 grandchild=1", 2000);
}

static void every_way_in_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-entry", "preempt:2", 500},
        {"l2-entry way=1", "preempt:2", 500},
        {"l2-entry way=2", "preempt:2", 500},
        {"l2-entry way=3", "preempt:2", 500},
        {"l2-entry workers=2 way=1", "preempt:1", 100},
        {"l2-entry workers=2 way=3", "preempt:1", 100},
        {"l2-entry way=4", "preempt:2", 500},
        {"l2-entry workers=2 way=4", "preempt:1", 100},
        {"l2-entry away=1", "preempt:2", 2000},
        {"l2-entry away=1 way=2", "preempt:2", 2000},
        {"l2-entry away=1 workers=2", "preempt:1", 100},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

/* ---- The runtime of fibers ------------------------------------------------------------------------------ */

static void channels_between_threads_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-chan", "preempt:3", 500},
        {"l2-chan capacity=1 values=2", "preempt:3", 1000},
        {"l2-chan capacity=1 values=3 drops=1", "preempt:3", 500},
        {"l2-chan capacity=1 values=3 drops=2", "preempt:3", 500},
        {"l2-chan closer=1", "preempt:3", 15000},
        {"l2-chan capacity=1 values=2 closer=1", "preempt:2", 1000},
        {"l2-chan capacity=2 values=3 many=1", "preempt:3", 500},
        {"l2-chan values=2 many=1 closer=1", "preempt:2", 1000},
        {"l2-chan receivers=2", "preempt:2", 5000},
        {"l2-chan senders=2", "preempt:2", 5000},
        {"l2-chan senders=2 capacity=1 closer=1", "preempt:1", 1000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void selects_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-select", "preempt:3", 200},
        {"l2-select public=1", "preempt:3", 200},
        {"l2-select kind=1", "preempt:2", 4000},
        {"l2-select kind=1 capacity=1", "preempt:2", 1000},
        {"l2-select kind=2", "preempt:3", 50},
        {"l2-select kind=3", "preempt:2", 4000},
        {"l2-select kind=4", "preempt:3", 5000},
        {"l2-select kind=5", "preempt:2", 4000},
        {"l2-select kind=5 capacity=1", "preempt:2", 2000},
        {"l2-select kind=6 public=1", "preempt:1", 5000},
        {"l2-select kind=7", "preempt:2", 10000},
        {"l2-select kind=8", "preempt:3", 200},
        {"l2-select kind=8 capacity=1", "preempt:3", 200},
        {"l2-choice kind=0", "preempt:3", 15000}, /* locks, permits and groups */
        {"l2-choice kind=1 public=1", "preempt:3", 20000},
        {"l2-choice kind=2", "preempt:2", 1500},
        {"l2-choice kind=3", "preempt:2", 3500},
        {"l2-choice kind=4", "preempt:2", 9000},
        {"l2-choice kind=5", "preempt:2", 9000},
        {"l2-choice kind=6", "preempt:2", 4000},
        {"l2-choice kind=7", "preempt:1", 3000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

static void time_that_is_up_is_clean(void **state)
{
    static const trial trials[] = {
        {"l2-timeout", "preempt:3", 500},         {"l2-timeout capacity=1", "preempt:3", 200},
        {"l2-timeout kind=1", "preempt:3", 400},  {"l2-timeout kind=2", "preempt:3", 400},
        {"l2-timeout kind=3", "preempt:3", 1500}, {"l2-timeout kind=4", "preempt:2", 4000},
        {"l2-timeout kind=5", "preempt:2", 8000}, {"l2-timeout kind=6 public=1", "preempt:3", 2000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
}

/* With two workers everything up to one preemption, and then where several of them are likely. */
static void mostly_clean(const char *words, uint64_t runs)
{
    rad_target target = target_of(words, false);
    rad_exploration e = tried(&target, "pct:3", runs, true);
    if (e.finding_count > 0)
        fail_msg("%s: %s", words, rad_artifact_verdict(e.findings[0].artifact)->message);
    assert_int_equal(e.runs, runs);
    rad_exploration_free(&e);
}

static void fibers_on_their_stacks_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-strand", "preempt:3", 1000},
        {"l2-strand wakes=2", "preempt:2", 500},
        {"l2-strand wakers=2", "preempt:2", 5000},
        {"l2-strand fibers=2 yields=1", "preempt:2", 500},
        {"l2-strand whole=1", "preempt:2", 500},
        {"l2-strand workers=2", "preempt:1", 1000},
        {"l2-strand wakes=2 lookers=1", "preempt:2", 1000},
        {"l2-strand workers=2 lookers=1 whole=1", "preempt:1", 1000},
        {"l2-strand workers=2 coarse=1", "preempt:3", 20000},
        {"l2-strand workers=2 fibers=2 whole=1", "preempt:1", 1000},
        {"l2-startup", "preempt:2", 1000},
        {"l2-startup workers=2 children=1", "preempt:1", 500},
        {"l2-sleep", "dfs", 2},
        {"l2-sleep kind=1", "preempt:2", 200},
        {"l2-sleep kind=2", "preempt:2", 500},
        {"l2-sleep kind=3", "preempt:2", 2000},
        {"l2-sleep workers=2 kind=1", "preempt:1", 1000},
        {"l2-sleep workers=2 kind=4", "preempt:1", 500},
        {"l2-berth", "preempt:3", 30000},
        {"l2-berth cools=2", "preempt:2", 4000},
        {"l2-berth each=2 kept=1", "preempt:2", 4000},
        {"l2-berth hands=1", "preempt:2", 2500},
        {"l2-berth hands=1 kept=1", "preempt:2", 2500},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
    mostly_clean("l2-strand workers=2 wakers=2", 3000);
    mostly_clean("l2-strand workers=2 fibers=2 yields=2 whole=1", 2000);
    mostly_clean("l2-sleep workers=2 kind=3", 2000);
    mostly_clean("l2-startup workers=2 outsiders=2 children=1", 2000);
}

static void handles_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-join", "preempt:2", 4000},
        {"l2-join kind=1", "preempt:2", 4000},
        {"l2-join kind=2", "preempt:2", 1000},
        {"l2-join kind=1 whole=1", "preempt:1", 150},
        {"l2-join joiners=2", "preempt:1", 1000},
        {"l2-join workers=2", "preempt:1", 3000},
        {"l2-join kind=2 workers=2", "preempt:1", 1500},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
    mostly_clean("l2-join kind=1 workers=2 joiners=2", 3000);
}

static void nurseries_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-nursery kind=0", "preempt:2", 10000},
        {"l2-nursery kind=1", "preempt:1", 300},
        {"l2-nursery kind=2 workers=1", "preempt:2", 1000},
        {"l2-nursery kind=2", "preempt:1", 1500},
        {"l2-nursery kind=3", "preempt:1", 300},
        {"l2-nursery kind=4 workers=1", "preempt:2", 2000},
        {"l2-nursery kind=4", "preempt:1", 3000},
        {"l2-nursery kind=5 workers=1", "preempt:2", 2000},
        {"l2-nursery kind=5", "preempt:1", 3000},
        {"l2-nursery kind=6 workers=1", "preempt:2", 100},
        {"l2-nursery kind=7", "preempt:1", 100},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
    mostly_clean("l2-nursery kind=4 whole=1", 2000);
    mostly_clean("l2-nursery kind=5", 2000);
}

static void waits_of_fibers_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-cancel", "preempt:2", 10000},
        {"l2-cancel kind=1", "preempt:2", 10000},
        {"l2-cancel kind=2", "preempt:1", 300},
        {"l2-cancel kind=3", "preempt:1", 500},
        {"l2-cancel kind=4", "preempt:2", 1500},
        {"l2-cancel kind=4 workers=2", "preempt:1", 2000},
        {"l2-mix", "preempt:2", 2000},
        {"l2-mix send=1", "preempt:2", 2000},
        {"l2-mix capacity=1 values=2 whole=1", "preempt:1", 50},
        {"l2-mix workers=2 fibers=2", "preempt:1", 4000},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
    mostly_clean("l2-cancel kind=1 workers=2", 2000);
    mostly_clean("l2-cancel kind=3 workers=2 whole=1", 2000);
    mostly_clean("l2-mix workers=2 threads=2 fibers=2 values=2", 2000);
}

static void calls_to_the_system_are_clean(void **state)
{
    static const trial trials[] = {
        {"l2-ready", "preempt:2", 4000},
        {"l2-ready kind=1 cold=1", "preempt:1", 500},
        {"l2-ready kind=2 coarse=1", "preempt:1", 2000},
        {"l2-ready kind=5", "preempt:2", 9000},
        {"l2-ready kind=7 coarse=1", "preempt:2", 30000},
        {"l2-poller", "preempt:3", 200},
        {"l2-poller kind=1 fibers=2", "preempt:2", 500},
        {"l2-poller kind=2", "preempt:1", 1000},
        {"l2-poller kind=3", "preempt:2", 4000},
        {"l2-poller workers=2", "preempt:1", 1500},
        {"l2-blocking", "preempt:1", 200},
        {"l2-blocking coarse=1", "preempt:3", 10000},
        {"l2-blocking coarse=1 calls=2", "preempt:2", 2000},
        {"l2-blocking hasty=1", "preempt:1", 300},
    };
    (void)state;
    all_clean(trials, sizeof trials / sizeof *trials);
    mostly_clean("l2-ready kind=10 coarse=1", 4000);
    mostly_clean("l2-ready kind=9 coarse=1", 2000);
    mostly_clean("l2-poller kind=2 workers=2", 1000);
    mostly_clean("l2-blocking fibers=2 spares=2 calls=2", 2000);
}

/* ---- Litmus tests -------------------------------------------------------------------------------------- */

static void under_sequential_consistency_stores_are_not_buffered(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-buffering", false);
    rad_exploration e = explored(&t, "dfs", 100);
    assert_true(e.complete);
    assert_int_equal(e.failures, 0);
    assert_int_equal(e.runs, 6);
    assert_int_equal(e.classes, 3);
    rad_exploration_free(&e);
}

static void every_schedule_comes_once(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-inc k=5", false);
    rad_exploration e = explored(&t, "dfs", 1000);
    assert_true(e.complete);
    assert_int_equal(e.runs, 252); /* 10! / 5!² */
    assert_int_equal(e.classes, 252);
    rad_exploration_free(&e);
    t = target_of("l2-inc n=3 k=2", false);
    e = explored(&t, "dfs", 1000);
    assert_int_equal(e.runs, 90); /* 6! / 2!³ */
    assert_int_equal(e.classes, 90);
    rad_exploration_free(&e);
}

static void what_is_not_published_is_a_race(void **state)
{
    (void)state;
    if (is_missing()) skip();
    for (int how = 0; how <= 8; how++) {
        char words[40];
        snprintf(words, sizeof words, "l2-message how=%d", how);
        rad_target t = target_of(words, false);
        rad_exploration e = explored(&t, "dfs", 1000);
        if (e.finding_count != 1) fail_msg("%s: %u findings", words, (unsigned)e.finding_count);
        const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
        assert_string_equal(v->identity, "data race:data");
        assert_non_null(strstr(v->message, "writer writes at message_body: write"));
        assert_non_null(strstr(v->message, "reader reads at message_body: read"));
        rad_exploration_free(&e);
        t.c.repaired = true;
        e = explored(&t, "dfs", 1000);
        if (e.failures) fail_msg("%s: the twin fails", words);
        assert_true(e.complete);
        assert_true(e.evaluations[RAD_ORACLE_OWN] > 0 && e.evaluations[RAD_ORACLE_ASSERT] > 0);
        rad_exploration_free(&e);
    }
}

static void every_thread_has_its_own_variables(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-locals", false);
    rad_exploration e = explored(&t, "dfs", 100);
    assert_true(e.complete);
    assert_int_equal(e.runs, 20);
    assert_int_equal(e.evaluations[RAD_ORACLE_ASSERT], 20 * 2 * 3);
    if (e.failures) fail_msg("%s", rad_artifact_verdict(e.findings[0].artifact)->message);
    rad_exploration_free(&e);
}

/* ---- What L2 looks for ---------------------------------------------------------------------------------- */

static void every_mistake_is_found_and_no_twin_is(void **state)
{
    static const char *const identities[] = {
        "use after free:block", "use after free",      "leak",
        "data race:block",      "bad address:heap",    "unseen write:word",
        "deadlock:other",       "livelock:word",       "assertion",
        "data race:small",      "assertion",           "data race:static",
        "data race:word",       "use after free:heap", "data race:heap",
        "crash:SIGSEGV",        "assertion",
    };
    (void)state;
    if (is_missing()) skip();
    for (uint32_t kind = 0; kind < sizeof identities / sizeof *identities; kind++) {
        char words[40];
        bool found = false;
        snprintf(words, sizeof words, "l2-mistakes kind=%u", (unsigned)kind);
        rad_target t = target_of(words, false);
        rad_exploration e = explored(&t, "preempt:3", 10000);
        for (uint32_t i = 0; i < e.finding_count; i++)
            found |= strcmp(rad_artifact_verdict(e.findings[i].artifact)->identity,
                            identities[kind]) == 0;
        if (!found)
            fail_msg("%s: %s is not found, but %s", words, identities[kind],
                     e.finding_count ? rad_artifact_verdict(e.findings[0].artifact)->identity
                                     : "nothing");
        rad_exploration_free(&e);
        t.c.repaired = true;
        e = explored(&t, "preempt:3", 10000);
        if (e.failures)
            fail_msg("%s: the twin: %s", words,
                     rad_artifact_verdict(e.findings[0].artifact)->message);
        assert_true(e.complete);
        rad_exploration_free(&e);
    }
}

static void the_twins_of_the_oracles_are_asked(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-mistakes kind=1", true);
    rad_exploration e = explored(&t, "dfs", 1000);
    for (uint32_t oracle = RAD_ORACLE_OWN; oracle <= RAD_ORACLE_OWN + 3; oracle++)
        assert_true(e.evaluations[oracle] > 0);
    rad_exploration_free(&e);
}

/* ---- Determinism ------------------------------------------------------------------------------------------ */

static void runs_repeat_themselves(void **state)
{
    const rad_machine *m;
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; (m = rad__l2_machine(i)) != NULL; i++) {
        rad_target t = target_of(m->name, false);
        rad_exploration e;
        rad_error error = {0};
        rad_explore_options o = {.strategy = "random", .runs = 200, .seed = 9, .twice = true};
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        for (uint32_t f = 0; f < e.finding_count; f++)
            assert_string_not_equal(rad_artifact_verdict(e.findings[f].artifact)->identity,
                                    "nondeterminism");
        rad_exploration_free(&e);
    }
}

static void every_finding_replays_and_shrinks(void **state)
{
    static const char *const words[] = {"l2-message how=4", "l2-mistakes kind=0",
                                        "l2-mistakes kind=6", "l2-mistakes kind=7"};
    (void)state;
    if (is_missing()) skip();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rad_target t = target_of(words[i], false);
        rad_exploration e = explored(&t, "random", 500);
        assert_true(e.finding_count > 0);
        rad_error error = {0};
        rad_replay replay;
        rad_artifact *small = NULL;
        rad_shrink_report report;
        assert_int_equal(rad_lab_replay(e.findings[0].artifact, NULL, &replay, &error), 0);
        if (!replay.as_recorded) fail_msg("%s: %s", words[i], replay.reason);
        assert_int_equal(rad_lab_shrink(e.findings[0].artifact, NULL, &small, &report, &error), 0);
        assert_int_equal(rad_lab_replay(small, NULL, &replay, &error), 0);
        if (!replay.as_recorded) fail_msg("%s: %s", words[i], replay.reason);
        rad_artifact_free(small);
        rad_artifact_free(report.second);
        rad_exploration_free(&e);
    }
}

static uint32_t thread_count(void)
{
    uint32_t count = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/* The space of the second instance lies elsewhere: the digest must not know. */
static void addresses_do_not_matter(void **state)
{
    static const char *const words[] = {"l2-deque tasks=3", "l2-injector tasks=2", "l2-executor"};
    (void)state;
    if (is_missing()) skip();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rad_target t = target_of(words[i], false);
        rad_error error = {0};
        rad_rig first, second;
        assert_int_equal(rad__rig_open(&first, &t, &error), 0);
        assert_int_equal(rad__rig_open(&second, &t, &error), 0);
        uint32_t list[60];
        for (uint32_t n = 0; n < 60; n++) list[n] = n % 3 == 1;
        rad__rig_guide(&first, list, 60, false, NULL);
        rad__rig_guide(&second, list, 60, false, NULL);
        assert_true(first.kernel->outcome == RAD_OUTCOME_FINISHED);
        assert_true(rad__digest_equal(first.kernel->trace.digest, second.kernel->trace.digest));
        rad__rig_guide(&first, list, 60, false, NULL); /* and back again */
        assert_true(rad__digest_equal(first.kernel->trace.digest, second.kernel->trace.digest));
        rad__rig_close(&first);
        rad__rig_close(&second);
    }
}

static void threads_end_with_the_machine(void **state)
{
    (void)state;
    if (is_missing()) skip();
    uint32_t before = thread_count();
    rad_target t = target_of("l2-locals", false);
    rad_error error = {0};
    rad_rig rig;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rad__rig_open(&rig, &t, &error), 0);
        assert_int_equal(rad__rig_guide(&rig, NULL, 0, false, NULL), RAD_OUTCOME_FINISHED);
        assert_true(thread_count() > before);
        rad__rig_close(&rig);
        assert_int_equal(thread_count(), before);
    }
}

/* ---- Machines ---------------------------------------------------------------------------------------------- */

static void machines_are_described(void **state)
{
    const rad_machine *m;
    (void)state;
    if (is_missing()) skip();
    for (uint32_t i = 0; (m = rad__l2_machine(i)) != NULL; i++) {
        rad_target t = target_of(m->name, false);
        rad_error error = {0};
        void *self;
        assert_int_equal(strncmp(m->name, "l2-", 3), 0);
        assert_non_null(m->about);
        assert_int_equal(m->create(&self, &t.c, &error), 0);
        uint32_t sites = 0;
        while (m->site_name(self, sites)) sites++;
        assert_in_range(sites, 1, RAD_SITES_MAX);
        if (m->bug)
            assert_true(m->bug_site < sites);
        else
            assert_int_equal(m->bug_site, RAD_NONE);
        m->destroy(self);
    }
    assert_null(rad__l2_machine(UINT32_MAX));
}

static void sites_have_names(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-deque", false);
    rad_error error = {0};
    void *self;
    const char *name;
    uint32_t pops = 0, own = 0;
    assert_int_equal(t.machine->create(&self, &t.c, &error), 0);
    for (uint32_t i = 0; (name = t.machine->site_name(self, i)) != NULL; i++) {
        pops += strncmp(name, "rad__deque_pop: load ", 21) == 0;
        own += strstr(name, "deque") == NULL;
        assert_non_null(strstr(name, "deque."));
    }
    assert_int_equal(pops, 4); /* bottom, array, top, slot */
    assert_int_equal(own, 0);
    t.machine->destroy(self);
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    if (is_missing()) skip();
    rad_target t = target_of("l2-deque", false);
    for (uint64_t n = 1;; n++) {
        void *self;
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int code = t.machine->create(&self, &t.c, &error);
        rad__alloc_fail_at(0);
        if (code == 0) {
            t.machine->destroy(self);
            assert_true(n > 5);
            return;
        }
        assert_int_equal(code, RAD_ENOMEM);
        assert_null(self);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deque_is_clean),
        cmocka_unit_test(the_injector_is_clean),
        cmocka_unit_test(the_gate_is_clean),
        cmocka_unit_test(the_inbox_is_clean),
        cmocka_unit_test(the_idle_protocol_is_clean),
        cmocka_unit_test(the_life_of_a_fiber_is_clean),
        cmocka_unit_test(locks_and_the_like_are_clean),
        cmocka_unit_test(the_wheel_of_timers_is_clean),
        cmocka_unit_test(the_executor_is_clean),
        cmocka_unit_test(a_worker_leaves_nothing_of_its_own),
        cmocka_unit_test(the_largest_cases_run),
        cmocka_unit_test(groups_are_clean),
        cmocka_unit_test(every_way_in_is_clean),
        cmocka_unit_test(channels_between_threads_are_clean),
        cmocka_unit_test(selects_are_clean),
        cmocka_unit_test(time_that_is_up_is_clean),
        cmocka_unit_test(fibers_on_their_stacks_are_clean),
        cmocka_unit_test(handles_are_clean),
        cmocka_unit_test(nurseries_are_clean),
        cmocka_unit_test(waits_of_fibers_are_clean),
        cmocka_unit_test(calls_to_the_system_are_clean),
        cmocka_unit_test(under_sequential_consistency_stores_are_not_buffered),
        cmocka_unit_test(every_schedule_comes_once),
        cmocka_unit_test(what_is_not_published_is_a_race),
        cmocka_unit_test(every_thread_has_its_own_variables),
        cmocka_unit_test(every_mistake_is_found_and_no_twin_is),
        cmocka_unit_test(the_twins_of_the_oracles_are_asked),
        cmocka_unit_test(runs_repeat_themselves),
        cmocka_unit_test(every_finding_replays_and_shrinks),
        cmocka_unit_test(addresses_do_not_matter),
        cmocka_unit_test(threads_end_with_the_machine),
        cmocka_unit_test(machines_are_described),
        cmocka_unit_test(sites_have_names),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    const char *only = getenv("TEST_ONLY"); /* tools/planted.sh */
    if (only && *only) cmocka_set_test_filter(only);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
