/* follow_words.c — steps of a case by their stable names; see follow.h. */
#include "base/alloc.h"
#include "flow/journal/follow.h"
#include "flow/lang/text.h"
#include "flow/machine/vm.h"

#include <string.h>

enum { LINES_MAX = 64 }; /* of a set; more are counted */

const char *rad__flow_state_name(enum rad_flow_state state)
{
    static const char *const names[] = {"running",   "waiting",  "done",     "failed",
                                        "cancelled", "deadlock", "diverged", "broken"};
    return names[state];
}

/* ---- Lines ---------------------------------------------------------------------------------------------- */

void rad__flow_lines_add(rad_flow_lines *l, rad_bytes *text)
{
    rad__bytes_put(text, "", 1);
    if (!text->failed && RAD_GROW(&l->items, &l->capacity, l->count + 1)) {
        l->items[l->count++] = (char *)text->data;
        *text = (rad_bytes){0};
        return;
    }
    l->failed = true;
    rad__bytes_free(text);
}

void rad__flow_lines_free(rad_flow_lines *l)
{
    for (uint32_t i = 0; i < l->count; i++) rad__free(l->items[i]);
    rad__free(l->items);
    *l = (rad_flow_lines){0};
}

/* ---- Steps ---------------------------------------------------------------------------------------------- */

void rad__flow_task_words(const rad_flow_side *s, uint32_t task, rad_bytes *out)
{
    const rad_flow_file *file = &s->program->file;
    const rad_flow_task *t = &s->program->tree->tasks[task];
    if (t->is_anonymous)
        rad__bytes_format(out, "run \"%.60s\"", rad__flow_name(file, t->command));
    else
        rad__bytes_format(out, "%s", rad__flow_name(file, t->name));
}

static void put_path(const rad_flow_side *s, uint32_t token, rad_bytes *out)
{
    char path[RAD_FLOW_KEY_MAX];
    rad__flow_path(s->c->vm, token, path, sizeof path);
    rad__bytes_format(out, "%s", path);
}

static void put_statement(const rad_flow_side *s, const rad_flow_op *op, const char *before, rad_bytes *out)
{
    const rad_flow_statement *statement = s->outline[op->statement];
    rad__bytes_format(out, "%s", before);
    if (statement != NULL)
        rad__flow_statement_text(out, &s->program->file, s->program->tree, statement);
    else
        rad__bytes_format(out, "the flow");
}

/* An effect has its number behind the path. */
static void put_effect(const rad_flow_side *s, uint32_t token, const rad_flow_op *op, const char *before,
                       const char *behind, rad_bytes *out)
{
    const rad_token *t = &s->c->vm->tokens[token];
    bool is_new = op->code == RAD_OP_START && t->attempt == 0;
    uint32_t task = is_new ? op->a : t->task;
    rad__bytes_format(out, "#%u ", is_new ? t->effects + 1 : t->effect);
    bool is_command = s->program->tree->tasks[task].is_anonymous;
    rad__bytes_format(out, "%s", is_command && before[0] == 'd' ? "" : before);
    rad__flow_task_words(s, task, out);
    rad__bytes_format(out, "%s", behind);
}

void rad__flow_step_name(const rad_flow_side *s, uint32_t token, const rad_flow_op *op, rad_bytes *out)
{
    put_path(s, token, out);
    switch ((enum rad_flow_code)op->code) {
    case RAD_OP_START: put_effect(s, token, op, "do ", "", out); break;
    case RAD_OP_FINISH: put_effect(s, token, op, "result of ", "", out); break;
    case RAD_OP_RETRY: put_effect(s, token, op, "do ", " again", out); break;
    case RAD_OP_ARRIVE: rad__bytes_format(out, " end of its branch"); break;
    case RAD_OP_BLOCK_END: rad__bytes_format(out, " end of its block"); break;
    case RAD_OP_LOOP_AGAIN: put_statement(s, op, " next round of ", out); break;
    case RAD_OP_INTERLEAVE_AGAIN: put_statement(s, op, " next block of ", out); break;
    case RAD_OP_LEAVE:
    case RAD_OP_RELEASE: put_statement(s, op, " end of ", out); break;
    case RAD_OP_TAKEN: put_statement(s, op, " event of ", out); break;
    case RAD_OP_END: rad__bytes_format(out, " end of the flow"); break;
    default: put_statement(s, op, " ", out); break;
    }
    rad__bytes_format(out, " (line %u)", op->line);
}

/* ---- Sets ----------------------------------------------------------------------------------------------- */

static void add_more(rad_flow_lines *out, uint32_t count)
{
    rad_bytes text = {0};
    if (count <= LINES_MAX) return;
    rad__bytes_format(&text, "… and %u more", count - LINES_MAX);
    rad__flow_lines_add(out, &text);
}

static void list_end(const rad_flow_side *s, rad_flow_lines *out)
{
    rad_bytes text = {0};
    const char *why = rad__flow_case_failure(s->c);
    rad__bytes_format(&text, "nothing: the execution has ended, %s", rad__flow_state_name(s->c->vm->result));
    if (why[0] != 0) rad__bytes_format(&text, " (%s)", why);
    rad__flow_lines_add(out, &text);
}

void rad__flow_list_steps(const rad_flow_side *s, rad_flow_lines *out)
{
    const rad_bitset *enabled = &s->c->kernel->enabled;
    const rad_flow_vm *vm = s->c->vm;
    if (vm->result != RAD_CASE_RUNNING) {
        list_end(s, out);
        return;
    }
    uint32_t count = 0;
    for (uint32_t i = rad__bitset_next(enabled, 0); i != RAD_NONE; i = rad__bitset_next(enabled, i + 1)) {
        rad_bytes text = {0};
        if (count++ >= LINES_MAX) continue;
        rad__flow_step_name(s, i, rad__flow_op(vm, i), &text);
        rad__flow_lines_add(out, &text);
    }
    add_more(out, count);
    if (count == 0) rad__flow_list_asks(s, out);
}

static void put_events(const rad_flow_side *s, const rad_flow_op *op, rad_bytes *out)
{
    for (uint32_t i = 0; i < op->b; i++) {
        rad__bytes_format(out, "%s", i == 0 ? "" : i + 1 == op->b ? " or " : ", ");
        rad__flow_event_text(out, &s->program->file, s->program->tree, &s->program->ways[op->a + i].event);
    }
}

void rad__flow_list_asks(const rad_flow_side *s, rad_flow_lines *out)
{
    const rad_flow_vm *vm = s->c->vm;
    uint32_t count = 0;
    for (uint32_t i = 0; i < vm->token_count; i++) {
        const rad_token *t = &vm->tokens[i];
        rad_bytes text = {0};
        if (!t->alive || !rad__is_for_world(t->wait) || count++ >= LINES_MAX) continue;
        put_path(s, i, &text);
        rad__bytes_format(&text, "#%u waits for ", t->effect);
        if (t->wait == RAD_TOKEN_FOR_EVENT)
            put_events(s, rad__flow_op(vm, i), &text);
        else
            rad__bytes_format(&text, t->wait == RAD_TOKEN_FOR_TIMER ? "another attempt of " : "the result of ");
        if (t->wait != RAD_TOKEN_FOR_EVENT) rad__flow_task_words(s, t->task, &text);
        rad__bytes_format(&text, " (line %u)", rad__flow_op(vm, i)->line);
        rad__flow_lines_add(out, &text);
    }
    add_more(out, count);
    if (count > 0) return;
    rad_bytes text = {0};
    rad__bytes_format(&text, "nothing");
    rad__flow_lines_add(out, &text);
}
