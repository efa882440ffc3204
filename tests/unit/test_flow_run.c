/* test_flow_run.c — cases in real folders, with real commands: values, outputs, time, signals, jobs; and every way in
 * which a folder can be wrong: another runner, a full or read-only disk, a journal of another version or with a flipped
 * bit, a changed flow. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/flow.h>

#include "base/alloc.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/file.h"
#include "os/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char folder[] = "flow_case";

static int fresh(void **state)
{
    (void)state;
    rad__os_fail_at(0);
    rad__alloc_fail_at(0);
    /* Shims of an earlier test may still be writing there. */
    return system("chmod -R u+w flow_case 2>/dev/null; until rm -rf flow_case flow_made "
                  "2>/dev/null; do sleep 0.1; "
                  "done; mkdir flow_made");
}

static rad_flow *flow_of(const char *text)
{
    rad_flow *f;
    rad_error error = {0};
    if (rad_flow_parse(&f, "test.flow", text, strlen(text), NULL, &error) != 0)
        fail_msg("%s", error.text);
    return f;
}

static rad_flow_options options(void)
{
    rad_flow_options o = rad_flow_preset();
    o.jobs = 4;
    return o;
}

/* Runs it to its end. */
static rad_flow_result run(const char *text)
{
    rad_flow *f = flow_of(text);
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    if (rad_flow_run(f, folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    rad_flow_free(f);
    return r;
}

static void expect_done(const char *text)
{
    rad_flow_result r = run(text);
    if (r.end != RAD_FLOW_END_DONE) fail_msg("%d: %s", r.end, r.text);
}

static void expect_data(const char *name, const char *expected)
{
    rad_flow_status s;
    rad_error error = {0};
    if (rad_flow_look(&s, folder, &error) != 0) fail_msg("%s", error.text);
    const char *found = NULL;
    for (uint32_t i = 0; i < s.data_count; i++)
        if (strcmp(s.data[i].name, name) == 0) found = s.data[i].text;
    assert_non_null(found);
    assert_string_equal(found, expected);
    rad_flow_status_free(&s);
}

static void expect_file(const char *path, const char *text)
{
    char *data;
    size_t size;
    rad_error error = {0};
    if (rad__os_read_file(path, 100000, &data, &size, &error) != 0) fail_msg("%s", error.text);
    assert_string_equal(data, text);
    rad__free(data);
}

static void expect_refused(int code, const rad_error *error, int expected, const char *text)
{
    if (code != expected || strstr(error->text, text) == NULL)
        fail_msg("%d: %s; expected %s", code, error->text, text);
}

/* ---- Commands ------------------------------------------------------------------------------------------- */

static void test_values(void **state)
{
    (void)state;
    expect_done("flow f { data { n : int = 20 t : text = \"it's\" b : bool s : int one : text }\n"
                "task add { run \"echo $((n + 1))\" capture n }\n"
                "task say { run \"printf '%s\\n\\n' \\\"$t\\\"\" capture t }\n"
                "task yes { run \"echo true\" capture b }\n"
                "task three { run \"exit 3\" exit s }\n"
                "task few { run \"echo \\\"$n/$t/$RADDLE_ATTEMPT\\\"\" reads n capture one }\n"
                "do add do say do yes do three do few }");
    expect_data("n", "21");
    expect_data("t", "it's\n"); /* the last newline goes, others stay */
    expect_data("b", "true");
    expect_data("s", "3");
    expect_data("one", "21//1");
}

static void expect_failed(const char *task, const char *why)
{
    char text[600];
    snprintf(text, sizeof text,
             "flow f { data { n : int e : text } task t { %s }\n"
             "region r { do t } on failure into e { } }",
             task);
    fresh(NULL);
    expect_done(text);
    rad_flow_status s;
    rad_error error = {0};
    assert_int_equal(rad_flow_look(&s, folder, &error), 0);
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
    uint64_t began = rad__os_now_ns();
    expect_failed("run \"sleep 30 & sleep 30\" timeout 100ms", "its time was up after 100 ms");
    assert_true(rad__os_now_ns() - began < UINT64_C(8000000000));
}

static void test_long_output_is_cut(void **state)
{
    (void)state;
    expect_done("flow f { task t { run \"yes | head -c 3000000\" } do t }");
    struct stat s;
    assert_int_equal(stat("flow_case/effects/0-1@1.out", &s), 0);
    assert_int_equal(s.st_size, 1048576);
}

/* Ends only when its child does what it is told, and its own child dies with the group. */
static void test_timeout_kills_who_does_not_listen(void **state)
{
    (void)state;
    uint64_t began = rad__os_now_ns();
    expect_failed(
        "run \"trap '' TERM; echo $$ > flow_made/pid; while :; do sleep 1; done\" timeout 100ms",
        "its time was up");
    uint64_t took = rad__os_now_ns() - began;
    assert_true(took > UINT64_C(2500000000) && took < UINT64_C(12000000000));
}

static void test_retry(void **state)
{
    (void)state;
    expect_done("flow f { task t { run \"echo x >> flow_made/t; [ $RADDLE_ATTEMPT = 3 ]\"\n"
                "retry 2 delay 100ms backoff 2 } do t }");
    expect_file("flow_made/t", "x\nx\nx\n");
    char *text;
    rad_error error = {0};
    assert_int_equal(rad_flow_logs(folder, NULL, &text, &error), 0);
    assert_string_equal(text, "== t 0#1, attempt 1\n== t 0#1, attempt 2\n== t 0#1, attempt 3\n");
    rad_free(text);
}

static void test_logs(void **state)
{
    (void)state;
    expect_done(
        "flow f { task a { run \"echo one; echo two >&2\" } task b { run \"printf three\" }\n"
        "do a do b }");
    char *text;
    rad_error error = {0};
    assert_int_equal(rad_flow_logs(folder, NULL, &text, &error), 0);
    assert_string_equal(text, "== a 0#1, attempt 1\none\ntwo\n== b 0#2, attempt 1\nthree\n");
    rad_free(text);
    assert_int_equal(rad_flow_logs(folder, "b", &text, &error), 0);
    assert_string_equal(text, "== b 0#2, attempt 1\nthree\n");
    rad_free(text);
    assert_int_equal(rad_flow_logs(folder, "0#1", &text, &error), 0);
    assert_string_equal(text, "== a 0#1, attempt 1\none\ntwo\n");
    rad_free(text);
    expect_refused(rad_flow_logs("nowhere", NULL, &text, &error), &error, RAD_EINPUT,
                   "nowhere: there is no case in this folder");
}

static void test_side_by_side(void **state)
{
    (void)state;
    uint64_t began = rad__os_now_ns();
    expect_done("flow f { task t { run \"sleep 1\" } many 4 { do t } }");
    assert_true(rad__os_now_ns() - began < UINT64_C(3500000000)); /* jobs is 4 */
}

static void test_losers_are_killed(void **state)
{
    (void)state;
    expect_done("flow f { task a { run \"true\" }\n"
                "task b { run \"echo $$ > flow_made/pid; echo begun > flow_made/b; sleep 20; echo "
                "late > flow_made/b\" }\n"
                "task c { run \"while [ ! -s flow_made/pid ]; do sleep 0.01; done\" }\n"
                "par { do c } and { do b } join first do a }");
    expect_file("flow_made/b", "begun\n");
    assert_int_equal(system("kill -0 $(cat flow_made/pid) 2>/dev/null"), 1 << 8);
}

static void test_ends(void **state)
{
    (void)state;
    rad_flow_result r = run("flow f { task t { run \"false\" } do t }");
    assert_int_equal(r.end, RAD_FLOW_END_FAILED);
    assert_non_null(strstr(r.text, "task t failed"));
    fresh(state);
    r = run("flow f { await never }");
    assert_int_equal(r.end, RAD_FLOW_END_DEADLOCK);
    fresh(state);
    r = run("flow f { cancel case }");
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
    rad_flow *f = flow_of(text);
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    uint32_t count = 0;
    expect_refused(rad_flow_run(f, folder, &o, &r, &error), &error, RAD_EINPUT,
                   "test.flow:2:6: task t calls \"add\", and nobody has registered");
    assert_int_equal(rad_flow_register(f, "add", add_one, &count, &error), 0);
    assert_int_equal(rad_flow_register(f, "add", add_one, &count, &error), RAD_EINPUT);
    o.case_id = "c7";
    if (rad_flow_run(f, folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    assert_string_equal(r.case_id, "c7");
    assert_int_equal(count, 6);
    expect_data("n", "7");
    rad_flow_free(f);
}

/* ---- From outside --------------------------------------------------------------------------------------- */

static int pid_of_runner;

/* A runner in a process of its own. */
static void start_runner(const char *text)
{
    rad_flow *f = flow_of(text);
    fflush(NULL);
    pid_of_runner = fork();
    if (pid_of_runner != 0) {
        rad_flow_free(f);
        return;
    }
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    int code = rad__os_exists("flow_case/journal") ? rad_flow_resume(f, folder, &o, &r, &error)
                                                   : rad_flow_run(f, folder, &o, &r, &error);
    rad_flow_free(f);
    _exit(code != 0 ? 99 : (int)r.end);
}

static void kill_runner(void)
{
    kill(pid_of_runner, SIGKILL);
    waitpid(pid_of_runner, NULL, 0);
}

static int wait_for_runner(void)
{
    int status;
    waitpid(pid_of_runner, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void wait_for_file(const char *path)
{
    for (int i = 0; i < 1000 && !rad__os_exists(path); i++) usleep(10000);
    assert_true(rad__os_exists(path));
}

static void wait_for_records(uint64_t count)
{
    for (int i = 0; i < 1000; i++, usleep(10000)) {
        rad_flow_status s;
        rad_error error = {0};
        int code = rad_flow_look(&s, folder, &error);
        uint64_t records = s.records;
        rad_flow_status_free(&s);
        if (code == 0 && records >= count) return;
    }
    fail_msg("no %llu records", (unsigned long long)count);
}

static const char WAITS[] = "flow f { data { x : text } task t { run \"echo $x >> flow_made/x\" }\n"
                            "wait signal go into x do t wait signal go into x do t\n"
                            "region r { wait signal never } on cancel { do t } }";

static void test_signals(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_flow_status s;
    expect_refused(rad_flow_send(folder, "go", "x", &error), &error, RAD_EINPUT, "no case");
    start_runner(WAITS);
    wait_for_file("flow_case/journal");
    expect_refused(rad_flow_send(folder, "gone", "x", &error), &error, RAD_EINPUT,
                   "flow_case: the flow f has no signal gone");
    expect_refused(rad_flow_cancel(folder, RAD_FLOW_PART_REGION, "q", &error), &error, RAD_EINPUT,
                   "has no region q");
    expect_refused(rad_flow_cancel(folder, RAD_FLOW_PART_TASK, "q", &error), &error, RAD_EINPUT,
                   "has no task q");
    assert_int_equal(rad_flow_send(folder, "go", "one", &error), 0);
    wait_for_records(3); /* the signal, the task's start and end */
    assert_int_equal(rad_flow_look(&s, folder, &error), 0);
    assert_int_equal(s.runner, pid_of_runner);
    assert_false(s.has_ended);
    assert_non_null(strstr(s.text, "line 2: "));
    rad_flow_status_free(&s);
    kill_runner();
    assert_int_equal(rad_flow_send(folder, "go", "two", &error), 0); /* nobody lives */
    assert_int_equal(rad_flow_look(&s, folder, &error), 0);
    assert_int_equal(s.runner, 0);
    assert_int_equal(s.signals, 1);
    rad_flow_status_free(&s);
    assert_int_equal(rad_flow_cancel(folder, RAD_FLOW_PART_REGION, "r", &error), 0);
    start_runner(WAITS);
    usleep(300000);
    assert_int_equal(rad_flow_cancel(folder, RAD_FLOW_PART_REGION, "r", &error), 0);
    assert_int_equal(wait_for_runner(), RAD_FLOW_END_DONE);
    expect_file("flow_made/x", "one\ntwo\ntwo\n");
    expect_refused(rad_flow_send(folder, "go", "x", &error), &error, RAD_EINPUT, "has ended");
}

static void test_status(void **state)
{
    (void)state;
    static const char text[] =
        "flow f { data { n : int = 5 }\n"
        "task t { run \"touch flow_made/go; sleep 20\" } task u { run \"true\" }\n"
        "par { do t } and { wait 50s } and { do u } }";
    rad_flow_status s;
    rad_error error = {0};
    expect_refused(rad_flow_look(&s, folder, &error), &error, RAD_EINPUT,
                   "flow_case: there is no case in this folder");
    rad_flow_status_free(&s);
    start_runner(text);
    wait_for_file("flow_made/go");
    wait_for_records(3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rad_flow_look(&s, folder, &error), 0);
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
        if (i == 0) kill_runner(); /* the command goes on */
    }
    assert_int_equal(rad_flow_cancel(folder, RAD_FLOW_PART_CASE, NULL, &error), 0);
    start_runner(text);
    assert_int_equal(wait_for_runner(), RAD_FLOW_END_CANCELLED);
    assert_int_equal(rad_flow_look(&s, folder, &error), 0);
    assert_true(s.has_ended);
    assert_int_equal(s.end, RAD_FLOW_END_CANCELLED);
    assert_int_equal(s.task_count, 0);
    rad_flow_status_free(&s);
}

/* ---- Going on ------------------------------------------------------------------------------------------- */

static void test_a_running_command_is_taken_over(void **state)
{
    (void)state;
    static const char text[] =
        "flow f { data { x : text }\n"
        "task t { run \"echo x >> flow_made/begun; touch flow_made/go; "
        "while [ ! -e flow_made/end ]; do sleep 0.05; done; echo said\" capture x }\n"
        "do t }";
    start_runner(text);
    wait_for_file("flow_made/go");
    kill_runner();
    start_runner(text);
    usleep(200000);
    kill_runner(); /* once more */
    start_runner(text);
    usleep(200000);
    assert_int_equal(system("touch flow_made/end"), 0);
    assert_int_equal(wait_for_runner(), RAD_FLOW_END_DONE);
    expect_file("flow_made/begun", "x\n");
    expect_data("x", "said");
}

static void test_a_killed_shim_is_doubt(void **state)
{
    (void)state;
    static const char text[] =
        "flow f { task t { run \"echo x >> flow_made/begun; sleep 30\" } do t }";
    start_runner(text);
    wait_for_file("flow_made/begun");
    wait_for_file("flow_case/effects/0-1@1.lock");
    assert_int_equal(system("kill -KILL $(cat flow_case/effects/0-1@1.lock)"), 0);
    assert_int_equal(wait_for_runner(), RAD_FLOW_END_IN_DOUBT); /* while the runner lives */
    rad_flow_status s;
    rad_error error = {0};
    assert_int_equal(rad_flow_look(&s, folder, &error), 0);
    assert_int_equal(s.task_count, 1);
    assert_int_equal(s.tasks[0].state, RAD_FLOW_TASK_IS_IN_DOUBT);
    rad_flow_status_free(&s);
    rad_flow *f = flow_of(text);
    rad_flow_options o = options();
    rad_flow_result r;
    rad_flow_settle settle = {"0#1", RAD_FLOW_ANSWER_DONE, NULL};
    assert_int_equal(rad_flow_resume(f, folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_IN_DOUBT);
    assert_non_null(strstr(r.text, "in doubt: 0#1 (task t)"));
    o.settles = &settle;
    o.settle_count = 1;
    assert_int_equal(rad_flow_resume(NULL, folder, &o, &r, &error), 0); /* the flow in the folder */
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    expect_file("flow_made/begun", "x\n");
    rad_flow_free(f);
}

static void test_interrupted(void **state)
{
    (void)state;
    static volatile int stop = 1;
    rad_flow *f = flow_of("flow f { task t { run \"echo x >> flow_made/x\" } do t }");
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    o.stop = &stop;
    assert_int_equal(rad_flow_run(f, folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_INTERRUPTED);
    o.stop = NULL;
    assert_int_equal(rad_flow_resume(f, folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    expect_file("flow_made/x", "x\n");
    rad_flow_free(f);
}

/* Time goes on while nobody runs. */
static void test_timers_go_on(void **state)
{
    (void)state;
    static const char text[] = "flow f { wait 1500ms }";
    uint64_t began = rad__os_now_ns();
    start_runner(text);
    wait_for_file("flow_case/journal");
    usleep(700000);
    kill_runner();
    start_runner(text);
    assert_int_equal(wait_for_runner(), RAD_FLOW_END_DONE);
    uint64_t took = rad__os_now_ns() - began;
    assert_true(took >= UINT64_C(1500000000) &&
                took < UINT64_C(2150000000)); /* not from the beginning */
}

/* ---- Folders that are wrong ------------------------------------------------------------------------------ */

static void test_two_runners(void **state)
{
    (void)state;
    char text[100];
    rad_flow *f = flow_of(WAITS);
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    start_runner(WAITS);
    wait_for_file("flow_case/journal");
    usleep(100000);
    snprintf(text, sizeof text, "flow_case: another runner, process %d, works on this case",
             pid_of_runner);
    expect_refused(rad_flow_resume(f, folder, &o, &r, &error), &error, RAD_EINPUT, text);
    expect_refused(rad_flow_run(f, folder, &o, &r, &error), &error, RAD_EINPUT,
                   "flow_case: there is a case in this folder");
    kill_runner();
    expect_refused(rad_flow_run(f, folder, &o, &r, &error), &error, RAD_EINPUT,
                   "flow_case: there is a case in this folder");
    expect_refused(rad_flow_resume(f, "nowhere", &o, &r, &error), &error, RAD_EINPUT,
                   "nowhere: there is no case in this folder");
    rad_flow_free(f);
}

/* Leaves a case that can be resumed: a killed runner, nothing running. */
static void leave(void)
{
    start_runner(WAITS);
    rad_error error = {0};
    wait_for_file("flow_case/journal");
    assert_int_equal(rad_flow_send(folder, "go", "one", &error), 0);
    wait_for_records(3);
    kill_runner();
}

static void expect_resume_refused(const char *flow, const char *text)
{
    rad_flow *f = flow_of(flow);
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    expect_refused(rad_flow_resume(f, folder, &o, &r, &error), &error, RAD_EINPUT, text);
    rad_flow_free(f);
}

static void test_a_changed_flow(void **state)
{
    (void)state;
    static const char changed[] =
        "flow f { data { x : text } task t { run \"echo $x >> flow_made/x\" }\n"
        "wait signal go into x do t do t wait signal go into x do t\n"
        "region r { wait signal never } on cancel { do t } }";
    leave();
    expect_resume_refused(changed, "test.flow is not the flow this case was begun with");
    expect_resume_refused(changed, "-    2  wait signal go into x do t wait signal go into x do t\n"
                                   "+    2  wait signal go into x do t do t wait signal");
    rad_flow *f = flow_of(changed);
    char *text;
    rad_error error = {0};
    assert_int_equal(rad_flow_changes(f, folder, &text, &error), 0);
    assert_int_equal(strncmp(text, "-    2  wait", 12), 0);
    rad_free(text);
    rad_flow_free(f);
    f = flow_of(WAITS);
    assert_int_equal(rad_flow_changes(f, folder, &text, &error), 0);
    assert_string_equal(text, "");
    rad_free(text);
    rad_flow_free(f);
}

static void edit_journal(long at, uint8_t with)
{
    FILE *file = fopen("flow_case/journal", "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    fputc(byte ^ with, file);
    fclose(file);
}

static void test_another_version(void **state)
{
    (void)state;
    leave();
    edit_journal(8, 1 ^ 9);
    expect_resume_refused(WAITS,
                          "flow_case/journal: a journal of version 9, but this program reads and "
                          "writes version 1");
    rad_flow_status s;
    rad_error error = {0};
    expect_refused(rad_flow_look(&s, folder, &error), &error, RAD_EINPUT, "version 9");
    rad_flow_status_free(&s);
}

static void test_a_flipped_bit(void **state)
{
    (void)state;
    leave();
    edit_journal(-30, 4);
    expect_resume_refused(WAITS, "flow_case/journal: damaged at byte ");
    edit_journal(-30, 4);
    edit_journal(40, 1);
    expect_resume_refused(WAITS, "flow_case/journal: its header is damaged");
    edit_journal(40, 1);
    rad_error error = {0};
    assert_int_equal(rad_flow_cancel(folder, RAD_FLOW_PART_CASE, NULL, &error), 0);
    start_runner(WAITS); /* as it was */
    assert_int_equal(wait_for_runner(), RAD_FLOW_END_CANCELLED);
}

static char news[200];

static void watch_cut(void *context, const rad_flow_progress *p)
{
    (void)context;
    if (p->news == RAD_FLOW_JOURNAL_CUT) snprintf(news, sizeof news, "%s", p->text);
}

static void test_a_torn_record(void **state)
{
    (void)state;
    static volatile int stop = 1;
    struct stat before, after;
    leave();
    assert_int_equal(stat("flow_case/journal", &before), 0);
    FILE *file = fopen("flow_case/journal", "ab");
    fwrite("\x20\0\0\0\x04", 1, 5, file);
    fclose(file);
    rad_flow_status s;
    rad_error error = {0};
    assert_int_equal(rad_flow_look(&s, folder, &error), 0);
    assert_true(s.torn);
    rad_flow_status_free(&s);
    rad_flow *f = flow_of(WAITS);
    rad_flow_options o = options();
    rad_flow_result r;
    o.stop = &stop;
    o.watch = watch_cut;
    if (rad_flow_resume(f, folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_string_equal(news, "5 bytes after record 3 were not whole, and are cut off");
    if (rad_flow_resume(f, folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(stat("flow_case/journal", &after), 0);
    assert_true(after.st_size > before.st_size);
    rad_flow_free(f);
}

static void test_a_read_only_folder(void **state)
{
    (void)state;
    if (getuid() == 0) { /* root may write anywhere: a folder below a file will do */
        assert_int_equal(system("mkdir -p flow_made && touch flow_made/file"), 0);
        rad_flow *f = flow_of(WAITS);
        rad_flow_options o = options();
        rad_flow_result r;
        rad_error error = {0};
        expect_refused(rad_flow_run(f, "flow_made/file/case", &o, &r, &error), &error, RAD_EIO,
                       "flow_made/file/case: cannot make the folder: ");
        rad_flow_free(f);
        return;
    }
    leave();
    assert_int_equal(system("chmod -R a-w flow_case"), 0);
    rad_flow *f = flow_of(WAITS);
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    expect_refused(rad_flow_resume(f, folder, &o, &r, &error), &error, RAD_EIO,
                   "Permission denied");
    rad_flow_status s;
    assert_int_equal(rad_flow_look(&s, folder, &error), 0); /* reading is enough */
    rad_flow_status_free(&s);
    assert_int_equal(system("chmod -R u+w flow_case"), 0);
    rad_flow_free(f);
}

/* No file may grow beyond so many bytes: the journal is full in the middle. */
static void test_a_full_disk(void **state)
{
    (void)state;
    static const char text[] =
        "flow f { task t { run \"echo x >> flow_made/x\" } loop 8 { do t } }";
    rad_flow *f = flow_of(text);
    rad_flow_options o = options();
    rad_flow_result r;
    rad_error error = {0};
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 700;
    setrlimit(RLIMIT_FSIZE, &small);
    int code = rad_flow_run(f, folder, &o, &r, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    expect_refused(code, &error, RAD_EIO, "flow_case: cannot write: ");
    error = (rad_error){0};
    if (rad_flow_resume(f, folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    expect_file("flow_made/x", "x\nx\nx\nx\nx\nx\nx\nx\n");
    rad_flow_free(f);
}

/* Watches of folders are few for each user: without them it is slower, and works. */
static void test_no_watches_left(void **state)
{
    (void)state;
    static int files[4096];
    uint32_t count = 0;
    while (count < 4096 && (files[count] = inotify_init1(IN_CLOEXEC)) >= 0) count++;
    assert_true(count < 4096);
    if (count > 8 && errno == EMFILE) close(files[--count]); /* that was files: one is needed */
    rad_flow_result r = run("flow f { task t { run \"sleep 0.2; echo x >> flow_made/x\" }\n"
                            "par { do t } and { do t } }");
    while (count > 0) close(files[--count]);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    expect_file("flow_made/x", "x\nx\n");
}

/* A folder for each: commands of one that failed may still be at work. */
static void test_every_call_can_fail(void **state)
{
    (void)state;
    static const char text[] = "flow f { task t { run \"echo x >> flow_made/x\" } do t do t }";
    static const rad_flow_settle again[] = {{"0#1", RAD_FLOW_ANSWER_AGAIN, NULL},
                                            {"0#2", RAD_FLOW_ANSWER_AGAIN, NULL}};
    rad_flow *f = flow_of(text);
    uint64_t n = 1;
    for (;; n += 1 + n / 30) {
        rad_flow_options o = options();
        rad_flow_result r;
        rad_error error = {0};
        char name[40], journal[60];
        snprintf(name, sizeof name, "flow_made/case-%llu", (unsigned long long)n);
        snprintf(journal, sizeof journal, "%s/journal", name);
        rad__os_fail_at(n);
        int code = rad_flow_run(f, name, &o, &r, &error);
        rad__os_fail_at(0);
        if (code == 0 && r.end == RAD_FLOW_END_DONE) break;
        if (code != 0 && code != RAD_EIO)
            fail_msg("fault %llu: %s", (unsigned long long)n, error.text);
        error = (rad_error){0};
        o.settles = again; /* faults meet shims, too */
        o.settle_count = 2;
        code = rad__os_exists(journal) ? rad_flow_resume(f, name, &o, &r, &error)
                                       : rad_flow_run(f, name, &o, &r, &error);
        if (code != 0) fail_msg("after fault %llu: %s", (unsigned long long)n, error.text);
    }
    assert_true(n > 30);
    rad_flow_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_values, fresh),
        cmocka_unit_test_setup(test_failures, fresh),
        cmocka_unit_test_setup(test_long_output_is_cut, fresh),
        cmocka_unit_test_setup(test_timeout_kills_who_does_not_listen, fresh),
        cmocka_unit_test_setup(test_retry, fresh),
        cmocka_unit_test_setup(test_logs, fresh),
        cmocka_unit_test_setup(test_side_by_side, fresh),
        cmocka_unit_test_setup(test_losers_are_killed, fresh),
        cmocka_unit_test_setup(test_ends, fresh),
        cmocka_unit_test_setup(test_functions, fresh),
        cmocka_unit_test_setup(test_signals, fresh),
        cmocka_unit_test_setup(test_status, fresh),
        cmocka_unit_test_setup(test_a_running_command_is_taken_over, fresh),
        cmocka_unit_test_setup(test_a_killed_shim_is_doubt, fresh),
        cmocka_unit_test_setup(test_interrupted, fresh),
        cmocka_unit_test_setup(test_timers_go_on, fresh),
        cmocka_unit_test_setup(test_two_runners, fresh),
        cmocka_unit_test_setup(test_a_changed_flow, fresh),
        cmocka_unit_test_setup(test_another_version, fresh),
        cmocka_unit_test_setup(test_a_flipped_bit, fresh),
        cmocka_unit_test_setup(test_a_torn_record, fresh),
        cmocka_unit_test_setup(test_a_read_only_folder, fresh),
        cmocka_unit_test_setup(test_a_full_disk, fresh),
        cmocka_unit_test_setup(test_no_watches_left, fresh),
        cmocka_unit_test_setup(test_every_call_can_fail, fresh),
    };
    return cmocka_run_group_tests_name("flow_run", tests, NULL, NULL);
}
