/* test_replay.c — logs that somebody has changed, with hashes that fit; logs that end anywhere. A replay says that
 * they are the same, where they differ, or that they cannot be; it never does anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "load/log/merge.h"
#include "load_support.h"
#include "storm_support.h"

#include <stdlib.h>
#include <string.h>

/* ---- Changing a log ---------------------------------------------------------------------------------------- */

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

/* What becomes of record number `number`: as it is in `raw`, which may be changed; so many times. */
typedef uint32_t editor(void *context, uint64_t number, struct rad__load_raw *raw);

/* The same blocks, with other records in them; all hashes are made anew. */
static void rewrite(const rad_bytes *from, rad_bytes *to, editor *edit, void *context)
{
    rad__load_log_reader r = load_reader(from);
    rad__load_log log;
    struct rad__load_raw raw;
    rad_error error = {0};
    uint64_t blocks = 0;
    *to = (rad_bytes){0};
    rad__load_log_open(&log, keep, to);
    log.uncut = true;
    assert_int_equal(rad__load_log_begin(&log, r.header, r.scenario, r.changes), 0);
    while (rad__load_log_next(&r, &raw, &error) == 1) {
        if (r.blocks != blocks) rad__load_log_flush(&log);
        blocks = r.blocks;
        log.shard = r.block.shard;
        uint32_t times = edit(context, r.record, &raw);
        while (times-- > 0) rad__load_log_raw(&log, &raw);
    }
    log.shard = 0;
    assert_int_equal(rad__load_log_end(&log), 0);
    rad__load_log_close(&log);
    assert_false(to->failed);
}

/* In memory of just its size: whoever reads beyond its end is caught by the sanitizer. */
static int verify(const void *data, size_t size, const rad__load_scenario *s, struct rad__load_verdict *verdict)
{
    rad__load_log_reader r;
    rad_error error = {0};
    uint8_t *exact = malloc(size);
    assert_non_null(exact);
    memcpy(exact, data, size);
    *verdict = (struct rad__load_verdict){0};
    int code = rad__load_log_read(&r, "test.log", exact, size, &error);
    if (code == 0) code = rad__load_verify(&r, s, verdict, NULL, &error);
    if (code != 0) {
        assert_int_equal(code, RAD_EINPUT);
        assert_string_not_equal(error.text, "");
    }
    free(exact);
    return code;
}

/* ---- A log with some of everything ------------------------------------------------------------------------- */

static void busy(load_scene *scene, uint32_t users, uint64_t ms)
{
    load_scene_make(scene, users, 1);
    scene->s.duration_ns = scene->stages[0].length_ns = ms * MS;
    scene->s.simulated.reset_ppm = 100000;
    scene->s.simulated.loss_ppm = 100000;
    scene->s.simulated.late_ns = 20 * MS;
    scene->s.simulated.latency.count = 2;
    scene->latency[0] = (struct rad__load_point){0, MS};
    scene->latency[1] = (struct rad__load_point){1000000, 20 * MS};
    scene->connect[0].value = MS;
    scene->requests[0].timeout_ns = 15 * MS;
    scene->targets[0].max_connections = users > 1 ? users - 1 : 1;
    scene->s.limits.retry_ns = 5 * MS;
    scene->s.limits.flush_ticks = 20;
    scene->s.drain_ns = 5 * MS;
}

struct change {
    uint64_t record; /* this one */
    uint32_t at;     /* this byte of it */
    uint8_t mask;    /* what is turned around */
    uint32_t times;  /* how often it is written */
    uint8_t bytes[1024];
    bool was_output, changed;
};

static uint32_t turn_bits(void *context, uint64_t number, struct rad__load_raw *raw)
{
    struct change *c = context;
    if (number != c->record) return 1;
    c->was_output = rad__load_record_is_output(raw->kind);
    c->changed = c->at < raw->size || c->times != 1;
    assert_true(raw->size <= sizeof c->bytes);
    memcpy(c->bytes, raw->bytes, raw->size);
    if (c->at < raw->size) c->bytes[c->at] ^= c->mask;
    raw->bytes = c->bytes;
    return c->times;
}

static uint64_t records_of(const rad_bytes *file)
{
    rad__load_log_reader r = load_reader(file);
    struct rad__load_raw raw;
    rad_error error = {0};
    while (rad__load_log_next(&r, &raw, &error) == 1) {
    }
    return r.record;
}

/* Must hold 2: an altered output record with valid checksums is reported by number. */
static void altered_outputs_are_told_by_number(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    uint32_t outputs = 0;
    busy(&scene, 3, 60);
    load_trial_begin(&t, &scene.s, 5);
    load_trial_run(&t);
    load_verified(&t);
    uint64_t count = records_of(&t.file);
    assert_in_range(count, 60, 400);
    for (uint64_t record = 1; record <= count; record++) {
        for (uint32_t at = 0; at < 16; at++) {
            struct change c = {.record = record, .at = at, .mask = 1, .times = 1};
            struct rad__load_verdict v;
            rad_bytes file;
            rewrite(&t.file, &file, turn_bits, &c);
            int code = verify(file.data, file.size, &scene.s, &v);
            if (c.was_output && c.changed) {
                assert_int_equal(code, 0);
                assert_false(v.same);
                assert_int_equal(v.record, record);
                outputs++;
            }
            rad__bytes_free(&file);
        }
    }
    assert_true(outputs > 200);
    load_trial_end(&t);
}

/* Every record taken out, or twice there. */
static void records_too_few_and_too_many(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    busy(&scene, 2, 60);
    load_trial_begin(&t, &scene.s, 6);
    load_trial_run(&t);
    uint64_t count = records_of(&t.file);
    for (uint64_t record = 1; record <= count; record++) {
        for (uint32_t times = 0; times <= 2; times++) {
            struct change c = {.record = record, .at = 1 << 20, .times = times};
            struct rad__load_verdict v;
            rad_bytes file;
            rewrite(&t.file, &file, turn_bits, &c);
            int code = verify(file.data, file.size, &scene.s, &v);
            if (times == 1) assert_true(code == 0 && v.same);
            if (times != 1) assert_true(code != 0 || !v.same);
            if (c.was_output && times != 1) assert_int_equal(code, 0);
            rad__bytes_free(&file);
        }
    }
    load_trial_end(&t);
}

/* Inputs with other bits, on a connection with streams, and with an engine whose ticks are turns. */
static void altered_inputs_are_bad_or_differ(void **state)
{
    (void)state;
    static const uint8_t MASKS[] = {1, 2, 4, 64, 128, 127, 255};
    const uint32_t apart = (uint32_t)storm_size(4, 1); /* each byte, and each mask somewhere */
    for (int variant = 0; variant < 3; variant++) {
        load_scene scene;
        load_trial t;
        busy(&scene, 3, 40);
        if (variant == 1) {
            scene.targets[0].http2 = true;
            scene.targets[0].streams = 2;
            scene.targets[0].max_connections = 1;
        }
        if (variant == 2) scene.s.limits.max_events = 1;
        load_trial_begin(&t, &scene.s, 7);
        load_trial_run(&t);
        load_verified(&t);
        uint64_t count = records_of(&t.file);
        for (uint64_t record = 1; record <= count; record++) {
            for (uint32_t i = 0; i < 12 * sizeof MASKS; i += apart) {
                struct change c = {
                    .record = record, .at = i / (uint32_t)sizeof MASKS, .mask = MASKS[i % sizeof MASKS], .times = 1};
                struct rad__load_verdict v;
                rad_bytes file;
                rewrite(&t.file, &file, turn_bits, &c);
                if (!c.was_output && c.changed) verify(file.data, file.size, &scene.s, &v);
                rad__bytes_free(&file);
                if (c.was_output || !c.changed) break;
            }
        }
        load_trial_end(&t);
    }
}

/* ---- Huge numbers ------------------------------------------------------------------------------------------ */

struct huge {
    uint64_t record;
    uint32_t field;
    uint64_t value;
    bool there;
    rad_bytes bytes;
};

/* One field of a record becomes another number. */
static uint32_t set_field(void *context, uint64_t number, struct rad__load_raw *raw)
{
    struct huge *h = context;
    if (number != h->record || rad__load_record_is_output(raw->kind)) return 1;
    rad_reader r = rad__reader(raw->bytes, raw->size);
    for (uint32_t i = 0; rad__load_record_field(raw->kind, i) != NULL; i++) {
        bool hash = strcmp(rad__load_record_field(raw->kind, i), "body_hash") == 0;
        const void *bytes = hash ? rad__read_bytes(&r, 8) : NULL;
        uint64_t value = hash ? 0 : rad__read_varint(&r);
        if (hash)
            rad__bytes_put(&h->bytes, bytes, 8);
        else
            rad__bytes_put_varint(&h->bytes, i == h->field ? h->value : value);
        h->there |= i == h->field && !hash;
    }
    raw->bytes = h->bytes.data;
    raw->size = h->bytes.size;
    return 1;
}

static void huge_numbers_in_inputs(void **state)
{
    (void)state;
    static const uint64_t VALUES[] = {0,
                                      1,
                                      2,
                                      1000,
                                      1u << 20,
                                      INT32_MAX,
                                      UINT32_MAX,
                                      UINT32_MAX - 1,
                                      (uint64_t)1 << 40,
                                      INT64_MAX,
                                      (uint64_t)1 << 63,
                                      UINT64_MAX};
    load_scene scene;
    load_trial t;
    uint32_t made = 0;
    busy(&scene, 2, 40);
    load_trial_begin(&t, &scene.s, 8);
    load_trial_run(&t);
    uint64_t count = records_of(&t.file);
    for (uint64_t record = 1; record <= count; record++) {
        for (uint32_t field = 0; field < 12; field++) {
            for (uint32_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
                struct huge h = {.record = record, .field = field, .value = VALUES[i]};
                struct rad__load_verdict v;
                rad_bytes file;
                rewrite(&t.file, &file, set_field, &h);
                if (h.there) verify(file.data, file.size, &scene.s, &v);
                made += h.there;
                rad__bytes_free(&file);
                rad__bytes_free(&h.bytes);
                if (!h.there) break;
            }
        }
    }
    assert_true(made > 500);
    load_trial_end(&t);
}

/* ---- Logs that end anywhere -------------------------------------------------------------------------------- */

static void cut_off_at_every_byte(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    struct rad__load_verdict v;
    uint64_t turns = 0, records = 0;
    busy(&scene, 2, 60);
    load_trial_begin(&t, &scene.s, 9);
    load_trial_run(&t);
    rad__load_log_reader whole = load_reader(&t.file);
    for (uint32_t size = 0; size < t.file.size; size++) {
        int code = verify(t.file.data, size, &scene.s, &v);
        assert_int_equal(code, size < whole.header.size ? RAD_EINPUT : 0);
        if (code != 0) continue;
        assert_true(v.same && v.cut_off);
        assert_true(v.turns >= turns && v.records >= records);
        turns = v.turns;
        records = v.records;
    }
    assert_int_equal(records, records_of(&t.file));
    load_trial_end(&t);
}

/* What follows the last whole block is nothing: a torn write is no difference, and nobody reads beyond it. 10,000 users
 * make blocks of outputs that no turn follows (in logs of version 1). */
static void torn_writes(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    struct rad__load_verdict v;
    uint32_t blocks = 0;
    load_scene_make(&scene, 10000, 1);
    scene.s.duration_ns = scene.stages[0].length_ns = 30 * MS;
    load_trial_begin_as(&t, &scene.s, 1, 1);
    load_trial_run(&t);
    rad__load_log_reader r = load_reader(&t.file);
    uint8_t *torn = malloc(t.file.size);
    for (uint64_t at = r.header.size; at + 48 < t.file.size; blocks++) {
        struct rad__load_block_header head;
        memcpy(&head, t.file.data + at, sizeof head);
        memset(torn, 0, t.file.size);
        memcpy(torn, t.file.data, (size_t)at + 48); /* the block's head, then zeros */
        for (size_t tail = 0; tail <= 148; tail += (size_t)storm_size(74, 37)) {
            assert_int_equal(verify(torn, (size_t)at + tail, &scene.s, &v), 0);
            assert_true(v.same && v.cut_off);
        }
        at += 48 + head.size;
    }
    assert_true(blocks > 10);
    free(torn);
    load_trial_end(&t);
}

/* The last block of a log that was cut off is looked at, too, though its last turn may have lost its inputs. */
static void cut_off_and_altered(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    busy(&scene, 3, 60);
    load_trial_begin(&t, &scene.s, 5);
    load_trial_run(&t);
    uint64_t count = records_of(&t.file);
    for (uint64_t record = 1; record <= count; record++) {
        struct change c = {.record = record, .at = 0, .mask = 1, .times = 1};
        struct rad__load_verdict v;
        rad_bytes file;
        rewrite(&t.file, &file, turn_bits, &c);
        if (c.was_output) {
            assert_int_equal(verify(file.data, file.size - 48, &scene.s, &v), 0);
            assert_true(v.cut_off && !v.same);
            assert_int_equal(v.record, record);
        }
        rad__bytes_free(&file);
        if (record == count) break;
        c = (struct change){.record = record, .times = 0}; /* taken out: what follows does not fit */
        rewrite(&t.file, &file, turn_bits, &c);
        assert_true(verify(file.data, file.size - 48, &scene.s, &v) != 0 || !v.same);
        rad__bytes_free(&file);
    }
    load_trial_end(&t);
}

struct lost {
    uint64_t input; /* is taken out */
    bool over, input_was_there, outputs_follow;
};

/* Up to the end of the turn of that input, without it. */
static uint32_t lose_input(void *context, uint64_t number, struct rad__load_raw *raw)
{
    struct lost *l = context;
    bool output = rad__load_record_is_output(raw->kind), turn = raw->kind == RAD__LOAD_RECORD_TURN;
    if (number == l->input && !output && !turn) l->input_was_there = true;
    if (number > l->input && turn) l->over = true;
    if (number > l->input && output && !l->over) l->outputs_follow = true;
    return !l->over && number != l->input;
}

/* A turn that has lost an input is as if it had not begun; then there is nothing that came of it. */
static void nothing_comes_of_half_a_turn(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    uint32_t made = 0;
    busy(&scene, 3, 60);
    load_trial_begin(&t, &scene.s, 5);
    load_trial_run(&t);
    uint64_t count = records_of(&t.file);
    for (uint64_t record = 1; record <= count; record++) {
        struct lost l = {.input = record};
        struct rad__load_verdict v;
        rad_bytes file;
        rewrite(&t.file, &file, lose_input, &l);
        if (l.input_was_there && l.outputs_follow) {
            assert_int_equal(verify(file.data, file.size - 48, &scene.s, &v), 0);
            assert_true(v.cut_off && !v.same && v.record > 0);
            made++;
        }
        rad__bytes_free(&file);
    }
    assert_true(made > 10);
    load_trial_end(&t);
}

/* ---- Shards ------------------------------------------------------------------------------------------------ */

enum { SHARDS = 3 };

static void run_shard(const load_scene *scene, uint32_t shard, uint32_t version, rad_bytes *file)
{
    load_trial t = {0};
    rad_error error = {0};
    struct rad__load_log_header header = {
        .version = version, .seed = 3, .tick_ns = MS, .shards = SHARDS, .level = RAD__LOAD_LEVEL_SIMULATED};
    rad__load_log_open(&t.log, keep, file);
    t.log.shard = shard;
    assert_int_equal(rad__load_log_begin(&t.log, header, "", ""), 0);
    assert_int_equal(rad__load_scheduler_open(&t.scheduler, &scene->s, 3, shard, SHARDS, true, &t.log, &error), 0);
    assert_int_equal(rad__load_simulated_open(&t.engine, &scene->s, 3, shard, SHARDS, t.scheduler.user_capacity,
                                              t.scheduler.pool.conn_count, &error),
                     0);
    load_trial_run(&t);
    load_trial_end(&t);
}

static void run_shards(const load_scene *scene, uint32_t version, rad_bytes *merged)
{
    rad_bytes files[SHARDS] = {{0}};
    rad__load_log_reader readers[SHARDS];
    rad_error error = {0};
    *merged = (rad_bytes){0};
    for (uint32_t i = 0; i < SHARDS; i++) {
        run_shard(scene, i, version, &files[i]);
        readers[i] = load_reader(&files[i]);
    }
    assert_int_equal(rad__load_merge(readers, SHARDS, keep, merged, &error), 0);
    for (uint32_t i = 0; i < SHARDS; i++) rad__bytes_free(&files[i]);
}

/* Wherever the merged log ends: each shard is replayed as far as it goes. */
static void cut_off_between(uint32_t version)
{
    load_scene scene;
    rad_bytes merged;
    struct rad__load_verdict v;
    uint32_t cuts = 0;
    busy(&scene, 1500, 200);
    scene.s.limits.flush_ticks = 100000; /* blocks end when they are full; in version 1 inside turns */
    run_shards(&scene, version, &merged);
    assert_int_equal(verify(merged.data, merged.size, &scene.s, &v), 0);
    assert_true(v.same && !v.cut_off);
    for (uint64_t at = load_reader(&merged).header.size; at < merged.size; cuts++) {
        struct rad__load_block_header head;
        memcpy(&head, merged.data + at, sizeof head);
        assert_int_equal(verify(merged.data, (size_t)at, &scene.s, &v), 0);
        if (!v.same) fail_msg("cut off at %lu: %s", (unsigned long)at, v.text);
        at += 48 + head.size;
    }
    assert_true(cuts > 10);
    rad__bytes_free(&merged);
}

static void cut_off_between_shards(void **state)
{
    (void)state;
    cut_off_between(1);
    cut_off_between(RAD__LOAD_LOG_VERSION);
}

/* One block says that it is another shard's. */
static void blocks_of_other_shards(void **state)
{
    (void)state;
    load_scene scene;
    rad_bytes merged;
    struct rad__load_verdict v;
    busy(&scene, 6, 100);
    run_shards(&scene, RAD__LOAD_LOG_VERSION, &merged);
    rad__load_log_reader r = load_reader(&merged);
    struct rad__load_raw raw;
    rad_error error = {0};
    uint64_t blocks = 0;
    while (rad__load_log_next(&r, &raw, &error) == 1) blocks = r.blocks;
    assert_true(blocks > 6);
    for (uint64_t wrong = 1; wrong <= blocks; wrong++) {
        rad_bytes file = {0};
        rad__load_log log;
        r = load_reader(&merged);
        rad__load_log_open(&log, keep, &file);
        log.uncut = true;
        assert_int_equal(rad__load_log_begin(&log, r.header, r.scenario, r.changes), 0);
        for (uint64_t last = 0; rad__load_log_next(&r, &raw, &error) == 1; last = r.blocks) {
            if (last != r.blocks) rad__load_log_flush(&log);
            log.shard = (r.block.shard + (r.blocks == wrong)) % SHARDS;
            rad__load_log_raw(&log, &raw);
        }
        assert_int_equal(rad__load_log_end(&log), 0);
        rad__load_log_close(&log);
        assert_true(verify(file.data, file.size, &scene.s, &v) != 0 || !v.same);
        rad__bytes_free(&file);
    }
    rad__bytes_free(&merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(altered_outputs_are_told_by_number),
        cmocka_unit_test(records_too_few_and_too_many),
        cmocka_unit_test(altered_inputs_are_bad_or_differ),
        cmocka_unit_test(huge_numbers_in_inputs),
        cmocka_unit_test(cut_off_at_every_byte),
        cmocka_unit_test(torn_writes),
        cmocka_unit_test(cut_off_and_altered),
        cmocka_unit_test(nothing_comes_of_half_a_turn),
        cmocka_unit_test(cut_off_between_shards),
        cmocka_unit_test(blocks_of_other_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
