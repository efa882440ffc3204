/* test_shards.c — schedulers side by side: users and arrivals are split, logs are merged in a defined order, and
 * the merged log replays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load/log/merge.h"
#include "load_support.h"

#include <string.h>

enum { SHARDS = 3 };

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

static void run_shard(const rad__load_scenario *s, uint32_t shard, rad_bytes *file, rad__load_metrics *metrics)
{
    rad__load_scheduler scheduler;
    rad__load_log log;
    rad__load_engine *engine;
    rad_error error = {0};
    struct rad__load_log_header header = {.seed = 7,
                                          .tick_ns = s->tick_ns,
                                          .shards = SHARDS,
                                          .level = RAD__LOAD_LEVEL_SIMULATED,
                                          .engine = RAD__LOAD_ENGINE_SIMULATED};
    rad__load_log_open(&log, keep, file);
    log.shard = shard;
    assert_int_equal(rad__load_log_begin(&log, header, "", ""), 0);
    assert_int_equal(rad__load_scheduler_open(&scheduler, s, 7, shard, SHARDS, true, &log, &error), 0);
    assert_int_equal(rad__load_simulated_open(&engine, s, 7, shard, SHARDS, scheduler.user_capacity,
                                              scheduler.pool.conn_count, &error),
                     0);
    if (rad__load_run(&scheduler, engine, NULL, &error) != 0) fail_msg("%s", error.text);
    if (shard == 0) {
        *metrics = scheduler.metrics;
        scheduler.metrics = (rad__load_metrics){0};
    } else {
        assert_true(rad__load_metrics_merge(metrics, &scheduler.metrics));
    }
    engine->kind->close(engine);
    rad__load_scheduler_close(&scheduler);
    rad__load_log_close(&log);
}

/* All shards, merged. */
static void run(const rad__load_scenario *s, rad_bytes *merged, rad__load_metrics *metrics)
{
    rad_bytes files[SHARDS] = {{0}};
    rad__load_log_reader readers[SHARDS];
    rad_error error = {0};
    for (uint32_t i = 0; i < SHARDS; i++) {
        run_shard(s, i, &files[i], metrics);
        readers[i] = load_reader(&files[i]);
    }
    if (rad__load_merge(readers, SHARDS, keep, merged, &error) != 0) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < SHARDS; i++) rad__bytes_free(&files[i]);
}

static void make(load_scene *scene)
{
    load_scene_make(scene, 100, 20);
    scene->latency[0] = (struct rad__load_point){0, 1 * MS};
    scene->latency[1] = (struct rad__load_point){1000000, 60 * MS};
    scene->s.simulated.latency.count = 2;
    scene->s.limits.flush_ticks = 2000;
}

static void merged_logs_replay(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes a = {0}, b = {0};
    rad__load_metrics ran, again, replayed;
    struct rad__load_verdict verdict;
    rad_error error = {0};
    make(&scene);
    run(&scene.s, &a, &ran);
    run(&scene.s, &b, &again);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    rad__load_log_reader r = load_reader(&a);
    if (rad__load_verify(&r, &scene.s, &verdict, &replayed, &error) != 0) fail_msg("%s", error.text);
    if (!verdict.same) fail_msg("%s", verdict.text);
    assert_true(verdict.over);
    assert_int_equal(replayed.all.issued, ran.all.issued);
    assert_int_equal(replayed.service.max, ran.service.max);
    assert_int_equal(ran.spawned, 100);
    rad__load_metrics_close(&ran);
    rad__load_metrics_close(&again);
    rad__load_metrics_close(&replayed);
    rad__bytes_free(&a);
    rad__bytes_free(&b);
}

/* By the time at which blocks end; of equal ones the lower shard first. */
static void blocks_are_in_order(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file = {0};
    rad__load_metrics ran;
    rad_error error = {0};
    make(&scene);
    run(&scene.s, &file, &ran);
    rad__load_log_reader r = load_reader(&file);
    struct rad__load_raw raw;
    uint64_t now[SHARDS] = {0}, last_end = 0, block = 0, changes = 0;
    uint32_t last_shard = 0, shard = 0;
    int got;
    while ((got = rad__load_log_next(&r, &raw, &error)) == 1) {
        struct rad__load_turn_record turn;
        if (r.blocks != block && block > 0) {
            assert_true(now[shard] > last_end || (now[shard] == last_end && shard >= last_shard));
            changes += shard != r.block.shard;
            last_end = now[shard];
            last_shard = shard;
        }
        block = r.blocks;
        shard = r.block.shard;
        if (raw.kind == RAD__LOAD_RECORD_TURN && rad__load_get_turn(&raw, &turn) == NULL) now[shard] += turn.passed_ns;
    }
    assert_int_equal(got, 0);
    assert_true(r.ended);
    assert_true(changes > 20);
    rad__load_metrics_close(&ran);
    rad__bytes_free(&file);
}

/* The plan is that of the seed, however many shards there are: the same users ask for the same, and the same arrivals
 * come. */
static void shards_share_the_plan(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes file = {0};
    rad__load_metrics split;
    load_trial whole;
    load_scene_make(&scene, 30, 1);
    scene.s.duration_ns = 0;
    scene.s.iterations = 50;
    scene.s.request_count = 3;
    scene.requests[1] = scene.requests[2] = scene.requests[0];
    run(&scene.s, &file, &split);
    load_trial_begin(&whole, &scene.s, 7);
    load_trial_run(&whole);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(split.by_request[i].tally.issued, whole.scheduler.metrics.by_request[i].tally.issued);
    load_trial_end(&whole);
    rad__load_metrics_close(&split);
    rad__bytes_free(&file);
    file = (rad_bytes){0};
    load_scene_open(&scene, 60, 100, 5);
    run(&scene.s, &file, &split);
    assert_int_equal(split.arrivals, 500);
    assert_int_equal(split.dropped, 0);
    rad__load_metrics_close(&split);
    rad__bytes_free(&file);
}

/* A log that is cut off in one shard: what is whole is merged, and no end is written. */
static void a_part_that_is_cut_off_leaves_no_end(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes files[SHARDS] = {{0}}, merged = {0};
    rad__load_log_reader readers[SHARDS];
    rad__load_metrics ran;
    struct rad__load_raw raw;
    rad_error error = {0};
    make(&scene);
    for (uint32_t i = 0; i < SHARDS; i++) {
        run_shard(&scene.s, i, &files[i], &ran);
        if (i == 1) files[i].size /= 2;
        readers[i] = load_reader(&files[i]);
    }
    assert_int_equal(rad__load_merge(readers, SHARDS, keep, &merged, &error), 0);
    rad__load_log_reader r = load_reader(&merged);
    int got;
    while ((got = rad__load_log_next(&r, &raw, &error)) == 1) {
    }
    assert_int_equal(got, 0);
    assert_true(r.cut_off);
    assert_false(r.ended);
    files[2].data[files[2].size / 2] ^= 1; /* damage is told, with its name */
    for (uint32_t i = 0; i < SHARDS; i++) readers[i] = load_reader(&files[i]);
    merged.size = 0;
    assert_int_equal(rad__load_merge(readers, SHARDS, keep, &merged, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "is damaged"));
    rad__load_metrics_close(&ran);
    rad__bytes_free(&merged);
    for (uint32_t i = 0; i < SHARDS; i++) rad__bytes_free(&files[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_logs_replay),
        cmocka_unit_test(blocks_are_in_order),
        cmocka_unit_test(shards_share_the_plan),
        cmocka_unit_test(a_part_that_is_cut_off_leaves_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
