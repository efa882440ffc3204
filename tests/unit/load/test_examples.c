/* test_examples.c — every example is a scenario; those without a server are run twice, and replayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_support.h"

#include "base/alloc.h"
#include "load/report/result.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *inside(const char *name)
{
    static char path[4096];
    const char *root = getenv("RADDLE_SRC");
    snprintf(path, sizeof path, "%s/%s", root != NULL ? root : ".", name);
    return path;
}

static const char *folder(void)
{
    return inside("examples/load");
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static rad_load_scenario *read_example(const char *name)
{
    char path[5000];
    rad_load_scenario *s;
    rad_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    if (rad_load_read(&s, path, &error) != 0) fail_msg("%s", error.text);
    return s;
}

static void every_example_is_a_scenario(void **state)
{
    (void)state;
    rad_os_names names = {0};
    rad_error error = {0};
    uint32_t count = 0;
    assert_int_equal(rad__os_list(&names, folder(), &error), 0);
    for (uint32_t i = 0; i < names.count; i++) {
        if (!ends_with(names.items[i], ".toml")) continue;
        rad_load_scenario *s = read_example(names.items[i]);
        char *text = rad_load_outline(s);
        assert_non_null(text);
        assert_int_equal(rad_load_has_simulated(s), strncmp(names.items[i], "sim-", 4) == 0);
        rad__free(text);
        rad_load_free(s);
        count++;
    }
    assert_true(count >= 10);
    rad__os_names_free(&names);
}

static void the_scenario_of_the_manual(void **state)
{
    (void)state;
    char *page;
    size_t size;
    rad_error error = {0};
    rad_load_scenario *s;
    assert_int_equal(rad__os_read_file(inside("docs/load-scenario.md"), 1 << 20, &page, &size, &error), 0);
    char *text = strstr(page, "```toml\n") + strlen("```toml\n"), *end = strstr(text, "```");
    if (rad_load_parse(&s, "manual", text, (size_t)(end - text), &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(s->s.users, 64);
    assert_false(rad_load_has_simulated(s));
    rad_load_free(s);
    rad__free(page);
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

/* What a run of it measured, when it was run twice with the same log that replays. */
static void run_twice(const char *name, load_trial *t, rad_load_scenario **scenario)
{
    rad_bytes first;
    *scenario = read_example(name);
    const rad__load_scenario *s = &(*scenario)->s;
    load_trial_begin(t, s, s->seed);
    load_trial_run(t);
    load_verified(t);
    first = t->file;
    t->file = (rad_bytes){0};
    load_trial_end(t);
    load_trial_begin(t, s, s->seed);
    load_trial_run(t);
    assert_int_equal(first.size, t->file.size);
    assert_memory_equal(first.data, t->file.data, first.size);
    assert_int_not_equal(s->seed, 0);
    rad__bytes_free(&first);
}

static bool holds(const load_trial *t, const char *name)
{
    const rad__load_scenario *s = t->scheduler.scenario;
    for (uint32_t i = 0; i < s->assertion_count; i++)
        if (strcmp(s->assertions[i].name, name) == 0)
            return rad__load_assertion_holds(&s->assertions[i],
                                             rad__load_metrics_measure(&t->scheduler.metrics, &s->assertions[i]));
    fail_msg("no assertion %s", name);
    return false;
}

static void all_hold(const load_trial *t)
{
    for (uint32_t i = 0; i < t->scheduler.scenario->assertion_count; i++)
        if (!holds(t, t->scheduler.scenario->assertions[i].name))
            fail_msg(
                "%s does not hold: %lu", t->scheduler.scenario->assertions[i].name,
                (unsigned long)rad__load_metrics_measure(&t->scheduler.metrics, &t->scheduler.scenario->assertions[i]));
}

static void end(load_trial *t, rad_load_scenario *s)
{
    load_trial_end(t);
    rad_load_free(s);
}

static void sim_closed(void **state)
{
    (void)state;
    load_trial t;
    rad_load_scenario *s;
    run_twice("sim-closed.toml", &t, &s);
    all_hold(&t);
    const struct rad__load_by_request *r = t.scheduler.metrics.by_request;
    assert_true(r[0].tally.responses > 2 * r[1].tally.responses); /* three to one */
    assert_true(r[0].tally.responses < 4 * r[1].tally.responses);
    end(&t, s);
}

static void sim_arrivals(void **state)
{
    (void)state;
    load_trial t;
    rad_load_scenario *s;
    run_twice("sim-arrivals.toml", &t, &s);
    all_hold(&t);
    /* (10 + 200) / 2 * 5 + 200 * 10 + 200 / 2 * 5 */
    assert_int_equal(t.scheduler.metrics.arrivals + t.scheduler.metrics.dropped, 3025);
    end(&t, s);
}

/* A stall of 1 s in 10: 10 % of what is planned waits 0 to 1 s, so p95 is about 0.5 s and p99 about 0.9 s. */
static void must_hold_4_coordinated_omission(void **state)
{
    (void)state;
    load_trial t;
    rad_load_scenario *s;
    run_twice("sim-stall.toml", &t, &s);
    all_hold(&t);
    const rad__load_metrics *m = &t.scheduler.metrics;
    assert_in_range(rad__histogram_quantile(&m->response, 95, 100), 450 * MS, 550 * MS);
    assert_in_range(rad__histogram_quantile(&m->response, 99, 100), 850 * MS, 950 * MS);
    assert_in_range(rad__histogram_quantile(&m->service, 95, 100), 5 * MS, 6 * MS);
    end(&t, s);
}

static void sim_faults(void **state)
{
    (void)state;
    load_trial t;
    rad_load_scenario *s;
    run_twice("sim-faults.toml", &t, &s);
    all_hold(&t);
    const rad__load_metrics *m = &t.scheduler.metrics;
    assert_true(m->by_fault[RAD__LOAD_RESET] > 0);
    assert_true(m->by_fault[RAD__LOAD_BAD_RESPONSE] > 0);
    assert_true(m->by_fault[RAD__LOAD_REFUSED] > 0);
    assert_true(m->by_fault[RAD__LOAD_REQUEST_TIMEOUT] > 0);
    assert_true(m->late > 0);
    /* The one check fails exactly when the answer is not of the 200s. */
    assert_int_equal(m->checks_failed, m->by_status[404] + m->by_status[503]);
    assert_true(m->by_status[503] > 0);
    end(&t, s);
}

static void sim_saturation(void **state)
{
    (void)state;
    load_trial t;
    rad_load_scenario *s;
    run_twice("sim-saturation.toml", &t, &s);
    assert_false(holds(&t, "p50_response_ms"));
    assert_true(t.scheduler.failed);
    assert_true(t.scheduler.now_ns < 59 * S); /* it ended early */
    end(&t, s);
}

static void sim_ramp(void **state)
{
    (void)state;
    load_trial t;
    rad_load_scenario *s;
    run_twice("sim-ramp.toml", &t, &s);
    assert_int_equal(t.scheduler.metrics.spawned, 200);
    assert_int_equal(s->s.duration_ns, 20 * S);
    end(&t, s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_a_scenario),
        cmocka_unit_test(the_scenario_of_the_manual),
        cmocka_unit_test(sim_closed),
        cmocka_unit_test(sim_arrivals),
        cmocka_unit_test(must_hold_4_coordinated_omission),
        cmocka_unit_test(sim_faults),
        cmocka_unit_test(sim_saturation),
        cmocka_unit_test(sim_ramp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
