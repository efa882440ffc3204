/* parse.h — where a parser is: one lexeme ahead, in a text of lex.h, and the first error, which ends it all.
 *
 * Once `status` is set nothing is accepted any more, so that loops end and no call has to be checked. */
#ifndef RAD_BASE_PARSE_H
#define RAD_BASE_PARSE_H

#include "base/lex.h"
#include "base/symbols.h"

typedef struct rad_parser {
    const char *file_name; /* for messages */
    rad_symbols *symbols;
    rad_arena *arena;
    rad_lexer lexer;
    rad_lexeme now;
    uint32_t nesting; /* the language's to count */
    rad_error *error;
    int status;
} rad_parser;

/* "FILE:LINE:COLUMN: …" */
RAD_INTERNAL void rad__parse_fail(rad_parser *p, rad_text_place at, const char *format, ...) RAD_PRINTF(3, 4);
RAD_INTERNAL void rad__parse_fail_memory(rad_parser *p);
/* "expected WHAT, found …" */
RAD_INTERNAL void rad__parse_expected(rad_parser *p, const char *what);

RAD_INTERNAL void *rad__parse_take(rad_parser *p, size_t count, size_t size); /* from the arena */
RAD_INTERNAL void rad__parse_advance(rad_parser *p);
RAD_INTERNAL rad_lexeme rad__parse_peek(const rad_parser *p); /* the one after `now` */

/* A sign or a word. */
RAD_INTERNAL bool rad__parse_accept(rad_parser *p, const char *text);
RAD_INTERNAL void rad__parse_expect(rad_parser *p, const char *text, const char *what);
RAD_INTERNAL uint32_t rad__parse_expect_name(rad_parser *p, const char *what);
RAD_INTERNAL uint32_t rad__parse_symbol(rad_parser *p, const char *text, size_t length);

static inline bool rad__parse_is(const rad_parser *p, const char *text)
{
    return rad__lexeme_is(&p->now, text);
}

#endif
