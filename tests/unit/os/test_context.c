/* test_context.c — the context switch of this machine, thread pointers, and sleeping on a word. */
#define _GNU_SOURCE
#include "os/context.h"

#include <stdio.h>

#include "context_support.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/pages.h"
#include "os/process.h"
#include "os/thread_pointer.h"
#include "os/wait.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static void the_kind_is_the_machines(void **state)
{
    (void)state;
#if defined(RAD_CONTEXT_UCONTEXT)
    assert_string_equal(rad__context_kind(), "ucontext");
#elif defined(__x86_64__)
    assert_string_equal(rad__context_kind(), "x86-64");
#else
    assert_string_equal(rad__context_kind(), "aarch64");
#endif
}

/* ---- Unwinding --------------------------------------------------------------------------------------- */

enum { FRAMES = 64, DEPTH = 5 };

typedef struct walk {
    pingpong p;
    void *in_entry; /* where the entry function goes on after its call */
    void *frames[FRAMES];
    int count;
} walk;

__attribute__((noinline)) static void walk_deep(walk *w, uint32_t depth)
{
    if (depth == DEPTH) w->in_entry = __builtin_return_address(0);
    if (depth > 0) {
        walk_deep(w, depth - 1);
    } else {
        rad__context_switch(&w->p.other, &w->p.home); /* after a switch, too */
        w->count = backtrace(w->frames, FRAMES);
    }
    __asm__ volatile("" ::: "memory"); /* keeps the calls calls */
}

static void walk_entry(void *argument)
{
    walk *w = argument;
    walk_deep(w, DEPTH);
    rad__context_leave(&w->p.other, &w->p.home);
}

static void unwinding_ends_at_the_entry(void **state)
{
    static walk w;
    (void)state;
    if (strcmp(rad__context_kind(), "ucontext") == 0) skip();
    pingpong_open(&w.p, counts);
    rad__context_make(&w.p.other, w.p.stack, STACK, walk_entry, &w);
    rad__context_adopt(&w.p.home);
    rad__context_switch(&w.p.home, &w.p.other);
    rad__context_switch(&w.p.home, &w.p.other);
    rad__context_drop(&w.p.other);
    free(w.p.stack);
    assert_in_range(w.count, DEPTH + 3, DEPTH + 6); /* walk_deep, entry, begin, and a sanitizer's */
    int entry = -1;
    for (int i = 0; i < w.count; i++)
        if (w.frames[i] == w.in_entry) entry = i;
    assert_in_range(entry, DEPTH + 1, DEPTH + 3);
    assert_in_range(w.count - entry, 2, 3); /* what began it, and nothing else */
}

/* ---- Thread pointers --------------------------------------------------------------------------------- */

static _Thread_local uint32_t local = 17;
static _Thread_local uint64_t zero;

static uint32_t thread_count(void)
{
    uint32_t count = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/* A joined thread may be listed for a moment more. A thread that never ends is found by the limit of CPU time. */
static void threads_fall_to(uint32_t count)
{
    while (thread_count() > count) sched_yield();
    assert_int_equal(thread_count(), count);
}

/* Out of line, so that no address of a thread-local variable is kept over a change of the pointer. */
__attribute__((noinline)) static uint32_t local_read(void)
{
    return local;
}

__attribute__((noinline)) static uint64_t zero_read(void)
{
    return zero;
}

__attribute__((noinline)) static uint32_t errno_read(void)
{
    return (uint32_t)errno;
}

__attribute__((noinline)) static void local_write(uint32_t value)
{
    local = value;
    zero = value;
    errno = (int)value;
}

static void donors_have_variables_of_their_own(void **state)
{
    rad_error error = {0};
    (void)state;
    if (!rad__thread_pointer_works()) skip();
    uint32_t before = thread_count();
    void *mine = rad__thread_pointer_get();
    rad__donors_open();
    void *first = rad__donor(0, &error), *second = rad__donor(1, &error);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(rad__donor(0, &error), first);
    assert_int_equal(thread_count(), before + 2);
    local_write(1);
    rad__thread_pointer_set(first);
    uint32_t at_first = local_read();
    local_write(2);
    rad__thread_pointer_set(second);
    uint32_t at_second = local_read();
    local_write(3);
    rad__thread_pointer_set(first);
    uint32_t again = local_read(), number = errno_read();
    rad__thread_pointer_set(mine);
    assert_int_equal(at_first, 17);
    assert_int_equal(at_second, 17);
    assert_int_equal(again, 2);
    assert_int_equal(number, 2);
    assert_int_equal(local_read(), 1);

    rad__thread_locals_reset(first, mine); /* to what the program says; errno is not ours */
    rad__thread_pointer_set(first);
    uint32_t reset = local_read();
    uint64_t reset_zero = zero_read();
    number = errno_read();
    rad__thread_pointer_set(mine);
    assert_int_equal(reset, 17);
    assert_int_equal(reset_zero, 0);
    assert_int_equal(number, 2);
    local_write(17);
    zero = 0;
    rad__donors_close();
    threads_fall_to(before);
}

static int child_borrows(void *context)
{
    rad_error error = {0};
    uint32_t generation = *(uint32_t *)context;
    if (rad__donors_generation() == generation || thread_count() != 1) return 1;
    void *mine = rad__thread_pointer_get(), *donor = rad__donor(0, &error);
    if (donor == NULL || thread_count() != 2) return 2;
    rad__thread_pointer_set(donor);
    uint32_t value = local_read();
    rad__thread_pointer_set(mine);
    rad__donors_close();
    while (thread_count() > 1) sched_yield();
    return value == 17 ? 0 : 3;
}

static void a_child_makes_donors_of_its_own(void **state)
{
    rad_error error = {0};
    rad_os_exit how;
    int pid;
    (void)state;
    if (!rad__thread_pointer_works()) skip();
    rad__donors_open();
    assert_non_null(rad__donor(0, &error));
    uint32_t generation = rad__donors_generation();
    assert_int_equal(rad__os_fork(&pid, &generation, child_borrows, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &how, &error), 1);
    assert_int_equal(how.status, 0);
    assert_int_equal(how.signal, 0);
    rad__donors_close();
}

static void no_thread_is_an_error(void **state)
{
    rad_error error = {0};
    (void)state;
    if (!rad__thread_pointer_works()) skip();
    rad__donors_open();
    rad__os_fail_at(1);
    assert_null(rad__donor(0, &error));
    rad__os_fail_at(0);
    assert_int_equal(error.code, RAD_ENOMEM);
    error.code = 0;
    assert_non_null(rad__donor(0, &error));
    rad__donors_close();
}

/* ---- Pages -------------------------------------------------------------------------------------------- */

static int touches_a_guard(void *context)
{
    *(volatile char *)context = 1;
    return 0;
}

static void pages_are_zeroed_and_guarded(void **state)
{
    void *p;
    rad_error error = {0};
    rad_os_exit how;
    int pid;
    (void)state;
    assert_int_equal(rad__os_pages_map(&p, 2 * RAD_PAGE_MAX, &error), 0);
    char *bytes = p;
    for (uint32_t i = 0; i < RAD_PAGE_MAX; i += 512) assert_int_equal(bytes[i], 0);
    assert_int_equal(rad__os_pages_guard(bytes + RAD_PAGE_MAX, RAD_PAGE_MAX, &error), 0);
    bytes[RAD_PAGE_MAX - 1] = 1;
    assert_int_equal(rad__os_fork(&pid, bytes + RAD_PAGE_MAX, touches_a_guard, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &how, &error), 1);
    assert_int_not_equal(how.signal + how.status, 0);
    rad__os_pages_unmap(p, 2 * RAD_PAGE_MAX);
    rad__os_fail_at(1);
    assert_int_equal(rad__os_pages_map(&p, RAD_PAGE_MAX, &error), RAD_ENOMEM);
    assert_null(p);
    rad__os_fail_at(0);
}

/* ---- Sleeping on a word --------------------------------------------------------------------------------- */

typedef struct sleeper {
    _Atomic uint32_t word, awake;
    pthread_t thread;
} sleeper;

static void *sleeper_main(void *context)
{
    sleeper *s = context;
    while (atomic_load(&s->word) == 0) rad__os_word_wait(&s->word, 0);
    atomic_fetch_add(&s->awake, 1);
    return NULL;
}

static void another_value_is_no_reason_to_sleep(void **state)
{
    _Atomic uint32_t word = 5;
    (void)state;
    rad__os_word_wait(&word, 4);
    assert_true(rad__os_word_wait_for(&word, 4, 1000 * 1000 * 1000));
    assert_int_equal(rad__os_word_wake(&word, 1), 0); /* nobody waits */
}

static void time_ends_a_sleep(void **state)
{
    _Atomic uint32_t word = 5;
    (void)state;
    uint64_t begin = rad__os_now_ns();
    while (rad__os_word_wait_for(&word, 5, 20 * 1000 * 1000)) {
    }
    assert_true(rad__os_now_ns() - begin >= 20 * 1000 * 1000);
}

static void a_wake_ends_sleeps(void **state)
{
    enum { SLEEPERS = 3 };
    sleeper s = {0};
    pthread_t threads[SLEEPERS];
    (void)state;
    for (int i = 0; i < SLEEPERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, sleeper_main, &s), 0);
    uint32_t woken = 0;
    while (woken < SLEEPERS) { /* how many there were: each sleeps again, since the word is as before */
        uint32_t now = rad__os_word_wake(&s.word, 1);
        assert_in_range(now, 0, 1);
        woken += now;
    }
    assert_int_equal(atomic_load(&s.awake), 0);
    atomic_store(&s.word, 1);
    rad__os_word_wake(&s.word, UINT32_MAX);
    for (int i = 0; i < SLEEPERS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&s.awake), SLEEPERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONTEXT_TESTS,
        cmocka_unit_test(the_kind_is_the_machines),
        cmocka_unit_test(unwinding_ends_at_the_entry),
        cmocka_unit_test(donors_have_variables_of_their_own),
        cmocka_unit_test(a_child_makes_donors_of_its_own),
        cmocka_unit_test(no_thread_is_an_error),
        cmocka_unit_test(pages_are_zeroed_and_guarded),
        cmocka_unit_test(another_value_is_no_reason_to_sleep),
        cmocka_unit_test(time_ends_a_sleep),
        cmocka_unit_test(a_wake_ends_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
