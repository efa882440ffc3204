/* assemble.c — code that was written by hand. What it says about messages that the protocol does not have is assembled
 * all the same: the monitor faults it when it runs. */
#include "session/lang/program.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map64.h"

#include <string.h>

typedef struct fixup {
    const rad_operand *label;
    bool is_way;
    uint32_t at; /* instruction or way */
} fixup;

typedef struct assembler {
    rad_protocols *all;
    rad_protocol *p;
    uint32_t role;
    const rad_ast_line *line;
    uint32_t operand;     /* the next one */
    rad_map64 label_at;   /* where labels stand, by name */
    rad_map64 edge_at;    /* by sender and receiver */
    rad_map64 message_at; /* an arm of the types, by edge and message */
    fixup *fixups;
    uint32_t fixup_count, fixup_capacity;
    rad_error *error;
    int status;
} assembler;

static bool room(assembler *a, bool there_is)
{
    if (!there_is && a->status == 0) a->status = rad__error_memory(a->error);
    return there_is && a->status == 0;
}

static void fail(assembler *a, rad_text_place at, const char *what)
{
    if (a->status == 0) a->status = rad__ast_error(&a->all->file, at, a->error, "%s", what);
}

/* ---- Operands ---------------------------------------------------------------------------------------- */

static const rad_operand *operand_peek(const assembler *a)
{
    return a->operand < a->line->operand_count ? &a->line->operands[a->operand] : NULL;
}

static const rad_operand *operand_take(assembler *a, enum rad_operand_kind kind, const char *expected)
{
    const rad_operand *o = operand_peek(a);
    bool right = o && (o->kind == kind || (kind == RAD_OPERAND_ROLE && o->kind == RAD_OPERAND_NAME));
    if (!right) fail(a, o ? o->place : a->line->place, expected);
    if (!right || a->status != 0) return NULL;
    a->operand++;
    return o;
}

static uint8_t take_register(assembler *a)
{
    const rad_operand *o = operand_take(a, RAD_OPERAND_REGISTER, "expected a register, r0 to r15");
    if (o == NULL) return 0;
    if (o->number >= RAD_REGISTERS_MAX) fail(a, o->place, "there are 16 registers, r0 to r15");
    return (uint8_t)(o->number & 15);
}

static uint8_t take_register_or(assembler *a, uint8_t otherwise)
{
    const rad_operand *o = operand_peek(a);
    return o && o->kind == RAD_OPERAND_REGISTER ? take_register(a) : otherwise;
}

static uint32_t take_role(assembler *a)
{
    const rad_operand *o = operand_take(a, RAD_OPERAND_ROLE, "expected a role");
    if (o == NULL) return 0;
    uint32_t role = rad__global_role(&a->all->file, a->p->types.global.ast, &o->role, a->error);
    if (role == RAD_NONE) a->status = RAD_EINPUT;
    if (role == a->role) fail(a, o->place, "a role does not send to itself");
    return a->status == 0 ? role : 0;
}

static uint32_t edge_between(assembler *a, uint32_t from, uint32_t to)
{
    rad_types *t = &a->p->types;
    uint64_t key = (uint64_t)from << 32 | to;
    uint32_t edge = rad__map64_find(&a->edge_at, key);
    if (edge != RAD_NONE) return edge;
    if (!room(a, RAD_GROW(&t->edges, &t->edge_capacity, t->edge_count + 1) &&
                     rad__map64_add(&a->edge_at, key, t->edge_count)))
        return 0;
    t->edges[t->edge_count] = (rad_local_edge){from, to, 0, 0};
    return t->edge_count++;
}

static void index_state(assembler *a, const rad_local_state *s, uint32_t fields)
{
    if (s->kind != RAD_LOCAL_SEND && s->kind != RAD_LOCAL_RECEIVE) return;
    const rad_local_arm *arms = &a->p->types.arms[s->first_arm];
    for (uint32_t i = 0; i < s->arm_count && a->status == 0; i++) {
        uint64_t key = (uint64_t)arms[i].edge << 32 | arms[i].label;
        if (arms[i].signature.count != fields) continue;
        if (rad__map64_find(&a->message_at, key) == RAD_NONE)
            room(a, rad__map64_add(&a->message_at, key, s->first_arm + i));
    }
}

/* What the types have, to be found without looking at all of it for every line. Of a message that has different fields
 * in different places, the one with the fewest. */
static void index_types(assembler *a)
{
    const rad_types *t = &a->p->types;
    for (uint32_t i = 0; i < t->edge_count && a->status == 0; i++)
        room(a, rad__map64_add(&a->edge_at, (uint64_t)t->edges[i].from << 32 | t->edges[i].to, i));
    for (uint32_t fields = 0; fields <= RAD_FIELDS_MAX; fields++)
        for (uint32_t i = 0; i < t->state_count; i++) index_state(a, &t->states[i], fields);
}

/* As the types have it, if they do. */
static uint32_t message_on(assembler *a, uint32_t edge, uint32_t label)
{
    static const rad_local_arm none = {.edge = 0};
    uint32_t known = rad__map64_find(&a->message_at, (uint64_t)edge << 32 | label);
    const rad_local_arm *arm = known == RAD_NONE ? &none : &a->p->types.arms[known];
    uint32_t message = rad__code_message(a->p, edge, label, &arm->signature, arm->fields);
    room(a, message != RAD_NONE);
    return message;
}

static uint32_t take_message(assembler *a, uint32_t edge)
{
    const rad_operand *o = operand_take(a, RAD_OPERAND_NAME, "expected the name of a message");
    return o ? message_on(a, edge, o->name) : 0;
}

static void refer(assembler *a, const rad_operand *label, bool is_way, uint32_t at)
{
    if (label && room(a, RAD_GROW(&a->fixups, &a->fixup_capacity, a->fixup_count + 1)))
        a->fixups[a->fixup_count++] = (fixup){label, is_way, at};
}

static uint32_t take_constant(assembler *a)
{
    const rad_operand *o = operand_peek(a);
    rad_constant c = {RAD_TYPE_INT, o ? o->number : 0, 0};
    if (o && o->kind == RAD_OPERAND_TEXT) {
        c.type = RAD_TYPE_TEXT;
        c.text = o->name;
        if (strlen(rad__text_of(a->all, o->name)) > RAD_VALUE_TEXT_MAX)
            fail(a, o->place, "a text has 65,535 bytes at most");
    } else if (o && o->kind == RAD_OPERAND_BOOL) {
        c.type = RAD_TYPE_BOOL;
    } else if (o == NULL || o->kind != RAD_OPERAND_INT) {
        fail(a, o ? o->place : a->line->place, "expected a number, true, false or a text");
        return 0;
    }
    a->operand++;
    rad_protocol *p = a->p;
    if (!room(a, RAD_GROW(&p->constants, &p->constant_capacity, p->constant_count + 1))) return 0;
    p->constants[p->constant_count] = c;
    return p->constant_count++;
}

static void check_registers(assembler *a, uint32_t first, uint32_t message)
{
    if (a->status == 0 && first + a->p->messages[message].signature.count > RAD_REGISTERS_MAX)
        fail(a, a->line->place, "the fields of this message go beyond r15");
}

/* ---- Instructions ------------------------------------------------------------------------------------ */

static rad_instruction message_line(assembler *a, enum rad_session_op op)
{
    uint32_t peer = take_role(a);
    bool sends = op == RAD_OP_S_SEND;
    uint32_t edge = a->status != 0 ? 0 : sends ? edge_between(a, a->role, peer) : edge_between(a, peer, a->role);
    uint32_t message = a->status == 0 ? take_message(a, edge) : 0;
    uint8_t first = take_register_or(a, 1);
    check_registers(a, first, message);
    return (rad_instruction){.op = (uint8_t)op, .a = first, .x = message};
}

/* offer rN { B label -> here, C label -> there }, choose B { label -> here, … } [rN] */
static rad_instruction table_line(assembler *a, enum rad_session_op op)
{
    bool offers = op == RAD_OP_S_OFFER;
    rad_instruction i = {.op = (uint8_t)op, .b = 1};
    uint32_t peer = 0, per_way = offers ? 4 : 3;
    if (offers)
        i.a = take_register(a);
    else
        peer = take_role(a);
    i.b = take_register_or(a, 1);
    uint32_t left = a->line->operand_count - a->operand;
    if (a->status == 0 && (left == 0 || left % per_way != 0))
        fail(a, a->line->place, offers ? "expected { ROLE MESSAGE -> LABEL, … }" : "expected { MESSAGE -> LABEL, … }");
    if (a->status != 0) return i;
    uint32_t count = left / per_way;
    i.x = rad__code_table(a->p, count);
    if (!room(a, i.x != RAD_NONE)) return i;
    for (uint32_t k = 0; k < count && a->status == 0; k++) {
        uint32_t way = a->p->tables[i.x].first + k;
        if (offers) peer = take_role(a);
        if (a->status != 0) break;
        uint32_t edge = offers ? edge_between(a, a->role, peer) : edge_between(a, peer, a->role);
        uint32_t message = a->status == 0 ? take_message(a, edge) : 0;
        check_registers(a, i.b, message);
        a->p->ways[way].message = message;
        operand_take(a, RAD_OPERAND_ARROW, "expected '->' and a label");
        refer(a, operand_take(a, RAD_OPERAND_NAME, "expected a label"), true, way);
    }
    return i;
}

static rad_instruction invoke_line(assembler *a)
{
    rad_instruction i = {.op = RAD_OP_S_INVOKE};
    const rad_operand *o = operand_take(a, RAD_OPERAND_NAME, "expected what is done, a name");
    if (o == NULL) return i;
    i.x = rad__code_effect(a->p, (rad_effect_site){RAD_EFFECT_DOES, o->name, RAD_NONE, RAD_NONE, RAD_NONE});
    room(a, i.x != RAD_NONE);
    return i;
}

static rad_instruction open_line(assembler *a)
{
    rad_instruction i = {.op = RAD_OP_S_OPEN};
    const rad_operand *o = operand_take(a, RAD_OPERAND_NAME, "expected the name of a protocol");
    if (o == NULL) return i;
    for (const rad_ast_protocol *p = a->all->file.protocols; p != NULL; p = p->next, i.x++)
        if (p->name == o->name) return i;
    fail(a, o->place, "there is no such protocol");
    return i;
}

static rad_instruction assemble_one(assembler *a, enum rad_session_op op)
{
    rad_instruction i = {.op = (uint8_t)op};
    switch (op) {
    case RAD_OP_S_SEND:
    case RAD_OP_S_RECEIVE: return message_line(a, op);
    case RAD_OP_S_OFFER:
    case RAD_OP_S_CHOOSE: return table_line(a, op);
    case RAD_OP_S_INVOKE: return invoke_line(a);
    case RAD_OP_S_OPEN: return open_line(a);
    case RAD_OP_S_JUMPIF:
    case RAD_OP_S_JUMP:
        if (op == RAD_OP_S_JUMPIF) i.a = take_register(a);
        refer(a, operand_take(a, RAD_OPERAND_NAME, "expected a label"), false, a->p->code_count);
        return i;
    case RAD_OP_S_SET:
        i.a = take_register(a);
        i.x = take_constant(a);
        return i;
    case RAD_OP_S_MOVE:
        i.a = take_register(a);
        i.b = take_register(a);
        return i;
    case RAD_OP_S_ADD:
    case RAD_OP_S_SUB:
    case RAD_OP_S_MUL:
    case RAD_OP_S_DIV:
    case RAD_OP_S_MOD:
    case RAD_OP_S_LESS:
    case RAD_OP_S_EQUAL:
        i.a = take_register(a);
        i.b = take_register(a);
        i.c = take_register(a);
        return i;
    case RAD_OP_S_SPAWN:
    case RAD_OP_S_JOIN: fail(a, a->line->place, "code by hand has no parallel branches"); return i;
    default: return i;
    }
}

static void assemble_line(assembler *a)
{
    const char *name = rad__text_of(a->all, a->line->name);
    if (a->line->is_label) {
        if (rad__map64_find(&a->label_at, a->line->name) != RAD_NONE)
            fail(a, a->line->place, "this label is there twice");
        else
            room(a, rad__map64_add(&a->label_at, a->line->name, a->p->code_count));
        return;
    }
    uint32_t op = 0;
    while (op < RAD_OP_S_COUNT && strcmp(rad__session_op_name(op), name) != 0) op++;
    if (op == RAD_OP_S_COUNT) {
        fail(a, a->line->place, "there is no such instruction");
        return;
    }
    a->operand = 0;
    rad_instruction i = assemble_one(a, (enum rad_session_op)op);
    if (a->operand < a->line->operand_count)
        fail(a, a->line->operands[a->operand].place, "there are too many operands");
    if (a->status == 0) room(a, rad__emit(a->p, i, a->line->place.line) != RAD_NONE);
}

static void resolve(assembler *a, const fixup *f)
{
    uint32_t pc = rad__map64_find(&a->label_at, f->label->name);
    if (pc == RAD_NONE)
        fail(a, f->label->place, "there is no such label");
    else if (f->is_way)
        a->p->ways[f->at].pc = pc;
    else
        a->p->code[f->at].x = pc;
}

int rad__assemble(rad_protocols *all, rad_protocol *p, const rad_ast_code *code, rad_error *error)
{
    assembler a = {.all = all, .p = p, .error = error};
    a.role = rad__global_role(&all->file, p->types.global.ast, &code->role, error);
    if (a.role == RAD_NONE) return RAD_EINPUT;
    for (const rad_ast_code *c = p->types.global.ast->codes; c != code; c = c->next)
        if (rad__global_role(&all->file, p->types.global.ast, &c->role, NULL) == a.role)
            return rad__ast_error(&all->file, code->role.place, error, "this role has code already");
    uint32_t entry = p->code_count;
    index_types(&a);
    for (a.line = code->lines; a.line != NULL && a.status == 0; a.line = a.line->next) assemble_line(&a);
    if (a.status == 0) /* whoever falls off the end has halted */
        room(&a, rad__emit(p, (rad_instruction){.op = RAD_OP_S_HALT}, 0) != RAD_NONE);
    for (uint32_t i = 0; i < a.fixup_count && a.status == 0; i++) resolve(&a, &a.fixups[i]);
    rad__map64_free(&a.label_at);
    rad__map64_free(&a.edge_at);
    rad__map64_free(&a.message_at);
    rad__free(a.fixups);
    if (a.status != 0) return a.status;
    p->entries[a.role] = entry;
    p->register_count = RAD_REGISTERS_MAX;
    p->by_hand = true;
    return 0;
}
