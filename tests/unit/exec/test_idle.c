/* test_idle.c — the idle protocol, call by call: who is woken, and what is remembered. That nothing is lost in
 * between is for the lab (l2-idle). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/worker.h"

static rad_idle idle;

static void begin(uint32_t workers)
{
    assert_true(rad__idle_open(&idle, workers, false));
}

static void parks(uint32_t worker)
{
    rad__idle_announce(&idle, worker, false);
}

static void gets_up(uint32_t worker)
{
    assert_true(rad__idle_has_wake_word(&idle, worker));
    assert_true(rad__idle_take_wake_word(&idle, worker));
    assert_false(rad__idle_has_wake_word(&idle, worker));
}

/* It finds something to do. */
static bool stops_searching(void)
{
    return rad__idle_end_search(&idle);
}

static void sleepers_are_woken_in_turn(void **state)
{
    static const uint32_t parked[] = {3, 70, 128, 255};
    (void)state;
    begin(256);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 4; i++) parks(parked[i]);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(rad__idle_notify(&idle), parked[i]);
            assert_int_equal(rad__idle_notify(&idle), RAD_NONE); /* one searches now */
            gets_up(parked[i]);
            assert_int_equal(stops_searching(), i < 3); /* somebody is left */
        }
        assert_int_equal(rad__idle_notify(&idle), RAD_NONE);
    }
    rad__idle_close(&idle);
}

static void one_worker_can_be_meant(void **state)
{
    (void)state;
    begin(256);
    assert_int_equal(rad__idle_notify_worker(&idle, 200), RAD_NONE); /* awake */
    parks(10);
    parks(200);
    parks(66);
    assert_int_equal(rad__idle_notify(&idle), 10);
    assert_int_equal(rad__idle_notify_worker(&idle, 200), 200); /* though somebody searches */
    assert_int_equal(rad__idle_notify_worker(&idle, 200), RAD_NONE);
    assert_int_equal(rad__idle_searching(&idle), 2);
    assert_int_equal(rad__idle_parked(&idle), 1);
    assert_int_equal(rad__idle_notify_self(&idle, 66, false), RAD_NONE);
    assert_int_equal(rad__idle_notify_self(&idle, 66, true), 66);
    gets_up(66);
    rad__idle_close(&idle);
}

static void one_worker_may_be_better_than_others(void **state)
{
    (void)state;
    begin(256);
    assert_int_equal(rad__idle_notify_near(&idle, 70), RAD_NONE); /* all are awake */
    parks(3);
    parks(70);
    assert_int_equal(rad__idle_notify_near(&idle, 70), 70);
    assert_int_equal(rad__idle_notify_near(&idle, 3), RAD_NONE); /* somebody searches */
    gets_up(70);
    assert_true(stops_searching());                        /* the other one is left */
    assert_int_equal(rad__idle_notify_near(&idle, 70), 3); /* that one is not to be had */
    gets_up(3);
    rad__idle_close(&idle);
}

static void the_plain_order_wakes_anybody(void **state)
{
    (void)state;
    assert_true(rad__idle_open(&idle, 3, true));
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(i % 2 ? rad__idle_notify(&idle) : rad__idle_notify_near(&idle, 0), i % 3);
    assert_int_equal(rad__idle_notify_worker(&idle, 2), 2);
    assert_int_equal(rad__idle_notify(&idle), 1); /* the turn is as it was */
    for (uint32_t i = 0; i < 3; i++) gets_up(i);
    rad__idle_announce(&idle, 0, true);
    assert_int_equal(rad__idle_parked(&idle), 0);
    assert_false(stops_searching());
    assert_int_equal(rad__idle_notify_self(&idle, 1, false), 1);
    rad__idle_close(&idle);
}

/* ---- Workers that stop searching, or leave -------------------------------------------------------------------- */

static rad_sched sched;
static rad_worker workers[3];

static enum rad_run nothing(rad_task *task, rad_worker *w)
{
    (void)task, (void)w;
    return RAD_RUN_DONE;
}

static void sched_begin(uint32_t spare)
{
    rad_sched_config config = {.workers = 2, .spare = spare, .steal_tries = 1, .hoard = 32, .rounds = 1, .ring = 4};
    assert_true(rad__sched_open(&sched, &config));
    for (uint32_t i = 0; i < 2 + spare; i++) assert_true(rad__worker_open(&workers[i], &sched, i));
}

static void sched_end(uint32_t spare)
{
    for (uint32_t i = 0; i < 2 + spare; i++) rad__worker_close(&workers[i]);
    rad__sched_close(&sched);
}

/* R1, R2 outside of a step: whoever goes back to its task looks once more, and wakes another. */
static void who_stops_searching_wakes_another(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        rad_task task = {.run = nothing};
        uint32_t work = i % 2;
        bool back_to_its_task = i / 2;
        sched_begin(0);
        rad__idle_announce(&sched.idle, 1, false);
        assert_true(rad__idle_begin_search(&sched.idle));
        workers[0].searching = true;
        workers[0].phase = RAD_PHASE_STEAL;
        if (work) rad__injector_push(&sched.injector, &task); /* told nobody but a searcher */
        uint32_t woken = back_to_its_task ? rad__worker_unnest(&workers[0], (rad_nest){&task, 0})
                                          : rad__worker_end_search(&workers[0]);
        assert_int_equal(woken, work ? 1 : RAD_NONE);
        assert_false(workers[0].searching);
        assert_int_equal(rad__idle_has_wake_word(&sched.idle, 1), work);
        assert_int_equal(rad__idle_searching(&sched.idle), work);
        sched_end(0);
    }
}

static void who_leaves_looks_once_more(void **state)
{
    enum { NOTHING, SHARED, IN_ITS_INBOX, DONE, CLAIMED, CASES };
    (void)state;
    for (uint32_t what = 0; what < CASES; what++) {
        rad_task task = {.run = nothing};
        sched_begin(1);
        rad__sched_enliven(&sched, 2);
        rad_worker *w = &workers[2];
        rad__idle_announce(&sched.idle, 2, false);
        w->phase = RAD_PHASE_PARKED;
        if (what == SHARED) rad__injector_push(&sched.injector, &task);
        if (what == IN_ITS_INBOX) rad__inbox_push(&w->inbox, &task);
        if (what == DONE) rad__sched_finish(&sched);
        if (what == CLAIMED) assert_int_equal(rad__idle_notify(&sched.idle), 2);
        assert_int_equal(rad__worker_retire(w), what == NOTHING);
        assert_int_equal(w->phase, what == CLAIMED ? RAD_PHASE_PARKED : RAD_PHASE_PICK);
        assert_int_equal(rad__idle_parked(&sched.idle), 0);
        sched_end(1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleepers_are_woken_in_turn),           cmocka_unit_test(one_worker_can_be_meant),
        cmocka_unit_test(one_worker_may_be_better_than_others), cmocka_unit_test(the_plain_order_wakes_anybody),
        cmocka_unit_test(who_stops_searching_wakes_another),    cmocka_unit_test(who_leaves_looks_once_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
