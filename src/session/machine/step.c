/* step.c — what each instruction does, and the monitor that lets it. See vm.h for the rules.
 *
 * Every instruction first asks whether it may (faults), then whether it can (blocks); only then it changes anything. */
#include "session/machine/vm.h"

#include <string.h>

const char *rad__fault_text(uint32_t fault)
{
    static const char *const texts[] = {
#define FAULT_TEXT(name, text) text,
        RAD_FAULTS(FAULT_TEXT)
#undef FAULT_TEXT
    };
    return fault < RAD_FAULT_COUNT ? texts[fault] : "?";
}

const char *rad__block_text(uint32_t reason)
{
    static const char *const texts[] = {
#define BLOCK_TEXT(name, text) text,
        RAD_BLOCK_REASONS(BLOCK_TEXT)
#undef BLOCK_TEXT
    };
    return reason < RAD_BLOCK_COUNT ? texts[reason] : "?";
}

/* ---- Faults, blocking, waking ------------------------------------------------------------------------ */

/* All threads of the session stop where they are. */
void rad__session_fault(rad_session_vm *vm, rad_co *co, enum rad_fault fault)
{
    rad_session *s = co->session;
    s->fault = (uint8_t)fault;
    s->fault_thread = co->thread;
    s->fault_line = s->protocol->lines[co->pc];
    rad__session_event(vm, co, RAD_SESSION_FAULTED, fault, RAD_NONE, 0, 0, 0);
    s->fault_causes = rad__digest_word(co->digest);
    vm->faulted_sessions++;
    for (uint32_t i = 0; i < s->protocol->types.thread_count; i++) {
        rad_co *other = &s->threads[i];
        if (other->state == RAD_CO_IDLE || other->state == RAD_CO_ENDED) continue;
        rad__rounds_forget(vm, other);
        other->state = RAD_CO_FAULTED;
        vm->ended_count++;
    }
}

static void block(rad_session_vm *vm, rad_co *co, enum rad_session_block reason, uint32_t what)
{
    co->state = RAD_CO_BLOCKED;
    co->reason = (uint8_t)reason;
    co->what = what;
    if (co->session->holder == co && !co->session->pinned) rad__rounds_hold(vm, co->session, NULL); /* consumed */
}

static inline void wake(rad_session_vm *vm, rad_co *co, enum rad_session_block reason, uint32_t what)
{
    if (co->state == RAD_CO_BLOCKED && co->reason == reason && co->what == what) rad__rounds_wake(vm, co);
}

static void wake_closers(rad_session_vm *vm, rad_session *s)
{
    for (uint32_t i = 0; i < s->protocol->types.thread_count; i++) wake(vm, &s->threads[i], RAD_BLOCK_CLOSE, 0);
}

static inline bool is_drained(const rad_session *s)
{
    return s->live == 0 && s->in_flight == 0;
}

/* The type goes on. Roles, not their branches, keep the session alive. */
static inline void advance(rad_session_vm *vm, rad_co *co, uint32_t next)
{
    rad_session *s = co->session;
    const rad_types *t = &s->protocol->types;
    co->type = next;
    if (t->states[next].kind != RAD_LOCAL_END || t->threads[co->thread].parent != RAD_NONE) return;
    s->live--;
    if (is_drained(s)) wake_closers(vm, s);
}

/* ---- Messages ---------------------------------------------------------------------------------------- */

/* The monitor: the arm of the present type, or why not. */
static inline const rad_local_arm *allowed(const rad_co *co, enum rad_local_kind kind, uint32_t edge, uint32_t label,
                                           enum rad_fault *fault)
{
    const rad_types *t = &co->session->protocol->types;
    const rad_local_state *s = &t->states[co->type];
    *fault = s->kind == kind ? RAD_FAULT_PEER : RAD_FAULT_LABEL;
    if (s->kind != kind) return NULL;
    for (uint32_t i = 0; i < s->arm_count; i++) {
        const rad_local_arm *arm = &t->arms[s->first_arm + i];
        if (arm->edge != edge) continue;
        *fault = RAD_FAULT_LABEL;
        if (arm->label == label) return arm;
    }
    return NULL;
}

static inline bool fields_fit(const rad_local_arm *arm, const rad_datum *values, uint32_t count)
{
    if (arm->signature.count != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (values[i].type != arm->signature.types[i]) return false;
    return true;
}

static inline uint64_t hash_of(const rad_datum *values, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) hash = rad__value_hash(hash, &values[i]);
    return hash;
}

static uint32_t slot_at(const rad_buffer *b, uint32_t index)
{
    uint32_t at = b->head + index;
    return at < b->capacity ? at : at - b->capacity;
}

/* Where a message goes; RAD_NONE: nowhere, and `answer` says what then. */
enum full { FULL_STORE, FULL_BLOCK, FULL_FAULT, FULL_LOSE, FULL_MEMORY };

static inline enum full find_room(const rad_session_vm *vm, rad_buffer *b, uint32_t *slot)
{
    if (RAD_LIKELY(b->count < b->capacity)) {
        *slot = slot_at(b, b->count);
        return FULL_STORE;
    }
    switch (vm->options.full) {
    case RAD_FULL_BLOCK: return FULL_BLOCK;
    case RAD_FULL_DROP: return FULL_LOSE;
    case RAD_FULL_LATEST: *slot = slot_at(b, b->count - 1); return FULL_STORE;
    case RAD_FULL_RESIZE:
        if (b->capacity >= RAD_BUFFER_MAX) return FULL_FAULT;
        if (!rad__buffer_grow(b)) return FULL_MEMORY;
        *slot = slot_at(b, b->count);
        return FULL_STORE;
    default: return FULL_FAULT;
    }
}

static bool store(rad_buffer *b, uint32_t slot, const rad_datum *values, uint32_t count)
{
    rad_datum *to = &b->fields[(size_t)slot * b->width];
    for (uint32_t i = 0; i < count; i++)
        if (!rad__value_copy(&to[i], &values[i])) return false;
    return true;
}

/* True: done. */
static bool send(rad_session_vm *vm, rad_co *co, uint32_t message, uint32_t first)
{
    rad_session *s = co->session;
    const rad_message *m = &s->protocol->messages[message];
    enum rad_fault fault;
    if (RAD_UNLIKELY(s->closed)) {
        rad__session_fault(vm, co, RAD_FAULT_CLOSED);
        return false;
    }
    const rad_local_arm *arm = allowed(co, RAD_LOCAL_SEND, m->edge, m->label, &fault);
    const rad_datum *values = &co->registers[first];
    uint32_t count = arm ? arm->signature.count : 0, slot = 0;
    if (RAD_UNLIKELY(first + count > s->protocol->register_count)) { /* only code by hand */
        rad__session_fault(vm, co, RAD_FAULT_OPERAND);
        return false;
    }
    if (RAD_UNLIKELY(arm == NULL || !fields_fit(arm, values, count))) {
        rad__session_fault(vm, co, arm ? RAD_FAULT_FIELDS : fault);
        return false;
    }
    rad_buffer *b = &s->buffers[m->edge];
    enum full room = find_room(vm, b, &slot);
    if (RAD_UNLIKELY(room == FULL_BLOCK)) {
        block(vm, co, RAD_BLOCK_SEND, m->edge);
        return false;
    }
    if (room == FULL_STORE && !store(b, slot, values, count)) room = FULL_MEMORY;
    if (RAD_UNLIKELY(room == FULL_FAULT || room == FULL_MEMORY)) {
        rad__session_fault(vm, co, room == FULL_FAULT ? RAD_FAULT_FULL : RAD_FAULT_MEMORY);
        return false;
    }
    uint64_t hash = hash_of(values, count), number = b->sent++;
    rad__session_event(vm, co, RAD_SESSION_SENT, m->label, m->edge, number, hash, 0);
    rad_co *receiver = &s->threads[s->protocol->types.edges[m->edge].to];
    if (room == FULL_STORE) {
        b->packets[slot] = (rad_packet){m->label, count, number, hash, rad__digest_word(co->digest)};
        bool added = b->count < b->capacity;
        b->count += added;
        s->in_flight += added;
        wake(vm, receiver, RAD_BLOCK_RECEIVE, m->edge);
    } else {
        b->dropped++;
    }
    vm->messages++;
    if (RAD_UNLIKELY(s->holder == co) && !s->pinned && receiver->state != RAD_CO_ENDED)
        rad__rounds_hold(vm, s, receiver); /* transferred */
    advance(vm, co, arm->next);
    return true;
}

/* The oldest message of an edge; NULL: faulted or blocked. */
static const rad_packet *peek(rad_session_vm *vm, rad_co *co, uint32_t edge)
{
    const rad_session *s = co->session;
    const rad_local_state *type = &s->protocol->types.states[co->type];
    const rad_buffer *b = &s->buffers[edge];
    if (RAD_UNLIKELY(type->kind != RAD_LOCAL_RECEIVE || s->protocol->types.arms[type->first_arm].edge != edge)) {
        rad__session_fault(vm, co, s->closed ? RAD_FAULT_CLOSED : RAD_FAULT_PEER);
        return NULL;
    }
    if (b->count == 0) {
        block(vm, co, RAD_BLOCK_RECEIVE, edge);
        return NULL;
    }
    return &b->packets[b->head];
}

static bool receive(rad_session_vm *vm, rad_co *co, uint32_t edge, const rad_packet *packet, uint32_t first)
{
    rad_session *s = co->session;
    rad_buffer *b = &s->buffers[edge];
    enum rad_fault fault;
    const rad_local_arm *arm = allowed(co, RAD_LOCAL_RECEIVE, edge, packet->label, &fault);
    uint32_t count = packet->fields;
    rad_datum *values = &b->fields[(size_t)b->head * b->width];
    if (RAD_UNLIKELY(arm == NULL || !fields_fit(arm, values, count))) {
        rad__session_fault(vm, co, arm ? RAD_FAULT_FIELDS : fault);
        return false;
    }
    if (RAD_UNLIKELY(first + count > s->protocol->register_count)) { /* only code by hand */
        rad__session_fault(vm, co, RAD_FAULT_OPERAND);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) rad__value_move(&co->registers[first + i], &values[i]);
    rad__session_event(vm, co, RAD_SESSION_RECEIVED, packet->label, edge, packet->number, packet->hash, packet->causes);
    b->head = slot_at(b, 1);
    b->count--;
    b->received++;
    s->in_flight--;
    wake(vm, &s->threads[s->protocol->types.edges[edge].from], RAD_BLOCK_SEND, edge);
    if (RAD_UNLIKELY(s->holder == co) && !s->pinned) rad__rounds_hold(vm, s, NULL); /* consumed */
    advance(vm, co, arm->next);
    if (RAD_UNLIKELY(is_drained(s))) wake_closers(vm, s);
    return true;
}

static void step_receive(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    const rad_message *m = &co->session->protocol->messages[i->x];
    const rad_packet *packet = peek(vm, co, m->edge);
    if (packet == NULL) return;
    if (RAD_UNLIKELY(packet->label != m->label))
        rad__session_fault(vm, co, RAD_FAULT_LABEL);
    else if (receive(vm, co, m->edge, packet, i->a))
        co->pc++;
}

static void step_choose(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    const rad_protocol *p = co->session->protocol;
    const rad_table *t = &p->tables[i->x];
    uint32_t edge = p->messages[p->ways[t->first].message].edge;
    const rad_packet *packet = peek(vm, co, edge);
    if (packet == NULL) return;
    for (uint32_t k = 0; k < t->count; k++) {
        const rad_way *way = &p->ways[t->first + k];
        if (p->messages[way->message].label != packet->label) continue;
        if (receive(vm, co, edge, packet, i->b)) co->pc = way->pc;
        return;
    }
    rad__session_fault(vm, co, RAD_FAULT_LABEL);
}

static void step_offer(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    const rad_protocol *p = co->session->protocol;
    const rad_table *t = &p->tables[i->x];
    const rad_datum *which = &co->registers[i->a];
    if (which->type != RAD_TYPE_INT || which->number < 0 || which->number >= t->count) {
        rad__session_fault(vm, co, RAD_FAULT_OPERAND);
        return;
    }
    const rad_way *way = &p->ways[t->first + (uint32_t)which->number];
    if (send(vm, co, way->message, i->b)) co->pc = way->pc;
}

/* ---- Effects ----------------------------------------------------------------------------------------- */

static void step_invoke(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    const rad_protocol *p = co->session->protocol;
    const rad_effect_site *site = &p->effects[i->x];
    const rad_local_state *type = &p->types.states[co->type];
    bool does = site->kind == RAD_EFFECT_DOES, may = type->kind == RAD_LOCAL_DOES;
    const rad_local_arm *arm = may ? &p->types.arms[type->first_arm] : NULL;
    if (does && (!may || arm->label != site->name)) {
        rad__session_fault(vm, co, RAD_FAULT_EFFECT);
        return;
    }
    uint64_t hash;
    switch (rad__session_invoke(vm, co, site, &hash)) {
    case RAD_EFFECT_BLOCKED: block(vm, co, RAD_BLOCK_INVOKE, i->x); return;
    case RAD_EFFECT_FAILED: return; /* it has faulted */
    case RAD_EFFECT_DONE: break;
    }
    vm->effects++;
    uint32_t name = site->name == RAD_NONE ? 0xffff : site->name;
    rad__session_event(vm, co, RAD_SESSION_INVOKED, name, RAD_NONE, co->effects++, hash, 0);
    if (does) advance(vm, co, arm->next);
    co->pc++;
}

/* ---- Threads, sessions, the token -------------------------------------------------------------------- */

static void step_spawn(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    rad_session *s = co->session;
    const rad_protocol *p = s->protocol;
    const rad_table *t = &p->tables[i->x];
    if (p->types.states[co->type].kind != RAD_LOCAL_PAR) {
        rad__session_fault(vm, co, RAD_FAULT_EFFECT);
        return;
    }
    rad__session_event(vm, co, RAD_SESSION_SPAWNED, 0, RAD_NONE, t->count, 0, 0);
    for (uint32_t k = 0; k < t->count; k++) {
        rad_co *child = &s->threads[p->ways[t->first + k].message];
        child->digest = rad__co_fold(co->digest, child->thread, 0, 0);
        rad__session_begin(vm, child);
    }
    co->children = t->count;
    co->pc++;
}

static void step_join(rad_session_vm *vm, rad_co *co)
{
    const rad_types *t = &co->session->protocol->types;
    const rad_local_state *type = &t->states[co->type];
    if (co->children > 0) {
        block(vm, co, RAD_BLOCK_JOIN, 0);
        return;
    }
    uint64_t causes = 0;
    for (uint32_t i = 0; i < type->arm_count; i++) {
        const rad_co *child = &co->session->threads[t->arms[type->first_arm + i].edge];
        causes = rad__fold(causes, rad__digest_word(child->digest));
    }
    rad__session_event(vm, co, RAD_SESSION_JOINED, 0, RAD_NONE, type->arm_count, 0, causes);
    advance(vm, co, type->next);
    co->pc++;
}

static void step_halt(rad_session_vm *vm, rad_co *co)
{
    rad_session *s = co->session;
    const rad_types *t = &s->protocol->types;
    if (t->states[co->type].kind != RAD_LOCAL_END) {
        rad__session_fault(vm, co, RAD_FAULT_EARLY);
        return;
    }
    rad__session_event(vm, co, RAD_SESSION_HALTED, 0, RAD_NONE, 0, 0, 0);
    co->state = RAD_CO_ENDED;
    vm->ended_count++;
    if (s->holder == co) {
        s->pinned = false;
        rad__rounds_hold(vm, s, NULL);
        for (uint32_t i = 0; i < t->thread_count; i++) wake(vm, &s->threads[i], RAD_BLOCK_ACQUIRE, 0);
    }
    uint32_t parent = t->threads[co->thread].parent;
    if (parent != RAD_NONE && --s->threads[parent].children == 0) wake(vm, &s->threads[parent], RAD_BLOCK_JOIN, 0);
}

static void step_open(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    enum rad_fault fault;
    rad_session *opened = rad__session_open_by(vm, co, i->x, &fault);
    if (opened == NULL) {
        rad__session_fault(vm, co, fault);
        return;
    }
    rad__session_event(vm, co, RAD_SESSION_OPENED, 0, RAD_NONE, co->opened++, opened->key, 0);
    co->pc++;
}

static void step_close(rad_session_vm *vm, rad_co *co)
{
    rad_session *s = co->session;
    if (!s->closed && s->protocol->types.states[co->type].kind != RAD_LOCAL_END) {
        rad__session_fault(vm, co, RAD_FAULT_EARLY);
        return;
    }
    if (!s->closed && !is_drained(s)) {
        block(vm, co, RAD_BLOCK_CLOSE, 0);
        return;
    }
    if (!s->closed) {
        s->closed = true;
        vm->closed_sessions++;
        rad__session_event(vm, co, RAD_SESSION_CLOSED, 0, RAD_NONE, 0, 0, 0);
        wake_closers(vm, s);
    }
    co->pc++;
}

static void step_acquire(rad_session_vm *vm, rad_co *co)
{
    rad_session *s = co->session;
    if (s->pinned && s->holder == co) {
        rad__session_fault(vm, co, RAD_FAULT_TOKEN);
        return;
    }
    if (s->pinned) {
        block(vm, co, RAD_BLOCK_ACQUIRE, 0);
        return;
    }
    rad__rounds_hold(vm, s, co);
    s->pinned = true;
    rad__session_event(vm, co, RAD_SESSION_ACQUIRED, 0, RAD_NONE, 0, 0, 0);
    co->pc++;
}

static void step_release(rad_session_vm *vm, rad_co *co)
{
    rad_session *s = co->session;
    if (!s->pinned || s->holder != co) {
        rad__session_fault(vm, co, RAD_FAULT_TOKEN);
        return;
    }
    s->pinned = false;
    rad__rounds_hold(vm, s, NULL);
    for (uint32_t i = 0; i < s->protocol->types.thread_count; i++) wake(vm, &s->threads[i], RAD_BLOCK_ACQUIRE, 0);
    rad__session_event(vm, co, RAD_SESSION_RELEASED, 0, RAD_NONE, 0, 0, 0);
    co->pc++;
}

/* ---- Registers --------------------------------------------------------------------------------------- */

static bool set_constant(const rad_session_vm *vm, rad_datum *to, const rad_constant *c)
{
    if (c->type != RAD_TYPE_TEXT) {
        rad__value_set(to, c->type, c->number);
        return true;
    }
    const char *text = rad__text_of(vm->protocols, c->text);
    return rad__value_set_text(to, text, (uint32_t)strlen(text));
}

/* Whole numbers wrap around; nothing is divided by 0. */
static bool calculate(enum rad_session_op op, int64_t b, int64_t c, int64_t *out)
{
    uint64_t x = (uint64_t)b, y = (uint64_t)c;
    switch (op) {
    case RAD_OP_S_ADD: *out = (int64_t)(x + y); return true;
    case RAD_OP_S_SUB: *out = (int64_t)(x - y); return true;
    case RAD_OP_S_MUL: *out = (int64_t)(x * y); return true;
    case RAD_OP_S_DIV: *out = c == -1 ? (int64_t)-x : c != 0 ? b / c : 0; return c != 0;
    case RAD_OP_S_MOD: *out = c == -1 ? 0 : c != 0 ? b % c : 0; return c != 0;
    case RAD_OP_S_LESS: *out = b < c; return true;
    default: return false;
    }
}

static void step_registers(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    rad_datum *r = co->registers;
    int64_t number;
    bool good = true;
    if (i->op == RAD_OP_S_SET) {
        good = set_constant(vm, &r[i->a], &co->session->protocol->constants[i->x]);
    } else if (i->op == RAD_OP_S_MOVE) {
        good = i->a == i->b || rad__value_copy(&r[i->a], &r[i->b]);
    } else if (i->op == RAD_OP_S_EQUAL) {
        rad__value_set(&r[i->a], RAD_TYPE_BOOL, rad__value_equal(&r[i->b], &r[i->c]));
    } else {
        bool ints = r[i->b].type == RAD_TYPE_INT && r[i->c].type == RAD_TYPE_INT;
        if (!ints || !calculate((enum rad_session_op)i->op, r[i->b].number, r[i->c].number, &number)) {
            rad__session_fault(vm, co, RAD_FAULT_OPERAND);
            return;
        }
        rad__value_set(&r[i->a], i->op == RAD_OP_S_LESS ? RAD_TYPE_BOOL : RAD_TYPE_INT, number);
    }
    if (!good)
        rad__session_fault(vm, co, RAD_FAULT_MEMORY);
    else
        co->pc++;
}

static void step_jumpif(rad_session_vm *vm, rad_co *co, const rad_instruction *i)
{
    const rad_datum *v = &co->registers[i->a];
    if (v->type == RAD_TYPE_TEXT)
        rad__session_fault(vm, co, RAD_FAULT_OPERAND);
    else
        co->pc = v->number != 0 ? i->x : co->pc + 1;
}

void rad__session_step(rad_session_vm *vm, rad_co *co)
{
    const rad_instruction *i = &co->session->protocol->code[co->pc];
    vm->instructions++;
    switch ((enum rad_session_op)i->op) {
    case RAD_OP_S_SEND:
        if (send(vm, co, i->x, i->a)) co->pc++;
        return;
    case RAD_OP_S_RECEIVE: step_receive(vm, co, i); return;
    case RAD_OP_S_OFFER: step_offer(vm, co, i); return;
    case RAD_OP_S_CHOOSE: step_choose(vm, co, i); return;
    case RAD_OP_S_INVOKE: step_invoke(vm, co, i); return;
    case RAD_OP_S_OPEN: step_open(vm, co, i); return;
    case RAD_OP_S_CLOSE: step_close(vm, co); return;
    case RAD_OP_S_SPAWN: step_spawn(vm, co, i); return;
    case RAD_OP_S_JOIN: step_join(vm, co); return;
    case RAD_OP_S_YIELD:
        co->yielded = true;
        co->pc++;
        return;
    case RAD_OP_S_JUMP: co->pc = i->x; return;
    case RAD_OP_S_JUMPIF: step_jumpif(vm, co, i); return;
    case RAD_OP_S_ACQUIRE: step_acquire(vm, co); return;
    case RAD_OP_S_RELEASE: step_release(vm, co); return;
    case RAD_OP_S_HALT: step_halt(vm, co); return;
    default: step_registers(vm, co, i); return;
    }
}
