/* exports.c — the session machine for hosts that hand over numbers and addresses only. See exports.h. */
#include "session/wasm/exports.h"

#include "base/error.h"
#include "session/machine/vm.h"

/* Who answers, for the machine. */
typedef struct wasm_handler {
    struct wasm_handler *next;
    rad_wasm_vm *vm;
    uint32_t number;
} wasm_handler;

struct rad_wasm_vm {
    rad_protocols *protocols;
    rad_session_vm *machine;
    wasm_handler *handlers;
    rad_error error;
    uint64_t blocked_answers;
    char *held[RAD_EFFECT_FIELDS_MAX]; /* texts of an answer, which the machine copies when it has it */
    uint32_t held_count;
    rad_session_info info;
    rad_coroutine coroutine;
    char *text; /* of a trace or a report */
};

enum { SLICE = 4096, PICKS_MOST = 9 };

void *rad_wasm_take(uint32_t size)
{
    return rad__alloc(1, size);
}

void rad_wasm_give_back(void *memory)
{
    rad__free(memory);
}

char *rad_wasm_generate(uint64_t seed)
{
    rad_error error;
    return rad_protocols_generate(seed, NULL, &error);
}

/* ---- Machines -------------------------------------------------------------------------------------------- */

rad_wasm_vm *rad_wasm_open(const char *text, uint32_t size, uint32_t n, uint32_t policy, uint32_t capacity,
                           uint32_t full, uint64_t seed, uint64_t start, uint32_t log)
{
    rad_wasm_vm *vm = rad__alloc(1, sizeof *vm);
    if (vm == NULL) return NULL;
    rad_session_options o = rad_session_defaults();
    o.n = n ? n : RAD_SESSION_ALL;
    o.policy = (enum rad_session_policy)policy;
    o.capacity = capacity;
    o.full = (enum rad_session_full)full;
    o.seed = seed;
    o.start = start;
    o.log = log != 0;
    int status = rad_protocols_parse(&vm->protocols, "protocol", text, size, &vm->error);
    if (status == 0) status = rad_session_create(&vm->machine, vm->protocols, &o, &vm->error);
    if (status == 0) rad_session_coroutine_state(vm->machine, sizeof(uint64_t), NULL, &vm->error);
    return vm;
}

static void drop_held(rad_wasm_vm *vm)
{
    while (vm->held_count > 0) rad__free(vm->held[--vm->held_count]);
}

void rad_wasm_close(rad_wasm_vm *vm)
{
    if (vm == NULL) return;
    rad_session_destroy(vm->machine);
    rad_protocols_free(vm->protocols);
    for (wasm_handler *h = vm->handlers, *next; h != NULL; h = next) {
        next = h->next;
        rad__free(h);
    }
    rad__free(vm->text);
    rad__free(vm);
}

int rad_wasm_code(const rad_wasm_vm *vm)
{
    return vm->error.code;
}

const char *rad_wasm_error(const rad_wasm_vm *vm)
{
    return vm->error.text;
}

static enum rad_effect_result call_host(void *context, rad_effect *e)
{
    const wasm_handler *h = context;
    drop_held(h->vm); /* the machine has copied the last ones */
    int result = rad_wasm_invoke(h->vm, h->number, e);
    h->vm->blocked_answers += result == RAD_EFFECT_BLOCKED;
    return result == RAD_EFFECT_DONE || result == RAD_EFFECT_BLOCKED ? (enum rad_effect_result)result
                                                                     : RAD_EFFECT_FAILED;
}

int rad_wasm_handle(rad_wasm_vm *vm, const char *name, uint32_t handler)
{
    wasm_handler *h = rad__alloc(1, sizeof *h);
    if (h == NULL) return rad__error_memory(&vm->error);
    *h = (wasm_handler){vm->handlers, vm, handler};
    vm->handlers = h;
    return rad_session_handle(vm->machine, name, call_host, h, &vm->error);
}

int rad_wasm_sessions(rad_wasm_vm *vm, const char *protocol, uint32_t count)
{
    return rad_session_open(vm->machine, protocol, count, &vm->error);
}

/* Everybody that is left was asked, PICKS_MOST times over as the policy may prefer some, and all were blocked. */
static int run_to_the_end(rad_wasm_vm *vm)
{
    const rad_session_vm *m = vm->machine;
    uint64_t done = 0, asked = vm->blocked_answers;
    for (;;) {
        enum rad_session_end end = rad_session_run(vm->machine, SLICE);
        if (end != RAD_SESSION_EXHAUSTED) return (int)end;
        if (m->instructions - vm->blocked_answers != done) {
            done = m->instructions - vm->blocked_answers;
            asked = vm->blocked_answers;
        } else if (vm->blocked_answers - asked > (uint64_t)PICKS_MOST * (m->ready_count + m->blocked_count)) {
            return RAD_WASM_WAITING;
        }
    }
}

int rad_wasm_run(rad_wasm_vm *vm, uint64_t fuel)
{
    int end = fuel ? (int)rad_session_run(vm->machine, fuel) : run_to_the_end(vm);
    drop_held(vm);
    return end;
}

/* ---- Handlers -------------------------------------------------------------------------------------------- */

const char *rad_wasm_effect_text(const rad_effect *e, uint32_t which)
{
    const char *const texts[] = {e->session, e->role, e->thread, e->partner, e->name};
    return which < sizeof texts / sizeof *texts ? texts[which] : NULL;
}

uint64_t rad_wasm_effect_number(const rad_effect *e, uint32_t which)
{
    const uint64_t numbers[] = {e->kind, e->occurrence, e->draw, e->field_count, e->option_count};
    return which < sizeof numbers / sizeof *numbers ? numbers[which] : 0;
}

rad_session_value *rad_wasm_effect_field(rad_effect *e, uint32_t field)
{
    return field < RAD_EFFECT_FIELDS_MAX ? &e->fields[field] : NULL;
}

uint64_t rad_wasm_state(const rad_effect *e)
{
    return *(const uint64_t *)e->coroutine_state;
}

void rad_wasm_set_state(rad_effect *e, uint64_t state)
{
    *(uint64_t *)e->coroutine_state = state;
}

const char *rad_wasm_option_name(const rad_effect *e, uint32_t option)
{
    return option < e->option_count ? e->options[option].name : NULL;
}

const char *rad_wasm_option_partner(const rad_effect *e, uint32_t option)
{
    return option < e->option_count ? e->options[option].partner : NULL;
}

uint32_t rad_wasm_option_fields(const rad_effect *e, uint32_t option)
{
    return option < e->option_count ? e->options[option].field_count : 0;
}

uint32_t rad_wasm_option_type(const rad_effect *e, uint32_t option, uint32_t field)
{
    return field < rad_wasm_option_fields(e, option) ? (uint32_t)e->options[option].types[field] : 0;
}

void rad_wasm_choose(rad_effect *e, uint32_t option)
{
    e->chosen = option;
    e->field_count = rad_wasm_option_fields(e, option);
}

void rad_wasm_answer_number(rad_effect *e, uint32_t field, uint32_t type, int64_t number)
{
    if (field < RAD_EFFECT_FIELDS_MAX)
        e->fields[field] = (rad_session_value){.type = (enum rad_value_type)type, .number = number, .text = ""};
}

void rad_wasm_answer_text(rad_wasm_vm *vm, rad_effect *e, uint32_t field, char *text, uint32_t length)
{
    if (field >= RAD_EFFECT_FIELDS_MAX || vm->held_count == RAD_EFFECT_FIELDS_MAX) {
        rad__free(text);
        rad_wasm_answer_nonsense(e);
        return;
    }
    vm->held[vm->held_count++] = text;
    e->fields[field] = (rad_session_value){.type = RAD_VALUE_TEXT, .length = length, .text = text};
}

void rad_wasm_answer_nonsense(rad_effect *e)
{
    e->field_count = UINT32_MAX;
}

/* ---- What happened --------------------------------------------------------------------------------------- */

void rad_wasm_look(rad_wasm_vm *vm)
{
    rad_session_look(vm->machine, &vm->info);
}

uint64_t rad_wasm_number(const rad_wasm_vm *vm, uint32_t which)
{
    const rad_session_info *i = &vm->info;
    const uint64_t numbers[] = {i->rounds,
                                i->instructions,
                                i->messages,
                                i->effects,
                                i->sessions,
                                i->sessions_closed,
                                i->sessions_faulted,
                                rad_session_coroutine_count(vm->machine),
                                i->ready,
                                i->blocked,
                                i->ended};
    return which < sizeof numbers / sizeof *numbers ? numbers[which] : 0;
}

const char *rad_wasm_digest(const rad_wasm_vm *vm)
{
    return vm->info.digest;
}

static const char *keep_text(rad_wasm_vm *vm, char *text)
{
    rad__free(vm->text);
    vm->text = text;
    return text;
}

const char *rad_wasm_trace(rad_wasm_vm *vm, uint32_t session, uint32_t normalize)
{
    return keep_text(vm, rad_session_trace_text(vm->machine, session, normalize != 0));
}

const char *rad_wasm_report(rad_wasm_vm *vm)
{
    return keep_text(vm, rad_session_report(vm->machine));
}

uint32_t rad_wasm_coroutine(rad_wasm_vm *vm, uint32_t number)
{
    return rad_session_coroutine(vm->machine, number, &vm->coroutine);
}

const char *rad_wasm_coroutine_text(const rad_wasm_vm *vm, uint32_t which)
{
    const rad_coroutine *c = &vm->coroutine;
    const char *const texts[] = {c->session, c->role, c->thread, c->waits, c->from, c->to, c->fault};
    return which < sizeof texts / sizeof *texts ? texts[which] : NULL;
}

uint64_t rad_wasm_coroutine_number(const rad_wasm_vm *vm, uint32_t which)
{
    const rad_coroutine *c = &vm->coroutine;
    const uint64_t numbers[] = {c->phase, c->line, c->events, c->effects, c->register_count};
    return which < sizeof numbers / sizeof *numbers ? numbers[which] : 0;
}

const rad_session_value *rad_wasm_register(const rad_wasm_vm *vm, uint32_t number)
{
    return number < vm->coroutine.register_count ? &vm->coroutine.registers[number] : NULL;
}

uint32_t rad_wasm_value_type(const rad_session_value *v)
{
    return v->type;
}

int64_t rad_wasm_value_number(const rad_session_value *v)
{
    return v->number;
}

const char *rad_wasm_value_text(const rad_session_value *v)
{
    return v->text;
}

uint32_t rad_wasm_value_length(const rad_session_value *v)
{
    return v->length;
}
