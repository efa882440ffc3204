/* counter.c — a counter that threads raise by reading and writing it.
 *
 *     worker A        worker B
 *     read 0
 *                     read 0
 *     write 1
 *                     write 1       one increment is lost
 *
 * Twin: one atomic fetch-and-add. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N, K };
enum { READ, WRITE, JOIN, LOOK };

static const char *const counter_sites[] = {
    [READ] = "worker: read total",
    [WRITE] = "worker: write total",
    [JOIN] = "checker: wait for the workers",
    [LOOK] = "checker: read total",
    NULL,
};

static void counter_build(rad_vm *vm, const rad_case *c)
{
    uint32_t n = (uint32_t)c->params[N];
    uint32_t total = vm_cell(vm, "total", 0);
    uint32_t lost = vm_about(vm, "lost update");

    uint32_t worker = vm_here(vm);
    if (c->repaired) {
        vm_fetch_add(vm, WRITE, R0, total, 1);
    } else {
        vm_load(vm, READ, R0, total);
        vm_add(vm, R0, R0, 1);
        vm_store(vm, WRITE, total, R0);
    }
    vm_again(vm, worker, R5);
    vm_end(vm);

    uint32_t checker = vm_here(vm);
    vm_join(vm, JOIN, 0, n);
    vm_load(vm, LOOK, R0, total);
    vm_claim(vm, R0, VM_EQ, (int32_t)(c->params[N] * c->params[K]), lost, "total after all increments");
    vm_end(vm);

    for (uint32_t i = 0; i < n; i++) vm_thread_starts(vm, rad__vm_thread(vm, "worker", worker, true), R5, c->params[K]);
    rad__vm_thread(vm, "checker", checker, true);
}

static const vm_toy counter_toy = {.build = counter_build, .sites = counter_sites};

static const rad_param counter_params[] = {
    [N] = {"n", 2, 2, 64, "threads", false},
    [K] = {"k", 1, 1, 500, "increments of each thread", false},
    {.name = NULL},
};

const rad_machine rad__toy_counter = {
    .name = "counter",
    .about = "threads raise a shared counter; in the end it must show every increment",
    .params = counter_params,
    .bug = "each increment is a read and a write: one of two that overlap is lost",
    .bug_site = WRITE,
    .own = &counter_toy,
    VM_FUNCTIONS,
};
