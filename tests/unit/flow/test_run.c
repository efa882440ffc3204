/* test_run.c — cases in real folders, with real commands: values, outputs, time, functions, signals, going on. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/clock.h"
#include "os/file.h"
#include "run_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Commands ------------------------------------------------------------------------------------------- */

static void test_values(void **state)
{
    (void)state;
    flow_expect_done("flow f { data { n : int = 20 t : text = \"it's\" b : bool s : int one : text }\n"
                     "task add { run \"echo $((n + 1))\" capture n }\n"
                     "task say { run \"printf '%s\\n\\n' \\\"$t\\\"\" capture t }\n"
                     "task yes { run \"echo true\" capture b }\n"
                     "task three { run \"exit 3\" exit s }\n"
                     "task few { run \"echo \\\"$n/$t/$RADDLE_ATTEMPT\\\"\" reads n capture one }\n"
                     "do add do say do yes do three do few }");
    flow_expect_data("n", "21");
    flow_expect_data("t", "it's\n"); /* the last newline goes, others stay */
    flow_expect_data("b", "true");
    flow_expect_data("s", "3");
    flow_expect_data("one", "21//1");
}

/* The data come before what the runner has of the same name; what only begins like one of them stays. */
static void test_environment(void **state)
{
    (void)state;
    setenv("num", "outside", 1);
    setenv("number", "kept", 1);
    setenv("RADDLE_CASE", "of another case", 1);
    flow_expect_done("flow f { data { num : int = 3  seen : text }\n"
                     "task t { run \"env | grep -E '^(num|RADDLE_CASE)' | sort\" capture seen }\n"
                     "do t }");
    unsetenv("num");
    unsetenv("number");
    unsetenv("RADDLE_CASE");
    rad_flow_status s;
    rad_error error = {0};
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    assert_non_null(strstr(s.data[1].text, "\nnum=3\nnumber=kept"));
    assert_int_equal(s.steps, 3);
    assert_null(strstr(s.data[1].text, "another case"));
    assert_null(strstr(s.data[1].text, "outside"));
    rad_flow_status_free(&s);
}

static void expect_failed(const char *task, const char *why)
{
    char text[600];
    snprintf(text, sizeof text,
             "flow f { data { n : int e : text } task t { %s }\n"
             "region r { do t } on failure into e { } }",
             task);
    flow_fresh(NULL);
    flow_expect_done(text);
    rad_flow_status s;
    rad_error error = {0};
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    if (strstr(s.data[1].text, why) == NULL) fail_msg("\"%s\", expected %s", s.data[1].text, why);
    rad_flow_status_free(&s);
}

static void test_failures(void **state)
{
    (void)state;
    expect_failed("run \"exit 7\"", "exit status 7");
    expect_failed("run \"kill -SEGV $$\"", "killed by SIGSEGV");
    expect_failed("run \"echo many\" capture n", "its output is no number: \"many\"");
    expect_failed("run \"echo 99999999999999999999\" capture n", "no number");
    expect_failed("run \"echo\" capture n", "no number");
    expect_failed("run \"printf 'a\\\\000b'\" capture e", "it has a zero byte");
    expect_failed("run \"yes | head -c 1100000\" capture e", "it printed more than 1048576 bytes");
    expect_failed("run \"pwd\" dir \"no/where\"", "exit status 126");
    expect_failed("run \"sleep 3600 & sleep 3600\" timeout 100ms", "its time was up after 100 ms");
}

static void test_long_output_is_cut(void **state)
{
    (void)state;
    flow_expect_done("flow f { task t { run \"yes | head -c 3000000\" } do t }");
    struct stat s;
    assert_int_equal(stat("flow_case/effects/0-1@1.out", &s), 0);
    assert_int_equal(s.st_size, 1048576);
}

/* Ends only when its child does what it is told, and its own child dies with the group. */
static void test_timeout_kills_who_does_not_listen(void **state)
{
    (void)state;
    uint64_t began = rad__os_now_ns();
    expect_failed("run \"trap '' TERM; echo $$ > flow_made/pid; while :; do sleep 1; done\" timeout 1s",
                  "its time was up");
    uint64_t took = rad__os_now_ns() - began;
    assert_true(took > UINT64_C(2500000000));
}

/* The shell dies of SIGTERM at once; what it has started takes a second to clean up. */
static void test_timeout_leaves_time_to_clean_up(void **state)
{
    uint64_t took = UINT64_MAX; /* the least; if it were waited for longer than needed: 3.3 s */
    for (int i = 0; i < 20 && took > UINT64_C(3200000000); i++) {
        flow_fresh(state);
        uint64_t began = rad__os_now_ns();
        expect_failed("run \"sh -c 'trap \\\"sleep 1; echo clean > flow_made/t; exit 0\\\" TERM; "
                      "while :; do sleep 0.1; done'; echo never\" timeout 300ms",
                      "its time was up");
        took = rad__os_now_ns() - began;
        flow_expect_file("flow_made/t", "clean\n");
    }
    assert_true(took < UINT64_C(3200000000));
}

static void test_retry(void **state)
{
    (void)state;
    flow_expect_done("flow f { task t { run \"echo x >> flow_made/t; [ $RADDLE_ATTEMPT = 3 ]\"\n"
                     "retry 2 delay 100ms backoff 2 } do t }");
    flow_expect_file("flow_made/t", "x\nx\nx\n");
    char *text;
    rad_error error = {0};
    assert_int_equal(rad_flow_logs(flow_folder, NULL, &text, &error), 0);
    assert_string_equal(text, "== t 0#1, attempt 1\n== t 0#1, attempt 2\n== t 0#1, attempt 3\n");
    rad_free(text);
}

static void test_logs(void **state)
{
    (void)state;
    flow_expect_done("flow f { task a { run \"echo one; echo two >&2\" } task b { run \"printf three\" }\n"
                     "do a do b }");
    char *text;
    rad_error error = {0};
    assert_int_equal(rad_flow_logs(flow_folder, NULL, &text, &error), 0);
    assert_string_equal(text, "== a 0#1, attempt 1\none\ntwo\n== b 0#2, attempt 1\nthree\n");
    rad_free(text);
    assert_int_equal(rad_flow_logs(flow_folder, "b", &text, &error), 0);
    assert_string_equal(text, "== b 0#2, attempt 1\nthree\n");
    rad_free(text);
    assert_int_equal(rad_flow_logs(flow_folder, "0#1", &text, &error), 0);
    assert_string_equal(text, "== a 0#1, attempt 1\none\ntwo\n");
    rad_free(text);
    flow_expect_refused(rad_flow_logs(flow_folder, "c", &text, &error), &error, RAD_EINPUT,
                        "there is no task c, and nothing with that key was begun");
    flow_expect_refused(rad_flow_logs("nowhere", NULL, &text, &error), &error, RAD_EINPUT,
                        "nowhere: holds no execution (no journal)");
}

static void test_logs_go_on_behind_zeros(void **state)
{
    (void)state;
    flow_expect_done("flow f { data { n : int } task a { run \"printf 'x\\\\0y'\" } task b { run \"echo b\" }\n"
                     "do a xor { when n > 0 { do b } else { } } run \"echo c\" }");
    char *text;
    rad_error error = {0};
    assert_int_equal(rad_flow_logs(flow_folder, NULL, &text, &error), 0);
    assert_string_equal(text, "== a 0#1, attempt 1\nx?y\n== run_2 0#2, attempt 1\nc\n");
    rad_free(text);
    assert_int_equal(rad_flow_logs(flow_folder, "b", &text, &error), 0);
    assert_string_equal(text, "");
    rad_free(text);
}

static void test_side_by_side(void **state)
{
    (void)state;
    flow_expect_done("flow f { task t { run \"echo >> flow_made/here; "
                     "while [ $(wc -l < flow_made/here) -lt 4 ]; do sleep 0.05; done\" }\n"
                     "many 4 { do t } }"); /* each waits for the others; jobs is 4 */
}

static void test_losers_are_killed(void **state)
{
    (void)state;
    flow_expect_done("flow f { task a { run \"true\" }\n"
                     "task b { run \"echo $$ > flow_made/pid; echo begun > flow_made/b; sleep 20; echo "
                     "late > flow_made/b\" }\n"
                     "task c { run \"while [ ! -s flow_made/pid ]; do sleep 0.01; done\" }\n"
                     "par { do c } and { do b } join first do a }");
    flow_expect_file("flow_made/b", "begun\n");
    assert_int_equal(system("kill -0 $(cat flow_made/pid) 2>/dev/null"), 1 << 8);
}

static void test_ends(void **state)
{
    (void)state;
    rad_flow_result r = flow_run("flow f { task t { run \"false\" } do t }");
    assert_int_equal(r.end, RAD_FLOW_END_FAILED);
    assert_non_null(strstr(r.text, "task t failed"));
    assert_string_equal(r.task, "t");
    flow_fresh(state);
    r = flow_run("flow f { await never }");
    assert_int_equal(r.end, RAD_FLOW_END_DEADLOCK);
    assert_string_equal(r.text, "deadlock: token 0, line 1: waits for the milestone never");
    assert_string_equal(r.task, "");
    flow_fresh(state);
    r = flow_run("flow f { cancel case }");
    assert_int_equal(r.end, RAD_FLOW_END_CANCELLED);
    assert_int_equal(strlen(r.digest), 32);
}

/* ---- Functions ------------------------------------------------------------------------------------------ */

static int add_one(void *context, rad_flow_call *call, rad_error *error)
{
    char text[24];
    uint32_t *count = context;
    ++*count;
    if (rad_flow_call_attempt(call) == 1) {
        snprintf(error->text, sizeof error->text, "not yet");
        return -1;
    }
    assert_int_equal(strncmp(rad_flow_call_id(call), "c7:0", 4), 0);
    assert_null(rad_flow_call_value(call, "none"));
    assert_null(rad_flow_call_value(call, "m"));
    snprintf(text, sizeof text, "%ld", strtol(rad_flow_call_value(call, "n"), NULL, 10) + 1);
    assert_int_equal(rad_flow_call_set(call, "n", "12x", error), RAD_EINPUT);
    assert_int_equal(rad_flow_call_set(call, "m", "1", error), RAD_EINPUT);
    assert_int_equal(rad_flow_call_set(call, "n", "0", error), 0);
    return rad_flow_call_set(call, "n", text, error);
}

static void test_functions(void **state)
{
    (void)state;
    static const char text[] = "flow f { data { n : int = 4 m : int }\n"
                               "task t { call \"add\" reads n writes n retry 1 } loop 3 { do t } }";
    rad_flow *f = flow_parsed(text);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    uint32_t count = 0;
    flow_expect_refused(rad_flow_run(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                        "test.flow:2:6: task t: C function \"add\" is not registered");
    assert_int_equal(rad_flow_register(f, "add", add_one, &count, &error), 0);
    assert_int_equal(rad_flow_register(f, "add", add_one, &count, &error), RAD_EINPUT);
    o.case_id = "0123456789012345678901234567890123456789012345678901234567890123";
    flow_expect_refused(rad_flow_run(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                        "the id of the execution is longer than 63 characters");
    o.case_id = "c7";
    if (rad_flow_run(f, flow_folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    assert_string_equal(r.case_id, "c7");
    assert_int_equal(count, 6);
    flow_expect_data("n", "7");
    rad_flow_free(f);
}

/* ---- From outside --------------------------------------------------------------------------------------- */

static void test_signals(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_flow_status s;
    flow_expect_refused(rad_flow_send(flow_folder, "go", "x", &error), &error, RAD_EINPUT, "no execution");
    flow_start_runner(FLOW_WAITS);
    flow_wait_for_file("flow_case/journal");
    flow_expect_refused(rad_flow_send(flow_folder, "gone", "x", &error), &error, RAD_EINPUT,
                        "flow_case: the flow f has no signal gone");
    flow_expect_refused(rad_flow_cancel(flow_folder, RAD_FLOW_PART_REGION, "q", &error), &error, RAD_EINPUT,
                        "has no region q");
    flow_expect_refused(rad_flow_cancel(flow_folder, RAD_FLOW_PART_TASK, "q", &error), &error, RAD_EINPUT,
                        "has no task q");
    assert_int_equal(rad_flow_send(flow_folder, "go", "one", &error), 0);
    flow_wait_for_records(3); /* the signal, the task's start and end */
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    assert_int_equal(s.runner, flow_run_pid);
    assert_false(s.has_ended);
    assert_non_null(strstr(s.text, "line 2: "));
    rad_flow_status_free(&s);
    flow_kill_runner();
    assert_int_equal(rad_flow_send(flow_folder, "go", "two", &error), 0); /* nobody lives */
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    assert_int_equal(s.runner, 0);
    assert_int_equal(s.signals, 1);
    rad_flow_status_free(&s);
    assert_int_equal(rad_flow_cancel(flow_folder, RAD_FLOW_PART_REGION, "r", &error), 0);
    flow_start_runner(FLOW_WAITS);
    flow_wait_for_text("line 3: "); /* it is in the region */
    assert_int_equal(rad_flow_cancel(flow_folder, RAD_FLOW_PART_REGION, "r", &error), 0);
    assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_DONE);
    flow_expect_file("flow_made/x", "one\ntwo\ntwo\n");
    flow_expect_refused(rad_flow_send(flow_folder, "go", "x", &error), &error, RAD_EINPUT, "has ended");
}

static void expect_refused_signal(const char *name, const char *with, const char *why)
{
    rad_error error = {0};
    flow_expect_refused(rad_flow_send(flow_folder, name, with, &error), &error, RAD_EINPUT, why);
}

/* The sender hears of his slip; the case does not fail of it. */
static void test_signals_that_nobody_could_take(void **state)
{
    (void)state;
    static const char text[] = "flow f { data { n : int b : bool t : text }\n"
                               "defer { on signal count into n { } on signal flag into b { } on timer 50s { } }\n"
                               "wait signal either into t wait signal either into n wait signal bare }";
    rad_error error = {0};
    rad_flow_status s;
    flow_start_runner(text);
    flow_wait_for_file("flow_case/journal");
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    assert_string_equal(s.text, "token 0, line 2: waits for signal count, signal flag or a timer");
    rad_flow_status_free(&s);
    expect_refused_signal("coutn", "1", "has no signal coutn; did you mean 'count'?");
    expect_refused_signal("count", "many", "expected a number to come with it, found \"many\"");
    expect_refused_signal("count", NULL, "expected a number to come with it, found \"\"");
    expect_refused_signal("flag", "1", "expected true or false to come with it, found \"1\"");
    assert_int_equal(rad_flow_send(flow_folder, "count", "-12", &error), 0);
    assert_int_equal(rad_flow_send(flow_folder, "either", "a text", &error), 0);
    assert_int_equal(rad_flow_send(flow_folder, "either", "7", &error), 0); /* for the second one */
    assert_int_equal(rad_flow_send(flow_folder, "bare", "whatever", &error), 0);
    assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_DONE);
    flow_expect_data("n", "7");
    flow_expect_data("t", "a text");
}

typedef struct seen {
    char text[400];
} seen;

static void note_started(void *context, const rad_flow_progress *p)
{
    seen *s = context;
    size_t used = strlen(s->text);
    if (p->news == RAD_FLOW_TASK_STARTED)
        snprintf(s->text + used, sizeof s->text - used, "%s[%s] ", p->task, p->instance);
}

/* Which of many is at work: as it was named, or its number; lines that are too long are cut between two letters. */
static void test_instances_have_names(void **state)
{
    (void)state;
    static const char text[] = "flow f { task t { run \"true\" } task u { run \"true\" reads cell }\n"
                               "do t many over \"gcc debug\\nclang\" as cell { many 2 { par { do u } and { } } }\n"
                               "many over \"ääääääääääääääääääääääääääääääääääää\" as other { do t } }";
    rad_flow *f = flow_parsed(text);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    seen s = {""};
    o.watch = note_started;
    o.context = &s;
    assert_int_equal(rad_flow_run(f, flow_folder, &o, &r, &error), 0);
    assert_string_equal(s.text, "t[] u[gcc debug, 0] u[gcc debug, 1] u[clang, 0] u[clang, 1] "
                                "t[äääääääääääääääääääääääääääääää] ");
    rad_flow_free(f);
}

static void test_status(void **state)
{
    (void)state;
    static const char text[] = "flow f { data { n : int = 5 }\n"
                               "task t { run \"touch flow_made/go; sleep 20\" } task u { run \"true\" }\n"
                               "par { do t } and { wait 50s } and { do u } }";
    rad_flow_status s;
    rad_error error = {0};
    flow_expect_refused(rad_flow_look(&s, flow_folder, &error), &error, RAD_EINPUT,
                        "flow_case: holds no execution (no journal)");
    rad_flow_status_free(&s);
    flow_start_runner(text);
    flow_wait_for_file("flow_made/go");
    flow_wait_for_records(3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
        assert_string_equal(s.flow, "f");
        assert_string_equal(s.policy, "first");
        assert_int_equal(s.runner != 0, i == 0);
        assert_int_equal(s.task_count, 1);
        assert_string_equal(s.tasks[0].task, "t");
        assert_int_equal(s.tasks[0].state, RAD_FLOW_TASK_IS_RUNNING);
        assert_true(s.tasks[0].since_ns >= s.began_ns);
        assert_int_equal(s.timers, 1);
        assert_true(s.next_timer_ns - s.began_ns >= UINT64_C(50000000000));
        assert_true(s.next_timer_ns - s.began_ns < UINT64_C(60000000000));
        assert_string_equal(s.data[0].name, "n");
        assert_string_equal(s.data[0].text, "5");
        rad_flow_status_free(&s);
        if (i == 0) flow_kill_runner(); /* the command goes on */
    }
    assert_int_equal(rad_flow_cancel(flow_folder, RAD_FLOW_PART_CASE, NULL, &error), 0);
    flow_start_runner(text);
    assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_CANCELLED);
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    assert_true(s.has_ended);
    assert_int_equal(s.end, RAD_FLOW_END_CANCELLED);
    assert_int_equal(s.task_count, 0);
    rad_flow_status_free(&s);
}

/* ---- Going on ------------------------------------------------------------------------------------------- */

static void test_a_running_command_is_taken_over(void **state)
{
    (void)state;
    static const char text[] = "flow f { data { x : text }\n"
                               "task t { run \"echo x >> flow_made/begun; touch flow_made/go; "
                               "while [ ! -e flow_made/end ]; do sleep 0.05; done; echo said\" capture x }\n"
                               "do t }";
    flow_start_runner(text);
    flow_wait_for_file("flow_made/go");
    flow_kill_runner();
    flow_start_runner(text);
    usleep(200000);
    flow_kill_runner(); /* once more */
    flow_start_runner(text);
    usleep(200000);
    assert_int_equal(system("touch flow_made/end"), 0);
    assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_DONE);
    flow_expect_file("flow_made/begun", "x\n");
    flow_expect_data("x", "said");
}

static void test_a_killed_shim_is_doubt(void **state)
{
    (void)state;
    static const char text[] = "flow f { task t { run \"echo x >> flow_made/begun; sleep 30\" } do t }";
    flow_start_runner(text);
    flow_wait_for_file("flow_made/begun");
    flow_wait_for_file("flow_case/effects/0-1@1.lock");
    assert_int_equal(system("kill -KILL $(cat flow_case/effects/0-1@1.lock)"), 0);
    assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_IN_DOUBT); /* while the runner lives */
    rad_flow_status s;
    rad_error error = {0};
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    assert_int_equal(s.task_count, 1);
    assert_int_equal(s.tasks[0].state, RAD_FLOW_TASK_IS_IN_DOUBT);
    rad_flow_status_free(&s);
    rad_flow *f = flow_parsed(text);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_flow_settle settle = {"0#1", RAD_FLOW_ANSWER_DONE, NULL};
    assert_int_equal(rad_flow_resume(f, flow_folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_IN_DOUBT);
    assert_non_null(strstr(r.text, "in doubt: 0#1 (task t)"));
    o.settles = &settle;
    o.settle_count = 1;
    assert_int_equal(rad_flow_resume(NULL, flow_folder, &o, &r, &error), 0); /* the flow in the folder */
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    flow_expect_file("flow_made/begun", "x\n");
    rad_flow_free(f);
}

static void test_an_answer_that_does_not_fit(void **state)
{
    (void)state;
    flow_start_runner("flow f { data { n : int } task t { run \"sleep 30\" capture n } do t }");
    flow_wait_for_file("flow_case/effects/0-1@1.lock");
    assert_int_equal(system("kill -KILL $(cat flow_case/effects/0-1@1.lock)"), 0);
    assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_IN_DOUBT);
    rad_flow_settle settle = {"0#1", RAD_FLOW_ANSWER_DONE, "seven"};
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    o.settles = &settle;
    o.settle_count = 1;
    flow_expect_refused(rad_flow_resume(NULL, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                        "it is said to have printed \"seven\", which is no value of n");
    settle.output = "7\n";
    assert_int_equal(rad_flow_resume(NULL, flow_folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    flow_expect_data("n", "7");
}

static void test_interrupted(void **state)
{
    (void)state;
    static volatile int stop = 1;
    rad_flow *f = flow_parsed("flow f { task t { run \"echo x >> flow_made/x\" } do t }");
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    o.stop = &stop;
    assert_int_equal(rad_flow_run(f, flow_folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_INTERRUPTED);
    o.stop = NULL;
    assert_int_equal(rad_flow_resume(f, flow_folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    flow_expect_file("flow_made/x", "x\n");
    rad_flow_free(f);
}

/* Time goes on while nobody runs. If it began anew the second runner would take the whole time, however often it is
 * tried. */
static void test_timers_go_on(void **state)
{
    static const char text[] = "flow f { wait 1500ms }";
    const uint64_t whole = UINT64_C(1500000000);
    uint64_t second = UINT64_MAX;
    for (int i = 0; i < 20 && second >= whole; i++) {
        flow_fresh(state);
        uint64_t began = rad__os_now_ns();
        flow_start_runner(text);
        flow_wait_for_file("flow_case/journal");
        usleep(1000000);
        flow_kill_runner();
        uint64_t again = rad__os_now_ns();
        flow_start_runner(text);
        assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_DONE);
        second = rad__os_now_ns() - again;
        assert_true(rad__os_now_ns() - began >= whole);
    }
    assert_true(second < whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_environment, flow_fresh),
        cmocka_unit_test_setup(test_values, flow_fresh),
        cmocka_unit_test_setup(test_failures, flow_fresh),
        cmocka_unit_test_setup(test_long_output_is_cut, flow_fresh),
        cmocka_unit_test_setup(test_timeout_kills_who_does_not_listen, flow_fresh),
        cmocka_unit_test_setup(test_timeout_leaves_time_to_clean_up, flow_fresh),
        cmocka_unit_test_setup(test_retry, flow_fresh),
        cmocka_unit_test_setup(test_logs, flow_fresh),
        cmocka_unit_test_setup(test_logs_go_on_behind_zeros, flow_fresh),
        cmocka_unit_test_setup(test_side_by_side, flow_fresh),
        cmocka_unit_test_setup(test_losers_are_killed, flow_fresh),
        cmocka_unit_test_setup(test_ends, flow_fresh),
        cmocka_unit_test_setup(test_functions, flow_fresh),
        cmocka_unit_test_setup(test_signals, flow_fresh),
        cmocka_unit_test_setup(test_signals_that_nobody_could_take, flow_fresh),
        cmocka_unit_test_setup(test_instances_have_names, flow_fresh),
        cmocka_unit_test_setup(test_status, flow_fresh),
        cmocka_unit_test_setup(test_a_running_command_is_taken_over, flow_fresh),
        cmocka_unit_test_setup(test_a_killed_shim_is_doubt, flow_fresh),
        cmocka_unit_test_setup(test_an_answer_that_does_not_fit, flow_fresh),
        cmocka_unit_test_setup(test_interrupted, flow_fresh),
        cmocka_unit_test_setup(test_timers_go_on, flow_fresh),
    };
    return cmocka_run_group_tests_name("flow_run", tests, NULL, NULL);
}
