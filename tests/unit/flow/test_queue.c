/* test_queue.c — a runner with more to do than it may do at a time: who is first, how many, and who is ended; over
 * the machine of double.h, where nothing takes time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "double.h"
#include "flow/run/files.h"

#include <stdio.h>
#include <string.h>

enum { INSTANCES = 30, CALLS_MOST = 20000 };

/* What a runner has told. */
typedef struct news {
    char started[8000]; /* keys, each with a blank behind it */
    uint32_t most;      /* that ran at a time */
    uint32_t taken_over;
    uint64_t done, failed; /* as it was told last */
    char stopped[400], doubted[400], again[400];
    volatile int stop;
    const char *enough; /* the key of what is waited for to be stopped; "": of any */
    double_world *w;    /* in which nothing may run then; or NULL */
} news;

static void note(char *list, size_t size, const char *key)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s ", key);
}

static void watch(void *context, const rad_flow_progress *p)
{
    news *n = context;
    if (p->running > n->most) n->most = p->running;
    n->done = p->done;
    n->failed = p->failed;
    if (p->news == RAD_FLOW_TASK_STARTED) note(n->started, sizeof n->started, p->key);
    if (p->news == RAD_FLOW_TASK_STOPPED) note(n->stopped, sizeof n->stopped, p->key);
    if (p->news == RAD_FLOW_TASK_IN_DOUBT) note(n->doubted, sizeof n->doubted, p->key);
    if (p->news == RAD_FLOW_TASK_AGAIN) note(n->again, sizeof n->again, p->key);
    n->taken_over += p->news == RAD_FLOW_TASK_TAKEN_OVER;
    if (p->news == RAD_FLOW_TASK_STOPPED && n->w != NULL) assert_int_equal(double_living_commands(n->w), 0);
    if (p->news == RAD_FLOW_TASK_STOPPED && n->enough != NULL && strstr(p->key, n->enough) != NULL) n->stop = 1;
}

/* One runner; its code. */
static int run(double_world *w, const rad_flow_program *p, uint32_t jobs, news *n, rad_flow_result *result)
{
    rad_flow_run_options o = {.given = {.jobs = jobs, .case_id = "case"}};
    rad_error error = {0};
    const rad_flow_host *host = double_runner(w);
    o.given.watch = watch;
    o.given.context = n;
    o.given.stop = &n->stop;
    return double_has_file(w, "journal") ? rad__flow_resume(host, p, &o, result, &error)
                                         : rad__flow_run(host, p, &o, result, &error);
}

/* ---- Order ------------------------------------------------------------------------------------------------------ */

static const char MANY[] = "flow f { task a { run \"a\" } task b { run \"b\" }\n"
                           "many 30 { do a do b } }";

/* Who has asked first begins first, and no more than so many run. */
static void first_come_first_served(void **state)
{
    (void)state;
    rad_flow_program *p = double_program(MANY);
    for (uint32_t jobs = 1; jobs <= 7; jobs++) {
        double_world *w = double_open(jobs);
        news n = {.most = 0};
        rad_flow_result result;
        char expected[4000] = "";
        assert_int_equal(run(w, p, jobs, &n, &result), 0);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_int_equal(double_total(w), 2 * INSTANCES);
        assert_int_equal(double_most(w), 1);
        assert_int_equal(n.most, jobs);
        assert_int_equal(n.done, 2 * INSTANCES);
        assert_int_equal(n.failed, 0);
        assert_int_equal(result.steps, 152); /* the fork, five for each, the end */
        for (uint32_t i = 0; i < INSTANCES; i++) {
            char key[30];
            snprintf(key, sizeof key, "0/1.%u#1", i);
            note(expected, sizeof expected, key);
        }
        assert_int_equal(strncmp(n.started, expected, strlen(expected)), 0);
        for (uint32_t i = 0; i < INSTANCES; i++) {
            char key[30];
            snprintf(key, sizeof key, " 0/1.%u#2 ", i);
            assert_non_null(strstr(n.started, key));
        }
        double_close(w);
    }
    rad__flow_program_free(p);
}

/* The same over runners that are killed: what was begun is not begun again, and what waits keeps its turn. */
static void a_queue_outlives_its_runner(void **state)
{
    (void)state;
    rad_flow_program *p = double_program(MANY);
    for (uint64_t every = 23; every < 400; every += 29) {
        double_world *w = double_open(every);
        rad_flow_result result;
        news n = {.most = 0};
        int code = -1;
        for (uint32_t lives = 0; lives < 200 && code != 0; lives++) {
            double_crash_at(w, every + 20 * lives, DOUBLE_KILL_RUNNER, 0);
            code = run(w, p, 3, &n, &result);
        }
        assert_int_equal(code, 0);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_int_equal(double_total(w), 2 * INSTANCES);
        assert_int_equal(double_most(w), 1);
        assert_true(n.most <= 3);
        assert_string_equal(n.doubted, "");
        double_close(w);
    }
    rad__flow_program_free(p);
}

/* ---- Ending ----------------------------------------------------------------------------------------------------- */

/* Whoever lost is asked to end while the execution continues, and not when the case ends. */
static void losers_are_ended_at_once(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task quick { run \"quick\" } task slow { run \"slow\" }\n"
                                         "par { do quick } and { do slow } join first wait signal never }");
    for (uint64_t seed = 1; seed < 20; seed++) {
        double_world *w = double_open(seed);
        news n = {.enough = "0/1.1#1"};
        rad_flow_result result = {.end = RAD_FLOW_END_DONE};
        double_hold(w, "slow");
        double_crash_at(w, CALLS_MOST, DOUBLE_KILL_RUNNER, 0);
        assert_int_equal(run(w, p, 2, &n, &result), 0);
        assert_string_equal(n.stopped, "0/1.1#1 ");
        assert_int_equal(double_living_commands(w), 0);
        assert_int_equal(result.end, RAD_FLOW_END_INTERRUPTED);
        double_close(w);
    }
    rad__flow_program_free(p);
}

/* … also by another runner, whenever the first one was killed: what the case no longer wants is in the journal. */
static void losers_are_ended_by_the_next_runner(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task quick { run \"quick\" } task slow { run \"slow\" }\n"
                                         "par { do quick } and { do slow } join first loop 30 { wait 1ms } wait signal "
                                         "never }");
    for (uint64_t seed = 0; seed < 1000; seed++) {
        double_world *w = double_open(seed);
        rad_flow_result result = {.end = RAD_FLOW_END_DONE};
        news first = {.enough = "", .w = w}, second = first;
        if (seed % 3 == 0) double_hold(w, "slow"); /* otherwise it may be slow who wins */
        double_crash_at(w, 40 + seed % 460, DOUBLE_KILL_RUNNER, 0);
        run(w, p, 2, &first, &result);
        double_crash_at(w, CALLS_MOST, DOUBLE_KILL_RUNNER, 0);
        if (first.stopped[0] == 0) assert_int_equal(run(w, p, 2, &second, &result), 0);
        assert_int_equal(strlen(first.stopped) + strlen(second.stopped), 8); /* one key */
        assert_int_equal(double_living_commands(w), 0);
        assert_true(double_most(w) <= 1);
        assert_string_equal(second.doubted, "");
        double_close(w);
    }
    rad__flow_program_free(p);
}

/* A process that has not yet begun the loser's command may come to life at any moment, also while the next runner takes
 * its place: one of them is first, and nothing runs that is told to be stopped. */
static void only_one_of_two_is_first(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task quick { run \"quick\" } task slow { run \"slow\" }\n"
                                         "par { do quick } and { do slow } join first wait signal never }");
    uint32_t began = 0, never_began = 0;
    for (uint64_t n = 1; n < 120; n++) {
        for (uint64_t seed = 0; seed < 8; seed++) {
            double_world *w = double_open(seed);
            rad_flow_result result = {.end = RAD_FLOW_END_DONE};
            news first = {.most = 0}, second = {.enough = "0/1.1#1", .w = w};
            double_hold(w, "slow");
            double_crash_at(w, 90, DOUBLE_KILL_RUNNER, 0);
            run(w, p, 2, &first, &result);
            double_crash_at(w, CALLS_MOST, DOUBLE_KILL_RUNNER, 0);
            double_release_at(w, n);
            assert_int_equal(run(w, p, 2, &second, &result), 0);
            double_ticks(w, 100);
            assert_string_equal(second.stopped, "0/1.1#1 ");
            assert_int_equal(double_living_commands(w), 0);
            assert_string_equal(second.doubted, "");
            began += double_command_count(w, "slow") == 1;
            never_began += double_command_count(w, "slow") == 0;
            double_close(w);
        }
    }
    assert_true(began > 10);
    assert_true(never_began > 10);
    rad__flow_program_free(p);
}

/* What nobody wants any more and has not begun never begins. */
static void what_waits_and_is_cancelled_never_begins(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task quick { run \"quick\" } task other { run \"x\" }\n"
                                         "par { do quick } and { do other } and { do other } join first "
                                         "do quick }");
    double_world *w = double_open(1);
    news n = {.most = 0};
    rad_flow_result result;
    assert_int_equal(run(w, p, 1, &n, &result), 0);
    assert_int_equal(result.end, RAD_FLOW_END_DONE);
    assert_string_equal(n.started, "0/1.0#1 0#1 ");
    assert_int_equal(double_command_count(w, "x"), 0);
    assert_string_equal(n.stopped, "");
    double_close(w);
    rad__flow_program_free(p);
}

/* A runner that takes over commands that still run says so, begins none of them again, and ends a loser among them. */
static void what_runs_is_taken_over(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task slow { run \"slow\" } task a { run \"a\" }\n"
                                         "par { wait signal go } and { do slow } join first wait signal never }");
    for (uint64_t kill_at = 40; kill_at < 400; kill_at += 9) {
        double_world *w = double_open(kill_at);
        rad_flow_result result = {.end = RAD_FLOW_END_DONE};
        news first = {.most = 0}, second = {.enough = "0/1.1#1"};
        double_hold(w, "slow");
        double_crash_at(w, kill_at, DOUBLE_KILL_RUNNER, 0);
        run(w, p, 2, &first, &result);
        assert_true(double_is_dead(w));
        rad_error error = {0};
        rad_flow_input go = {.kind = RAD_INPUT_SIGNAL, .name = "go"};
        assert_int_equal(rad__flow_spool_put(double_other(w), &go, &error), 0);
        double_crash_at(w, CALLS_MOST, DOUBLE_KILL_RUNNER, 0);
        assert_int_equal(run(w, p, 2, &second, &result), 0);
        assert_string_equal(second.stopped, "0/1.1#1 ");
        assert_int_equal(double_living_commands(w), 0);
        assert_true(double_command_count(w, "slow") <= 1);
        assert_string_equal(second.doubted, "");
        double_close(w);
    }
    rad__flow_program_free(p);
}

/* What still runs is left alone, and that is told. */
static void who_takes_over_says_so(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task a { run \"a\" } task b { run \"b\" }\n"
                                         "par { do a } and { do b } do a }");
    uint32_t taken_over = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        double_world *w = double_open(seed);
        rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
        news first = {.most = 0}, second = first;
        double_crash_at(w, 30 + seed, DOUBLE_KILL_RUNNER, 0);
        int code = run(w, p, 2, &first, &result);
        assert_int_equal(first.taken_over, 0);
        double_crash_at(w, 0, DOUBLE_NONE, 0);
        if (code != 0) assert_int_equal(run(w, p, 2, &second, &result), 0);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_int_equal(double_total(w), 3);
        assert_true(second.taken_over <= 3); /* once for each */
        taken_over += second.taken_over;
        double_close(w);
    }
    assert_true(taken_over > 10);
    rad__flow_program_free(p);
}

/* ---- Limits ----------------------------------------------------------------------------------------------------- */

/* A case that comes to a limit of the machine has not ended: whoever ran it is told. */
static void limits_are_errors(void **state)
{
    (void)state;
    rad_bytes text = {0};
    rad__bytes_format(&text, "flow f { {");
    for (uint32_t i = 0; i < 1400; i++) rad__bytes_format(&text, "par { } and { await m } join multi\n");
    rad__bytes_format(&text, "} }");
    rad__bytes_put(&text, "", 1);
    rad_flow_program *p = double_program((const char *)text.data);
    double_world *w = double_open(1);
    news n = {.most = 0};
    rad_flow_result result = {.end = RAD_FLOW_END_DONE};
    assert_int_equal(run(w, p, 1, &n, &result), RAD_ELIMIT);
    assert_int_equal(run(w, p, 1, &n, &result), RAD_ELIMIT); /* and the next one, too */
    double_close(w);
    rad__flow_program_free(p);
    rad__bytes_free(&text);
}

/* A case that computes for a long time has not ended, and goes on where it was. */
static void long_computations_are_not_the_end(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { data { n : int } task a { run \"a\" }\n"
                                         "while n < 600000 { set n = n + 1 } do a }");
    double_world *w = double_open(1);
    news n = {.most = 0};
    rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
    assert_int_equal(run(w, p, 1, &n, &result), 0);
    assert_int_equal(result.end, RAD_FLOW_END_DONE);
    assert_int_equal(double_command_count(w, "a"), 1);
    assert_string_equal(double_environment(w, "a", "n"), "600000");
    assert_true(result.steps > 1 << 20);
    double_close(w);
    rad__flow_program_free(p);
}

/* ---- Functions -------------------------------------------------------------------------------------------------- */

static int count_call(void *context, rad_flow_call *call, rad_error *error)
{
    (void)call;
    (void)error;
    ++*(uint32_t *)context;
    return 0;
}

/* A function that was begun when its runner was killed is called again, and nobody looks for a process of it. */
static void functions_are_called_at_least_once(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task g { call \"g\" } task a { run \"a\" }\n"
                                         "do g par { do g } and { do a } do g }");
    uint32_t again = 0;
    for (uint64_t kill_at = 1;; kill_at++) {
        double_world *w = double_open(kill_at);
        uint32_t calls = 0;
        rad_flow_named_function g = {"g", count_call, &calls};
        rad_flow_run_options o = {.given = {.jobs = 2, .case_id = "case"}};
        rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
        rad_error error = {0};
        o.functions = &g;
        o.function_count = 1;
        double_crash_at(w, kill_at, DOUBLE_KILL_RUNNER, 0);
        int code = rad__flow_run(double_runner(w), p, &o, &result, &error);
        bool crashed = double_has_crashed(w);
        double_crash_at(w, 0, DOUBLE_NONE, 0);
        error = (rad_error){0};
        if (code != 0)
            code = double_has_file(w, "journal") ? rad__flow_resume(double_runner(w), p, &o, &result, &error)
                                                 : rad__flow_run(double_runner(w), p, &o, &result, &error);
        if (code != 0) fail_msg("%s", error.text);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_in_range(calls, 3, 4);
        assert_int_equal(double_command_count(w, "a"), 1);
        again += calls == 4;
        double_close(w);
        if (!crashed) break;
    }
    assert_true(again > 0);
    rad__flow_program_free(p);
}

/* ---- Timers ----------------------------------------------------------------------------------------------------- */

typedef struct timers_seen {
    uint32_t last;
} timers_seen;

static void watch_timers(void *context, const rad_flow_progress *p)
{
    ((timers_seen *)context)->last = p->timers;
}

/* Timers that nobody waits for any more are forgotten, and those before an attempt are there. */
static void timers_that_nobody_wants_are_forgotten(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task a { run \"a\" }\n"
                                         "defer { on timer 1h { } on signal go { } on timer 2h { } }\n"
                                         "do a }");
    double_world *w = double_open(1);
    rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case"}};
    rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
    rad_error error = {0};
    timers_seen seen = {9};
    volatile int stop = 1;
    o.given.stop = &stop;
    assert_int_equal(rad__flow_run(double_runner(w), p, &o, &result, &error), 0);
    stop = 0;
    rad_flow_input go = {.kind = RAD_INPUT_SIGNAL, .name = "go"};
    assert_int_equal(rad__flow_spool_put(double_other(w), &go, &error), 0);
    o.given.watch = watch_timers;
    o.given.context = &seen;
    assert_int_equal(rad__flow_resume(double_runner(w), p, &o, &result, &error), 0);
    assert_int_equal(result.end, RAD_FLOW_END_DONE);
    assert_int_equal(seen.last, 0);
    assert_true(double_now(w) < UINT64_C(1700003000000000000)); /* nobody has waited for an hour */
    double_close(w);
    rad__flow_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_come_first_served),
        cmocka_unit_test(a_queue_outlives_its_runner),
        cmocka_unit_test(losers_are_ended_at_once),
        cmocka_unit_test(what_waits_and_is_cancelled_never_begins),
        cmocka_unit_test(losers_are_ended_by_the_next_runner),
        cmocka_unit_test(only_one_of_two_is_first),
        cmocka_unit_test(what_runs_is_taken_over),
        cmocka_unit_test(who_takes_over_says_so),
        cmocka_unit_test(limits_are_errors),
        cmocka_unit_test(long_computations_are_not_the_end),
        cmocka_unit_test(functions_are_called_at_least_once),
        cmocka_unit_test(timers_that_nobody_wants_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
