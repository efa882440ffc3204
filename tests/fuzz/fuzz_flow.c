/* fuzz_flow.c — any bytes as a flow file: an error that says where, or trees in which every index is one, every number
 * is given once, nothing is deeper than it may be; and a picture. */
#include "base/alloc.h"
#include "flow/svg/draw.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

typedef struct walk {
    const rad_flow_file *file;
    const rad_flow_tree *tree;
    uint32_t number, deep;
} walk;

static void check_name(const walk *w, uint32_t name)
{
    require(name < w->file->symbols.count);
}

static void check_written(const walk *w, uint32_t variable)
{
    require(variable == RAD_NONE || (variable < w->tree->variable_count && !w->tree->variables[variable].is_local));
}

static void check_expr(const walk *w, const rad_flow_expr *e, uint32_t deep)
{
    require(deep <= RAD_FLOW_NESTING_MAX && e->depth <= RAD_FLOW_NESTING_MAX - deep);
    require((unsigned)e->op < RAD_EXPRS && (unsigned)e->type < RAD_FLOW_TYPES);
    require(e->place.line > 0 && e->place.column > 0);
    if (e->op == RAD_EXPR_VARIABLE)
        require(e->value >= 0 && e->value < w->tree->variable_count && w->tree->variables[e->value].type == e->type);
    if (e->op == RAD_EXPR_CONSTANT && e->type == RAD_FLOW_TEXT) check_name(w, (uint32_t)e->value);
    bool is_leaf = e->op == RAD_EXPR_CONSTANT || e->op == RAD_EXPR_VARIABLE;
    require(is_leaf == (e->a == NULL));
    if (e->a != NULL) check_expr(w, e->a, deep + 1);
    if (e->b != NULL) check_expr(w, e->b, deep + 1);
}

/* How many things of that kind there are for its name. */
static uint32_t subjects(const walk *w, const rad_flow_statement *s)
{
    switch (s->kind) {
    case RAD_FLOW_DO: return w->tree->task_count;
    case RAD_FLOW_SET: return w->tree->variable_count;
    case RAD_FLOW_REGION:
    case RAD_FLOW_COMPENSATE: return w->tree->region_count;
    case RAD_FLOW_CANCEL:
        return s->scope == RAD_FLOW_PART_CASE   ? 0
               : s->scope == RAD_FLOW_PART_TASK ? w->tree->task_count
                                                : w->tree->region_count;
    case RAD_FLOW_REACH:
    case RAD_FLOW_EXPIRE:
    case RAD_FLOW_AWAIT: return w->tree->milestone_count;
    case RAD_FLOW_LOCK: return w->tree->lock_count;
    case RAD_FLOW_MORE: return s->number;
    default: return 0;
    }
}

static void check_block(walk *w, const rad_flow_block *block);

static void check_branch(walk *w, const rad_flow_statement *s, const rad_flow_branch *b)
{
    if (b->when != NULL) {
        check_expr(w, b->when, 0);
        require(b->when->type == RAD_FLOW_BOOL);
    }
    if (s->kind == RAD_FLOW_DEFER)
        require(b->event.is_timer == (b->event.signal == RAD_NONE) &&
                (b->event.is_timer || b->event.signal < w->tree->signal_count));
    check_written(w, b->event.into);
    check_block(w, &b->block);
}

static void check_statement(walk *w, const rad_flow_statement *s)
{
    require(s->number == ++w->number && (unsigned)s->kind < RAD_FLOW_KINDS);
    uint32_t count = subjects(w, s);
    if (count > 0) require(s->name < count);
    if (s->kind == RAD_FLOW_SET) check_written(w, s->name);
    if (s->expr != NULL) check_expr(w, s->expr, 0);
    if (s->as != RAD_NONE) require(s->as < w->tree->variable_count && w->tree->variables[s->as].is_local);
    if (s->join == RAD_JOIN_FIRST || s->join == RAD_JOIN_ANY) {
        require(s->join_count > 0);
        require(s->kind == RAD_FLOW_MANY || s->join_count <= s->branch_count - s->has_else);
    }
    check_written(w, s->into);
    for (uint32_t i = 0; i < s->branch_count; i++) check_branch(w, s, &s->branches[i]);
    if (s->on_cancel != NULL) check_branch(w, s, s->on_cancel);
    if (s->on_failure != NULL) check_branch(w, s, s->on_failure);
}

static void check_block(walk *w, const rad_flow_block *block)
{
    require(++w->deep <= RAD_FLOW_NESTING_MAX + 1); /* the block of a wait is none of the file's */
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next) check_statement(w, s);
    w->deep--;
}

static void check_tree(const rad_flow_file *file, const rad_flow_tree *tree)
{
    walk w = {.file = file, .tree = tree};
    require(tree->variable_count <= RAD_FLOW_VARIABLES_MAX && tree->task_count <= RAD_FLOW_TASKS_MAX);
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        check_name(&w, tree->variables[i].name);
        if (tree->variables[i].type == RAD_FLOW_TEXT) check_name(&w, (uint32_t)tree->variables[i].initial);
    }
    for (uint32_t i = 0; i < tree->task_count; i++) {
        const rad_flow_task *t = &tree->tasks[i];
        check_name(&w, t->name);
        check_name(&w, t->command);
        check_written(&w, t->capture);
        check_written(&w, t->exit);
        for (uint32_t j = 0; j < t->writes.count; j++) check_written(&w, t->writes.items[j]);
        require(t->undo == RAD_NONE || t->undo < tree->task_count);
    }
    check_block(&w, &tree->body);
    require(w.number == tree->statement_count && w.number > 0);
    char *svg = rad__flow_draw(file, tree, NULL);
    require(svg != NULL);
    rad__free(svg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_error error = {0};
    rad_flow_file file;
    int status = rad__flow_read(&file, "input", (const char *)data, size, &error);
    if (status == 0) status = rad__flow_resolve(&file, &error);
    if (status != 0)
        require(status == RAD_EINPUT && strncmp(error.text, "input:", 6) == 0);
    else
        for (const rad_flow_tree *tree = file.flows; tree != NULL; tree = tree->next) check_tree(&file, tree);
    rad__flow_file_free(&file);
    return 0;
}
