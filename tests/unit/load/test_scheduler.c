/* test_scheduler.c — the scheduler of the load tester on its simulated target: the decisions of the contract. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_support.h"

#include <string.h>

/* ---- Numbers --------------------------------------------------------------------------------------------- */

static void decision_6_xorshift_vectors(void **state)
{
    (void)state;
    /* From the definition, by hand for state 1: x ^= x>>12 = 1; x ^= x<<25 = 2^25+1; x ^= x>>27 stays. */
    rad__load_stream r = {1};
    assert_int_equal(rad__load_next(&r), UINT64_C(33554433) * UINT64_C(0x2545f4914f6cdd1d));
    assert_int_equal(r.state, 33554433);
    for (uint32_t i = 0; i < 100000; i++) {
        rad__load_stream s = rad__load_draw(i, i * 7, i * 13, i & 3, RAD__LOAD_DRAW_PAUSE);
        assert_int_not_equal(s.state, 0);
    }
}

static void draws_belong_to_their_key(void **state)
{
    (void)state;
    rad__load_stream base = rad__load_draw(1, 2, 3, 4, RAD__LOAD_DRAW_PAUSE);
    assert_int_equal(base.state, rad__load_draw(1, 2, 3, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(2, 2, 3, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 3, 3, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 2, 4, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 2, 3, 5, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 2, 3, 4, RAD__LOAD_DRAW_JITTER).state);
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

static void a_run_does_what_it_should(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 3, 1);
    load_trial_begin(&t, &scene.s, 1);
    while (!rad__load_scheduler_over(&t.scheduler)) load_trial_turn(&t);
    /* Ready in tick 1, sent in tick 2, answered in 22, sent again in 23, …: every 21 ms from 2 to 998. */
    const struct rad__load_tally *all = &t.scheduler.metrics.all;
    assert_int_equal(all->issued, 3 * 48);
    assert_int_equal(all->responses, 3 * 47);
    assert_int_equal(all->cancelled, 3);
    assert_int_equal(t.scheduler.metrics.service.min, 20 * MS);
    assert_int_equal(t.scheduler.metrics.service.max, 20 * MS);
    assert_int_equal(t.scheduler.metrics.connections, 3);
    assert_int_equal(t.scheduler.metrics.completed, 3);
    load_trial_end(&t);
}

static void log_of(load_scene *scene, uint64_t seed, rad_bytes *file)
{
    load_trial t;
    load_trial_begin(&t, &scene->s, seed);
    load_trial_run(&t);
    load_verified(&t);
    *file = t.file;
    t.file = (rad_bytes){0};
    load_trial_end(&t);
}

static void vary(load_scene *scene)
{
    scene->latency[0] = (struct rad__load_point){0, 1 * MS};
    scene->latency[1] = (struct rad__load_point){900000, 30 * MS};
    scene->latency[2] = (struct rad__load_point){1000000, 2000 * MS};
    scene->s.simulated.latency.count = 3;
    scene->s.simulated.loss_ppm = 5000;
    scene->s.simulated.reset_ppm = 5000;
    scene->s.simulated.garbage_ppm = 3000;
    scene->s.simulated.refuse_ppm = 20000;
    scene->s.simulated.late_ns = 100 * MS;
    scene->s.limits.timeout_ns = 700 * MS;
    scene->s.pause = RAD__LOAD_RANDOM_PAUSE;
    scene->s.pause_low_ns = 5 * MS;
    scene->s.pause_high_ns = 500 * MS;
    scene->s.jitter_ns = 900 * MS;
}

static void must_hold_1_equal_seeds_equal_logs(void **state)
{
    (void)state;
    static const uint32_t USERS[] = {1, 100, 10000};
    for (uint32_t i = 0; i < 3; i++) {
        load_scene scene;
        rad_bytes a, b, c;
        load_scene_make(&scene, USERS[i], 3);
        vary(&scene);
        log_of(&scene, 7, &a);
        log_of(&scene, 7, &b);
        log_of(&scene, 8, &c);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        assert_true(a.size != c.size || memcmp(a.data, c.data, a.size) != 0);
        rad__bytes_free(&a);
        rad__bytes_free(&b);
        rad__bytes_free(&c);
    }
}

/* ---- Decisions of the contract --------------------------------------------------------------------------- */

static void decision_1_idle_ticks_cost_nothing(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 1, 1);
    scene.s.tick_ns = 1; /* a billion ticks in a second */
    scene.s.limits.warn_ticks = UINT64_MAX / 2;
    scene.latency[0].value = 300 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.tick, 1000000000);
    assert_true(t.scheduler.counters.ticks < 20);
    assert_int_equal(t.scheduler.metrics.all.responses, 3);
    load_trial_end(&t);
}

/* The answer comes in the very tick in which the timeout is due. */
static void decision_2_an_answer_beats_its_timeout(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 1, 1);
    scene.latency[0].value = 50 * MS;
    scene.s.limits.timeout_ns = 50 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.all.timeouts, 0);
    assert_int_equal(t.scheduler.metrics.all.responses, 19);
    load_trial_end(&t);
    scene.s.limits.timeout_ns = 50 * MS - 1;
    scene.latency[0].value = 50 * MS + 1;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.all.responses, 0);
    assert_int_equal(t.scheduler.metrics.all.timeouts, 19);
    load_trial_end(&t);
}

/* Inputs are taken by user, connection and order, however the engine met them. */
static void decision_2_inputs_are_sorted(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_event events[8];
    rad_error error = {0};
    load_scene_make(&scene, 4, 1);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_turn(&t);
    load_trial_turn(&t); /* all four are under way */
    assert_int_equal(t.scheduler.metrics.all.issued, 4);
    static const uint32_t ORDER[] = {2, 0, 3, 1};
    rad__load_input inputs[4];
    for (uint32_t i = 0; i < 4; i++)
        inputs[i] = (rad__load_input){.vu = ORDER[i],
                                      .conn = ORDER[i],
                                      .kind = RAD__LOAD_IN_RESPONSE,
                                      .request = 1,
                                      .status = 200,
                                      .at_ns = 3 * MS,
                                      .sent_ns = 2 * MS};
    rad__load_turn turn = {.now_ns = 3 * MS, .inputs = inputs, .input_count = 4};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), 0);
    turn = (rad__load_turn){.now_ns = 4 * MS, .interrupted = true};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), 0);
    rad__load_log_end(&t.log);
    assert_int_equal(load_events(&t, RAD__LOAD_RESPONSE, events, 8), 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(events[i].vu, i);
    load_trial_end(&t);
}

/* Steps in ascending order, first come first served; with one activation a tick every step gets its turn. */
static void decision_3_cohorts(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    static rad__load_event events[4000];
    load_scene_make(&scene, 6, 1);
    scene.s.step_count = 3;
    scene.steps[1] = scene.steps[2] = (struct rad__load_step){0, 1};
    scene.latency[0].value = MS;
    scene.s.limits.max_activations = 2;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    uint32_t count = load_events(&t, RAD__LOAD_ISSUED, events, 4000), least = UINT32_MAX, most = 0, each[6] = {0};
    assert_in_range(count, 1990, 2000); /* two in every tick */
    for (uint32_t i = 0; i < count; i++) each[events[i].vu]++;
    for (uint32_t i = 0; i < 6; i++) {
        least = each[i] < least ? each[i] : least;
        most = each[i] > most ? each[i] : most;
    }
    assert_true(most - least <= 3);
    assert_int_equal(t.scheduler.counters.activated, count);
    load_trial_end(&t);
}

static void decision_3_work_is_for_those_who_are_ready(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 1000, 2);
    scene.s.pause = RAD__LOAD_CONSTANT_PAUSE;
    scene.s.pause_low_ns = 900 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.counters.activated, t.scheduler.metrics.all.issued);
    assert_true(t.scheduler.counters.ticks < 20); /* all in step: nothing is looked at in between */
    assert_true(t.scheduler.counters.cohorts <= t.scheduler.counters.ticks);
    load_trial_end(&t);
}

static void decision_4_late_answers_are_told_apart(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_event events[64];
    load_scene_make(&scene, 1, 1);
    scene.latency[0].value = 60 * MS;
    scene.s.limits.timeout_ns = 50 * MS;
    scene.s.simulated.late_ns = 100 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    uint32_t late = load_events(&t, RAD__LOAD_LATE, events, 64);
    assert_int_equal(t.scheduler.metrics.all.responses, 0);
    assert_int_equal(t.scheduler.metrics.late, late);
    assert_in_range(late, 17, 19);
    assert_int_equal(events[0].request, 1);
    assert_int_equal(events[0].service_ns, 60 * MS);
    load_verified(&t);
    load_trial_end(&t);
}

static void decision_5_a_full_queue_pauses_and_goes_on(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 10, 1);
    scene.s.limits.max_events = 3;
    load_trial_begin(&t, &scene.s, 1);
    while (!rad__load_scheduler_over(&t.scheduler)) load_trial_turn(&t);
    assert_int_equal(t.scheduler.counters.deepest_queue, 3);
    assert_true(t.scheduler.metrics.exhausted[RAD__LOAD_QUEUE_FULL] > 0);
    assert_in_range(t.scheduler.metrics.all.responses, 3 * 45, 3 * 50);
    load_trial_end(&t);
}

static void decision_5_an_exhausted_pool_is_tried_again(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 10, 1);
    scene.targets[0].max_connections = 2;
    scene.s.limits.retry_ns = 7 * MS;
    load_trial_begin(&t, &scene.s, 1);
    while (!rad__load_scheduler_over(&t.scheduler)) load_trial_turn(&t);
    assert_int_equal(t.scheduler.metrics.connections, 2);
    assert_true(t.scheduler.metrics.exhausted[RAD__LOAD_POOL_EXHAUSTED] > 10);
    assert_in_range(t.scheduler.metrics.all.responses, 2 * 30, 2 * 50);
    rad__load_log_end(&t.log);
    load_verified(&t);
    load_trial_end(&t);
}

static void decision_5_a_full_log_ends_the_run(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 100, 100);
    scene.s.limits.max_log_bytes = 200000;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.exhausted, RAD__LOAD_LOG_FULL);
    assert_in_range(t.file.size, 200000, 300000);
    load_verified(&t);
    load_trial_end(&t);
}

static void decision_5_a_paused_turn_activates_nobody(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad_error error = {0};
    load_scene_make(&scene, 3, 1);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_turn(&t);
    rad__load_turn turn = {.now_ns = 2 * MS, .paused = true};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), 0);
    assert_int_equal(t.scheduler.metrics.all.issued, 0);
    turn = (rad__load_turn){.now_ns = 3 * MS};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), 0);
    assert_int_equal(t.scheduler.metrics.all.issued, 3);
    load_trial_end(&t);
}

static void decision_8_one_warning_for_each_long_wait(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_event events[8];
    load_scene_make(&scene, 1, 10);
    scene.latency[0].value = 3 * S;
    scene.s.limits.warn_ticks = 1000;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(load_events(&t, RAD__LOAD_LONG_WAIT, events, 8), 3);
    assert_int_equal(events[2].request, 3);
    assert_int_equal(t.scheduler.metrics.all.responses, 3);
    load_verified(&t);
    load_trial_end(&t);
    scene.s.simulated.loss_ppm = 1000000; /* to the very end, and only once */
    scene.s.limits.timeout_ns = 3 * S;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(load_events(&t, RAD__LOAD_LONG_WAIT, events, 8), 3);
    assert_int_equal(t.scheduler.metrics.all.timeouts, 3);
    load_trial_end(&t);
}

/* A stall of one second in ten at a constant rate: who was to be served then waited, and it is told. */
static void decision_10_arrivals_know_their_time(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 500, 100, 40);
    scene.s.drain_ns = 2 * S;
    scene.latency[0].value = 10 * MS;
    scene.s.simulated.stall_every_ns = 10 * S;
    scene.s.simulated.stall_ns = 1 * S;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    const rad__load_metrics *m = &t.scheduler.metrics;
    assert_int_equal(m->arrivals, 4000);
    assert_int_equal(m->dropped, 0);
    uint64_t p95 = rad__histogram_quantile(&m->response, 95, 100), p99 = rad__histogram_quantile(&m->response, 99, 100);
    assert_in_range(p95, 450 * MS, 550 * MS);
    assert_in_range(p99, 850 * MS, 950 * MS);
    load_verified(&t);
    load_trial_end(&t);
}

/* With two users only, arrivals wait for one: service time does not know of it, response time does. */
static void decision_10_waiting_arrivals_are_blocked(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 2, 100, 10);
    scene.latency[0].value = 30 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    const rad__load_metrics *m = &t.scheduler.metrics;
    assert_int_equal(rad__histogram_quantile(&m->service, 99, 100), m->service.max);
    assert_int_equal(m->service.max, 30 * MS);
    assert_true(m->response.max > 3 * S);
    assert_true(m->blocked > 500);
    assert_int_equal(m->arrivals + m->dropped, 1000);
    load_trial_end(&t);
    scene.s.schedule.drop = true;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.blocked, 0);
    assert_true(t.scheduler.metrics.response.max < 40 * MS);
    assert_int_equal(t.scheduler.metrics.arrivals + t.scheduler.metrics.dropped, 1000);
    load_trial_end(&t);
}

static void decision_11_an_assertion_ends_the_run(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_event events[8];
    load_scene_make(&scene, 2, 60);
    scene.s.assertion_count = 2;
    scene.assertions[0] = (struct rad__load_assertion){
        .name = "p99", .measure = RAD__LOAD_SERVICE_NS, .percentile_ppm = 990000, .bound = 10 * MS, .abort = true};
    scene.assertions[1] =
        (struct rad__load_assertion){.name = "rate", .measure = RAD__LOAD_RATE, .at_least = true, .bound = 1000};
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_true(t.scheduler.failed);
    assert_true(t.scheduler.now_ns < 2 * S);
    assert_true(load_events(&t, RAD__LOAD_ASSERTION_FAILED, events, 8) >= 1);
    assert_int_equal(events[0].what, 0);
    assert_int_equal(events[0].wanted, 10 * MS);
    assert_in_range(events[0].actual, 20 * MS, 20 * MS + 20 * MS / 1000);
    assert_int_equal(load_events(&t, RAD__LOAD_ASSERTION_PASSED, events, 8), 1);
    load_verified(&t);
    load_trial_end(&t);
}

/* An assertion without data does not hold. It ends no run, for data may still come; when some comes, it is judged by
 * that. Logs of version 1 say what was said of it then. */
static void decision_11_without_data_nothing_holds(void **state)
{
    (void)state;
    static const struct {
        enum rad__load_measure measure;
        bool at_least;
        uint64_t bound, then;
    } CASES[] = {{RAD__LOAD_SERVICE_NS, false, UINT64_MAX / 2, 0},  {RAD__LOAD_ERROR_SHARE, false, RAD__LOAD_PPM, 0},
                 {RAD__LOAD_SUCCESS_SHARE, true, 0, RAD__LOAD_PPM}, {RAD__LOAD_5XX_SHARE, false, RAD__LOAD_PPM, 0},
                 {RAD__LOAD_CHECK_SHARE, true, 0, RAD__LOAD_PPM},   {RAD__LOAD_RATE_REACHED, true, 0, RAD__LOAD_PPM},
                 {RAD__LOAD_RESPONSE_NS, false, UINT64_MAX / 2, 0}};
    for (uint32_t i = 0; i < 2 * sizeof CASES / sizeof *CASES; i++) {
        load_scene scene;
        load_trial t;
        rad__load_event event = {0};
        bool old = i % 2 != 0;
        load_scene_make(&scene, 2, 5);
        scene.latency[0].value = 20 * S; /* nothing ends before the run does */
        scene.s.assertion_count = 1;
        scene.assertions[0] = (struct rad__load_assertion){.name = "x",
                                                           .measure = CASES[i / 2].measure,
                                                           .percentile_ppm = 990000,
                                                           .at_least = CASES[i / 2].at_least,
                                                           .bound = CASES[i / 2].bound,
                                                           .abort = true};
        load_trial_begin_as(&t, &scene.s, 1, old ? 1 : 2);
        load_trial_run(&t);
        assert_int_equal(t.scheduler.now_ns, 5 * S);
        assert_false(t.scheduler.aborted);
        assert_int_equal(t.scheduler.failed, !old);
        uint32_t kind = old ? RAD__LOAD_ASSERTION_PASSED : RAD__LOAD_ASSERTION_FAILED;
        assert_int_equal(load_events(&t, kind, &event, 1), 1);
        assert_true(event.actual == (old ? CASES[i / 2].then : RAD__LOAD_NO_DATA));
        load_verified(&t);
        load_trial_end(&t);
    }
}

/* ---- Users come and go ----------------------------------------------------------------------------------- */

static void schedules_are_followed(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 10, 4);
    scene.s.schedule.stage_count = 3; /* up to 10, hold, down to 2 */
    scene.stages[0] = (struct rad__load_stage){S, 0, 10};
    scene.stages[1] = (struct rad__load_stage){S, 10, 10};
    scene.stages[2] = (struct rad__load_stage){2 * S, 10, 2};
    load_trial_begin(&t, &scene.s, 1);
    uint32_t at_half = 0, at_two = 0;
    while (!rad__load_scheduler_over(&t.scheduler)) {
        load_trial_turn(&t);
        if (t.scheduler.now_ns <= 500 * MS) at_half = t.scheduler.running;
        if (t.scheduler.now_ns <= 2 * S) at_two = t.scheduler.running;
        if (t.scheduler.now_ns < 3900 * MS && t.scheduler.now_ns > 3800 * MS) {
            assert_in_range(t.scheduler.running, 2, 4);
            assert_false(t.scheduler.users[0].retires || t.scheduler.users[1].retires); /* the oldest stay */
        }
    }
    assert_in_range(at_half, 5, 5);
    assert_int_equal(at_two, 10);
    assert_int_equal(t.scheduler.metrics.spawned, 10);
    rad__load_log_end(&t.log);
    load_verified(&t);
    load_trial_end(&t);
}

static void iterations_end_a_run(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 4, 1);
    scene.s.duration_ns = 0;
    scene.s.iterations = 5;
    scene.s.step_count = 2;
    scene.steps[1] = (struct rad__load_step){0, 3};
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.all.issued, 4 * 5 * 4);
    assert_int_equal(t.scheduler.metrics.all.responses, 4 * 5 * 4);
    assert_int_equal(t.scheduler.metrics.iterations, 4 * 5);
    load_trial_end(&t);
}

static void what_is_under_way_may_finish(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 5, 1);
    scene.latency[0].value = 300 * MS;
    scene.s.drain_ns = 400 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.all.cancelled, 0);
    assert_int_equal(t.scheduler.metrics.all.responses, 5 * 4);
    load_verified(&t);
    load_trial_end(&t);
    scene.s.drain_ns = 100 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.all.cancelled, 5);
    load_trial_end(&t);
}

static void warming_up_is_not_measured(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 1, 1);
    scene.s.warmup_ns = 500 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_in_range(t.scheduler.metrics.measured.responses, 22, 24);
    assert_int_equal(t.scheduler.metrics.all.responses, 47);
    assert_int_equal(t.scheduler.metrics.service.count, t.scheduler.metrics.measured.responses);
    load_trial_end(&t);
}

/* Nobody is shown to a weight by accident: a million draws come out as the weights say. */
static void requests_are_drawn_by_weight(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 200, 10);
    scene.s.request_count = 3;
    scene.requests[1] = scene.requests[2] = scene.requests[0];
    scene.requests[0].weight = 7000000;
    scene.requests[1].weight = 2000000;
    scene.requests[2].weight = 1000000;
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    const struct rad__load_by_request *r = t.scheduler.metrics.by_request;
    uint64_t all = t.scheduler.metrics.all.issued;
    assert_in_range(all, 90000, 100000);
    assert_in_range(r[0].tally.issued * 1000 / all, 690, 710);
    assert_in_range(r[1].tally.issued * 1000 / all, 190, 210);
    assert_in_range(r[2].tally.issued * 1000 / all, 93, 107);
    load_trial_end(&t);
}

/* Who fails to connect waits before the next try; who fails too often gives up. */
static void refused_connections(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 3, 1);
    scene.s.simulated.refuse_ppm = 1000000;
    scene.s.limits.retry_ns = 100 * MS;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_in_range(t.scheduler.metrics.all.errors, 3 * 9, 3 * 10);
    assert_int_equal(t.scheduler.metrics.by_fault[RAD__LOAD_REFUSED], t.scheduler.metrics.all.errors);
    load_verified(&t);
    load_trial_end(&t);
    scene.s.limits.give_up_after = 4;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_int_equal(t.scheduler.metrics.all.errors, 3 * 4);
    assert_int_equal(t.scheduler.metrics.gave_up, 3);
    assert_true(t.scheduler.now_ns < S);
    load_trial_end(&t);
}

/* HTTP/2: what breaks a connection, or uses it up, while others are on it. */
static void streams_end_with_their_connection(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 40, 5);
    vary(&scene);
    scene.s.pause = RAD__LOAD_NO_PAUSE;
    scene.targets[0].http2 = true;
    scene.targets[0].streams = 8;
    scene.targets[0].max_connections = 5;
    scene.targets[0].requests_per_connection = 50;
    scene.s.simulated.reset_ppm = 20000;
    load_trial_begin(&t, &scene.s, 3);
    while (!rad__load_scheduler_over(&t.scheduler)) load_trial_turn(&t);
    rad__load_log_end(&t.log);
    load_verified(&t);
    const rad__load_metrics *m = &t.scheduler.metrics;
    assert_true(m->all.responses > 1000);
    assert_true(m->by_fault[RAD__LOAD_RESET] > 3 * m->all.issued * 2 / 100); /* those beside it, too */
    assert_true(m->connections >= m->all.issued / 50);
    load_trial_end(&t);
}

static void arrivals_have_closed_forms(void **state)
{
    (void)state;
    struct rad__load_stage stages[] = {{10 * S, 100000, 100000}, {10 * S, 100000, 300000}, {10 * S, 300000, 0}};
    struct rad__load_schedule schedule = {.model = RAD__LOAD_OPEN, .stage_count = 3, .stages = stages};
    rad__load_arrivals a = rad__load_arrivals_begin(&schedule);
    uint64_t at, last = 0, count = 0, in_stage[3] = {0};
    for (; rad__load_arrivals_next(&a, &at); count++) {
        assert_true(at >= last);
        if (count < 1000) assert_int_equal(at, count * 10 * MS);
        in_stage[at < 10 * S ? 0 : at < 20 * S ? 1 : 2]++;
        last = at;
    }
    assert_int_equal(in_stage[0], 1000);
    assert_int_equal(in_stage[1], 2000);
    assert_int_equal(in_stage[2], 1500);
    assert_int_equal(count, 4500);
}

static void curves_and_stalls(void **state)
{
    (void)state;
    struct rad__load_point points[] = {{0, 100}, {500000, 200}, {1000000, 1000}};
    struct rad__load_curve curve = {3, points};
    assert_int_equal(rad__load_curve_at(&curve, 0), 100);
    assert_int_equal(rad__load_curve_at(&curve, 250000), 150);
    assert_int_equal(rad__load_curve_at(&curve, 500000), 200);
    assert_int_equal(rad__load_curve_at(&curve, 750000), 600);
    assert_int_equal(rad__load_curve_at(&curve, 999999), 999);
    assert_int_equal(rad__load_through_stalls(5, 3, 0, 0), 8);
    assert_int_equal(rad__load_through_stalls(5, 3, 10, 1), 8);
    assert_int_equal(rad__load_through_stalls(5, 4, 10, 1), 10);
    assert_int_equal(rad__load_through_stalls(5, 5, 10, 1), 11);
    assert_int_equal(rad__load_through_stalls(9, 1, 10, 1), 11);
    assert_int_equal(rad__load_through_stalls(0, 30, 10, 1), 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decision_6_xorshift_vectors),
        cmocka_unit_test(draws_belong_to_their_key),
        cmocka_unit_test(a_run_does_what_it_should),
        cmocka_unit_test(must_hold_1_equal_seeds_equal_logs),
        cmocka_unit_test(decision_1_idle_ticks_cost_nothing),
        cmocka_unit_test(decision_2_an_answer_beats_its_timeout),
        cmocka_unit_test(decision_2_inputs_are_sorted),
        cmocka_unit_test(decision_3_cohorts),
        cmocka_unit_test(decision_3_work_is_for_those_who_are_ready),
        cmocka_unit_test(decision_4_late_answers_are_told_apart),
        cmocka_unit_test(decision_5_a_full_queue_pauses_and_goes_on),
        cmocka_unit_test(decision_5_an_exhausted_pool_is_tried_again),
        cmocka_unit_test(decision_5_a_full_log_ends_the_run),
        cmocka_unit_test(decision_5_a_paused_turn_activates_nobody),
        cmocka_unit_test(decision_8_one_warning_for_each_long_wait),
        cmocka_unit_test(decision_10_arrivals_know_their_time),
        cmocka_unit_test(decision_10_waiting_arrivals_are_blocked),
        cmocka_unit_test(decision_11_an_assertion_ends_the_run),
        cmocka_unit_test(decision_11_without_data_nothing_holds),
        cmocka_unit_test(schedules_are_followed),
        cmocka_unit_test(iterations_end_a_run),
        cmocka_unit_test(what_is_under_way_may_finish),
        cmocka_unit_test(warming_up_is_not_measured),
        cmocka_unit_test(requests_are_drawn_by_weight),
        cmocka_unit_test(refused_connections),
        cmocka_unit_test(streams_end_with_their_connection),
        cmocka_unit_test(arrivals_have_closed_forms),
        cmocka_unit_test(curves_and_stalls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
