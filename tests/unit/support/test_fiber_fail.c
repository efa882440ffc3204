/* test_fiber_fail.c — fiber_fail.c itself: what a test program says when an assertion fails on another stack. The tests
 * that fail are in this program, and run when it is called with a word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- Tests that fail --------------------------------------------------------------------------------- */

static int fails(void *unused)
{
    rad_name("culprit");
    rad_yield();
    assert_int_equal(unused != NULL, 4711); /* the line that is named */
    return 0;
}
enum { FAILING_LINE = __LINE__ - 3 };

static void in_a_fiber(void **state)
{
    (void)state;
    assert_int_equal(rad_main(NULL, fails, NULL, NULL), 0);
}

static void *fails_on_a_thread(void *unused)
{
    (void)unused;
    fail_msg("%s", "thread %d of 9");
    return NULL;
}

static void on_a_thread(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, fails_on_a_thread, NULL), 0);
    pthread_join(thread, NULL);
}

static void outside(void **state)
{
    (void)state;
    assert_string_equal("left", "right");
}

static void passes(void **state)
{
    (void)state;
}

static int run_failing(const char *word)
{
    const struct CMUnitTest fiber[] = {cmocka_unit_test(passes), cmocka_unit_test(in_a_fiber)};
    const struct CMUnitTest thread[] = {cmocka_unit_test(on_a_thread)};
    const struct CMUnitTest plain[] = {cmocka_unit_test(outside), cmocka_unit_test(passes)};
    if (strcmp(word, "fiber") == 0) return cmocka_run_group_tests(fiber, NULL, NULL);
    if (strcmp(word, "thread") == 0) return cmocka_run_group_tests(thread, NULL, NULL);
    return cmocka_run_group_tests(plain, NULL, NULL);
}

/* ---- Tests of what they say -------------------------------------------------------------------------- */

static const char *program; /* as this one was called */
static char output[8192];

/* What this program prints when it is called with `word`; returns its status as waitpid has it. */
static int output_of(const char *word)
{
    char command[1200];
    snprintf(command, sizeof command, "ulimit -c 0; CMOCKA_MESSAGE_OUTPUT=TAP exec '%s' %s 2>&1", program, word);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = 0;
    return pclose(pipe);
}

static void says(const char *text)
{
    if (strstr(output, text) == NULL) fail_msg("expected \"%s\" in:\n%s", text, output);
}

static void a_failure_in_a_fiber_has_its_name_file_and_line(void **state)
{
    char place[100];
    (void)state;
    int status = output_of("fiber");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    says("ok 1 - passes");
    says("not ok - in_a_fiber");
    snprintf(place, sizeof place, "test_fiber_fail.c:%d: failed in a fiber called culprit", FAILING_LINE);
    says(place);
    says("0x1267"); /* 4711: what was compared */
}

static void so_has_one_on_a_thread(void **state)
{
    (void)state;
    int status = output_of("thread");
    assert_true(WIFSIGNALED(status));
    says("not ok - on_a_thread");
    says("failed in a thread, which cannot end the test");
    says("thread %d of 9");
}

static void others_end_their_test_only(void **state)
{
    (void)state;
    int status = output_of("plain");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    says("not ok 1 - outside");
    says("ok 2 - passes");
}

/* ---- The states of tests pass through ---------------------------------------------------------------- */

static int group_value = 1, own_value = 2, torn_down;

static int set_group(void **state)
{
    *state = &group_value;
    return 0;
}

static int set_own(void **state)
{
    assert_int_equal(*(int *)*state, 1);
    *state = &own_value;
    return 0;
}

static int tear_down(void **state)
{
    torn_down += *(int *)*state;
    return 0;
}

static void gets_the_groups_state(void **state)
{
    assert_int_equal(*(int *)*state, 1);
}

static void gets_a_state_of_its_own(void **state)
{
    assert_int_equal(*(int *)*state, 2);
}

static void was_torn_down(void **state)
{
    (void)state;
    assert_int_equal(torn_down, 2);
}

int main(int argc, char **argv)
{
    static int initial = 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_in_a_fiber_has_its_name_file_and_line),
        cmocka_unit_test(so_has_one_on_a_thread),
        cmocka_unit_test(others_end_their_test_only),
        cmocka_unit_test(gets_the_groups_state),
        cmocka_unit_test_setup_teardown(gets_a_state_of_its_own, set_own, tear_down),
        cmocka_unit_test(was_torn_down),
    };
    const struct CMUnitTest alone[] = {
        cmocka_unit_test_prestate(gets_a_state_of_its_own, &initial),
        cmocka_unit_test_prestate_setup_teardown(gets_a_state_of_its_own, NULL, tear_down, &initial),
    };
    program = argv[0];
    if (argc > 1) return run_failing(argv[1]);
    int failed = cmocka_run_group_tests(tests, set_group, tear_down);
    return failed + cmocka_run_group_tests(alone, NULL, NULL);
}
