/* test_kernel.c — who may be chosen and in which order: canonical order, baseline, indices, picks,
 * observers, signatures. What a run leaves behind is in test_run.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Scripts: what each step enables and disables, as text ------------------------------------------
 *
 * "+2 -0 y": enable action 2, disable action 0, yield. actors[a] is the digit of action a's actor. Line 0
 * is the reset; line n + 1 is done by step n, whatever action that is; after the last line a step disables
 * its own action. */
typedef struct script {
    const char *actors;
    const char *const *lines;
    uint32_t at;
} script;

static void script_do(puppet *p, rad_kernel *k, const char *line)
{
    for (; *line; line++) {
        if (*line == 'y') rad_yields(k);
        if (*line == '+') rad_enable(k, p->actions[line[1] - '0']);
        if (*line == '-') rad_disable(k, p->actions[line[1] - '0']);
    }
}

static void script_reset(puppet *p, rad_kernel *k)
{
    script *s = p->data;
    s->at = 0;
    uint32_t actors = 0;
    for (uint32_t i = 0; s->actors[i]; i++) {
        while (actors <= (uint32_t)(s->actors[i] - '0')) rad_actor(k, RAD_NONE, "one"), actors++;
        p->actions[i] = rad_action(k, i, (uint32_t)(s->actors[i] - '0'), RAD_NONE, 0);
        assert_int_equal(p->actions[i], i);
    }
    script_do(p, k, s->lines[s->at++]);
}

static void script_step(puppet *p, rad_kernel *k, uint32_t action)
{
    script *s = p->data;
    if (s->lines[s->at])
        script_do(p, k, s->lines[s->at++]);
    else
        rad_disable(k, action);
}

/* The actions that run when every decision is the baseline, as digits. */
static void script_plays(const char *actors, const char *const *lines, const char *expected)
{
    script s = {actors, lines, 0};
    puppet p = {.reset = script_reset, .step = script_step, .data = &s};
    bare_rig b;
    witness w;
    char order[64] = "";
    bare_open(&b, &puppet_machine, &p, 1000);
    witness_open(&w);
    w.check_valid = true;
    b.observer = &w.observer;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    for (uint64_t i = 0; i < w.steps && i < 63; i++) order[i] = (char)('0' + w.actions_run[i]);
    assert_string_equal(order, expected);
    assert_int_equal(w.invalid + w.wrong_index + w.wrong_order, 0);
    bare_close(&b);
}

#define PLAYS(actors, expected, ...) script_plays(actors, (const char *const[]){__VA_ARGS__, NULL}, expected)

static void the_baseline_goes_on_with_the_current_actor(void **state)
{
    (void)state;
    PLAYS("012", "000112", "+0 +1 +2", "", "", "-0", "", "-1");
    /* others that become enabled meanwhile, with lower numbers too, change nothing */
    PLAYS("012",
          "222"
          "01",
          "+2", "+0", "+1", "-2");
}

static void after_a_block_the_one_enabled_longest_runs(void **state)
{
    (void)state;
    PLAYS("0123",
          "33310"
          "2",
          "+3", "+1", "+0", "+2 -3");                             /* by age, not by number */
    PLAYS("0123", "30123", "+3", "+1 +0 +2 y", "-0", "-1", "-2"); /* what ran waits behind them */
    PLAYS("0123",
          "0"
          "123",
          "+0", "-0 +2 +3 +1"); /* ties by number */
    PLAYS("012",
          "222"
          "01",
          "+2", "+1", "+0", "-1 +1 -2"); /* disabled for a moment: it starts anew */
}

static void an_action_that_ran_waits_again_from_the_end_of_its_step(void **state)
{
    (void)state;
    PLAYS("012",
          "01"
          "2012",
          "+0 +1 +2", "y", "y", "y", "-0");
    PLAYS("012",
          "0"
          "12"
          "0",
          "+0 +1 +2", "y", "-1", "-2");
}

static void a_yield_goes_to_another_one(void **state)
{
    (void)state;
    PLAYS("01",
          "0101"
          "0"
          "1",
          "+0 +1", "y", "y", "y", "y");
    PLAYS("01", "000101", "+0 +1", "", "", "y", "y", "-0");
    /* also to one that was enabled in the very step that yields, although its number is higher */
    PLAYS("01", "0101", "+0", "+1 y", "y", "-0");
    PLAYS("01", "0101", "+0", "y +1", "y", "-0");
    /* and every time: whoever is woken anew in each step is not passed over for ever */
    PLAYS("01",
          "01010"
          "1",
          "+0", "y +1", "-1", "y +1", "-1", "y +1 -0");
}

static void an_actor_goes_on_with_its_other_action(void **state)
{
    (void)state;
    PLAYS("0011",
          "0"
          "1"
          "23",
          "+0 +1 +2 +3", "-0", "-1", "-2");
    PLAYS("0011",
          "3"
          "2"
          "01",
          "+3", "+0 +1 +2 -3", "-2", "-0");
    PLAYS("001",
          "0"
          "1"
          "2",
          "+0", "+1 +2 -0", "-1");
    PLAYS("001",
          "00"
          "2",
          "+0 +1 +2", "-1", "-0"); /* its newest one is gone, not its only one */
    PLAYS("0001",
          "02"
          "3",
          "+1 +2 +0 +3", "-0 -1", "-2");
}

/* Two actors that never block: 1,000 steps each in turn. */
static void endless_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 3; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void the_baseline_turns_after_a_thousand_steps_of_one_actor(void **state)
{
    (void)state;
    puppet p = {.reset = endless_reset};
    bare_rig b;
    witness w;
    bare_open(&b, &puppet_machine, &p, 10000);
    witness_open(&w);
    b.observer = &w.observer;
    b.max_steps = 4000;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_CUT);
    for (uint32_t i = 0; i < 4000; i++) assert_int_equal(w.actions_run[i], i / 1000 % 3);
    for (uint32_t i = 0; i < 4000; i++) /* a forced turn is not a preemption */
        assert_int_equal(b.choices[i].flags, i % 1000 ? RAD_CHOICE_PREEMPTIBLE : 0);
    /* A switch in between starts the count anew. */
    uint32_t list[501] = {0};
    list[500] = 1;
    assert_int_equal(bare_guide(&b, list, 501), RAD_OUTCOME_CUT);
    for (uint32_t i = 0; i < 1500; i++) assert_int_equal(w.actions_run[i], i >= 500);
    assert_int_equal(w.actions_run[1500], 2);
    bare_close(&b);
}

/* ---- Order of enabling ------------------------------------------------------------------------------ */

enum { SHUFFLED = 9 };

typedef struct shuffle {
    uint32_t order[SHUFFLED];
    bool noise; /* enable, disable, enable */
    uint32_t steps;
} shuffle;

static void shuffle_all(puppet *p, rad_kernel *k)
{
    shuffle *s = p->data;
    for (uint32_t i = 0; i < SHUFFLED; i++) {
        uint32_t action = p->actions[s->order[i]];
        bool was = rad_is_enabled(k, action);
        rad_enable(k, action);
        if (was || !s->noise) continue;
        rad_disable(k, action);
        rad_enable(k, p->actions[s->order[SHUFFLED - 1 - i]]);
        rad_enable(k, action);
    }
}

/* Actors 0 … 5, of which 0 … 2 have two actions each; all actions are made in the same order. */
static void shuffle_reset(puppet *p, rad_kernel *k)
{
    ((shuffle *)p->data)->steps = 0;
    for (uint32_t i = 0; i < 6; i++) rad_actor(k, RAD_NONE, "one");
    for (uint32_t i = 0; i < SHUFFLED; i++) p->actions[i] = rad_action(k, 0, i % 6, RAD_NONE, i);
    shuffle_all(p, k);
}

static void disable_even(puppet *p, rad_kernel *k)
{
    shuffle *s = p->data;
    for (uint32_t i = 0; i < SHUFFLED; i++)
        if (s->order[i] % 2 == 0) rad_disable(k, p->actions[s->order[i]]);
}

static void shuffle_step(puppet *p, rad_kernel *k, uint32_t action)
{
    shuffle *s = p->data;
    if (++s->steps > 30)
        rad_disable(k, action);
    else if (s->steps % 5 == 0)
        disable_even(p, k);
    else if (s->steps % 3 == 0)
        shuffle_all(p, k);
    if (s->steps % 5 == 0 && s->steps <= 30) shuffle_all(p, k);
    if (s->steps % 7 == 0) rad_disable(k, action);
}

static void shuffle_next(uint32_t *order, rad_prng *r)
{
    for (uint32_t i = SHUFFLED; i > 1; i--) {
        uint32_t j = (uint32_t)rad__prng_below(r, i), keep = order[i - 1];
        order[i - 1] = order[j];
        order[j] = keep;
    }
}

/* The whole run: sets, baselines, choices, digest. */
static void the_order_of_enabling_changes_nothing(void **state)
{
    static const char *const policies[] = {"first", "random", "fair", "pct:3"};
    (void)state;
    for (uint32_t which = 0; which < 5; which++) {
        shuffle s = {.order = {0, 1, 2, 3, 4, 5, 6, 7, 8}};
        puppet p = {.reset = shuffle_reset, .step = shuffle_step, .data = &s};
        bare_rig b;
        static witness first, w;
        char hash[33], expected[33] = "";
        uint64_t roll = 0;
        rad_prng r = rad__prng(3, RAD_STREAM_TEST, which);
        bare_open(&b, &puppet_machine, &p, 1000);
        for (int permutation = 0; permutation < 60; permutation++) {
            witness_open(&w);
            b.observer = &w.observer;
            if (which == 4)
                bare_guide(&b, NULL, 0);
            else
                bare_run(&b, policies[which], 5, 0);
            assert_int_equal(b.kernel->outcome, RAD_OUTCOME_FINISHED);
            rad__digest_text(b.kernel->trace.digest, hash);
            if (permutation == 0) {
                first = w;
                memcpy(expected, hash, sizeof hash);
                roll = b.kernel->set_roll;
            }
            assert_string_equal(hash, expected);
            assert_true(roll == b.kernel->set_roll);
            assert_int_equal(w.decisions, first.decisions);
            assert_memory_equal(w.baselines, first.baselines, w.decisions * sizeof *w.baselines);
            assert_memory_equal(w.actions_run, first.actions_run, w.steps * sizeof *w.actions_run);
            shuffle_next(s.order, &r);
            s.noise = permutation % 2;
        }
        bare_close(&b);
    }
}

/* ---- Random enabling against a model ----------------------------------------------------------------- */

enum { WILD = 40 };

/* Toggles a few actions in every step; has random numbers of its own, so the run is a function of the
 * choices. With `shared`, some actions have no actor and some actors have three actions. */
typedef struct wild {
    rad_prng prng;
    bool shared;
    uint32_t steps, limit;
    /* the model */
    uint64_t since[WILD];   /* step * 2, or * 2 + 1 for the action that ran; then ties by number */
    bool enabled[WILD];     /* after the last step */
    bool interrupted[WILD]; /* disabled in the step under way */
    uint32_t last_actor, streak;
    bool yielded;
    uint64_t wrong_baseline;
} wild;

static uint32_t wild_actor(const wild *w, uint32_t i)
{
    if (!w->shared) return i;
    return i % 7 == 3 ? RAD_NONE : i / 3;
}

static void wild_reset(puppet *p, rad_kernel *k)
{
    wild *w = p->data;
    w->prng = rad__prng(11, RAD_STREAM_TEST, w->limit);
    w->steps = 0;
    for (uint32_t i = 0; i < WILD; i++) rad_actor(k, RAD_NONE, "one");
    for (uint32_t i = 0; i < WILD; i++) {
        p->actions[i] = rad_action(k, 0, wild_actor(w, i), RAD_NONE, i);
        if (rad__prng_below(&w->prng, 2)) rad_enable(k, p->actions[i]);
    }
}

static void wild_step(puppet *p, rad_kernel *k, uint32_t action)
{
    wild *w = p->data;
    for (int i = 0; i < 5; i++) {
        uint32_t other = p->actions[rad__prng_below(&w->prng, WILD)];
        if (rad__prng_below(&w->prng, 2))
            rad_enable(k, other);
        else
            rad_disable(k, other);
    }
    if (rad__prng_below(&w->prng, 4) == 0) rad_disable(k, action);
    if (rad__prng_below(&w->prng, 8) == 0) rad_enable(k, action);
    if (rad__prng_below(&w->prng, 9) == 0) rad_yields(k);
    if (++w->steps < w->limit) return;
    for (uint32_t i = 0; i < WILD; i++) rad_disable(k, p->actions[i]);
}

typedef struct wild_model {
    rad_observer observer; /* first */
    wild *w;
} wild_model;

static void model_settle(wild *w, const rad_kernel *k, uint32_t ran, uint64_t step)
{
    for (uint32_t a = 0; a < WILD; a++) {
        bool now = rad_is_enabled(k, a), fresh = !w->enabled[a] || w->interrupted[a] || a == ran;
        if (now && fresh) w->since[a] = step * 2 + (a == ran);
        w->enabled[a] = now;
        w->interrupted[a] = false;
    }
}

static void model_changed(rad_observer *o, rad_kernel *k, uint32_t action, bool enabled)
{
    (void)k;
    if (!enabled) ((wild_model *)o)->w->interrupted[action] = true;
}

static bool model_deciding(rad_observer *o, rad_kernel *k)
{
    wild *w = ((wild_model *)o)->w;
    if (k->step == 0) model_settle(w, k, RAD_NONE, 0);
    return false;
}

static void model_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    wild *w = ((wild_model *)o)->w;
    uint32_t oldest = RAD_NONE;
    (void)chosen;
    for (uint32_t a = WILD; a-- > 0;)
        if (w->enabled[a] && (oldest == RAD_NONE || w->since[a] <= w->since[oldest])) oldest = a;
    bool goes_on = k->step > 0 && !w->yielded && w->enabled[w->last_actor];
    w->wrong_baseline += d->baseline != (goes_on ? w->last_actor : oldest);
    w->wrong_baseline += d->preemptible != goes_on;
}

static void model_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    wild *w = ((wild_model *)o)->w;
    model_settle(w, k, action, k->step + 1);
    w->last_actor = k->actions[action].actor;
    w->yielded = f->yielded;
}

static void the_baseline_agrees_with_a_naive_model(void **state)
{
    (void)state;
    for (uint32_t limit = 50; limit < 80; limit++) {
        wild w = {.limit = limit};
        puppet p = {.reset = wild_reset, .step = wild_step, .data = &w};
        wild_model model = {
            {.changed = model_changed, .deciding = model_deciding, .decided = model_decided, .ran = model_ran}, &w};
        bare_rig b;
        bare_open(&b, &puppet_machine, &p, 1000);
        b.observer = &model.observer;
        bare_run(&b, limit % 2 ? "random" : "fair", limit, 0);
        assert_int_equal(w.wrong_baseline, 0);
        bare_close(&b);
    }
}

static void the_enabled_set_is_valid_after_every_step_and_indices_are_a_bijection(void **state)
{
    static const char *const policies[] = {"first", "random", "fair", "pct:4", "surw"};
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t shared = 0; shared < 2; shared++) {
            wild w = {.limit = 400, .shared = shared};
            puppet p = {.reset = wild_reset, .step = wild_step, .data = &w};
            bare_rig b;
            static witness eye;
            bare_open(&b, &puppet_machine, &p, 10000);
            witness_open(&eye);
            eye.check_valid = true;
            b.observer = &eye.observer;
            assert_int_equal(bare_run(&b, policies[i], 1, 0), RAD_OUTCOME_FINISHED);
            assert_true(eye.steps > 100 && eye.decisions > 100);
            assert_int_equal(eye.invalid, 0);
            assert_int_equal(eye.wrong_index, 0);
            assert_int_equal(eye.wrong_order, 0);
            uint64_t flagged = 0;
            for (uint64_t d = 0; d < b.kernel->decisions; d++)
                flagged += b.choices[d].chosen && (b.choices[d].flags & RAD_CHOICE_PREEMPTIBLE);
            if (!shared) assert_int_equal(flagged, eye.preemptions);
            bare_close(&b);
        }
    }
}

/* ---- Asking ---------------------------------------------------------------------------------------- */

static uint32_t stub_answer, stub_asked;
static rad_decision stub_decision;

static uint32_t stub_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    (void)p, (void)k;
    stub_asked++;
    stub_decision = *d;
    return stub_answer;
}

static const rad_policy_class STUB = {.name = "stub", .choose = stub_choose};
static rad_policy stub = {&STUB};

static enum rad_outcome stub_run(bare_rig *b, uint32_t answer)
{
    rad_run_options options = bare_options(b, &stub);
    stub_answer = answer;
    stub_asked = 0;
    return rad__kernel_run(b->kernel, &options);
}

static void a_set_of_one_is_not_asked_and_not_logged_but_traced(void **state)
{
    (void)state;
    weave w = weave_writers(1, 5);
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    assert_int_equal(stub_run(&b, 999), RAD_OUTCOME_FINISHED);
    assert_int_equal(stub_asked, 0);
    assert_int_equal(b.kernel->decisions, 0);
    assert_int_equal(b.choice_count, 0);
    assert_int_equal(b.kernel->step, 5);
    assert_int_equal(b.kernel->trace.count, 5);
    rad_digest five = b.kernel->trace.digest;
    w.count[0] = 4;
    assert_int_equal(stub_run(&b, 999), RAD_OUTCOME_FINISHED);
    assert_false(rad__digest_equal(five, b.kernel->trace.digest));
    bare_close(&b);
}

static void every_decision_is_recorded_with_what_was_asked(void **state)
{
    (void)state;
    weave w = weave_writers(3, 2);
    w.ops[0][0] = (weave_op){.what = WEAVE_PICK, .argument = 7};
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    uint32_t list[] = {0, 6, 2, 1};
    assert_int_equal(bare_guide(&b, list, 4), RAD_OUTCOME_FINISHED);
    static const rad_choice expected[] = {
        {.chosen = 0, .count = 3, .site = RAD_NONE, .kind = RAD_PICK_ACTION},
        {.chosen = 6, .count = 7, .site = 0, .kind = RAD_PICK_VALUE},
        {.chosen = 2, .count = 3, .site = 0, .flags = RAD_CHOICE_PREEMPTIBLE}, /* thread 2 */
        {.chosen = 1, .count = 3, .site = 2, .flags = RAD_CHOICE_PREEMPTIBLE}, /* thread 0 */
        {.chosen = 0, .count = 2, .site = RAD_NONE},                           /* thread 1 */
        {.chosen = 0, .count = 2, .site = 1, .flags = RAD_CHOICE_PREEMPTIBLE},
    };
    assert_int_equal(b.kernel->decisions, 6);
    assert_int_equal(b.choice_count, 6);
    assert_memory_equal(b.choices, expected, sizeof expected);
    static const uint8_t order[] = {0, 2, 0, 1, 1, 2};
    assert_memory_equal(w.order, order, sizeof order);
    assert_int_equal(b.kernel->switches, 4);
    bare_close(&b);
}

static void a_pick_of_one_is_not_a_decision(void **state)
{
    (void)state;
    weave w = weave_writers(1, 2);
    w.ops[0][0] = (weave_op){.what = WEAVE_PICK, .argument = 1};
    w.ops[0][1] = (weave_op){.what = WEAVE_PICK, .argument = 2};
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    assert_int_equal(stub_run(&b, 1), RAD_OUTCOME_FINISHED);
    assert_int_equal(stub_asked, 1);
    assert_int_equal(stub_decision.kind, RAD_PICK_VALUE);
    assert_int_equal(stub_decision.count, 2);
    assert_int_equal(stub_decision.baseline, RAD_NONE);
    assert_false(stub_decision.preemptible);
    assert_int_equal(rad__trace_at(&b.kernel->trace, 0)->what, RAD_EVENT_STEP);
    const rad_event *pick = rad__trace_at(&b.kernel->trace, 1);
    assert_int_equal(pick->what, RAD_EVENT_PICK);
    assert_int_equal(pick->kind, RAD_PICK_VALUE);
    assert_int_equal(pick->count, 2);
    assert_int_equal(pick->value, 1);
    assert_int_equal(pick->step, 1);
    assert_int_equal(pick->actor, 0);
    assert_int_equal(rad__trace_at(&b.kernel->trace, 2)->value, 1);
    bare_close(&b);
}

static void a_policy_that_answers_out_of_range_is_caught(void **state)
{
    (void)state;
    weave w = weave_writers(2, 2);
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    for (uint32_t answer = 2; answer; answer = answer == 2 ? UINT32_MAX : 0) {
        assert_int_equal(stub_run(&b, answer), RAD_OUTCOME_ERROR);
        assert_int_equal(b.kernel->error.code, RAD_EBUG);
        assert_string_equal(b.kernel->error.text, "a policy chose something that was not offered");
        assert_int_equal(b.kernel->step, 0);
        assert_int_equal(b.kernel->decisions, 0);
    }
    w.ops[0][0] = (weave_op){.what = WEAVE_PICK, .argument = 5};
    w.threads = 1;
    assert_int_equal(stub_run(&b, 5), RAD_OUTCOME_ERROR);
    assert_int_equal(b.kernel->error.code, RAD_EBUG);
    assert_int_equal(stub_run(&b, 1), RAD_OUTCOME_FINISHED); /* the next run is a run again */
    assert_int_equal(b.kernel->error.code, 0);
    bare_close(&b);
}

/* ---- Footprints and observers ------------------------------------------------------------------------ */

static void touch_reset(puppet *p, rad_kernel *k)
{
    uint32_t actor = rad_actor(k, RAD_NONE, "one");
    for (int i = 0; i < 3; i++) p->objects[i] = rad_object(k, RAD_NONE, "cell");
    p->actions[0] = rad_action(k, 0, actor, RAD_NONE, 0);
    rad_announce(k, p->actions[0], 4, p->objects[2], RAD_WRITE);
    rad_enable(k, p->actions[0]);
}

static void touch_step(puppet *p, rad_kernel *k, uint32_t action)
{
    rad_touch(k, p->objects[0], RAD_READ);
    rad_announce(k, action, 5, p->objects[1], RAD_READ); /* the next step's */
    rad_touch(k, p->objects[1], RAD_WRITE);
    rad_yields(k);
    if (k->step == 1) rad_disable(k, action);
}

static void ran_gets_the_announced_object_first_then_what_was_touched(void **state)
{
    (void)state;
    puppet p = {.reset = touch_reset, .step = touch_step};
    bare_rig b;
    static witness w;
    bare_open(&b, &puppet_machine, &p, 10);
    witness_open(&w);
    b.observer = &w.observer;
    b.max_steps = 1;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_CUT);
    static const rad_touched first[] = {{2, RAD_WRITE}, {0, RAD_READ}, {1, RAD_WRITE}};
    assert_int_equal(w.touched_count, 3);
    assert_memory_equal(w.touched, first, sizeof first);
    assert_true(w.last_yielded);
    assert_int_equal(rad__trace_at(&b.kernel->trace, 0)->site, 4);
    b.max_steps = 0;
    assert_int_equal(bare_guide(&b, NULL, 0), RAD_OUTCOME_FINISHED);
    static const rad_touched second[] = {{1, RAD_READ}, {0, RAD_READ}, {1, RAD_WRITE}};
    assert_memory_equal(w.touched, second, sizeof second);
    assert_int_equal(rad__trace_at(&b.kernel->trace, 1)->site, 5);
    assert_true(b.kernel->reached[4] && b.kernel->reached[5] && !b.kernel->reached[6]);
    bare_close(&b);
}

static char observer_log[400];

static void log_put(const char *format, ...) RAD_PRINTF(1, 2);
static void log_put(const char *format, ...)
{
    size_t used = strlen(observer_log);
    va_list args;
    va_start(args, format);
    vsnprintf(observer_log + used, sizeof observer_log - used, format, args);
    va_end(args);
}

static void log_begin(rad_observer *o, rad_kernel *k)
{
    (void)o, (void)k;
    log_put("begin ");
}

static void log_changed(rad_observer *o, rad_kernel *k, uint32_t action, bool enabled)
{
    (void)o, (void)k;
    log_put("%c%u ", enabled ? '+' : '-', action);
}

static bool log_deciding(rad_observer *o, rad_kernel *k)
{
    (void)o;
    log_put("? ");
    return k->step == 2;
}

static void log_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    (void)o, (void)k;
    log_put("%u/%u ", chosen, d->count);
}

static void log_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    (void)o, (void)k, (void)f;
    log_put("ran%u ", action);
}

static void observers_see_everything_in_order_and_may_end_the_run(void **state)
{
    (void)state;
    weave w = weave_writers(2, 2);
    bare_rig b;
    rad_observer o = {
        .begin = log_begin, .changed = log_changed, .deciding = log_deciding, .decided = log_decided, .ran = log_ran};
    rad_observer none = {0};
    bare_open(&b, &weave_machine, &w, 100);
    rad_run_options options = bare_options(&b, b.guide);
    options.observers[0] = &none;
    options.observers[1] = &o;
    uint32_t list[] = {1, 1};
    rad__guide_set(b.guide, list, 2);
    observer_log[0] = 0;
    assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_PRUNED);
    assert_string_equal(observer_log, "begin +0 +1 ? 1/2 ran1 ? 1/2 ran0 ? ");
    assert_int_equal(b.kernel->decisions, 2);
    /* Four of them, each told. */
    for (int i = 0; i < 4; i++) options.observers[i] = &o;
    o.deciding = NULL;
    w.threads = 1;
    w.count[0] = 1;
    observer_log[0] = 0;
    assert_int_equal(rad__kernel_run(b.kernel, &options), RAD_OUTCOME_FINISHED);
    assert_string_equal(observer_log, "begin begin begin begin +0 +0 +0 +0 -0 -0 -0 -0 "
                                      "ran0 ran0 ran0 ran0 ");
    bare_close(&b);
}

/* ---- Numbers and signatures -------------------------------------------------------------------------- */

/* Two spawners with two children each: the numbers depend on the schedule, the signatures do not. */
static weave family(void)
{
    weave w = weave_writers(6, 2);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 2; j++) {
            w.ops[i][j] = (weave_op){.what = WEAVE_SPAWN, .argument = 2 + 2 * i + j};
            w.spawned[2 + 2 * i + j] = true;
        }
    return w;
}

static void signatures_are_the_same_in_every_schedule(void **state)
{
    (void)state;
    weave w = family();
    bare_rig b;
    uint64_t expected[6] = {0};
    bool numbers_differ = false;
    uint32_t numbers[6] = {0};
    bare_open(&b, &weave_machine, &w, 100);
    for (uint64_t run = 0; run < 200; run++) {
        assert_int_equal(bare_run(&b, "random", 1, run), RAD_OUTCOME_FINISHED);
        for (uint32_t i = 0; i < 6; i++) {
            uint64_t signature = b.kernel->actors[w.actor[i]].signature;
            if (run == 0) expected[i] = signature;
            if (run == 0) numbers[i] = w.actor[i];
            assert_true(signature == expected[i]);
            numbers_differ |= numbers[i] != w.actor[i];
            for (uint32_t j = 0; j < i; j++) assert_true(expected[i] != expected[j]);
        }
    }
    assert_true(numbers_differ); /* otherwise the test shows nothing */
    bare_close(&b);
}

static void numbers_are_equal_after_equal_choices(void **state)
{
    (void)state;
    weave w = family();
    bare_rig b;
    bare_open(&b, &weave_machine, &w, 100);
    for (uint64_t run = 0; run < 50; run++) {
        bare_run(&b, "random", 2, run);
        uint64_t count = b.kernel->decisions;
        uint32_t list[100], actors[6];
        for (uint64_t i = 0; i < count; i++) list[i] = b.choices[i].chosen;
        memcpy(actors, w.actor, sizeof actors);
        rad_digest digest = b.kernel->trace.digest;
        bare_guide(&b, list, count);
        assert_memory_equal(actors, w.actor, sizeof actors);
        assert_true(rad__digest_equal(digest, b.kernel->trace.digest));
    }
    bare_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_baseline_goes_on_with_the_current_actor),
        cmocka_unit_test(after_a_block_the_one_enabled_longest_runs),
        cmocka_unit_test(an_action_that_ran_waits_again_from_the_end_of_its_step),
        cmocka_unit_test(a_yield_goes_to_another_one),
        cmocka_unit_test(an_actor_goes_on_with_its_other_action),
        cmocka_unit_test(the_baseline_turns_after_a_thousand_steps_of_one_actor),
        cmocka_unit_test(the_order_of_enabling_changes_nothing),
        cmocka_unit_test(the_baseline_agrees_with_a_naive_model),
        cmocka_unit_test(the_enabled_set_is_valid_after_every_step_and_indices_are_a_bijection),
        cmocka_unit_test(a_set_of_one_is_not_asked_and_not_logged_but_traced),
        cmocka_unit_test(every_decision_is_recorded_with_what_was_asked),
        cmocka_unit_test(a_pick_of_one_is_not_a_decision),
        cmocka_unit_test(a_policy_that_answers_out_of_range_is_caught),
        cmocka_unit_test(ran_gets_the_announced_object_first_then_what_was_touched),
        cmocka_unit_test(observers_see_everything_in_order_and_may_end_the_run),
        cmocka_unit_test(signatures_are_the_same_in_every_schedule),
        cmocka_unit_test(numbers_are_equal_after_equal_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
