/* test_lapse.c — a runner does not get what it asks for, once: memory, between any two calls to the system, or
 * one of these calls. It does nothing in its place: it says so and ends, and the next one brings the case to
 * its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "double.h"
#include "flow/run/files.h"

#include <string.h>

typedef struct lapse {
    double_world *w;
    volatile int stop;
    int code;
    rad_flow_result result;
    rad_error error;
} lapse;

static int call(void *context, rad_flow_call *c, rad_error *error)
{
    (void)context;
    return rad_flow_call_set(c, "m", "12", error);
}

static void go(lapse *l, const rad_flow_program *p)
{
    char path[] = "PATH=/bin", same[] = "n=9", longer[] = "nn=8", shorter[] = "RADDLE=7";
    char *environment[] = {path, same, longer, shorter, NULL};
    rad_flow_named_function g = {"g", call, NULL};
    rad_flow_run_options o = {.given = {.jobs = 2, .case_id = "case", .stop = &l->stop}};
    o.environment = environment;
    o.functions = &g;
    o.function_count = 1;
    rad__error_clear(&l->error);
    const rad_flow_host *host = double_runner(l->w);
    l->code = double_has_file(l->w, "journal") ? rad__flow_resume(host, p, &o, &l->result, &l->error)
                                               : rad__flow_run(host, p, &o, &l->result, &l->error);
}

/* ---- The flow ---------------------------------------------------------------------------------------------------- */

/* Results, data, retries, timers, a loser, a function, a signal. */
static const char TEXT[] = "flow f { data { n : text  m : int }\n"
                           "task a { run \"a\" capture n } task b { run \"b\" reads n dir \"below\" }\n"
                           "task again { run \"flaky\" retry 1 delay 2s } task slow { run \"slow\" }\n"
                           "task g { call \"g\" writes m retry 1 } task last { run \"last\" }\n"
                           "do a par { do b } and { do slow } and { wait signal go } join first 2\n"
                           "do g do again defer { on timer 3s { } on signal never { } } do last }";

static const char *seen(const lapse *l, const char *command, const char *name)
{
    const char *value = double_environment(l->w, command, name);
    return value != NULL ? value : "(none)";
}

static void expect_the_end(const lapse *l)
{
    if (l->code != 0) fail_msg("%s", l->error.text);
    if (l->result.end != RAD_FLOW_END_DONE) fail_msg("%s", l->result.text);
    assert_int_equal(double_most(l->w), 1);
    assert_int_equal(double_command_count(l->w, "a"), 1);
    assert_int_equal(double_command_count(l->w, "b"), 1);
    assert_int_equal(double_command_count(l->w, "flaky"), 2);
    assert_int_equal(double_command_count(l->w, "last"), 1);
    assert_true(double_command_count(l->w, "slow") <= 1);
    assert_int_equal(double_living_commands(l->w), 0);
    assert_string_equal(seen(l, "b", "n"), "a");
    assert_string_equal(seen(l, "b", "m"), "(none)");
    assert_string_equal(seen(l, "b", "nn"), "8");
    assert_string_equal(seen(l, "b", "RADDLE"), "7");
    assert_string_equal(seen(l, "b", "PATH"), "/bin");
    assert_string_equal(seen(l, "b", "RADDLE_CASE"), "case");
    assert_string_equal(seen(l, "b", "RADDLE_ATTEMPT"), "1");
    assert_string_equal(seen(l, "last", "m"), "12");
    assert_string_equal(seen(l, "last", "n"), "a");
}

/* A case that was begun and left, with a signal in its spool; or with more behind it. */
static void begin(lapse *l, const rad_flow_program *p, uint64_t kill_at)
{
    rad_flow_input signal = {.kind = RAD_INPUT_SIGNAL, .name = "go"};
    l->stop = 1;
    go(l, p);
    assert_int_equal(l->code, 0);
    l->stop = 0;
    assert_int_equal(rad__flow_spool_put(double_other(l->w), &signal, &l->error), 0);
    if (kill_at == 0) return;
    double_crash_at(l->w, kill_at, DOUBLE_KILL_RUNNER, 0);
    go(l, p);
    assert_int_not_equal(l->code, 0);
    double_crash_at(l->w, 0, DOUBLE_NONE, 0);
}

#define FRESH UINT64_MAX /* the runner whose call or memory fails is the first one, and is to stop at once */

static void before(lapse *l, const rad_flow_program *p, uint64_t kill_at)
{
    l->stop = 1;
    if (kill_at != FRESH) begin(l, p, kill_at);
}

static void after(lapse *l, const rad_flow_program *p, uint64_t kill_at)
{
    bool failed = l->code != 0;
    if (kill_at == FRESH) begin(l, p, 0);
    if (kill_at == FRESH || failed) go(l, p);
    expect_the_end(l);
    double_close(l->w);
}

/* The memory runs out at that place of the next runner; the one after it has enough. *more: there may be a later
 * allocation before the next call. False: there is no such call. */
static bool lack(const rad_flow_program *p, uint64_t kill_at, uint64_t n, uint64_t first, bool *more)
{
    lapse l = {.w = double_open(3)};
    before(&l, p, kill_at);
    double_lack_at(l.w, n, first);
    go(&l, p);
    bool called = double_has_called(l.w);
    double_lack_at(l.w, 0, 0);
    *more = called && double_has_lacked(l.w);
    if (l.code != 0 && l.code != RAD_ENOMEM) fail_msg("%s", l.error.text);
    after(&l, p, kill_at);
    return called;
}

static uint32_t lack_everywhere(uint64_t kill_at)
{
    rad_flow_program *p = double_program(TEXT);
    uint32_t tried = 0;
    bool called = true;
    for (uint64_t n = 1; called; n++) {
        bool more = true;
        for (uint64_t first = 1; more; first++, tried++) called = lack(p, kill_at, n, first, &more);
    }
    rad__flow_program_free(p);
    return tried;
}

static void a_case_outlives_a_lapse(void **state)
{
    (void)state;
    assert_true(lack_everywhere(FRESH) > 40);
    assert_true(lack_everywhere(0) > 300);
}

/* What a runner reads again, and what it takes over. */
static void a_resumed_case_outlives_a_lapse(void **state)
{
    (void)state;
    assert_true(lack_everywhere(60) > 300);
    assert_true(lack_everywhere(150) > 300);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* False: there is no such call. */
static bool refuse(const rad_flow_program *p, uint64_t kill_at, uint64_t n)
{
    lapse l = {.w = double_open(3)};
    before(&l, p, kill_at);
    double_fail_at(l.w, n, &l.error);
    go(&l, p);
    bool failed = double_has_failed(l.w);
    if (failed) {
        assert_int_equal(l.code, RAD_EIO);
        assert_string_equal(l.error.text, "refused");
        assert_int_equal(double_launched_since(l.w), 0);
    }
    double_fail_at(l.w, 0, NULL);
    after(&l, p, kill_at);
    return failed;
}

/* Nothing is begun after it. */
static void a_call_that_fails_ends_the_runner(void **state)
{
    (void)state;
    static const uint64_t kill_at[] = {FRESH, 0, 60, 150};
    rad_flow_program *p = double_program(TEXT);
    for (uint32_t i = 0; i < sizeof kill_at / sizeof *kill_at; i++) {
        uint64_t n = 1;
        while (refuse(p, kill_at[i], n)) n++;
        assert_true(n > 20);
    }
    rad__flow_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_case_outlives_a_lapse),
        cmocka_unit_test(a_resumed_case_outlives_a_lapse),
        cmocka_unit_test(a_call_that_fails_ends_the_runner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
