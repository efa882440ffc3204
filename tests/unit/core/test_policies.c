/* test_policies.c — each policy does what its first comment says; estimates; record and replay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "lab/artifact.h"
#include "lab/rig.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- n actors that never stop ----------------------------------------------------------------------- */

static void crowd_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < p->number; i++)
        rad_enable(k, rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0));
}

typedef struct tally {
    rad_observer observer;
    uint64_t by_action[128];
    uint64_t picks[128];
    uint32_t order[8192];
    uint64_t steps;
    uint64_t not_lowest;
} tally;

static void tally_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    tally *t = (tally *)o;
    if (d->kind != RAD_PICK_ACTION) {
        t->picks[chosen]++;
        return;
    }
    uint32_t lowest = 0;
    while (!rad_is_enabled(k, lowest)) lowest++;
    t->not_lowest += rad__action_at(k, d, chosen) != lowest;
}

static void tally_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    (void)k, (void)f;
    tally *t = (tally *)o;
    if (action < 128) t->by_action[action]++;
    t->order[t->steps++ % 8192] = action;
}

static tally seen;

static void crowd_run(uint32_t actors, const char *policy, uint64_t steps, uint64_t seed)
{
    puppet p = {.reset = crowd_reset, .number = actors};
    bare_rig b;
    seen = (tally){.observer = {.decided = tally_decided, .ran = tally_ran}};
    bare_open(&b, &puppet_machine, &p, steps + 1);
    b.observer = &seen.observer;
    b.max_steps = steps;
    assert_int_equal(bare_run(&b, policy, seed, 0), RAD_OUTCOME_CUT);
    bare_close(&b);
}

/* ---- first, random ---------------------------------------------------------------------------------- */

enum { PERMUTED = 6 };

static void permuted_reset(puppet *p, rad_kernel *k)
{
    const uint32_t *order = p->data;
    for (uint32_t i = 0; i < PERMUTED; i++)
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
    for (uint32_t i = 0; i < p->number; i++) rad_enable(k, p->actions[order[i]]);
}

static void leaves_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    rad_disable(k, action);
}

/* Every order of every size: the members run by ascending number. */
static void permuted_check(uint32_t *order, uint32_t count, uint32_t fixed)
{
    if (fixed < count) {
        for (uint32_t i = fixed; i < PERMUTED; i++) {
            uint32_t keep = order[i];
            order[i] = order[fixed], order[fixed] = keep;
            permuted_check(order, count, fixed + 1);
            order[fixed] = order[i], order[i] = keep;
        }
        return;
    }
    puppet p = {.reset = permuted_reset, .step = leaves_step, .number = count, .data = order};
    static bare_rig b;
    if (b.kernel == NULL) bare_open(&b, &puppet_machine, &p, 100);
    rad__kernel_use(b.kernel, &puppet_machine, &p);
    seen = (tally){.observer = {.decided = tally_decided, .ran = tally_ran}};
    b.observer = &seen.observer;
    assert_int_equal(bare_run(&b, "first", 0, 0), RAD_OUTCOME_FINISHED);
    assert_int_equal(seen.not_lowest, 0);
    assert_int_equal(seen.steps, count);
    for (uint32_t i = 1; i < count; i++) assert_true(seen.order[i - 1] < seen.order[i]);
    if (fixed == RAD_NONE) bare_close(&b);
}

static void first_takes_the_lowest_number_whatever_the_order_of_enabling(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= PERMUTED; count++) {
        uint32_t order[PERMUTED] = {0, 1, 2, 3, 4, 5};
        permuted_check(order, count, 0);
    }
    uint32_t order[PERMUTED] = {3, 1};
    permuted_check(order, 2, RAD_NONE);
}

static void random_is_uniform_over_what_is_enabled(void **state)
{
    static const uint32_t sizes[] = {2, 3, 10, 100};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t steps = 20000 + 400 * sizes[i];
        crowd_run(sizes[i], "random", steps, 12);
        assert_true(pearson(seen.by_action, sizes[i], steps) < pearson_limit(sizes[i]));
    }
}

static void pick_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p, (void)action;
    rad_pick(k, RAD_PICK_CASE, 0, 7);
}

static void random_is_uniform_inside_a_step(void **state)
{
    static const char *const policies[] = {"random", "pct:2", "surw"};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        puppet p = {.reset = crowd_reset, .step = pick_step, .number = 1};
        bare_rig b;
        seen = (tally){.observer = {.decided = tally_decided, .ran = tally_ran}};
        bare_open(&b, &puppet_machine, &p, 30000);
        b.observer = &seen.observer;
        b.max_steps = 20000;
        bare_run(&b, policies[i], 3, 0);
        assert_true(pearson(seen.picks, 7, 20000) < pearson_limit(7));
        bare_close(&b);
    }
}

static rad_digest digest_of(const rad_machine *m, void *self, const char *policy, uint64_t seed, uint64_t run)
{
    bare_rig b;
    bare_open(&b, m, self, 1000);
    assert_int_equal(bare_run(&b, policy, seed, run), RAD_OUTCOME_FINISHED);
    rad_digest d = b.kernel->trace.digest;
    bare_close(&b);
    return d;
}

static void seed_and_run_index_fix_the_choices(void **state)
{
    static const char *const policies[] = {"random", "pct:4", "surw"};
    (void)state;
    weave w = weave_writers(4, 8);
    for (uint32_t i = 0; i < 3; i++) {
        rad_digest one = digest_of(&weave_machine, &w, policies[i], 5, 0);
        assert_true(rad__digest_equal(one, digest_of(&weave_machine, &w, policies[i], 5, 0)));
        assert_false(rad__digest_equal(one, digest_of(&weave_machine, &w, policies[i], 6, 0)));
        assert_false(rad__digest_equal(one, digest_of(&weave_machine, &w, policies[i], 5, 1)));
    }
}

/* ---- guide ----------------------------------------------------------------------------------------- */

static void guide_clamps_and_ends_in_the_baseline(void **state)
{
    (void)state;
    weave w = weave_writers(3, 2);
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    uint32_t list[] = {UINT32_MAX, 3, 2, 1000000};
    assert_int_equal(bare_guide(&b, list, 4), RAD_OUTCOME_FINISHED);
    static const uint32_t expected[] = {2, 2, 2, 1};
    assert_int_equal(b.kernel->decisions, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(b.choices[i].chosen, expected[i]);
    /* What was recorded is the same run again, and an empty list is the baseline. */
    rad_digest clamped = b.kernel->trace.digest;
    assert_int_equal(bare_guide(&b, expected, 4), RAD_OUTCOME_FINISHED);
    assert_true(rad__digest_equal(clamped, b.kernel->trace.digest));
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(w.order[i], i / 2);
    bare_close(&b);
}

/* ---- fair ------------------------------------------------------------------------------------------ */

static void fair_gives_every_actor_its_turn(void **state)
{
    (void)state;
    crowd_run(5, "fair", 500, 0);
    for (uint32_t i = 0; i < 500; i++) assert_int_equal(seen.order[i], i % 5);
    weave w = weave_writers(3, 3); /* one that ends is left out, the round goes on */
    w.count[1] = 1;
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    assert_int_equal(bare_run(&b, "fair", 0, 0), RAD_OUTCOME_FINISHED);
    static const uint8_t expected[] = {0, 1, 2, 0, 2, 0, 2};
    assert_memory_equal(w.order, expected, sizeof expected);
    bare_close(&b);
}

/* Actor 0 has actions 0, 1, 2; actor 1 has action 3; nobody has 4 and 5, each good for one step. */
static void several_reset(puppet *p, rad_kernel *k)
{
    static const uint32_t actors[] = {0, 0, 0, 1, RAD_NONE, RAD_NONE};
    rad_actor(k, RAD_NONE, "one");
    rad_actor(k, RAD_NONE, "one");
    for (uint32_t i = 0; i < 6; i++) {
        p->actions[i] = rad_action(k, i, actors[i], RAD_NONE, 0);
        if (i < 4) rad_enable(k, p->actions[i]);
    }
}

static void several_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (k->step == 6) rad_enable(k, p->actions[5]), rad_enable(k, p->actions[4]);
    if (action >= 4) rad_disable(k, action);
}

static void fair_starves_no_action_and_lets_external_events_go_first(void **state)
{
    (void)state;
    puppet p = {.reset = several_reset, .step = several_step};
    bare_rig b;
    seen = (tally){.observer = {.ran = tally_ran}};
    bare_open(&b, &puppet_machine, &p, 100);
    b.observer = &seen.observer;
    b.max_steps = 16;
    bare_run(&b, "fair", 0, 0);
    static const uint32_t expected[] = {0, 3, 1, 3, 2, 3, 0, 4, 5, 3, 1, 3, 2, 3, 0, 3};
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(seen.order[i], expected[i]);
    bare_close(&b);
}

/* ---- pct ------------------------------------------------------------------------------------------- */

static void policy_arguments_are_checked(void **state)
{
    static const struct {
        const char *name, *text;
    } wrong[] = {
        {"pct:0", "policy pct: expected a depth from 1 to 32, found '0'"},
        {"pct:33", "policy pct: expected a depth from 1 to 32, found '33'"},
        {"pct:", "policy pct: expected a depth from 1 to 32, found ''"},
        {"pct:-1", "policy pct: expected a depth from 1 to 32, found '-1'"},
        {"pct: 3", "policy pct: expected a depth from 1 to 32, found ' 3'"},
        {"pct:3x", "policy pct: expected a depth from 1 to 32, found '3x'"},
        {"pct:99999999999999999999", "policy pct: expected a depth from 1 to 32, found "
                                     "'99999999999999999999'"},
        {"random:1", "policy 'random' takes no argument, found ':1'"},
        {"first:", "policy 'first' takes no argument, found ':'"},
        {"surw:x", "policy 'surw' takes no argument, found ':x'"},
        {"fair:2", "policy 'fair' takes no argument, found ':2'"},
        {"rand", "unknown policy 'rand': expected first, random, fair, pct:D, surw, pos, own or "
                 "one of a shared object (--policy ./FILE.so)"},
        {"randomly", "unknown policy 'randomly': expected first, random, fair, pct:D, surw, pos, "
                     "own or one of a shared object (--policy ./FILE.so)"},
        {"", "unknown policy '': expected first, random, fair, pct:D, surw, pos, own or one of a "
             "shared object (--policy ./FILE.so)"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rad_policy *p = NULL;
        rad_error error = {0};
        assert_int_equal(rad__policy_create(&p, wrong[i].name, &error), RAD_EINPUT);
        assert_string_equal(error.text, wrong[i].text);
        assert_null(p);
    }
    static const char *const good[] = {"first", "random", "fair", "pct", "pct:1", "pct:32", "surw", "pos"};
    for (uint32_t i = 0; i < 8; i++) rad__policy_destroy(policy_named(good[i]));
    rad_named named;
    uint32_t count = 0;
    while (rad_policy_at(count, &named)) count++;
    assert_true(count >= 5);
}

/* A run of the weave under pct with a known expected length. */
static void pct_run(bare_rig *b, const char *policy, uint64_t length, uint64_t run)
{
    rad_policy *p = policy_named(policy);
    rad_estimates known = {.runs = 1, .chances_max = length};
    rad_run_options options = bare_options(b, p);
    options.info = (rad_run_info){.seed = 4, .run = run, .estimates = &known};
    assert_int_equal(rad__kernel_run(b->kernel, &options), RAD_OUTCOME_FINISHED);
    rad__policy_destroy(p);
}

static void pct_of_depth_one_runs_actors_to_their_end_in_random_order(void **state)
{
    (void)state;
    weave w = weave_writers(3, 4);
    bare_rig b;
    uint64_t orders[6] = {0};
    bare_open(&b, &weave_machine, &w, 100);
    for (uint64_t run = 0; run < 6000; run++) {
        pct_run(&b, "pct:1", 10, run);
        assert_int_equal(b.kernel->switches, 2);
        uint32_t first = w.order[0], second = w.order[4];
        orders[first * 2 + (second > first ? second - 1 : second)]++;
    }
    assert_true(pearson(orders, 6, 6000) < pearson_limit(6));
    bare_close(&b);
}

static void pct_changes_priorities_at_most_d_minus_one_times(void **state)
{
    (void)state;
    weave w = weave_writers(4, 10);
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    for (uint32_t depth = 1; depth <= 6; depth++) {
        char name[16];
        uint64_t most = 0;
        snprintf(name, sizeof name, "pct:%u", (unsigned)depth);
        for (uint64_t run = 0; run < 1000; run++) {
            pct_run(&b, name, 37, run);
            /* Three switches come from the ends of actors, each change adds at most two: leaving, and
             * coming back when the others are through. */
            uint64_t preemptions = 0;
            for (uint64_t i = 0; i < b.kernel->decisions; i++)
                preemptions += b.choices[i].chosen && (b.choices[i].flags & RAD_CHOICE_PREEMPTIBLE);
            assert_true(preemptions <= depth - 1);
            if (preemptions > most) most = preemptions;
        }
        assert_int_equal(most, depth - 1); /* and all of them do happen */
    }
    bare_close(&b);
}

/* Two actors of ten steps, one change: the first block is 1 … 9 steps long, or 10 when the change falls on
 * the first decision and only swaps the two. */
static void pct_change_points_are_uniform_over_the_expected_length(void **state)
{
    (void)state;
    weave w = weave_writers(2, 10);
    bare_rig b;
    uint64_t blocks[10] = {0};
    bare_open(&b, &weave_machine, &w, 100);
    for (uint64_t run = 0; run < 10000; run++) {
        pct_run(&b, "pct:2", 10, run);
        uint32_t length = 1;
        while (w.order[length] == w.order[0]) length++;
        assert_true(length <= 10);
        blocks[length - 1]++;
    }
    assert_true(pearson(blocks, 10, 10000) < pearson_limit(10));
    for (uint64_t run = 0; run < 100; run++) { /* the first decision is the only one that is expected */
        pct_run(&b, "pct:2", 1, run);
        assert_int_equal(b.kernel->switches, 1);
    }
    bare_close(&b);
}

static void pct_sends_an_actor_that_yields_behind_all_others(void **state)
{
    (void)state;
    weave w = weave_writers(3, 5);
    w.ops[1][1].what = WEAVE_YIELD;
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    for (uint64_t run = 0; run < 500; run++) {
        pct_run(&b, run % 2 ? "pct:1" : "pct:3", 12, run);
        uint32_t yielded = 0, ran = 0;
        for (uint32_t i = 0; i < 15; i++) {
            if (w.order[i] == 1 && ++ran == 2) yielded = i;
            if (w.order[i] == 1 && ran == 3) assert_int_equal(i, 12); /* all others are through */
        }
        assert_true(yielded > 0);
    }
    bare_close(&b);
}

/* Once both have yielded, a change must still put the running one behind the other. */
static void pct_changes_also_those_that_have_yielded(void **state)
{
    (void)state;
    weave w = weave_writers(2, 12);
    w.ops[0][0].what = w.ops[1][0].what = WEAVE_YIELD;
    bare_rig b;
    uint64_t preempted = 0, late = 0;
    bare_open(&b, &weave_machine, &w, 100);
    for (uint64_t run = 0; run < 400; run++) {
        pct_run(&b, "pct:2", 12, run);
        uint64_t preemptions = 0;
        for (uint64_t i = 0; i < b.kernel->decisions; i++)
            preemptions += b.choices[i].chosen && (b.choices[i].flags & RAD_CHOICE_PREEMPTIBLE);
        preempted += preemptions;
        late += w.order[2] == w.order[3] && preemptions > 0;
    }
    assert_true(preempted > 200); /* most change points lie behind the two yields */
    assert_true(late > 100);
    bare_close(&b);
}

static void pct_ends_in_a_fair_tail(void **state)
{
    (void)state;
    crowd_run(3, "pct:1", 4000, 2); /* 64 decisions expected: the tail begins after 2,280 */
    for (uint32_t i = 1; i < 2280; i++) assert_int_equal(seen.order[i], seen.order[0]);
    for (uint32_t i = 2281; i < 4000 - 3; i++) {
        assert_int_equal(seen.order[i], seen.order[i + 3]);
        assert_true(seen.order[i] != seen.order[i + 1] && seen.order[i] != seen.order[i + 2]);
    }
}

/* ---- pos ------------------------------------------------------------------------------------------- */

/* Thread 0 has two steps, thread 1 has one: how often 0 0 1, 0 1 0 and 1 0 0 come in 12,000 runs, in twelfths. */
static void pos_orders(const weave_op *two, const weave_op *one, const uint32_t twelfths[3])
{
    weave w = {.threads = 2, .objects = 2, .count = {2, 1}};
    w.ops[0][0] = w.ops[0][1] = *two;
    w.ops[1][0] = *one;
    bare_rig b;
    uint64_t cells[12] = {0}, seen_orders[3] = {0};
    bare_open(&b, &weave_machine, &w, 100);
    rad_policy *p = policy_named("pos");
    rad_estimates none = {0};
    for (uint64_t run = 0; run < 12000; run++) {
        rad_run_options options = bare_options(&b, p);
        options.info = (rad_run_info){.seed = 9, .run = run, .estimates = &none};
        assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
        seen_orders[w.order[0] ? 2 : w.order[1] ? 1 : 0]++;
    }
    rad__policy_destroy(p);
    bare_close(&b);
    for (uint32_t i = 0, cell = 0; i < 3; i++) /* equal cells, so that pearson applies */
        for (uint32_t j = 0; j < twelfths[i]; j++) cells[cell++] = seen_orders[i] / twelfths[i];
    assert_true(pearson(cells, 12, 12000) < pearson_limit(3));
}

/* What races with the step that ran draws anew: after the first step the two are even again. What does not race keeps
 * its draw, which was lost to the first step and is likely to lose to the second. */
static void pos_draws_anew_for_what_races_and_only_for_that(void **state)
{
    static const uint32_t even[] = {3, 3, 6}, kept[] = {4, 2, 6};
    static const weave_op write_0 = {.access = RAD_WRITE}, read_0 = {.access = RAD_READ},
                          write_1 = {.access = RAD_WRITE, .object = 1}, local = {.access = RAD_LOCAL};
    (void)state;
    pos_orders(&write_0, &write_0, even);
    pos_orders(&write_0, &read_0, even);
    pos_orders(&read_0, &write_0, even);
    pos_orders(&read_0, &read_0, kept);
    pos_orders(&write_0, &write_1, kept);
    pos_orders(&write_0, &local, kept);
    pos_orders(&local, &write_0, kept);
}

static void pos_sends_an_actor_that_yields_behind_all_others(void **state)
{
    (void)state;
    weave w = {.threads = 3, .objects = 3, .count = {5, 5, 5}};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 5; j++) w.ops[i][j] = (weave_op){.access = RAD_WRITE, .object = i};
    w.ops[1][1].what = WEAVE_YIELD;
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    rad_policy *p = policy_named("pos");
    rad_estimates none = {0};
    for (uint64_t run = 0; run < 500; run++) {
        rad_run_options options = bare_options(&b, p);
        options.info = (rad_run_info){.seed = 9, .run = run, .estimates = &none};
        assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
        for (uint32_t i = 0, ran = 0; i < 15; i++) {
            ran += w.order[i] == 1;
            if (w.order[i] == 1 && ran == 3) assert_int_equal(i, 12); /* all others are through */
        }
    }
    rad__policy_destroy(p);
    bare_close(&b);
}

/* ---- surw ------------------------------------------------------------------------------------------ */

static void surw_learn_once(bare_rig *b, rad_policy *p, rad_estimates *into)
{
    rad_run_options options = bare_options(b, p);
    options.into = into;
    assert_int_equal(rad__kernel_run(b->kernel, &options), RAD_OUTCOME_FINISHED);
    assert_int_equal(into->runs, 1);
}

/* The order of thread numbers, only at steps on object 0 when `shared_only`, as an index of its own. */
typedef struct order_table {
    uint64_t number[128], seen[128];
    uint32_t count;
} order_table;

static void order_add(order_table *t, uint64_t number)
{
    uint32_t i = 0;
    while (i < t->count && t->number[i] != number) i++;
    assert_true(i < 128);
    if (i == t->count) t->number[t->count++] = number;
    t->seen[i]++;
}

static uint64_t shared_order(const weave *w)
{
    uint64_t number = 0;
    uint32_t at[WEAVE_THREADS] = {0};
    for (uint32_t i = 0; i < w->steps; i++) {
        uint32_t thread = w->order[i];
        const weave_op *op = &w->ops[thread][at[thread]++];
        if (op->access != RAD_LOCAL && op->object == 0) number = number * w->threads + thread;
    }
    return number;
}

/* Runs `count` informed runs and expects `orders` equally likely orders. */
static void surw_is_uniform(weave *w, uint32_t orders, bool shared_only)
{
    bare_rig b;
    rad_estimates known = {0};
    order_table table = {.count = 0};
    uint64_t total = 0;
    bare_open(&b, &weave_machine, w, 100);
    rad_policy *p = policy_named("surw");
    surw_learn_once(&b, p, &known);
    for (uint64_t run = 1; total < 400 * orders; run++) {
        rad_run_options options = bare_options(&b, p);
        options.info = (rad_run_info){.seed = 8, .run = run, .estimates = &known};
        assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
        if (shared_only) { /* one run in eight selects all events: leave those out */
            rad_prng r = rad__prng(8, RAD_STREAM_SURW, run);
            if (rad__prng_below(&r, 4) == 0) continue;
        }
        order_add(&table, shared_only ? shared_order(w) : weave_order_number(w));
        total++;
    }
    assert_int_equal(table.count, orders);
    assert_true(pearson(table.seen, orders, total) < pearson_limit(orders));
    rad__policy_destroy(p);
    rad__estimates_free(&known);
    bare_close(&b);
}

static void surw_is_uniform_over_interleavings(void **state)
{
    (void)state;
    weave two = weave_writers(2, 3), three = weave_writers(3, 2), uneven = weave_writers(2, 5);
    surw_is_uniform(&two, 20, false);
    surw_is_uniform(&three, 90, false);
    uneven.count[0] = 1;
    surw_is_uniform(&uneven, 6, false);
}

static void surw_counts_children_into_their_spawner(void **state)
{
    (void)state;
    weave w = weave_writers(3, 2); /* objects of their own: every run selects all events */
    w.objects = 3;
    for (uint32_t i = 1; i < 3; i++) {
        w.spawned[i] = true;
        w.ops[0][i - 1] = (weave_op){.what = WEAVE_SPAWN, .argument = i};
        for (uint32_t j = 0; j < 2; j++) w.ops[i][j].object = i;
    }
    surw_is_uniform(&w, 10, false); /* 6! / (6 · 3 · 2 · 2), sizes of the subtrees */
    /* A grandchild, and a spawner with work of its own afterwards. */
    w.ops[0][1] = (weave_op){.access = RAD_WRITE};
    w.ops[1][0] = (weave_op){.what = WEAVE_SPAWN, .argument = 2};
    surw_is_uniform(&w, 15, false); /* 6! / (6 · 1 · 4 · 1 · 2 · 1) */
}

static void surw_is_uniform_over_the_selected_events_whatever_else_runs(void **state)
{
    (void)state;
    weave w = weave_writers(2, 3);
    w.objects = 2;
    for (uint32_t i = 0; i < 3; i++) { /* three more events of thread 0, on an object nobody shares */
        w.ops[0][2 * i] = (weave_op){.access = RAD_WRITE, .object = 1};
        w.ops[0][2 * i + 1] = (weave_op){.access = RAD_WRITE, .object = 0};
    }
    w.count[0] = 6;
    surw_is_uniform(&w, 20, true);
}

/* What was drawn for an actor that is not there yet is its spawner's, and passes to it: the first of two children may
 * not go first more often because it is there earlier. */
static void surw_is_uniform_over_the_selected_events_of_children(void **state)
{
    (void)state;
    weave w = weave_writers(3, 3);
    for (uint32_t i = 1; i < 3; i++) {
        w.spawned[i] = true;
        w.ops[0][i - 1] = (weave_op){.what = WEAVE_SPAWN, .argument = i};
    }
    w.ops[0][2] = (weave_op){.access = RAD_LOCAL};
    surw_is_uniform(&w, 20, true);
}

static void surw_learns_the_exact_counts(void **state)
{
    (void)state;
    weave w = weave_writers(3, 4);
    w.spawned[2] = true;
    w.ops[0][0] = (weave_op){.what = WEAVE_SPAWN, .argument = 2};
    bare_rig b;
    rad_estimates known = {0};
    bare_open(&b, &weave_machine, &w, 100);
    rad_policy *p = policy_named("surw");
    surw_learn_once(&b, p, &known);
    uint64_t cell = b.kernel->objects[0].signature;
    for (uint32_t i = 0; i < 3; i++) {
        const rad_actor_entry *a = &b.kernel->actors[w.actor[i]];
        const rad_estimate *all = rad__estimates_find(&known, a->signature, 0);
        const rad_estimate *on_cell = rad__estimates_find(&known, a->signature, cell);
        assert_int_equal(all->events, 4);
        assert_int_equal(on_cell->events, i == 0 ? 3 : 4);
        assert_true(all->parent == (i == 2 ? b.kernel->actors[w.actor[0]].signature : UINT64_C(0)));
    }
    assert_null(rad__estimates_find(&known, 12345, 0));
    rad__policy_destroy(p);
    rad__estimates_free(&known);
    bare_close(&b);
}

/* ---- Estimates -------------------------------------------------------------------------------------- */

static void estimates_fold_by_adding_and_survive_being_written(void **state)
{
    (void)state;
    rad_estimates a = {0}, b = {0}, back = {0};
    for (uint64_t i = 1; i <= 300; i++) {
        rad__estimates_add(&a, &(rad_estimate){.actor = i, .events = i, .runs = 1});
        rad__estimates_add(&b, &(rad_estimate){.actor = 2 * i, .object = i % 2, .events = 5, .runs = 2});
    }
    a.runs = 3, a.chances_max = 10;
    b.runs = 4, b.chances_max = 9;
    rad__estimates_fold(&a, &b);
    assert_int_equal(a.runs, 7);
    assert_int_equal(a.chances_max, 10);
    const rad_estimate *both = rad__estimates_find(&a, 4, 0);
    assert_int_equal(both->events, 4 + 5);
    assert_int_equal(both->runs, 1 + 2);
    assert_int_equal(rad__estimates_find(&a, 2, 0)->events, 2);
    assert_int_equal(rad__estimates_find(&a, 2, 1)->events, 5);
    rad_bytes bytes = {0};
    rad__estimates_write(&a, &bytes);
    rad_reader reader = rad__reader(bytes.data, bytes.size);
    assert_true(rad__estimates_read(&back, &reader));
    assert_ptr_equal(reader.at, reader.end);
    assert_int_equal(back.count, a.count);
    assert_int_equal(back.runs, 7);
    assert_int_equal(back.chances_max, 10);
    assert_memory_equal(back.items, a.items, a.count * sizeof *a.items);
    assert_int_equal(rad__estimates_find(&back, 4, 0)->events, 9);
    for (uint32_t cut = 0; cut < bytes.size; cut += 7) {
        reader = rad__reader(bytes.data, cut);
        assert_false(rad__estimates_read(&back, &reader));
    }
    rad__estimates_clear(&a);
    assert_null(rad__estimates_find(&a, 4, 0));
    assert_int_equal(a.runs + a.count + a.chances_max, 0);
    rad__estimates_free(&a), rad__estimates_free(&b), rad__estimates_free(&back);
    rad__bytes_free(&bytes);
}

/* ---- Record, replay in a new process ------------------------------------------------------------------ */

static void replay_as_recorded(const rad_target *t, const char *policy, uint64_t seed)
{
    rad_rig rig;
    rad_error error = {0};
    rad_artifact *a = NULL;
    rad_replay replay;
    assert_int_equal(rad__rig_open(&rig, t, &error), 0);
    rad_policy *p = policy_named(policy);
    rad_run_options options = rad__rig_options(&rig, p);
    options.info.seed = seed;
    rad__kernel_run(rig.kernel, &options);
    assert_int_equal(rad__artifact_of_run(&a, t, policy, seed, rig.kernel, &error), 0);
    char hash[33];
    rad__digest_text(rig.kernel->trace.digest, hash);
    uint64_t steps = rig.kernel->step, decisions = rig.kernel->decisions;
    rad__policy_destroy(p);
    rad__rig_close(&rig);
    assert_int_equal(rad_lab_replay(a, NULL, &replay, &error), 0); /* forks */
    if (!replay.as_recorded) fail_msg("%s %s: %s", t->machine->name, policy, replay.reason);
    assert_string_equal(replay.actual.trace_hash, hash);
    assert_int_equal(replay.actual.steps, steps);
    assert_int_equal(replay.actual.decisions, decisions);
    rad_artifact_free(a);
}

static void every_machine_under_every_policy_replays_in_a_new_process(void **state)
{
    static const char *const policies[] = {"first", "random", "fair", "pct:3", "surw", "pos", "own"};
    (void)state;
    for (uint32_t m = 0; rad_machine_at(m) != NULL; m++) {
        rad_target t = target_of(rad_machine_at(m)->name, NULL);
        if (strncmp(t.machine->name, "l2-", 3) == 0) continue; /* see test_l2.c */
        for (uint32_t i = 0; i < sizeof policies / sizeof *policies; i++) {
            for (int twin = 0; twin < 2; twin++) {
                t.c.repaired = twin;
                if (strcmp(t.machine->name, "crash") == 0 && !twin) continue; /* see test_explore.c */
                if (twin && t.machine->bug == NULL) continue;
                replay_as_recorded(&t, policies[i], 3 + i);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_takes_the_lowest_number_whatever_the_order_of_enabling),
        cmocka_unit_test(random_is_uniform_over_what_is_enabled),
        cmocka_unit_test(random_is_uniform_inside_a_step),
        cmocka_unit_test(seed_and_run_index_fix_the_choices),
        cmocka_unit_test(guide_clamps_and_ends_in_the_baseline),
        cmocka_unit_test(fair_gives_every_actor_its_turn),
        cmocka_unit_test(fair_starves_no_action_and_lets_external_events_go_first),
        cmocka_unit_test(policy_arguments_are_checked),
        cmocka_unit_test(pct_of_depth_one_runs_actors_to_their_end_in_random_order),
        cmocka_unit_test(pct_changes_priorities_at_most_d_minus_one_times),
        cmocka_unit_test(pct_change_points_are_uniform_over_the_expected_length),
        cmocka_unit_test(pct_sends_an_actor_that_yields_behind_all_others),
        cmocka_unit_test(pct_changes_also_those_that_have_yielded),
        cmocka_unit_test(pct_ends_in_a_fair_tail),
        cmocka_unit_test(pos_draws_anew_for_what_races_and_only_for_that),
        cmocka_unit_test(pos_sends_an_actor_that_yields_behind_all_others),
        cmocka_unit_test(surw_is_uniform_over_interleavings),
        cmocka_unit_test(surw_counts_children_into_their_spawner),
        cmocka_unit_test(surw_is_uniform_over_the_selected_events_whatever_else_runs),
        cmocka_unit_test(surw_is_uniform_over_the_selected_events_of_children),
        cmocka_unit_test(surw_learns_the_exact_counts),
        cmocka_unit_test(estimates_fold_by_adding_and_survive_being_written),
        cmocka_unit_test(every_machine_under_every_policy_replays_in_a_new_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
