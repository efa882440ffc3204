/* test_cap.c — as many fibers as the options allow, and not one more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "patience_support.h"
#include "storm_support.h"

static int returns(void *arg)
{
    (void)arg;
    return 0;
}

static _Atomic int closes_seen;

static int waits_for_close(void *arg)
{
    CHECK(rad_recv(arg, NULL, RAD_FOREVER) == RAD_ECLOSED);
    atomic_fetch_add(&closes_seen, 1);
    return 0;
}

static rad_chan *gate_new(void)
{
    rad_chan *gate;
    CHECK(rad_chan_create(&gate, 0, 0, RAD_CHAN_BLOCKS) == 0);
    return gate;
}

enum { CAP = 100 };

static int spawns_up_to_the_cap(void *arg)
{
    rad_nursery n;
    (void)arg;
    for (int round = 0; round < 3; round++) { /* those who have ended do not count */
        rad_chan *gate = gate_new();
        rad_nursery_open(&n, RAD_FOREVER);
        for (int count = 1; count < CAP; count++) /* itself is one of them */
            CHECK(rad_nursery_spawn(&n, NULL, waits_for_close, gate) == 0);
        for (int i = 0; i < 10; i++) {
            rad_fiber refused = rad_self();
            CHECK(rad_nursery_spawn(&n, &refused, waits_for_close, gate) == RAD_ELIMIT);
            CHECK(refused.slot == NULL && refused.generation == 0);
        }
        rad_chan_close(gate, 0);
        CHECK(rad_nursery_wait(&n) == 0);
        rad_chan_destroy(gate);
    }
    return 0;
}

static void the_limit_is_reached_and_not_passed(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers), .fibers = CAP};
        assert_int_equal(rad_main(&o, spawns_up_to_the_cap, NULL, NULL), 0);
    }
}

/* The same for who is no fiber: the handle says that there is none. */
static void a_fiber_that_was_refused_has_no_handle(void **state)
{
    (void)state;
    rad_runtime *rt;
    rad_chan *gate = gate_new();
    rad_options o = {.workers = 1, .fibers = 1};
    rad_fiber first, refused = {(void *)&rt, 7};
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, &first, waits_for_close, gate), 0);
    assert_int_equal(rad_runtime_spawn(rt, &refused, waits_for_close, gate), RAD_ELIMIT);
    assert_null(refused.slot);
    assert_int_equal(refused.generation, 0);
    rad_chan_close(gate, 0);
    assert_int_equal(rad_join(first, NULL, RAD_FOREVER), 0);
    rad_release(first);
    rad_runtime_shutdown(rt);
    rad_runtime_destroy(rt);
    rad_chan_destroy(gate);
}

/* ---- On several workers at once --------------------------------------------------------------------------- */

enum { AT_ONCE = 3 };

static _Atomic int there, done;

/* Nobody yields before all have spawned, so each is on a worker of its own. */
static int spawns_beside_others(void *arg)
{
    rad_fiber f;
    (void)arg;
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < AT_ONCE) {
    }
    int code = rad_spawn(&f, returns, NULL);
    atomic_fetch_add(&done, 1);
    while (atomic_load(&done) < AT_ONCE) {
    }
    if (code != 0) return code;
    CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
    rad_release(f);
    return 0;
}

static int spawns_on_all_workers(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < AT_ONCE; i++) CHECK(rad_nursery_spawn(&n, NULL, spawns_beside_others, NULL) == 0);
    return rad_nursery_wait(&n);
}

static void a_few_fibers_are_far_from_the_limit(void **state)
{
    (void)state;
    rad_options o = {.workers = AT_ONCE + 1, .fibers = CAP};
    there = done = 0;
    assert_int_equal(rad_main(&o, spawns_on_all_workers, NULL, NULL), 0);
}

/* ---- Waiting for room ------------------------------------------------------------------------------------- */

enum { ROOM = 10, SPAWNERS = 4, SPAWNS = 500 };

static _Atomic int live, live_most, ran;
static uint64_t number[SPAWNS];

static int takes_a_while(void *arg)
{
    uint64_t mine = *(uint64_t *)arg;
    int now = atomic_fetch_add(&live, 1) + 1, most = atomic_load(&live_most);
    while (now > most && !atomic_compare_exchange_weak(&live_most, &most, now)) {
    }
    if (mine % 3 == 0) rad_yield();
    if (mine % 7 == 0) CHECK(rad_sleep(10000) == 0);
    atomic_fetch_add(&ran, 1);
    atomic_fetch_sub(&live, 1);
    return 0;
}

static int spawns_and_waits(void *arg)
{
    (void)arg;
    for (int i = 0; i < SPAWNS; i++) CHECK(rad_spawn(NULL, takes_a_while, &number[i]) == 0);
    return 0;
}

static int several_spawn(void *arg)
{
    (void)arg;
    for (uint64_t i = 0; i < SPAWNS; i++) number[i] = i;
    for (int i = 0; i < SPAWNERS; i++) CHECK(rad_spawn(NULL, spawns_and_waits, NULL) == 0);
    return 0;
}

static void at_the_limit_a_fiber_waits_by_option(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        rad_options o = {
            .workers = workers, .extra_workers = extra_beside(workers), .fibers = ROOM, .spawn_waits = true};
        live = live_most = ran = 0;
        assert_int_equal(rad_main(&o, several_spawn, NULL, NULL), 0);
        assert_int_equal(ran, SPAWNERS * SPAWNS);
        assert_true(live_most > 1 && live_most < ROOM);
    }
}

/* It waits with all that belongs to waiting: it can be cancelled, and has taken nothing then. */
static int waits_in_vain(void *arg)
{
    CHECK(rad_spawn(NULL, waits_for_close, arg) == 0);
    CHECK(rad_spawn(NULL, waits_for_close, arg) == RAD_ECANCELED);
    return 0;
}

static int cancels_who_waits(void *arg)
{
    rad_chan *gate = gate_new();
    rad_nursery n;
    (void)arg;
    closes_seen = 0;
    rad_nursery_open(&n, rad_after(5000000));
    CHECK(rad_nursery_spawn(&n, NULL, waits_in_vain, gate) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    rad_fiber f;
    CHECK(rad_spawn(&f, returns, NULL) == 0); /* in the place of that one */
    CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
    rad_release(f);
    rad_chan_close(gate, 0);
    while (atomic_load(&closes_seen) == 0) rad_yield();
    rad_chan_destroy(gate);
    return 0;
}

static void who_waits_for_room_can_be_cancelled(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers), .fibers = 3, .spawn_waits = true};
        assert_int_equal(rad_main(&o, cancels_who_waits, NULL, NULL), 0);
    }
}

/* Asks again and again, so as to hear of the end while the fiber is still on its stack, on another worker. */
static void joins_at_once(rad_fiber f)
{
    for (int asked = 1; rad_join(f, NULL, 0) != 0; asked++)
        if (asked % 200 == 0) rad_yield(); /* perhaps there is no other worker */
    rad_release(f);
}

/* Who was waited for makes room at once: by a nursery, by join and release; for fibers and for threads. */
static int spawns_after_joins(void *arg)
{
    rad_runtime *rt = arg;
    for (int round = 0; round < 100; round++) {
        rad_fiber f;
        rad_nursery n;
        rad_nursery_open(&n, RAD_FOREVER);
        for (int i = 0; i < 3; i++) CHECK(rad_nursery_spawn(&n, NULL, returns, NULL) == 0);
        CHECK(rad_nursery_wait(&n) == 0);
        rad_fiber kept[2]; /* with it and this one, all there may be */
        for (int i = 0; i < 2; i++) CHECK(rad_spawn(&kept[i], returns, NULL) == 0);
        for (int i = 0; i < 3; i++) {
            CHECK((rt ? rad_runtime_spawn(rt, &f, returns, NULL) : rad_spawn(&f, returns, NULL)) == 0);
            joins_at_once(f);
        }
        for (int i = 0; i < 2; i++) joins_at_once(kept[i]);
    }
    return 0;
}

static void who_was_waited_for_makes_room(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        rad_options o = {.workers = workers, .fibers = 4};
        rad_runtime *rt;
        rad_fiber f;
        assert_int_equal(rad_main(&o, spawns_after_joins, NULL, NULL), 0);
        assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
        assert_int_equal(rad_runtime_spawn(rt, &f, spawns_after_joins, rt), 0);
        assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
        rad_release(f);
        for (int round = 0; round < 100; round++) {
            rad_fiber four[4];
            for (int i = 0; i < 4; i++) assert_int_equal(rad_runtime_spawn(rt, &four[i], returns, NULL), 0);
            for (int i = 0; i < 4; i++) {
                assert_int_equal(rad_join(four[i], NULL, RAD_FOREVER), 0);
                rad_release(four[i]);
            }
        }
        rad_runtime_destroy(rt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_reached_and_not_passed), cmocka_unit_test(a_fiber_that_was_refused_has_no_handle),
        cmocka_unit_test(a_few_fibers_are_far_from_the_limit), cmocka_unit_test(at_the_limit_a_fiber_waits_by_option),
        cmocka_unit_test(who_waits_for_room_can_be_cancelled), cmocka_unit_test(who_was_waited_for_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
