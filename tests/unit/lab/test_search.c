/* test_search.c — what a search keeps from batch to batch: runs that were cut, rounds, what was spent above the floor
 * of a path; and races have one name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/batch.h"
#include "rig_support.h"

#include <string.h>

static rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 1};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s: %s", strategy, error.text);
    return e;
}

/* ---- Runs that do not end -------------------------------------------------------------------------------- */

enum { BRANCHES = 11 }; /* more runs than a unit has */

/* One actor. Its first choice is to go round for ever or to make BRANCHES choices and end. */
static void branching_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    p->actions[0] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
    rad_enable(k, p->actions[0]);
}

static void branching_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (p->number == 0 && rad_pick(k, RAD_PICK_VALUE, RAD_NONE, 2) == 0) p->number = UINT64_MAX;
    if (p->number == UINT64_MAX) return;
    rad_pick(k, RAD_PICK_VALUE, RAD_NONE, 2);
    if (++p->number == BRANCHES) rad_disable(k, action);
}

/* The run that was cut is the first of all, and in the last units none is. */
static void a_run_that_was_cut_long_ago_counts(void **state)
{
    (void)state;
    puppet p = {.reset = branching_reset, .step = branching_step};
    rad_target t = puppet_target(&p);
    t.c.max_steps = 100;
    rad_exploration e = explored(&t, "dfs", 10000);
    assert_int_equal(e.runs, 1 + (1 << BRANCHES));
    assert_int_equal(e.cut, 1);
    assert_true(e.phases[0].exhausted);
    assert_true(e.phases[0].endless);
    assert_false(e.complete);
    rad_exploration_free(&e);
}

/* ---- Circles ---------------------------------------------------------------------------------------------
 * Two actors and a number: one counts up to 2, where all ends; the other takes 1 back to 0, and ends it from there.
 * Only a run that was led to 1 by its path goes round. */

static void circle_enable(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 2; i++)
        if (p->number < 2)
            rad_enable(k, p->actions[i]);
        else
            rad_disable(k, p->actions[i]);
}

static void circle_reset(puppet *p, rad_kernel *k)
{
    static const char *const roles[] = {"up", "back"};
    p->number = 0;
    for (uint32_t i = 0; i < 2; i++) p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, roles[i]), RAD_NONE, 0);
    circle_enable(p, k);
}

static void circle_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[0])
        p->number++;
    else
        p->number = p->number == 1 ? 0 : 2;
    circle_enable(p, k);
}

static void circle_state(const void *self, rad_state_hash *h)
{
    const puppet *p = self;
    rad_state_add(h, &p->number, sizeof p->number);
}

static void a_circle_back_into_the_path_is_seen(void **state)
{
    (void)state;
    puppet p = {.reset = circle_reset, .step = circle_step};
    rad_machine m = puppet_machine;
    m.state = circle_state;
    rad_target t = puppet_target(&p);
    t.machine = &m;
    rad_exploration e = explored(&t, "dedup", 100);
    assert_int_equal(e.states, 2); /* those in which there is a choice */
    assert_true(e.phases[0].exhausted);
    assert_true(e.phases[0].endless);
    assert_false(e.complete);
    char text[RAD_STATEMENT_MAX];
    rad_exploration_text(&t, &e, text);
    assert_non_null(strstr(text, "go round in circles"));
    rad_exploration_free(&e);
}

/* A program that never starts a second thread is explored at once, and completely: that says nothing about threads. */
static void a_search_without_steps_says_so(void **state)
{
    (void)state;
    puppet p = {0};
    rad_target t = puppet_target(&p);
    rad_exploration e = {.runs = 14, .complete = true};
    char text[RAD_STATEMENT_MAX];
    rad_exploration_text(&t, &e, text);
    assert_non_null(strstr(text, "nothing found in 14 runs, in which nothing ran at the same time; every schedule"));
    e.steps = 14;
    rad_exploration_text(&t, &e, text);
    assert_non_null(strstr(text, "nothing found in 14 runs; every schedule"));
}

/* ---- A path cut in two ----------------------------------------------------------------------------------- */

/* What was spent above the floor is spent: the half that is given away must keep to the bound, too. */
static void what_was_spent_above_the_floor_counts(void **state)
{
    (void)state;
    rad_choice path[3];
    rad_batch u = {.kind = RAD_BATCH_TREE,
                   .bound = RAD_BOUND_PREEMPTIONS,
                   .bound_limit = 1,
                   .floor = 1,
                   .path = path,
                   .path_count = 3},
              other;
    for (uint32_t i = 0; i < 3; i++)
        path[i] = (rad_choice){.count = 2, .kind = RAD_PICK_ACTION, .flags = RAD_CHOICE_PREEMPTIBLE};
    path[0].chosen = 1;
    assert_false(rad__tree_split(&u, &other));
    u.bound_limit = 2;
    assert_true(rad__tree_split(&u, &other));
    assert_int_equal(other.path_count, 2);
    assert_int_equal(other.path[1].chosen, 1);
    assert_int_equal(u.floor, 2);
    rad__batch_free(&other);
}

/* ---- Races -----------------------------------------------------------------------------------------------
 * Two accesses in one function, in either order. */

static const rad_code_site places[] = {{"count", "read", 1, NULL, NULL}, {"count", "write", 2, NULL, NULL}};

static void pair_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
    p->objects[0] = rad_object(k, RAD_NONE, "counter");
}

static void pair_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t who = action == p->actions[1];
    rad_disable(k, action);
    if (++p->number == 2) rad_race(k, RAD_ORACLE_OWN, p->objects[0], &places[!who], &places[who], "a race");
}

static void a_race_has_one_name_whoever_comes_first(void **state)
{
    (void)state;
    puppet p = {.reset = pair_reset, .step = pair_step};
    rad_target t = puppet_target(&p);
    rad_exploration e = explored(&t, "dfs", 100);
    assert_int_equal(e.runs, 2);
    assert_int_equal(e.failures, 2);
    assert_int_equal(e.finding_count, 1);
    assert_int_equal(e.findings[0].failures, 2);
    assert_string_equal(rad_artifact_verdict(e.findings[0].artifact)->identity,
                        "own:counter@count: read / count: write 2");
    rad_exploration_free(&e);
}

/* ---- Estimates ------------------------------------------------------------------------------------------- */

/* What is only read conflicts with nobody, however often it was seen. */
static void reads_stay_reads(void **state)
{
    (void)state;
    rad_estimates e = {0}, more = {0};
    const rad_estimate one = {.actor = 1, .object = 2, .events = 5, .writes = 2, .runs = 1},
                       reads = {.actor = 1, .object = 3, .events = 4, .runs = 1};
    rad__estimates_add(&e, &one);
    rad__estimates_add(&e, &reads);
    rad__estimates_add(&more, &one);
    rad__estimates_add(&more, &reads);
    rad__estimates_fold(&e, &more);
    const rad_estimate *found = rad__estimates_find(&e, 1, 2);
    assert_int_equal(found->events, 10);
    assert_int_equal(found->writes, 4);
    assert_int_equal(found->runs, 2);
    found = rad__estimates_find(&e, 1, 3);
    assert_int_equal(found->events, 8);
    assert_int_equal(found->writes, 0);
    rad__estimates_free(&e);
    rad__estimates_free(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_was_cut_long_ago_counts),
        cmocka_unit_test(a_circle_back_into_the_path_is_seen),
        cmocka_unit_test(a_search_without_steps_says_so),
        cmocka_unit_test(what_was_spent_above_the_floor_counts),
        cmocka_unit_test(a_race_has_one_name_whoever_comes_first),
        cmocka_unit_test(reads_stay_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
