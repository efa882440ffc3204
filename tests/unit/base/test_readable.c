/* test_readable.c — the gate for text that people read: what passes, what becomes visible, and that printf's language
 * means what it means elsewhere. */
#include "base/alloc.h"
#include "base/escape.h"
#include "base/prng.h"
#include "base/readable.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static char *shown(const char *text, size_t size, enum rad_readable how)
{
    static char room[512];
    rad_sink_buffer to = rad__sink_buffer(room, sizeof room);
    rad__readable_put(&to.sink, text, size, how);
    return room;
}

static void characters_that_act_become_visible(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *lines, *cells;
    } some[] = {
        {"plain text, 'with' \"marks\" \\ & <", NULL, NULL, NULL},
        {"\033[31mred", "\\x1b[31mred", "\\x1b[31mred", "�[31mred"},
        {"a\nb\tc\rd", "a\\nb\\tc\\x0dd", "a\nb\tc\\x0dd", "a b c�d"},
        {"\x7f\x01\b", "\\x7f\\x01\\x08", "\\x7f\\x01\\x08", "���"},
        {"\xc2\x9b"
         "2J\xc2\x80\xc2\x9f\xc2\xa0",
         "\\u009b2J\\u0080\\u009f\xc2\xa0", "\\u009b2J\\u0080\\u009f\xc2\xa0", "�2J��\xc2\xa0"},
        {"\x9b"
         "2J\xff\xc0\x80",
         "\\x9b2J\\xff\\xc0\\x80", "\\x9b2J\\xff\\xc0\\x80", "�2J���"},
        {"\xe2\x80\xae"
         "txt.exe\xe2\x80\xac",
         "\\u202etxt.exe\\u202c", "\\u202etxt.exe\\u202c", "�txt.exe�"},
        {"\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u2066\\u2069\\u200e\\u200f\\u061c",
         "\\u2066\\u2069\\u200e\\u200f\\u061c", "�����"},
        {"\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xef\xbf\xbe", "\\u2028\\u2029\\ufeff\\ufffe",
         "\\u2028\\u2029\\ufeff\\ufffe", "����"},
        {"\xf3\xa0\x81\x81", "\\u{e0041}", "\\u{e0041}", "�"},
        {"äß→日本😀e\xcc\x81 👩\xe2\x80\x8d👩", NULL, NULL, NULL},
        {"\xed\xa0\x80\xe2\x82", "\\xed\\xa0\\x80\\xe2\\x82", "\\xed\\xa0\\x80\\xe2\\x82", "�����"},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const char *t = some[i].text;
        size_t size = strlen(t);
        assert_string_equal(shown(t, size, RAD_READABLE_NAME), some[i].name ? some[i].name : t);
        assert_string_equal(shown(t, size, RAD_READABLE_LINES), some[i].lines ? some[i].lines : t);
        assert_string_equal(shown(t, size, RAD_READABLE_CELLS), some[i].cells ? some[i].cells : t);
    }
    assert_string_equal(shown("a\0b", 3, RAD_READABLE_NAME), "a\\x00b");
}

/* Reads what came out as a terminal would. */
static void assert_harmless(const char *text, bool lines)
{
    for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
        size = rad__utf8_size(text, left);
        assert_int_not_equal(size, 0);
        uint32_t code = rad__utf8_code(text, size);
        if (lines && (code == '\n' || code == '\t')) continue;
        assert_true(code >= 0x20 && !(code >= 0x7f && code <= 0x9f));
        assert_false((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069));
        assert_false(code == 0x200e || code == 0x200f || code == 0x61c);
        assert_false(code == 0x2028 || code == 0x2029);
    }
}

static size_t encode(uint32_t code, char *to)
{
    if (code < 0x80) return to[0] = (char)code, 1;
    if (code < 0x800) return to[0] = (char)(0xc0 | code >> 6), to[1] = (char)(0x80 | (code & 0x3f)), 2;
    size_t size = code < 0x10000 ? 3 : 4;
    to[0] = (char)((size == 3 ? 0xe0 : 0xf0) | code >> (6 * (size - 1)));
    for (size_t i = 1; i < size; i++) to[i] = (char)(0x80 | (code >> (6 * (size - 1 - i)) & 0x3f));
    return size;
}

static void nothing_that_comes_out_is_harmful(void **state)
{
    (void)state;
    char text[8];
    for (uint32_t code = 0; code < 0x110000; code++) {
        size_t size = encode(code, text); /* surrogates are no UTF-8 */
        assert_harmless(shown(text, size, RAD_READABLE_NAME), false);
        if (code < 0x3000 || code >= 0xe0000) assert_harmless(shown(text, size, RAD_READABLE_LINES), true);
    }
    rad_prng r = rad__prng(1, RAD_STREAM_TEST, 0);
    for (int i = 0; i < 20000; i++) {
        char bytes[24], again[512];
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (char)rad__prng_below(&r, 256);
        snprintf(again, sizeof again, "%s", shown(bytes, sizeof bytes, RAD_READABLE_NAME));
        assert_harmless(again, false);
        assert_string_equal(shown(again, strlen(again), RAD_READABLE_NAME), again); /* once is enough */
    }
}

/* ---- printf ------------------------------------------------------------------------------------------- */

#define SAME(...)                                                                                                      \
    do {                                                                                                               \
        char ours[2048], theirs[2048];                                                                                 \
        int size = snprintf(theirs, sizeof theirs, __VA_ARGS__);                                                       \
        assert_int_equal(rad__readable_text(ours, sizeof ours, __VA_ARGS__), size);                                    \
        assert_string_equal(ours, theirs);                                                                             \
    } while (0)

static void formats_mean_what_they_mean_elsewhere(void **state)
{
    (void)state;
    static const int64_t numbers[] = {0, 1, -1, 42, -12345, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t n = numbers[i];
        SAME("%d|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%x|%#x|%#08x|%o|%u", (int)n, (int)n, (int)n, (int)n, (int)n, (int)n,
             (int)n, (int)n, (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n);
        SAME("%" PRId64 "|%20" PRId64 "|%-20" PRIu64 "|%020" PRId64 "|%lld|%zu|%jd|%td|%ld", n, n, (uint64_t)n, n,
             (long long)n, (size_t)n, (intmax_t)n, (ptrdiff_t)n, (long)n);
        SAME("%f|%.0f|%10.3f|%-10.3f|%010.3f|%g|%e|%+.2f|%a", (double)n / 7, (double)n / 7, (double)n / 7,
             (double)n / 7, (double)n / 7, (double)n / 7, (double)n / 7, (double)n / 7, (double)n / 7);
        SAME("%*d|%-*d|%*.*f|%0*d", 12, (int)n, 12, (int)n, 9, 2, (double)n / 3, 600, (int)n);
        SAME("%*d|%.*f", -12, (int)n, -1, (double)n);
    }
    SAME("%hhu %hu %hd %Lf %c%c %5c|%-5c|%% 100%%", (unsigned char)200, (unsigned short)60000, (short)-5,
         (long double)1.5, 'a', 'b', 'c', 'd');
    SAME("%s|%10s|%-10s|%.2s|%10.2s|%.*s|%-*s|%*s|", "abc", "abc", "abc", "abc", "abc", 1, "abc", 6, "abc", 6, "");
    SAME("%p", (void *)&numbers);
    SAME("%s", (const char *)"");
    SAME("nothing");
}

static void texts_pass_the_gate_and_formats_do_not(void **state)
{
    (void)state;
    char text[64];
    rad__readable_text(text, sizeof text, "\033[1m%s\033[0m\n", "a\033\nb");
    assert_string_equal(text, "\033[1ma\\x1b\\nb\033[0m\n");
    rad__readable_text(text, sizeof text, "%c%c%c", 'x', 0x1b, 0x9b);
    assert_string_equal(text, "x\\x1b\\x9b");
    rad__readable_text(text, sizeof text, "[%-4s][%4s]", "é", "\xe2\x80\xae"); /* columns, not bytes */
    assert_string_equal(text, "[é   ][\\u202e]");
    rad__readable_text(text, sizeof text, "%.4s|%.5s|%.1s", "aé日", "aé日", "é");
    assert_string_equal(text, "aé|aé|"); /* no part of a character */
    static const char NO_END[] = {'a', (char)0xe2, (char)0x82};
    rad__readable_text(text, sizeof text, "%.*s", 3, NO_END);
    assert_string_equal(text, "a");
}

static void what_does_not_fit_is_left_out(void **state)
{
    (void)state;
    static const char TEXT[] = "aé日😀b\033c";
    for (size_t room = 1; room < 32; room++) {
        char text[32];
        memset(text, '#', sizeof text);
        size_t used = rad__readable_text(text, room, "%s", TEXT);
        assert_true(used < room);
        assert_int_equal(text[used], 0);
        if (room < sizeof text) assert_int_equal(text[room], '#');
        assert_harmless(text, false);
        assert_memory_equal(text, "aé日😀b\\x1bc", used);
    }
}

static const char MARK[] = "\033[1m";

static bool is_mark(const char *text)
{
    return text == MARK;
}

RAD_PRINTF(2, 3) static void format(rad_sink *to, const char *format_text, ...)
{
    va_list args;
    va_start(args, format_text);
    rad__readable_format(to, format_text, args);
    va_end(args);
}

/* Known by where it lies: the same letters from elsewhere are text. */
static void only_our_own_marks_pass(void **state)
{
    (void)state;
    char text[64], same[sizeof MARK];
    memcpy(same, MARK, sizeof MARK);
    rad_sink_buffer to = rad__sink_buffer(text, sizeof text);
    to.sink.is_ours = is_mark;
    format(&to.sink, "%s%s", MARK, same);
    assert_string_equal(text, "\033[1m\\x1b[1m");
}

static void counts_have_commas(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(rad__readable_count(0, text), "0");
    assert_string_equal(rad__readable_count(999, text), "999");
    assert_string_equal(rad__readable_count(1000, text), "1,000");
    assert_string_equal(rad__readable_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

/* ---- JSON and XML -------------------------------------------------------------------------------------- */

static void json_and_xml_escape_in_their_own_way(void **state)
{
    (void)state;
    rad_bytes b = {0};
    static const char TEXT[] = "a\"\\\n\033\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81\xffé";
    rad__put_json_string(&b, TEXT, strlen(TEXT), RAD_JSON_UTF8);
    rad__put_json_string(&b, "é😀", 6, RAD_JSON_ASCII);
    rad__put_json_document(&b, "{\"\x7fé\xe2\x80\xae\":1}", 12, RAD_JSON_UTF8);
    rad__put_xml_text(&b, "<a b='\"'>&\033\n", 12, RAD_READABLE_LINES);
    rad__put_xml_text(&b, "\033\n", 2, RAD_READABLE_CELLS);
    rad__bytes_put(&b, "", 1);
    assert_false(b.failed);
    assert_string_equal((char *)b.data, "\"a\\\"\\\\\\u000a\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41\\ufffdé\""
                                        "\"\\u00e9\\ud83d\\ude00\""
                                        "{\"\\u007fé\\u202e\":1}"
                                        "&lt;a b=&#39;&quot;&#39;&gt;&amp;\\x1b\n"
                                        "� ");
    rad__bytes_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_that_act_become_visible),
        cmocka_unit_test(nothing_that_comes_out_is_harmful),
        cmocka_unit_test(formats_mean_what_they_mean_elsewhere),
        cmocka_unit_test(texts_pass_the_gate_and_formats_do_not),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(only_our_own_marks_pass),
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(json_and_xml_escape_in_their_own_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
