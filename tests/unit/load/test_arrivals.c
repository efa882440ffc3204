/* test_arrivals.c — who serves an arrival: the one that was busy last first, over connections that are open before the
 * first one comes; and what an arrival asks for, which does not depend on that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_support.h"

#include <string.h>

enum { EVENTS = 4096 };

static rad__load_event events[EVENTS];

static uint32_t issued(const load_trial *t)
{
    uint32_t count = load_events(t, RAD__LOAD_ISSUED, events, EVENTS);
    assert_true(count < EVENTS);
    return count;
}

static uint32_t count_of(const load_trial *t, uint32_t kind)
{
    static rad__load_event others[EVENTS];
    return load_events(t, kind, others, EVENTS);
}

/* How many users have had a request. */
static uint32_t users_among(uint32_t count)
{
    static bool seen[1000];
    uint32_t users = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < count; i++) {
        users += !seen[events[i].vu];
        seen[events[i].vu] = true;
    }
    return users;
}

static void run(load_trial *t, const load_scene *scene, uint32_t version)
{
    load_trial_begin_as(t, &scene->s, 3, version);
    load_trial_run(t);
    load_verified(t);
}

/* Fifty a second, each answered before the next comes: one user is enough. */
static void who_was_busy_last_serves(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 100, 50, 4);
    scene.latency[0].value = 5 * MS;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(issued(&t), 200);
    for (uint32_t i = 0; i < 200; i++) assert_int_equal(events[i].vu, 0);
    load_trial_end(&t);
    scene.latency[0].value = 90 * MS; /* five under way at a time: the same five again and again */
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    uint32_t users = users_among(issued(&t));
    assert_in_range(users, 5, 6);
    load_trial_end(&t);
    scene.latency[0].value = 4 * 1000 * MS; /* nobody comes back: in the order of their numbers */
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_true(issued(&t) >= 100);
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(events[i].vu, i);
    load_trial_end(&t);
}

/* Who finds no connection is late, and says by how much: the time runs from when the arrival was planned. */
static void waiting_for_a_connection_counts(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 2, 50, 1);
    scene.latency[0].value = 30 * MS;
    scene.targets[0].max_connections = 1;
    scene.s.limits.retry_ns = 7 * MS;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_true(issued(&t) >= 2);
    assert_in_range(events[1].count, 10 * MS, 19 * MS); /* due at 20 ms; nothing is free before 30; every 7 ms a try */
    load_trial_end(&t);
}

/* At 0, 20, … 980 ms: the one that would be due at the end is not planned, and so not dropped. */
static void an_arrival_at_the_end_is_none(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 100, 50, 4);
    scene.s.duration_ns = S;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(issued(&t), 50);
    assert_int_equal(count_of(&t, RAD__LOAD_DROPPED), 0);
    load_trial_end(&t);
}

/* The last one to be free goes first, not the first one. */
static void the_newest_goes_first(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 10, 100, 1);
    scene.stages[0] = (struct rad__load_stage){100 * MS, 25 * 1000, 25 * 1000}; /* at 0, 40, 80 ms */
    scene.stages[1] = (struct rad__load_stage){900 * MS, 1000, 1000};           /* one more, when all are free */
    scene.s.schedule.stage_count = 2;
    scene.latency[0].value = 150 * MS; /* users 0, 1, 2; they are free in this order */
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(issued(&t), 4);
    assert_int_equal(events[0].vu, 0);
    assert_int_equal(events[1].vu, 1);
    assert_int_equal(events[2].vu, 2);
    assert_int_equal(events[3].vu, 2);
    load_trial_end(&t);
}

static void in_turn_if_wanted(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 100, 50, 4);
    scene.latency[0].value = 5 * MS;
    scene.s.schedule.in_turn = true;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(issued(&t), 200);
    for (uint32_t i = 0; i < 200; i++) assert_int_equal(events[i].vu, i % 100);
    load_trial_end(&t);
}

/* All are open before anything is sent, and none is opened later. */
static void connections_are_opened_before(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 50, 50, 4);
    scene.connect[0].value = 300 * MS; /* which no arrival has to wait for */
    scene.latency[0].value = 90 * MS;
    load_trial_begin(&t, &scene.s, 3);
    load_trial_turn(&t);
    assert_int_equal(t.scheduler.effect_count, 50);
    for (uint32_t i = 0; i < 50; i++) {
        assert_int_equal(t.scheduler.effects[i].kind, RAD__LOAD_DO_OPEN);
        assert_int_equal(t.scheduler.effects[i].conn, i);
        assert_int_equal(t.scheduler.effects[i].vu, i);
    }
    load_trial_turn(&t);
    assert_int_equal(count_of(&t, RAD__LOAD_CONN_ESTABLISHED), 0); /* is not written out yet */
    load_trial_run(&t);
    load_verified(&t);
    const rad__load_metrics *m = &t.scheduler.metrics;
    assert_int_equal(m->connections, 50);
    assert_int_equal(m->early, 50);
    assert_int_equal(m->connect.max, 300 * MS);
    assert_true(m->response.max < 100 * MS);
    load_trial_end(&t);
    scene.s.schedule.connect_late = true;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_in_range(t.scheduler.metrics.connections, 5, 25);
    assert_int_equal(t.scheduler.metrics.early, 0);
    assert_true(t.scheduler.metrics.response.max >= 390 * MS);
    load_trial_end(&t);
}

/* Of each target that is asked at all, as many as there may be. */
static void of_all_targets(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 20, 50, 1);
    scene.targets[1] = scene.targets[0];
    scene.targets[1].name = "other";
    scene.targets[1].max_connections = 3;
    scene.s.target_count = 2;
    load_trial_begin(&t, &scene.s, 3);
    load_trial_turn(&t);
    assert_int_equal(t.scheduler.effect_count, 23);
    for (uint32_t i = 0; i < 23; i++) {
        assert_int_equal(t.scheduler.effects[i].target, i < 20 ? 0 : 1);
        assert_int_equal(t.scheduler.effects[i].vu, i < 20 ? i : i - 20); /* who is at home there */
    }
    load_trial_run(&t);
    load_verified(&t);
    assert_int_equal(t.scheduler.metrics.early, 23);
    load_trial_end(&t);
    scene.targets[1].weight = 0; /* nobody asks it */
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(t.scheduler.metrics.early, 20);
    load_trial_end(&t);
    scene.requests[0].target = 1; /* everybody does */
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(t.scheduler.metrics.early, 3);
    load_trial_end(&t);
}

/* Who has lost its connection stands behind those who have one; when nobody has, it serves again. */
static void who_has_no_connection_comes_last(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 10, 50, 1);
    scene.latency[0].value = 5 * MS;
    scene.targets[0].requests_per_connection = 3;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(issued(&t), 50);
    for (uint32_t i = 0; i < 30; i++) assert_int_equal(events[i].vu, i / 3);
    assert_int_equal(events[30].vu, 0); /* who lost it first */
    load_trial_end(&t);
    scene.targets[0].requests_per_connection = 0;
    scene.s.simulated.reset_ppm = 1000000;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(issued(&t), 50);
    for (uint32_t i = 0; i < 50; i++) assert_int_equal(events[i].vu, i % 10);
    load_trial_end(&t);
    scene.s.simulated.reset_ppm = 0;
    scene.s.simulated.refuse_ppm = 1000000; /* not even opened */
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(t.scheduler.metrics.early, 0);
    assert_int_equal(t.scheduler.metrics.early_errors, 10);
    assert_int_equal(t.scheduler.metrics.connection_errors, 10 + t.scheduler.metrics.all.errors);
    load_trial_end(&t);
}

/* A log says by its version how arrivals were dealt. */
static void older_logs_deal_in_turn(void **state)
{
    (void)state;
    for (uint32_t version = 1; version < 3; version++) {
        load_scene scene;
        load_trial t;
        load_scene_open(&scene, 100, 50, 4);
        scene.latency[0].value = 5 * MS;
        run(&t, &scene, version);
        assert_int_equal(issued(&t), 200);
        for (uint32_t i = 0; i < 200; i++) assert_int_equal(events[i].vu, i % 100);
        assert_int_equal(t.scheduler.metrics.connections, 100);
        assert_int_equal(t.scheduler.metrics.early, 0);
        load_trial_end(&t);
    }
}

/* Connections of another shard are others: they take another time to open. */
static void shards_draw_apart(void **state)
{
    (void)state;
    uint64_t took[2];
    for (uint32_t shard = 0; shard < 2; shard++) {
        load_scene scene;
        rad__load_scheduler scheduler;
        rad__load_engine *engine;
        load_scene_open(&scene, 10, 50, 1);
        scene.connect[1] = (struct rad__load_point){1000000, 100 * MS};
        scene.s.simulated.connect.count = 2;
        assert_int_equal(rad__load_scheduler_open(&scheduler, &scene.s, 3, shard, 2, true, NULL, NULL), 0);
        assert_int_equal(rad__load_simulated_open(&engine, &scene.s, 3, shard, 2, scheduler.user_capacity,
                                                  scheduler.pool.conn_count, NULL),
                         0);
        assert_int_equal(rad__load_run(&scheduler, engine, NULL, NULL), 0);
        assert_int_equal(scheduler.metrics.early, 5);
        took[shard] = scheduler.metrics.connect_ns;
        engine->kind->close(engine);
        rad__load_scheduler_close(&scheduler);
    }
    assert_int_not_equal(took[0], took[1]);
}

/* A closed schedule has no arrivals: each user opens its own. */
static void closed_schedules_stay_as_they_are(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 10, 1);
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    assert_int_equal(t.scheduler.metrics.connections, 10);
    assert_int_equal(t.scheduler.metrics.early, 0);
    load_trial_end(&t);
}

/* ---- The plan ------------------------------------------------------------------------------------------------ */

enum { ARRIVALS = 200, POSITIONS = 3 };

struct asked {
    uint32_t count, what, target;
};

/* What each arrival asks for, and how long it thinks in between; whatever the answers are like. */
static void plan_of(struct asked plan[ARRIVALS][POSITIONS], uint64_t latency_ns, uint32_t reset_ppm, bool in_turn,
                    uint32_t users)
{
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, users, 50, 4);
    scene.stages[1] = (struct rad__load_stage){60 * S, 0, 0}; /* so that all are served to their end */
    scene.s.schedule.stage_count = 2;
    scene.s.duration_ns = 64 * S;
    scene.latency[0].value = latency_ns;
    scene.s.simulated.reset_ppm = reset_ppm;
    scene.s.schedule.in_turn = in_turn;
    for (uint32_t i = 1; i < 4; i++) {
        scene.requests[i] = scene.requests[0];
        scene.requests[i].name = "more";
    }
    scene.s.request_count = 4;
    scene.targets[1] = scene.targets[0];
    scene.s.target_count = 2;
    for (uint32_t i = 0; i < POSITIONS; i++) scene.steps[i] = (struct rad__load_step){RAD_NONE, 1};
    scene.s.step_count = POSITIONS;
    run(&t, &scene, RAD__LOAD_LOG_VERSION);
    memset(plan, 0, sizeof(struct asked[ARRIVALS][POSITIONS]));
    uint32_t count = issued(&t), at[ARRIVALS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct asked *a = &plan[events[i].iteration][at[events[i].iteration]++];
        assert_true(events[i].iteration < ARRIVALS);
        a->count++;
        a->what = events[i].what;
        a->target = events[i].target;
    }
    load_trial_end(&t);
}

static void arrivals_keep_their_plan(void **state)
{
    (void)state;
    static struct asked first[ARRIVALS][POSITIONS], other[ARRIVALS][POSITIONS];
    plan_of(first, 1 * MS, 0, false, 100);
    uint32_t seen[4] = {0};
    for (uint32_t i = 0; i < ARRIVALS; i++)
        for (uint32_t k = 0; k < POSITIONS; k++) {
            assert_int_equal(first[i][k].count, 1);
            seen[first[i][k].what]++;
        }
    for (uint32_t i = 0; i < 4; i++) assert_true(seen[i] > 50);
    plan_of(other, 300 * MS, 0, false, 100);
    assert_memory_equal(first, other, sizeof first);
    plan_of(other, 1 * MS, 0, true, 100);
    assert_memory_equal(first, other, sizeof first);
    plan_of(other, 40 * MS, 200000, false, 7);
    assert_memory_equal(first, other, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_busy_last_serves),
        cmocka_unit_test(waiting_for_a_connection_counts),
        cmocka_unit_test(an_arrival_at_the_end_is_none),
        cmocka_unit_test(the_newest_goes_first),
        cmocka_unit_test(in_turn_if_wanted),
        cmocka_unit_test(connections_are_opened_before),
        cmocka_unit_test(of_all_targets),
        cmocka_unit_test(who_has_no_connection_comes_last),
        cmocka_unit_test(older_logs_deal_in_turn),
        cmocka_unit_test(shards_draw_apart),
        cmocka_unit_test(closed_schedules_stay_as_they_are),
        cmocka_unit_test(arrivals_keep_their_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
