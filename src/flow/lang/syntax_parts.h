/* syntax_parts.h — what the files of the parser share: tokens, one ahead, and the first error, which ends it all.
 *
 *     syntax_lex.c        what is asked of tokens
 *     syntax_expr.c       expressions, constants
 *     syntax_task.c       data and tasks
 *     syntax_statement.c  statements and blocks
 *     syntax.c            flows, files */
#ifndef RAD_FLOW_LANG_SYNTAX_PARTS_H
#define RAD_FLOW_LANG_SYNTAX_PARTS_H

#include "base/parse.h"
#include "flow/lang/syntax.h"

typedef struct rad_flow_parser {
    rad_parser base;
    rad_flow_tree *tree;          /* the flow at hand */
    uint32_t deep;                /* of parentheses, not and minus; base.nesting counts blocks */
    uint32_t run_line, run_count; /* anonymous tasks of that line so far */
} rad_flow_parser;

/* All of it from its first member, which is what the functions pass on. */
static inline rad_flow_parser *rad__flow_parser(rad_parser *p)
{
    return (rad_flow_parser *)p;
}

static inline const char *rad__flow_symbol_text(const rad_parser *p, uint32_t name)
{
    return name < p->symbols->count ? p->symbols->texts[name] : "?";
}

/* ---- Tokens -------------------------------------------------------------------------------------------- */

/* As rad__parse_expected; when it is a word near one of those, "; did you mean …?". The list ends with NULL. */
RAD_INTERNAL void rad__flow_expected_word(rad_parser *p, const char *what, const char *const *words);
RAD_INTERNAL void rad__flow_expect_word(rad_parser *p, const char *word, const char *what);
/* A name that an expression can mean: not one of the words within expressions and behind them. */
RAD_INTERNAL uint32_t rad__flow_expect_variable(rad_parser *p, const char *what);
RAD_INTERNAL uint32_t rad__flow_expect_text(rad_parser *p, const char *what);
/* A number from `least` to `most`. */
RAD_INTERNAL uint32_t rad__flow_expect_count(rad_parser *p, const char *what, uint32_t least, uint32_t most);
RAD_INTERNAL uint64_t rad__flow_expect_duration(rad_parser *p);

/* ---- Parts --------------------------------------------------------------------------------------------- */

RAD_INTERNAL rad_flow_expr *rad__flow_parse_expr(rad_parser *p);
/* Whether `t`, behind a name that is no function, begins an expression. */
RAD_INTERNAL bool rad__flow_begins_operand(const rad_lexeme *t);
RAD_INTERNAL bool rad__flow_is_function(const rad_parser *p);
RAD_INTERNAL rad_flow_constant rad__flow_parse_constant(rad_parser *p);

RAD_INTERNAL void rad__flow_parse_data(rad_parser *p); /* behind the word */
RAD_INTERNAL void rad__flow_parse_task(rad_parser *p); /* behind the word */
/* Behind `run`: the task's name. */
RAD_INTERNAL uint32_t rad__flow_parse_run(rad_parser *p, rad_text_place place);

/* Statements up to a '}'; `is_body`: of a flow, with data and tasks between them. */
RAD_INTERNAL rad_flow_statement *rad__flow_parse_statements(rad_parser *p, bool is_body);

#endif
