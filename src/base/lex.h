/* lex.h — the lexemes of protocol files and flow files: names, numbers, texts, signs, and where each is. Blanks,
 * line ends, semicolons and comments (from '#' to the end of the line) separate, and mean nothing else. */
#ifndef RAD_BASE_LEX_H
#define RAD_BASE_LEX_H

#include "base/check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RAD_LEX_NAME_MAX = 60 }; /* characters of a name */

typedef struct rad_text_place {
    uint32_t line, column; /* from 1 */
} rad_text_place;

enum rad_lexeme_kind { RAD_LEXEME_END, RAD_LEXEME_NAME, RAD_LEXEME_NUMBER, RAD_LEXEME_TEXT, RAD_LEXEME_SIGN };

typedef struct rad_lexeme {
    enum rad_lexeme_kind kind;
    rad_text_place place;
    const char *text; /* as it is written, with its quotes */
    size_t length;
    uint64_t number; /* up to 2^63, which only a minus can make a number of 64 bits */
} rad_lexeme;

typedef struct rad_lexer {
    const char *at, *end;
    rad_text_place place; /* of `at` */
    const char *pairs;    /* the signs that have two characters, one behind the other: "->.." */
    bool has_escapes;     /* in a text \" and \\ mean one character */
} rad_lexer;

RAD_INTERNAL void rad__lex_begin(rad_lexer *l, const char *text, size_t length, const char *pairs, bool has_escapes);

/* The next lexeme; at the end again and again. NULL, or what is wrong with it, and where; then `t` is a lexeme all the
 * same, and the one after it can be read. */
RAD_INTERNAL const char *rad__lex(rad_lexer *l, rad_lexeme *t, rad_text_place *wrong);

/* Whether a name follows at once, without a blank: a unit behind its number. */
RAD_INTERNAL bool rad__lex_touches_name(const rad_lexer *l);

/* A sign or name; never a text. */
RAD_INTERNAL bool rad__lexeme_is(const rad_lexeme *t, const char *text);

enum { RAD_LEXEME_TOLD = 80 };

/* What is there, for people: 'name', a text, the byte 0x07, the end of the file. */
RAD_INTERNAL void rad__lexeme_tell(const rad_lexeme *t, char text[RAD_LEXEME_TOLD]);

/* "FILE:LINE:COLUMN: …", an error of what was given; returns its code. */
RAD_INTERNAL int rad__error_at(rad_error *error, const char *file, rad_text_place at, const char *format, va_list args)
    RAD_PRINTF(4, 0);

#endif
