/* test_tasks.c — tasks and events in a live world: attempts, delays, keys, what they see, what they write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "flow/machine/vm.h"
#include "live.h"
#include "storm_support.h"

#include <string.h>

/* ---- Attempts ------------------------------------------------------------------------------ */

static void attempts_keep_their_key(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" retry 2 } do a do a }");
    flow_live_fail(l, "a");
    flow_live_fail(l, "a");
    flow_live_ok(l, "a");
    flow_live_fail(l, "a"); /* counts from one again */
    assert_int_equal(flow_live_ok(l, "a"), RAD_CASE_DONE);
    assert_string_equal(l->log, "start 0#1 a 1; start 0#1 a 2; start 0#1 a 3; start 0#2 a 1; start 0#2 a 2; ");
    flow_live_close(l);
}

static void after_the_last_attempt_it_fails(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" retry 1 }\n\n do a }");
    flow_live_fail(l, "a");
    assert_int_equal(flow_live_fail(l, "a"), RAD_CASE_FAILED);
    assert_string_equal(rad__flow_case_failure(l->c), "line 3: task a failed");
    flow_live_close(l);
}

static void delays_grow(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" retry 4 delay 2s backoff 3 } do a }");
    for (uint32_t i = 0; i < 3; i++) {
        flow_live_fail(l, "a");
        assert_string_equal(flow_live_under_way(l), "");
        flow_live_ring(l, "0#1", 0);
    }
    flow_live_fail(l, "a");
    assert_string_equal(l->log, "start 0#1 a 1; timer 0#1.0 2s; start 0#1 a 2; timer 0#1.0 6s; "
                                "start 0#1 a 3; timer 0#1.0 18s; start 0#1 a 4; timer 0#1.0 54s; ");
    flow_live_close(l);
}

static void delays_are_a_leap_year_at_most(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" retry 9 delay 100d backoff 3 } do a }");
    for (uint32_t i = 0; i < 6; i++) {
        flow_live_fail(l, "a");
        flow_live_ring(l, "0#1", 0);
    }
    assert_int_equal(flow_live_count(l, "timer 0#1.0 8640000s; "), 1);
    assert_int_equal(flow_live_count(l, "timer 0#1.0 25920000s; "), 1);
    assert_int_equal(flow_live_count(l, "timer 0#1.0 31622400s; "), 4);
    flow_live_close(l);
}

static void answers_to_other_questions_are_ignored(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" retry 1 } do a do a }");
    flow_live_fail(l, "a");
    assert_false(flow_live_result(l, "0#1", 1, true)); /* the first attempt has been answered */
    assert_false(flow_live_result(l, "0#1", 3, true));
    assert_true(flow_live_result(l, "0#1", 2, true));
    assert_false(flow_live_result(l, "0#1", 2, true)); /* once */
    flow_live_go_on(l);
    assert_false(flow_live_result(l, "0#1", 1, true)); /* another effect is under way */
    assert_true(flow_live_result(l, "0#2", 1, true));
    flow_live_close(l);
}

/* ---- Keys ---------------------------------------------------------------------------------- */

static void branches_that_live_on_keep_their_paths(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" }  task go { call \"go\" }\n"
                                  "  loop 4 { par { do a } and { } join none do go } }");
    assert_string_equal(flow_live_under_way(l), "go a");
    flow_live_ok(l, "go");
    flow_live_ok(l, "go");
    assert_string_equal(flow_live_under_way(l), "a a go a");
    assert_int_equal(flow_live_count(l, "start 0/2.0#1 a 1; "), 1);
    assert_int_equal(flow_live_count(l, "start 0/2.0'2#1 a 1; "), 1);
    assert_int_equal(flow_live_count(l, "start 0/2.0'3#1 a 1; "), 1);
    assert_true(flow_live_result(l, "0/2.0'2#1", 1, true));
    flow_live_go_on(l); /* its path is free now */
    flow_live_ok(l, "go");
    assert_int_equal(flow_live_count(l, "start 0/2.0'2#2 a 1; "), 1);
    flow_live_close(l);
}

static void effects_are_counted_over_the_lives_of_a_path(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" }\n"
                                  "  loop 2 { par { do a wait 3s do a } and { } } }");
    flow_live_ok(l, "a");
    flow_live_ring(l, "0/2.0#2", 0);
    flow_live_ok(l, "a");
    assert_string_equal(l->log, "start 0/2.0#1 a 1; timer 0/2.0#2.0 3s; start 0/2.0#3 a 1; "
                                "start 0/2.0#4 a 1; ");
    flow_live_close(l);
}

/* Of a path that was used twice at a time, whichever is free first is used first. */
static void the_least_free_path_is_used(void **state)
{
    (void)state;
    static const char *const keys[] = {"0/2.0#1", "0/2.0'2#1", "0/2.0'3#1", "0/2.0'4#1"};
    static const char *const next[] = {"start 0/2.0#2 a 1; ", "start 0/2.0'2#2 a 1; ", "start 0/2.0'3#2 a 1; ",
                                       "start 0/2.0'4#2 a 1; "};
    for (uint32_t pair = 0; pair < 16; pair++) {
        uint32_t one = pair % 4, two = pair / 4, least = one < two ? one : two;
        flow_live *l = flow_live_open("flow f { task a { call \"a\" }  task go { call \"go\" }\n"
                                      "  loop 7 { par { do a } and { } join none do go } }");
        for (uint32_t i = 0; i < 3; i++) flow_live_ok(l, "go");
        flow_live_result(l, keys[one], 1, true);
        flow_live_go_on(l);
        flow_live_result(l, keys[two], 1, true);
        flow_live_go_on(l);
        flow_live_ok(l, "go");
        assert_int_equal(flow_live_count(l, next[least]), 1);
        flow_live_ok(l, "go");
        assert_int_equal(flow_live_count(l, one != two ? next[one + two - least] : "0/2.0'5#1"), 1);
        flow_live_ok(l, "go");
        assert_int_equal(flow_live_count(l, one != two ? "0/2.0'5#1" : "0/2.0'6#1"), 1);
        flow_live_close(l);
    }
}

/* Two spellings of one key would be one effect that is answered twice. */
static void a_key_has_one_spelling(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" }  task go { call \"go\" }\n"
                                  "  loop 2 { par { do a } and { } join none do go } }");
    flow_live_ok(l, "go");
    assert_int_equal(flow_live_count(l, "start 0/2.0'2#1 a 1; "), 1);
    static const char *const wrong[] = {"1/2.0#1",
                                        "/2.0#1",
                                        "#1",
                                        "x#1",
                                        "0.2.0#1",
                                        "0/2#1",
                                        "0/2.#1",
                                        "0/.0#1",
                                        "0/2/0#1",
                                        "0/02.0#1",
                                        "0/2.00#1",
                                        "0/2.09#1",
                                        "0/2.0'#1",
                                        "0/2.0'02#1",
                                        "0/2.0'1#1",
                                        "0/2.0'0#1",
                                        "0/2.0'3#1",
                                        "0/2.:#1",
                                        "0/2.0:#1",
                                        "0/4294967295.0#1",
                                        "0/4294967298.0#1",
                                        "0/2.4294967296#1",
                                        "0/2.0'4294967297#1",
                                        "0/42949672980000000002.0#1",
                                        "0/18446744073709551618.0#1",
                                        "0/2.0#18446744073709551617",
                                        "0/2.0/#1",
                                        "0/9.0/1.0#1",
                                        "0/2.0#",
                                        "0/2.0#0",
                                        "0/2.0#:",
                                        "0/2.0#4294967297",
                                        "0/2.0#2"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rad_flow_input in = {.kind = RAD_INPUT_RESULT, .key = wrong[i], .attempt = 1, .ok = true};
        rad_error error = {0};
        bool used = true;
        if (rad__flow_case_feed(l->c, &in, &used, &error) != RAD_EINPUT) fail_msg("%s was taken", wrong[i]);
        assert_false(used);
    }
    assert_true(flow_live_result(l, "0/2.0'2#1", 1, true));
    assert_true(flow_live_result(l, "0/2.0#1", 1, true));
    flow_live_close(l);
    l = flow_live_open("flow f { task a { call \"a\" } many 30 { do a } }");
    rad_flow_input nine = {.kind = RAD_INPUT_RESULT, .key = "0/1.09#1", .attempt = 1, .ok = true};
    rad_error error = {0};
    bool used;
    assert_int_equal(rad__flow_case_feed(l->c, &nine, &used, &error), RAD_EINPUT);
    rad__error_clear(&error);
    nine.key = "0/1.1:#1"; /* ':' is the digit behind '9' */
    assert_int_equal(rad__flow_case_feed(l->c, &nine, &used, &error), RAD_EINPUT);
    assert_true(flow_live_result(l, "0/1.9#1", 1, true));
    assert_true(flow_live_result(l, "0/1.10#1", 1, true));
    flow_live_close(l);
    l = flow_live_open("flow f { task a { call \"a\" } loop 30 { do a } }");
    for (uint32_t i = 0; i < 25; i++) flow_live_ok(l, "a");
    rad__error_clear(&error);
    nine.key = "0#1:";
    assert_int_equal(rad__flow_case_feed(l->c, &nine, &used, &error), RAD_EINPUT);
    flow_live_close(l);
}

/* Multi joins one after the other make paths longer and longer. */
static void a_path_has_an_end(void **state)
{
    (void)state;
    rad_bytes text = {0};
    rad__bytes_format(&text, "flow f { {");
    for (uint32_t i = 0; i < 1400; i++) rad__bytes_format(&text, "par { } and { await m } join multi\n");
    rad__bytes_format(&text, "} }");
    rad__bytes_put(&text, "", 1);
    flow_live *l = flow_live_open((const char *)text.data);
    assert_int_equal(l->c->state, RAD_CASE_BROKEN);
    assert_int_equal(l->c->error.code, RAD_ELIMIT);
    assert_non_null(strstr(l->c->error.text, "a path has more than 8,000 characters"));
    flow_live_close(l);
    rad__bytes_free(&text);
}

/* Of xor and or, as many branches as somebody cares to write. */
static void many_branches(void **state)
{
    (void)state;
    static const char *const words[] = {"xor", "or"};
    for (uint32_t i = 0; i < 2; i++) {
        rad_bytes text = {0};
        rad__bytes_format(&text, "flow f { data { n : int = 2999 merge sum } %s {\n", words[i]);
        for (uint32_t k = 0; k < 3000; k++) rad__bytes_format(&text, "when n == %u { set n = n + 7 }\n", k);
        rad__bytes_format(&text, "} }");
        rad__bytes_put(&text, "", 1);
        flow_live *l = flow_live_open((const char *)text.data);
        assert_int_equal(l->c->state, RAD_CASE_DONE);
        assert_string_equal(flow_live_value(l, "n"), "3006");
        flow_live_close(l);
        rad__bytes_free(&text);
    }
}

/* One path is that of the first token. It is told at once, and not after a gigabyte. */
static void there_are_not_as_many_paths(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { many 4194304 { } }");
    assert_int_equal(l->c->state, RAD_CASE_FAILED);
    assert_string_equal(rad__flow_case_failure(l->c), "line 1: 4194304 instances are too many");
    flow_live_close(l);
}

/* Where there is no room for a path people get dots, and no part of it, which would be another path. */
static void a_path_is_whole_or_not_there(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { par { par { await m } and { } } and { } }");
    uint32_t token = rad__flow_path_find(l->c->vm, "0/1.0/2.0", 9);
    assert_int_not_equal(token, RAD_NONE);
    for (uint32_t size = 5; size < 20; size++) {
        char path[20];
        memset(path, 'x', sizeof path);
        rad__flow_path(l->c->vm, token, path, size);
        assert_string_equal(path, size > 9 ? "0/1.0/2.0" : "…");
    }
    flow_live_close(l);
}

/* ---- Data ---------------------------------------------------------------------------------- */

static void a_task_sees_the_data_of_its_token(void **state)
{
    (void)state;
    flow_live *l =
        flow_live_open_showing("flow f { data { n : int merge sum }  task a { call \"a\" }\n"
                               "  set n = 1 par { set n = n + 10 do a } and { do a } and { set n = 100 do a } do a }",
                               "n");
    for (uint32_t i = 0; i < 3; i++) flow_live_ok(l, "a");
    assert_int_equal(flow_live_count(l, "start 0/2.0#1 a 1 n=11; "), 1);
    assert_int_equal(flow_live_count(l, "start 0/2.1#1 a 1 n=1; "), 1);
    assert_int_equal(flow_live_count(l, "start 0/2.2#1 a 1 n=100; "), 1);
    assert_int_equal(flow_live_count(l, "start 0#1 a 1 n=110; "), 1); /* 1 + 10 + 99 */
    flow_live_close(l);
}

/* What takes a task back sees what the task left behind. */
static void an_undo_sees_the_data_of_then(void **state)
{
    (void)state;
    flow_live *l = flow_live_open_showing(
        "flow f { data { n : int }  task a { call \"a\" writes n undo u }  task u { call \"u\" }\n"
        "  region r { do a do a set n = 9 compensate r } }",
        "n");
    flow_live_wrote(l, "a", "n", "3");
    flow_live_wrote(l, "a", "n", "4");
    flow_live_ok(l, "u");
    assert_string_equal(l->log, "start 0#1 a 1 n=0; start 0#2 a 1 n=3; start 0#3 u 1 n=4; "
                                "start 0#4 u 1 n=3; ");
    assert_int_equal(flow_live_ok(l, "u"), RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "n"), "9");
    flow_live_close(l);
}

static void what_does_not_fit_is_a_failure(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { data { n : int  why : text }  task a { call \"a\" writes n retry 1 }\n"
                                  "  region r { do a } on failure into why { } }");
    flow_live_wrote(l, "a", "n", "x1"); /* another attempt */
    assert_string_equal(flow_live_under_way(l), "a");
    assert_int_equal(flow_live_wrote(l, "a", "n", "1x"), RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "why"), "task a failed: n: \"1x\" is not a number");
    assert_string_equal(flow_live_value(l, "n"), "0");
    flow_live_close(l);
}

/* Of a mebibyte, and not of a byte more. */
static void a_text_has_an_end(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { data { t : text = \"x\"  n : int  why : text }  loop 20 { set t = t + t }\n"
                                  "  set n = length(t) region r { set t = t + \"x\" } on failure into why { } }");
    assert_int_equal(l->c->state, RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "n"), "1048576");
    assert_string_equal(flow_live_value(l, "why"), "the text is too long");
    flow_live_close(l);
}

/* ---- Signals ------------------------------------------------------------------------------- */

static void a_signal_says_something(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { data { n : int  b : bool  why : text }\n"
                                  "  wait signal s into n wait signal s into b wait signal s into why\n"
                                  "  region r { wait signal s into n } on failure into why { } }");
    flow_live_signal(l, "s", "-12");
    flow_live_signal(l, "s", "true");
    flow_live_signal(l, "s", "any text");
    assert_string_equal(flow_live_value(l, "n"), "-12");
    assert_string_equal(flow_live_value(l, "b"), "true");
    assert_string_equal(flow_live_value(l, "why"), "any text");
    assert_int_equal(flow_live_signal(l, "s", "twelve"), RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "why"), "what came with the signal is not a number");
    flow_live_close(l);
}

static void signals_are_kept_in_order_and_taken_once(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { data { x : text  y : text  z : text }  task a { call \"a\" }\n"
                                  "  do a wait signal s into x wait signal t into y wait signal s into z }");
    flow_live_signal(l, "s", "one");
    flow_live_signal(l, "t", "two");
    flow_live_signal(l, "s", "three");
    assert_int_equal(flow_live_ok(l, "a"), RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "x"), "one");
    assert_string_equal(flow_live_value(l, "y"), "two");
    assert_string_equal(flow_live_value(l, "z"), "three");
    flow_live_close(l);
}

static void who_waits_longest_gets_it(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" }  task b { call \"b\" }  task c { call \"c\" }\n"
                                  "  par { do c wait signal s do a } and { wait signal s do b } }");
    flow_live_ok(l, "c");
    flow_live_signal(l, "s", NULL);
    assert_string_equal(flow_live_under_way(l), "b");
    flow_live_signal(l, "s", NULL);
    assert_string_equal(flow_live_under_way(l), "b a");
    flow_live_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempts_keep_their_key),
        cmocka_unit_test(after_the_last_attempt_it_fails),
        cmocka_unit_test(delays_grow),
        cmocka_unit_test(delays_are_a_leap_year_at_most),
        cmocka_unit_test(answers_to_other_questions_are_ignored),
        cmocka_unit_test(branches_that_live_on_keep_their_paths),
        cmocka_unit_test(effects_are_counted_over_the_lives_of_a_path),
        cmocka_unit_test(the_least_free_path_is_used),
        cmocka_unit_test(a_key_has_one_spelling),
        cmocka_unit_test(a_path_has_an_end),
        cmocka_unit_test(many_branches),
        cmocka_unit_test(there_are_not_as_many_paths),
        cmocka_unit_test(a_path_is_whole_or_not_there),
        cmocka_unit_test(a_task_sees_the_data_of_its_token),
        cmocka_unit_test(an_undo_sees_the_data_of_then),
        cmocka_unit_test(what_does_not_fit_is_a_failure),
        cmocka_unit_test(a_text_has_an_end),
        cmocka_unit_test(a_signal_says_something),
        cmocka_unit_test(signals_are_kept_in_order_and_taken_once),
        cmocka_unit_test(who_waits_longest_gets_it),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
