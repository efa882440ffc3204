/* test_suppressed.c — races that do not count: which pattern names them, how they are counted, and that they hide
 * nothing: not the death of a run, not a race that comes late, not a certificate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/artifact.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One actor --------------------------------------------------------------------------------------------
 * Each of its steps sees a race of its own, and then something happens. */

enum { RACES = 12 };

static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "last"};

static void one_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "thing");
    p->actions[0] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
    rad_enable(k, p->actions[0]);
}

static void race(rad_kernel *k, uint32_t number)
{
    const rad_code_site one = {letters[number], "read", 1, "/home/me/src/list.c", "server"};
    const rad_code_site other = {letters[number], "write", 1, "lib/queue.h", "libqueue.so"};
    rad_race(k, RAD_ORACLE_OWN, RAD_NONE, &one, &other, "a race");
}

static void one_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (p->number == RACES)
        rad_disable(k, action);
    else
        race(k, (uint32_t)p->number++);
}

static void dying_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (p->number == RACES) abort();
    one_step(p, k, action);
}

static rad_exploration explored(puppet *p, rad_target *t, const char *strategy, const char *const *patterns)
{
    rad_exploration e;
    rad_error error = {0};
    *t = puppet_target(p);
    rad_explore_options o = {.strategy = strategy, .runs = 50, .seed = 1, .suppressed = patterns};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    return e;
}

/* A function, the end of a path from a slash on, or a program or library. */
static void a_pattern_is_a_function_a_path_or_a_module(void **state)
{
    static const struct {
        const char *pattern;
        uint32_t times;
    } rows[] = {{"a", 1},
                {"las*", 1},
                {"list.c", RACES},
                {"src/list.c", RACES},
                {"/home/*", RACES},
                {"ist.c", 0},
                {"/list.c", 0},
                {"./src/*.c", RACES},
                {"../../src/list.c", RACES},
                {"*.h", RACES},
                {"lib/queue.h", RACES},
                {"/lib/queue.h", 0},
                {"server", RACES},
                {"libqueue*", RACES},
                {"rver", 0},
                {"nothing", 0}};
    enum { ROWS = sizeof rows / sizeof *rows };
    const char *list[ROWS + 1] = {NULL};
    puppet p = {.reset = one_reset, .step = one_step};
    rad_target t;
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) list[i] = rows[i].pattern;
    rad_exploration e = explored(&p, &t, "dfs", list);
    assert_int_equal(e.runs, 1);
    assert_int_equal(e.finding_count, 0);
    assert_int_equal(e.races_suppressed, RACES); /* each once, whatever matches it */
    assert_int_equal(e.suppressed_count, ROWS);
    for (uint32_t i = 0; i < ROWS; i++)
        if (e.suppressed_by[i] != rows[i].times)
            fail_msg("%s: %u, not %u", list[i], (unsigned)e.suppressed_by[i], rows[i].times);
    rad_exploration_free(&e);
}

/* What was suppressed before a run's process died counts, too: otherwise a line would look as if it were not needed. */
static void runs_that_die_are_counted(void **state)
{
    static const char *const list[] = {"nothing", "b", "list.c", NULL};
    puppet p = {.reset = one_reset, .step = dying_step};
    rad_target t;
    (void)state;
    rad_exploration e = explored(&p, &t, "dfs", list);
    assert_int_equal(e.failures, 1);
    assert_int_equal(e.races_suppressed, RACES);
    assert_int_equal(e.suppressed_by[0], 0);
    assert_int_equal(e.suppressed_by[1], 1);
    assert_int_equal(e.suppressed_by[2], RACES);
    rad_exploration_free(&e);
}

/* Replaying knows of no patterns: more races than a run reports come before the recorded one. */
static void a_race_behind_many_suppressed_ones_replays(void **state)
{
    static const char *const list[] = {"?", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", NULL};
    puppet p = {.reset = one_reset, .step = one_step};
    rad_target t;
    rad_replay r;
    rad_error error = {0};
    (void)state;
    rad_exploration e = explored(&p, &t, "dfs", list);
    assert_int_equal(e.finding_count, 1);
    assert_int_equal(rad_lab_replay(e.findings[0].artifact, NULL, &r, &error), 0);
    if (!r.as_recorded) fail_msg("%s", r.reason);
    rad_exploration_free(&e);
}

/* A file that expects a pass holds as long as only races are met that do not count. */
static void a_pass_with_a_known_race_is_a_pass(void **state)
{
    static const char *const list[] = {"list.c", NULL};
    puppet p = {.reset = one_reset, .step = one_step};
    rad_target t = puppet_target(&p);
    rad_artifact *a = NULL;
    rad_verdict v;
    rad_replay r;
    rad_error error = {0};
    (void)state;
    rad_lab_suppress(list);
    rad_run_request request = {.policy = "first", .seed = 1, .artifact = &a};
    assert_int_equal(rad_lab_run(&t, &request, &v, &error), 0);
    assert_int_equal(v.result, RAD_RESULT_PASS);
    assert_int_equal(rad_lab_replay(a, NULL, &r, &error), 0);
    assert_true(r.as_recorded);
    rad_lab_suppress(NULL);
    assert_int_equal(rad_lab_replay(a, NULL, &r, &error), 0);
    assert_false(r.as_recorded);
    rad_artifact_free(a);
}

/* ---- Three actors -----------------------------------------------------------------------------------------
 * Each sees eight races of its own: together more than an exploration lists. The first one opens a door for one step;
 * the second one must not come through it, which takes a preemption. */

enum { ACTORS = 3, STEPS = 8 };

static void three_reset(puppet *p, rad_kernel *k)
{
    uint32_t *steps = p->data;
    p->number = 0;
    for (uint32_t i = 0; i < ACTORS; i++) {
        steps[i] = 0;
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void three_step(puppet *p, rad_kernel *k, uint32_t action)
{
    uint32_t *steps = p->data, who = 0;
    while (p->actions[who] != action) who++;
    uint32_t step = steps[who]++;
    const rad_code_site one = {letters[who], "read", step + 1, "known.c", NULL};
    rad_race(k, RAD_ORACLE_OWN, RAD_NONE, &one, &one, "a race");
    if (who == 0) p->number = step == 3;
    if (who == 1 && step == 0 && p->number) rad_fail(k, RAD_ORACLE_ASSERT, RAD_NONE, "the door was open");
    if (step + 1 == STEPS) rad_disable(k, action);
}

static void suppressed_races_cost_no_certificate(void **state)
{
    static const char *const list[] = {"known.c", NULL};
    uint32_t steps[ACTORS];
    puppet p = {.reset = three_reset, .step = three_step, .data = steps};
    rad_target t;
    rad_artifact *small = NULL;
    rad_shrink_report report;
    rad_error error = {0};
    (void)state;
    rad_exploration e = explored(&p, &t, "preempt:1", list);
    assert_int_equal(e.finding_count, 1);
    rad_shrink_options o = {.suppressed = list};
    if (rad_lab_shrink(e.findings[0].artifact, &o, &small, &report, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(report.after.preemptions, 1);
    assert_int_equal(report.certificate, RAD_MINIMAL);
    assert_null(report.second);
    rad_artifact_free(small);
    rad_exploration_free(&e);
}

/* ---- Files ------------------------------------------------------------------------------------------------ */

static void patterns_know_their_lines(void **state)
{
    const char *const *list = NULL;
    rad_error error = {0};
    (void)state;
    FILE *f = fopen("known", "w");
    assert_non_null(f);
    assert_true(fputs("# mine\n\nrace:one\nrace: my dir/two.c\n  # and\nrace:three", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rad_suppressions_read(&list, "known", &error), 0);
    assert_string_equal(list[1], "my dir/two.c");
    assert_null(list[3]);
    assert_int_equal(rad_suppressions_line(list, 0), 3);
    assert_int_equal(rad_suppressions_line(list, 1), 4);
    assert_int_equal(rad_suppressions_line(list, 2), 6);
    rad_suppressions_free(list);
    assert_int_equal(remove("known"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_is_a_function_a_path_or_a_module),
        cmocka_unit_test(runs_that_die_are_counted),
        cmocka_unit_test(a_race_behind_many_suppressed_ones_replays),
        cmocka_unit_test(a_pass_with_a_known_race_is_a_pass),
        cmocka_unit_test(suppressed_races_cost_no_certificate),
        cmocka_unit_test(patterns_know_their_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
