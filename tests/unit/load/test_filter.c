/* test_filter.c — filter expressions: what they choose, and what is said about those that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "report_support.h"

#include <stdio.h>
#include <string.h>

/* ---- One request ----------------------------------------------------------------------------------------- */

static const struct rad__load_asked ANSWERED = {
    .issued = {.kind = RAD__LOAD_ISSUED, .vu = 7, .request = 3, .what = 1, .conn = 4, .iteration = 12},
    .outcome = {.kind = RAD__LOAD_RESPONSE,
                .what = 1,
                .status = 503,
                .service_ns = 20500000,
                .response_ns = 1500000000,
                .first_ns = 2000000,
                .body_bytes = 4096,
                .header_bytes = 100,
                .checks_failed = 5},
    .issued_ns = 2500000000,
    .shard = 1,
    .shards = 3};

static bool chosen(const char *text, const struct rad__load_asked *asked)
{
    load_scene scene;
    rad__load_filter f;
    rad_error error = {0};
    report_scene_rich(&scene, 1, 1);
    if (rad__load_filter_parse(&f, &scene.s, text, &error) != 0) fail_msg("%s: %s", text, error.text);
    bool holds = rad__load_filter_holds(&f, asked);
    rad__load_filter_free(&f);
    return holds;
}

static void each_name_is_what_it_says(void **state)
{
    (void)state;
    static const char *const TRUE[] = {
        "kind == 'response'",
        "what == \"buy <it>\"",
        "name ~ 'buy'",
        "method == 'POST'",
        "target == 'main'",
        "fault == 'none'",
        "error != 'ConnectionReset'",
        "vu == 22", /* user 7 of shard 1 of 3 */
        "request == 3",
        "iteration == 12",
        "conn == 4",
        "status == 503",
        "status_code >= 500",
        "service_ns == 20500000",
        "service_us == 20500",
        "service_ms == 20.5",
        "response_ms == 1500",
        "response_us == 1500000",
        "response_ns == 1500000000",
        "first_byte_ms == 2",
        "body_bytes == 4096",
        "header_bytes == 100",
        "checks_failed == 2",
        "time_s == 2.5",
        "time_ms == 2500",
        "second == 2",
    };
    for (uint32_t i = 0; i < sizeof TRUE / sizeof *TRUE; i++)
        if (!chosen(TRUE[i], &ANSWERED)) fail_msg("%s does not hold", TRUE[i]);
    for (uint32_t i = 0; rad__load_filter_name(i) != NULL; i++) {
        bool named = false;
        for (uint32_t k = 0; k < sizeof TRUE / sizeof *TRUE; k++)
            named |= strncmp(TRUE[k], rad__load_filter_name(i), strlen(rad__load_filter_name(i))) == 0;
        if (!named) fail_msg("%s is not tried", rad__load_filter_name(i));
    }
}

static void operators_compare(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool holds;
    } CASES[] = {
        {"status < 503", false},
        {"status < 504", true},
        {"status <= 502", false},
        {"status <= 503", true},
        {"status > 503", false},
        {"status > 502", true},
        {"status >= 504", false},
        {"status >= 503", true},
        {"status != 503", false},
        {"status == 502", false},
        {"name ~ 'sell'", false},
        {"name == 'buy'", false},
        {"!(status == 503)", false},
        {"!status == 502", true},
        {"!!status==503", true},
        {"status == 1 || status == 503 && conn == 4", true},
        {"status == 503 || conn == 9 && conn == 8", true}, /* && binds tighter */
        {"(status == 503 || conn == 9) && conn == 8", false},
        {"status == 1 || conn == 2", false},
        {"  status\t==\n503 ", true},
        {"service_ms > 20ms", true},
        {"service_ms > 20500us", false},
        {"service_ms >= 0.0205s", true},
        {"response_ms < 1.5s", false},
        {"response_ms <= 1.5s", true},
        {"response_ms < 1min", true},
        {"response_ms < 1h", true},
        {"service_ms < 20500001ns", true},
        {"service_us < 20501", true},
        {"body_bytes > 4kB", true},
        {"body_bytes >= 4KiB", true},
        {"body_bytes > 4KiB", false},
        {"body_bytes < 1MB", true},
        {"body_bytes < 0.001GB", true},
        {"body_bytes < 1MiB", true},
        {"body_bytes < 1GiB", true},
        {"body_bytes > 4095B", true},
        {"vu < 18446744073709551615", true},
    };
    for (uint32_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (chosen(CASES[i].text, &ANSWERED) != CASES[i].holds)
            fail_msg("%s is %s", CASES[i].text, CASES[i].holds ? "false" : "true");
}

/* What a request does not have makes a comparison false, both ways; its negation is true. */
static void what_is_not_there_compares_to_nothing(void **state)
{
    (void)state;
    struct rad__load_asked a = ANSWERED;
    a.outcome = (rad__load_event){.kind = RAD__LOAD_ERROR, .fault = RAD__LOAD_RESET};
    assert_false(chosen("status == 0", &a));
    assert_false(chosen("status != 0", &a));
    assert_false(chosen("service_ms < 20", &a));
    assert_true(chosen("!(service_ms < 20)", &a));
    assert_false(chosen("checks_failed == 0", &a));
    assert_true(chosen("kind == 'error' && error == 'ConnectionReset'", &a));
    a.outcome = (rad__load_event){.kind = RAD__LOAD_TIMEOUT, .service_ns = 30 * S};
    assert_true(chosen("kind == 'timeout' && fault == 'RequestTimeout' && service_ms == 30s", &a));
    assert_false(chosen("body_bytes >= 0", &a));
    a.outcome = (rad__load_event){.kind = RAD__LOAD_CANCELLED};
    assert_true(chosen("kind == 'cancelled' && fault == 'none'", &a));
    assert_false(chosen("service_ms >= 0", &a));
    a.outcome = (rad__load_event){.kind = RAD__LOAD_ISSUED};
    assert_true(chosen("kind == 'under_way'", &a));
}

/* ---- Mistakes -------------------------------------------------------------------------------------------- */

static void mistakes_are_told_with_their_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *expected;
    } CASES[] = {
        {"", "column 1: it ends here", "expected a name (kind, what, "},
        {"stat == 3", "column 1: \"stat == 3\"", "expected a name ("},
        {"status 3", "column 8: ", "expected ==, !=, <, <=, >, >= or ~"},
        {"status = 3", "column 8: ", "expected =="},
        {"status == ", "column 11: it ends here", "expected a number"},
        {"status == x", "column 11: \"x\"", "expected a number"},
        {"status == 3ms", "column 12: \"ms\"", "without a unit"},
        {"status == 3.5", "column 11: ", "whole number"},
        {"service_ms > 3kB", "column 15: \"kB\"", "unit of time: ns, us, ms, s, min or h"},
        {"service_ms > 3msec", "column 15: ", "unit of time"},
        {"service_ms > 0.0000001", "column 14: ", "whole nanoseconds"},
        {"body_bytes > 3ms", "column 15: ", "unit of size"},
        {"vu == 18446744073709551616", "column 7: ", "fewer digits"},
        {"service_ms < 18446744073709551615", "column 14: ", "smaller number"},
        {"vu == 1.0000000000000", "column 7: ", "fewer digits"},
        {"status ~ 3", "column 8: \"~ 3\"", "a number is compared with"},
        {"name < 'a'", "column 6: ", "a text is compared with ==, != or ~"},
        {"name == index", "column 9: \"index\"", "expected a text in quotes"},
        {"name == 'index", "column 9: ", "this quote does not end"},
        {"status == 3 status == 4", "column 13: ", "expected && or ||"},
        {"status == 3 &&", "column 15: it ends here", "expected a name"},
        {"(status == 3", "column 13: it ends here", "expected &&, || or )"},
        {"(status == 3 4", "column 14: ", "expected &&, || or )"},
        {"status == 3)", "column 12: ", "expected && or ||"},
        {"! ", "column 3: it ends here", "expected a name"},
    };
    load_scene scene;
    report_scene_rich(&scene, 1, 1);
    for (uint32_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        rad__load_filter f;
        rad_error error = {0};
        assert_int_equal(rad__load_filter_parse(&f, &scene.s, CASES[i].text, &error), RAD_EINPUT);
        if (strncmp(error.text, "filter: ", 8) != 0 ||
            strncmp(error.text + 8, CASES[i].place, strlen(CASES[i].place)) != 0 ||
            strstr(error.text, CASES[i].expected) == NULL)
            fail_msg("%s: %s", CASES[i].text, error.text);
        rad__load_filter_free(&f);
    }
}

static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    char text[RAD__LOAD_FILTER_TEXT_MAX + 2];
    load_scene scene;
    report_scene_rich(&scene, 1, 1);
    for (int sign = 0; sign < 2; sign++) {
        for (int depth = RAD__LOAD_FILTER_DEPTH_MAX; depth <= RAD__LOAD_FILTER_DEPTH_MAX + 1; depth++) {
            rad__load_filter f;
            rad_error error = {0};
            memset(text, sign ? '!' : '(', (size_t)depth);
            int at = depth + snprintf(text + depth, 20, "vu==1");
            memset(text + at, ')', sign ? 0 : (size_t)depth);
            text[at + (sign ? 0 : depth)] = 0;
            int result = rad__load_filter_parse(&f, &scene.s, text, &error);
            assert_int_equal(result, depth > RAD__LOAD_FILTER_DEPTH_MAX ? RAD_EINPUT : 0);
            if (result != 0) assert_non_null(strstr(error.text, "nested too deeply"));
            rad__load_filter_free(&f);
        }
    }
    rad__load_filter f;
    rad_error error = {0};
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = 0;
    assert_int_equal(rad__load_filter_parse(&f, &scene.s, text, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "longer than 4096"));
    rad__load_filter_free(&f);
    text[0] = 0; /* as long as it may be: hundreds of comparisons in a row */
    for (size_t used = 0; used + 8 < RAD__LOAD_FILTER_TEXT_MAX; used = strlen(text))
        snprintf(text + used, sizeof text - used, "%svu==%d", used > 0 ? "||" : "", used > 4080 ? 22 : 1);
    assert_true(chosen(text, &ANSWERED));
}

/* ---- Logs ------------------------------------------------------------------------------------------------ */

static void a_filter_chooses_requests_of_a_log(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    report_scene_rich(&scene, 100, 4);
    load_trial_begin(&t, &scene.s, 9);
    load_trial_run(&t);
    rad_load_result *all = report_of_log(&t.file, &scene.s, NULL);
    rad_load_result *every = report_of_log(&t.file, &scene.s, "vu >= 0");
    report_same(all, every);
    assert_true(every->filtered && !all->filtered);

    rad_load_result *bad = report_of_log(&t.file, &scene.s, "status >= 500");
    rad_load_result *good = report_of_log(&t.file, &scene.s, "!(status >= 500)");
    const rad__load_metrics *a = &all->metrics, *b = &bad->metrics, *g = &good->metrics;
    assert_true(b->measured.issued > 0);
    assert_int_equal(b->measured.issued, a->by_class[5]);
    assert_int_equal(b->measured.responses, a->by_class[5]);
    assert_int_equal(b->service.count, a->by_class[5]);
    assert_int_equal(b->measured.errors + b->measured.timeouts + b->measured.cancelled, 0);
    assert_int_equal(a->measured.issued, b->measured.issued + g->measured.issued);
    assert_int_equal(a->all.issued, b->all.issued + g->all.issued);
    /* What is about no request stays. */
    assert_int_equal(b->connections, a->connections);
    assert_int_equal(b->spawned, a->spawned);
    assert_int_equal(b->late, a->late);
    assert_int_equal(b->end_ns, a->end_ns);
    /* Each event counts in its own second, though a request is judged by its end. */
    assert_int_equal(b->second_count, a->second_count);
    for (uint32_t i = 0; i < a->second_count; i++) {
        assert_int_equal(a->seconds[i].issued, b->seconds[i].issued + g->seconds[i].issued);
        assert_int_equal(a->seconds[i].responses, b->seconds[i].responses + g->seconds[i].responses);
        assert_int_equal(a->seconds[i].users, b->seconds[i].users);
    }
    rad_load_facts facts;
    rad_load_result_facts(bad, &facts);
    assert_int_equal(facts.assertions, 0);
    rad_load_result_free(all);
    rad_load_result_free(every);
    rad_load_result_free(bad);
    rad_load_result_free(good);
    load_trial_end(&t);
}

static void users_of_shards_have_their_numbers(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file;
    report_scene_rich(&scene, 30, 2);
    rad_load_result *run = report_empty(&scene.s);
    report_shards(&scene.s, 4, 3, &file, run);
    uint64_t sum = 0;
    for (uint32_t vu = 0; vu < 31; vu++) {
        char text[32];
        snprintf(text, sizeof text, "vu == %u", (unsigned)vu);
        rad_load_result *one = report_of_log(&file, &scene.s, text);
        assert_true(vu == 30 ? one->metrics.all.issued == 0 : one->metrics.all.issued > 0);
        sum += one->metrics.all.issued;
        rad_load_result_free(one);
    }
    assert_int_equal(sum, run->metrics.all.issued);
    rad_load_result_free(run);
    rad__bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_is_what_it_says),
        cmocka_unit_test(operators_compare),
        cmocka_unit_test(what_is_not_there_compares_to_nothing),
        cmocka_unit_test(mistakes_are_told_with_their_column),
        cmocka_unit_test(depth_and_length_are_bounded),
        cmocka_unit_test(a_filter_chooses_requests_of_a_log),
        cmocka_unit_test(users_of_shards_have_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
