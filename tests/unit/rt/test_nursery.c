/* Nurseries: spawning without an answer to check, one's own nursery, ending one on purpose. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <raddle.h>
#include <setjmp.h>
#include <stdatomic.h>

#include <cmocka.h>

#include "rt/nursery.h"

#include <time.h>

#include "patience_support.h"

static void run(rad_fn fn, void *arg)
{
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
        assert_int_equal(rad_main(&o, fn, arg, NULL), 0);
    }
}

static int ends_with(void *code)
{
    return (int)(intptr_t)code;
}

static int waits_until_canceled(void *unused)
{
    (void)unused;
    return rad_sleep_until(RAD_FOREVER);
}

/* ---- rad_nursery_go ---------------------------------------------------------------------------------- */

static int counts(void *count)
{
    atomic_fetch_add((_Atomic int *)count, 1);
    return 0;
}

static int goes(void *unused)
{
    rad_nursery n;
    _Atomic int count = 0;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 100; i++) rad_nursery_go(&n, counts, &count);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(count, 100);
    return 0;
}

static void go_spawns(void **state)
{
    (void)state;
    run(goes, NULL);
}

/* The limit leaves room for two children. */
static int goes_beyond_the_limit(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) rad_nursery_go(&n, waits_until_canceled, NULL);
    assert_int_equal(rad_nursery_wait(&n), RAD_ELIMIT);
    return 0;
}

static void go_that_fails_cancels_the_nursery(void **state)
{
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE, .fibers = 3};
    (void)state;
    assert_int_equal(rad_main(&o, goes_beyond_the_limit, NULL, NULL), 0);
}

static int receives(void *chan)
{
    int value;
    return rad_recv(chan, &value, RAD_FOREVER);
}

static int goes_after_close(void *unused)
{
    rad_nursery n;
    rad_chan *c;
    int value = 1;
    (void)unused;
    assert_int_equal(rad_chan_create(&c, sizeof value, 0, RAD_CHAN_BLOCKS), 0);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, receives, c);
    rad_nursery_close(&n);
    rad_nursery_go(&n, receives, c);
    assert_int_equal(rad_send(c, &value, RAD_FOREVER), 0); /* the first child was not cancelled */
    assert_int_equal(rad_nursery_wait(&n), RAD_ECLOSED);
    rad_chan_destroy(c);
    return 0;
}

static void go_into_a_closed_nursery_is_reported(void **state)
{
    (void)state;
    run(goes_after_close, NULL);
}

/* ---- rad_nursery_current ----------------------------------------------------------------------------- */

static int spawns_a_sibling(void *count)
{
    rad_nursery own;
    rad_nursery *n = rad_nursery_current();
    assert_non_null(n);
    rad_nursery_open(&own, RAD_FOREVER);
    assert_ptr_equal(rad_nursery_current(), n); /* not the one it opened */
    rad_nursery_go(n, counts, count);
    return rad_nursery_wait(&own);
}

static int has_none(void *seen)
{
    *(rad_nursery **)seen = rad_nursery_current();
    return 0;
}

static int looks_for_its_own(void *unused)
{
    rad_nursery n, *seen = &n;
    rad_fiber f;
    _Atomic int count = 0;
    (void)unused;
    assert_null(rad_nursery_current());
    rad_nursery_open(&n, RAD_FOREVER);
    assert_null(rad_nursery_current());
    for (int i = 0; i < 10; i++) rad_nursery_go(&n, spawns_a_sibling, &count);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(count, 10); /* the nursery has waited for them, too */
    assert_int_equal(rad_spawn(&f, has_none, &seen), 0);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    assert_null(seen);
    return 0;
}

static void a_fiber_finds_its_nursery(void **state)
{
    (void)state;
    assert_null(rad_nursery_current()); /* a thread */
    run(looks_for_its_own, NULL);
}

/* ---- On purpose --------------------------------------------------------------------------------------- */

static int answers_after_cancel(void *code)
{
    int done = rad_sleep_until(RAD_FOREVER);
    assert_int_equal(done, RAD_ECANCELED);
    return (int)(intptr_t)code;
}

static int keeps_a_nursery(void *below)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, waits_until_canceled, NULL);
    *(int *)below = rad_nursery_wait(&n);
    return *(int *)below;
}

typedef struct ending {
    int before, after; /* what a child answers before, and one after the cancellation */
    int reasons[2];
    int expected;
} ending;

static const ending ENDINGS[] = {
    {0, RAD_ECANCELED, {0, 0}, 0},     {0, 0, {0, 0}, 0},
    {0, RAD_ECANCELED, {0, -70}, 0},                                              /* the first reason counts */
    {0, RAD_ECANCELED, {-70, 0}, -70}, {0, -71, {0, 0}, -71},                     /* a failure of its own */
    {-72, RAD_ECANCELED, {0, 0}, -72}, {RAD_ECANCELED, 0, {0, 0}, RAD_ECANCELED}, /* before: nobody had asked it to */
    {-72, -71, {-70, -70}, -72},
};

static int ends_on_purpose(void *arg)
{
    const ending *e = arg;
    rad_nursery n;
    rad_fiber f;
    int below = 1;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, &f, ends_with, (void *)(intptr_t)e->before), 0);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    rad_nursery_go(&n, answers_after_cancel, (void *)(intptr_t)e->after);
    rad_nursery_go(&n, keeps_a_nursery, &below);
    rad_yield();
    for (int i = 0; i < 2; i++) rad_nursery_cancel(&n, e->reasons[i]);
    assert_int_equal(rad_nursery_wait(&n), e->expected);
    assert_in_set(below, ((uintmax_t[]){(uintmax_t)RAD_ECANCELED, (uintmax_t)e->reasons[0]}), 2);
    return 0;
}

static void ended_on_purpose_is_no_failure(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        for (uint32_t workers = 1; workers <= 3; workers++) {
            rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
            /* A joiner runs before the nursery hears of the child's end, unless there is one worker. */
            if (workers > 1 && ENDINGS[i].before != 0) break;
            assert_int_equal(rad_main(&o, ends_on_purpose, (void *)&ENDINGS[i], NULL), 0);
        }
}

static int is_canceled_after_ending(void *answer)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, waits_until_canceled, NULL);
    rad_nursery_cancel(&n, 0);
    rad_cancel(rad_self());
    *(int *)answer = rad_nursery_wait(&n);
    return 0;
}

static int cancels_the_owner(void *unused)
{
    rad_nursery n;
    int answer = 1;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, is_canceled_after_ending, &answer);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(answer, 0);
    return 0;
}

static void who_is_canceled_while_it_ends_one_is_not_told_by_it(void **state)
{
    (void)state;
    run(cancels_the_owner, NULL);
}

/* ---- Who was told leaves by itself ------------------------------------------------------------------------ */

enum { CHILDREN = 200 };

static int counts_and_waits(void *begun)
{
    atomic_fetch_add((_Atomic int *)begun, 1);
    return rad_sleep_until(RAD_FOREVER);
}

/* The owner keeps its worker and the lock of the nursery; the other worker runs the children. Each can end without the
 * lock, but for the last one. */
static int holds_the_lock_meanwhile(void *unused)
{
    rad_nursery n;
    rad__nursery *f = (rad__nursery *)(void *)&n;
    _Atomic int begun = 0;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CHILDREN; i++) rad_nursery_go(&n, counts_and_waits, &begun);
    while (atomic_load(&begun) < CHILDREN) assert_int_equal(rad_sleep(1000000), 0);
    rad_nursery_cancel(&n, 0);
    rad__lock(&f->object.lock);
    clock_t began = clock();
    while (atomic_load(&f->unlisted) > 1 && clock() - began < 20 * CLOCKS_PER_SEC) continue;
    uint64_t left = atomic_load(&f->unlisted);
    rad__unlock(&f->object.lock);
    assert_int_equal(left, 1);
    assert_int_equal(rad_nursery_wait(&n), 0);
    return 0;
}

static void children_who_were_told_end_without_the_lock(void **state)
{
    rad_options o = {.workers = 2};
    (void)state;
    assert_int_equal(rad_main(&o, holds_the_lock_meanwhile, NULL, NULL), 0);
}

/* ---- Cancelling twice -------------------------------------------------------------------------------------- */

static _Atomic int stage;

static int sleeps_long(void *arg)
{
    (void)arg;
    atomic_store(&stage, 2);
    return rad_sleep(UINT64_C(10000000000)) == RAD_ECANCELED ? -7 : 0;
}

/* Shielded, it opens a nursery when the one that it is in has been cancelled already. */
static int opens_one_late(void *arg)
{
    rad_nursery below;
    (void)arg;
    rad_shield(true);
    while (atomic_load(&stage) < 1) assert_int_equal(rad_sleep(1000000), 0);
    rad_nursery_open(&below, RAD_FOREVER);
    rad_nursery_go(&below, sleeps_long, NULL);
    return rad_nursery_wait(&below);
}

static int cancels_twice(void *arg)
{
    rad_nursery n;
    (void)arg;
    atomic_store(&stage, 0);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, opens_one_late, NULL);
    assert_int_equal(rad_sleep(1000000), 0);
    rad_nursery_cancel(&n, -5);
    atomic_store(&stage, 1);
    while (atomic_load(&stage) < 2) assert_int_equal(rad_sleep(1000000), 0);
    rad_time began = rad_now();
    rad_nursery_cancel(&n, -6);
    assert_int_equal(rad_nursery_wait(&n), -5);
    assert_true(rad_now() - began < UINT64_C(10000000000)); /* it was told */
    return 0;
}

static void a_second_cancel_reaches_what_came_after_the_first(void **state)
{
    (void)state;
    run(cancels_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(go_spawns),
        cmocka_unit_test(go_that_fails_cancels_the_nursery),
        cmocka_unit_test(go_into_a_closed_nursery_is_reported),
        cmocka_unit_test(a_fiber_finds_its_nursery),
        cmocka_unit_test(ended_on_purpose_is_no_failure),
        cmocka_unit_test(who_is_canceled_while_it_ends_one_is_not_told_by_it),
        cmocka_unit_test(children_who_were_told_end_without_the_lock),
        cmocka_unit_test(a_second_cancel_reaches_what_came_after_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
