/* run_support.c — see run_support.h. */
#define _GNU_SOURCE
#include "run_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "os/fault.h"
#include "os/file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char flow_folder[] = "flow_case";

int flow_fresh(void **state)
{
    (void)state;
    rad__os_fail_at(0);
    rad__alloc_fail_at(0);
    /* Shims of an earlier test may still be writing there. */
    return system("chmod -R u+w flow_case 2>/dev/null; until rm -rf flow_case flow_made "
                  "2>/dev/null; do sleep 0.1; "
                  "done; mkdir flow_made");
}

rad_flow *flow_parsed(const char *text)
{
    rad_flow *f;
    rad_error error = {0};
    if (rad_flow_parse(&f, "test.flow", text, strlen(text), NULL, &error) != 0) fail_msg("%s", error.text);
    return f;
}

rad_flow_options flow_options(void)
{
    rad_flow_options o = rad_flow_defaults();
    o.jobs = 4;
    return o;
}

/* Runs it to its end. */
rad_flow_result flow_run(const char *text)
{
    rad_flow *f = flow_parsed(text);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    if (rad_flow_run(f, flow_folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    rad_flow_free(f);
    return r;
}

void flow_expect_done(const char *text)
{
    rad_flow_result r = flow_run(text);
    if (r.end != RAD_FLOW_END_DONE) fail_msg("%d: %s", r.end, r.text);
}

void flow_expect_data(const char *name, const char *expected)
{
    rad_flow_status s;
    rad_error error = {0};
    if (rad_flow_look(&s, flow_folder, &error) != 0) fail_msg("%s", error.text);
    const char *found = NULL;
    for (uint32_t i = 0; i < s.data_count; i++)
        if (strcmp(s.data[i].name, name) == 0) found = s.data[i].text;
    assert_non_null(found);
    assert_string_equal(found, expected);
    rad_flow_status_free(&s);
}

void flow_expect_file(const char *path, const char *text)
{
    char *data;
    size_t size;
    rad_error error = {0};
    if (rad__os_read_file(path, 100000, &data, &size, &error) != 0) fail_msg("%s", error.text);
    assert_string_equal(data, text);
    rad__free(data);
}

void flow_expect_refused(int code, const rad_error *error, int expected, const char *text)
{
    if (code != expected || strstr(error->text, text) == NULL) fail_msg("%d: %s; expected %s", code, error->text, text);
}

int flow_run_pid;

/* A runner in a process of its own. */
void flow_start_runner(const char *text)
{
    rad_flow *f = flow_parsed(text);
    fflush(NULL);
    flow_run_pid = fork();
    if (flow_run_pid != 0) {
        rad_flow_free(f);
        return;
    }
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    int code = rad__os_exists("flow_case/journal") ? rad_flow_resume(f, flow_folder, &o, &r, &error)
                                                   : rad_flow_run(f, flow_folder, &o, &r, &error);
    rad_flow_free(f);
    _exit(code != 0 ? 99 : (int)r.end);
}

void flow_kill_runner(void)
{
    kill(flow_run_pid, SIGKILL);
    waitpid(flow_run_pid, NULL, 0);
}

int flow_wait_for_runner(void)
{
    int status;
    waitpid(flow_run_pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void flow_wait_for_file(const char *path)
{
    while (!rad__os_exists(path)) usleep(10000);
}

void flow_wait_for_records(uint64_t count)
{
    for (bool there = false; !there; usleep(10000)) {
        rad_flow_status s;
        rad_error error = {0};
        there = rad_flow_look(&s, flow_folder, &error) == 0 && s.records >= count;
        rad_flow_status_free(&s);
    }
}

void flow_wait_for_text(const char *text)
{
    for (bool there = false; !there; usleep(10000)) {
        rad_flow_status s;
        rad_error error = {0};
        there = rad_flow_look(&s, flow_folder, &error) == 0 && s.text && strstr(s.text, text);
        rad_flow_status_free(&s);
    }
}

void flow_wait_for_lock(void)
{
    for (bool there = false; !there; usleep(10000)) {
        rad_flow_status s;
        rad_error error = {0};
        there = rad_flow_look(&s, flow_folder, &error) == 0 && s.runner == flow_run_pid;
        rad_flow_status_free(&s);
    }
}
