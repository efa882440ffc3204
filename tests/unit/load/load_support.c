/* load_support.c — see load_support.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_support.h"

static void common(load_scene *scene)
{
    rad__load_scenario *s = &scene->s;
    scene->requests[0] = (struct rad__load_request){
        .name = "index", .method = "GET", .path = "/", .weight = 1000000, .target = RAD_NONE};
    scene->targets[0] = (struct rad__load_target){.name = "main",
                                                  .url = "http://127.0.0.1:1",
                                                  .host = "127.0.0.1",
                                                  .port = "1",
                                                  .base_path = "",
                                                  .weight = 1000000,
                                                  .max_connections = 100000,
                                                  .streams = 1};
    scene->steps[0] = (struct rad__load_step){RAD_NONE, 1};
    scene->connect[0] = (struct rad__load_point){0, 0};
    scene->latency[0] = (struct rad__load_point){0, 20 * MS};
    scene->body[0] = (struct rad__load_point){0, 13};
    s->name = "test";
    s->tick_ns = MS;
    s->schedule.stages = scene->stages;
    s->schedule.stage_count = 1;
    s->requests = scene->requests;
    s->targets = scene->targets;
    s->steps = scene->steps;
    s->assertions = scene->assertions;
    s->request_count = s->target_count = s->step_count = 1;
    s->has_simulated = true;
    s->simulated.connect = (struct rad__load_curve){1, scene->connect};
    s->simulated.latency = (struct rad__load_curve){1, scene->latency};
    s->simulated.body = (struct rad__load_curve){1, scene->body};
    s->limits = rad__load_limits_defaults();
}

void load_scene_make(load_scene *scene, uint32_t users, uint64_t seconds)
{
    *scene = (load_scene){0};
    common(scene);
    scene->s.users = users;
    scene->s.duration_ns = seconds * S;
    scene->stages[0] = (struct rad__load_stage){seconds * S, users, users};
}

void load_scene_open(load_scene *scene, uint32_t users, uint64_t rate, uint64_t seconds)
{
    load_scene_make(scene, users, seconds);
    scene->s.schedule.model = RAD__LOAD_OPEN;
    scene->stages[0] = (struct rad__load_stage){seconds * S, rate * 1000, rate * 1000};
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

void load_trial_begin(load_trial *t, const rad__load_scenario *s, uint64_t seed)
{
    load_trial_begin_as(t, s, seed, RAD__LOAD_LOG_VERSION);
}

void load_trial_begin_as(load_trial *t, const rad__load_scenario *s, uint64_t seed, uint32_t version)
{
    rad_error error = {0};
    *t = (load_trial){0};
    rad__load_log_open(&t->log, keep, &t->file);
    struct rad__load_log_header header = {.version = version,
                                          .seed = seed,
                                          .tick_ns = s->tick_ns,
                                          .shards = 1,
                                          .level = RAD__LOAD_LEVEL_SIMULATED,
                                          .engine = RAD__LOAD_ENGINE_SIMULATED,
                                          .tool = "test"};
    assert_int_equal(rad__load_log_begin(&t->log, header, "", ""), 0);
    if (rad__load_scheduler_open(&t->scheduler, s, seed, 0, 1, true, &t->log, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(rad__load_simulated_open(&t->engine, s, seed, 0, 1, t->scheduler.user_capacity,
                                              t->scheduler.pool.conn_count, &error),
                     0);
}

void load_trial_turn(load_trial *t)
{
    rad__load_turn turn;
    rad_error error = {0};
    assert_int_equal(t->engine->kind->turn(t->engine, rad__load_scheduler_due(&t->scheduler), true, &turn, &error), 0);
    if (rad__load_scheduler_turn(&t->scheduler, &turn, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(t->engine->kind->act(t->engine, t->scheduler.effects, t->scheduler.effect_count, &error), 0);
    const char *wrong = rad__load_scheduler_wrong(&t->scheduler);
    if (wrong != NULL) fail_msg("tick %lu: %s", (unsigned long)t->scheduler.tick, wrong);
}

void load_trial_run(load_trial *t)
{
    rad_error error = {0};
    if (rad__load_run(&t->scheduler, t->engine, NULL, &error) != 0) fail_msg("%s", error.text);
    assert_false(t->file.failed);
}

void load_trial_end(load_trial *t)
{
    t->engine->kind->close(t->engine);
    rad__load_scheduler_close(&t->scheduler);
    rad__load_log_close(&t->log);
    rad__bytes_free(&t->file);
}

/* ---- Logs ------------------------------------------------------------------------------------------------ */

rad__load_log_reader load_reader(const rad_bytes *file)
{
    rad__load_log_reader r;
    rad_error error = {0};
    if (rad__load_log_read(&r, "test.log", file->data, file->size, &error) != 0) fail_msg("%s", error.text);
    return r;
}

uint32_t load_events(const load_trial *t, uint32_t kind, rad__load_event *events, uint32_t max)
{
    rad__load_log_reader r = load_reader(&t->file);
    struct rad__load_raw raw;
    rad_error error = {0};
    uint32_t count = 0;
    int got;
    while ((got = rad__load_log_next(&r, &raw, &error)) == 1) {
        rad__load_event event;
        if (raw.kind != kind) continue;
        assert_null(rad__load_get_event(&raw, &event));
        if (count < max) events[count] = event;
        count++;
    }
    if (got != 0) fail_msg("%s", error.text);
    return count;
}

void load_verified(const load_trial *t)
{
    rad__load_log_reader r = load_reader(&t->file);
    struct rad__load_verdict verdict;
    rad_error error = {0};
    if (rad__load_verify(&r, t->scheduler.scenario, &verdict, NULL, &error) != 0) fail_msg("%s", error.text);
    if (!verdict.same) fail_msg("%s", verdict.text);
    assert_true(verdict.over);
    assert_false(verdict.cut_off);
}
