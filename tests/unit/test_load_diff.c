/* test_load_diff.c — two results beside each other: what got better, what got worse, and what is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "report_support.h"

#include <jansson.h>
#include <math.h>
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

static char *diff(const rad_load_result *a, const rad_load_result *b, double threshold, bool json,
                  uint32_t *worse)
{
    rad_error error = {0};
    char *text = rad_load_diff(a, b, threshold, json, worse, &error);
    if (text == NULL) fail_msg("%s", error.text);
    return text;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("expected \"%s\" in:\n%s", part, text);
}

static void a_run_does_not_differ_from_itself(void **state)
{
    (void)state;
    load_scene scene;
    uint32_t worse = 9;
    for (int open = 0; open < 2; open++) {
        if (open)
            report_scene_rich_open(&scene, 20, 200, 3);
        else
            report_scene_rich(&scene, 50, 3);
        rad_load_result *a = run_of(&scene, 5), *b = run_of(&scene, 5);
        char *text = diff(a, b, 0, false, &worse);
        assert_int_equal(worse, 0);
        assert_string_equal(text, open ? "0 worse, 0 better, 0 neither, 32 within 0 %\n"
                                       : "0 worse, 0 better, 0 neither, 21 within 0 %\n");
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
    uint32_t worse;
    load_scene_make(&scene, 10, 3);
    rad_load_result *fast = run_of(&scene, 1);
    scene.latency[0].value = 25 * MS;
    rad_load_result *slow = run_of(&scene, 1);
    char *text = diff(fast, slow, 5, false, &worse);
    has(text, "latency p99 ms ");
    has(text, "        20.000         25.000     +25.0 %  worse\n");
    has(text, "throughput rps ");
    has(text, "requests total ");
    assert_int_equal(worse, 8 + 3); /* all eight times, three rates */
    rad__free(text);
    text = diff(slow, fast, 5, false, &worse);
    assert_int_equal(worse, 0);
    has(text, "     -20.0 %  better\n");
    rad__free(text);
    text = diff(fast, slow, 25, false, &worse); /* not more than that */
    assert_int_equal(worse, 0);
    rad__free(text);
    text = diff(fast, slow, 24.9, false, &worse);
    assert_int_equal(worse, 8);
    rad__free(text);
    rad_load_result_free(fast);
    rad_load_result_free(slow);
}

static void from_nothing_to_something_counts(void **state)
{
    (void)state;
    load_scene scene;
    uint32_t worse;
    load_scene_make(&scene, 10, 3);
    rad_load_result *good = run_of(&scene, 1);
    scene.s.simulated.reset_ppm = 5000;
    scene.s.name = "another";
    rad_load_result *bad = run_of(&scene, 1);
    assert_true(bad->metrics.measured.errors > 0);
    char *text = diff(good, bad, 1000, false, &worse);
    has(text, "The scenarios of the two runs are not the same.\n");
    has(text, "errors total ");
    has(text, "from none  worse\n");
    assert_int_equal(worse, 3); /* requests failed, errors total, errors rate */
    rad__free(text);
    rad_load_result_free(good);
    rad_load_result_free(bad);
}

static json_t *figure(json_t *top, const char *group, const char *name)
{
    json_t *j = json_object_get(json_object_get(json_object_get(top, "comparison"), group), name);
    if (j == NULL) fail_msg("no %s.%s", group, name);
    return j;
}

static void json_has_the_documented_fields(void **state)
{
    (void)state;
    load_scene scene;
    uint32_t worse;
    report_scene_rich_open(&scene, 100, 200, 3);
    rad_load_result *a = run_of(&scene, 1);
    scene.latency[1].value = 60 * MS;
    rad_load_result *b = run_of(&scene, 1);
    char *text = diff(a, b, 5, true, &worse);
    json_error_t why;
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (j == NULL) fail_msg("line %d: %s\n%s", why.line, why.text, text);
    assert_string_equal(json_string_value(json_object_get(json_object_get(j, "run1"), "scenario")),
                        "rich");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "run2"), "seed")), 1);
    assert_int_equal(json_integer_value(json_object_get(j, "worse")), worse);
    json_t *p50 = figure(j, "latency", "p50_ns");
    int64_t x = (int64_t)rad_load_percentile(a, false, 500000),
            y = (int64_t)rad_load_percentile(b, false, 500000);
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
    json_decref(j);
    rad__free(text);
    text = diff(b, a, 5, true, &worse);
    j = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    assert_true(json_is_true(json_object_get(figure(j, "latency", "p50_ns"), "improved")));
    assert_int_equal(json_integer_value(json_object_get(figure(j, "latency", "p50_ns"), "delta")),
                     x - y);
    json_decref(j);
    rad__free(text);
    rad_load_result_free(a);
    rad_load_result_free(b);
}

static void bad_thresholds_and_no_memory(void **state)
{
    (void)state;
    load_scene scene;
    rad_error error = {0};
    report_scene_rich(&scene, 5, 1);
    rad_load_result *a = run_of(&scene, 1);
    assert_null(rad_load_diff(a, a, -1, false, NULL, &error));
    assert_int_equal(error.code, RAD_EINPUT);
    assert_null(rad_load_diff(a, a, (double)NAN, false, NULL, &error));
    assert_null(rad_load_diff(a, a, (double)INFINITY, false, NULL, &error));
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        rad__alloc_fail_at(n);
        char *text = rad_load_diff(a, a, 5, true, NULL, &error);
        rad__alloc_fail_at(0);
        done = text != NULL;
        if (!done) assert_int_equal(error.code, RAD_ENOMEM);
        rad__free(text);
    }
    rad_load_result_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_does_not_differ_from_itself),
        cmocka_unit_test(slower_is_worse_and_faster_is_better),
        cmocka_unit_test(from_nothing_to_something_counts),
        cmocka_unit_test(json_has_the_documented_fields),
        cmocka_unit_test(bad_thresholds_and_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
