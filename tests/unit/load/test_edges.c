/* test_edges.c — the scheduler at its edges: limits of one, shards that only get those who come and go, ends that
 * come early, inputs that no engine of ours sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "load_support.h"

/* A turn by hand. */
static void take(rad__load_scheduler *c, uint64_t ms, rad__load_input *inputs, uint32_t count)
{
    rad_error error = {0};
    rad__load_turn turn = {.now_ns = ms * MS, .inputs = inputs, .input_count = count};
    for (uint32_t i = 0; i < count; i++) inputs[i].at_ns = turn.now_ns;
    if (rad__load_scheduler_turn(c, &turn, &error) != 0) fail_msg("%s", error.text);
    const char *wrong = rad__load_scheduler_wrong(c);
    if (wrong != NULL) fail_msg("%s", wrong);
}

/* ---- A queue that is full ---------------------------------------------------------------------------------- */

/* Two users, one place, answers after 100 ms, ticks of a nanosecond: nobody counts them off. */
static void a_full_queue_does_not_count_ticks(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 2, 1);
    scene.s.tick_ns = 1;
    scene.s.limits.max_events = 1;
    scene.latency[0].value = 100 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.all.responses, 9);
    assert_true(t.scheduler.counters.ticks < 100);
    load_verified(&t);
    load_trial_end(&t);
}

/* Everything there is one of: users take turns, nobody starves. */
static void limits_of_one(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_event events[200];
    load_scene_make(&scene, 3, 2);
    scene.s.limits.max_events = 1;
    scene.s.limits.max_activations = 1;
    scene.targets[0].max_connections = 1;
    scene.targets[0].requests_per_connection = 1;
    load_trial_begin(&t, &scene.s, 1);
    while (!rad__load_scheduler_over(&t.scheduler)) load_trial_turn(&t);
    rad__load_log_end(&t.log);
    uint32_t count = load_events(&t, RAD__LOAD_ISSUED, events, 200), of[3] = {0};
    for (uint32_t i = 0; i < count; i++) of[events[i].vu]++;
    assert_in_range(count, 60, 100);
    for (uint32_t i = 0; i < 3; i++) assert_in_range(of[i], count / 3 - 2, count / 3 + 2);
    load_verified(&t);
    load_trial_end(&t);
}

/* ---- A log that is not written fast enough ------------------------------------------------------------------ */

/* An engine that only tells the time, and keeps until when it was to wait. */
struct clockwork {
    rad__load_engine engine;
    uint64_t now_ns;
    uint32_t turns, at_once;
    volatile int stop;
};

static int no_act(rad__load_engine *e, const rad__load_effect *effects, uint32_t count, rad_error *error)
{
    (void)e;
    (void)effects;
    (void)count;
    (void)error;
    return 0;
}

static int tell_time(rad__load_engine *engine, uint64_t until_ns, bool poll, rad__load_turn *turn, rad_error *error)
{
    struct clockwork *e = (struct clockwork *)engine;
    (void)error;
    e->turns++;
    e->at_once += until_ns == 0 || !poll;
    e->now_ns = until_ns > e->now_ns ? until_ns : e->now_ns + 1;
    e->stop = e->now_ns > 100 * MS;
    *turn = (rad__load_turn){.now_ns = e->now_ns};
    return 0;
}

static bool always_behind(void *context)
{
    (void)context;
    return true;
}

/* Everybody is ready and nobody may begin: turns, each with its record, would only make it worse. */
static void a_paused_run_gives_the_disk_time(void **state)
{
    (void)state;
    static const struct rad__load_engine_kind KIND = {"clockwork", no_act, tell_time, NULL};
    load_scene scene;
    rad__load_scheduler scheduler;
    rad_error error = {0};
    struct clockwork e = {.engine.kind = &KIND};
    struct rad__load_hooks hooks = {.behind = always_behind, .stop = &e.stop};
    load_scene_make(&scene, 5, 10);
    assert_int_equal(rad__load_scheduler_open(&scheduler, &scene.s, 1, 0, 1, false, NULL, &error), 0);
    assert_int_equal(rad__load_run(&scheduler, &e.engine, &hooks, &error), 0);
    assert_true(scheduler.interrupted);
    assert_int_equal(scheduler.metrics.all.issued, 0);
    assert_in_range(e.turns, 50, 110);
    assert_in_range(e.at_once, 0, 1);
    rad__load_scheduler_close(&scheduler);
}

/* ---- Ends -------------------------------------------------------------------------------------------------- */

/* Time to finish is for what is under way: when nothing is, the run is over. */
static void draining_ends_with_the_last_answer(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        load_scene scene;
        load_trial t;
        if (open)
            load_scene_open(&scene, 5, 50, 1);
        else
            load_scene_make(&scene, 5, 1);
        scene.s.drain_ns = 3600 * S;
        load_trial_begin(&t, &scene.s, 1);
        load_trial_run(&t);
        assert_in_range(t.scheduler.now_ns, S, S + 30 * MS);
        assert_int_equal(t.scheduler.metrics.all.cancelled, 0);
        assert_int_equal(t.scheduler.metrics.dropped, 0);
        load_verified(&t);
        load_trial_end(&t);
    }
}

/* Nor for those who were to come, and found no place in the queue. */
static void draining_does_not_wait_for_newcomers(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 1000, 1);
    scene.s.drain_ns = 3600 * S;
    scene.s.jitter_ns = 50 * MS;
    scene.s.limits.max_events = 1;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_true(t.scheduler.user_count < 1000);
    assert_in_range(t.scheduler.now_ns, S, S + 100 * MS);
    load_verified(&t);
    load_trial_end(&t);
}

/* Arrivals that are planned for later are not dropped when somebody ends the run. */
static void an_early_end_drops_what_was_due(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad_error error = {0};
    load_scene_open(&scene, 1, 10, 3600);
    scene.latency[0].value = 10 * S;
    load_trial_begin(&t, &scene.s, 1);
    for (int i = 0; i < 3; i++) load_trial_turn(&t);
    rad__load_turn turn = {.now_ns = 1050 * MS, .interrupted = true};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), 0);
    assert_true(rad__load_scheduler_over(&t.scheduler));
    assert_int_equal(t.scheduler.metrics.arrivals, 1);
    assert_int_equal(t.scheduler.metrics.dropped, 10); /* at 0.1, 0.2, … 1.0 s */
    load_trial_end(&t);
}

/* ---- Arrivals ---------------------------------------------------------------------------------------------- */

/* A hundred arrivals a second, two users, both answered in the same turn after a long time: whatever was due a tick ago
 * or earlier has waited, not only what was first in line; what is due in that turn has not. */
static void all_that_waited_is_blocked(void **state)
{
    (void)state;
    load_scene scene;
    rad__load_scheduler scheduler;
    rad_error error = {0};
    static const uint64_t TURNS[] = {1, 2, 10, 11, 20}; /* the arrival of 20 ms finds nobody */
    for (uint64_t end = 31; end >= 30; end--) {
        load_scene_open(&scene, 2, 100, 10);
        assert_int_equal(rad__load_scheduler_open(&scheduler, &scene.s, 1, 0, 1, true, NULL, &error), 0);
        for (uint32_t i = 0; i < 5; i++) take(&scheduler, TURNS[i], NULL, 0);
        assert_int_equal(scheduler.metrics.all.issued, 2);
        rad__load_input answers[2] = {
            {.kind = RAD__LOAD_IN_RESPONSE, .vu = 0, .conn = scheduler.users[0].conn, .request = 1},
            {.kind = RAD__LOAD_IN_RESPONSE, .vu = 1, .conn = scheduler.users[1].conn, .request = 1}};
        take(&scheduler, end, answers, 2);
        uint32_t first = scheduler.users[0].iteration == 2 ? 0 : 1, second = 1 - first;
        assert_int_equal(scheduler.users[second].iteration, 3);
        assert_true(scheduler.users[first].blocked);
        assert_int_equal(scheduler.users[second].blocked, end == 31); /* it is of 30 ms */
        rad__load_scheduler_close(&scheduler);
    }
}

/* ---- Shards ------------------------------------------------------------------------------------------------ */

/* One user, two, one, two, …: the second shard has all those that come and go. */
static void a_shard_may_have_more_than_its_share(void **state)
{
    (void)state;
    load_scene scene;
    struct rad__load_stage stages[8];
    load_scene_make(&scene, 5, 8);
    for (uint32_t i = 0; i < 8; i++) stages[i] = (struct rad__load_stage){S, 1 + i % 2, 1 + i % 2};
    scene.s.schedule.stages = stages;
    scene.s.schedule.stage_count = 8;
    assert_int_equal(rad__load_levels_total(&scene.s.schedule), 5);
    assert_int_equal(rad__load_users_of_shard(&scene.s, 0, 2), 1);
    assert_int_equal(rad__load_users_of_shard(&scene.s, 1, 2), 4);
    for (uint32_t shard = 0; shard < 2; shard++) {
        rad__load_scheduler scheduler;
        rad_error error = {0};
        assert_int_equal(rad__load_scheduler_open(&scheduler, &scene.s, 1, shard, 2, true, NULL, &error), 0);
        for (uint64_t ms = 1; !rad__load_scheduler_over(&scheduler); ms++) {
            rad__load_turn turn = {.now_ns = ms * MS};
            assert_int_equal(rad__load_scheduler_turn(&scheduler, &turn, &error), 0);
            assert_null(rad__load_scheduler_wrong(&scheduler));
        }
        assert_int_equal(scheduler.counters.spawned, shard == 0 ? 1 : 4);
        rad__load_scheduler_close(&scheduler);
    }
}

/* Users that were to come, but had not yet when they were to go again, never come; the level holds afterwards. */
static void who_never_came_does_not_go(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    struct rad__load_stage stages[3] = {{S, 1, 1}, {1000, 0, 50}, {S, 2, 2}};
    load_scene_make(&scene, 51, 3);
    scene.s.duration_ns = 2 * S + 1000;
    scene.s.schedule.stages = stages;
    scene.s.schedule.stage_count = 3;
    scene.s.users = (uint32_t)rad__load_levels_total(&scene.s.schedule);
    load_trial_begin(&t, &scene.s, 1);
    while (t.scheduler.now_ns < 1500 * MS) load_trial_turn(&t);
    assert_int_equal(t.scheduler.running, 2);
    load_trial_run(&t);
    load_verified(&t);
    load_trial_end(&t);
}

/* ---- Inputs that cannot be --------------------------------------------------------------------------------- */

/* A log may say that a connection was closed and forget to say what became of the request on it. The next one to open
 * it has it for itself. */
static void a_connection_closes_under_a_request(void **state)
{
    (void)state;
    load_scene scene;
    rad__load_scheduler scheduler;
    rad_error error = {0};
    load_scene_make(&scene, 2, 10);
    scene.targets[0].max_connections = 1;
    scene.s.limits.retry_ns = MS;
    assert_int_equal(rad__load_scheduler_open(&scheduler, &scene.s, 1, 0, 1, true, NULL, &error), 0);
    take(&scheduler, 1, NULL, 0);
    take(&scheduler, 2, NULL, 0);
    assert_int_equal(scheduler.metrics.all.issued, 1); /* the other one waits for the connection */
    uint32_t first = scheduler.users[0].request == 1 ? 0 : 1, second = 1 - first;
    rad__load_input closed = {.kind = RAD__LOAD_IN_CONN_CLOSED, .vu = first};
    take(&scheduler, 3, &closed, 1);
    take(&scheduler, 4, NULL, 0);
    take(&scheduler, 5, NULL, 0);
    assert_int_equal(scheduler.users[second].request, 1); /* under way on the same connection, opened anew */
    rad__load_input answer = {.kind = RAD__LOAD_IN_RESPONSE, .vu = first, .request = 1};
    take(&scheduler, 6, &answer, 1);
    assert_int_equal(scheduler.pool.conns[0].under_way, 1);
    take(&scheduler, 7, NULL, 0);
    assert_int_equal(scheduler.users[first].request, 1); /* it is not free */
    answer.vu = second;
    take(&scheduler, 8, &answer, 1);
    assert_int_equal(scheduler.metrics.all.responses, 2);
    rad__load_scheduler_close(&scheduler);
}

/* Whether a request timed out is the scheduler's to say: an input that says so is from no engine. */
static void no_engine_tells_a_timeout(void **state)
{
    (void)state;
    load_scene scene;
    rad__load_scheduler scheduler;
    rad_error error = {0};
    load_scene_make(&scene, 1, 10);
    assert_int_equal(rad__load_scheduler_open(&scheduler, &scene.s, 1, 0, 1, true, NULL, &error), 0);
    take(&scheduler, 1, NULL, 0);
    take(&scheduler, 2, NULL, 0);
    rad__load_input failed = {
        .kind = RAD__LOAD_IN_FAILED, .request = 1, .fault = RAD__LOAD_REQUEST_TIMEOUT, .at_ns = 3 * MS};
    rad__load_turn turn = {.now_ns = 3 * MS, .inputs = &failed, .input_count = 1};
    assert_int_equal(rad__load_scheduler_turn(&scheduler, &turn, &error), RAD_EINPUT);
    rad__load_scheduler_close(&scheduler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue_does_not_count_ticks),
        cmocka_unit_test(limits_of_one),
        cmocka_unit_test(a_paused_run_gives_the_disk_time),
        cmocka_unit_test(draining_ends_with_the_last_answer),
        cmocka_unit_test(draining_does_not_wait_for_newcomers),
        cmocka_unit_test(an_early_end_drops_what_was_due),
        cmocka_unit_test(all_that_waited_is_blocked),
        cmocka_unit_test(a_shard_may_have_more_than_its_share),
        cmocka_unit_test(who_never_came_does_not_go),
        cmocka_unit_test(a_connection_closes_under_a_request),
        cmocka_unit_test(no_engine_tells_a_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
