/* test_rt_polls.c — who polls for those that wait for file descriptors: a worker that rests, a busy one now and then,
 * and somebody when no worker does. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rt/runtime.h"

#include "ready_support.h"

static _Atomic int ran;

static int runs(void *unused)
{
    (void)unused;
    atomic_fetch_add(&ran, 1);
    return 0;
}

/* A worker that sleeps in the poll is given work, by somebody who is no worker. */
static void a_worker_that_polls_is_given_work(void **state)
{
    enum { ROUNDS = 300 };
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        rad_options o = {.workers = workers};
        rad_runtime *rt;
        ends e = pair();
        wait_job job = {.fd = e.a, .interest = RAD_READABLE, .until = RAD_FOREVER};
        assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
        assert_int_equal(rad_runtime_spawn(rt, NULL, waits, &job), 0);
        ran = 0;
        for (int i = 0; i < ROUNDS; i++) {
            if (i % 3 == 0) block_ms(1); /* it sleeps by now; otherwise it is about to */
            rad_fiber fiber;
            assert_int_equal(rad_runtime_spawn(rt, &fiber, runs, NULL), 0);
            assert_int_equal(rad_join(fiber, NULL, soon()), 0);
            rad_release(fiber);
        }
        assert_int_equal(ran, ROUNDS);
        assert_int_equal(job.done, 0);
        rad_time limit = soon(); /* a worker that falls asleep is parked before it polls */
        const rad_idle *idle = &rt->exec->sched.idle;
        while (!rad__exec_is_away(rt->exec) && rad__idle_parked(idle) == workers)
            assert_true(rad_now() < limit);
        assert_int_equal(write(e.b, "x", 1), 1);
        rad_runtime_destroy(rt);
        assert_int_equal(job.answer, RAD_READABLE);
        close_both(e);
    }
}

static int timers_and_polls(void *unused)
{
    ends e = pair();
    wait_job job = {.fd = e.a, .interest = RAD_READABLE, .until = RAD_FOREVER};
    rad_fiber fiber;
    rad_time best = SECOND;
    (void)unused;
    assert_int_equal(rad_spawn(&fiber, waits, &job), 0);
    for (int i = 0; i < 50; i++) {
        rad_time before = rad_now();
        assert_int_equal(rad_sleep(MS), 0);
        if (rad_now() - before < best) best = rad_now() - before;
    }
    assert_true(best < 2 * MS - MS / 10); /* the watch would have come when it was late by 1 ms */
    assert_int_equal(write(e.b, "x", 1), 1);
    assert_int_equal(rad_join(fiber, NULL, soon()), 0);
    rad_release(fiber);
    close_both(e);
    return 0;
}

static void timers_are_kept_while_a_worker_polls(void **state)
{
    (void)state;
    run(1, timers_and_polls, NULL);
    run(2, timers_and_polls, NULL);
}

static int busy(void *arg)
{
    while (!atomic_load((_Atomic int *)arg)) rad_yield();
    return 0;
}

/* The only worker always has something to run. */
static int polls_while_busy(void *unused)
{
    ends e = pair();
    _Atomic int stop = 0;
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, busy, &stop), 0);
    for (int i = 0; i < 100; i++) {
        wait_job job = {.fd = e.a, .interest = RAD_READABLE, .until = soon()};
        char byte;
        rad_fiber fiber;
        assert_int_equal(rad_spawn(&fiber, waits, &job), 0);
        rad_yield();
        assert_int_equal(write(e.b, "x", 1), 1);
        assert_int_equal(rad_join(fiber, NULL, soon()), 0);
        rad_release(fiber);
        assert_int_equal(job.answer, RAD_READABLE);
        assert_int_equal(read(e.a, &byte, 1), 1);
    }
    atomic_store(&stop, 1);
    assert_int_equal(rad_nursery_wait(&n), 0);
    close_both(e);
    return 0;
}

static void a_busy_worker_polls_now_and_then(void **state)
{
    (void)state;
    rad_time before = rad_now();
    run(1, polls_while_busy, NULL);
    assert_true(rad_now() - before < 5 * SECOND);
}

typedef struct hog_job {
    int fd;
    rad_time ended;
} hog_job;

/* Computes for half a second when it is told to. */
static int hogs(void *arg)
{
    hog_job *job = arg;
    if (rad_fd_wait(job->fd, RAD_READABLE, soon()) != RAD_READABLE) return 1;
    rad_time until = rad_after(SECOND / 2);
    while (rad_now() < until) {
    }
    job->ended = rad_now();
    return 0;
}

static int notes_when(void *arg)
{
    hog_job *job = arg;
    if (rad_fd_wait(job->fd, RAD_READABLE, soon()) != RAD_READABLE) return 1;
    job->ended = rad_now();
    return 0;
}

/* Whoever polled computes now, and the other worker sleeps: the watch notices. */
static void somebody_polls_when_nobody_does(void **state)
{
    rad_options o = {.workers = 2};
    rad_runtime *rt;
    ends e = pair(), f = pair();
    hog_job hog = {.fd = e.a}, other = {.fd = f.a};
    (void)state;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, hogs, &hog), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, notes_when, &other), 0);
    block_ms(50);
    assert_int_equal(write(e.b, "x", 1), 1);
    block_ms(5);
    assert_int_equal(write(f.b, "x", 1), 1);
    rad_runtime_destroy(rt);
    assert_true(other.ended != 0 && hog.ended != 0);
    assert_true(other.ended + SECOND / 10 < hog.ended);
    close_both(e);
    close_both(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_polls_is_given_work),
        cmocka_unit_test(timers_are_kept_while_a_worker_polls),
        cmocka_unit_test(a_busy_worker_polls_now_and_then),
        cmocka_unit_test(somebody_polls_when_nobody_does),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
