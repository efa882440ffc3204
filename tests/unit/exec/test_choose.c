/* test_choose.c — the scheduler's pure decisions, on all inputs of small sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/choose.h"

static void victims_are_all_the_others_each_once(void **state)
{
    (void)state;
    for (uint32_t workers = 2; workers <= 40; workers++) {
        for (uint32_t self = 0; self < workers; self++) {
            uint64_t seen = 0;
            for (uint32_t draw = 0; draw < workers - 1; draw++) {
                uint32_t victim = rad__choose_victim(self, workers, draw);
                assert_true(victim < workers && victim != self);
                assert_false(seen >> victim & 1);
                seen |= UINT64_C(1) << victim;
            }
        }
    }
}

static void a_wake_needs_a_sleeper_and_nobody_searching(void **state)
{
    (void)state;
    for (uint32_t searching = 0; searching < 4; searching++)
        for (uint32_t parked = 0; parked < 4; parked++)
            assert_int_equal(rad__choose_wake(searching, parked), searching == 0 && parked != 0);
}

static void the_fairness_tick_comes_every_61st_time(void **state)
{
    (void)state;
    uint32_t ticks = 0;
    for (uint64_t t = 0; t < 61 * 7; t++) ticks += rad__choose_fair(t);
    assert_int_equal(ticks, 7);
    assert_true(rad__choose_fair(61));
    assert_false(rad__choose_fair(60));
    assert_false(rad__choose_hoard(31, RAD_HOARD_DEFAULT));
    assert_true(rad__choose_hoard(32, RAD_HOARD_DEFAULT));
    assert_true(rad__choose_hoard(33, RAD_HOARD_DEFAULT));
}

static void the_newest_is_chosen_three_times_in_a_row(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < 8; row++) {
        assert_int_equal(rad__choose_newest(true, row), row < 3);
        assert_false(rad__choose_newest(false, row));
    }
}

static void a_batch_is_a_share_that_fits(void **state)
{
    (void)state;
    for (uint64_t queued = 0; queued < 200; queued++)
        for (uint32_t workers = 1; workers <= 8; workers++)
            for (uint32_t room = 0; room < 40; room++) {
                uint32_t batch = rad__choose_batch(queued, workers, room);
                assert_int_equal(batch == 0, queued == 0);
                assert_true(batch <= queued && batch <= RAD_BATCH_MAX && batch <= room + 1);
                assert_true(batch <= queued / workers + 1);
                /* As much as the limits allow. */
                uint64_t limit = queued / workers + 1 < queued ? queued / workers + 1 : queued;
                if (limit > RAD_BATCH_MAX) limit = RAD_BATCH_MAX;
                if (limit > room + 1) limit = room + 1;
                assert_int_equal(batch, limit);
            }
}

/* Against a walk that looks at one worker after the other. */
static void sleepers_are_woken_round_robin_among_the_parked(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 9; workers++)
        for (uint64_t parked = 0; parked < UINT64_C(1) << workers; parked++)
            for (uint32_t next = 0; next <= workers; next++) {
                uint32_t expected = RAD_NONE;
                for (uint32_t i = 0; i < workers && expected == RAD_NONE; i++)
                    if (parked >> (next + i) % workers & 1) expected = (next + i) % workers;
                assert_int_equal(rad__choose_sleeper(&parked, workers, next), expected);
            }
}

static void sleepers_beyond_one_word_are_found(void **state)
{
    (void)state;
    for (uint32_t one = 0; one < 200; one++)
        for (uint32_t next = 0; next < 200; next++) {
            uint64_t parked[4] = {0};
            parked[one / 64] = UINT64_C(1) << one % 64;
            assert_int_equal(rad__choose_sleeper(parked, 200, next), one);
            assert_int_equal(rad__choose_sleeper(parked, one, next), RAD_NONE); /* not one of them */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(victims_are_all_the_others_each_once),
        cmocka_unit_test(a_wake_needs_a_sleeper_and_nobody_searching),
        cmocka_unit_test(the_fairness_tick_comes_every_61st_time),
        cmocka_unit_test(the_newest_is_chosen_three_times_in_a_row),
        cmocka_unit_test(a_batch_is_a_share_that_fits),
        cmocka_unit_test(sleepers_are_woken_round_robin_among_the_parked),
        cmocka_unit_test(sleepers_beyond_one_word_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
