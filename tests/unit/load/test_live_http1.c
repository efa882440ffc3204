/* test_live_http1.c — responses as servers send them, and as they should not, whole and cut everywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/digest_inline.h"
#include "load/live/http1_parse.h"

#include <stdio.h>
#include <string.h>

enum { NOT_KEPT = 0, BOTH = RAD__LOAD_KEEP_HEADERS | RAD__LOAD_KEEP_BODY };

typedef struct sample {
    const char *bytes, *body; /* body NULL: it is a fault */
    enum rad__load_fault fault;
    uint16_t status;
    bool head, keeps_alive, until_close;
    uint32_t rest; /* bytes after its end */
} sample;

static rad__load_answers shared = {.max_header_bytes = 400, .max_body_bytes = 60};

/* Feeds it in pieces of `size` bytes, then the end. Each piece lies alone in memory, and is gone after. */
static enum rad__load_http1_state feed(rad__load_http1 *h, const char *bytes, size_t total, size_t size, size_t *used)
{
    enum rad__load_http1_state state = RAD__LOAD_HTTP1_MORE;
    *used = 0;
    for (size_t at = 0; at < total && state == RAD__LOAD_HTTP1_MORE; at += size) {
        size_t n = total - at < size ? total - at : size, taken;
        char *piece = rad__alloc(1, n);
        assert_non_null(piece);
        memcpy(piece, bytes + at, n);
        state = rad__load_http1_feed(h, piece, n, &taken);
        *used = at + taken;
        memset(piece, '!', n);
        rad__free(piece);
    }
    return state == RAD__LOAD_HTTP1_MORE ? rad__load_http1_finish(h) : state;
}

static void expect(const sample *s, size_t size, uint8_t keep)
{
    rad__load_http1 h = {0};
    size_t used, total = strlen(s->bytes);
    rad__load_http1_begin(&h, &shared, keep, s->head);
    enum rad__load_http1_state state = feed(&h, s->bytes, total, size, &used);
    if (s->body == NULL) {
        if (state != RAD__LOAD_HTTP1_FAULT || h.answer.fault != s->fault)
            fail_msg("pieces of %zu: fault %d, expected %d: %s", size, h.answer.fault, s->fault, s->bytes);
    } else {
        if (state != RAD__LOAD_HTTP1_DONE) fail_msg("pieces of %zu: fault %d: %s", size, h.answer.fault, s->bytes);
        assert_int_equal(h.answer.status, s->status);
        assert_int_equal(h.keeps_alive, s->keeps_alive);
        assert_int_equal(h.answer.body_bytes, strlen(s->body));
        assert_int_equal(h.answer.body_hash, XXH3_64bits(s->body, strlen(s->body)));
        assert_int_equal(total - used, s->rest);
        if (keep & RAD__LOAD_KEEP_BODY && s->body[0]) {
            assert_int_equal(h.answer.kept->body.size, strlen(s->body));
            assert_memory_equal(h.answer.kept->body.data, s->body, strlen(s->body));
        }
    }
    rad__load_answer_drop(&shared, &h.answer);
    assert_int_equal(shared.lent, 0);
}

static void expect_all(const sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t size = 1; size <= strlen(samples[i].bytes) + 1; size++) {
            expect(&samples[i], size, NOT_KEPT);
            expect(&samples[i], size, BOTH);
        }
}

#define OK           "HTTP/1.1 200 OK\r\n"
#define ALL(samples) expect_all(samples, sizeof(samples) / sizeof *(samples))

static void lengths_end_bodies(void **state)
{
    (void)state;
    static const sample samples[] = {
        {OK "Content-Length: 5\r\n\r\nhello", "hello", 0, 200, .keeps_alive = true},
        {OK "Content-Length: 0\r\n\r\n", "", 0, 200, .keeps_alive = true},
        {OK "content-length:5\r\nX:\r\n\r\nhelloHTTP/1.1 500", "hello", 0, 200, .keeps_alive = true, .rest = 12},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "no", 0, 404, .keeps_alive = true},
        {"HTTP/1.1 503\r\nContent-Length: 0\r\n\r\n", "", 0, 503, .keeps_alive = true},
        {OK "Content-Length: 1\r\nConnection: close\r\n\r\nx", "x", .status = 200},
    };
    ALL(samples);
}

static void chunks_end_bodies(void **state)
{
    (void)state;
    static const sample samples[] = {
        {OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world", 0, 200,
         .keeps_alive = true},
        {OK "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", 0, 200, .keeps_alive = true},
        {OK "Transfer-Encoding: chunked\r\n\r\n1;a=b\r\nx\r\n0\r\nTrailer: t\r\n\r\n", "x", 0, 200,
         .keeps_alive = true},
        {OK "Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n00\r\n\r\n!", "0123456789", 0, 200,
         .keeps_alive = true, .rest = 1},
    };
    ALL(samples);
}

static void the_end_of_the_connection_ends_bodies(void **state)
{
    (void)state;
    static const sample samples[] = {
        {OK "\r\nuntil the end", "until the end", .status = 200},
        {OK "\r\n", "", .status = 200},
        {"HTTP/1.0 200 OK\r\n\r\nold", "old", .status = 200},
        {OK "Transfer-Encoding: gzip\r\n\r\nzzz", "zzz", .status = 200},
    };
    ALL(samples);
}

static void old_servers_keep_alive_when_they_say_so(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", "x", 0, 200, .keeps_alive = true},
        {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", .status = 200},
    };
    ALL(samples);
}

static void some_responses_have_no_body(void **state)
{
    (void)state;
    static const sample samples[] = {
        {OK "Content-Length: 5\r\n\r\n", "", 0, 200, .head = true, .keeps_alive = true},
        {OK "Transfer-Encoding: chunked\r\n\r\n", "", 0, 200, .head = true, .keeps_alive = true},
        {"HTTP/1.1 204 No Content\r\n\r\n", "", 0, 204, .keeps_alive = true},
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 700\r\n\r\n", "", 0, 304, .keeps_alive = true},
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nno", "", 0, 304, .keeps_alive = true, .rest = 2},
        {OK "Content-Length: 2\r\n\r\nno", "", 0, 200, .head = true, .keeps_alive = true, .rest = 2},
        {"HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK
         "Content-Length: 1\r\n\r\ny",
         "y", 0, 200, .keeps_alive = true},
    };
    ALL(samples);
}

static void what_is_wrong_has_a_name(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"SSH-2.0-OpenSSH_9.2\r\n", .fault = RAD__LOAD_BAD_RESPONSE},
        {"\x15\x03\x01\x02\x02\x16", .fault = RAD__LOAD_BAD_RESPONSE},
        {"HTTP/1.1 abc OK\r\n\r\n", .fault = RAD__LOAD_BAD_RESPONSE},
        {"HTTP/1.1 101 Switching Protocols\r\n\r\n", .fault = RAD__LOAD_BAD_RESPONSE},
        {"HTTP/3.7 200 OK\r\n\r\n", .fault = RAD__LOAD_HTTP_VERSION},
        {"HTTP/2.0 200 OK\r\n\r\n", .fault = RAD__LOAD_HTTP_VERSION},
        {"", .fault = RAD__LOAD_CLOSED_EARLY},
        {"HTTP/1.1 200 O", .fault = RAD__LOAD_CLOSED_EARLY},
        {OK "Content-Length: 5\r\n", .fault = RAD__LOAD_CLOSED_EARLY},
        {OK "Content-Length: 5\r\n\r\nhell", .fault = RAD__LOAD_WRONG_LENGTH},
        {OK "Content-Length: 5\r\n\r\n", .fault = RAD__LOAD_WRONG_LENGTH},
        {OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", .fault = RAD__LOAD_BAD_HEADER},
        {OK "Content-Length: 5x\r\n\r\nhello", .fault = RAD__LOAD_BAD_HEADER},
        {OK "Content-Length: -1\r\n\r\n", .fault = RAD__LOAD_BAD_HEADER},
        {OK "Content-Length: 99999999999999999999999\r\n\r\n", .fault = RAD__LOAD_BAD_HEADER},
        {OK "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .fault = RAD__LOAD_BAD_HEADER},
        {OK "B\x01"
            "ad: x\r\n\r\n",
         .fault = RAD__LOAD_BAD_HEADER},
        {OK "X: a value with \x1f in it, which is long\r\nContent-Length: 0\r\n\r\n", .fault = RAD__LOAD_BAD_HEADER},
        {OK "X: a value with \x7f in it, which is long\r\nContent-Length: 0\r\n\r\n", .fault = RAD__LOAD_BAD_HEADER},
        {OK "Bad : x\r\n\r\n", .fault = RAD__LOAD_BAD_HEADER},
        {OK "no colon\r\n\r\n", .fault = RAD__LOAD_BAD_HEADER},
        {OK "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", .fault = RAD__LOAD_BAD_CHUNK},
        {OK "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", .fault = RAD__LOAD_BAD_CHUNK},
        {OK "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", .fault = RAD__LOAD_BAD_CHUNK},
        {OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", .fault = RAD__LOAD_CLOSED_EARLY},
        {OK "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", .fault = RAD__LOAD_CLOSED_EARLY},
    };
    ALL(samples);
}

/* A response with `count` headers of `size` bytes each, and a body. */
static void make(rad_bytes *to, uint32_t count, uint32_t size, uint32_t body)
{
    rad__bytes_format(to, OK);
    for (uint32_t i = 0; i < count; i++) rad__bytes_format(to, "H: %0*u\r\n", (int)size - 5, i);
    rad__bytes_format(to, "Content-Length: %u\r\n\r\n%0*u", body, (int)body, 0u);
}

static enum rad__load_fault fault_of(uint32_t count, uint32_t size, uint32_t body, size_t piece, uint8_t keep)
{
    rad__load_http1 h = {0};
    rad_bytes bytes = {0};
    size_t used;
    make(&bytes, count, size, body);
    rad__load_http1_begin(&h, &shared, keep, false);
    feed(&h, (const char *)bytes.data, bytes.size, piece, &used);
    enum rad__load_fault fault = h.answer.fault;
    if (fault == RAD__LOAD_OK) assert_int_equal(h.answer.header_bytes, bytes.size - body);
    rad__load_answer_drop(&shared, &h.answer);
    rad__bytes_free(&bytes);
    return fault;
}

static void limits_are_exact(void **state)
{
    (void)state;
    uint32_t fixed = 17 + 19 + 2; /* status line, Content-Length, empty line */
    for (size_t piece = 1; piece < 1000; piece += 7) {
        uint8_t keep = piece % 2 ? BOTH : NOT_KEPT;
        shared.max_header_bytes = fixed + 360;
        assert_int_equal(fault_of(3, 120, 1, piece, keep), RAD__LOAD_OK);
        assert_int_equal(fault_of(3, 121, 1, piece, keep), RAD__LOAD_BAD_HEADER);
        shared.max_header_bytes = 400;
        assert_int_equal(fault_of(1, 10, 60, piece, keep), RAD__LOAD_OK);
        assert_int_equal(fault_of(1, 10, 61, piece, keep), RAD__LOAD_TOO_LARGE);
    }
    shared.max_header_bytes = 1000000;
    assert_int_equal(fault_of(RAD__LOAD_HEADERS_MAX - 1, 10, 1, 1000, BOTH), RAD__LOAD_OK);
    assert_int_equal(fault_of(RAD__LOAD_HEADERS_MAX, 10, 1, 1000, BOTH), RAD__LOAD_BAD_HEADER);
    assert_int_equal(fault_of(1, 65540, 1, 1000, BOTH), RAD__LOAD_OK);
    assert_int_equal(fault_of(1, 65541, 1, 1000, BOTH), RAD__LOAD_BAD_HEADER);
    shared.max_header_bytes = 400;
}

/* Trailers and extensions without end do not fill the memory, nor do they pass. */
static void trailers_are_limited(void **state)
{
    (void)state;
    static const char *const begins[] = {"1;", "0\r\n", "0\r\nA: "};
    for (size_t i = 0; i < 3; i++) {
        rad__load_http1 h = {0};
        rad_bytes bytes = {0};
        size_t used;
        rad__bytes_format(&bytes, OK "Transfer-Encoding: chunked\r\n\r\n");
        rad__bytes_put(&bytes, begins[i], strlen(begins[i]));
        rad__bytes_format(&bytes, "%0390d", 0);
        rad__load_http1_begin(&h, &shared, BOTH, false);
        assert_int_equal(feed(&h, (const char *)bytes.data, bytes.size, 50, &used), RAD__LOAD_HTTP1_FAULT);
        assert_int_equal(h.answer.fault, RAD__LOAD_CLOSED_EARLY);
        rad__load_answer_drop(&shared, &h.answer);
        rad__bytes_format(&bytes, "x%020d\r\n\r\n", 0);
        rad__load_http1_begin(&h, &shared, BOTH, false);
        assert_int_equal(feed(&h, (const char *)bytes.data, bytes.size, 50, &used), RAD__LOAD_HTTP1_FAULT);
        assert_int_equal(h.answer.fault, i == 0 ? RAD__LOAD_BAD_CHUNK : RAD__LOAD_BAD_HEADER);
        rad__load_answer_drop(&shared, &h.answer);
        rad__bytes_free(&bytes);
    }
}

/* The limit is one for each chunk: a long body may have more in all. */
static void each_chunk_has_extensions(void **state)
{
    (void)state;
    rad__load_http1 h = {0};
    rad_bytes bytes = {0};
    size_t used;
    rad__bytes_format(&bytes, OK "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; i++) rad__bytes_format(&bytes, "1;%0100d\r\nx\r\n", 0);
    rad__bytes_format(&bytes, "0\r\n\r\n");
    rad__load_http1_begin(&h, &shared, BOTH, false);
    assert_int_equal(feed(&h, (const char *)bytes.data, bytes.size, 50, &used), RAD__LOAD_HTTP1_DONE);
    assert_int_equal(h.answer.body_bytes, 20);
    rad__load_answer_drop(&shared, &h.answer);
    rad__bytes_free(&bytes);
}

static void headers_are_kept(void **state)
{
    (void)state;
    static const char bytes[] =
        "HTTP/1.1 100 Continue\r\nNot: this\r\n\r\n" OK "Server: s\r\nEmpty:\r\nSet-Cookie:  a=b; Path=/ \r\n"
        "Content-Length: 0\r\n\r\n";
    static const char *const expected[][2] = {
        {"Server", "s"}, {"Empty", ""}, {"Set-Cookie", "a=b; Path=/"}, {"Content-Length", "0"}};
    for (size_t size = 1; size < sizeof bytes; size++) {
        rad__load_http1 h = {0};
        rad__load_field field;
        size_t used;
        uint32_t at = 0, n = 0;
        rad__load_http1_begin(&h, &shared, RAD__LOAD_KEEP_HEADERS, false);
        assert_int_equal(feed(&h, bytes, sizeof bytes - 1, size, &used), RAD__LOAD_HTTP1_DONE);
        while (rad__load_answer_next(&h.answer, &at, &field)) {
            assert_int_equal(field.name_size, strlen(expected[n][0]));
            assert_memory_equal(field.name, expected[n][0], field.name_size);
            /* Spaces at the end of a value are llhttp's to remove; it leaves them. */
            assert_true(field.value_size >= strlen(expected[n][1]));
            assert_memory_equal(field.value, expected[n][1], strlen(expected[n][1]));
            n++;
        }
        assert_int_equal(n, 4);
        rad__load_answer_drop(&shared, &h.answer);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    static const char bytes[] = OK "Content-Length: 5\r\nA: b\r\n\r\nhello";
    uint64_t n = 1;
    rad__load_answers_free(&shared);
    for (;; n++) {
        rad__load_http1 h = {0};
        size_t used;
        enum rad__load_http1_state reached = RAD__LOAD_HTTP1_MORE;
        rad__load_http1_begin(&h, &shared, BOTH, false);
        rad__alloc_fail_at(n);
        for (size_t i = 0; i < sizeof bytes - 1 && reached == RAD__LOAD_HTTP1_MORE; i++)
            reached = rad__load_http1_feed(&h, bytes + i, 1, &used);
        rad__alloc_fail_at(0);
        uint8_t fault = h.answer.fault;
        rad__load_answer_drop(&shared, &h.answer);
        assert_int_equal(shared.lent, 0);
        if (reached == RAD__LOAD_HTTP1_DONE) break;
        assert_int_equal(fault, RAD__LOAD_NO_DESCRIPTORS);
        rad__load_answers_free(&shared);
    }
    assert_true(n >= 4); /* kept, its two buffers, a hash */
    expect(&(sample){bytes, "hello", 0, 200, .keeps_alive = true}, 1, BOTH);
}

static void what_a_connection_keeps_is_small(void **state)
{
    (void)state;
    assert_true(sizeof(rad__load_http1) <= 200);
    rad__load_answers_free(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_end_bodies),
        cmocka_unit_test(chunks_end_bodies),
        cmocka_unit_test(the_end_of_the_connection_ends_bodies),
        cmocka_unit_test(old_servers_keep_alive_when_they_say_so),
        cmocka_unit_test(some_responses_have_no_body),
        cmocka_unit_test(what_is_wrong_has_a_name),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(trailers_are_limited),
        cmocka_unit_test(each_chunk_has_extensions),
        cmocka_unit_test(headers_are_kept),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(what_a_connection_keeps_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
