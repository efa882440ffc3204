/* test_overflow.c — what is said when a stack overflows, and that everything else stays as it was. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/context.h"
#include "os/fault.h"
#include "os/process.h"
#include "os/segv.h"
#include "rt/overflow.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- A child that does something wrong ------------------------------------------------------------------ */

typedef struct child {
    int (*run)(void);
    int out[2];
    char said[512];
    rad_os_exit how;
} child;

static int child_main(void *context)
{
    child *c = context;
    dup2(c->out[1], STDERR_FILENO);
    return c->run();
}

/* An emulator of another processor adds a line of its own when a program dies. */
static void forget_emulator(char *said)
{
    char *line = strstr(said, "qemu: ");
    if (line != NULL) *line = 0;
}

static void child_run(child *c, int (*run)(void))
{
    rad_error error = {0};
    int pid;
    size_t size = 0;
    memset(c, 0, sizeof *c);
    c->run = run;
    assert_int_equal(rad__os_pipe(c->out, &error), 0);
    assert_int_equal(rad__os_fork(&pid, c, child_main, &error), 0);
    rad__os_close(c->out[1]);
    for (int64_t n; (n = rad__os_read(c->out[0], c->said + size, sizeof c->said - 1 - size, &error)) > 0;)
        size += (size_t)n;
    rad__os_close(c->out[0]);
    forget_emulator(c->said);
    assert_int_equal(rad__os_wait(pid, true, &c->how, &error), 1);
}

/* ---- What it does --------------------------------------------------------------------------------------- */

static rad_stacks stacks;
static rad_stack chosen;
static rad_context home, fiber;
static rad_os_signal_stack signal_stack;
static enum rad_guard guard;
static char deep[] = "deep";

static size_t name_of(void *context, uint32_t *stack, char *text, size_t size)
{
    *stack = chosen.number;
    return (size_t)snprintf(text, size, "fiber %u '%s'", *stack + 1000, (const char *)context);
}

static void set_up(rad_overflow_name name, size_t size)
{
    rad_stacks_options o = {.size = size, .most = 100, .guard = guard};
    rad_error error = {0};
    if (rad__stacks_open(&stacks, &o, &error) != 0 || rad__os_signal_stack_open(&signal_stack, &error) != 0 ||
        rad__overflow_watch(&stacks, name, deep, &error) != 0)
        fail_msg("%s", error.text);
    for (int i = 0; i < 70; i++)
        if (rad__stacks_new(&stacks, &chosen, &error) != 0 || rad__stacks_guard(&stacks, &chosen, &error) != 0)
            fail_msg("%s", error.text);
}

__attribute__((noinline)) static uint64_t recurse(uint64_t depth)
{
    volatile char frame[200];
    frame[0] = (char)depth;
    uint64_t below = depth ? recurse(depth - 1) : 0;
    return below + (uint64_t)frame[0];
}

static void too_deep(void *argument)
{
    (void)argument;
    recurse(1 << 30);
    rad__context_leave(&fiber, &home);
}

static void touches(void *argument)
{
    *(volatile char *)argument = 1;
    rad__context_leave(&fiber, &home);
}

static int run_fiber(void (*entry)(void *argument), void *argument)
{
    rad__context_adopt(&home);
    rad__context_make(&fiber, chosen.base, chosen.size, entry, argument);
    rad__context_switch(&home, &fiber);
    return 0;
}

static int overflows(void)
{
    set_up(name_of, 0);
    return run_fiber(too_deep, NULL);
}

static int overflows_nameless(void)
{
    set_up(NULL, 65536);
    return run_fiber(too_deep, NULL);
}

static int touches_from_outside(void)
{
    set_up(name_of, 0);
    *((volatile char *)chosen.base - 1) = 1;
    return 0;
}

static int touches_from_outside_nameless(void)
{
    set_up(NULL, 0);
    *((volatile char *)chosen.base - 1) = 1;
    return 0;
}

/* From its own stack. */
static int touches_another_guard(void)
{
    set_up(name_of, 0);
    return run_fiber(touches, (char *)chosen.base - 5 * stacks.stride - 1);
}

static char *argument_of_touching;

/* On a stack pointer that a large frame has moved `down` bytes, touches what is so far above it. */
static __attribute__((noinline)) void touches_above(size_t down, size_t up)
{
    volatile char *frame = __builtin_alloca(down);
    __asm__ volatile("" : : "r"(frame) : "memory");
    argument_of_touching = (char *)frame + up;
    *(volatile char *)argument_of_touching = 1;
}

static size_t step_down, step_up;

static void steps_over(void *argument)
{
    (void)argument;
    touches_above(step_down, step_up);
    rad__context_leave(&fiber, &home);
}

/* The frame ends in the stack below, or further down; what is touched first is in the fiber's own guard, … */
static int steps_over_its_guard(void)
{
    set_up(name_of, 0);
    step_down = stacks.stride * 3 / 2 + stacks.size / 2;
    step_up = step_down - stacks.size - 100;
    return run_fiber(steps_over, NULL);
}

/* … or in the guard of the stack below. */
static int steps_over_two_guards(void)
{
    set_up(name_of, 0);
    step_down = stacks.stride + stacks.size + 8192;
    step_up = 0;
    return run_fiber(steps_over, NULL);
}

static int touches_deep_in_the_guard(void)
{
    set_up(name_of, 0);
    step_down = stacks.size + RAD_STACK_GUARD - 256;
    step_up = 0;
    return run_fiber(steps_over, NULL);
}

static int touches_nothing_of_ours(void)
{
    set_up(name_of, 0);
    return run_fiber(touches, (void *)8);
}

static int is_sent_the_signal(void)
{
    set_up(name_of, 0);
    raise(SIGSEGV);
    return 3;
}

static void others_handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    _exit(number == SIGSEGV && info->si_addr == (void *)8 ? 7 : 8);
}

static void others_plain_handler(int number)
{
    _exit(number == SIGSEGV ? 9 : 10);
}

static int somebody_else_handles(void)
{
    struct sigaction action = {.sa_sigaction = others_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    return touches_nothing_of_ours();
}

static int somebody_else_handles_plainly(void)
{
    signal(SIGSEGV, others_plain_handler);
    return is_sent_the_signal();
}

static int somebody_else_ignores(void)
{
    signal(SIGSEGV, SIG_IGN);
    return is_sent_the_signal();
}

static int overflows_after_unwatching(void)
{
    set_up(name_of, 0);
    rad__overflow_unwatch(&stacks);
    return run_fiber(too_deep, NULL);
}

/* ---- Tests ---------------------------------------------------------------------------------------------- */

static void expect(int (*run)(void), const char *said, int signal, int status)
{
    child c;
    child_run(&c, run);
    assert_string_equal(c.said, said);
    assert_int_equal(c.how.signal, signal);
    assert_int_equal(c.how.status, status);
}

static void the_report_names_the_fiber(void **state)
{
    (void)state;
    for (guard = RAD_GUARD_BEST; guard <= RAD_GUARD_MAPPINGS; guard += 2)
        expect(overflows, "raddle: fiber 1069 'deep': stack overflow (128 KiB); raise the stack size\n", SIGSEGV, 0);
    guard = RAD_GUARD_BEST;
    expect(overflows_nameless, "raddle: stack 69: stack overflow (64 KiB); raise the stack size\n", SIGSEGV, 0);
}

static void a_large_frame_is_an_overflow(void **state)
{
    const char *said = "raddle: fiber 1069 'deep': stack overflow (128 KiB); raise the stack size\n";
    (void)state;
    for (guard = RAD_GUARD_BEST; guard <= RAD_GUARD_MAPPINGS; guard += 2) {
        expect(touches_deep_in_the_guard, said, SIGSEGV, 0);
        expect(steps_over_its_guard, said, SIGSEGV, 0);
        expect(steps_over_two_guards, said, SIGSEGV, 0);
    }
    guard = RAD_GUARD_BEST;
}

static void a_wild_pointer_is_no_overflow(void **state)
{
    (void)state;
    expect(touches_from_outside, "raddle: fiber 1069 'deep': touched the guard of a stack; a wild pointer\n", SIGSEGV,
           0);
    expect(touches_from_outside_nameless, "raddle: stack 69: its guard was touched from outside; a wild pointer\n",
           SIGSEGV, 0);
    expect(touches_another_guard, "raddle: fiber 1069 'deep': touched the guard of a stack; a wild pointer\n", SIGSEGV,
           0);
}

static void other_faults_are_none_of_our_business(void **state)
{
    (void)state;
    expect(touches_nothing_of_ours, "", SIGSEGV, 0);
    expect(is_sent_the_signal, "", SIGSEGV, 0);
    expect(somebody_else_handles, "", 0, 7);
    expect(somebody_else_handles_plainly, "", 0, 9);
    expect(somebody_else_ignores, "", 0, 3);
    expect(overflows_after_unwatching, "", SIGSEGV, 0);
}

static void the_last_one_puts_the_handlers_back(void **state)
{
    rad_stacks pools[RAD_OVERFLOW_POOLS + 1];
    struct sigaction before, now;
    rad_error error = {0};
    (void)state;
    sigaction(SIGBUS, NULL, &before);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < RAD_OVERFLOW_POOLS; i++)
            assert_int_equal(rad__overflow_watch(&pools[i], NULL, NULL, &error), 0);
        assert_int_equal(rad__overflow_watch(&pools[RAD_OVERFLOW_POOLS], NULL, NULL, &error), RAD_ELIMIT);
        error = (rad_error){0};
        rad__overflow_unwatch(&pools[RAD_OVERFLOW_POOLS]); /* is not there */
        for (uint32_t i = 0; i < RAD_OVERFLOW_POOLS; i++) {
            sigaction(SIGBUS, NULL, &now);
            assert_true(now.sa_flags & SA_ONSTACK);
            assert_true(now.sa_sigaction != before.sa_sigaction);
            rad__overflow_unwatch(&pools[i]);
        }
        sigaction(SIGBUS, NULL, &now);
        assert_true(now.sa_sigaction == before.sa_sigaction);
    }
    /* Who came after us stays. */
    assert_int_equal(rad__overflow_watch(&pools[0], NULL, NULL, &error), 0);
    signal(SIGBUS, others_plain_handler);
    rad__overflow_unwatch(&pools[0]);
    sigaction(SIGBUS, NULL, &now);
    assert_true(now.sa_handler == others_plain_handler);
    sigaction(SIGBUS, &before, NULL);
}

static void any_call_may_fail(void **state)
{
    rad_stacks pool;
    struct sigaction before, now;
    stack_t had, has, none = {.ss_flags = SS_DISABLE};
    (void)state;
    sigaction(SIGSEGV, NULL, &before);
    sigaltstack(&none, &had); /* a sanitizer's */
    for (uint64_t n = 1; n <= 3; n++) {
        rad_error error = {0};
        rad__os_fail_at(n);
        int code = rad__overflow_watch(&pool, NULL, NULL, &error);
        rad__os_fail_at(0);
        assert_int_equal(code, n < 3 ? RAD_EIO : 0);
        if (code == 0) rad__overflow_unwatch(&pool);
        sigaction(SIGSEGV, NULL, &now);
        assert_true(now.sa_sigaction == before.sa_sigaction);

        rad__os_fail_at(n);
        error = (rad_error){0};
        code = rad__os_signal_stack_open(&signal_stack, &error);
        rad__os_fail_at(0);
        assert_int_equal(code, n == 1 ? RAD_ENOMEM : n == 2 ? RAD_EIO : 0);
        assert_int_equal(signal_stack.memory == NULL, n < 3);
        rad_os_signal_stack second;
        if (code == 0) assert_int_equal(rad__os_signal_stack_open(&second, &error), 0);
        if (code == 0) assert_null(second.memory); /* one is enough */
        if (code == 0) rad__os_signal_stack_close(&second);
        if (code == 0) assert_int_equal(sigaltstack(NULL, &has), 0);
        if (code == 0) assert_ptr_equal(has.ss_sp, signal_stack.memory);
        rad__os_signal_stack_close(&signal_stack);
        assert_int_equal(sigaltstack(NULL, &has), 0);
        assert_true(has.ss_flags & SS_DISABLE);
    }
    if (!(had.ss_flags & SS_DISABLE)) sigaltstack(&had, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_names_the_fiber),          cmocka_unit_test(a_large_frame_is_an_overflow),
        cmocka_unit_test(a_wild_pointer_is_no_overflow),       cmocka_unit_test(other_faults_are_none_of_our_business),
        cmocka_unit_test(the_last_one_puts_the_handlers_back), cmocka_unit_test(any_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
