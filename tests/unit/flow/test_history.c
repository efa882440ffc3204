/* test_history.c — what a case has done, step by step in words, and how often it was where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/machine/history.h"
#include "flow/machine/vm.h"
#include "live.h"

#include <stdio.h>
#include <string.h>

static rad_flow_history history_of(const flow_live *l)
{
    rad_flow_history h;
    assert_true(rad__flow_history_open(&h, l->program, true));
    rad__flow_history_end(&h, l->c);
    assert_false(h.failed);
    return h;
}

static void expect_text(flow_live *l, const char *expected)
{
    rad_flow_history h = history_of(l);
    assert_string_equal((const char *)h.text.data, expected);
    rad__flow_history_free(&h);
}

/* ---- Words --------------------------------------------------------------------------------------------------- */

static void tasks_and_forks_in_words(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f {\n"
                                  "  data { n : int merge sum  s : text  b : bool }\n"
                                  "  task a { call \"a\" retry 1 writes n }\n"
                                  "  par { do a } and { set n = 4 }\n"
                                  "  set s = \"word\"\n"
                                  "  set b = n > 3\n"
                                  "}\n");
    flow_live_fail(l, "a");
    flow_live_wrote(l, "a", "n", "-9");
    expect_text(l, "0 0 line 4: fork\n"
                   "1 0/1.0 line 4: starts a, attempt 1\n"
                   "2 0/1.1 line 4: sets n to 4\n"
                   "3 0/1.1 line 4: arrive\n"
                   "4 input from outside\n"
                   "4 0/1.0 line 4: has failed in a\n"
                   "5 0/1.0 line 4: starts a, attempt 2\n"
                   "6 input from outside\n"
                   "6 0/1.0 line 4: has done a\n"
                   "7   joined: 0\n"
                   "7 0/1.0 line 4: arrive\n"
                   "8 0 line 5: sets s to \"word\"\n"
                   "9 0 line 6: sets b to false\n"
                   "10 0 line 7: end\n");
    flow_live_close(l);
}

static void choices_in_words(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f {\n"
                                  "  data { n : int }\n"
                                  "  xor { when n == 1 { } when n == 0 { } }\n"
                                  "  interleave { } and { }\n"
                                  "  defer { on timer 1s { } on signal s { } }\n"
                                  "  xor { when n == 1 { } else { } }\n"
                                  "  set n = 1 / n\n"
                                  "}\n");
    flow_live_signal(l, "s", NULL);
    expect_text(l, "0 0 line 3: takes branch 2\n"
                   "1 0 line 4: takes block 1\n"
                   "2 0 line 4: takes block 2\n"
                   "3 0 line 4: has taken all blocks\n"
                   "4 0 line 5: begin\n"
                   "5 input from outside\n"
                   "5 0 line 5: takes event 2\n"
                   "6 0 line 6: takes no branch\n"
                   "7   failed: 0\n"
                   "7   cancelled: 0\n"
                   "7 0 line 7: set\n");
    flow_live_close(l);
}

/* Where the branches of a multi join arrive is the end of the block that they share. */
static void blocks_end_where_they_end(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f {\n"
                                  "  {\n"
                                  "    par { } and { fail } join multi\n"
                                  "    loop 0 { }\n"
                                  "  }\n"
                                  "}\n");
    expect_text(l, "0 0 line 3: fork\n"
                   "1 0/2.0 line 4: loop\n"
                   "2 0/2.0 line 5: arrive\n"
                   "3   failed: 0/2.1\n"
                   "3   cancelled: 0/2.1\n"
                   "3   cancelled: 0\n"
                   "3 0/2.1 line 3: fail\n");
    flow_live_close(l);
}

static void cancelling_in_words(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f {\n"
                                  "  task a { call \"a\" undo u } task u { call \"u\" }\n"
                                  "  region r {\n"
                                  "    do a\n"
                                  "    par { do a } and { do a fail }\n"
                                  "  } on failure { compensate r }\n"
                                  "  par { do a } and { do a } join first\n"
                                  "}\n");
    flow_live_ok(l, "a");
    flow_live_result(l, "0/3.1#1", 1, true);
    flow_live_go_on(l);
    flow_live_ok(l, "u");
    flow_live_ok(l, "u");
    flow_live_ok(l, "a");
    expect_text(l, "0 0 line 3: enter\n"
                   "1 0 line 4: starts a, attempt 1\n"
                   "2 input from outside\n"
                   "2 0 line 4: has done a\n"
                   "3 0 line 5: fork\n"
                   "4 0/3.0 line 5: starts a, attempt 1\n"
                   "5 0/3.1 line 5: starts a, attempt 1\n"
                   "6 input from outside\n"
                   "6 0/3.1 line 5: has done a\n"
                   "7   failed: 0/3.1\n"
                   "7   cancelled: 0/3.0\n"
                   "7   cancelled: 0/3.1\n"
                   "7 0/3.1 line 5: fail\n"
                   "8 0 line 6: compensate\n"
                   "9 input from outside\n"
                   "9 0 line 6: has done an undo task\n"
                   "10 0 line 6: compensate\n"
                   "11 input from outside\n"
                   "11 0 line 6: has done an undo task\n"
                   "12 0 line 6: compensate\n"
                   "13 0 line 7: fork\n"
                   "14 0/8.0 line 7: starts a, attempt 1\n"
                   "15 0/8.1 line 7: starts a, attempt 1\n"
                   "16 input from outside\n"
                   "16 0/8.0 line 7: has done a\n"
                   "17   cancelled: 0/8.1\n"
                   "17   joined: 0\n"
                   "17 0/8.0 line 7: arrive\n"
                   "18 0 line 8: end\n");
    flow_live_close(l);
}

/* Of several joins that one cancelling completes, that of the oldest fork is first, whoever had which path before. */
static void joins_fire_in_the_order_of_their_forks(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task x { call \"x\" }\n"
                                  "par { loop 2 { wait signal a par { do x } and { } join sync } }\n"
                                  "and { loop 2 { wait signal b par { do x } and { } join sync } } }");
    flow_live_signal(l, "a", NULL);
    flow_live_signal(l, "b", NULL);
    flow_live_cancel(l, RAD_FLOW_PART_TASK, "x");
    flow_live_signal(l, "b", NULL);
    flow_live_signal(l, "a", NULL);
    flow_live_cancel(l, RAD_FLOW_PART_TASK, "x");
    rad_flow_history h = history_of(l);
    const char *first = strstr((const char *)h.text.data, "joined: 0/1.0\n");
    assert_non_null(first);
    const char *second = strstr(first, "joined: 0/1.1\n");
    assert_non_null(second);
    const char *third = strstr(second + 1, "joined: 0/1.1\n");
    assert_non_null(third);
    assert_non_null(strstr(third, "joined: 0/1.0\n"));
    rad__flow_history_free(&h);
    flow_live_close(l);
}

/* What each step says it touches: "fork: reads case". Whoever looks for orders that differ goes by that. */
static void what_steps_touch(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f {\n"
                                  "  par { lock k { reach m } }\n"
                                  "  and { await m expire m }\n"
                                  "  region r { cancel region r }\n"
                                  "}\n");
    const rad_kernel *k = l->c->kernel;
    char text[2000] = "";
    for (uint64_t i = 0; i < k->trace.count; i++) {
        const rad_event *e = rad__trace_at(&k->trace, i);
        size_t used = strlen(text);
        if (e->what != RAD_EVENT_STEP) continue;
        snprintf(text + used, sizeof text - used, "%s: %s %s; ", rad__flow_vm_site(l->c->vm, e->site),
                 (e->access & ~RAD_EVENT_VALUED) == RAD_WRITE ? "writes" : "reads", k->objects[e->object].role);
    }
    assert_string_equal(text, "fork: reads case; acquire: writes k; reach: writes m; release: writes k; "
                              "arrive: writes fork; await: reads m; expire: writes m; arrive: writes fork; "
                              "enter: reads case; cancel: writes case; ");
    flow_live_close(l);
}

/* ---- Where it was -------------------------------------------------------------------------------------------- */

/* "1: 2x, order 1, steps 0-7, done; " for each statement that was come to; -1: of these one was cancelled. */
static void expect_visits(const flow_live *l, const char *expected)
{
    static const char *const states[] = {"none", "done", "waiting", "failed", "cancelled"};
    char text[2000] = "";
    rad_flow_history h = history_of(l);
    for (uint32_t i = 1; i <= l->program->tree->statement_count; i++) {
        const rad_flow_visit *v = &h.visits[i];
        size_t used = strlen(text);
        if (v->order == 0) continue;
        snprintf(text + used, sizeof text - used, "%u: %ux, order %u, steps %u-%u, %s; ", i, (uint32_t)v->times,
                 v->order, (uint32_t)v->first, (uint32_t)v->last, states[v->state]);
        if (v->cancelled > 0) snprintf(text + strlen(text) - 2, sizeof text - used, ", -%u; ", (uint32_t)v->cancelled);
    }
    assert_string_equal(text, expected);
    rad__flow_history_free(&h);
}

/* Once for each time it is begun, however many steps it takes. */
static void visits_are_counted(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task a { call \"a\" retry 1 delay 1s }\n"
                                  "loop 2 { do a }\n"
                                  "region r { lock l { wait signal s } }\n"
                                  "interleave { } and { }\n"
                                  "{ par { } and { } join multi do a } }\n");
    flow_live_fail(l, "a");
    flow_live_ring(l, "0#1", 0);
    flow_live_ok(l, "a");
    flow_live_ok(l, "a");
    flow_live_signal(l, "s", NULL);
    flow_live_ok(l, "a");
    assert_int_equal(flow_live_ok(l, "a"), RAD_CASE_DONE);
    expect_visits(l, "1: 1x, order 1, steps 0-9, done; "
                     "2: 3x, order 2, steps 1-8, done; "
                     "3: 1x, order 3, steps 10-15, done; "
                     "4: 1x, order 4, steps 11-14, done; "
                     "5: 1x, order 5, steps 12-13, done; "
                     "6: 1x, order 6, steps 16-18, done; "
                     "8: 1x, order 7, steps 19-25, done; "
                     "9: 2x, order 8, steps 20-24, done; ");
    flow_live_close(l);
}

/* Where tokens are, where they were cancelled, and what failed. */
static void the_last_word_on_each_statement(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { data { x : int } task a { call \"a\" }  task bad { call \"bad\" }\n"
                                  "region r { par { do a } and { wait 3s } and { many 2 { do a } } and { do bad } }\n"
                                  "on failure { } region q { fail } on failure { }\n"
                                  "par { par { do a } and { await m } } and { set x = 1 lock l { await m } } }\n");
    flow_live_fail(l, "bad");
    expect_visits(l, "1: 1x, order 1, steps 0-0, done; "
                     "2: 1x, order 2, steps 1-1, done; "
                     "3: 1x, order 3, steps 2-2, cancelled, -1; "
                     "4: 1x, order 4, steps 3-3, cancelled, -1; "
                     "5: 1x, order 5, steps 4-4, cancelled, -1; "
                     "6: 2x, order 7, steps 6-7, cancelled, -2; "
                     "7: 1x, order 6, steps 5-8, failed; "
                     "8: 1x, order 8, steps 9-9, done; "
                     "9: 1x, order 9, steps 10-10, failed; "
                     "10: 1x, order 10, steps 11-11, waiting; "
                     "11: 1x, order 11, steps 12-12, waiting; "
                     "12: 1x, order 14, steps 15-15, waiting; "
                     "14: 1x, order 12, steps 13-13, done; "
                     "15: 1x, order 13, steps 14-14, done; ");
    flow_live_close(l);
}

/* Who fails has failed, and is not cancelled as well; in a join that is the fork, not the branch that came last. */
static void what_fails_has_failed(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { data { x : int y : int } task a { call \"a\" }\n"
                                  "region r { par { do a } and { wait 3s } } on failure { }\n"
                                  "region q { xor { when x > 0 { } } } on failure { }\n"
                                  "region s { set y = 1 / x } on failure { }\n"
                                  "region t { par { par { set x = 1 } and { set x = 2 } } and { wait 3s } } }\n");
    assert_int_equal(flow_live_fail(l, "a"), RAD_CASE_FAILED);
    expect_visits(l, "1: 1x, order 1, steps 0-0, done; "
                     "2: 1x, order 2, steps 1-1, done; "
                     "3: 1x, order 3, steps 2-4, failed; "
                     "4: 1x, order 4, steps 3-3, cancelled, -1; "
                     "5: 1x, order 5, steps 5-5, done; "
                     "6: 1x, order 6, steps 6-6, failed; "
                     "7: 1x, order 7, steps 7-7, done; "
                     "8: 1x, order 8, steps 8-8, failed; "
                     "9: 1x, order 9, steps 9-9, done; "
                     "10: 1x, order 10, steps 10-10, cancelled, -1; "
                     "11: 1x, order 11, steps 11-16, failed; "
                     "12: 1x, order 13, steps 13-13, done; "
                     "13: 1x, order 14, steps 15-15, done; "
                     "14: 1x, order 12, steps 12-12, cancelled, -1; ");
    flow_live_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_and_forks_in_words),
        cmocka_unit_test(choices_in_words),
        cmocka_unit_test(blocks_end_where_they_end),
        cmocka_unit_test(cancelling_in_words),
        cmocka_unit_test(joins_fire_in_the_order_of_their_forks),
        cmocka_unit_test(what_steps_touch),
        cmocka_unit_test(visits_are_counted),
        cmocka_unit_test(the_last_word_on_each_statement),
        cmocka_unit_test(what_fails_has_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
