/* test_guard.c — a fiber with a frame that its stack cannot hold ends the process with a report that names it. The
 * frames here step over one page or over the whole guard. Through public calls alone. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm_support.h"

/* ---- A child that overflows ------------------------------------------------------------------------------ */

typedef struct plan {
    size_t below;       /* bytes that the fiber uses first */
    size_t frame;       /* bytes of the next frame */
    size_t touched;     /* bytes of it that are written, from its lowest; 0: none */
    void (*then)(void); /* called in that frame */
    uint32_t workers;
    size_t stack_size;
} plan;

typedef struct ended {
    char said[1024];
    int status;
} ended;

enum { FIBERS = 40, STACK_DEFAULT = 128 << 10, PATTERN = 0x5a, DAMAGED = 77 };

static plan p;
static rad_chan *gate;

static __attribute__((noinline)) int with_frame(size_t size)
{
    volatile char *frame = __builtin_alloca(size);
    __asm__ volatile("" : : "r"(frame) : "memory");
    for (size_t i = 0; i < p.touched; i++) frame[i] = 1;
    if (p.then) p.then();
    __asm__ volatile("" : : "r"(frame) : "memory");
    return 0;
}

static int culprit(void *arg)
{
    volatile char *used = __builtin_alloca(p.below + 1);
    uint64_t value;
    (void)arg;
    rad_name("culprit");
    used[p.below] = 1;
    RAD_IGNORE(rad_recv(gate, &value, RAD_FOREVER));
    return with_frame(p.frame) + used[p.below] - 1;
}

/* A neighbour, whose variables must not change. */
static int victim(void *arg)
{
    size_t size = (p.stack_size ? p.stack_size : STACK_DEFAULT) * 3 / 4;
    volatile unsigned char *mine = __builtin_alloca(size);
    uint64_t value;
    (void)arg;
    memset((void *)mine, PATTERN, size);
    RAD_IGNORE(rad_recv(gate, &value, RAD_FOREVER));
    rad_sleep(20000000);
    for (size_t i = 0; i < size; i++)
        if (mine[i] != PATTERN) _exit(DAMAGED);
    return 0;
}

static int spawns_all(void *arg)
{
    rad_nursery n;
    (void)arg;
    if (rad_chan_create(&gate, sizeof(uint64_t), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < FIBERS; i++)
        if (rad_nursery_spawn(&n, NULL, i == FIBERS / 2 ? culprit : victim, NULL) != 0) return 1;
    for (uint64_t i = 0; i < FIBERS; i++) RAD_IGNORE(rad_send(gate, &i, RAD_FOREVER));
    return rad_nursery_wait(&n);
}

static void child_main(int out)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL); /* cmocka's handlers are for its own process */
    signal(SIGABRT, SIG_DFL);
    dup2(out, STDERR_FILENO);
    rad_options o = {.workers = p.workers ? p.workers : 1, .stack_size = p.stack_size};
    _exit(rad_main(&o, spawns_all, NULL, NULL));
}

static void run(plan what, ended *e)
{
    int out[2];
    size_t size = 0;
    p = what;
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) child_main(out[1]);
    close(out[1]);
    for (ssize_t n; (n = read(out[0], e->said + size, sizeof e->said - 1 - size)) > 0;) size += (size_t)n;
    e->said[size] = 0;
    close(out[0]);
    assert_int_equal(waitpid(pid, &e->status, 0), pid);
}

static void expect_report(plan what)
{
    ended e;
    run(what, &e);
    if (!WIFSIGNALED(e.status)) fail_msg("frame %zu: status %d, said '%s'", what.frame, WEXITSTATUS(e.status), e.said);
    int number = WTERMSIG(e.status);
    assert_true(number == SIGSEGV || number == SIGABRT);
    char *report = strstr(e.said, "raddle: fiber ");
    if (report == NULL || strstr(report, " 'culprit': stack overflow (") == NULL)
        fail_msg("frame %zu: signal %d, said '%s'", what.frame, number, e.said);
}

static void yields(void)
{
    rad_yield();
}

static void sleeps(void)
{
    rad_sleep(1000);
}

static void waits_for_a_channel(void)
{
    uint64_t value;
    RAD_IGNORE(rad_recv(gate, &value, rad_after(1000000)));
}

/* ---- Tests ------------------------------------------------------------------------------------------------- */

/* It has used 118,000 of 131,072 bytes. Only 64 bytes of the new frame are touched, its lowest. */
static void a_frame_does_not_step_over_the_guard(void **state)
{
    (void)state;
    if (STORM_IS_SANITIZED) skip();
    for (size_t frame = 14000; frame <= 78000; frame += 4000)
        expect_report((plan){.below = 118000, .frame = frame, .touched = 64});
    expect_report((plan){.below = 10000, .frame = 64000, .touched = 64, .stack_size = 16 << 10});
    expect_report((plan){.below = 1000, .frame = 60000, .touched = 1, .stack_size = 16 << 10});
    expect_report((plan){.below = 1030000, .frame = 60000, .touched = 1, .stack_size = 1 << 20});
}

/* Nothing is touched, or something beyond the guard. */
static void a_switch_finds_a_stack_pointer_outside(void **state)
{
    static void (*const thens[])(void) = {yields, sleeps, waits_for_a_channel};
    static const size_t frames[] = {205000, 300000, 1 << 20, 3 << 20, 100 << 20};
    (void)state;
    if (STORM_IS_SANITIZED) skip();
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        for (size_t k = 0; k < sizeof thens / sizeof *thens; k++)
            expect_report((plan){.frame = frames[i], .then = thens[k], .workers = 1 + k % 2});
}

static void a_frame_that_fits_is_no_overflow(void **state)
{
    (void)state;
    if (STORM_IS_SANITIZED) skip();
    for (size_t frame = 1000; frame <= 121000; frame += 24000) {
        ended e;
        run((plan){.frame = frame, .touched = frame, .then = yields, .workers = 2}, &e);
        assert_string_equal(e.said, "");
        assert_true(WIFEXITED(e.status));
        assert_int_equal(WEXITSTATUS(e.status), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_does_not_step_over_the_guard),
        cmocka_unit_test(a_switch_finds_a_stack_pointer_outside),
        cmocka_unit_test(a_frame_that_fits_is_no_overflow),
    };
    return cmocka_run_group_tests_name("rt_guard", tests, NULL, NULL);
}
