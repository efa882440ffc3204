/* test_promises.c — limits that are off by one, times that are old, a thread or a turn that is promised to somebody
 * else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "patience_support.h"
#include "storm_support.h"
#include "sync_support.h"

#include <time.h>

enum { MS = 1000000 };

static const uint64_t hour = UINT64_C(3600000000000);

static void run(rad_fn fn)
{
    rad_options o = {.workers = 1, .extra_workers = extra_beside(1), .blocking_threads = 1};
    assert_int_equal(rad_main(&o, fn, NULL, NULL), 0);
}

/* ---- Channels -------------------------------------------------------------------------------------------- */

/* What is thrown away counts: a batch does not end there. */
static int sends_more_than_there_is_room_for(void *unused)
{
    static const int values[5] = {1, 2, 3, 4, 5};
    (void)unused;
    for (enum rad_chan_mode mode = RAD_CHAN_DROPS_NEW; mode <= RAD_CHAN_DROPS_OLD; mode++) {
        rad_chan *c;
        int got[5] = {0}, first = mode == RAD_CHAN_DROPS_NEW ? 1 : 4;
        CHECK(rad_chan_create(&c, sizeof(int), 2, mode) == 0);
        CHECK(rad_send_many(c, values, 5, RAD_FOREVER) == 5);
        CHECK(rad_recv_many(c, got, 5, RAD_FOREVER) == 2);
        CHECK(got[0] == first && got[1] == first + 1);
        rad_chan_destroy(c);
    }
    return 0;
}

static void a_batch_goes_on_behind_what_is_thrown_away(void **state)
{
    (void)state;
    run(sends_more_than_there_is_room_for);
}

/* ---- Locks ----------------------------------------------------------------------------------------------- */

static rad_semaphore permits = RAD_SEMAPHORE_INIT(1);

static int wants(void *count)
{
    return rad_semaphore_acquire(&permits, (uint32_t)(uintptr_t)count, RAD_FOREVER);
}

/* One permit, and who wants two stands before who wants one, and gives up. */
static int makes_way(void *unused)
{
    rad_fiber first, second;
    rad_fiber_result result;
    (void)unused;
    CHECK(rad_spawn(&first, wants, (void *)2) == 0);
    rad_yield();
    CHECK(rad_spawn(&second, wants, (void *)1) == 0);
    rad_yield();
    CHECK(rad_join(second, NULL, 0) == RAD_ETIMEOUT);
    rad_cancel(first);
    CHECK(rad_join(second, &result, RAD_FOREVER) == 0 && result.code == 0);
    CHECK(rad_join(first, &result, RAD_FOREVER) == 0 && result.code == RAD_ECANCELED);
    rad_release(first);
    rad_release(second);
    return 0;
}

static void who_gives_up_two_lets_one_pass(void **state)
{
    (void)state;
    run(makes_way);
}

static int writes_what_a_select_reads(void *unused)
{
    static rad_rwlock l;
    rad_select_case c = {.kind = RAD_ON_READ, .on.rwlock = &l};
    (void)unused;
    CHECK(rad_select(&c, 1, RAD_FOREVER) == 0);
    rad_rwlock_write(&l);
    return 0;
}

static void waits_for_itself(void)
{
    run(writes_what_a_select_reads);
}

static void a_select_that_reads_is_a_reader(void **state)
{
    (void)state;
    expect_misuse(waits_for_itself, "rad_rwlock_write: the caller has it to read");
}

/* ---- Timers ---------------------------------------------------------------------------------------------- */

/* Put off while its fiber sleeps, and called for again when that has looked: not when it was put off to. */
static int puts_off(void *unused)
{
    rad_timer *t;
    (void)unused;
    CHECK(rad_timer_create(&t, NULL, NULL) == 0);
    CHECK(rad_timer_start(t, rad_after(5 * MS)) == 0);
    rad_yield();
    CHECK(rad_timer_start(t, rad_after(hour)) == 1);
    CHECK(rad_sleep(30 * MS) == 0);
    CHECK(rad_timer_start(t, rad_after(5 * MS)) == 1);
    CHECK(rad_timer_wait(t, rad_after(hour / 2)) == 0);
    rad_timer_destroy(t);
    return 0;
}

static void a_timer_that_was_put_off_can_be_called_for_again(void **state)
{
    (void)state;
    run(puts_off);
}

/* ---- Blocking calls -------------------------------------------------------------------------------------- */

enum { ROUNDS = 20 };

static _Atomic bool tried;

/* Until the other one has tried; should that one wait for us, for ten seconds and more. */
static int busy(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10000 && !atomic_load(&tried); i++) nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
    return 0;
}

static int calls(void *unused)
{
    (void)unused;
    return rad_blocking(busy, NULL, NULL, RAD_FOREVER);
}

/* The only thread sleeps, and is promised to somebody else: a try does not wait for it. */
static int tries_behind_another(void *unused)
{
    (void)unused;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        rad_fiber f;
        atomic_store(&tried, false);
        CHECK(rad_spawn(&f, calls, NULL) == 0);
        rad_yield();
        CHECK(rad_blocking(busy, NULL, NULL, 0) == RAD_ETIMEOUT);
        atomic_store(&tried, true);
        CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
        rad_release(f);
        CHECK(rad_sleep(MS) == 0);
    }
    return 0;
}

static void a_try_does_not_wait_for_a_promised_thread(void **state)
{
    (void)state;
    run(tries_behind_another);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_goes_on_behind_what_is_thrown_away),
        cmocka_unit_test(who_gives_up_two_lets_one_pass),
        cmocka_unit_test(a_select_that_reads_is_a_reader),
        cmocka_unit_test(a_timer_that_was_put_off_can_be_called_for_again),
        cmocka_unit_test(a_try_does_not_wait_for_a_promised_thread),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
