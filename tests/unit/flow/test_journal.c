/* test_journal.c — journals: written and read back, cut at every byte, every bit flipped, zeros at the end,
 * records missing or exchanged, other versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/prng.h"
#include "flow/journal/journal.h"
#include "flow/run/files.h"

#include <stdio.h>
#include <string.h>

enum { RECORDS = 9 };

static const rad_flow_initial INITIAL[] = {{"n", "12"}, {"who", "you & me"}};
static const rad_flow_journal_header HEADER = {
    .raddle = "0.1.0",
    .hash = "abcdef",
    .flow = "build",
    .case_id = "c1",
    .policy = "random",
    .seed = 77,
    .wall_ns = UINT64_C(1700000000000000000),
    .initial = INITIAL,
    .initial_count = 2,
};

static rad_crc32 crc;

static rad_flow_record record_of(uint32_t i)
{
    static const rad_flow_write writes[] = {{3, "12\0x", 4}, {0, "", 0}};
    rad_flow_record r = {.sequence = i + 1, .wall_ns = 1000 + i, .id = "", .key = "", .text = ""};
    switch (i) {
    case 0:
        r.type = RAD_RECORD_STARTED;
        r.key = "0/3.1#2";
        r.attempt = 2;
        r.run = UINT32_MAX;
        r.task = 4;
        break;
    case 1:
        r.type = RAD_RECORD_INPUT;
        r.step = 300;
        r.digest.low = UINT64_C(0x0123456789abcdef);
        r.input = (rad_flow_input){.kind = RAD_INPUT_RESULT,
                                   .key = "0/3.1#2",
                                   .attempt = 2,
                                   .ok = true,
                                   .name = "",
                                   .writes = writes,
                                   .write_count = 2};
        break;
    case 2:
        r.type = RAD_RECORD_INPUT;
        r.id = "00017-ab";
        r.input = (rad_flow_input){.kind = RAD_INPUT_SIGNAL, .key = "", .name = "go", .text = "now\n", .length = 4};
        break;
    case 3:
        r.type = RAD_RECORD_INPUT;
        r.input =
            (rad_flow_input){.kind = RAD_INPUT_RESULT, .key = "0#1", .attempt = 1, .name = "", .why = "exit status 1"};
        break;
    case 4:
        r.type = RAD_RECORD_INPUT;
        r.input = (rad_flow_input){.kind = RAD_INPUT_CANCEL, .key = "", .scope = RAD_FLOW_PART_REGION, .name = "inner"};
        break;
    case 5: r.type = RAD_RECORD_RESUMED; break;
    case 6:
        r.type = RAD_RECORD_DOUBT;
        r.key = "0#7";
        r.attempt = 1;
        r.run = 2;
        r.settled = RAD_SETTLED_AGAIN;
        break;
    case 7:
        r.type = RAD_RECORD_STOPPED;
        r.key = "0#7";
        r.attempt = 1;
        break;
    default:
        r.type = RAD_RECORD_END;
        r.step = 9999;
        r.state = RAD_CASE_FAILED;
        r.digest = (rad_digest){5, 6};
        r.text = "task x failed";
    }
    return r;
}

/* Where each record begins; the last one is the end. */
static uint32_t places[RECORDS + 1];

static rad_bytes whole(void)
{
    rad_bytes b = {0};
    rad__crc32_open(&crc);
    rad__flow_journal_begin(&b, &crc, &HEADER);
    for (uint32_t i = 0; i < RECORDS; i++) {
        rad_flow_record r = record_of(i);
        places[i] = b.size;
        rad__flow_journal_put(&b, &crc, &r);
    }
    places[RECORDS] = b.size;
    assert_false(b.failed);
    return b;
}

/* How many records could be read; negative: refused. In memory of its own, so that reading too far is noticed. */
static int read_all(const uint8_t *data, size_t size, rad_flow_journal *j, rad_error *error)
{
    uint8_t *exact = rad__alloc(size + 1, 1);
    memcpy(exact, data, size);
    memmove(exact + 1, exact, size);
    static rad_flow_record r;
    int count = 0, got = 0;
    int code = rad__flow_journal_open(j, "j", exact + 1, size, error);
    if (code == 0)
        while ((got = rad__flow_journal_next(j, &r, error)) == 1) count++;
    rad__free(exact);
    return code != 0 ? code : got < 0 ? got : count;
}

static void expect_text(const char *a, const char *b)
{
    assert_string_equal(a != NULL ? a : "", b != NULL ? b : "");
}

static void expect_same(const rad_flow_record *a, const rad_flow_record *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->step, b->step);
    assert_true(rad__digest_equal(a->digest, b->digest));
    expect_text(a->id, b->id);
    expect_text(a->key, b->key);
    expect_text(a->text, b->text);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->run, b->run);
    assert_int_equal(a->task, b->task);
    assert_int_equal(a->settled, b->settled);
    assert_int_equal(a->state, b->state);
    const rad_flow_input *x = &a->input, *y = &b->input;
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->attempt, y->attempt);
    assert_int_equal(x->ok, y->ok);
    assert_int_equal(x->scope, y->scope);
    assert_int_equal(x->length, y->length);
    assert_int_equal(x->text != NULL, y->text != NULL);
    expect_text(x->key, y->key);
    expect_text(x->why, y->why);
    expect_text(x->name, y->name);
    expect_text(x->text, y->text);
    assert_int_equal(x->write_count, y->write_count);
    for (uint32_t i = 0; i < x->write_count; i++) {
        assert_int_equal(x->writes[i].variable, y->writes[i].variable);
        assert_int_equal(x->writes[i].length, y->writes[i].length);
        assert_memory_equal(x->writes[i].text, y->writes[i].text, x->writes[i].length);
    }
}

static void test_there_and_back(void **state)
{
    (void)state;
    static rad_flow_journal j;
    static rad_flow_record r;
    rad_error error = {0};
    rad_bytes b = whole();
    assert_int_equal(rad__flow_journal_open(&j, "j", b.data, b.size, &error), 0);
    assert_string_equal(j.header.raddle, "0.1.0");
    assert_string_equal(j.header.hash, "abcdef");
    assert_string_equal(j.header.flow, "build");
    assert_string_equal(j.header.case_id, "c1");
    assert_string_equal(j.header.policy, "random");
    assert_int_equal(j.header.seed, 77);
    assert_int_equal(j.header.wall_ns, HEADER.wall_ns);
    assert_int_equal(j.header.initial_count, 2);
    assert_string_equal(j.header.initial[1].name, "who");
    assert_string_equal(j.header.initial[1].text, "you & me");
    for (uint32_t i = 0; i < RECORDS; i++) {
        rad_flow_record expected = record_of(i);
        assert_int_equal(rad__flow_journal_next(&j, &r, &error), 1);
        assert_int_equal(r.offset, places[i]);
        expect_same(&r, &expected);
    }
    assert_int_equal(rad__flow_journal_next(&j, &r, &error), 0);
    assert_false(j.torn);
    assert_int_equal(j.at, b.size);
    rad__bytes_free(&b);
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    static rad_flow_journal j;
    rad_bytes b = whole();
    uint32_t complete = 0;
    for (uint32_t size = 0; size <= b.size; size++) {
        rad_error error = {0};
        int got = read_all(b.data, size, &j, &error);
        if (size < places[0]) {
            assert_int_equal(got, RAD_EINPUT);
            continue;
        }
        if (complete < RECORDS && size >= places[complete + 1]) complete++;
        assert_int_equal(got, (int)complete);
        assert_int_equal(j.torn, size != places[complete]);
        assert_int_equal(j.at, places[complete]);
    }
    rad__bytes_free(&b);
}

/* The end of the file is there, but its last bytes were never written. */
static void test_unwritten_from_every_byte(void **state)
{
    (void)state;
    static rad_flow_journal j;
    rad_bytes b = whole();
    uint8_t *copy = rad__alloc(b.size + 100, 1);
    for (uint32_t from = places[0]; from <= b.size; from++) {
        for (uint32_t more = 0; more <= 100; more += 50) {
            rad_error error = {0};
            uint32_t complete = 0;
            memset(copy, 0, b.size + 100);
            memcpy(copy, b.data, from);
            while (complete < RECORDS && from >= places[complete + 1]) complete++;
            assert_int_equal(read_all(copy, b.size + more, &j, &error), (int)complete);
            assert_int_equal(j.at, places[complete]);
            assert_int_equal(j.torn, from < b.size || more > 0);
        }
    }
    rad__free(copy);
    rad__bytes_free(&b);
}

/* What a record says may look like the head of another one, up to its sum, and it is torn all the same. */
static void test_torn_with_a_head_in_it(void **state)
{
    (void)state;
    rad_bytes b = {0}, inner = {0};
    rad_flow_record r = record_of(0), signal = record_of(2);
    rad_flow_journal j;
    rad_error error = {0};
    rad__flow_journal_put(&inner, &crc, &r);
    inner.data[inner.size - 3] ^= 1; /* in the sum of its content */
    signal.sequence = 1;
    signal.input.text = (const char *)inner.data;
    signal.input.length = inner.size;
    rad__flow_journal_begin(&b, &crc, &HEADER);
    uint32_t begin = b.size;
    rad__flow_journal_put(&b, &crc, &signal);
    assert_false(b.failed || inner.failed);
    for (uint32_t size = begin + 1; size < b.size; size++) {
        assert_int_equal(rad__flow_journal_open(&j, "j", b.data, size, &error), 0);
        assert_int_equal(rad__flow_journal_next(&j, &r, &error), 0);
        assert_true(j.torn);
    }
    rad__bytes_free(&b);
    rad__bytes_free(&inner);
}

static void test_flip_every_bit(void **state)
{
    (void)state;
    static rad_flow_journal j;
    rad_bytes b = whole();
    for (uint32_t bit = 0; bit < b.size * 8; bit++) {
        rad_error error = {0};
        char place[64];
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(read_all(b.data, b.size, &j, &error), RAD_EINPUT);
        uint32_t record = 0;
        while (bit / 8 >= places[record + 1]) record++;
        snprintf(place, sizeof place, "damaged at byte %lu, record %lu", (unsigned long)places[record],
                 (unsigned long)record + 1);
        if (bit / 8 >= places[0] && strstr(error.text, place) == NULL)
            fail_msg("bit %lu: %s", (unsigned long)bit, error.text);
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    rad_error error = {0};
    assert_int_equal(read_all(b.data, b.size, &j, &error), RECORDS);
    rad__bytes_free(&b);
}

static void expect_refused(const uint8_t *data, size_t size, const char *text)
{
    static rad_flow_journal j;
    rad_error error = {0};
    assert_int_equal(read_all(data, size, &j, &error), RAD_EINPUT);
    if (strstr(error.text, text) == NULL) fail_msg("%s", error.text);
}

static void test_records_missing(void **state)
{
    (void)state;
    rad_bytes b = whole();
    for (uint32_t gone = 0; gone + 1 < RECORDS; gone++) {
        rad_bytes c = {0};
        char text[64];
        rad__bytes_put(&c, b.data, places[gone]);
        rad__bytes_put(&c, b.data + places[gone + 1], b.size - places[gone + 1]);
        snprintf(text, sizeof text, "byte %lu, record %lu: its number is another", (unsigned long)places[gone],
                 (unsigned long)gone + 1);
        expect_refused(c.data, c.size, text);
        rad__bytes_free(&c);
    }
    /* Zeros in the middle, with whole records behind them, are no torn end. */
    memset(b.data + places[3], 0, places[4] - places[3]);
    expect_refused(b.data, b.size, "record 4");
    b.data[b.size - 1] = 0; /* even when the last one is unwritten */
    expect_refused(b.data, b.size, "record 4");
    rad__bytes_free(&b);
}

static void test_another_version(void **state)
{
    (void)state;
    rad_bytes b = whole();
    b.data[8] = 7;
    expect_refused(b.data, b.size, "j: a journal of version 7, but this program reads and writes version 1");
    expect_refused((const uint8_t *)"{\"a\": 1}", 8, "j: not the journal of a flow");
    expect_refused((const uint8_t *)"", 0, "j: not the journal of a flow");
    rad__bytes_free(&b);
}

/* Right sums around content that no writer writes. */
static void test_content_that_makes_no_sense(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        rad_bytes b = {0};
        rad_flow_record r = record_of(i == 3 ? 8 : i == 2 ? 6 : 1);
        r.sequence = 1;
        if (i == 0) r.input.kind = RAD_INPUT_KINDS;
        if (i == 1) r.input.scope = (enum rad_flow_part)3;
        if (i == 2) r.settled = RAD_SETTLEDS;
        if (i == 3) r.state = (enum rad_flow_state)(RAD_CASE_BROKEN + 1);
        rad__flow_journal_begin(&b, &crc, &HEADER);
        rad__flow_journal_put(&b, &crc, &r);
        expect_refused(b.data, b.size, "makes no sense");
        rad__bytes_free(&b);
    }
}

enum { FILE_HEAD = 16, RECORD_HEAD = 18, RECORD_TAIL = 5 };

/* Right sums over whatever is there. */
static void seal_header(rad_bytes *b, uint32_t payload)
{
    memcpy(b->data + 12, &payload, sizeof payload);
    uint32_t sum = rad__crc32(&crc, b->data, FILE_HEAD + payload);
    memcpy(b->data + FILE_HEAD + payload, &sum, sizeof sum);
}

static void seal_record(rad_bytes *b, uint32_t at, uint32_t payload)
{
    uint8_t *head = b->data + at;
    memcpy(head, &payload, sizeof payload);
    uint32_t sum = rad__crc32(&crc, head, 13);
    memcpy(head + 13, &sum, sizeof sum);
    sum = rad__crc32(&crc, head, RECORD_HEAD + payload);
    memcpy(head + RECORD_HEAD + payload, &sum, sizeof sum);
    head[RECORD_HEAD + payload + 4] = 0x5a;
}

/* A journal with one record, and room for a byte more; where the record begins. */
static uint32_t one_record(rad_bytes *b, uint32_t i)
{
    rad_flow_record r = record_of(i);
    r.sequence = 1;
    rad__flow_journal_begin(b, &crc, &HEADER);
    uint32_t at = b->size;
    rad__flow_journal_put(b, &crc, &r);
    rad__bytes_put(b, "", 1);
    assert_false(b->failed);
    return at;
}

/* A number with a last byte that adds nothing: that is read, too. */
static bool is_overlong(const uint8_t *at)
{
    return at[0] >= 0x80 && at[1] == 0;
}

/* Refused; or what was read, written again, is what was read. */
static bool is_refused_or_exact(const uint8_t *data, size_t size)
{
    static rad_flow_journal j;
    static rad_flow_record r;
    rad_error error = {0};
    rad_bytes again = {0};
    int got = rad__flow_journal_open(&j, "j", data, size, &error);
    if (got == 0) got = rad__flow_journal_next(&j, &r, &error);
    if (got < 0) return true;
    assert_int_equal(got, 1);
    rad__flow_journal_begin(&again, &crc, &j.header);
    rad__flow_journal_put(&again, &crc, &r);
    bool exact = again.size == size && memcmp(again.data, data, size) == 0;
    rad__bytes_free(&again);
    return exact;
}

/* Nothing is read that no writer writes: every byte of every content, replaced, and one more or less at the end. */
static void test_what_is_read_can_be_written(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 1, 2, 3, 9, 0x20, 0x7f, 0x80, 0xff};
    for (uint32_t i = 0; i < RECORDS; i++) {
        rad_bytes b = {0};
        uint32_t at = one_record(&b, i), whole = b.size - 1;
        uint32_t header = at - FILE_HEAD - 4, payload = whole - at - RECORD_HEAD - RECORD_TAIL;
        for (uint32_t k = FILE_HEAD; k < at + RECORD_HEAD + payload; k++) {
            uint8_t old = b.data[k];
            if (k >= FILE_HEAD + header && k < at + RECORD_HEAD) continue;
            for (uint32_t v = 0; v < sizeof values + 2; v++) {
                b.data[k] = v < sizeof values ? values[v] : (uint8_t)(old + (v % 2 ? 1 : -1));
                if (is_overlong(b.data + k - 1) || is_overlong(b.data + k)) continue;
                if (k < at)
                    seal_header(&b, header);
                else
                    seal_record(&b, at, payload);
                if (!is_refused_or_exact(b.data, whole)) fail_msg("record %u: %u at byte %u is taken", i, b.data[k], k);
            }
            b.data[k] = old;
            seal_header(&b, header);
            seal_record(&b, at, payload);
        }
        assert_int_equal(read_all(b.data, whole, &(rad_flow_journal){0}, &(rad_error){0}), 1);
        seal_record(&b, at, payload + 1);
        assert_true(is_refused_or_exact(b.data, whole + 1));
        seal_record(&b, at, payload - 1);
        assert_true(is_refused_or_exact(b.data, whole - 1));
        rad__bytes_free(&b);
    }
}

/* Types that there are not, and sizes beyond all bounds, with right sums. */
static void test_heads_that_make_no_sense(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 256; type++) {
        rad_bytes b = {0};
        uint32_t at = one_record(&b, 5), payload = b.size - 1 - at - RECORD_HEAD - RECORD_TAIL;
        b.data[at + 12] = (uint8_t)type;
        seal_record(&b, at, payload);
        if (type == 0 || type >= RAD_RECORD_TYPES)
            expect_refused(b.data, b.size - 1, "its head is not as it was written");
        b.data[at + 12] = RAD_RECORD_RESUMED;
        seal_record(&b, at, payload);
        b.data[at + 17] ^= 0xff; /* the mark behind the head */
        expect_refused(b.data, b.size - 1, "its head is not as it was written");
        rad__bytes_free(&b);
    }
}

/* Receipts: whole, or refused. */
static void test_receipts(void **state)
{
    (void)state;
    rad_bytes b = {0};
    rad_error error = {0};
    rad_flow_receipt r, receipt = {.key = "0/3.1#2",
                                   .attempt = 2,
                                   .run = 3,
                                   .began_ns = 1000,
                                   .ended_ns = 70000,
                                   .status = 4,
                                   .signal = 9,
                                   .output = "said\n",
                                   .output_size = 5};
    rad__flow_receipt_put(&b, &receipt);
    assert_int_equal(rad__flow_receipt_read(&r, "r", b.data, b.size, &error), 0);
    assert_string_equal(r.key, "0/3.1#2");
    assert_true(r.attempt == 2 && r.run == 3 && r.began_ns == 1000 && r.ended_ns == 70000);
    assert_true(r.status == 4 && r.signal == 9 && r.flags == 0 && r.output_size == 5);
    assert_memory_equal(r.output, "said\n", 5);
    for (uint32_t size = 0; size < b.size; size++) {
        rad__error_clear(&error);
        assert_int_equal(rad__flow_receipt_read(&r, "r", b.data, size, &error), RAD_EINPUT);
        assert_string_equal(error.text, "r: damaged: it is not as it was written");
    }
    for (uint32_t bit = 0; bit < b.size * 8; bit++) {
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        rad__error_clear(&error);
        assert_int_equal(rad__flow_receipt_read(&r, "r", b.data, b.size, &error), RAD_EINPUT);
        assert_string_equal(error.text, "r: damaged: it is not as it was written");
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    rad__bytes_free(&b);
}

/* As many of everything as there may be are read, and one more is refused. */
static void test_limits(void **state)
{
    (void)state;
    static rad_flow_initial initial[RAD_JOURNAL_INITIAL_MAX + 1];
    static rad_flow_write writes[RAD_FLOW_VARIABLES_MAX + 1];
    for (uint32_t i = 0; i <= RAD_JOURNAL_INITIAL_MAX; i++) initial[i] = (rad_flow_initial){"name", "text"};
    for (uint32_t i = 0; i <= RAD_FLOW_VARIABLES_MAX; i++) writes[i] = (rad_flow_write){i, "v", 1};
    for (uint32_t more = 0; more < 4; more++) {
        static rad_flow_journal j;
        rad_bytes b = {0};
        rad_error error = {0};
        rad_flow_journal_header header = HEADER;
        rad_flow_record r = record_of(1);
        header.initial = initial;
        header.initial_count = RAD_JOURNAL_INITIAL_MAX + more % 2;
        r.sequence = 1;
        r.input.writes = writes;
        r.input.write_count = RAD_FLOW_VARIABLES_MAX + more / 2;
        r.input.attempt = UINT32_MAX;
        rad__flow_journal_begin(&b, &crc, &header);
        rad__flow_journal_put(&b, &crc, &r);
        assert_int_equal(read_all(b.data, b.size, &j, &error), more == 0 ? 1 : RAD_EINPUT);
        if (more % 2 == 1) assert_non_null(strstr(error.text, "its header is damaged"));
        if (more == 2) assert_non_null(strstr(error.text, "its content makes no sense"));
        rad__bytes_free(&b);
    }
}

/* Every word of the format can be read. */
static void test_all_kinds(void **state)
{
    (void)state;
    static rad_flow_journal j;
    rad_bytes b = {0};
    rad_error error = {0};
    uint32_t count = 0;
    rad__flow_journal_begin(&b, &crc, &HEADER);
    for (uint32_t i = 0; i <= RAD_CASE_BROKEN; i++) {
        rad_flow_record end = record_of(8), input = record_of(4), doubt = record_of(6);
        end.sequence = ++count;
        end.state = (enum rad_flow_state)i;
        rad__flow_journal_put(&b, &crc, &end);
        input.sequence = ++count;
        input.input.scope = (enum rad_flow_part)(i % (RAD_FLOW_PART_CASE + 1));
        input.input.kind = (enum rad_flow_input_kind)(1 + i % (RAD_INPUT_KINDS - 1));
        rad__flow_journal_put(&b, &crc, &input);
        doubt.sequence = ++count;
        doubt.settled = (enum rad_flow_settled)(i % RAD_SETTLEDS);
        rad__flow_journal_put(&b, &crc, &doubt);
    }
    assert_int_equal(read_all(b.data, b.size, &j, &error), (int)count);
    rad__bytes_free(&b);
    static const char *const names[] = {"?", "input", "started", "stopped", "resumed", "doubt", "end", "?"};
    for (uint32_t i = 0; i <= RAD_RECORD_TYPES; i++) {
        const char *name = rad__flow_record_name((enum rad_flow_record_type)i);
        bool known = false;
        for (uint32_t k = 0; k < 8; k++) known |= strcmp(name, names[k]) == 0;
        assert_true(known);
        assert_int_equal(strcmp(name, "?") == 0, i == 0 || i == RAD_RECORD_TYPES);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t n = 1;
    for (;; n++) {
        rad_bytes b = {0};
        rad__alloc_fail_at(n);
        rad__flow_journal_begin(&b, &crc, &HEADER);
        for (uint32_t i = 0; i < RECORDS; i++) {
            rad_flow_record r = record_of(i);
            rad__flow_journal_put(&b, &crc, &r);
        }
        rad__alloc_fail_at(0);
        bool failed = b.failed;
        rad__bytes_free(&b);
        if (!failed) break;
    }
    assert_true(n > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_unwritten_from_every_byte),
        cmocka_unit_test(test_torn_with_a_head_in_it),
        cmocka_unit_test(test_flip_every_bit),
        cmocka_unit_test(test_records_missing),
        cmocka_unit_test(test_another_version),
        cmocka_unit_test(test_content_that_makes_no_sense),
        cmocka_unit_test(test_what_is_read_can_be_written),
        cmocka_unit_test(test_heads_that_make_no_sense),
        cmocka_unit_test(test_receipts),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_all_kinds),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("flow_journal", tests, NULL, NULL);
}
