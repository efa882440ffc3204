/* test_step.c — snapshots and steps: whoever goes on from a copy writes what the run itself writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load/replay/stepper.h"
#include "load/scheduler/snapshot.h"
#include "load_support.h"

#include <string.h>

static void busy(load_scene *scene)
{
    load_scene_make(scene, 8, 1);
    scene->s.simulated.reset_ppm = 50000;
    scene->s.simulated.loss_ppm = 50000;
    scene->s.simulated.late_ns = 20 * MS;
    scene->s.simulated.latency.count = 2;
    scene->latency[0] = (struct rad__load_point){0, MS};
    scene->latency[1] = (struct rad__load_point){1000000, 40 * MS};
    scene->requests[0].timeout_ns = 30 * MS;
    scene->targets[0].max_connections = 5;
    scene->targets[0].requests_per_connection = 7;
    scene->s.pause = RAD__LOAD_RANDOM_PAUSE;
    scene->s.pause_high_ns = 10 * MS;
    scene->s.limits.max_events = 6;
    scene->s.limits.warn_ticks = 20;
    scene->s.drain_ns = 10 * MS;
}

struct rest {
    rad_bytes bytes; /* records, one after the other */
};

static void collect(void *context, const uint8_t *record, size_t size)
{
    struct rest *rest = context;
    rad__bytes_put(&rest->bytes, record, size);
}

static int discard(void *context, const void *data, size_t size, rad_error *error)
{
    (void)context;
    (void)data;
    (void)size;
    (void)error;
    return 0;
}

static void to_the_end(rad__load_replayer *r)
{
    rad_error error = {0};
    int got;
    while ((got = rad__load_replayer_step(r, &error)) == 1) {
    }
    if (got != 0) fail_msg("%s", error.text);
    assert_true(rad__load_scheduler_over(&r->scheduler));
}

/* At every 7th turn: a copy goes on to the end, then the run itself does; both write the same. */
static void a_snapshot_goes_on_as_the_run_does(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        load_scene scene;
        load_trial t;
        rad_error error = {0};
        busy(&scene);
        if (open) {
            scene.s.schedule.model = RAD__LOAD_OPEN;
            scene.stages[0].from = scene.stages[0].to = 300 * 1000;
        }
        load_trial_begin(&t, &scene.s, 11);
        load_trial_run(&t);
        rad__load_log_reader from = load_reader(&t.file);
        for (uint32_t at = 0; at < 200; at += 7) {
            struct rest first = {{0}}, second = {{0}};
            rad__load_replayer r;
            rad__load_scheduler copy;
            assert_int_equal(rad__load_replayer_open(&r, &from, &scene.s, 0, discard, NULL, &error), 0);
            for (uint32_t i = 0; i < at; i++) assert_int_equal(rad__load_replayer_step(&r, &error), 1);
            assert_true(rad__load_scheduler_copy(&copy, &r.scheduler, &r.log));
            assert_null(rad__load_scheduler_wrong(&copy));
            rad__load_log_reader reader = r.reader;
            uint64_t now = r.now_ns;
            r.log.tap = collect;
            r.log.tap_context = &first;
            to_the_end(&r);
            rad__load_scheduler_close(&r.scheduler);
            r.scheduler = copy;
            r.reader = reader;
            r.now_ns = now;
            r.log.tap_context = &second;
            to_the_end(&r);
            assert_int_equal(first.bytes.size, second.bytes.size);
            assert_memory_equal(first.bytes.data, second.bytes.data, first.bytes.size);
            assert_true(first.bytes.size > 100);
            rad__load_replayer_close(&r);
            rad__bytes_free(&first.bytes);
            rad__bytes_free(&second.bytes);
        }
        load_trial_end(&t);
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static void go(rad__load_stepper *s, uint64_t turn)
{
    rad_error error = {0};
    if (rad__load_stepper_go(s, turn, &error) != 0) fail_msg("%s", error.text);
}

static void state_of(const rad__load_stepper *s, rad_bytes *to)
{
    to->size = 0;
    rad__load_stepper_describe(s, to);
    rad__bytes_put(to, s->records.data, s->records.size);
    rad__bytes_put(to, "", 1);
}

/* A turn looks the same from wherever one comes to it. */
static void forward_and_back(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    static rad__load_stepper s, straight;
    rad_error error = {0};
    rad_bytes one = {0}, other = {0};
    busy(&scene);
    scene.s.limits.max_events = 1000;
    load_trial_begin(&t, &scene.s, 12);
    load_trial_run(&t);
    rad__load_log_reader from = load_reader(&t.file);
    assert_int_equal(rad__load_stepper_begin(&s, &from, &scene.s, 0, &error), 0);
    assert_int_equal(rad__load_stepper_begin(&straight, &from, &scene.s, 0, &error), 0);
    go(&s, UINT64_MAX);
    uint64_t last = s.r.turns;
    assert_true(s.ended && last > 300);
    for (uint64_t turn = 1; turn <= last; turn += 13) {
        go(&straight, turn);
        go(&s, last - turn / 2);
        go(&s, turn);
        state_of(&s, &one);
        state_of(&straight, &other);
        assert_int_equal(s.r.turns, turn);
        assert_string_equal(one.data, other.data);
    }
    go(&s, 0);
    assert_int_equal(s.r.scheduler.user_count, 0);
    rad__load_stepper_end(&s);
    rad__load_stepper_end(&straight);
    rad__bytes_free(&one);
    rad__bytes_free(&other);
    load_trial_end(&t);
}

/* A run that ends because its log is full ends in the same turn, however often one goes back before. */
static void a_full_log_is_full_once(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    static rad__load_stepper s;
    rad_error error = {0};
    load_scene_make(&scene, 100, 100);
    scene.s.limits.max_log_bytes = 200000;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    rad__load_log_reader from = load_reader(&t.file);
    assert_int_equal(rad__load_stepper_begin(&s, &from, &scene.s, 0, &error), 0);
    for (int i = 0; i < 5; i++) {
        go(&s, UINT64_MAX);
        assert_int_equal(s.r.turns, t.scheduler.counters.ticks);
        assert_int_equal(s.r.scheduler.exhausted, RAD__LOAD_LOG_FULL);
        go(&s, 40 + (uint64_t)i);
        assert_false(s.ended);
    }
    rad__load_stepper_end(&s);
    load_trial_end(&t);
}

/* After an input that cannot be there is no way on, but one back. */
static void no_way_on_from_half_a_turn(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    static rad__load_stepper s;
    rad_error error = {0};
    load_scene_make(&scene, 3, 1);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    rad__load_log_reader from = load_reader(&t.file);
    scene.s.users = 2; /* not the scenario of this log: the third user does not exist */
    scene.stages[0].from = scene.stages[0].to = 2;
    assert_int_equal(rad__load_stepper_begin(&s, &from, &scene.s, 0, &error), 0);
    assert_int_equal(rad__load_stepper_go(&s, UINT64_MAX, &error), RAD_EINPUT);
    uint64_t there = s.r.turns;
    assert_true(s.ended);
    assert_int_equal(rad__load_stepper_go(&s, UINT64_MAX, &error), 0);
    assert_int_equal(s.r.turns, there);
    go(&s, 1);
    assert_int_equal(s.r.scheduler.user_count, 2);
    assert_int_equal(rad__load_stepper_go(&s, UINT64_MAX, &error), RAD_EINPUT);
    rad__load_stepper_end(&s);
    load_trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_goes_on_as_the_run_does),
        cmocka_unit_test(forward_and_back),
        cmocka_unit_test(a_full_log_is_full_once),
        cmocka_unit_test(no_way_on_from_half_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
