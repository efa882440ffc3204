/* scan.c — the characters of a TOML file: which are allowed at all, where each stands, and what an error says. */
#include "base/error.h"
#include "base/toml/parts.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* ---- Errors -------------------------------------------------------------------------------------------- */

bool rad__toml_scan_fail(rad_toml_scan *s, rad_toml_place at, const char *format, ...)
{
    char text[400];
    va_list args;
    if (s->status != 0) return false;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    s->status = rad__error(s->error, RAD_EINPUT, "%s:%u:%u: %s", s->file_name, at.line, at.column, text);
    return false;
}

bool rad__toml_scan_memory(rad_toml_scan *s)
{
    if (s->status == 0) s->status = rad__error_memory(s->error);
    return false;
}

static size_t character_size(const char *at)
{
    unsigned char c = (unsigned char)*at;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static bool in_word(char c)
{
    return rad__toml_is_bare(c) || c == '+' || c == '.' || c == ':';
}

/* What stands there, for people: a word, or one character. */
static void found_text(const rad_toml_scan *s, char *text, size_t size)
{
    enum { WORD_MAX = 40 };
    size_t left = (size_t)(s->end - s->at), length = 0;
    while (length < left && length < WORD_MAX && in_word(s->at[length])) length++;
    if (left == 0)
        snprintf(text, size, "the end of the file");
    else if (*s->at == '\n' || *s->at == '\r')
        snprintf(text, size, "the end of the line");
    else if (*s->at == '\t')
        snprintf(text, size, "a tab");
    else
        snprintf(text, size, "'%.*s'", (int)(length ? length : character_size(s->at)), s->at);
}

bool rad__toml_scan_expected(rad_toml_scan *s, const char *what)
{
    char found[64];
    found_text(s, found, sizeof found);
    return rad__toml_scan_fail(s, rad__toml_scan_place(s), "expected %s, found %s", what, found);
}

/* ---- Places -------------------------------------------------------------------------------------------- */

rad_toml_place rad__toml_scan_place(rad_toml_scan *s)
{
    for (; s->mark < s->at; s->mark++) {
        if (*s->mark == '\n') {
            s->mark_place.line++;
            s->mark_place.column = 1;
        } else if (((unsigned char)*s->mark & 0xc0) != 0x80) { /* UTF-8: count first bytes */
            s->mark_place.column++;
        }
    }
    return s->mark_place;
}

/* ---- Which bytes may stand there at all ---------------------------------------------------------------- */

static bool refuse_byte(rad_toml_scan *s, const char *at)
{
    unsigned char c = (unsigned char)*at;
    s->at = at;
    rad_toml_place place = rad__toml_scan_place(s);
    if (c == '\r') return rad__toml_scan_fail(s, place, "expected a line feed after the carriage return, found none");
    if (c < 0x80) return rad__toml_scan_fail(s, place, "expected text, found the control character U+%04X", c);
    return rad__toml_scan_fail(s, place, "expected UTF-8, found the byte 0x%02x", c);
}

static bool check_bytes(rad_toml_scan *s)
{
    for (const char *at = s->at; at < s->end;) {
        unsigned char c = (unsigned char)*at;
        size_t left = (size_t)(s->end - at), size = rad__utf8_size(at, left);
        bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
        bool lone = c == '\r' && (left < 2 || at[1] != '\n');
        if (size == 0 || control || lone) return refuse_byte(s, at);
        at += size;
    }
    return true;
}

bool rad__toml_scan_open(rad_toml_scan *s, const char *file_name, const char *text, size_t size, rad_error *error)
{
    static const char byte_order_mark[3] = {'\xef', '\xbb', '\xbf'};
    *s = (rad_toml_scan){.file_name = file_name, .error = error};
    if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        size -= 3;
    }
    s->at = s->mark = text;
    s->end = text + size;
    s->mark_place = (rad_toml_place){1, 1};
    return check_bytes(s);
}

/* ---- Passing ------------------------------------------------------------------------------------------- */

bool rad__toml_is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool rad__toml_scan_accept(rad_toml_scan *s, char c)
{
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

void rad__toml_scan_blanks(rad_toml_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t')) s->at++;
}

static void scan_comment(rad_toml_scan *s)
{
    if (rad__toml_scan_peek(s) != '#') return;
    while (s->at < s->end && *s->at != '\n' && *s->at != '\r') s->at++;
}

/* A carriage return has its line feed: check_bytes saw to that. */
void rad__toml_scan_lines(rad_toml_scan *s)
{
    for (;;) {
        rad__toml_scan_blanks(s);
        scan_comment(s);
        char c = rad__toml_scan_peek(s);
        if (c != '\n' && c != '\r') return;
        s->at++;
    }
}

bool rad__toml_scan_line_end(rad_toml_scan *s)
{
    rad__toml_scan_blanks(s);
    scan_comment(s);
    if (s->at == s->end) return true;
    rad__toml_scan_accept(s, '\r');
    return rad__toml_scan_accept(s, '\n') || rad__toml_scan_expected(s, "the end of the line");
}
