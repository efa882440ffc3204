/* independent.c — threads that write to a cell of their own: no bug. As many schedules as `inc`, but all of
 * them are the same run in another order: one class. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N, K };
enum { WRITE };

static const char *const independent_sites[] = {[WRITE] = "writer: write", NULL};

static void independent_build(rad_vm *vm, const rad_case *c)
{
    uint32_t n = (uint32_t)c->params[N];
    uint32_t cells = rad__vm_cells(vm, "cell", n, 0);
    uint32_t program = vm_here(vm);
    vm_store_at(vm, WRITE, cells, R4, R5);
    vm_again(vm, program, R5);
    vm_end(vm);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t thread = rad__vm_thread(vm, "writer", program, true);
        vm_thread_starts(vm, thread, R4, i);
        vm_thread_starts(vm, thread, R5, c->params[K]);
    }
}

static const vm_toy independent_toy = {.build = independent_build, .sites = independent_sites};

static const rad_param independent_params[] = {
    [N] = {"n", 2, 1, 64, "threads", false},
    [K] = {"k", 10, 1, 1000, "writes of each thread", false},
    {.name = NULL},
};

const rad_machine rad__toy_independent = {
    .name = "independent",
    .about = "threads write to a cell of their own: nothing is wrong, all schedules are one class",
    .params = independent_params,
    .bug_site = RAD_NONE,
    .own = &independent_toy,
    VM_FUNCTIONS,
};
