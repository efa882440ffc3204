/* history.c — see history.h. */
#include "flow/machine/history.h"

#include "base/alloc.h"
#include "flow/machine/vm.h"

enum { TEXT_MOST = 1 << 28 };

/* ---- Words ----------------------------------------------------------------------------------------------------- */

static const char *task_name(const rad_flow_case *c, const rad_flow_op *op)
{
    const rad_flow_program *p = c->program;
    uint32_t task = op->code == RAD_OP_START ? op->a : p->code[op->b].a;
    return task != RAD_NONE ? rad__flow_name(&p->file, p->tree->tasks[task].name) : "an undo task";
}

static void put_set(const rad_flow_case *c, const rad_flow_op *op, uint64_t value, rad_bytes *b)
{
    const rad_flow_variable *v = &c->program->tree->variables[op->a];
    rad__bytes_format(b, "sets %s to ", rad__flow_name(&c->program->file, v->name));
    if (v->type == RAD_FLOW_TEXT && value < c->vm->text_count)
        rad__bytes_format(b, "\"%.60s\"", c->vm->texts[value].text);
    else if (v->type == RAD_FLOW_BOOL)
        rad__bytes_format(b, "%s", value ? "true" : "false");
    else
        rad__bytes_format(b, "%lld", (long long)value);
}

static void put_step(const rad_flow_case *c, const rad_event *e, rad_bytes *b)
{
    const rad_flow_op *op = &c->program->code[e->site];
    unsigned long long value = e->value;
    switch ((enum rad_flow_code)op->code) {
    case RAD_OP_START: rad__bytes_format(b, "starts %s, attempt %llu", task_name(c, op), value); break;
    case RAD_OP_FINISH: rad__bytes_format(b, "%s %s", value ? "has done" : "has failed in", task_name(c, op)); break;
    case RAD_OP_XOR:
        if (e->access & RAD_EVENT_VALUED)
            rad__bytes_format(b, "takes branch %llu", value + 1);
        else
            rad__bytes_format(b, "takes no branch");
        break;
    case RAD_OP_TAKEN: rad__bytes_format(b, "takes event %llu", value + 1); break;
    case RAD_OP_INTERLEAVE:
    case RAD_OP_INTERLEAVE_AGAIN:
        if (e->access & RAD_EVENT_VALUED)
            rad__bytes_format(b, "takes block %llu", value + 1);
        else
            rad__bytes_format(b, "has taken all blocks");
        break;
    case RAD_OP_SET:
        if (e->access & RAD_EVENT_VALUED)
            put_set(c, op, e->value, b);
        else
            rad__bytes_format(b, "set");
        break;
    default: rad__bytes_format(b, "%s", rad__flow_code_name(op->code));
    }
}

static void put_path(const rad_flow_case *c, uint64_t token, rad_bytes *b)
{
    char path[RAD_FLOW_KEY_MAX];
    if (token >= c->vm->token_count) return;
    rad__flow_path(c->vm, (uint32_t)token, path, sizeof path);
    rad__bytes_format(b, "%s", path);
}

static void put_note(const rad_flow_case *c, const rad_event *e, rad_bytes *b)
{
    static const char *const words[] = {
        [RAD_FLOW_NOTE_CANCELS] = "cancelled: ",
        [RAD_FLOW_NOTE_FIRES] = "joined: ",
        [RAD_FLOW_NOTE_FAILS] = "failed: ",
    };
    rad__bytes_format(b, "%u ", e->step);
    if (e->kind == RAD_FLOW_NOTE_INPUT) {
        rad__bytes_format(b, "input from outside\n");
        return;
    }
    bool known = e->kind < sizeof words / sizeof *words && words[e->kind] != NULL;
    rad__bytes_format(b, "  %s", known ? words[e->kind] : "");
    put_path(c, e->value, b);
    rad__bytes_format(b, "\n");
}

static void put_line(const rad_flow_case *c, const rad_event *e, rad_bytes *b)
{
    if (b->size > TEXT_MOST) return;
    if (e->what == RAD_EVENT_NOTE) put_note(c, e, b);
    if (e->what != RAD_EVENT_STEP) return;
    rad__bytes_format(b, "%u ", e->step);
    put_path(c, e->actor, b);
    rad__bytes_format(b, " line %u: ", c->program->code[e->site].line);
    put_step(c, e, b);
    rad__bytes_format(b, "\n");
    if (b->size > TEXT_MOST) rad__bytes_format(b, "… and so on: that is enough to read\n");
}

/* ---- Visits ----------------------------------------------------------------------------------------------------- */

/* Operations that begin a statement: the others are in the middle or at the end of one. */
static bool begins(enum rad_flow_code code)
{
    return code != RAD_OP_FINISH && code != RAD_OP_RETRY && code != RAD_OP_ARRIVE && code != RAD_OP_BLOCK_END &&
           code != RAD_OP_LOOP_AGAIN && code != RAD_OP_LEAVE && code != RAD_OP_RELEASE && code != RAD_OP_TAKEN &&
           code != RAD_OP_INTERLEAVE_AGAIN;
}

/* After these a token is still in the statement. */
static bool is_inside(enum rad_flow_code code)
{
    return code == RAD_OP_START || code == RAD_OP_RETRY || code == RAD_OP_BEGIN || code == RAD_OP_FORK ||
           code == RAD_OP_OR || code == RAD_OP_MANY;
}

static void visit(rad_flow_visit *v, const rad_event *e, const rad_flow_op *op, uint32_t *order)
{
    if (v->times == 0 && v->order == 0) {
        v->order = ++*order;
        v->first = e->step;
    }
    v->last = e->step;
    v->times += begins(op->code);
    v->state = op->code == RAD_OP_FINISH && !e->value ? RAD_VISIT_FAILED : RAD_VISIT_DONE;
}

static rad_flow_visit *visit_of(const rad_flow_history *h, const rad_flow_case *c, uint64_t token)
{
    return &h->visits[c->program->code[h->last[token]].statement];
}

static bool was_inside(const rad_flow_history *h, const rad_flow_case *c, uint64_t token)
{
    return is_inside(c->program->code[h->last[token]].code);
}

static void count_step(rad_flow_history *h, const rad_flow_case *c, const rad_event *e)
{
    h->last[e->actor] = e->site;
    visit(visit_of(h, c, e->actor), e, &c->program->code[e->site], &h->order);
    if (h->failing == RAD_NONE) return;
    /* In a join it is the fork's own token that fails, not the branch that arrives. */
    if (h->failing == e->actor || was_inside(h, c, h->failing)) visit_of(h, c, h->failing)->state = RAD_VISIT_FAILED;
    h->failing = RAD_NONE;
}

/* What a step does to whom is told before the step itself. */
static void count(rad_flow_history *h, const rad_flow_case *c, const rad_event *e)
{
    if (e->what == RAD_EVENT_STEP) count_step(h, c, e);
    if (e->what != RAD_EVENT_NOTE) return;
    if (e->kind == RAD_FLOW_NOTE_FAILS) h->failing = e->value;
    if (e->kind != RAD_FLOW_NOTE_CANCELS || e->value == h->failing) return;
    if (!was_inside(h, c, e->value)) return;
    visit_of(h, c, e->value)->cancelled++;
    visit_of(h, c, e->value)->state = RAD_VISIT_CANCELLED;
}

/* ---- Life ------------------------------------------------------------------------------------------ */

bool rad__flow_history_open(rad_flow_history *h, const rad_flow_program *p, bool has_text)
{
    *h = (rad_flow_history){.failing = RAD_NONE, .has_text = has_text};
    h->visits = rad__alloc(p->tree->statement_count + 1u, sizeof *h->visits);
    return h->visits != NULL;
}

void rad__flow_history_take(rad_flow_history *h, const rad_flow_case *c)
{
    const rad_trace *t = &c->kernel->trace;
    if (h->failed || !RAD_GROW(&h->last, &h->last_capacity, c->vm->token_count)) {
        h->failed = true;
        return;
    }
    if (t->count > h->seen + t->capacity) h->seen = t->count - t->capacity;
    for (; h->seen < t->count; h->seen++) {
        const rad_event *e = rad__trace_at(t, h->seen);
        count(h, c, e);
        if (h->has_text) put_line(c, e, &h->text);
    }
    h->failed = h->text.failed;
}

void rad__flow_history_end(rad_flow_history *h, const rad_flow_case *c)
{
    rad__flow_history_take(h, c);
    for (uint32_t i = 0; i < c->vm->token_count; i++) {
        const rad_token *k = &c->vm->tokens[i];
        uint32_t at = k->inner != RAD_NONE ? c->vm->forks[k->inner].op : k->pc;
        if (k->alive) h->visits[c->program->code[at].statement].state = RAD_VISIT_WAITING;
    }
    rad__bytes_put(&h->text, "", 1);
    h->failed |= h->text.failed;
}

void rad__flow_history_free(rad_flow_history *h)
{
    rad__free(h->visits);
    rad__free(h->last);
    rad__bytes_free(&h->text);
}
