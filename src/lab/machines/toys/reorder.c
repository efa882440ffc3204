/* reorder.c — reorder_N of SCTBench: setters write a = 1, then b = -1; a checker reads both.
 *
 * The checker evaluates (a == 0 && b == 0) || (a == 1 && b == -1) from left to right, reading as it goes.
 * It fails when some setter has written a and none has written b: rare for random schedules when there are
 * many setters. Started by main one after the other, each start being a step ("spawned", as in SCTBench), or
 * all at once ("together"). Twin: a pair is written, and read, under a lock. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N, TOGETHER, CHECKERS };
enum { SPAWN, S_LOCK, SET_A, SET_B, S_UNLOCK, C_LOCK, SEE_A, SEE_B, SEE_A_AGAIN, SEE_B_AGAIN, C_UNLOCK };

static const char *const reorder_sites[] = {
    [SPAWN] = "main: spawn",
    [S_LOCK] = "setter: lock",
    [SET_A] = "setter: write a",
    [SET_B] = "setter: write b",
    [S_UNLOCK] = "setter: unlock",
    [C_LOCK] = "checker: lock",
    [SEE_A] = "checker: read a",
    [SEE_B] = "checker: read b",
    [SEE_A_AGAIN] = "checker: read a again",
    [SEE_B_AGAIN] = "checker: read b again",
    [C_UNLOCK] = "checker: unlock",
    NULL,
};

static void reorder_build(rad_vm *vm, const rad_case *c)
{
    uint32_t a = vm_cell(vm, "a", 0), b = vm_cell(vm, "b", 0);
    uint32_t half = vm_about(vm, "half-made change");
    uint32_t lock = c->repaired ? vm_mutex(vm, "lock") : RAD_NONE;
    uint32_t n = (uint32_t)c->params[N];
    uint32_t checkers = rad__sctbench_lookers(n, (uint32_t)c->params[CHECKERS]);
    bool together = c->params[TOGETHER] != 0;

    uint32_t setter = vm_here(vm);
    if (c->repaired) vm_lock(vm, S_LOCK, lock);
    vm_store(vm, SET_A, a, 1);
    vm_store(vm, SET_B, b, -1);
    if (c->repaired) vm_unlock(vm, S_UNLOCK, lock);
    vm_end(vm);

    uint32_t checker = vm_here(vm);
    if (c->repaired) vm_lock(vm, C_LOCK, lock);
    vm_load(vm, SEE_A, R0, a);
    uint32_t a_set = vm_jump_if(vm, R0, VM_NE, 0);
    vm_load(vm, SEE_B, R1, b);
    uint32_t b_set = vm_jump_if(vm, R1, VM_NE, 0);
    vm_claim(vm, R1, VM_EQ, 0, half, "b while a is 0");
    uint32_t done = vm_jump(vm);
    vm_land(vm, a_set);
    vm_land(vm, b_set);
    vm_load(vm, SEE_A_AGAIN, R0, a);
    vm_claim(vm, R0, VM_EQ, 1, half, "a when it or b was seen to be set");
    vm_load(vm, SEE_B_AGAIN, R1, b);
    vm_claim(vm, R1, VM_EQ, -1, half, "b after a was seen to be 1");
    vm_land(vm, done);
    if (c->repaired) vm_unlock(vm, C_UNLOCK, lock);
    vm_end(vm);

    for (uint32_t i = 0; i < n - checkers; i++) rad__vm_thread(vm, "setter", setter, together);
    for (uint32_t i = 0; i < checkers; i++) rad__vm_thread(vm, "checker", checker, together);
    if (!together) rad__vm_main(vm, SPAWN, 0, n);
}

static const vm_toy reorder_toy = {.build = reorder_build, .sites = reorder_sites};

static const rad_param reorder_params[] = {
    [N] = {"n", 3, 3, 100, "threads: setters, then checkers", false},
    [TOGETHER] = {"together", 0, 0, 1, "0: main spawns them in order, 1: all start at once", true},
    [CHECKERS] = {"checkers", 0, 0, 99, "how many of the threads check; 0: as published, 10 for n=20 and 50, else 1",
                  false},
    {.name = NULL},
};

const rad_machine rad__toy_reorder = {
    .name = "reorder",
    .about = "setters write a, then b; a checker must see both or neither (SCTBench reorder_N)",
    .params = reorder_params,
    .bug = "the checker can read between the two writes",
    .bug_site = SEE_B_AGAIN,
    .own = &reorder_toy,
    VM_FUNCTIONS,
};
