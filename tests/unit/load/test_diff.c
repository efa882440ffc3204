/* test_diff.c — runs before and after: what is worse, what is better, what chance does, and what never fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "report_support.h"
#include "storm_support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static rad_load_result *run_of(load_scene *scene, uint64_t seed)
{
    load_trial t;
    load_trial_begin(&t, &scene->s, seed);
    load_trial_run(&t);
    rad_load_result *r = report_of_run(&t);
    load_trial_end(&t);
    return r;
}

static char *diff_of(const rad_load_result *a, const rad_load_result *b, double threshold, bool json,
                     rad_load_difference *d)
{
    rad_error error = {0};
    rad_load_diff_options o = rad_load_diff_defaults();
    o.threshold_pct = threshold;
    o.json = json;
    char *text = rad_load_diff(&a, 1, &b, 1, &o, d, &error);
    if (text == NULL) fail_msg("%s", error.text);
    return text;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("expected \"%s\" in:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) fail_msg("did not expect \"%s\" in:\n%s", part, text);
}

/* How many rows are worse, in a comparison of one run a side. */
static uint32_t worse_of(const rad_load_result *a, const rad_load_result *b, double threshold)
{
    rad_load_difference d;
    rad__free(diff_of(a, b, threshold, false, &d));
    assert_false(d.tested);
    return d.worse;
}

/* ---- One run a side -------------------------------------------------------------------------------------- */

static void a_run_does_not_differ_from_itself(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    for (int open = 0; open < 2; open++) {
        if (open)
            report_scene_rich_open(&scene, 20, 200, 3);
        else
            report_scene_rich(&scene, 50, 3);
        rad_load_result *a = run_of(&scene, 5), *b = run_of(&scene, 5);
        char *text = diff_of(a, b, 0, false, &d);
        assert_int_equal(d.worse + d.better, 0);
        assert_int_equal(d.rows, open ? 4 * 5 + 2 : 4 * 5); /* three names, and all */
        has(text, open ? "\n0 worse, 0 better, of 22 rows\n" : "\n0 worse, 0 better, of 20 rows\n");
        has(text, "buy <it> p99 ms ");
        has(text, "all rate /s ");
        has_not(text, "Also");
        rad__free(text);
        rad_load_result_free(a);
        rad_load_result_free(b);
    }
}

/* 20 ms become 25 ms: times up, rate down. */
static void slower_is_worse_and_faster_is_better(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    load_scene_make(&scene, 10, 3);
    rad_load_result *fast = run_of(&scene, 1);
    scene.latency[0].value = 25 * MS;
    rad_load_result *slow = run_of(&scene, 1);
    char *text = diff_of(fast, slow, 5, false, &d);
    has(text, "index p99 ms ");
    has(text, "        20.000         25.000     +25.0 %  worse\n");
    has(text, "index rate /s ");
    has(text, "requests total ");
    has(text, "No test is possible with 1 and 1 runs: for 4 rows at a level of 1 % it takes 6 a side.");
    assert_int_equal(d.worse, 3 + 1); /* three percentiles, and the rate */
    rad__free(text);
    text = diff_of(slow, fast, 5, false, &d);
    assert_int_equal(d.worse, 0);
    assert_int_equal(d.better, 4);
    has(text, "     -20.0 %  better\n");
    rad__free(text);
    assert_int_equal(worse_of(fast, slow, 25), 0); /* not more than that */
    assert_int_equal(worse_of(fast, slow, 24.9), 3);
    rad_load_result_free(fast);
    rad_load_result_free(slow);
}

/* Without a threshold nothing fails, and nothing is called worse; what differs is told, and that there is no test. */
static void one_run_a_side_has_no_test(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    load_scene_make(&scene, 10, 3);
    rad_load_result *fast = run_of(&scene, 1);
    scene.latency[0].value = 500 * MS;
    rad_load_result *slow = run_of(&scene, 1);
    char *text = diff_of(fast, slow, -1, false, &d);
    assert_int_equal(d.worse + d.better, 0);
    assert_false(d.tested || d.no_data);
    has(text, "        20.000        500.000   +2400.0 %\n");
    has(text, "No test is possible with 1 and 1 runs");
    has(text, "Nothing fails: no --threshold was given.");
    has_not(text, "worse");
    rad__free(text);
    rad_load_result_free(fast);
    rad_load_result_free(slow);
}

static void from_nothing_to_something_counts(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    load_scene_make(&scene, 10, 3);
    rad_load_result *good = run_of(&scene, 1);
    scene.s.simulated.reset_ppm = 5000;
    scene.s.name = "another";
    rad_load_result *bad = run_of(&scene, 1);
    assert_true(bad->metrics.measured.errors > 0);
    char *text = diff_of(good, bad, 1000, false, &d);
    has(text, "The scenarios of these runs are not the same.\n");
    has(text, "index failed ");
    has(text, "from none  worse\n");
    assert_int_equal(d.worse, 1);
    rad__free(text);
    assert_int_equal(worse_of(bad, good, 1000), 0);
    rad_load_result_free(good);
    rad_load_result_free(bad);
}

/* The least time and the number of requests are far off; neither is worth a failure. */
static void least_times_and_counts_never_fail(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    load_scene_make(&scene, 10, 4);
    scene.latency[0] = (struct rad__load_point){0, 1 * MS};
    scene.latency[1] = (struct rad__load_point){10000, 20 * MS};
    scene.s.simulated.latency.count = 2;
    rad_load_result *a = run_of(&scene, 1);
    scene.latency[0].value = 15 * MS;
    scene.s.duration_ns = 16 * S;
    scene.stages[0].length_ns = 16 * S;
    rad_load_result *b = run_of(&scene, 1);
    assert_true(b->metrics.service.min > 3 * a->metrics.service.min);
    assert_true(b->metrics.measured.issued > 3 * a->metrics.measured.issued);
    char *text = diff_of(a, b, 3, false, &d);
    if (d.worse != 0) fail_msg("%s", text);
    has(text, "latency min ms ");
    has(text, "requests total ");
    rad__free(text);
    assert_int_equal(worse_of(b, a, 3), 0);
    rad_load_result_free(a);
    rad_load_result_free(b);
}

/* ---- No data --------------------------------------------------------------------------------------------- */

/* What was measured on one side only is neither better nor worse; and a side without any answer is not good. */
static void no_data_is_neither_better_nor_worse(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    load_scene_make(&scene, 10, 3);
    rad_load_result *good = run_of(&scene, 1);
    scene.s.simulated.refuse_ppm = 1000000;
    rad_load_result *dead = run_of(&scene, 1);
    char *text = diff_of(good, dead, 0, false, &d);
    has(text, "index p50 ms                                 20.000        no data");
    has(text, "no data after: no response: ");
    has_not(text, "  better");
    assert_int_equal(d.worse, 2); /* rate and failed share have data */
    assert_true(d.no_data);
    assert_int_equal(d.rows, 5);
    rad__free(text);
    text = diff_of(dead, good, 0, false, &d);
    assert_int_equal(d.worse, 0);
    assert_int_equal(d.better, 2);
    assert_true(d.no_data);
    rad__free(text);
    text = diff_of(dead, good, 0, true, &d);
    has(text, "\"figure\": \"p50_ns\", \"before\": null, \"after\": 20000000, \"change_pct\": null");
    has(text, "\"p\": null, \"p_better\": null, \"verdict\": \"no data\"}");
    has(text, "\"p99_ns\": {\"run1\": null, \"run2\": 20000000, \"delta\": null, \"delta_pct\": null, "
              "\"improved\": null, \"beyond_threshold\": false}");
    rad__free(text);
    text = diff_of(dead, dead, -1, false, &d);
    assert_true(d.no_data);
    rad__free(text);
    rad_load_result_free(good);
    rad_load_result_free(dead);
}

/* A name that only one side has. */
static void other_names(void **state)
{
    (void)state;
    load_scene scene, other;
    rad_load_difference d;
    report_scene_rich(&scene, 20, 3);
    rad_load_result *three = run_of(&scene, 1);
    report_scene_rich(&other, 20, 3);
    other.s.request_count = 2;
    other.requests[1].name = "sell";
    rad_load_result *two = run_of(&other, 1);
    char *text = diff_of(three, two, 1000, false, &d);
    has(text, "search rate /s ");
    has(text, "sell p50 ms                                 no data ");
    assert_int_equal(d.rows, 5 * 5); /* four names, and all */
    assert_int_equal(d.worse, 0);
    rad__free(text);
    rad_load_result_free(three);
    rad_load_result_free(two);
}

/* So many names that there are no times of each: only all of them together are looked at. */
static void very_many_names(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    static struct rad__load_request requests[100];
    static char names[100][8];
    load_scene_make(&scene, 20, 3);
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(names[i], sizeof names[i], "n%u", i);
        requests[i] = scene.requests[0];
        requests[i].name = names[i];
    }
    scene.s.requests = requests;
    scene.s.request_count = 100;
    rad_load_result *a = run_of(&scene, 1);
    char *text = diff_of(a, a, 5, false, &d);
    assert_int_equal(d.rows, 5);
    has(text, "More than 64 names: only all requests together are compared.\n");
    rad__free(text);
    rad_load_result_free(a);
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static json_t *figure(json_t *top, const char *group, const char *name)
{
    json_t *j = json_object_get(json_object_get(json_object_get(top, "comparison"), group), name);
    if (j == NULL) fail_msg("no %s.%s", group, name);
    return j;
}

static json_t *json_of(const char *text)
{
    json_error_t why;
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (j == NULL) fail_msg("line %d: %s\n%s", why.line, why.text, text);
    return j;
}

static void json_has_the_documented_fields(void **state)
{
    (void)state;
    load_scene scene;
    rad_load_difference d;
    report_scene_rich_open(&scene, 100, 200, 3);
    rad_load_result *a = run_of(&scene, 1);
    scene.latency[1].value = 60 * MS;
    rad_load_result *b = run_of(&scene, 1);
    char *text = diff_of(a, b, 5, true, &d);
    json_t *j = json_of(text), *run1 = json_object_get(j, "run1");
    assert_string_equal(json_string_value(json_object_get(run1, "scenario")), "rich");
    assert_int_equal(json_integer_value(json_object_get(run1, "runs")), 1);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(run1, "seeds"), 0)), 1);
    assert_int_equal(json_integer_value(json_object_get(j, "worse")), d.worse);
    json_t *p50 = figure(j, "latency", "p50_ns");
    int64_t x = (int64_t)rad_load_percentile(a, false, 500000), y = (int64_t)rad_load_percentile(b, false, 500000);
    assert_int_equal(json_integer_value(json_object_get(p50, "run1")), x);
    assert_int_equal(json_integer_value(json_object_get(p50, "run2")), y);
    assert_int_equal(json_integer_value(json_object_get(p50, "delta")), y - x);
    double pct = json_real_value(json_object_get(p50, "delta_pct"));
    assert_true(fabs(pct - (double)(y - x) * 100 / (double)x) < 0.001);
    assert_true(json_is_false(json_object_get(p50, "improved")));
    assert_true(json_is_true(json_object_get(p50, "beyond_threshold")));
    assert_true(json_is_null(json_object_get(figure(j, "requests", "total"), "improved")));
    figure(j, "response_latency", "p99_ns");
    figure(j, "throughput", "rps");
    figure(j, "connections", "avg_connection_time_ns");
    figure(j, "errors", "rate");
    figure(j, "arrivals", "dropped");
    json_t *test = json_object_get(j, "test");
    assert_true(json_is_false(json_object_get(test, "possible")));
    assert_string_equal(json_string_value(json_object_get(test, "correction")), "Holm");
    assert_true(json_real_value(json_object_get(test, "level")) > 0.0099);
    assert_int_equal(json_array_size(json_object_get(j, "rows")), 22);
    json_decref(j);
    rad__free(text);
    text = diff_of(b, a, 5, true, &d);
    j = json_of(text);
    assert_true(json_is_true(json_object_get(figure(j, "latency", "p50_ns"), "improved")));
    assert_int_equal(json_integer_value(json_object_get(figure(j, "latency", "p50_ns"), "delta")), x - y);
    json_decref(j);
    rad__free(text);
    rad_load_result_free(a);
    rad_load_result_free(b);
}

/* ---- Several runs a side --------------------------------------------------------------------------------- */

enum { RUNS = 10 };

static uint32_t pairs(void)
{
    return (uint32_t)storm_size(20, 100);
}

/* A closed run of two names on a target with a long tail and some failures, and the same 10 % slower. */
static const char TARGET[] = "[runtime]\nduration_seconds = 2\nvus = 5\ntick = \"10us\"\n"
                             "[[requests]]\nname = \"index\"\npath = \"/\"\n"
                             "[[requests]]\nname = \"search\"\npath = \"/s\"\nweight = 0.5\n"
                             "[simulated]\nstatus = { \"200\" = 0.98, \"503\" = 0.02 }\nlatency_ms = ";
static const char USUAL[] = "{ min = 5, p50 = 10, p90 = 20, p99 = 60, max = 100 }\n";
static const char SLOWER[] = "{ min = 5.5, p50 = 11, p90 = 22, p99 = 66, max = 110 }\n";
static const char TARGET_OF_ARRIVALS[] = "[runtime]\nduration_seconds = 4\nvus = 20\ntick = \"10us\"\n"
                                         "[schedule]\ntype = \"arrival_rate\"\nrate = 200\n"
                                         "[[requests]]\nname = \"index\"\npath = \"/\"\n[simulated]\nlatency_ms = ";

static rad_load_scenario *read_target(const char *target, const char *latency)
{
    char text[1024];
    rad_load_scenario *s;
    rad_error error = {0};
    snprintf(text, sizeof text, "%s%s", target, latency);
    if (rad_load_parse(&s, "target.toml", text, strlen(text), &error) != 0) fail_msg("%s", error.text);
    return s;
}

static void run_all(const rad_load_scenario *s, uint64_t seed, uint32_t count, rad_load_result **runs)
{
    for (uint32_t i = 0; i < count; i++) {
        rad_error error = {0};
        rad_load_options o = rad_load_defaults();
        o.seed = seed + i;
        if (rad_load_run(&runs[i], s, &o, &error) != 0) fail_msg("%s", error.text);
    }
}

static void free_all(rad_load_result **runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) rad_load_result_free(runs[i]);
}

static rad_load_difference compare_by(rad_load_result *const *a, rad_load_result *const *b, uint32_t count,
                                      const rad_load_diff_options *o)
{
    rad_load_difference d;
    rad_error error = {0};
    char *text = rad_load_diff((const rad_load_result *const *)a, count, (const rad_load_result *const *)b, count, o,
                               &d, &error);
    if (text == NULL) fail_msg("%s", error.text);
    rad__free(text);
    return d;
}

static rad_load_difference compare(rad_load_result *const *a, rad_load_result *const *b, uint32_t count)
{
    return compare_by(a, b, count, NULL);
}

/* How many pairs of ten runs each fail: of the same target, of one that is 10 % slower, and the other way
 * round. Every run has a seed of its own. */
static void count_failures(const char *target, uint32_t failed[3], uint32_t *found_better)
{
    rad_load_scenario *usual = read_target(target, USUAL), *slower = read_target(target, SLOWER);
    *found_better = 0;
    for (uint32_t pair = 0; pair < pairs(); pair++) {
        rad_load_result *a[RUNS], *b[RUNS], *c[RUNS];
        uint64_t seed = 1 + pair * 3 * RUNS;
        run_all(usual, seed, RUNS, a);
        run_all(usual, seed + RUNS, RUNS, b);
        run_all(slower, seed + 2 * RUNS, RUNS, c);
        rad_load_difference same = compare(a, b, RUNS), slow = compare(a, c, RUNS), fast = compare(c, a, RUNS);
        assert_true(same.tested && slow.tested && fast.tested);
        failed[0] += same.worse > 0;
        failed[1] += slow.worse > 0;
        failed[2] += fast.worse > 0;
        *found_better += fast.better > 0;
        free_all(a, RUNS);
        free_all(b, RUNS);
        free_all(c, RUNS);
    }
    rad_load_free(usual);
    rad_load_free(slower);
    print_message("of %u pairs %u of the same target fail, %u of a slower one, %u of a faster one\n", pairs(),
                  failed[0], failed[1], failed[2]);
}

static void must_pass_the_same_and_fail_the_slower(void **state)
{
    (void)state;
    uint32_t failed[3] = {0}, better;
    count_failures(TARGET, failed, &better);
    assert_in_range(failed[0], 0, pairs() / 20);
    assert_in_range(failed[1], pairs() - pairs() / 20, pairs());
    assert_in_range(failed[2], 0, pairs() / 20); /* by chance, as the first: the same share fails */
    assert_in_range(better, pairs() - pairs() / 20, pairs());
}

static void so_it_is_with_arrivals(void **state)
{
    (void)state;
    uint32_t failed[3] = {0}, better;
    count_failures(TARGET_OF_ARRIVALS, failed, &better);
    assert_in_range(failed[0], 0, pairs() / 20);
    assert_in_range(failed[1], pairs() - pairs() / 20, pairs());
    assert_int_equal(failed[2], 0);
}

/* Without a margin the level alone decides: at 20 % no more than 20 of 100 pairs of the same target fail, by any of
 * fifteen rows. Fifteen tests that are not corrected would fail in more than half of them. */
static void the_level_is_of_all_rows_together(void **state)
{
    (void)state;
    rad_load_scenario *usual = read_target(TARGET, USUAL);
    rad_load_diff_options o = rad_load_diff_defaults();
    uint32_t failed = 0;
    o.level_pct = 20;
    o.threshold_pct = 0;
    for (uint32_t pair = 0; pair < pairs(); pair++) {
        rad_load_result *a[RUNS], *b[RUNS];
        run_all(usual, 100000 + pair * 2 * RUNS, RUNS, a);
        run_all(usual, 100000 + (pair * 2 + 1) * RUNS, RUNS, b);
        failed += compare_by(a, b, RUNS, &o).worse > 0;
        free_all(a, RUNS);
        free_all(b, RUNS);
    }
    print_message("at a level of 20 %% %u of %u pairs of the same target fail\n", failed, pairs());
    assert_in_range(failed, pairs() * 3 / 100, pairs() / 5);
    rad_load_free(usual);
}

/* What is certain, and less than the margin, is no failure; unless a smaller one is asked for. */
static void small_differences_do_not_fail(void **state)
{
    (void)state;
    rad_load_result *a[RUNS], *b[RUNS];
    rad_load_scenario *usual = read_target(TARGET_OF_ARRIVALS, "{ min = 10, max = 11 }\n"),
                      *slower = read_target(TARGET_OF_ARRIVALS, "{ min = 10.4, max = 11.4 }\n");
    rad_load_difference d;
    rad_error error = {0};
    run_all(usual, 1, RUNS, a);
    run_all(slower, 100, RUNS, b);
    assert_int_equal(compare(a, b, RUNS).worse, 0);
    rad_load_diff_options o = rad_load_diff_defaults();
    o.threshold_pct = 2;
    rad__free(rad_load_diff((const rad_load_result *const *)a, RUNS, (const rad_load_result *const *)b, RUNS, &o, &d,
                            &error));
    assert_true(d.tested && d.worse > 0);
    free_all(a, RUNS);
    free_all(b, RUNS);
    rad_load_free(usual);
    rad_load_free(slower);
}

/* Four runs a side cannot be certain enough of six rows at 1 %, however far off they are; at 20 % they can. */
static void too_few_runs_are_not_tested(void **state)
{
    (void)state;
    rad_load_result *a[RUNS], *b[RUNS];
    rad_load_scenario *usual = read_target(TARGET_OF_ARRIVALS, "10\n"),
                      *slower = read_target(TARGET_OF_ARRIVALS, "20\n");
    rad_load_difference d;
    rad_error error = {0};
    run_all(usual, 1, RUNS, a);
    run_all(slower, 100, RUNS, b);
    rad_load_diff_options o = rad_load_diff_defaults();
    char *text =
        rad_load_diff((const rad_load_result *const *)a, 4, (const rad_load_result *const *)b, 4, &o, &d, &error);
    assert_false(d.tested);
    assert_int_equal(d.worse, 0);
    has(text, "No test is possible with 4 and 4 runs: for 6 rows at a level of 1 % it takes 6 a side.");
    rad__free(text);
    o.threshold_pct = 50;
    rad__free(
        rad_load_diff((const rad_load_result *const *)a, 4, (const rad_load_result *const *)b, 5, &o, &d, &error));
    assert_true(!d.tested && d.worse > 0);
    o = rad_load_diff_defaults();
    o.level_pct = 20;
    rad__free(
        rad_load_diff((const rad_load_result *const *)a, 4, (const rad_load_result *const *)b, 5, &o, &d, &error));
    assert_true(d.tested && d.worse > 0);
    rad__free(
        rad_load_diff((const rad_load_result *const *)a, 7, (const rad_load_result *const *)b, 10, NULL, &d, &error));
    assert_true(d.tested && d.worse > 0);
    free_all(a, RUNS);
    free_all(b, RUNS);
    rad_load_free(usual);
    rad_load_free(slower);
}

/* Fast answers that are errors: nothing is slower, and the share that failed is worse, in ten of ten runs. */
static void failures_fail(void **state)
{
    (void)state;
    rad_load_result *a[RUNS], *b[RUNS];
    rad_load_scenario *usual = read_target(TARGET_OF_ARRIVALS, "10\n"),
                      *broken = read_target(TARGET_OF_ARRIVALS, "5\nstatus = { \"200\" = 0.95, \"500\" = 0.05 }\n");
    run_all(usual, 1, RUNS, a);
    run_all(broken, 100, RUNS, b);
    rad_load_difference d = compare(a, b, RUNS);
    assert_int_equal(d.worse, 1);
    assert_int_equal(d.better, 5); /* all five percentiles */
    free_all(a, RUNS);
    free_all(b, RUNS);
    rad_load_free(usual);
    rad_load_free(broken);
}

/* One run of ten met a dead server: it has no times, but a rate and a failed share. */
static void a_run_without_answers_among_others(void **state)
{
    (void)state;
    rad_load_result *a[RUNS], *b[RUNS];
    rad_load_scenario *usual = read_target(TARGET_OF_ARRIVALS, "10\n"),
                      *dead = read_target(TARGET_OF_ARRIVALS, "10\nrefuse_rate = 1\n");
    rad_error error = {0};
    rad_load_difference d;
    run_all(usual, 1, RUNS, a);
    run_all(usual, 100, RUNS - 1, b);
    run_all(dead, 200, 1, b + RUNS - 1);
    rad_load_diff_options o = rad_load_diff_defaults();
    o.json = true;
    char *text =
        rad_load_diff((const rad_load_result *const *)a, RUNS, (const rad_load_result *const *)b, RUNS, &o, &d, &error);
    has(text, "\"figure\": \"p50_ns\", \"before\": 10");
    has(text, "\"runs_before\": 10, \"runs_after\": 9, \"p\": ");
    has(text, "\"runs_before\": 10, \"runs_after\": 10, \"p\": ");
    assert_true(d.tested && !d.no_data && d.worse == 0);
    rad__free(text);
    free_all(a, RUNS);
    free_all(b, RUNS);
    rad_load_free(usual);
    rad_load_free(dead);
}

/* Of several runs the median counts, of shares the mean: three runs of 10, 20 and 90 ms, the last one with failures;
 * and the first two of them. */
static void sides_are_told_by_their_middles(void **state)
{
    (void)state;
    static const char *const LATENCY[] = {"10\n", "20\n", "90\nstatus = { \"500\" = 1 }\n"};
    rad_load_result *runs[3];
    rad_error error = {0};
    for (uint32_t i = 0; i < 3; i++) {
        rad_load_scenario *s = read_target(TARGET_OF_ARRIVALS, LATENCY[i]);
        run_all(s, 1 + i, 1, &runs[i]);
        rad_load_free(s);
    }
    rad_load_diff_options o = rad_load_diff_defaults();
    o.json = true;
    char *text = rad_load_diff((const rad_load_result *const *)runs, 3, (const rad_load_result *const *)runs, 2, &o,
                               NULL, &error);
    has(text, "\"figure\": \"p50_ns\", \"before\": 20000000, \"after\": 15000000, "
              "\"change_pct\": -25.000");
    has(text, "\"figure\": \"failed_share\", \"before\": 0.333333, \"after\": 0.000000, "
              "\"change_pct\": -100.000");
    has(text, "\"p50_ns\": {\"run1\": 20000000, \"run2\": 15000000, \"delta\": -5000000");
    has(text, "\"run1\": {\"runs\": 3, ");
    has(text, "\"seeds\": [1, 2, 3]");
    rad__free(text);
    free_all(runs, 3);
}

/* Above fifty runs p is an approximation, and called that. */
static void many_runs_are_approximated(void **state)
{
    (void)state;
    enum { MANY = 26 };
    static const char SHORT[] = "[runtime]\nduration_seconds = 0.5\nvus = 5\ntick = \"10us\"\n"
                                "[[requests]]\nname = \"index\"\npath = \"/\"\n[simulated]\nlatency_ms = ";
    rad_load_result *a[MANY], *b[MANY];
    rad_load_scenario *usual = read_target(SHORT, USUAL), *slower = read_target(SHORT, SLOWER);
    rad_load_difference d;
    rad_error error = {0};
    run_all(usual, 1, MANY, a);
    run_all(slower, 100, MANY, b);
    for (uint32_t count = MANY - 1; count <= MANY; count++) {
        char *text = rad_load_diff((const rad_load_result *const *)a, count, (const rad_load_result *const *)b, count,
                                   NULL, &d, &error);
        has(text, count < MANY ? "one-sided, exact; " : "one-sided, by normal approximation; ");
        assert_true(d.tested && d.worse > 0);
        rad__free(text);
    }
    free_all(a, MANY);
    free_all(b, MANY);
    rad_load_free(usual);
    rad_load_free(slower);
}

/* ---- Mistakes -------------------------------------------------------------------------------------------- */

static void bad_options_and_no_memory(void **state)
{
    (void)state;
    load_scene scene;
    rad_error error = {0};
    report_scene_rich(&scene, 5, 1);
    rad_load_result *r = run_of(&scene, 1);
    const rad_load_result *a[] = {r};
    rad_load_diff_options o = rad_load_diff_defaults();
    static const double LEVELS[] = {0, -1, 51, (double)NAN, (double)INFINITY};
    o.threshold_pct = (double)NAN;
    assert_null(rad_load_diff(a, 1, a, 1, &o, NULL, &error));
    assert_int_equal(error.code, RAD_EINPUT);
    o.threshold_pct = (double)INFINITY;
    assert_null(rad_load_diff(a, 1, a, 1, &o, NULL, &error));
    o.threshold_pct = 5;
    for (uint32_t i = 0; i < 5; i++) {
        o.level_pct = LEVELS[i];
        assert_null(rad_load_diff(a, 1, a, 1, &o, NULL, &error));
        assert_int_equal(error.code, RAD_EINPUT);
    }
    assert_null(rad_load_diff(a, 1, a, 0, NULL, NULL, &error));
    assert_int_equal(error.code, RAD_EINPUT);
    bool done = false;
    o = rad_load_diff_defaults();
    for (uint64_t n = 1; !done; n++) {
        o.json = n % 2;
        rad__alloc_fail_at(n);
        char *text = rad_load_diff(a, 1, a, 1, &o, NULL, &error);
        rad__alloc_fail_at(0);
        done = text != NULL;
        if (!done) assert_int_equal(error.code, RAD_ENOMEM);
        rad__free(text);
    }
    rad_load_result_free(r);
}

/* A log twice on one side, and not on both. */
static void the_same_run_twice(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad_error error = {0};
    report_scene_rich(&scene, 5, 1);
    load_trial_begin(&t, &scene.s, 77);
    load_trial_run(&t);
    rad_load_result *x = report_of_log(&t.file, &scene.s, NULL), *y = report_of_log(&t.file, &scene.s, NULL);
    const rad_load_result *both[] = {x, y};
    assert_null(rad_load_diff(both, 1, both, 2, NULL, NULL, &error));
    assert_int_equal(error.code, RAD_EINPUT);
    has(error.text, "after: runs 1 and 2 are the same one (seed 77)");
    char *text = rad_load_diff(both, 1, both + 1, 1, NULL, NULL, &error);
    assert_non_null(text);
    rad__free(text);
    rad_load_result_free(x);
    rad_load_result_free(y);
    load_trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_does_not_differ_from_itself),
        cmocka_unit_test(slower_is_worse_and_faster_is_better),
        cmocka_unit_test(one_run_a_side_has_no_test),
        cmocka_unit_test(from_nothing_to_something_counts),
        cmocka_unit_test(least_times_and_counts_never_fail),
        cmocka_unit_test(no_data_is_neither_better_nor_worse),
        cmocka_unit_test(other_names),
        cmocka_unit_test(very_many_names),
        cmocka_unit_test(json_has_the_documented_fields),
        cmocka_unit_test(must_pass_the_same_and_fail_the_slower),
        cmocka_unit_test(so_it_is_with_arrivals),
        cmocka_unit_test(the_level_is_of_all_rows_together),
        cmocka_unit_test(small_differences_do_not_fail),
        cmocka_unit_test(too_few_runs_are_not_tested),
        cmocka_unit_test(failures_fail),
        cmocka_unit_test(a_run_without_answers_among_others),
        cmocka_unit_test(sides_are_told_by_their_middles),
        cmocka_unit_test(many_runs_are_approximated),
        cmocka_unit_test(bad_options_and_no_memory),
        cmocka_unit_test(the_same_run_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
