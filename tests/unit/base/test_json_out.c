/* test_json_out.c — one JSON value, written piece by piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_out.h"

#include <string.h>

static void write_all(rad_json_out *j)
{
    rad__out_text(j, "a\"b", "\\\n\x01\xff\xc3\xa4\xf0\x90\x80\x80\xf4\x80\x80\x80");
    rad__out_text(j, "none", NULL);
    rad__out_open(j, "empty", '{');
    rad__out_close(j, '}');
    rad__out_open(j, "list", '[');
    rad__out_open_line(j, NULL, '{');
    rad__out_count(j, "n", UINT64_MAX);
    rad__out_open(j, "m", '[');
    rad__out_format(j, NULL, "%d", -1);
    rad__out_bool(j, NULL, true);
    rad__out_close(j, ']');
    rad__out_close(j, '}');
    rad__out_open_line(j, NULL, '[');
    rad__out_close(j, ']');
    rad__out_open(j, NULL, '{');
    rad__out_document(j, "as it is", "{\"x\": [1]}");
    rad__out_close(j, '}');
    rad__out_close(j, ']');
    rad__out_count(j, "last", 0);
}

static const char *const LINE[] = {
    [RAD_JSON_UTF8] = "{\n  \"a\\\"b\": \"\\\\\\u000a\\u0001\\ufffd\xc3\xa4\xf0\x90\x80\x80\xf4\x80\x80\x80\",",
    [RAD_JSON_ASCII] = "{\n  \"a\\\"b\": \"\\\\\\u000a\\u0001\\ufffd\\u00e4\\ud800\\udc00\\udbc0\\udc00\",",
};
static const char REST[] = ",\n  \"none\": null,\n  \"empty\": {},\n  \"list\": [\n"
                           "    {\"n\": 18446744073709551615, \"m\": [-1, true]},\n    [],\n"
                           "    {\n      \"as it is\": {\"x\": [1]}\n    }\n  ],\n"
                           "  \"last\": 0\n}\n";

static void commas_lines_and_escapes(void **state)
{
    (void)state;
    for (uint32_t letters = RAD_JSON_UTF8; letters <= RAD_JSON_ASCII; letters++) {
        rad_bytes b = {0};
        rad_json_out j;
        rad__out_begin(&j, &b, letters);
        write_all(&j);
        rad__out_end(&j);
        rad__bytes_put(&b, "", 1);
        const char *text = (const char *)b.data, *rest = strchr(text, ',');
        assert_non_null(rest);
        assert_memory_equal(text, LINE[letters], strlen(LINE[letters]));
        assert_string_equal(rest, REST);
        rad__bytes_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commas_lines_and_escapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
