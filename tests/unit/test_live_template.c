/* test_live_template.c — texts with placeholders, and the requests made from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "load/answer.h"
#include "load/plan.h"

#include <stdio.h>
#include <string.h>

static const char *const columns[] = {"name", "mail"};
static const char *const cells[] = {"anna", "a@x", "ber t", "b@x", "carl\r\nX: y", "c@x"};
static struct rad__load_data files[] = {
    {"people", "people.csv", RAD__LOAD_ROWS_IN_TURN, 2, 3, columns, cells},
    {"drawn", "people.csv", RAD__LOAD_ROWS_DRAWN, 2, 3, columns, cells},
    {"own", "people.csv", RAD__LOAD_ROWS_BY_USER, 2, 3, columns, cells}};
static const char *const variables[] = {"token", "id"};
static rad__load_scenario scenario = {
    .data = files, .data_count = 3, .variables = variables, .variable_count = 2, .users = 5};
static rad__load_value values[] = {{(const uint8_t *)"t k", 3}, {NULL, RAD_NONE}};

static const char *env(const char *name)
{
    return strcmp(name, "KEY") == 0 ? "s3cret" : strcmp(name, "BAD") == 0 ? "a\nb" : NULL;
}

static rad__load_names names = {&scenario, env, "here"};

static const char *filled(const char *text, enum rad__load_place place, uint32_t vu,
                          uint64_t iteration)
{
    static char result[600];
    rad__load_text t = {0};
    rad_bytes out = {0};
    rad_error error = {0};
    if (rad__load_text_add(&t, text, strlen(text), place, &names, &error) != 0) {
        snprintf(result, sizeof result, "%s", error.text);
    } else {
        rad__load_fill fill = rad__load_fill_for(&scenario, 7, vu, iteration, 5, values);
        enum rad__load_fault fault = rad__load_text_put(&t, &fill, &out);
        if (fault == RAD__LOAD_OK)
            snprintf(result, sizeof result, "%.*s", (int)out.size, (const char *)out.data);
        else
            snprintf(result, sizeof result, "fault %d", fault);
    }
    rad__bytes_free(&out);
    rad__load_text_free(&t);
    return result;
}

#define EXPECT(text, place, expected) assert_string_equal(filled(text, place, 2, 9), expected)

static void placeholders_are_filled_in(void **state)
{
    (void)state;
    EXPECT("plain", RAD__LOAD_IN_BODY, "plain");
    EXPECT("", RAD__LOAD_IN_BODY, "");
    EXPECT("u=${vu} i=${iteration} p=${position}", RAD__LOAD_IN_BODY, "u=2 i=9 p=5");
    EXPECT("${env:KEY}", RAD__LOAD_IN_HEADER, "s3cret");
    EXPECT("a$${vu}b", RAD__LOAD_IN_BODY, "a${vu}b");
    EXPECT("$$${vu}", RAD__LOAD_IN_BODY, "$${vu}");
    EXPECT("100$ {} $", RAD__LOAD_IN_BODY, "100$ {} $");
    EXPECT("${var:token}", RAD__LOAD_IN_HEADER, "t k");
    EXPECT("${random:5-5}", RAD__LOAD_IN_BODY, "5");
}

static void values_stay_in_their_place(void **state)
{
    (void)state;
    EXPECT("/x?q=${var:token}", RAD__LOAD_IN_PATH, "/x?q=t%20k");
    assert_string_equal(filled("/${data:own.name}", RAD__LOAD_IN_PATH, 2, 0), "/carl%0D%0AX:%20y");
    assert_string_equal(filled("${data:own.name}", RAD__LOAD_IN_BODY, 2, 0), "carl\r\nX: y");
    char expected[20];
    snprintf(expected, sizeof expected, "fault %d", RAD__LOAD_BAD_REQUEST);
    assert_string_equal(filled("${data:own.name}", RAD__LOAD_IN_HEADER, 2, 0), expected);
    EXPECT("${var:id}", RAD__LOAD_IN_BODY, expected); /* was never extracted */
    static const uint8_t zero[] = {'a', 0, 'b'};
    values[1] = (rad__load_value){zero, 3};
    EXPECT("${var:id}", RAD__LOAD_IN_HEADER, expected);
    EXPECT("${var:id}", RAD__LOAD_IN_PATH, "a%00b");
    values[1] = (rad__load_value){NULL, RAD_NONE};
}

static void mistakes_are_named(void **state)
{
    (void)state;
    EXPECT(
        "x${nope}", RAD__LOAD_IN_BODY,
        "here: ${nope}: no such placeholder; there are env:NAME, data:FILE.COLUMN, var:NAME, vu, "
        "iteration, position, random:LOW-HIGH and uuid");
    EXPECT("${vu", RAD__LOAD_IN_BODY, "here: ${ has no }; write $${ for the text itself");
    EXPECT("${env:NONE}", RAD__LOAD_IN_BODY, "here: ${env:NONE}: not set in the environment");
    EXPECT("${env:BAD}", RAD__LOAD_IN_HEADER,
           "here: ${env:BAD}: has a line break, which a header cannot carry");
    EXPECT("${data:people}", RAD__LOAD_IN_BODY, "here: ${data:people}: expected data:FILE.COLUMN");
    EXPECT("${data:nobody.x}", RAD__LOAD_IN_BODY,
           "here: ${data:nobody.x}: there is no such data file");
    EXPECT("${data:people.age}", RAD__LOAD_IN_BODY,
           "here: ${data:people.age}: the file has no such column");
    EXPECT("${var:other}", RAD__LOAD_IN_BODY,
           "here: ${var:other}: nothing is extracted under this name");
    static const char *const ranges[] = {"random:", "random:1", "random:2-1", "random:1-x",
                                         "random:1-99999999999999999999"};
    for (size_t i = 0; i < 5; i++) {
        char text[60], expected[120];
        snprintf(text, sizeof text, "${%s}", ranges[i]);
        snprintf(expected, sizeof expected,
                 "here: ${%s}: expected random:LOW-HIGH, two whole numbers", ranges[i]);
        EXPECT(text, RAD__LOAD_IN_BODY, expected);
    }
    EXPECT("/a b", RAD__LOAD_IN_PATH, "here: byte 0x20 has to be percent-encoded");
    EXPECT("a\nb", RAD__LOAD_IN_HEADER, "here: byte 0x0a cannot stand in a header");
}

static void rows_are_dealt_out(void **state)
{
    (void)state;
    uint32_t seen[3] = {0};
    for (uint32_t vu = 0; vu < 4; vu++)
        for (uint64_t i = 0; i < 30; i++) {
            rad__load_fill fill = rad__load_fill_for(&scenario, 7, vu, i, 0, NULL);
            assert_int_equal(rad__load_data_row(&fill, 0), (i * 5 + vu) % 3);
            assert_int_equal(rad__load_data_row(&fill, 2), vu % 3);
            uint32_t row = rad__load_data_row(&fill, 1);
            assert_true(row < 3);
            seen[row]++;
            fill.position = 9; /* the row belongs to the iteration */
            assert_int_equal(rad__load_data_row(&fill, 1), row);
        }
    assert_true(seen[0] > 20 && seen[1] > 20 && seen[2] > 20);
    scenario.schedule.model = RAD__LOAD_OPEN; /* the arrival counts, not who serves it */
    for (uint64_t i = 0; i < 20; i++) {
        rad__load_fill one = rad__load_fill_for(&scenario, 7, 0, i, 0, NULL);
        rad__load_fill other = rad__load_fill_for(&scenario, 7, 3, i, 0, NULL);
        assert_int_equal(rad__load_data_row(&one, 0), i % 3);
        assert_int_equal(rad__load_data_row(&one, 1), rad__load_data_row(&other, 1));
    }
    scenario.schedule.model = RAD__LOAD_CLOSED;
}

static void draws_belong_to_their_place(void **state)
{
    (void)state;
    static const char text[] = "${random:0-999999999} ${random:0-999999999} ${uuid}";
    char first[600];
    snprintf(first, sizeof first, "%s", filled(text, RAD__LOAD_IN_BODY, 1, 1));
    assert_string_equal(filled(text, RAD__LOAD_IN_BODY, 1, 1), first);
    assert_string_not_equal(filled(text, RAD__LOAD_IN_BODY, 1, 2), first);
    assert_string_not_equal(filled(text, RAD__LOAD_IN_BODY, 2, 1), first);
    unsigned a, b, version;
    char rest[60];
    assert_int_equal(sscanf(first, "%u %u %*8c-%*4c-%1x%59s", &a, &b, &version, rest), 4);
    assert_true(a != b);
    assert_int_equal(version, 4);
    assert_true(strchr("89ab", rest[4]) != NULL);
    assert_int_equal(strlen(strchr(strchr(first, ' ') + 1, ' ') + 1), 36);
}

/* ---- Requests ---------------------------------------------------------------------------------------------- */

static struct rad__load_target target = {.name = "t", .host = "example.org", .port = "80"};
static const struct rad__load_header headers[] = {{"X-Token", "${var:token}"}, {"Accept", "*/*"}};

static const char *request_text(const struct rad__load_request *r, const char *cookies)
{
    static char result[600];
    rad__load_plan plan;
    rad_error error = {0};
    rad_bytes out = {0};
    rad__load_jar jar = {0};
    rad__load_site site = {"::1", "/", 1, false};
    if (cookies) assert_true(rad__load_jar_take(&jar, cookies, strlen(cookies), &site, 0));
    rad__load_cookies with = {cookies ? &jar : NULL, "::1", false, 0};
    if (rad__load_plan_make(&plan, &scenario, r, &target, env, &error) != 0) {
        snprintf(result, sizeof result, "%s", error.text);
    } else {
        rad__load_fill fill = rad__load_fill_for(&scenario, 7, 2, 9, 5, values);
        enum rad__load_fault fault = rad__load_plan_put(&plan, &fill, &with, &out);
        assert_int_equal(fault, RAD__LOAD_OK);
        snprintf(result, sizeof result, "%.*s", (int)out.size, (const char *)out.data);
        if (plan.is_ready && !cookies) {
            assert_int_equal(plan.ready.size, out.size);
            assert_memory_equal(plan.ready.data, out.data, out.size);
        }
    }
    rad__bytes_free(&out);
    rad__load_jar_free(&jar);
    rad__load_plan_free(&plan);
    return result;
}

static void requests_are_written(void **state)
{
    (void)state;
    struct rad__load_request r = {.name = "r", .method = "GET", .path = "/a"};
    assert_string_equal(request_text(&r, NULL), "GET /a HTTP/1.1\r\nHost: example.org\r\n"
                                                "User-Agent: raddle\r\n\r\n");
    target.base_path = "/v1/";
    target.port = "8080";
    r.path = "/u/${vu}";
    r.headers = headers;
    r.header_count = 2;
    assert_string_equal(request_text(&r, NULL),
                        "GET /v1/u/2 HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: raddle\r\n"
                        "X-Token: t k\r\nAccept: */*\r\n\r\n");
    r = (struct rad__load_request){
        .name = "r", .method = "POST", .path = "/", .body = "n=${iteration}", .body_size = 14};
    target.base_path = NULL;
    assert_string_equal(request_text(&r, NULL),
                        "POST / HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: raddle\r\n"
                        "Content-Length: 3\r\n\r\nn=9");
    r.body_is_file = true; /* as it is */
    assert_string_equal(request_text(&r, NULL),
                        "POST / HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: raddle\r\n"
                        "Content-Length: 14\r\n\r\nn=${iteration}");
    r.body = NULL;
    assert_string_equal(request_text(&r, NULL),
                        "POST / HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: raddle\r\n"
                        "Content-Length: 0\r\n\r\n");
    target.host = "::1";
    target.port = "80";
    r.method = "GET";
    scenario.cookies = true;
    assert_string_equal(request_text(&r, "a=b"), "GET / HTTP/1.1\r\nCookie: a=b\r\nHost: [::1]\r\n"
                                                 "User-Agent: raddle\r\n\r\n");
    static const struct rad__load_header own[] = {
        {"Cookie", "c=d"}, {"hOST", "h"}, {"User-Agent", "me"}};
    r.headers = own;
    r.header_count = 3;
    assert_string_equal(request_text(&r, "a=b"),
                        "GET / HTTP/1.1\r\nCookie: c=d\r\nhOST: h\r\nUser-Agent: me\r\n\r\n");
    scenario.cookies = false;
    target.host = "example.org";
}

static void requests_that_cannot_be(void **state)
{
    (void)state;
    struct rad__load_header h = {"Content-Length", "5"};
    struct rad__load_request r = {
        .name = "r", .method = "GET", .path = "/", .headers = &h, .header_count = 1};
    assert_string_equal(request_text(&r, NULL),
                        "request 'r', header 'Content-Length': is written by "
                        "raddle, from the body");
    h.name = "a b";
    assert_string_equal(request_text(&r, NULL),
                        "request 'r', header 'a b': not a name of a header");
    h = (struct rad__load_header){"X", "${nope}"};
    assert_memory_equal(request_text(&r, NULL), "request 'r', header 'X': ${nope}: no such", 41);
    h.value = "fine";
    r.path = "/${var:x}";
    assert_string_equal(request_text(&r, NULL),
                        "request 'r', path: ${var:x}: nothing is extracted under this name");
    r.method = "GE T";
    assert_string_equal(request_text(&r, NULL), "request 'r': 'GE T' is no method");
}

static void what_is_looked_at_is_kept(void **state)
{
    (void)state;
    struct rad__load_check check = {.of = RAD__LOAD_CHECK_STATUS};
    struct rad__load_extract extract = {.from = RAD__LOAD_FROM_HEADER};
    struct rad__load_request r = {.name = "r",
                                  .method = "HEAD",
                                  .path = "/",
                                  .checks = &check,
                                  .check_count = 1,
                                  .extracts = &extract};
    static const struct {
        enum rad__load_check_of of;
        uint8_t keep;
    } expected[] = {{RAD__LOAD_CHECK_STATUS, 0},
                    {RAD__LOAD_CHECK_SIZE, 0},
                    {RAD__LOAD_CHECK_CONTAINS, RAD__LOAD_KEEP_BODY},
                    {RAD__LOAD_CHECK_HEADER, RAD__LOAD_KEEP_HEADERS},
                    {RAD__LOAD_CHECK_JSON, RAD__LOAD_KEEP_BODY}};
    for (size_t i = 0; i < 5; i++) {
        rad__load_plan plan;
        check.of = expected[i].of;
        assert_int_equal(rad__load_plan_make(&plan, &scenario, &r, &target, env, NULL), 0);
        assert_int_equal(plan.keep, expected[i].keep);
        assert_true(plan.is_head && plan.is_ready);
        rad__load_plan_free(&plan);
    }
    rad__load_plan plan;
    check.of = RAD__LOAD_CHECK_STATUS;
    r.extract_count = 1;
    assert_int_equal(rad__load_plan_make(&plan, &scenario, &r, &target, env, NULL), 0);
    assert_int_equal(plan.keep, RAD__LOAD_KEEP_HEADERS);
    rad__load_plan_free(&plan);
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct rad__load_request r = {.name = "r",
                                  .method = "POST",
                                  .path = "/${vu}",
                                  .headers = headers,
                                  .header_count = 2,
                                  .body = "${uuid}${env:KEY}",
                                  .body_size = 17};
    for (int http2 = 0; http2 < 2; http2++) {
        target.http2 = http2;
        uint64_t n = 1;
        for (;; n++) {
            rad__load_plan plan;
            rad_error error = {0};
            rad_bytes out = {0};
            rad__alloc_fail_at(n);
            int code = rad__load_plan_make(&plan, &scenario, &r, &target, env, &error);
            enum rad__load_fault fault = RAD__LOAD_OK;
            rad__load_fill fill = rad__load_fill_for(&scenario, 7, 2, 9, 5, values);
            if (code == 0) fault = rad__load_plan_put(&plan, &fill, &(rad__load_cookies){0}, &out);
            rad__alloc_fail_at(0);
            rad__load_plan_free(&plan);
            rad__bytes_free(&out);
            if (code == 0 && fault == RAD__LOAD_OK) break;
            assert_int_equal(code ? code : (int)fault,
                             code ? RAD_ENOMEM : (int)RAD__LOAD_NO_DESCRIPTORS);
            assert_true(code == 0 || error.code == RAD_ENOMEM);
        }
        assert_true(n > 5);
    }
    target.http2 = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placeholders_are_filled_in),
        cmocka_unit_test(values_stay_in_their_place),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(rows_are_dealt_out),
        cmocka_unit_test(draws_belong_to_their_place),
        cmocka_unit_test(requests_are_written),
        cmocka_unit_test(requests_that_cannot_be),
        cmocka_unit_test(what_is_looked_at_is_kept),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
