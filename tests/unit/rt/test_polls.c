/* test_polls.c — who polls for those that wait for file descriptors: a worker that rests, a busy one now and then,
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
#include "storm_support.h"

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
        while (!rad__exec_is_away(rt->exec) && rad__idle_parked(idle) == workers) assert_true(rad_now() < limit);
        assert_int_equal(write(e.b, "x", 1), 1);
        rad_runtime_destroy(rt);
        assert_int_equal(job.answer, RAD_READABLE);
        close_both(e);
    }
}

/* The watch comes when a timer is late by 1 ms. If no worker came before it, no sleep would be shorter than 2 ms. */
static int timers_and_polls(void *unused)
{
    enum { TRIES = 5000, BY_THE_WATCH = 2 * MS - MS / 10 };
    ends e = pair();
    wait_job job = {.fd = e.a, .interest = RAD_READABLE, .until = RAD_FOREVER};
    rad_fiber fiber;
    rad_time best = RAD_FOREVER;
    (void)unused;
    CHECK(rad_spawn(&fiber, waits, &job) == 0);
    for (int i = 0; i < 50 || (i < TRIES && best >= BY_THE_WATCH); i++) {
        rad_time before = rad_now();
        CHECK(rad_sleep(MS) == 0);
        rad_time took = rad_now() - before;
        if (took < best) best = took;
    }
    CHECK(best < BY_THE_WATCH);
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

static uint64_t turns;

static int busy(void *arg)
{
    for (; !atomic_load((_Atomic int *)arg); turns++) rad_yield();
    return 0;
}

/* The only worker always has something to run. It looks after some hundred turns; if the watch had to look, there
 * would be tens of thousands between two looks. */
static int polls_while_busy(void *unused)
{
    enum { ROUNDS = 100, MOST = 3000 };
    ends e = pair();
    _Atomic int stop = 0;
    uint64_t all = 0;
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, busy, &stop), 0);
    for (int i = 0; i < ROUNDS; i++) {
        wait_job job = {.fd = e.a, .interest = RAD_READABLE, .until = soon()};
        char byte;
        rad_fiber fiber;
        assert_int_equal(rad_spawn(&fiber, waits, &job), 0);
        rad_yield();
        uint64_t before = turns;
        assert_int_equal(write(e.b, "x", 1), 1);
        assert_int_equal(rad_join(fiber, NULL, soon()), 0);
        all += turns - before;
        rad_release(fiber);
        assert_int_equal(job.answer, RAD_READABLE);
        assert_int_equal(read(e.a, &byte, 1), 1);
    }
    atomic_store(&stop, 1);
    assert_int_equal(rad_nursery_wait(&n), 0);
    close_both(e);
    if (all / ROUNDS > MOST) fail_msg("%llu turns a round", (unsigned long long)(all / ROUNDS));
    return 0;
}

static void a_busy_worker_polls_now_and_then(void **state)
{
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    (void)state;
    assert_int_equal(rad_main(&o, polls_while_busy, NULL, NULL), 0);
}

typedef struct hog_job {
    int fd;
    wait_job other;
    _Atomic int hogs;
} hog_job;

/* Computes until the other one has got its file, or for 10 s of CPU. */
static int hogs(void *arg)
{
    hog_job *job = arg;
    if (rad_fd_wait(job->fd, RAD_READABLE, soon()) != RAD_READABLE) return 1;
    uint64_t began = patience_thread_cpu_ns();
    atomic_store(&job->hogs, 1);
    while (!atomic_load(&job->other.done)) CHECK(patience_thread_cpu_ns() - began < 10 * SECOND);
    return 0;
}

/* Whoever polled computes now, and the other worker sleeps: the watch notices. */
static void somebody_polls_when_nobody_does(void **state)
{
    rad_options o = {.workers = 2};
    rad_runtime *rt;
    ends e = pair(), f = pair();
    hog_job hog = {.fd = e.a, .other = {.fd = f.a, .interest = RAD_READABLE, .until = RAD_FOREVER}};
    (void)state;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, hogs, &hog), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, waits, &hog.other), 0);
    while (rad__ready_waits(&rt->ready) < 2) block_ms(1);
    block_ms(20); /* one worker is in the poll, the other asleep */
    assert_int_equal(write(e.b, "x", 1), 1);
    while (!atomic_load(&hog.hogs)) block_ms(1);
    block_ms(5);
    assert_int_equal(write(f.b, "x", 1), 1);
    rad_runtime_destroy(rt);
    assert_int_equal(hog.other.answer, RAD_READABLE);
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
