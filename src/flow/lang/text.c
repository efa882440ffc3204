#include "flow/lang/text.h"

#include <inttypes.h>
#include <string.h>

/* ---- Expressions --------------------------------------------------------------------------------------- */

static const struct {
    const char *sign;
    unsigned level; /* binds tighter the higher it is */
} OPERATIONS[RAD_EXPRS] = {
    [RAD_EXPR_CONSTANT] = {"", 9},   [RAD_EXPR_VARIABLE] = {"", 9},     [RAD_EXPR_OR] = {"or", 1},
    [RAD_EXPR_AND] = {"and", 2},     [RAD_EXPR_NOT] = {"not ", 3},      [RAD_EXPR_EQUAL] = {"==", 4},
    [RAD_EXPR_UNEQUAL] = {"!=", 4},  [RAD_EXPR_LESS] = {"<", 4},        [RAD_EXPR_LESS_EQUAL] = {"<=", 4},
    [RAD_EXPR_GREATER] = {">", 4},   [RAD_EXPR_ADD] = {"+", 5},         [RAD_EXPR_GREATER_EQUAL] = {">=", 4},
    [RAD_EXPR_SUBTRACT] = {"-", 5},  [RAD_EXPR_JOIN] = {"+", 5},        [RAD_EXPR_MULTIPLY] = {"*", 6},
    [RAD_EXPR_DIVIDE] = {"/", 6},    [RAD_EXPR_REMAINDER] = {"%", 6},   [RAD_EXPR_NEGATE] = {"-", 7},
    [RAD_EXPR_LINES] = {"lines", 9}, [RAD_EXPR_LINE] = {"line", 9},     [RAD_EXPR_NUMBER] = {"number", 9},
    [RAD_EXPR_TEXT] = {"text", 9},   [RAD_EXPR_LENGTH] = {"length", 9},
};

static void put_quoted(rad_bytes *out, const char *text)
{
    rad__bytes_put(out, "\"", 1);
    for (; *text; text++) {
        const char *as = *text == '"'    ? "\\\""
                         : *text == '\\' ? "\\\\"
                         : *text == '\n' ? "\\n"
                         : *text == '\t' ? "\\t"
                                         : NULL;
        rad__bytes_put(out, as != NULL ? as : text, as != NULL ? 2 : 1);
    }
    rad__bytes_put(out, "\"", 1);
}

typedef struct writer {
    rad_bytes *out;
    const rad_flow_file *file;
    const rad_flow_tree *tree;
} writer;

static void put_expr(const writer *w, const rad_flow_expr *e, unsigned least);

static void put_leaf(const writer *w, const rad_flow_expr *e)
{
    if (e->op == RAD_EXPR_VARIABLE)
        rad__bytes_format(w->out, "%s", rad__flow_name(w->file, w->tree->variables[e->value].name));
    else if (e->type == RAD_FLOW_TEXT)
        put_quoted(w->out, rad__flow_name(w->file, (uint32_t)e->value));
    else if (e->type == RAD_FLOW_BOOL)
        rad__bytes_format(w->out, e->value ? "true" : "false");
    else
        rad__bytes_format(w->out, "%" PRId64, e->value);
}

static void put_function(const writer *w, const rad_flow_expr *e)
{
    rad__bytes_format(w->out, "%s(", OPERATIONS[e->op].sign);
    put_expr(w, e->a, 0);
    if (e->b != NULL) rad__bytes_format(w->out, ", ");
    if (e->b != NULL) put_expr(w, e->b, 0);
    rad__bytes_format(w->out, ")");
}

/* Comparisons are not chained, so both their sides have to bind tighter; of all others only the right one. */
static void put_binary(const writer *w, const rad_flow_expr *e)
{
    unsigned level = OPERATIONS[e->op].level;
    put_expr(w, e->a, level == 4 ? level + 1 : level);
    rad__bytes_format(w->out, " %s ", OPERATIONS[e->op].sign);
    put_expr(w, e->b, level + 1);
}

static void put_expr(const writer *w, const rad_flow_expr *e, unsigned least)
{
    unsigned level = OPERATIONS[e->op].level;
    bool is_minus = e->op == RAD_EXPR_CONSTANT && e->type == RAD_FLOW_INT && e->value < 0;
    bool has_parentheses = level < least || (is_minus && least > 7);
    if (has_parentheses) rad__bytes_format(w->out, "(");
    if (e->a == NULL) {
        put_leaf(w, e);
    } else if (level == 9) {
        put_function(w, e);
    } else if (e->b == NULL) {
        rad__bytes_format(w->out, "%s", OPERATIONS[e->op].sign);
        put_expr(w, e->a, e->op == RAD_EXPR_NEGATE ? 8 : 3);
    } else {
        put_binary(w, e);
    }
    if (has_parentheses) rad__bytes_format(w->out, ")");
}

void rad__flow_expr_text(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree, const rad_flow_expr *e)
{
    put_expr(&(writer){out, file, tree}, e, 0);
}

void rad__flow_duration_text(rad_bytes *out, uint64_t ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"d", 86400000000000}, {"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000}};
    for (size_t i = 0; i < 4; i++)
        if (ns >= units[i].ns && ns % units[i].ns == 0) {
            rad__bytes_format(out, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
            return;
        }
    rad__bytes_format(out, "%" PRIu64 "ms", ns / 1000000);
}

/* ---- Statements ---------------------------------------------------------------------------------------- */

void rad__flow_join_text(rad_bytes *out, const rad_flow_statement *s)
{
    static const char *const names[RAD_JOINS] = {"all", "first", "any", "sync", "multi", "none"};
    if (s->kind != RAD_FLOW_PAR && s->kind != RAD_FLOW_OR && s->kind != RAD_FLOW_MANY) return;
    rad__bytes_format(out, "join %s", names[s->join]);
    if (s->join == RAD_JOIN_FIRST || s->join == RAD_JOIN_ANY) rad__bytes_format(out, " %u", s->join_count);
}

static const char *variable_name(const writer *w, uint32_t variable)
{
    return rad__flow_name(w->file, w->tree->variables[variable].name);
}

void rad__flow_event_text(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree,
                          const rad_flow_event *event)
{
    writer w = {out, file, tree};
    if (event->is_timer) {
        rad__bytes_format(out, "timer ");
        rad__flow_duration_text(out, event->delay_ns);
        return;
    }
    rad__bytes_format(out, "%ssignal %s", event->is_fresh ? "fresh " : "",
                      rad__flow_name(file, tree->signals[event->signal]));
    if (event->into != RAD_NONE) rad__bytes_format(out, " into %s", variable_name(&w, event->into));
}

static void put_many(const writer *w, const rad_flow_statement *s)
{
    if (s->name != RAD_NONE) rad__bytes_format(w->out, " %s", rad__flow_name(w->file, s->name));
    rad__bytes_format(w->out, s->is_over ? " over " : " ");
    put_expr(w, s->expr, s->name != RAD_NONE ? 8 : 0);
    if (s->most > 0) rad__bytes_format(w->out, " up to %u", s->most);
    if (s->as != RAD_NONE) rad__bytes_format(w->out, " as %s", variable_name(w, s->as));
}

static void put_subject(const writer *w, const rad_flow_statement *s)
{
    const rad_flow_tree *tree = w->tree;
    uint32_t name = RAD_NONE;
    switch (s->kind) {
    case RAD_FLOW_DO: name = tree->tasks[s->name].name; break;
    case RAD_FLOW_SET: name = tree->variables[s->name].name; break;
    case RAD_FLOW_LOCK: name = tree->locks[s->name]; break;
    case RAD_FLOW_REGION:
    case RAD_FLOW_COMPENSATE: name = tree->regions[s->name]; break;
    case RAD_FLOW_REACH:
    case RAD_FLOW_EXPIRE:
    case RAD_FLOW_AWAIT: name = tree->milestones[s->name]; break;
    case RAD_FLOW_MORE: name = s->text; break;
    case RAD_FLOW_CANCEL:
        if (s->scope == RAD_FLOW_PART_TASK) name = tree->tasks[s->name].name;
        if (s->scope == RAD_FLOW_PART_REGION) name = tree->regions[s->name];
        rad__bytes_format(w->out, s->scope == RAD_FLOW_PART_TASK     ? " task"
                                  : s->scope == RAD_FLOW_PART_REGION ? " region"
                                                                     : " case");
        break;
    default: break;
    }
    if (name != RAD_NONE) rad__bytes_format(w->out, " %s", rad__flow_name(w->file, name));
}

void rad__flow_statement_text(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree,
                              const rad_flow_statement *s)
{
    writer w = {out, file, tree};
    bool is_wait = s->kind == RAD_FLOW_DEFER && s->branches[0].block.place.line == 0;
    rad__bytes_format(out, "%s", is_wait ? "wait" : rad__flow_kind_name(s->kind));
    put_subject(&w, s);
    if (is_wait) {
        const rad_flow_event *event = &s->branches[0].event;
        rad__bytes_format(out, " ");
        if (event->is_timer)
            rad__flow_duration_text(out, event->delay_ns);
        else
            rad__flow_event_text(out, file, tree, event);
    } else if (s->kind == RAD_FLOW_MANY) {
        put_many(&w, s);
    } else if (s->expr != NULL) {
        rad__bytes_format(out, s->kind == RAD_FLOW_SET ? " = " : s->kind == RAD_FLOW_REPEAT ? " until " : " ");
        put_expr(&w, s->expr, 0);
    } else if (s->kind == RAD_FLOW_FAIL && s->text != RAD_NONE) {
        rad__bytes_format(out, " ");
        put_quoted(out, rad__flow_name(file, s->text));
    }
}
