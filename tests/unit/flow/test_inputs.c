/* test_inputs.c — what a live case is told: timers, signals and cancelling count when somebody waits for exactly
 * that, are in the trace at once, and are refused when they never were asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "flow/machine/vm.h"
#include "live.h"

#include <string.h>

#define TASKS "flow f { task a { call \"a\" retry 3 delay 1s }  task b { call \"b\" }\n"

typedef enum outcome { IGNORED, TAKEN, REFUSED } outcome;

static outcome feed(flow_live *l, rad_flow_input in, const char *why)
{
    rad_error error = {0};
    bool used = true;
    rad_digest before = rad__flow_case_digest(l->c);
    int status = rad__flow_case_feed(l->c, &in, &used, &error);
    bool same = rad__digest_equal(before, rad__flow_case_digest(l->c));
    if (status != 0) {
        assert_int_equal(status, RAD_EINPUT);
        assert_string_equal(error.text, why);
        assert_true(same && !used);
        return REFUSED;
    }
    assert_null(why);
    if (used) assert_false(same); /* before anything follows from it */
    return used ? TAKEN : IGNORED;
}

static outcome ring(flow_live *l, const char *key, uint32_t attempt, uint32_t alternative, const char *why)
{
    return feed(
        l, (rad_flow_input){.kind = RAD_INPUT_TIMER, .key = key, .attempt = attempt, .alternative = alternative}, why);
}

/* ---- Timers ------------------------------------------------------------------------------------------------------ */

static void timers_before_attempts(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(TASKS "do a do b }");
    assert_int_equal(ring(l, "0#1", 1, 0, NULL), IGNORED); /* it is in the task */
    flow_live_fail(l, "a");
    assert_int_equal(ring(l, "0#1", 2, 0, NULL), IGNORED); /* not before that attempt */
    assert_int_equal(ring(l, "0#1", 1, 0, NULL), TAKEN);
    assert_int_equal(ring(l, "0#1", 1, 0, NULL), IGNORED); /* once */
    flow_live_go_on(l);
    flow_live_fail(l, "a");
    assert_int_equal(ring(l, "0#1", 1, 0, NULL), IGNORED); /* too late */
    assert_int_equal(ring(l, "0#1", 2, 0, NULL), TAKEN);
    flow_live_go_on(l);
    flow_live_ok(l, "a");
    assert_int_equal(ring(l, "0#1", 2, 0, NULL), IGNORED); /* another effect */
    assert_int_equal(ring(l, "0#2", 0, 0, NULL), IGNORED);
    assert_int_equal(ring(l, "0#3", 1, 0, "nothing with the key 0#3 was asked for"), REFUSED);
    flow_live_close(l);
}

static void timers_that_are_waited_for(void **state)
{
    (void)state;
    flow_live *l =
        flow_live_open(TASKS "wait 1s defer { on signal s { } on timer 2s { } } wait 3s wait signal s wait 4s }");
    assert_int_equal(ring(l, "0#1", 0, 1, "0#1 has no timer 1"), REFUSED);
    assert_int_equal(ring(l, "0#1", 7, 0, NULL), TAKEN); /* of an attempt it says nothing */
    flow_live_go_on(l);
    assert_int_equal(ring(l, "0#1", 0, 0, NULL), IGNORED);                 /* that was the first one */
    assert_int_equal(ring(l, "0#2", 0, 0, "0#2 has no timer 0"), REFUSED); /* a signal */
    assert_int_equal(ring(l, "0#2", 0, 2, "0#2 has no timer 2"), REFUSED);
    assert_int_equal(ring(l, "0#2", 0, 1, NULL), TAKEN);
    flow_live_go_on(l);
    assert_int_equal(ring(l, "0#2", 0, 1, NULL), IGNORED);
    assert_int_equal(ring(l, "0#3", 0, 0, NULL), TAKEN);
    flow_live_go_on(l);
    assert_int_equal(ring(l, "0#4", 0, 0, "0#4 has no timer 0"), REFUSED);
    assert_int_equal(ring(l, "0#4", 0, 1, "0#4 has no timer 1"), REFUSED); /* nor a neighbour's */
    flow_live_close(l);
}

static void timers_of_those_who_are_gone(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(TASKS "par { wait 1s } and { do b } join first do b }");
    flow_live_ok(l, "b");
    assert_int_equal(ring(l, "0/1.0#1", 0, 0, NULL), IGNORED);
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_DONE);
    flow_live_close(l);
}

/* Which of several timers has come is in the trace before anybody goes on. */
static void inputs_are_told_apart(void **state)
{
    (void)state;
    rad_digest digests[6];
    static const rad_flow_input inputs[] = {
        {.kind = RAD_INPUT_TIMER, .key = "0/1.0#1", .alternative = 0},
        {.kind = RAD_INPUT_TIMER, .key = "0/1.0#1", .alternative = 1},
        {.kind = RAD_INPUT_TIMER, .key = "0/1.1#1"},
        {.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_TASK, .name = "a"},
        {.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_TASK, .name = "b"},
        {.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_REGION, .name = "r"},
    };
    for (uint32_t i = 0; i < 6; i++) {
        flow_live *l = flow_live_open(TASKS "par { defer { on timer 1s { } on timer 2s { } } }\n"
                                            "and { wait 1s } region r { } }");
        feed(l, inputs[i], NULL);
        digests[i] = rad__flow_case_digest(l->c);
        for (uint32_t k = 0; k < i; k++) assert_false(rad__digest_equal(digests[i], digests[k]));
        flow_live_close(l);
    }
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* A region is no task, and a task no region. */
static void names_are_of_their_kind(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(TASKS "region r { do b } on cancel { do b } }");
    rad_flow_input in = {.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_TASK, .name = "r"};
    assert_int_equal(feed(l, in, "the flow f has no task r"), REFUSED);
    in.name = NULL;
    assert_int_equal(feed(l, in, "the flow f has no task (none)"), REFUSED);
    in.scope = RAD_FLOW_PART_REGION;
    assert_int_equal(feed(l, in, "the flow f has no region (none)"), REFUSED);
    in.name = "b";
    assert_int_equal(feed(l, in, "the flow f has no region b"), REFUSED);
    assert_int_equal(feed(l, (rad_flow_input){.key = "0#1"}, "an input of the unknown kind 0"), REFUSED);
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_count(l, "stop "), 0);
    in.name = "r";
    assert_int_equal(feed(l, in, NULL), TAKEN);
    flow_live_go_on(l);
    assert_int_equal(flow_live_count(l, "stop "), 1);
    assert_int_equal(feed(l, in, NULL), IGNORED); /* nobody is inside any more */
    flow_live_close(l);
}

/* The other alternatives of whoever takes a signal are not it. */
static void a_signal_is_no_timer(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task x { call \"x\" }  task y { call \"y\" }\n"
                                  "defer { on timer 1s { do x } on signal s { do y } }\n"
                                  "defer { on timer 1s { do x } on signal s { do y } } }");
    flow_live_signal(l, "s", NULL);
    flow_live_signal(l, "s", NULL); /* is kept */
    assert_string_equal(flow_live_under_way(l), "y");
    flow_live_ok(l, "y");
    assert_string_equal(flow_live_under_way(l), "y");
    assert_int_equal(flow_live_count(l, "timer "), 1);
    flow_live_close(l);
}

/* Signals that came too early take room only until they are taken. */
static void kept_signals_are_given_back(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(TASKS "loop 100 { do b wait signal s } }");
    for (uint32_t i = 0; i < 100; i++) {
        flow_live_signal(l, "s", NULL);
        flow_live_ok(l, "b");
    }
    assert_int_equal(l->c->state, RAD_CASE_DONE);
    assert_int_equal(l->c->vm->signal_pool.count, 1);
    flow_live_close(l);
}

/* ---- Asks that are left ------------------------------------------------------------------------------------------ */

static rad_flow_case *open_case(rad_flow_program **p, const char *text)
{
    rad_flow_case *c;
    rad_error error = {0};
    if (rad__flow_program_read(p, "t.flow", text, strlen(text), NULL, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(rad__flow_case_open(&c, *p, &(rad_flow_case_options){.seed = 0}, &error), 0);
    rad__flow_case_run(c, 100);
    return c;
}

static void tell(rad_flow_case *c, rad_flow_input in, bool runs)
{
    rad_error error = {0};
    bool used;
    assert_int_equal(rad__flow_case_feed(c, &in, &used, &error), 0);
    assert_true(used);
    if (runs) rad__flow_case_run(c, 100);
}

/* Of all that was asked, what somebody still waits for: exactly that is under way. */
static void what_is_still_wanted(void **state)
{
    (void)state;
    rad_flow_program *p;
    rad_flow_case *c = open_case(&p, TASKS "par { do a } and { do b wait 9s } }");
    tell(c, (rad_flow_input){.kind = RAD_INPUT_RESULT, .key = "0/1.1#1", .attempt = 1, .ok = true}, true);
    rad__flow_asks_prune(c);
    assert_int_equal(c->ask_count, 2);
    assert_int_equal(c->asks[1].kind, RAD_ASK_TIMER);
    assert_int_equal(c->asks[1].task, RAD_NONE); /* of no task, not of the last one */
    tell(c, (rad_flow_input){.kind = RAD_INPUT_RESULT, .key = "0/1.0#1", .attempt = 1}, true);
    rad_flow_input timer = {.kind = RAD_INPUT_TIMER, .key = "0/1.0#1", .attempt = 1};
    assert_int_equal(c->ask_count, 3);
    tell(c, timer, false);
    rad__flow_asks_prune(c);
    assert_int_equal(c->ask_count, 1); /* the wait; the attempt is not asked for yet */
    assert_int_equal(c->asks[0].kind, RAD_ASK_TIMER);
    rad__flow_case_run(c, 100);
    tell(c, (rad_flow_input){.kind = RAD_INPUT_RESULT, .key = "0/1.0#1", .attempt = 2}, true);
    rad__flow_asks_prune(c);
    assert_int_equal(c->ask_count, 2);
    assert_int_equal(c->asks[1].kind, RAD_ASK_TIMER);
    assert_int_equal(c->asks[1].attempt, 2);
    tell(c, (rad_flow_input){.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_TASK, .name = "a"}, true);
    rad__flow_asks_prune(c);
    assert_int_equal(c->ask_count, 1);
    rad__flow_case_close(c);
    rad__flow_program_free(p);
}

/* That something shall end is not wanted by anybody, also when whoever wanted it lives on. */
static void an_end_is_not_under_way(void **state)
{
    (void)state;
    rad_flow_program *p;
    rad_flow_case *c = open_case(&p, TASKS "region r { do a } on cancel { do b } }");
    tell(c, (rad_flow_input){.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_REGION, .name = "r"}, false);
    assert_int_equal(c->ask_count, 2);
    rad__flow_asks_prune(c);
    assert_int_equal(c->ask_count, 0);
    rad__flow_case_close(c);
    rad__flow_program_free(p);
}

/* Timers before attempts that nobody has taken down: only the last one counts. */
static void the_last_attempt_is_wanted(void **state)
{
    (void)state;
    rad_flow_program *p;
    rad_flow_case *c = open_case(&p, TASKS "do a }");
    for (uint32_t i = 1; i <= 2; i++) {
        tell(c, (rad_flow_input){.kind = RAD_INPUT_RESULT, .key = "0#1", .attempt = i}, true);
        if (i == 1) tell(c, (rad_flow_input){.kind = RAD_INPUT_TIMER, .key = "0#1", .attempt = i}, true);
    }
    assert_int_equal(c->ask_count, 4);
    rad__flow_asks_prune(c);
    assert_int_equal(c->ask_count, 1);
    assert_int_equal(c->asks[0].attempt, 2);
    rad__flow_case_close(c);
    rad__flow_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_before_attempts),       cmocka_unit_test(timers_that_are_waited_for),
        cmocka_unit_test(timers_of_those_who_are_gone), cmocka_unit_test(inputs_are_told_apart),
        cmocka_unit_test(names_are_of_their_kind),      cmocka_unit_test(a_signal_is_no_timer),
        cmocka_unit_test(kept_signals_are_given_back),  cmocka_unit_test(what_is_still_wanted),
        cmocka_unit_test(an_end_is_not_under_way),      cmocka_unit_test(the_last_attempt_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
