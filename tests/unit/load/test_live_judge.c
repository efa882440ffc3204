/* test_live_judge.c — checks, extraction, and cookies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "load/live/http1_parse.h"
#include "load/live/jar.h"
#include "load/live/judge.h"
#include "load/log/record.h"

#include <stdio.h>
#include <string.h>

static rad__load_answers shared = {.max_header_bytes = 4000, .max_body_bytes = 100000};

static void read_answer(rad__load_http1 *h, const char *text)
{
    size_t used;
    memset(h, 0, sizeof *h);
    rad__load_http1_begin(h, &shared, RAD__LOAD_KEEP_HEADERS | RAD__LOAD_KEEP_BODY, false);
    assert_int_equal(rad__load_http1_feed(h, text, strlen(text), &used), RAD__LOAD_HTTP1_DONE);
}

#define BODY "{\"a\": {\"b\": [1, \"two\\u00e9\"]}, \"c\": null, \"d\": \"\"}"

static void checks_hold_or_not(void **state)
{
    (void)state;
    static const struct {
        struct rad__load_check check;
        bool holds;
    } cases[] = {
        {{"", RAD__LOAD_CHECK_STATUS, 200, 299, NULL, NULL}, true},
        {{"", RAD__LOAD_CHECK_STATUS, 201, 201, NULL, NULL}, true},
        {{"", RAD__LOAD_CHECK_STATUS, 200, 200, NULL, NULL}, false},
        {{"", RAD__LOAD_CHECK_STATUS, 202, 300, NULL, NULL}, false},
        {{"", RAD__LOAD_CHECK_SIZE, 50, 50, NULL, NULL}, true},
        {{"", RAD__LOAD_CHECK_SIZE, 0, 49, NULL, NULL}, false},
        {{"", RAD__LOAD_CHECK_SIZE, 51, 100, NULL, NULL}, false},
        {{"", RAD__LOAD_CHECK_CONTAINS, 0, 0, NULL, "\"b\": [1"}, true},
        {{"", RAD__LOAD_CHECK_CONTAINS, 0, 0, NULL, ""}, true},
        {{"", RAD__LOAD_CHECK_CONTAINS, 0, 0, NULL, "X-Kind"}, false},
        {{"", RAD__LOAD_CHECK_HEADER, 0, 0, "x-kind", "test"}, true},
        {{"", RAD__LOAD_CHECK_HEADER, 0, 0, "x-kind", "tes"}, false},
        {{"", RAD__LOAD_CHECK_HEADER, 0, 0, "X-KIND", NULL}, true},
        {{"", RAD__LOAD_CHECK_HEADER, 0, 0, "X-Kin", NULL}, false},
        {{"", RAD__LOAD_CHECK_JSON, 0, 0, "/a/b/0", "1"}, true},
        {{"", RAD__LOAD_CHECK_JSON, 0, 0, "/a/b/1", "two\xc3\xa9"}, true},
        {{"", RAD__LOAD_CHECK_JSON, 0, 0, "/a/b/1", "two"}, false},
        {{"", RAD__LOAD_CHECK_JSON, 0, 0, "/c", NULL}, true},
        {{"", RAD__LOAD_CHECK_JSON, 0, 0, "/d", ""}, true},
        {{"", RAD__LOAD_CHECK_JSON, 0, 0, "/e", NULL}, false},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    struct rad__load_check checks[COUNT];
    uint64_t expected = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        checks[i] = cases[i].check;
        if (!cases[i].holds) expected |= UINT64_C(1) << i;
    }
    rad__load_http1 h;
    struct rad__load_request r = {.checks = checks, .check_count = COUNT};
    read_answer(&h, "HTTP/1.1 201 Created\r\nX-Kind:  test \r\nContent-Length: 50\r\n\r\n" BODY);
    assert_int_equal(rad__load_judge_checks(&r, &h.answer), expected);
    rad__load_answer_drop(&shared, &h.answer);
    read_answer(&h, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); /* nothing to look at */
    uint64_t failed = rad__load_judge_checks(&r, &h.answer);
    assert_int_equal(failed >> 10, (UINT64_C(1) << 10) - 1);
    rad__load_answer_drop(&shared, &h.answer);
    read_answer(&h, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"c\": 1,]");
    assert_int_equal(rad__load_judge_checks(&r, &h.answer) >> 17 & 1, 1); /* that is no JSON */
    rad__load_answer_drop(&shared, &h.answer);
}

static void values_are_extracted(void **state)
{
    (void)state;
    static const struct rad__load_extract extracts[] = {
        {0, RAD__LOAD_FROM_HEADER, "location"}, {1, RAD__LOAD_FROM_JSON, "/a/b/1"}, {2, RAD__LOAD_FROM_COOKIE, "sid"},
        {3, RAD__LOAD_FROM_HEADER, "nothing"},  {4, RAD__LOAD_FROM_JSON, "/d"},     {5, RAD__LOAD_FROM_JSON, "/nope"},
        {6, RAD__LOAD_FROM_COOKIE, "si"}};
    struct rad__load_request r = {.extracts = extracts, .extract_count = 7};
    rad__load_http1 h;
    rad_bytes values = {0};
    read_answer(&h, "HTTP/1.1 200 OK\r\nLocation: /x\r\nSet-Cookie: other=1\r\n"
                    "Set-Cookie: sid = abc ; Path=/\r\nContent-Length: 50\r\n\r\n" BODY);
    rad__load_judge_extracts(&r, &h.answer, &values);
    static const char expected[] = "\3/x\6two\xc3\xa9\4abc\0\1\0\0";
    assert_int_equal(values.size, sizeof expected - 1);
    assert_memory_equal(values.data, expected, values.size);
    rad__bytes_free(&values);
    uint64_t n = 1;
    for (;; n++) { /* memory runs out */
        rad__alloc_fail_at(n);
        rad__load_judge_extracts(&r, &h.answer, &values);
        rad__alloc_fail_at(0);
        bool failed = values.failed;
        rad__bytes_free(&values);
        if (!failed) break;
    }
    assert_true(n >= 2);
    rad__load_answer_drop(&shared, &h.answer);
    rad__load_answers_free(&shared);
}

/* Whatever a server sends: all values of an answer fit into one record of a log, which can be read again. */
static void values_fit_into_a_record(void **state)
{
    (void)state;
    static const struct rad__load_extract extracts[] = {{0, RAD__LOAD_FROM_JSON, "/a"},
                                                        {1, RAD__LOAD_FROM_JSON, "/b"},
                                                        {2, RAD__LOAD_FROM_JSON, "/a"},
                                                        {3, RAD__LOAD_FROM_JSON, "/c"}};
    struct rad__load_request r = {.extracts = extracts, .extract_count = 4};
    enum { ALL = RAD__LOAD_VALUES_MAX };
    static char text[2 * ALL];
    uint32_t usual = shared.max_body_bytes;
    shared.max_body_bytes = 2 * ALL;
    for (uint32_t more = 0; more < 2; more++) {
        rad__load_http1 h;
        rad_bytes values = {0}, record = {0};
        char *at = text + 100;
        at += snprintf(at, 20, "{\"a\":\"");
        memset(at, 'x', ALL - 3 + more);
        at += ALL - 3 + more;
        at += snprintf(at, 40, "\",\"b\":\"yy\",\"c\":\"z\"}");
        char head[100];
        int length =
            snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", (int)(at - text - 100));
        memcpy(text + 100 - length, head, (size_t)length);
        read_answer(&h, text + 100 - length);
        rad__load_judge_extracts(&r, &h.answer, &values);
        rad_reader reader = rad__reader(values.data, values.size);
        assert_int_equal(rad__read_varint(&reader), ALL - 3 + more + 1);
        assert_non_null(rad__read_bytes(&reader, ALL - 3 + more));
        assert_int_equal(rad__read_varint(&reader), 3); /* two more bytes fit */
        assert_non_null(rad__read_bytes(&reader, 2));
        assert_int_equal(rad__read_varint(&reader), 0);                 /* the long one does not */
        assert_int_equal(rad__read_varint(&reader), more == 0 ? 2 : 0); /* one byte: just */
        rad__load_input in = {.kind = RAD__LOAD_IN_RESPONSE, .values = values.data, .values_size = values.size};
        struct rad__load_raw raw;
        rad__load_put_input(&record, &in, 0);
        reader = rad__reader(record.data, record.size);
        assert_true(rad__load_get_raw(&reader, &raw));
        rad__bytes_free(&values);
        rad__bytes_free(&record);
        rad__load_answer_drop(&shared, &h.answer);
    }
    rad__load_answers_free(&shared);
    shared.max_body_bytes = usual;
}

/* ---- Cookies ----------------------------------------------------------------------------------------------- */

enum { SECOND = 1000000000 };

static rad__load_site site(const char *host, const char *path, bool tls)
{
    return (rad__load_site){host, path, (uint32_t)strlen(path), tls};
}

static void take(rad__load_jar *jar, const char *text, const char *host, const char *path)
{
    rad__load_site s = site(host, path, true);
    assert_true(rad__load_jar_take(jar, text, strlen(text), &s, 10 * (uint64_t)SECOND));
}

static const char *sent(rad__load_jar *jar, const char *host, const char *path, bool tls, uint64_t seconds)
{
    static char result[2000];
    rad_bytes out = {0};
    rad__load_site s = site(host, path, tls);
    rad__load_jar_put(jar, &s, seconds * SECOND, &out);
    snprintf(result, sizeof result, "%.*s", (int)out.size, out.data ? (const char *)out.data : "");
    rad__bytes_free(&out);
    return result;
}

static void cookies_go_where_they_belong(void **state)
{
    (void)state;
    rad__load_jar jar = {0};
    take(&jar, "host=1", "www.example.org", "/");
    take(&jar, "domain=2; Domain=.Example.org", "www.example.org", "/");
    take(&jar, "foreign=3; domain=example.com", "www.example.org", "/");
    take(&jar, "part=4; domain=ample.org", "www.example.org", "/");
    take(&jar, "secure=5; Secure; HttpOnly", "www.example.org", "/");
    take(&jar, "deep=6; path=/a/b", "www.example.org", "/");
    take(&jar, "folder=7", "www.example.org", "/a/page?x=/y");
    assert_string_equal(sent(&jar, "www.example.org", "/", true, 11), "host=1; domain=2; secure=5");
    assert_string_equal(sent(&jar, "www.example.org", "/", false, 11), "host=1; domain=2");
    assert_string_equal(sent(&jar, "example.org", "/", false, 11), "domain=2");
    assert_string_equal(sent(&jar, "notexample.org", "/", false, 11), "");
    assert_string_equal(sent(&jar, "www.example.org", "/a/b/c", false, 11),
                        "deep=6; folder=7; host=1; domain=2"); /* longer paths first */
    assert_string_equal(sent(&jar, "www.example.org", "/a/bc", false, 11), "folder=7; host=1; domain=2");
    assert_string_equal(sent(&jar, "www.example.org", "/a?b", false, 11), "folder=7; host=1; domain=2");
    rad__load_jar_free(&jar);
    take(&jar, "above=1", "example.org", "/"); /* not for the hosts below it */
    assert_string_equal(sent(&jar, "www.example.org", "/", false, 11), "");
    rad__load_jar_free(&jar);
    take(&jar, "ip=1; domain=0.0.1", "127.0.0.1", "/"); /* numbers have no domains above them */
    assert_int_equal(jar.count, 0);
    rad__load_jar_free(&jar);
}

static void cookies_are_replaced_and_expire(void **state)
{
    (void)state;
    rad__load_jar jar = {0};
    take(&jar, "a=1", "h", "/");
    take(&jar, "b=2; Max-Age=5", "h", "/");
    take(&jar, "a=3", "h", "/");
    assert_string_equal(sent(&jar, "h", "/", false, 14), "b=2; a=3");
    assert_string_equal(sent(&jar, "h", "/", false, 15), "a=3");
    assert_int_equal(jar.count, 1);
    take(&jar, "a=; Max-Age=0", "h", "/");
    assert_int_equal(jar.count, 0);
    take(&jar, "a=1", "h", "/");
    take(&jar, "a=; expires=Thu, 01 Jan 1970 00:00:00 GMT", "h", "/");
    assert_int_equal(jar.count, 0);
    take(&jar, "a=1; Max-Age=9; expires=Thu, 01-Jan-1970 00:00:00 GMT", "h", "/");
    take(&jar, "b=2; expires=Thu, 01 Jan 2099 00:00:00 GMT", "h", "/");
    take(&jar, "c=3; Max-Age=-1", "h", "/");
    take(&jar, "d=4; Max-Age=x", "h", "/");
    assert_string_equal(sent(&jar, "h", "/", false, 11), "a=1; b=2; d=4");
    rad__load_jar_free(&jar);
}

static void jars_are_small(void **state)
{
    (void)state;
    rad__load_jar jar = {0};
    char text[5000];
    static const char *const none[] = {"", "=", "novalue", " =x", ";", "; a=b", " a=b"};
    for (size_t i = 0; i < 7; i++) take(&jar, none[i], "h", "/");
    assert_int_equal(jar.count, 0);
    snprintf(text, sizeof text, "a=%04100d", 0);
    take(&jar, text, "h", "/");
    assert_int_equal(jar.count, 0);
    for (int i = 0; i < RAD__LOAD_COOKIES_MAX + 3; i++) {
        snprintf(text, sizeof text, "c%d=x", i);
        take(&jar, text, "h", "/");
    }
    assert_int_equal(jar.count, RAD__LOAD_COOKIES_MAX);
    assert_memory_equal(sent(&jar, "h", "/", false, 11), "c3=x; c4=x", 10); /* the oldest went */
    rad__load_jar_free(&jar);
    rad__load_site s = site("h", "/", false);
    uint64_t n = 1;
    for (;; n++) {
        rad__alloc_fail_at(n);
        bool kept = rad__load_jar_take(&jar, "a=b", 3, &s, 0);
        rad__alloc_fail_at(0);
        if (kept) break;
        assert_int_equal(jar.count, 0);
    }
    assert_int_equal(n, 3);
    rad__load_jar_free(&jar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_hold_or_not),
        cmocka_unit_test(values_are_extracted),
        cmocka_unit_test(values_fit_into_a_record),
        cmocka_unit_test(cookies_go_where_they_belong),
        cmocka_unit_test(cookies_are_replaced_and_expire),
        cmocka_unit_test(jars_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
