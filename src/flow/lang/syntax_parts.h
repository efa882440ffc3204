/* syntax_parts.h — what the files of the parser share: tokens, one ahead, and the first error, which ends it all.
 *
 *     syntax_lex.c        what is asked of tokens
 *     syntax_expr.c       expressions, constants
 *     syntax_task.c       data and tasks
 *     syntax_statement.c  statements and blocks
 *     syntax.c            flows, files
 *
 * Once `status` is set nothing is accepted any more, so that loops end and nobody has to ask after each call. */
#ifndef RAD_FLOW_LANG_SYNTAX_PARTS_H
#define RAD_FLOW_LANG_SYNTAX_PARTS_H

#include "flow/lang/syntax.h"

typedef struct rad_flow_parser {
    rad_flow_file *file;
    rad_flow_tree *tree; /* the flow at hand */
    rad_lexer lexer;
    rad_lexeme now;
    uint32_t nesting;             /* of blocks */
    uint32_t deep;                /* of parentheses, not and minus */
    uint32_t run_line, run_count; /* anonymous tasks of that line so far */
    rad_error *error;
    int status;
} rad_flow_parser;

/* ---- Errors -------------------------------------------------------------------------------------------- */

RAD_INTERNAL void rad__flow_fail(rad_flow_parser *p, rad_text_place at, const char *format, ...) RAD_PRINTF(3, 4);
RAD_INTERNAL void rad__flow_fail_memory(rad_flow_parser *p);
/* "expected WHAT, found …" */
RAD_INTERNAL void rad__flow_expected(rad_flow_parser *p, const char *what);
/* The same; when it is a word near one of those, "; did you mean …?". The list ends with NULL. */
RAD_INTERNAL void rad__flow_expected_word(rad_flow_parser *p, const char *what, const char *const *words);
RAD_INTERNAL void *rad__flow_take(rad_flow_parser *p, size_t count, size_t size);

/* ---- Tokens -------------------------------------------------------------------------------------------- */

RAD_INTERNAL void rad__flow_advance(rad_flow_parser *p);
RAD_INTERNAL rad_lexeme rad__flow_peek(const rad_flow_parser *p); /* the one after `now` */
/* A sign or a word. */
RAD_INTERNAL bool rad__flow_is(const rad_flow_parser *p, const char *text);
RAD_INTERNAL bool rad__flow_accept(rad_flow_parser *p, const char *text);
RAD_INTERNAL void rad__flow_expect_sign(rad_flow_parser *p, const char *sign, const char *what);
RAD_INTERNAL void rad__flow_expect_word(rad_flow_parser *p, const char *word, const char *what);
RAD_INTERNAL uint32_t rad__flow_symbol(rad_flow_parser *p, const char *text, size_t length);
RAD_INTERNAL uint32_t rad__flow_expect_name(rad_flow_parser *p, const char *what);
/* A name that an expression can mean: not one of the words that stand in expressions and behind them. */
RAD_INTERNAL uint32_t rad__flow_expect_variable(rad_flow_parser *p, const char *what);
RAD_INTERNAL uint32_t rad__flow_expect_text(rad_flow_parser *p, const char *what);
/* A number from `least` to `most`. */
RAD_INTERNAL uint32_t rad__flow_expect_count(rad_flow_parser *p, const char *what, uint32_t least, uint32_t most);
RAD_INTERNAL uint64_t rad__flow_expect_duration(rad_flow_parser *p);

/* ---- Parts --------------------------------------------------------------------------------------------- */

RAD_INTERNAL rad_flow_expr *rad__flow_parse_expr(rad_flow_parser *p);
/* Whether `t`, before which stands a name that is no function, begins an expression. */
RAD_INTERNAL bool rad__flow_begins_operand(const rad_lexeme *t);
RAD_INTERNAL bool rad__flow_is_function(const rad_flow_parser *p);
RAD_INTERNAL rad_flow_constant rad__flow_parse_constant(rad_flow_parser *p);

RAD_INTERNAL void rad__flow_parse_data(rad_flow_parser *p); /* behind the word */
RAD_INTERNAL void rad__flow_parse_task(rad_flow_parser *p); /* behind the word */
/* Behind `run`: the task's name. */
RAD_INTERNAL uint32_t rad__flow_parse_run(rad_flow_parser *p, rad_text_place place);

/* Statements up to a '}'; `is_body`: of a flow, with data and tasks between them. */
RAD_INTERNAL rad_flow_statement *rad__flow_parse_statements(rad_flow_parser *p, bool is_body);

#endif
