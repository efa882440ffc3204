/* test_fairness.c — states that are known only with who may go next, turns of actors that made them alone, estimates
 * that starve nobody, steps that pct counts, ends that surw does not select, and actors that poll. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rig_support.h"

/* ---- States ----------------------------------------------------------------------------------------------
 * The first actor goes one of two ways to the same place, and fails if it is the first to leave it. On the way that is
 * tried first it yields twice, so it lets the others go before; on the second way it does not. */

enum { ASKS, FIRST_STEP, SECOND_STEP, THERE };

static uint32_t walk_phase, walk_others;
static bool walk_yields;

static void walk_reset(puppet *p, rad_kernel *k)
{
    static const char *const roles[] = {"walker", "left", "right"};
    walk_phase = ASKS;
    walk_others = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "place");
    for (uint32_t i = 0; i < 3; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, roles[i]), RAD_NONE, 0);
        rad_announce(k, p->actions[i], i, p->objects[0], RAD_WRITE);
        rad_enable(k, p->actions[i]);
    }
}

static void walk_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action != p->actions[0]) {
        rad_disable(k, action);
        walk_others |= 1U << (action == p->actions[1]);
        return;
    }
    if (walk_phase == ASKS) walk_yields = rad_pick(k, RAD_PICK_VALUE, 3, 2) == 0;
    if (walk_phase == THERE) {
        rad_disable(k, action);
        if (walk_others == 0) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "it left first");
        return;
    }
    if (walk_phase != ASKS && walk_yields) rad_yields(k);
    walk_phase++;
}

static void walk_state(const void *self, rad_state_hash *h)
{
    uint32_t way = walk_phase < THERE ? walk_yields : 0, all[] = {walk_phase, walk_others, way};
    (void)self;
    rad_state_add(h, all, sizeof all);
}

static void a_state_is_known_only_with_who_may_go_next(void **state)
{
    static const char *const strategies[] = {"dfs", "dedup"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        puppet p = {.reset = walk_reset, .step = walk_step};
        rad_machine m = puppet_machine;
        rad_exploration e;
        rad_error error = {0};
        rad_explore_options o = {.strategy = strategies[i], .runs = 10000, .seed = 1};
        m.state = walk_state;
        rad_target t = puppet_target(&p);
        t.machine = &m;
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        assert_int_equal(e.finding_count, 1);
        assert_true(e.runs < o.runs);
        rad_exploration_free(&e);
    }
}

/* ---- Turns ----------------------------------------------------------------------------------------------- */

/* Two writers, never RAD_TURN steps in a row: nobody is asked to let the other go first. */
static void a_turn_is_of_one_actor_alone(void **state)
{
    bare_rig b;
    (void)state;
    rad_target t = target_of("inc", "n=2 k=1000");
    void *self;
    rad_error error = {0};
    assert_int_equal(t.machine->create(&self, t.machine, &t.c, &error), 0);
    bare_open(&b, t.machine, self, 4096);
    b.fair = true;
    assert_int_equal(bare_run(&b, "random", 1, 0), RAD_OUTCOME_FINISHED);
    assert_true(b.kernel->step > 4 * RAD_TURN);
    assert_false(b.kernel->fair.active);
    bare_close(&b);
    t.machine->destroy(self);
}

/* ---- Estimates -------------------------------------------------------------------------------------------
 * It is known that each of two threads makes one step, and then the first makes three: its last step does not come
 * after all steps of the other in every run. */

static void an_estimate_that_was_too_low_starves_nobody(void **state)
{
    weave w = weave_writers(2, 8);
    bare_rig b;
    rad_estimates known = {0};
    rad_policy *p = policy_named("surw");
    uint32_t before = 0;
    (void)state;
    w.count[0] = 1;
    bare_open(&b, &weave_machine, &w, 64);
    rad_run_options o = bare_options(&b, p);
    o.into = &known;
    assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
    w.count[0] = 3;
    o.into = NULL;
    o.info.estimates = &known;
    for (o.info.run = 1; o.info.run <= 200; o.info.run++) {
        assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
        assert_int_equal(w.steps, 11);
        before += w.order[9] == 1 && w.order[10] == 1;
    }
    assert_true(before > 0);
    rad__policy_destroy(p);
    rad__estimates_free(&known);
    bare_close(&b);
}

/* ---- What pct counts ---------------------------------------------------------------------------------
 *
 * The first actor takes something with its first step, that the second needs for its only one, and gives it back with
 * the tenth of fourteen. There are five decisions if the first one is first, and eight steps in between. */

enum { TAKES = 0, GIVES = 9, HOLDER_STEPS = 14 };

static void section_reset(puppet *p, rad_kernel *k)
{
    uint32_t holder = rad_actor(k, RAD_NONE, "one"), other = rad_actor(k, RAD_NONE, "other");
    p->objects[0] = rad_object(k, RAD_NONE, p->data);
    p->actions[0] = rad_action(k, 0, holder, RAD_NONE, 0);
    p->actions[1] = rad_action(k, 0, other, RAD_NONE, 0);
    p->number = p->objects[1] = 0;
    rad_enable(k, p->actions[0]);
    rad_enable(k, p->actions[1]);
}

/* objects[1]: after how many steps of the first actor the second ran. */
static void section_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[1]) {
        p->objects[1] = (uint32_t)p->number;
        rad_disable(k, action);
        rad_ended(k, 1);
        return;
    }
    bool other_ran = !rad_is_enabled(k, p->actions[1]) && (p->number == TAKES || p->number > GIVES);
    if (p->number == TAKES && !other_ran) {
        rad_disable(k, p->actions[1]);
        rad_wait(k, 1, p->objects[0], 0);
    }
    if (p->number == GIVES && k->actors[1].waiting) rad_enable(k, p->actions[1]);
    if (++p->number < HOLDER_STEPS) return;
    rad_disable(k, action);
    rad_ended(k, 0);
}

/* In how many of 2,000 runs of pct:2 the second actor ran as soon as it could, after it had to wait; and what pct takes
 * for the length of a run. */
static uint32_t runs_at_once(const char *role, uint64_t *length)
{
    puppet p = {.reset = section_reset, .step = section_step, .data = (void *)(uintptr_t)role};
    bare_rig b;
    rad_estimates known = {0};
    rad_policy *policy = policy_named("pct:2");
    uint32_t at_once = 0;
    bare_open(&b, &puppet_machine, &p, 64);
    for (uint64_t run = 0; run < 2020; run++) {
        rad_run_options o = bare_options(&b, policy);
        if (run < 20) o.into = &known;
        o.info.run = run;
        if (run >= 20) o.info.estimates = &known;
        assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
        at_once += run >= 20 && p.objects[1] == GIVES + 1;
    }
    *length = known.chances_max;
    rad__policy_destroy(policy);
    rad__estimates_free(&known);
    bare_close(&b);
    return at_once;
}

static void pct_changes_priorities_inside_a_lock_that_is_waited_for(void **state)
{
    uint64_t length;
    (void)state;
    uint32_t at_once = runs_at_once("lock", &length);
    assert_int_equal(length, 5 + 8);
    assert_in_range(at_once, 600, 780); /* 2000 / 2 * 9 / 13 = 692 */
    /* An object that has the actor's role is its end: who waits for that cannot come earlier. */
    at_once = runs_at_once("one", &length);
    assert_int_equal(length, 5);
    assert_in_range(at_once, 140, 260); /* 2000 / 2 / 5 */
}

/* ---- What surw can select ----------------------------------------------------------------------------- */

/* Each of two actors touches the first object, and with its last step the second. p->number: with all its steps. */
static void ends_reset(puppet *p, rad_kernel *k)
{
    static const char *const roles[] = {"one", "other"};
    p->objects[0] = rad_object(k, RAD_NONE, "cell");
    p->objects[1] = rad_object(k, RAD_NONE, "one");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, roles[i]), RAD_NONE, 0);
        p->actions[2 + i] = 0;
        rad_enable(k, p->actions[i]);
    }
}

static void ends_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t i = action == p->actions[1];
    bool last = p->actions[2 + i]++ == 1;
    if (!last || p->number) rad_touch(k, p->objects[0], RAD_WRITE);
    if (last || p->number) rad_touch(k, p->objects[1], RAD_WRITE);
    if (!last) return;
    rad_disable(k, action);
    rad_ended(k, i);
}

static bool surw_learns_of(bool often, uint32_t actor, uint32_t object)
{
    puppet p = {.reset = ends_reset, .step = ends_step, .number = often};
    bare_rig b;
    rad_estimates known = {0};
    rad_policy *policy = policy_named("surw");
    bare_open(&b, &puppet_machine, &p, 64);
    rad_run_options o = bare_options(&b, policy);
    o.into = &known;
    assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
    uint64_t signature = b.kernel->objects[p.objects[object]].signature;
    bool learnt = rad__estimates_find(&known, b.kernel->actors[actor].signature, signature) != NULL;
    rad__policy_destroy(policy);
    rad__estimates_free(&known);
    bare_close(&b);
    return learnt;
}

static void surw_selects_no_end_of_an_actor(void **state)
{
    (void)state;
    for (uint32_t actor = 0; actor < 2; actor++) assert_true(surw_learns_of(false, actor, 0));
    assert_false(surw_learns_of(false, 0, 1));
    assert_true(surw_learns_of(false, 1, 1));
    assert_true(surw_learns_of(true, 0, 1)); /* it only has the actor's name */
}

/* ---- An actor that polls ----------------------------------------------------------------------------------
 * One looks for the end by itself, over and over; two more touch one cell, the second of them only after the first. So
 * if surw has drawn the second one, only the one that looks is free. p->number: the steps on the cell. */

enum { POLLER, OPENER, CLOSER };

static void polled_reset(puppet *p, rad_kernel *k)
{
    static const char *const roles[] = {"poller", "opener", "closer"};
    p->number = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "cell");
    for (uint32_t i = POLLER; i <= CLOSER; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, roles[i]), RAD_NONE, 0);
        if (i != CLOSER) rad_enable(k, p->actions[i]);
        if (i != POLLER) rad_announce(k, p->actions[i], 0, p->objects[0], RAD_WRITE);
    }
}

static void polled_step(puppet *p, rad_kernel *k, uint32_t action)
{
    bool polls = action == p->actions[POLLER];
    if (polls && p->number < 2) return;
    rad_disable(k, action);
    if (polls) return;
    rad_touch(k, p->objects[0], RAD_WRITE);
    if (++p->number == 1) rad_enable(k, p->actions[CLOSER]);
}

static void an_actor_that_polls_keeps_nobody_waiting(void **state)
{
    puppet p = {.reset = polled_reset, .step = polled_step};
    bare_rig b;
    rad_estimates known = {0};
    rad_policy *policy = policy_named("surw");
    (void)state;
    bare_open(&b, &puppet_machine, &p, 1000);
    rad_run_options o = bare_options(&b, policy);
    o.into = &known;
    assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
    o.into = NULL;
    o.info.estimates = &known;
    for (o.info.run = 1; o.info.run <= 200; o.info.run++)
        assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
    rad__policy_destroy(policy);
    rad__estimates_free(&known);
    bare_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_known_only_with_who_may_go_next),
        cmocka_unit_test(a_turn_is_of_one_actor_alone),
        cmocka_unit_test(an_estimate_that_was_too_low_starves_nobody),
        cmocka_unit_test(surw_selects_no_end_of_an_actor),
        cmocka_unit_test(an_actor_that_polls_keeps_nobody_waiting),
        cmocka_unit_test(pct_changes_priorities_inside_a_lock_that_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
