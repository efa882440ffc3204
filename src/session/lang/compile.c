/* compile.c — local types to code. See program.h. */
#include "session/lang/program.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

const char *rad__session_op_name(uint32_t op)
{
    static const char *const names[] = {
#define OP_NAME(name, text) text,
        RAD_SESSION_OPS(OP_NAME)
#undef OP_NAME
    };
    return op < RAD_OP_S_COUNT ? names[op] : "?";
}

/* ---- Tables ------------------------------------------------------------------------------------------ */

uint32_t rad__emit(rad_protocol *p, rad_instruction i, uint32_t line)
{
    if (!RAD_GROW(&p->code, &p->code_capacity, p->code_count + 1) ||
        !RAD_GROW(&p->lines, &p->line_capacity, p->code_count + 1))
        return RAD_NONE;
    p->code[p->code_count] = i;
    p->lines[p->code_count] = line;
    return p->code_count++;
}

uint32_t rad__code_message(rad_protocol *p, uint32_t edge, uint32_t label, const rad_signature *s,
                           const rad_ast_field *fields)
{
    if (!RAD_GROW(&p->messages, &p->message_capacity, p->message_count + 1)) return RAD_NONE;
    p->messages[p->message_count] = (rad_message){edge, label, *s, fields};
    if (s->count + 1u > p->register_count) p->register_count = s->count + 1u;
    return p->message_count++;
}

uint32_t rad__code_effect(rad_protocol *p, rad_effect_site site)
{
    if (!RAD_GROW(&p->effects, &p->effect_capacity, p->effect_count + 1)) return RAD_NONE;
    p->effects[p->effect_count] = site;
    return p->effect_count++;
}

uint32_t rad__code_table(rad_protocol *p, uint32_t count)
{
    if (!RAD_GROW(&p->tables, &p->table_capacity, p->table_count + 1) ||
        !RAD_GROW(&p->ways, &p->way_capacity, p->way_count + count))
        return RAD_NONE;
    memset(p->ways + p->way_count, 0, count * sizeof *p->ways);
    p->tables[p->table_count] = (rad_table){p->way_count, count};
    p->way_count += count;
    return p->table_count++;
}

static rad_effect_option option_of(const rad_protocols *all, const rad_protocol *p, const rad_message *m)
{
    const rad_types *t = &p->types;
    rad_effect_option o = {.name = rad__text_of(all, m->label),
                           .partner = t->global.roles[t->threads[t->edges[m->edge].to].role],
                           .field_count = m->signature.count};
    for (uint32_t i = 0; i < o.field_count; i++) o.types[i] = (enum rad_value_type)m->signature.types[i];
    return o;
}

/* The effect that chooses one of the messages of a table. */
static uint32_t code_selection(rad_protocols *all, rad_protocol *p, uint32_t table)
{
    const rad_table *t = &p->tables[table];
    if (!RAD_GROW(&p->options, &p->option_capacity, p->option_count + t->count)) return RAD_NONE;
    rad_effect_site site = {RAD_EFFECT_SELECT, RAD_NONE, RAD_NONE, table, p->option_count};
    for (uint32_t i = 0; i < t->count; i++)
        p->options[p->option_count++] = option_of(all, p, &p->messages[p->ways[t->first + i].message]);
    return rad__code_effect(p, site);
}

/* ---- States ------------------------------------------------------------------------------------------ */

typedef struct compiler {
    rad_protocols *all;
    rad_protocol *p;
    uint32_t *pc_of;   /* by state; RAD_NONE: not yet */
    uint32_t *pending; /* states that are jumped to */
    uint32_t pending_count, pending_capacity;
    uint32_t thread;
    bool failed;
} compiler;

static uint32_t emit(compiler *c, enum rad_session_op op, uint32_t x, uint32_t line)
{
    bool fields = op == RAD_OP_S_SEND || op == RAD_OP_S_RECEIVE;
    rad_instruction i = {.op = (uint8_t)op, .a = fields, .b = 1, .x = x};
    uint32_t at = rad__emit(c->p, i, line);
    if (at == RAD_NONE || x == RAD_NONE) c->failed = true;
    return at == RAD_NONE ? 0 : at;
}

/* Jumps to states lead to their number until all are known. */
static void jump_to(compiler *c, uint32_t state, uint32_t line)
{
    emit(c, RAD_OP_S_JUMP, state, line);
    if (c->pc_of[state] != RAD_NONE) return;
    if (RAD_GROW(&c->pending, &c->pending_capacity, c->pending_count + 1))
        c->pending[c->pending_count++] = state;
    else
        c->failed = true;
}

static uint32_t message_of(compiler *c, const rad_local_arm *arm)
{
    uint32_t m = rad__code_message(c->p, arm->edge, arm->label, &arm->signature, arm->fields);
    if (m == RAD_NONE) c->failed = true;
    return m;
}

static void invoke(compiler *c, enum rad_effect_kind kind, const rad_local_arm *arm, uint32_t message)
{
    if (kind != RAD_EFFECT_DOES && arm->signature.count == 0) return;
    rad_effect_site site = {kind, arm->label, message, RAD_NONE, RAD_NONE};
    emit(c, RAD_OP_S_INVOKE, rad__code_effect(c->p, site), arm->line);
}

/* The state that follows directly; RAD_NONE: none does. */
static uint32_t compile_single(compiler *c, const rad_local_state *s, const rad_local_arm *arm)
{
    if (s->kind == RAD_LOCAL_DOES) {
        invoke(c, RAD_EFFECT_DOES, arm, RAD_NONE);
        return arm->next;
    }
    uint32_t m = message_of(c, arm);
    if (s->kind == RAD_LOCAL_SEND) invoke(c, RAD_EFFECT_PRODUCE, arm, m);
    emit(c, s->kind == RAD_LOCAL_SEND ? RAD_OP_S_SEND : RAD_OP_S_RECEIVE, m, arm->line);
    if (s->kind == RAD_LOCAL_RECEIVE) invoke(c, RAD_EFFECT_CONSUME, arm, m);
    return arm->next;
}

static void compile_several(compiler *c, const rad_local_state *s)
{
    const rad_local_arm *arms = &c->p->types.arms[s->first_arm];
    uint32_t table = rad__code_table(c->p, s->arm_count);
    if (table == RAD_NONE) {
        c->failed = true;
        return;
    }
    uint32_t first = c->p->tables[table].first;
    for (uint32_t i = 0; i < s->arm_count; i++) c->p->ways[first + i].message = message_of(c, &arms[i]);
    if (c->failed) return;
    bool sends = s->kind == RAD_LOCAL_SEND;
    if (sends) emit(c, RAD_OP_S_INVOKE, code_selection(c->all, c->p, table), s->line);
    emit(c, sends ? RAD_OP_S_OFFER : RAD_OP_S_CHOOSE, table, s->line);
    for (uint32_t i = 0; i < s->arm_count && !c->failed; i++) {
        c->p->ways[first + i].pc = c->p->code_count;
        if (!sends) invoke(c, RAD_EFFECT_CONSUME, &arms[i], c->p->ways[first + i].message);
        jump_to(c, arms[i].next, arms[i].line);
    }
}

static uint32_t compile_par(compiler *c, const rad_local_state *s)
{
    const rad_local_arm *arms = &c->p->types.arms[s->first_arm];
    uint32_t table = rad__code_table(c->p, s->arm_count);
    for (uint32_t i = 0; i < s->arm_count && table != RAD_NONE; i++)
        c->p->ways[c->p->tables[table].first + i].message = arms[i].edge;
    emit(c, RAD_OP_S_SPAWN, table, s->line);
    emit(c, RAD_OP_S_JOIN, 0, s->line);
    return s->next;
}

/* A state, and those that follow it as long as they are new. */
static void compile_chain(compiler *c, uint32_t state)
{
    uint32_t line = 0;
    while (state != RAD_NONE && !c->failed) {
        if (c->pc_of[state] != RAD_NONE) {
            jump_to(c, state, line);
            return;
        }
        const rad_local_state s = c->p->types.states[state];
        c->pc_of[state] = c->p->code_count;
        line = s.line;
        if (s.kind == RAD_LOCAL_END) {
            if (c->thread == 0) emit(c, RAD_OP_S_CLOSE, 0, 0);
            emit(c, RAD_OP_S_HALT, 0, 0);
            return;
        }
        if (s.kind == RAD_LOCAL_PAR) {
            state = compile_par(c, &s);
        } else if (s.arm_count == 1) {
            state = compile_single(c, &s, &c->p->types.arms[s.first_arm]);
        } else {
            compile_several(c, &s);
            return;
        }
    }
}

static void compile_thread(compiler *c, uint32_t thread)
{
    uint32_t begin = c->p->code_count;
    c->thread = thread;
    c->p->entries[thread] = begin;
    compile_chain(c, c->p->types.threads[thread].start);
    while (c->pending_count > 0 && !c->failed) {
        uint32_t state = c->pending[--c->pending_count];
        if (c->pc_of[state] == RAD_NONE) compile_chain(c, state);
    }
    for (uint32_t i = begin; i < c->p->code_count && !c->failed; i++)
        if (c->p->code[i].op == RAD_OP_S_JUMP) c->p->code[i].x = c->pc_of[c->p->code[i].x];
}

/* A way that begins with a jump leads to where that goes. */
static void shorten_ways(rad_protocol *p)
{
    for (uint32_t i = 0; i < p->way_count; i++)
        for (uint32_t hops = 0; hops < 8 && p->code[p->ways[i].pc].op == RAD_OP_S_JUMP; hops++)
            p->ways[i].pc = p->code[p->ways[i].pc].x;
}

int rad__compile(rad_protocols *all, rad_protocol *p, rad_error *error)
{
    const rad_types *t = &p->types;
    compiler c = {.all = all, .p = p};
    p->register_count = 1;
    p->entries = rad__alloc(t->thread_count, sizeof *p->entries);
    c.pc_of = rad__alloc(t->state_count, sizeof *c.pc_of);
    c.failed = p->entries == NULL || c.pc_of == NULL;
    if (!c.failed) memset(c.pc_of, 0xff, t->state_count * sizeof *c.pc_of);
    for (uint32_t i = 0; i < t->thread_count && !c.failed; i++) compile_thread(&c, i);
    rad__free(c.pc_of);
    rad__free(c.pending);
    if (c.failed) return rad__error_memory(error);
    shorten_ways(p);
    return 0;
}
