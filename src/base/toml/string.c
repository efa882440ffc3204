/* string.c — strings of TOML: "basic" with escapes, 'literal' without, and both over several lines in three
 * quotes. A string without escapes and line ends is a slice of the text; any other is put together in the scratch
 * buffer. */
#include "base/toml/parts.h"

#include <string.h>

typedef struct literal {
    char quote;
    bool multi;
    rad_toml_place place;
} literal;

/* How many of the next characters are this quote, up to `most`. */
static size_t quotes_at(const rad_toml_scan *s, char quote, size_t most)
{
    size_t count = 0;
    while (count < most && s->at + count < s->end && s->at[count] == quote) count++;
    return count;
}

/* ---- Escapes ------------------------------------------------------------------------------------------- */

static void put_character(rad_bytes *out, uint32_t c)
{
    uint8_t b[4];
    if (c < 0x80) {
        b[0] = (uint8_t)c;
        rad__bytes_put(out, b, 1);
        return;
    }
    size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, c >>= 6) b[i] = (uint8_t)(0x80 | (c & 0x3f));
    b[0] = (uint8_t)((0xf00 >> size & 0xff) | c);
    rad__bytes_put(out, b, size);
}

static uint32_t hex_value(char c)
{
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f') return (uint32_t)(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return (uint32_t)(c - 'A' + 10);
    return 16;
}

/* After \u or \U: that many digits. `begin` is the backslash. */
static bool scan_code_point(rad_toml_scan *s, const char *begin, int digits)
{
    uint32_t c = 0;
    for (int i = 0; i < digits; i++) {
        uint32_t value = hex_value(rad__toml_scan_peek(s));
        if (value > 15)
            return rad__toml_scan_expected(s, digits == 4 ? "4 hexadecimal digits after \\u"
                                                          : "8 hexadecimal digits after \\U");
        c = c << 4 | value;
        s->at++;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
        s->at = begin;
        return rad__toml_scan_fail(s, rad__toml_scan_place(s), "expected a character of Unicode, found U+%04X", c);
    }
    put_character(&s->scratch, c);
    return true;
}

/* A backslash at the end of a line: all blanks and line ends up to the next other character go. */
static bool scan_line_end_escape(rad_toml_scan *s)
{
    rad__toml_scan_blanks(s);
    char c = rad__toml_scan_peek(s);
    if (c != '\n' && c != '\r') return false;
    while (c == '\n' || c == '\r' || c == ' ' || c == '\t') {
        s->at++;
        c = rad__toml_scan_peek(s);
    }
    return true;
}

static bool scan_escape(rad_toml_scan *s, const literal *l)
{
    static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
    const char *begin = s->at++;
    char c = rad__toml_scan_peek(s);
    const char *name = c ? strchr(names, c) : NULL;
    if (name != NULL) {
        s->at++;
        rad__bytes_put(&s->scratch, &values[name - names], 1);
        return true;
    }
    if (rad__toml_scan_accept(s, 'u')) return scan_code_point(s, begin, 4);
    if (rad__toml_scan_accept(s, 'U')) return scan_code_point(s, begin, 8);
    const char *after = s->at;
    if (l->multi && scan_line_end_escape(s)) return true;
    s->at = after;
    return rad__toml_scan_expected(s, l->multi ? "one of b t n f r \" \\ u U or a line end after the backslash"
                                               : "one of b t n f r \" \\ u U after the backslash");
}

/* ---- Strings ------------------------------------------------------------------------------------------- */

/* Passes characters that stand for themselves. */
static void scan_plain(rad_toml_scan *s, const literal *l)
{
    for (; s->at < s->end; s->at++) {
        char c = *s->at;
        if (c == l->quote || c == '\n' || c == '\r' || (c == '\\' && l->quote == '"')) return;
    }
}

static bool unfinished(rad_toml_scan *s, const literal *l)
{
    static const char *const closing[2][2] = {{"\"", "'"}, {"\"\"\"", "'''"}};
    bool line = s->at < s->end;
    return rad__toml_scan_fail(
        s, rad__toml_scan_place(s), "expected %s, found the end of the %s; the string begins at %u:%u",
        closing[l->multi][l->quote == '\''], line ? "line" : "file", l->place.line, l->place.column);
}

/* At a quote inside three quotes: up to two of them belong to the string, also right before its end. True when that
 * was the end. */
static bool closes(rad_toml_scan *s, const literal *l)
{
    size_t count = quotes_at(s, l->quote, 5), inside = count < 3 ? count : count - 3;
    rad__bytes_put(&s->scratch, s->at, inside);
    s->at += count;
    return count >= 3;
}

/* Three quotes were passed. */
static bool scan_multi(rad_toml_scan *s, const literal *l)
{
    rad__toml_scan_accept(s, '\r');
    rad__toml_scan_accept(s, '\n');
    for (;;) {
        const char *from = s->at;
        scan_plain(s, l);
        rad__bytes_put(&s->scratch, from, (size_t)(s->at - from));
        if (s->at == s->end) return unfinished(s, l);
        if (*s->at == l->quote) {
            if (closes(s, l)) return true;
        } else if (*s->at == '\\') {
            if (!scan_escape(s, l)) return false;
        } else {
            rad__toml_scan_accept(s, '\r');
            rad__toml_scan_accept(s, '\n');
            rad__bytes_put(&s->scratch, "\n", 1);
        }
    }
}

/* One quote was passed. */
static bool scan_single(rad_toml_scan *s, const literal *l, rad_toml_slice *string)
{
    const char *from = s->at;
    scan_plain(s, l);
    if (rad__toml_scan_accept(s, l->quote)) { /* nothing to be put together */
        string->text = from;
        string->length = (size_t)(s->at - 1 - from);
        return true;
    }
    for (;;) {
        rad__bytes_put(&s->scratch, from, (size_t)(s->at - from));
        if (rad__toml_scan_accept(s, l->quote)) return true;
        if (rad__toml_scan_peek(s) != '\\' || l->quote != '"') return unfinished(s, l);
        if (!scan_escape(s, l)) return false;
        from = s->at;
        scan_plain(s, l);
    }
}

bool rad__toml_scan_string(rad_toml_scan *s, bool is_key, rad_toml_slice *string)
{
    literal l = {.quote = *s->at, .place = rad__toml_scan_place(s)};
    l.multi = !is_key && quotes_at(s, l.quote, 3) == 3;
    s->at += l.multi ? 3 : 1;
    s->scratch.size = 0;
    *string = (rad_toml_slice){.text = NULL, .place = l.place};
    if (!(l.multi ? scan_multi(s, &l) : scan_single(s, &l, string))) return false;
    if (s->scratch.failed) return rad__toml_scan_memory(s);
    if (string->text == NULL) {
        string->text = s->scratch.size ? (const char *)s->scratch.data : "";
        string->length = s->scratch.size;
    }
    return true;
}
