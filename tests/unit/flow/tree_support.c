#include "tree_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

void flow_tree_read(rad_flow_file *file, const char *text, size_t size)
{
    rad_error error = {0};
    int status = rad__flow_read(file, "test", text, size, &error);
    if (status == 0) status = rad__flow_resolve(file, &error);
    if (status != 0) {
        rad__flow_file_free(file);
        fail_msg("%s\n%.*s", error.text, size > 2000 ? 2000 : (int)size, text);
    }
}

void flow_tree_refused(const char *text, size_t size, const char *because)
{
    rad_flow_file file;
    rad_error error = {0};
    int status = rad__flow_read(&file, "test", text, size, &error);
    if (status == 0) status = rad__flow_resolve(&file, &error);
    rad__flow_file_free(&file);
    if (status != RAD_EINPUT || strcmp(error.text, because) != 0)
        fail_msg("status %d\nsaid:     %s\nexpected: %s\n%.*s", status, error.text, because,
                 size > 2000 ? 2000 : (int)size, text);
}

void flow_tree_refuses(const flow_mistake *some, size_t count)
{
    for (size_t i = 0; i < count; i++) flow_tree_refused(some[i].text, strlen(some[i].text), some[i].said);
}

/* ---- Expressions --------------------------------------------------------------------------------------- */

static void put_quoted(rad_bytes *out, const char *text)
{
    rad__bytes_put(out, "\"", 1);
    rad__bytes_put(out, text, strlen(text));
    rad__bytes_put(out, "\"", 1);
}

static void tell_constant(rad_bytes *out, const rad_flow_file *file, enum rad_flow_type type, int64_t value)
{
    if (type == RAD_FLOW_INT)
        rad__bytes_format(out, "%" PRId64, value);
    else if (type == RAD_FLOW_BOOL)
        rad__bytes_format(out, value ? "true" : "false");
    else
        put_quoted(out, rad__flow_name(file, (uint32_t)value));
}

static void tell_expr(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree, const rad_flow_expr *e)
{
    static const char *const names[RAD_EXPRS] = {"",  "",     "not",   "neg",  "or",     "and",  "==",    "!=",
                                                 "<", "<=",   ">",     ">=",   "+",      "-",    "*",     "/",
                                                 "%", "join", "lines", "line", "number", "text", "length"};
    if (e->op == RAD_EXPR_CONSTANT) {
        tell_constant(out, file, e->type, e->value);
    } else if (e->op == RAD_EXPR_VARIABLE) {
        assert_int_equal(e->type, tree->variables[e->value].type);
        rad__bytes_format(out, "%s", rad__flow_name(file, tree->variables[e->value].name));
    } else {
        rad__bytes_format(out, "(%s ", names[e->op]);
        tell_expr(out, file, tree, e->a);
        if (e->b != NULL) {
            rad__bytes_format(out, " ");
            tell_expr(out, file, tree, e->b);
        }
        rad__bytes_format(out, ")%c", "ibt"[e->type]);
    }
}

/* ---- Statements ---------------------------------------------------------------------------------------- */

typedef struct teller {
    rad_bytes *out;
    const rad_flow_file *file;
    const rad_flow_tree *tree;
} teller;

static void tell_block(const teller *t, const rad_flow_block *block);

static const char *variable_name(const teller *t, uint32_t index)
{
    assert_in_range(index, 0, t->tree->variable_count - 1);
    return rad__flow_name(t->file, t->tree->variables[index].name);
}

static void say_name(const teller *t, const uint32_t *names, uint32_t count, uint32_t index)
{
    assert_in_range(index, 0, count - 1);
    rad__bytes_format(t->out, " %s", rad__flow_name(t->file, names[index]));
}

static void say_task(const teller *t, uint32_t index)
{
    assert_in_range(index, 0, t->tree->task_count - 1);
    rad__bytes_format(t->out, " %s", rad__flow_name(t->file, t->tree->tasks[index].name));
}

static void tell_subject(const teller *t, const rad_flow_statement *s)
{
    const rad_flow_tree *tree = t->tree;
    if (s->name == RAD_NONE) return;
    switch (s->kind) {
    case RAD_FLOW_DO: say_task(t, s->name); break;
    case RAD_FLOW_SET: rad__bytes_format(t->out, " %s =", variable_name(t, s->name)); break;
    case RAD_FLOW_MANY: rad__bytes_format(t->out, " %s", rad__flow_name(t->file, s->name)); break;
    case RAD_FLOW_MORE: rad__bytes_format(t->out, " %s of %u", rad__flow_name(t->file, s->text), s->name); break;
    case RAD_FLOW_LOCK: say_name(t, tree->locks, tree->lock_count, s->name); break;
    case RAD_FLOW_REGION:
    case RAD_FLOW_COMPENSATE: say_name(t, tree->regions, tree->region_count, s->name); break;
    case RAD_FLOW_CANCEL:
        rad__bytes_format(t->out, s->scope == RAD_FLOW_PART_TASK ? " task" : " region");
        if (s->scope == RAD_FLOW_PART_TASK)
            say_task(t, s->name);
        else
            say_name(t, tree->regions, tree->region_count, s->name);
        break;
    default: say_name(t, tree->milestones, tree->milestone_count, s->name); break;
    }
}

static void tell_event(const teller *t, const rad_flow_event *e)
{
    if (e->is_timer) {
        rad__bytes_format(t->out, " timer %" PRIu64, e->delay_ns);
    } else {
        rad__bytes_format(t->out, e->is_fresh ? " fresh signal" : " signal");
        say_name(t, t->tree->signals, t->tree->signal_count, e->signal);
    }
    if (e->into != RAD_NONE) rad__bytes_format(t->out, " into %s", variable_name(t, e->into));
}

static void tell_branch(const teller *t, const rad_flow_statement *s, uint32_t i)
{
    const rad_flow_branch *b = &s->branches[i];
    bool is_else = s->has_else && i + 1 == s->branch_count;
    if (s->kind == RAD_FLOW_XOR || s->kind == RAD_FLOW_OR) assert_int_equal(b->when == NULL, is_else);
    if (is_else) rad__bytes_format(t->out, " else");
    if (b->when != NULL) {
        rad__bytes_format(t->out, " when ");
        tell_expr(t->out, t->file, t->tree, b->when);
    }
    if (s->kind == RAD_FLOW_DEFER) tell_event(t, &b->event);
    if (s->kind != RAD_FLOW_DEFER || b->block.place.line != 0) tell_block(t, &b->block);
}

static void tell_join(const teller *t, const rad_flow_statement *s)
{
    static const char *const names[RAD_JOINS] = {"all", "first", "any", "sync", "multi", "none"};
    if (s->kind != RAD_FLOW_PAR && s->kind != RAD_FLOW_OR && s->kind != RAD_FLOW_MANY) return;
    rad__bytes_format(t->out, " join %s", names[s->join]);
    if (s->join == RAD_JOIN_FIRST || s->join == RAD_JOIN_ANY) rad__bytes_format(t->out, " %u", s->join_count);
}

static void tell_statement(const teller *t, const rad_flow_statement *s)
{
    rad__bytes_format(t->out, "%u %s", s->number, rad__flow_kind_name(s->kind));
    tell_subject(t, s);
    if (s->kind == RAD_FLOW_CANCEL && s->scope == RAD_FLOW_PART_CASE) rad__bytes_format(t->out, " case");
    if (s->is_over) rad__bytes_format(t->out, " over");
    if (s->expr != NULL && s->kind != RAD_FLOW_REPEAT) {
        rad__bytes_format(t->out, " ");
        tell_expr(t->out, t->file, t->tree, s->expr);
    }
    if (s->most > 0) rad__bytes_format(t->out, " up to %u", s->most);
    if (s->as != RAD_NONE) rad__bytes_format(t->out, " as %s", variable_name(t, s->as));
    if (s->kind == RAD_FLOW_FAIL && s->text != RAD_NONE)
        rad__bytes_format(t->out, " \"%s\"", rad__flow_name(t->file, s->text));
    for (uint32_t i = 0; i < s->branch_count; i++) tell_branch(t, s, i);
    tell_join(t, s);
    if (s->kind == RAD_FLOW_REPEAT) {
        rad__bytes_format(t->out, " until ");
        tell_expr(t->out, t->file, t->tree, s->expr);
    }
    if (s->on_cancel != NULL) {
        rad__bytes_format(t->out, " on cancel");
        tell_block(t, &s->on_cancel->block);
    }
    if (s->on_failure != NULL) {
        rad__bytes_format(t->out, " on failure");
        if (s->into != RAD_NONE) rad__bytes_format(t->out, " into %s", variable_name(t, s->into));
        tell_block(t, &s->on_failure->block);
    }
}

static void tell_list(const teller *t, const rad_flow_statement *first)
{
    for (const rad_flow_statement *s = first; s != NULL; s = s->next) {
        tell_statement(t, s);
        if (s->next != NULL) rad__bytes_format(t->out, ", ");
    }
}

static void tell_block(const teller *t, const rad_flow_block *block)
{
    assert_int_not_equal(block->place.line, 0);
    assert_true(block->end.line > block->place.line ||
                (block->end.line == block->place.line && block->end.column > block->place.column));
    rad__bytes_format(t->out, " {");
    tell_list(t, block->first);
    rad__bytes_format(t->out, "}");
}

void flow_tree_tell(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree)
{
    tell_list(&(teller){out, file, tree}, tree->body.first);
    rad__bytes_put(out, "", 1);
}

/* ---- Data and tasks ------------------------------------------------------------------------------------ */

void flow_tree_tell_data(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree)
{
    static const char *const merges[RAD_MERGES] = {"equal", "sum",    "max",   "min", "and",
                                                   "or",    "append", "first", "last"};
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        const rad_flow_variable *v = &tree->variables[i];
        rad__bytes_format(out, "%s%s : %s = ", i > 0 ? ", " : "", rad__flow_name(file, v->name),
                          rad__flow_type_name(v->type));
        tell_constant(out, file, v->type, v->initial);
        if (v->merge != RAD_MERGE_EQUAL) rad__bytes_format(out, " merge %s", merges[v->merge]);
        if (v->domain_count > 0) rad__bytes_format(out, " in");
        for (uint32_t j = 0; j < v->domain_count; j++) {
            rad__bytes_format(out, " ");
            tell_constant(out, file, v->domain[j].type, v->domain[j].value);
        }
        if (v->is_local) rad__bytes_format(out, " local");
    }
    rad__bytes_put(out, "", 1);
}

static void tell_names(const teller *t, const char *what, const rad_flow_names *names)
{
    if (names->given || names->count > 0) rad__bytes_format(t->out, " %s", what);
    for (uint32_t i = 0; i < names->count; i++) rad__bytes_format(t->out, " %s", variable_name(t, names->items[i]));
}

static void tell_task(const teller *t, const rad_flow_task *task)
{
    static const char *const doubts[] = {"stop", "retry", "probe"};
    rad_bytes *out = t->out;
    rad__bytes_format(out, "%s %s \"%s\"", rad__flow_name(t->file, task->name), task->is_call ? "call" : "run",
                      rad__flow_name(t->file, task->command));
    if (task->timeout_ns > 0) rad__bytes_format(out, " timeout %" PRIu64, task->timeout_ns);
    rad__bytes_format(out, " retry %u delay %" PRIu64 " backoff %u", task->retries, task->delay_ns, task->backoff);
    if (task->dir != RAD_NONE) rad__bytes_format(out, " dir \"%s\"", rad__flow_name(t->file, task->dir));
    tell_names(t, "reads", &task->reads);
    tell_names(t, "writes", &task->writes);
    if (task->capture != RAD_NONE) rad__bytes_format(out, " capture %s", variable_name(t, task->capture));
    if (task->exit != RAD_NONE) rad__bytes_format(out, " exit %s", variable_name(t, task->exit));
    rad__bytes_format(out, " outcomes%s%s %s", task->outcomes & RAD_OUTCOME_OK_BIT ? " ok" : "",
                      task->outcomes & RAD_OUTCOME_FAIL_BIT ? " fail" : "", doubts[task->doubt]);
    if (task->probe != RAD_NONE) rad__bytes_format(out, " \"%s\"", rad__flow_name(t->file, task->probe));
    if (task->undo != RAD_NONE) rad__bytes_format(out, " undo");
    if (task->undo != RAD_NONE) say_task(t, task->undo);
}

void flow_tree_tell_tasks(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree)
{
    for (uint32_t i = 0; i < tree->task_count; i++) {
        if (i > 0) rad__bytes_format(out, ", ");
        tell_task(&(teller){out, file, tree}, &tree->tasks[i]);
    }
    rad__bytes_put(out, "", 1);
}
