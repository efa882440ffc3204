/* test_live_template.c — texts with placeholders, and the requests made from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json_pull.h"
#include "load/live/answer.h"
#include "load/live/request_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"name", "mail"};
static const char *const cells[] = {"anna", "a@x", "ber t", "b@x", "carl\r\nX: y", "c@x"};
static struct rad__load_data files[] = {{"people", "people.csv", RAD__LOAD_ROWS_IN_TURN, 2, 3, columns, cells},
                                        {"drawn", "people.csv", RAD__LOAD_ROWS_DRAWN, 2, 3, columns, cells},
                                        {"own", "people.csv", RAD__LOAD_ROWS_BY_USER, 2, 3, columns, cells}};
static const char *const variables[] = {"token", "id"};
static rad__load_scenario scenario = {
    .data = files, .data_count = 3, .variables = variables, .variable_count = 2, .users = 5};
static rad__load_value values[] = {{(const uint8_t *)"t k", 3}, {NULL, RAD_NONE}};

static const char *env(const char *name)
{
    static const char *const set[][2] = {{"KEY", "s3cret"}, {"BAD", "a\nb"}, {"LATIN1", "caf\xe9"}};
    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, set[i][0]) == 0) return set[i][1];
    return NULL;
}

static rad__load_names names = {&scenario, env, "here"};

static const char *filled(const char *text, enum rad__load_place place, uint32_t vu, uint64_t iteration)
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
    assert_string_equal(filled("/${data:own.name}", RAD__LOAD_IN_PATH, 2, 0), "/carl%0D%0AX%3A%20y");
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

/* ---- Escapes ------------------------------------------------------------------------------------------------ */

static const char *with(const char *value, size_t size, const char *text, enum rad__load_place place)
{
    values[0] = (rad__load_value){(const uint8_t *)value, (uint32_t)size};
    const char *result = filled(text, place, 2, 9);
    values[0] = (rad__load_value){(const uint8_t *)"t k", 3};
    return result;
}

#define FAILS "fault 26" /* RAD__LOAD_BAD_REQUEST */

static void each_place_has_its_escapes(void **state)
{
    (void)state;
    static const struct {
        const char *value, *url, *header, *form, *in_quotes, *outside;
    } table[] = {
        {"plain-1._~*", "plain-1._~%2A", "plain-1._~*", "plain-1._%7E*", "plain-1._~*", FAILS},
        {"a b", "a%20b", "a b", "a+b", "a b", FAILS},
        {"a+b", "a%2Bb", "a+b", "a%2Bb", "a+b", FAILS},
        {"50%", "50%25", "50%", "50%25", "50%", FAILS},
        {"%41", "%2541", "%41", "%2541", "%41", FAILS}, /* encoded already: so it means %41 */
        {"a/b", "a%2Fb", "a/b", "a%2Fb", "a/b", FAILS},
        {"?a=b&c#d;e", "%3Fa%3Db%26c%23d%3Be", "?a=b&c#d;e", "%3Fa%3Db%26c%23d%3Be", "?a=b&c#d;e", FAILS},
        {"../..", "..%2F..", "../..", "..%2F..", "../..", FAILS},
        {"a:b@c", "a%3Ab%40c", "a:b@c", "a%3Ab%40c", "a:b@c", FAILS},
        {"say \"hi\"", "say%20%22hi%22", "say \"hi\"", "say+%22hi%22", "say \\\"hi\\\"", FAILS},
        {"c:\\d", "c%3A%5Cd", "c:\\d", "c%3A%5Cd", "c:\\\\d", FAILS},
        {"a\r\nX: y", "a%0D%0AX%3A%20y", FAILS, "a%0D%0AX%3A+y", "a\\u000d\\u000aX: y", FAILS},
        {"a\tb", "a%09b", "a\tb", "a%09b", "a\\u0009b", FAILS},
        {"\x01\x7f", "%01%7F", FAILS, "%01%7F", "\\u0001\\u007f", FAILS},
        {"\xc3\xa9\xe2\x82\xac", "%C3%A9%E2%82%AC", "\xc3\xa9\xe2\x82\xac", "%C3%A9%E2%82%AC", "\xc3\xa9\xe2\x82\xac",
         FAILS},
        {"\xe9", "%E9", "\xe9", "%E9", FAILS, FAILS}, /* no UTF-8: no JSON */
        {"", "", "", "", "", FAILS},
        {"-12.5e3", "-12.5e3", "-12.5e3", "-12.5e3", "-12.5e3", "-12.5e3"},
        {"true", "true", "true", "true", "true", "true"},
        {"{\"a\":[1]}", "%7B%22a%22%3A%5B1%5D%7D", "{\"a\":[1]}", "%7B%22a%22%3A%5B1%5D%7D", "{\\\"a\\\":[1]}",
         "{\"a\":[1]}"},
        {"1,\"admin\":true", "1%2C%22admin%22%3Atrue", "1,\"admin\":true", "1%2C%22admin%22%3Atrue",
         "1,\\\"admin\\\":true", FAILS},
        {"1, 2", "1%2C%202", "1, 2", "1%2C+2", "1, 2", FAILS},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *v = table[i].value;
        size_t n = strlen(v);
        char path[200], query[200], quoted[200];
        snprintf(path, sizeof path, "/%s/x", table[i].url);
        snprintf(query, sizeof query, "/?q=%s&r=1", table[i].url);
        bool fails = strcmp(table[i].in_quotes, FAILS) == 0;
        snprintf(quoted, sizeof quoted, fails ? "%s" : "{\"v\":\"%s\"}", table[i].in_quotes);
        assert_string_equal(with(v, n, "/${var:token}/x", RAD__LOAD_IN_PATH), path);
        assert_string_equal(with(v, n, "/?q=${var:token}&r=1", RAD__LOAD_IN_PATH), query);
        assert_string_equal(with(v, n, "${var:token}", RAD__LOAD_IN_HEADER), table[i].header);
        assert_string_equal(with(v, n, "${var:token}", RAD__LOAD_IN_BODY), v);
        assert_string_equal(with(v, n, "${var:token}", RAD__LOAD_IN_FORM), table[i].form);
        assert_string_equal(with(v, n, "{\"v\":\"${var:token}\"}", RAD__LOAD_IN_JSON), quoted);
        assert_string_equal(with(v, n, "${var:token}", RAD__LOAD_IN_JSON), table[i].outside);
    }
}

/* Whatever stands there, the template may want something else. */
static void a_placeholder_may_say_how(void **state)
{
    (void)state;
    static const char v[] = "a/b?c=1&d%20\"e f\"";
    EXPECT("${vu|raw}${iteration|json}${position|url}${random:5-5|form}", RAD__LOAD_IN_BODY, "2955");
    assert_string_equal(with(v, sizeof v - 1, "/${var:token|raw}", RAD__LOAD_IN_PATH),
                        "/a/b?c=1&d%20%22e%20f%22"); /* but no space, and no quotes */
    assert_string_equal(with(v, sizeof v - 1, "${var:token|raw}", RAD__LOAD_IN_JSON), v);
    assert_string_equal(with(v, sizeof v - 1, "${var:token|raw}", RAD__LOAD_IN_FORM), v);
    assert_string_equal(with(v, sizeof v - 1, "${var:token|raw}", RAD__LOAD_IN_HEADER), v);
    assert_string_equal(with(v, sizeof v - 1, "${var:token|url}", RAD__LOAD_IN_BODY),
                        "a%2Fb%3Fc%3D1%26d%2520%22e%20f%22");
    assert_string_equal(with(v, sizeof v - 1, "${var:token|form}", RAD__LOAD_IN_HEADER),
                        "a%2Fb%3Fc%3D1%26d%2520%22e+f%22");
    assert_string_equal(with(v, sizeof v - 1, "${var:token|json}", RAD__LOAD_IN_BODY), "a/b?c=1&d%20\\\"e f\\\"");
    assert_string_equal(with("\r\n\x7f", 3, "${var:token|json}", RAD__LOAD_IN_HEADER), "\\u000d\\u000a\\u007f");
    assert_string_equal(with("\"\n", 2, "/${var:token|json}", RAD__LOAD_IN_PATH), "/%5C%22%5Cu000a");
    assert_string_equal(with("\r\nX: y", 6, "${var:token|raw}", RAD__LOAD_IN_HEADER), FAILS);
    assert_string_equal(with("\r\nX: y", 6, "/${var:token|raw}", RAD__LOAD_IN_PATH), "/%0D%0AX:%20y");
    assert_string_equal(with("a\0b", 3, "/${var:token}", RAD__LOAD_IN_PATH), "/a%00b");
    assert_string_equal(with("a\0b", 3, "\"${var:token}\"", RAD__LOAD_IN_JSON), "\"a\\u0000b\"");
    assert_string_equal(with("a\0b", 3, "${var:token}", RAD__LOAD_IN_HEADER), FAILS);
    EXPECT("${env:KEY|json}", RAD__LOAD_IN_JSON, "s3cret");
    EXPECT("/${env:BAD}", RAD__LOAD_IN_PATH, "/a%0Ab");
    EXPECT("\"${env:BAD}\"", RAD__LOAD_IN_JSON, "\"a\\u000ab\"");
    EXPECT("n=${env:BAD}", RAD__LOAD_IN_FORM, "n=a%0Ab");
}

/* Quotes of the template decide, not those that are escaped, nor those of values. */
static void json_knows_its_strings(void **state)
{
    (void)state;
    EXPECT("{\"a\\\"${var:token}\", \"b\": ${vu}}", RAD__LOAD_IN_JSON, "{\"a\\\"t k\", \"b\": 2}");
    EXPECT("{\"a\\\\\": ${var:token}}", RAD__LOAD_IN_JSON, FAILS);
    assert_string_equal(with("\"", 1, "[\"${var:token}${var:token}\", ${vu}]", RAD__LOAD_IN_JSON), "[\"\\\"\\\"\", 2]");
    assert_string_equal(with("[\"", 2, "[${var:token|raw}x\", \"${var:token}\"]", RAD__LOAD_IN_JSON),
                        FAILS); /* raw quotes are not counted: the next value seems to be outside */
    EXPECT("\\\"${var:token}\"", RAD__LOAD_IN_JSON, "\\\"t k\""); /* only strings have escapes */
}

/* Any value comes out as it went in. */
static void values_survive(void **state)
{
    (void)state;
    rad__load_stream draw = {5};
    for (int i = 0; i < 3000; i++) {
        uint8_t value[40];
        size_t size = rad__load_below(&draw, sizeof value), n = 0;
        for (size_t k = 0; k < size; k++) /* ASCII, so that it is text */
            value[k] = (uint8_t)rad__load_below(&draw, 128);
        rad_bytes out = {0}, text = {0};
        rad__bytes_put(&out, "\"", 1);
        assert_true(rad__load_put_escaped(&out, RAD__LOAD_IN_JSON, RAD__LOAD_ESCAPE_JSON, value, size));
        rad__bytes_put(&out, "\"", 1);
        rad_json_value json;
        assert_int_equal(rad__json_at(out.data, out.size, "", 0, &json, NULL), 0);
        assert_int_equal(json.kind, RAD_JSON_STRING);
        rad__json_put_text(&json, &text);
        assert_int_equal(text.size, size);
        if (size > 0) assert_memory_equal(text.data, value, size);
        for (int form = 0; form < 2; form++) {
            out.size = 0;
            n = 0;
            assert_true(rad__load_put_escaped(&out, form ? RAD__LOAD_IN_FORM : RAD__LOAD_IN_PATH,
                                              form ? RAD__LOAD_ESCAPE_FORM : RAD__LOAD_ESCAPE_URL, value, size));
            for (uint32_t k = 0; k < out.size; k++, n++) {
                unsigned c = out.data[k];
                assert_true(c > 0x20 && c < 0x7f && strchr("/?&=#;", (int)c) == NULL);
                if (c == '%') {
                    assert_int_equal(sscanf((const char *)out.data + k + 1, "%2X", &c), 1);
                    k += 2;
                } else if (c == '+') {
                    assert_true(form);
                    c = ' ';
                }
                assert_int_equal(c, value[n]);
            }
            assert_int_equal(n, size);
        }
        rad__bytes_free(&out);
        rad__bytes_free(&text);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    EXPECT("x${nope}", RAD__LOAD_IN_BODY,
           "here: ${nope}: no such placeholder; expected env:NAME, data:FILE.COLUMN, var:NAME, vu, "
           "iteration, position, random:LOW-HIGH or uuid");
    EXPECT("${vu", RAD__LOAD_IN_BODY, "here: ${ without a } after it; expected a placeholder, or $${ for ${ itself");
    EXPECT("${env:NONE}", RAD__LOAD_IN_BODY, "here: ${env:NONE}: not set in the environment");
    EXPECT("${env:BAD}", RAD__LOAD_IN_HEADER,
           "here: ${env:BAD}: has a line break or another character that no header can carry");
    EXPECT("[${env:KEY}]", RAD__LOAD_IN_JSON, "here: ${env:KEY}: is no JSON value; put it in quotes, or write |raw");
    EXPECT("${env:LATIN1|json}", RAD__LOAD_IN_HEADER, "here: ${env:LATIN1|json}: is not UTF-8, which JSON has to be");
    EXPECT("${vu|xml}", RAD__LOAD_IN_BODY,
           "here: ${vu|xml}: no such escape; expected raw, url, form or json after the |");
    EXPECT("${data:people}", RAD__LOAD_IN_BODY, "here: ${data:people}: expected FILE.COLUMN");
    EXPECT("${data:nobody.x}", RAD__LOAD_IN_BODY, "here: ${data:nobody.x}: there is no such data file");
    EXPECT("${data:people.age}", RAD__LOAD_IN_BODY, "here: ${data:people.age}: the file has no such column");
    EXPECT("${var:other}", RAD__LOAD_IN_BODY, "here: ${var:other}: nothing is extracted under this name");
    static const char *const ranges[] = {"random:", "random:1", "random:2-1", "random:1-x",
                                         "random:1-99999999999999999999"};
    for (size_t i = 0; i < 5; i++) {
        char text[60], expected[160];
        snprintf(text, sizeof text, "${%s}", ranges[i]);
        snprintf(expected, sizeof expected,
                 "here: ${%s}: expected LOW-HIGH, two whole numbers in order, such as ${random:1-100}", ranges[i]);
        EXPECT(text, RAD__LOAD_IN_BODY, expected);
    }
    EXPECT("/a b", RAD__LOAD_IN_PATH, "here: byte 0x20 has to be percent-encoded");
    EXPECT("a\nb", RAD__LOAD_IN_HEADER, "here: byte 0x0a is not allowed in a header");
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
        assert_int_equal(rad__load_data_row(&one, 2), i % 5 % 3);
        assert_int_equal(rad__load_data_row(&other, 2), i % 5 % 3);
        assert_int_equal(one.vu, i % 5);
        assert_int_equal(other.vu, i % 5);
    }
    static const char all[] = "${vu} ${iteration} ${random:1-99} ${uuid} ${data:own.mail}";
    char expected[600];
    snprintf(expected, sizeof expected, "%s", filled(all, RAD__LOAD_IN_BODY, 0, 8));
    assert_memory_equal(expected, "3 8 ", 4);
    for (uint32_t vu = 1; vu < 5; vu++) assert_string_equal(filled(all, RAD__LOAD_IN_BODY, vu, 8), expected);
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
    bool seen[2] = {false, false};
    for (uint64_t i = 0; i < 100; i++) {
        unsigned long drawn = strtoul(filled("${random:70-71}", RAD__LOAD_IN_BODY, 1, i), NULL, 10);
        assert_true(drawn == 70 || drawn == 71); /* both ends included */
        seen[drawn - 70] = true;
    }
    assert_true(seen[0] && seen[1]);
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
    assert_string_equal(request_text(&r, NULL), "POST / HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: raddle\r\n"
                                                "Content-Length: 3\r\n\r\nn=9");
    r.body_is_file = true; /* as it is */
    assert_string_equal(request_text(&r, NULL), "POST / HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: raddle\r\n"
                                                "Content-Length: 14\r\n\r\nn=${iteration}");
    r.body = NULL;
    assert_string_equal(request_text(&r, NULL), "POST / HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: raddle\r\n"
                                                "Content-Length: 0\r\n\r\n");
    target.host = "::1";
    target.port = "80";
    r.method = "GET";
    scenario.cookies = true;
    assert_string_equal(request_text(&r, "a=b"), "GET / HTTP/1.1\r\nCookie: a=b\r\nHost: [::1]\r\n"
                                                 "User-Agent: raddle\r\n\r\n");
    static const struct rad__load_header own[] = {{"Cookie", "c=d"}, {"hOST", "h"}, {"User-Agent", "me"}};
    r.headers = own;
    r.header_count = 3;
    assert_string_equal(request_text(&r, "a=b"), "GET / HTTP/1.1\r\nCookie: c=d\r\nhOST: h\r\nUser-Agent: me\r\n\r\n");
    scenario.cookies = false;
    target.host = "example.org";
}

/* What a body is, its Content-Type says. */
static void bodies_are_what_they_are_called(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *expected;
    } types[] = {
        {"Content-Type", "application/json", "a\\\"b c"},
        {"content-type", "Application/JSON; charset=utf-8", "a\\\"b c"},
        {"CONTENT-TYPE", " application/vnd.api+json;v=1", "a\\\"b c"},
        {"Content-Type", "text/json ;x", "a\\\"b c"},
        {"Content-Type", "application/x-ndjson", "a\\\"b c"},
        {"Content-Type", "application/x-www-form-urlencoded", "a%22b+c"},
        {"Content-Type", "application/X-WWW-Form-Urlencoded;charset=utf-8", "a%22b+c"},
        {"Content-Type", "text/plain", "a\"b c"},
        {"Content-Type", "application/jsonx", "a\"b c"},
        {"Content-Type", "multipart/form-data; boundary=application/json", "a\"b c"},
        {"Content-Type", "application/${env:KEY}", "a\"b c"},
        {"Content-Type", "application/vnd.${env:KEY}+json", "a\\\"b c"},
        {"Content-Type", "", "a\"b c"},
        {"Accept", "application/json", "a\"b c"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct rad__load_header h = {types[i].name, types[i].type};
        struct rad__load_request r = {.name = "r",
                                      .method = "POST",
                                      .path = "/",
                                      .headers = &h,
                                      .header_count = 1,
                                      .body = "\"${var:token}\"",
                                      .body_size = 14};
        values[0] = (rad__load_value){(const uint8_t *)"a\"b c", 5};
        const char *text = strstr(request_text(&r, NULL), "\r\n\r\n\"");
        values[0] = (rad__load_value){(const uint8_t *)"t k", 3};
        assert_non_null(text);
        text += 5;
        if (strlen(text) != strlen(types[i].expected) + 1 ||
            memcmp(text, types[i].expected, strlen(types[i].expected)) != 0)
            fail_msg("%s: %s: %s", types[i].name, types[i].type, text);
    }
}

static void requests_that_cannot_be(void **state)
{
    (void)state;
    struct rad__load_header h = {"Content-Length", "5"};
    struct rad__load_request r = {.name = "r", .method = "GET", .path = "/", .headers = &h, .header_count = 1};
    assert_string_equal(request_text(&r, NULL), "request 'r', header 'Content-Length': is written by "
                                                "raddle, from the body");
    h.name = "a b";
    assert_string_equal(request_text(&r, NULL), "request 'r', header 'a b': not a name of a header");
    h = (struct rad__load_header){"X", "${nope}"};
    assert_memory_equal(request_text(&r, NULL), "request 'r', header 'X': ${nope}: no such", 41);
    h.value = "fine";
    r.path = "/${var:x}";
    assert_string_equal(request_text(&r, NULL), "request 'r', path: ${var:x}: nothing is extracted under this name");
    r.method = "GE T";
    assert_string_equal(request_text(&r, NULL), "request 'r': 'GE T' is no method");
}

static void what_is_looked_at_is_kept(void **state)
{
    (void)state;
    struct rad__load_check check = {.of = RAD__LOAD_CHECK_STATUS};
    struct rad__load_extract extract = {.from = RAD__LOAD_FROM_HEADER};
    struct rad__load_request r = {
        .name = "r", .method = "HEAD", .path = "/", .checks = &check, .check_count = 1, .extracts = &extract};
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
            assert_int_equal(code ? code : (int)fault, code ? RAD_ENOMEM : (int)RAD__LOAD_NO_DESCRIPTORS);
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
        cmocka_unit_test(each_place_has_its_escapes),
        cmocka_unit_test(a_placeholder_may_say_how),
        cmocka_unit_test(json_knows_its_strings),
        cmocka_unit_test(values_survive),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(rows_are_dealt_out),
        cmocka_unit_test(draws_belong_to_their_place),
        cmocka_unit_test(requests_are_written),
        cmocka_unit_test(bodies_are_what_they_are_called),
        cmocka_unit_test(requests_that_cannot_be),
        cmocka_unit_test(what_is_looked_at_is_kept),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
