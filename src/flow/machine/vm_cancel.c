/* vm_cancel.c — cancelling tokens, and what a failure does. See vm.h.
 *
 * A token that is cancelled tells its fork. The losers of a join take everything below them along; of a region, those
 * inside are cancelled, and what hangs below them from before goes on. Nobody is cancelled
 * twice: a token that is not alive is passed over, and ending is asserted to happen once a life. Joins that become
 * complete in this way are fired at the end of the step (rad__fork_settle), when nobody else is to be cancelled. */
#include "base/alloc.h"
#include "base/sort.h"
#include "flow/machine/vm.h"

#include <stdarg.h>
#include <stdio.h>

enum { REASON_MOST = 300 };

/* The world need not answer any more. */
static void stop_asking(rad_flow_vm *vm, uint32_t token)
{
    const rad_token *t = &vm->tokens[token];
    const rad_flow_op *op = rad__flow_op(vm, token);
    if (t->wait == RAD_TOKEN_FOR_RESULT) rad__flow_ask(vm, RAD_ASK_STOP, token, RAD_NONE, 0, 0);
    if (t->wait == RAD_TOKEN_FOR_TIMER) rad__flow_ask(vm, RAD_ASK_NO_TIMER, token, RAD_NONE, 0, 0);
    if (t->wait != RAD_TOKEN_FOR_EVENT) return;
    for (uint32_t i = 0; i < op->b; i++)
        if (vm->program->ways[op->a + i].event.is_timer) rad__flow_ask(vm, RAD_ASK_NO_TIMER, token, RAD_NONE, 0, i);
}

static void tell_fork(rad_flow_vm *vm, uint32_t fork)
{
    rad_fork *f = &vm->forks[fork];
    f->cancelled++;
    if (f->in_settle) return;
    if (!RAD_GROW(&vm->settle, &vm->settle_capacity, vm->settle_count + 1)) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory while cancelling");
        return;
    }
    f->in_settle = true;
    f->refs++;
    vm->settle[vm->settle_count++] = fork;
}

/* The children of all forks that hang below it. */
static void cancel_held(rad_flow_vm *vm, uint32_t token)
{
    uint32_t fork = vm->tokens[token].held;
    while (fork != RAD_NONE) {
        vm->forks[fork].refs++;
        while (vm->forks[fork].children != RAD_NONE) rad__cancel_token(vm, vm->forks[fork].children, true);
        uint32_t next = vm->forks[fork].held_newer;
        rad__fork_release(vm, fork);
        fork = next;
    }
}

void rad__cancel_token(rad_flow_vm *vm, uint32_t token, bool below)
{
    if (!vm->tokens[token].alive) return;
    if (below) cancel_held(vm, token);
    stop_asking(vm, token);
    vm->cancelled++;
    rad_note(vm->k, RAD_FLOW_NOTE_CANCELS, RAD_NONE, token);
    if (vm->tokens[token].fork != RAD_NONE) tell_fork(vm, vm->tokens[token].fork);
    if (token == 0 && vm->final == RAD_NONE) vm->final = rad__data_share(vm, vm->tokens[0].data);
    rad__token_end(vm, token);
}

/* ---- Regions ------------------------------------------------------------------------------- */

static void doom(rad_flow_vm *vm, uint32_t token)
{
    if (RAD_GROW(&vm->doomed, &vm->doomed_capacity, vm->doomed_count + 1))
        vm->doomed[vm->doomed_count++] = token;
    else
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory while cancelling");
}

static void doom_inside(rad_flow_vm *vm, uint32_t instance, uint32_t except)
{
    const rad_region_instance *r = &vm->regions[instance];
    for (uint32_t at = r->tokens; at != RAD_NONE; at = vm->tokens[at].region_newer)
        if (at != except) doom(vm, at);
    for (uint32_t at = r->inside; at != RAD_NONE; at = vm->regions[at].newer) doom_inside(vm, at, except);
}

/* In the order of their paths' making, whatever order the lists have. */
static void cancel_doomed(rad_flow_vm *vm)
{
    rad__sort_u32(vm->doomed, vm->doomed_count);
    for (uint32_t i = 0; i < vm->doomed_count; i++) rad__cancel_token(vm, vm->doomed[i], false);
    vm->doomed_count = 0;
}

/* The owner leaves whatever it has entered since, and the region. */
static void go_to_handler(rad_flow_vm *vm, uint32_t token, uint32_t instance, uint32_t entry)
{
    rad_token *t = &vm->tokens[token];
    stop_asking(vm, token);
    if (t->inner != RAD_NONE) {
        uint32_t inner = t->inner;
        t->inner = RAD_NONE;
        rad__fork_release(vm, inner);
    }
    for (bool last = false; !last;) {
        const rad_frame *f = &vm->frames[t->frames];
        last = f->kind == RAD_FRAME_REGION && f->value == instance;
        rad__frame_pop(vm, token);
    }
    t->attempt = 0;
    vm->diverted++;
    if (t->answered && --vm->answers_open == 0) vm->answer_count = 0;
    t->answered = false;
    rad__token_go(vm, token, entry);
}

static void cancel_instance(rad_flow_vm *vm, uint32_t instance)
{
    rad_region_instance *r = &vm->regions[instance];
    const rad_flow_region *region = &vm->program->regions[r->region];
    uint32_t owner = region->on_cancel != RAD_NONE ? r->owner : RAD_NONE;
    r->refs++;
    doom_inside(vm, instance, owner);
    cancel_doomed(vm);
    if (owner != RAD_NONE) go_to_handler(vm, owner, instance, region->on_cancel);
    rad__region_release(vm, instance);
}

/* All instances, in the order of making; none is inside another, as a name stands for one statement. One may be gone
 * when its turn comes, with the one before it. */
static void cancel_regions(rad_flow_vm *vm, uint32_t name)
{
    rad_heap *chosen = &vm->chosen;
    rad__heap_clear(chosen);
    for (uint32_t i = 0; i < vm->region_pool.count; i++) {
        const rad_region_instance *r = &vm->regions[i];
        if (!r->used || vm->program->regions[r->region].name != name) continue;
        if (!rad__heap_push(chosen, i, r->made, 0)) {
            rad__flow_broken(vm, RAD_ENOMEM, "out of memory while cancelling");
            return;
        }
    }
    while (chosen->count > 0) {
        rad_heap_node next = *rad__heap_top(chosen);
        rad__heap_remove(chosen, next.item);
        const rad_region_instance *r = &vm->regions[next.item];
        if (r->used && r->made == next.key) cancel_instance(vm, next.item);
    }
}

/* ---- Tasks and the case ------------------------------------------------------------------------------- */

/* Of those that are alive; others are passed over. */
static bool is_in_task(const rad_flow_vm *vm, uint32_t token, uint32_t task)
{
    const rad_token *t = &vm->tokens[token];
    const rad_flow_op *op = rad__flow_op(vm, token);
    if (op->code == RAD_OP_START) return (op->a != RAD_NONE ? op->a : t->task) == task;
    return (op->code == RAD_OP_FINISH || op->code == RAD_OP_RETRY) && t->task == task;
}

void rad__cancel_scope(rad_flow_vm *vm, enum rad_flow_part scope, uint32_t name)
{
    rad_touch(vm->k, vm->case_object, RAD_WRITE);
    if (scope == RAD_FLOW_PART_CASE) {
        rad__cancel_case(vm, RAD_CASE_CANCELLED, RAD_NONE);
    } else if (scope == RAD_FLOW_PART_REGION) {
        cancel_regions(vm, name);
    } else {
        for (uint32_t i = 0; i < vm->token_count; i++)
            if (is_in_task(vm, i, name)) doom(vm, i);
        cancel_doomed(vm);
    }
}

void rad__cancel_case(rad_flow_vm *vm, enum rad_flow_state result, uint32_t data_of)
{
    if (vm->result != RAD_CASE_RUNNING) return;
    vm->result = result;
    if (data_of != RAD_NONE) {
        rad__data_give(vm, vm->final);
        vm->final = rad__data_share(vm, vm->tokens[data_of].data);
    }
    for (uint32_t i = 0; i < vm->token_count; i++) rad__cancel_token(vm, i, true);
}

/* ---- Failures ------------------------------------------------------------------------------- */

/* The innermost region around the token that takes failures. */
static uint32_t catcher(const rad_flow_vm *vm, uint32_t token)
{
    uint32_t at = vm->tokens[token].region;
    while (at != RAD_NONE &&
           (vm->program->regions[vm->regions[at].region].on_failure == RAD_NONE || vm->regions[at].owner == RAD_NONE))
        at = vm->regions[at].parent;
    return at;
}

static void raise(rad_flow_vm *vm, uint32_t token, uint32_t line, const char *text, size_t length)
{
    if (vm->result != RAD_CASE_RUNNING) return;
    rad_touch(vm->k, vm->case_object, RAD_WRITE);
    rad_note(vm->k, RAD_FLOW_NOTE_FAILS, RAD_NONE, token);
    uint32_t instance = catcher(vm, token);
    if (instance == RAD_NONE) {
        snprintf(vm->failure, sizeof vm->failure, "line %u: %s", line, text);
        rad__cancel_case(vm, RAD_CASE_FAILED, RAD_NONE);
        return;
    }
    rad_region_instance *r = &vm->regions[instance];
    const rad_flow_region *region = &vm->program->regions[r->region];
    uint32_t owner = r->owner;
    r->refs++;
    doom_inside(vm, instance, owner);
    cancel_doomed(vm);
    go_to_handler(vm, owner, instance, region->on_failure);
    rad__region_release(vm, instance);
    if (region->into == RAD_NONE) return;
    uint32_t why = rad__text_number(vm, text, length);
    if (why != RAD_NONE) rad__data_set(vm, owner, region->into, why);
}

static size_t write_out(char text[REASON_MOST], const char *format, va_list args) RAD_PRINTF(2, 0);
static size_t write_out(char text[REASON_MOST], const char *format, va_list args)
{
    int length = vsnprintf(text, REASON_MOST, format, args);
    if (length < REASON_MOST) return (size_t)length;
    size_t end = REASON_MOST - 1; /* whole letters only */
    while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80) end--;
    if (end > 0 && (unsigned char)text[end - 1] >= 0xc0) end--;
    text[end] = 0;
    return end;
}

void rad__flow_raise(rad_flow_vm *vm, uint32_t token, const char *format, ...)
{
    char text[REASON_MOST];
    va_list args;
    va_start(args, format);
    size_t length = write_out(text, format, args);
    va_end(args);
    raise(vm, token, rad__flow_op(vm, token)->line, text, length);
}

void rad__flow_raise_at(rad_flow_vm *vm, uint32_t token, uint32_t line, const char *format, ...)
{
    char text[REASON_MOST];
    va_list args;
    va_start(args, format);
    size_t length = write_out(text, format, args);
    va_end(args);
    raise(vm, token, line, text, length);
}
