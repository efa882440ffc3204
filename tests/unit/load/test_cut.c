/* test_cut.c — logs of runs that were killed: what is on the disk by then, and what can be said of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report_support.h"

#include <string.h>

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

/* ---- By time --------------------------------------------------------------------------------------------- */

/* A run on a real server whose turns are given by hand. */
struct live_run {
    rad__load_scheduler scheduler;
    rad__load_log log;
    rad_bytes file;
};

static void live_open(struct live_run *l, const rad__load_scenario *s, uint32_t version, bool logical)
{
    rad_error error = {0};
    struct rad__load_log_header header = {.version = version,
                                          .seed = 1,
                                          .tick_ns = s->tick_ns,
                                          .shards = 1,
                                          .level = logical ? RAD__LOAD_LEVEL_SIMULATED : RAD__LOAD_LEVEL_RECORDED,
                                          .engine = RAD__LOAD_ENGINE_EPOLL};
    *l = (struct live_run){.file = {0}};
    rad__load_log_open(&l->log, keep, &l->file);
    assert_int_equal(rad__load_log_begin(&l->log, header, "", ""), 0);
    assert_int_equal(rad__load_scheduler_open(&l->scheduler, s, 1, 0, 1, logical, &l->log, &error), 0);
}

static void live_turn(struct live_run *l, uint64_t now_ns)
{
    rad_error error = {0};
    rad__load_turn turn = {.now_ns = now_ns};
    if (rad__load_scheduler_turn(&l->scheduler, &turn, &error) != 0) fail_msg("%s", error.text);
}

static void live_close(struct live_run *l)
{
    rad__load_scheduler_close(&l->scheduler);
    rad__load_log_close(&l->log);
    rad__bytes_free(&l->file);
}

static struct rad__load_extent extent_of(const rad_bytes *file)
{
    rad__load_log_reader r = load_reader(file);
    struct rad__load_extent e;
    rad_error error = {0};
    if (rad__load_log_survey(&r, &e, &error) != 0) fail_msg("%s", error.text);
    return e;
}

/* Four users have asked, and nothing answers for half a minute: what they did is on the disk within a second, by a
 * turn of its own. */
static void what_happened_is_written_though_nothing_more_happens(void **state)
{
    (void)state;
    load_scene scene;
    struct live_run l;
    load_scene_make(&scene, 4, 100);
    live_open(&l, &scene.s, 0, false);
    live_turn(&l, 1000);
    live_turn(&l, 2000);
    assert_int_equal(l.scheduler.metrics.all.issued, 4);
    assert_int_equal(extent_of(&l.file).records, 0);
    uint64_t due = rad__load_scheduler_due(&l.scheduler);
    assert_in_range(due, 2001, S); /* the first timeout comes after 30 s */
    live_turn(&l, due);
    struct rad__load_extent e = extent_of(&l.file);
    assert_int_equal(e.turns, 3);
    assert_true(e.cut_off);
    assert_true(rad__load_scheduler_due(&l.scheduler) > 30 * S); /* nothing to write: nobody is woken */
    live_close(&l);
}

/* Whatever happens meanwhile, nothing is older than a second. */
static void nothing_is_older_than_a_second(void **state)
{
    (void)state;
    load_scene scene;
    struct live_run l;
    load_scene_open(&scene, 4, 100, 20);
    scene.s.limits.timeout_ns = 5 * MS;
    live_open(&l, &scene.s, 0, false);
    for (uint64_t now = 0; now < 19 * S; now += 7 * MS) {
        live_turn(&l, now);
        uint64_t turns = extent_of(&l.file).turns;
        assert_true((turns + 143) * 7 * MS >= now); /* 143 turns are a second */
    }
    assert_in_range(l.log.blocks, 19, 2 * 19); /* and not after each turn */
    live_close(&l);
}

/* Neither where time is logical nor in logs of version 1, which replay as they were written. */
static void other_logs_are_flushed_by_ticks(void **state)
{
    (void)state;
    load_scene scene;
    for (int i = 0; i < 2; i++) {
        struct live_run l;
        load_scene_make(&scene, 4, 100);
        live_open(&l, &scene.s, i == 0 ? 1 : 0, i != 0);
        for (uint64_t second = 1; second < 10; second++) live_turn(&l, second * S);
        assert_int_equal(extent_of(&l.file).turns, 0);
        live_turn(&l, 10 * S); /* limits.flush_ticks */
        assert_int_equal(extent_of(&l.file).turns, 10);
        live_close(&l);
    }
}

/* ---- What is left of it ---------------------------------------------------------------------------------- */

static void compare(const void *data, uint32_t size, const rad__load_scenario *s)
{
    rad_bytes file = {.data = (uint8_t *)(uintptr_t)data, .size = size};
    rad__load_log_reader reader = load_reader(&file);
    struct rad__load_extent e = extent_of(&file);
    struct rad__load_verdict v;
    rad_error error = {0};
    rad_load_result *replayed = report_empty(s), *analysed = report_of_log(&file, s, NULL);
    if (rad__load_verify(&reader, s, &v, &replayed->metrics, &error) != 0) fail_msg("%s", error.text);
    if (!v.same) fail_msg("at byte %u: %s", size, v.text);
    assert_true(v.cut_off && analysed->cut_off && e.cut_off);
    assert_int_equal(v.turns, e.turns);
    assert_int_equal(analysed->metrics.turns, e.turns);
    assert_int_equal(v.records, e.records);
    assert_int_equal(analysed->records, e.records);
    assert_int_equal(replayed->metrics.all.issued, analysed->metrics.all.issued);
    if (e.turns > 0) report_same(replayed, analysed);
    rad_load_result_free(replayed);
    rad_load_result_free(analysed);
}

/* At every end of a block, one byte before, one after, and inside; turns have far more than a block of records. */
static uint32_t compare_all(const rad_bytes *file, const rad__load_scenario *s)
{
    uint32_t blocks = 0, at = load_reader(file).header.size;
    for (; at + 48 < file->size; blocks++) {
        struct rad__load_block_header head;
        memcpy(&head, file->data + at, sizeof head);
        compare(file->data, at, s);
        compare(file->data, at + 1, s);
        compare(file->data, at + 48 + head.size / 2, s);
        at += 48 + head.size;
        compare(file->data, at - 1, s);
    }
    compare(file->data, at, s); /* only the end is missing */
    return blocks;
}

static void replay_and_analysis_are_about_the_same_turns(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            load_scene_make(&scene, 6000, 1);
        else if (i == 1)
            report_scene_rich(&scene, 500, 2);
        else
            report_scene_rich_open(&scene, 100, 1500, 2);
        if (i == 0) scene.s.duration_ns = scene.stages[0].length_ns = 70 * MS;
        scene.s.warmup_ns = 0;
        load_trial_begin(&t, &scene.s, 7);
        load_trial_run(&t);
        assert_true(compare_all(&t.file, &scene.s) >= 3);
        load_trial_end(&t);
    }
}

/* Blocks of several shards lie between each other. */
static void so_they_are_with_shards(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file;
    report_scene_rich(&scene, 600, 2);
    rad_load_result *r = report_empty(&scene.s);
    report_shards(&scene.s, 3, 3, &file, r);
    assert_true(compare_all(&file, &scene.s) >= 3);
    rad_load_result_free(r);
    rad__bytes_free(&file);
}

static void blocks_have_whole_turns(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    struct rad__load_raw raw;
    rad_error error = {0};
    uint64_t blocks = 0;
    load_scene_make(&scene, 6000, 1);
    scene.s.duration_ns = scene.stages[0].length_ns = 70 * MS;
    load_trial_begin(&t, &scene.s, 7);
    load_trial_run(&t);
    rad__load_log_reader r = load_reader(&t.file);
    while (rad__load_log_next(&r, &raw, &error) == 1) {
        if (r.blocks != blocks) assert_int_equal(raw.kind, RAD__LOAD_RECORD_TURN);
        blocks = r.blocks;
    }
    assert_true(r.ended && blocks > 3);
    load_trial_end(&t);
}

/* ---- An end that is none --------------------------------------------------------------------------------- */

static void refused_by_both(const rad_bytes *file, const rad__load_scenario *s)
{
    rad__load_log_reader reader = load_reader(file);
    struct rad__load_verdict v;
    rad_error error = {0};
    assert_int_equal(rad__load_verify(&reader, s, &v, NULL, &error), 0);
    assert_false(v.same || v.cut_off);
    assert_string_equal(v.text, "the log has an end; its inputs make a run that is not over");
    report_refused(file, s, &error);
    assert_non_null(strstr(error.text, "but the run is not over"));
}

/* Somebody has put an end to it, after no turn or after some: it is not what the run wrote. */
static void an_end_before_the_run_is_over(void **state)
{
    (void)state;
    for (uint32_t turns = 0; turns < 30; turns += 10) {
        load_scene scene;
        load_trial t;
        load_scene_make(&scene, 3, 10);
        load_trial_begin(&t, &scene.s, 1);
        for (uint32_t i = 0; i < turns; i++) load_trial_turn(&t);
        assert_int_equal(rad__load_log_end(&t.log), 0);
        refused_by_both(&t.file, &scene.s);
        load_trial_end(&t);
    }
}

/* An engine that fails after some turns. */
struct failing {
    rad__load_engine engine;
    rad__load_engine *real;
    uint32_t turns;
};

static int fail_turn(rad__load_engine *e, uint64_t until_ns, bool poll, rad__load_turn *turn, rad_error *error)
{
    struct failing *f = (struct failing *)e;
    if (f->turns-- == 0) return error->code = RAD_EIO;
    return f->real->kind->turn(f->real, until_ns, poll, turn, error);
}

static int fail_act(rad__load_engine *e, const rad__load_effect *effects, uint32_t count, rad_error *error)
{
    struct failing *f = (struct failing *)e;
    return f->real->kind->act(f->real, effects, count, error);
}

/* Its log is as good as one that was cut off, and is called that. */
static void a_run_that_failed_has_no_end(void **state)
{
    (void)state;
    static const struct rad__load_engine_kind KIND = {.name = "failing", .act = fail_act, .turn = fail_turn};
    for (uint32_t turns = 0; turns < 30; turns += 10) {
        load_scene scene;
        load_trial t;
        rad_error error = {0};
        load_scene_make(&scene, 3, 10);
        load_trial_begin(&t, &scene.s, 1);
        struct failing f = {.engine.kind = &KIND, .real = t.engine, .turns = turns};
        assert_int_equal(rad__load_run(&t.scheduler, &f.engine, NULL, &error), RAD_EIO);
        compare(t.file.data, t.file.size, &scene.s);
        assert_int_equal(extent_of(&t.file).turns, turns);
        load_trial_end(&t);
    }
}

/* Nothing at all, a part of the magic, of the header, of the texts: the first bytes of a log, and no log. */
static void stubs_are_told_from_other_files(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    rad__load_log_reader r;
    rad_error error = {0};
    load_scene_make(&scene, 1, 1);
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    uint32_t header = load_reader(&t.file).header.size;
    for (uint32_t size = 0; size <= t.file.size; size++) {
        assert_int_equal(rad__load_log_is_stub(t.file.data, size), size < header);
        int code = rad__load_log_read(&r, "x.log", t.file.data, size, &error);
        assert_int_equal(code, size < header ? RAD_EINPUT : 0);
        if (code != 0) assert_non_null(strstr(error.text, "cut off inside its header"));
    }
    assert_false(rad__load_log_is_stub("RADLUNCH", 8));
    assert_false(rad__load_log_is_stub("{", 1));
    error = (rad_error){0};
    t.file.data[8] = 9; /* a version nobody knows: how long its header is cannot be known, either */
    assert_false(rad__load_log_is_stub(t.file.data, header - 1));
    assert_int_equal(rad__load_log_read(&r, "x.log", t.file.data, header, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "version 9 of the log; this raddle reads versions 1 to 3"));
    load_trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happened_is_written_though_nothing_more_happens),
        cmocka_unit_test(nothing_is_older_than_a_second),
        cmocka_unit_test(other_logs_are_flushed_by_ticks),
        cmocka_unit_test(replay_and_analysis_are_about_the_same_turns),
        cmocka_unit_test(so_they_are_with_shards),
        cmocka_unit_test(blocks_have_whole_turns),
        cmocka_unit_test(an_end_before_the_run_is_over),
        cmocka_unit_test(a_run_that_failed_has_no_end),
        cmocka_unit_test(stubs_are_told_from_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
