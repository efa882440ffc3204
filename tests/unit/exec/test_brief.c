/* test_brief.c — what is due on a worker that is brief is left to it by all others: so it must not sleep beside
 * it, whatever others do. Steps of four workers, one after the other, on this thread. */
#include "exec/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WORKERS = 4, DUE = 2 };

static enum rad_run ends(rad_task *task, rad_worker *w)
{
    (void)task;
    (void)w;
    return RAD_RUN_DONE;
}

static void steps_until(rad_worker *w, enum rad_phase_kind phase)
{
    for (int i = 0; w->phase != phase; i++) {
        assert_true(i < 100);
        (void)rad__worker_step(w, 0);
    }
}

/* Worker 0 has searched, and lost the race for the first of what is due in its own queue to worker 1, which still
 * searches; the others sleep. */
static void what_is_brief_wakes_its_own_worker(void **state)
{
    rad_sched_config config = {.workers = WORKERS, .steal_tries = 4, .hoard = 32, .rounds = 1, .ring = 16};
    static rad_worker workers[WORKERS];
    static rad_task due[DUE] = {{.run = ends}, {.run = ends}};
    rad_sched s;
    (void)state;
    assert_true(rad__sched_open(&s, &config));
    for (uint32_t i = 0; i < WORKERS; i++) assert_true(rad__worker_open(&workers[i], &s, i));
    assert_int_equal(rad__gate_enter(&s.gate, DUE), RAD_GATE_ENTERED);
    for (uint32_t i = 2; i < WORKERS; i++) steps_until(&workers[i], RAD_PHASE_PARKED);
    steps_until(&workers[1], RAD_PHASE_STEAL);
    steps_until(&workers[0], RAD_PHASE_STEAL);
    steps_until(&workers[0], RAD_PHASE_SETTLE);
    for (uint32_t i = 0; i < DUE; i++) rad__worker_put_due(&workers[0], &due[i]);
    rad__worker_set_brief(&workers[0], true);
    steps_until(&workers[0], RAD_PHASE_PARKED);
    assert_false(rad__worker_waits(&workers[0])); /* it has its token */
    steps_until(&workers[1], RAD_PHASE_PARKED);
    assert_true(rad__worker_has_loot(&workers[0]));
    steps_until(&workers[0], RAD_PHASE_RUN);
    assert_ptr_equal(workers[0].current, &due[0]);
    for (uint32_t i = 0; i < WORKERS; i++) rad__worker_close(&workers[i]);
    rad__sched_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_brief_wakes_its_own_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
