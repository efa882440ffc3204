/* event.c — a hand-made event: a flag, a mutex and a condition variable. The wakeup can be lost.
 *
 *     waiter                      setter
 *     read flag: not set
 *                                 flag = 1
 *                                 lock, signal (nobody waits), unlock
 *     lock, wait                  … for ever
 *
 * Twin: the waiter looks at the flag under the lock, again after each wakeup. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { N };
enum { W_READ, W_LOCK, W_WAIT, W_WOKEN, W_UNLOCK, S_WRITE, S_LOCK, S_SIGNAL, S_UNLOCK };

static const char *const event_sites[] = {
    [W_READ] = "waiter: read flag", [W_LOCK] = "waiter: lock",
    [W_WAIT] = "waiter: wait",      [W_WOKEN] = "waiter: woken, lock again",
    [W_UNLOCK] = "waiter: unlock",  [S_WRITE] = "setter: set flag",
    [S_LOCK] = "setter: lock",      [S_SIGNAL] = "setter: signal",
    [S_UNLOCK] = "setter: unlock",  NULL,
};

typedef struct event_parts {
    uint32_t flag, lock, event;
} event_parts;

static uint32_t event_waiter(rad_vm *vm, const event_parts *e)
{
    uint32_t program = vm_here(vm);
    vm_load(vm, W_READ, R0, e->flag);
    uint32_t set = vm_jump_if(vm, R0, VM_NE, 0);
    vm_lock(vm, W_LOCK, e->lock);
    vm_wait(vm, W_WAIT, W_WOKEN, e->event, e->lock);
    vm_unlock(vm, W_UNLOCK, e->lock);
    vm_land(vm, set);
    vm_end(vm);
    return program;
}

static uint32_t event_waiter_repaired(rad_vm *vm, const event_parts *e)
{
    uint32_t program = vm_here(vm);
    vm_lock(vm, W_LOCK, e->lock);
    uint32_t look = vm_here(vm);
    vm_load(vm, W_READ, R0, e->flag);
    uint32_t set = vm_jump_if(vm, R0, VM_NE, 0);
    vm_wait(vm, W_WAIT, W_WOKEN, e->event, e->lock);
    vm_back(vm, look);
    vm_land(vm, set);
    vm_unlock(vm, W_UNLOCK, e->lock);
    vm_end(vm);
    return program;
}

static void event_build(rad_vm *vm, const rad_case *c)
{
    event_parts e = {vm_cell(vm, "flag", 0), vm_mutex(vm, "lock"), rad__vm_cond(vm, "event")};
    uint32_t waiter = c->repaired ? event_waiter_repaired(vm, &e) : event_waiter(vm, &e);

    uint32_t setter = vm_here(vm);
    vm_store(vm, S_WRITE, e.flag, 1);
    vm_lock(vm, S_LOCK, e.lock);
    if (c->params[N] == 1)
        vm_signal(vm, S_SIGNAL, e.event);
    else
        vm_broadcast(vm, S_SIGNAL, e.event);
    vm_unlock(vm, S_UNLOCK, e.lock);
    vm_end(vm);

    for (int64_t i = 0; i < c->params[N]; i++) rad__vm_thread(vm, "waiter", waiter, true);
    rad__vm_thread(vm, "setter", setter, true);
}

static const vm_toy event_toy = {.build = event_build, .sites = event_sites};

static const rad_param event_params[] = {
    [N] = {"n", 1, 1, 64, "threads that wait", false},
    {.name = NULL},
};

const rad_machine rad__toy_event = {
    .name = "event",
    .about = "a hand-made event: a flag, and a condition variable to sleep on until it is set",
    .params = event_params,
    .bug = "the waiter reads the flag before it locks: a signal in between is lost",
    .bug_site = W_WAIT,
    .own = &event_toy,
    VM_FUNCTIONS,
};
