/* test_spin_rounds.c — a loop that ends by itself, and what comes after it: a wakeup that is lost only if the loop ends
 * before another actor has done anything. Fair schedules do not have it, others do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/artifact.h"
#include "lab/machines/toys/vm.h"
#include "rig_support.h"

#include <string.h>

/* ---- Waiters that look, then sleep ------------------------------------------------------------------------ */

enum { ROUNDS, MANNER, WAITERS };
enum { LOOKS_ONCE, YIELDS, LOOKS_TWICE, WRITES, ONLY_LOOKS };
enum { LOOK, GIVE_WAY, LOCK, CHECK, SLEEP, WOKEN, UNLOCK, SET, WAKE };

static const char *const sites[] = {
    [LOOK] = "look",   [GIVE_WAY] = "give way", [LOCK] = "lock", [CHECK] = "look again", [SLEEP] = "sleep",
    [WOKEN] = "woken", [UNLOCK] = "unlock",     [SET] = "set",   [WAKE] = "wake",        NULL,
};

/* The bug: the setter wakes nobody. */
static void sleeper_build(rad_vm *vm, const rad_case *c)
{
    uint32_t flag = vm_cell(vm, "flag", 0), lock = vm_mutex(vm, "lock"), set = rad__vm_cond(vm, "set");
    uint32_t tries = vm_cell(vm, "tries", 0), waiter = vm_here(vm);
    vm_set(vm, R2, (int32_t)c->params[ROUNDS]);
    uint32_t again = vm_here(vm);
    vm_load(vm, LOOK, R1, flag);
    uint32_t seen = vm_jump_if(vm, R1, VM_NE, 0);
    if (c->params[MANNER] == YIELDS) vm_yield(vm, GIVE_WAY);
    if (c->params[MANNER] == WRITES) vm_fetch_add(vm, GIVE_WAY, R1, tries, 1);
    if (c->params[MANNER] == LOOKS_TWICE) vm_load(vm, CHECK, R1, flag);
    vm_sub(vm, R2, R2, 1);
    vm_back_if(vm, again, R2, VM_NE, 0);
    if (c->params[MANNER] == ONLY_LOOKS) vm_end(vm);
    vm_lock(vm, LOCK, lock);
    vm_load(vm, CHECK, R1, flag);
    uint32_t there = vm_jump_if(vm, R1, VM_NE, 0);
    vm_wait(vm, SLEEP, WOKEN, set, lock);
    vm_land(vm, there);
    vm_unlock(vm, UNLOCK, lock);
    vm_land(vm, seen);
    vm_end(vm);
    uint32_t setter = vm_here(vm);
    if (c->params[MANNER] == ONLY_LOOKS) {
        vm_store(vm, SET, flag, 1);
        vm_end(vm);
    }
    vm_lock(vm, LOCK, lock);
    vm_store(vm, SET, flag, 1);
    if (c->repaired) vm_broadcast(vm, WAKE, set);
    vm_unlock(vm, UNLOCK, lock);
    vm_end(vm);
    for (int64_t i = 0; i < c->params[WAITERS]; i++) rad__vm_thread(vm, "waiter", waiter, true);
    rad__vm_thread(vm, "setter", setter, true);
}

static const vm_toy sleeper_toy = {.build = sleeper_build, .sites = sites};

static const rad_param sleeper_params[] = {
    [ROUNDS] = {"rounds", 5, 1, 2000, "of the loop", true},
    [MANNER] = {"manner", 0, 0, 4,
                "a round: a look; and a yield; two looks; a look and a write; a look, and nobody sleeps", true},
    [WAITERS] = {"waiters", 1, 1, 50, "how many", true},
    {.name = NULL},
};

static const rad_machine sleeper_machine = {.name = "spin-sleeper",
                                            .about = "looks a few times, then sleeps",
                                            .params = sleeper_params,
                                            .bug = "nobody is woken",
                                            .bug_site = RAD_NONE,
                                            .own = &sleeper_toy,
                                            VM_FUNCTIONS};

static rad_target sleeper(bool repaired, int64_t rounds, int64_t manner)
{
    rad_error error = {0};
    rad_target t;
    if (rad_machine_find("spin-sleeper") == NULL) assert_int_equal(rad_machine_add(&sleeper_machine, &error), 0);
    assert_int_equal(rad_target_init(&t, "spin-sleeper", &error), 0);
    t.c.repaired = repaired;
    t.c.params[ROUNDS] = rounds;
    t.c.params[MANNER] = manner;
    return t;
}

static rad_exploration explored(const rad_target *t, rad_explore_options o)
{
    rad_error error = {0};
    rad_exploration x;
    if (rad_lab_explore(t, &o, &x, &error) != 0) fail_msg("%s", error.text);
    return x;
}

static const int64_t rounds[] = {5, 20, 100, 900};
enum { SIZES = sizeof rounds / sizeof *rounds };

/* ---- Found ----------------------------------------------------------------------------------------------- */

/* The file has the rule by which it was found. */
static void judge_finding(const rad_artifact *a)
{
    rad_error error = {0};
    rad_artifact *read, *small;
    rad_replay again;
    rad_shrink_report r;
    char *text = rad_artifact_json(a, &error);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"spin_rounds\": "));
    assert_int_equal(rad__artifact_parse(&read, text, strlen(text), "it", false, &error), 0);
    assert_true(rad_artifact_target(read)->c.spin_rounds > 0);
    assert_int_equal(rad_lab_replay(read, NULL, &again, &error), 0);
    assert_true(again.as_recorded);
    assert_int_equal(rad_lab_shrink(read, NULL, &small, &r, &error), 0);
    assert_int_equal(r.certificate, RAD_MINIMAL);
    assert_int_equal(rad_artifact_target(small)->c.spin_rounds, rad_artifact_target(a)->c.spin_rounds);
    assert_int_equal(rad_lab_replay(small, NULL, &again, &error), 0);
    assert_true(again.as_recorded);
    rad_target repaired = *rad_artifact_target(small);
    repaired.c.repaired = true;
    assert_int_equal(rad_lab_replay(small, &repaired, &again, &error), 0);
    assert_int_equal(again.actual.result, RAD_RESULT_PASS);
    rad_artifact_free(small);
    rad_artifact_free(read);
    rad_free(text);
}

static void a_loop_that_ends_comes_to_its_end(void **state)
{
    static const char *const strategies[] = {"auto", "dfs"};
    (void)state;
    for (uint32_t i = 0; i < 2 * SIZES; i++) {
        rad_target t = sleeper(false, rounds[i / 2], i % 2);
        for (uint32_t s = 0; s < 2; s++) {
            rad_exploration x = explored(&t, (rad_explore_options){.strategy = strategies[s], .runs = 2000, .seed = 1});
            assert_int_equal(x.finding_count, 1);
            assert_string_equal(rad_artifact_verdict(x.findings[0].artifact)->kind, "deadlock");
            if (rounds[i / 2] < 900) judge_finding(x.findings[0].artifact);
            rad_exploration_free(&x);
        }
    }
}

/* A loop that writes is not recognised, but its turn ends: after 512 steps the others go first, or with 1,000 rounds
 * three turns later. */
static void a_long_turn_goes_on_too(void **state)
{
    (void)state;
    for (uint32_t fair = 0; fair < 2; fair++) {
        rad_target t = sleeper(false, 400, WRITES);
        rad_exploration x = explored(&t, (rad_explore_options){.runs = 150, .seed = 1, .fair_only = fair});
        assert_true(x.held > 0);
        assert_int_equal(x.finding_count, !fair);
        rad_exploration_free(&x);
    }
}

static void no_fair_schedule_has_it(void **state)
{
    (void)state;
    rad_target t = sleeper(false, 20, 1);
    rad_exploration x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1, .fair_only = true});
    assert_true(x.complete && x.held > 0 && x.phase_count == 1);
    assert_int_equal(x.failures, 0);
    rad_exploration_free(&x);
}

/* ---- Clean ------------------------------------------------------------------------------------------------ */

static void the_verdict_says_how_far_loops_went(void **state)
{
    static const char *const says[] = {
        ". Besides, they continued to their end with at most 2 preemptions.",
        ". Besides, they continued to their end with at most 1 preemption, for up to 16 rounds with at most 2.",
    };
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        char text[RAD_STATEMENT_MAX];
        rad_target t = sleeper(true, rounds[i / 2], i % 2);
        rad_exploration x = explored(&t, (rad_explore_options){.strategy = i < 2 ? "auto" : "dfs", .seed = 1});
        rad_exploration_text(&t, &x, text);
        assert_int_equal(x.failures, 0);
        assert_true(x.complete);
        if (strstr(text, says[i / 2]) == NULL || strstr(text, "; every fair schedule was tried") == NULL)
            fail_msg("%s", text);
        rad_exploration_free(&x);
    }
}

/* With so many rounds for all runs nobody is ever held back, and every schedule is one. */
static void with_enough_rounds_every_schedule_is_tried(void **state)
{
    char text[RAD_STATEMENT_MAX];
    (void)state;
    rad_target t = sleeper(true, 5, 1);
    t.c.spin_rounds = 5;
    rad_exploration x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
    rad_exploration_text(&t, &x, text);
    assert_true(x.complete && x.held == 0);
    assert_non_null(strstr(text, "; every schedule was tried"));
    assert_null(strstr(text, "fair"));
    rad_exploration_free(&x);
    t.c.spin_rounds = 2;
    x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
    rad_exploration_text(&t, &x, text);
    assert_non_null(strstr(text, "; after 2 rounds of a loop fair schedules only. In "));
    rad_exploration_free(&x);
}

/* Six rounds of two looks: the sixth look is the first that repeats two others, seven do, and these are four rounds. */
static void a_round_of_looks_counts_once(void **state)
{
    (void)state;
    for (uint32_t enough = 0; enough < 2; enough++) {
        rad_target t = sleeper(true, 6, LOOKS_TWICE);
        t.c.spin_rounds = 3 + enough;
        rad_exploration x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
        assert_true(x.complete);
        assert_int_equal(x.held == 0, enough);
        rad_exploration_free(&x);
    }
}

/* Of a loop of five rounds the last yield may keep to the rule: nobody was starved since another one. */
static void each_round_lets_nobody_go_first(void **state)
{
    (void)state;
    for (uint32_t enough = 0; enough < 2; enough++) {
        rad_target t = sleeper(true, 5, YIELDS);
        t.c.spin_rounds = 3 + enough;
        rad_exploration x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
        assert_true(x.complete);
        assert_int_equal(x.held == 0, enough);
        rad_exploration_free(&x);
    }
}

static void assert_searches(const rad_exploration *x, const char *const *names)
{
    uint32_t count = 0;
    for (; names[count]; count++) {
        assert_true(count < x->phase_count);
        assert_string_equal(x->phases[count].name, names[count]);
    }
    assert_int_equal(x->phase_count, count);
}

/* More rounds are tried only where fewer were used up, more preemptions also where they were not; and more rounds also
 * where no preemption was left out: a store has room for none. */
static void what_adds_nothing_is_not_tried(void **state)
{
    static const char *const all_used[] = {"dfs", "preempt:0+spin:16", "preempt:1+spin:16", "preempt:2+spin:16", NULL};
    static const char *const one_store[] = {
        "dfs", "preempt:0+spin:16", "preempt:0+spin:128", "preempt:1+spin:16", "preempt:1+spin:128", NULL};
    (void)state;
    rad_target t = sleeper(true, 5, YIELDS);
    rad_exploration x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
    assert_searches(&x, all_used);
    rad_exploration_free(&x);
    t = sleeper(true, 50, ONLY_LOOKS);
    x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
    assert_searches(&x, one_store);
    rad_exploration_free(&x);
}

/* A search that had to cut a run has not tried everything, though it came to its end. */
static void nothing_is_said_of_a_search_that_cut_runs(void **state)
{
    char text[RAD_STATEMENT_MAX];
    (void)state;
    rad_target t = sleeper(true, 5, YIELDS);
    rad_exploration x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
    rad_exploration_text(&t, &x, text);
    assert_non_null(strstr(text, "they continued to their end with at most 2 preemptions"));
    for (uint32_t i = 0; i < x.phase_count; i++) x.phases[i].endless |= x.phases[i].preemptions == 2;
    rad_exploration_text(&t, &x, text);
    assert_non_null(strstr(text, "they continued to their end with at most 1 preemption."));
    rad_exploration_free(&x);
}

/* A run that is cut soon leaves less room. */
static void short_runs_have_fewer_rounds(void **state)
{
    (void)state;
    rad_target t = sleeper(true, 1000, YIELDS);
    t.c.max_steps = 3200;
    rad_exploration x = explored(&t, (rad_explore_options){.strategy = "dfs", .seed = 1});
    assert_true(x.complete && x.phase_count > 2);
    for (uint32_t i = 1; i < x.phase_count; i++) assert_in_range(x.phases[i].spin_rounds, 1, 32);
    rad_exploration_free(&x);
}

/* What is cut because loops continued does not count: the fair runs have ended. Nothing is said of such a search. */
static void runs_that_are_too_long_for_their_rounds_do_not_count(void **state)
{
    char text[RAD_STATEMENT_MAX];
    uint64_t cut = 0;
    (void)state;
    rad_target t = sleeper(true, 1000, YIELDS);
    t.c.params[WAITERS] = 50;
    t.c.max_steps = 1500;
    rad_exploration x = explored(&t, (rad_explore_options){.seed = 1, .runs = 300});
    rad_exploration_text(&t, &x, text);
    for (uint32_t i = 0; i < x.phase_count; i++) cut += x.phases[i].cut;
    assert_true(cut > 0);
    assert_int_equal(x.cut, 0);
    assert_null(strstr(text, "cut"));
    assert_null(strstr(text, "they continued"));
    rad_exploration_free(&x);
}

/* ---- The same, whatever the budget and the number of processes --------------------------------------------- */

static void the_first_failure_has_its_run(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        rad_target t = sleeper(false, i ? 100 : 20, i);
        uint64_t first = UINT64_MAX;
        for (uint32_t way = 0; way < 6; way++) {
            rad_explore_options o = {.seed = 3, .runs = way < 3 ? 1000 : 20000, .jobs = 1 + way % 3};
            o.stop_on_first = way == 5;
            rad_exploration x = explored(&t, o);
            assert_int_equal(x.finding_count, 1);
            if (way > 0) assert_int_equal(x.findings[0].run, first);
            first = x.findings[0].run;
            rad_exploration_free(&x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_ends_comes_to_its_end),
        cmocka_unit_test(a_long_turn_goes_on_too),
        cmocka_unit_test(no_fair_schedule_has_it),
        cmocka_unit_test(the_verdict_says_how_far_loops_went),
        cmocka_unit_test(with_enough_rounds_every_schedule_is_tried),
        cmocka_unit_test(a_round_of_looks_counts_once),
        cmocka_unit_test(each_round_lets_nobody_go_first),
        cmocka_unit_test(what_adds_nothing_is_not_tried),
        cmocka_unit_test(nothing_is_said_of_a_search_that_cut_runs),
        cmocka_unit_test(short_runs_have_fewer_rounds),
        cmocka_unit_test(runs_that_are_too_long_for_their_rounds_do_not_count),
        cmocka_unit_test(the_first_failure_has_its_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
