/* syntax_lex.c — what the parser asks of its tokens. */
#include "base/error.h"
#include "base/suggest.h"
#include "flow/lang/syntax_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Errors ------------------------------------------------------------------------------- */

void rad__flow_fail(rad_flow_parser *p, rad_text_place at, const char *format, ...)
{
    if (p->status != 0) return;
    va_list args;
    va_start(args, format);
    p->status = rad__error_at(p->error, p->file->file_name, at, format, args);
    va_end(args);
}

void rad__flow_fail_memory(rad_flow_parser *p)
{
    if (p->status == 0) p->status = rad__error_memory(p->error);
}

void rad__flow_expected(rad_flow_parser *p, const char *what)
{
    char found[RAD_LEXEME_TOLD];
    rad__lexeme_tell(&p->now, found);
    rad__flow_fail(p, p->now.place, "expected %s, found %s", what, found);
}

void rad__flow_expected_word(rad_flow_parser *p, const char *what, const char *const *words)
{
    rad_suggest near;
    rad__suggest_begin(&near, p->now.text, p->now.kind == RAD_LEXEME_NAME ? p->now.length : 0);
    for (; *words != NULL; words++) rad__suggest_consider(&near, *words);
    char found[RAD_LEXEME_TOLD];
    rad__lexeme_tell(&p->now, found);
    rad__flow_fail(p, p->now.place, "expected %s, found %s%s", what, found, rad__suggest_text(&near, ""));
}

void *rad__flow_take(rad_flow_parser *p, size_t count, size_t size)
{
    void *taken = rad__arena_take(&p->file->arena, count, size);
    if (taken == NULL) rad__flow_fail_memory(p);
    return taken;
}

/* ---- Tokens ------------------------------------------------------------------------------- */

void rad__flow_advance(rad_flow_parser *p)
{
    rad_text_place wrong;
    const char *mistake = rad__lex(&p->lexer, &p->now, &wrong);
    if (mistake != NULL) rad__flow_fail(p, wrong, "%s", mistake);
}

rad_lexeme rad__flow_peek(const rad_flow_parser *p)
{
    rad_lexer ahead = p->lexer;
    rad_lexeme next;
    rad_text_place wrong; /* is told when it is read */
    rad__lex(&ahead, &next, &wrong);
    return next;
}

bool rad__flow_is(const rad_flow_parser *p, const char *text)
{
    return rad__lexeme_is(&p->now, text);
}

bool rad__flow_accept(rad_flow_parser *p, const char *text)
{
    if (p->status != 0 || !rad__flow_is(p, text)) return false;
    rad__flow_advance(p);
    return true;
}

void rad__flow_expect_sign(rad_flow_parser *p, const char *sign, const char *what)
{
    if (!rad__flow_accept(p, sign)) rad__flow_expected(p, what);
}

void rad__flow_expect_word(rad_flow_parser *p, const char *word, const char *what)
{
    const char *const words[] = {word, NULL};
    if (!rad__flow_accept(p, word)) rad__flow_expected_word(p, what, words);
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
    if (p->now.kind != RAD_LEXEME_NAME) {
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
        if (rad__flow_is(p, words[i]))
            rad__flow_fail(p, p->now.place, "expected %s, found '%s', a word of the language", what, words[i]);
    return rad__flow_expect_name(p, what);
}

/* The character that stands for backslash and `c`; 0: none. */
static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '"' || c == '\\' ? c : 0;
}

uint32_t rad__flow_expect_text(rad_flow_parser *p, const char *what)
{
    if (p->status == 0 && p->now.kind != RAD_LEXEME_TEXT) rad__flow_expected(p, what);
    if (p->status != 0) return RAD_NONE;
    const char *from = p->now.text + 1, *end = p->now.text + p->now.length - 1;
    char *text = rad__flow_take(p, p->now.length, 1), *to = text;
    if (text == NULL) return RAD_NONE;
    while (from < end) {
        rad_text_place at = p->now.place;
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
    if (p->now.kind != RAD_LEXEME_NUMBER) {
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
    } units[] = {{"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}};
    if (p->status != 0) return 0;
    if (p->now.kind != RAD_LEXEME_NUMBER) {
        rad__flow_expected(p, "a duration such as 10s");
        return 0;
    }
    uint64_t number = p->now.number, ns = 1000000000;
    rad_text_place place = p->now.place;
    bool has_unit = rad__lex_touches_name(&p->lexer);
    rad__flow_advance(p);
    if (!has_unit && rad__flow_is(p, ".")) rad__flow_fail(p, place, "a duration is a whole number: 1500ms, not 1.5s");
    for (size_t i = 0; !has_unit && i < 5; i++)
        if (rad__flow_is(p, units[i].name))
            rad__flow_fail(p, p->now.place, "a unit follows its number without a space: %" PRIu64 "%s", number,
                           units[i].name);
    size_t unit = has_unit ? 0 : 1;
    while (has_unit && unit < 5 && !rad__flow_is(p, units[unit].name)) unit++;
    if (unit == 5) {
        rad__flow_expected(p, "ms, s, m, h or d behind the number");
        return 0;
    }
    if (__builtin_mul_overflow(number, units[unit].ns, &ns) || ns > INT64_MAX)
        rad__flow_fail(p, place, "the duration is longer than 106751 days");
    if (has_unit) rad__flow_advance(p);
    return ns;
}
