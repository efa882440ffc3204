/* bench_load_analyze.c — what it costs to analyse a log: ten million events, one core, the log in memory. The log is
 * that of a simulated run with a thousand users, written before the clock starts. */
#include "base/alloc.h"
#include "bench.h"
#include "load/report/analyze.h"
#include "load/report/render.h"
#include "load/scheduler/run.h"
#include "load/scheduler/simulated.h"

static const uint64_t MS = 1000000, S = 1000000000;

static const struct rad__load_point CONNECT[] = {{0, 100000}};
static const struct rad__load_point LATENCY[] = {{0, 1000000}, {900000, 30000000}, {1000000, 90000000}};
static const struct rad__load_point BODY[] = {{0, 1300}};
static const struct rad__load_request REQUESTS[] = {
    {.name = "index", .method = "GET", .path = "/", .weight = 1000000, .target = RAD_NONE}};
static const struct rad__load_target TARGETS[] = {{.name = "main",
                                                   .url = "http://127.0.0.1:1",
                                                   .host = "127.0.0.1",
                                                   .port = "1",
                                                   .base_path = "",
                                                   .weight = 1000000,
                                                   .max_connections = 1000,
                                                   .streams = 1}};
static const struct rad__load_step STEPS[] = {{RAD_NONE, 1}};

static void make(rad__load_scenario *s, struct rad__load_stage *stage, uint32_t users, uint64_t length)
{
    *stage = (struct rad__load_stage){length, users, users};
    *s = (rad__load_scenario){.name = "bench",
                              .users = users,
                              .duration_ns = length,
                              .tick_ns = MS,
                              .schedule = {.stages = stage, .stage_count = 1},
                              .requests = REQUESTS,
                              .request_count = 1,
                              .targets = TARGETS,
                              .target_count = 1,
                              .steps = STEPS,
                              .step_count = 1,
                              .has_simulated = true,
                              .simulated = {.connect = {1, CONNECT}, .latency = {3, LATENCY}, .body = {1, BODY}},
                              .limits = rad__load_limits_defaults()};
}

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

static bool write_log(const rad__load_scenario *s, rad_bytes *file, uint64_t *events)
{
    rad__load_scheduler scheduler;
    rad__load_log log;
    rad__load_engine *engine;
    struct rad__load_log_header header = {
        .seed = 1, .tick_ns = MS, .shards = 1, .level = RAD__LOAD_LEVEL_SIMULATED, .engine = 1};
    rad__load_log_open(&log, keep, file);
    bool ok =
        rad__load_log_begin(&log, header, "", "") == 0 &&
        rad__load_scheduler_open(&scheduler, s, 1, 0, 1, true, &log, NULL) == 0 &&
        rad__load_simulated_open(&engine, s, 1, 0, 1, scheduler.user_capacity, scheduler.pool.conn_count, NULL) == 0;
    if (!ok) return false;
    ok = rad__load_run(&scheduler, engine, NULL, NULL) == 0 && !file->failed;
    *events = scheduler.metrics.events;
    engine->kind->close(engine);
    rad__load_scheduler_close(&scheduler);
    rad__load_log_close(&log);
    return ok;
}

static bool analyze(bench *b, const rad__load_scenario *s, const rad_bytes *file, const char *expression,
                    double *seconds)
{
    rad__load_log_reader reader;
    rad__load_filter filter;
    rad_load_result *r = rad__alloc(1, sizeof *r);
    if (r == NULL) return false;
    r->scenario = *s;
    double start = bench_now();
    bool ok = rad__load_log_read(&reader, "log", file->data, file->size, NULL) == 0;
    if (ok && expression != NULL) ok = rad__load_filter_parse(&filter, &r->scenario, expression, NULL) == 0;
    ok = ok && rad__load_analyze(r, &reader, expression != NULL ? &filter : NULL, NULL) == 0;
    *seconds = bench_now() - start;
    bench_result(b, rad_load_percentile(r, false, 990000));
    if (expression != NULL) rad__load_filter_free(&filter);
    rad_load_result_free(r);
    return ok;
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "load_analyze", argc, argv)) return 2;
    rad__load_scenario s;
    struct rad__load_stage stage;
    rad_bytes file = {0};
    uint64_t events = 0;
    make(&s, &stage, b.tiny ? 10 : 1000, b.tiny ? S : 103 * S);
    bool ok = write_log(&s, &file, &events);
    double all[BENCH_SAMPLES], each[BENCH_SAMPLES], filtered[BENCH_SAMPLES];
    for (uint32_t i = 0; ok && i < bench_samples(&b); i++) {
        ok = analyze(&b, &s, &file, NULL, &all[i]);
        each[i] = all[i] * 1e9 / (double)events;
        ok = ok && analyze(&b, &s, &file, "status >= 500 && service_ms > 20", &filtered[i]);
    }
    if (ok) {
        bench_figure(&b, "events in the log", "", (double)events, "");
        bench_figure(&b, "size of the log", "MB", (double)file.size / 1e6, "");
        bench_row(&b, "analyze, all of them", "s", all, bench_samples(&b));
        bench_row(&b, "analyze, one event", "ns", each, bench_samples(&b));
        bench_row(&b, "analyze with a filter", "s", filtered, bench_samples(&b));
    }
    rad__bytes_free(&file);
    int status = bench_close(&b);
    return ok ? status : 3;
}
