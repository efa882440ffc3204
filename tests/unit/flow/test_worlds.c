/* test_worlds.c — answers that wait to be taken, and worlds that are drawn: what a task is told is its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/machine/vm.h"
#include "live.h"

#include <stdio.h>
#include <string.h>

/* ---- Answers --------------------------------------------------------------------------------------------------- */

#define WRITERS                                                                                                        \
    "flow f { data { n : int merge sum }  task a { call \"a\" writes n }  task b { call \"b\" "                        \
    "writes n }\n  task c { call \"c\" writes n }  task d { call \"d\" writes n }\n"

/* It is told, and takes no step yet. */
static void tell(flow_live *l, const char *key, const char *n)
{
    rad_flow_write write = {0, n, strlen(n)};
    rad_flow_input in = {
        .kind = RAD_INPUT_RESULT, .key = key, .attempt = 1, .ok = true, .writes = &write, .write_count = n[0] != 0};
    rad_error error = {0};
    bool used;
    if (rad__flow_case_feed(l->c, &in, &used, &error) != 0) fail_msg("%s", error.text);
    assert_true(used);
}

static void cancel(flow_live *l, enum rad_flow_part scope, const char *name)
{
    rad_flow_input in = {.kind = RAD_INPUT_CANCEL, .scope = scope, .name = name};
    rad_error error = {0};
    bool used;
    assert_int_equal(rad__flow_case_feed(l->c, &in, &used, &error), 0);
    assert_true(used);
}

/* Several are told before any of them goes on; some are cancelled before they could. */
static void answers_are_not_mixed_up(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(WRITERS "par { do a } and { do b } and { do c } and { do d } join sync }");
    tell(l, "0/1.3#1", "1000");
    tell(l, "0/1.0#1", "1");
    tell(l, "0/1.1#1", "10");
    cancel(l, RAD_FLOW_PART_TASK, "a");
    tell(l, "0/1.2#1", "100");
    assert_int_equal(flow_live_go_on(l), RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "n"), "1110");
    flow_live_close(l);
}

/* Who is sent to a handler with an answer gives back its own, once, and never somebody else's. */
static void an_answer_is_given_back_once(void **state)
{
    (void)state;
    for (uint32_t handled = 0; handled < 2; handled++) {
        char text[600];
        snprintf(text, sizeof text, WRITERS "par { region r { do a } %s } and { do b } and { do c } join sync }",
                 handled ? "on cancel { }" : "");
        flow_live *l = flow_live_open(text);
        tell(l, "0/1.0#1", "");
        tell(l, "0/1.1#1", "10");
        cancel(l, RAD_FLOW_PART_REGION, "r");
        while (l->c->vm->tokens[1].alive) rad__flow_case_run(l->c, 1);
        if (l->c->vm->tokens[2].alive) assert_int_equal(l->c->vm->answers_open, 1);
        tell(l, "0/1.2#1", "100");
        assert_int_equal(flow_live_go_on(l), RAD_CASE_DONE);
        assert_string_equal(flow_live_value(l, "n"), "110");
        assert_int_equal(l->c->vm->answers_open, 0);
        flow_live_close(l);
    }
}

/* A path that was cancelled with an answer is used again without it. */
static void a_path_does_not_inherit_answers(void **state)
{
    (void)state;
    flow_live *l =
        flow_live_open(WRITERS "par { loop 2 { par { do a } and { } join sync } } and { do b } and { do c } }");
    tell(l, "0/1.0/3.0#1", "");
    cancel(l, RAD_FLOW_PART_TASK, "a");
    flow_live_go_on(l);
    assert_int_equal(l->c->vm->answers_open, 0);
    tell(l, "0/1.1#1", "10");
    cancel(l, RAD_FLOW_PART_TASK, "a");
    assert_int_equal(l->c->vm->answers_open, 1);
    tell(l, "0/1.2#1", "100");
    assert_int_equal(flow_live_go_on(l), RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "n"), "110");
    flow_live_close(l);
}

/* As long as nobody has one that is not taken, they take no room. */
static void answers_that_were_taken_are_forgotten(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(WRITERS "loop 100 { do a par { do b } and { do c } join first } }");
    for (uint32_t i = 0; i < 100; i++) {
        flow_live_wrote(l, "a", "n", "1");
        flow_live_wrote(l, "c", "n", "1");
        assert_int_equal(l->c->vm->answer_count, 0);
    }
    assert_int_equal(l->c->state, RAD_CASE_DONE);
    flow_live_close(l);
}

#define TYPES "flow f { data { n : int = 3  b : bool  w : text }  task a { call \"a\" writes n, b, w }\n"

static int told(flow_live *l, const rad_flow_write *writes, uint32_t count, rad_error *error)
{
    rad_flow_input in = {
        .kind = RAD_INPUT_RESULT, .key = "0#1", .attempt = 1, .ok = true, .writes = writes, .write_count = count};
    bool used;
    return rad__flow_case_feed(l->c, &in, &used, error);
}

/* A value that does not fit its variable is a failure of the task, and nothing of its answer is taken. */
static void values_fit_their_variables(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t variable, length;
        const char *why;
    } bad[] = {
        {"yes", 1, 3, "task a failed: b: \"yes\" is neither true nor false"},
        {"truth", 1, 5, "task a failed: b: \"truth\" is neither true nor false"},
        {"true!", 1, 5, "task a failed: b: \"true!\" is neither true nor false"},
        {"trux", 1, 4, "task a failed: b: \"trux\" is neither true nor false"},
        {"false", 1, 4, "task a failed: b: \"fals\" is neither true nor false"},
        {"falsey", 1, 6, "task a failed: b: \"falsey\" is neither true nor false"},
        {"", 1, 0, "task a failed: b: \"\" is neither true nor false"},
        {"", 0, 0, "task a failed: n: \"\" is not a number"},
        {"-5", 0, 0, "task a failed: n: \"\" is not a number"},
        {"-5", 0, 1, "task a failed: n: \"-\" is not a number"},
        {"9223372036854775808", 0, 19, "task a failed: n: \"9223372036854775808\" is not a number"},
        {"-9223372036854775809", 0, 20, "task a failed: n: \"-9223372036854775809\" is not a number"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        flow_live *l = flow_live_open(TYPES "region r { do a } on failure into w { } }");
        rad_flow_write writes[] = {{2, "a text", 6}, {bad[i].variable, bad[i].text, bad[i].length}};
        rad_error error = {0};
        assert_int_equal(told(l, writes, 2, &error), 0);
        assert_int_equal(flow_live_go_on(l), RAD_CASE_DONE);
        assert_string_equal(flow_live_value(l, "w"), bad[i].why);
        assert_string_equal(flow_live_value(l, "n"), "3");
        flow_live_close(l);
    }
}

static void values_that_fit_are_taken(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(TYPES "do a }");
    rad_flow_write writes[] = {{0, "-9223372036854775808", 20}, {1, "true", 4}, {2, "false", 5}};
    rad_error error = {0};
    assert_int_equal(told(l, writes, 3, &error), 0);
    assert_int_equal(flow_live_go_on(l), RAD_CASE_DONE);
    assert_string_equal(flow_live_value(l, "n"), "-9223372036854775808");
    assert_string_equal(flow_live_value(l, "b"), "true");
    assert_string_equal(flow_live_value(l, "w"), "false");
    flow_live_close(l);
}

/* Whoever answers for a variable that is not there, or an instance's own, is told so. */
static void other_variables_are_refused(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(TYPES "do a many 1 as k { } }");
    for (uint32_t variable = 3; variable < 6; variable++) {
        rad_flow_write write = {variable, "1", 1};
        char expected[60];
        rad_error error = {0};
        snprintf(expected, sizeof expected, "there is no variable %u to write", variable);
        assert_int_equal(told(l, &write, 1, &error), RAD_EINPUT);
        assert_string_equal(error.text, expected);
    }
    flow_live_close(l);
}

/* The same value in another variable is another run. */
static void where_it_was_written_is_in_the_digest(void **state)
{
    (void)state;
    rad_digest digests[2];
    for (uint32_t i = 0; i < 2; i++) {
        flow_live *l = flow_live_open("flow f { data { x : int  y : int }  task a { call \"a\" writes x, y } "
                                      "do a }");
        rad_flow_write write = {i, "5", 1};
        rad_error error = {0};
        assert_int_equal(told(l, &write, 1, &error), 0);
        digests[i] = rad__flow_case_digest(l->c);
        flow_live_close(l);
    }
    assert_false(rad__digest_equal(digests[0], digests[1]));
}

/* ---- Drawn worlds ---------------------------------------------------------------------------------------------- */

/* Runs it in the world of that seed; the value of a text. */
static const char *drawn(const char *text, uint64_t outcome_seed)
{
    static char value[100];
    rad_flow_program *p;
    rad_flow_case *c;
    rad_error error = {0};
    char number[24];
    size_t length;
    if (rad__flow_program_read(&p, "t.flow", text, strlen(text), NULL, &error) != 0) fail_msg("%s", error.text);
    rad_flow_case_options o = {.world = RAD_WORLD_DRAWN, .outcome_seed = outcome_seed};
    assert_int_equal(rad__flow_case_open(&c, p, &o, &error), 0);
    assert_int_equal(rad__flow_case_run(c, 10000), RAD_CASE_DONE);
    const char *said = rad__flow_case_value(c, RAD_NONE, 0, number, &length);
    snprintf(value, sizeof value, "%.*s", (int)length, said);
    rad__flow_case_close(c);
    rad__flow_program_free(p);
    return value;
}

/* How many of the 200 first worlds end with that text. */
static uint32_t worlds_with(const char *text, const char *value)
{
    uint32_t count = 0;
    for (uint64_t seed = 0; seed < 200; seed++) count += strcmp(drawn(text, seed), value) == 0;
    return count;
}

#define DRAWN                                                                                                          \
    "flow f { data { s : text merge append  x : bool  y : bool  i : int in { 5, 6, 7 } merge max "                     \
    "}\n"                                                                                                              \
    "  task t { call \"t\" writes x, y }  task u { call \"u\" writes i outcomes ok }\n"

/* Each effect, each attempt, and each value that is written is a draw of its own. */
static void everything_is_drawn_for_itself(void **state)
{
    (void)state;
    const char *four = DRAWN "region r { do t set s = text(x) + text(y) } on failure { set s = "
                             "\"failed\" } }";
    static const char *const all[] = {"falsefalse", "falsetrue", "truefalse", "truetrue"};
    for (uint32_t i = 0; i < 4; i++) assert_in_range(worlds_with(four, all[i]), 10, 40);
    assert_in_range(worlds_with(four, "failed"), 70, 130);
    /* The second effect of a path is not the first one again, nor that of another path. */
    const char *twice = DRAWN "do u set s = text(i) do u set s = s + text(i) }";
    assert_in_range(worlds_with(twice, "55"), 8, 40);
    assert_in_range(worlds_with(twice, "57"), 8, 40);
    assert_in_range(worlds_with(twice, "76"), 8, 40);
    const char *both = DRAWN "par { do u set s = text(i) } and { do u set s = text(i) } }";
    assert_in_range(worlds_with(both, "5\n6"), 8, 40);
    /* What comes first of several events. */
    const char *event = DRAWN "defer { on timer 1s { set s = \"a\" } on timer 2s { set s = \"b\" } "
                              "on signal g { set s = \"c\" } } }";
    assert_in_range(worlds_with(event, "a"), 40, 95);
    assert_in_range(worlds_with(event, "b"), 40, 95);
    assert_in_range(worlds_with(event, "c"), 40, 95);
}

/* "0 1 -2 ": what a simulated task may write to the variable. */
static void expect_domain(const rad_flow_program *p, uint32_t variable, const char *expected)
{
    char text[400] = "";
    const rad_flow_domain *d = &p->domains[variable];
    for (uint32_t i = 0; i < d->count; i++) {
        size_t used = strlen(text);
        if (p->tree->variables[variable].type == RAD_FLOW_TEXT)
            snprintf(text + used, sizeof text - used, "'%s' ", rad__flow_name(&p->file, (uint32_t)d->values[i]));
        else
            snprintf(text + used, sizeof text - used, "%lld ", (long long)d->values[i]);
    }
    assert_string_equal(text, expected);
}

/* Numbers around those of the flow, those nearest to 0 first; texts that are compared with; what is declared; 8. */
static void what_is_assumed_about_values(void **state)
{
    (void)state;
    rad_flow_program *p;
    rad_error error = {0};
    static const char few[] = "flow f { data { n : int  t : text  b : bool  i : int in { 9, 7 } }\n"
                              "xor { when n > 9223372036854775807 { } when t == \"p\" { }\n"
                              "when t != \"o\" and \"p\" == t { } else { } } }";
    static const char many[] =
        "flow many { data { n : int  t : text }\n"
        "xor { when n == 100 { } when n == 5 { } when n == -3 { } when n == 50 { } else { } }\n"
        "xor { when t == \"h\" { } when t == \"g\" { } when t == \"f\" { } when t == \"e\" { }\n"
        "when t == \"d\" { } when t == \"c\" { } when t == \"b\" { } when t == \"a\" { } else { } "
        "} }";
    assert_int_equal(rad__flow_program_read(&p, "t.flow", few, strlen(few), NULL, &error), 0);
    expect_domain(p, 0, "0 1 9223372036854775806 9223372036854775807 ");
    expect_domain(p, 1, "'' 'p' 'o' ");
    expect_domain(p, 2, "0 1 ");
    expect_domain(p, 3, "9 7 ");
    rad__flow_program_free(p);
    assert_int_equal(rad__flow_program_read(&p, "t.flow", many, strlen(many), NULL, &error), 0);
    expect_domain(p, 0, "0 1 -2 -3 4 -4 5 6 ");
    expect_domain(p, 1, "'' 'h' 'g' 'f' 'e' 'd' 'c' 'b' ");
    rad__flow_program_free(p);
}

/* Another attempt is another draw: with enough of them it succeeds. */
static void attempts_are_drawn_for_themselves(void **state)
{
    (void)state;
    const char *stubborn = "flow f { data { s : text }  task t { call \"t\" retry 40 }\n"
                           "  region r { do t set s = \"done\" } on failure { set s = \"failed\" } }";
    assert_int_equal(worlds_with(stubborn, "done"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_not_mixed_up),        cmocka_unit_test(an_answer_is_given_back_once),
        cmocka_unit_test(a_path_does_not_inherit_answers), cmocka_unit_test(answers_that_were_taken_are_forgotten),
        cmocka_unit_test(values_fit_their_variables),      cmocka_unit_test(values_that_fit_are_taken),
        cmocka_unit_test(other_variables_are_refused),     cmocka_unit_test(where_it_was_written_is_in_the_digest),
        cmocka_unit_test(everything_is_drawn_for_itself),  cmocka_unit_test(attempts_are_drawn_for_themselves),
        cmocka_unit_test(what_is_assumed_about_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
