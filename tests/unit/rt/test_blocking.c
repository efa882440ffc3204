/* test_blocking.c — calls that block, on threads of their own. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/fault.h"
#include "rt/runtime.h"

#include "patience_support.h"

enum { MS = 1000000 };

#define SECOND UINT64_C(1000000000)

static void block_ms(int ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * MS};
    nanosleep(&t, NULL);
}

typedef struct call {
    int ms, number;
    rad_time until;
    int code, answer;
    _Atomic int began, held; /* as long as it is held it blocks */
} call;

static _Atomic int at_once, most_at_once;

static int blocks(void *arg)
{
    call *c = arg;
    int now = atomic_fetch_add(&at_once, 1) + 1, most = atomic_load(&most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&most_at_once, &most, now)) {
    }
    atomic_store(&c->began, 1);
    block_ms(c->ms);
    while (atomic_load(&c->held)) block_ms(1);
    atomic_fetch_sub(&at_once, 1);
    return c->number;
}

static int calls(void *arg)
{
    call *c = arg;
    c->answer = -1;
    c->code = rad_blocking(blocks, c, &c->answer, c->until);
    return 0;
}

static void run(const rad_options *o, rad_fn body, void *arg)
{
    at_once = most_at_once = 0;
    assert_int_equal(rad_main(o, body, arg, NULL), 0);
}

/* ---- Many ----------------------------------------------------------------------------------------------- */

enum { CALLS = 100 };

static call all[CALLS];

/* Those that block are held until this many do. */
static int many(void *at_a_time)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CALLS; i++) {
        all[i] = (call){.number = i, .until = RAD_FOREVER, .held = 1};
        assert_int_equal(rad_nursery_spawn(&n, NULL, calls, &all[i]), 0);
    }
    while (atomic_load(&at_once) < *(int *)at_a_time) assert_int_equal(rad_sleep(MS), 0);
    for (int i = 0; i < CALLS; i++) atomic_store(&all[i].held, 0);
    assert_int_equal(rad_nursery_wait(&n), 0);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(all[i].code, 0);
        assert_int_equal(all[i].answer, i);
    }
    return 0;
}

static void a_hundred_calls_at_once(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .extra_workers = RAD_NONE};
    run(&o, many, &(int){CALLS});
    assert_int_equal(most_at_once, CALLS);
}

static void as_many_threads_as_it_may_have(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .blocking_threads = 20};
    run(&o, many, &(int){20});
    assert_int_equal(most_at_once, 20);
}

/* ---- Refused, begun ------------------------------------------------------------------------------------- */

static int one_thread(void *unused)
{
    call first = {.number = 1, .until = RAD_FOREVER, .held = 1};
    call late = {.ms = 0, .number = 2, .until = rad_after(10 * MS)};
    call cancelled = {.ms = 0, .number = 3, .until = RAD_FOREVER};
    call last = {.ms = 0, .number = 4, .until = RAD_FOREVER};
    rad_fiber f[4];
    rad_blocking_pool *pool = &rad__rt_worker()->runtime->blocking;
    (void)unused;
    assert_int_equal(rad_spawn(&f[0], calls, &first), 0);
    while (!first.began) rad_sleep(MS);
    assert_int_equal(rad_spawn(&f[1], calls, &late), 0);
    assert_int_equal(rad_spawn(&f[2], calls, &cancelled), 0);
    assert_int_equal(rad_spawn(&f[3], calls, &last), 0);
    assert_int_equal(rad_join(f[1], NULL, RAD_FOREVER), 0);
    while (atomic_load(&pool->waiting) < 3) rad_sleep(MS); /* all but the late one */
    rad_cancel(f[2]);
    rad_cancel(f[0]); /* it has begun: that is waited for */
    assert_int_equal(rad_join(f[2], NULL, RAD_FOREVER), 0);
    assert_int_equal(rad_join(f[0], NULL, rad_after(MS)), RAD_ETIMEOUT);
    atomic_store(&first.held, 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(rad_join(f[i], NULL, RAD_FOREVER), 0);
        rad_release(f[i]);
    }
    assert_int_equal(first.code, 0);
    assert_int_equal(first.answer, 1);
    assert_int_equal(late.code, RAD_ETIMEOUT);
    assert_int_equal(late.began, 0);
    assert_int_equal(cancelled.code, RAD_ECANCELED);
    assert_int_equal(cancelled.began, 0);
    assert_int_equal(last.code, 0);
    assert_int_equal(last.answer, 4);
    return 0;
}

static void what_has_begun_is_waited_for(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .blocking_threads = 1};
    run(&o, one_thread, NULL);
}

enum { HASTY = 200 };

/* The time of many is up while a thread takes them: each was called, or it was not. */
static int gives_up_or_not(void *arg)
{
    for (int i = 0; i < HASTY; i++) {
        call c = {.number = i, .until = rad_after((uint64_t)(i % 20) * 5000)};
        calls(&c);
        assert_true(c.code == 0 || c.code == RAD_ETIMEOUT);
        assert_int_equal(c.began, c.code == 0);
        assert_int_equal(c.answer, c.code == 0 ? i : -1);
    }
    return arg == NULL;
}

static int many_are_hasty(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 4; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, gives_up_or_not, &n), 0);
    return rad_nursery_wait(&n);
}

static void who_is_hasty_gets_it_or_not(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .blocking_threads = 2};
    run(&o, many_are_hasty, NULL);
}

static int asks_after_it_was_cancelled(void *arg)
{
    assert_int_equal(rad_sleep_until(RAD_FOREVER), RAD_ECANCELED);
    return calls(arg);
}

static int cancelled_before(void *unused)
{
    call c = {.ms = 0, .until = RAD_FOREVER};
    rad_fiber fiber;
    (void)unused;
    assert_int_equal(rad_spawn(&fiber, asks_after_it_was_cancelled, &c), 0);
    rad_yield();
    rad_cancel(fiber);
    assert_int_equal(rad_join(fiber, NULL, RAD_FOREVER), 0);
    rad_release(fiber);
    assert_int_equal(c.code, RAD_ECANCELED);
    assert_int_equal(c.began, 0);
    assert_int_equal(rad__blocking_threads(&rad__rt_worker()->runtime->blocking), 0); /* nor was it put anywhere */
    return 0;
}

static void who_was_cancelled_is_refused(void **state)
{
    (void)state;
    rad_options o = {.workers = 1};
    run(&o, cancelled_before, NULL);
}

/* ---- Threads -------------------------------------------------------------------------------------------- */

static pthread_t ran_on;

static int notes_thread(void *unused)
{
    (void)unused;
    ran_on = pthread_self();
    assert_null(rad_self().slot); /* no fiber */
    return 5;
}

static int another_thread(void *unused)
{
    int answer = 0;
    pthread_t mine = pthread_self();
    (void)unused;
    assert_int_equal(rad_blocking(notes_thread, NULL, &answer, RAD_FOREVER), 0);
    assert_int_equal(answer, 5);
    assert_false(pthread_equal(mine, ran_on));
    assert_int_equal(rad_blocking(notes_thread, NULL, NULL, RAD_FOREVER), 0);
    return 0;
}

static void on_a_thread_it_is_just_a_call(void **state)
{
    int answer = 0;
    rad_options o = {.workers = 1};
    (void)state;
    assert_int_equal(rad_blocking(notes_thread, NULL, &answer, 0), 0);
    assert_int_equal(answer, 5);
    assert_true(pthread_equal(pthread_self(), ran_on));
    run(&o, another_thread, NULL);
}

static rad_chan *chan;

static int sends(void *arg)
{
    return rad_send(chan, arg, RAD_FOREVER);
}

static int receives(void *arg)
{
    return rad_recv(chan, arg, RAD_FOREVER);
}

static int talks(void *unused)
{
    int value = 42, got = 0, answer = -1;
    rad_fiber fiber;
    (void)unused;
    assert_int_equal(rad_chan_create(&chan, sizeof value, 0, RAD_CHAN_BLOCKS), 0);
    assert_int_equal(rad_spawn(&fiber, receives, &got), 0);
    assert_int_equal(rad_blocking(sends, &value, &answer, RAD_FOREVER), 0);
    assert_int_equal(answer, 0);
    assert_int_equal(rad_join(fiber, NULL, RAD_FOREVER), 0);
    rad_release(fiber);
    assert_int_equal(got, 42);
    rad_chan_destroy(chan);
    return 0;
}

static void it_may_talk_to_fibers(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        rad_options o = {.workers = workers};
        run(&o, talks, NULL);
    }
}

/* A try has a thread or not, whether or not that one is awake. */
static int tries(void *unused)
{
    call held = {.number = 1, .until = RAD_FOREVER, .held = 1};
    rad_fiber f;
    (void)unused;
    for (int i = 0; i < 50; i++) {
        call now = {.ms = 0, .number = i};
        do calls(&now); /* the thread may not have come back from the last one */
        while (i > 0 && now.code == RAD_ETIMEOUT && rad_sleep(MS) == 0);
        assert_int_equal(now.code, 0);
        assert_int_equal(now.answer, i);
        if (i % 10 == 0) rad_sleep(2 * MS);
    }
    assert_int_equal(rad_spawn(&f, calls, &held), 0);
    while (!held.began) rad_sleep(MS);
    call refused = {.ms = 0, .number = 2};
    calls(&refused);
    assert_int_equal(refused.code, RAD_ETIMEOUT);
    assert_int_equal(refused.began, 0);
    atomic_store(&held.held, 0);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    return 0;
}

static void a_try_needs_a_free_thread(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .blocking_threads = 1};
    run(&o, tries, NULL);
}

/* ---- The end, failures ---------------------------------------------------------------------------------- */

static int one_call(void *unused)
{
    call c = {.ms = 0, .number = 9, .until = RAD_FOREVER};
    (void)unused;
    calls(&c);
    return c.answer == 9 ? 0 : 1;
}

/* An idle one that nobody told to leave would stay for 5 s, each time. */
static void idle_threads_leave_at_the_end(void **state)
{
    rad_options o = {.workers = 1};
    rad_time least = RAD_FOREVER;
    (void)state;
    for (int i = 0; i < 20 && least > 4 * SECOND; i++) {
        rad_time before = rad_now();
        run(&o, one_call, NULL);
        rad_time took = rad_now() - before;
        if (took < least) least = took;
    }
    assert_true(least < 4 * SECOND);
}

static uint32_t idle_threads(rad_blocking_pool *pool)
{
    rad__lock(&pool->lock);
    uint32_t idle = pool->idle;
    rad__unlock(&pool->lock);
    return idle;
}

/* A thread that has done its work may not be back yet when the next call comes: that is waited for. */
static int threads_are_reused(void *unused)
{
    rad_blocking_pool *pool = &rad__rt_worker()->runtime->blocking;
    (void)unused;
    for (int i = 0; i < 50; i++) {
        call c = {.ms = 0, .number = i, .until = RAD_FOREVER};
        calls(&c);
        assert_int_equal(c.answer, i);
        assert_int_equal(rad__blocking_threads(pool), 1);
        while (idle_threads(pool) < rad__blocking_threads(pool)) rad_sleep(MS / 10);
    }
    return 0;
}

static void few_threads_for_one_call_at_a_time(void **state)
{
    (void)state;
    rad_options o = {.workers = 1};
    run(&o, threads_are_reused, NULL);
}

static int no_thread(void *unused)
{
    call c = {.ms = 0, .number = 9, .until = RAD_FOREVER};
    (void)unused;
    rad__os_fail_at(1);
    calls(&c);
    rad__os_fail_at(0);
    assert_int_equal(c.code, RAD_EIO);
    assert_int_equal(c.began, 0);
    calls(&c);
    assert_int_equal(c.code, 0);
    return 0;
}

static void without_a_thread_it_fails(void **state)
{
    (void)state;
    rad_options o = {.workers = 1};
    run(&o, no_thread, NULL);
}

static int long_call(void *unused)
{
    call c = {.ms = 300, .number = 9, .until = RAD_FOREVER};
    (void)unused;
    calls(&c);
    return c.answer;
}

static int then_waits_for_ever(void *unused)
{
    one_call(unused);
    return rad_sleep_until(RAD_FOREVER);
}

static int status_of(rad_fn body)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        rad_options o = {.workers = 2};
        close(2);
        patience_limit_child();
        _exit(rad_main(&o, body, NULL, NULL));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_call_that_blocks_is_no_deadlock(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it does not go on after a fork */
#endif
    assert_int_equal(status_of(long_call), 9);
    assert_int_equal(status_of(then_waits_for_ever), 124); /* its thread is idle, and counts for nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_calls_at_once),       cmocka_unit_test(as_many_threads_as_it_may_have),
        cmocka_unit_test(what_has_begun_is_waited_for),  cmocka_unit_test(who_is_hasty_gets_it_or_not),
        cmocka_unit_test(who_was_cancelled_is_refused),  cmocka_unit_test(on_a_thread_it_is_just_a_call),
        cmocka_unit_test(it_may_talk_to_fibers),         cmocka_unit_test(a_try_needs_a_free_thread),
        cmocka_unit_test(idle_threads_leave_at_the_end), cmocka_unit_test(few_threads_for_one_call_at_a_time),
        cmocka_unit_test(without_a_thread_it_fails),     cmocka_unit_test(a_call_that_blocks_is_no_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
