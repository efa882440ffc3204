/* test_verdicts.c — the validator of flows, step by step: which steps are done in one order only, and which are
 * not because somebody sees them; circles with ways out; whom a completion leaves behind; what is said of all that.
 * See test_validate.c for flows at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "storm_support.h"
#include "verdict_support.h"

#include <stdio.h>
#include <string.h>

/* A flow with something of everything, and this in it. */
static rad_flow_validation *validate_body(const char *body, bool every_order)
{
    rad_flow_validate_options o = {.states = 5000, .seeds = 1, .every_order = every_order};
    char text[1500];
    snprintf(text, sizeof text,
             "flow f { data { a : int  c : int  d : int in { 0, 1 }  s : text\n"
             "e : int in { 0, 1, 2, 3, 4, 5, 6, 7 } }\n%s\n"
             "task gives { call \"f\" outcomes ok writes d }\n"
             "task any { call \"f\" outcomes ok writes e }\n"
             "task s { call \"f\" outcomes ok } task never { call \"f\" outcomes fail }\n"
             "task may { call \"f\" } task tries { call \"f\" retry 1 }\n"
             "task slow { call \"f\" outcomes fail retry 1 delay 1s }\n"
             "task made { call \"f\" outcomes ok undo s }\n"
             "task bad { call \"f\" outcomes ok undo never } }",
             body);
    rad_flow_validation *v = flow_validated(text, &o);
    assert_true(v->exhausted);
    return v;
}

/* ---- Orders ------------------------------------------------------------------- */

/* Where nothing but one order has to be tried there are three runs, each with a step less than there are states. Where
 * it is more, something is seen. Both are counted: whoever saves more, or less, finds the number here. */
static const struct {
    const char *body;
    uint64_t states, steps;
} COUNTED[] = {
    /* One order is all there is: nobody sees these steps. */
    {"par { do s do s } and { do s do s }", 13, 36},
    {"par { do gives do s } and { set a = 1 do s }", 21, 44},
    {"par { set a = 1 set a = 2 } and { set c = 1 set c = 2 }", 9, 24},
    {"par { xor { when a == 0 { } } } and { xor { when a == 1 { } else { } } }", 7, 18},
    {"par { par { } and { } } and { par { } and { } }", 11, 30},
    {"par { or { when a == 0 { } } } and { or { when a == 1 { } else { } } }", 8, 21},
    {"par { many 2 { } } and { many 2 { } }", 11, 30},
    {"par { many 2 up to 2 { } } and { many 2 { } }", 11, 30},
    {"par { loop 3 { } } and { loop 2 { } }", 12, 33},
    {"par { region r { do s } } and { region q { do s } }", 13, 36},
    {"par { region r { set a = 1 set a = 2 } } and { region q { set c = 1 set c = 2 } }", 13, 36},
    {"par { region r { do made do s } } and { do made do s }", 15, 42},
    {"par { wait signal g do s } and { wait 1s do s }", 13, 36},
    {"par { region r { wait signal g do s } on failure { } } and { region q { wait signal h do s } "
     "on failure { } }",
     17, 92},
    {"par { set a = 1 } and { set c = 1 } join sync", 7, 18},
    {"par { par { do s } and { } join sync } and { do s }", 12, 33},
    {"par { do s } and { do s } join multi", 9, 24},
    {"par { do s } and { do s cancel case }", 8, 21},
    /* Tasks that fail are seen when somebody catches that; attempts are not. */
    {"par { do may do s } and { do may do s }", 14, 58},
    {"par { do tries do s } and { do tries do s }", 18, 66},
    {"par { do slow } and { do slow }", 11, 46},
    {"par { do never } and { do s do s }", 9, 19},
    {"par { region r { do never } on failure { } } and { do s do s }", 12, 63},
    {"region r { par { do tries reach m } and { do s reach m } } on failure { await m }", 24, 65},
    {"region r { par { do may } and { reach m } } on cancel { await m do s }", 11, 27},
    {"region r { par { do may } and { reach m } join none } on failure { await m do s }", 33, 314},
    /* Nor what is begun, unless somebody may be stopped and outcomes are drawn. */
    {"par { region r { do gives do s do gives } on cancel { } } and { do s do s }", 25, 90},
    {"par { region r { do s } on failure { } } and { region q { do s } on cancel { } }", 13, 47},
    {"par { do s } and { do s } join first", 8, 46},
    {"par { do any await z } and { reach m } join first par { do any set c = e } and { }", 62, 169},
    {"par { wait signal g into e await z } and { reach m } join first par { wait signal g into e "
     "set c = e } and { }",
     62, 169},
    {"region r { par { do any do any await z } and { reach m fail } } on failure { par { do any "
     "set c = e } and { } }",
     79, 578},
    {"par { wait signal g into d do s } and { wait signal h do s }", 23, 48},
    {"par { region r { wait signal g into d do s } on cancel { } } and { wait signal h do s }", 21, 56},
    {"par { region r { do s } } and { cancel region r do s } join sync", 23, 97},
    /* Branches that outlive their forks. */
    {"par { do s } and { do s } join none", 13, 98},
    {"par { do gives } and { do gives } join none par { do gives } and { do gives }", 113, 1469},
    {"par { reach m } and { } join none par { do any } and { } set c = e", 124, 1067},
    {"par { reach m } and { } join any par { do any } and { } set c = e", 148, 635},
    {"par { fail } and { } join any set a = 1", 7, 23},
    {"many 2 { reach m } join none par { do any } and { } set c = e", 172, 1896},
    {"region r { par { region q { fail } } and { } join none } on failure { do s }", 14, 60},
    /* Joins, and who is waited for. */
    {"par { or { when a == 0 { } } join sync } and { or { when a == 0 { } when a == 0 { } } join "
     "first 2 }",
     11, 41},
    {"par { or { when a == 0 { } } join multi } and { or { when a == 0 { } when a == 0 { } } join "
     "any 2 }",
     11, 70},
    {"par { many 2 { } join first 2 } and { many 2 { } }", 12, 46},
    {"par { or { when true { } when true { } } join first 2 } and { or { when true { } when true { "
     "} } join first 2 }",
     28, 244},
    {"par { many 2 { } join first 2 } and { many 2 { } join first 2 }", 28, 244},
    {"par { many 2 up to 2 { } } and { many 2 up to 2 { } }", 11, 30},
    {"par { xor { when a == 1 { } else { } } } and { xor { when a == 1 { } else { } } }", 7, 18},
    {"par { region r { par { } and { } } on failure { } } and { region q { par { } and { } } on "
     "failure { } }",
     15, 42},
    {"par { many 0 { } } and { reach m do s }", 14, 38},
    {"par { many 0 - 1 { } } and { reach m do s }", 14, 38},
    {"set s = \"x\" par { many over s as l { } } and { reach m do s }", 17, 48},
    {"many g 2 up to 3 { xor { when true { more g } when true { } } } do s", 45, 397},
    {"many g 1 up to 2 { par { more g } and { } join none } reach m", 92, 3587},
    {"par { loop 2 { do s } } and { finish }", 11, 48},
    {"par { lock x { do s } } and { lock y { do s } }", 22, 58},
    {"par { interleave { do s } and { do s } } and { do s }", 19, 53},
    /* Compensation is seen. */
    {"par { region r { do made } } and { compensate r }", 27, 97},
    {"region r { par { do bad do bad } and { compensate r } }", 21, 79},
    /* Somebody asks who stands before a task. */
    {"par { par { } and { } } and { cancel task s } join sync", 20, 152},
    {"par { set a = 1 do s } and { cancel task s } join sync", 20, 78},
};

static void what_nobody_sees_is_done_in_one_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof COUNTED / sizeof *COUNTED; i++) {
        rad_flow_validation *v = validate_body(COUNTED[i].body, false);
        if (v->states != COUNTED[i].states || v->steps != COUNTED[i].steps)
            fail_msg("%llu states, %llu steps: %s", (unsigned long long)v->states, (unsigned long long)v->steps,
                     COUNTED[i].body);
        rad_flow_validation_free(v);
    }
}

/* Each has something that some orders only lead to: an end, a task, a handler. */
static const char *const SEEN[] = {
    /* The data of the first token are those of a case that somebody else ends. */
    "par { fail } and { } join none set a = 1",
    "or { when true { await m fail } when true { } } join none reach m set a = 1",
    "many 2 { await m fail } join none reach m set a = 1",
    "par { fail } and { } join none par { set a = 1 } and { }",
    /* What an owner writes is seen by its handlers, whoever writes it. */
    "region r { par { cancel region r } and { } join none set a = 1 } on cancel { xor { when a == "
    "0 { do s } else { do never } } }",
    "region r { par { fail } and { } join none par { set a = 1 } and { } } on failure { xor { when "
    "a == 0 { do s } else { do never } } }",
    "region r { par { fail } and { } join none par { } and { set a = 1 } } on failure { xor { when "
    "a == 0 { do s } else { do never } } }",
    "region r { par { fail } and { } join none do gives } on failure { xor { when d == 0 { do s } "
    "else { do never } } }",
    "region r { par { await m fail } and { } join none reach m do gives } on failure { xor { when "
    "d == 0 { do s } else { do never } } }",
    "region r { par { fail } and { } join none wait signal g into d } on failure { xor { when d == "
    "0 { do s } else { do never } } }",
    "region r { par { await m fail } and { } join none reach m wait signal g into d } on failure { "
    "xor { when d == 0 { do s } else { do never } } }",
    "region r { par { await m fail } and { } join none reach m defer { on signal h { } on signal g "
    "into d { } } } on failure { xor { when d == 0 { do s } else { do never } } }",
    /* A region may be cancelled as long as it is not left, and caught in as long as somebody is inside. */
    "par { region r { } on cancel { do s } } and { cancel region r }",
    "region r { par { region q { fail } } and { } join none } on failure { do s }",
    /* What was done is undone, and what was not is not. */
    "par { region r { do bad } } and { compensate r }",
    "region r { par { do bad } and { } join any } compensate r",
    "region r { par { do bad } and { compensate r } }",
    /* Too few, too many, none that is right: a failure, before or after what the others do. */
    "par { many 1 { } join first 2 } and { reach m do s }",
    "par { many 1 { } join any 2 } and { reach m do s }",
    "par { many 3 up to 2 { } } and { reach m do s }",
    "par { many 5000000 { } } and { reach m do s }",
    "par { or { when a == 0 { } when a == 1 { } } join first 2 } and { reach m do s }",
    "par { xor { when 1 / a == 0 { } else { } } } and { reach m do s }",
    "par { or { when 1 / a == 0 { } else { } } } and { reach m do s }",
    "par { par { set a = 1 } and { set a = 2 } and { set c = 1 } } and { reach m do s }",
    /* One more instance, or one too late. */
    "many g 1 up to 2 as i { xor { when i == 0 { par { more g } and { } join none } else { set c = "
    "1 } } }",
};

static void what_somebody_sees_is_tried_in_every_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SEEN / sizeof *SEEN; i++) {
        rad_flow_validation *v = validate_body(SEEN[i], false);
        rad_flow_validation *full = validate_body(SEEN[i], true);
        for (uint32_t k = 0; k < RAD_FLOW_PROPERTIES; k++)
            if (v->verdicts[k].answer != full->verdicts[k].answer)
                fail_msg("%s: %s", rad_flow_property_name((enum rad_flow_property)k), SEEN[i]);
        if (v->dead_count != full->dead_count) fail_msg("dead: %s", SEEN[i]);
        rad_flow_validation_free(v);
        rad_flow_validation_free(full);
    }
}

/* ---- Circles ------------------------------------------------------------------- */

#define STUCK "lock a { lock a { } }"

/* A way out of a circle that leads to a deadlock is no way out. The run goes round, not out. */
static void a_circle_beside_a_deadlock_is_a_circle(void **state)
{
    (void)state;
    flow_verdict_fails("flow f { while true { xor { when true { " STUCK " } when true { } } } }", RAD_FLOW_NO_LIVELOCK,
                       "it can go round for ever and never end: the last 2 steps come back to where they "
                       "began",
                       "1");
    flow_verdict_fails("flow f { while true { xor { when true { } when true { " STUCK " } } } }", RAD_FLOW_NO_LIVELOCK,
                       "it can go round for ever and never end: the last 2 steps come back to where they "
                       "began",
                       "0");
    flow_verdict_fails("flow f { while true { xor { when true { " STUCK " } when true { } } } }", RAD_FLOW_NO_DEADLOCK,
                       "token 0, line 1: waits for the lock a, which 0 has", "0");
}

/* Steps that lead into a circle, and are not made again, are not counted as part of it. */
static void the_steps_of_a_circle_are_those_that_are_made_again(void **state)
{
    (void)state;
    flow_verdict_fails("flow f { xor { when true { } when true { while true { reach m } } } }", RAD_FLOW_NO_LIVELOCK,
                       "it can go round for ever and never end: the last 2 steps come back to where they "
                       "began",
                       "1");
}

/* ---- Who is left behind ------------------------------------------------------------------- */

static void whoever_waits_for_others_is_left_behind_too(void **state)
{
    (void)state;
    /* 0/1.0 waits for its own branches; only 0 waits for the one that finishes. */
    flow_verdict_fails("flow f { par { par { await m } and { await m } } and { finish } }", RAD_FLOW_PROPER_END,
                       "token 0/1.1 finishes the case (line 1) while token 0/1.0 is still at line 1", FLOW_ANY_RUN);
    rad_flow_validation *v = flow_validated("flow f { par { reach m } and { finish } }", NULL);
    assert_int_equal(v->verdicts[RAD_FLOW_PROPER_END].steps, 3); /* the fork, reach, finish */
    rad_flow_validation_free(v);
    /* The one that finishes is two forks down: whoever waits for whom it is a branch of, waits for it. */
    flow_verdict_fails("flow f { par { par { finish } and { } }\nand { await m } }", RAD_FLOW_PROPER_END,
                       "token 0/1.0/2.0 finishes the case (line 1) while token 0/1.1 is still at line 2", FLOW_ANY_RUN);
}

/* ---- What is never reached ------------------------------------------------------------------- */

#define TASKS "task s { call \"f\" outcomes ok } task t { call \"f\" outcomes ok }\n"

static void only_what_is_not_reached_is_dead(void **state)
{
    (void)state;
    flow_verdict_fails("flow f { " TASKS "xor { when 1 > 2 { do t } else { do s } } }", RAD_FLOW_NO_DEAD_CODE,
                       "never reached: a branch of xor (line 2)", NULL);
    flow_verdict_fails("flow f { " TASKS "or { when 1 > 2 { do t } else { do s } } }", RAD_FLOW_NO_DEAD_CODE,
                       "never reached: a branch of or (line 2)", NULL);
    flow_verdict_fails("flow f { " TASKS "xor { when true { do s } when 1 > 2 { do t } } }", RAD_FLOW_NO_DEAD_CODE,
                       "never reached: a branch of xor (line 2)", NULL);
    /* What fails leads nowhere, and nothing is reached because something before it is. */
    flow_verdict_fails("flow f { data { n : int } " TASKS "do s do t\n"
                       "region r { xor { when 1 / n == 0 { } else { } } } on failure { } }",
                       RAD_FLOW_NO_DEAD_CODE, "never reached: a branch of xor (line 3), else of xor (line 3)", NULL);
    flow_verdict_fails("flow f { " TASKS "do s do t\n"
                       "region r { or { when true { } when false { } } join first 2 } on failure { } }",
                       RAD_FLOW_NO_DEAD_CODE, "never reached: a branch of or (line 3), a branch of or (line 3)", NULL);
    flow_verdict_fails("flow f { " TASKS "par { do s } and { do t }\nxor { when false { } else { } } }",
                       RAD_FLOW_NO_DEAD_CODE, "never reached: a branch of xor (line 3)", NULL);
    rad_flow_validation *v = flow_validated("flow f { " TASKS "{ do s } { { do t } } }", NULL);
    assert_int_equal(v->dead_count, 0);
    rad_flow_validation_free(v);
}

/* What was not met before the budget was used up may be met behind it. */
static void what_was_not_looked_for_is_not_dead(void **state)
{
    static const char text[] = "flow f { " TASKS "do s loop 50 { reach m } do t expire m }";
    rad_flow_validate_options few = {.states = 20};
    (void)state;
    rad_flow_validation *v = flow_validated(text, &few);
    assert_false(v->exhausted);
    assert_int_equal(v->verdicts[RAD_FLOW_NO_DEAD_TASK].answer, RAD_FLOW_UNKNOWN);
    assert_int_equal(v->verdicts[RAD_FLOW_NO_DEAD_CODE].answer, RAD_FLOW_UNKNOWN);
    assert_string_equal(v->verdicts[RAD_FLOW_NO_DEAD_TASK].text, "not all states were visited: 20 of them, 19 steps");
    rad_flow_validation_free(v);
    v = flow_validated(text, NULL);
    assert_int_equal(v->dead_count, 0);
    rad_flow_validation_free(v);
}

static void a_flow_without_an_end_is_compared_with_nothing(void **state)
{
    rad_flow_validation *v = flow_validated("flow f { lock a { lock a { } } }", NULL);
    (void)state;
    assert_int_equal(v->verdicts[RAD_FLOW_CONFLUENT].answer, RAD_FLOW_UNKNOWN);
    assert_string_equal(v->verdicts[RAD_FLOW_CONFLUENT].text,
                        "under policy first the execution does not end (outcomes=1)");
    rad_flow_validation_free(v);
}

/* One is told once, and there is an end to the list. */
static void failures_are_told_once_each(void **state)
{
    rad_bytes text = {0};
    (void)state;
    rad__bytes_format(&text, "flow f { xor {\n");
    for (int i = 0; i < 20; i++)
        rad__bytes_format(&text, "when true { fail \"%d\" } when true { fail \"%d\" }\n", i, i);
    rad__bytes_format(&text, "} }");
    rad_flow_validation *v = flow_validated((char *)text.data, NULL);
    assert_int_equal(v->failure_count, 16);
    assert_string_equal(v->failures[0], "line 2: 0");
    assert_string_equal(v->failures[15], "line 17: 15");
    rad_flow_validation_free(v);
    rad__bytes_free(&text);
}

/* ---- What it rests on ------------------------------------------------------------------- */

static bool rests_on_seeds(const char *text)
{
    rad_flow_validation *v = flow_validated(text, NULL);
    bool said = false;
    for (uint32_t i = 0; i < v->assumption_count; i++)
        said |= strcmp(v->assumptions[i], "confluence: outcomes drawn from the seeds 1 … 3, not "
                                          "all there are") == 0;
    rad_flow_validation_free(v);
    return said;
}

/* With one outcome each there is nothing to draw, and confluence is not a sample. */
static void confluence_says_whether_outcomes_were_drawn(void **state)
{
    (void)state;
    assert_false(rests_on_seeds("flow f { task t { call \"f\" outcomes ok } do t }"));
    assert_false(rests_on_seeds("flow f { task t { call \"f\" outcomes fail } do t }"));
    assert_false(rests_on_seeds("flow f { wait signal g }"));
    assert_true(rests_on_seeds("flow f { task t { call \"f\" } do t }"));
    assert_true(rests_on_seeds("flow f { data { b : bool }\n"
                               "task t { call \"f\" outcomes ok writes b } do t }"));
    assert_true(rests_on_seeds("flow f { defer { on signal g { } on signal h { } } }"));
    assert_true(rests_on_seeds("flow f { data { t : text } wait signal g into t }"));
}

static bool assumes_silence(const char *text)
{
    rad_flow_validation *v = flow_validated(text, NULL);
    bool said = false;
    for (uint32_t i = 0; i < v->assumption_count; i++)
        said |= strcmp(v->assumptions[i], "write nothing, because no `writes` is declared: t") == 0;
    rad_flow_validation_free(v);
    return said;
}

static void a_function_is_silent_unless_it_says_what_it_writes(void **state)
{
    (void)state;
    assert_true(assumes_silence("flow f { task t { call \"f\" } do t }"));
    assert_false(assumes_silence("flow f { data { b : bool }\n"
                                 "task t { call \"f\" writes b } do t }"));
    assert_false(assumes_silence("flow f { task t { run \"f\" } do t }"));
}

/* What does not fit is counted. */
static void long_lists_are_cut_and_say_so(void **state)
{
    rad_bytes text = {0};
    (void)state;
    rad__bytes_format(&text, "flow f {\n");
    for (int i = 0; i < 30; i++) rad__bytes_format(&text, "task a_task_with_a_long_name_%02d { call \"x\" }\n", i);
    rad__bytes_format(&text, "finish }");
    rad_flow_validation *v = flow_validated((char *)text.data, NULL);
    for (int i = 0; i < 2; i++) { /* they may fail, and they are silent */
        const char *said = v->assumptions[i], *end = said + strlen(said);
        assert_non_null(strstr(said, ": a_task_with_a_long_name_00, a_task"));
        assert_string_equal(end - strlen("a_long_name_12 and 17 more"), "a_long_name_12 and 17 more");
    }
    rad_flow_validation_free(v);
    rad__bytes_free(&text);
}

static void every_property_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RAD_FLOW_PROPERTIES; i++)
        assert_non_null(rad_flow_property_name((enum rad_flow_property)i));
    assert_null(rad_flow_property_name(RAD_FLOW_PROPERTIES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_sees_is_done_in_one_order),
        cmocka_unit_test(what_somebody_sees_is_tried_in_every_order),
        cmocka_unit_test(a_circle_beside_a_deadlock_is_a_circle),
        cmocka_unit_test(the_steps_of_a_circle_are_those_that_are_made_again),
        cmocka_unit_test(whoever_waits_for_others_is_left_behind_too),
        cmocka_unit_test(only_what_is_not_reached_is_dead),
        cmocka_unit_test(what_was_not_looked_for_is_not_dead),
        cmocka_unit_test(failures_are_told_once_each),
        cmocka_unit_test(a_flow_without_an_end_is_compared_with_nothing),
        cmocka_unit_test(confluence_says_whether_outcomes_were_drawn),
        cmocka_unit_test(a_function_is_silent_unless_it_says_what_it_writes),
        cmocka_unit_test(long_lists_are_cut_and_say_so),
        cmocka_unit_test(every_property_has_a_name),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
