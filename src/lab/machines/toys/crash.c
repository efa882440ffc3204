/* crash.c — lazy initialisation that dies: a thread really reads through a null pointer.
 *
 *     user A                    user B
 *     read ready: no
 *     ready = yes
 *                               read ready: yes
 *                               read pointer: null, follow it: SIGSEGV
 *     pointer = resource
 *
 * Twin: looking and making happen under a lock, and `ready` is written last. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N };
enum { LOCK, LOOK, SET_READY, SET_POINTER, UNLOCK, READ_POINTER, FOLLOW };

static const char *const crash_sites[] = {
    [LOCK] = "user: lock",
    [LOOK] = "user: read ready",
    [SET_READY] = "user: write ready",
    [SET_POINTER] = "user: write pointer",
    [UNLOCK] = "user: unlock",
    [READ_POINTER] = "user: read pointer",
    [FOLLOW] = "user: follow the pointer",
    NULL,
};

static void crash_build(rad_vm *vm, const rad_case *c)
{
    uint32_t ready = vm_cell(vm, "ready", 0), pointer = vm_cell(vm, "pointer", 0);
    uint32_t resource = vm_cell(vm, "resource", 0);
    uint32_t lock = c->repaired ? vm_mutex(vm, "lock") : RAD_NONE;

    uint32_t user = vm_here(vm);
    if (c->repaired) vm_lock(vm, LOCK, lock);
    vm_load(vm, LOOK, R0, ready);
    uint32_t made = vm_jump_if(vm, R0, VM_NE, 0);
    if (!c->repaired) vm_store(vm, SET_READY, ready, 1);
    vm_store(vm, SET_POINTER, pointer, 1);
    if (c->repaired) vm_store(vm, SET_READY, ready, 1);
    vm_land(vm, made);
    if (c->repaired) vm_unlock(vm, UNLOCK, lock);
    vm_load(vm, READ_POINTER, R1, pointer);
    vm_follow(vm, FOLLOW, resource, R1);
    vm_end(vm);

    for (int64_t i = 0; i < c->params[N]; i++) rad__vm_thread(vm, "user", user, true);
}

static const vm_toy crash_toy = {.build = crash_build, .sites = crash_sites};

static const rad_param crash_params[] = {
    [N] = {"n", 2, 2, 64, "threads that use the resource", false},
    {.name = NULL},
};

const rad_machine rad__toy_crash = {
    .name = "crash",
    .about = "lazy initialisation; a thread that comes between two writes reads through a null pointer",
    .params = crash_params,
    .bug = "`ready` is written before the pointer is: the process dies with a segmentation fault",
    .bug_site = FOLLOW,
    .own = &crash_toy,
    VM_FUNCTIONS,
};
