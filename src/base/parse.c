/* parse.c — see parse.h. */
#include "base/parse.h"

#include "base/error.h"

void rad__parse_fail(rad_parser *p, rad_text_place at, const char *format, ...)
{
    if (p->status != 0) return;
    va_list args;
    va_start(args, format);
    p->status = rad__error_at(p->error, p->file_name, at, format, args);
    va_end(args);
}

void rad__parse_fail_memory(rad_parser *p)
{
    if (p->status == 0) p->status = rad__error_memory(p->error);
}

void rad__parse_expected(rad_parser *p, const char *what)
{
    char found[RAD_LEXEME_TOLD];
    rad__lexeme_tell(&p->now, found);
    rad__parse_fail(p, p->now.place, "expected %s, found %s", what, found);
}

void *rad__parse_take(rad_parser *p, size_t count, size_t size)
{
    void *taken = rad__arena_take(p->arena, count, size);
    if (taken == NULL) rad__parse_fail_memory(p);
    return taken;
}

void rad__parse_advance(rad_parser *p)
{
    rad_text_place wrong;
    const char *mistake = rad__lex(&p->lexer, &p->now, &wrong);
    if (mistake != NULL) rad__parse_fail(p, wrong, "%s", mistake);
}

rad_lexeme rad__parse_peek(const rad_parser *p)
{
    rad_lexer ahead = p->lexer;
    rad_lexeme next;
    rad_text_place wrong; /* reported when it is read */
    rad__lex(&ahead, &next, &wrong);
    return next;
}

bool rad__parse_accept(rad_parser *p, const char *text)
{
    if (p->status != 0 || !rad__parse_is(p, text)) return false;
    rad__parse_advance(p);
    return true;
}

void rad__parse_expect(rad_parser *p, const char *text, const char *what)
{
    if (!rad__parse_accept(p, text)) rad__parse_expected(p, what);
}

uint32_t rad__parse_expect_name(rad_parser *p, const char *what)
{
    if (p->status != 0) return RAD_NONE;
    if (p->now.kind != RAD_LEXEME_NAME) {
        rad__parse_expected(p, what);
        return RAD_NONE;
    }
    uint32_t name = rad__parse_symbol(p, p->now.text, p->now.length);
    rad__parse_advance(p);
    return name;
}

uint32_t rad__parse_symbol(rad_parser *p, const char *text, size_t length)
{
    if (p->status != 0) return RAD_NONE;
    uint32_t name = rad__symbol(p->symbols, text, length);
    if (name == RAD_NONE && p->symbols->count >= RAD_SYMBOLS_MAX)
        rad__parse_fail(p, p->now.place, "there are more than %d names and texts", RAD_SYMBOLS_MAX);
    else if (name == RAD_NONE)
        rad__parse_fail_memory(p);
    return name;
}
