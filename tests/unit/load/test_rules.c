/* test_rules.c — the load tester's scheduler, its pool and its log: what machine-made mutants showed to be worth a
 * test of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_support.h"
#include "os/process.h"

#include <string.h>

static void run(load_trial *t, load_scene *scene, uint64_t seed)
{
    load_trial_begin(t, &scene->s, seed);
    while (!rad__load_scheduler_over(&t->scheduler)) load_trial_turn(t);
    rad__load_log_end(&t->log);
    load_verified(t);
}

/* ---- Two decisions of the contract ------------------------------------------------------------------------ */

struct move {
    rad__load_scheduler *scheduler;
    uint32_t from, to;
};

static int try_move(void *context)
{
    const struct move *m = context;
    m->scheduler->users[0].state = (uint8_t)m->from;
    rad__load_move(m->scheduler, 0, (enum rad__load_state)m->to);
    return 0;
}

/* Six transitions; whatever else is a bug of raddle: exit status 4. */
static void decision_7_only_six_transitions(void **state)
{
    (void)state;
    static const struct move LEGAL[] = {
        {NULL, RAD__LOAD_SPAWNED, RAD__LOAD_READY},     {NULL, RAD__LOAD_READY, RAD__LOAD_EXECUTING},
        {NULL, RAD__LOAD_EXECUTING, RAD__LOAD_WAITING}, {NULL, RAD__LOAD_WAITING, RAD__LOAD_READY},
        {NULL, RAD__LOAD_READY, RAD__LOAD_COMPLETE},    {NULL, RAD__LOAD_WAITING, RAD__LOAD_COMPLETE}};
    load_scene scene;
    load_trial t;
    rad_error error = {0};
    load_scene_make(&scene, 1, 1);
    load_trial_begin(&t, &scene.s, 1);
    for (uint32_t from = 0; from < 5; from++) {
        for (uint32_t to = 0; to < 5; to++) {
            struct move m = {&t.scheduler, from, to};
            bool legal = false;
            int pid;
            rad_os_exit end;
            for (uint32_t i = 0; i < 6; i++) legal |= LEGAL[i].from == from && LEGAL[i].to == to;
            assert_int_equal(rad__os_fork(&pid, &m, try_move, &error), 0);
            assert_int_equal(rad__os_wait(pid, true, &end, &error), 1);
            assert_int_equal(end.signal, 0);
            assert_int_equal(end.status, legal ? 0 : 4);
        }
    }
    load_trial_end(&t);
}

/* Statistics are told at the end, and are in no record: outputs are of these kinds, phases say how it ended. */
static void decision_9_statistics_stay_out_of_the_log(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_event phases[2];
    struct rad__load_raw raw;
    rad_error error = {0};
    load_scene_make(&scene, 5, 2);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    assert_true(t.scheduler.counters.ticks > 0 && t.scheduler.counters.cohorts > 0 &&
                t.scheduler.counters.activated > 0);
    rad__load_log_reader r = load_reader(&t.file);
    while (rad__load_log_next(&r, &raw, &error) == 1)
        assert_true(raw.kind <= RAD__LOAD_CONN_CLOSED || raw.kind == RAD__LOAD_PHASE ||
                    raw.kind >= RAD__LOAD_RECORD_TURN);
    assert_int_equal(load_events(&t, RAD__LOAD_PHASE, phases, 2), 1);
    assert_int_equal(phases[0].count, RAD__LOAD_OVER);
    assert_int_equal(phases[0].fault, RAD__LOAD_OK);
    load_trial_end(&t);
}

/* ---- Users ----------------------------------------------------------------------------------------------- */

static void targets_are_drawn_by_weight(void **state)
{
    (void)state;
    static rad__load_event events[20000];
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 50, 5);
    scene.s.target_count = 2;
    scene.targets[1] = scene.targets[0];
    scene.targets[0].weight = 3000000;
    run(&t, &scene, 5);
    uint32_t count = load_events(&t, RAD__LOAD_ISSUED, events, 20000), second = 0;
    for (uint32_t i = 0; i < count; i++) second += events[i].target;
    assert_in_range(count, 10000, 13000);
    assert_in_range(second * 1000 / count, 230, 270);
    load_trial_end(&t);
}

static void users_begin_apart(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 100, 2);
    scene.s.jitter_ns = 1000 * MS;
    load_trial_begin(&t, &scene.s, 1);
    uint64_t at_half = 0;
    while (t.scheduler.now_ns < 500 * MS) {
        load_trial_turn(&t);
        at_half = 0;
        for (uint32_t i = 0; i < t.scheduler.user_count; i++) at_half += t.scheduler.users[i].request > 0;
    }
    assert_in_range(at_half, 30, 70);
    load_trial_end(&t);
}

/* Who thinks when time is up is done; only answers are waited for. */
static void draining_waits_for_answers_only(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 20, 1);
    scene.s.pause = RAD__LOAD_CONSTANT_PAUSE;
    scene.s.pause_low_ns = 3000 * MS;
    scene.s.drain_ns = 5 * S;
    scene.s.jitter_ns = 1100 * MS; /* some have not even begun */
    run(&t, &scene, 1);
    assert_true(t.scheduler.now_ns < 1100 * MS);
    assert_int_equal(t.scheduler.metrics.completed, 20);
    load_trial_end(&t);
}

/* Some are complete when time is up, some are under way. */
static void draining_leaves_those_who_are_done(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 20, 1);
    scene.s.iterations = 1;
    scene.s.drain_ns = 1 * S;
    scene.s.simulated.loss_ppm = 500000;
    scene.s.limits.timeout_ns = 1500 * MS;
    run(&t, &scene, 1);
    assert_int_equal(t.scheduler.metrics.completed, 20);
    assert_true(t.scheduler.metrics.all.timeouts > 3 && t.scheduler.metrics.all.responses > 3);
    load_trial_end(&t);
}

static void thinking_is_between_the_requests_of_an_arrival(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 50, 10, 2);
    scene.s.step_count = 2;
    scene.steps[1] = (struct rad__load_step){0, 1};
    scene.s.pause = RAD__LOAD_CONSTANT_PAUSE;
    scene.s.pause_low_ns = 500 * MS;
    scene.s.drain_ns = 2 * S;
    run(&t, &scene, 1);
    /* Those that arrived early enough think and ask again; nobody thinks after the last. */
    assert_int_equal(t.scheduler.metrics.arrivals, 20);
    assert_in_range(t.scheduler.metrics.all.issued, 33, 37);
    assert_true(t.scheduler.now_ns < 2600 * MS);
    load_trial_end(&t);
}

static void failures_count_in_a_row(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 50, 1);
    scene.s.duration_ns = 0;
    scene.s.iterations = 20;
    scene.targets[0].requests_per_connection = 1;
    scene.s.simulated.refuse_ppm = 100000;
    scene.s.limits.give_up_after = 3;
    run(&t, &scene, 1);
    assert_in_range(t.scheduler.metrics.all.errors, 60, 150);
    assert_true(t.scheduler.metrics.gave_up < 5); /* without starting again: a third of them */
    load_trial_end(&t);
}

static void a_run_whose_users_gave_up_is_over(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_open(&scene, 3, 100, 60);
    scene.s.simulated.refuse_ppm = 1000000;
    scene.s.limits.give_up_after = 2;
    run(&t, &scene, 1);
    assert_int_equal(t.scheduler.metrics.gave_up, 3);
    assert_true(t.scheduler.now_ns < S);
    uint64_t due = t.scheduler.now_ns / (10 * MS); /* by then */
    assert_in_range(t.scheduler.metrics.arrivals + t.scheduler.metrics.dropped, due - 1, due + 1);
    load_trial_end(&t);
}

static void connections_are_used_so_often(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 1, 1);
    scene.s.duration_ns = 0;
    scene.s.iterations = 20;
    scene.targets[0].requests_per_connection = 5;
    run(&t, &scene, 1);
    assert_int_equal(t.scheduler.metrics.connections, 4);
    assert_int_equal(t.scheduler.metrics.connections_closed, 4);
    load_trial_end(&t);
}

static void an_interrupted_run_is_over(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad_error error = {0};
    load_scene_make(&scene, 3, 10);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_turn(&t);
    load_trial_turn(&t);
    rad__load_turn turn = {.now_ns = 7 * MS, .interrupted = true};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), 0);
    assert_true(rad__load_scheduler_over(&t.scheduler));
    assert_true(t.scheduler.interrupted);
    assert_int_equal(t.scheduler.metrics.all.cancelled, 3);
    rad__load_log_end(&t.log);
    load_verified(&t);
    load_trial_end(&t);
}

/* ---- Inputs that cannot be ------------------------------------------------------------------------------- */

static void refused(rad__load_input in, const char *because)
{
    load_scene scene;
    load_trial t;
    rad_error error = {0};
    load_scene_make(&scene, 2, 10);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_turn(&t);
    load_trial_turn(&t); /* both have request 1 under way */
    rad__load_turn turn = {.now_ns = 5 * MS, .inputs = &in, .input_count = 1};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), RAD_EINPUT);
    if (strstr(error.text, because) == NULL) fail_msg("%s", error.text);
    load_trial_end(&t);
}

static void inputs_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const rad__load_input good = {.vu = 1,
                                  .conn = 1,
                                  .kind = RAD__LOAD_IN_RESPONSE,
                                  .request = 1,
                                  .status = 200,
                                  .at_ns = 4 * MS,
                                  .sent_ns = 2 * MS};
    rad__load_input in = good;
    in.vu = 2;
    refused(in, "a user that does not exist");
    in = good;
    in.request = 2;
    refused(in, "a request that was not made");
    in = good;
    in.request = 0;
    refused(in, "no request");
    in = good;
    in.conn = 2;
    refused(in, "a connection that does not exist");
    in = good;
    in.kind = 6;
    refused(in, "no kind");
    in = good;
    in.kind = RAD__LOAD_IN_FAILED;
    refused(in, "without a fault");
    in = good;
    in.fault = RAD__LOAD_FAULT_COUNT;
    refused(in, "unknown fault");
    in = good;
    in.at_ns = 6 * MS;
    refused(in, "from the future");
    in = good;
    in.sent_ns = 5 * MS;
    refused(in, "from the future");
    in = good;
    in.first_ns = 5 * MS;
    refused(in, "from the future");
}

static void time_does_not_go_back(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad_error error = {0};
    load_scene_make(&scene, 2, 10);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_turn(&t);
    rad__load_turn turn = {.now_ns = t.scheduler.now_ns};
    assert_int_equal(rad__load_scheduler_turn(&t.scheduler, &turn, &error), RAD_EINPUT);
    load_trial_end(&t);
}

/* The validator that all other tests rely on. */
static void a_wrong_state_is_seen(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 3, 10);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_turn(&t);
    load_trial_turn(&t);
    assert_null(rad__load_scheduler_wrong(&t.scheduler));
    t.scheduler.users[1].waits = RAD__LOAD_FOR_NOTHING;
    assert_string_equal(rad__load_scheduler_wrong(&t.scheduler), "a user waits for nothing");
    t.scheduler.users[1].waits = RAD__LOAD_FOR_ANSWER;
    t.scheduler.metrics.all.issued++;
    assert_string_equal(rad__load_scheduler_wrong(&t.scheduler), "requests do not add up");
    t.scheduler.metrics.all.issued--;
    t.scheduler.pool.conns[0].state = RAD__LOAD_SHUT; /* with a request on it */
    assert_non_null(rad__load_scheduler_wrong(&t.scheduler));
    t.scheduler.pool.conns[0].state = RAD__LOAD_OPENING;
    assert_null(rad__load_scheduler_wrong(&t.scheduler));
    load_trial_end(&t);
}

/* ---- The log --------------------------------------------------------------------------------------------- */

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

static void header_refused(struct rad__load_log_header header, const char *because)
{
    rad__load_log log;
    rad__load_log_reader r;
    rad_bytes file = {0};
    rad_error error = {0};
    rad__load_log_open(&log, keep, &file);
    assert_int_equal(rad__load_log_begin(&log, header, "x", ""), 0);
    assert_int_equal(rad__load_log_read(&r, "log", file.data, file.size, &error), RAD_EINPUT);
    if (strstr(error.text, because) == NULL) fail_msg("%s", error.text);
    rad__load_log_close(&log);
    rad__bytes_free(&file);
}

static void headers_are_checked(void **state)
{
    (void)state;
    const struct rad__load_log_header good = {.seed = 1, .tick_ns = 1, .shards = 1, .level = 1, .engine = 1};
    struct rad__load_log_header h = good;
    h.shards = 0;
    header_refused(h, "number of shards");
    h = good;
    h.shards = 5000;
    header_refused(h, "number of shards");
    h = good;
    h.tick_ns = 0;
    header_refused(h, "tick of no length");
    h = good;
    h.level = 3;
    header_refused(h, "unknown level");
    h = good;
    h.stripped = 2;
    header_refused(h, "unknown kind of log");
}

static void a_stripped_log_has_inputs_only(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_log log;
    rad_bytes whole = {0}, file = {0};
    rad_error error = {0};
    struct rad__load_verdict verdict = {0};
    load_scene_make(&scene, 5, 1);
    run(&t, &scene, 1);
    rad__load_log_reader from = load_reader(&t.file), stripped;
    struct rad__load_log_header header = from.header;
    struct rad__load_raw raw;
    header.stripped = 1;
    rad__load_log_open(&log, keep, &file);
    assert_int_equal(rad__load_log_begin(&log, header, "", ""), 0);
    rad__load_log_event(&log, &(rad__load_event){.kind = RAD__LOAD_VU_SPAWNED}); /* no output is taken */
    while (rad__load_log_next(&from, &raw, &error) == 1)
        if (!rad__load_record_is_output(raw.kind)) rad__load_log_raw(&log, &raw);
    assert_int_equal(rad__load_log_end(&log), 0);
    assert_int_equal(rad__load_log_read(&stripped, "log", file.data, file.size, &error), 0);
    assert_int_equal(rad__load_regenerate(&stripped, &scene.s, keep, &whole, &verdict, NULL, &error), 0);
    assert_int_equal(whole.size, t.file.size);
    assert_memory_equal(whole.data, t.file.data, whole.size);
    rad__load_log_close(&log);
    rad__bytes_free(&whole);
    rad__bytes_free(&file);
    load_trial_end(&t);
}

static void records_that_are_cut_are_none(void **state)
{
    (void)state;
    rad_bytes b = {0};
    struct rad__load_raw raw;
    rad__load_event event = {.kind = RAD__LOAD_RESPONSE, .vu = 300, .request = 7, .status = 200, .service_ns = 1 << 20};
    rad__load_put_event(&b, &event);
    for (uint32_t size = 0; size < b.size; size++) {
        rad_reader r = rad__reader(b.data, size);
        assert_false(rad__load_get_raw(&r, &raw));
    }
    rad_reader r = rad__reader(b.data, b.size);
    assert_true(rad__load_get_raw(&r, &raw));
    rad__load_event back;
    assert_null(rad__load_get_event(&raw, &back));
    assert_memory_equal(&back, &event, sizeof event);
    raw.size--;
    assert_non_null(rad__load_get_event(&raw, &back));
    static const uint8_t NO_KIND[] = {11, 1, 0}, TOO_LONG[] = {0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0};
    r = rad__reader(NO_KIND, sizeof NO_KIND);
    assert_false(rad__load_get_raw(&r, &raw));
    r = rad__reader(TOO_LONG, sizeof TOO_LONG);
    assert_false(rad__load_get_raw(&r, &raw));
    rad__bytes_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decision_7_only_six_transitions),
        cmocka_unit_test(decision_9_statistics_stay_out_of_the_log),
        cmocka_unit_test(targets_are_drawn_by_weight),
        cmocka_unit_test(users_begin_apart),
        cmocka_unit_test(draining_waits_for_answers_only),
        cmocka_unit_test(draining_leaves_those_who_are_done),
        cmocka_unit_test(thinking_is_between_the_requests_of_an_arrival),
        cmocka_unit_test(failures_count_in_a_row),
        cmocka_unit_test(a_run_whose_users_gave_up_is_over),
        cmocka_unit_test(connections_are_used_so_often),
        cmocka_unit_test(an_interrupted_run_is_over),
        cmocka_unit_test(inputs_that_cannot_be_are_refused),
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(a_wrong_state_is_seen),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(a_stripped_log_has_inputs_only),
        cmocka_unit_test(records_that_are_cut_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
