/* fiber_fail.c — an assertion that fails in a fiber, or on a thread of a test, names the test, the file and the line.
 *
 * cmocka leaves a failed test with longjmp, to the stack of the thread that runs the tests. From another stack that
 * cannot be: on another thread cmocka ends the program with status 255 and prints nothing (its message is in a
 * thread-local buffer), and in a fiber on the same thread the jump would leave the runtime half-way. Here both print
 * everything and end the program. docs/fibers.md, "Testing", is about programs of users.
 *
 * Nothing has to be included or called: these functions take the place of cmocka's in every test program. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_t tester; /* the thread that runs the tests */
static const struct CMUnitTest *running;

/* ---- Which test runs --------------------------------------------------------------------------------- */

/* Each test is replaced by `run`, whose state at first is the test itself. The group's state is kept here meanwhile:
 * for cmocka it comes before the state of a test. */
static void *group_state;
static CMFixtureFunction group_first, group_last;

static int begin_group(void **state)
{
    int code = group_first ? group_first(state) : 0;
    group_state = *state;
    *state = NULL;
    return code;
}

static int end_group(void **state)
{
    *state = group_state;
    return group_last ? group_last(state) : 0;
}

static int begin(void **state)
{
    running = *state;
    *state = group_state ? group_state : running->initial_state;
    return running->setup_func ? running->setup_func(state) : 0;
}

static void run(void **state)
{
    running->test_func(state);
}

static int end(void **state)
{
    return running->teardown_func ? running->teardown_func(state) : 0;
}

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

int _cmocka_run_group_tests(const char *group_name, const struct CMUnitTest *const tests, const size_t num_tests,
                            CMFixtureFunction group_setup, CMFixtureFunction group_teardown)
{
    int (*go)(const char *, const struct CMUnitTest *, size_t, CMFixtureFunction, CMFixtureFunction);
    void *function = real("_cmocka_run_group_tests");
    memcpy(&go, &function, sizeof go);
    struct CMUnitTest *mine = calloc(num_tests, sizeof *mine);
    if (mine == NULL) abort();
    for (size_t i = 0; i < num_tests; i++)
        mine[i] = (struct CMUnitTest){tests[i].name, run, begin, end, (void *)(uintptr_t)&tests[i]};
    tester = pthread_self();
    group_first = group_setup;
    group_last = group_teardown;
    int failed = go(group_name, mine, num_tests, begin_group, end_group);
    free(mine);
    return failed;
}

/* ---- Failing ----------------------------------------------------------------------------------------- */

void _fail(const char *const file, const int line)
{
    void (*go)(const char *, int);
    void *function = real("_fail");
    memcpy(&go, &function, sizeof go);
    bool in_fiber = rad_self().slot != NULL;
    if (in_fiber || !pthread_equal(pthread_self(), tester)) {
        const char *name = in_fiber ? rad_name_of(rad_self()) : NULL;
        printf("not ok - %s\n# %s:%d: failed in a %s%s%s, which cannot end the test: the program "
               "ends\n",
               running ? running->name : "no test", file, line, in_fiber ? "fiber" : "thread", name ? " called " : "",
               name ? name : "");
        fflush(stdout);
        setenv("CMOCKA_TEST_ABORT", "1", 1); /* cmocka prints its message, too, and aborts */
    }
    go(file, line);
    abort();
}
