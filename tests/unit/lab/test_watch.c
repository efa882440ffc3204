/* How long an endless step is watched: all of its time once, then a share of it. */
#include "lab/watch.h"
#include "os/clock.h"
#include "os/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* CPU ns that an endless loop had when the watch said that it hangs. */
static uint64_t endless(rad_habits *habits)
{
    rad_rig_shared *shared = calloc(1, sizeof *shared);
    rad_run_watch w;
    uint64_t cpu_ns = 0;
    assert_non_null(shared);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        for (volatile int i = 0;; i++) alarm(60);
    rad__watch_begin(&w, 0.4, habits);
    while (!rad__watch_hangs(&w, shared, pid)) usleep(2000);
    assert_false(w.asleep);
    assert_int_equal(rad__os_cpu_ns(pid, &cpu_ns, NULL), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    free(shared);
    return cpu_ns;
}

static void test_once_with_all_of_its_time(void **state)
{
    rad_habits habits = {0};
    (void)state;
    assert_true(endless(&habits) >= 400000000);
    assert_true(habits.hung);
    assert_true(endless(&habits) < 200000000);
}

static void test_not_less_than_slow_steps_take(void **state)
{
    rad_habits habits = {.hung = true, .slowest_ns = 100000000};
    (void)state;
    assert_true(endless(&habits) >= 400000000); /* eight times that is more than all of it */
    habits.slowest_ns = 30000000;
    uint64_t cpu_ns = endless(&habits);
    assert_true(cpu_ns >= 240000000 && cpu_ns < 400000000);
}

static void test_without_habits_all_of_its_time(void **state)
{
    (void)state;
    assert_true(endless(NULL) >= 400000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_with_all_of_its_time),
        cmocka_unit_test(test_not_less_than_slow_steps_take),
        cmocka_unit_test(test_without_habits_all_of_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
