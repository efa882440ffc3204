/* test_exceptions.c — what a C++ runtime knows of a thread's exceptions goes with the fiber. The runtime is this
 * program's own: it has the one function of the C++ ABI that is asked for. With real C++: tests/cli/cxx.sh. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <sys/syscall.h>
#include <unistd.h>

typedef struct globals {
    void *caught;
    unsigned uncaught;
} globals;

static _Thread_local globals of_thread;

globals *__cxa_get_globals(void);
__attribute__((noinline)) globals *__cxa_get_globals(void)
{
    globals *g = &of_thread;
    __asm__ volatile("" : "+r"(g)); /* another one after a switch */
    return g;
}

enum { FIBERS = 60, ROUNDS = 200, WORKERS = 3 };

static _Atomic uint32_t moved, wrong;

static void expect_state(const void *caught, unsigned uncaught)
{
    const globals *g = __cxa_get_globals();
    if (g->caught != caught || g->uncaught != uncaught) atomic_fetch_add(&wrong, 1);
}

static void set_state(void *caught, unsigned uncaught)
{
    *__cxa_get_globals() = (globals){caught, uncaught};
}

static void wait_somehow(uintptr_t n)
{
    long before = syscall(SYS_gettid);
    if (n % 3 == 0)
        rad_sleep(1000 * (n % 50));
    else
        rad_yield();
    if (syscall(SYS_gettid) != before) atomic_fetch_add(&moved, 1);
}

/* Some have exceptions that they handle, some that are in flight, some both, some none. */
static int keeps_its_state(void *arg)
{
    uintptr_t n = (uintptr_t)arg;
    void *caught = n % 4 < 2 ? arg : NULL;
    unsigned uncaught = n % 4 == 1 || n % 4 == 2 ? (unsigned)n : 0;
    expect_state(NULL, 0); /* nothing of the fiber before on this thread and stack */
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        set_state(caught, uncaught);
        wait_somehow(n + i);
        expect_state(caught, uncaught);
        set_state(NULL, 0);
        wait_somehow(n + i + 1);
        expect_state(NULL, 0);
    }
    return 0;
}

static int spawns(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uintptr_t i = 1; i <= FIBERS; i++)
        if (rad_nursery_spawn(&n, NULL, keeps_its_state, (void *)i) != 0) return 1;
    return rad_nursery_wait(&n);
}

static void exceptions_go_with_the_fiber(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 50 && (i == 0 || moved == 0); i++) {
        rad_options o = {.workers = WORKERS};
        assert_int_equal(rad_main(&o, spawns, NULL, NULL), 0);
        assert_int_equal(wrong, 0);
    }
    assert_true(moved > 0);
    assert_true(rad_cxx_loaded());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exceptions_go_with_the_fiber)};
    return cmocka_run_group_tests_name("rt_exceptions", tests, NULL, NULL);
}
