/* vm.c — making machines and sessions. A session is one piece of memory: threads, registers, buffers. */
#include "session/machine/vm.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { CAPACITY_MOST = 4096, UNLINKED = 255, PATH_MOST = 200 };

rad_session_options rad_session_defaults(void)
{
    return (rad_session_options){.n = 1, .policy = RAD_SESSION_COOPERATIVE, .capacity = 1};
}

static int options_check(const rad_session_options *o, rad_error *error)
{
    if (o->n == 0) return rad__error(error, RAD_EINPUT, "n: 0 coroutines a round would never end; 1 or more, or all");
    if ((unsigned)o->policy > RAD_SESSION_PROGRESS)
        return rad__error(error, RAD_EINPUT, "policy: there is no policy %u", (unsigned)o->policy);
    if ((unsigned)o->full > RAD_FULL_RESIZE)
        return rad__error(error, RAD_EINPUT, "full: there is no such rule (%u)", (unsigned)o->full);
    if (o->capacity > CAPACITY_MOST)
        return rad__error(error, RAD_EINPUT, "capacity: %u messages, %d at most", o->capacity, CAPACITY_MOST);
    return 0;
}

int rad_session_create(rad_session_vm **out, const rad_protocols *p, const rad_session_options *o, rad_error *error)
{
    rad__error_clear(error);
    *out = NULL;
    int status = options_check(o, error);
    if (status != 0) return status;
    rad_session_vm *vm = rad__alloc(1, sizeof *vm);
    if (vm == NULL) return rad__error_memory(error);
    vm->protocols = p;
    vm->options = *o;
    vm->apart = RAD_NONE;
    if (vm->options.capacity == 0) vm->options.capacity = 1;
    if (!RAD_GROW(&vm->events, &vm->event_capacity, RAD_RING)) {
        rad_session_destroy(vm);
        return rad__error_memory(error);
    }
    *out = vm;
    return 0;
}

int rad_session_coroutine_state(rad_session_vm *vm, size_t size, void (*drop)(void *state), rad_error *error)
{
    if (vm->session_count > 0) rad__misuse("rad_session_coroutine_state", "sessions are open already");
    rad__error_clear(error);
    if (size > RAD_COROUTINE_STATE_MAX)
        return rad__error(error, RAD_EINPUT, "state of a coroutine: %zu bytes, %d at most", size,
                          RAD_COROUTINE_STATE_MAX);
    vm->state_size = (size + 15) / 16 * 16;
    vm->drop_state = size ? drop : NULL;
    return 0;
}

/* ---- Sessions ---------------------------------------------------------------------------------------- */

/* In 64 bits: with many edges and large buffers it would not fit in the 32 of some machines. */
typedef struct layout {
    uint64_t threads, registers, buffers, packets, fields, states, path, size;
} layout;

static uint64_t after(uint64_t at, uint64_t count, uint64_t size)
{
    return (at + count * size + 15) / 16 * 16;
}

static layout layout_of(const rad_session_vm *vm, const rad_protocol *p, size_t path_length)
{
    uint32_t capacity = vm->options.capacity;
    const rad_types *t = &p->types;
    uint64_t width = 0;
    for (uint32_t i = 0; i < t->edge_count; i++) width += t->edges[i].fields;
    layout l = {.threads = after(0, 1, sizeof(rad_session))};
    l.registers = after(l.threads, t->thread_count, sizeof(rad_co));
    l.buffers = after(l.registers, (uint64_t)t->thread_count * p->register_count, sizeof(rad_datum));
    l.packets = after(l.buffers, t->edge_count, sizeof(rad_buffer));
    l.fields = after(l.packets, (uint64_t)t->edge_count * capacity, sizeof(rad_packet));
    l.states = after(l.fields, width * capacity, sizeof(rad_datum));
    l.path = after(l.states, t->thread_count, vm->state_size);
    l.size = after(l.path, path_length + 1, 1);
    return l;
}

static void make_threads(rad_session_vm *vm, rad_session *s, char *memory, const layout *l)
{
    const rad_protocol *p = s->protocol;
    s->threads = (rad_co *)(void *)(memory + l->threads);
    rad_datum *registers = (rad_datum *)(void *)(memory + l->registers);
    for (uint32_t i = 0; i < p->types.thread_count; i++) {
        rad_co *co = &s->threads[i];
        co->session = s;
        co->thread = (uint16_t)i;
        co->id = vm->co_count++;
        co->lane = UNLINKED;
        co->type = p->types.threads[i].start;
        co->registers = registers + (size_t)i * p->register_count;
        co->digest = rad__co_fold((rad_digest){s->key, 0}, i, 0, 0);
        bool is_role = p->types.threads[i].parent == RAD_NONE;
        s->live += is_role && p->types.states[co->type].kind != RAD_LOCAL_END;
    }
}

static void make_buffers(const rad_session_vm *vm, rad_session *s, char *memory, const layout *l)
{
    const rad_types *t = &s->protocol->types;
    rad_packet *packets = (rad_packet *)(void *)(memory + l->packets);
    rad_datum *fields = (rad_datum *)(void *)(memory + l->fields);
    s->buffers = (rad_buffer *)(void *)(memory + l->buffers);
    for (uint32_t i = 0; i < t->edge_count; i++) {
        uint32_t capacity = vm->options.capacity, width = t->edges[i].fields;
        s->buffers[i] = (rad_buffer){.packets = packets, .fields = fields, .capacity = capacity, .width = width};
        packets += capacity;
        fields += (size_t)capacity * width;
    }
}

static rad_session *session_open(rad_session_vm *vm, uint32_t protocol, uint64_t key, const char *path)
{
    const rad_protocol *p = &vm->protocols->all[protocol];
    if (vm->session_count >= RAD_SESSIONS_MAX || !RAD_GROW(&vm->sessions, &vm->session_capacity, vm->session_count + 1))
        return NULL;
    layout l = layout_of(vm, p, strlen(path));
    char *memory = l.size > SIZE_MAX / 2 ? NULL : rad__alloc(1, (size_t)l.size);
    if (memory == NULL) return NULL;
    rad_session *s = (rad_session *)(void *)memory;
    s->protocol = p;
    s->key = key;
    s->number = vm->session_count;
    memcpy(memory + l.path, path, strlen(path));
    s->path = memory + l.path;
    s->states = memory + l.states;
    make_threads(vm, s, memory, &l);
    make_buffers(vm, s, memory, &l);
    vm->sessions[vm->session_count++] = s;
    return s;
}

/* From the next unblock phase on. A branch may have run before. */
void rad__session_begin(rad_session_vm *vm, rad_co *co)
{
    const rad_protocol *p = co->session->protocol;
    if (co->state == RAD_CO_ENDED) vm->ended_count--;
    co->pc = p->entries[co->thread];
    co->type = p->types.threads[co->thread].start;
    co->state = RAD_CO_BLOCKED;
    co->reason = RAD_BLOCK_NONE;
    co->yielded = false;
    for (uint32_t i = 0; i < p->register_count; i++) rad__value_set(&co->registers[i], RAD_TYPE_INT, 0);
    vm->blocked_count++;
    rad__rounds_wake(vm, co);
}

static void begin_roles(rad_session_vm *vm, rad_session *s)
{
    for (uint32_t i = 0; i < s->protocol->types.global.role_count; i++) rad__session_begin(vm, &s->threads[i]);
}

/* Paths are as long as sessions that open sessions are deep, and have an end. */
rad_session *rad__session_open_by(rad_session_vm *vm, rad_co *co, uint32_t protocol, enum rad_fault *fault)
{
    const rad_session *by = co->session;
    char path[PATH_MOST];
    int length =
        snprintf(path, sizeof path, "%s/%s.%u", by->path, by->protocol->types.threads[co->thread].name, co->opened);
    *fault = RAD_FAULT_SESSIONS;
    if (length < 0 || length >= PATH_MOST || vm->session_count >= RAD_SESSIONS_MAX) return NULL;
    *fault = RAD_FAULT_MEMORY;
    uint64_t key = rad__mix2(by->key, (uint64_t)co->thread << 32 | co->opened);
    rad_session *s = session_open(vm, protocol, key, path);
    if (s == NULL) return NULL;
    for (uint32_t i = 0; i < s->protocol->types.thread_count; i++) /* it comes after what opened it */
        s->threads[i].digest = rad__co_fold(s->threads[i].digest, 0, 0, rad__digest_word(co->digest));
    begin_roles(vm, s);
    return s;
}

/* Roles of all new ones, in an order drawn from options.start. */
static bool begin_shuffled(rad_session_vm *vm, uint32_t first)
{
    uint32_t count = 0, capacity = 0;
    rad_co **all = NULL;
    for (uint32_t i = first; i < vm->session_count; i++) {
        rad_session *s = vm->sessions[i];
        uint32_t roles = s->protocol->types.global.role_count;
        if (!RAD_GROW(&all, &capacity, count + roles)) {
            rad__free(all);
            return false;
        }
        for (uint32_t k = 0; k < roles; k++) all[count++] = &s->threads[k];
    }
    rad_prng r = rad__prng(vm->options.start, RAD_STREAM_CASE, first);
    for (uint32_t i = count; i > 0; i--) {
        uint32_t at = (uint32_t)rad__prng_below(&r, i);
        rad_co *chosen = all[at];
        all[at] = all[i - 1];
        rad__session_begin(vm, chosen);
    }
    rad__free(all);
    return true;
}

static void session_free(rad_session_vm *vm, rad_session *s)
{
    const rad_types *t = &s->protocol->types;
    for (uint32_t i = 0; vm->drop_state != NULL && i < t->thread_count; i++)
        if (s->threads[i].has_state) vm->drop_state(rad__co_state(vm, &s->threads[i]));
    for (uint32_t i = 0; i < t->thread_count * s->protocol->register_count; i++)
        rad__value_drop(&s->threads[0].registers[i]);
    for (uint32_t i = 0; i < t->edge_count; i++) {
        rad_buffer *b = &s->buffers[i];
        for (uint32_t k = 0; k < b->capacity * b->width; k++) rad__value_drop(&b->fields[k]);
        if (!b->is_own) continue;
        rad__free(b->packets);
        rad__free(b->fields);
    }
    rad__free(s);
}

static bool open_root(rad_session_vm *vm, uint32_t protocol)
{
    char path[16];
    uint32_t ordinal = vm->root_first + vm->root_count;
    snprintf(path, sizeof path, "%u", ordinal);
    if (session_open(vm, protocol, rad__mix64(ordinal + UINT64_C(1)), path) == NULL) return false;
    vm->root_count++;
    return true;
}

enum { LOOK_EVERY = 1024 }; /* sessions */

static bool is_interrupted(const rad_session_vm *vm, uint32_t opened)
{
    return opened % LOOK_EVERY == LOOK_EVERY - 1 && vm->options.interrupted != NULL && *vm->options.interrupted != 0;
}

/* All of them, or none. */
int rad_session_open(rad_session_vm *vm, const char *protocol, uint32_t count, rad_error *error)
{
    rad__error_clear(error);
    uint32_t which = rad_protocol_find(vm->protocols, protocol), first = vm->session_count;
    if (which == RAD_NONE)
        return rad__error(error, RAD_EINPUT, "%s: there is no protocol %s", vm->protocols->file_name, protocol);
    if (count > RAD_SESSIONS_MAX - first) return rad__error(error, RAD_ELIMIT, "%d sessions at most", RAD_SESSIONS_MAX);
    uint32_t cos = vm->co_count, opened = 0;
    bool stop = false;
    while (opened < count && !(stop = is_interrupted(vm, opened)) && open_root(vm, which)) opened++;
    if (opened < count || (vm->options.start != 0 && !begin_shuffled(vm, first))) {
        while (vm->session_count > first) session_free(vm, vm->sessions[--vm->session_count]);
        vm->root_count -= opened;
        vm->co_count = cos;
        return stop ? rad__error(error, RAD_EINTERRUPTED, "interrupted: %u of %u sessions were open", opened, count)
                    : rad__error_memory(error);
    }
    for (uint32_t i = first; vm->options.start == 0 && i < vm->session_count; i++) begin_roles(vm, vm->sessions[i]);
    return 0;
}

/* ---- Buffers ----------------------------------------------------------------------------------------- */

/* Twice as large, but not beyond the most, oldest first. */
bool rad__buffer_grow(rad_buffer *b)
{
    uint32_t capacity = b->capacity > RAD_BUFFER_MAX / 2 ? (uint32_t)RAD_BUFFER_MAX : b->capacity * 2;
    rad_packet *packets = rad__alloc(capacity, sizeof *packets);
    rad_datum *fields = rad__alloc((size_t)capacity * (b->width ? b->width : 1), sizeof *fields);
    if (packets == NULL || fields == NULL) {
        rad__free(packets);
        rad__free(fields);
        return false;
    }
    for (uint32_t i = 0; i < b->capacity; i++) {
        uint32_t from = (b->head + i) % b->capacity;
        packets[i] = b->packets[from];
        for (uint32_t k = 0; k < b->width; k++)
            fields[(size_t)i * b->width + k] = b->fields[(size_t)from * b->width + k];
    }
    if (b->is_own) {
        rad__free(b->packets);
        rad__free(b->fields);
    }
    b->packets = packets;
    b->fields = fields;
    b->head = 0;
    b->capacity = capacity;
    b->is_own = true;
    return true;
}

/* ---- The end ----------------------------------------------------------------------------------------- */

void rad_session_destroy(rad_session_vm *vm)
{
    if (vm == NULL) return;
    for (uint32_t i = 0; i < vm->session_count; i++) session_free(vm, vm->sessions[i]);
    rad__free(vm->sessions);
    rad__free(vm->invokers);
    rad__free(vm->picked);
    rad__free(vm->handlers);
    rad__free(vm->events);
    rad_effect_log_free(vm->effect_log);
    rad__free(vm);
}
