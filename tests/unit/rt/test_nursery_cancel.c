/* test_nursery_cancel.c — large nurseries and deep trees of them: cancelled little at a time, and no fiber is
 * missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "rt/nursery.h"

#include <pthread.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
enum {
    MANY = 300,
    DEPTH = 30,
    GROWTHS = 3,
    CHANGES = 1,
    CHANGING = 20
}; /* it has a limit of 8,128 fibers, and a new one takes it a millisecond */
#else
enum { MANY = 20000, DEPTH = 300, GROWTHS = 20, CHANGES = 10, CHANGING = 50 };
#endif

static _Atomic uint32_t begun, told;

static void reset(void)
{
    atomic_store(&begun, 0);
    atomic_store(&told, 0);
}

static void wait_for(const _Atomic uint32_t *count, uint32_t wanted)
{
    while (atomic_load(count) < wanted) rad_sleep(1000000);
}

static int waits(void *arg)
{
    (void)arg;
    atomic_fetch_add(&begun, 1);
    assert_int_equal(rad_sleep_until(RAD_FOREVER), RAD_ECANCELED);
    atomic_fetch_add(&told, 1);
    return 0;
}

static void run(rad_fn body, uint32_t workers)
{
    rad_options o = {.workers = workers};
    reset();
    assert_int_equal(rad_main(&o, body, NULL, NULL), 0);
}

/* ---- A large one ---------------------------------------------------------------------------------------- */

static int cancels_many(void *arg)
{
    rad_nursery n;
    rad__nursery *f = (rad__nursery *)(void *)&n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < MANY; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, waits, NULL), 0);
    wait_for(&begun, MANY);
    rad_nursery_cancel(&n, -5);
    assert_true(f->holds >= MANY / 256);
    assert_int_equal(rad_nursery_wait(&n), -5);
    assert_int_equal(atomic_load(&told), MANY);
    return 0;
}

static void few_children_are_taken_under_the_lock(void **state)
{
    (void)state;
    run(cancels_many, 1);
    run(cancels_many, 2);
}

/* ---- While children come and go -------------------------------------------------------------------------- */

/* Fills the nursery it is in until it is cancelled: what comes after that is born cancelled. */
static int fills(void *nursery)
{
    for (uint32_t i = 0; !rad_is_canceled() && i < MANY; i++) {
        assert_int_equal(rad_nursery_spawn(nursery, NULL, waits, NULL), 0);
        if (i % 16 == 0) rad_yield();
    }
    assert_int_equal(rad_nursery_spawn(nursery, NULL, waits, NULL), 0);
    return 0;
}

static int cancels_it(void *nursery)
{
    rad_nursery_cancel(nursery, -6);
    return 0;
}

static int cancels_while_it_grows(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, fills, &n), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, fills, &n), 0);
    wait_for(&begun, 100);
    for (int i = 0; i < 4; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, cancels_it, &n), 0);
    assert_int_equal(rad_nursery_wait(&n), -6);
    return 0;
}

static void who_comes_while_it_is_cancelled_is_told(void **state)
{
    (void)state;
    for (int round = 0; round < GROWTHS; round++) {
        run(cancels_while_it_grows, 1 + (uint32_t)round % 3);
        assert_true(atomic_load(&told) >= 100); /* and nobody was left: the wait has returned */
    }
}

/* ---- A tree --------------------------------------------------------------------------------------------- */

/* A chain of nurseries, each with a child that waits, and one that ends at any time. */
static int ends(void *arg)
{
    (void)arg;
    return 0;
}

static int nests(void *left)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, waits, NULL), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, ends, NULL), 0);
    if ((intptr_t)left > 0) assert_int_equal(rad_nursery_spawn(&n, NULL, nests, (void *)((intptr_t)left - 1)), 0);
    int code = rad_nursery_wait(&n);
    assert_true(code == -7 || code == RAD_ECANCELED);
    return 0;
}

static int cancels_a_chain(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, nests, (void *)(intptr_t)DEPTH), 0);
    wait_for(&begun, DEPTH + 1);
    rad_nursery_cancel(&n, -7);
    assert_int_equal(rad_nursery_wait(&n), -7);
    assert_int_equal(atomic_load(&told), DEPTH + 1);
    return 0;
}

/* Nurseries that open and close all the time below the one that is cancelled. */
static int opens_and_closes(void *arg)
{
    (void)arg;
    atomic_fetch_add(&begun, 1);
    while (!rad_is_canceled()) {
        rad_nursery n;
        rad_nursery_open(&n, RAD_FOREVER);
        assert_int_equal(rad_nursery_spawn(&n, NULL, ends, NULL), 0);
        int code = rad_nursery_wait(&n);
        assert_true(code == 0 || code == -8 || code == RAD_ECANCELED);
    }
    atomic_fetch_add(&told, 1);
    return 0;
}

static rad_nursery *shown;

static void *cancels_from_outside(void *reason)
{
    rad_nursery_cancel(shown, (int)(intptr_t)reason);
    return NULL;
}

static int cancels_what_changes(void *arg)
{
    rad_nursery n;
    pthread_t thread;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    shown = &n;
    for (int i = 0; i < CHANGING; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, opens_and_closes, NULL), 0);
    wait_for(&begun, CHANGING);
    assert_int_equal(pthread_create(&thread, NULL, cancels_from_outside, (void *)(intptr_t)-8), 0);
    assert_int_equal(rad_nursery_wait(&n), -8); /* the thread may still be in its call */
    memset(&n, 0xee, sizeof n);                 /* … but not in the nursery */
    assert_int_equal(atomic_load(&told), CHANGING);
    pthread_join(thread, NULL);
    return 0;
}

static void a_tree_is_cancelled_while_it_changes(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        run(cancels_a_chain, workers);
        for (int round = 0; round < CHANGES; round++) run(cancels_what_changes, workers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_children_are_taken_under_the_lock),
        cmocka_unit_test(who_comes_while_it_is_cancelled_is_told),
        cmocka_unit_test(a_tree_is_cancelled_while_it_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
