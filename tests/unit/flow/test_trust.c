/* test_trust.c — what a runner believes of what it finds, and what it tells: a receipt and an answer are of one
 * effect alone, and nothing begins beside a doubt. Over the machine of double.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "double.h"
#include "flow/run/files.h"

#include <stdio.h>
#include <string.h>

typedef struct scene {
    double_world *w;
    rad_flow_program *p;
    const rad_flow_settle *settles;
    uint32_t settle_count, jobs;
    int code;
    rad_flow_result result;
    rad_error error;
    /* What the last runner told. */
    uint32_t started, started_in_doubt, doubts, done, failed;
    uint32_t late_calls; /* of functions, after what the world was told to do */
} scene;

static void watch(void *context, const rad_flow_progress *p)
{
    scene *s = context;
    s->started += p->news == RAD_FLOW_TASK_STARTED;
    s->started_in_doubt += p->news == RAD_FLOW_TASK_STARTED && s->doubts > 0;
    s->doubts += p->news == RAD_FLOW_TASK_IN_DOUBT;
    s->done += p->news == RAD_FLOW_TASK_DONE;
    s->failed += p->news == RAD_FLOW_TASK_FAILED;
}

static int call(void *context, rad_flow_call *c, rad_error *error)
{
    scene *s = context;
    (void)c;
    (void)error;
    s->late_calls += double_has_crashed(s->w);
    return 0;
}

static scene open_scene(const char *text, uint64_t seed)
{
    scene s = {.w = double_open(seed), .jobs = 2};
    if (rad__flow_program_read(&s.p, "test.flow", text, strlen(text), NULL, &s.error) != 0)
        fail_msg("%s", s.error.text);
    return s;
}

static void close_scene(scene *s)
{
    double_close(s->w);
    rad__flow_program_free(s->p);
}

static void go(scene *s)
{
    rad_flow_named_function g = {"g", call, s};
    rad_flow_run_options o = {.given = {.jobs = s->jobs, .case_id = "case", .watch = watch}};
    o.given.context = s;
    o.given.settles = s->settles;
    o.given.settle_count = s->settle_count;
    o.functions = &g;
    o.function_count = 1;
    rad__error_clear(&s->error);
    s->started = s->started_in_doubt = s->doubts = s->done = s->failed = 0;
    const rad_flow_host *host = double_runner(s->w);
    s->code = double_has_file(s->w, "journal") ? rad__flow_resume(host, s->p, &o, &s->result, &s->error)
                                               : rad__flow_run(host, s->p, &o, &s->result, &s->error);
}

static void go_until(scene *s, uint64_t n, enum double_crash crash)
{
    double_crash_at(s->w, n, crash, 0);
    go(s);
    double_ticks(s->w, 200);
}

static void expect_done(scene *s)
{
    double_crash_at(s->w, 0, DOUBLE_NONE, 0);
    go(s);
    if (s->code != 0) fail_msg("%s", s->error.text);
    assert_int_equal(s->result.end, RAD_FLOW_END_DONE);
}

/* ---- The journal ------------------------------------------------------------------------------------------------- */

/* Somebody puts another file in the place of the journal, at every moment of a case: its runner ends there, and begins
 * at most what it was about to begin in the same moment. */
static void a_runner_without_its_journal_begins_nothing(void **state)
{
    (void)state;
    uint32_t stopped = 0;
    bool over = false;
    for (uint64_t n = 1; !over; n++) {
        scene s = open_scene("flow f { task a { run \"a\" } task g { call \"g\" } many 4 { do g }\n"
                             "par { loop 3 { do a } } and { loop 3 { do a do g } } do a }",
                             n);
        s.jobs = 4;
        go_until(&s, n, DOUBLE_REPLACE);
        over = !double_has_crashed(s.w);
        bool has_begun = s.code != 0;
        if (has_begun) {
            assert_int_equal(s.code, RAD_EIO);
            assert_non_null(strstr(s.error.text, "not the file any more that this runner has open"));
            assert_true(double_launched_since(s.w) + s.late_calls <= 1);
            stopped++;
        }
        assert_int_equal(double_most(s.w) <= 1, true);
        close_scene(&s);
    }
    assert_true(stopped > 100);
}

/* Another runner comes while this one is at work, and somebody has deleted the lock. */
static void second_runner(void *context, const rad_flow_progress *p)
{
    scene *s = context;
    if (p->news != RAD_FLOW_TASK_STARTED) return;
    rad_flow_run_options o = {.given = {.jobs = 2}};
    rad_flow_result result;
    rad_error error = {0};
    double_remove(s->w, "lock");
    s->started++;
    assert_int_equal(rad__flow_resume(double_other(s->w), s->p, &o, &result, &error), RAD_EINPUT);
    assert_string_equal(error.text, "another runner works on this execution: wait for it, or stop it");
}

static void a_journal_is_held_without_its_lock(void **state)
{
    (void)state;
    scene s = open_scene("flow f { task a { run \"a\" } loop 3 { do a } }", 5);
    rad_flow_run_options o = {.given = {.jobs = 2, .watch = second_runner, .context = &s}};
    if (rad__flow_run(double_runner(s.w), s.p, &o, &s.result, &s.error) != 0) fail_msg("%s", s.error.text);
    assert_int_equal(s.result.end, RAD_FLOW_END_DONE);
    assert_int_equal(s.started, 3);
    assert_int_equal(double_total(s.w), 3);
    close_scene(&s);
}

/* ---- Receipts ---------------------------------------------------------------------------------------------------- */

static void write_receipt(double_world *w, const rad_flow_receipt *receipt)
{
    const rad_flow_host *h = double_other(w);
    rad_bytes bytes = {0};
    rad_error error = {0};
    char id[RAD_FLOW_ID_MAX], name[RAD_FLOW_FILE_MAX];
    int file;
    rad__flow_effect_id(id, "0#1", 1, 1);
    rad__flow_effect_file(name, id, "receipt");
    assert_true(double_has_file(w, name));
    rad__flow_receipt_put(&bytes, receipt);
    assert_int_equal(h->create(h->context, &file, name, &error), 0);
    assert_int_equal(h->put(h->context, file, bytes.data, bytes.size, &error), 0);
    h->close(h->context, file);
    rad__bytes_free(&bytes);
}

/* A case whose first command has ended, which no runner has seen. */
static scene with_a_receipt(void)
{
    for (uint64_t n = 1;; n++) {
        scene s = open_scene("flow f { task a { run \"a\" } task b { run \"b\" } do a do b }", 1);
        go_until(&s, n, DOUBLE_KILL_RUNNER);
        if (double_command_count(s.w, "a") == 1) return s;
        close_scene(&s);
    }
}

/* Somebody has copied files about, or restored some of them: what became of one effect is not taken for another. */
static void a_receipt_is_of_one_effect_alone(void **state)
{
    (void)state;
    scene s = with_a_receipt();
    rad_flow_receipt wrong[] = {{.key = "0#2", .attempt = 1, .run = 1},
                                {.key = "0#1", .attempt = 2, .run = 1},
                                {.key = "0#1", .attempt = 1, .run = 2}};
    for (uint32_t i = 0; i < 3; i++) {
        write_receipt(s.w, &wrong[i]);
        go(&s);
        assert_int_equal(s.code, RAD_EINPUT);
        assert_non_null(strstr(s.error.text, "the receipt of another effect, "));
        assert_int_equal(double_total(s.w), 1);
    }
    rad_flow_receipt right = {.key = "0#1", .attempt = 1, .run = 1};
    write_receipt(s.w, &right);
    expect_done(&s);
    assert_int_equal(double_command_count(s.w, "a"), 1);
    assert_int_equal(double_command_count(s.w, "b"), 1);
    close_scene(&s);
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

/* One process of the next runner dies at its n-th call. True: before its command began, which is told. */
static bool dies_before_it_begins(scene *s, uint64_t n, bool *over)
{
    go_until(s, n, DOUBLE_KILL_SHIM);
    *over = !double_has_crashed(s->w);
    assert_true(s->started <= 1); /* it is not tried for ever */
    if (s->code == 0) return false;
    assert_int_equal(s->code, RAD_EIO);
    assert_non_null(strstr(s->error.text, "task a (0#1): the process that was to run it ended "
                                          "before it began"));
    assert_int_equal(double_total(s->w), 0);
    return true;
}

/* A process that dies before it has begun its command has done nothing. The next runner begins it, and if that goes the
 * same way, says so, too. */
static void what_never_began_is_told(void **state)
{
    (void)state;
    uint32_t told = 0, told_again = 0;
    bool over = false, over_again;
    for (uint64_t n = 1; !over; n++) {
        over_again = false;
        for (uint64_t m = 1; !over_again; m++) {
            scene s = open_scene("flow f { task a { run \"a\" } do a }", 7);
            bool first = dies_before_it_begins(&s, n, &over);
            bool again = first && dies_before_it_begins(&s, m, &over_again);
            told += first;
            told_again += again;
            over_again |= !first;
            if (again) expect_done(&s);
            if (again) assert_int_equal(double_total(s.w), 1);
            close_scene(&s);
        }
    }
    assert_true(told > 3);
    assert_true(told_again > 3);
}

/* Whoever is to find out what was done finds it as it was: nothing begins beside it. */
static void nothing_begins_beside_a_doubt(void **state)
{
    (void)state;
    uint32_t doubts = 0;
    bool over = false;
    for (uint64_t n = 1; !over; n++) {
        scene s = open_scene("flow f { task a { run \"a\" } task b { run \"b\" }\n"
                             "par { loop 4 { do a } } and { loop 4 { do b } } }",
                             n);
        go_until(&s, n, DOUBLE_KILL_SHIM);
        over = !double_has_crashed(s.w);
        doubts += s.doubts;
        assert_int_equal(s.started_in_doubt, 0);
        assert_int_equal(s.code == 0 && s.result.end == RAD_FLOW_END_IN_DOUBT, s.doubts > 0);
        close_scene(&s);
    }
    assert_true(doubts > 10);
}

/* Functions are told of like commands. */
static void functions_are_told_of(void **state)
{
    (void)state;
    scene s = open_scene("flow f { task g { call \"g\" } many 3 { do g } }", 1);
    expect_done(&s);
    assert_int_equal(s.started, 3);
    assert_int_equal(s.done, 3);
    assert_int_equal(s.failed, 0);
    close_scene(&s);
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* Two in doubt, and an answer for each: in either order. */
static void an_answer_is_of_one_effect_alone(void **state)
{
    (void)state;
    static const rad_flow_settle answers[2][2] = {
        {{"0/1.0#1", RAD_FLOW_ANSWER_DONE, "x\n"}, {"0/1.1#1", RAD_FLOW_ANSWER_FAILED, NULL}},
        {{"0/1.1#1", RAD_FLOW_ANSWER_FAILED, NULL}, {"0/1.0#1", RAD_FLOW_ANSWER_DONE, "x\n"}},
    };
    static const rad_flow_settle twice[] = {{"0/1.0#1", RAD_FLOW_ANSWER_DONE, "x"},
                                            {"0/1.0#1", RAD_FLOW_ANSWER_FAILED, NULL}};
    uint32_t seen = 0;
    for (uint64_t n = 1; n < 400; n++) {
        scene s = open_scene("flow f { data { n : text } task a { run \"a\" capture n }\n"
                             "task b { run \"b\" } task c { run \"c\" } task d { run \"d\" reads n }\n"
                             "par { do a do d } and { region r { do b } on failure { do c } } }",
                             n);
        go_until(&s, n, DOUBLE_KEEP);
        double_crash_at(s.w, 0, DOUBLE_NONE, 0);
        if (double_has_file(s.w, "journal")) go(&s);
        if (s.doubts == 2 && strstr(s.result.text, "in doubt: 0/1.0#1 (task a), 0/1.1#1 (task b). ") != NULL) {
            seen++;
            s.settles = twice;
            s.settle_count = 2;
            go(&s);
            assert_int_equal(s.code, RAD_EINPUT);
            assert_string_equal(s.error.text, "0/1.0#1 is settled twice");
            s.settles = answers[n % 2];
            s.settle_count = 2;
            expect_done(&s);
            assert_int_equal(s.failed, 1);
            assert_int_equal(s.done, 3);
            assert_int_equal(double_command_count(s.w, "c"), 1);
            assert_string_equal(double_environment(s.w, "d", "n"), "x");
            assert_true(double_most(s.w) <= 1);
        }
        close_scene(&s);
    }
    assert_true(seen > 3);
}

/* A case whose only command is in doubt. */
static scene in_doubt(const char *text)
{
    for (uint64_t n = 1;; n++) {
        scene s = open_scene(text, 7);
        go_until(&s, n, DOUBLE_KILL_SHIM);
        if (s.code == 0 && s.result.end == RAD_FLOW_END_IN_DOUBT) return s;
        assert_true(double_has_crashed(s.w));
        close_scene(&s);
    }
}

/* Whoever says that an attempt has failed has said nothing of the next one. */
static void an_answer_is_of_one_attempt_alone(void **state)
{
    (void)state;
    static const rad_flow_settle failed = {"0#1", RAD_FLOW_ANSWER_FAILED, NULL};
    uint32_t seen = 0;
    bool over = false;
    for (uint64_t n = 1; !over; n++) {
        scene s = in_doubt("flow f { task a { run \"a\" retry 1 } do a }");
        s.settles = &failed;
        s.settle_count = 1;
        go_until(&s, n, DOUBLE_KILL_SHIM);
        over = !double_has_crashed(s.w);
        if (s.code == 0) {
            bool asks = s.result.end == RAD_FLOW_END_IN_DOUBT;
            assert_int_equal(s.failed, 1); /* the first one, and no more */
            assert_int_equal(s.result.end, asks ? RAD_FLOW_END_IN_DOUBT : RAD_FLOW_END_DONE);
            seen += asks;
        }
        close_scene(&s);
    }
    assert_true(seen > 2);
}

static void expect_not_in_doubt(scene *s)
{
    static const rad_flow_settle failed = {"0#1", RAD_FLOW_ANSWER_FAILED, NULL};
    uint32_t before = double_total(s->w);
    s->settles = &failed;
    s->settle_count = 1;
    go(s);
    assert_int_equal(s->code, RAD_EINPUT);
    assert_string_equal(s->error.text, "0#1 is not in doubt: it cannot be settled");
    assert_int_equal(s->started, 0);
    assert_int_equal(double_total(s->w), before);
    s->settle_count = 0;
}

/* What has a receipt was done, and what runs may still do it: nobody can say otherwise. */
static void what_is_known_cannot_be_settled(void **state)
{
    (void)state;
    scene s = with_a_receipt();
    expect_not_in_doubt(&s);
    expect_done(&s);
    assert_int_equal(double_command_count(s.w, "a"), 1);
    close_scene(&s);
    s = open_scene("flow f { task a { run \"slow\" timeout 9h } do a }", 1);
    go_until(&s, 100, DOUBLE_KILL_RUNNER);
    assert_int_equal(double_living_commands(s.w), 1);
    expect_not_in_doubt(&s);
    assert_int_equal(double_living_commands(s.w), 1);
    close_scene(&s);
}

/* As many as there is room for; the others are found when these are settled. */
static void many_doubts_are_told(void **state)
{
    (void)state;
    uint32_t most = 0;
    for (uint64_t n = 300; n < 1200; n += 20) {
        scene s = open_scene("flow f { task a { run \"a\" } many 60 { do a } }", n);
        s.jobs = 60;
        go_until(&s, n, DOUBLE_KEEP);
        double_crash_at(s.w, 0, DOUBLE_NONE, 0);
        go(&s);
        assert_int_equal(s.code, 0);
        if (s.doubts > most) most = s.doubts;
        if (s.doubts > 0) {
            assert_int_equal(s.result.end, RAD_FLOW_END_IN_DOUBT);
            assert_int_equal(strncmp(s.result.text, "in doubt: 0/1.", 14), 0);
            assert_true(strlen(s.result.text) < sizeof s.result.text);
        }
        if (s.doubts > 30) assert_int_equal(strlen(s.result.text), sizeof s.result.text - 1);
        close_scene(&s);
    }
    assert_true(most > 30);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

/* A command that asks elsewhere whether it was done before needs a name of its own, the same at each attempt. */
static void commands_know_who_they_are(void **state)
{
    (void)state;
    scene s = open_scene("flow f { task a { run \"a\" } task b { run \"flaky\" retry 1 }\n"
                         "do a par { do b } and { } }",
                         1);
    expect_done(&s);
    assert_string_equal(double_environment(s.w, "a", "RADDLE_EFFECT_ID"), "case:0#1");
    assert_string_equal(double_environment(s.w, "a", "RADDLE_ATTEMPT"), "1");
    assert_string_equal(double_environment(s.w, "a", "RADDLE_CASE"), "case");
    assert_string_equal(double_environment(s.w, "flaky", "RADDLE_EFFECT_ID"), "case:0/2.0#1");
    assert_int_equal(s.failed, 1);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_runner_without_its_journal_begins_nothing),
        cmocka_unit_test(a_journal_is_held_without_its_lock),
        cmocka_unit_test(a_receipt_is_of_one_effect_alone),
        cmocka_unit_test(what_never_began_is_told),
        cmocka_unit_test(nothing_begins_beside_a_doubt),
        cmocka_unit_test(functions_are_told_of),
        cmocka_unit_test(an_answer_is_of_one_effect_alone),
        cmocka_unit_test(an_answer_is_of_one_attempt_alone),
        cmocka_unit_test(what_is_known_cannot_be_settled),
        cmocka_unit_test(many_doubts_are_told),
        cmocka_unit_test(commands_know_who_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
