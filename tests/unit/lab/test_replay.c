/* test_replay.c — replay compares all that was recorded, shrinking tries each way and certifies, stories tell who. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/shrink.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first failure of a policy with this identity (NULL: any). */
static rad_artifact *failing(const rad_target *t, const char *strategy, const char *identity)
{
    rad_exploration e;
    rad_error error = {0};
    rad_artifact *a = NULL;
    rad_explore_options o = {.strategy = strategy, .runs = 2000, .seed = 1};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < e.finding_count && a == NULL; i++) {
        const char *found = rad_artifact_verdict(e.findings[i].artifact)->identity;
        if (identity && strcmp(found, identity) != 0) continue;
        a = e.findings[i].artifact;
        e.findings[i].artifact = NULL;
    }
    rad_exploration_free(&e);
    assert_non_null(a);
    return a;
}

/* A failing run by its choices. */
static rad_artifact *given(const rad_target *t, const char *identity, const uint32_t *list, uint64_t count)
{
    rad_artifact *a = NULL;
    rad_error error = {0};
    rad_verdict v = {.result = RAD_RESULT_FAILURE};
    rad_choice choices[64] = {{0}};
    snprintf(v.identity, sizeof v.identity, "%s", identity);
    for (uint64_t i = 0; i < count; i++) choices[i].chosen = list[i];
    assert_int_equal(rad__artifact_of_choices(&a, t, "given", 0, choices, count, &v, &error), 0);
    return a;
}

static rad_artifact *shrunk(const rad_artifact *a, rad_shrink_report *report)
{
    rad_artifact *out = NULL;
    rad_error error = {0};
    if (rad_lab_shrink(a, NULL, &out, report, &error) != 0) fail_msg("%s", error.text);
    rad_artifact_free(report->second);
    report->second = NULL;
    return out;
}

/* ---- Replay ----------------------------------------------------------------------------------------- */

/* Two actors; fails in step 150. What else happens is the test's to say. */
static struct lane {
    uint64_t value;    /* of step 100 */
    uint64_t third_at; /* a third actor is there after this step */
    bool repaired;     /* ends well, after 90 steps */
} lane;

static void lane_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "lane");
    for (uint32_t i = 0; i < 3; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        if (i < 2) rad_enable(k, p->actions[i]);
    }
}

static void lane_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)action;
    if (k->step == 100) rad_value(k, lane.value);
    if (lane.third_at && k->step == lane.third_at) rad_enable(k, p->actions[2]);
    if (k->step == 150) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "there");
    if (!lane.repaired || k->step < 90) return;
    for (uint32_t i = 0; i < 3; i++) rad_disable(k, p->actions[i]);
}

static rad_artifact *lane_artifact(void)
{
    static puppet p = {.reset = lane_reset, .step = lane_step};
    lane = (struct lane){0};
    rad_target t = puppet_target(&p);
    rad_artifact *a = failing(&t, "random", NULL);
    assert_int_equal(rad_artifact_verdict(a)->decisions, 151);
    assert_int_equal(a->set_hash_count, 3);
    return a;
}

static rad_replay replayed(const rad_artifact *a)
{
    rad_replay r;
    rad_error error = {0};
    assert_int_equal(rad_lab_replay(a, NULL, &r, &error), 0);
    return r;
}

/* The same failure in the same step after the same decisions, and yet another run. */
static void a_replay_with_another_trace_is_not_as_recorded(void **state)
{
    (void)state;
    rad_artifact *a = lane_artifact();
    assert_true(replayed(a).as_recorded);
    lane.value = 1;
    rad_replay r = replayed(a);
    assert_false(r.as_recorded);
    assert_string_equal(r.actual.identity, "assertion:lane@there");
    assert_non_null(strstr(r.reason, "as recorded, but the trace differs"));
    rad_artifact_free(a);
}

/* Every single thing the file says about the run has to be so. */
static void a_replay_compares_all_that_was_recorded(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        rad_artifact *a = lane_artifact();
        rad_verdict *v = &a->expected;
        if (i == 0) snprintf(v->kind, sizeof v->kind, "invariant");
        if (i == 1) snprintf(v->identity, sizeof v->identity, "assertion:road");
        if (i == 2) v->steps++;
        if (i == 3) v->decisions++;
        if (i == 4) v->failure_step++;
        if (i == 5) v->result = RAD_RESULT_PASS;
        if (replayed(a).as_recorded) fail_msg("change %u went unnoticed", i);
        rad_artifact_free(a);
    }
}

static void a_replay_says_between_which_decisions_the_runs_part(void **state)
{
    static const struct {
        uint64_t third_at;
        const char *text;
    } table[] = {
        {10, "; the runs part between decisions 0 and 64"},
        {62, "; the runs part between decisions 0 and 64"}, /* decision 64 has the new set */
        {63, "; the runs part between decisions 64 and 128"},
        {100, "; the runs part between decisions 64 and 128"},
        {126, "; the runs part between decisions 64 and 128"},
        {127, "; the runs part after decision 128"},
        {140, "; the runs part after decision 128"},
    };
    (void)state;
    rad_artifact *a = lane_artifact();
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
        lane.third_at = table[i].third_at;
        rad_replay r = replayed(a);
        assert_false(r.as_recorded);
        const char *where = strrchr(r.reason, ';');
        assert_non_null(where);
        assert_string_equal(where, table[i].text);
    }
    rad_artifact_free(a);
}

/* The hashes of the failing run are not those of the one that passes. */
static void an_accepted_artifact_can_be_read_again(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_artifact *a = lane_artifact(), *back = NULL;
    assert_int_equal(rad_machine_add(&puppet_machine, &error), 0);
    lane.repaired = true;
    assert_int_equal(rad_artifact_accept(a, &error), 0);
    assert_int_equal(a->set_hash_count, 0);
    char *text = rad_artifact_json(a, &error);
    if (rad__artifact_parse(&back, text, strlen(text), "accepted", false, &error) != 0) fail_msg("%s", error.text);
    assert_true(replayed(back).as_recorded);
    rad_free(text);
    rad_artifact_free(back);
    rad_artifact_free(a);
}

/* ---- Stories ---------------------------------------------------------------------------------------- */

/* Actor 0 spawns actor 2 and ends; actor 1 does something else; actor 2 fails. Nothing is shared. */
static void family_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "child");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void family_step(puppet *p, rad_kernel *k, uint32_t action)
{
    rad_disable(k, action);
    if (action == p->actions[0]) {
        p->actions[2] = rad_action(k, 0, rad_actor(k, 0, "child"), RAD_NONE, 0);
        rad_enable(k, p->actions[2]);
    }
    if (action == p->actions[2]) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "it was born");
}

static void a_story_shows_who_spawned_the_one_that_failed(void **state)
{
    (void)state;
    puppet p = {.reset = family_reset, .step = family_step};
    rad_target t = puppet_target(&p);
    rad_artifact *a = given(&t, "assertion:child", (uint32_t[]){1}, 1);
    rad_story *s = NULL;
    rad_error error = {0};
    assert_int_equal(rad_lab_story(a, &s, &error), 0);
    assert_int_equal(s->line_count, 3);
    assert_int_equal(s->lines[0].actor, 1);
    assert_true(s->lines[0].hidden);
    assert_int_equal(s->lines[1].actor, 0);
    assert_false(s->lines[1].hidden);
    assert_false(s->lines[2].hidden);
    rad_story_free(s);
    rad_artifact_free(a);
}

/* ---- Shrinking choices ------------------------------------------------------------------------------ */

/* Three actors of two steps; fails as red or green when the order so far is the wanted one. */
typedef struct chain {
    const char *red, *green;
    char order[16];
    uint32_t left[3];
} chain;

static void chain_reset(puppet *p, rad_kernel *k)
{
    chain *c = p->data;
    memset(c->order, 0, sizeof c->order);
    p->objects[0] = rad_object(k, RAD_NONE, "red");
    p->objects[1] = rad_object(k, RAD_NONE, "green");
    for (uint32_t i = 0; i < 3; i++) {
        c->left[i] = 2;
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void chain_step(puppet *p, rad_kernel *k, uint32_t action)
{
    chain *c = p->data;
    c->order[k->step] = (char)('0' + action);
    if (--c->left[action] == 0) rad_disable(k, action);
    if (strcmp(c->order, c->red) == 0) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "red");
    if (strcmp(c->order, c->green) == 0) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[1], "green");
}

/* Red needs two preemptions; green, which needs none, is met on the way and proves nothing about red. */
static void another_bug_does_not_spoil_a_certificate(void **state)
{
    (void)state;
    chain c = {.red = "010", .green = "1"};
    puppet p = {.reset = chain_reset, .step = chain_step, .data = &c};
    rad_target t = puppet_target(&p);
    rad_artifact *found = failing(&t, "dfs", "assertion:red@red");
    rad_shrink_report report;
    rad_artifact *small = shrunk(found, &report);
    assert_int_equal(report.after.preemptions, 2);
    assert_true(report.certified_runs > 0);
    assert_int_equal(report.certificate, RAD_MINIMAL);
    rad_artifact_free(found);
    rad_artifact_free(small);
}

static void drawing_reset(puppet *p, rad_kernel *k)
{
    p->objects[0] = rad_object(k, RAD_NONE, "drawn");
    rad_enable(k, rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0));
}

static void drawing_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t first = rad_pick(k, RAD_PICK_VALUE, 0, 100);
    uint32_t second = rad_pick(k, RAD_PICK_VALUE, 0, 100);
    rad_disable(k, action);
    if (first >= 13 && second >= 5) rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "%u and %u", first, second);
}

static void every_value_that_was_drawn_is_the_lowest_that_fails(void **state)
{
    (void)state;
    puppet p = {.reset = drawing_reset, .step = drawing_step};
    rad_target t = puppet_target(&p);
    rad_artifact *found = given(&t, "assertion:drawn", (uint32_t[]){99, 42}, 2);
    rad_shrink_report report;
    rad_artifact *small = shrunk(found, &report);
    assert_int_equal(small->choice_count, 2);
    assert_int_equal(small->choices[0], 13);
    assert_int_equal(small->choices[1], 5);
    rad_artifact_free(found);
    rad_artifact_free(small);
}

/* Three actors of two steps, each of which offers the turn. Fails in the second step of actor 2 when actor 1 has
 * made one and actor 0 none. */
static void polite_step(puppet *p, rad_kernel *k, uint32_t action)
{
    chain *c = p->data;
    if (action == p->actions[2] && c->left[0] == 2 && c->left[1] == 1 && c->left[2] == 1)
        rad_fail(k, RAD_ORACLE_ASSERT, p->objects[0], "in between");
    if (--c->left[action] == 0) rad_disable(k, action);
    rad_yields(k);
}

/* Pulling the second step of actor 2 back before that of actor 1 makes it pass; pushing the first one forward
 * leaves one switch. */
static void the_earlier_of_two_blocks_may_move_too(void **state)
{
    (void)state;
    chain c = {.red = ""};
    puppet p = {.reset = chain_reset, .step = polite_step, .data = &c};
    rad_target t = puppet_target(&p);
    rad_artifact *found = given(&t, "assertion:red", (uint32_t[]){2, 1, 2}, 3);
    rad_shrink_report report;
    rad_artifact *small = shrunk(found, &report);
    assert_int_equal(report.before.switches, 2);
    assert_int_equal(report.after.switches, 1);
    assert_int_equal(report.after.steps, 3);
    rad_artifact_free(found);
    rad_artifact_free(small);
}

/* ---- Shrinking cases -------------------------------------------------------------------------------- */

/* One actor; in step 20 it fails if the case says so. */
static rad_case sized;
static bool (*sized_fails)(const rad_case *c);

static int sized_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)error;
    sized = *c;
    *self = &sized;
    return 0;
}

static void sized_destroy(void *self)
{
    (void)self;
}

static void sized_reset(void *self, rad_kernel *k)
{
    (void)self;
    rad_object(k, RAD_NONE, "size");
    rad_enable(k, rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0));
}

static void sized_step(void *self, rad_kernel *k, uint32_t action)
{
    if (k->step < 20) return;
    rad_disable(k, action);
    if (sized_fails(self)) rad_fail(k, RAD_ORACLE_ASSERT, 0, "too large");
}

static enum rad_end sized_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const rad_param sized_params[] = {
    {.name = "a", .default_value = 10, .min = 0, .max = 20},
    {.name = "b", .default_value = 10, .min = 0, .max = 20},
    {.name = "f", .default_value = 9, .min = 0, .max = 9, .fixed = true},
    {.name = NULL},
};

static rad_machine sized_machine = {
    .name = "sized",
    .about = "fails by its case",
    .params = sized_params,
    .bug_site = RAD_NONE,
    .create = sized_create,
    .destroy = sized_destroy,
    .reset = sized_reset,
    .step = sized_step,
    .idle = sized_idle,
};

/* Shrinks the default case of a machine with this failure and these reducers; gives back its new case. */
static rad_case sized_shrunk(bool (*fails)(const rad_case *c),
                             bool (*reduce)(const rad_case *from, rad_cursor *at, rad_case *to),
                             rad_shrink_report *report)
{
    sized_fails = fails;
    sized_machine.reduce = reduce;
    rad_target t = {.machine = &sized_machine, .c = {.params = {10, 10, 9}}};
    rad_artifact *found = given(&t, "assertion:size", NULL, 0);
    rad_artifact *small = shrunk(found, report);
    rad_case c = rad_artifact_target(small)->c;
    rad_artifact_free(found);
    rad_artifact_free(small);
    return c;
}

static bool from_seven_on(const rad_case *c)
{
    return c->params[0] >= 7;
}

static bool both_equal(const rad_case *c)
{
    return c->params[0] == c->params[1] && !c->repaired;
}

/* 10 is the default; neither 0 nor a half of what it is by then will do, until it is 7. */
static void a_parameter_goes_down_one_by_one_where_no_half_fails(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_case c = sized_shrunk(from_seven_on, NULL, &report);
    assert_int_equal(c.params[0], 7);
    assert_int_equal(c.params[1], 0);
}

static void a_fixed_parameter_is_neither_shrunk_nor_counted(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_case c = sized_shrunk(from_seven_on, NULL, &report);
    assert_int_equal(c.params[2], 9);
    assert_int_equal(report.before.case_size, 20);
    assert_int_equal(report.after.case_size, 7);
}

static bool both_less(const rad_case *from, rad_cursor *at, rad_case *to)
{
    if (at->at[0]++ > 0 || from->params[0] == 0 || from->params[1] == 0) return false;
    to->params[0]--;
    to->params[1]--;
    return true;
}

static void parameters_that_go_together_shrink_together(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_case c = sized_shrunk(both_equal, NULL, &report);
    assert_int_equal(c.params[0], 10);
    assert_int_equal(c.params[1], 10);
    c = sized_shrunk(both_equal, both_less, &report);
    assert_int_equal(c.params[0], 0);
    assert_int_equal(c.params[1], 0);
}

/* The same numbers twice: first of the twin, or with too few steps, then as they are. */
static bool less_of_the_twin(const rad_case *from, rad_cursor *at, rad_case *to)
{
    rad_cursor once = {.taken = false};
    if (at->at[0] > 1 || !both_less(from, &once, to)) return false;
    to->repaired = at->at[0]++ == 0;
    return true;
}

static bool less_with_few_steps(const rad_case *from, rad_cursor *at, rad_case *to)
{
    rad_cursor once = {.taken = false};
    if (at->at[0] > 1 || !both_less(from, &once, to)) return false;
    to->max_steps = at->at[0]++ == 0 ? 10 : 0;
    return true;
}

static void a_case_is_tried_as_it_is_and_not_as_the_one_before(void **state)
{
    (void)state;
    rad_shrink_report report;
    rad_case c = sized_shrunk(both_equal, less_of_the_twin, &report);
    assert_int_equal(c.params[0], 0);
    assert_false(c.repaired);
    c = sized_shrunk(both_equal, less_with_few_steps, &report);
    assert_int_equal(c.params[0], 0);
    assert_int_equal(c.max_steps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_with_another_trace_is_not_as_recorded),
        cmocka_unit_test(a_replay_compares_all_that_was_recorded),
        cmocka_unit_test(a_replay_says_between_which_decisions_the_runs_part),
        cmocka_unit_test(an_accepted_artifact_can_be_read_again),
        cmocka_unit_test(a_story_shows_who_spawned_the_one_that_failed),
        cmocka_unit_test(another_bug_does_not_spoil_a_certificate),
        cmocka_unit_test(every_value_that_was_drawn_is_the_lowest_that_fails),
        cmocka_unit_test(the_earlier_of_two_blocks_may_move_too),
        cmocka_unit_test(a_parameter_goes_down_one_by_one_where_no_half_fails),
        cmocka_unit_test(a_fixed_parameter_is_neither_shrunk_nor_counted),
        cmocka_unit_test(parameters_that_go_together_shrink_together),
        cmocka_unit_test(a_case_is_tried_as_it_is_and_not_as_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
