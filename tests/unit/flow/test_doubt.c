/* test_doubt.c — what is in doubt stays so until somebody says what is true: a probe that ended by itself, or a
 * human, and what he says is checked. Cases that are resumed as what they are not. Over the machine of
 * double.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "double.h"
#include "flow/run/files.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

typedef struct heard {
    uint32_t again, doubts, started_late;
    double_world *w;
    uint64_t late_ns;
} heard;

static void watch(void *context, const rad_flow_progress *p)
{
    heard *h = context;
    h->again += p->news == RAD_FLOW_TASK_AGAIN;
    h->doubts += p->news == RAD_FLOW_TASK_IN_DOUBT;
    if (p->news == RAD_FLOW_TASK_STARTED) h->started_late += double_now(h->w) > h->late_ns;
}

static int go(double_world *w, const rad_flow_program *p, const rad_flow_settle *settle, heard *h,
              rad_flow_result *result, rad_error *error)
{
    rad_flow_run_options o = {.given = {.jobs = 2, .case_id = "case"}};
    h->w = w;
    h->late_ns = UINT64_MAX;
    o.given.watch = watch;
    o.given.context = h;
    o.given.settles = settle;
    o.given.settle_count = settle != NULL;
    const rad_flow_host *host = double_runner(w);
    return double_has_file(w, "journal") ? rad__flow_resume(host, p, &o, result, error)
                                         : rad__flow_run(host, p, &o, result, error);
}

/* ---- Probes ------------------------------------------------------------------------------------------------------ */

/* The shim dies at its n-th call. Whether the case ends in doubt; *over: there is no such call. */
static bool is_doubted(const rad_flow_program *p, uint64_t n, heard *h, bool *over)
{
    double_world *w = double_open(7);
    rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
    rad_error error = {0};
    double_crash_at(w, n, DOUBLE_KILL_SHIM, 0);
    int code = go(w, p, NULL, h, &result, &error);
    *over = !double_has_crashed(w);
    double_close(w);
    return code == 0 && result.end == RAD_FLOW_END_IN_DOUBT;
}

/* A probe that was killed, or ended because its time was up, says nothing, whatever its status is. */
static void probes_that_did_not_end_by_themselves(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "flow f { task a { run \"a\" timeout 9s } do a }",
        "flow f { task a { run \"a\" timeout 9s on_doubt probe \"killed\" } do a }",
        "flow f { task a { run \"a\" timeout 9s on_doubt probe \"polite\" } do a }",
        "flow f { task a { run \"a\" timeout 9s on_doubt probe \"slow\" } do a }",
    };
    rad_flow_program *programs[4];
    uint32_t doubts = 0;
    for (uint32_t i = 0; i < 4; i++) programs[i] = double_program_of(texts[i], NULL);
    bool over = false;
    for (uint64_t n = 1; !over; n++) {
        heard h = {.again = 0};
        bool doubted = is_doubted(programs[0], n, &h, &over);
        doubts += doubted;
        for (uint32_t i = 1; i < 4; i++) {
            bool ignored;
            assert_int_equal(is_doubted(programs[i], n, &h, &ignored), doubted);
        }
        assert_int_equal(h.again, 0);
    }
    assert_true(doubts > 3);
    for (uint32_t i = 0; i < 4; i++) rad__flow_program_free(programs[i]);
}

/* ---- What a human says ------------------------------------------------------------------------------------------- */

/* A world in which 0#1 is in doubt; NULL: not with a shim that dies at that call. */
static double_world *doubtful(const rad_flow_program *p, uint64_t n, bool *over)
{
    double_world *w = double_open(7);
    rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
    rad_error error = {0};
    heard h = {.again = 0};
    double_crash_at(w, n, DOUBLE_KILL_SHIM, 0);
    int code = go(w, p, NULL, &h, &result, &error);
    *over = !double_has_crashed(w);
    double_crash_at(w, 0, DOUBLE_NONE, 0);
    if (code == 0 && result.end == RAD_FLOW_END_IN_DOUBT && strstr(result.text, "0#1 (task a)") != NULL) {
        assert_int_equal(h.doubts, 1);
        assert_string_equal(result.doubt, "0#1");
        assert_string_equal(result.task, "");
        return w;
    }
    double_close(w);
    return NULL;
}

static const char CAUGHT[] = "flow f { data { n : int }  task a { run \"a\" capture n }\n"
                             "task b { run \"b\" reads n } task c { run \"c\" }\n"
                             "region r { do a do b } on failure { do c } }";

static void what_was_settled_is_settled(void **state)
{
    (void)state;
    rad_flow_program *p = double_program_of(CAUGHT, NULL);
    bool over = false;
    uint32_t seen = 0;
    for (uint64_t n = 1; !over; n++) {
        for (uint32_t i = 0; i < 6; i++) {
            static const rad_flow_settle answers[] = {
                {"0#1", RAD_FLOW_ANSWER_FAILED, NULL},  {"0#1", RAD_FLOW_ANSWER_DONE, "12"},
                {"0#1", RAD_FLOW_ANSWER_DONE, "-34\n"}, {"0#1", RAD_FLOW_ANSWER_DONE, "1x"},
                {"0#1", RAD_FLOW_ANSWER_DONE, NULL},    {"0#2", RAD_FLOW_ANSWER_DONE, "1"}};
            double_world *w = doubtful(p, n, &over);
            if (w == NULL) break;
            seen++;
            heard h = {.again = 0};
            rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
            rad_error error = {0};
            int code = go(w, p, &answers[i], &h, &result, &error);
            assert_int_equal(code, i < 3 ? 0 : RAD_EINPUT);
            if (i < 3) {
                assert_int_equal(result.end, RAD_FLOW_END_DONE);
                assert_int_equal(h.doubts, 0);
                assert_int_equal(double_command_count(w, "b"), i != 0);
                assert_int_equal(double_command_count(w, "c"), i == 0);
            }
            if (i == 1) assert_string_equal(double_environment(w, "b", "n"), "12");
            if (i == 2) assert_string_equal(double_environment(w, "b", "n"), "-34");
            if (i == 3)
                assert_string_equal(error.text, "task a (0#1): it is said to have printed \"1x\", "
                                                "which is no value of n");
            if (i == 5) assert_non_null(strstr(error.text, "0#2 is not in doubt"));
            if (i >= 3) assert_true(double_command_count(w, "b") + double_command_count(w, "c") == 0);
            double_close(w);
        }
    }
    assert_true(seen > 20);
    rad__flow_program_free(p);
}

/* Again means again: the command runs once more, and that is told. */
static void again_is_told(void **state)
{
    (void)state;
    rad_flow_program *p = double_program_of("flow f { task a { run \"a\" } do a do a }", NULL);
    rad_flow_program *retry = double_program_of("flow f { task a { run \"a\" on_doubt retry } do a do a }", NULL);
    bool over = false;
    uint32_t seen = 0;
    for (uint64_t n = 1; !over; n++) {
        rad_flow_settle again = {"0#1", RAD_FLOW_ANSWER_AGAIN, NULL};
        rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
        rad_error error = {0};
        bool ignored;
        heard h = {.again = 0}, other = h;
        double_world *w = double_open(7);
        double_crash_at(w, n, DOUBLE_KILL_SHIM, 0);
        int code = go(w, p, NULL, &h, &result, &error);
        over = !double_has_crashed(w);
        double_crash_at(w, 0, DOUBLE_NONE, 0);
        bool first = code == 0 && result.end == RAD_FLOW_END_IN_DOUBT && strstr(result.text, "0#1 (") != NULL;
        if (first) {
            seen++;
            assert_int_equal(go(w, p, &again, &h, &result, &error), 0);
            assert_int_equal(result.end, RAD_FLOW_END_DONE);
            assert_int_equal(h.again, 1);
            assert_false(is_doubted(retry, n, &other, &ignored));
            assert_int_equal(other.again, 1);
            assert_int_equal(other.doubts, 0);
        }
        double_close(w);
    }
    assert_true(seen > 3);
    rad__flow_program_free(p);
    rad__flow_program_free(retry);
}

/* ---- Resuming ---------------------------------------------------------------------------------------------------- */

static char *journal_of(double_world *w, size_t *size)
{
    const rad_flow_host *host = double_other(w);
    rad_error error = {0};
    char *data;
    assert_int_equal(host->read(host->context, "journal", &data, size, &error), 1);
    return data;
}

static void cases_are_what_they_are(void **state)
{
    (void)state;
    static const char two[] = "flow one { task a { run \"a\" } do a }\n"
                              "flow two { task a { run \"a\" } do a }";
    rad_flow_program *one = double_program_of(two, "one"), *other = double_program_of(two, "two");
    double_world *w = double_open(1);
    rad_flow_result result;
    rad_error error = {0};
    heard h = {.again = 0};
    rad_flow_run_options o = {.given = {.jobs = 1}};
    assert_int_equal(rad__flow_resume(double_runner(w), one, &o, &result, &error), RAD_EINPUT);
    assert_string_equal(error.text, "holds no execution (no journal)");
    rad__error_clear(&error);
    assert_int_equal(go(w, one, NULL, &h, &result, &error), 0);
    assert_int_equal(go(w, other, NULL, &h, &result, &error), RAD_EINPUT);
    assert_string_equal(error.text, "this execution is of the flow one, not of two");
    rad__error_clear(&error);
    /* One that has ended is not changed by looking at it again. */
    size_t before, after;
    char *then = journal_of(w, &before);
    assert_int_equal(go(w, one, NULL, &h, &result, &error), 0);
    assert_int_equal(result.end, RAD_FLOW_END_DONE);
    char *now = journal_of(w, &after);
    assert_int_equal(before, after);
    assert_memory_equal(then, now, before);
    assert_int_equal(double_total(w), 1);
    rad__free(then);
    rad__free(now);
    double_close(w);
    rad__flow_program_free(one);
    rad__flow_program_free(other);
}

/* A timer does not wait for one that was asked for after it, nor does a resumed one begin anew. */
static void timers_ring_when_they_are_due(void **state)
{
    (void)state;
    rad_flow_program *p = double_program_of("flow f { task a { run \"a\" }\n"
                                            "par { wait 2s do a } and { wait 300s } and { wait 100s } }",
                                            NULL);
    for (uint64_t kill_at = 0; kill_at < 120; kill_at += 7) {
        double_world *w = double_open(1 + kill_at);
        rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
        rad_error error = {0};
        heard h = {.w = w};
        rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case"}};
        o.given.watch = watch;
        o.given.context = &h;
        uint64_t begin = double_now(w);
        h.late_ns = begin + UINT64_C(4000000000);
        double_crash_at(w, kill_at, kill_at > 0 ? DOUBLE_KILL_RUNNER : DOUBLE_NONE, 0);
        int code = rad__flow_run(double_runner(w), p, &o, &result, &error);
        double_crash_at(w, 0, DOUBLE_NONE, 0);
        error = (rad_error){0};
        if (code != 0)
            code = double_has_file(w, "journal") ? rad__flow_resume(double_runner(w), p, &o, &result, &error)
                                                 : rad__flow_run(double_runner(w), p, &o, &result, &error);
        if (code != 0) fail_msg("%s", error.text);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_int_equal(h.started_late, 0);
        assert_true(double_now(w) >= begin + UINT64_C(300000000000));
        assert_true(double_now(w) < begin + UINT64_C(320000000000));
        double_close(w);
    }
    rad__flow_program_free(p);
}

/* After a long time without a runner several timers are due: they ring in the order in which they were due. */
static void timers_that_were_missed_ring_in_order(void **state)
{
    (void)state;
    static const char *const events[] = {
        "on timer 2s { do a } on timer 1s { do b }",
        "on timer 1s { do b } on timer 2s { do a }",
        "on timer 3s { do a } on timer 1s { do b } on timer 2s { do a }",
    };
    for (uint32_t i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text, "flow f { task a { run \"a\" } task b { run \"b\" } defer { %s } }", events[i]);
        rad_flow_program *p = double_program_of(text, NULL);
        double_world *w = double_open(1);
        rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
        rad_error error = {0};
        volatile int stop = 1;
        rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case", .stop = &stop}};
        assert_int_equal(rad__flow_run(double_runner(w), p, &o, &result, &error), 0);
        assert_int_equal(result.end, RAD_FLOW_END_INTERRUPTED);
        uint64_t then = double_now(w);
        while (double_now(w) < then + UINT64_C(5000000000)) double_ticks(w, 1);
        stop = 0;
        assert_int_equal(rad__flow_resume(double_runner(w), p, &o, &result, &error), 0);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_int_equal(double_command_count(w, "b"), 1);
        assert_int_equal(double_command_count(w, "a"), 0);
        double_close(w);
        rad__flow_program_free(p);
    }
}

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

/* Each is taken once, whenever a runner is killed, and nothing is left of it in the folder. */
static void signals_leave_nothing_behind(void **state)
{
    (void)state;
    rad_flow_program *p = double_program_of("flow f { data { x : text merge append } task a { run \"a\" }\n"
                                            "loop 2 { wait signal go into x do a } }",
                                            NULL);
    bool crashed = true;
    for (uint64_t n = 1; crashed; n++) {
        double_world *w = double_open(n);
        rad_flow_result result = {.end = RAD_FLOW_END_FAILED};
        rad_error error = {0};
        heard h = {.again = 0};
        volatile int stop = 1;
        rad_flow_run_options o = {.given = {.jobs = 1, .case_id = "case", .stop = &stop}};
        assert_int_equal(rad__flow_run(double_runner(w), p, &o, &result, &error), 0);
        for (uint32_t i = 0; i < 2; i++) {
            rad_flow_input go_on = {.kind = RAD_INPUT_SIGNAL, .name = "go", .text = "x", .length = 1};
            assert_int_equal(rad__flow_spool_put(double_other(w), &go_on, &error), 0);
        }
        double_crash_at(w, n, DOUBLE_KILL_RUNNER, 0);
        int code = go(w, p, NULL, &h, &result, &error);
        crashed = double_has_crashed(w);
        double_crash_at(w, 0, DOUBLE_NONE, 0);
        error = (rad_error){0};
        if (code != 0) code = go(w, p, NULL, &h, &result, &error);
        if (code != 0) fail_msg("%s", error.text);
        assert_int_equal(result.end, RAD_FLOW_END_DONE);
        assert_int_equal(double_command_count(w, "a"), 1 + 1);
        const rad_flow_host *host = double_other(w);
        rad_os_names names;
        assert_int_equal(host->list(host->context, "signals", &names, &error), 0);
        assert_int_equal(names.count, 0);
        rad__os_names_free(&names);
        double_close(w);
    }
    rad__flow_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_that_did_not_end_by_themselves),
        cmocka_unit_test(what_was_settled_is_settled),
        cmocka_unit_test(again_is_told),
        cmocka_unit_test(cases_are_what_they_are),
        cmocka_unit_test(timers_ring_when_they_are_due),
        cmocka_unit_test(timers_that_were_missed_ring_in_order),
        cmocka_unit_test(signals_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
