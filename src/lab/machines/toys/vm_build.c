/* vm_build.c — building a toy: programs, objects, threads, and the layout of the state. See vm.h. */
#include "lab/machines/toys/vm.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

static uint32_t build_object(rad_vm *vm, const char *role, int64_t value, uint32_t side)
{
    uint32_t number = vm->object_count, need = number + 1;
    if (vm->failed || !RAD_GROW(&vm->roles, &vm->role_capacity, need) ||
        !RAD_GROW(&vm->initial, &vm->initial_capacity, need) || !RAD_GROW(&vm->side, &vm->side_capacity, need)) {
        vm->failed = true;
        return 0;
    }
    vm->roles[number] = role;
    vm->initial[number] = value;
    vm->side[number] = side;
    vm->object_count = need;
    return number;
}

uint32_t rad__vm_cells(rad_vm *vm, const char *role, uint32_t count, int64_t value)
{
    uint32_t first = vm->object_count;
    for (uint32_t i = 0; i < count; i++) build_object(vm, role, value, RAD_NONE);
    return first;
}

uint32_t rad__vm_mutexes(rad_vm *vm, const char *role, uint32_t count)
{
    uint32_t first = vm->object_count;
    for (uint32_t i = 0; i < count; i++) build_object(vm, role, 0, vm->mutex_count++);
    return first;
}

uint32_t rad__vm_cond(rad_vm *vm, const char *role)
{
    return build_object(vm, role, 0, vm->cond_count++);
}

uint32_t rad__vm_thread(rad_vm *vm, const char *role, uint32_t program, bool started)
{
    uint32_t number = vm->thread_count, need = number + 1;
    RAD_ASSERT(need <= VM_THREADS_MAX);
    if (vm->failed || !RAD_GROW(&vm->plan, &vm->plan_capacity, need) ||
        !RAD_GROW(&vm->thread_roles, &vm->thread_role_capacity, need)) {
        vm->failed = true;
        return 0;
    }
    vm->plan[number] = (vm_thread){
        .pc = program,
        .actor = RAD_NONE,
        .state = started ? VM_READY : VM_UNBORN,
    };
    vm->thread_roles[number] = role;
    vm->thread_count = need;
    return number;
}

uint32_t rad__vm_emit(rad_vm *vm, vm_op op)
{
    uint32_t place = vm->code_count;
    if (vm->failed || !RAD_GROW(&vm->code, &vm->code_capacity, place + 1)) {
        vm->failed = true;
        return 0;
    }
    bool local = op.code == VM_PICK || op.code == VM_SPAWN || op.code == VM_YIELD;
    bool reads = op.code == VM_LOAD || op.code == VM_FOLLOW || op.code == VM_JOIN;
    if (op.code == VM_JOIN) vm->joins = true;
    vm->code[place] = op;
    vm->code[place].access = local ? RAD_LOCAL : reads ? RAD_READ : RAD_WRITE;
    vm->code_count = place + 1;
    return place;
}

uint32_t rad__vm_text(rad_vm *vm, const char *text)
{
    if (vm->failed || !RAD_GROW(&vm->texts, &vm->text_capacity, vm->text_count + 1)) {
        vm->failed = true;
        return 0;
    }
    vm->texts[vm->text_count] = text;
    return vm->text_count++;
}

void rad__vm_main(rad_vm *vm, uint32_t site, uint32_t first, uint32_t count)
{
    uint32_t program = vm_here(vm);
    for (uint32_t i = 0; i < count; i++) vm_spawn(vm, site, first + i);
    vm_end(vm);
    rad__vm_thread(vm, "main", program, true);
}

/* ---- Layout --------------------------------------------------------------------------------------- */

static size_t carve(size_t *used, size_t size)
{
    size_t at = *used;
    *used += (size + 7) & ~(size_t)7;
    return at;
}

/* One block, so that reset, save, load and hashing are one copy or one pass. */
static bool build_layout(rad_vm *vm)
{
    size_t n = vm->thread_count, used = 0;
    vm->set_words = (vm->thread_count + 63) / 64;
    size_t threads = carve(&used, n * sizeof *vm->threads);
    size_t words = carve(&used, vm->object_count * sizeof *vm->words);
    size_t totals = carve(&used, sizeof *vm->totals);
    size_t born = carve(&used, n * sizeof *vm->born);
    size_t queues = carve(&used, vm->cond_count * n * sizeof *vm->queues);
    vm->hashed_size = used;
    size_t wants = carve(&used, (size_t)vm->mutex_count * vm->set_words * sizeof *vm->wants);
    size_t joiners = carve(&used, vm->set_words * sizeof *vm->joiners);
    vm->state_size = used;
    vm->state = rad__alloc(1, used);
    vm->image = rad__alloc(1, used);
    if (vm->state == NULL || vm->image == NULL) return false;
    vm->threads = (vm_thread *)(void *)(vm->state + threads);
    vm->words = (int64_t *)(void *)(vm->state + words);
    vm->totals = (vm_totals *)(void *)(vm->state + totals);
    vm->born = (uint16_t *)(void *)(vm->state + born);
    vm->queues = (uint16_t *)(void *)(vm->state + queues);
    vm->wants = (uint64_t *)(void *)(vm->state + wants);
    vm->joiners = (uint64_t *)(void *)(vm->state + joiners);
    memcpy(vm->image + threads, vm->plan, n * sizeof *vm->threads);
    memcpy(vm->image + words, vm->initial, vm->object_count * sizeof *vm->words);
    memcpy(vm->state, vm->image, used);
    return true;
}

/* Threads are objects only where somebody joins one: without that nothing is shared through them, and who
 * was spawned by whom the kernel knows. */
static void build_thread_objects(rad_vm *vm)
{
    vm->thread_object = RAD_NONE;
    if (!vm->joins) return;
    vm->thread_object = vm->object_count;
    for (uint32_t i = 0; i < vm->thread_count; i++) build_object(vm, vm->thread_roles[i], 0, RAD_NONE);
    for (uint32_t i = 0; i < vm->code_count; i++) {
        vm_op *op = &vm->code[i];
        if (op->code != VM_SPAWN && op->code != VM_JOIN) continue;
        op->object = vm->thread_object + (uint32_t)op->x;
        if (op->code == VM_SPAWN) op->access = RAD_WRITE;
    }
}

static bool build_all(rad_vm *vm)
{
    vm->toy->build(vm, &vm->c);
    build_thread_objects(vm);
    if (vm->failed) return false;
    RAD_ASSERT(vm->thread_count > 0 && vm->code_count > 0);
    RAD_ASSERT(vm->code[vm->code_count - 1].code == VM_END);
    return build_layout(vm);
}

int rad__vm_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    rad_vm *vm = rad__alloc(1, sizeof *vm);
    *self = NULL;
    if (vm == NULL) return rad__error_memory(error);
    vm->toy = m->own;
    vm->c = *c;
    if (!build_all(vm)) {
        rad__vm_destroy(vm);
        return rad__error_memory(error);
    }
    vm->c.body = NULL; /* it was borrowed for building */
    *self = vm;
    return 0;
}

void rad__vm_destroy(void *self)
{
    rad_vm *vm = self;
    if (vm == NULL) return;
    rad__free(vm->code);
    rad__free(vm->texts);
    rad__free(vm->roles);
    rad__free(vm->initial);
    rad__free(vm->plan);
    rad__free(vm->thread_roles);
    rad__free(vm->side);
    rad__free(vm->state);
    rad__free(vm->image);
    rad__free(vm);
}
