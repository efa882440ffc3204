/* test_toml.c — the values of a TOML file: strings, numbers, dates, arrays, and the characters they are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "toml_support.h"

#include "../../support/toml_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of `v` in a document of one line; *doc is to be freed. */
static rad_toml_node *value_of(rad_toml *doc, const char *text)
{
    char line[400];
    snprintf(line, sizeof line, "v = %s", text);
    *doc = toml_open(line, strlen(line));
    return rad__toml_get(doc->root, "v");
}

static bool value_is_fine(const char *text)
{
    char line[400];
    return toml_accepts(line, (size_t)snprintf(line, sizeof line, "v = %s", text));
}

/* ---- Strings ------------------------------------------------------------------------------------------- */

static void basic_strings_have_escapes(void **state)
{
    (void)state;
    toml_means("a = \"\"", "{\"a\": string }");
    toml_means("a = \"one 'two' # three\"", "{\"a\": string one 'two' # three}");
    toml_means("a = \"\\b\\t\\n\\f\\r\\\"\\\\\"", "{\"a\": string \\u0008\\u0009\\u000a\\u000c\\u000d\\\"\\\\}");
    toml_means("a = \"x\\u00e4y\\U0001F600z\"", "{\"a\": string x\xc3\xa4y\xf0\x9f\x98\x80z}");
    toml_means("a = \"\\u0000\\u007f\"", "{\"a\": string \\u0000\\u007f}");
    toml_means("a = \"tab\there\"", "{\"a\": string tab\\u0009here}");
    toml_refused("a = \"\\x41\"", "1:7: expected one of b t n f r \" \\ u U after the backslash, found 'x41'");
    toml_refused("a = \"\\e\"", "1:7: expected one of b t n f r \" \\ u U after the backslash, found 'e'");
    toml_refused("a = \"\\u12g4\"", "1:10: expected 4 hexadecimal digits after \\u, found 'g4'");
    toml_refused("a = \"\\U0001F60\"", "1:15: expected 8 hexadecimal digits after \\U, found '\"'");
    toml_refused("a = \"abc\nd\"", "1:9: expected \", found the end of the line; the string begins at 1:5");
    toml_refused("a = \"\\n\\", "1:9: expected one of b t n f r \" \\ u U after the backslash, found the end of "
                                "the file");
    toml_refused("a = \"\\\n\"", "1:7: expected one of b t n f r \" \\ u U after the backslash, found the end of "
                                 "the line");
}

static void literal_strings_have_none(void **state)
{
    (void)state;
    toml_means("a = 'C:\\new\\u0041 \"q\"'", "{\"a\": string C:\\\\new\\\\u0041 \\\"q\\\"}");
    toml_means("a = ''", "{\"a\": string }");
    toml_refused("a = 'it''s'", "1:9: expected the end of the line, found '''");
    toml_refused("\n a = 'abc", "2:10: expected ', found the end of the file; the string begins at 2:6");
}

static void strings_of_several_lines(void **state)
{
    (void)state;
    toml_means("a = \"\"\"\none\ntwo\"\"\"", "{\"a\": string one\\u000atwo}");
    toml_means("a = \"\"\"\n\none\"\"\"", "{\"a\": string \\u000aone}");
    toml_means("a = '''\none\\\ntwo'''", "{\"a\": string one\\\\\\u000atwo}");
    toml_means("a = \"\"\"one\\ntwo\"\"\"", "{\"a\": string one\\u000atwo}");
    toml_means("a = \"\"\"one \\\n\n   \t two\"\"\"", "{\"a\": string one two}");
    toml_means("a = \"\"\"one\\  \t\n   two\"\"\"", "{\"a\": string onetwo}");
    toml_means("a = \"\"\"one\\\n   \"\"\"", "{\"a\": string one}");
    toml_means("a = \"\"\"\\\n  \\\n  x\"\"\"", "{\"a\": string x}");
    toml_refused("a = \"\"\"one\\ two\"\"\"",
                 "1:12: expected one of b t n f r \" \\ u U or a line end after the backslash, "
                 "found ' '");
    toml_refused("a = '''one\n\n two''", "3:7: expected ''', found the end of the file; the string begins at 1:5");
}

static void up_to_two_quotes_belong_to_three(void **state)
{
    (void)state;
    toml_means("a = \"\"\"\"one\"\"\"\"", "{\"a\": string \\\"one\\\"}");
    toml_means("a = \"\"\"\"\"one\"\"\"\"\"", "{\"a\": string \\\"\\\"one\\\"\\\"}");
    toml_means("a = '''one''two'''''", "{\"a\": string one''two''}");
    toml_means("a = \"\"\"\"\"\"", "{\"a\": string }");
    toml_means("a = ''''''", "{\"a\": string }");
    toml_refused("a = \"\"\"one\"\"\"\"\"\"", "1:16: expected the end of the line, found '\"'");
    toml_refused("a = ''''one''''''", "1:17: expected the end of the line, found '''");
}

/* A file means the same whichever line ends it has. */
static void carriage_returns_before_line_feeds_change_nothing(void **state)
{
    (void)state;
    static const char plain[] = "# comment\n[t]\na = \"\"\"\none\\\n  two\nthree \\  \n \n\tx\"\"\"\n"
                                "b = '''\n\none\ntwo'''\n\nc = [ # list\n 1,\n 2 ]\n";
    char windows[2 * sizeof plain];
    size_t size = 0;
    for (const char *at = plain; *at; at++) {
        if (*at == '\n') windows[size++] = '\r';
        windows[size++] = *at;
    }
    static const char meaning[] = "{\"t\": {\"a\": string onetwo\\u000athree x, \"b\": string \\u000aone\\u000atwo, "
                                  "\"c\": [integer 1, integer 2]}}";
    toml_means(plain, meaning);
    toml_means_n(windows, size, meaning);
    toml_refused("a = 1\rb = 2", "1:6: expected a line feed after the carriage return, found none");
    toml_refused("a = 1 # x\r\r\n", "1:10: expected a line feed after the carriage return, found none");
    toml_refused("a = \"\"\"x\ry\"\"\"", "1:9: expected a line feed after the carriage return, found none");
    toml_refused("a = 1\r", "1:6: expected a line feed after the carriage return, found none");
}

/* ---- Characters ---------------------------------------------------------------------------------------- */

/* How many bytes a character has, or 0: by decoding it and encoding it again. */
static size_t model_utf8(const unsigned char *b, size_t left, uint32_t *out)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
    if (size == 0 || size > left) return 0;
    uint32_t c = size == 1 ? b[0] : b[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (b[i] >> 6 != 2) return 0;
        c = c << 6 | (b[i] & 0x3f);
    }
    *out = c;
    return c < least[size] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : size;
}

static bool model_accepts(const unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t c = 0;
        size_t one = model_utf8(b + i, size - i, &c);
        if (one == 0 || (c < 0x20 && c != '\t') || c == 0x7f) return false;
        i += one;
    }
    return true;
}

/* In a string, and in a comment. What ends either of them is left out. */
static void compare_bytes(const unsigned char *bytes, size_t size)
{
    char text[16] = "a='";
    if (memchr(bytes, '\'', size) != NULL || memchr(bytes, '\n', size) != NULL) return;
    memcpy(text + 3, bytes, size);
    text[3 + size] = '\'';
    assert_int_equal(toml_accepts(text, size + 4), model_accepts(bytes, size));
    text[0] = '#';
    assert_int_equal(toml_accepts(text, size + 4), model_accepts(bytes, size));
}

static void only_utf8_without_control_characters_is_text(void **state)
{
    (void)state;
    static const unsigned char ends[] = {0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    unsigned char b[4];
    for (uint32_t i = 0; i < 0x10000; i++) {
        b[0] = (unsigned char)(i >> 8);
        b[1] = (unsigned char)i;
        compare_bytes(b, 2);
        if (b[1] == 0) compare_bytes(b, 1);
    }
    for (uint32_t lead = 0xc0; lead < 0x100; lead++)
        for (uint32_t i = 0; i < 10000; i++) {
            b[0] = (unsigned char)lead;
            b[1] = ends[i / 100 % 10];
            b[2] = ends[i / 10 % 10];
            b[3] = ends[i % 10];
            compare_bytes(b, i < 1000 ? 4 : 3);
        }
    toml_refused("a = \"\xc0\x80\"", "1:6: expected UTF-8, found the byte 0xc0");
    toml_refused("# \xe2\x82\xac \xed\xa0\x80", "1:5: expected UTF-8, found the byte 0xed");
    toml_refused_n("a = 1\0", 6, "1:6: expected text, found the control character U+0000");
    toml_refused("a = '\x7f'", "1:6: expected text, found the control character U+007F");
}

static void every_character_can_be_escaped(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x120000; c += c < 0x11000 || c > 0x10f000 ? 1 : 61) {
        char text[40];
        bool scalar = c < 0xd800 || (c > 0xdfff && c < 0x110000);
        snprintf(text, sizeof text, "v = \"\\U%08" PRIX32 "\"", c);
        if (!scalar) {
            assert_false(toml_accepts(text, strlen(text)));
            continue;
        }
        rad_toml doc = toml_open(text, strlen(text));
        rad_toml_node *v = rad__toml_get(doc.root, "v");
        uint32_t back = UINT32_MAX;
        assert_int_equal(model_utf8((const unsigned char *)v->text, v->count, &back), v->count);
        assert_int_equal(back, c);
        rad__toml_free(&doc);
    }
    toml_refused("a = \"x\\ud800\"", "1:7: expected a character of Unicode, found U+D800");
    toml_refused("a = \"\\U00110000\"", "1:6: expected a character of Unicode, found U+110000");
}

static void a_byte_order_mark_may_stand_first(void **state)
{
    (void)state;
    toml_means("\xef\xbb\xbf", "{}");
    toml_means("\xef\xbb\xbf"
               "a = 1",
               "{\"a\": integer 1}");
    toml_refused("\xef\xbb\xbf"
                 "a : 1",
                 "1:3: expected '=' after the key, found ':'");
    toml_refused("a = 1\n\xef\xbb\xbf", "2:1: expected a key, found '\\ufeff'");
    toml_refused("\xef\xbb", "1:1: expected UTF-8, found the byte 0xef");
}

static void columns_count_characters(void **state)
{
    (void)state;
    toml_refused("\"\xc3\xa4\xe2\x82\xac\" = 'x' y", "1:12: expected the end of the line, found 'y'");
    toml_refused("a = 1\r\nb = \xf0\x9f\x98\x80", "2:5: expected a value, found '\xf0\x9f\x98\x80'");
    toml_refused("a = '''\xc3\xa4\n\xc3\xa4''' #\nb = ?", "3:5: expected a value, found '?'");
}

/* ---- Integers ------------------------------------------------------------------------------------------ */

static void integers_of_four_bases(void **state)
{
    (void)state;
    toml_means("a = +99\nb = 0\nc = -17\nd = +0\ne = -0",
               "{\"a\": integer 99, \"b\": integer 0, \"c\": integer -17, \"d\": integer 0, "
               "\"e\": integer 0}");
    toml_means("a = 1_000\nb = 5_349_221\nc = 1_2_3",
               "{\"a\": integer 1000, \"b\": integer 5349221, \"c\": integer 123}");
    toml_means("a = 0xDEADBEEF\nb = 0xdead_beef\nc = 0o01234567\nd = 0b1101_0110\ne = 0x0",
               "{\"a\": integer 3735928559, \"b\": integer 3735928559, \"c\": integer 342391, "
               "\"d\": integer 214, \"e\": integer 0}");
    toml_refused("a = _1", "1:5: expected a value, found '_1'");
    toml_refused("a = 1_", "1:7: expected a digit, found the end of the file");
    toml_refused("a = 1__2", "1:7: expected a digit, found '_2'");
    toml_refused("a = 0x_1", "1:7: expected a hexadecimal digit, found '_1'");
    toml_refused("a = 0b1_", "1:9: expected a binary digit, found the end of the file");
    toml_refused("a = 0b12", "1:8: expected a binary digit, found '2'");
    toml_refused("a = 0o8", "1:7: expected an octal digit, found '8'");
    toml_refused("a = 0x", "1:7: expected a hexadecimal digit, found the end of the file");
    toml_refused("a = 0X1", "1:6: expected the end of the number, found 'X1'");
    toml_refused("a = +0x1", "1:6: expected a decimal number after the sign, found '0x1'");
    toml_refused("a = -0b1", "1:6: expected a decimal number after the sign, found '0b1'");
    toml_refused("a = 01", "1:6: expected no digit after a leading 0, found '1'");
    toml_refused("a = -0_1", "1:7: expected no digit after a leading 0, found '_1'");
    toml_refused("a = +", "1:6: expected a digit, found the end of the file");
    toml_refused("a = --1", "1:6: expected a digit, found '-1'");
    toml_refused("a = 12a", "1:7: expected the end of the number, found 'a'");
}

static void integers_are_exact_or_refused(void **state)
{
    (void)state;
    toml_means("a = 9223372036854775807\nb = -9223372036854775808",
               "{\"a\": integer 9223372036854775807, \"b\": integer -9223372036854775808}");
    toml_means("a = 0x7fff_ffff_ffff_ffff\nb = 0o777777777777777777777",
               "{\"a\": integer 9223372036854775807, \"b\": integer 9223372036854775807}");
    static const char *const beyond[] = {
        "9223372036854775808",      "-9223372036854775809",    "18446744073709551616",  "18446744073709551617",
        "99999999999999999999",     "0x8000000000000000",      "0xffffffffffffffff",    "0x10000000000000000",
        "0o1000000000000000000000", "92233720368547758070000", "-18446744073709551617", "0o2000000000000000000001"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        char text[80], why[160];
        snprintf(text, sizeof text, "a = %s", beyond[i]);
        snprintf(why, sizeof why,
                 "1:5: expected an integer from -9223372036854775808 to 9223372036854775807, "
                 "found '%s'",
                 beyond[i]);
        toml_refused(text, why);
    }
}

/* Digits of a number in a base, with underscores here and there. */
static void write_number(char *out, uint64_t value, uint32_t base, uint64_t breaks)
{
    char back[200];
    size_t size = 0;
    do {
        back[size++] = "0123456789abcdef"[value % base];
        value /= base;
        if (value > 0 && (breaks >>= 1) % 2) back[size++] = '_';
    } while (value > 0);
    while (size > 0) *out++ = back[--size];
    *out = 0;
}

static void drawn_integers_come_back(void **state)
{
    (void)state;
    static const uint32_t bases[] = {10, 16, 8, 2};
    static const char *const heads[] = {"", "0x", "0o", "0b"};
    rad_prng r = rad__prng(3, RAD_STREAM_TEST, 0);
    for (uint32_t i = 0; i < 20000; i++) {
        uint64_t value = rad__prng_next(&r) >> (1 + rad__prng_below(&r, 63));
        uint32_t which = i % 4;
        bool negative = which == 0 && rad__prng_below(&r, 2);
        char digits[200], text[240];
        write_number(digits, value, bases[which], rad__prng_next(&r));
        snprintf(text, sizeof text, "%s%s%s", negative ? "-" : "", heads[which], digits);
        rad_toml doc;
        rad_toml_node *v = value_of(&doc, text);
        assert_int_equal(v->type, RAD_TOML_INTEGER);
        assert_int_equal(v->integer, negative ? -(int64_t)value : (int64_t)value);
        rad__toml_free(&doc);
    }
}

/* ---- Floats -------------------------------------------------------------------------------------------- */

static void floats_have_a_point_or_an_exponent(void **state)
{
    (void)state;
    toml_means("a = 1.0\nb = 3.1415\nc = -0.01\nd = 5e+22\ne = 1e06\nf = -2E-2\ng = 6.626e-34",
               "{\"a\": float 1.0e+00, \"b\": float 3.1415e+00, \"c\": float -1.0e-02, "
               "\"d\": float 5.0e+22, \"e\": float 1.0e+06, \"f\": float -2.0e-02, "
               "\"g\": float 6.626e-34}");
    toml_means("a = 224_617.445_991_228\nb = 1_0e1_0\nc = 0e0\nd = -0.0\ne = +1.5\nf = 0.0_1",
               "{\"a\": float 2.24617445991228e+05, \"b\": float 1.0e+11, \"c\": float 0.0e+00, "
               "\"d\": float -0.0e+00, \"e\": float 1.5e+00, \"f\": float 1.0e-02}");
    toml_means("a = inf\nb = +inf\nc = -inf\nd = nan\ne = +nan\nf = -nan",
               "{\"a\": float inf, \"b\": float inf, \"c\": float -inf, \"d\": float nan, "
               "\"e\": float nan, \"f\": float nan}");
    toml_refused("a = .5", "1:5: expected a value, found '.5'");
    toml_refused("a = 5.", "1:7: expected a digit, found the end of the file");
    toml_refused("a = 5.e1", "1:7: expected a digit, found 'e1'");
    toml_refused("a = +.5", "1:6: expected a digit, found '.5'");
    toml_refused("a = 1._5", "1:7: expected a digit, found '_5'");
    toml_refused("a = 1_.5", "1:7: expected a digit, found '.5'");
    toml_refused("a = 1.5_", "1:9: expected a digit, found the end of the file");
    toml_refused("a = 1e", "1:7: expected a digit, found the end of the file");
    toml_refused("a = 1e_1", "1:7: expected a digit, found '_1'");
    toml_refused("a = 1e1.5", "1:8: expected the end of the number, found '.5'");
    toml_refused("a = 1.2.3", "1:8: expected the end of the number, found '.3'");
    toml_refused("a = 03.5", "1:6: expected no digit after a leading 0, found '3.5'");
    toml_refused("a = Inf", "1:5: expected a value, found 'Inf'");
    toml_refused("a = infinity", "1:5: expected a number, found 'infinity'");
    toml_refused("a = +in", "1:6: expected a number, found 'in'");
}

static void floats_too_large_are_refused_and_too_small_are_zero(void **state)
{
    (void)state;
    toml_means("a = 1.7976931348623157e308\nb = 4.9e-324\nc = 1e-400\nd = 0e99999999999999999999",
               "{\"a\": float 1.7976931348623157e+308, \"b\": float 4.9e-324, \"c\": float 0.0e+00, "
               "\"d\": float 0.0e+00}");
    toml_means("a = 1e-99999999999999999999\nb = 0.00000000000000000001e+20",
               "{\"a\": float 0.0e+00, \"b\": float 1.0e+00}");
    toml_refused("a = 1.8e308", "1:5: expected a float up to 1.7976931348623157e308, found '1.8e308'");
    toml_refused("a = -1e9999999999999999999999", "1:5: expected a float up to 1.7976931348623157e308, found "
                                                  "'-1e9999999999999999999999'");
}

static void drawn_floats_come_back(void **state)
{
    (void)state;
    rad_prng r = rad__prng(4, RAD_STREAM_TEST, 0);
    for (uint32_t i = 0; i < 40000; i++) {
        uint64_t bits = rad__prng_next(&r);
        double value, again;
        char text[400];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        if (i % 3 == 0) value = (double)(int64_t)(bits >> 40) / 1000.0;
        snprintf(text, sizeof text, i % 2 || fabs(value) > 1e60 ? "%.17e" : "%.60f", value);
        again = strtod(text, NULL); /* the tests run in the C locale */
        rad_toml doc;
        rad_toml_node *v = value_of(&doc, text);
        assert_int_equal(v->type, RAD_TOML_FLOAT);
        assert_memory_equal(&v->number, &again, sizeof again);
        rad_bytes json = {0};
        toml_put_json(v, &json);
        rad__bytes_put(&json, "", 1);
        assert_true(strtod(strstr((char *)json.data, "value") + 9, NULL) == again);
        rad__bytes_free(&json);
        rad__toml_free(&doc);
    }
}

/* ---- Dates and times ----------------------------------------------------------------------------------- */

static void dates_and_times_of_four_kinds(void **state)
{
    (void)state;
    toml_means("a = 1979-05-27T07:32:00Z\nb = 1979-05-27T00:32:00.999999-07:00\n"
               "c = 1979-05-27 07:32:00z\nd = 2000-02-29t23:59:60.5+14:45",
               "{\"a\": datetime 1979-05-27T07:32:00Z, "
               "\"b\": datetime 1979-05-27T00:32:00.999999-07:00, "
               "\"c\": datetime 1979-05-27T07:32:00Z, "
               "\"d\": datetime 2000-02-29T23:59:60.5+14:45}");
    toml_means("a = 1979-05-27T07:32:00\nb = 1979-05-27 00:32:00.123456789\nc = 0000-01-01\n"
               "d = 9999-12-31 # x\ne = 07:32:00\nf = 00:00:00.000100",
               "{\"a\": datetime-local 1979-05-27T07:32:00, "
               "\"b\": datetime-local 1979-05-27T00:32:00.123456789, "
               "\"c\": date-local 0000-01-01, \"d\": date-local 9999-12-31, "
               "\"e\": time-local 07:32:00, \"f\": time-local 00:00:00.0001}");
    toml_means("a = [1979-05-27 ,07:32:00.9999999999999 ]",
               "{\"a\": [date-local 1979-05-27, time-local 07:32:00.999999999]}");
    toml_means("a = 1979-05-27T07:32:00-00:00", "{\"a\": datetime 1979-05-27T07:32:00Z}");
    rad_toml doc;
    rad_toml_node *v = value_of(&doc, "1979-05-27T07:32:01.25-07:30");
    assert_int_equal(v->date.year, 1979);
    assert_int_equal(v->date.month, 5);
    assert_int_equal(v->date.day, 27);
    assert_int_equal(v->date.hour, 7);
    assert_int_equal(v->date.minute, 32);
    assert_int_equal(v->date.second, 1);
    assert_int_equal(v->date.nanosecond, 250000000);
    assert_int_equal(v->date.offset_minutes, -450);
    rad__toml_free(&doc);
}

static void dates_and_times_that_are_none(void **state)
{
    (void)state;
    toml_refused("a = 2021-02-29", "1:13: expected a day from 01 to 28, found '29'");
    toml_refused("a = 1900-02-29", "1:13: expected a day from 01 to 28, found '29'");
    toml_refused("a = 2000-02-30", "1:13: expected a day from 01 to 29, found '30'");
    toml_refused("a = 2021-04-31", "1:13: expected a day from 01 to 30, found '31'");
    toml_refused("a = 2021-00-01", "1:10: expected a month from 01 to 12, found '00-01'");
    toml_refused("a = 2021-13-01", "1:10: expected a month from 01 to 12, found '13-01'");
    toml_refused("a = 2021-1-01", "1:10: expected a month from 01 to 12, found '1-01'");
    toml_refused("a = 2021-01-01T24:00:00", "1:16: expected an hour from 00 to 23, found '24:00:00'");
    toml_refused("a = 2021-01-01T23:60:00", "1:19: expected a minute from 00 to 59, found '60:00'");
    toml_refused("a = 2021-01-01T23:59:61", "1:22: expected a second from 00 to 60, found '61'");
    toml_refused("a = 23:59", "1:10: expected ':' and seconds after the minute, found the end of "
                              "the file");
    toml_refused("a = 23:59:59.", "1:14: expected a digit of the fraction of a second, found the "
                                  "end of the file");
    toml_refused("a = 2021-01-01T23:59:59+24:00", "1:25: expected an offset of 00 to 23 hours, found '24:00'");
    toml_refused("a = 2021-01-01T23:59:59+01:60", "1:28: expected an offset of 00 to 59 minutes, found '60'");
    toml_refused("a = 2021-01-01T23:59:59+0100", "1:27: expected ':' after the hours of the offset, found '00'");
    toml_refused("a = 2021-01-01T", "1:16: expected an hour from 00 to 23, found the end of the file");
    toml_refused("a = 23:59:59Z", "1:13: expected the end of the date or time, found 'Z'");
    toml_refused("a = 2021-01-01Z", "1:15: expected the end of the date or time, found 'Z'");
    toml_refused("a = 2021-01-01  10:00:00", "1:17: expected the end of the line, found '10:00:00'");
    toml_refused("a = 10000-01-01", "1:10: expected the end of the number, found '-01-01'");
}

/* The days of a month, as the days between two new moons of the calendar: counted from the year 0. */
static int64_t days_before(int64_t year, int64_t month)
{
    int64_t y = month <= 2 ? year - 1 : year, m = (month + 9) % 12; /* years begin in March */
    int64_t cycles = (y + 400) / 400 - 1, rest = y - cycles * 400;
    return cycles * 146097 + rest * 365 + rest / 4 - rest / 100 + (153 * m + 2) / 5;
}

static void every_month_has_its_days(void **state)
{
    (void)state;
    static const int years[] = {0, 1, 4, 100, 400, 1899, 1900, 1996, 2000, 2019, 2020, 2100, 9999};
    for (size_t i = 0; i < sizeof years / sizeof *years; i++)
        for (int month = 0; month <= 13; month++)
            for (int day = 0; day <= 32; day++) {
                char text[32];
                int64_t end = month == 12 ? days_before(years[i] + 1, 1) : days_before(years[i], month + 1);
                bool good = month >= 1 && month <= 12 && day >= 1 && day <= end - days_before(years[i], month);
                snprintf(text, sizeof text, "%04d-%02d-%02d", years[i], month, day);
                assert_int_equal(value_is_fine(text), good);
            }
}

static void every_hour_minute_second_and_offset(void **state)
{
    (void)state;
    for (int n = 0; n < 100; n++) {
        char text[64];
        snprintf(text, sizeof text, "%02d:00:00", n);
        assert_int_equal(value_is_fine(text), n < 24);
        snprintf(text, sizeof text, "00:%02d:00", n);
        assert_int_equal(value_is_fine(text), n < 60);
        snprintf(text, sizeof text, "00:00:%02d", n);
        assert_int_equal(value_is_fine(text), n <= 60);
        snprintf(text, sizeof text, "2020-01-01 00:00:00-%02d:00", n);
        assert_int_equal(value_is_fine(text), n < 24);
        snprintf(text, sizeof text, "2020-01-01 00:00:00+00:%02d", n);
        assert_int_equal(value_is_fine(text), n < 60);
    }
}

/* ---- Booleans, arrays ---------------------------------------------------------------------------------- */

static void booleans_are_two_words(void **state)
{
    (void)state;
    toml_means("a = true\nb = false", "{\"a\": bool true, \"b\": bool false}");
    toml_refused("a = True", "1:5: expected a value, found 'True'");
    toml_refused("a = falsey", "1:5: expected a value, found 'falsey'");
    toml_refused("a = t", "1:5: expected a value, found 't'");
    toml_refused("a =", "1:4: expected a value, found the end of the file");
    toml_refused("a = # none", "1:5: expected a value, found '#'");
}

static void arrays_hold_anything_over_many_lines(void **state)
{
    (void)state;
    toml_means("a = []\nb = [ 1, 'x', [2.5], {c = true}, ]",
               "{\"a\": [], \"b\": [integer 1, string x, [float 2.5e+00], {\"c\": bool true}]}");
    toml_means("a = [ # one\n  1 # two\n  , # three\n\n  2, # four\n]", "{\"a\": [integer 1, integer 2]}");
    toml_refused("a = [1 2]", "1:8: expected ',' or ']' after an element of an array, found '2'");
    toml_refused("a = [,]", "1:6: expected a value, found ','");
    toml_refused("a = [1,,2]", "1:8: expected a value, found ','");
    toml_refused("a = [1", "1:7: expected ',' or ']' after an element of an array, found the end of "
                           "the file");
    toml_refused("a = [1,\n", "2:1: expected a value, found the end of the file");
    toml_refused("a = [] b = 1", "1:8: expected the end of the line, found 'b'");
}

/* ---- Everything ---------------------------------------------------------------------------------------- */

static const char SAMPLE[] = "# A sample of everything.\n"
                             "title = \"sa\\u006dple\" # with a comment\n"
                             "\"quoted key\".'and literal' = '''\nfirst\r\nsecond'''\n"
                             "[numbers]\nint = [1_000, -2, 0xff, 0o17, 0b101]\nfloat = [1.5, -2e3, inf, nan]\n"
                             "[numbers.dates]\nat = [1979-05-27T07:32:00.5-08:00, 1979-05-27 07:32:00, 1979-05-27, "
                             "07:32:00]\n"
                             "[[list]]\nname = 'a'\nnested.key.path = true\n[[list]]\npoint = {x = 1, y.z = [{}, {}]}\n"
                             "[[list.sub]]\n[list.sub.deep]\ntext = \"\"\"\n a \\\n  b\"\"\"\n";

static void no_beginning_of_a_file_confuses_it(void **state)
{
    (void)state;
    size_t fine = 0;
    for (size_t size = 0; size < sizeof SAMPLE; size++) fine += toml_accepts(SAMPLE, size);
    assert_true(fine > 20 && fine < sizeof SAMPLE / 3);
    assert_true(toml_accepts(SAMPLE, sizeof SAMPLE - 1));
}

/* Wherever a byte is changed, the answer is an error with a place, or a document. */
static void no_changed_byte_confuses_it(void **state)
{
    (void)state;
    static const char bytes[] = "\"'[]{}=.,#\n\r\\_-+0eT: \t\x80\xff";
    char text[sizeof SAMPLE];
    for (size_t at = 0; at < sizeof SAMPLE - 1; at++)
        for (size_t i = 0; i < sizeof bytes; i++) { /* the zero, too */
            memcpy(text, SAMPLE, sizeof SAMPLE);
            text[at] = bytes[i];
            toml_accepts(text, sizeof SAMPLE - 1);
        }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t n = 1;
    for (;; n++) {
        rad_error error = {0};
        rad_toml doc;
        rad__alloc_fail_at(n);
        int status = rad__toml_parse(&doc, "t.toml", SAMPLE, sizeof SAMPLE - 1, 1 << 20, &error);
        rad__alloc_fail_at(0);
        if (status == 0) {
            rad__toml_free(&doc);
            break;
        }
        assert_int_equal(status, RAD_ENOMEM);
        assert_true(doc.root == NULL && doc.arena.blocks == NULL);
    }
    assert_true(n > 2);
    /* A long string needs the scratch buffer to grow, and an arena block of its own. */
    static char text[100000];
    memset(text, 'x', sizeof text);
    memcpy(text, "a=\"\\n", 5);
    text[sizeof text - 1] = '"';
    uint64_t failed = 0;
    for (n = 1;; n++, failed++) {
        rad_toml doc;
        rad__alloc_fail_at(n);
        int status = rad__toml_parse(&doc, "t.toml", text, sizeof text, 1 << 20, NULL);
        rad__alloc_fail_at(0);
        rad__toml_free(&doc);
        if (status == 0) break;
        assert_int_equal(status, RAD_ENOMEM);
    }
    assert_true(failed >= 3);
}

static void a_file_has_the_size_the_caller_allows(void **state)
{
    (void)state;
    rad_toml doc;
    rad_error error = {0};
    assert_int_equal(rad__toml_parse(&doc, "big.toml", "a = 1", 5, 5, &error), 0);
    rad__toml_free(&doc);
    assert_int_equal(rad__toml_parse(&doc, "big.toml", "a = 1\n", 6, 5, &error), RAD_EINPUT);
    assert_string_equal(error.text, "big.toml: expected at most 5 bytes, found 6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(basic_strings_have_escapes),
        cmocka_unit_test(literal_strings_have_none),
        cmocka_unit_test(strings_of_several_lines),
        cmocka_unit_test(up_to_two_quotes_belong_to_three),
        cmocka_unit_test(carriage_returns_before_line_feeds_change_nothing),
        cmocka_unit_test(only_utf8_without_control_characters_is_text),
        cmocka_unit_test(every_character_can_be_escaped),
        cmocka_unit_test(a_byte_order_mark_may_stand_first),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(integers_of_four_bases),
        cmocka_unit_test(integers_are_exact_or_refused),
        cmocka_unit_test(drawn_integers_come_back),
        cmocka_unit_test(floats_have_a_point_or_an_exponent),
        cmocka_unit_test(floats_too_large_are_refused_and_too_small_are_zero),
        cmocka_unit_test(drawn_floats_come_back),
        cmocka_unit_test(dates_and_times_of_four_kinds),
        cmocka_unit_test(dates_and_times_that_are_none),
        cmocka_unit_test(every_month_has_its_days),
        cmocka_unit_test(every_hour_minute_second_and_offset),
        cmocka_unit_test(booleans_are_two_words),
        cmocka_unit_test(arrays_hold_anything_over_many_lines),
        cmocka_unit_test(no_beginning_of_a_file_confuses_it),
        cmocka_unit_test(no_changed_byte_confuses_it),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_file_has_the_size_the_caller_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
