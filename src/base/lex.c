/* lex.c — see lex.h. */
#include "base/lex.h"

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

void rad__lex_begin(rad_lexer *l, const char *text, size_t length, const char *pairs, bool has_escapes)
{
    *l = (rad_lexer){.at = text, .end = text + length, .place = {1, 1}, .pairs = pairs, .has_escapes = has_escapes};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) l->at += 3; /* some editors' mark */
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void forward(rad_lexer *l)
{
    l->place.column++;
    if (*l->at++ != '\n') return;
    l->place.line++;
    l->place.column = 1;
}

static void skip(rad_lexer *l)
{
    while (l->at < l->end) {
        if (*l->at == '#')
            while (l->at < l->end && *l->at != '\n') forward(l);
        else if (memchr(" \t\r\n;", *l->at, 5) != NULL)
            forward(l);
        else
            return;
    }
}

static const char *lex_name(rad_lexer *l)
{
    const char *begin = l->at;
    while (l->at < l->end && (begins_name(*l->at) || rad__is_digit(*l->at))) forward(l);
    return l->at - begin > RAD_LEX_NAME_MAX ? "a name has 60 characters at most" : NULL;
}

static const char *lex_number(rad_lexer *l, uint64_t *number)
{
    const char *mistake = NULL;
    for (; l->at < l->end && rad__is_digit(*l->at); forward(l))
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*l->at - '0'), number) || *number > (uint64_t)1 << 63)
            mistake = "the number is too large";
    return mistake;
}

/* Up to its second quote. What the backslashes mean is found out by who takes the text. */
static const char *lex_text(rad_lexer *l, rad_text_place *wrong)
{
    const char *mistake = NULL;
    forward(l);
    while (l->at < l->end && *l->at != '"' && *l->at != '\n') {
        size_t size = rad__utf8_size(l->at, (size_t)(l->end - l->at));
        const char *found = *l->at == 0 ? "the text has a byte 0 in it" : size == 0 ? "the text is not UTF-8" : NULL;
        if (found != NULL && mistake == NULL) {
            mistake = found;
            *wrong = l->place;
        }
        bool is_pair = l->has_escapes && *l->at == '\\' && l->end - l->at > 1 && memchr("\\\"", l->at[1], 2) != NULL;
        for (size_t i = is_pair ? 2 : size > 0 ? size : 1; i > 0; i--) forward(l);
    }
    if (l->at < l->end && *l->at == '"')
        forward(l);
    else if (mistake == NULL)
        mistake = "the text does not end on its line: expected '\"'";
    return mistake;
}

static void lex_sign(rad_lexer *l)
{
    bool is_pair = false;
    for (const char *pair = l->pairs; *pair != 0 && l->end - l->at > 1; pair += 2)
        is_pair |= memcmp(l->at, pair, 2) == 0;
    forward(l);
    if (is_pair) forward(l);
}

const char *rad__lex(rad_lexer *l, rad_lexeme *t, rad_text_place *wrong)
{
    skip(l);
    *t = (rad_lexeme){.kind = RAD_LEXEME_END, .place = l->place, .text = l->at};
    *wrong = t->place;
    if (l->at == l->end) return NULL;
    const char *mistake = NULL;
    if (begins_name(*l->at)) {
        t->kind = RAD_LEXEME_NAME;
        mistake = lex_name(l);
    } else if (rad__is_digit(*l->at)) {
        t->kind = RAD_LEXEME_NUMBER;
        mistake = lex_number(l, &t->number);
    } else if (*l->at == '"') {
        t->kind = RAD_LEXEME_TEXT;
        mistake = lex_text(l, wrong);
    } else {
        t->kind = RAD_LEXEME_SIGN;
        lex_sign(l);
    }
    t->length = (size_t)(l->at - t->text);
    return mistake;
}

bool rad__lex_touches_name(const rad_lexer *l)
{
    return l->at < l->end && begins_name(*l->at);
}

bool rad__lexeme_is(const rad_lexeme *t, const char *text)
{
    return (t->kind == RAD_LEXEME_SIGN || t->kind == RAD_LEXEME_NAME) && strlen(text) == t->length &&
           memcmp(t->text, text, t->length) == 0;
}

void rad__lexeme_tell(const rad_lexeme *t, char text[RAD_LEXEME_TOLD])
{
    if (t->kind == RAD_LEXEME_END)
        snprintf(text, RAD_LEXEME_TOLD, "the end of the file");
    else if (t->length == 1 && (t->text[0] < ' ' || t->text[0] > '~'))
        snprintf(text, RAD_LEXEME_TOLD, "the byte 0x%02x", (unsigned char)t->text[0]);
    else if (t->kind == RAD_LEXEME_TEXT)
        snprintf(text, RAD_LEXEME_TOLD, "a text");
    else
        snprintf(text, RAD_LEXEME_TOLD, "'%.*s'", t->length > 60 ? 60 : (int)t->length, t->text);
}

int rad__error_at(rad_error *error, const char *file, rad_text_place at, const char *format, va_list args)
{
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    return rad__error(error, RAD_EINPUT, "%s:%u:%u: %s", file, at.line, at.column, text);
}
