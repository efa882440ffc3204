/* report_support.c — see report_support.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report_support.h"

#include "base/alloc.h"

#include <string.h>

void report_scene_rich(load_scene *scene, uint32_t users, uint64_t seconds)
{
    static const struct rad__load_check CHECKS[] = {
        {.name = "fine", .of = RAD__LOAD_CHECK_STATUS, .low = 200, .high = 299}};
    static const struct rad__load_status STATUSES[] = {{200, 90}, {404, 6}, {503, 4}};
    load_scene_make(scene, users, seconds);
    rad__load_scenario *s = &scene->s;
    s->name = "rich";
    s->version = "1.2";
    scene->latency[0] = (struct rad__load_point){0, 1 * MS};
    scene->latency[1] = (struct rad__load_point){900000, 30 * MS};
    scene->latency[2] = (struct rad__load_point){1000000, 900 * MS};
    s->simulated.latency.count = 3;
    s->simulated.statuses = STATUSES;
    s->simulated.status_count = 3;
    s->simulated.loss_ppm = 5000;
    s->simulated.reset_ppm = 5000;
    s->simulated.garbage_ppm = 3000;
    s->simulated.refuse_ppm = 20000;
    s->simulated.late_ns = 100 * MS;
    s->limits.timeout_ns = 700 * MS;
    s->pause = RAD__LOAD_RANDOM_PAUSE;
    s->pause_low_ns = 5 * MS;
    s->pause_high_ns = 100 * MS;
    s->jitter_ns = 300 * MS;
    s->warmup_ns = 500 * MS;
    scene->requests[1] = (struct rad__load_request){
        .name = "buy <it>", .method = "POST", .path = "/b", .weight = 500000, .target = RAD_NONE};
    scene->requests[2] = (struct rad__load_request){.name = "search",
                                                    .method = "GET",
                                                    .path = "/s",
                                                    .weight = 250000,
                                                    .target = RAD_NONE,
                                                    .checks = CHECKS,
                                                    .check_count = 1};
    s->request_count = 3;
    scene->assertions[0] = (struct rad__load_assertion){
        .name = "p99_latency_ms", .measure = RAD__LOAD_SERVICE_NS, .percentile_ppm = 990000, .bound = 100 * MS};
    scene->assertions[1] =
        (struct rad__load_assertion){.name = "error_rate_max", .measure = RAD__LOAD_ERROR_SHARE, .bound = 500000};
    scene->assertions[2] =
        (struct rad__load_assertion){.name = "rps_min", .measure = RAD__LOAD_RATE, .at_least = true, .bound = 1000};
    scene->assertions[3] = (struct rad__load_assertion){
        .name = "success_rate_min", .measure = RAD__LOAD_SUCCESS_SHARE, .at_least = true, .bound = 999000};
    s->assertion_count = 4;
}

void report_scene_rich_open(load_scene *scene, uint32_t users, uint64_t rate, uint64_t seconds)
{
    report_scene_rich(scene, users, seconds);
    scene->s.schedule.model = RAD__LOAD_OPEN;
    scene->stages[0] = (struct rad__load_stage){seconds * S, rate * 1000, rate * 1000};
}

/* ---- Results --------------------------------------------------------------------------------------------- */

rad_load_result *report_empty(const rad__load_scenario *s)
{
    rad_load_result *r = rad__alloc(1, sizeof *r);
    assert_non_null(r);
    r->scenario = *s;
    r->shards = 1;
    return r;
}

rad_load_result *report_of_run(load_trial *t)
{
    rad_load_result *r = report_empty(t->scheduler.scenario);
    r->seed = t->scheduler.seed;
    r->level = RAD__LOAD_LEVEL_SIMULATED;
    r->engine = RAD__LOAD_ENGINE_SIMULATED;
    assert_true(rad__load_result_take(r, &t->scheduler));
    return r;
}

rad_load_result *report_of_log(const rad_bytes *file, const rad__load_scenario *s, const char *filter)
{
    rad_error error = {0};
    rad_load_result *r = report_empty(s);
    rad__load_log_reader reader = load_reader(file);
    rad__load_filter f = {0};
    if (filter != NULL && rad__load_filter_parse(&f, &r->scenario, filter, &error) != 0) fail_msg("%s", error.text);
    if (rad__load_analyze(r, &reader, filter != NULL ? &f : NULL, &error) != 0) fail_msg("%s", error.text);
    rad__load_filter_free(&f);
    return r;
}

void report_refused(const rad_bytes *file, const rad__load_scenario *s, rad_error *error)
{
    rad_load_result *r = report_empty(s);
    rad__load_log_reader reader = load_reader(file);
    *error = (rad_error){0};
    assert_int_equal(rad__load_analyze(r, &reader, NULL, error), RAD_EINPUT);
    assert_int_equal(error->code, RAD_EINPUT);
    rad_load_result_free(r);
}

static void same_histogram(const rad_histogram *a, const rad_histogram *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    assert_true(a->sum == b->sum);
    if (a->counts != NULL && b->counts != NULL)
        assert_memory_equal(a->counts, b->counts, RAD_HISTOGRAM_BUCKETS * sizeof *a->counts);
}

void report_same(const rad_load_result *a, const rad_load_result *b)
{
    const rad__load_metrics *x = &a->metrics, *y = &b->metrics;
    assert_memory_equal(&x->now_ns, &y->now_ns,
                        offsetof(rad__load_metrics, service) - offsetof(rad__load_metrics, now_ns));
    same_histogram(&x->service, &y->service);
    same_histogram(&x->response, &y->response);
    same_histogram(&x->connect, &y->connect);
    for (uint32_t i = 0; i < a->scenario.request_count; i++) {
        assert_memory_equal(&x->by_request[i].tally, &y->by_request[i].tally, sizeof x->by_request[i].tally);
        assert_int_equal(x->by_request[i].ok, y->by_request[i].ok);
        assert_int_equal(x->by_request[i].checks_failed, y->by_request[i].checks_failed);
        same_histogram(&x->by_request[i].service, &y->by_request[i].service);
    }
    assert_int_equal(x->second_count, y->second_count);
    for (uint32_t i = 0; i < x->second_count; i++)
        assert_memory_equal(&x->seconds[i], &y->seconds[i], offsetof(struct rad__load_second, users) + 4);
}

char *report_text(const rad_load_result *r, enum rad_load_form form)
{
    rad_error error = {0};
    char *text = rad_load_text(r, form, &error);
    if (text == NULL) fail_msg("%s", error.text);
    return text;
}

/* ---- Shards ---------------------------------------------------------------------------------------------- */

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

/* Written one after the other into one log, which goes on with the next shard: the blocks say whose they are. */
void report_shards(const rad__load_scenario *s, uint64_t seed, uint32_t shards, rad_bytes *file, rad_load_result *r)
{
    rad__load_log log;
    rad_error error = {0};
    *file = (rad_bytes){0};
    rad__load_log_open(&log, keep, file);
    struct rad__load_log_header header = {.seed = seed,
                                          .tick_ns = s->tick_ns,
                                          .shards = shards,
                                          .level = RAD__LOAD_LEVEL_SIMULATED,
                                          .engine = RAD__LOAD_ENGINE_SIMULATED,
                                          .tool = "test"};
    assert_int_equal(rad__load_log_begin(&log, header, "", ""), 0);
    for (uint32_t i = 0; i < shards; i++) {
        rad__load_scheduler scheduler;
        rad__load_engine *engine;
        log.shard = i;
        assert_int_equal(rad__load_scheduler_open(&scheduler, s, seed, i, shards, true, &log, &error), 0);
        assert_int_equal(rad__load_simulated_open(&engine, s, seed, i, shards, scheduler.user_capacity,
                                                  scheduler.pool.conn_count, &error),
                         0);
        while (!rad__load_scheduler_over(&scheduler)) {
            rad__load_turn turn;
            assert_int_equal(engine->kind->turn(engine, rad__load_scheduler_due(&scheduler), true, &turn, &error), 0);
            if (rad__load_scheduler_turn(&scheduler, &turn, &error) != 0) fail_msg("%s", error.text);
            assert_int_equal(engine->kind->act(engine, scheduler.effects, scheduler.effect_count, &error), 0);
        }
        rad__load_log_flush(&log);
        assert_true(rad__load_result_take(r, &scheduler));
        engine->kind->close(engine);
        rad__load_scheduler_close(&scheduler);
    }
    assert_int_equal(rad__load_log_end(&log), 0);
    rad__load_log_close(&log);
}
