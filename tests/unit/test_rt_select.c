/* test_rt_select.c — select over what is not a channel: time, cancellation, mutex, semaphore, wait group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>

#include "sync_support.h"

enum { MS = 1000000 };

static void run(uint32_t workers, rad_fn fn, void *arg)
{
    rad_options o = {.workers = workers};
    assert_int_equal(rad_main(&o, fn, arg, NULL), 0);
}

/* ---- Time ------------------------------------------------------------------------------------------------ */

static int on_time(void *arg)
{
    (void)arg;
    rad_chan *c;
    int value = 1;
    assert_int_equal(rad_chan_create(&c, sizeof value, 1, RAD_CHAN_BLOCKS), 0);
    rad_select_case cases[3] = {{.kind = RAD_ON_TIME, .on.time = rad_after(500 * MS)},
                                {.kind = RAD_ON_RECV, .on.chan = c, .value = &value},
                                {.kind = RAD_ON_TIME, .on.time = rad_after(2 * MS)}};
    assert_int_equal(rad_select(cases, 3, 0), RAD_ETIMEOUT);
    cases[2].code = 5;
    assert_int_equal(rad_select(cases, 3, RAD_FOREVER), 2); /* the earliest of them */
    assert_int_equal(cases[2].code, 0);
    assert_true(rad_now() >= cases[2].on.time);
    assert_int_equal(rad_select(cases, 3, 0), 2); /* it has passed: also with a try */
    cases[2].on.time = rad_after(500 * MS);
    assert_int_equal(rad_select(cases, 3, rad_after(MS)),
                     RAD_ETIMEOUT); /* the deadline is earlier */
    assert_int_equal(rad_send(c, &value, 0), 0);
    value = 0;
    assert_int_equal(rad_select(cases, 3, RAD_FOREVER), 1);
    assert_int_equal(value, 1);
    assert_int_equal(rad_select(cases, 1, rad_after(MS)), RAD_ETIMEOUT);
    cases[0].on.time = rad_after(MS);
    assert_int_equal(rad_select(cases, 1, RAD_FOREVER), 0); /* nothing but time */
    /* When both can be done, either is, now and then. */
    int timed = 0, received = 0;
    for (int i = 0; i < 200; i++) {
        rad_send(c, &value, 0);
        int which = rad_select(cases, 2, RAD_FOREVER);
        timed += which == 0;
        received += which == 1;
    }
    assert_int_equal(timed + received, 200);
    assert_true(timed > 0 && received > 0);
    rad_chan_destroy(c);
    return 0;
}

static void time_is_a_case(void **state)
{
    (void)state;
    run(1, on_time, NULL);
    run(2, on_time, NULL);
    on_time(NULL); /* a thread */
}

/* ---- Cancellation ---------------------------------------------------------------------------------------- */

static int waits_to_be_cancelled(void *arg)
{
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = arg},
                                {.kind = RAD_ON_CANCEL, .code = 5}};
    int which = rad_select(cases, 2, RAD_FOREVER);
    assert_int_equal(cases[1].code, 0);
    assert_int_equal(rad_select(cases, 2, 0), 1);
    assert_int_equal(rad_select(cases, 1, RAD_FOREVER), RAD_ECANCELED);
    rad_shield(true);
    assert_int_equal(rad_select(cases, 2, 0), RAD_ETIMEOUT); /* it is not told */
    rad_shield(false);
    return which;
}

static int on_cancel(void *arg)
{
    (void)arg;
    rad_chan *c;
    rad_fiber f;
    rad_gift r;
    rad_nursery n;
    assert_int_equal(rad_chan_create(&c, 0, 0, RAD_CHAN_BLOCKS), 0);
    rad_select_case mine[2] = {{.kind = RAD_ON_RECV, .on.chan = c}, {.kind = RAD_ON_CANCEL}};
    assert_int_equal(rad_select(mine, 2, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(mine, 2, rad_after(MS)), RAD_ETIMEOUT);
    assert_int_equal(rad_spawn(&f, waits_to_be_cancelled, c), 0);
    rad_sleep(MS);
    rad_cancel(f); /* while it waits; or before, it makes no difference */
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, 1);
    rad_release(f);
    rad_nursery_open(&n, rad_after(5 * MS)); /* its deadline cancels, too */
    assert_int_equal(rad_nursery_spawn(&n, NULL, waits_to_be_cancelled, c), 0);
    assert_int_equal(rad_nursery_wait(&n), 1);
    rad_chan_destroy(c);
    return 0;
}

static void cancellation_is_a_case(void **state)
{
    (void)state;
    run(1, on_cancel, NULL);
    run(3, on_cancel, NULL);
    rad_select_case never = {.kind = RAD_ON_CANCEL};
    assert_int_equal(rad_select(&never, 1, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(&never, 1, rad_after(MS)), RAD_ETIMEOUT);
}

/* ---- Locks, permits, groups ------------------------------------------------------------------------------- */

enum { FIBERS = 6, TURNS = 1500 };

typedef struct yard {
    rad_mutex m[2];
    int inside[2], count;
    rad_semaphore s;
    _Atomic int out, entered, next;
    rad_waitgroup g;
    rad_chan *c;
} yard;

static void enter(yard *y, int which)
{
    assert_int_equal(y->inside[which]++, 0);
    if (y->next % 4 == 0 && rad_self().slot) rad_yield();
    assert_int_equal(--y->inside[which], 0);
    rad_mutex_unlock(&y->m[which]);
}

static int selects(void *arg)
{
    yard *y = arg;
    int me = y->next++;
    for (int i = 0; i < TURNS; i++) {
        if ((i + me) % 3 == 0) { /* others just lock */
            int which = i & 1;
            assert_int_equal(rad_mutex_lock(&y->m[which], RAD_FOREVER), 0);
            enter(y, which);
            y->entered++;
            continue;
        }
        rad_select_case cases[3] = {{.kind = RAD_ON_LOCK, .on.mutex = &y->m[0]},
                                    {.kind = RAD_ON_ACQUIRE, .on.semaphore = &y->s},
                                    {.kind = RAD_ON_LOCK, .on.mutex = &y->m[1]}};
        int which = rad_select(cases, 3, i % 5 == 0 ? rad_after(2000) : RAD_FOREVER);
        if (which == RAD_ETIMEOUT) continue;
        assert_int_equal(cases[which].code, 0);
        y->entered++;
        if (which == 1) {
            assert_in_range(++y->out, 1, 2);
            if (i % 7 == 0 && rad_self().slot) rad_yield();
            y->out--;
            rad_semaphore_release(&y->s, 1);
        } else {
            assert_true(rad_mutex_is_mine(cases[which].on.mutex));
            enter(y, which / 2);
        }
    }
    rad_waitgroup_done(&y->g);
    return 0;
}

static void *selects_thread(void *arg)
{
    selects(arg);
    return NULL;
}

static int all_select(void *arg)
{
    yard *y = arg;
    rad_chan *c;
    assert_int_equal(rad_chan_create(&c, 0, 0, RAD_CHAN_BLOCKS), 0);
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = c},
                                {.kind = RAD_ON_GROUP, .on.group = &y->g}};
    assert_int_equal(rad_select(cases, 2, 0), RAD_ETIMEOUT);
    for (int i = 0; i < FIBERS; i++) assert_int_equal(rad_spawn(NULL, selects, y), 0);
    assert_int_equal(rad_select(cases, 2, RAD_FOREVER), 1);
    rad_chan_destroy(c);
    return 0;
}

static void locks_permits_and_groups_are_cases(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        yard y = {.s = RAD_SEMAPHORE_INIT(2)};
        pthread_t t;
        rad_waitgroup_add(&y.g, FIBERS + 1);
        assert_int_equal(pthread_create(&t, NULL, selects_thread, &y), 0);
        run(workers, all_select, &y);
        pthread_join(t, NULL);
        assert_true(y.entered > 0);
        assert_int_equal(rad_semaphore_permits(&y.s), 2);
        assert_int_equal(rad_mutex_lock(&y.m[0], 0) + rad_mutex_lock(&y.m[1], 0), 0);
    }
}

static void selects_nonsense(void)
{
    rad_select_case c = {.kind = (enum rad_select_kind)99};
    rad_select(&c, 1, 0);
}

static void a_kind_that_does_not_exist(void **state)
{
    (void)state;
    expect_misuse(selects_nonsense, "rad_select: a case has a kind that does not exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_a_case),
        cmocka_unit_test(cancellation_is_a_case),
        cmocka_unit_test(locks_permits_and_groups_are_cases),
        cmocka_unit_test(a_kind_that_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
