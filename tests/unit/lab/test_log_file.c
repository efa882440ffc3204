/* test_log_file.c — logs as files: record, replay, and every way in which a file can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/digest_inline.h"
#include "folder_support.h"
#include "lab/log_file.h"
#include "loom.h"
#include "os/fault.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char folder[] = "logs", path[] = "logs/x.log";

static int fresh_folder(void **state)
{
    (void)state;
    folder_fresh(folder, path);
    loom_twist = LOOM_STRAIGHT;
    loom_add();
    return 0;
}

/* ---- Record and replay ------------------------------------------------------------------------------ */

static int record(const rad_target *target, uint64_t seed, uint64_t limit, rad_digest *digest, rad_error *error)
{
    loom l;
    rad_policy *p = NULL;
    rad_log_out *out = NULL;
    int code = loom_open(&l, target, error);
    if (code != 0) return code;
    code = rad__policy_create(&p, "random", error);
    if (code == 0) code = rad__log_create(&out, path, target, "random", seed, limit, error);
    if (code == 0) {
        enum rad_outcome outcome = loom_run(&l, p, seed, rad__log_observer(out));
        *digest = l.kernel->trace.digest;
        if (outcome == RAD_OUTCOME_ERROR) {
            rad__log_discard(out);
            code = rad__error(error, l.kernel->error.code, "%s", l.kernel->error.text);
        } else {
            code = rad__log_keep(out, l.kernel, error);
        }
    }
    rad__policy_destroy(p);
    loom_close(&l);
    return code;
}

static int replay(rad_log_in *in, rad_digest *digest, rad_error *error)
{
    loom l;
    rad_policy *p = NULL;
    int code = loom_open(&l, &rad__log_head(in)->target, error);
    if (code != 0) return code;
    code = rad__policy_replay(&p, rad__log_reader(in), error);
    if (code == 0) {
        loom_run(&l, p, 0, NULL);
        *digest = l.kernel->trace.digest;
        if (l.kernel->error.code) code = rad__error(error, l.kernel->error.code, "%s", l.kernel->error.text);
    }
    rad__policy_destroy(p);
    loom_close(&l);
    return code;
}

static int open_and_replay(rad_digest *digest, rad_error *error)
{
    rad_log_in *in;
    int code = rad__log_open(&in, path, error);
    if (code == 0) code = replay(in, digest, error);
    rad__log_close(in);
    return code;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rad_target t = loom_target((int64_t)seed + 1, 200, seed % 2);
        rad_digest was, is = {0, 0};
        rad_error error = {0};
        t.c.repaired = seed % 3 == 0;
        assert_int_equal(record(&t, seed, 0, &was, &error), 0);
        assert_int_equal(folder_count(folder), 1);
        assert_true(rad_is_log(path));
        int code = open_and_replay(&is, &error);
        assert_string_equal(error.text, "");
        assert_int_equal(code, 0);
        assert_true(rad__digest_equal(was, is));
    }
}

static void test_head(void **state)
{
    (void)state;
    rad_target t = loom_target(4, 10, true);
    rad_digest was;
    rad_error error = {0};
    rad_log_in *in;
    t.c.repaired = true;
    t.c.max_steps = 12345;
    assert_int_equal(record(&t, INT64_MAX, 0, &was, &error), 0);
    assert_int_equal(rad__log_open(&in, path, &error), 0);
    const rad_log_head *h = rad__log_head(in);
    assert_ptr_equal(h->target.machine, &loom_machine);
    assert_true(h->target.c.repaired);
    assert_int_equal(h->target.c.params[0], 4);
    assert_int_equal(h->target.c.params[1], 10);
    assert_int_equal(h->target.c.params[2], 1);
    assert_int_equal(h->target.c.max_steps, 12345);
    assert_int_equal(h->seed, INT64_MAX);
    assert_string_equal(h->policy, "random");
    assert_string_equal(h->build.version, rad_version());
    assert_string_equal(h->build.git_sha, rad_build_git_sha());
    assert_string_equal(h->build.compiler, rad_build_compiler());
    rad__log_close(in);
}

static void test_is_log(void **state)
{
    (void)state;
    rad_error error = {0};
    assert_false(rad_is_log("logs/none"));
    assert_false(rad_is_log(folder));
    assert_int_equal(rad__os_write_file(path, "RADDLELO", 8, &error), 0);
    assert_false(rad_is_log(path));
    assert_int_equal(rad__os_write_file(path, "{\"machine\": 1}", 14, &error), 0);
    assert_false(rad_is_log(path));
    assert_int_equal(rad__os_write_file(path, "RADDLELOG\n", 10, &error), 0);
    assert_true(rad_is_log(path));
}

static void test_size_limit(void **state)
{
    (void)state;
    rad_target t = loom_target(10, 20000, false);
    rad_digest was;
    rad_error error = {0};
    assert_int_equal(record(&t, 1, 50000, &was, &error), RAD_ELIMIT);
    assert_string_equal(error.text, "logs/x.log: the log would be larger than the limit of 50000 bytes");
    assert_int_equal(folder_count(folder), 0);
    error = (rad_error){0};
    assert_int_equal(record(&t, 1, 100, &was, &error), RAD_ELIMIT); /* not even the head */
    assert_string_equal(error.text, "logs/x.log: the log would be larger than the limit of 100 bytes");
    assert_int_equal(folder_count(folder), 0);
}

/* ---- Wrong files ------------------------------------------------------------------------------------ */

/* The words with which the bytes are refused, "" when they are not; reads every record. */
static void words_for(const void *data, size_t size, char words[512])
{
    rad_log_in *in;
    rad_log_record one;
    rad_error error = {0};
    uint8_t *exact = malloc(size ? size : 1);
    if (size) memcpy(exact, data, size);
    if (rad__log_open_bytes(&in, exact, size, "x.log", &error) == 0) {
        while (rad__log_next(rad__log_reader(in), &one, &error) == 1) {
        }
    }
    rad__log_close(in);
    free(exact);
    snprintf(words, 512, "%s", error.text);
}

static void expect_words(const void *data, size_t size, const char *expected)
{
    char words[512];
    words_for(data, size, words);
    assert_string_equal(words, expected);
}

/* A recorded log in memory. */
static char *recorded(int64_t n, int64_t rounds, size_t *size)
{
    rad_target t = loom_target(n, rounds, true);
    rad_digest was;
    rad_error error = {0};
    char *data;
    assert_int_equal(record(&t, 3, 0, &was, &error), 0);
    assert_int_equal(rad__os_read_file(path, 1 << 30, &data, size, &error), 0);
    return data;
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    size_t size;
    char words[512], *data = recorded(3, 40, &size);
    expect_words(data, size, "");
    for (size_t cut = 0; cut < size; cut++) {
        words_for(data, cut, words);
        assert_string_not_equal(words, "");
    }
    expect_words(data, 0, "x.log: not a log: expected \"RADDLELOG\" and a line end at the beginning");
    expect_words(data, 9, "x.log: not a log: expected \"RADDLELOG\" and a line end at the beginning");
    expect_words(data, 10, "x.log: cut off: the file ends within its head");
    expect_words(data, 12, "x.log: cut off: the file ends within its head");
    expect_words(data, 60, "x.log: cut off: the file ends within its head");
    words_for(data, size - 1, words);
    assert_non_null(strstr(words, "x.log: block 0 (byte "));
    assert_non_null(strstr(words, "): the file ends within the block"));
    rad__free(data);
}

static void test_flip_anywhere(void **state)
{
    (void)state;
    size_t size;
    char words[512], *data = recorded(3, 40, &size);
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            data[at] ^= (char)(1 << bit);
            words_for(data, size, words);
            assert_string_not_equal(words, "");
            data[at] ^= (char)(1 << bit);
        }
    }
    data[size - 1] ^= 1;
    words_for(data, size, words);
    assert_non_null(strstr(words, "): checksum does not match"));
    data[size - 1] ^= 1;
    data[40] ^= 1;
    expect_words(data, size, "x.log: head: checksum does not match");
    data[40] ^= 1;
    data[10] = 9;
    expect_words(data, size, "x.log: log version 9 is newer than this raddle understands (1)");
    data[10] = 0;
    expect_words(data, size, "x.log: log version 0 is not what this raddle understands (1)");
    rad__free(data);
}

/* Files by hand: a head, then blocks. */
typedef struct maker {
    uint8_t data[4 << 20];
    size_t size;
} maker;

static void put_frame(maker *m, uint64_t first, uint64_t second, const void *bytes, size_t size)
{
    rad_bytes b = {0};
    rad__bytes_put_varint(&b, first);
    if (second) rad__bytes_put_varint(&b, second);
    uint64_t sum = XXH3_64bits_withSeed(bytes, size, first ^ second << 32);
    rad__bytes_put(&b, &sum, 8);
    rad__bytes_put(&b, bytes, size);
    memcpy(m->data + m->size, b.data, b.size);
    m->size += b.size;
    rad__bytes_free(&b);
}

static const char good_head[] = "{\"build\": {\"version\": \"1\", \"git_sha\": \"a\", \"compiler\": "
                                "\"gcc\"}, \"machine\": \"loom\", \"case\": {\"repaired\": false, "
                                "\"params\": {\"n\": 2, \"rounds\": 1, \"picks\": 0}, \"max_steps\": "
                                "0}, \"policy\": \"random\", \"seed\": 1}";

static maker *with_head(const char *head)
{
    maker *m = calloc(1, sizeof *m);
    memcpy(m->data, "RADDLELOG\n\1", 11);
    m->size = 11;
    put_frame(m, strlen(head), 0, head, strlen(head));
    return m;
}

static const uint8_t good_end[] = {0, 0, 7, 0, 5, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void test_heads(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } cases[] = {
        {"", "", "x.log: record 0 (byte 0): the log ends without its end record"},
        {"\"loom\"", "\"nobody\"", "x.log: machine: unknown machine \"nobody\"; 'raddle list' shows all"},
        {"\"n\": 2", "\"n\": 1", "x.log: case.params.n: expected an integer from 2 to 50000, found 1"},
        {"\"n\": 2, ", "", "x.log: case.params.n: expected an integer from 2 to 50000, found nothing"},
        {"\"n\": 2", "\"m\": 3, \"n\": 2", "x.log: unknown field \"case.params.m\""},
        {"\"seed\": 1", "\"seed\": -1", "x.log: seed: expected an integer from 0 to 9223372036854775807, found -1"},
        {"\"seed\": 1", "\"seed\": 1, \"x\": 0", "x.log: unknown field \"x\""},
        {"\"policy\": \"random\"", "\"policy\": 7", "x.log: policy: expected a string of at most 47 bytes, found 7"},
        {"}, \"machine\"", ", \"machine\"", "x.log:1:201: expected '}', found end of file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strstr(good_head, cases[i].from);
        char head[1024];
        snprintf(head, sizeof head, "%.*s%s%s", (int)(at - good_head), good_head, cases[i].to,
                 at + strlen(cases[i].from));
        maker *m = with_head(head);
        expect_words(m->data, m->size, cases[i].words);
        free(m);
    }
}

static void test_blocks(void **state)
{
    (void)state;
    maker *m = with_head(good_head);
    size_t begin = m->size;
    char words[512];
    put_frame(m, sizeof good_end << 1, 0, good_end, sizeof good_end);
    expect_words(m->data, m->size, "");
    put_frame(m, sizeof good_end << 1, 0, good_end, sizeof good_end);
    expect_words(m->data, m->size, "x.log: record 1 (byte 24): data after the end record");

    m->size = begin;
    put_frame(m, sizeof good_end << 1 | 1, 30, good_end, sizeof good_end); /* not zstd at all */
    snprintf(words, sizeof words, "x.log: block 0 (byte %zu): cannot be unpacked: Unknown frame descriptor", begin);
    expect_words(m->data, m->size, words);

    m->size = begin;
    put_frame(m, 0, 0, "", 0);
    snprintf(words, sizeof words, "x.log: block 0 (byte %zu): expected a size from 1 to 65536, found 0", begin);
    expect_words(m->data, m->size, words);

    m->size = begin;
    static uint8_t large[70000];
    put_frame(m, sizeof large << 1, 0, large, sizeof large);
    snprintf(words, sizeof words, "x.log: block 0 (byte %zu): expected a size from 1 to 65536, found 70000", begin);
    expect_words(m->data, m->size, words);

    m->size = begin;
    put_frame(m, sizeof good_end << 1 | 1, 70000, good_end, sizeof good_end);
    expect_words(m->data, m->size, words);
    free(m);
}

static void test_unpacked_size(void **state)
{
    (void)state;
    size_t size;
    maker *m = with_head(good_head);
    char *data = recorded(3, 400, &size);
    /* The first block of a real log is packed: give it another size, and a checksum to match. */
    size_t at = 11;
    rad_reader r = rad__reader(data + at, size - at);
    uint64_t head = rad__read_varint(&r);
    rad__read_bytes(&r, 8 + head);
    uint64_t first = rad__read_varint(&r), unpacked = rad__read_varint(&r);
    assert_int_equal(first & 1, 1);
    rad__read_bytes(&r, 8);
    size_t begin = m->size;
    put_frame(m, first, unpacked + 1, r.at, first >> 1);
    char words[512];
    snprintf(words, sizeof words, "x.log: block 0 (byte %zu): unpacks to %llu bytes, expected %llu", begin,
             (unsigned long long)unpacked, (unsigned long long)unpacked + 1);
    expect_words(m->data, m->size, words);
    rad__free(data);
    free(m);
}

static void test_missing_block(void **state)
{
    (void)state;
    size_t size;
    char *data = recorded(3, 20000, &size), words[512];
    rad_reader r = rad__reader(data + 11, size - 11);
    uint64_t head = rad__read_varint(&r);
    rad__read_bytes(&r, 8 + head);
    char *second = (char *)r.at;
    uint64_t first = rad__read_varint(&r);
    assert_int_equal(first & 1, 1);
    rad__read_varint(&r);
    rad__read_bytes(&r, 8 + (first >> 1));
    assert_false(r.failed);
    /* Without its first block, the log begins with a later decision. */
    memmove(second, r.at, (size_t)(r.end - r.at));
    words_for(data, size - (size_t)(r.at - (uint8_t *)second), words);
    assert_non_null(strstr(words, "x.log: record 0 (byte 0): sequence gap: expected decision 0, found "));
    rad__free(data);
}

static void test_too_large(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_log_in *in;
    assert_int_equal(rad__os_write_file(path, "RADDLELOG\n", 10, &error), 0);
    assert_int_equal(truncate(path, (256 << 20) + 1), 0); /* a hole: costs nothing */
    assert_int_equal(rad__log_open(&in, path, &error), RAD_EINPUT);
    assert_null(in);
    assert_string_equal(error.text, "logs/x.log: 268435457 bytes, more than the limit of 268435456");
    error = (rad_error){0};
    assert_int_equal(rad__log_open(&in, "logs/none", &error), RAD_EINPUT);
    assert_string_equal(error.text, "logs/none: cannot open: No such file or directory");
}

/* ---- Trouble ---------------------------------------------------------------------------------------- */

static void test_every_call_fails(void **state)
{
    (void)state;
    rad_target t = loom_target(6, 5000, true);
    rad_digest was, is;
    int code = -1;
    for (uint64_t n = 1; code != 0; n++) {
        rad_error error = {0};
        rad__os_fail_at(n);
        code = record(&t, 3, 0, &was, &error);
        rad__os_fail_at(0);
        assert_int_equal(code, error.code);
        assert_true(code == 0 || code == RAD_EIO);
        assert_int_equal(folder_count(folder), code == 0);
        assert_true(n < 1000);
    }
    code = -1;
    for (uint64_t n = 1; code != 0; n++) {
        rad_error error = {0};
        rad__os_fail_at(n);
        code = open_and_replay(&is, &error);
        rad__os_fail_at(0);
        assert_int_equal(code, error.code);
        assert_true(code == 0 || code == RAD_EIO);
        assert_true(n < 1000);
    }
    assert_true(rad__digest_equal(was, is));
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    rad_target t = loom_target(6, 50, true);
    rad_digest was, is;
    int code = -1;
    for (uint64_t n = 1; code != 0; n++) {
        rad_error error = {0};
        rad__alloc_fail_at(n);
        code = record(&t, 3, 0, &was, &error);
        rad__alloc_fail_at(0);
        assert_int_equal(code, error.code);
        assert_true(code == 0 || code == RAD_ENOMEM);
        assert_int_equal(folder_count(folder), code == 0);
        assert_true(n < 1000);
    }
    code = -1;
    for (uint64_t n = 1; code != 0; n++) {
        rad_error error = {0};
        rad__alloc_fail_at(n);
        code = open_and_replay(&is, &error);
        rad__alloc_fail_at(0);
        assert_int_equal(code, error.code);
        assert_true(code == 0 || code == RAD_ENOMEM);
        assert_true(n < 1000);
    }
    assert_true(rad__digest_equal(was, is));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_round_trip, fresh_folder),
        cmocka_unit_test_setup(test_head, fresh_folder),
        cmocka_unit_test_setup(test_is_log, fresh_folder),
        cmocka_unit_test_setup(test_size_limit, fresh_folder),
        cmocka_unit_test_setup(test_cut_anywhere, fresh_folder),
        cmocka_unit_test_setup(test_flip_anywhere, fresh_folder),
        cmocka_unit_test_setup(test_heads, fresh_folder),
        cmocka_unit_test_setup(test_blocks, fresh_folder),
        cmocka_unit_test_setup(test_unpacked_size, fresh_folder),
        cmocka_unit_test_setup(test_missing_block, fresh_folder),
        cmocka_unit_test_setup(test_too_large, fresh_folder),
        cmocka_unit_test_setup(test_every_call_fails, fresh_folder),
        cmocka_unit_test_setup(test_every_allocation_fails, fresh_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
