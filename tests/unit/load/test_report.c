/* test_report.c — results as summary, JSON, CSV and Prometheus text: what they say is what was counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "load/report/render.h"
#include "report_support.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
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

static void has(const char *text, const char *format, ...) RAD_PRINTF(2, 3);
static void has(const char *text, const char *format, ...)
{
    char line[300];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (strstr(text, line) == NULL) fail_msg("expected \"%s\" in:\n%s", line, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) fail_msg("did not expect \"%s\" in:\n%s", part, text);
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

static void numbers_are_written_for_people(void **state)
{
    (void)state;
    assert_string_equal(rad__load_count_label(0).text, "0");
    assert_string_equal(rad__load_count_label(999).text, "999");
    assert_string_equal(rad__load_count_label(1000).text, "1,000");
    assert_string_equal(rad__load_count_label(UINT64_MAX - 1).text, "18,446,744,073,709,551,614");
    assert_string_equal(rad__load_ms_label(12345499).text, "12.345");
    assert_string_equal(rad__load_ms_label(12345500).text, "12.346");
    assert_string_equal(rad__load_ms_label(1234567890123).text, "1,234,567.890");
    assert_string_equal(rad__load_ms_label(UINT64_MAX - 1).text, "18,446,744,073,709.552");
    assert_string_equal(rad__load_seconds_label(1500000000).text, "1.500 s");
    assert_string_equal(rad__load_share_label(123456).text, "12.34 %");
    assert_string_equal(rad__load_share_label(1000000).text, "100.00 %");
    assert_string_equal(rad__load_bytes_label(999).text, "999 B");
    assert_string_equal(rad__load_bytes_label(1999).text, "1.9 kB");
    assert_string_equal(rad__load_bytes_label(10000000000).text, "10.0 GB");
    assert_string_equal(rad__load_rate_label(1234567).text, "1,234.5");
    assert_string_equal(rad__load_percentile_label(500000).text, "p50");
    assert_string_equal(rad__load_percentile_label(999000).text, "p99.9");
    assert_string_equal(rad__load_percentile_label(999999).text, "p99.9999");
    assert_string_equal(rad__load_percentile_label(1000000).text, "p100");
    assert_string_equal(rad__load_percentile_label(0).text, "p0");
}

static void texts_are_escaped(void **state)
{
    (void)state;
    rad_bytes b = {0};
    rad__load_put_html_text(&b, "<a href=\"x\">&'\x01\xff");
    rad__bytes_put(&b, "", 1);
    assert_string_equal((char *)b.data, "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\\x01\\xff");
    rad__bytes_free(&b);
}

/* ---- Summary --------------------------------------------------------------------------------------------- */

static void in_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts != NULL; parts++) {
        const char *next = strstr(at, *parts);
        if (next == NULL) fail_msg("expected \"%s\" after:\n%s", *parts, at);
        at = next + strlen(*parts);
    }
}

static void a_closed_run_in_words(void **state)
{
    (void)state;
    static const char *const SECTIONS[] = {"Load test: rich, version 1.2\n",
                                           "replayable: yes; repeatable: whole run\n",
                                           "\nConfiguration\n",
                                           "\nRequests\n",
                                           "\nBy name ",
                                           "\nLatency, ms",
                                           "\nThroughput",
                                           "\nConnections\n",
                                           "\nErrors\n",
                                           "\nChecks\n",
                                           "\nAssertions\n",
                                           "\nScheduler\n",
                                           "\nLimits",
                                           NULL};
    load_scene scene;
    report_scene_rich(&scene, 50, 3);
    rad_load_result *r = run_of(&scene, 5);
    const rad__load_metrics *m = &r->metrics;
    char *text = report_text(r, RAD_LOAD_SUMMARY);
    in_order(text, SECTIONS);
    has(text, "\n  seed               5\n");
    has(text, "\n  total              %s\n", rad__load_count_label(m->measured.issued).text);
    has(text, "\n  2xx                %s\n", rad__load_count_label(m->by_class[2]).text);
    has(text, "\n  POST               %" PRIu64 "\n", m->by_request[1].tally.issued);
    has(text, "\n  GET                %s\n",
        rad__load_count_label(m->by_request[0].tally.issued + m->by_request[2].tally.issued).text);
    has(text, "\n  max                %s\n", rad__load_ms_label(m->service.max).text);
    has(text, "\n  p99.9              %s\n", rad__load_ms_label(rad__histogram_at_ppm(&m->service, 999000)).text);
    has(text, "Coordinated omission is not corrected for");
    has(text, "\n  RequestTimeout             %" PRIu64 "\n", m->measured.timeouts);
    has(text, "  FAIL p99_latency_ms           expected at most 100.000 ms, actual ");
    has(text, "  pass rps_min                  expected at least 1.0 /s, actual ");
    has(text, "\n  result             2/4 hold\n");
    has(text, "\n  ticks              %s\n", rad__load_count_label(r->counters.ticks).text);
    has(text, "\n  virtual users      50 / 100,000\n");
    has_not(text, "Response time");
    rad__free(text);
    r->level = RAD__LOAD_LEVEL_RECORDED;
    r->counters.ticks = 0;
    r->filtered = true;
    text = report_text(r, RAD_LOAD_SUMMARY);
    has(text, "replayable: yes; repeatable: plan\n");
    has(text, "not part of a log");
    has(text, "are about the whole run");
    has(text, "for which the filter holds");
    rad__free(text);
    rad_load_result_free(r);
}

static void an_open_run_has_both_times(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich_open(&scene, 5, 200, 3);
    rad_load_result *r = run_of(&scene, 5);
    char *text = report_text(r, RAD_LOAD_SUMMARY);
    has(text, "\nService time, ms");
    has(text, "\nResponse time, ms");
    has(text, "\n  p50                %s\n", rad__load_ms_label(rad_load_percentile(r, true, 500000)).text);
    has(text, "\n  late               %s of them", rad__load_count_label(r->metrics.blocked).text);
    has(text, "%s never started", rad__load_count_label(r->metrics.dropped).text);
    has_not(text, "Coordinated omission");
    assert_true(rad_load_percentile(r, true, 500000) > rad_load_percentile(r, false, 500000));
    rad__free(text);
    rad_load_result_free(r);
}

static bool about(uint64_t ns, uint64_t wanted, uint64_t off)
{
    return ns + off >= wanted && ns <= wanted + off;
}

/* A server that answers nothing for one second in ten, asked 500 times a second by whoever is free of ten users: those
 * ten wait, and see little of it; but a tenth of the arrivals were planned for that second, and wait for its end. */
static void must_hold_4_a_stall_is_seen_in_response_times(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_open(&scene, 10, 500, 100);
    scene.latency[0].value = 1 * MS;
    scene.s.simulated.stall_every_ns = 10 * S;
    scene.s.simulated.stall_ns = 1 * S;
    rad_load_result *r = run_of(&scene, 5);
    assert_true(about(rad_load_percentile(r, true, 950000), 500 * MS, 50 * MS));
    assert_true(about(rad_load_percentile(r, true, 990000), 900 * MS, 50 * MS));
    assert_true(rad_load_percentile(r, false, 950000) < 5 * MS);
    rad_load_result_free(r);
}

/* Success, failed and cancelled are all there is; a 404 is a failure, and no error. */
static void failures_are_answers_from_400_errors_and_timeouts(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich(&scene, 50, 3);
    rad_load_result *r = run_of(&scene, 6);
    const rad__load_metrics *m = &r->metrics;
    uint64_t failed = m->by_class[4] + m->by_class[5] + m->measured.errors + m->measured.timeouts;
    assert_int_equal(m->measured.issued, m->ok + failed + m->measured.cancelled);
    char *text = report_text(r, RAD_LOAD_SUMMARY);
    has(text, "\n  failed             %s (", rad__load_count_label(failed).text);
    rad__free(text);
    rad_load_result_free(r);
}

static void throughput_is_of_whole_seconds(void **state)
{
    (void)state;
    struct rad__load_second seconds[] = {{.second = 0, .turns = 1, .responses = 900},
                                         {.second = 1, .turns = 1, .responses = 40},
                                         {.second = 3, .turns = 1, .responses = 70},
                                         {.second = 4, .turns = 1, .responses = 1}};
    load_scene scene;
    load_scene_make(&scene, 1, 5);
    scene.s.warmup_ns = 1 * S;
    rad_load_result *r = report_empty(&scene.s);
    r->metrics = (rad__load_metrics){.scenario = &r->scenario,
                                     .seconds = seconds,
                                     .second_count = 4,
                                     .end_ns = 4500 * MS,
                                     .measured = {.responses = 111}};
    struct rad__load_throughput t = rad__load_throughput_of(r);
    assert_int_equal(t.peak, 70);
    assert_int_equal(t.least, 0); /* second 2: nothing happened */
    assert_int_equal(t.average_milli, 111 * 1000 * 1000 / 3500);
    r->metrics.end_ns = 1900 * MS;
    t = rad__load_throughput_of(r);
    assert_int_equal(t.peak, t.average_milli / 1000);
    r->metrics = (rad__load_metrics){0};
    rad_load_result_free(r);
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static json_t *at(json_t *top, const char *path)
{
    char name[64];
    const char *begin = path;
    json_t *j = top;
    while (*begin != 0) {
        size_t length = strcspn(begin, "/");
        snprintf(name, sizeof name, "%.*s", (int)length, begin);
        j = json_object_get(j, name);
        if (j == NULL) fail_msg("no %s in metrics.json", path);
        begin += length + (begin[length] == '/');
    }
    return j;
}

static void is(json_t *top, const char *path, uint64_t value)
{
    if ((uint64_t)json_integer_value(at(top, path)) != value || !json_is_integer(at(top, path)))
        fail_msg("%s is %lld", path, (long long)json_integer_value(at(top, path)));
}

static void metrics_json_has_the_documented_fields(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich(&scene, 50, 3);
    rad_load_result *r = run_of(&scene, 5);
    const rad__load_metrics *m = &r->metrics;
    struct rad__load_identity who = {"run_1", "2026-01-02T03:04:05Z", "2026-01-02T03:04:08Z"};
    rad_bytes b = {0};
    json_error_t why;
    rad__load_render_json(&b, r, &who);
    json_t *j = json_loadb((char *)b.data, b.size, JSON_REJECT_DUPLICATES, &why);
    if (j == NULL) fail_msg("line %d: %s", why.line, why.text);
    assert_string_equal(json_string_value(at(j, "version")), "1.0");
    assert_string_equal(json_string_value(at(j, "run_id")), "run_1");
    assert_string_equal(json_string_value(at(j, "scenario/name")), "rich");
    assert_string_equal(json_string_value(at(j, "scenario/version")), "1.2");
    assert_string_equal(json_string_value(at(j, "runtime/start_time")), who.start);
    assert_string_equal(json_string_value(at(j, "runtime/end_time")), who.end);
    assert_true(json_real_value(at(j, "runtime/duration_seconds")) == 3.0);
    is(j, "runtime/vus", 50);
    is(j, "runtime/seed", 5);
    is(j, "requests/total", m->measured.issued);
    is(j, "requests/success", m->ok);
    is(j, "requests/failed", m->measured.issued - m->ok - m->measured.cancelled);
    is(j, "requests/by_method/POST", m->by_request[1].tally.issued);
    is(j, "requests/by_status/404", m->by_status[404]);
    double rate = json_real_value(at(j, "requests/success_rate"));
    assert_true(rate > 0.5 && rate < 1);
    is(j, "latency/min_ns", m->service.min);
    is(j, "latency/max_ns", m->service.max);
    is(j, "latency/mean_ns", (uint64_t)(rad__histogram_mean(&m->service) + 0.5));
    is(j, "latency/stddev_ns", (uint64_t)(rad__histogram_deviation(&m->service) + 0.5));
    is(j, "latency/p50_ns", rad__histogram_at_ppm(&m->service, 500000));
    is(j, "latency/p90_ns", rad__histogram_at_ppm(&m->service, 900000));
    is(j, "latency/p95_ns", rad__histogram_at_ppm(&m->service, 950000));
    is(j, "latency/p99_ns", rad__histogram_at_ppm(&m->service, 990000));
    is(j, "latency/p999_ns", rad__histogram_at_ppm(&m->service, 999000));
    assert_true(json_real_value(at(j, "throughput/rps")) * 1000 + 0.5 > (double)rad__load_metrics_rate(m));
    is(j, "throughput/peak_rps", rad__load_throughput_of(r).peak);
    is(j, "throughput/min_rps", rad__load_throughput_of(r).least);
    is(j, "connections/total", m->connections);
    is(j, "connections/reused", m->all.issued - m->connections - m->connection_errors);
    is(j, "connections/errors", m->connection_errors);
    is(j, "connections/avg_connection_time_ns", m->connect_ns / m->connections);
    is(j, "errors/total", m->measured.errors + m->measured.timeouts);
    is(j, "errors/by_type/RequestTimeout", m->measured.timeouts);
    is(j, "errors/late_responses", m->late);
    is(j, "checks/made", m->checks_made);
    assert_true(json_is_null(at(j, "response_latency")));
    json_t *list = at(j, "assertions");
    assert_int_equal(json_array_size(list), 4);
    assert_string_equal(json_string_value(at(json_array_get(list, 0), "name")), "p99_latency_ms");
    assert_true(json_is_false(at(json_array_get(list, 0), "passed")));
    is(json_array_get(list, 0), "expected", 100 * MS);
    is(json_array_get(list, 0), "actual", rad__histogram_at_ppm(&m->service, 990000));
    assert_true(json_is_true(at(json_array_get(list, 1), "passed")));
    assert_true(json_real_value(at(json_array_get(list, 1), "expected")) == 0.5);
    is(j, "by_name/buy <it>/total", m->by_request[1].tally.issued);
    json_decref(j);
    rad__bytes_free(&b);
    rad_load_result_free(r);
}

static void metrics_json_of_arrivals(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich_open(&scene, 5, 200, 3);
    rad_load_result *r = run_of(&scene, 5);
    char *text = report_text(r, RAD_LOAD_JSON);
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    is(j, "response_latency/p99_ns", rad_load_percentile(r, true, 990000));
    is(j, "arrivals/begun", r->metrics.arrivals);
    is(j, "arrivals/blocked", r->metrics.blocked);
    is(j, "arrivals/dropped", r->metrics.dropped);
    assert_true(json_is_null(at(j, "run_id")));
    json_decref(j);
    rad__free(text);
    rad_load_result_free(r);
}

/* ---- CSV ------------------------------------------------------------------------------------------------- */

static void csv_has_a_row_for_each_second(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich(&scene, 20, 4);
    scene.s.tick_ns = 2 * MS;
    rad_load_result *r = run_of(&scene, 5);
    char *text = report_text(r, RAD_LOAD_CSV), *line = strchr(text, '\n');
    assert_memory_equal(text,
                        "tick,timestamp_ns,rps,latency_min_ns,latency_p50_ns,latency_p99_ns,errors,"
                        "active_vus\n",
                        85);
    uint64_t sum = 0, errors = 0, n[8];
    uint32_t rows = 0;
    for (line++; *line != 0; line = strchr(line, '\n') + 1, rows++) {
        int read =
            sscanf(line, "%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu\n", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]);
        if (read == 3 && n[2] == 0) { /* no answers, no times */
            n[3] = n[4] = n[5] = 0;
            read += sscanf(line, "%*u,%*u,0,,,,%lu,%lu\n", &n[6], &n[7]) + 3;
        }
        assert_int_equal(read, 8);
        assert_int_equal(n[0], rows * 500);
        assert_int_equal(n[1], rows * S);
        assert_true(n[3] <= n[4] && n[4] <= n[5]);
        if (rows < 4) assert_int_equal(n[7], 20);
        sum += n[2];
        errors += n[6];
    }
    assert_int_equal(rows, 5); /* the last one has the end, at 4 s */
    assert_int_equal(n[7], 0);
    assert_int_equal(sum, r->metrics.all.responses);
    assert_int_equal(errors, r->metrics.all.errors + r->metrics.all.timeouts);
    rad__free(text);
    rad_load_result_free(r);
}

static void csv_has_seconds_in_which_nothing_happens(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_make(&scene, 1, 10);
    scene.s.pause = RAD__LOAD_CONSTANT_PAUSE;
    scene.s.pause_low_ns = scene.s.pause_high_ns = 4 * S;
    rad_load_result *r = run_of(&scene, 5);
    char *text = report_text(r, RAD_LOAD_CSV);
    uint32_t rows = 0;
    for (const char *c = text; *c != 0; c++) rows += *c == '\n';
    assert_int_equal(rows, 1 + 11);
    has(text, "\n2000,2000000000,0,,,,0,1\n");
    rad__free(text);
    rad_load_result_free(r);
}

/* ---- Prometheus ------------------------------------------------------------------------------------------ */

static size_t name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == ':') n++;
    return isdigit((unsigned char)*text) ? 0 : n;
}

/* The text format, as its specification has it: families in one piece with help and type, labels, values. */
static void check_prometheus(const char *text)
{
    char family[64] = "", type[16] = "";
    for (const char *line = text; *line != 0; line = strchr(line, '\n') + 1) {
        if (sscanf(line, "# HELP %63s", family) == 1) {
            assert_non_null(strchr(line, '.'));
            continue;
        }
        char typed[64];
        if (sscanf(line, "# TYPE %63s %15s", typed, type) == 2) {
            assert_string_equal(typed, family);
            assert_true(!strcmp(type, "counter") || !strcmp(type, "gauge") || !strcmp(type, "summary"));
            if (!strcmp(type, "counter")) assert_string_equal(family + strlen(family) - 6, "_total");
            continue;
        }
        size_t n = name_length(line), f = strlen(family);
        assert_true(n >= f && strncmp(line, family, f) == 0);
        if (n > f)
            assert_true(!strcmp(type, "summary") &&
                        (!strncmp(line + f, "_sum{", 5) || !strncmp(line + f, "_count{", 7)));
        assert_memory_equal(line + n, "{scenario=\"", 11);
        const char *c = line + n + 11;
        for (; *c != '"'; c++) {
            assert_true(*c != '\n');
            if (*c == '\\') assert_non_null(strchr("\\\"n", *++c));
        }
        double value;
        assert_int_equal(sscanf(strstr(c, "} "), "} %lf\n", &value), 1);
    }
}

static void prometheus_text_follows_its_format(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich_open(&scene, 20, 200, 3);
    scene.s.name = "a \"b\" \\ c\nd";
    rad_load_result *r = run_of(&scene, 5);
    char *text = report_text(r, RAD_LOAD_PROMETHEUS);
    check_prometheus(text);
    has(text, "z6_requests_total{scenario=\"a \\\"b\\\" \\\\ c\\nd\"} %" PRIu64 "\n", r->metrics.measured.issued);
    uint64_t p99 = rad_load_percentile(r, false, 990000);
    has(text, ",quantile=\"0.99\"} %" PRIu64 ".%09" PRIu64 "\n", p99 / S, p99 % S);
    has(text, "z6_latency_seconds_count{");
    has(text, "type=\"RequestTimeout\"} %" PRIu64 "\n", r->metrics.measured.timeouts);
    rad__free(text);
    rad_load_result_free(r);
}

/* ---- HTML ------------------------------------------------------------------------------------------------ */

/* Every element ends, in its turn; text and attributes have no stray signs. */
static void check_html(const char *text)
{
    char open[32][16];
    uint32_t depth = 0;
    const char *c = strstr(text, "<html");
    for (c = strchr(c, '<'); c != NULL; c = strchr(c + 1, '<')) {
        char name[16] = "";
        bool closing = c[1] == '/';
        const char *begin = c + 1 + closing;
        for (uint32_t i = 0; i < 15 && (isalnum((unsigned char)begin[i]) || begin[i] == '!'); i++) name[i] = begin[i];
        const char *end = strchr(c, '>');
        assert_non_null(end);
        assert_true(name[0] != 0);
        if (closing) {
            assert_true(depth > 0);
            if (strcmp(open[depth - 1], name) != 0) fail_msg("%s ends inside %s: %.60s", name, open[depth - 1], c);
            depth--;
        } else if (end[-1] != '/' && strcmp(name, "meta") != 0) {
            assert_true(depth < 32);
            memcpy(open[depth++], name, sizeof name);
        }
    }
    assert_int_equal(depth, 0);
}

static void a_page_stands_alone(void **state)
{
    (void)state;
    static const char *const PLOTS[] = {"latency", "percentiles", "rate", "distribution", "errors", "users"};
    load_scene scene;
    for (int open = 0; open < 2; open++) {
        if (open)
            report_scene_rich_open(&scene, 20, 200, 7);
        else
            report_scene_rich(&scene, 50, 7);
        scene.s.name = "<rich> & \"more\"";
        rad_load_result *r = run_of(&scene, 5);
        char *text = report_text(r, RAD_LOAD_HTML);
        check_html(text);
        has(text, "<!DOCTYPE html>");
        has(text, "<h1>&lt;rich&gt; &amp; &quot;more&quot;</h1>");
        has(text, "<td>buy &lt;it&gt;</td>");
        has(text, "prefers-color-scheme:dark");
        has(text, "width=device-width");
        has_not(text, "<script");
        has_not(text, "<link");
        has_not(text, "src=");
        has_not(text, "url(");
        has_not(text, "nan");
        has_not(text, "inf ");
        for (uint32_t i = 0; i < 6; i++) {
            has(text, "<title id=\"%s-t\">", PLOTS[i]);
            has(text, "aria-labelledby=\"%s-t %s-d\"", PLOTS[i], PLOTS[i]);
            has(text, "<desc id=\"%s-d\">", PLOTS[i]);
        }
        uint32_t hints = 0;
        for (const char *c = text; (c = strstr(c, "<rect class=\"hint\"")) != NULL; c++) hints++;
        assert_int_equal(hints, 4 * 7);
        has(text, "%s", open ? "Response p99" : "coordinated omission is not corrected for");
        has(text, "<td class=\"bad\">✗ fails</td>");
        rad__free(text);
        rad_load_result_free(r);
    }
}

/* A day has more seconds than there is room to draw: points stand for several. */
static void a_long_run_is_drawn_with_few_points(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_make(&scene, 1, 1000);
    scene.s.pause = RAD__LOAD_CONSTANT_PAUSE;
    scene.s.pause_low_ns = scene.s.pause_high_ns = 480 * MS; /* with 20 ms to answer: about two a second */
    rad_load_result *r = run_of(&scene, 5);
    char *text = report_text(r, RAD_LOAD_HTML);
    check_html(text);
    has(text, "Each point is 9 seconds");
    has(text, "<title>990 s: p50 20.00 ms, p99 20.00 ms, max 20.00 ms; 2 responses/s, 0 errors, 1 VUs");
    rad__free(text);
    rad_load_result_free(r);
}

/* ---- Nothing, and no memory ------------------------------------------------------------------------------ */

static void a_run_without_requests_has_all_forms(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_make(&scene, 1, 1);
    scene.s.name = NULL;
    rad_load_result *r = report_empty(&scene.s);
    assert_true(rad__load_metrics_open(&r->metrics, &r->scenario));
    char *text = report_text(r, RAD_LOAD_JSON);
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    static const char *const NULLS[] = {"latency/min_ns",
                                        "latency/max_ns",
                                        "latency/mean_ns",
                                        "latency/stddev_ns",
                                        "latency/p50_ns",
                                        "latency/p999_ns",
                                        "requests/success_rate",
                                        "errors/rate",
                                        "throughput/rps",
                                        "throughput/peak_rps",
                                        "throughput/min_rps",
                                        "connections/avg_connection_time_ns",
                                        "by_name/index/latency/p99_ns"};
    for (uint32_t i = 0; i < sizeof NULLS / sizeof *NULLS; i++)
        if (!json_is_null(at(j, NULLS[i]))) fail_msg("%s is not null", NULLS[i]);
    assert_string_equal(json_string_value(at(j, "no_data")), "no request was sent");
    json_decref(j);
    rad__free(text);
    rad_load_facts facts;
    rad_load_result_facts(r, &facts);
    assert_string_equal(facts.no_data, "no request was sent");
    assert_true(facts.p50_ns == RAD_LOAD_NO_DATA && facts.p99_ns == RAD_LOAD_NO_DATA);
    assert_true(facts.rate_milli == RAD_LOAD_NO_DATA);
    assert_true(rad_load_percentile(r, false, 990000) == RAD_LOAD_NO_DATA);
    text = report_text(r, RAD_LOAD_SUMMARY);
    has(text, "no data: no responses");
    has(text, "no data            no request was sent\n");
    has(text, "average            no data\n");
    has_not(text, "0.000 ms");
    rad__free(text);
    text = report_text(r, RAD_LOAD_PROMETHEUS);
    check_prometheus(text);
    rad__free(text);
    text = report_text(r, RAD_LOAD_CSV);
    assert_int_equal(strlen(text), 85);
    rad__free(text);
    text = report_text(r, RAD_LOAD_HTML);
    check_html(text);
    has(text, "no data: there were no responses.");
    rad__free(text);
    rad_load_result_free(r);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich(&scene, 10, 2);
    rad_load_result *r = run_of(&scene, 5);
    for (int form = RAD_LOAD_SUMMARY; form <= RAD_LOAD_HTML; form++) {
        bool done = false;
        for (uint64_t n = 1; !done; n++) {
            rad_error error = {0};
            rad__alloc_fail_at(n);
            char *text = rad_load_text(r, (enum rad_load_form)form, &error);
            rad__alloc_fail_at(0);
            done = text != NULL;
            if (!done) assert_int_equal(error.code, RAD_ENOMEM);
            rad__free(text);
        }
    }
    rad_error error = {0};
    assert_null(rad_load_text(r, (enum rad_load_form)99, &error));
    assert_int_equal(error.code, RAD_EINPUT);
    rad_load_result_free(r);
    rad_load_result_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_for_people),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(a_closed_run_in_words),
        cmocka_unit_test(an_open_run_has_both_times),
        cmocka_unit_test(must_hold_4_a_stall_is_seen_in_response_times),
        cmocka_unit_test(failures_are_answers_from_400_errors_and_timeouts),
        cmocka_unit_test(throughput_is_of_whole_seconds),
        cmocka_unit_test(metrics_json_has_the_documented_fields),
        cmocka_unit_test(metrics_json_of_arrivals),
        cmocka_unit_test(csv_has_a_row_for_each_second),
        cmocka_unit_test(csv_has_seconds_in_which_nothing_happens),
        cmocka_unit_test(prometheus_text_follows_its_format),
        cmocka_unit_test(a_page_stands_alone),
        cmocka_unit_test(a_long_run_is_drawn_with_few_points),
        cmocka_unit_test(a_run_without_requests_has_all_forms),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
