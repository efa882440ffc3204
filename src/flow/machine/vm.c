/* vm.c — the life of the machine that executes flows. See vm.h. */
#include "flow/machine/vm.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

enum { EXPRESSION_DEPTH = 1024 };

/* ---- Open ------------------------------------------------------------------------------- */

static uint32_t most_branches(const rad_flow_program *p)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->code_count; i++) {
        const rad_flow_op *op = &p->code[i];
        if ((op->code == RAD_OP_OR || op->code == RAD_OP_XOR) && op->b > most) most = op->b;
    }
    return most;
}

static bool take_rooms(rad_flow_vm *vm)
{
    const rad_flow_tree *tree = vm->program->tree;
    vm->milestones = rad__alloc(tree->milestone_count + 1u, sizeof *vm->milestones);
    vm->milestone_objects = rad__alloc(tree->milestone_count + 1u, sizeof *vm->milestone_objects);
    vm->locks = rad__alloc(tree->lock_count + 1u, sizeof *vm->locks);
    vm->lock_objects = rad__alloc(tree->lock_count + 1u, sizeof *vm->lock_objects);
    vm->queues = rad__alloc(tree->milestone_count + tree->lock_count + 1u, sizeof *vm->queues);
    vm->last_instance = rad__alloc(tree->region_count + 1u, sizeof *vm->last_instance);
    vm->initial = rad__alloc(vm->variables + 1u, sizeof *vm->initial);
    vm->merged = rad__alloc(vm->variables + 1u, sizeof *vm->merged);
    vm->stack = rad__alloc(EXPRESSION_DEPTH, sizeof *vm->stack);
    vm->holds = rad__alloc(most_branches(vm->program) + 1u, sizeof *vm->holds);
    return vm->milestones && vm->milestone_objects && vm->locks && vm->lock_objects && vm->queues &&
           vm->last_instance && vm->initial && vm->merged && vm->stack && vm->holds;
}

/* The texts of the file have the numbers they have there. */
static bool load_texts(rad_flow_vm *vm)
{
    const rad_symbols *s = &vm->program->file.symbols;
    for (uint32_t i = 0; i < s->count; i++)
        if (rad__text_number(vm, s->texts[i], strlen(s->texts[i])) != i) return false;
    return true;
}

static int set_initial(rad_flow_vm *vm, const rad_flow_case_options *o, rad_error *error)
{
    const rad_flow_tree *tree = vm->program->tree;
    const rad_flow_file *file = &vm->program->file;
    for (uint32_t i = 0; i < tree->variable_count; i++) vm->initial[i] = tree->variables[i].initial;
    for (uint32_t i = 0; i < o->initial_count; i++) {
        const rad_flow_initial *given = &o->initial[i];
        uint32_t v = 0;
        rad_suggest near;
        rad__suggest_begin(&near, given->name, strlen(given->name));
        for (; v < tree->variable_count; v++) {
            if (tree->variables[v].is_local) continue;
            if (strcmp(rad__flow_name(file, tree->variables[v].name), given->name) == 0) break;
            rad__suggest_consider(&near, rad__flow_name(file, tree->variables[v].name));
        }
        if (v == tree->variable_count)
            return rad__error(error, RAD_EINPUT, "there is no data %s in the flow %s%s", given->name,
                              rad__flow_name(file, tree->name), rad__suggest_or_all(&near));
        const char *why;
        if (!rad__text_value(vm, tree->variables[v].type, given->text, strlen(given->text), &vm->initial[v], &why))
            return why == NULL ? rad__error_memory(error)
                               : rad__error(error, RAD_EINPUT, "%s=%s %s", given->name, given->text, why);
    }
    return 0;
}

int rad__flow_vm_open(rad_flow_vm **out, const rad_flow_program *p, const rad_flow_case_options *o, rad_error *error)
{
    *out = NULL;
    rad_flow_vm *vm = rad__alloc(1, sizeof *vm);
    if (vm == NULL) return rad__error_memory(error);
    vm->program = p;
    vm->world = o->world;
    vm->outcome_seed = o->outcome_seed;
    vm->variables = p->tree->variable_count > 0 ? p->tree->variable_count : 1;
    vm->final = RAD_NONE;
    int status = take_rooms(vm) && load_texts(vm) ? 0 : rad__error_memory(error);
    if (status == 0) status = set_initial(vm, o, error);
    vm->text_base = vm->text_count;
    vm->text_base_bytes = vm->text_bytes;
    if (status != 0) {
        rad__flow_vm_close(vm);
        return status;
    }
    *out = vm;
    return 0;
}

void rad__flow_vm_close(rad_flow_vm *vm)
{
    if (vm == NULL) return;
    void *const all[] = {vm->tokens,        vm->forks,   vm->arrivals,         vm->regions, vm->undos,
                         vm->frames,        vm->signals, vm->answers,          vm->data,    vm->data_refs,
                         vm->initial,       vm->texts,   vm->milestones,       vm->locks,   vm->queues,
                         vm->last_instance, vm->settle,  vm->doomed,           vm->stack,   vm->holds,
                         vm->lock_objects,  vm->merged,  vm->milestone_objects};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) rad__free(all[i]);
    rad__map64_free(&vm->text_map);
    rad__map64_free(&vm->path_map);
    rad__heap_free(&vm->chosen);
    rad__arena_free(&vm->text_arena);
    rad__arena_free(&vm->run_texts);
    rad__arena_free(&vm->names);
    rad__free(vm);
}

void rad__flow_broken(rad_flow_vm *vm, int code, const char *what)
{
    if (vm->k != NULL) rad__kernel_error(vm->k, code, what);
}

/* ---- Reset ------------------------------------------------------------------------------- */

static void pool_empty(rad_flow_pool *pool)
{
    pool->count = pool->free = 0;
}

/* A run numbers its texts as if it were the first one: numbers are part of its trace. */
static void forget_texts(rad_flow_vm *vm)
{
    if (vm->text_count == vm->text_base) return;
    vm->text_count = vm->text_base;
    vm->text_bytes = vm->text_base_bytes;
    rad__arena_free(&vm->run_texts);
    rad__map64_clear(&vm->text_map);
    for (uint32_t i = 0; i < vm->text_base; i++)
        if (!rad__map64_add(&vm->text_map, vm->texts[i].hash, i)) {
            rad__flow_broken(vm, RAD_ENOMEM, "out of memory for texts");
            return;
        }
}

static void empty(rad_flow_vm *vm)
{
    const rad_flow_tree *tree = vm->program->tree;
    pool_empty(&vm->fork_pool);
    pool_empty(&vm->arrival_pool);
    pool_empty(&vm->region_pool);
    pool_empty(&vm->undo_pool);
    pool_empty(&vm->frame_pool);
    pool_empty(&vm->signal_pool);
    pool_empty(&vm->data_pool);
    rad__arena_free(&vm->names);
    rad__map64_clear(&vm->path_map);
    vm->token_count = vm->live = vm->asking = vm->answer_count = vm->answers_open = 0;
    vm->settle_count = vm->doomed_count = 0;
    vm->signal_first = vm->signal_last = vm->final = RAD_NONE;
    vm->forks_made = vm->regions_made = vm->cancelled = vm->diverted = 0;
    vm->result = RAD_CASE_RUNNING;
    vm->failure[0] = 0;
    vm->failed_task = RAD_NONE;
    memset(vm->milestones, 0, tree->milestone_count);
    for (uint32_t i = 0; i < tree->lock_count; i++) vm->locks[i] = RAD_NONE;
    for (uint32_t i = 0; i < tree->region_count; i++) vm->last_instance[i] = RAD_NONE;
    for (uint32_t i = 0; i <= tree->milestone_count + tree->lock_count; i++)
        vm->queues[i] = (rad_flow_queue){RAD_NONE, RAD_NONE};
}

void rad__flow_vm_reset(void *self, rad_kernel *k)
{
    rad_flow_vm *vm = self;
    const rad_flow_tree *tree = vm->program->tree;
    vm->k = k;
    empty(vm);
    forget_texts(vm);
    if (vm->owner != NULL) vm->owner->ask_count = 0;
    vm->case_object = rad_object(k, RAD_NONE, "case");
    for (uint32_t i = 0; i < tree->milestone_count; i++)
        vm->milestone_objects[i] = rad_object(k, RAD_NONE, rad__flow_name(&vm->program->file, tree->milestones[i]));
    for (uint32_t i = 0; i < tree->lock_count; i++)
        vm->lock_objects[i] = rad_object(k, RAD_NONE, rad__flow_name(&vm->program->file, tree->locks[i]));
    uint32_t data = rad__data_new(vm);
    if (data == RAD_NONE) return;
    memcpy(rad__data_at(vm, data), vm->initial, vm->variables * sizeof *vm->data);
    uint32_t token = rad__token_make(vm, RAD_NONE, 0, 0, RAD_NONE, RAD_NONE, data);
    rad__data_give(vm, data);
    if (token != RAD_NONE) rad__token_go(vm, token, vm->program->start);
}

enum rad_end rad__flow_vm_idle(void *self, rad_kernel *k)
{
    const rad_flow_vm *vm = self;
    (void)k;
    return vm->live > 0 ? RAD_END_STUCK : RAD_END_FINISHED;
}
