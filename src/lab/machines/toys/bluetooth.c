/* bluetooth.c — the Bluetooth driver of Qadeer and Wu (2004; SCTBench bluetooth_driver_bad).
 *
 * `pending` counts the requests under way, and one more for the driver itself. Stopping sets a flag, gives up
 * that one, and frees the driver if an event says that nothing is pending. A request begins only when the flag
 * is not set, but looks at the flag before it counts:
 *
 *     request                               stopper
 *     read stopping: no
 *                                           stopping = yes, pending = 0, event, stopped = yes
 *     pending = 1
 *     works with a driver that is stopped
 *
 * Fixed: a request counts itself first, then looks at the flag, and leaves if that is set. As published, a
 * refused request gives up a count that it never took; the fixed version gives up what it took. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { REQUESTS };
enum {
    SPAWN,
    R_FLAG,
    R_LOCK,
    R_COUNT,
    R_COUNTED,
    R_UNLOCK,
    R_WORK,
    STOP_FLAG,
    STOP_EVENT,
    STOPPED,
    D_LOCK,
    D_READ,
    D_WRITE,
    D_AGAIN,
    D_UNLOCK,
    D_EVENT
};

static const char *const bluetooth_sites[] = {
    [SPAWN] = "main: spawn",
    [R_FLAG] = "request: read stopping",
    [R_LOCK] = "request: lock",
    [R_COUNT] = "request: read pending",
    [R_COUNTED] = "request: write pending",
    [R_UNLOCK] = "request: unlock",
    [R_WORK] = "request: work, read stopped",
    [STOP_FLAG] = "stopper: write stopping",
    [STOP_EVENT] = "stopper: read event",
    [STOPPED] = "stopper: write stopped",
    [D_LOCK] = "leave: lock",
    [D_READ] = "leave: read pending",
    [D_WRITE] = "leave: write pending",
    [D_AGAIN] = "leave: read pending again",
    [D_UNLOCK] = "leave: unlock",
    [D_EVENT] = "leave: write event",
    NULL,
};

typedef struct bluetooth_parts {
    uint32_t pending, stopping, event, stopped, lock, wrong;
} bluetooth_parts;

static void bluetooth_enter(rad_vm *vm, const bluetooth_parts *p)
{
    vm_lock(vm, R_LOCK, p->lock);
    vm_load(vm, R_COUNT, R0, p->pending);
    vm_add(vm, R0, R0, 1);
    vm_store(vm, R_COUNTED, p->pending, R0);
    vm_unlock(vm, R_UNLOCK, p->lock);
}

static void bluetooth_leave(rad_vm *vm, const bluetooth_parts *p)
{
    vm_lock(vm, D_LOCK, p->lock);
    vm_load(vm, D_READ, R0, p->pending);
    vm_sub(vm, R0, R0, 1);
    vm_store(vm, D_WRITE, p->pending, R0);
    vm_load(vm, D_AGAIN, R0, p->pending);
    vm_unlock(vm, D_UNLOCK, p->lock);
    uint32_t others = vm_jump_if(vm, R0, VM_NE, 0);
    vm_store(vm, D_EVENT, p->event, 1);
    vm_land(vm, others);
}

static uint32_t bluetooth_request(rad_vm *vm, const bluetooth_parts *p, bool counts_first)
{
    uint32_t program = vm_here(vm);
    if (counts_first) bluetooth_enter(vm, p);
    vm_load(vm, R_FLAG, R1, p->stopping);
    uint32_t refused = vm_jump_if(vm, R1, VM_NE, 0);
    if (!counts_first) bluetooth_enter(vm, p);
    vm_load(vm, R_WORK, R1, p->stopped);
    vm_claim(vm, R1, VM_EQ, 0, p->wrong, "stopped while a request works");
    vm_land(vm, refused);
    bluetooth_leave(vm, p);
    vm_end(vm);
    return program;
}

static uint32_t bluetooth_stopper(rad_vm *vm, const bluetooth_parts *p)
{
    uint32_t program = vm_here(vm);
    vm_store(vm, STOP_FLAG, p->stopping, 1);
    bluetooth_leave(vm, p);
    vm_load(vm, STOP_EVENT, R1, p->event);
    uint32_t in_use = vm_jump_if(vm, R1, VM_EQ, 0);
    vm_store(vm, STOPPED, p->stopped, 1);
    vm_land(vm, in_use);
    vm_end(vm);
    return program;
}

static void bluetooth_build(rad_vm *vm, const rad_case *c)
{
    bluetooth_parts p = {
        .pending = vm_cell(vm, "pending", 1),
        .stopping = vm_cell(vm, "stopping", 0),
        .event = vm_cell(vm, "event", 0),
        .stopped = vm_cell(vm, "stopped", 0),
        .lock = vm_mutex(vm, "lock"),
        .wrong = vm_about(vm, "stopped driver"),
    };
    uint32_t requests = (uint32_t)c->params[REQUESTS];
    uint32_t stopper = bluetooth_stopper(vm, &p);
    uint32_t request = bluetooth_request(vm, &p, c->repaired);
    rad__vm_thread(vm, "stopper", stopper, false);
    for (uint32_t i = 0; i < requests; i++) rad__vm_thread(vm, "request", request, false);
    rad__vm_main(vm, SPAWN, 0, 1 + requests);
}

static const vm_toy bluetooth_toy = {.build = bluetooth_build, .sites = bluetooth_sites};

static const rad_param bluetooth_params[] = {
    [REQUESTS] = {"requests", 1, 1, 32, "threads that use the driver", false},
    {.name = NULL},
};

const rad_machine rad__toy_bluetooth = {
    .name = "bluetooth",
    .about = "a driver is stopped while requests arrive (SCTBench bluetooth_driver_bad)",
    .params = bluetooth_params,
    .bug = "a request looks whether the driver stops before it counts itself as using it",
    .bug_site = R_WORK,
    .own = &bluetooth_toy,
    VM_FUNCTIONS,
};
