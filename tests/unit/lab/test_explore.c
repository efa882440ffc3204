/* test_explore.c — many runs: exact counts, bounds, dedup, classes, budgets, and results that do not depend
 * on the number of workers. Runs that die are in test_death.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "lab/batch.h"
#include "lab/machines/toys/vm.h"
#include "lab/strategy.h"
#include "rig_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs, uint32_t jobs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 3, .jobs = jobs};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    return e;
}

static const rad_phase *last_phase(const rad_exploration *e)
{
    return &e->phases[e->phase_count - 1];
}

/* ---- Counts ----------------------------------------------------------------------------------------- */

static void dfs_visits_exactly_the_interleavings_counted_by_hand(void **state)
{
    static const struct {
        uint32_t n, k;
        uint64_t runs;
    } table[] = {{2, 1, 2}, {2, 2, 6},  {2, 3, 20},   {2, 4, 70}, {2, 5, 252},
                 {3, 1, 6}, {3, 2, 90}, {3, 3, 1680}, {4, 1, 24}, {4, 2, 2520}};
    static const char *const machines[] = {"inc", "independent"};
    (void)state;
    for (uint32_t i = 0; i < 2 * sizeof table / sizeof *table; i++) {
        char words[40];
        uint32_t row = i / 2;
        snprintf(words, sizeof words, "n=%u k=%u", table[row].n, table[row].k);
        rad_target t = target_of(machines[i % 2], words);
        rad_exploration e = explored(&t, "dfs", 100000, 1 + i % 3);
        assert_int_equal(multinomial(table[row].n, table[row].k), table[row].runs);
        assert_int_equal(e.runs, table[row].runs);
        assert_int_equal(e.steps, table[row].runs * table[row].n * table[row].k);
        assert_int_equal(e.failures, 0);
        assert_true(e.complete && last_phase(&e)->exhausted && !last_phase(&e)->pruned);
        /* One actor after the other in every class, or one class in all. */
        assert_int_equal(e.classes, i % 2 ? 1 : table[row].runs);
        rad_exploration_free(&e);
    }
}

static void classes_tell_conflicting_orders_and_only_those(void **state)
{
    (void)state;
    weave w = weave_writers(3, 1); /* two writers and a reader of one location: six orders */
    w.ops[2][0].access = RAD_READ;
    rad_target t = weave_target(&w);
    rad_exploration e = explored(&t, "dfs", 1000, 1);
    assert_int_equal(e.runs, 6);
    assert_int_equal(e.classes, 6);
    rad_exploration_free(&e);
    w.ops[1][0].access = RAD_READ; /* two readers: before both, after both, or either between */
    e = explored(&t, "dfs", 1000, 1);
    assert_int_equal(e.classes, 4);
    rad_exploration_free(&e);
    w.ops[0][0].access = RAD_READ;
    e = explored(&t, "dfs", 1000, 1);
    assert_int_equal(e.classes, 1);
    rad_exploration_free(&e);
    w.threads = 1; /* choices inside a step are part of the class */
    w.ops[0][0] = (weave_op){.what = WEAVE_PICK, .argument = 5};
    e = explored(&t, "dfs", 1000, 1);
    assert_int_equal(e.runs, 5);
    assert_int_equal(e.classes, 5);
    rad_exploration_free(&e);
}

/* ---- Bounds against brute force ----------------------------------------------------------------------- */

static void bound_agrees(const rad_target *t, const leaves *l, bool delays, uint64_t limit, uint32_t jobs)
{
    char strategy[24];
    snprintf(strategy, sizeof strategy, "%s:%d", delays ? "delay" : "preempt", (int)limit);
    rad_exploration e = explored(t, strategy, 1000000, jobs);
    for (uint32_t phase = 0; phase < e.phase_count; phase++) {
        uint64_t within = 0, failing = 0, beyond = 0;
        for (uint32_t i = 0; i < l->count; i++) {
            uint64_t cost = delays ? l->items[i].delays : l->items[i].preemptions;
            within += cost <= phase;
            failing += cost <= phase && l->items[i].failed;
            beyond += cost > phase;
        }
        assert_int_equal(e.phases[phase].runs, within);
        assert_int_equal(e.phases[phase].failures, failing);
        assert_int_equal(e.phases[phase].pruned, beyond > 0);
        assert_true(e.phases[phase].exhausted && e.phases[phase].bounded);
        if (phase + 1 < e.phase_count) assert_true(beyond > 0); /* a row ends when nothing is cut off */
        if (phase + 1 == e.phase_count && phase < limit) assert_int_equal(beyond, 0);
    }
    assert_int_equal(e.complete, !last_phase(&e)->pruned);
    rad_exploration_free(&e);
}

static void bounds_agree_with_brute_force(void **state)
{
    (void)state;
    weave plain = weave_writers(3, 2), yields = weave_writers(3, 3), picks = weave_writers(2, 3);
    yields.count[2] = 2;
    yields.ops[0][1].what = yields.ops[2][0].what = WEAVE_YIELD;
    picks.ops[0][1] = (weave_op){.what = WEAVE_PICK, .argument = 3};
    picks.ops[1][0] = (weave_op){.what = WEAVE_PICK, .argument = 2};
    rad_target targets[] = {weave_target(&plain),     weave_target(&yields),      weave_target(&picks),
                            target_of("locks", NULL), target_of("counter", NULL), target_of("event", NULL)};
    weave *looms[] = {&plain, &yields, &picks, NULL, NULL, NULL};
    for (uint32_t i = 0; i < 6; i++) {
        leaves l;
        weave_on_loom = looms[i];
        leaves_of(&l, &targets[i]);
        assert_true(l.count > 5 && l.count < 20000);
        for (uint64_t limit = 0; limit < 5; limit += 2) {
            bound_agrees(&targets[i], &l, false, limit, 1 + (uint32_t)limit / 2);
            bound_agrees(&targets[i], &l, true, limit, 1 + (uint32_t)limit / 2);
        }
        bound_agrees(&targets[i], &l, false, 31, 2); /* until nothing is cut off */
        rad_exploration e = explored(&targets[i], "dfs", 1000000, 2);
        assert_int_equal(e.runs, l.count);
        uint64_t failing = 0;
        for (uint32_t j = 0; j < l.count; j++) failing += l.items[j].failed;
        assert_int_equal(e.failures, failing);
        rad_exploration_free(&e);
        leaves_free(&l);
    }
}

/* ---- Dedup ------------------------------------------------------------------------------------------ */

/* Random little programs: loads, stores, additions over two cells, and claims that may not hold. */
static uint64_t random_program_seed;

static void random_thread(rad_vm *vm, rad_prng *r, uint32_t cells, const uint32_t *about)
{
    uint32_t program = vm_here(vm), operations = 2 + (uint32_t)rad__prng_below(r, 2);
    for (uint32_t i = 0; i < operations; i++) {
        int32_t cell = (int32_t)rad__prng_below(r, 2);
        switch (rad__prng_below(r, 4)) {
        case 0: vm_store_at(vm, 0, cells, cell, (int32_t)rad__prng_below(r, 3)); break;
        case 1: vm_fetch_add_at(vm, 0, R1, cells, cell, 1); break;
        case 2: vm_store_at(vm, 0, cells, cell, R0); break;
        default:
            vm_load_at(vm, 0, R0, cells, cell);
            if (rad__prng_below(r, 2))
                vm_claim(vm, R0, VM_NE, (int32_t)rad__prng_below(r, 4), about[rad__prng_below(r, 3)], "a claim");
        }
    }
    vm_end(vm);
    rad__vm_thread(vm, "thread", program, true);
}

static void random_build(rad_vm *vm, const rad_case *c)
{
    (void)c;
    rad_prng r = rad__prng(random_program_seed, RAD_STREAM_TEST, 0);
    uint32_t cells = rad__vm_cells(vm, "cell", 2, 0);
    uint32_t about[3] = {vm_about(vm, "red"), vm_about(vm, "green"), vm_about(vm, "blue")};
    for (uint32_t i = 0; i < 3; i++) random_thread(vm, &r, cells, about);
}

static const char *const random_sites[] = {"somewhere", NULL};
static const vm_toy random_toy = {.build = random_build, .sites = random_sites};

static const rad_machine random_machine = {
    .name = "random_program", .about = "", .bug_site = RAD_NONE, .own = &random_toy, VM_FUNCTIONS};

static bool has_identity(const rad_exploration *e, const char *identity)
{
    for (uint32_t i = 0; i < e->finding_count; i++)
        if (strcmp(rad_artifact_verdict(e->findings[i].artifact)->identity, identity) == 0) return true;
    return false;
}

static void assert_same_identities(const rad_exploration *a, const rad_exploration *b)
{
    assert_int_equal(a->finding_count, b->finding_count);
    for (uint32_t i = 0; i < a->finding_count; i++)
        assert_true(has_identity(b, rad_artifact_verdict(a->findings[i].artifact)->identity));
}

static void dedup_finds_what_dfs_finds_in_fewer_runs(void **state)
{
    (void)state;
    uint64_t with_findings = 0, fewer = 0;
    for (uint64_t i = 0; i < 60; i++) {
        random_program_seed = i;
        rad_target t = {.machine = &random_machine};
        rad_exploration all = explored(&t, "dfs", 1000000, 2), states = explored(&t, "dedup", 1000000, 1);
        assert_true(all.complete && states.complete);
        assert_same_identities(&all, &states);
        assert_true(states.runs <= all.runs);
        with_findings += all.finding_count > 0;
        fewer += states.runs < all.runs / 2;
        rad_exploration_free(&all);
        rad_exploration_free(&states);
    }
    assert_true(with_findings > 20 && with_findings < 60); /* the programs are not all alike */
    assert_true(fewer > 30);
    static const char *const toys[] = {"counter", "locks", "event", "philosophers"};
    for (uint32_t i = 0; i < 4; i++) {
        rad_target t = target_of(toys[i], i == 3 ? "n=2" : NULL);
        for (int twin = 0; twin < 2; twin++) {
            t.c.repaired = twin;
            rad_exploration all = explored(&t, "dfs", 1000000, 1);
            rad_exploration states = explored(&t, "dedup", 1000000, 1);
            assert_true(all.complete && states.complete);
            assert_same_identities(&all, &states);
            assert_int_equal(all.finding_count > 0, !twin);
            rad_exploration_free(&all);
            rad_exploration_free(&states);
        }
    }
}

/* ---- Budgets ---------------------------------------------------------------------------------------- */

static void the_runs_budget_is_respected_exactly(void **state)
{
    static const char *const strategies[] = {"random", "surw", "pct:3", "dfs", "preempt:9", "auto"};
    static const uint64_t budgets[] = {1, 2, 7, 100, 1023, 1024, 1025, 2500};
    (void)state;
    rad_target t = target_of("inc", "n=4 k=5"); /* far more schedules than that */
    for (uint32_t i = 0; i < 48; i++) {
        rad_exploration e = explored(&t, strategies[i % 6], budgets[i / 6], 1 + i % 3);
        assert_int_equal(e.runs, budgets[i / 6]);
        assert_false(e.complete);
        uint64_t sum = 0;
        for (uint32_t p = 0; p < e.phase_count; p++) sum += e.phases[p].runs;
        assert_int_equal(sum, e.runs);
        if (i % 6 == 3) assert_false(last_phase(&e)->exhausted);
        rad_exploration_free(&e);
    }
    rad_exploration once = explored(&t, "first", 1000, 2);
    assert_int_equal(once.runs, 1);
    rad_exploration_free(&once);
}

/* The run that fails first, with the portfolio. */
static uint64_t first_failure(const rad_target *t, uint64_t runs, uint32_t jobs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.runs = runs, .seed = 3, .jobs = jobs, .stop_on_first = true};
    assert_int_equal(rad_lab_explore(t, &o, &e, &error), 0);
    assert_int_equal(e.finding_count, 1);
    uint64_t run = e.findings[0].run;
    assert_int_equal(e.runs, run + 1);
    rad_exploration_free(&e);
    return run;
}

/* Each strategy has its turn soon, whatever the budget: a larger one must not find the bug later. */
static void a_larger_budget_finds_the_bug_in_the_same_run(void **state)
{
    static const char *const cases[][2] = {
        {"reorder", "n=10"}, {"twostage", "n=20"}, {"aba", "nodes=3"}, {"buffer", "items=1"}, {"event", "n=4"}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rad_target t = target_of(cases[i][0], cases[i][1]);
        uint64_t run = first_failure(&t, 1000, 1);
        assert_true(run < 500);
        for (uint64_t budget = 10000, jobs = 1; budget <= 1000000; budget *= 10, jobs++)
            assert_int_equal(first_failure(&t, budget, (uint32_t)jobs), run);
    }
}

/* Turns of 1, 2, 6, 2, 2 and 4 runs, then twice as many: 16, 32, 64 … runs a round and the one of the baseline. */
static void the_portfolio_takes_turns(void **state)
{
    static const char *const names[] = {"baseline", "random", "surw", "pct:3", "pos", "preempt:0"};
    static const uint64_t after_17[] = {1, 2, 6, 2, 2, 4}, after_33[] = {1, 6, 18, 2, 2, 4},
                          after_49[] = {1, 6, 18, 6, 6, 12};
    (void)state;
    rad_target t = target_of("inc", "n=4 k=8"); /* 24 schedules without preemption: more than there are turns for */
    static const struct {
        uint64_t budget;
        const uint64_t *runs;
    } rows[] = {{17, after_17}, {33, after_33}, {49, after_49}};
    for (uint32_t i = 0; i < 6; i++) { /* with one worker and with two */
        rad_exploration e = explored(&t, "auto", rows[i / 2].budget, 1 + i % 2);
        assert_int_equal(e.runs, rows[i / 2].budget);
        assert_int_equal(e.phase_count, 6);
        for (uint32_t phase = 0; phase < 6; phase++) {
            assert_string_equal(e.phases[phase].name, names[phase]);
            assert_int_equal(e.phases[phase].runs, rows[i / 2].runs[phase]);
        }
        rad_exploration_free(&e);
    }
}

/* A row that has tried everything gives its turns up; when that was every schedule there is, all is done. */
static void the_portfolio_ends_when_everything_was_tried(void **state)
{
    (void)state;
    rad_target t = target_of("inc", "n=2 k=2");
    rad_exploration e = explored(&t, "auto", 1000000, 2);
    assert_true(e.complete);
    assert_true(e.runs < 200);
    rad_exploration_free(&e);
}

static void a_tree_is_exhausted_exactly_when_its_last_run_fits(void **state)
{
    static const char *const strategies[] = {"dfs", "dedup"};
    (void)state;
    rad_target t = target_of("inc", "n=3 k=3");
    for (uint32_t s = 0; s < 2; s++) {
        rad_exploration whole = explored(&t, strategies[s], 1000000, 1);
        assert_true(whole.complete);
        for (uint32_t i = 0; i < 12; i++) {
            uint64_t budget = whole.runs - 1 + i % 3; /* one too few, just enough, one too many */
            if (i > 8) budget = whole.runs / 2;
            rad_exploration e = explored(&t, strategies[s], budget, 1 + i / 3 % 3);
            assert_int_equal(e.runs, budget < whole.runs ? budget : whole.runs);
            assert_int_equal(last_phase(&e)->exhausted, budget >= whole.runs);
            assert_int_equal(e.complete, budget >= whole.runs);
            rad_exploration_free(&e);
        }
        rad_exploration_free(&whole);
    }
}

/* ---- Any number of workers -------------------------------------------------------------------------- */

typedef struct trial_of_jobs {
    const char *machine, *words, *strategy;
    uint64_t runs;
    bool stop_on_first, twice;
} trial_of_jobs;

static void same_for_all_jobs(const trial_of_jobs *c)
{
    rad_exploration e[3];
    rad_target t = target_of(c->machine, c->words);
    for (uint32_t jobs = 1; jobs <= 3; jobs++) {
        rad_error error = {0};
        rad_explore_options o = {.strategy = c->strategy,
                                 .runs = c->runs,
                                 .seed = 11,
                                 .jobs = jobs,
                                 .stop_on_first = c->stop_on_first,
                                 .twice = c->twice};
        assert_int_equal(rad_lab_explore(&t, &o, &e[jobs - 1], &error), 0);
    }
    assert_same_exploration(&e[0], &e[1]);
    assert_same_exploration(&e[0], &e[2]);
    for (int i = 0; i < 3; i++) rad_exploration_free(&e[i]);
}

static void results_do_not_depend_on_the_number_of_workers(void **state)
{
    static const trial_of_jobs cases[] = {
        {"counter", "n=3", "random", 3000, false, false},
        {"counter", "n=3", "surw", 1500, false, false},
        {"counter", "n=3 k=2", "pct:3", 1500, false, false},
        {"counter", "n=3", "dfs", 100000, false, false},
        {"counter", "n=3", "dfs", 1777, false, false}, /* cut in the middle of a tree */
        {"counter", "n=3", "dedup", 1000000, false, false},
        {"counter", "n=3", "dedup", 60, false, false},
        {"counter", "n=4 k=2", "preempt:2", 5000, false, false},
        {"counter", "n=3", "delay:4", 100000, false, false},
        {"counter", "n=3", "auto", 4000, false, false},
        {"philosophers", "n=3", "auto", 3000, false, false},
        {"buffer", NULL, "auto", 3000, false, false},
        {"reorder", "n=4", "surw", 2500, false, false},
        {"reorder", "n=4", "pct:3", 2500, true, false},
        {"twostage", "n=6", "auto", 5000, true, false},
        {"counter", "n=4", "dfs", 20000, true, false},
        {"locks", "rounds=2", "preempt:3", 20000, true, false},
        {"locks", "rounds=2", "dfs", 3000, false, true},
        {"bank", NULL, "random", 3000, false, true},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) same_for_all_jobs(&cases[i]);
}

static void results_on_a_machine_that_dies_do_not_depend_on_workers_either(void **state)
{
    static const trial_of_jobs cases[] = {
        {"crash", NULL, "dfs", 100000, false, false},
        {"crash", NULL, "random", 200, false, false},
        {"crash", NULL, "surw", 300, false, false},
        {"crash", NULL, "pct:2", 300, false, false},
        {"crash", NULL, "preempt:2", 500, false, false},
        {"crash", NULL, "dfs", 17, false, false},
        {"crash", NULL, "surw", 300, true, false},
        {"crash", NULL, "dfs", 500, true, false},
        {"crash", "n=3", "auto", 150, false, false},
        {"crash", NULL, "auto", 400, false, false}, /* deaths beside the ends of turns */
        {"crash", NULL, "dedup", 500, false, false},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) same_for_all_jobs(&cases[i]);
}

/* Twenty ways to fail, more than any table holds. */
static void ways_reset(puppet *p, rad_kernel *k)
{
    static const char *const roles[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                        "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
    (void)p;
    for (uint32_t i = 0; i < 20; i++) rad_object(k, RAD_NONE, roles[i]);
    rad_enable(k, rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0));
}

static void ways_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    rad_disable(k, action);
    rad_fail(k, RAD_ORACLE_ASSERT, rad_pick(k, RAD_PICK_VALUE, 0, 20), "one of many");
}

static void more_ways_to_fail_than_the_table_holds(void **state)
{
    (void)state;
    puppet p = {.reset = ways_reset, .step = ways_step};
    rad_target t = puppet_target(&p);
    for (uint32_t which = 0; which < 2; which++) {
        rad_exploration e[3];
        for (uint32_t jobs = 1; jobs <= 3; jobs++) e[jobs - 1] = explored(&t, which ? "dfs" : "random", 4000, jobs);
        assert_int_equal(e[0].finding_count, RAD_FINDINGS_MAX);
        uint64_t failures = 0;
        for (uint32_t i = 0; i < RAD_FINDINGS_MAX; i++) {
            failures += e[0].findings[i].failures;
            if (i) assert_true(e[0].findings[i - 1].run < e[0].findings[i].run);
        }
        assert_true(e[0].findings_dropped > 0 && failures < e[0].failures);
        assert_same_exploration(&e[0], &e[1]);
        assert_same_exploration(&e[0], &e[2]);
        for (int i = 0; i < 3; i++) rad_exploration_free(&e[i]);
    }
}

/* ---- Twice ------------------------------------------------------------------------------------------ */

static int leaking; /* lives across runs, which no machine may have */

static void leak_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void leak_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (k->step == 3) {
        if (p->number == 0) rad_value(k, (uint64_t)leaking++);
        if (p->number == 1 && leaking++ % 2) rad_fail(k, RAD_ORACLE_ASSERT, RAD_NONE, "odd");
        if (p->number == 2) rad_fail(k, leaking++ % 2 ? RAD_ORACLE_ASSERT : RAD_ORACLE_INVARIANT, RAD_NONE, "-");
    }
    if (k->step >= 6) rad_disable(k, action);
}

static void twice_reports_a_machine_that_remembers_its_last_run(void **state)
{
    (void)state;
    static const char *const strategies[] = {"random", "dfs"};
    for (uint32_t i = 0; i < 6; i++) {
        puppet p = {.reset = leak_reset, .step = leak_step, .number = i / 2};
        rad_target t = puppet_target(&p);
        rad_exploration e;
        rad_error error = {0};
        rad_explore_options o = {.strategy = strategies[i % 2], .runs = 50, .twice = true, .stop_on_first = true};
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        assert_int_equal(e.runs, 1);
        assert_int_equal(e.finding_count, 1);
        const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
        assert_string_equal(v->kind, "nondeterminism");
        assert_string_equal(v->identity, "nondeterminism");
        if (p.number == 0) {
            assert_int_equal(v->failure_step, 3);
            assert_string_equal(v->message, "the same choices gave another run: first difference at step 3");
        }
        rad_exploration_free(&e);
    }
}

static void twice_reports_nothing_on_the_toys(void **state)
{
    const uint64_t runs = storm_size(40, 100);
    (void)state;
    for (uint32_t m = 0; rad_machine_at(m) != NULL; m++) {
        const rad_machine *machine = rad_machine_at(m);
        if (strcmp(machine->name, "crash") == 0) continue;
        rad_target t = target_of(machine->name, NULL);
        rad_exploration once = explored(&t, "random", runs, 1), twice;
        rad_error error = {0};
        rad_explore_options o = {.strategy = "random", .runs = runs, .seed = 3, .twice = true};
        assert_int_equal(rad_lab_explore(&t, &o, &twice, &error), 0);
        assert_false(has_identity(&twice, "nondeterminism"));
        assert_int_equal(once.failures, twice.failures);
        assert_int_equal(once.classes, twice.classes);
        rad_exploration_free(&once);
        rad_exploration_free(&twice);
    }
}

/* ---- Cutting a tree --------------------------------------------------------------------------------- */

enum { HASHES = 4096 };

/* Does a unit to its end, collecting the digests of its runs in the set. */
static uint64_t do_unit(rad_batch_worker *bench, rad_batch *u, rad_set128 *all)
{
    uint64_t runs = 0;
    for (;;) {
        rad_batch_result r;
        u->count = 1;
        rad__batch_run(bench, u, &r);
        assert_int_equal(r.runs, 1);
        assert_int_equal(rad__set128_add(all, rad__kernel_digest(bench->rig->kernel)), RAD_SET_NEW);
        runs++;
        free(u->path);
        u->path = r.path;
        u->path_count = r.path_count;
        bool exhausted = r.exhausted;
        r.path = NULL;
        rad__batch_result_free(&r);
        if (exhausted) return runs;
    }
}

/* So many runs of a tree, from its beginning; a unit by itself ends after a while, however few it has done. */
static rad_batch tree_begun(rad_batch_worker *bench, uint64_t runs)
{
    rad_batch u = {.kind = RAD_BATCH_TREE, .count = runs};
    while (u.count > 0) {
        rad_batch_result r;
        rad__batch_run(bench, &u, &r);
        assert_in_range(r.runs, 1, u.count);
        free(u.path);
        u.count -= r.runs;
        u.path = r.path;
        u.path_count = r.path_count;
        r.path = NULL;
        rad__batch_result_free(&r);
    }
    return u;
}

static void a_tree_cut_anywhere_gives_every_run_once(void **state)
{
    (void)state;
    for (uint64_t first = 1; first < 1680; first += 61) {
        rad_rig rig;
        rad_error error = {0};
        rad_batch_worker bench;
        rad_set128 all = {0};
        rad_target t = target_of("inc", "n=3 k=3");
        assert_int_equal(rad__rig_open(&rig, &t, &error), 0);
        rad__batch_worker_open(&bench, &rig);
        rad_batch pieces[8] = {tree_begun(&bench, first)};
        uint32_t count = 1;
        while (count < 8 && rad__tree_split(&pieces[first % count], &pieces[count])) count++;
        uint64_t runs = first;
        for (uint32_t i = 0; i < count; i++) {
            runs += do_unit(&bench, &pieces[i], &all);
            free(pieces[i].path);
        }
        assert_int_equal(runs, 1680);
        rad__set128_free(&all);
        rad__batch_worker_close(&bench);
        rad__rig_close(&rig);
    }
}

static void a_search_never_goes_above_its_floor(void **state)
{
    (void)state;
    rad_choice run[4] = {
        {.chosen = 0, .count = 3}, {.chosen = 1, .count = 2}, {.chosen = 0, .count = 2}, {.chosen = 2, .count = 3}};
    uint64_t count = 4;
    bool pruned = false;
    assert_true(rad__tree_advance(run, &count, 2, RAD_BOUND_NONE, 0, &pruned));
    assert_int_equal(count, 3);
    assert_int_equal(run[2].chosen, 1);
    assert_false(rad__tree_advance(run, &count, 2, RAD_BOUND_NONE, 0, &pruned));
    assert_int_equal(run[0].chosen, 0);
    count = 3;
    assert_true(rad__tree_advance(run, &count, 0, RAD_BOUND_NONE, 0, &pruned)); /* and with floor 0 it does */
    assert_int_equal(count, 1);
    assert_int_equal(run[0].chosen, 1);
    assert_false(pruned);
}

/* ---- Strategies, options ---------------------------------------------------------------------------- */

static void strategy_arguments_are_checked(void **state)
{
    static const struct {
        const char *name, *text;
    } wrong[] = {
        {"preempt", "strategy 'preempt': expected a bound from 0 to 1000 after the colon, such as preempt:2"},
        {"preempt:", "strategy 'preempt:': expected a bound from 0 to 1000 after the colon, such as "
                     "preempt:2"},
        {"preempt:1001", "strategy 'preempt:1001': expected a bound from 0 to 1000 after the colon, such "
                         "as preempt:2"},
        {"delay:x", "strategy 'delay:x': expected a bound from 0 to 1000 after the colon, such as delay:2"},
        {"delay:-1", "strategy 'delay:-1': expected a bound from 0 to 1000 after the colon, such as "
                     "delay:2"},
        {"pct:0", "policy pct: expected a depth from 1 to 32, found '0'"},
        {"random:2", "policy 'random' takes no argument, found ':2'"},
    };
    static const char *const unknown[] = {"deep", "", "preemptive:2", "delays:2", "dfs:3", "auto:1"};
    (void)state;
    rad_target t = target_of("inc", NULL);
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rad_exploration e;
        rad_error error = {0};
        rad_explore_options o = {.strategy = wrong[i].name, .runs = 1};
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), RAD_EINPUT);
        assert_string_equal(error.text, wrong[i].text);
    }
    for (uint32_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        rad_exploration e;
        rad_error error = {0};
        rad_explore_options o = {.strategy = unknown[i], .runs = 1};
        if (rad_lab_explore(&t, &o, &e, &error) != RAD_EINPUT) fail_msg("'%s' was taken", unknown[i]);
        assert_non_null(strstr(error.text, "unknown"));
    }
    weave w = weave_writers(1, 1);
    t = weave_target(&w);
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = "dedup", .runs = 1};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), RAD_EINPUT);
    assert_string_equal(error.text, "strategy dedup: machine 'weave' does not give its whole state");
    error = (rad_error){0};
    o = (rad_explore_options){.strategy = "dfs", .jobs = 65};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), RAD_EINPUT);
    assert_string_equal(error.text, "-j 65: expected at most 64 worker processes");
    rad_named named;
    for (uint32_t i = 0; rad_strategy_at(i, &named); i++) assert_non_null(named.about);
}

static void estimates_are_folded_at_fixed_runs(void **state)
{
    static const uint64_t ends[] = {1, 16, 64, 256, 512, 768, 1024};
    (void)state;
    uint64_t run = 0;
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(rad__epoch_end(run), ends[i]);
        assert_int_equal(rad__epoch_end(ends[i] - 1), ends[i]);
        run = ends[i];
    }
}

/* What an exploration with surw does, done by hand: each run counts for the epochs after its own, once. The runs of
 * these machines are not alike, so that other estimates would give other runs. */
static void each_run_is_learned_from_once(void **state)
{
    static const char *const names[] = {"wsq", "bluetooth", "aba", "qsort-mt"};
    enum { RUNS = 800 };
    (void)state;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        rad_rig rig;
        rad_error error = {0};
        rad_batch_worker bench;
        rad_estimates known = {0}, learned = {0};
        uint64_t run = 0, steps = 0, failures = 0;
        rad_target t = target_of(names[i], NULL);
        assert_int_equal(rad__rig_open(&rig, &t, &error), 0);
        rad__batch_worker_open(&bench, &rig);
        while (run < RUNS) {
            uint64_t epoch = rad__epoch_end(run), end = epoch < RUNS ? epoch : RUNS;
            while (run < end) { /* a batch ends early when it takes long */
                rad_batch_result r;
                rad_batch u = {.first = run, .count = end - run, .seed = 3, .policy = "surw", .estimates = &known};
                u.kind = RAD_BATCH_SAMPLE;
                rad__batch_run(&bench, &u, &r);
                run += r.runs;
                steps += r.steps;
                failures += r.failures;
                rad__estimates_fold(&learned, &r.learned);
                rad__batch_result_free(&r);
            }
            rad__estimates_fold(&known, &learned);
            rad__estimates_clear(&learned);
        }
        assert_int_equal(known.runs, RUNS);
        rad_exploration e = explored(&t, "surw", RUNS, 2);
        assert_int_equal(e.steps, steps);
        assert_int_equal(e.failures, failures);
        rad_exploration_free(&e);
        rad__estimates_free(&known);
        rad__estimates_free(&learned);
        rad__batch_worker_close(&bench);
        rad__rig_close(&rig);
    }
}

typedef struct told {
    uint32_t found;
    char identities[8][120];
    uint64_t progress;
    int interrupt;
} told;

static void told_found(void *context, const rad_artifact *a)
{
    told *t = context;
    if (t->found < 8) memcpy(t->identities[t->found], rad_artifact_verdict(a)->identity, sizeof *t->identities);
    t->found++;
}

static void told_progress(void *context, const rad_progress *p)
{
    told *t = context;
    assert_true(p->runs <= p->runs_budget);
    assert_non_null(p->phase);
    if (++t->progress == 2) t->interrupt = 1;
}

static void findings_are_told_once_and_an_interrupt_stops(void **state)
{
    (void)state;
    rad_exploration e;
    rad_error error = {0};
    told t = {0};
    puppet p = {.reset = ways_reset, .step = ways_step};
    rad_target target = puppet_target(&p);
    rad_explore_options o = {.strategy = "dfs", .runs = 5, .found = told_found, .context = &t, .jobs = 2};
    assert_int_equal(rad_lab_explore(&target, &o, &e, &error), 0);
    assert_int_equal(t.found, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(e.findings[i].run, i);
        assert_string_equal(t.identities[i], rad_artifact_verdict(e.findings[i].artifact)->identity);
    }
    rad_exploration_free(&e);
    t = (told){0};
    target = target_of("inc", "n=8 k=100");
    o = (rad_explore_options){.strategy = "random",
                              .runs = UINT64_C(1) << 40,
                              .progress = told_progress,
                              .context = &t,
                              .interrupted = &t.interrupt};
    assert_int_equal(rad_lab_explore(&target, &o, &e, &error), 0);
    assert_true(e.interrupted && !e.out_of_time && !e.complete);
    assert_true(e.runs < UINT64_C(1) << 40);
    rad_exploration_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dfs_visits_exactly_the_interleavings_counted_by_hand),
        cmocka_unit_test(classes_tell_conflicting_orders_and_only_those),
        cmocka_unit_test(bounds_agree_with_brute_force),
        cmocka_unit_test(dedup_finds_what_dfs_finds_in_fewer_runs),
        cmocka_unit_test(the_runs_budget_is_respected_exactly),
        cmocka_unit_test(a_larger_budget_finds_the_bug_in_the_same_run),
        cmocka_unit_test(the_portfolio_takes_turns),
        cmocka_unit_test(the_portfolio_ends_when_everything_was_tried),
        cmocka_unit_test(a_tree_is_exhausted_exactly_when_its_last_run_fits),
        cmocka_unit_test(results_do_not_depend_on_the_number_of_workers),
        cmocka_unit_test(results_on_a_machine_that_dies_do_not_depend_on_workers_either),
        cmocka_unit_test(more_ways_to_fail_than_the_table_holds),
        cmocka_unit_test(twice_reports_a_machine_that_remembers_its_last_run),
        cmocka_unit_test(twice_reports_nothing_on_the_toys),
        cmocka_unit_test(a_tree_cut_anywhere_gives_every_run_once),
        cmocka_unit_test(a_search_never_goes_above_its_floor),
        cmocka_unit_test(strategy_arguments_are_checked),
        cmocka_unit_test(estimates_are_folded_at_fixed_runs),
        cmocka_unit_test(each_run_is_learned_from_once),
        cmocka_unit_test(findings_are_told_once_and_an_interrupt_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
