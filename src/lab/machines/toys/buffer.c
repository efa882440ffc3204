/* buffer.c — a bounded buffer: producers wait for room, consumers for an item. Two machines.
 *
 * `buffer` has one condition variable for both kinds of waiter and signals one of them after each change.
 * The signal of a consumer ("there is room") can wake another consumer, which looks, finds nothing and
 * sleeps again: the wakeup is used up and everybody sleeps. Twin: one condition variable for each kind.
 *
 * `buffer-if` looks at the count only once: a woken thread goes on although somebody else was quicker,
 * and the count leaves 0 … capacity. Twin: look again in a loop, and wake all. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { PRODUCERS, CONSUMERS, ITEMS, CAPACITY };

enum {
    P_LOCK,
    P_READ,
    P_WAIT,
    P_WOKEN,
    P_LOOK,
    P_WRITE,
    P_SIGNAL,
    P_UNLOCK,
    C_LOCK,
    C_READ,
    C_WAIT,
    C_WOKEN,
    C_LOOK,
    C_WRITE,
    C_SIGNAL,
    C_UNLOCK
};

static const char *const buffer_sites[] = {
    [P_LOCK] = "producer: lock",
    [P_READ] = "producer: read count",
    [P_WAIT] = "producer: wait for room",
    [P_WOKEN] = "producer: woken, lock again",
    [P_LOOK] = "producer: read count after waking",
    [P_WRITE] = "producer: put",
    [P_SIGNAL] = "producer: signal",
    [P_UNLOCK] = "producer: unlock",
    [C_LOCK] = "consumer: lock",
    [C_READ] = "consumer: read count",
    [C_WAIT] = "consumer: wait for an item",
    [C_WOKEN] = "consumer: woken, lock again",
    [C_LOOK] = "consumer: read count after waking",
    [C_WRITE] = "consumer: take",
    [C_SIGNAL] = "consumer: signal",
    [C_UNLOCK] = "consumer: unlock",
    NULL,
};

/* What differs between the two kinds of thread and between the four programs. */
typedef struct buffer_form {
    uint32_t site; /* P_LOCK or C_LOCK: the others follow in the same order */
    int32_t change;
    uint32_t count, lock;
    uint32_t sleep_on, wake;
    bool once;     /* `if` instead of `while` */
    bool wake_all; /* broadcast instead of signal */
} buffer_form;

enum { COUNT = 0 }; /* the first object */

static uint32_t buffer_program(rad_vm *vm, const buffer_form *f, int32_t capacity)
{
    uint32_t begin = vm_here(vm), go;
    vm_lock(vm, f->site + P_LOCK, f->lock);
    uint32_t look = vm_here(vm);
    vm_load(vm, f->site + P_READ, R0, f->count);
    if (f->change > 0)
        go = vm_jump_if(vm, R0, VM_LT, capacity);
    else
        go = vm_jump_if(vm, R0, VM_GE, 1);
    vm_wait(vm, f->site + P_WAIT, f->site + P_WOKEN, f->sleep_on, f->lock);
    if (f->once)
        vm_load(vm, f->site + P_LOOK, R0, f->count);
    else
        vm_back(vm, look);
    vm_land(vm, go);
    vm_add(vm, R0, R0, f->change);
    vm_store(vm, f->site + P_WRITE, f->count, R0);
    if (f->wake_all)
        vm_broadcast(vm, f->site + P_SIGNAL, f->wake);
    else
        vm_signal(vm, f->site + P_SIGNAL, f->wake);
    vm_unlock(vm, f->site + P_UNLOCK, f->lock);
    vm_again(vm, begin, R5);
    vm_end(vm);
    return begin;
}

/* `share` things, as evenly as they can be divided; whoever gets none does not start. */
static void buffer_threads(rad_vm *vm, const char *role, uint32_t program, int64_t count, int64_t share)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t own = share / count + (i < share % count);
        if (own > 0) vm_thread_starts(vm, rad__vm_thread(vm, role, program, true), R5, own);
    }
}

static void buffer_make(rad_vm *vm, const rad_case *c, bool once, bool wake_all, bool two)
{
    int32_t capacity = (int32_t)c->params[CAPACITY];
    uint32_t count = vm_cell(vm, "count", 0);
    RAD_ASSERT(count == COUNT);
    uint32_t lock = vm_mutex(vm, "lock");
    uint32_t room = rad__vm_cond(vm, two ? "room" : "changed");
    uint32_t item = two ? rad__vm_cond(vm, "item") : room;
    buffer_form producer = {P_LOCK, +1, count, lock, room, item, once, wake_all};
    buffer_form consumer = {C_LOCK, -1, count, lock, item, room, once, wake_all};
    int64_t things = c->params[PRODUCERS] * c->params[ITEMS];
    uint32_t put = buffer_program(vm, &producer, capacity);
    uint32_t take = buffer_program(vm, &consumer, capacity);
    buffer_threads(vm, "producer", put, c->params[PRODUCERS], things);
    buffer_threads(vm, "consumer", take, c->params[CONSUMERS], things);
}

static void buffer_build(rad_vm *vm, const rad_case *c)
{
    buffer_make(vm, c, false, false, c->repaired);
}

static void buffer_if_build(rad_vm *vm, const rad_case *c)
{
    buffer_make(vm, c, !c->repaired, c->repaired, false);
}

static void buffer_if_invariant(const rad_vm *vm, rad_kernel *k)
{
    int64_t count = vm_word(vm, COUNT), capacity = vm->c.params[CAPACITY];
    RAD_CHECK(k, RAD_ORACLE_INVARIANT, count >= 0 && count <= capacity, COUNT,
              "the buffer holds %lld of at most %lld items", (long long)count, (long long)capacity);
}

static const vm_toy buffer_toy = {.build = buffer_build, .sites = buffer_sites};

static const vm_toy buffer_if_toy = {buffer_if_build, buffer_if_invariant, buffer_sites};

static const rad_param buffer_params[] = {
    [PRODUCERS] = {"producers", 2, 1, 16, "threads that put", false},
    [CONSUMERS] = {"consumers", 2, 1, 16, "threads that take, as many items in all", false},
    [ITEMS] = {"items", 1, 1, 20, "items of each producer", false},
    [CAPACITY] = {"capacity", 1, 1, 100, "items the buffer holds", false},
    {.name = NULL},
};

const rad_machine rad__toy_buffer = {
    .name = "buffer",
    .about = "a bounded buffer with one condition variable and one wakeup for each change",
    .params = buffer_params,
    .bug = "a wakeup can go to a thread of the wrong kind, which sleeps again: then all sleep",
    .bug_site = C_SIGNAL,
    .own = &buffer_toy,
    VM_FUNCTIONS,
};

const rad_machine rad__toy_buffer_if = {
    .name = "buffer-if",
    .about = "a bounded buffer whose threads look at the count only once, before they sleep",
    .params = buffer_params,
    .bug = "a woken thread does not look again: the count leaves 0 ... capacity",
    .bug_site = C_WOKEN,
    .own = &buffer_if_toy,
    .check = rad__vm_check,
    VM_FUNCTIONS,
};
