/* words.c — what a step of a flow is called: "starts compile (line 12)". Made once per case: a note's number is part of
 * the trace, so it may not depend on which steps came first. */
#include "base/alloc.h"
#include "base/error.h"
#include "lab/machines/flow/machine.h"

#include <stdarg.h>
#include <stdio.h>

static const char *words(rad_flow_words *w, const char *format, ...) RAD_PRINTF(2, 3);
static const char *words(rad_flow_words *w, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length >= (int)sizeof text) length = (int)sizeof text - 1;
    for (int i = 0; i < length; i++) /* signs that would stand for values */
        if (text[i] == '%' || text[i] == '@') text[i] = '?';
    return rad__arena_text(&w->arena, text, (size_t)length);
}

/* ---- Operations ---------------------------------------------------------------------------------------- */

typedef struct telling {
    rad_flow_words *w;
    const rad_flow_program *p;
    const rad_flow_statement **outline;
    bool of_sites; /* names that an edit of other lines does not change */
} telling;

static const char *name_at(const telling *t, const uint32_t *names, uint32_t index)
{
    return rad__flow_name(&t->p->file, names[index]);
}

/* The name of a command that stands where it is run has its line in it. */
static const char *task_name(const telling *t, uint32_t index)
{
    if (index == RAD_NONE) return "the undo task";
    const rad_flow_task *task = &t->p->tree->tasks[index];
    if (!t->of_sites || !task->is_anonymous) return rad__flow_name(&t->p->file, task->name);
    const char *command = words(t->w, "'%.80s'", rad__flow_name(&t->p->file, task->command));
    return command ? command : ""; /* no memory: the arena knows */
}

static const char *cancel_words(const telling *t, const rad_flow_op *op)
{
    if (op->a == RAD_FLOW_PART_TASK) return words(t->w, "cancels task %s", task_name(t, op->b));
    if (op->a == RAD_FLOW_PART_REGION) return words(t->w, "cancels region %s", name_at(t, t->p->tree->regions, op->b));
    return words(t->w, "cancels the case");
}

static const char *region_words(const telling *t, const rad_flow_op *op)
{
    uint32_t name = t->outline[op->statement]->name;
    return words(t->w, "%s region %s", op->code == RAD_OP_ENTER ? "enters" : "leaves",
                 name_at(t, t->p->tree->regions, name));
}

/* Those with a name in them. */
static const char *named_words(const telling *t, const rad_flow_op *op)
{
    const rad_flow_tree *tree = t->p->tree;
    switch ((enum rad_flow_code)op->code) {
    case RAD_OP_START: return words(t->w, "starts %s", task_name(t, op->a));
    case RAD_OP_FINISH: return words(t->w, "%s is done", task_name(t, t->p->code[op->b].a));
    case RAD_OP_RETRY: return words(t->w, "will try %s again", task_name(t, t->p->code[op->b].a));
    case RAD_OP_SET: return words(t->w, "sets %s", rad__flow_name(&t->p->file, tree->variables[op->a].name));
    case RAD_OP_ENTER:
    case RAD_OP_LEAVE: return region_words(t, op);
    case RAD_OP_CANCEL: return cancel_words(t, op);
    case RAD_OP_REACH: return words(t->w, "reaches %s", name_at(t, tree->milestones, op->a));
    case RAD_OP_EXPIRE: return words(t->w, "expires %s", name_at(t, tree->milestones, op->a));
    case RAD_OP_AWAIT: return words(t->w, "continues: %s holds", name_at(t, tree->milestones, op->a));
    case RAD_OP_ACQUIRE: return words(t->w, "takes lock %s", name_at(t, tree->locks, op->a));
    case RAD_OP_RELEASE: return words(t->w, "gives back lock %s", name_at(t, tree->locks, op->a));
    case RAD_OP_COMPENSATE: return words(t->w, "undoes the next of region %s", name_at(t, tree->regions, op->a));
    default: return NULL;
    }
}

static const char *op_words(const telling *t, const rad_flow_op *op)
{
    switch ((enum rad_flow_code)op->code) {
    case RAD_OP_FORK: return words(t->w, "forks into %u branches", op->b);
    case RAD_OP_OR: return words(t->w, "forks into the branches of or that hold");
    case RAD_OP_XOR: return words(t->w, op->d != RAD_NONE ? "takes else of xor" : "finds no branch that holds");
    case RAD_OP_MANY: return words(t->w, "forks into instances");
    case RAD_OP_MORE: return words(t->w, "adds an instance");
    case RAD_OP_ARRIVE:
    case RAD_OP_BLOCK_END: return words(t->w, "arrives at the join");
    case RAD_OP_LOOP: return words(t->w, "comes to the loop");
    case RAD_OP_LOOP_AGAIN:
    case RAD_OP_WHILE:
    case RAD_OP_UNTIL: return words(t->w, "tests the loop");
    case RAD_OP_INTERLEAVE:
    case RAD_OP_INTERLEAVE_AGAIN: return words(t->w, "leaves interleave");
    case RAD_OP_BEGIN: return words(t->w, "waits for an event");
    case RAD_OP_TAKEN: return words(t->w, "takes an event");
    case RAD_OP_FINISH_CASE: return words(t->w, "finishes the case");
    case RAD_OP_FAIL: return words(t->w, "fails");
    case RAD_OP_END: return words(t->w, "ends the flow");
    default: return named_words(t, op);
    }
}

/* What the second note of an operation says; NULL: it has none. */
static const char *other_words(const telling *t, const rad_flow_op *op)
{
    if (op->code == RAD_OP_FINISH) return words(t->w, "%s fails", task_name(t, t->p->code[op->b].a));
    if (op->code == RAD_OP_AWAIT)
        return words(t->w, "continues: %s has expired", name_at(t, t->p->tree->milestones, op->a));
    if (op->code == RAD_OP_COMPENSATE) return words(t->w, "has undone all");
    return NULL;
}

static const char *with_line(rad_flow_words *w, const char *text, uint32_t line)
{
    return text != NULL && line > 0 ? words(w, "%s (line %u)", text, line) : text;
}

static const char *way_words(const telling *t, const rad_flow_op *op, uint32_t i)
{
    const rad_flow_event *e = &t->p->ways[op->a + i].event;
    uint32_t line = rad__flow_branch_line(t->outline[op->statement], i);
    if (op->code != RAD_OP_TAKEN) return words(t->w, "takes the branch of line %u", line);
    if (e->is_timer) return with_line(t->w, "its timer fires", line);
    return words(t->w, "signal %s comes (line %u)", name_at(t, t->p->tree->signals, e->signal), line);
}

static bool has_ways(const rad_flow_op *op)
{
    return op->code == RAD_OP_XOR || op->code == RAD_OP_TAKEN || op->code == RAD_OP_INTERLEAVE;
}

/* Nobody waits before another attempt of a task that has none, or no delay. */
static bool is_unused(const rad_flow_program *p, const rad_flow_op *op)
{
    if (op->code != RAD_OP_RETRY || p->code[op->b].a == RAD_NONE) return false;
    const rad_flow_task *task = &p->tree->tasks[p->code[op->b].a];
    return task->retries == 0 || task->delay_ns == 0;
}

/* ---- All of them ------------------------------------------------------------------------------------------ */

static void fill(const telling *t)
{
    rad_flow_words *w = t->w;
    const rad_flow_program *p = t->p;
    telling sites = *t;
    sites.of_sites = true;
    for (uint32_t i = 0; i < p->code_count; i++) {
        const rad_flow_op *op = &p->code[i];
        w->notes[2 * i] = with_line(w, op_words(t, op), op->line);
        w->sites[i] = is_unused(p, op) ? "" : with_line(w, op_words(&sites, op), op->line);
        w->notes[2 * i + 1] = with_line(w, other_words(t, op), op->line);
        for (uint32_t k = 0; has_ways(op) && k < op->b; k++)
            w->notes[w->way - RAD_TELL_OP + op->a + k] = way_words(t, op, k);
    }
    for (uint32_t i = 0; i < p->tree->variable_count; i++) {
        const char *name = rad__flow_name(&p->file, p->tree->variables[i].name);
        char text[RAD_LEX_NAME_MAX + 8];
        int length = snprintf(text, sizeof text, "%s = %%", name);
        w->notes[w->variable - RAD_TELL_OP + i] = rad__arena_text(&w->arena, text, (size_t)length);
    }
}

int rad__flow_words_make(rad_flow_words *w, const rad_flow_program *p, rad_error *error)
{
    uint64_t all = RAD_TELL_OP + 2ull * p->code_count + p->way_count + p->tree->variable_count;
    if (all > RAD_TELL_MOST)
        return rad__error(error, RAD_EINPUT, "source: %u operations are too many to explore", p->code_count);
    w->way = RAD_TELL_OP + 2 * p->code_count;
    w->variable = w->way + p->way_count;
    w->end = w->variable + p->tree->variable_count;
    w->notes = rad__arena_take(&w->arena, w->end, sizeof *w->notes);
    w->sites = rad__arena_take(&w->arena, p->code_count + 1u, sizeof *w->sites);
    telling t = {w, p, rad__flow_outline(p->tree), false};
    if (t.outline != NULL && !w->arena.failed) fill(&t);
    bool good = t.outline != NULL && !w->arena.failed;
    rad__free(t.outline);
    return good ? 0 : rad__error_memory(error);
}

/* ---- A step ------------------------------------------------------------------------------------------------ */

static bool is_other(const rad_flow_trial *t, const rad_flow_op *op)
{
    if (op->code == RAD_OP_FINISH || op->code == RAD_OP_AWAIT) return t->k->value == 0;
    return op->code == RAD_OP_COMPENSATE && !t->k->valued;
}

/* The value of a number or a truth; texts and what is below zero have none that a note could carry. */
static void tell_value(const rad_flow_trial *t, uint32_t token, uint32_t variable)
{
    const rad_token *own = &t->vm->tokens[token];
    if (!own->alive || t->program->tree->variables[variable].type == RAD_FLOW_TEXT) return;
    int64_t value = rad__data_at(t->vm, own->data)[variable];
    if (value >= 0) rad_note(t->k, t->words.variable + variable, RAD_NONE, (uint64_t)value);
}

void rad__flow_words_tell(const rad_flow_trial *t, uint32_t token, const rad_flow_op *op)
{
    const rad_flow_words *w = &t->words;
    const rad_flow_tree *tree = t->program->tree;
    uint32_t pc = (uint32_t)(op - t->program->code);
    bool way = t->k->valued && (has_ways(op) || op->code == RAD_OP_INTERLEAVE_AGAIN);
    bool other = is_other(t, op);
    uint32_t chosen = way ? op->a + (uint32_t)t->k->value : RAD_NONE;
    rad_note(t->k, way ? w->way + chosen : RAD_TELL_OP + 2 * pc + other, RAD_NONE, 0);
    if (op->code == RAD_OP_SET) tell_value(t, token, op->a);
    if (op->code == RAD_OP_TAKEN && t->program->ways[chosen].event.into != RAD_NONE)
        tell_value(t, token, t->program->ways[chosen].event.into);
    if (op->code != RAD_OP_FINISH || other) return;
    const rad_flow_task *task = &tree->tasks[t->vm->tokens[token].task];
    for (uint32_t i = 0; i < task->writes.count; i++) tell_value(t, token, task->writes.items[i]);
}
