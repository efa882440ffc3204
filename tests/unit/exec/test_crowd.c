/* test_crowd.c — a thief takes many at a time of a crowd of woken tasks, and one at a time of all others. Steps of
 * three workers, one after the other, on this thread. */
#include "exec/choose.h"
#include "exec/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WORKERS = 3, VICTIM = 0, THIEF = 1, SLEEPER = 2, TASKS = 2 * RAD_CROWD };

typedef struct crew {
    rad_sched sched;
    rad_worker workers[WORKERS];
    rad_task tasks[TASKS];
} crew;

static enum rad_run ends(rad_task *task, rad_worker *w)
{
    (void)task;
    (void)w;
    return RAD_RUN_DONE;
}

static void crew_open(crew *c)
{
    rad_sched_config config = {.workers = WORKERS, .steal_tries = 4, .hoard = 2 * TASKS, .rounds = 1, .ring = 16};
    assert_true(rad__sched_open(&c->sched, &config));
    for (uint32_t i = 0; i < WORKERS; i++) assert_true(rad__worker_open(&c->workers[i], &c->sched, i));
    assert_int_equal(rad__gate_enter(&c->sched.gate, TASKS), RAD_GATE_ENTERED);
    for (uint32_t i = 0; i < TASKS; i++) c->tasks[i].run = ends;
}

static void crew_close(crew *c)
{
    for (uint32_t i = 0; i < WORKERS; i++) rad__worker_close(&c->workers[i]);
    rad__sched_close(&c->sched);
}

/* The last step before that phase. */
static rad_step steps_until(rad_worker *w, enum rad_phase_kind phase)
{
    rad_step step = {.woken = RAD_NONE};
    for (int i = 0; w->phase != phase; i++) {
        assert_true(i < 100);
        step = rad__worker_step(w, 0);
    }
    return step;
}

/* The thief steals from a worker that has this many of them; returns what it got. */
static rad_step steals(crew *c, uint32_t tasks, uint32_t (*put)(rad_worker *w, rad_task *task))
{
    crew_open(c);
    for (uint32_t i = 0; i < tasks; i++) assert_int_equal(put(&c->workers[VICTIM], &c->tasks[i]), RAD_NONE);
    return steps_until(&c->workers[THIEF], RAD_PHASE_FOUND);
}

static void a_crowd_comes_along_in_its_order(void **state)
{
    static crew c;
    rad_worker *thief = &c.workers[THIEF];
    (void)state;
    rad_step step = steals(&c, RAD_CROWD + 1, rad__worker_wake);
    assert_int_equal(step.source, RAD_FROM_VICTIM_WOKEN);
    assert_int_equal(step.moved, RAD_BATCH_MAX - 1);
    assert_int_equal(rad__deque_count(&c.workers[VICTIM].woken), RAD_CROWD + 1 - RAD_BATCH_MAX);
    for (uint32_t i = 0; i < RAD_BATCH_MAX; i++) {
        steps_until(thief, RAD_PHASE_RUN);
        assert_ptr_equal(thief->current, &c.tasks[i]);
        (void)rad__worker_step(thief, 0);
    }
    crew_close(&c);
}

static void one_at_a_time_is_taken_of_fewer(void **state)
{
    static crew c;
    (void)state;
    rad_step step = steals(&c, RAD_CROWD, rad__worker_wake); /* one is taken: no crowd is left */
    assert_int_equal(step.moved, 0);
    assert_int_equal(rad__deque_count(&c.workers[VICTIM].woken), RAD_CROWD - 1);
    crew_close(&c);
}

/* Those are newest first for their worker: the oldest is likely to be the largest, and enough for a thief. */
static void one_at_a_time_is_taken_of_spawned_tasks(void **state)
{
    static crew c;
    (void)state;
    rad_step step = steals(&c, TASKS, rad__worker_spawn);
    assert_int_equal(step.source, RAD_FROM_VICTIM);
    assert_int_equal(step.moved, 0);
    crew_close(&c);
}

/* Between the two queues nobody sees the tasks: who went to sleep meanwhile is woken for them. */
static void who_sleeps_is_woken_for_what_came_along(void **state)
{
    static crew c;
    (void)state;
    crew_open(&c);
    steps_until(&c.workers[SLEEPER], RAD_PHASE_PARKED);
    for (uint32_t i = 0; i <= RAD_CROWD; i++)
        assert_int_equal(rad__worker_wake(&c.workers[VICTIM], &c.tasks[i]), RAD_NONE);
    steps_until(&c.workers[THIEF], RAD_PHASE_FOUND);
    rad_task *task;
    while (rad__deque_steal(&c.workers[VICTIM].woken, &task) == RAD_STEAL_GOT) continue;
    assert_int_equal(steps_until(&c.workers[THIEF], RAD_PHASE_RUN).woken, SLEEPER);
    crew_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowd_comes_along_in_its_order),
        cmocka_unit_test(one_at_a_time_is_taken_of_fewer),
        cmocka_unit_test(one_at_a_time_is_taken_of_spawned_tasks),
        cmocka_unit_test(who_sleeps_is_woken_for_what_came_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
