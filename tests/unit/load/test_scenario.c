/* test_scenario.c — scenarios that are good: defaults, conversions, and what each section becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_support.h"
#include "scenario_support.h"

#include "base/alloc.h"
#include "load/report/result.h"
#include "load/scenario/url.h"

#include <stdio.h>
#include <string.h>

static rad__load_scenario s;

static int forget(void **state)
{
    (void)state;
    rad__load_scenario_free(&s);
    scenario_files_clear();
    return 0;
}

static void defaults(void **state)
{
    (void)state;
    scenario_read(&s, LEAST);
    struct rad__load_limits limits = rad__load_limits_defaults();
    assert_string_equal(s.name, "s");
    assert_null(s.description);
    assert_int_equal(s.duration_ns, 10 * S);
    assert_int_equal(s.iterations, 0);
    assert_int_equal(s.users, 4);
    assert_int_equal(s.seed, 0);
    assert_int_equal(s.tick_ns, MS);
    assert_int_equal(s.warmup_ns + s.jitter_ns + s.drain_ns, 0);
    assert_int_equal(s.schedule.model, RAD__LOAD_CLOSED);
    assert_int_equal(s.schedule.stage_count, 1);
    assert_int_equal(s.schedule.stages[0].from, 4);
    assert_int_equal(s.schedule.stages[0].to, 4);
    assert_int_equal(s.schedule.stages[0].length_ns, 10 * S);
    assert_int_equal(s.pause, RAD__LOAD_NO_PAUSE);
    assert_int_equal(s.request_count, 1);
    assert_string_equal(s.requests[0].name, "GET /");
    assert_string_equal(s.requests[0].method, "GET");
    assert_int_equal(s.requests[0].weight, 1000000);
    assert_int_equal(s.requests[0].target, RAD_NONE);
    assert_int_equal(s.requests[0].timeout_ns, 0);
    assert_null(s.requests[0].body);
    assert_int_equal(s.step_count, 1);
    assert_int_equal(s.steps[0].request, RAD_NONE);
    assert_int_equal(s.steps[0].repeat, 1);
    assert_int_equal(s.target_count, 1);
    assert_string_equal(s.targets[0].host, "simulated");
    assert_int_equal(s.targets[0].max_connections, 4);
    assert_int_equal(s.targets[0].streams, 1);
    assert_false(s.cookies);
    assert_true(s.has_simulated);
    assert_int_equal(s.simulated.latency.count, 1);
    assert_int_equal(s.simulated.latency.points[0].value, 20 * MS);
    assert_int_equal(s.simulated.connect.points[0].value, 0);
    assert_int_equal(s.assertion_count + s.data_count + s.variable_count, 0);
    assert_int_equal(s.limits.max_vus, limits.max_vus);
    assert_int_equal(s.limits.max_log_bytes, limits.max_log_bytes);
    assert_int_equal(s.limits.timeout_ns, limits.timeout_ns);
}

static void runtime_and_metadata(void **state)
{
    (void)state;
    scenario_read(&s, "cookies = true\n"
                      "[metadata]\nname = \"n\"\ndescription = \"d\"\nversion = \"v\"\nauthor = "
                      "\"a\"\ntags = [\"x\", \"y\"]\n"
                      "[runtime]\nduration_seconds = 1.5\nvus = 100000\nprng_seed = "
                      "9223372036854775807\ntick_us = 0.25\nwarm_up_seconds = \"250ms\"\n"
                      "spawn_jitter_ms = 0.000001\ndrain_seconds = \"1m\"\nflush_interval = 7\n"
                      "[limits]\nflush_ticks = 3\n" SIMULATED REQUEST);
    assert_string_equal(s.name, "n");
    assert_string_equal(s.description, "d");
    assert_string_equal(s.version, "v");
    assert_string_equal(s.author, "a");
    assert_true(s.cookies);
    assert_int_equal(s.duration_ns, 1500 * MS);
    assert_int_equal(s.users, 100000);
    assert_int_equal(s.seed, INT64_MAX);
    assert_int_equal(s.tick_ns, 250);
    assert_int_equal(s.warmup_ns, 250 * MS);
    assert_int_equal(s.jitter_ns, 1);
    assert_int_equal(s.drain_ns, 60 * S);
    assert_int_equal(s.limits.flush_ticks, 7);
}

/* What is written in decimals is exact, up to the nanosecond; so are strings of several parts. */
static void times_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } TIMES[] = {
        {"1", S},
        {"0.000000001", 1},
        {"0.1", 100 * MS},
        {"0.3", 300 * MS},
        {"1.000000001", S + 1},
        {"86399.999999999", UINT64_C(86399999999999)},
        {"4.35", 4350 * MS},
        {"1.001", UINT64_C(1001) * MS},
        {"1e-3", MS},
        {"86400", 86400 * S},
        {"\"1ns\"", 1},
        {"\"1us\"", 1000},
        {"\"0.5us\"", 500},
        {"\"250ms\"", 250 * MS},
        {"\"2s\"", 2 * S},
        {"\"1m\"", 60 * S},
        {"\"24h\"", 86400 * S},
        {"\"1h30m\"", 5400 * S},
        {"\"1m30s500ms\"", 90 * S + 500 * MS},
        {"\"0.000000001s\"", 1},
        {"\"1.5h\"", 5400 * S},
    };
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++) {
        char text[300];
        snprintf(text, sizeof text, "[runtime]\nvus = 1\nduration_seconds = %s\n" SIMULATED REQUEST, TIMES[i].text);
        scenario_read(&s, text);
        assert_int_equal(s.duration_ns, TIMES[i].ns);
        assert_int_equal(s.schedule.stages[0].length_ns, TIMES[i].ns);
        rad__load_scenario_free(&s);
    }
}

static void weights_are_millionths(void **state)
{
    (void)state;
    scenario_read(&s, RUNTIME SIMULATED "[[requests]]\npath = \"/a\"\nweight = 0.000001\n"
                                        "[[requests]]\npath = \"/b\"\nweight = 2\n"
                                        "[[requests]]\npath = \"/c\"\nweight = 0.7\n"
                                        "[[requests]]\npath = \"/d\"\nweight = 0\n");
    assert_int_equal(s.requests[0].weight, 1);
    assert_int_equal(s.requests[1].weight, 2000000);
    assert_int_equal(s.requests[2].weight, 700000);
    assert_int_equal(s.requests[3].weight, 0);
}

/* ---- Schedules ------------------------------------------------------------------------------------------- */

static void expect_stage(uint32_t i, uint64_t length, uint64_t from, uint64_t to)
{
    assert_true(i < s.schedule.stage_count);
    assert_int_equal(s.schedule.stages[i].length_ns, length);
    assert_int_equal(s.schedule.stages[i].from, from);
    assert_int_equal(s.schedule.stages[i].to, to);
}

static void schedules_of_users(void **state)
{
    (void)state;
    scenario_read(&s, "[runtime]\niterations = 5\n[schedule]\ntype = \"constant\"\nvus = 3\n" SIMULATED REQUEST);
    assert_int_equal(s.iterations, 5);
    assert_int_equal(s.duration_ns, 0);
    assert_int_equal(s.users, 3);
    expect_stage(0, 0, 3, 3);
    rad__load_scenario_free(&s);
    scenario_read(&s, "[runtime]\nduration_seconds = 30\n[schedule]\ntype = \"ramp\"\nstart_vus = 2\n"
                      "end_vus = 9\nramp_duration_seconds = 10\n" SIMULATED REQUEST);
    assert_int_equal(s.users, 9);
    assert_int_equal(s.schedule.stage_count, 2);
    expect_stage(0, 10 * S, 2, 9);
    expect_stage(1, 20 * S, 9, 9);
    rad__load_scenario_free(&s);
    scenario_read(&s, "[schedule]\ntype = \"ramp\"\nend_vus = 9\nramp_duration_seconds = 10\n"
                      "hold_duration_seconds = 5\n" SIMULATED REQUEST);
    assert_int_equal(s.duration_ns, 15 * S);
    expect_stage(0, 10 * S, 0, 9);
    rad__load_scenario_free(&s);
    scenario_read(&s, "[runtime]\nduration_seconds = 30\nvus = 50\n[schedule]\ntype = \"spike\"\n"
                      "baseline_vus = 5\nspike_vus = 50\nspike_start_seconds = 10\n"
                      "spike_duration_seconds = 4\n" SIMULATED REQUEST);
    assert_int_equal(s.schedule.stage_count, 3);
    expect_stage(0, 10 * S, 5, 5);
    expect_stage(1, 4 * S, 50, 50);
    expect_stage(2, 16 * S, 5, 5);
    assert_int_equal(s.users, 50);
    rad__load_scenario_free(&s);
    scenario_read(&s, "[schedule]\ntype = \"steps\"\nsteps = [{vus = 5, duration_seconds = 1}, {vus = "
                      "1, duration_seconds = 2}, {vus = 7, duration_seconds = 3}]\n" SIMULATED REQUEST);
    assert_int_equal(s.users, 11); /* five, then six that are new */
    assert_int_equal(s.duration_ns, 6 * S);
    expect_stage(2, 3 * S, 7, 7);
}

static void schedules_of_arrivals(void **state)
{
    (void)state;
    scenario_read(&s, RUNTIME "[schedule]\ntype = \"arrival_rate\"\nrate = 0.001\n" SIMULATED REQUEST);
    assert_int_equal(s.schedule.model, RAD__LOAD_OPEN);
    assert_false(s.schedule.drop);
    assert_int_equal(s.users, 4);
    expect_stage(0, 10 * S, 1, 1);
    rad__load_scenario_free(&s);
    scenario_read(&s, "[schedule]\ntype = \"arrival_rate\"\nvus = 9\nstart_rate = 10\nwhen_busy = "
                      "\"drop\"\n[[schedule.stages]]\nrate = 1000000\nduration_seconds = 2\n"
                      "[[schedule.stages]]\nrate = 0\nduration_seconds = \"500ms\"\n" SIMULATED REQUEST);
    assert_true(s.schedule.drop);
    assert_int_equal(s.duration_ns, 2500 * MS);
    expect_stage(0, 2 * S, 10000, 1000000000);
    expect_stage(1, 500 * MS, 1000000000, 0);
}

static void think_times(void **state)
{
    (void)state;
    scenario_read(&s, LEAST "[think_time]\nduration_ms = 250\n");
    assert_int_equal(s.pause, RAD__LOAD_CONSTANT_PAUSE);
    assert_int_equal(s.pause_low_ns, 250 * MS);
    rad__load_scenario_free(&s);
    scenario_read(&s, LEAST "[think_time]\ntype = \"random\"\nmin_ms = 1\nmax_ms = \"2s\"\n");
    assert_int_equal(s.pause, RAD__LOAD_RANDOM_PAUSE);
    assert_int_equal(s.pause_low_ns, MS);
    assert_int_equal(s.pause_high_ns, 2 * S);
}

/* ---- Requests and targets -------------------------------------------------------------------------------- */

static void a_request_with_everything(void **state)
{
    (void)state;
    scenario_read(&s, RUNTIME SIMULATED
                  "[[requests]]\nname = \"login\"\nmethod = \"POST\"\npath = \"/login?x=${vu}\"\n"
                  "headers = {Accept = \"*/*\", X-Run = \"${uuid}\"}\nbody = '{\"n\": ${random:1-9}}'\n"
                  "timeout_ms = 1.5\nchecks = [{status = 200}, {status = [200, 299], name = \"fine\"},\n"
                  "{status = \"3xx\"}, {body_contains = \"ok\"}, {header = \"X-A\"}, {header = \"X-A\", "
                  "equals "
                  "= \"1\"},\n{json = \"/a~1b/0\", equals = 7}, {json = \"\", equals = true}, {min_bytes = "
                  "1, "
                  "max_bytes = 9}, {min_bytes = 3}]\n"
                  "extract = {token = {json = \"/token\"}, id = {header = \"X-Id\"}, sid = {cookie = "
                  "\"sid\"}}\n"
                  "[[requests]]\npath = \"/p/${var:token}\"\nextract = {token = {header = \"T\"}}\n");
    const struct rad__load_request *q = &s.requests[0];
    assert_string_equal(q->name, "login");
    assert_string_equal(q->method, "POST");
    assert_int_equal(q->header_count, 2);
    assert_string_equal(q->headers[0].name, "Accept");
    assert_string_equal(q->headers[1].value, "${uuid}");
    assert_string_equal(q->body, "{\"n\": ${random:1-9}}");
    assert_int_equal(q->body_size, strlen(q->body));
    assert_false(q->body_is_file);
    assert_int_equal(q->timeout_ns, 1500000);
    assert_int_equal(q->check_count, 10);
    assert_string_equal(q->checks[0].name, "status 200");
    assert_int_equal(q->checks[0].low, 200);
    assert_int_equal(q->checks[0].high, 200);
    assert_string_equal(q->checks[1].name, "fine");
    assert_int_equal(q->checks[1].high, 299);
    assert_int_equal(q->checks[2].low, 300);
    assert_int_equal(q->checks[2].high, 399);
    assert_string_equal(q->checks[2].name, "status 300-399");
    assert_int_equal(q->checks[3].of, RAD__LOAD_CHECK_CONTAINS);
    assert_string_equal(q->checks[3].name, "body contains 'ok'");
    assert_null(q->checks[4].text);
    assert_string_equal(q->checks[5].text, "1");
    assert_string_equal(q->checks[5].name, "header X-A is 1");
    assert_int_equal(q->checks[6].of, RAD__LOAD_CHECK_JSON);
    assert_string_equal(q->checks[6].where, "/a~1b/0");
    assert_string_equal(q->checks[6].text, "7");
    assert_string_equal(q->checks[7].text, "true");
    assert_int_equal(q->checks[8].high, 9);
    assert_string_equal(q->checks[9].name, "body of 3 bytes or more");
    assert_int_equal(s.variable_count, 3);
    assert_string_equal(s.variables[1], "id");
    assert_int_equal(q->extracts[0].from, RAD__LOAD_FROM_JSON);
    assert_int_equal(q->extracts[2].from, RAD__LOAD_FROM_COOKIE);
    assert_int_equal(q->extracts[2].variable, 2);
    assert_int_equal(s.requests[1].extracts[0].variable, 0);
    assert_int_equal(s.requests[1].extracts[0].from, RAD__LOAD_FROM_HEADER);
}

static void bodies_from_files(void **state)
{
    (void)state;
    static const char TEXT[] = RUNTIME SIMULATED "[[requests]]\npath = \"/\"\nbody_file = \"big.bin\"\n";
    rad_error error = {0};
    scenario_file("big.bin", "as it is: ${nothing}");
    scenario_read(&s, TEXT);
    assert_string_equal(s.requests[0].body, "as it is: ${nothing}");
    assert_int_equal(s.requests[0].body_size, 20);
    assert_true(s.requests[0].body_is_file);
    rad__load_scenario_free(&s);
    scenario_files_clear();
    scenario_refused(TEXT, "8:13", "expected a file that can be read: t/big.bin: no such file");
    /* A replay needs none of it. */
    assert_int_equal(rad__load_scenario_parse(&s, "x", TEXT, strlen(TEXT), NULL, &error), 0);
    assert_true(s.requests[0].body_is_file);
    assert_null(s.requests[0].body);
}

static void targets(void **state)
{
    (void)state;
    scenario_read(&s, RUNTIME "[[targets]]\nname = \"a\"\nbase_url = \"https://Example.org/api/\"\n"
                              "verify_cert = false\nca_bundle = \"ca.pem\"\nhttp_version = "
                              "\"http2\"\nstreams = 3\nweight = 2.5\nconnection_timeout_ms = 5\n"
                              "[[targets]]\nname = \"b\"\nbase_url = \"http://[::1]:8080\"\n"
                              "max_connections = 2\nrequests_per_connection = 100\nserver_name = "
                              "\"b.test\"\n" REQUEST "target = \"b\"\n");
    const struct rad__load_target *a = &s.targets[0], *b = &s.targets[1];
    assert_int_equal(s.target_count, 2);
    assert_string_equal(a->host, "Example.org");
    assert_string_equal(a->port, "443");
    assert_string_equal(a->base_path, "/api");
    assert_string_equal(a->server_name, "Example.org");
    assert_string_equal(a->ca_bundle, "t/ca.pem");
    assert_true(a->tls && a->http2 && !a->verify);
    assert_int_equal(a->streams, 3);
    assert_int_equal(a->max_connections, 2); /* four users, three on each */
    assert_int_equal(a->weight, 2500000);
    assert_int_equal(a->connect_timeout_ns, 5 * MS);
    assert_string_equal(b->host, "::1");
    assert_string_equal(b->port, "8080");
    assert_string_equal(b->base_path, "");
    assert_string_equal(b->server_name, "b.test");
    assert_true(!b->tls && !b->http2 && b->verify);
    assert_int_equal(b->max_connections, 2);
    assert_int_equal(b->requests_per_connection, 100);
    assert_int_equal(b->connect_timeout_ns, 10 * S);
    assert_int_equal(s.requests[0].target, 1);
    assert_false(s.has_simulated);
}

static void sequences(void **state)
{
    (void)state;
    scenario_read(&s, RUNTIME SIMULATED "[[requests]]\nname = \"a\"\npath = \"/a\"\nweight = 0\n"
                                        "[[requests]]\nname = \"b\"\npath = \"/b\"\nweight = 0\n"
                                        "[sequence]\ntype = \"ordered\"\n"
                                        "[[sequence.steps]]\nrequest = \"b\"\nrepeat = 3\n"
                                        "[[sequence.steps]]\nrequest = \"a\"\n");
    assert_int_equal(s.step_count, 2);
    assert_int_equal(s.steps[0].request, 1);
    assert_int_equal(s.steps[0].repeat, 3);
    assert_int_equal(s.steps[1].request, 0);
    assert_int_equal(s.steps[1].repeat, 1);
}

static void data_files(void **state)
{
    (void)state;
    scenario_file("u.csv", "\xef\xbb\xbfname,pass word\r\nada,\"a,b\"\r\n\r\n\"li\"\"n\",\n\"two\nlines\",x");
    scenario_file("n.csv", "1;2\n3;4\n");
    scenario_read(&s, LEAST "headers = {A = \"${data:u.pass word}${data:n.y}\"}\n"
                            "[[data]]\nname = \"u\"\nfile = \"u.csv\"\norder = \"by_user\"\n"
                            "[[data]]\nname = \"n\"\nfile = \"n.csv\"\ncolumns = [\"x\", "
                            "\"y\"]\nseparator = \";\"\n");
    const struct rad__load_data *u = &s.data[0], *n = &s.data[1];
    assert_int_equal(s.data_count, 2);
    assert_int_equal(u->column_count, 2);
    assert_int_equal(u->row_count, 3);
    assert_int_equal(u->order, RAD__LOAD_ROWS_BY_USER);
    assert_string_equal(u->columns[0], "name");
    assert_string_equal(u->columns[1], "pass word");
    assert_string_equal(u->cells[0], "ada");
    assert_string_equal(u->cells[1], "a,b");
    assert_string_equal(u->cells[2], "li\"n");
    assert_string_equal(u->cells[3], "");
    assert_string_equal(u->cells[4], "two\nlines");
    assert_int_equal(n->row_count, 2);
    assert_int_equal(n->order, RAD__LOAD_ROWS_IN_TURN);
    assert_string_equal(n->columns[1], "y");
    assert_string_equal(n->cells[3], "4");
}

/* ---- Bounds and the simulated target --------------------------------------------------------------------- */

static void assertions(void **state)
{
    (void)state;
    scenario_read(&s, RUNTIME "[schedule]\ntype = \"arrival_rate\"\nrate = 5\n" SIMULATED REQUEST
                              "checks = [{status = 200}]\n[assertions]\np99_latency_ms = 250.5\n"
                              "p50_response_ms = {max = \"1s\", abort = true}\nerror_rate_max = "
                              "0.01\nsuccess_rate_min = {min = 1}\nrps_min = 1.5\nrate_reached_min "
                              "= 0.99\nstatus_5xx_max_rate = 0\nchecks_min = 0.999999\ndropped_max "
                              "= 3\np999_latency_ms = 1\n");
    static const struct rad__load_assertion WANT[] = {
        {"p99_latency_ms", RAD__LOAD_SERVICE_NS, 990000, false, false, 250500000},
        {"p50_response_ms", RAD__LOAD_RESPONSE_NS, 500000, false, true, 1000000000},
        {"error_rate_max", RAD__LOAD_ERROR_SHARE, 0, false, false, 10000},
        {"success_rate_min", RAD__LOAD_SUCCESS_SHARE, 0, true, false, 1000000},
        {"rps_min", RAD__LOAD_RATE, 0, true, false, 1500},
        {"rate_reached_min", RAD__LOAD_RATE_REACHED, 0, true, false, 990000},
        {"status_5xx_max_rate", RAD__LOAD_5XX_SHARE, 0, false, false, 0},
        {"checks_min", RAD__LOAD_CHECK_SHARE, 0, true, false, 999999},
        {"dropped_max", RAD__LOAD_DROPPED_COUNT, 0, false, false, 3},
        {"p999_latency_ms", RAD__LOAD_SERVICE_NS, 999000, false, false, 1000000},
    };
    assert_int_equal(s.assertion_count, 10);
    for (uint32_t i = 0; i < 10; i++) {
        const struct rad__load_assertion *a = &s.assertions[i], *b = &WANT[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->measure, b->measure);
        assert_int_equal(a->percentile_ppm, b->percentile_ppm);
        assert_int_equal(a->at_least, b->at_least);
        assert_int_equal(a->abort, b->abort);
        assert_int_equal(a->bound, b->bound);
    }
}

static void limits(void **state)
{
    (void)state;
    scenario_read(&s, LEAST "[limits]\nmax_vus = 4\nmax_events = 10\nmax_activations = 2\n"
                            "max_connections = 3\nflush_ticks = 5\nwarn_ticks = 6\n"
                            "request_timeout_ms = 700\nretry_ms = 8\nmax_event_log_size_mb = 9\n"
                            "max_response_bytes = 100\nmax_header_bytes = 200\ngive_up_after = 1\n");
    const struct rad__load_limits *l = &s.limits;
    assert_int_equal(l->max_vus, 4);
    assert_int_equal(l->max_events, 10);
    assert_int_equal(l->max_activations, 2);
    assert_int_equal(s.targets[0].max_connections, 3);
    assert_int_equal(l->flush_ticks, 5);
    assert_int_equal(l->warn_ticks, 6);
    assert_int_equal(l->timeout_ns, 700 * MS);
    assert_int_equal(l->retry_ns, 8 * MS);
    assert_int_equal(l->max_log_bytes, 9 << 20);
    assert_int_equal(l->max_response_bytes, 100);
    assert_int_equal(l->max_header_bytes, 200);
    assert_int_equal(l->give_up_after, 1);
}

static void expect_point(const struct rad__load_curve *c, uint32_t i, uint32_t share, uint64_t value)
{
    assert_true(i < c->count);
    assert_int_equal(c->points[i].share_ppm, share);
    assert_int_equal(c->points[i].value, value);
}

static void simulated_targets(void **state)
{
    (void)state;
    scenario_read(&s,
                  RUNTIME REQUEST "[simulated]\nlatency_ms = {max = 200, p50 = 1.5, p999 = \"100ms\"}\nconnect_ms = "
                                  "{points = [[0, 1], [0.9, 30], [1, 200]]}\nbody_bytes = {min = 10, max = 20}\n"
                                  "status = {\"200\" = 0.99, \"503\" = 0.01}\nloss_rate = 0.1\nreset_rate = "
                                  "0.000001\ngarbage_rate = 1\nrefuse_rate = 0.5\nmax_connections = 7\nworkers = 8\n"
                                  "stall_every_seconds = 10\nstall_seconds = 1\nlate_ms = 9\n");
    const struct rad__load_simulated *m = &s.simulated;
    assert_int_equal(m->latency.count, 3);
    expect_point(&m->latency, 0, 500000, 1500000);
    expect_point(&m->latency, 1, 999000, 100 * MS);
    expect_point(&m->latency, 2, 1000000, 200 * MS);
    assert_int_equal(m->connect.count, 3);
    expect_point(&m->connect, 1, 900000, 30 * MS);
    expect_point(&m->body, 0, 0, 10);
    expect_point(&m->body, 1, 1000000, 20);
    assert_int_equal(m->status_count, 2);
    assert_int_equal(m->statuses[1].status, 503);
    assert_int_equal(m->statuses[1].weight, 10000);
    assert_int_equal(m->loss_ppm, 100000);
    assert_int_equal(m->reset_ppm, 1);
    assert_int_equal(m->garbage_ppm, 1000000);
    assert_int_equal(m->refuse_ppm, 500000);
    assert_int_equal(m->max_connections, 7);
    assert_int_equal(m->workers, 8);
    assert_int_equal(m->stall_every_ns, 10 * S);
    assert_int_equal(m->stall_ns, S);
    assert_int_equal(m->late_ns, 9 * MS);
}

/* ---- Runs of what was read --------------------------------------------------------------------------------- */

/* One worker that needs 276,091 s for each request. After 66,814 of them the time at which it would be free is 0.29 s
 * above 2^64 ns: whoever comes then must not be served in the first second. */
static void a_line_that_grows_for_ever(void **state)
{
    (void)state;
    load_trial t;
    scenario_read(&s, "[runtime]\nduration_seconds = 1\nvus = 1000\n" REQUEST "timeout_ms = 1\n"
                      "[simulated]\nlatency_ms = 2760910\nworkers = 1\nstall_every_seconds = 1\n"
                      "stall_seconds = 0.99\nlate_ms = \"1h\"\n");
    load_trial_begin(&t, &s, 1);
    load_trial_run(&t);
    load_verified(&t);
    assert_true(t.scheduler.metrics.all.timeouts > 100000);
    assert_int_equal(t.scheduler.metrics.late, 0);
    load_trial_end(&t);
}

static void simulated_answers_are_judged(void **state)
{
    (void)state;
    load_trial t;
    scenario_read(&s, "[runtime]\niterations = 1000\nvus = 1\n" REQUEST
                      "checks = [{status = 200}, {min_bytes = 5, max_bytes = 9}, {json = \"/a\"}]\n"
                      "[simulated]\nlatency_ms = 1\nbody_bytes = {min = 0, max = 10}\nstatus = "
                      "{\"200\" = 3, \"500\" = 1}\n");
    load_trial_begin(&t, &s, 1);
    load_trial_run(&t);
    static rad__load_event events[1000];
    assert_int_equal(load_events(&t, RAD__LOAD_RESPONSE, events, 1000), 1000);
    uint32_t bad = 0, both = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        const rad__load_event *e = &events[i];
        uint64_t want = (e->status != 200 ? 1u : 0u) | (e->body_bytes < 5 || e->body_bytes > 9 ? 2u : 0u);
        assert_int_equal(e->checks_failed, want);
        bad += want != 0;
        both += want == 3;
    }
    assert_true(bad > 500 && both > 50);
    load_trial_end(&t);
}

/* ---- URLs ------------------------------------------------------------------------------------------------ */

static void urls(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *port, *path;
        bool tls;
    } GOOD[] = {{"http://a", "a", "80", "", false},
                {"HTTPS://a.b-c_d:65535/x/y//", "a.b-c_d", "65535", "/x/y", true},
                {"http://127.0.0.1:1/", "127.0.0.1", "1", "", false},
                {"https://[2001:db8::1]/p%20q", "2001:db8::1", "443", "/p%20q", true},
                {"http://[::ffff:1.2.3.4]:80", "::ffff:1.2.3.4", "80", "", false}};
    static const struct {
        const char *text, *words;
    } BAD[] = {{"", "http://"},
               {"ftp://a", "http://"},
               {"a.b", "http://"},
               {"http:/a", "http://"},
               {"http://", "expected a host"},
               {"http:///x", "expected a host"},
               {"http://:80", "expected a host"},
               {"http://a b", "letters, digits"},
               {"http://${env:HOST}", "letters, digits"},
               {"http://-a", "begins with"},
               {"http://.a", "begins with"},
               {"http://::1", "expected a host"},
               {"http://fe80::1", "port"},
               {"http://[::1", "expected a ]"},
               {"http://[::1]x", "after ]"},
               {"http://[::1%eth0]", "IPv6"},
               {"http://[1.2]", "IPv6"},
               {"http://[::::::::::]", "IPv6"},
               {"http://a:", "port"},
               {"http://a:0", "port"},
               {"http://a:65536", "port"},
               {"http://a:999999", "port"},
               {"http://a:8o", "port"},
               {"http://a:-1", "port"},
               {"http://u:p@a", "user name"},
               {"http://a/x#y", "fragment"},
               {"http://a#y", "fragment"},
               {"http://a?x=y", "query"},
               {"http://a/x y", "percent-encoded"},
               {"http://a/\xc3\xa4", "percent-encoded"},
               {"http://a/\r\nX:y", "percent-encoded"}};
    rad_arena arena = {0};
    rad__load_url url;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        assert_null(rad__load_url_parse(&url, GOOD[i].text, &arena));
        assert_string_equal(url.host, GOOD[i].host);
        assert_string_equal(url.port, GOOD[i].port);
        assert_string_equal(url.base_path, GOOD[i].path);
        assert_int_equal(url.tls, GOOD[i].tls);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        const char *wrong = rad__load_url_parse(&url, BAD[i].text, &arena);
        if (wrong == NULL || strstr(wrong, BAD[i].words) == NULL)
            fail_msg("'%s': says '%s', should say '%s'", BAD[i].text, wrong ? wrong : "nothing", BAD[i].words);
    }
    rad__arena_free(&arena);
}

/* ---- Everything may run out of memory -------------------------------------------------------------------- */

static const char RICH[] =
    RUNTIME SIMULATED "status = {\"200\" = 1}\nconnect_ms = {p50 = 1}\nbody_bytes = {points = [[0, "
                      "1]]}\n[[targets]]\nname = \"a\"\nbase_url = \"https://h:1/p\"\nca_bundle = "
                      "\"x\"\n[[requests]]\npath = \"/${data:u.a}\"\nbody_file = \"b\"\nheaders = "
                      "{A = \"b\"}\nchecks = [{status = 200}]\nextract = {v = {json = \"/v\"}}\n"
                      "[[data]]\nname = \"u\"\nfile = \"u.csv\"\n[sequence]\nsteps = [{request = "
                      "\"GET /${data:u.a}\"}]\n[assertions]\nrps_min = 1\n";

static void memory_may_run_out(void **state)
{
    (void)state;
    scenario_file("u.csv", "a,b\n1,\"2\"\n");
    scenario_file("b", "body");
    uint64_t n = 1;
    for (int code = RAD_ENOMEM; code != 0; n++) {
        rad_error error = {0};
        assert_true(n < 10000);
        rad__alloc_fail_at(n);
        code = rad__load_scenario_parse(&s, "t/s.toml", RICH, sizeof RICH - 1, &SCENARIO_FILES, &error);
        rad__alloc_fail_at(0);
        if (code != 0) assert_int_equal(code, RAD_ENOMEM);
        if (code != 0) assert_int_equal(error.code, RAD_ENOMEM);
    }
    assert_true(n > 4);
    assert_int_equal(s.data[0].row_count, 1);
}

/* ---- For programs ---------------------------------------------------------------------------------------- */

static void outlines(void **state)
{
    (void)state;
    static const char TEXT[] =
        "[metadata]\nname = \"shop\"\ndescription = \"buys\"\n[runtime]\nseed = 7\nvus = 2\n"
        "warm_up_seconds = 1\n[schedule]\ntype = \"arrival_rate\"\n[[schedule.stages]]\nrate = "
        "10.5\nduration_seconds = 90\n[simulated]\nlatency_ms = {min = 1, max = 20}\nloss_rate = "
        "0.01\nworkers = 3\nstall_every_seconds = 10\nstall_seconds = 1\n[[requests]]\npath = "
        "\"/a\"\nweight = 2\nchecks = [{status = 200}]\n[[requests]]\nname = \"b\"\npath = "
        "\"/b\"\n[think_time]\nmin_ms = 1\nmax_ms = 2\n[assertions]\np99_latency_ms = {max = 30, "
        "abort = true}\nerror_rate_max = 0.02\n";
    rad_load_scenario *made;
    rad_error error = {0};
    assert_int_equal(rad_load_parse(&made, "shop.toml", TEXT, sizeof TEXT - 1, &error), 0);
    assert_true(rad_load_has_simulated(made));
    char *text = rad_load_outline(made);
    assert_string_equal(text, "shop: buys\n"
                              "  schedule   0 to 10.5 arrivals a second in 90s\n"
                              "  served by  2 virtual users, the one that was busy last first; an arrival that finds "
                              "all of them busy waits\n"
                              "  think time 1ms to 2ms after each request\n"
                              "  warm-up    1s, left out of statistics\n"
                              "  requests   GET /a: GET /a, 66.7 %, 1 check\n"
                              "             b: GET /b, 33.3 %\n"
                              "  target     http://simulated, HTTP/1.1, at most 2 connections\n"
                              "  simulated  responds after 1ms to 20ms, 1 % lost, 3 workers, stalls "
                              "for 1s every 10s\n"
                              "  must hold  p99_latency_ms <= 30ms, or the run ends\n"
                              "             error_rate_max <= 0.02\n"
                              "  seed       7; tick 1ms\n");
    rad__free(text);
    rad_load_free(made);
}

static void reading_from_disk(void **state)
{
    (void)state;
    rad_load_scenario *made = (void *)&s;
    rad_error error = {0};
    assert_int_equal(rad_load_read(&made, "/nonexistent/x.toml", &error), RAD_EINPUT);
    assert_null(made);
    assert_non_null(strstr(error.text, "/nonexistent/x.toml"));
    assert_int_equal(rad_load_parse(&made, "x.toml", "a", 1, &error), RAD_EINPUT);
    assert_null(made);
    assert_non_null(strstr(error.text, "x.toml:1:"));
    rad_load_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(defaults, forget),
        cmocka_unit_test_teardown(runtime_and_metadata, forget),
        cmocka_unit_test_teardown(times_are_exact, forget),
        cmocka_unit_test_teardown(weights_are_millionths, forget),
        cmocka_unit_test_teardown(schedules_of_users, forget),
        cmocka_unit_test_teardown(schedules_of_arrivals, forget),
        cmocka_unit_test_teardown(think_times, forget),
        cmocka_unit_test_teardown(a_request_with_everything, forget),
        cmocka_unit_test_teardown(bodies_from_files, forget),
        cmocka_unit_test_teardown(targets, forget),
        cmocka_unit_test_teardown(sequences, forget),
        cmocka_unit_test_teardown(data_files, forget),
        cmocka_unit_test_teardown(assertions, forget),
        cmocka_unit_test_teardown(limits, forget),
        cmocka_unit_test_teardown(simulated_targets, forget),
        cmocka_unit_test_teardown(a_line_that_grows_for_ever, forget),
        cmocka_unit_test_teardown(simulated_answers_are_judged, forget),
        cmocka_unit_test(urls),
        cmocka_unit_test_teardown(memory_may_run_out, forget),
        cmocka_unit_test(outlines),
        cmocka_unit_test(reading_from_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
