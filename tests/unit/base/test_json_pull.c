/* test_json_pull.c — JSON piece by piece, and values by pointer; whatever is passed has to be JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json_pull.h"
#include "base/prng.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- Pieces -------------------------------------------------------------------------------------------- */

/* All pieces, each by a sign and its text; ends with "." or with the error. */
static void pieces(const char *text, size_t size, rad_bytes *out)
{
    static const char signs[] = ".ntf#s[{k]}!";
    rad_json_pull j = rad__json_pull(text, size);
    enum rad_json_kind kind;
    out->size = 0;
    do {
        kind = rad__json_next(&j);
        rad__bytes_put(out, &signs[kind], 1);
        if (kind == RAD_JSON_NUMBER || kind == RAD_JSON_STRING || kind == RAD_JSON_KEY)
            rad__bytes_put(out, j.from, (size_t)(j.at - j.from));
    } while (kind != RAD_JSON_NONE && kind != RAD_JSON_WRONG);
    if (kind == RAD_JSON_WRONG) {
        rad_error error = {0};
        assert_int_equal(rad__json_error(&j, &error), RAD_EINPUT);
        assert_int_equal(rad__json_next(&j), RAD_JSON_WRONG);
        rad__bytes_put(out, error.text, strlen(error.text));
    }
    rad__bytes_put(out, "", 1);
}

static void has_pieces(const char *text, const char *expected)
{
    rad_bytes out = {0};
    /* A copy of its exact size: whatever is read beyond it, a sanitizer sees. */
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    pieces(copy, size, &out);
    assert_string_equal((char *)out.data, expected);
    rad__bytes_free(&out);
    free(copy);
}

static void documents_come_in_pieces(void **state)
{
    (void)state;
    has_pieces("null", "n.");
    has_pieces(" true ", "t.");
    has_pieces("\r\n\tfalse", "f.");
    has_pieces("\"a\"", "s\"a\".");
    has_pieces("[]", "[].");
    has_pieces("{}", "{}.");
    has_pieces("[1,\"x\",[null],{}]", "[#1s\"x\"[n]{}].");
    has_pieces("{ \"a\" : 1 , \"b\\n\" : { \"\" : [ ] } }", "{k\"a\"#1k\"b\\n\"{k\"\"[]}}.");
    has_pieces("[{},[1,2],{\"a\":[3,4]}]", "[{}[#1#2]{k\"a\"[#3#4]}].");
    has_pieces("[[[[]]],{\"a\":{\"b\":[{}]}}]", "[[[[]]]{k\"a\"{k\"b\"[{}]}}].");
}

static void what_is_not_json_says_where(void **state)
{
    (void)state;
    has_pieces("", "!byte 0: expected a value, found the end");
    has_pieces("  ", "!byte 2: expected a value, found the end");
    has_pieces("nul", "!byte 0: expected a value, found 'n'");
    has_pieces("True", "!byte 0: expected a value, found 'T'");
    has_pieces("nullx", "n!byte 4: expected the end of the document, found 'x'");
    has_pieces("1 2", "#1!byte 2: expected the end of the document, found '2'");
    has_pieces("[1 2]", "[#1!byte 3: expected ',' or ']', found '2'");
    has_pieces("[1,]", "[#1!byte 3: expected a value, found ']'");
    has_pieces("[,1]", "[!byte 1: expected a value, found ','");
    has_pieces("[1}", "[#1!byte 2: expected ',' or ']', found '}'");
    has_pieces("[", "[!byte 1: expected a value, found the end");
    has_pieces("]", "!byte 0: expected a value, found ']'");
    has_pieces("{]", "{!byte 1: expected a key or '}', found ']'");
    has_pieces("{1:2}", "{!byte 1: expected a key or '}', found '1'");
    has_pieces("{\"a\"}", "{k\"a\"!byte 4: expected ':' after a key, found '}'");
    has_pieces("{\"a\":}", "{k\"a\"!byte 5: expected a value, found '}'");
    has_pieces("{\"a\":1,}", "{k\"a\"#1!byte 7: expected a key, found '}'");
    has_pieces("{\"a\":1]", "{k\"a\"#1!byte 6: expected ',' or '}', found ']'");
    has_pieces("{\"a\",1}", "{k\"a\"!byte 4: expected ':' after a key, found ','");
    has_pieces("[1]]", "[#1]!byte 3: expected the end of the document, found ']'");
    has_pieces("\xef\xbb\xbf[]", "!byte 0: expected a value, found the byte 0xef");
    has_pieces("/**/1", "!byte 0: expected a value, found '/'");
    has_pieces("'a'", "!byte 0: expected a value, found '''");
    has_pieces("[1\f]", "[#1!byte 2: expected ',' or ']', found the byte 0x0c");
    rad_bytes out = {0};
    pieces("1\0", 2, &out);
    assert_string_equal((char *)out.data, "#1!byte 1: expected the end of the document, found the byte 0x00");
    rad__bytes_free(&out);
}

static void numbers_are_left_as_they_are_written(void **state)
{
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "10",
                                       "1.5",
                                       "-0.0",
                                       "1e5",
                                       "1E+5",
                                       "1e-5",
                                       "0e0",
                                       "0.5e10",
                                       "123456789012345678901234567890",
                                       "1e999999999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rad_bytes out = {0};
        rad__bytes_format(&out, "#%s.", good[i]);
        has_pieces(good[i], (char *)out.data);
        rad__bytes_free(&out);
    }
    has_pieces("01", "#0!byte 1: expected the end of the document, found '1'");
    has_pieces("-01", "#-0!byte 2: expected the end of the document, found '1'");
    has_pieces("-", "!byte 1: expected a digit, found the end");
    has_pieces("+1", "!byte 0: expected a value, found '+'");
    has_pieces(".5", "!byte 0: expected a value, found '.'");
    has_pieces("1.", "!byte 2: expected a digit, found the end");
    has_pieces("1.e5", "!byte 2: expected a digit, found 'e'");
    has_pieces("1e", "!byte 2: expected a digit, found the end");
    has_pieces("1e+", "!byte 3: expected a digit, found the end");
    has_pieces("[-x]", "[!byte 2: expected a digit, found 'x'");
    has_pieces("0x10", "#0!byte 1: expected the end of the document, found 'x'");
    has_pieces("1_000", "#1!byte 1: expected the end of the document, found '_'");
    has_pieces("NaN", "!byte 0: expected a value, found 'N'");
    has_pieces("-Infinity", "!byte 1: expected a digit, found 'I'");
}

static void strings_are_checked(void **state)
{
    (void)state;
    has_pieces("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\"", "s\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\".");
    has_pieces("\"\\ud83d\\uDE00\"", "s\"\\ud83d\\uDE00\".");
    has_pieces("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"", "s\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f\".");
    has_pieces("\"a", "!byte 2: expected '\"' at the end of the string, found the end");
    has_pieces("\"a\n\"", "!byte 2: expected no control character in a string, found the byte 0x0a");
    has_pieces("\"\x1f\"", "!byte 1: expected no control character in a string, found the byte 0x1f");
    has_pieces("\"\\x\"", "!byte 2: expected one of \" \\ / b f n r t u after the backslash, found 'x'");
    has_pieces("\"\\", "!byte 2: expected one of \" \\ / b f n r t u after the backslash, found the "
                       "end");
    has_pieces("\"\\u12g4\"", "!byte 5: expected 4 hexadecimal digits, found 'g'");
    has_pieces("\"\\u12", "!byte 5: expected 4 hexadecimal digits, found the end");
    has_pieces("\"\\udc00\"", "!byte 3: expected no second half of a surrogate pair, found 'd'");
    has_pieces("\"\\ud800\"", "!byte 7: expected the second half of a surrogate pair, found '\"'");
    has_pieces("\"\\ud800\\n\"", "!byte 7: expected the second half of a surrogate pair, found '\\'");
    has_pieces("\"\\ud800\\u0041\"", "!byte 7: expected the second half of a surrogate pair, found '\\'");
    has_pieces("\"\\ud800\\ud800\"", "!byte 7: expected the second half of a surrogate pair, found '\\'");
    has_pieces("\"\xc0\x80\"", "!byte 1: expected UTF-8, found the byte 0xc0");
    has_pieces("{\"\xed\xa0\x80\":1}", "{!byte 2: expected UTF-8, found the byte 0xed");
    has_pieces("\"\xe2\x82", "!byte 1: expected UTF-8, found the byte 0xe2");
}

static void nesting_ends_at_a_limit(void **state)
{
    (void)state;
    char text[4 * RAD_JSON_DEPTH_MAX + 8];
    for (uint32_t depth = RAD_JSON_DEPTH_MAX - 1; depth <= RAD_JSON_DEPTH_MAX + 1; depth++) {
        rad_json_value value;
        rad_error error = {0};
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        int status = rad__json_at(text, 2 * depth, "", 0, &value, &error);
        assert_int_equal(status == 0, depth <= RAD_JSON_DEPTH_MAX);
        if (status != 0)
            assert_string_equal(error.text, "byte 512: expected at most 512 arrays and objects in "
                                            "each other, found '['");
    }
    /* Arrays and objects in turn: each level is closed as it was opened. */
    size_t size = 0;
    for (uint32_t i = 0; i < 100; i++) {
        memcpy(text + size, "[{\"\":", 5);
        size += 5;
    }
    text[size++] = '1';
    for (uint32_t i = 0; i < 100; i++) {
        memcpy(text + size, "}]", 2);
        size += 2;
    }
    rad_json_value value;
    assert_int_equal(rad__json_at(text, size, "/0/", 3, &value, NULL), 0);
    assert_int_equal(value.kind, RAD_JSON_ARRAY);
    assert_int_equal(value.length, size - 7);
    text[size - 1] = '}';
    assert_int_equal(rad__json_at(text, size, "/0/", 3, &value, NULL), RAD_EINPUT);
}

/* ---- Pointers ------------------------------------------------------------------------------------------ */

static const char DOCUMENT[] =
    "{\"list\": [10, {\"x\": \"y\"}, [], null], \"\": 0, \"a/b\": 1, \"m~n\": 2, \"~1\": 3,\n"
    " \"sp ace\": 4, \"q\\\"\\u00e4\\ud83d\\ude00\": 5, \"01\": 6, \"z\\u0000z\": 7, \"t\": true,\n"
    " \"deep\": {\"er\": {\"still\": [[false]]}}, \"text\": \"a\\n\\u20ac\\/\\ud83d\\ude00\"}";

static void at_is_n(const char *document, const char *pointer, size_t length, const char *expected)
{
    rad_json_value value;
    rad_error error = {0};
    assert_true(rad__json_pointer_valid(pointer, length));
    assert_int_equal(rad__json_at(document, strlen(document), pointer, length, &value, &error), 0);
    if (expected == NULL) {
        assert_int_equal(value.kind, RAD_JSON_NONE);
        return;
    }
    assert_int_not_equal(value.kind, RAD_JSON_NONE);
    assert_int_equal(value.length, strlen(expected));
    assert_memory_equal(value.text, expected, value.length);
}

static void at_is(const char *document, const char *pointer, const char *expected)
{
    at_is_n(document, pointer, strlen(pointer), expected);
}

static void pointers_name_values(void **state)
{
    (void)state;
    at_is(DOCUMENT, "", DOCUMENT);
    at_is(DOCUMENT, "/list", "[10, {\"x\": \"y\"}, [], null]");
    at_is(DOCUMENT, "/list/0", "10");
    at_is(DOCUMENT, "/list/1", "{\"x\": \"y\"}");
    at_is(DOCUMENT, "/list/1/x", "\"y\"");
    at_is(DOCUMENT, "/list/2", "[]");
    at_is(DOCUMENT, "/list/3", "null");
    at_is(DOCUMENT, "/", "0");
    at_is(DOCUMENT, "/a~1b", "1");
    at_is(DOCUMENT, "/m~0n", "2");
    at_is(DOCUMENT, "/~01", "3");
    at_is(DOCUMENT, "/sp ace", "4");
    at_is(DOCUMENT, "/q\"\xc3\xa4\xf0\x9f\x98\x80", "5");
    at_is(DOCUMENT, "/01", "6");
    at_is_n(DOCUMENT, "/z\0z", 4, "7");
    at_is(DOCUMENT, "/t", "true");
    at_is(DOCUMENT, "/deep/er/still/0/0", "false");
    at_is(DOCUMENT, "/deep/er/still/0", "[false]");
    at_is(DOCUMENT, "/deep/er", "{\"still\": [[false]]}");
    at_is(" 7 ", "", "7");
    at_is("[[1,2],[3,[4,5]]]", "/1/1/0", "4");
    at_is("[1,2,3,4,5,6,7,8,9,10,11]", "/10", "11");
}

static void pointers_that_name_nothing(void **state)
{
    (void)state;
    at_is(DOCUMENT, "/nothing", NULL);
    at_is(DOCUMENT, "/lis", NULL);
    at_is(DOCUMENT, "/lists", NULL);
    at_is(DOCUMENT, "/list/4", NULL);
    at_is(DOCUMENT, "/list/-", NULL);
    at_is(DOCUMENT, "/list/00", NULL);
    at_is(DOCUMENT, "/list/01", NULL);
    at_is(DOCUMENT, "/list/", NULL);
    at_is(DOCUMENT, "/list/+1", NULL);
    at_is(DOCUMENT, "/list/1x", NULL);
    at_is(DOCUMENT, "/list/18446744073709551616", NULL);
    at_is(DOCUMENT, "/list/18446744073709551615", NULL);
    at_is(DOCUMENT, "/list/0/0", NULL);
    at_is(DOCUMENT, "/list/1/x/y", NULL);
    at_is(DOCUMENT, "/x", NULL);
    at_is(DOCUMENT, "/er", NULL);
    at_is(DOCUMENT, "/deep/still", NULL);
    at_is(DOCUMENT, "/t/", NULL);
    at_is(DOCUMENT, "//", NULL);
    at_is(DOCUMENT, "/z", NULL);
    at_is("[[1],2]", "/1/0", NULL);
    at_is("[[[]],[[7]]]", "/0/0/0", NULL);
    at_is("5", "/0", NULL);
    /* One part more than a document has levels; the last two are no key with a slash in it. */
    enum { LEVELS = RAD_JSON_DEPTH_MAX };
    char deep[2 * (LEVELS + 1)], document[2 * LEVELS + 16];
    for (size_t i = 0; i < sizeof deep; i += 2) memcpy(deep + i, "/0", 2);
    memset(document, '[', LEVELS - 1);
    memcpy(document + LEVELS - 1, "{\"0/0\":1}", 9);
    memset(document + LEVELS + 8, ']', LEVELS - 1);
    document[2 * LEVELS + 7] = 0;
    at_is_n(document, deep, sizeof deep, NULL);
    at_is_n(document, deep, 2 * (LEVELS - 1), "{\"0/0\":1}");
}

static void of_a_key_that_comes_again_the_last_counts(void **state)
{
    (void)state;
    at_is("{\"a\":1,\"a\":2}", "/a", "2");
    at_is("{\"a\":{},\"a\":2}", "/a", "2");
    at_is("{\"a\":1,\"\\u0061\":2,\"b\":3}", "/a", "2");
    at_is("{\"a\":{\"b\":1},\"a\":{\"c\":2}}", "/a/b", NULL);
    at_is("{\"a\":{\"b\":1},\"a\":{\"b\":2}}", "/a/b", "2");
    at_is("{\"a\":{\"b\":1},\"a\":3}", "/a/b", NULL);
    at_is("{\"a\":{\"b\":[1,2],\"b\":[3]},\"c\":{\"b\":[4]}}", "/a/b/0", "3");
    at_is("{\"a\":{\"b\":[1,2],\"b\":[3]}}", "/a/b/1", NULL);
    at_is("{\"a\":{\"a\":1}}", "/a", "{\"a\":1}");
    at_is("{\"a\":{\"a\":1,\"a\":[]}, \"b\":1}", "/a/a", "[]");
}

static void pointers_are_valid_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {{"", true},     {"/", true},   {"/a", true},   {"/~0~1", true}, {"a", false},
                 {"#/a", false}, {"~0", false}, {"/~", false},  {"/~2", false},  {"/a~/b", false},
                 {"/~01", true}, {" /", false}, {"/~~0", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rad__json_pointer_valid(cases[i].text, strlen(cases[i].text)), cases[i].valid);
}

/* Also what is behind the value. */
static void the_whole_document_is_checked(void **state)
{
    (void)state;
    rad_json_value value;
    rad_error error = {0};
    static const char text[] = "{\"a\": 1, \"b\": [tru]}";
    assert_int_equal(rad__json_at(text, strlen(text), "/a", 2, &value, &error), RAD_EINPUT);
    assert_string_equal(error.text, "byte 15: expected a value, found 't'");
    assert_int_equal(value.kind, RAD_JSON_NONE);
    assert_int_equal(rad__json_at(NULL, 0, "", 0, &value, NULL), RAD_EINPUT);
    /* No beginning of a document is one. */
    for (size_t size = 0; size < sizeof DOCUMENT - 1; size++) {
        char *copy = malloc(size ? size : 1);
        memcpy(copy, DOCUMENT, size);
        assert_int_equal(rad__json_at(copy, size, "/t", 2, &value, NULL), RAD_EINPUT);
        free(copy);
    }
}

static void strings_are_decoded_and_other_values_are_not(void **state)
{
    (void)state;
    static const struct {
        const char *pointer, *text;
        size_t size;
    } cases[] = {
        {"/text", "a\n\xe2\x82\xac/\xf0\x9f\x98\x80", 10},
        {"/list/0", "10", 2},
        {"/list/1", "{\"x\": \"y\"}", 10},
        {"/list/1/x", "y", 1},
        {"/t", "true", 4},
        {"/nothing", "", 0},
    };
    rad_json_value value;
    rad_bytes out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        out.size = 0;
        assert_int_equal(
            rad__json_at(DOCUMENT, sizeof DOCUMENT - 1, cases[i].pointer, strlen(cases[i].pointer), &value, NULL), 0);
        rad__json_put_text(&value, &out);
        assert_int_equal(out.size, cases[i].size);
        assert_true(out.size == 0 || memcmp(out.data, cases[i].text, out.size) == 0);
    }
    static const char all[] = "\"\\b\\f\\n\\r\\t\\\"\\\\\\/\\u0000\\u007F\\u0080\\u07ff\\u0800"
                              "\\uFFFF\\ud800\\udc00\\uDBFF\\uDFFF\"";
    static const char decoded[] = "\b\f\n\r\t\"\\/\0\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80"
                                  "\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
    out.size = 0;
    assert_int_equal(rad__json_at(all, strlen(all), "", 0, &value, NULL), 0);
    rad__json_put_text(&value, &out);
    assert_int_equal(out.size, sizeof decoded - 1);
    assert_memory_equal(out.data, decoded, sizeof decoded - 1);
    rad__bytes_free(&out);
    rad__alloc_fail_at(1);
    rad__json_put_text(&value, &out);
    rad__alloc_fail_at(0);
    assert_true(out.failed);
}

/* ---- Beside another reader ------------------------------------------------------------------------------ */

/* A document of drawn characters that JSON likes: now and then it is one. */
static size_t draw_document(rad_prng *r, char *text)
{
    static const char *const words[] = {"[",  "]",    "{",    "}",      ",",     ":",    "\"a\"", "\"b\"",
                                        "1",  "-0.5", "2E-1", "true",   "false", "null", " ",     "\"\\u00e4\"",
                                        "[]", "{}",   "0",    "\"a\":", "[1",    "2]",   "\"\"",  "{\"a\":"};
    size_t size = 0, count = 1 + (size_t)rad__prng_below(r, 9);
    for (size_t i = 0; i < count; i++) {
        const char *word = words[rad__prng_below(r, sizeof words / sizeof *words)];
        memcpy(text + size, word, strlen(word));
        size += strlen(word);
    }
    return size;
}

static void drawn_documents_are_json_for_both_or_for_none(void **state)
{
    (void)state;
    rad_prng r = rad__prng(6, RAD_STREAM_TEST, 0);
    uint32_t good = 0;
    for (uint32_t i = 0; i < 300000; i++) {
        char text[200];
        rad_json_value value;
        size_t size = draw_document(&r, text);
        json_t *other = json_loadb(text, size, JSON_DECODE_ANY, NULL);
        bool fine = rad__json_at(text, size, "", 0, &value, NULL) == 0;
        assert_int_equal(fine, other != NULL);
        good += fine;
        json_decref(other);
    }
    assert_true(good > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_in_pieces),
        cmocka_unit_test(what_is_not_json_says_where),
        cmocka_unit_test(numbers_are_left_as_they_are_written),
        cmocka_unit_test(strings_are_checked),
        cmocka_unit_test(nesting_ends_at_a_limit),
        cmocka_unit_test(pointers_name_values),
        cmocka_unit_test(pointers_that_name_nothing),
        cmocka_unit_test(of_a_key_that_comes_again_the_last_counts),
        cmocka_unit_test(pointers_are_valid_or_not),
        cmocka_unit_test(the_whole_document_is_checked),
        cmocka_unit_test(strings_are_decoded_and_other_values_are_not),
        cmocka_unit_test(drawn_documents_are_json_for_both_or_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
