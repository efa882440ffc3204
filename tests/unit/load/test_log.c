/* test_log.c — the format of the event log: every kind of record there and back, every bit of a file that is not
 * as it was written, and blocks that say of themselves what is not so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load/log/hash.h"
#include "load_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

/* ---- Records ----------------------------------------------------------------------------------------------- */

static struct rad__load_raw raw_of(const rad_bytes *bytes)
{
    struct rad__load_raw raw;
    rad_reader r = rad__reader(bytes->data, bytes->size);
    assert_true(rad__load_get_raw(&r, &raw));
    assert_ptr_equal(r.at, r.end);
    return raw;
}

/* What is written of an event is what is read: written again it is the same. */
static void every_event_there_and_back(void **state)
{
    (void)state;
    static const uint64_t VALUES[] = {0, 1, 127, 128, 16383, 16384, 2097151, 2097152, 268435456, UINT32_MAX};
    uint32_t kinds = 0;
    for (uint32_t kind = 0; kind < RAD__LOAD_RECORD_TURN; kind++) {
        if (rad__load_record_name(kind) == NULL) continue;
        kinds++;
        for (uint32_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
            uint32_t v = (uint32_t)VALUES[i];
            uint64_t wide = i == 9 ? UINT64_MAX : v;
            rad__load_event e = {kind, v,    v,    v,    v,    v,    v,    v,    wide, wide,
                                 wide, wide, wide, wide, wide, wide, wide, wide, v};
            rad__load_event back;
            rad_bytes one = {0}, two = {0};
            rad__load_put_event(&one, &e);
            struct rad__load_raw raw = raw_of(&one);
            assert_int_equal(raw.kind, kind);
            assert_null(rad__load_get_event(&raw, &back));
            rad__load_put_event(&two, &back);
            assert_int_equal(one.size, two.size);
            assert_memory_equal(one.data, two.data, one.size);
            char text[400];
            rad__load_record_text(&raw, text, sizeof text);
            assert_int_equal(strncmp(text, rad__load_record_name(kind), strlen(rad__load_record_name(kind))), 0);
            rad__bytes_free(&one);
            rad__bytes_free(&two);
        }
    }
    assert_int_equal(kinds, 18);
}

static void inputs_keep_their_times(void **state)
{
    (void)state;
    static uint8_t values[1000];
    memset(values, 7, sizeof values);
    for (uint32_t kind = RAD__LOAD_IN_CONNECTED; kind <= RAD__LOAD_IN_FAILED; kind++) {
        bool answer = kind == RAD__LOAD_IN_RESPONSE, of_user = kind >= RAD__LOAD_IN_RESPONSE;
        for (uint32_t size = 0; size <= sizeof values; size += 100) {
            rad__load_input in = {.vu = 3, .conn = 4, .kind = kind, .at_ns = 900}, back;
            in.request = of_user ? 17 : 0;
            in.sent_ns = of_user ? 100 : 0;
            in.first_ns = answer ? 900 : 0; /* in the moment in which it was complete */
            in.values = answer ? values : NULL;
            in.values_size = answer ? size : 0;
            rad_bytes b = {0};
            rad__load_put_input(&b, &in, 1000);
            struct rad__load_raw raw = raw_of(&b);
            assert_null(rad__load_get_input(&raw, 1000, &back));
            assert_int_equal(back.kind, kind);
            assert_int_equal(back.at_ns, 900);
            assert_int_equal(back.sent_ns, in.sent_ns);
            assert_int_equal(back.first_ns, in.first_ns);
            assert_int_equal(back.values_size, in.values_size);
            if (back.values_size > 0) assert_memory_equal(back.values, values, back.values_size);
            assert_non_null(rad__load_get_input(&raw, 99, &back)); /* before the run began */
            rad__bytes_free(&b);
        }
    }
}

/* A record one byte shorter, one longer, or with a number that its field does not hold. */
static void records_that_are_not_whole(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < RAD__LOAD_RECORD_KINDS; kind++) {
        rad__load_event e = {.kind = kind};
        rad__load_input in = {.kind = kind - RAD__LOAD_RECORD_INPUT};
        struct rad__load_turn_record turn = {0};
        rad_bytes b = {0};
        if (rad__load_record_name(kind) == NULL) continue;
        if (kind < RAD__LOAD_RECORD_TURN) rad__load_put_event(&b, &e);
        if (kind == RAD__LOAD_RECORD_TURN) rad__load_put_turn(&b, &turn);
        if (kind > RAD__LOAD_RECORD_TURN) rad__load_put_input(&b, &in, 0);
        struct rad__load_raw raw = raw_of(&b);
        uint8_t bytes[200] = {0};
        memcpy(bytes, raw.bytes, raw.size);
        uint32_t whole = raw.size;
        raw.bytes = bytes;
        for (int change = 0; change < 4; change++) {
            raw.size = whole + (change == 1) - (change == 2);
            if (change == 3) { /* the first field is 2^70 */
                memset(bytes, 255, 10);
                bytes[10] = 1;
                raw.size = whole + 10;
            }
            const char *wrong = kind < RAD__LOAD_RECORD_TURN    ? rad__load_get_event(&raw, &e)
                                : kind == RAD__LOAD_RECORD_TURN ? rad__load_get_turn(&raw, &turn)
                                                                : rad__load_get_input(&raw, 0, &in);
            if (change == 0)
                assert_null(wrong);
            else
                assert_non_null(wrong);
        }
        rad__bytes_free(&b);
    }
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

static void small_log(rad_bytes *file)
{
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 2, 1);
    scene.s.duration_ns = scene.stages[0].length_ns = 50 * MS;
    scene.s.limits.flush_ticks = 20;
    load_trial_begin(&t, &scene.s, 1);
    load_trial_run(&t);
    *file = t.file;
    t.file = (rad_bytes){0};
    load_trial_end(&t);
}

/* 0: read to its end; 1: cut off; or RAD_EINPUT. */
static int read_all(const uint8_t *data, size_t size, char text[512])
{
    rad__load_log_reader r;
    struct rad__load_raw raw;
    rad_error error = {0};
    int got = rad__load_log_read(&r, "t.log", data, size, &error);
    if (got == 0)
        while ((got = rad__load_log_next(&r, &raw, &error)) == 1) {
        }
    snprintf(text, 512, "%s", error.text);
    return got < 0 ? got : r.cut_off;
}

/* Every bit: told as damage, and where. None is taken for a file that was cut off. */
static void every_flipped_bit_is_told(void **state)
{
    (void)state;
    rad_bytes file;
    char text[512];
    small_log(&file);
    assert_int_equal(read_all(file.data, file.size, text), 0);
    assert_in_range(file.size, 300, 5000);
    for (uint32_t bit = 0; bit < file.size * 8; bit++) {
        file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        int code = read_all(file.data, file.size, text);
        if (code != RAD_EINPUT) fail_msg("bit %u: %d", bit, code);
        assert_non_null(strstr(text, "t.log: "));
        file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    rad__bytes_free(&file);
}

/* One header of a block is changed, and its hashes are made to fit. */
static int with_block(const rad_bytes *from, void (*change)(struct rad__load_block_header *), char text[512])
{
    uint8_t *copy = malloc(from->size);
    struct rad__load_block_header head;
    uint64_t chain;
    uint32_t at = load_reader(from).header.size;
    memcpy(copy, from->data, from->size);
    memcpy(&chain, copy + at - 8, 8);
    memcpy(&head, copy + at, sizeof head);
    change(&head);
    head.head = rad__load_hash(&head, offsetof(struct rad__load_block_header, head), 0);
    head.chain = rad__load_hash(&head.head, 16, chain);
    memcpy(copy + at, &head, sizeof head);
    int code = read_all(copy, from->size, text);
    free(copy);
    return code;
}

static void misnumber(struct rad__load_block_header *h)
{
    h->first++;
}

static void miscount(struct rad__load_block_header *h)
{
    h->records++;
}

static void no_such_shard(struct rad__load_block_header *h)
{
    h->shard = 1;
}

static void end_early(struct rad__load_block_header *h)
{
    memcpy(&h->magic, "REND", 4);
}

static void as_it_is(struct rad__load_block_header *h)
{
    (void)h;
}

static void blocks_that_lie(void **state)
{
    (void)state;
    static const struct {
        void (*change)(struct rad__load_block_header *);
        const char *said;
    } CASES[] = {{misnumber, "misnumbered"},
                 {miscount, "another number of records"},
                 {no_such_shard, "a shard that does not exist"},
                 {end_early, "follows the end"}};
    rad_bytes file;
    char text[512];
    small_log(&file);
    assert_int_equal(with_block(&file, as_it_is, text), 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(with_block(&file, CASES[i].change, text), RAD_EINPUT);
        if (strstr(text, CASES[i].said) == NULL) fail_msg("%s", text);
    }
    rad__bytes_free(&file);
}

/* The header, with a hash that fits. */
static void headers_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        uint32_t at;
        uint8_t value;
    } CASES[] = {{8, RAD__LOAD_LOG_VERSION + 1},
                 {24, 0},   /* tick: 0 together with the other bytes below */
                 {40, 0},   /* shards */
                 {41, 255}, /* too many */
                 {44, 3},   /* level */
                 {46, 2}};  /* stripped */
    rad_bytes file;
    char text[512];
    small_log(&file);
    uint32_t size = load_reader(&file).header.size;
    for (uint32_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint8_t *copy = malloc(file.size);
        memcpy(copy, file.data, file.size);
        if (CASES[i].at == 24) memset(copy + 24, 0, 8);
        copy[CASES[i].at] = CASES[i].value;
        uint64_t hash = rad__load_hash(copy, size - 8, 0);
        memcpy(copy + size - 8, &hash, 8);
        assert_int_equal(read_all(copy, file.size, text), RAD_EINPUT);
        assert_null(strstr(text, "hash"));
        free(copy);
    }
    rad__bytes_free(&file);
}

/* The sink's failure ends all writing, and is told once and for all. */
static int full(void *context, const void *data, size_t size, rad_error *error)
{
    uint32_t *calls = context;
    (void)data;
    (void)size;
    if (++*calls < 3) return 0;
    error->code = RAD_EIO;
    snprintf(error->text, sizeof error->text, "full");
    return RAD_EIO;
}

static void a_sink_that_fails(void **state)
{
    (void)state;
    rad__load_log log;
    uint32_t calls = 0;
    struct rad__load_log_header header = {.shards = 1, .level = 1, .tick_ns = 1};
    rad__load_event e = {.kind = RAD__LOAD_VU_SPAWNED};
    rad__load_log_open(&log, full, &calls);
    assert_int_equal(rad__load_log_begin(&log, header, "", ""), 0);
    for (int i = 0; i < 5; i++) {
        rad__load_log_event(&log, &e);
        rad__load_log_flush(&log);
    }
    assert_int_equal(calls, 3);
    assert_int_equal(rad__load_log_end(&log), RAD_EIO);
    assert_string_equal(log.error.text, "full");
    assert_int_equal(calls, 3);
    rad__load_log_close(&log);
}

/* Blocks are cut when they have 64 KB: in version 1 wherever that is, then before a turn of `each` events. */
static void cut_by_what_is_written(uint32_t version, uint32_t each, uint32_t most)
{
    rad__load_log log;
    rad_bytes file = {0};
    char text[512];
    struct rad__load_log_header header = {.version = version, .shards = 1, .level = 1, .tick_ns = 1};
    rad__load_event e = {.kind = RAD__LOAD_ISSUED, .request = 1000000};
    rad__load_log_open(&log, keep, &file);
    assert_int_equal(rad__load_log_begin(&log, header, "", ""), 0);
    for (e.vu = 0; e.vu < 30000; e.vu++) {
        if (e.vu % each == 0) rad__load_log_turn(&log, &(struct rad__load_turn_record){.passed_ns = 1});
        rad__load_log_event(&log, &e);
    }
    assert_int_equal(rad__load_log_end(&log), 0);
    assert_int_equal(log.written, file.size);
    assert_int_equal(log.next_record, 30001 + 30000 / each);
    for (uint32_t at = load_reader(&file).header.size; at < file.size;) {
        struct rad__load_block_header head;
        memcpy(&head, file.data + at, sizeof head);
        bool last = file.size - at - 48 - head.size <= 48;
        if (!last) assert_in_range(head.size + 48, RAD__LOAD_BLOCK, RAD__LOAD_BLOCK + most);
        if (version > 1 && head.size > 0) assert_int_equal(file.data[at + 48], RAD__LOAD_RECORD_TURN);
        at += 48 + head.size;
    }
    assert_int_equal(read_all(file.data, file.size, text), 0);
    rad__load_log_close(&log);
    rad__bytes_free(&file);
}

static void blocks_are_cut_by_what_is_written(void **state)
{
    (void)state;
    cut_by_what_is_written(1, 10000, 200);
    cut_by_what_is_written(2, 10, 300);
    cut_by_what_is_written(2, 10000, 200000); /* a turn is never cut */
}

/* Reading stops at a block, and says how far it came. */
static void reading_can_be_interrupted(void **state)
{
    rad_bytes file = {0};
    rad_error error = {0};
    rad__load_log_reader r;
    struct rad__load_raw raw;
    volatile int stop = 0;
    (void)state;
    small_log(&file);
    assert_int_equal(rad__load_log_read(&r, "t.log", file.data, file.size, &error), 0);
    r.stop = &stop;
    assert_int_equal(rad__load_log_next(&r, &raw, &error), 1);
    stop = 1;
    int got;
    uint64_t record = r.record;
    while ((got = rad__load_log_next(&r, &raw, &error)) == 1) record = r.record;
    assert_int_equal(got, RAD_EINTERRUPTED);
    char text[80];
    snprintf(text, sizeof text, "t.log: interrupted after record %llu", (unsigned long long)record);
    assert_string_equal(error.text, text);
    rad__bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_there_and_back),
        cmocka_unit_test(inputs_keep_their_times),
        cmocka_unit_test(records_that_are_not_whole),
        cmocka_unit_test(every_flipped_bit_is_told),
        cmocka_unit_test(blocks_that_lie),
        cmocka_unit_test(headers_that_cannot_be),
        cmocka_unit_test(a_sink_that_fails),
        cmocka_unit_test(blocks_are_cut_by_what_is_written),
        cmocka_unit_test(reading_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
