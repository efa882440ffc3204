/* generate_expression.c — random expressions. Numbers and texts stay small, so that a run does not drown in them:
 * a text grows only by what is short, and one whose branches are appended does not grow by itself. */
#include "generate_parts.h"

uint32_t generate_variable(generator *g, enum rad_flow_type type)
{
    uint32_t from = generate_below(g, GENERATE_VARIABLES);
    for (uint32_t i = 0; i < GENERATE_VARIABLES; i++) {
        uint32_t v = (from + i) % GENERATE_VARIABLES;
        if (g->types[v] == type) return v;
    }
    return RAD_NONE;
}

/* The `as` of a many around here that has the type; RAD_NONE: none. */
static uint32_t generate_local(generator *g, enum rad_flow_type type)
{
    for (uint32_t i = g->many_depth; i > 0; i--) {
        const generate_many *m = &g->manies[i - 1];
        if (m->as != RAD_NONE && m->is_text == (type == RAD_FLOW_TEXT)) return m->as;
    }
    return RAD_NONE;
}

static void generate_name(generator *g, enum rad_flow_type type)
{
    uint32_t local = type == RAD_FLOW_BOOL ? RAD_NONE : generate_local(g, type);
    if (local != RAD_NONE && generate_chance(g, 50))
        generate_put(g, "k%u", local);
    else
        generate_put(g, "v%u", generate_variable(g, type));
}

static void generate_constant(generator *g, enum rad_flow_type type)
{
    static const char *const texts[] = {"\"\"", "\"a\"", "\"b\"", "\"a\\nb\"", "\"7\"", "\"x y\\n\""};
    if (type == RAD_FLOW_BOOL)
        generate_put(g, "%s", generate_chance(g, 50) ? "true" : "false");
    else if (type == RAD_FLOW_TEXT)
        generate_put(g, "%s", texts[generate_below(g, 6)]);
    else if (generate_chance(g, 2))
        generate_put(g, "9223372036854775807");
    else
        generate_put(g, "%u", generate_below(g, 4));
}

static void generate_int(generator *g, uint32_t depth)
{
    static const char *const operators[] = {"+", "-", "*", "+", "/", "%"};
    uint32_t what = generate_below(g, 20);
    if (what < 14) {
        const char *operator= operators[generate_below(g, what < 1 ? 6 : 4)];
        generate_put(g, "(");
        generate_expression(g, RAD_FLOW_INT, depth - 1);
        generate_put(g, " %s ", operator);
        generate_expression(g, RAD_FLOW_INT, depth - 1);
        generate_put(g, ")");
        return;
    }
    static const char *const functions[] = {"lines", "length", "number"};
    if (what < 16) {
        generate_put(g, "-");
        generate_name(g, RAD_FLOW_INT);
        return;
    }
    generate_put(g, "%s(", functions[generate_chance(g, 10) ? 2 : generate_below(g, 2)]);
    generate_expression(g, RAD_FLOW_TEXT, 0);
    generate_put(g, ")");
}

static void generate_bool(generator *g, uint32_t depth)
{
    static const char *const comparisons[] = {"==", "!=", "<", "<=", ">", ">="};
    uint32_t what = generate_below(g, 10);
    if (what < 2) {
        generate_put(g, "(not ");
        generate_expression(g, RAD_FLOW_BOOL, 0);
        generate_put(g, ")");
        return;
    }
    generate_put(g, "(");
    if (what < 4) {
        generate_expression(g, RAD_FLOW_BOOL, depth - 1);
        generate_put(g, " %s ", what == 2 ? "and" : "or");
        generate_expression(g, RAD_FLOW_BOOL, depth - 1);
    } else {
        enum rad_flow_type type = what < 8 ? RAD_FLOW_INT : what < 9 ? RAD_FLOW_TEXT : RAD_FLOW_BOOL;
        generate_expression(g, type, depth - 1);
        generate_put(g, " %s ", comparisons[generate_below(g, type == RAD_FLOW_BOOL ? 2 : 6)]);
        generate_expression(g, type, depth - 1);
    }
    generate_put(g, ")");
}

static void generate_text(generator *g)
{
    uint32_t what = generate_below(g, 10);
    if (what < 4) {
        generate_put(g, "(");
        generate_name(g, RAD_FLOW_TEXT);
        generate_put(g, " + ");
        generate_constant(g, RAD_FLOW_TEXT);
        generate_put(g, ")");
        return;
    }
    if (what < 8 || generate_chance(g, 60)) {
        generate_put(g, "text(");
        generate_name(g, what < 7 ? RAD_FLOW_INT : RAD_FLOW_BOOL);
        generate_put(g, ")");
        return;
    }
    generate_put(g, "line(");
    generate_name(g, RAD_FLOW_TEXT);
    generate_put(g, ", %u)", generate_below(g, 2));
}

void generate_expression(generator *g, enum rad_flow_type type, uint32_t depth)
{
    if (depth == 0 || generate_chance(g, 40)) {
        if (generate_chance(g, 65))
            generate_name(g, type);
        else
            generate_constant(g, type);
        return;
    }
    if (type == RAD_FLOW_INT)
        generate_int(g, depth);
    else if (type == RAD_FLOW_BOOL)
        generate_bool(g, depth);
    else
        generate_text(g);
}
