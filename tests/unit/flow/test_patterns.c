/* test_patterns.c — the workflow patterns, one test each: how it is written, and exactly what can happen over all
 * schedules and outcomes. Names and numbers are those of van der Aalst, ter Hofstede, Russell and Mulyar (20 patterns
 * in 2003, 43 in 2006). Numbers that are missing are not supported; docs/flow-patterns.md says why.
 *
 * How to read what is expected: schedules.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live.h"
#include "schedules.h"
#include "storm_support.h"

#include <string.h>

/* Tasks that cannot fail; `toss` writes x, `toss_both` x and y. */
#define FLOW                                                                                                           \
    "flow f {\n"                                                                                                       \
    "  data { x : bool merge or  y : bool  n : int in { 1, 2 } }\n"                                                    \
    "  task a { call \"a\" outcomes ok }  task b { call \"b\" outcomes ok }\n"                                         \
    "  task c { call \"c\" outcomes ok }  task d { call \"d\" outcomes ok }\n"                                         \
    "  task toss { call \"t\" writes x outcomes ok }  task count { call \"t\" writes n outcomes "                      \
    "ok }\n"                                                                                                           \
    "  task toss_both { call \"t\" writes x, y outcomes ok }\n"

/* ---- Basic control flow ---------------------------------------------------------------------- */

static void wcp01_sequence(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "do a do b }", "a b | done");
}

static void wcp02_parallel_split(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a } and { do b } }", "a b | done", "b a | done");
}

static void wcp03_synchronization(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a } and { do b } do c }", "a b c | done", "b a c | done");
}

static void wcp04_exclusive_choice(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "do toss xor { when x { do a } else { do b } } }", "toss a | done", "toss b | done");
    /* When several conditions hold somebody chooses, and only one is taken. */
    FLOW_EXPECT(FLOW "xor { when true { do a } when false { do b } when true { do c } } }", "a | done", "c | done");
    FLOW_EXPECT(FLOW "xor { when x { do a } } }", "| failed (no branch of xor holds)");
}

static void wcp05_simple_merge(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "do toss xor { when x { do a } else { do b } } do c }", "toss a c | done", "toss b c | done");
}

/* ---- Advanced branching and synchronization -------------------------------------------------- */

static void wcp06_multi_choice(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "do toss_both or { when x { do a } when y { do b } else { do c } } join none }",
                "toss_both a | done", "toss_both b | done", "toss_both a b | done", "toss_both b a | done",
                "toss_both c | done");
}

static void wcp07_structured_synchronizing_merge(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "do toss_both or { when x { do a } when y { do b } else { do c } } do d }", "toss_both a d | done",
                "toss_both b d | done", "toss_both a b d | done", "toss_both b a d | done", "toss_both c d | done");
}

static void wcp08_multi_merge(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "{ par { do a } and { do b } join multi do c } do d }", "a c b c d | done", "a b c c d | done",
                "b c a c d | done", "b a c c d | done");
}

static void wcp09_structured_discriminator(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a } and { do b } join any do c }", "a c b | done", "a b c | done", "b c a | done",
                "b a c | done");
    /* It is as new in the next round: each fork has its own join. */
    FLOW_EXPECT_VALUE(FLOW "loop 2 { par { } and { } join any set n = n + 1 } }", "n", "| done n=2");
}

static void wcp28_blocking_discriminator(void **state)
{
    (void)state;
    /* c after the first of them; the next round when both are through. */
    FLOW_EXPECT(FLOW "par { par { do a reach m } and { do b reach m } } and { await m do c } do d }", "a b c d | done",
                "a c b d | done", "b a c d | done", "b c a d | done");
}

static void wcp29_cancelling_discriminator(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a } and { do b } join first do c }", "a c | done", "b c | done", "a -b c | done",
                "b -a c | done", "a b c | done", "b a c | done");
}

static void wcp30_structured_partial_join(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a } and { } and { do b } join any 2 do c }", "a b c | done", "a c b | done",
                "b a c | done", "b c a | done");
    FLOW_EXPECT(FLOW "par { do a } and { await m } and { do b } join any 2 do c }", "a b c | deadlock",
                "b a c | deadlock");
}

static void wcp31_blocking_partial_join(void **state)
{
    (void)state;
    /* c after two of them; d when all three are through. */
    flow_expect(&(flow_schedules){.text = FLOW
                                  "par { par { do a reach ma } and { reach mb } and { do b reach mc } } and {\n"
                                  "  par { await ma } and { await mb } and { await mc } join first 2 do c }\n"
                                  "do d }",
                                  .random = 10000},
                (const char *const[]){"a b c d | done", "a c b d | done", "b a c d | done", "b c a d | done", NULL});
}

static void wcp32_cancelling_partial_join(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a } and { } and { do b } join first 2 do c }", "a c | done", "b c | done",
                "a -b c | done", "b -a c | done", "a b c | done", "b a c | done");
}

static void wcp37_local_synchronizing_merge(void **state)
{
    (void)state;
    /* Branches of branches, and of those only what was activated. */
    FLOW_EXPECT(FLOW "do toss_both\n"
                     "par { or { when x { do a } else { } } } and { or { when y { do b } else { } "
                     "} } join sync\n"
                     "do c }",
                "toss_both a c | done", "toss_both b c | done", "toss_both a b c | done", "toss_both b a c | done",
                "toss_both c | done");
    /* A branch that is cancelled is not waited for. */
    FLOW_EXPECT(FLOW "par { do a } and { cancel task a } join sync do c }", "a c | done", "c | done", "-a c | done");
}

static void wcp41_thread_merge(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "many 3 { do a } do b }", "a a a b | done");
}

static void wcp42_thread_split(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "many 2 { do a do b } join none }", "a a b b | done", "a b a b | done");
}

/* ---- Structure ------------------------------------------------------------------------------- */

static void wcp11_implicit_termination(void **state)
{
    (void)state;
    /* Done when nothing is left to do, and not before, whoever is last. */
    FLOW_EXPECT(FLOW "par { do a } and { do b } join none do c }", "a b c | done", "a c b | done", "b a c | done",
                "b c a | done", "c a b | done", "c b a | done");
}

static void wcp21_structured_loop(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "loop 2 { do a } do b }", "a a b | done");
    FLOW_EXPECT(FLOW "loop 0 { do a } loop 0 - 1 { do a } do b }", "b | done");
    FLOW_EXPECT(FLOW "while n < 2 { do a set n = n + 1 } do b }", "a a b | done");
    FLOW_EXPECT(FLOW "while n > 2 { do a } do b }", "b | done");
    FLOW_EXPECT(FLOW "repeat { do a set n = n + 1 } until n >= 2 do b }", "a a b | done");
    FLOW_EXPECT(FLOW "repeat { do a } until true do b }", "a b | done");
}

static void wcp43_explicit_termination(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a finish do d } and { do b } do c }", "a | done", "a -b | done", "a b | done",
                "b a | done");
}

/* ---- Multiple instances ---------------------------------------------------------------------- */

static void wcp12_instances_without_synchronization(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "many 2 { do a } join none do b }", "a a b | done", "a b a | done", "b a a | done");
}

static void wcp13_instances_known_at_design_time(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "many 2 { do a } do b }", "a a b | done");
    FLOW_EXPECT(FLOW "many over \"p\\nq\" as k { xor { when k == \"q\" { do a } else { do c } } } do b }",
                "a c b | done", "c a b | done");
}

static void wcp14_instances_known_at_run_time(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "do count many n { do a } do b }", "count a b | done", "count a a b | done");
    FLOW_EXPECT(FLOW "many 0 { do a } do b }", "b | done");
}

static void wcp15_instances_not_known_before(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "many m 1 up to 2 as k {\n"
                     "  do toss xor { when x and k == 0 { more m } else { } } } do b }",
                "toss b | done", "toss toss b | done");
    FLOW_EXPECT(FLOW "many 2 up to 2 { do a } do b }", "a a b | done");
    FLOW_EXPECT(FLOW "many 3 up to 2 { do a } do b }", "| failed (3 instances, and at most 2 may be)");
    FLOW_EXPECT(FLOW "many 0 - 3 { do a } do b }", "b | done");
    FLOW_EXPECT(FLOW "many m 1 up to 2 { do a more m } do b }", "a a | failed (more than 2 instances)");
}

static void wcp34_static_partial_join(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "many 2 { do a } join any do b }", "a a b | done", "a b a | done");
    FLOW_EXPECT(FLOW "many 1 { do a } join any 2 do b }", "| failed (the join waits for 2 instances of 1)");
}

static void wcp35_cancelling_partial_join(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "many 2 { do a } join first do b }", "a b | done", "a -a b | done", "a a b | done");
}

static void wcp36_dynamic_partial_join(void **state)
{
    (void)state;
    /* Two of however many there will be. */
    FLOW_EXPECT(FLOW "many m 2 up to 3 as k { xor { when k == 0 { more m await s } else { } } do a }\n"
                     "join any 2 do b reach s }",
                "a a b a | done");
}

/* ---- Choices by the world -------------------------------------------------------------------- */

static void wcp16_deferred_choice(void **state)
{
    (void)state;
    const char *text = FLOW "defer { on signal left { do a } on signal right { do b }\n"
                            "        on timer 5s { do c } } do d }";
    FLOW_EXPECT(text, "a d | done", "b d | done", "c d | done");
    flow_live *l = flow_live_open(text);
    assert_string_equal(l->log, "timer 0#1.2 5s; ");
    assert_int_equal(flow_live_signal(l, "right", NULL), RAD_CASE_WAITING);
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_signal(l, "left", NULL), RAD_CASE_WAITING); /* too late */
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_WAITING);
    assert_int_equal(flow_live_ok(l, "d"), RAD_CASE_DONE);
    assert_string_equal(l->log, "timer 0#1.2 5s; forget 0#1.2; start 0#2 b 1; start 0#3 d 1; ");
    flow_live_close(l);
}

static void wcp23_transient_trigger(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "do a wait fresh signal go do b }");
    flow_live_signal(l, "go", NULL); /* nobody waits for it yet: it is lost for those who want a fresh one */
    assert_int_equal(flow_live_ok(l, "a"), RAD_CASE_WAITING);
    assert_string_equal(flow_live_under_way(l), "");
    assert_int_equal(flow_live_signal(l, "go", NULL), RAD_CASE_WAITING);
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_DONE);
    flow_live_close(l);
}

static void wcp24_persistent_trigger(void **state)
{
    (void)state;
    flow_live *l = flow_live_open(FLOW "do a wait signal go do b wait signal go do c }");
    flow_live_signal(l, "go", NULL);
    assert_int_equal(flow_live_ok(l, "a"), RAD_CASE_WAITING);
    assert_string_equal(flow_live_under_way(l), "b");
    assert_int_equal(flow_live_ok(l, "b"), RAD_CASE_WAITING);
    assert_string_equal(flow_live_under_way(l), ""); /* one signal is taken once */
    flow_live_signal(l, "go", NULL);
    assert_int_equal(flow_live_ok(l, "c"), RAD_CASE_DONE);
    flow_live_close(l);
}

/* ---- Order ----------------------------------------------------------------------------------- */

static void wcp17_interleaved_parallel_routing(void **state)
{
    (void)state;
    /* a before b, c anywhere, never two at a time. */
    flow_expect(&(flow_schedules){.text = FLOW "par { lock l { do a } lock l { do b } } and { lock l { do c } } }",
                                  .starts = true},
                (const char *const[]){"<a a <b b <c c | done", "<a a <c c <b b | done", "<c c <a a <b b | done", NULL});
}

static void wcp18_milestone(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a reach m do b expire m } and { await m do c } }", "a b c | done", "a c b | done",
                "a b | deadlock");
    FLOW_EXPECT(FLOW "par { do a reach m do b expire m } and { await m else { do d } } }", "a b | done",
                "a b d | done");
}

static void wcp39_critical_section(void **state)
{
    (void)state;
    flow_expect(&(flow_schedules){.text = FLOW "par { lock l { do a } } and { lock l { do b } } }", .starts = true},
                (const char *const[]){"<a a <b b | done", "<b b <a a | done", NULL});
    FLOW_EXPECT(FLOW "lock l { lock l { } } }", "| deadlock");
}

static void wcp40_interleaved_routing(void **state)
{
    (void)state;
    flow_expect(&(flow_schedules){.text = FLOW "interleave { do a } and { do b } and { do c } do d }", .starts = true},
                (const char *const[]){"<a a <b b <c c <d d | done", "<a a <c c <b b <d d | done",
                                      "<b b <a a <c c <d d | done", "<b b <c c <a a <d d | done",
                                      "<c c <a a <b b <d d | done", "<c c <b b <a a <d d | done", NULL});
}

/* ---- Cancellation and completion ------------------------------------------------------------- */

static void wcp19_cancel_task(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a do b } and { cancel task a do c } join sync }", "a b c | done", "a c b | done",
                "c | done", "-a c | done");
}

static void wcp20_cancel_case(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { do a } and { do b cancel case } do c }", "b | cancelled", "b -a | cancelled",
                "a b | cancelled", "b a | cancelled");
}

static void wcp25_cancel_region(void **state)
{
    (void)state;
    /* b behind the region goes with its token; d is outside and does not. */
    FLOW_EXPECT(FLOW "par { region r { do a } do b } and { cancel region r do d } join sync }", "d | done",
                "-a d | done", "a d | done",    /* it was hit inside */
                "a b d | done", "a d b | done", /* before it entered, or when it had left */
                "d a b | done");
    FLOW_EXPECT(FLOW "par { region r { do a } on cancel { do c } do b } and { cancel region r } }", "a b | done",
                "-a c b | done", "a c b | done", "c b | done");
}

static void wcp26_cancel_instances(void **state)
{
    (void)state;
    FLOW_EXPECT(FLOW "par { region r { many 2 { do a } } do b } and { cancel region r } join sync }", "a a b | done",
                "| done", "-a | done", "-a -a | done", "a | done", "a -a | done", "a a | done");
}

static void wcp27_complete_instances(void **state)
{
    (void)state;
    /* Those that are left are withdrawn, and it goes on. */
    FLOW_EXPECT(FLOW "par { region r { many 2 { do a } } on cancel { } do b } and { cancel region r } }",
                "a a b | done", "b | done", "-a b | done", "-a -a b | done", "a b | done", "a -a b | done");
}

/* ---- What is not supported ------------------------------------------------------------------- */

/* WCP 10, 33 and 38 would need joins that belong to no fork: a join stands behind what it joins, and nowhere else. */
static void joins_without_a_fork_are_refused(void **state)
{
    (void)state;
    const char *text = "flow f {\n  task a { call \"a\" }\n  do a\n  join all\n}\n";
    rad_error error = {.code = 0};
    rad_flow_program *p = NULL;
    assert_int_equal(rad__flow_program_read(&p, "test", text, strlen(text), NULL, &error), RAD_EINPUT);
    assert_null(p);
    assert_non_null(strstr(error.text, "test:4:3: join belongs to the par, or, or many before it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wcp01_sequence),
        cmocka_unit_test(wcp02_parallel_split),
        cmocka_unit_test(wcp03_synchronization),
        cmocka_unit_test(wcp04_exclusive_choice),
        cmocka_unit_test(wcp05_simple_merge),
        cmocka_unit_test(wcp06_multi_choice),
        cmocka_unit_test(wcp07_structured_synchronizing_merge),
        cmocka_unit_test(wcp08_multi_merge),
        cmocka_unit_test(wcp09_structured_discriminator),
        cmocka_unit_test(wcp11_implicit_termination),
        cmocka_unit_test(wcp12_instances_without_synchronization),
        cmocka_unit_test(wcp13_instances_known_at_design_time),
        cmocka_unit_test(wcp14_instances_known_at_run_time),
        cmocka_unit_test(wcp15_instances_not_known_before),
        cmocka_unit_test(wcp16_deferred_choice),
        cmocka_unit_test(wcp17_interleaved_parallel_routing),
        cmocka_unit_test(wcp18_milestone),
        cmocka_unit_test(wcp19_cancel_task),
        cmocka_unit_test(wcp20_cancel_case),
        cmocka_unit_test(wcp21_structured_loop),
        cmocka_unit_test(wcp23_transient_trigger),
        cmocka_unit_test(wcp24_persistent_trigger),
        cmocka_unit_test(wcp25_cancel_region),
        cmocka_unit_test(wcp26_cancel_instances),
        cmocka_unit_test(wcp27_complete_instances),
        cmocka_unit_test(wcp28_blocking_discriminator),
        cmocka_unit_test(wcp29_cancelling_discriminator),
        cmocka_unit_test(wcp30_structured_partial_join),
        cmocka_unit_test(wcp31_blocking_partial_join),
        cmocka_unit_test(wcp32_cancelling_partial_join),
        cmocka_unit_test(wcp34_static_partial_join),
        cmocka_unit_test(wcp35_cancelling_partial_join),
        cmocka_unit_test(wcp36_dynamic_partial_join),
        cmocka_unit_test(wcp37_local_synchronizing_merge),
        cmocka_unit_test(wcp39_critical_section),
        cmocka_unit_test(wcp40_interleaved_routing),
        cmocka_unit_test(wcp41_thread_merge),
        cmocka_unit_test(wcp42_thread_split),
        cmocka_unit_test(wcp43_explicit_termination),
        cmocka_unit_test(joins_without_a_fork_are_refused),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
