/* inc.c — threads that add to one cell, atomically: no bug. For counting schedules ((nk)!/(k!)^n) and for
 * benchmarks; every order of steps is a class of its own. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N, K };
enum { ADD };

static const char *const inc_sites[] = {[ADD] = "adder: add", NULL};

static void inc_build(rad_vm *vm, const rad_case *c)
{
    uint32_t total = vm_cell(vm, "total", 0);
    uint32_t program = vm_here(vm);
    vm_fetch_add(vm, ADD, R0, total, 1);
    vm_again(vm, program, R5);
    vm_end(vm);
    for (int64_t i = 0; i < c->params[N]; i++)
        vm_thread_starts(vm, rad__vm_thread(vm, "adder", program, true), R5, c->params[K]);
}

static const vm_toy inc_toy = {.build = inc_build, .sites = inc_sites};

static const rad_param inc_params[] = {
    [N] = {"n", 2, 1, 64, "threads", false},
    [K] = {"k", 10, 1, 1000, "additions of each thread", false},
    {.name = NULL},
};

const rad_machine rad__toy_inc = {
    .name = "inc",
    .about = "threads add to one cell, atomically: nothing is wrong, every schedule differs",
    .params = inc_params,
    .bug_site = RAD_NONE,
    .own = &inc_toy,
    VM_FUNCTIONS,
};
