/* test_live_run.c — whole runs on a real server: the scheduler, the log, and the live engine; each log replays to
 * itself, and nothing is lost, whatever the server does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_support.h"
#include "load_support.h"
#include "os/term.h"

#include <stdio.h>
#include <string.h>

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

/* As load_trial_begin, on a server. */
static void trial_begin(load_trial *t, world *w, const rad__load_scenario *s)
{
    rad_error error = {0};
    struct rad__load_log_header header = {.seed = 9,
                                          .tick_ns = s->tick_ns,
                                          .shards = 1,
                                          .level = RAD__LOAD_LEVEL_RECORDED,
                                          .engine =
                                              world_uses_uring() ? RAD__LOAD_ENGINE_URING : RAD__LOAD_ENGINE_EPOLL,
                                          .tool = "test"};
    rad__load_live_options o = {
        .scenario = s, .seed = 9, .uring = world_uses_uring(), .interrupted = &w->interrupted, .env = rad__os_env};
    *t = (load_trial){0};
    rad__load_log_open(&t->log, keep, &t->file);
    assert_int_equal(rad__load_log_begin(&t->log, header, "", ""), 0);
    if (rad__load_scheduler_open(&t->scheduler, s, 9, 0, 1, false, &t->log, &error) != 0 ||
        rad__load_live_open(&t->engine, &o, NULL, &error) != 0)
        fail_msg("%s", error.text);
}

typedef struct counts {
    uint32_t issued, responses, errors, timeouts, cancelled, late;
} counts;

static counts count(const load_trial *t)
{
    rad__load_event none;
    counts c = {load_events(t, RAD__LOAD_ISSUED, &none, 0),    load_events(t, RAD__LOAD_RESPONSE, &none, 0),
                load_events(t, RAD__LOAD_ERROR, &none, 0),     load_events(t, RAD__LOAD_TIMEOUT, &none, 0),
                load_events(t, RAD__LOAD_CANCELLED, &none, 0), load_events(t, RAD__LOAD_LATE, &none, 0)};
    assert_int_equal(c.issued, c.responses + c.errors + c.timeouts + c.cancelled);
    return c;
}

static void scene(load_scene *scene, world *w, uint32_t users)
{
    load_scene_make(scene, users, 60);
    scene->s.iterations = 30; /* of each user: however slow the machine is, the run is the same */
    scene->s.drain_ns = 10 * S;
    scene->s.limits.timeout_ns = 10 * S;
    scene->s.limits.retry_ns = 5 * MS;
    scene->s.limits.max_response_bytes = 1 << 20;
    scene->s.limits.max_header_bytes = 8 << 10;
    scene->targets[0] = w->target;
    scene->targets[0].max_connections = users;
}

static void a_run_replays(void **state)
{
    (void)state;
    world w;
    load_scene sc;
    load_trial t;
    world_open(&w, &(rad__load_serve_options){.body_bytes = 100}, "/");
    scene(&sc, &w, 20);
    sc.requests[0].path = "/u/${vu}/${iteration}?r=${random:1-9}";
    trial_begin(&t, &w, &sc.s);
    load_trial_run(&t);
    counts c = count(&t);
    assert_int_equal(c.responses, 20 * 30);
    assert_int_equal(c.errors + c.timeouts, 0);
    load_verified(&t);
    load_trial_end(&t);
    world_close(&w);
}

/* Each misdeed, many times. */
static void nothing_is_lost(void **state)
{
    (void)state;
    static const char *const paths[] = {"/empty",           "/reset",           "/reset-late",   "/stall",
                                        "/garbage",         "/endless-headers", "/wrong-length", "/slow-body",
                                        "/close-mid-chunk", "/bad-chunk",       "/until-close",  "/close",
                                        "/twice",           "/slow/2000"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        world w;
        load_scene sc;
        load_trial t;
        world_open(&w, &(rad__load_serve_options){.misbehave = true}, "/");
        scene(&sc, &w, 6);
        bool late = strcmp(paths[i], "/stall") == 0 || strcmp(paths[i], "/slow/2000") == 0;
        sc.s.iterations = 4;
        if (late) sc.s.limits.timeout_ns = 40 * MS;
        sc.requests[0].path = paths[i];
        trial_begin(&t, &w, &sc.s);
        load_trial_run(&t);
        counts c = count(&t);
        if (c.issued != 24) fail_msg("%s: %u requests", paths[i], c.issued);
        bool fine = strcmp(paths[i], "/slow-body") == 0 || strcmp(paths[i], "/until-close") == 0 ||
                    strcmp(paths[i], "/close") == 0 || strcmp(paths[i], "/twice") == 0;
        uint32_t expected = fine ? c.responses : late ? c.timeouts : c.errors;
        if (expected != 24)
            fail_msg("%s: %u responses, %u errors, %u timeouts", paths[i], c.responses, c.errors, c.timeouts);
        load_verified(&t);
        load_trial_end(&t);
        world_close(&w);
    }
}

/* A server that is killed while many requests are under way, and nobody there afterwards. */
static void the_server_dies(void **state)
{
    (void)state;
    world w;
    load_scene sc;
    load_trial t;
    world_open(&w, &(rad__load_serve_options){.body_bytes = 10}, "/");
    scene(&sc, &w, 30);
    sc.s.iterations = 100;
    trial_begin(&t, &w, &sc.s);
    for (int i = 0; i < 100; i++) load_trial_turn(&t);
    world_stop_server(&w);
    load_trial_run(&t);
    counts c = count(&t);
    assert_true(c.responses > 0 && c.errors > 30);
    load_verified(&t);
    load_trial_end(&t);
    world_close(&w);
}

static void a_run_is_interrupted(void **state)
{
    (void)state;
    world w;
    load_scene sc;
    load_trial t;
    world_open(&w, &(rad__load_serve_options){.body_bytes = 10}, "/");
    scene(&sc, &w, 5);
    sc.s.iterations = 0; /* it would go on for a minute */
    trial_begin(&t, &w, &sc.s);
    for (int i = 0; i < 100; i++) load_trial_turn(&t);
    w.interrupted = 2;
    load_trial_run(&t);
    count(&t);
    load_verified(&t);
    load_trial_end(&t);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_replays),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(the_server_dies),
        cmocka_unit_test(a_run_is_interrupted),
    };
    return world_run_twice(tests);
}
