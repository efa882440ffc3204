/* twostage.c — twostage_N of SCTBench: writers make a change in two locked stages, a reader looks.
 *
 *     writer                                  reader
 *     lock 1: data1 = 1                       lock 1: nothing to do if data1 == 0, else t1 = data1
 *     lock 2: data2 = data1 + 1               lock 2: t2 = data2; must be t1 + 1
 *
 * Each stage is locked, the change is not: the reader can come between the stages of the first writer.
 * Start forms as in reorder; main starts the writers, then the readers (in the literature twostage_20 has 10
 * of each, twostage_50 has 40 and 10, twostage_100 has 99 and 1). What happens under a lock can be
 * steps of its own (accesses=1) or part of the step that takes the lock (accesses=0): no other thread can
 * tell, but schedules get shorter, as in tools that stop only at synchronisation.
 * Twin: lock 1 is held over both stages, in the reader too. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N, TOGETHER, READERS, ACCESSES };

enum {
    SPAWN,
    W_LOCK_1,
    W_DATA_1,
    W_UNLOCK_1,
    W_LOCK_2,
    W_SEE_1,
    W_DATA_2,
    W_UNLOCK_2,
    R_LOCK_1,
    R_TEST_1,
    R_DATA_1,
    R_UNLOCK_1,
    R_LOCK_2,
    R_DATA_2,
    R_UNLOCK_2
};

static const char *const twostage_sites[] = {
    [SPAWN] = "main: spawn",
    [W_LOCK_1] = "writer: lock 1",
    [W_DATA_1] = "writer: write data1",
    [W_UNLOCK_1] = "writer: unlock 1",
    [W_LOCK_2] = "writer: lock 2",
    [W_SEE_1] = "writer: read data1",
    [W_DATA_2] = "writer: write data2",
    [W_UNLOCK_2] = "writer: unlock 2",
    [R_LOCK_1] = "reader: lock 1",
    [R_TEST_1] = "reader: test data1",
    [R_DATA_1] = "reader: read data1",
    [R_UNLOCK_1] = "reader: unlock 1",
    [R_LOCK_2] = "reader: lock 2",
    [R_DATA_2] = "reader: read data2",
    [R_UNLOCK_2] = "reader: unlock 2",
    NULL,
};

typedef struct twostage_parts {
    uint32_t data1, data2, lock1, lock2, wrong;
    bool quiet, one_lock;
} twostage_parts;

static void twostage_load(rad_vm *vm, const twostage_parts *p, uint32_t site, enum vm_register to, uint32_t cell)
{
    if (p->quiet)
        vm_quiet_load(vm, to, cell, 0);
    else
        vm_load(vm, site, to, cell);
}

static void twostage_store(rad_vm *vm, const twostage_parts *p, uint32_t site, uint32_t cell, int32_t x)
{
    if (p->quiet)
        vm_quiet_store(vm, cell, 0, x);
    else
        vm_store(vm, site, cell, x);
}

static uint32_t twostage_writer(rad_vm *vm, const twostage_parts *p)
{
    uint32_t program = vm_here(vm);
    vm_lock(vm, W_LOCK_1, p->lock1);
    twostage_store(vm, p, W_DATA_1, p->data1, 1);
    if (!p->one_lock) {
        vm_unlock(vm, W_UNLOCK_1, p->lock1);
        vm_lock(vm, W_LOCK_2, p->lock2);
    }
    twostage_load(vm, p, W_SEE_1, R0, p->data1);
    vm_add(vm, R0, R0, 1);
    twostage_store(vm, p, W_DATA_2, p->data2, R0);
    vm_unlock(vm, W_UNLOCK_2, p->one_lock ? p->lock1 : p->lock2);
    vm_end(vm);
    return program;
}

static uint32_t twostage_reader(rad_vm *vm, const twostage_parts *p)
{
    uint32_t program = vm_here(vm);
    vm_lock(vm, R_LOCK_1, p->lock1);
    twostage_load(vm, p, R_TEST_1, R0, p->data1);
    uint32_t something = vm_jump_if(vm, R0, VM_NE, 0);
    vm_unlock(vm, R_UNLOCK_1, p->lock1);
    vm_end(vm);
    vm_land(vm, something);
    twostage_load(vm, p, R_DATA_1, R1, p->data1);
    if (!p->one_lock) {
        vm_unlock(vm, R_UNLOCK_1, p->lock1);
        vm_lock(vm, R_LOCK_2, p->lock2);
    }
    twostage_load(vm, p, R_DATA_2, R2, p->data2);
    vm_unlock(vm, R_UNLOCK_2, p->one_lock ? p->lock1 : p->lock2);
    vm_add(vm, R1, R1, 1);
    vm_claim(vm, R2, VM_EQ, R1, p->wrong, "data2 when data1 was seen to be set");
    vm_end(vm);
    return program;
}

static void twostage_build(rad_vm *vm, const rad_case *c)
{
    twostage_parts p = {
        .data1 = vm_cell(vm, "data1", 0),
        .data2 = vm_cell(vm, "data2", 0),
        .lock1 = vm_mutex(vm, "lock 1"),
        .lock2 = vm_mutex(vm, "lock 2"),
        .wrong = vm_about(vm, "half-made change"),
        .quiet = c->params[ACCESSES] == 0,
        .one_lock = c->repaired,
    };
    uint32_t n = (uint32_t)c->params[N];
    uint32_t readers = rad__sctbench_lookers(n, (uint32_t)c->params[READERS]);
    bool together = c->params[TOGETHER] != 0;
    uint32_t writer = twostage_writer(vm, &p), reader = twostage_reader(vm, &p);
    for (uint32_t i = 0; i < n - readers; i++) rad__vm_thread(vm, "writer", writer, together);
    for (uint32_t i = 0; i < readers; i++) rad__vm_thread(vm, "reader", reader, together);
    if (!together) rad__vm_main(vm, SPAWN, 0, n);
}

static const vm_toy twostage_toy = {.build = twostage_build, .sites = twostage_sites};

static const rad_param twostage_params[] = {
    [N] = {"n", 3, 2, 200, "threads: writers, then readers", false},
    [TOGETHER] = {"together", 0, 0, 1, "0: main spawns them in order, 1: all start at once", true},
    [READERS] = {"readers", 0, 0, 199, "how many of the threads read; 0: as published, 10 for n=20 and 50, else 1",
                 false},
    [ACCESSES] = {"accesses", 1, 0, 1, "0: only lock operations are steps, 1: reads and writes too", true},
    {.name = NULL},
};

const rad_machine rad__toy_twostage = {
    .name = "twostage",
    .about = "writers make a change in two locked stages while a reader looks (SCTBench twostage_N)",
    .params = twostage_params,
    .bug = "no lock is held over both stages: the reader can see the first without the second",
    .bug_site = R_UNLOCK_2,
    .own = &twostage_toy,
    VM_FUNCTIONS,
};
