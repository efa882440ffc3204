/* A fiber's word: every arrow of rt/life.h, what it answers, and what it leaves. Races are the lab's: model l2-life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/life.h"

static void expect(const rad_life *life, enum rad_fiber_state state, bool signalled)
{
    uint64_t word = rad__life_look(life);
    assert_int_equal(rad__life_state(word), state);
    assert_int_equal(rad__life_signalled(word), signalled);
}

static void a_life_from_beginning_to_end(void **state)
{
    rad_life life;
    (void)state;
    rad__life_init(&life);
    expect(&life, RAD_FIBER_IDLE, false);
    uint32_t generation = rad__life_begin(&life);
    assert_int_equal(generation, 1);
    expect(&life, RAD_FIBER_ASSIGNED, false);
    rad__life_own(&life, 7);
    expect(&life, RAD_FIBER_OWNED, false);
    assert_int_equal(rad__life_owner(rad__life_look(&life)), 7);
    rad__life_yield(&life);
    expect(&life, RAD_FIBER_ASSIGNED, false);
    assert_int_equal(rad__life_owner(rad__life_look(&life)), 0);
    rad__life_own(&life, 65534);
    assert_int_equal(rad__life_owner(rad__life_look(&life)), 65534);
    rad__life_end(&life);
    expect(&life, RAD_FIBER_DONE, false);
    rad__life_retire(&life);
    expect(&life, RAD_FIBER_IDLE, false);
    assert_int_equal(rad__life_begin(&life), 2);
}

static void an_unpark_queues_exactly_once(void **state)
{
    rad_life life;
    (void)state;
    rad__life_init(&life);
    uint32_t g = rad__life_begin(&life);
    rad__life_own(&life, 1);
    assert_int_equal(rad__life_park(&life), RAD_PARKED);
    expect(&life, RAD_FIBER_PARKED, false);
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_QUEUE);
    expect(&life, RAD_FIBER_ASSIGNED, false);
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_LATCHED);
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_LATCHED);
    expect(&life, RAD_FIBER_ASSIGNED, true);
}

static void a_signal_lasts_until_the_next_park(void **state)
{
    rad_life life;
    (void)state;
    rad__life_init(&life);
    uint32_t g = rad__life_begin(&life);
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_LATCHED); /* before it ever ran */
    rad__life_own(&life, 3);
    expect(&life, RAD_FIBER_OWNED, true);
    rad__life_yield(&life);
    expect(&life, RAD_FIBER_ASSIGNED, true);
    rad__life_own(&life, 4);
    assert_int_equal(rad__life_park(&life), RAD_PARK_GOES_ON);
    expect(&life, RAD_FIBER_OWNED, false);
    assert_int_equal(rad__life_owner(rad__life_look(&life)), 4);
    assert_int_equal(rad__life_park(&life), RAD_PARKED); /* used up: this one waits */
}

static void former_incarnations_are_stale(void **state)
{
    rad_life life;
    (void)state;
    rad__life_init(&life);
    uint32_t g = rad__life_begin(&life);
    assert_int_equal(rad__life_unpark(&life, g + 1), RAD_UNPARK_STALE);
    rad__life_own(&life, 0);
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_LATCHED);
    rad__life_end(&life);
    expect(&life, RAD_FIBER_DONE, false); /* the signal is forgotten */
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_STALE);
    rad__life_retire(&life);
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_STALE);
    uint32_t next = rad__life_begin(&life);
    assert_int_equal(next, g + 1);
    rad__life_own(&life, 0);
    assert_int_equal(rad__life_park(&life), RAD_PARKED);
    assert_int_equal(rad__life_unpark(&life, g), RAD_UNPARK_STALE);
    expect(&life, RAD_FIBER_PARKED, false); /* a late waker of the former one does not disturb it */
}

static void generation_zero_is_nobody(void **state)
{
    rad_life life;
    (void)state;
    atomic_init(&life.word, (UINT64_C(0xffffffff) << 32) | RAD_FIBER_DONE);
    rad__life_retire(&life);
    assert_int_equal(rad__life_begin(&life), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_from_beginning_to_end),       cmocka_unit_test(an_unpark_queues_exactly_once),
        cmocka_unit_test(a_signal_lasts_until_the_next_park), cmocka_unit_test(former_incarnations_are_stale),
        cmocka_unit_test(generation_zero_is_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
