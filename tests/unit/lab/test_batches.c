/* test_batches.c — decisions and policies, batches of samples, trees and scripts, and the processes behind them: what
 * counts when one dies, hangs or is slow. Replay, shrinking and stories are in test_replay.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/batch.h"
#include "lab/script.h"
#include "lab/strategy.h"
#include "os/fault.h"
#include "os/process.h"
#include "patience_support.h"
#include "rig_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs, uint32_t jobs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 1, .jobs = jobs, .hang_seconds = 0.3};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s: %s", strategy, error.text);
    return e;
}

static bool has_identity(const rad_exploration *e, const char *identity)
{
    for (uint32_t i = 0; i < e->finding_count; i++)
        if (strcmp(rad_artifact_verdict(e->findings[i].artifact)->identity, identity) == 0) return true;
    return false;
}

static void *shared_page(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    return page;
}

/* Two actors, each with one action, which never end by themselves. */
static void pair_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "thing");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

/* One actor with one action. */
static void single_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "thing");
    p->actions[0] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
    rad_enable(k, p->actions[0]);
}

/* ---- Decisions -------------------------------------------------------------------------------------- */

static void yield_at_500(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p, (void)action;
    if (k->step == 500) rad_yields(k);
}

/* Whoever yields and is chosen all the same has RAD_BASELINE_STREAK turns before it. */
static void after_a_yield_the_streak_begins_anew(void **state)
{
    (void)state;
    puppet p = {.reset = pair_reset, .step = yield_at_500};
    bare_rig b;
    witness eye;
    uint32_t list[502] = {[501] = 1}; /* the baseline would go to the other one */
    witness_open(&eye);
    bare_open(&b, &puppet_machine, &p, 2000);
    b.observer = &eye.observer;
    b.max_steps = 1600;
    assert_int_equal(bare_guide(&b, list, 502), RAD_OUTCOME_CUT);
    assert_int_equal(eye.baselines[501], p.actions[1]);
    for (uint32_t i = 502; i <= 500 + RAD_BASELINE_STREAK; i++) assert_int_equal(eye.baselines[i], p.actions[0]);
    assert_int_equal(eye.baselines[501 + RAD_BASELINE_STREAK], p.actions[1]);
    bare_close(&b);
}

static void picking_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    rad_pick(k, RAD_PICK_VALUE, 0, 3);
    rad_pick(k, RAD_PICK_VALUE, 0, 3);
    if (k->step == 39) rad_disable(k, action);
}

/* The same sets all along, and one value drawn differently. */
static void the_rolling_hash_tells_choices_apart(void **state)
{
    (void)state;
    puppet p = {.reset = single_reset, .step = picking_step};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 100);
    uint64_t rolls[3], hashes[3];
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t list[] = {0, 0, i};
        assert_int_equal(bare_guide(&b, list, 3), RAD_OUTCOME_FINISHED);
        assert_int_equal(b.kernel->set_hash_count, 1);
        rolls[i] = b.kernel->set_roll;
        hashes[i] = b.kernel->set_hashes[0];
    }
    assert_true(rolls[0] != rolls[1] && rolls[1] != rolls[2] && rolls[0] != rolls[2]);
    assert_true(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    bare_close(&b);
}

/* Actor 0 has actions 0 and 1, actor 1 has action 2. */
static void double_reset(puppet *p, rad_kernel *k)
{
    uint32_t first = rad_actor(k, RAD_NONE, "one"), second = rad_actor(k, RAD_NONE, "one");
    for (uint32_t i = 0; i < 3; i++) {
        p->actions[i] = rad_action(k, i, i < 2 ? first : second, RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void double_check(puppet *p, rad_kernel *k)
{
    (void)p;
    for (uint32_t a = 0; a < k->actor_count; a++)
        if (rad__actor_action(k, a) != rad__enabled_newest_of(k, a))
            rad_fail(k, RAD_ORACLE_INVARIANT, RAD_NONE, "another one is newer");
}

/* What ran is the newest: the baseline goes on with it, whatever else the actor has. */
static void an_actor_goes_on_with_the_action_it_ran(void **state)
{
    (void)state;
    puppet p = {.reset = double_reset, .check = double_check};
    bare_rig b;
    witness eye;
    witness_open(&eye);
    bare_open(&b, &puppet_machine, &p, 100);
    b.observer = &eye.observer;
    b.max_steps = 20;
    assert_int_equal(bare_guide(&b, (uint32_t[]){0, 0, 1, 0, 2, 0, 1, 1}, 8), RAD_OUTCOME_CUT);
    for (uint32_t i = 1; i < 20; i++) assert_int_equal(eye.baselines[i], eye.actions_run[i - 1]);
    bare_close(&b);
}

/* ---- Policies --------------------------------------------------------------------------------------- */

static void estimates_remember_the_longest_run(void **state)
{
    (void)state;
    rad_estimates sum = {0}, longer = {.runs = 1, .chances_max = 9};
    rad_estimates shorter = {.runs = 1, .chances_max = 5};
    rad__estimates_fold(&sum, &shorter);
    rad__estimates_fold(&sum, &longer);
    rad__estimates_fold(&sum, &shorter);
    assert_int_equal(sum.runs, 3);
    assert_int_equal(sum.chances_max, 9);
    rad__estimates_free(&sum);
}

/* Thread 1 makes one step, thread 0 fifteen, on nothing; threads 2 and 3 share a cell. Where the events on the
 * cell are selected everything else goes by random ranks: thread 1 comes after j steps of thread 0 once in
 * (j + 1) * (j + 2) runs, so after 8 to 14 of them in 0.049 of all. Where all are selected, each j is as frequent as
 * any other: 7/16. */
static void surw_selects_all_events_now_and_then(void **state)
{
    (void)state;
    weave w = weave_writers(4, 1);
    for (uint32_t i = 0; i < 15; i++) w.ops[0][i] = (weave_op){.access = RAD_LOCAL};
    w.ops[1][0] = w.ops[0][0];
    w.count[0] = 15;
    bare_rig b;
    rad_estimates known = {0};
    bare_open(&b, &weave_machine, &w, 100);
    rad_policy *p = policy_named("surw");
    uint32_t late = 0, last = 0;
    for (uint64_t run = 0; run <= 2000; run++) {
        rad_run_options options = bare_options(&b, p);
        if (run == 0) options.into = &known;
        if (run > 0) options.info = (rad_run_info){.seed = 8, .run = run, .estimates = &known};
        assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
        uint32_t of_first = 0, i = 0;
        for (; w.order[i] != 1; i++) of_first += w.order[i] == 0;
        late += run > 0 && of_first >= 8 && of_first <= 14;
        last += run > 0 && of_first == 15;
    }
    assert_in_range(late, 150, 240); /* 2000 * (0.049 * 7/8 + 7/16 / 8) = 194; 97 if all were never selected */
    assert_in_range(last, 90, 160);  /* 2000 / 16; a plain random walk nearly never does that */
    rad__policy_destroy(p);
    rad__estimates_free(&known);
    bare_close(&b);
}

/* Two values in each step, all told apart from each other and from the baseline. */
static void a_script_gives_every_step_its_own_picks(void **state)
{
    (void)state;
    static const uint32_t picks[] = {1, 2, 2, 1, 2, 0, 1, 1};
    static const rad_script_step cues[] = {{0, 0, 2}, {0, 2, 2}, {0, 6, 1}, {0, 4, 2}, {0, 7, 1}};
    static const uint32_t expected[] = {1, 2, 2, 1, 1, 0, 2, 0, 1, 0, 0, 0};
    puppet p = {.reset = single_reset, .step = picking_step};
    bare_rig b;
    rad_policy *script = NULL;
    rad_error error = {0};
    bare_open(&b, &puppet_machine, &p, 100);
    assert_int_equal(rad__policy_script(&script, &error), 0);
    rad__script_set(script, cues, 5, picks, 8);
    rad_run_options options = bare_options(&b, script);
    assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
    for (uint32_t i = 0; i < 12; i++) assert_int_equal(b.choices[i].chosen, expected[i]);
    rad__policy_destroy(script);
    bare_close(&b);
}

/* ---- Trees ------------------------------------------------------------------------------------------ */

static bool walk_prunes(const rad_batch *u, const rad_choice *run, uint64_t count)
{
    rad_choice copy[4];
    bool pruned = false;
    memcpy(copy, run, count * sizeof *run);
    while (rad__tree_advance(copy, &count, u->floor, u->bound, u->bound_limit, &pruned)) {
    }
    return pruned;
}

/* No preemption allowed; decision 0 is one, decision 1 is free. One of the two pieces must say that something
 * was cut off. */
static void a_tree_cut_in_two_still_says_what_the_bound_cut_off(void **state)
{
    (void)state;
    rad_choice path[] = {{.count = 2, .flags = RAD_CHOICE_PREEMPTIBLE}, {.count = 2}, {.count = 2}};
    rad_batch u = {.kind = RAD_BATCH_TREE, .bound = RAD_BOUND_PREEMPTIONS, .path = path};
    rad_batch other;
    u.path_count = 3;
    assert_true(walk_prunes(&u, path, 3));
    assert_true(rad__tree_split(&u, &other));
    assert_int_equal(other.path_count, 2);
    assert_true(walk_prunes(&u, path, 3) || walk_prunes(&other, other.path, other.path_count));
    rad__free(other.path);
}

static void late_second_reset(puppet *p, rad_kernel *k)
{
    pair_reset(p, k);
    rad_disable(k, p->actions[1]);
}

static void late_second_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)action;
    if (k->step == 0) rad_enable(k, p->actions[1]);
    if (k->step == 1) raise(SIGABRT);
}

/* The only run without preemptions dies, and its second decision had another way to go. */
static void a_run_that_died_still_says_what_the_bound_cut_off(void **state)
{
    (void)state;
    puppet p = {.reset = late_second_reset, .step = late_second_step};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "preempt:0", 100, 1);
    assert_int_equal(e.runs, 1);
    assert_true(e.phases[0].exhausted && e.phases[0].pruned);
    assert_false(e.complete);
    rad_exploration_free(&e);
    e = explored(&t, "preempt:5", 100, 1);
    assert_int_equal(e.phase_count, 2);
    assert_true(e.complete);
    rad_exploration_free(&e);
}

/* From the start (0), actor 0 draws one of 1026 numbers: below 1024 is the end, which fills one unit; 1024
 * leads back to the start and offers the turn; 1025 dies. Actor 1 leads on to place 1, where it ends well and
 * actor 0 fails. */
static void places_reset(puppet *p, rad_kernel *k)
{
    pair_reset(p, k);
    p->number = 0;
}

static void places_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t who = action == p->actions[1];
    bool end = p->number == 1;
    if (end && who == 0) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "behind the death");
    if (!end && who == 1) p->number = 1;
    if (!end && who == 0) {
        uint32_t drawn = rad_pick(k, RAD_PICK_VALUE, 0, 1026);
        if (drawn == 1025) raise(SIGABRT);
        rad_yields(k);
        end = drawn < 1024;
    }
    if (!end) return;
    rad_disable(k, p->actions[0]);
    rad_disable(k, p->actions[1]);
}

static void number_state(const void *self, rad_state_hash *h)
{
    rad_state_add(h, &((const puppet *)self)->number, sizeof(uint64_t));
}

/* The first run of the second unit ends in a known state, the second one dies. Done again in a new process the
 * first one goes further than before; what it meets there must not count as explored. */
static void dedup_loses_nothing_when_the_second_run_of_a_unit_dies(void **state)
{
    (void)state;
    static rad_machine m;
    puppet p = {.reset = places_reset, .step = places_step};
    rad_target t = puppet_target(&p);
    m = puppet_machine;
    m.state = number_state;
    t.machine = &m;
    rad_exploration e = explored(&t, "dedup", 5000, 1);
    assert_true(has_identity(&e, "crash:SIGABRT"));
    assert_true(has_identity(&e, "assertion:thing@behind the death"));
    rad_exploration_free(&e);
}

static void cut_off_at_the_step_limit_is_not_tried_to_the_end(void **state)
{
    (void)state;
    puppet p = {.reset = pair_reset};
    rad_target t = puppet_target(&p);
    t.c.max_steps = 4;
    rad_exploration e = explored(&t, "dfs", 1000, 1);
    assert_int_equal(e.runs, 16);
    assert_int_equal(e.failures, 0);
    assert_int_equal(e.cut, 16);
    assert_int_equal(e.phases[0].cut, 16);
    assert_true(rad_exploration_all_cut(&e));
    assert_true(e.phases[0].exhausted && e.phases[0].endless);
    assert_false(e.complete);
    rad_exploration_free(&e);
}

static void circle_step(puppet *p, rad_kernel *k, uint32_t action)
{
    p->number = (p->number + (action == p->actions[0] ? 1 : 2)) % 3;
    if (k->step > 500) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "for ever");
}

static void going_in_circles_is_not_tried_to_the_end(void **state)
{
    (void)state;
    static rad_machine m;
    puppet p = {.reset = places_reset, .step = circle_step};
    rad_target t = puppet_target(&p);
    m = puppet_machine;
    m.state = number_state;
    t.machine = &m;
    rad_exploration e = explored(&t, "dedup", 1000, 1);
    assert_int_equal(e.failures, 0);
    assert_true(e.phases[0].exhausted && e.phases[0].endless);
    assert_false(e.complete);
    rad_exploration_free(&e);
}

/* ---- Phases ----------------------------------------------------------------------------------------- */

/* The parts of the portfolio, as docs/cli.md has them: after `budget` runs. `bounds` are the runs of each bound. */
static void documented_turns(uint64_t budget, const rad_exploration *bounds, uint64_t runs[5 + RAD_PHASES_MAX])
{
    static const uint64_t shares[] = {1, 2, 6, 2, 2, 4};
    memset(runs, 0, (5 + RAD_PHASES_MAX) * sizeof *runs);
    uint64_t left = budget, bound = 0;
    for (uint32_t round = 0; left > 0; round++) {
        for (uint32_t part = round > 0; part < 6 && left > 0; part++) {
            uint64_t turn = shares[part] << round;
            if (turn > left) turn = left;
            if (part < 5) {
                runs[part] += turn;
                left -= turn;
            }
            while (part == 5 && turn > 0 && bound < bounds->phase_count) {
                uint64_t rest = bounds->phases[bound].runs - runs[5 + bound], now = rest < turn ? rest : turn;
                runs[5 + bound] += now;
                left -= now;
                turn -= now;
                bound += now == rest;
            }
            if (bound == bounds->phase_count) return; /* everything was tried */
        }
    }
}

/* Whatever the number of processes, with budgets in a row: a batch of a search that another process did early, or that
 * the budget cuts short, is not folded beyond the turn, not by a single run. */
static void each_run_is_of_the_phase_whose_turn_it_is(void **state)
{
    static const char *const machines[] = {"n=2 k=3", "n=4 k=1"};
    static const uint32_t jobs[] = {1, 2, 4};
    enum { FIRST = 36, BUDGETS = 16, JOBS = 3, ALL = 2 * BUDGETS * JOBS };
    (void)state;
    for (uint32_t i = 0; i < ALL; i++) {
        uint64_t budget = FIRST + i / JOBS % BUDGETS, runs[5 + RAD_PHASES_MAX], all = 0;
        rad_target t;
        rad_error error = {0};
        assert_int_equal(rad_target_init(&t, "inc", &error), 0);
        assert_int_equal(rad_target_set(&t, machines[i / (BUDGETS * JOBS)], &error), 0);
        rad_exploration bounds = explored(&t, "preempt:20", 100000, 1);
        documented_turns(budget, &bounds, runs);
        rad_exploration e = explored(&t, "auto", budget, jobs[i % JOBS]);
        for (uint32_t phase = 0; phase < e.phase_count; phase++) {
            assert_int_equal(e.phases[phase].runs, runs[phase]);
            all += runs[phase];
        }
        assert_int_equal(e.runs, all);
        rad_exploration_free(&e);
        rad_exploration_free(&bounds);
    }
}

/* What the phases before it learned is not its own. */
static void a_phase_of_the_portfolio_is_the_strategy_alone(void **state)
{
    (void)state;
    rad_target t = target_of("bluetooth", NULL);
    rad_exploration all = explored(&t, "auto", 1600, 1), alone;
    for (uint32_t i = 1; i < 4; i++) {
        alone = explored(&t, all.phases[i].name, all.phases[i].runs, 1);
        assert_int_equal(alone.runs, all.phases[i].runs);
        assert_int_equal(alone.failures, all.phases[i].failures);
        assert_true(alone.failures > 0 && alone.failures < alone.runs);
        rad_exploration_free(&alone);
    }
    rad_exploration_free(&all);
}

/* ---- Twice ------------------------------------------------------------------------------------------ */

enum again { AGAIN_VALUE, AGAIN_SHORTER, AGAIN_LONGER, AGAIN_FAILS };

static uint32_t again_resets; /* every second run is another one, which no machine may do */

static void again_reset(puppet *p, rad_kernel *k)
{
    again_resets++;
    pair_reset(p, k);
}

static void again_step(puppet *p, rad_kernel *k, uint32_t action)
{
    bool second = again_resets % 2 == 0;
    uint64_t last = 5;
    (void)action;
    if (p->number == AGAIN_VALUE && second && k->step == 3) rad_value(k, 7);
    if (p->number == AGAIN_SHORTER && second) last = 2;
    if (p->number == AGAIN_LONGER && !second) last = 2;
    if (p->number == AGAIN_FAILS && second && k->step == last)
        rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "only now");
    if (k->step < last) return;
    rad_disable(k, p->actions[0]);
    rad_disable(k, p->actions[1]);
}

static void twice_names_the_first_step_that_differs(void **state)
{
    static const uint64_t steps[] = {[AGAIN_VALUE] = 3, [AGAIN_SHORTER] = 3, [AGAIN_LONGER] = 3, [AGAIN_FAILS] = 5};
    (void)state;
    for (uint32_t how = AGAIN_VALUE; how <= AGAIN_FAILS; how++) {
        puppet p = {.reset = again_reset, .step = again_step, .number = how};
        rad_target t = puppet_target(&p);
        rad_exploration e;
        rad_error error = {0};
        rad_explore_options o = {.strategy = "random", .runs = 1, .twice = true};
        again_resets = 0;
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        assert_int_equal(e.finding_count, 1);
        const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
        assert_string_equal(v->identity, "nondeterminism");
        assert_int_equal(v->failure_step, steps[how]);
        rad_exploration_free(&e);
    }
}

static void unnamed_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)action;
    if (again_resets % 2 == 0) rad_fail(k, RAD_ORACLE_OWN, RAD_NONE, "only now");
    rad_disable(k, p->actions[0]);
    rad_disable(k, p->actions[1]);
}

/* The same trace, and an oracle whose name is as empty as the identity of a run that passes. */
static void twice_sees_a_failure_without_a_name(void **state)
{
    static const char *const oracles[] = {"", NULL};
    static rad_machine m;
    (void)state;
    puppet p = {.reset = again_reset, .step = unnamed_step};
    rad_target t = puppet_target(&p);
    m = puppet_machine;
    m.oracles = oracles;
    t.machine = &m;
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = "random", .runs = 1, .twice = true};
    again_resets = 0;
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_int_equal(e.failures, 1);
    assert_true(has_identity(&e, "nondeterminism"));
    rad_exploration_free(&e);
}

/* ---- Slow runs -------------------------------------------------------------------------------------- */

static void burn_cpu(uint64_t ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < (long)ms);
}

static void busy_step(puppet *p, rad_kernel *k, uint32_t action)
{
    burn_cpu(30);
    if (k->step == p->number) rad_disable(k, action);
}

/* 30 ms a step, 300 ms allowed, and 360 ms in all. */
static void many_busy_steps_are_no_hang(void **state)
{
    (void)state;
    puppet p = {.reset = single_reset, .step = busy_step, .number = 11};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "first", 1, 1);
    assert_int_equal(e.runs, 1);
    assert_int_equal(e.failures, 0);
    rad_exploration_free(&e);
}

static void many_busy_runs_of_one_step_are_no_hang(void **state)
{
    (void)state;
    puppet p = {.reset = single_reset, .step = busy_step, .number = 0};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "random", 12, 1);
    assert_int_equal(e.runs, 12);
    assert_int_equal(e.failures, 0);
    rad_exploration_free(&e);
}

static volatile uint32_t *slow_run; /* shared: how many runs there were; 0 = nobody is slow */

static void slow_reset(puppet *p, rad_kernel *k)
{
    pair_reset(p, k);
    p->number = 0;
    if (*slow_run && ++*slow_run == 3) usleep(150 * 1000);
}

static void slow_step(puppet *p, rad_kernel *k, uint32_t action)
{
    p->number = p->number * 2 + (action == p->actions[1]);
    if (k->step == 9 && (p->number & 7) == 5) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "some end so");
    if (k->step < 69) return;
    rad_disable(k, p->actions[0]);
    rad_disable(k, p->actions[1]);
}

/* A unit that takes too long ends early: the runs it leaves are done by another. */
static void a_slow_run_does_not_cost_the_runs_after_it(void **state)
{
    (void)state;
    slow_run = shared_page();
    puppet p = {.reset = slow_reset, .step = slow_step};
    rad_target t = puppet_target(&p);
    rad_exploration fast = explored(&t, "random", 50, 1);
    *slow_run = 1;
    rad_exploration slow = explored(&t, "random", 50, 1);
    assert_int_equal(slow.runs, 50);
    assert_true(fast.failures > 1 && fast.failures < 50);
    assert_same_exploration(&fast, &slow);
    rad_exploration_free(&fast);
    rad_exploration_free(&slow);
    munmap((void *)slow_run, 4096);
}

/* ---- Processes -------------------------------------------------------------------------------------- */

static void suicide_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[1]) raise(SIGKILL);
    rad_disable(k, action);
}

static void give_up(void *context, const rad_progress *progress)
{
    if (progress->elapsed > PATIENCE_SECONDS) *(volatile int *)context = 1;
}

/* One kill may come from outside and is done again; one that always comes is the machine's. */
static void a_machine_that_always_kills_itself_has_failed(void **state)
{
    (void)state;
    volatile int stop = 0;
    puppet p = {.reset = pair_reset, .step = suicide_step};
    rad_target t = puppet_target(&p);
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {
        .strategy = "dfs", .runs = 100, .progress = give_up, .context = (void *)&stop, .interrupted = &stop};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_false(e.interrupted);
    assert_int_equal(e.runs, 2);
    assert_int_equal(e.failures, 2);
    assert_int_equal(e.finding_count, 1);
    assert_true(has_identity(&e, "crash:SIGKILL"));
    rad_exploration_free(&e);
}

static void failing_host_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    rad_disable(k, action);
    rad__os_fail_at(1); /* from here on, in this process */
}

/* A worker that cannot answer is a lack of resources, not a bug of the machine. */
static void a_worker_that_cannot_answer_is_an_error_and_no_finding(void **state)
{
    (void)state;
    puppet p = {.reset = single_reset, .step = failing_host_step};
    rad_target t = puppet_target(&p);
    rad_exploration e = {0};
    rad_error error = {0};
    rad_explore_options o = {.strategy = "first", .runs = 1};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), RAD_ENOMEM);
    assert_int_equal(e.finding_count, 0);
}

typedef struct orphan {
    int ends[2];
    volatile int pid;
} orphan;

static int orphan_lives(void *context)
{
    orphan *o = context;
    patience_limit_child(); /* whatever happens, not for ever */
    o->pid = getpid();
    for (;;) pause();
    return 0;
}

static void a_killed_parent_leaves_no_children(void **state)
{
    (void)state;
    orphan *o = shared_page();
    assert_int_equal(pipe(o->ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        int pid = 0;
        rad_error error = {0};
        if (rad__os_fork(&pid, o, orphan_lives, &error) != 0) _exit(1);
        while (o->pid == 0) usleep(1000);
        raise(SIGKILL);
    }
    int how = 0;
    bool ended = false;
    rad_error error = {0};
    close(o->ends[1]); /* the other copies go with the two processes */
    assert_int_equal(waitpid(parent, &how, 0), parent);
    assert_true(WIFSIGNALED(how));
    rad__os_poll(&o->ends[0], 1, PATIENCE_SECONDS * 1000, &ended, &error);
    if (!ended) kill(o->pid, SIGKILL);
    close(o->ends[0]);
    munmap(o, 4096);
    assert_true(ended);
}

/* In the first pass nobody is slow; a run dies; when the runs before it are done again, one of them is. */
static volatile uint32_t *redone; /* shared: [0] a run has died, [1] resets since, [2] slow at all */

static void redone_reset(puppet *p, rad_kernel *k)
{
    pair_reset(p, k);
    p->number = 0;
    if (redone[2] && redone[0] && ++redone[1] == 3) usleep(150 * 1000);
}

static void redone_step(puppet *p, rad_kernel *k, uint32_t action)
{
    p->number = p->number * 2 + (action == p->actions[1]);
    if (k->step == 5 && p->number == 41) {
        redone[0] = 1;
        raise(SIGABRT);
    }
    if (k->step < 5) return;
    rad_disable(k, p->actions[0]);
    rad_disable(k, p->actions[1]);
}

static void a_slow_repetition_before_a_death_costs_no_runs(void **state)
{
    static const char *const strategies[] = {"dfs", "random"};
    (void)state;
    redone = shared_page();
    puppet p = {.reset = redone_reset, .step = redone_step};
    rad_target t = puppet_target(&p);
    for (uint32_t i = 0; i < 2; i++) {
        redone[0] = redone[1] = redone[2] = 0;
        rad_exploration fast = explored(&t, strategies[i], 100, 1);
        redone[0] = 0;
        redone[2] = 1;
        rad_exploration slow = explored(&t, strategies[i], 100, 1);
        assert_int_equal(fast.runs, i ? 100 : 64);
        assert_same_exploration(&fast, &slow);
        rad_exploration_free(&fast);
        rad_exploration_free(&slow);
    }
    munmap((void *)redone, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_repetition_before_a_death_costs_no_runs),
        cmocka_unit_test(after_a_yield_the_streak_begins_anew),
        cmocka_unit_test(the_rolling_hash_tells_choices_apart),
        cmocka_unit_test(an_actor_goes_on_with_the_action_it_ran),
        cmocka_unit_test(estimates_remember_the_longest_run),
        cmocka_unit_test(surw_selects_all_events_now_and_then),
        cmocka_unit_test(a_script_gives_every_step_its_own_picks),
        cmocka_unit_test(a_tree_cut_in_two_still_says_what_the_bound_cut_off),
        cmocka_unit_test(a_run_that_died_still_says_what_the_bound_cut_off),
        cmocka_unit_test(dedup_loses_nothing_when_the_second_run_of_a_unit_dies),
        cmocka_unit_test(cut_off_at_the_step_limit_is_not_tried_to_the_end),
        cmocka_unit_test(going_in_circles_is_not_tried_to_the_end),
        cmocka_unit_test(a_phase_of_the_portfolio_is_the_strategy_alone),
        cmocka_unit_test(each_run_is_of_the_phase_whose_turn_it_is),
        cmocka_unit_test(twice_names_the_first_step_that_differs),
        cmocka_unit_test(twice_sees_a_failure_without_a_name),
        cmocka_unit_test(many_busy_steps_are_no_hang),
        cmocka_unit_test(many_busy_runs_of_one_step_are_no_hang),
        cmocka_unit_test(a_slow_run_does_not_cost_the_runs_after_it),
        cmocka_unit_test(a_machine_that_always_kills_itself_has_failed),
        cmocka_unit_test(a_worker_that_cannot_answer_is_an_error_and_no_finding),
        cmocka_unit_test(a_killed_parent_leaves_no_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
