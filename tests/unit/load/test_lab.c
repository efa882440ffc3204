/* test_lab.c — the load tester's scheduler in the lab: any answer at any time, and nothing is lost, doubled,
 * mistaken or starved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/machines/load/machine.h"
#include "storm_support.h"

#include <raddle/lab.h>

/* Words that are set one after the other; nothing may be found, and every oracle must have been asked. */
static void explore(const char *machine, const char *const *words, uint64_t runs)
{
    rad_target t;
    rad_error error = {0};
    static rad_exploration e;
    assert_int_equal(rad_target_init(&t, machine, &error), 0);
    for (; *words != NULL; words++)
        if (rad_target_set(&t, *words, &error) != 0) fail_msg("%s", error.text);
    rad_explore_options o = {
        .runs = storm_size(runs / 2, runs), .seed = 1, .jobs = 1, .twice = true, .stop_on_first = true};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    if (e.finding_count > 0) fail_msg("%s", rad_artifact_verdict(e.findings[0].artifact)->message);
    for (uint32_t i = RAD__LOAD_ORACLE_STATE; i <= RAD__LOAD_ORACLE_REPLAY; i++) assert_true(e.evaluations[i] > 0);
    rad_exploration_free(&e);
}

#define EXPLORE(runs, ...) explore("load", (const char *const[]){__VA_ARGS__, NULL}, runs)

static void a_crowded_pool(void **state)
{
    (void)state;
    EXPLORE(1500, "users=3");
}

static void cohorts_and_a_small_batch(void **state)
{
    (void)state;
    EXPLORE(400, "users=5", "steps=3", "iterations=8", "connections=5", "events=100", "batch=1");
}

static void streams_share_connections(void **state)
{
    (void)state;
    EXPLORE(800, "users=5", "streams=3", "connections=2", "events=100", "batch=3");
}

static void a_queue_that_is_too_short(void **state)
{
    (void)state;
    EXPLORE(800, "users=5", "connections=5", "events=2", "batch=5");
}

static void arrivals(void **state)
{
    (void)state;
    EXPLORE(800, "users=2", "steps=2", "arrivals=10", "connections=2", "events=100", "batch=2");
}

static void a_scenario_of_its_own(void **state)
{
    (void)state;
    explore("load-scenario", (const char *const[]){"turns=60", NULL}, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowded_pool),
        cmocka_unit_test(cohorts_and_a_small_batch),
        cmocka_unit_test(streams_share_connections),
        cmocka_unit_test(a_queue_that_is_too_short),
        cmocka_unit_test(arrivals),
        cmocka_unit_test(a_scenario_of_its_own),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
