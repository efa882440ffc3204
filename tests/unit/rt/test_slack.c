/* test_slack.c — sleeping: never early, one wake for many timers, sharper on request, and help for those who run
 * for long after they slept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "rt/runtime.h"
#include "storm_support.h"

enum { US = 1000, MS = 1000000 };

static void run(const rad_options *o, rad_fn fn, void *arg)
{
    assert_int_equal(rad_main(o, fn, arg, NULL), 0);
}

/* ---- Never early ------------------------------------------------------------------------------------------- */

static int sleeps_in_many_ways(void *arg)
{
    bool sharp = *(bool *)arg;
    if (sharp) rad_sharp(true);
    for (uint64_t ns = 1; ns < 4 * MS; ns = ns * 7 / 4 + 1) {
        rad_time until = rad_after(ns);
        CHECK(rad_sleep_until(until) == 0);
        CHECK(rad_now() >= until);
    }
    if (sharp) rad_sharp(false);
    return 0;
}

static int many_sleep(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 50; i++) CHECK(rad_nursery_spawn(&n, NULL, sleeps_in_many_ways, arg) == 0);
    return rad_nursery_wait(&n);
}

static void nobody_wakes_early(void **state)
{
    (void)state;
    uint32_t slacks[] = {0, RAD_NONE, 1, 3000};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t sharp = 0; sharp < 2; sharp++) {
            rad_options o = {.workers = 2, .slack_us = slacks[i]};
            bool is_sharp = sharp == 1;
            run(&o, many_sleep, &is_sharp);
        }
}

/* ---- One wake for many ------------------------------------------------------------------------------------- */

enum { SLEEPERS = 100 };

typedef struct dormitory {
    rad_time begin;
    int armed;
} dormitory;

static int sleeps_in_a_dormitory(void *arg)
{
    dormitory *d = arg;
    return rad_sleep_until(d->begin + (rad_time)d->armed++ * 100 * US);
}

/* Their deadlines are 100 us apart. How many times the worker slept until all of them were through. */
static int fills_a_dormitory(void *arg)
{
    dormitory d = {.begin = rad_after(20 * MS)};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < SLEEPERS; i++) CHECK(rad_nursery_spawn(&n, NULL, sleeps_in_a_dormitory, &d) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    *(uint64_t *)arg = atomic_load(&rad__rt_worker()->worker->stats.parked);
    return 0;
}

static void one_wake_serves_many_timers(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE, .slack_us = 20000};
    uint64_t slept = 0;
    run(&o, fills_a_dormitory, &slept);
    assert_in_range(slept, 1, SLEEPERS / 10);
}

static void too_much_slack_is_refused(void **state)
{
    (void)state;
    rad_error error;
    rad_options o = {.slack_us = 1000001};
    assert_int_equal(rad_main(&o, fills_a_dormitory, NULL, &error), RAD_EINPUT);
}

/* ---- Sharper ----------------------------------------------------------------------------------------------- */

enum { TRIES = 100, SLACK_MS = 200 };

/* Nobody is woken sooner than the slack after the time, unless it is left out: one that is shows that. */
static bool is_one_sharp(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES && least >= (uint64_t)SLACK_MS * MS / 2; i++) {
        rad_time until = rad_after(MS);
        CHECK(rad_sleep_until(until) == 0);
        uint64_t late = rad_now() - until;
        if (late < least) least = late;
    }
    return least < (uint64_t)SLACK_MS * MS / 2;
}

static int is_sharp(void *arg)
{
    (void)arg;
    rad_sharp(true);
    rad_sharp(true);
    rad_sharp(false);
    CHECK(is_one_sharp());
    rad_sharp(false);
    rad_rt_worker *rt_worker = rad__rt_worker();
    CHECK(atomic_load(&rt_worker->sharp) == 0);
    return 0;
}

static int is_not_sharp(void *arg)
{
    (void)arg;
    CHECK(is_one_sharp());
    return 0;
}

static void a_fiber_can_be_sharp(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE, .slack_us = SLACK_MS * 1000};
    run(&o, is_sharp, NULL);
}

static void a_runtime_can_be_sharp(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE, .slack_us = RAD_NONE};
    run(&o, is_not_sharp, NULL);
}

static _Atomic bool is_awake;

static int sleeps_sharply(void *arg)
{
    (void)arg;
    rad_sharp(true);
    CHECK(rad_sleep(MS) == 0);
    rad_sharp(false);
    atomic_store(&is_awake, true);
    return 0;
}

/* It keeps the only worker, so the monitor thread finds the timer, and another worker runs the sleeper: long before it
 * would with the slack, which is a second. */
static int computes_beside_a_sharp_one(void *arg)
{
    rad_nursery n;
    (void)arg;
    atomic_store(&is_awake, false);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, sleeps_sharply, NULL);
    rad_yield();
    uint64_t began = storm_cpu_ns();
    while (!atomic_load(&is_awake) && storm_cpu_ns() - began < 200 * (uint64_t)MS) continue;
    CHECK(atomic_load(&is_awake));
    return rad_nursery_wait(&n);
}

static void who_is_sharp_has_no_slack_on_a_stuck_worker(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = 1, .slack_us = 1000000};
    run(&o, computes_beside_a_sharp_one, NULL);
}

/* ---- Help ---------------------------------------------------------------------------------------------------- */

typedef struct meeting {
    rad_time at;
    _Atomic uint32_t here;
} meeting;

/* Returns only if the other one runs at the same time. */
static int meets(void *arg)
{
    meeting *m = arg;
    CHECK(rad_sleep_until(m->at) == 0);
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < 2) continue;
    return 0;
}

static int sleeps_a_little(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) CHECK(rad_sleep(50 * US) == 0);
    return 0;
}

/* The workers have learned that who has slept runs for a moment only; two of them do not. */
static int meet_after_short_naps(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 20; i++) CHECK(rad_nursery_spawn(&n, NULL, sleeps_a_little, NULL) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    for (int i = 0; i < 5; i++) {
        meeting m = {.at = rad_after(5 * MS)};
        rad_nursery_open(&n, RAD_FOREVER);
        for (int k = 0; k < 2; k++) CHECK(rad_nursery_spawn(&n, NULL, meets, &m) == 0);
        CHECK(rad_nursery_wait(&n) == 0);
    }
    return 0;
}

static void who_computes_after_a_sleep_does_not_keep_the_others(void **state)
{
    (void)state;
    rad_options o = {.workers = 2, .extra_workers = RAD_NONE};
    run(&o, meet_after_short_naps, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_wakes_early),
        cmocka_unit_test(one_wake_serves_many_timers),
        cmocka_unit_test(too_much_slack_is_refused),
        cmocka_unit_test(a_fiber_can_be_sharp),
        cmocka_unit_test(a_runtime_can_be_sharp),
        cmocka_unit_test(who_is_sharp_has_no_slack_on_a_stuck_worker),
        cmocka_unit_test(who_computes_after_a_sleep_does_not_keep_the_others),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
