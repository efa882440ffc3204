/* test_user_timer.c — rad_timer: a function that is called later, or a case of select; stop, and another time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "patience_support.h"
#include "storm_support.h"
#include "sync_support.h"

enum { MS = 1000000 };
static const uint64_t hour = UINT64_C(3600000000000);

static void run(uint32_t workers, rad_fn fn)
{
    rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
    assert_int_equal(rad_main(&o, fn, NULL, NULL), 0);
}

typedef struct bell {
    rad_timer *timer;
    _Atomic uint32_t rings;
    rad_time due, rang;
    rad_semaphore heard;
} bell;

static int rings(void *arg)
{
    bell *b = arg;
    b->rang = rad_now();
    CHECK(b->rang >= b->due);
    b->rings++;
    rad_semaphore_release(&b->heard, 1);
    return 0;
}

static int starts(bell *b, uint64_t ns)
{
    b->due = rad_after(ns);
    return rad_timer_start(b->timer, b->due);
}

static void hears(bell *b)
{
    CHECK(rad_semaphore_acquire(&b->heard, 1, RAD_FOREVER) == 0);
}

/* ---- One timer -------------------------------------------------------------------------------------------- */

static int calls(void *unused)
{
    bell b = {.rings = 0};
    (void)unused;
    CHECK(rad_timer_create(&b.timer, rings, &b) == 0);
    CHECK(!rad_timer_stop(b.timer)); /* it never ran */
    for (uint32_t i = 1; i <= 5; i++) {
        CHECK(starts(&b, i * MS / 2) == 0);
        hears(&b);
        CHECK(b.rings == i && !rad_timer_stop(b.timer)); /* too late */
    }
    CHECK(starts(&b, 0) == 0); /* at once */
    hears(&b);
    CHECK(starts(&b, hour) == 0);
    CHECK(rad_timer_stop(b.timer) && !rad_timer_stop(b.timer)); /* in time, once */
    CHECK(starts(&b, hour) == 0);
    CHECK(starts(&b, MS) == 1); /* earlier */
    hears(&b);
    CHECK(b.rings == 7);
    b.due = 0;
    CHECK(rad_timer_start(b.timer, rad_after(2 * MS)) == 0);
    rad_time later = rad_after(8 * MS);
    bool moved = rad_timer_start(b.timer, later) == 1; /* unless the machine was slow */
    if (!moved) hears(&b);
    hears(&b);
    CHECK(b.rang >= later && b.rings == (moved ? 8 : 9));
    CHECK(rad_timer_start(b.timer, rad_after(2 * MS)) == 0);
    if (!rad_timer_stop(b.timer)) hears(&b);
    uint32_t seen = b.rings;
    rad_sleep(6 * MS);
    CHECK(b.rings == seen); /* what was stopped does not fire */
    CHECK(starts(&b, hour) == 0);
    rad_timer_destroy(b.timer); /* stops it: rad_main does not wait for an hour */
    rad_timer_destroy(NULL);
    return 0;
}

static void a_timer_calls_once_unless_it_is_stopped(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) run(workers, calls);
}

/* ---- Owners ----------------------------------------------------------------------------------------------- */

static _Atomic uint32_t fired;

static int destroys_itself(void *arg)
{
    rad_timer **t = arg;
    rad_timer_destroy(*t);
    free(t);
    fired++;
    return 0;
}

static int leaves_a_timer(void *unused)
{
    rad_timer **t = malloc(sizeof *t);
    (void)unused;
    CHECK(t != NULL && rad_timer_create(t, destroys_itself, t) == 0);
    return rad_timer_start(*t, rad_after(fired % 3 * MS));
}

static int leaves_many(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 200; i++) CHECK(rad_nursery_spawn(&n, NULL, leaves_a_timer, NULL) == 0);
    rad_nursery_cancel(&n, -1); /* the fibers that start them; not the timers */
    int code = rad_nursery_wait(&n);
    return code == 0 || code == -1 ? 0 : code;
}

static void a_timer_outlives_the_fiber_that_started_it(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        fired = 0;
        run(workers, leaves_many); /* which waits for the timers */
        assert_int_equal(fired, 200);
    }
}

static int starts_for_later(void *arg)
{
    bell *b = arg;
    return starts(b, hour);
}

static void a_shutdown_stops_timers(void **state)
{
    (void)state;
    bell b = {.rings = 0};
    rad_runtime *rt;
    rad_fiber f;
    rad_fiber_result given;
    rad_options o = {.workers = 2};
    assert_int_equal(rad_timer_create(&b.timer, rings, &b), 0);
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, &f, starts_for_later, &b), 0);
    assert_int_equal(rad_join(f, &given, RAD_FOREVER), 0);
    assert_int_equal(given.code, 0);
    rad_release(f);
    rad_runtime_shutdown(rt);
    rad_runtime_destroy(rt);
    assert_int_equal(b.rings, 0);
    assert_false(rad_timer_stop(b.timer));
    rad_timer_destroy(b.timer);
}

/* ---- Select ----------------------------------------------------------------------------------------------- */

static int selects(void *unused)
{
    rad_timer *t;
    rad_chan *chan;
    int value = 5;
    (void)unused;
    CHECK(rad_timer_create(&t, NULL, NULL) == 0);
    CHECK(rad_chan_create(&chan, sizeof value, 1, RAD_CHAN_BLOCKS) == 0);
    rad_select_case cases[2] = {{.kind = RAD_ON_TIMER, .on.timer = t},
                                {.kind = RAD_ON_RECV, .on.chan = chan, .value = &value}};
    CHECK(rad_select(cases, 2, 0) == RAD_ETIMEOUT);
    for (int i = 0; i < 3; i++) {
        rad_time due = rad_after(2 * MS);
        CHECK(rad_timer_start(t, due) == 0);
        CHECK(rad_select(cases, 2, RAD_FOREVER) == 0);
        CHECK(cases[0].code == 0 && rad_now() >= due);
        CHECK(rad_select(cases, 2, 0) == RAD_ETIMEOUT); /* it was received */
        CHECK(!rad_timer_stop(t));
    }
    CHECK(rad_timer_start(t, rad_after(hour)) == 0);
    CHECK(rad_send(chan, &value, 0) == 0);
    CHECK(rad_select(cases, 2, RAD_FOREVER) == 1 && rad_timer_stop(t));
    CHECK(rad_timer_wait(t, 0) == RAD_ETIMEOUT);
    CHECK(rad_timer_start(t, 0) == 0);
    rad_sleep(5 * MS);        /* it has fired, and nobody has received it */
    CHECK(rad_timer_stop(t)); /* so it can be taken back */
    CHECK(rad_timer_wait(t, rad_after(MS)) == RAD_ETIMEOUT);
    CHECK(rad_timer_start(t, 0) == 0);
    rad_sleep(5 * MS);
    CHECK(rad_timer_start(t, rad_after(hour)) == 1); /* a start does so, too */
    CHECK(rad_timer_wait(t, rad_after(MS)) == RAD_ETIMEOUT);
    CHECK(rad_timer_start(t, rad_after(MS)) == 1 && rad_timer_wait(t, RAD_FOREVER) == 0);
    rad_timer_destroy(t);
    rad_chan_destroy(chan);
    return 0;
}

static void a_timer_is_a_case(void **state)
{
    (void)state;
    run(1, selects);
    run(2, selects);
}

/* ---- Many ------------------------------------------------------------------------------------------------- */

/* Every start is answered by a firing, a later start, or a stop: exactly one of them. */
enum { TIMERS = 5, PLAYERS = 8, MOVES = 300 };

typedef struct field {
    rad_timer *timers[TIMERS];
    _Atomic uint32_t starts, restarts, stops, fires;
    _Atomic uint32_t seeds;
} field;

static field game;

static int fires(void *unused)
{
    (void)unused;
    game.fires++;
    return 0;
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

static int plays(void *unused)
{
    uint32_t random = ++game.seeds * 7919;
    (void)unused;
    for (int i = 0; i < MOVES; i++) {
        rad_timer *t = game.timers[draw(&random) % TIMERS];
        uint32_t move = draw(&random) % 8;
        if (move < 5) {
            int code = rad_timer_start(t, rad_after(draw(&random) % 200000));
            CHECK(code >= 0);
            game.starts++;
            game.restarts += code == 1;
        } else if (move < 7) {
            game.stops += rad_timer_stop(t);
        } else {
            rad_sleep(draw(&random) % 100000);
        }
    }
    return 0;
}

static void *stops_some(void *unused)
{
    uint32_t random = 17;
    (void)unused;
    for (int i = 0; i < MOVES; i++) game.stops += rad_timer_stop(game.timers[draw(&random) % TIMERS]);
    return NULL;
}

static int plays_all(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < PLAYERS; i++) CHECK(rad_nursery_spawn(&n, NULL, plays, NULL) == 0);
    return rad_nursery_wait(&n); /* rad_main waits for the timers that still run */
}

static void every_start_is_answered_once(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 9; round++) {
        pthread_t thread;
        game = (field){.seeds = round * 100};
        for (int i = 0; i < TIMERS; i++) assert_int_equal(rad_timer_create(&game.timers[i], fires, NULL), 0);
        assert_int_equal(pthread_create(&thread, NULL, stops_some, NULL), 0);
        run(1 + round % 3, plays_all);
        pthread_join(thread, NULL);
        assert_int_equal(game.starts, game.restarts + game.stops + game.fires);
        for (int i = 0; i < TIMERS; i++) rad_timer_destroy(game.timers[i]);
    }
}

/* Each firing of a timer without a function is received once. */
static _Atomic uint32_t received;

static int receives(void *timer)
{
    while (rad_timer_wait(timer, RAD_FOREVER) == 0) received++;
    return 0;
}

static int fires_for_many(void *unused)
{
    enum { FIRINGS = 200, RECEIVERS = 4 };
    rad_timer *t;
    rad_nursery n;
    (void)unused;
    received = 0;
    CHECK(rad_timer_create(&t, NULL, NULL) == 0);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < RECEIVERS; i++) CHECK(rad_nursery_spawn(&n, NULL, receives, t) == 0);
    for (uint32_t i = 0; i < FIRINGS; i++) {
        CHECK(rad_timer_start(t, rad_after(i % 3 * 20000)) == 0);
        while (received <= i) rad_yield();
        CHECK(received == i + 1);
    }
    rad_nursery_cancel(&n, -1);
    CHECK(rad_nursery_wait(&n) == -1);
    rad_timer_destroy(t);
    return 0;
}

static void a_firing_is_received_once(void **state)
{
    (void)state;
    run(1, fires_for_many);
    run(3, fires_for_many);
}

/* ---- Limits and mistakes ---------------------------------------------------------------------------------- */

static int does_nothing(void *unused)
{
    (void)unused;
    return 0;
}

static int starts_without_room(void *unused)
{
    bell b = {.rings = 0};
    rad_fiber f[3];
    (void)unused;
    CHECK(rad_timer_create(&b.timer, rings, &b) == 0);
    CHECK(starts(&b, MS) == 0);
    hears(&b);
    int code = 0;
    for (int i = 0; i < 3; i++) { /* all that there may be */
        f[i] = (rad_fiber){NULL, 0};
        while ((code = rad_spawn(&f[i], does_nothing, NULL)) == RAD_ELIMIT && i == 0) rad_yield();
        if (code != 0) break;
    }
    for (int i = 0; i < 3; i++)
        if (f[i].slot != NULL) CHECK(rad_join(f[i], NULL, RAD_FOREVER) == 0);
    code = rad_timer_start(b.timer, rad_after(hour)); /* handles keep their places */
    CHECK(code == RAD_ELIMIT);
    CHECK(!rad_timer_stop(b.timer) && b.rings == 1);
    for (int i = 0; i < 3; i++)
        if (f[i].slot != NULL) rad_release(f[i]);
    while ((code = rad_timer_start(b.timer, rad_after(hour))) == RAD_ELIMIT) rad_yield();
    CHECK(code == 0 && rad_timer_stop(b.timer));
    while ((code = starts(&b, MS)) == RAD_ELIMIT) rad_yield();
    CHECK(code == 0);
    hears(&b); /* and what was refused before does ring now */
    CHECK(b.rings == 2);
    rad_timer_destroy(b.timer);
    return 0;
}

static void a_start_that_fails_starts_nothing(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE, .fibers = 4};
    fired = 0;
    assert_int_equal(rad_main(&o, starts_without_room, NULL, NULL), 0);
}

static void starts_on_a_thread(void)
{
    rad_timer *t;
    if (rad_timer_create(&t, fires, NULL) == 0) (void)!rad_timer_start(t, 0);
}

static void waits_for_a_function(void)
{
    rad_timer *t;
    if (rad_timer_create(&t, fires, NULL) == 0) (void)!rad_timer_wait(t, 0);
}

static void stops_null(void)
{
    rad_timer_stop(NULL);
}

static void mistakes_have_a_message(void **state)
{
    (void)state;
    expect_misuse(starts_on_a_thread, "rad_timer_start: the caller is not a fiber");
    expect_misuse(waits_for_a_function, "rad_timer_wait: the timer calls a function; it cannot be waited for");
    expect_misuse(stops_null, "rad_timer_stop: the timer is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_calls_once_unless_it_is_stopped),
        cmocka_unit_test(a_timer_outlives_the_fiber_that_started_it),
        cmocka_unit_test(a_shutdown_stops_timers),
        cmocka_unit_test(a_timer_is_a_case),
        cmocka_unit_test(every_start_is_answered_once),
        cmocka_unit_test(a_firing_is_received_once),
        cmocka_unit_test(a_start_that_fails_starts_nothing),
        cmocka_unit_test(mistakes_have_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
