/* test_cancel.c — who is cancelled, and who is not; each exactly once, and its effect with it.
 *
 * What can happen over all schedules is written as in schedules.h ("-a": task a was under way when it was
 * cancelled); what the world is asked for, as in live.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/machine/vm.h"
#include "live.h"
#include "schedules.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

/* Tasks that cannot fail, and one that always does. */
#define FLOW                                                                                                           \
    "flow f {\n"                                                                                                       \
    "  data { n : int merge sum  why : text merge first }\n"                                                           \
    "  task a { call \"a\" outcomes ok }  task b { call \"b\" outcomes ok }\n"                                         \
    "  task c { call \"c\" outcomes ok }  task d { call \"d\" outcomes ok }\n"                                         \
    "  task bad { call \"bad\" outcomes fail }\n"

/* ---- Losers -------------------------------------------------------------------------------- */

static void must_hold_3_losers_are_cancelled_exactly_once(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "par { do a } and { do b } and { do c } join first do d }");
    assert_string_equal(flow_live_under_way(l), "a b c");
    flow_live_ok(l, "b");
    assert_string_equal(flow_live_under_way(l), "d");
    assert_string_equal(l->log, "start 0/1.0#1 a 1; start 0/1.1#1 b 1; start 0/1.2#1 c 1; "
                                "stop 0/1.0#1; stop 0/1.2#1; start 0#1 d 1; ");
    assert_int_equal(l->c->vm->cancelled, 2);
    assert_false(flow_live_result(l, "0/1.0#1", 1, true)); /* nobody waits for it any more */
    assert_int_equal(flow_live_ok(l, "d"), RAD_CASE_DONE);
    assert_int_equal(flow_live_count(l, "stop "), 2);
    flow_live_close(l);
}

static void losers_go_with_everything_below_them(void **state)
{
    (void)state;
    /* The loser waits in a fork, has a detached branch, and one of its branches has another one. */
    flow_live *l =
        flow_live_open(FLOW "par { do a } and { par { do b } and { } join none\n"
                            "  par { par { do c } and { } join none do c } and { do d } } join first do a }");
    assert_string_equal(flow_live_under_way(l), "a b c d c");
    flow_live_ok(l, "a");
    assert_string_equal(flow_live_under_way(l), "a");
    assert_int_equal(flow_live_count(l, "stop "), 4);
    assert_int_equal(flow_live_ok(l, "a"), RAD_CASE_DONE);
    flow_live_close(l);
}

static void losers_that_had_arrived_are_not_cancelled(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "par { do a } and { do b } and { do c } join first 2 do d }");
    flow_live_ok(l, "c");
    assert_int_equal(l->c->vm->cancelled, 0);
    flow_live_ok(l, "a");
    assert_int_equal(l->c->vm->cancelled, 1);
    assert_int_equal(flow_live_count(l, "stop "), 1);
    assert_int_equal(flow_live_count(l, "stop 0/1.1#1; "), 1);
    flow_live_close(l);
}

static void absorbed_branches_are_not_cancelled(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "par { do a } and { do b } join any do d }");
    flow_live_ok(l, "a");
    assert_string_equal(flow_live_under_way(l), "b d");
    assert_int_equal(flow_live_ok(l, "d"), RAD_CASE_WAITING); /* the case is not done before */
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_DONE);
    assert_int_equal(l->c->vm->cancelled, 0);
    flow_live_close(l);
}

/* What a loser had done is forgotten, what a winner had done is not. */
static void losers_write_nothing(void **state)
{
    (void)state;
    FLOW_EXPECT_VALUE(FLOW "par { set n = 1 } and { set n = 10 } join first }", "n", "| done n=1", "| done n=10");
    FLOW_EXPECT_VALUE(FLOW "par { set n = 1 } and { set n = 10 } join any }", "n", "| done n=1", "| done n=10");
    FLOW_EXPECT_VALUE(FLOW "par { set n = 1 } and { set n = 10 } }", "n", "| done n=11");
}

/* ---- Regions ------------------------------------------------------------------------------- */

static void must_hold_3_tokens_outside_a_region_are_untouched(void **state)
{
    (void)state;
    flow_live *l =
        flow_live_open(FLOW "par { region r { par { do a } and { do b } } do d } and { do c } join sync do d }");
    assert_string_equal(flow_live_under_way(l), "c a b");
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_string_equal(flow_live_under_way(l), "c");
    assert_int_equal(flow_live_count(l, "stop "), 2);
    assert_int_equal(flow_live_count(l, "stop 0/1.0/3.0#1; "), 1);
    assert_int_equal(flow_live_count(l, "stop 0/1.0/3.1#1; "), 1);
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r"); /* again: there is nobody */
    assert_int_equal(l->c->vm->cancelled, 3);
    flow_live_ok(l, "c");
    assert_string_equal(flow_live_under_way(l), "d");
    assert_int_equal(flow_live_ok(l, "d"), RAD_CASE_DONE);
    flow_live_close(l);
}

/* Branches that a token made before it entered the region, and does not wait for, are outside. */
static void detached_branches_from_before_are_untouched(void **state)
{
    (void)state;
    const char *text = FLOW "par { par { do a } and { } join none region r { do b } } and { do c cancel region r }\n"
                            "join sync do d }";
    flow_live *l = flow_live_open(text);
    assert_string_equal(flow_live_under_way(l), "b c a");
    flow_live_ok(l, "c");
    assert_string_equal(flow_live_under_way(l), "a d");
    assert_int_equal(flow_live_count(l, "stop "), 1);
    flow_live_ok(l, "d");
    assert_int_equal(flow_live_ok(l, "a"), RAD_CASE_DONE);
    flow_live_close(l);
}

/* … and those made inside are inside, even when whoever made them has left. */
static void detached_branches_of_a_region_are_inside(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "region r { par { do a } and { do b } join none } on cancel "
                                       "{ do d } do c cancel region r }");
    assert_string_equal(flow_live_under_way(l), "c a b");
    assert_int_equal(flow_live_ok(l, "c"), RAD_CASE_DONE); /* its owner has left: no handler */
    assert_int_equal(flow_live_count(l, "stop "), 2);
    flow_live_close(l);
}

static void the_owner_goes_into_the_handler(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "par { region r { par { do a } and { do b } } on cancel { "
                                       "do c } do d } and { wait signal stop\n"
                                       "  cancel region r } }");
    flow_live_ok(l, "a");
    flow_live_signal(l, "stop", NULL);
    assert_string_equal(flow_live_under_way(l), "c");
    assert_int_equal(flow_live_count(l, "stop 0"), 1);
    assert_int_equal(l->c->vm->cancelled, 1); /* b; a had arrived */
    flow_live_ok(l, "c");
    assert_string_equal(flow_live_under_way(l), "d");
    assert_int_equal(flow_live_ok(l, "d"), RAD_CASE_DONE);
    flow_live_close(l);
}

static void an_effect_of_the_owner_is_stopped_once(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "region r { do a } on cancel { do b } }");
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_string_equal(l->log, "start 0#1 a 1; stop 0#1; start 0#2 b 1; ");
    assert_false(flow_live_result(l, "0#1", 1, true));
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_DONE);
    assert_int_equal(l->c->vm->cancelled, 0);
    flow_live_close(l);
}

static void the_outer_region_takes_the_inner_ones_with_it(void **state)
{
    (void)state;
    /* Neither the handlers of the inner region nor what is behind it. */
    FLOW_EXPECT(FLOW "region out { region in { do a cancel region out } on cancel { do b }\n"
                     "  on failure { do b } do b } on cancel { do c } do d }",
                "a c d | done");
    /* The inner one alone: its handler, and the outer region goes on. */
    FLOW_EXPECT(FLOW "region out { region in { do a cancel region in do b } on cancel { do c } do d }\n"
                     "on cancel { do b } }",
                "a c d | done");
    /* Without a handler the owner of the inner one goes; it is the owner of the outer one, too. */
    FLOW_EXPECT(FLOW "region out { region in { do a cancel region in do b } do b } on cancel { do c } do d }",
                "a | done");
}

static void inner_regions_of_other_tokens(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "region out { par { region one { do a } on cancel { do d } "
                                       "} and { region two { do b } } } on cancel { do c }\n"
                                       "do d }");
    assert_string_equal(flow_live_under_way(l), "a b");
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "out");
    assert_string_equal(flow_live_under_way(l), "c"); /* not d: who would be in its handler is cancelled */
    assert_int_equal(l->c->vm->cancelled, 2);
    assert_int_equal(flow_live_count(l, "stop "), 2);
    flow_live_ok(l, "c");
    assert_int_equal(flow_live_ok(l, "d"), RAD_CASE_DONE);
    flow_live_close(l);
}

static void every_instance_of_a_region_is_cancelled(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "many 3 as k { region r { do a } on cancel { set n = n + 1 } } do b }");
    assert_string_equal(flow_live_under_way(l), "a a a");
    flow_live_ok(l, "a"); /* one has left */
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_count(l, "stop "), 2);
    assert_string_equal(flow_live_value(l, "n"), "2");
    flow_live_close(l);
}

/* An instance that is added inside a region begins outside of it, where its many is. */
static void added_instances_are_outside_the_region_of_who_added_them(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "many m 1 up to 2 as k { xor { when k == 1 { do b } else { } } region r { \n"
                                       "  xor { when k == 0 { more m } else { } } do a } on cancel { } } do d }");
    assert_string_equal(flow_live_under_way(l), "a b");
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_string_equal(flow_live_under_way(l), "b");
    flow_live_ok(l, "b");
    flow_live_ok(l, "a");
    assert_int_equal(flow_live_ok(l, "d"), RAD_CASE_DONE);
    assert_int_equal(l->c->vm->cancelled, 0);
    flow_live_close(l);
}

/* Whichever of the inner instances were left, in whichever order: those that are still there go with the outer one. */
static void inner_instances_that_were_left_hide_nobody(void **state)
{
    (void)state;
    static const char *const keys[] = {"0/2.0#1", "0/2.1#1", "0/2.2#1", "0/2.3#1"};
    for (uint32_t order = 0; order < 4 * 4 * 4; order++) {
        uint32_t left[3] = {order % 4, order / 4 % 4, order / 16}, gone = 0;
        flow_live *l = flow_live_open(FLOW "region out { many 4 { region in { do a } await m } } on cancel { do c } }");
        for (uint32_t i = 0; i < 3; i++) {
            gone += flow_live_result(l, keys[left[i]], 1, true);
            flow_live_go_on(l);
        }
        flow_live_cancel(l, RAD_FLOW_PART_REGION, "out");
        assert_string_equal(flow_live_under_way(l), "c");
        assert_int_equal(flow_live_count(l, "stop "), 4 - gone);
        assert_int_equal(l->c->vm->cancelled, 4);
        flow_live_close(l);
    }
}

/* … and places that were given back are not looked at: whoever has them now is somewhere else. */
static void places_that_were_left_are_others(void **state)
{
    (void)state;
    static const char *const keys[] = {"0/1.0/3.0#1", "0/1.0/3.1#1", "0/1.0/3.2#1", "0/1.0/3.3#1"};
    for (uint32_t order = 0; order < 4 * 4 * 4; order++) {
        uint32_t left[3] = {order % 4, order / 4 % 4, order / 16};
        flow_live *l =
            flow_live_open(FLOW "par { region out { many 4 { region in { do a } await m } } on cancel { do c } }\n"
                                "and { wait signal go region other { do b } } and { wait signal go region more { "
                                "do d } } }");
        for (uint32_t i = 0; i < 3; i++) {
            flow_live_result(l, keys[left[i]], 1, true);
            flow_live_go_on(l);
        }
        flow_live_signal(l, "go", NULL);
        flow_live_signal(l, "go", NULL);
        flow_live_cancel(l, RAD_FLOW_PART_REGION, "out");
        assert_string_equal(flow_live_under_way(l), "b d c");
        flow_live_close(l);
    }
}

/* They are told in the order in which they were made, whatever order they came in. */
static void who_was_made_first_is_cancelled_first(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "region r { par { do a } and { do b } and { do c } } }");
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_int_equal(flow_live_count(l, "stop 0/2.0#1; stop 0/2.1#1; stop 0/2.2#1; "), 1);
    flow_live_close(l);
}

/* ---- Oneself ------------------------------------------------------------------------------- */

static void who_cancels_may_be_among_them(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "region r { do a cancel region r do b } do c }", "a | done");
    FLOW_EXPECT(FLOW "par { region r { do a cancel region r do b } do b } and { } join sync do c }", "a c | done");
    FLOW_EXPECT(FLOW "par { region r { do a cancel region r } } and { } do c }", "a | deadlock");
    FLOW_EXPECT(FLOW "region r { par { do a cancel region r do b } and { } } on cancel { do c } do d }",
                "a c d | done");
    /* It does not stand before the task yet when it cancels it. */
    FLOW_EXPECT(FLOW "cancel task a do a }", "a | done");
}

static void the_case(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "region r { par { do a } and { do b cancel case } } on cancel { do c } }");
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_CANCELLED);
    assert_string_equal(flow_live_under_way(l), "");
    assert_int_equal(flow_live_count(l, "stop "), 1);
    assert_int_equal(l->c->vm->cancelled, 3);
    flow_live_close(l);
    l = flow_live_open(FLOW "par { do a } and { do b } }");
    assert_int_equal(flow_live_cancel(l, RAD_FLOW_PART_CASE, NULL), RAD_CASE_CANCELLED);
    assert_int_equal(flow_live_count(l, "stop "), 2);
    assert_int_equal(flow_live_cancel(l, RAD_FLOW_PART_CASE, NULL), RAD_CASE_CANCELLED);
    assert_int_equal(flow_live_count(l, "stop "), 2);
    flow_live_close(l);
}

/* What has ended stays as it ended, also before anybody has looked. */
static void the_case_ends_once(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "region r { do a } }");
    rad_error error = {0};
    bool used;
    rad_flow_input all = {.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_CASE};
    rad_flow_input region = {.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_REGION, .name = "r"};
    assert_int_equal(rad__flow_case_feed(l->c, &region, &used, &error), 0);
    assert_true(used);
    assert_int_equal(rad__flow_case_feed(l->c, &all, &used, &error), 0);
    assert_false(used);
    assert_int_equal(flow_live_go_on(l), RAD_CASE_DONE);
    flow_live_close(l);
}

/* ---- Joins --------------------------------------------------------------------------------- */

static void a_sync_join_does_not_wait_for_cancelled_branches(void **state)
{
    (void)state;
    /* In the step that cancels the last one. */
    FLOW_EXPECT(FLOW "par { par { await m } and { await m } join sync do a } and { do b\n"
                     "  cancel region r } and { region r { await m } } join sync do c }",
                "b | deadlock");
    flow_live *l = flow_live_open(FLOW "par { par { region r { do a } set n = 1 } and { set n = 20 "
                                       "} join sync do b } and { do c } }");
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_string_equal(flow_live_under_way(l), "c b");
    flow_live_ok(l, "c");
    flow_live_ok(l, "b");
    assert_string_equal(flow_live_value(l, "n"), "20");
    flow_live_close(l);
}

static void a_sync_join_of_nobody_goes_on(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "set n = 5 par { set n = 7 do a } and { do a } join sync do b }");
    flow_live_cancel(l, RAD_FLOW_PART_TASK, "a");
    assert_string_equal(flow_live_under_way(l), "b");
    assert_string_equal(flow_live_value(l, "n"), "5"); /* as at the fork */
    assert_int_equal(l->c->vm->cancelled, 2);
    flow_live_close(l);
}

static void other_joins_wait_for_ever(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { region r { await m } } and { cancel region r } do c }", "| deadlock", "| deadlock");
    flow_live *l = flow_live_open(FLOW "par { do a } and { do b } join first 2 do c }");
    flow_live_cancel(l, RAD_FLOW_PART_TASK, "a");
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_DEADLOCK);
    assert_string_equal(rad__flow_case_failure(l->c),
                        "deadlock: token 0, line 6: waits at join first: 1 of 2 branches arrived, "
                        "1 cancelled");
    flow_live_close(l);
    l = flow_live_open(FLOW "many 2 { do a } do c }");
    flow_live_ok(l, "a");
    assert_int_equal(flow_live_cancel(l, RAD_FLOW_PART_TASK, "a"), RAD_CASE_DEADLOCK);
    flow_live_close(l);
}

/* ---- Tasks --------------------------------------------------------------------------------- */

static void a_task_wherever_it_is(void **state)
{
    (void)state;
    /* Under way; before another attempt; as what takes something back. Not: in another task. */
    flow_live *l = flow_live_open("flow f { task a { call \"a\" retry 2 delay 7s }  task b { call \"b\" }\n"
                                  "  task u { call \"u\" undo a }\n"
                                  "par { do a } and { do a } and { region r { do u compensate r do b } } and { do b }\n"
                                  "join sync }");
    assert_string_equal(flow_live_under_way(l), "a a u b");
    flow_live_fail(l, "a");
    flow_live_ok(l, "u");
    assert_string_equal(flow_live_under_way(l), "a b a");
    assert_int_equal(flow_live_count(l, "timer 0/1.0#1.0 7s; "), 1);
    flow_live_cancel(l, RAD_FLOW_PART_TASK, "a");
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_count(l, "forget 0/1.0#1.0; "), 1);
    assert_int_equal(flow_live_count(l, "stop 0/1.1#1; "), 1);
    assert_int_equal(flow_live_count(l, "stop 0/1.2#2; "), 1);
    assert_int_equal(l->c->vm->cancelled, 3);
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_DONE);
    flow_live_close(l);
}

/* What takes something back is a task, too, before each of its attempts. */
static void a_task_that_takes_back(void **state)
{
    (void)state;
    FLOW_EXPECT("flow f { task u { call \"u\" outcomes ok undo a }  task a { call \"a\" outcomes "
                "fail retry 1 }\n"
                "par { region r { do u } compensate r } and { cancel task a } join sync }",
                "u a! a! | failed (task a failed)", "u -a | done", "u a! | done", "u a! -a | done");
}

/* ---- What a cancelled token had -------------------------------------------------------------- */

static void locks_are_given_back(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { region r { lock l { await m } } } and { cancel region r lock l { do a "
                     "} } join sync }",
                "a | done", "a | deadlock", "| deadlock"); /* who enters later is not cancelled */
    FLOW_EXPECT(FLOW "region r { lock l { do a cancel region r } } on cancel { lock l { do b } } }", "a b | done");
    FLOW_EXPECT(FLOW "region r { lock l { do a fail } } on failure { lock l { do b } } }", "a b | done");
    FLOW_EXPECT(FLOW "par { lock l { do a } } and { do b } join first lock l { do c } }", "a c | done", "a b c | done",
                "b a c | done", "b c | done", "a -b c | done", "b -a c | done");
}

static void timers_are_forgotten(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "region r { defer { on signal s { do a } on timer 3s { do b "
                                       "} on timer 9s { } } } on cancel { do c } }");
    assert_string_equal(l->log, "timer 0#1.1 3s; timer 0#1.2 9s; ");
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_int_equal(flow_live_count(l, "forget 0#1.1; "), 1);
    assert_int_equal(flow_live_count(l, "forget 0#1.2; "), 1);
    flow_live_signal(l, "s", NULL); /* is kept, for nobody */
    assert_string_equal(flow_live_under_way(l), "c");
    assert_int_equal(flow_live_ok(l, "c"), RAD_CASE_DONE);
    flow_live_close(l);
    l = flow_live_open(FLOW "defer { on timer 3s { do a } on timer 9s { do b } } }");
    flow_live_ring(l, "0#1", 1);
    assert_string_equal(l->log, "timer 0#1.0 3s; timer 0#1.1 9s; forget 0#1.0; start 0#2 b 1; ");
    flow_live_ring(l, "0#1", 0); /* too late */
    assert_string_equal(flow_live_under_way(l), "b");
    flow_live_close(l);
    /* Not those of another statement. */
    const char *three = FLOW "wait 3s region r { wait signal s } on cancel { } wait 9s }";
    l = flow_live_open(three);
    flow_live_ring(l, "0#1", 0);
    flow_live_cancel(l, RAD_FLOW_PART_REGION, "r");
    assert_string_equal(l->log, "timer 0#1.0 3s; timer 0#3.0 9s; ");
    flow_live_close(l);
    l = flow_live_open(three);
    flow_live_ring(l, "0#1", 0);
    flow_live_signal(l, "s", NULL);
    assert_string_equal(l->log, "timer 0#1.0 3s; timer 0#3.0 9s; ");
    flow_live_close(l);
}

/* ---- Failures ------------------------------------------------------------------------------ */

static void a_failure_cancels_what_else_is_inside(void **state)
{
    (void)state;
    flow_live *l =
        flow_live_open(FLOW "par { region r { set n = 3 par { do bad } and { do a } and { set n = 4 do b } }\n"
                            "  on failure into why { do c } } and { do d } }");
    flow_live_ok(l, "a");
    flow_live_fail(l, "bad");
    assert_string_equal(flow_live_under_way(l), "d c");
    assert_int_equal(flow_live_count(l, "stop "), 1);
    assert_int_equal(l->c->vm->cancelled, 2); /* who failed, and who was in b */
    flow_live_ok(l, "c");
    flow_live_ok(l, "d");
    assert_string_equal(flow_live_value(l, "why"), "task bad failed");
    assert_string_equal(flow_live_value(l, "n"), "3"); /* the owner's, as they were */
    flow_live_close(l);
}

static void the_innermost_region_that_takes_failures(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "region out { region in { do a fail } on failure { do b } do c } on failure { do d } }",
                "a b c | done");
    FLOW_EXPECT(FLOW "region out { region in { do a fail } on cancel { do b } do c } on failure { do d } }",
                "a d | done");
    FLOW_EXPECT(FLOW "region out { region in { do a fail } on failure { fail } do c } on failure { do d } }",
                "a d | done");
    FLOW_EXPECT(FLOW "region in { do a fail \"so\" } on cancel { do b } do c }", "a | failed (so)");
    /* A region whose owner has left takes none. */
    FLOW_EXPECT(FLOW "region out { region in { par { await m fail } and { } join none } on failure "
                     "{ do a } reach m\n"
                     "do b await never } on failure { do c } }",
                "c | done", "b c | done", "-b c | done");
}

/* A reason that is too long ends with a whole letter. */
static void long_reasons_are_cut(void **state)
{
    (void)state;
    char text[500] = "flow f { fail \"", *at = text + strlen(text);
    for (uint32_t i = 0; i < 200; i++, at += 2) memcpy(at, "\xc3\xa9", 2);
    memcpy(at, "\" }", 4);
    flow_live *l = flow_live_open(text);
    const char *failure = rad__flow_case_failure(l->c);
    assert_int_equal(strlen(failure), strlen("line 1: ") + 298);
    assert_memory_equal(failure + strlen(failure) - 2, "\xc3\xa9", 2);
    flow_live_close(l);
}

/* A reason has 299 characters at most. */
static void long_reasons_are_cut_off(void **state)
{
    (void)state;
    for (uint32_t length = 297; length < 310; length++) {
        char reason[320], text[800], expected[320];
        memset(reason, 'x', length);
        reason[length] = 0;
        snprintf(text, sizeof text, FLOW "region r { fail \"%s\" } on failure into why { set n = length(why) } }",
                 reason);
        snprintf(expected, sizeof expected, "%.299s", reason);
        flow_live *l = flow_live_open(text);
        assert_string_equal(flow_live_value(l, "why"), expected);
        snprintf(expected, sizeof expected, "%u", length < 299 ? length : 299);
        assert_string_equal(flow_live_value(l, "n"), expected);
        flow_live_close(l);
    }
}

/* A join whose branches disagree writes nothing. */
static void branches_that_disagree(void **state)
{
    (void)state;
    const char *text = "flow f { data { a : int  b : int }\n"
                       "region r { par { set a = 1 set b = 1 } and { set b = 2 } } on failure { set b = b + 5 } }";
    FLOW_EXPECT_VALUE(text, "a", "| done a=0");
    FLOW_EXPECT_VALUE(text, "b", "| done b=5");
    FLOW_EXPECT("flow f { data { a : int } par { set a = 1 } and { set a = 2 } }",
                "| failed (branches disagree about a, which has no merge rule)");
    flow_live *l = flow_live_open("flow f { data { a : int }\npar {\nset a = 1 } and { set a = 2 }\n"
                                  "set a = 5 }");
    assert_string_equal(rad__flow_case_failure(l->c), "line 2: branches disagree about a, which has no merge rule");
    flow_live_close(l);
    FLOW_EXPECT_VALUE("flow f { data { a : int } par { set a = 2 } and { set a = 2 } and { } }", "a", "| done a=2");
}

/* ---- Taking back --------------------------------------------------------------------------- */

#define UNDO                                                                                                           \
    "flow f { task a { call \"a\" outcomes ok undo ua }  task b { call \"b\" outcomes ok undo ub "                     \
    "}\n"                                                                                                              \
    "  task ua { call \"ua\" outcomes ok }  task ub { call \"ub\" outcomes ok undo a }\n"                              \
    "  task c { call \"c\" outcomes ok }\n"

static void what_was_completed_is_taken_back(void **state)
{
    (void)state;
    FLOW_EXPECT(UNDO "region r { do a do b do c do a fail } on failure { compensate r } do c }",
                "a b c a ua ub ua c | done");
    /* Of an inner region that was left, too; what was not completed is not taken back. */
    FLOW_EXPECT(UNDO "region r { do a region i { do b } fail } on failure { compensate r } }", "a b ub ua | done");
    /* Once; of the last instance; and of nothing. */
    FLOW_EXPECT(UNDO "region r { do a } compensate r compensate r }", "a ua | done");
    FLOW_EXPECT(UNDO "loop 2 { region r { do a } } compensate r }", "a a ua | done");
    FLOW_EXPECT(UNDO "par { region r { do a } } and { } compensate r }", "a ua | done");
    FLOW_EXPECT(UNDO "compensate r region r { do a } }", "a | done");
}

/* Regions inside regions that several tokens are in: an instance lives as long as somebody is inside. */
static void regions_outlive_what_is_inside(void **state)
{
    (void)state;
    flow_expect(&(flow_schedules){.text = UNDO "many 2 { region r { region i { } do a } } compensate r }"},
                (const char *const[]){"a a ua | done", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(must_hold_3_losers_are_cancelled_exactly_once),
        cmocka_unit_test(losers_go_with_everything_below_them),
        cmocka_unit_test(losers_that_had_arrived_are_not_cancelled),
        cmocka_unit_test(absorbed_branches_are_not_cancelled),
        cmocka_unit_test(losers_write_nothing),
        cmocka_unit_test(must_hold_3_tokens_outside_a_region_are_untouched),
        cmocka_unit_test(detached_branches_from_before_are_untouched),
        cmocka_unit_test(detached_branches_of_a_region_are_inside),
        cmocka_unit_test(the_owner_goes_into_the_handler),
        cmocka_unit_test(an_effect_of_the_owner_is_stopped_once),
        cmocka_unit_test(the_outer_region_takes_the_inner_ones_with_it),
        cmocka_unit_test(inner_regions_of_other_tokens),
        cmocka_unit_test(every_instance_of_a_region_is_cancelled),
        cmocka_unit_test(added_instances_are_outside_the_region_of_who_added_them),
        cmocka_unit_test(inner_instances_that_were_left_hide_nobody),
        cmocka_unit_test(places_that_were_left_are_others),
        cmocka_unit_test(who_was_made_first_is_cancelled_first),
        cmocka_unit_test(who_cancels_may_be_among_them),
        cmocka_unit_test(the_case),
        cmocka_unit_test(the_case_ends_once),
        cmocka_unit_test(a_sync_join_does_not_wait_for_cancelled_branches),
        cmocka_unit_test(a_sync_join_of_nobody_goes_on),
        cmocka_unit_test(other_joins_wait_for_ever),
        cmocka_unit_test(a_task_wherever_it_is),
        cmocka_unit_test(a_task_that_takes_back),
        cmocka_unit_test(locks_are_given_back),
        cmocka_unit_test(timers_are_forgotten),
        cmocka_unit_test(a_failure_cancels_what_else_is_inside),
        cmocka_unit_test(the_innermost_region_that_takes_failures),
        cmocka_unit_test(long_reasons_are_cut),
        cmocka_unit_test(long_reasons_are_cut_off),
        cmocka_unit_test(branches_that_disagree),
        cmocka_unit_test(what_was_completed_is_taken_back),
        cmocka_unit_test(regions_outlive_what_is_inside),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
