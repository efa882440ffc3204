/* syntax_lex.c — tokens of flow files, and what the parser asks of them. */
#include "base/error.h"
#include "base/utf8.h"
#include "flow/suggest.h"
#include "flow/syntax_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Errors ------------------------------------------------------------------------------- */

void rad__flow_fail(rad_flow_parser *p, rad_flow_place at, const char *format, ...)
{
    if (p->status != 0) return;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->status = rad__flow_error(p->file, at, p->error, "%s", text);
}

void rad__flow_fail_memory(rad_flow_parser *p)
{
    if (p->status == 0) p->status = rad__error_memory(p->error);
}

/* What stands there, for people. */
static void token_text(const rad_flow_token *t, char *text, size_t size)
{
    if (t->kind == RAD_TOKEN_END)
        snprintf(text, size, "the end of the file");
    else if (t->length == 1 && (t->text[0] < ' ' || t->text[0] > '~'))
        snprintf(text, size, "the byte 0x%02x", (unsigned char)t->text[0]);
    else if (t->kind == RAD_TOKEN_TEXT)
        snprintf(text, size, "a text");
    else
        snprintf(text, size, "'%.*s'", t->length > 60 ? 60 : (int)t->length, t->text);
}

void rad__flow_expected(rad_flow_parser *p, const char *what)
{
    char found[80];
    token_text(&p->now, found, sizeof found);
    rad__flow_fail(p, p->now.place, "expected %s, found %s", what, found);
}

void rad__flow_expected_word(rad_flow_parser *p, const char *what, const char *const *words)
{
    rad_flow_suggest near;
    rad__flow_suggest_begin(&near, p->now.text, p->now.kind == RAD_TOKEN_NAME ? p->now.length : 0);
    for (; *words != NULL; words++) rad__flow_suggest_consider(&near, *words);
    char found[80];
    token_text(&p->now, found, sizeof found);
    rad__flow_fail(p, p->now.place, "expected %s, found %s%s", what, found,
                   rad__flow_suggest_text(&near));
}

void *rad__flow_take(rad_flow_parser *p, size_t count, size_t size)
{
    void *taken = rad__arena_take(&p->file->arena, count, size);
    if (taken == NULL) rad__flow_fail_memory(p);
    return taken;
}

/* ---- Tokens ------------------------------------------------------------------------------- */

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void forward(rad_flow_parser *p)
{
    p->place.column++;
    if (*p->at++ != '\n') return;
    p->place.line++;
    p->place.column = 1;
}

/* Blanks, line ends, semicolons and comments. */
static void skip(rad_flow_parser *p)
{
    while (p->at < p->end) {
        if (*p->at == '#')
            while (p->at < p->end && *p->at != '\n') forward(p);
        else if (memchr(" \t\r\n;", *p->at, 5) != NULL)
            forward(p);
        else
            return;
    }
}

static void lex_number(rad_flow_parser *p, rad_flow_token *t)
{
    for (; p->at < p->end && is_digit(*p->at); forward(p))
        if (__builtin_mul_overflow(t->number, 10, &t->number) ||
            __builtin_add_overflow(t->number, (uint64_t)(*p->at - '0'), &t->number) ||
            t->number > (uint64_t)1 << 63)
            rad__flow_fail(p, t->place, "the number is too large");
}

/* Up to its second quote. What the backslashes mean is found out when the text is taken. */
static void lex_text(rad_flow_parser *p, rad_flow_token *t)
{
    forward(p);
    while (p->at < p->end && *p->at != '"' && *p->at != '\n') {
        if (*p->at == 0) rad__flow_fail(p, p->place, "the text has a byte 0 in it");
        size_t size = rad__utf8_size(p->at, (size_t)(p->end - p->at));
        if (size == 0) rad__flow_fail(p, p->place, "the text is not UTF-8");
        bool is_pair = *p->at == '\\' && p->end - p->at > 1 && memchr("\\\"", p->at[1], 2) != NULL;
        for (size_t i = is_pair ? 2 : size > 0 ? size : 1; i > 0; i--) forward(p);
    }
    if (p->at == p->end || *p->at != '"')
        rad__flow_fail(p, t->place, "the text does not end on its line: expected '\"'");
    else
        forward(p);
}

static void lex_sign(rad_flow_parser *p)
{
    bool is_two = p->end - p->at > 1 && p->at[1] == '=' && memchr("=!<>", *p->at, 4) != NULL;
    forward(p);
    if (is_two) forward(p);
}

void rad__flow_advance(rad_flow_parser *p)
{
    skip(p);
    rad_flow_token *t = &p->now;
    *t = (rad_flow_token){.kind = RAD_TOKEN_END, .place = p->place, .text = p->at};
    if (p->at == p->end) return;
    if (begins_name(*p->at)) {
        t->kind = RAD_TOKEN_NAME;
        while (p->at < p->end && (begins_name(*p->at) || is_digit(*p->at))) forward(p);
        if (p->at - t->text > RAD_FLOW_NAME_MAX)
            rad__flow_fail(p, t->place, "a name has %d characters at most", RAD_FLOW_NAME_MAX);
    } else if (is_digit(*p->at)) {
        t->kind = RAD_TOKEN_NUMBER;
        lex_number(p, t);
    } else if (*p->at == '"') {
        t->kind = RAD_TOKEN_TEXT;
        lex_text(p, t);
    } else {
        t->kind = RAD_TOKEN_SIGN;
        lex_sign(p);
    }
    t->length = (size_t)(p->at - t->text);
}

rad_flow_token rad__flow_peek(rad_flow_parser *p)
{
    rad_flow_parser ahead = *p;
    ahead.error = NULL; /* a mistake there is told when it is read */
    rad__flow_advance(&ahead);
    return ahead.now;
}

bool rad__flow_token_is(const rad_flow_token *t, const char *text)
{
    return (t->kind == RAD_TOKEN_SIGN || t->kind == RAD_TOKEN_NAME) && strlen(text) == t->length &&
           memcmp(t->text, text, t->length) == 0;
}

bool rad__flow_is_sign(const rad_flow_parser *p, const char *sign)
{
    return rad__flow_token_is(&p->now, sign);
}

bool rad__flow_is_word(const rad_flow_parser *p, const char *word)
{
    return rad__flow_token_is(&p->now, word);
}

bool rad__flow_accept_sign(rad_flow_parser *p, const char *sign)
{
    if (p->status != 0 || !rad__flow_is_sign(p, sign)) return false;
    rad__flow_advance(p);
    return true;
}

bool rad__flow_accept_word(rad_flow_parser *p, const char *word)
{
    return rad__flow_accept_sign(p, word);
}

void rad__flow_expect_sign(rad_flow_parser *p, const char *sign, const char *what)
{
    if (!rad__flow_accept_sign(p, sign)) rad__flow_expected(p, what);
}

void rad__flow_expect_word(rad_flow_parser *p, const char *word, const char *what)
{
    const char *const words[] = {word, NULL};
    if (!rad__flow_accept_word(p, word)) rad__flow_expected_word(p, what, words);
}

/* ---- Names and texts ------------------------------------------------------------------------------- */

uint32_t rad__flow_symbol(rad_flow_parser *p, const char *text, size_t length)
{
    if (p->status != 0) return RAD_NONE;
    uint32_t name = rad__symbol(&p->file->symbols, text, length);
    if (name == RAD_NONE && p->file->symbols.count >= RAD_SYMBOLS_MAX)
        rad__flow_fail(p, p->now.place, "there are more than %d names and texts", RAD_SYMBOLS_MAX);
    else if (name == RAD_NONE)
        rad__flow_fail_memory(p);
    return name;
}

uint32_t rad__flow_expect_name(rad_flow_parser *p, const char *what)
{
    if (p->status != 0) return RAD_NONE;
    if (p->now.kind != RAD_TOKEN_NAME) {
        rad__flow_expected(p, what);
        return RAD_NONE;
    }
    uint32_t name = rad__flow_symbol(p, p->now.text, p->now.length);
    rad__flow_advance(p);
    return name;
}

uint32_t rad__flow_expect_variable(rad_flow_parser *p, const char *what)
{
    static const char *const words[] = {"and", "or", "not", "true", "false", "over", "up", "as"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rad__flow_is_word(p, words[i]))
            rad__flow_fail(p, p->now.place, "expected %s, found '%s', a word of the language", what,
                           words[i]);
    return rad__flow_expect_name(p, what);
}

/* The character that stands for backslash and `c`; 0: none. */
static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '"' || c == '\\' ? c : 0;
}

uint32_t rad__flow_expect_text(rad_flow_parser *p, const char *what)
{
    if (p->status == 0 && p->now.kind != RAD_TOKEN_TEXT) rad__flow_expected(p, what);
    if (p->status != 0) return RAD_NONE;
    const char *from = p->now.text + 1, *end = p->now.text + p->now.length - 1;
    char *text = rad__flow_take(p, p->now.length, 1), *to = text;
    if (text == NULL) return RAD_NONE;
    while (from < end) {
        rad_flow_place at = p->now.place;
        at.column += (uint32_t)(from - p->now.text);
        char c = *from++;
        if (c == '\\') c = escaped(*from++);
        if (c == 0) rad__flow_fail(p, at, "expected \\\", \\\\, \\n or \\t in the text");
        *to++ = c;
    }
    uint32_t name = rad__flow_symbol(p, text, (size_t)(to - text));
    rad__flow_advance(p);
    return name;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

uint32_t rad__flow_expect_count(rad_flow_parser *p, const char *what, uint32_t least, uint32_t most)
{
    if (p->status != 0) return least;
    if (p->now.kind != RAD_TOKEN_NUMBER) {
        rad__flow_expected(p, what);
        return least;
    }
    uint64_t number = p->now.number;
    if (number < least || number > most)
        rad__flow_fail(p, p->now.place, "expected %s from %u to %u, found %.*s", what, least, most,
                       p->now.length > 40 ? 40 : (int)p->now.length, p->now.text);
    rad__flow_advance(p);
    return (uint32_t)number;
}

uint64_t rad__flow_expect_duration(rad_flow_parser *p)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ms", 1000000},
                 {"s", 1000000000},
                 {"m", 60000000000},
                 {"h", 3600000000000},
                 {"d", 86400000000000}};
    if (p->status != 0) return 0;
    if (p->now.kind != RAD_TOKEN_NUMBER) {
        rad__flow_expected(p, "a duration such as 10s");
        return 0;
    }
    uint64_t number = p->now.number, ns = 1000000000;
    rad_flow_place place = p->now.place;
    bool has_unit = p->at < p->end && begins_name(*p->at);
    rad__flow_advance(p);
    if (!has_unit && rad__flow_is_sign(p, "."))
        rad__flow_fail(p, place, "a duration is a whole number: 1500ms, not 1.5s");
    size_t unit = has_unit ? 0 : 1;
    while (has_unit && unit < 5 && !rad__flow_is_word(p, units[unit].name)) unit++;
    if (unit == 5) {
        rad__flow_expected(p, "ms, s, m, h or d behind the number");
        return 0;
    }
    if (__builtin_mul_overflow(number, units[unit].ns, &ns) || ns > INT64_MAX)
        rad__flow_fail(p, place, "the duration is longer than 106751 days");
    if (has_unit) rad__flow_advance(p);
    return ns;
}
