/* test_turns.c — where a stolen task is counted, and who has every fourth fair pick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/exec.h>

#include <sched.h>

static rad_exec *created(const rad_exec_options *o)
{
    rad_exec *exec = NULL;
    rad_error error = {0};
    if (rad_exec_create(&exec, o, &error) != 0) fail_msg("%s", error.text);
    return exec;
}

/* ---- Counts ---------------------------------------------------------------------------------------------- */

typedef struct sleeper {
    rad_task task;
    _Atomic uint32_t runs;
} sleeper;

static enum rad_run sleeps_once(rad_task *task, rad_worker *w)
{
    sleeper *s = (sleeper *)task;
    (void)w;
    return atomic_fetch_add(&s->runs, 1) == 0 ? RAD_RUN_BLOCKED : RAD_RUN_DONE;
}

typedef struct keeper {
    rad_task task;
    sleeper *sleeper;
} keeper;

/* Wakes another task, and keeps its worker until that has run: elsewhere. */
static enum rad_run keeps_its_worker(rad_task *task, rad_worker *w)
{
    keeper *k = (keeper *)task;
    rad_worker_wake(w, &k->sleeper->task);
    while (atomic_load(&k->sleeper->runs) < 2) sched_yield();
    return RAD_RUN_DONE;
}

static void a_woken_task_that_is_stolen_counts_as_stolen(void **state)
{
    (void)state;
    rad_exec *exec = created(&(rad_exec_options){.workers = 2});
    rad_exec_counts counts = {0};
    sleeper s = {.task = {.run = sleeps_once}};
    keeper k = {.task = {.run = keeps_its_worker}, .sleeper = &s};
    assert_true(rad_exec_spawn_on(exec, 1, &s.task));
    for (; counts.ran == 0; rad_exec_stats(exec, 1, &counts)) sched_yield();
    assert_true(rad_exec_spawn_on(exec, 0, &k.task));
    assert_int_equal(rad_exec_join(exec), 0);
    rad_exec_stats(exec, 1, &counts);
    assert_int_equal(counts.ran, 2);
    assert_int_equal(counts.from_inbox, 1);
    assert_int_equal(counts.stolen, 1);
    assert_int_equal(counts.from_local, 0);
    rad_exec_destroy(exec);
}

/* ---- Fairness -------------------------------------------------------------------------------------------- */

enum { LINKS_MOST = 100000 };

static struct {
    rad_task links[2], yields;
    uint32_t spawned;
    bool yielded, came_back;
} chain;

/* There is always a newer task on its worker's own queue. */
static enum rad_run spawns_the_next(rad_task *task, rad_worker *w)
{
    if (!chain.came_back && chain.spawned++ < LINKS_MOST) rad_worker_spawn(w, &chain.links[task == &chain.links[0]]);
    return RAD_RUN_DONE;
}

static enum rad_run yields_once(rad_task *task, rad_worker *w)
{
    (void)task;
    if (!chain.yielded) {
        chain.yielded = true;
        rad_worker_spawn(w, &chain.links[0]);
        return RAD_RUN_YIELD;
    }
    chain.came_back = true;
    return RAD_RUN_DONE;
}

static void who_yields_comes_back_beside_a_chain_of_spawns(void **state)
{
    (void)state;
    rad_exec *exec = created(&(rad_exec_options){.workers = 1});
    chain.links[0].run = chain.links[1].run = spawns_the_next;
    chain.yields.run = yields_once;
    assert_true(rad_exec_spawn(exec, &chain.yields));
    assert_int_equal(rad_exec_join(exec), 0);
    assert_true(chain.came_back);
    assert_true(chain.spawned < LINKS_MOST);
    rad_exec_destroy(exec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_woken_task_that_is_stolen_counts_as_stolen),
        cmocka_unit_test(who_yields_comes_back_beside_a_chain_of_spawns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
