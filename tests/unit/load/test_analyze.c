/* test_analyze.c — statistics of a log are those of the run that wrote it, and a log that cannot be is told so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "report_support.h"

#include <stdio.h>
#include <string.h>

/* ---- Equal to the run ------------------------------------------------------------------------------------ */

static void run_and_compare(const rad__load_scenario *s, uint64_t seed)
{
    load_trial t;
    load_trial_begin(&t, s, seed);
    load_trial_run(&t);
    rad_load_result *run = report_of_run(&t), *log = report_of_log(&t.file, s, NULL);
    report_same(run, log);
    const struct rad__load_tally *a = &log->metrics.all;
    assert_true(a->issued > 0);
    assert_int_equal(a->issued, a->responses + a->errors + a->timeouts + a->cancelled);
    const struct rad__load_tally *m = &log->metrics.measured;
    assert_int_equal(m->issued, m->responses + m->errors + m->timeouts + m->cancelled);
    assert_int_equal(log->end, RAD_LOAD_DONE);
    assert_false(log->cut_off);
    assert_int_equal(log->log_bytes, t.file.size);
    assert_true(log->connections_most > 0 && log->connections_most <= log->metrics.connections);
    assert_true(log->connections_most <= s->targets[0].max_connections);
    assert_true(log->connections_most <= s->users);
    rad_load_result_free(run);
    rad_load_result_free(log);
    load_trial_end(&t);
}

static void must_hold_3_analysis_equals_the_run(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_make(&scene, 3, 1);
    run_and_compare(&scene.s, 1);
    load_scene_make(&scene, 1000, 3);
    run_and_compare(&scene.s, 2);
    load_scene_open(&scene, 50, 400, 3);
    run_and_compare(&scene.s, 3);
    report_scene_rich(&scene, 200, 5);
    run_and_compare(&scene.s, 4);
    report_scene_rich_open(&scene, 20, 300, 4);
    run_and_compare(&scene.s, 5);
    scene.s.schedule.drop = true;
    run_and_compare(&scene.s, 6);
    scene.s.drain_ns = 1 * S;
    run_and_compare(&scene.s, 7);
    report_scene_rich(&scene, 40, 3);
    scene.targets[0].max_connections = 10; /* the pool is exhausted now and then */
    run_and_compare(&scene.s, 8);
    scene.targets[0].http2 = true;
    scene.targets[0].requests_per_connection = 5;
    run_and_compare(&scene.s, 9);
}

static void shards_are_added(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file;
    for (int open = 0; open < 2; open++) {
        if (open)
            report_scene_rich_open(&scene, 30, 200, 3);
        else
            report_scene_rich(&scene, 31, 3);
        rad_load_result *run = report_empty(&scene.s);
        report_shards(&scene.s, 11, 3, &file, run);
        rad_load_result *log = report_of_log(&file, &scene.s, NULL);
        report_same(run, log);
        assert_int_equal(log->shards, 3);
        assert_int_equal(log->metrics.spawned, scene.s.users);
        rad_load_result_free(run);
        rad_load_result_free(log);
        rad__bytes_free(&file);
    }
}

/* ---- Ends ------------------------------------------------------------------------------------------------ */

static void how_a_run_ended_is_in_its_log(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    report_scene_rich(&scene, 20, 5);
    scene.assertions[0].abort = true; /* p99 below 100 ms: does not hold */
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    rad_load_result *r = report_of_log(&t.file, &scene.s, NULL);
    assert_int_equal(r->end, RAD_LOAD_ABORTED);
    rad_load_facts facts;
    rad_load_result_facts(r, &facts);
    assert_true(facts.duration_ns < 5 * S);
    assert_int_equal(facts.end, RAD_LOAD_ABORTED);
    assert_int_equal(facts.assertions, 4);
    assert_int_equal(facts.assertions_failed, 2);
    rad_load_result_free(r);
    load_trial_end(&t);

    report_scene_rich(&scene, 20, 5);
    scene.s.limits.max_log_bytes = 10000;
    scene.s.limits.flush_ticks = 10;
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    r = report_of_log(&t.file, &scene.s, NULL);
    assert_int_equal(r->end, RAD_LOAD_EXHAUSTED);
    rad_load_result_free(r);
    load_trial_end(&t);
}

static void a_log_that_was_cut_off_is_analysed_as_far_as_it_goes(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    report_scene_rich(&scene, 200, 5);
    scene.s.limits.flush_ticks = 100;
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    rad_load_result *whole = report_of_log(&t.file, &scene.s, NULL);
    t.file.size = t.file.size * 2 / 3;
    rad_load_result *part = report_of_log(&t.file, &scene.s, NULL);
    const struct rad__load_tally *a = &part->metrics.all;
    assert_true(part->cut_off);
    assert_true(part->under_way > 0);
    assert_true(a->issued < whole->metrics.all.issued && a->issued > 0);
    assert_int_equal(a->issued, a->responses + a->errors + a->timeouts + a->cancelled + part->under_way);
    rad_load_result *chosen = report_of_log(&t.file, &scene.s, "kind == 'under_way'");
    assert_int_equal(chosen->metrics.all.issued, part->under_way);
    rad_load_result_free(whole);
    rad_load_result_free(part);
    rad_load_result_free(chosen);
    load_trial_end(&t);
}

/* ---- What cannot have happened --------------------------------------------------------------------------- */

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

struct story {
    rad__load_log log;
    rad_bytes file;
};

static void story_begin(struct story *s)
{
    struct rad__load_log_header header = {.tick_ns = MS, .shards = 1, .level = 1, .engine = 1, .seed = 1};
    struct rad__load_turn_record turn = {.passed_ns = MS};
    *s = (struct story){.file = {0}};
    rad__load_log_open(&s->log, keep, &s->file);
    assert_int_equal(rad__load_log_begin(&s->log, header, "", ""), 0);
    rad__load_log_turn(&s->log, &turn);
}

static void tell(struct story *s, rad__load_event e)
{
    rad__load_log_event(&s->log, &e);
}

/* Has to be refused, at this record, because of this. */
static void story_is_refused(struct story *s, const rad__load_scenario *scenario, unsigned record, const char *why)
{
    rad_error error;
    char place[32];
    assert_int_equal(rad__load_log_end(&s->log), 0);
    report_refused(&s->file, scenario, &error);
    snprintf(place, sizeof place, ": record %u (block 1): ", record);
    if (strstr(error.text, why) == NULL || strstr(error.text, place) == NULL)
        fail_msg("expected \"%s\" at %s got: %s", why, place, error.text);
    rad__load_log_close(&s->log);
    rad__bytes_free(&s->file);
}

#define SPAWN                                                                                                          \
    (rad__load_event)                                                                                                  \
    {                                                                                                                  \
        .kind = RAD__LOAD_VU_SPAWNED                                                                                   \
    }
#define READY                                                                                                          \
    (rad__load_event)                                                                                                  \
    {                                                                                                                  \
        .kind = RAD__LOAD_VU_READY                                                                                     \
    }
#define ISSUE                                                                                                          \
    (rad__load_event)                                                                                                  \
    {                                                                                                                  \
        .kind = RAD__LOAD_ISSUED, .request = 1, .flags = RAD__LOAD_MEASURED                                            \
    }
#define ANSWER                                                                                                         \
    (rad__load_event)                                                                                                  \
    {                                                                                                                  \
        .kind = RAD__LOAD_RESPONSE, .request = 1, .status = 200, .flags = RAD__LOAD_MEASURED                           \
    }
#define OVER                                                                                                           \
    (rad__load_event)                                                                                                  \
    {                                                                                                                  \
        .kind = RAD__LOAD_PHASE, .count = RAD__LOAD_OVER                                                               \
    }

/* Events one after the other; the last of them is against the rules. */
static void refused(const rad__load_scenario *s, const rad__load_event *events, unsigned count, const char *why)
{
    struct story story;
    story_begin(&story);
    for (unsigned i = 0; i < count; i++) tell(&story, events[i]);
    story_is_refused(&story, s, count + 1, why);
}

#define REFUSED(why, ...)                                                                                              \
    do {                                                                                                               \
        const rad__load_event events_[] = {__VA_ARGS__};                                                               \
        refused(&scene.s, events_, sizeof events_ / sizeof *events_, why);                                             \
    } while (0)

static void users_come_before_what_they_do(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_make(&scene, 2, 1);
    REFUSED("not spawned", READY);
    REFUSED("out of turn", {.kind = RAD__LOAD_VU_SPAWNED, .vu = 1});
    REFUSED("out of turn", SPAWN, SPAWN);
    REFUSED("more users", SPAWN, {.kind = RAD__LOAD_VU_SPAWNED, .vu = 1}, {.kind = RAD__LOAD_VU_SPAWNED, .vu = 2});
    REFUSED("twice", SPAWN, READY, READY);
    REFUSED("not ready", SPAWN, ISSUE);
    REFUSED("complete twice", SPAWN, READY, {.kind = RAD__LOAD_VU_COMPLETE}, {.kind = RAD__LOAD_VU_COMPLETE});
    REFUSED("was complete", SPAWN, {.kind = RAD__LOAD_VU_COMPLETE}, READY);
    REFUSED("was complete", SPAWN, READY, {.kind = RAD__LOAD_VU_COMPLETE}, ISSUE);
    REFUSED("while its request is in flight", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_VU_COMPLETE});
}

static void requests_end_once_and_as_they_began(void **state)
{
    (void)state;
    load_scene scene;
    report_scene_rich(&scene, 2, 1);
    REFUSED("not in flight", SPAWN, READY, ANSWER);
    REFUSED("not in flight", SPAWN, READY, ISSUE, ANSWER, ANSWER);
    REFUSED("not in flight", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_TIMEOUT, .request = 2, .flags = 1});
    REFUSED("another of the user", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_ISSUED, .request = 2, .flags = 1});
    REFUSED("another number", SPAWN, READY, {.kind = RAD__LOAD_ISSUED, .request = 2});
    REFUSED("as another one", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_ERROR, .request = 1, .what = 1, .flags = 1});
    REFUSED("warm-up", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_CANCELLED, .request = 1});
    REFUSED("fault", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_ERROR, .request = 1, .flags = 1, .fault = 99});
    REFUSED("does not have", SPAWN, READY, {.kind = RAD__LOAD_ISSUED, .request = 1, .what = 3});
    REFUSED("does not have", SPAWN, READY, {.kind = RAD__LOAD_ISSUED, .request = 1, .target = 1});
    REFUSED("late response to a request that is in flight", SPAWN, READY, ISSUE,
            {.kind = RAD__LOAD_LATE, .request = 1});
    REFUSED("never made", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_LATE, .request = 2});
}

static void connections_are_asked_for(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_make(&scene, 2, 1);
    scene.targets[1] = scene.targets[0];
    scene.s.target_count = 2;
    REFUSED("was not opened", {.kind = RAD__LOAD_CONN_ESTABLISHED});
    REFUSED("none can have", SPAWN, READY, {.kind = RAD__LOAD_ISSUED, .request = 1, .conn = 4});
    REFUSED("another target", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_CONN_ESTABLISHED, .target = 1});
    REFUSED("another target", SPAWN, READY, ISSUE, ANSWER, {.kind = RAD__LOAD_ISSUED, .request = 2, .target = 1});
    REFUSED("closed before", SPAWN, READY, ISSUE, {.kind = RAD__LOAD_CONN_CLOSED}, {.kind = RAD__LOAD_CONN_CLOSED});
}

static void nothing_follows_the_end(void **state)
{
    (void)state;
    load_scene scene;
    load_scene_make(&scene, 2, 1);
    REFUSED("while requests are in flight", SPAWN, READY, ISSUE, OVER);
    REFUSED("after the run is over", OVER, SPAWN);
    REFUSED("out of turn", {.kind = RAD__LOAD_PHASE, .count = RAD__LOAD_DRAINING},
            {.kind = RAD__LOAD_PHASE, .count = RAD__LOAD_DRAINING});
    REFUSED("after the run is over", OVER, OVER);
    REFUSED("out of turn", {.kind = RAD__LOAD_PHASE, .count = 3});
    REFUSED("after the time was up", SPAWN, READY, {.kind = RAD__LOAD_PHASE, .count = RAD__LOAD_DRAINING}, ISSUE);
    REFUSED("an assertion that", {.kind = RAD__LOAD_ASSERTION_PASSED});
    REFUSED("fault", {.kind = RAD__LOAD_EXHAUSTED, .fault = 99});

    struct story story;
    rad_error error;
    story_begin(&story);
    tell(&story, SPAWN);
    assert_int_equal(rad__load_log_end(&story.log), 0);
    report_refused(&story.file, &scene.s, &error);
    assert_string_equal(error.text, "test.log: it ends after record 2, but the run is not over");
    rad__load_log_close(&story.log);
    rad__bytes_free(&story.file);
    struct rad__load_turn_record turn = {.passed_ns = MS};
    story_begin(&story);
    tell(&story, OVER);
    rad__load_log_turn(&story.log, &turn);
    story_is_refused(&story, &scene.s, 3, "a turn after the run is over");
    story_begin(&story);
    turn.passed_ns = UINT64_MAX / 2;
    rad__load_log_turn(&story.log, &turn);
    story_is_refused(&story, &scene.s, 2, "time runs over");
}

/* ---- Damage ---------------------------------------------------------------------------------------------- */

static void damage_is_told_with_its_block(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad_error error;
    report_scene_rich(&scene, 50, 3);
    scene.s.limits.flush_ticks = 100;
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    uint32_t header = 64 + 1 + 1 + 8;
    for (uint32_t at = header; at < t.file.size; at += 97) {
        t.file.data[at] ^= 4;
        report_refused(&t.file, &scene.s, &error);
        assert_non_null(strstr(error.text, "test.log: block "));
        assert_non_null(strstr(error.text, "record "));
        t.file.data[at] ^= 4;
    }
    load_trial_end(&t);
}

/* The fields of a record, with a number in one of them that does not fit, with one byte less and with one more. */
static void records_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t kind, fields, narrow; /* how many; one that has 32 bits */
    } KINDS[] = {{RAD__LOAD_ISSUED, 8, 4}, {RAD__LOAD_RESPONSE, 11, 8}, {RAD__LOAD_ERROR, 5, 2}};
    static const char *const WHY[] = {"too large for its field", "it ends before its last field",
                                      "it is longer than its fields"};
    load_scene scene;
    load_scene_make(&scene, 2, 1);
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t wrong = 0; wrong < 3; wrong++) {
            struct story story;
            rad_bytes fields = {0};
            for (uint32_t i = 0; i < KINDS[k].fields; i++)
                rad__bytes_put_varint(&fields, wrong == 0 && i == KINDS[k].narrow ? UINT64_C(1) << 32 : 0);
            if (wrong == 1) fields.size--;
            if (wrong == 2) rad__bytes_put(&fields, "", 1);
            struct rad__load_raw raw = {KINDS[k].kind, fields.size, fields.data};
            story_begin(&story);
            rad__load_log_raw(&story.log, &raw);
            story_is_refused(&story, &scene.s, 2, WHY[wrong]);
            rad__bytes_free(&fields);
        }
    }
}

static void a_log_of_inputs_only_is_refused(void **state)
{
    (void)state;
    load_scene scene;
    rad_error error;
    struct story story;
    load_scene_make(&scene, 2, 1);
    story_begin(&story);
    struct rad__load_log_header header = {.tick_ns = MS, .shards = 1, .level = 1, .stripped = 1};
    rad__load_log_close(&story.log);
    rad__bytes_free(&story.file);
    rad__load_log_open(&story.log, keep, &story.file);
    assert_int_equal(rad__load_log_begin(&story.log, header, "", ""), 0);
    assert_int_equal(rad__load_log_end(&story.log), 0);
    report_refused(&story.file, &scene.s, &error);
    assert_non_null(strstr(error.text, "only inputs"));
    rad__load_log_close(&story.log);
    rad__bytes_free(&story.file);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    report_scene_rich(&scene, 30, 2);
    load_trial_begin(&t, &scene.s, 3);
    load_trial_run(&t);
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        rad_error error = {0};
        rad_load_result *r = report_empty(&scene.s);
        rad__load_log_reader reader = load_reader(&t.file);
        rad__load_filter f = {0};
        rad__alloc_fail_at(n);
        int result = rad__load_filter_parse(&f, &r->scenario, "status == 200 || !(vu < 3)", &error);
        if (result == 0) result = rad__load_analyze(r, &reader, &f, &error);
        rad__alloc_fail_at(0);
        done = result == 0;
        if (!done) {
            assert_int_equal(result, RAD_ENOMEM);
            assert_int_equal(error.code, RAD_ENOMEM);
        }
        rad__load_filter_free(&f);
        rad_load_result_free(r);
        assert_true(n < 10000);
    }
    load_trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(must_hold_3_analysis_equals_the_run),
        cmocka_unit_test(shards_are_added),
        cmocka_unit_test(how_a_run_ended_is_in_its_log),
        cmocka_unit_test(a_log_that_was_cut_off_is_analysed_as_far_as_it_goes),
        cmocka_unit_test(users_come_before_what_they_do),
        cmocka_unit_test(requests_end_once_and_as_they_began),
        cmocka_unit_test(connections_are_asked_for),
        cmocka_unit_test(nothing_follows_the_end),
        cmocka_unit_test(damage_is_told_with_its_block),
        cmocka_unit_test(records_that_do_not_fit_are_refused),
        cmocka_unit_test(a_log_of_inputs_only_is_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
