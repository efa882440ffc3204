/* inspect.c — a look at one coroutine between two runs: where it is, what it waits for, what its registers hold. */
#include "session/machine/vm.h"

/* Sessions have numbers in the order of opening, and so have their threads, one after the other. */
static const rad_co *find(const rad_session_vm *vm, uint32_t number)
{
    uint32_t low = 0, high = vm->session_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (vm->sessions[middle]->threads[0].id <= number)
            low = middle;
        else
            high = middle;
    }
    const rad_session *s = vm->sessions[low];
    return &s->threads[number - s->threads[0].id];
}

static void show_wait(const rad_co *co, rad_coroutine *out)
{
    const rad_types *t = &co->session->protocol->types;
    out->waits = rad__block_text(co->reason);
    if (co->reason != RAD_BLOCK_RECEIVE && co->reason != RAD_BLOCK_SEND) return;
    const rad_local_edge *e = &t->edges[co->what];
    out->from = t->threads[e->from].name;
    out->to = t->threads[e->to].name;
}

static rad_session_value value_of(const rad_datum *v)
{
    bool is_text = v->type == RAD_TYPE_TEXT;
    return (rad_session_value){.type = (enum rad_value_type)v->type,
                               .length = is_text ? v->length : 0,
                               .number = is_text ? 0 : v->number,
                               .text = is_text && v->text ? v->text : ""};
}

uint32_t rad_session_coroutine_count(const rad_session_vm *vm)
{
    return vm->co_count;
}

bool rad_session_coroutine(const rad_session_vm *vm, uint32_t number, rad_coroutine *out)
{
    *out = (rad_coroutine){.session = NULL};
    if (number >= vm->co_count) return false;
    const rad_co *co = find(vm, number);
    const rad_session *s = co->session;
    const rad_protocol *p = s->protocol;
    out->session = s->path;
    out->role = p->types.global.roles[p->types.threads[co->thread].role];
    out->thread = p->types.threads[co->thread].name;
    out->phase = (enum rad_coroutine_phase)co->state;
    bool goes_on = co->state == RAD_CO_READY || co->state == RAD_CO_BLOCKED;
    if (co->state == RAD_CO_BLOCKED) show_wait(co, out);
    if (goes_on) out->line = p->lines[co->pc];
    if (s->fault != RAD_FAULT_NONE) {
        out->fault = rad__fault_text(s->fault);
        if (s->fault_thread == co->thread) out->line = s->fault_line;
    }
    out->events = co->events;
    out->effects = co->effects;
    out->register_count = p->register_count;
    for (uint32_t i = 0; i < p->register_count; i++) out->registers[i] = value_of(&co->registers[i]);
    return true;
}
