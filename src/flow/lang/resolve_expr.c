/* resolve_expr.c — names and types in expressions. */
#include "flow/lang/resolve_parts.h"

#include <stdio.h>

const char *rad__flow_a_type(enum rad_flow_type type)
{
    return type == RAD_FLOW_INT ? "an int" : type == RAD_FLOW_BOOL ? "a bool" : "a text";
}

static const char *const SIGNS[RAD_EXPRS] = {
    [RAD_EXPR_NOT] = "not",       [RAD_EXPR_NEGATE] = "-",         [RAD_EXPR_OR] = "or",
    [RAD_EXPR_AND] = "and",       [RAD_EXPR_EQUAL] = "==",         [RAD_EXPR_UNEQUAL] = "!=",
    [RAD_EXPR_LESS] = "<",        [RAD_EXPR_LESS_EQUAL] = "<=",    [RAD_EXPR_GREATER] = ">",
    [RAD_EXPR_ADD] = "+",         [RAD_EXPR_GREATER_EQUAL] = ">=", [RAD_EXPR_SUBTRACT] = "-",
    [RAD_EXPR_MULTIPLY] = "*",    [RAD_EXPR_DIVIDE] = "/",         [RAD_EXPR_REMAINDER] = "%",
    [RAD_EXPR_LINES] = "lines",   [RAD_EXPR_LINE] = "line",        [RAD_EXPR_NUMBER] = "number",
    [RAD_EXPR_LENGTH] = "length", [RAD_EXPR_TEXT] = "text",
};

/* WHERE: "before '+'", "behind '+'", "in lines( )". */
static void need(rad_flow_resolver *r, const rad_flow_expr *e, enum rad_flow_type type, const char *where,
                 enum rad_expr_op op)
{
    if (r->status == 0 && e->type != type)
        rad__flow_wrong(r, e->place, "expected %s %s'%s', found %s", rad__flow_a_type(type), where, SIGNS[op],
                        rad__flow_a_type(e->type));
}

static void need_both(rad_flow_resolver *r, const rad_flow_expr *e, enum rad_flow_type type)
{
    need(r, e->a, type, "before ", e->op);
    need(r, e->b, type, "behind ", e->op);
}

static void resolve_variable(rad_flow_resolver *r, rad_flow_expr *e)
{
    uint32_t name = (uint32_t)e->value;
    uint32_t index = rad__flow_known(r, RAD_SPACE_VARIABLE, name, e->place);
    if (r->status != 0) return;
    const rad_flow_variable *v = &r->tree->variables[index];
    if (v->is_local && !r->in_scope[index])
        rad__flow_wrong(r, e->place, "'%s' is known only inside the many of line %u", rad__flow_name(r->file, name),
                        v->place.line);
    e->value = index;
    e->type = v->type;
}

static void resolve_comparison(rad_flow_resolver *r, rad_flow_expr *e)
{
    bool has_order = e->op != RAD_EXPR_EQUAL && e->op != RAD_EXPR_UNEQUAL;
    if (has_order && e->a->type == RAD_FLOW_BOOL)
        rad__flow_wrong(r, e->a->place, "expected an int or a text before '%s', found a bool", SIGNS[e->op]);
    need(r, e->b, e->a->type, "behind ", e->op);
    e->type = RAD_FLOW_BOOL;
}

static void resolve_function(rad_flow_resolver *r, rad_flow_expr *e)
{
    if (e->op == RAD_EXPR_TEXT) {
        if (e->a->type == RAD_FLOW_TEXT)
            rad__flow_wrong(r, e->a->place, "expected an int or a bool in 'text', found a text");
    } else {
        need(r, e->a, RAD_FLOW_TEXT, "in ", e->op);
    }
    if (e->op == RAD_EXPR_LINE) need(r, e->b, RAD_FLOW_INT, "as the number of ", e->op);
    bool is_text = e->op == RAD_EXPR_TEXT || e->op == RAD_EXPR_LINE;
    e->type = is_text ? RAD_FLOW_TEXT : RAD_FLOW_INT;
}

/* Its operands are resolved. */
static void resolve_operation(rad_flow_resolver *r, rad_flow_expr *e)
{
    switch (e->op) {
    case RAD_EXPR_NOT:
        need(r, e->a, RAD_FLOW_BOOL, "behind ", e->op);
        e->type = RAD_FLOW_BOOL;
        break;
    case RAD_EXPR_NEGATE:
        need(r, e->a, RAD_FLOW_INT, "behind ", e->op);
        e->type = RAD_FLOW_INT;
        break;
    case RAD_EXPR_OR:
    case RAD_EXPR_AND:
        need_both(r, e, RAD_FLOW_BOOL);
        e->type = RAD_FLOW_BOOL;
        break;
    case RAD_EXPR_EQUAL:
    case RAD_EXPR_UNEQUAL:
    case RAD_EXPR_LESS:
    case RAD_EXPR_LESS_EQUAL:
    case RAD_EXPR_GREATER:
    case RAD_EXPR_GREATER_EQUAL: resolve_comparison(r, e); break;
    case RAD_EXPR_ADD:
        if (e->a->type == RAD_FLOW_BOOL)
            rad__flow_wrong(r, e->a->place, "expected an int or a text before '+', found a bool");
        need(r, e->b, e->a->type, "behind ", e->op);
        e->type = e->a->type;
        if (e->type == RAD_FLOW_TEXT) e->op = RAD_EXPR_JOIN;
        break;
    case RAD_EXPR_SUBTRACT:
    case RAD_EXPR_MULTIPLY:
    case RAD_EXPR_DIVIDE:
    case RAD_EXPR_REMAINDER:
        need_both(r, e, RAD_FLOW_INT);
        e->type = RAD_FLOW_INT;
        break;
    default: resolve_function(r, e); break;
    }
}

void rad__flow_resolve_expr(rad_flow_resolver *r, rad_flow_expr *e)
{
    if (e->op == RAD_EXPR_CONSTANT || r->status != 0) return;
    if (e->op == RAD_EXPR_VARIABLE) {
        resolve_variable(r, e);
        return;
    }
    rad__flow_resolve_expr(r, e->a);
    if (e->b != NULL) rad__flow_resolve_expr(r, e->b);
    if (r->status == 0) resolve_operation(r, e);
}

void rad__flow_resolve_typed(rad_flow_resolver *r, rad_flow_expr *e, enum rad_flow_type type, const char *where)
{
    rad__flow_resolve_expr(r, e);
    if (r->status == 0 && e->type != type)
        rad__flow_wrong(r, e->place, "expected %s %s, found %s", rad__flow_a_type(type), where,
                        rad__flow_a_type(e->type));
}
