/* locks.c — two locks, taken in one order by one thread and in the other order by the other.
 *
 *     forward         backward
 *     lock a
 *                     lock b
 *     lock b …        lock a …      each waits for the other
 *
 * Twin: both take a, then b. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { ROUNDS };
enum { FIRST, SECOND, WORK, UNLOCK_SECOND, UNLOCK_FIRST };

static const char *const locks_sites[] = {
    [FIRST] = "take the first lock",
    [SECOND] = "take the second lock",
    [WORK] = "work",
    [UNLOCK_SECOND] = "release the second lock",
    [UNLOCK_FIRST] = "release the first lock",
    NULL,
};

static uint32_t locks_program(rad_vm *vm, uint32_t first, uint32_t second, uint32_t work)
{
    uint32_t program = vm_here(vm);
    vm_lock(vm, FIRST, first);
    vm_lock(vm, SECOND, second);
    vm_fetch_add(vm, WORK, R0, work, 1);
    vm_unlock(vm, UNLOCK_SECOND, second);
    vm_unlock(vm, UNLOCK_FIRST, first);
    vm_again(vm, program, R5);
    vm_end(vm);
    return program;
}

static void locks_build(rad_vm *vm, const rad_case *c)
{
    uint32_t a = vm_mutex(vm, "lock a"), b = vm_mutex(vm, "lock b");
    uint32_t work = vm_cell(vm, "work", 0);
    uint32_t forward = locks_program(vm, a, b, work);
    uint32_t backward = c->repaired ? forward : locks_program(vm, b, a, work);
    vm_thread_starts(vm, rad__vm_thread(vm, "forward", forward, true), R5, c->params[ROUNDS]);
    vm_thread_starts(vm, rad__vm_thread(vm, "backward", backward, true), R5, c->params[ROUNDS]);
}

static const vm_toy locks_toy = {.build = locks_build, .sites = locks_sites};

static const rad_param locks_params[] = {
    [ROUNDS] = {"rounds", 1, 1, 1000, "how often each thread takes both locks", false},
    {.name = NULL},
};

const rad_machine rad__toy_locks = {
    .name = "locks",
    .about = "two threads that need the same two locks",
    .params = locks_params,
    .bug = "they take the locks in opposite order: each can hold one and wait for the other",
    .bug_site = SECOND,
    .own = &locks_toy,
    VM_FUNCTIONS,
};
