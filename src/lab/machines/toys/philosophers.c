/* philosophers.c — dining philosophers: each takes the fork on the left, then the one on the right.
 *
 * When all hold their left fork, nobody gets a right one. Twin: the last philosopher begins with the other
 * fork, so that forks are always taken in ascending order and no circle can close. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N, ROUNDS };
enum { FIRST, SECOND, EAT, PUT_SECOND, PUT_FIRST };

static const char *const philosophers_sites[] = {
    [FIRST] = "philosopher: take the first fork",
    [SECOND] = "philosopher: take the second fork",
    [EAT] = "philosopher: eat",
    [PUT_SECOND] = "philosopher: put the second fork back",
    [PUT_FIRST] = "philosopher: put the first fork back",
    NULL,
};

static void philosophers_build(rad_vm *vm, const rad_case *c)
{
    uint32_t n = (uint32_t)c->params[N];
    uint32_t forks = rad__vm_mutexes(vm, "fork", n);
    uint32_t meals = rad__vm_cells(vm, "meals", n, 0);

    /* R1 and R2: the forks, R3: the own number, R5: rounds to go */
    uint32_t program = vm_here(vm);
    vm_lock_at(vm, FIRST, forks, R1);
    vm_lock_at(vm, SECOND, forks, R2);
    vm_fetch_add_at(vm, EAT, R0, meals, R3, 1);
    vm_unlock_at(vm, PUT_SECOND, forks, R2);
    vm_unlock_at(vm, PUT_FIRST, forks, R1);
    vm_again(vm, program, R5);
    vm_end(vm);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t left = i, right = (i + 1) % n;
        bool other_way = c->repaired && i == n - 1;
        uint32_t thread = rad__vm_thread(vm, "philosopher", program, true);
        vm_thread_starts(vm, thread, R1, other_way ? right : left);
        vm_thread_starts(vm, thread, R2, other_way ? left : right);
        vm_thread_starts(vm, thread, R3, i);
        vm_thread_starts(vm, thread, R5, c->params[ROUNDS]);
    }
}

static const vm_toy philosophers_toy = {.build = philosophers_build, .sites = philosophers_sites};

static const rad_param philosophers_params[] = {
    [N] = {"n", 3, 2, 64, "philosophers, and forks", false},
    [ROUNDS] = {"rounds", 1, 1, 100, "meals of each philosopher", false},
    {.name = NULL},
};

const rad_machine rad__toy_philosophers = {
    .name = "philosophers",
    .about = "dining philosophers: each takes the left fork, then the right one",
    .params = philosophers_params,
    .bug = "when all hold their first fork, none gets a second one",
    .bug_site = SECOND,
    .own = &philosophers_toy,
    VM_FUNCTIONS,
};
