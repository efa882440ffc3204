/* test_lab.c — flows in the lab: what is found, what is not, how often, and how it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder_support.h"
#include "rig_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static rad_exploration e; /* large */

/* The text as a file, and as a target. */
static rad_target flow_target(const char *text, const char *words)
{
    rad_target t;
    rad_error error = {0};
    FILE *f = fopen("lab.flow", "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    if (rad_target_flow(&t, "lab.flow", NULL, &error) != 0) fail_msg("%s", error.text);
    if (words != NULL && rad_target_set(&t, words, &error) != 0) fail_msg("%s", error.text);
    unlink("lab.flow");
    return t;
}

static void explore(const char *text, const char *words, const char *strategy)
{
    rad_error error = {0};
    rad_target t = flow_target(text, words);
    rad_explore_options o = {.strategy = strategy, .runs = 50000, .seed = 1, .jobs = 1};
    if (rad_lab_explore(&t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    rad_target_free(&t);
}

static void assert_clean(const char *text, const char *words)
{
    explore(text, words, NULL);
    if (e.finding_count > 0) fail_msg("%s", rad_artifact_verdict(e.findings[0].artifact)->message);
    assert_true(e.complete);
    rad_exploration_free(&e);
}

/* The only failure there is, with these words in its message. */
static void assert_finds(const char *text, const char *words, const char *identity, const char *part)
{
    explore(text, words, NULL);
    assert_int_equal(e.finding_count, 1);
    const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
    assert_string_equal(v->identity, identity);
    if (strstr(v->message, part) == NULL) fail_msg("%s", v->message);
    rad_exploration_free(&e);
}

/* ---- How many schedules ----------------------------------------------------------------------------------- */

/* n branches of k tasks. */
static void side_by_side(char *text, size_t size, uint32_t n, uint32_t k)
{
    size_t used = (size_t)snprintf(text, size, "flow f { task t { call \"t\" outcomes ok }\npar ");
    for (uint32_t i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s{ ", i > 0 ? " and " : "");
        for (uint32_t j = 0; j < k; j++) used += (size_t)snprintf(text + used, size - used, "do t ");
        used += (size_t)snprintf(text + used, size - used, "}\n");
    }
    snprintf(text + used, size - used, "}\n");
}

static void dfs_tries_every_schedule_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, k;
    } all[] = {{2, 0}, {2, 1}, {3, 0}, {3, 1}, {2, 2}, {2, 3}, {4, 0}, {5, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[1000];
        side_by_side(text, sizeof text, all[i].n, all[i].k);
        explore(text, NULL, "dfs");
        assert_true(e.complete);
        assert_int_equal(e.failures, 0);
        /* A task is a start and a finish, and the end of a branch is a step. */
        assert_int_equal(e.runs, multinomial(all[i].n, 2 * all[i].k + 1));
        rad_exploration_free(&e);
    }
}

static void dfs_tries_every_outcome_and_value(void **state)
{
    (void)state;
    explore("flow f { data { n : int in { 1, 2, 3 } } task t { call \"t\" writes n } do t }", NULL, "dfs");
    assert_true(e.complete);
    assert_int_equal(e.runs, 4); /* it fails, or gives one of three */
    rad_exploration_free(&e);
    explore("flow f { interleave { set x = 1 } and { set y = 1 } and { set x = 2 }\n"
            "data { x : int y : int } }",
            NULL, "dfs");
    assert_int_equal(e.runs, 6);
    rad_exploration_free(&e);
    explore("flow f { xor { when true { } when 1 < 2 { } when false { } } }", NULL, "dfs");
    assert_int_equal(e.runs, 2);
    rad_exploration_free(&e);
    explore("flow f { defer { on signal a { } on signal b { } on timer 1s { } } }", NULL, "dfs");
    assert_int_equal(e.runs, 3);
    rad_exploration_free(&e);
}

static void dedup_sees_that_orders_meet(void **state)
{
    char text[1000];
    (void)state;
    side_by_side(text, sizeof text, 3, 2);
    explore(text, NULL, "dedup");
    assert_true(e.complete);
    /* 6 places in each branch; states in which one is enabled only are not decided in. */
    assert_int_equal(e.states, 6 * 6 * 6 - 1 - 3 * 5);
    assert_true(e.runs < 1000); /* instead of 17!/(5!)^3 … */
    rad_exploration_free(&e);
}

/* Outcomes that are drawn depend on how often a path has begun something: states that differ in that are not one. */
static void drawn_outcomes_are_part_of_the_state(void **state)
{
    (void)state;
    static const char text[] = "flow f { data { n : int in { 0, 1, 2, 3, 4, 5, 6, 7 } }\n"
                               "task t { call \"t\" writes n outcomes ok }\n"
                               "par { repeat { do t } until n == 7 } and { do t } join first }";
    for (int seed = 1; seed <= 5; seed++) {
        char words[40];
        snprintf(words, sizeof words, "outcomes=%d", seed);
        explore(text, words, "dedup");
        assert_true(e.complete);
        for (uint32_t i = 0; i < e.phase_count; i++) assert_false(e.phases[i].endless);
        rad_exploration_free(&e);
    }
}

/* ---- What is found ------------------------------------------------------------------------------------------ */

static const char circle[] = "flow f {\n"
                             "  par {\n"
                             "    lock a {\n"
                             "      lock b { }\n"
                             "    }\n"
                             "  } and {\n"
                             "    lock b {\n"
                             "      lock a { }\n"
                             "    }\n"
                             "  }\n"
                             "}\n";
static const char no_circle[] = "flow f {\n"
                                "  par { lock a { lock b { } } } and { lock a { lock b { } } }\n"
                                "}\n";

static void two_locks_in_two_orders(void **state)
{
    (void)state;
    assert_finds(circle, NULL, "deadlock:join all+lock",
                 "deadlock: token 0, line 2: waits at join all: 0 of 2 branches arrived, 0 cancelled; "
                 "token 0/1.0, line 4: waits for the lock b, which 0/1.1 has; "
                 "token 0/1.1, line 8: waits for the lock a, which 0/1.0 has");
    assert_clean(no_circle, NULL);
}

static void a_join_that_waits_for_a_cancelled_branch(void **state)
{
    (void)state;
    static const char bad[] = "flow f { task t { call \"t\" outcomes ok }\n"
                              "par { do t } and { cancel task t } join all }",
                      good[] = "flow f { task t { call \"t\" outcomes ok }\n"
                               "par { do t } and { cancel task t } join sync }";
    assert_finds(bad, NULL, "deadlock:join all", "1 of 2 branches arrived, 1 cancelled");
    assert_clean(good, NULL);
}

static void a_milestone_that_is_never_reached(void **state)
{
    (void)state;
    static const char bad[] = "flow f { par { await m } and { reach m expire m } }",
                      good[] = "flow f { par { await m else { } } and { reach m expire m } }";
    assert_finds(bad, NULL, "deadlock:join all+milestone", "line 1: waits for the milestone m, which has expired");
    assert_clean(good, NULL);
}

static void kinds_of_joins_are_told_apart(void **state)
{
    (void)state;
    static const char first[] = "flow f { task t { call \"t\" outcomes ok }\n"
                                "par { do t } and { cancel task t } and { do t } join first 2 }";
    static const char any[] = "flow f { task t { call \"t\" outcomes ok }\n"
                              "par { do t } and { cancel task t } and { do t } join any 3 }";
    assert_finds(first, NULL, "deadlock:join first", "waits at join first: 1 of 3");
    assert_finds(any, NULL, "deadlock:join any", "waits at join any: ");
}

static void improper_completion(void **state)
{
    (void)state;
    static const char any[] = "flow f { task t { call \"t\" outcomes ok }\n"
                              "par { do t } and { do t } join any }";
    static const char none[] = "flow f { task t { call \"t\" outcomes ok }\n"
                               "par { do t } and { do t } join none }";
    static const char cut[] = "flow f { task t { call \"t\" outcomes ok }\n"
                              "par { finish } and { do t } }";
    static const char alone[] = "flow f { par { par { finish } and { } join first 2 } and { } join first 2\n }";
    assert_finds(any, NULL, "improper", "0 ends the flow (line 2) while 0/1.");
    assert_clean(any, "proper=0");
    assert_clean(none, NULL);
    assert_clean("flow f { task t { call \"t\" outcomes ok } par { many 1 { do t } } and { } join none }", NULL);
    assert_finds(cut, NULL, "improper", "0/1.0 finishes the case (line 2) while 0/1.1 is still at line 2");
    assert_finds(alone, NULL, "improper", "finishes the case");
}

/* Who waits for the one that finishes is not left behind. */
static void a_finish_after_all_others_is_proper(void **state)
{
    (void)state;
    assert_clean("flow f { par { await m finish } and { set x = 1 reach m } join all\n"
                 "data { x : int } }",
                 "proper=0");
    assert_clean("flow f { region r { lock l { finish } } }", NULL);
    assert_clean("flow f { many 1 { many 1 { finish } } }", NULL);
}

static void failures_are_reported_when_asked_for(void **state)
{
    (void)state;
    static const char text[] = "flow f { task t { call \"t\" } do t }";
    assert_clean(text, NULL);
    assert_finds(text, "fail=1", "failed", "line 1: task t failed");
    assert_clean("flow f { task t { call \"t\" } region r { do t } on failure { } }", "fail=1");
}

static void confluence(void **state)
{
    (void)state;
    static const char race[] = "flow f { data { n : int }\n"
                               "par { set n = 1 } and { set n = 2 } join first }";
    static const char texts[] = "flow f { data { s : text }\n"
                                "par { set s = \"one\" } and { set s = \"two\" } join first }";
    static const char merged[] = "flow f { data { n : int merge sum  s : text merge append }\n"
                                 "task t { call \"t\" writes n }\n"
                                 "par { do t set s = \"one\" } and { do t set s = text(n) } }";
    static const char ends[] = "flow f { task t { call \"t\" outcomes ok }\n"
                               "par { cancel case } and { do t finish } }";
    assert_finds(race, "outcomes=1", "confluence", "n is 2; under policy first 1");
    assert_finds(texts, "outcomes=1", "confluence", "s is \"two\"; under policy first \"one\"");
    assert_finds(ends, "outcomes=1 proper=0", "confluence", "ends as ");
    assert_clean(race, NULL); /* nothing to compare with */
    assert_clean(merged, "outcomes=1");
    assert_clean(merged, "outcomes=2");
    assert_clean(merged, "outcomes=3");
}

/* Texts that are made in another order have other numbers, and are the same. */
static void texts_are_compared_by_what_they_say(void **state)
{
    rad_error error = {0};
    rad_target t = flow_target("flow f { data { s : text  r : text }\n"
                               "par { set s = \"x\" + text(7) } and { set r = \"y\" + text(8) } }",
                               "outcomes=1");
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rad_verdict v;
        rad_run_request r = {.policy = "random", .seed = seed};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
        if (v.result != RAD_RESULT_PASS) fail_msg("%s", v.message);
    }
    rad_target_free(&t);
}

/* A run is the same after others as it is alone: the texts of those before it are forgotten. */
static void texts_of_earlier_runs_are_forgotten(void **state)
{
    rad_error error = {0};
    rad_replay now;
    (void)state;
    explore("flow f { data { s : text  r : text }\n"
            "par { set s = \"x\" + text(7) } and { set r = \"y\" + text(8) } join first\n"
            "xor { when s == \"\" { await m } else { } } }",
            NULL, NULL);
    assert_int_equal(e.finding_count, 1);
    assert_true(e.findings[0].run > 0);
    assert_int_equal(rad_lab_replay(e.findings[0].artifact, NULL, &now, &error), 0);
    if (!now.as_recorded) fail_msg("%s", now.reason);
    rad_exploration_free(&e);
}

static void the_default_is_sound(void **state)
{
    rad_error error = {0};
    rad_target t;
    (void)state;
    assert_int_equal(rad_target_init(&t, "flow", &error), 0);
    for (int i = 0; i < 4; i++) {
        char words[20];
        snprintf(words, sizeof words, "outcomes=%d", i);
        assert_int_equal(rad_target_set(&t, words, &error), 0);
        rad_explore_options o = {.seed = 1, .jobs = 1, .twice = true};
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        assert_int_equal(e.failures, 0);
        assert_true(e.complete);
        assert_true(e.evaluations[RAD_ORACLE_INVARIANT] > 0);
        rad_exploration_free(&e);
    }
}

/* ---- Shrinking and telling ----------------------------------------------------------------------------------- */

/* With more around it; what is left is what matters. */
static const char padded[] = "flow f {\n"
                             "  data { x : int }\n"
                             "  task t { call \"t\" }\n"
                             "  set x = 1\n"
                             "  do t\n"
                             "  par {\n"
                             "    set x = 2\n"
                             "    await m\n"
                             "  } and {\n"
                             "    do t\n"
                             "    set x = 2\n"
                             "  }\n"
                             "}\n";

static void shrinking_leaves_lines_out(void **state)
{
    rad_error error = {0};
    rad_artifact *small;
    rad_shrink_report report;
    (void)state;
    explore(padded, NULL, NULL);
    assert_int_equal(e.finding_count, 1);
    assert_int_equal(rad_lab_shrink(e.findings[0].artifact, NULL, &small, &report, &error), 0);
    assert_string_equal(rad_artifact_target(small)->c.body,
                        "{\"source\":[\"flow f {\",\"  par {\",\"    await m\",\"  } and {\",\"  }\",\"}\"]}");
    assert_int_equal(report.certificate, RAD_MINIMAL);
    rad_replay now;
    assert_int_equal(rad_lab_replay(small, NULL, &now, &error), 0);
    assert_true(now.as_recorded);
    rad_artifact_free(small);
    rad_exploration_free(&e);
}

/* The story of the run of policy first. */
static char *story_of(const char *text, const char *words, const char *policy)
{
    rad_error error = {0};
    rad_target t = flow_target(text, words);
    rad_artifact *a;
    rad_verdict v;
    rad_story *s;
    rad_run_request r = {.policy = policy, .seed = 1, .artifact = &a};
    if (rad_lab_run(&t, &r, &v, &error) != 0) fail_msg("%s", error.text);
    if (rad_lab_story(a, &s, &error) != 0) fail_msg("%s", error.text);
    char *all = rad__alloc(10000, 1);
    size_t used = 0;
    for (uint64_t i = 0; i < s->line_count; i++)
        used += (size_t)snprintf(all + used, 10000 - used, "%s %s\n", s->actors[s->lines[i].actor], s->lines[i].words);
    snprintf(all + used, 10000 - used, "%s", s->state);
    rad_story_free(s);
    rad_artifact_free(a);
    rad_target_free(&t);
    return all;
}

static void assert_story(const char *text, const char *expected)
{
    char *told = story_of(text, NULL, "first");
    assert_string_equal(told, expected);
    rad__free(told);
}

static void a_step_is_told_in_words(void **state)
{
    (void)state;
    assert_story("flow f {\n"
                 "  data { n : int in { 7 } }\n"
                 "  task t { call \"t\" writes n outcomes ok }\n"
                 "  do t\n"
                 "  par { set n = 3 }\n"
                 "  and { lock l { reach m } }\n"
                 "  region r { await m }\n"
                 "  xor { when n == 3 { } else { } }\n"
                 "  loop 1 { }\n"
                 "  wait signal s\n"
                 "  interleave { expire m }\n"
                 "  and { await m else { } }\n"
                 "}\n",
                 "0 starts t (line 4)\n"
                 "0 t is done (line 4), n = 7\n"
                 "0 forks into 2 branches (line 5)\n"
                 "0/2.0 sets n (line 5), n = 3\n"
                 "0/2.0 arrives at the join (line 5)\n"
                 "0/2.1 takes lock l (line 6)\n"
                 "0/2.1 reaches m (line 6)\n"
                 "0/2.1 gives back lock l (line 6)\n"
                 "0/2.1 0 continues, arrives at the join (line 5)\n"
                 "0 enters region r (line 7)\n"
                 "0 continues: m holds (line 7)\n"
                 "0 leaves region r (line 7)\n"
                 "0 takes the branch of line 8\n"
                 "0 comes to the loop (line 9)\n"
                 "0 tests the loop (line 9)\n"
                 "0 waits for an event (line 10)\n"
                 "0 signal s comes (line 10)\n"
                 "0 took case 0 of 2, takes the branch of line 11\n"
                 "0 expires m (line 11)\n"
                 "0 takes the branch of line 12\n"
                 "0 continues: m has expired (line 12)\n"
                 "0 leaves interleave (line 11)\n"
                 "0 ends the flow (line 13)\n"
                 "the execution is done\n");
}

static void cancelling_and_failing_are_told(void **state)
{
    (void)state;
    assert_story("flow f {\n"
                 "  task t { call \"t\" outcomes fail undo u }\n"
                 "  task u { call \"u\" outcomes ok }\n"
                 "  task v { call \"v\" outcomes ok undo u }\n"
                 "  region r {\n"
                 "    do v\n"
                 "    par { do t } and { do v }\n"
                 "  } on failure {\n"
                 "    compensate r\n"
                 "  }\n"
                 "  cancel case\n"
                 "}\n",
                 "0 enters region r (line 5)\n"
                 "0 starts v (line 6)\n"
                 "0 v is done (line 6)\n"
                 "0 forks into 2 branches (line 7)\n"
                 "0/3.0 starts t (line 7)\n"
                 "0/3.0 failure at 0/3.0, cancels 0/3.0, cancels 0/3.1, t fails (line 7)\n"
                 "0 undoes the next of region r (line 9)\n"
                 "0 the undo task is done (line 9)\n"
                 "0 has undone all (line 9)\n"
                 "0 cancels 0, cancels the case (line 11)\n"
                 "the execution is cancelled\n");
}

/* ---- Bad cases ----------------------------------------------------------------------------------------------- */

static void bad_files_and_bodies_are_refused(void **state)
{
    rad_target t;
    rad_error error = {0};
    (void)state;
    FILE *f = fopen("bad.flow", "w");
    assert_non_null(f);
    fputs("flow f {\n  do nothing\n}\n", f);
    fclose(f);
    assert_int_equal(rad_target_flow(&t, "bad.flow", NULL, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "bad.flow:2:6: "));
    unlink("bad.flow");
    assert_int_equal(rad_target_init(&t, "flow", &error), 0);
    static const char *const bodies[] = {"{\"source\":[]}", "{\"source\":[\"flow f {\"]}",
                                         "{\"source\":[\"flow f { finish }\"],\"flow\":\"g\"}",
                                         "{\"source\":[\"flow f { finish }\"],\"other\":1}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        t.c.body = bodies[i];
        rad_verdict v;
        rad_run_request r = {.policy = "first"};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), RAD_EINPUT);
    }
    t.c.body = "{\"source\":[\"flow f { finish }\",\"flow g { fail }\"],\"flow\":\"f\"}";
    rad_verdict v;
    rad_run_request r = {.policy = "first"};
    assert_int_equal(rad_target_set(&t, "fail=1", &error), 0);
    assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
    assert_int_equal(v.result, RAD_RESULT_PASS);
}

static void memory_that_runs_out_is_an_error(void **state)
{
    rad_error error;
    rad_target t;
    (void)state;
    assert_int_equal(rad_target_init(&t, "flow", &error), 0);
    assert_int_equal(rad_target_set(&t, "outcomes=1", &error), 0);
    uint64_t n = 0;
    for (bool good = false; !good;) {
        void *self = NULL;
        assert_true(++n < 2000);
        rad__alloc_fail_at(n);
        int code = t.machine->create(&self, t.machine, &t.c, &error);
        rad__alloc_fail_at(0);
        good = code == 0;
        assert_true(good || code == RAD_ENOMEM);
        if (good) t.machine->destroy(self);
    }
    assert_true(n > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dfs_tries_every_schedule_once),
        cmocka_unit_test(dfs_tries_every_outcome_and_value),
        cmocka_unit_test(dedup_sees_that_orders_meet),
        cmocka_unit_test(drawn_outcomes_are_part_of_the_state),
        cmocka_unit_test(two_locks_in_two_orders),
        cmocka_unit_test(a_join_that_waits_for_a_cancelled_branch),
        cmocka_unit_test(a_milestone_that_is_never_reached),
        cmocka_unit_test(kinds_of_joins_are_told_apart),
        cmocka_unit_test(improper_completion),
        cmocka_unit_test(a_finish_after_all_others_is_proper),
        cmocka_unit_test(failures_are_reported_when_asked_for),
        cmocka_unit_test(confluence),
        cmocka_unit_test(texts_are_compared_by_what_they_say),
        cmocka_unit_test(texts_of_earlier_runs_are_forgotten),
        cmocka_unit_test(the_default_is_sound),
        cmocka_unit_test(shrinking_leaves_lines_out),
        cmocka_unit_test(a_step_is_told_in_words),
        cmocka_unit_test(cancelling_and_failing_are_told),
        cmocka_unit_test(bad_files_and_bodies_are_refused),
        cmocka_unit_test(memory_that_runs_out_is_an_error),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
