/* A fiber's word: each arrow of rt/state_word.h, what it answers and what it leaves. Races: the model l2-life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/state_word.h"

static void expect(const rad_state_word *of, enum rad_fiber_state state, bool signalled)
{
    uint64_t word = rad__state_look(of);
    assert_int_equal(rad__state_of(word), state);
    assert_int_equal(rad__state_signalled(word), signalled);
}

static void a_life_from_beginning_to_end(void **state)
{
    rad_state_word of;
    (void)state;
    rad__state_init(&of);
    expect(&of, RAD_FIBER_IDLE, false);
    uint32_t generation = rad__state_begin(&of);
    assert_int_equal(generation, 1);
    expect(&of, RAD_FIBER_ASSIGNED, false);
    rad__state_own(&of, 7);
    expect(&of, RAD_FIBER_OWNED, false);
    assert_int_equal(rad__state_owner(rad__state_look(&of)), 7);
    rad__state_yield(&of);
    expect(&of, RAD_FIBER_ASSIGNED, false);
    assert_int_equal(rad__state_owner(rad__state_look(&of)), 0);
    rad__state_own(&of, 65534);
    assert_int_equal(rad__state_owner(rad__state_look(&of)), 65534);
    rad__state_end(&of);
    expect(&of, RAD_FIBER_DONE, false);
    rad__state_retire(&of);
    expect(&of, RAD_FIBER_IDLE, false);
    assert_int_equal(rad__state_begin(&of), 2);
}

static void an_unpark_queues_exactly_once(void **state)
{
    rad_state_word of;
    (void)state;
    rad__state_init(&of);
    uint32_t g = rad__state_begin(&of);
    rad__state_own(&of, 1);
    assert_int_equal(rad__state_park(&of), RAD_PARKED);
    expect(&of, RAD_FIBER_PARKED, false);
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_QUEUE);
    expect(&of, RAD_FIBER_ASSIGNED, false);
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_LATCHED);
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_LATCHED);
    expect(&of, RAD_FIBER_ASSIGNED, true);
}

static void a_signal_lasts_until_the_next_park(void **state)
{
    rad_state_word of;
    (void)state;
    rad__state_init(&of);
    uint32_t g = rad__state_begin(&of);
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_LATCHED); /* before it ever ran */
    rad__state_own(&of, 3);
    expect(&of, RAD_FIBER_OWNED, true);
    rad__state_yield(&of);
    expect(&of, RAD_FIBER_ASSIGNED, true);
    rad__state_own(&of, 4);
    assert_int_equal(rad__state_park(&of), RAD_PARK_GOES_ON);
    expect(&of, RAD_FIBER_OWNED, false);
    assert_int_equal(rad__state_owner(rad__state_look(&of)), 4);
    assert_int_equal(rad__state_park(&of), RAD_PARKED); /* used up: this one waits */
}

static void former_incarnations_are_stale(void **state)
{
    rad_state_word of;
    (void)state;
    rad__state_init(&of);
    uint32_t g = rad__state_begin(&of);
    assert_int_equal(rad__state_unpark(&of, g + 1), RAD_UNPARK_STALE);
    rad__state_own(&of, 0);
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_LATCHED);
    rad__state_end(&of);
    expect(&of, RAD_FIBER_DONE, false); /* the signal is forgotten */
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_STALE);
    rad__state_retire(&of);
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_STALE);
    uint32_t next = rad__state_begin(&of);
    assert_int_equal(next, g + 1);
    rad__state_own(&of, 0);
    assert_int_equal(rad__state_park(&of), RAD_PARKED);
    assert_int_equal(rad__state_unpark(&of, g), RAD_UNPARK_STALE);
    expect(&of, RAD_FIBER_PARKED, false); /* a late waker of the former one does not disturb it */
}

static void generation_zero_is_nobody(void **state)
{
    rad_state_word of;
    (void)state;
    atomic_init(&of.word, (UINT64_C(0xffffffff) << 32) | RAD_FIBER_DONE);
    rad__state_retire(&of);
    assert_int_equal(rad__state_begin(&of), 1);
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
