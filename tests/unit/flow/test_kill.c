/* test_kill.c — real processes: a runner that is killed (SIGKILL, by its own hand) at every write to its
 * journal, while real commands run side by side. Each command leaves a line with its effect; there has to be exactly
 * one for each. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "flow/run/run.h"
#include "os/command.h"
#include "os/file.h"
#include "storm_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIVES = 1000 };

/* 50 effects: 1 + 3 * 12 + 12 + 1, up to six at a time. */
static const char FLOW[] = "flow f {\n"
                           "  task t { run \"echo $RADDLE_EFFECT_ID >> flow_made/done\" }\n"
                           "  do t\n"
                           "  par { loop 12 { do t } } and { loop 12 { do t } } and { loop 12 { do t } }\n"
                           "  many 12 { do t }\n"
                           "  do t\n"
                           "}\n";

enum moment { BEFORE, HALF_WAY, AFTER };

static rad_flow_program *program;
static rad_flow_host table; /* production's */
static uint32_t writes, kill_at;
static enum moment kill_when;

static int put_and_die(void *host, int file, const void *data, size_t size, rad_error *error)
{
    if (++writes != kill_at) return table.put(host, file, data, size, error);
    if (kill_when == HALF_WAY) table.put(host, file, data, size / 2, error);
    if (kill_when == AFTER) table.put(host, file, data, size, error);
    kill(getpid(), SIGKILL);
    return 0;
}

/* One life. True: it came to the end of the case; false: it was killed. */
static bool live(uint32_t at, enum moment when)
{
    int status;
    fflush(NULL);
    int pid = fork();
    if (pid == 0) {
        rad_flow_run_options o = {.given = {.jobs = 6}, .environment = rad__os_environment()};
        rad_flow_result r;
        rad_error error = {0};
        if (rad__flow_host_open(&table, "flow_case", false, &error) != 0) _exit(99);
        rad_flow_host host = table;
        host.put = put_and_die;
        kill_at = at;
        kill_when = when;
        int code = rad__os_exists("flow_case/journal") ? rad__flow_resume(&host, program, &o, &r, &error)
                                                       : rad__flow_run(&host, program, &o, &r, &error);
        if (code != 0) fprintf(stderr, "# %s\n", error.text);
        if (code == 0 && r.end != RAD_FLOW_END_DONE) fprintf(stderr, "# %s\n", r.text);
        _exit(code != 0 ? 98 : r.end);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return false;
    }
    assert_int_equal(WEXITSTATUS(status), RAD_FLOW_END_DONE);
    return true;
}

static void expect_each_once(void)
{
    assert_int_equal(system("[ $(wc -l <flow_made/done) = 50 ] && [ $(sort -u flow_made/done | wc -l) = 50 ]"), 0);
}

static int fresh(void **state)
{
    (void)state;
    return system("rm -rf flow_case flow_made; mkdir flow_made");
}

static int read_flow(void **state)
{
    (void)state;
    rad_error error = {0};
    return rad__flow_program_read(&program, "kill.flow", FLOW, strlen(FLOW), NULL, &error);
}

static int free_flow(void **state)
{
    (void)state;
    rad__flow_program_free(program);
    return 0;
}

static void test_undisturbed(void **state)
{
    (void)state;
    assert_true(live(0, BEFORE));
    expect_each_once();
}

/* One case: each runner comes only a record or two further than the one before it. The first write of a life is its
 * entry in the lock, the second says that it has resumed. */
static void test_killed_at_every_write(void **state)
{
    (void)state;
    static const enum moment moments[] = {AFTER, HALF_WAY, BEFORE, HALF_WAY, AFTER};
    static const uint32_t places[] = {3, 4, 4, 3, 4};
    uint32_t lives = 0;
    while (!live(lives == 0 ? 5 : places[lives % 5], moments[lives % 5])) assert_true(++lives < LIVES);
    assert_true(lives >= 60);
    expect_each_once();
}

/* A case each: killed once, at another write, then brought to its end. At night every one of them. */
static void test_killed_once(void **state)
{
    for (uint32_t n = 1; n <= 104; n += storm_is_long() ? 1 : (uint32_t)storm_size(13, 8)) { /* of 104 */
        fresh(state);
        assert_false(live(n, (enum moment)(n % 3)));
        assert_true(live(0, BEFORE));
        expect_each_once();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_undisturbed, fresh),
        cmocka_unit_test_setup(test_killed_at_every_write, fresh),
        cmocka_unit_test_setup(test_killed_once, fresh),
    };
    return cmocka_run_group_tests_name("flow_kill", tests, read_flow, free_flow);
}
