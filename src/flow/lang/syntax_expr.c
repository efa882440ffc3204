/* syntax_expr.c — expressions: or, and, not, comparisons (one only), + -, * / %, minus, operands. Trees are never
 * deeper than RAD_FLOW_NESTING_MAX, long sums included, so that a walk may be a function that calls itself. */
#include "flow/lang/syntax_parts.h"

#include <string.h>

enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_ADD, LEVEL_MULTIPLY, LEVEL_OPERAND };

static rad_flow_expr *parse_level(rad_parser *p, unsigned level);

static void too_deep(rad_parser *p, rad_text_place at)
{
    rad__parse_fail(p, at, "the expression is more than %d levels deep", RAD_FLOW_NESTING_MAX);
}

static rad_flow_expr *expr_new(rad_parser *p, enum rad_expr_op op, rad_text_place place, rad_flow_expr *a,
                               rad_flow_expr *b)
{
    rad_flow_expr *e = p->status == 0 ? rad__parse_take(p, 1, sizeof *e) : NULL;
    if (e == NULL) return NULL;
    *e = (rad_flow_expr){.op = op, .place = place, .a = a, .b = b};
    if (a != NULL) e->depth = a->depth + 1;
    if (b != NULL && b->depth >= e->depth) e->depth = b->depth + 1;
    if (e->depth > RAD_FLOW_NESTING_MAX) too_deep(p, place);
    return e;
}

/* What is in parentheses, behind not, behind a minus: all by which parsing gets deeper. */
static rad_flow_expr *parse_inner(rad_parser *p, unsigned level)
{
    if (rad__flow_parser(p)->deep == RAD_FLOW_NESTING_MAX) too_deep(p, p->now.place);
    rad__flow_parser(p)->deep++;
    rad_flow_expr *e = parse_level(p, level);
    rad__flow_parser(p)->deep--;
    return e;
}

/* ---- Operands ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum rad_expr_op op;
} FUNCTIONS[] = {{"lines", RAD_EXPR_LINES},
                 {"line", RAD_EXPR_LINE},
                 {"number", RAD_EXPR_NUMBER},
                 {"text", RAD_EXPR_TEXT},
                 {"length", RAD_EXPR_LENGTH}};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };

/* The word at hand, with a parenthesis behind it; FUNCTION_COUNT: it is none. */
static size_t function_at(const rad_parser *p)
{
    size_t i = 0;
    while (i < FUNCTION_COUNT && !rad__parse_is(p, FUNCTIONS[i].name)) i++;
    return i;
}

bool rad__flow_is_function(const rad_parser *p)
{
    return function_at(p) < FUNCTION_COUNT;
}

static rad_flow_expr *parse_call(rad_parser *p)
{
    static const char *const names[] = {"lines", "line", "number", "text", "length", NULL};
    rad_text_place place = p->now.place;
    size_t i = function_at(p);
    if (i == FUNCTION_COUNT) {
        rad__flow_expected_word(p, "lines, line, number, text or length before '('", names);
        return NULL;
    }
    rad__parse_advance(p);
    rad__parse_expect(p, "(", "'('");
    rad_flow_expr *a = parse_inner(p, LEVEL_OR), *b = NULL;
    if (FUNCTIONS[i].op == RAD_EXPR_LINE) {
        rad__parse_expect(p, ",", "',' and the number of the line");
        b = parse_inner(p, LEVEL_OR);
    }
    rad__parse_expect(p, ")", "')'");
    return expr_new(p, FUNCTIONS[i].op, place, a, b);
}

rad_flow_constant rad__flow_parse_constant(rad_parser *p)
{
    rad_flow_constant c = {.type = RAD_FLOW_INT};
    if (p->status != 0) return c;
    rad_text_place place = p->now.place;
    bool minus = rad__parse_accept(p, "-");
    if (p->status == 0 && p->now.kind == RAD_LEXEME_NUMBER) {
        uint64_t n = p->now.number;
        if (n > INT64_MAX && !minus) rad__parse_fail(p, place, "the number is too large");
        c.value = (int64_t)(minus ? 0 - n : n);
        rad__parse_advance(p);
    } else if (minus) {
        rad__parse_expected(p, "a number");
    } else if (p->now.kind == RAD_LEXEME_TEXT) {
        c.type = RAD_FLOW_TEXT;
        c.value = rad__flow_expect_text(p, "a text");
    } else if (rad__parse_is(p, "true") || rad__parse_is(p, "false")) {
        c.type = RAD_FLOW_BOOL;
        c.value = rad__parse_accept(p, "true");
        if (c.value == 0) rad__parse_advance(p);
    } else {
        rad__parse_expected(p, "a constant: a number, true, false or a text");
    }
    return c;
}

bool rad__flow_begins_operand(const rad_lexeme *t)
{
    if (t->kind == RAD_LEXEME_NAME)
        return !rad__lexeme_is(t, "and") && !rad__lexeme_is(t, "or") && !rad__lexeme_is(t, "up") &&
               !rad__lexeme_is(t, "as");
    return t->kind == RAD_LEXEME_NUMBER || t->kind == RAD_LEXEME_TEXT || rad__lexeme_is(t, "(");
}

static rad_flow_expr *parse_operand(rad_parser *p)
{
    rad_text_place place = p->now.place;
    if (rad__parse_accept(p, "(")) {
        rad_flow_expr *inner = parse_inner(p, LEVEL_OR);
        rad__parse_expect(p, ")", "')' or an operator");
        return inner;
    }
    bool is_name = p->now.kind == RAD_LEXEME_NAME && !rad__parse_is(p, "true") && !rad__parse_is(p, "false");
    if (is_name) {
        rad_lexeme next = rad__parse_peek(p);
        if (rad__lexeme_is(&next, "(")) return parse_call(p);
        uint32_t name = rad__flow_expect_variable(p, "an expression");
        rad_flow_expr *e = expr_new(p, RAD_EXPR_VARIABLE, place, NULL, NULL);
        if (e != NULL) e->value = name;
        return e;
    }
    if (p->now.kind == RAD_LEXEME_END || (p->now.kind == RAD_LEXEME_SIGN && p->status == 0)) {
        rad__parse_expected(p, "an expression");
        return NULL;
    }
    rad_flow_constant c = rad__flow_parse_constant(p);
    rad_flow_expr *e = expr_new(p, RAD_EXPR_CONSTANT, place, NULL, NULL);
    if (e == NULL) return NULL;
    e->type = c.type;
    e->value = c.value;
    return e;
}

/* A minus before a number is part of it: there is no other way to write the least number. */
static rad_flow_expr *parse_minus(rad_parser *p)
{
    rad_text_place place = p->now.place;
    rad_lexeme next = rad__parse_peek(p);
    if (next.kind == RAD_LEXEME_NUMBER) {
        rad_flow_expr *e = expr_new(p, RAD_EXPR_CONSTANT, place, NULL, NULL);
        rad_flow_constant c = rad__flow_parse_constant(p);
        if (e != NULL) e->value = c.value;
        return e;
    }
    rad__parse_advance(p);
    rad_flow_expr *a = parse_inner(p, LEVEL_OPERAND);
    return expr_new(p, RAD_EXPR_NEGATE, place, a, NULL);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static const struct {
    const char *sign;
    unsigned level;
    enum rad_expr_op op;
} OPERATORS[] = {
    {"or", LEVEL_OR, RAD_EXPR_OR},
    {"and", LEVEL_AND, RAD_EXPR_AND},
    {"==", LEVEL_COMPARE, RAD_EXPR_EQUAL},
    {"!=", LEVEL_COMPARE, RAD_EXPR_UNEQUAL},
    {"<", LEVEL_COMPARE, RAD_EXPR_LESS},
    {"<=", LEVEL_COMPARE, RAD_EXPR_LESS_EQUAL},
    {">", LEVEL_COMPARE, RAD_EXPR_GREATER},
    {">=", LEVEL_COMPARE, RAD_EXPR_GREATER_EQUAL},
    {"+", LEVEL_ADD, RAD_EXPR_ADD},
    {"-", LEVEL_ADD, RAD_EXPR_SUBTRACT},
    {"*", LEVEL_MULTIPLY, RAD_EXPR_MULTIPLY},
    {"/", LEVEL_MULTIPLY, RAD_EXPR_DIVIDE},
    {"%", LEVEL_MULTIPLY, RAD_EXPR_REMAINDER},
};
enum { OPERATOR_COUNT = sizeof OPERATORS / sizeof *OPERATORS };

/* The operator of that level, if it is next. `or {` is none, it is the next statement. */
static size_t operator_at(rad_parser *p, unsigned level)
{
    if (p->status != 0) return OPERATOR_COUNT;
    size_t i = 0;
    while (i < OPERATOR_COUNT && (OPERATORS[i].level != level || !rad__parse_is(p, OPERATORS[i].sign))) i++;
    if (level != LEVEL_OR || i == OPERATOR_COUNT) return i;
    rad_lexeme next = rad__parse_peek(p);
    return rad__lexeme_is(&next, "{") ? OPERATOR_COUNT : i;
}

static rad_flow_expr *parse_binary(rad_parser *p, unsigned level)
{
    rad_flow_expr *e = parse_level(p, level + 1);
    bool compared = false;
    for (;;) {
        size_t i = operator_at(p, level);
        if (i == OPERATOR_COUNT) return e;
        rad_text_place place = p->now.place;
        if (compared) rad__parse_fail(p, place, "comparisons cannot be chained: write a < b and b < c");
        compared = level == LEVEL_COMPARE;
        rad__parse_advance(p);
        rad_flow_expr *b = parse_level(p, level + 1);
        e = expr_new(p, OPERATORS[i].op, place, e, b);
    }
}

static rad_flow_expr *parse_not(rad_parser *p)
{
    rad_text_place place = p->now.place;
    if (!rad__parse_accept(p, "not")) return parse_level(p, LEVEL_COMPARE);
    rad_flow_expr *a = parse_inner(p, LEVEL_NOT);
    return expr_new(p, RAD_EXPR_NOT, place, a, NULL);
}

static rad_flow_expr *parse_level(rad_parser *p, unsigned level)
{
    if (p->status != 0) return NULL;
    if (level == LEVEL_NOT) return parse_not(p);
    if (level < LEVEL_OPERAND) return parse_binary(p, level);
    return rad__parse_is(p, "-") ? parse_minus(p) : parse_operand(p);
}

rad_flow_expr *rad__flow_parse_expr(rad_parser *p)
{
    return parse_level(p, LEVEL_OR);
}
