/* syntax_lex.c — what the parser asks of its tokens. */
#include "base/suggest.h"
#include "flow/lang/syntax_parts.h"

#include <inttypes.h>
#include <string.h>

/* ---- Words ------------------------------------------------------------------------------- */

void rad__flow_expected_word(rad_parser *p, const char *what, const char *const *words)
{
    rad_suggest near;
    rad__suggest_begin(&near, p->now.text, p->now.kind == RAD_LEXEME_NAME ? p->now.length : 0);
    for (; *words != NULL; words++) rad__suggest_consider(&near, *words);
    char found[RAD_LEXEME_TOLD];
    rad__lexeme_tell(&p->now, found);
    rad__parse_fail(p, p->now.place, "expected %s, found %s%s", what, found, rad__suggest_text(&near, ""));
}

void rad__flow_expect_word(rad_parser *p, const char *word, const char *what)
{
    const char *const words[] = {word, NULL};
    if (!rad__parse_accept(p, word)) rad__flow_expected_word(p, what, words);
}

/* ---- Names and texts ------------------------------------------------------------------------------- */

uint32_t rad__flow_expect_variable(rad_parser *p, const char *what)
{
    static const char *const words[] = {"and", "or", "not", "true", "false", "over", "up", "as"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rad__parse_is(p, words[i]))
            rad__parse_fail(p, p->now.place, "expected %s, found '%s', a word of the language", what, words[i]);
    return rad__parse_expect_name(p, what);
}

/* The character that backslash and `c` mean; 0: none. */
static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '"' || c == '\\' ? c : 0;
}

uint32_t rad__flow_expect_text(rad_parser *p, const char *what)
{
    if (p->status == 0 && p->now.kind != RAD_LEXEME_TEXT) rad__parse_expected(p, what);
    if (p->status != 0) return RAD_NONE;
    const char *from = p->now.text + 1, *end = p->now.text + p->now.length - 1;
    char *text = rad__parse_take(p, p->now.length, 1), *to = text;
    if (text == NULL) return RAD_NONE;
    while (from < end) {
        rad_text_place at = p->now.place;
        at.column += (uint32_t)(from - p->now.text);
        char c = *from++;
        if (c == '\\') c = escaped(*from++);
        if (c == 0) rad__parse_fail(p, at, "expected \\\", \\\\, \\n or \\t in the text");
        *to++ = c;
    }
    uint32_t name = rad__parse_symbol(p, text, (size_t)(to - text));
    rad__parse_advance(p);
    return name;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

uint32_t rad__flow_expect_count(rad_parser *p, const char *what, uint32_t least, uint32_t most)
{
    if (p->status != 0) return least;
    if (p->now.kind != RAD_LEXEME_NUMBER) {
        rad__parse_expected(p, what);
        return least;
    }
    uint64_t number = p->now.number;
    if (number < least || number > most)
        rad__parse_fail(p, p->now.place, "expected %s from %u to %u, found %.*s", what, least, most,
                        p->now.length > 40 ? 40 : (int)p->now.length, p->now.text);
    rad__parse_advance(p);
    return (uint32_t)number;
}

uint64_t rad__flow_expect_duration(rad_parser *p)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}};
    if (p->status != 0) return 0;
    if (p->now.kind != RAD_LEXEME_NUMBER) {
        rad__parse_expected(p, "a duration such as 10s");
        return 0;
    }
    uint64_t number = p->now.number, ns = 1000000000;
    rad_text_place place = p->now.place;
    bool has_unit = rad__lex_touches_name(&p->lexer);
    rad__parse_advance(p);
    if (!has_unit && rad__parse_is(p, ".")) rad__parse_fail(p, place, "a duration is a whole number: 1500ms, not 1.5s");
    for (size_t i = 0; !has_unit && i < 5; i++)
        if (rad__parse_is(p, units[i].name))
            rad__parse_fail(p, p->now.place, "a unit follows its number without a space: %" PRIu64 "%s", number,
                            units[i].name);
    size_t unit = has_unit ? 0 : 1;
    while (has_unit && unit < 5 && !rad__parse_is(p, units[unit].name)) unit++;
    if (unit == 5) {
        rad__parse_expected(p, "ms, s, m, h or d behind the number");
        return 0;
    }
    if (__builtin_mul_overflow(number, units[unit].ns, &ns) || ns > INT64_MAX)
        rad__parse_fail(p, place, "the duration is longer than 106751 days");
    if (has_unit) rad__parse_advance(p);
    return ns;
}
