/* test_starve.c — every worker computes and does not come back: whatever becomes ready meanwhile runs all the same,
 * on one more worker (rt/starve.h). The ones who compute go on until it has run; a limit of CPU time, not of time on
 * the wall, tells that it never does. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/fault.h"
#include "rt/runtime.h"
#include "storm_support.h"

#include <time.h>
#include <unistd.h>

enum { WORKERS = 2, MS = 1000000, LIMIT_MS = 3000 };

enum way {
    SPAWNED_BY_A_THREAD,
    SENT_BY_A_THREAD,
    FILE_IS_READY,
    TIME_HAS_COME,
    SPAWNED_BY_WHO_COMPUTES,
    SENT_BY_WHO_COMPUTES,
    YIELDED,
    BEHIND_SEVERAL, /* more of those who compute */
    BESIDE_TALKERS, /* the other worker is busy with two that wake each other */
    WAYS
};

static rad_runtime *runtime;
static rad_chan *chan, *there, *back;
static int pipes[2];
static _Atomic uint32_t computing, ran, gave_up;
static uint64_t began_ns;

static bool is_over(void)
{
    if (atomic_load(&ran) > 0) return true;
    if (storm_cpu_ns() - began_ns < (uint64_t)LIMIT_MS * MS) return false;
    atomic_store(&gave_up, 1);
    return true;
}

static int counts(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
    return 0;
}

static int receives(void *arg)
{
    int value;
    CHECK(rad_recv(chan, &value, RAD_FOREVER) == 0);
    return counts(arg);
}

static int reads(void *arg)
{
    char c;
    CHECK(rad_read(pipes[0], &c, 1, RAD_FOREVER) == 1);
    return counts(arg);
}

static int sleeps(void *arg)
{
    CHECK(rad_sleep(20 * MS) == 0);
    return counts(arg);
}

static int yields(void *arg)
{
    while (atomic_load(&computing) < WORKERS && !is_over()) rad_yield();
    return counts(arg);
}

static void compute(void)
{
    atomic_fetch_add(&computing, 1);
    while (!is_over())
        for (volatile uint32_t i = 0; i < 20000; i++) {
        }
}

/* Everybody computes before it does anything. */
static int computes(void *arg)
{
    enum way way = *(enum way *)arg;
    bool last = atomic_fetch_add(&computing, 1) == WORKERS - 1;
    int value = 1;
    while (atomic_load(&computing) < WORKERS && !is_over()) {
    }
    if (last && way == SPAWNED_BY_WHO_COMPUTES) CHECK(rad_spawn(NULL, counts, NULL) == 0);
    if (last && way == SENT_BY_WHO_COMPUTES) CHECK(rad_send(chan, &value, RAD_FOREVER) == 0);
    compute();
    return 0;
}

/* One of two that talk until it is over; the first to speak is the one with an argument. */
static int talks(void *arg)
{
    int value = 0;
    rad_chan *from = arg ? back : there, *to = arg ? there : back;
    if (arg) CHECK(rad_send(to, &value, RAD_FOREVER) == 0);
    while (rad_recv(from, &value, RAD_FOREVER) == 0)
        if (is_over() || rad_send(to, &value, RAD_FOREVER) != 0) break;
    rad_chan_close(to, 0);
    return 0;
}

static int spawns_and_computes(void *arg)
{
    storm_block_ms(1); /* the talkers are on the other worker by now */
    CHECK(rad_spawn(NULL, counts, arg) == 0);
    compute();
    return 0;
}

static void spawn(rad_fn fn, void *arg)
{
    assert_int_equal(rad_runtime_spawn(runtime, NULL, fn, arg), 0);
}

/* Before anybody computes: those who will be woken park. */
static void prepare(enum way *way)
{
    if (*way == SENT_BY_A_THREAD || *way == SENT_BY_WHO_COMPUTES) spawn(receives, NULL);
    if (*way == FILE_IS_READY) spawn(reads, NULL);
    if (*way == YIELDED) spawn(yields, NULL);
    storm_block_ms(20);
    if (*way == TIME_HAS_COME) spawn(sleeps, NULL);
    if (*way == BESIDE_TALKERS) {
        spawn(talks, NULL);
        spawn(talks, way);
        spawn(spawns_and_computes, NULL);
        return;
    }
    for (int i = 0; i < WORKERS; i++) spawn(computes, way);
}

static void make_ready(enum way *way)
{
    int value = 1;
    if (*way == SPAWNED_BY_A_THREAD) spawn(counts, NULL);
    if (*way == SENT_BY_A_THREAD) assert_int_equal(rad_send(chan, &value, RAD_FOREVER), 0);
    if (*way == FILE_IS_READY) assert_int_equal(write(pipes[1], "x", 1), 1);
    if (*way == BEHIND_SEVERAL) {
        for (int i = 0; i < 3; i++) spawn(computes, way);
        spawn(counts, NULL);
    }
}

static void what_is_ready_runs_while_all_workers_compute(void **state)
{
    rad_options o = {.workers = WORKERS};
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        computing = ran = gave_up = 0;
        began_ns = storm_cpu_ns();
        assert_int_equal(rad_runtime_create(&runtime, &o, NULL), 0);
        assert_int_equal(rad_chan_create(&chan, sizeof(int), 1, RAD_CHAN_BLOCKS), 0);
        assert_int_equal(rad_chan_create(&there, sizeof(int), 1, RAD_CHAN_BLOCKS), 0);
        assert_int_equal(rad_chan_create(&back, sizeof(int), 1, RAD_CHAN_BLOCKS), 0);
        assert_int_equal(pipe(pipes), 0);
        assert_int_equal(rad_fd_prepare(pipes[0]), 0);
        prepare(&way);
        while (way != BESIDE_TALKERS && way != YIELDED && atomic_load(&computing) < WORKERS) storm_block_ms(1);
        make_ready(&way);
        while (!is_over()) storm_block_ms(1);
        rad_runtime_destroy(runtime);
        if (gave_up) fail_msg("way %d: nothing ran in %d ms of CPU time", (int)way, LIMIT_MS);
        rad_chan_destroy(chan);
        rad_chan_destroy(there);
        rad_chan_destroy(back);
        close(pipes[0]);
        close(pipes[1]);
    }
}

/* ---- A pool that works ------------------------------------------------------------------------------------------ */

enum { TASKS = 40, TASK_MS = 20 };

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int works(void *arg)
{
    uint64_t began = thread_cpu_ns();
    (void)arg;
    while (thread_cpu_ns() - began < (uint64_t)TASK_MS * MS) {
    }
    return 0;
}

static int fills_the_pool(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < TASKS; i++) CHECK(rad_nursery_spawn(&n, NULL, works, NULL) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    const rad_exec *exec = rad_self().slot->strand.runtime->exec;
    CHECK(rad__sched_live(&exec->sched) == WORKERS);
    return 0;
}

/* A long queue is no reason for another worker, as long as those there are finish their tasks. */
static void a_pool_that_works_gets_no_more_workers(void **state)
{
    (void)state;
    storm_run(WORKERS, fills_the_pool, NULL);
}

/* ---- No thread is to be had ------------------------------------------------------------------------------- */

/* One more worker is wanted all the time, and cannot be started. */
static int computes_without_help(void *arg)
{
    rad_fiber f;
    (void)arg;
    CHECK(rad_spawn(&f, works, NULL) == 0);
    rad__os_fail_at(1);
    uint64_t until = thread_cpu_ns() + 300 * MS;
    while (thread_cpu_ns() < until) continue;
    rad__os_fail_at(0);
    CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
    rad_release(f);
    return 0;
}

/* A worker that never came about must not be waited for. */
static void a_worker_that_cannot_be_started_is_not_waited_for(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = 2};
    assert_int_equal(rad_main(&o, computes_without_help, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_ready_runs_while_all_workers_compute),
        cmocka_unit_test(a_pool_that_works_gets_no_more_workers),
        cmocka_unit_test(a_worker_that_cannot_be_started_is_not_waited_for),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
