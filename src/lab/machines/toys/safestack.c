/* safestack.c — SafeStack, a lock-free stack of indices (Dmitry Vyukov 2010; SCTBench safestack).
 *
 * Each thread pops an index, writes its number into that element, looks whether it is still there, and pushes
 * the index back. `pop` takes the `next` of the top element away (-1) before it swaps the head, which is meant
 * to keep others from popping the same element, and puts it back when the swap fails. The last element is
 * never popped. The bug is known to need three threads and at least five preemptions:
 *
 *   - A reads the head h and stops; h is popped by B, which pushes it again and has written next[h];
 *   - A takes that next[h]. B finds the head changed, writes another next[h], and h is the head again;
 *   - A's swap succeeds: the head becomes the element that was below h a while ago, and is in use.
 *
 * Fixed: the head carries a version that each change raises, and `pop` reads `next` without taking it. In both
 * versions head = element + version; versions are multiples of 256, and stay 0 without the fix. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { THREADS, ELEMENTS, ROUNDS };
enum { ELEMENT_MASK = 255, VERSION = 256 };
enum {
    SPAWN,
    POP_COUNT,
    POP_HEAD,
    POP_NEXT,
    POP_SWAP,
    POP_RESTORE,
    POP_TAKEN,
    POP_YIELD,
    YIELD,
    USE_WRITE,
    USE_READ,
    PUSH_HEAD,
    PUSH_NEXT,
    PUSH_SWAP,
    PUSH_COUNT
};

static const char *const safestack_sites[] = {
    [SPAWN] = "main: spawn",
    [POP_COUNT] = "pop: read count",
    [POP_HEAD] = "pop: read head",
    [POP_NEXT] = "pop: take next",
    [POP_SWAP] = "pop: swap head",
    [POP_RESTORE] = "pop: put next back",
    [POP_TAKEN] = "pop: lower count",
    [POP_YIELD] = "pop: next is taken, yield",
    [YIELD] = "user: nothing to pop, yield",
    [USE_WRITE] = "user: write element",
    [USE_READ] = "user: read element",
    [PUSH_HEAD] = "push: read head",
    [PUSH_NEXT] = "push: write next",
    [PUSH_SWAP] = "push: swap head",
    [PUSH_COUNT] = "push: raise count",
    NULL,
};

typedef struct safestack_parts {
    uint32_t head, count, next, value, wrong; /* element i is next + i, value + i */
    bool versions;
} safestack_parts;

/* R1 = an element that was popped; tries until there is one. Uses R0, R2, R3. */
static void safestack_pop(rad_vm *vm, const safestack_parts *s)
{
    uint32_t again = vm_here(vm);
    vm_load(vm, POP_COUNT, R0, s->count);
    uint32_t some = vm_jump_if(vm, R0, VM_GE, 2);
    vm_yield(vm, YIELD);
    vm_back(vm, again);
    vm_land(vm, some);
    vm_load(vm, POP_HEAD, R0, s->head);
    vm_and(vm, R1, R0, ELEMENT_MASK);
    if (s->versions)
        vm_load_at(vm, POP_NEXT, R2, s->next, R1);
    else
        vm_exchange_at(vm, POP_NEXT, R2, s->next, R1, -1);
    uint32_t has_next = vm_jump_if(vm, R2, VM_GE, 0);
    vm_yield(vm, POP_YIELD);
    vm_back(vm, again);
    vm_land(vm, has_next);
    if (s->versions) {
        vm_sub(vm, R3, R0, R1);
        vm_add(vm, R2, R2, R3);
        vm_add(vm, R2, R2, VERSION);
        vm_cas(vm, POP_SWAP, R3, s->head, R0, R2);
        vm_back_if(vm, again, R3, VM_EQ, 0);
    } else {
        vm_cas(vm, POP_SWAP, R3, s->head, R0, R2);
        uint32_t popped = vm_jump_if(vm, R3, VM_NE, 0);
        vm_exchange_at(vm, POP_RESTORE, R3, s->next, R1, R2);
        vm_back(vm, again);
        vm_land(vm, popped);
    }
    vm_fetch_add(vm, POP_TAKEN, R3, s->count, -1);
}

/* Puts element R1 back. Uses R0, R2, R3, R4. */
static void safestack_push(rad_vm *vm, const safestack_parts *s)
{
    vm_load(vm, PUSH_HEAD, R0, s->head);
    uint32_t again = vm_here(vm);
    vm_and(vm, R2, R0, ELEMENT_MASK);
    vm_store_at(vm, PUSH_NEXT, s->next, R1, R2);
    vm_sub(vm, R3, R0, R2);
    vm_add(vm, R3, R3, R1);
    if (s->versions) vm_add(vm, R3, R3, VERSION);
    vm_compare_exchange(vm, PUSH_SWAP, R4, s->head, R0, R3);
    uint32_t pushed = vm_jump_if(vm, R4, VM_EQ, R0);
    vm_set(vm, R0, R4);
    vm_back(vm, again);
    vm_land(vm, pushed);
    vm_fetch_add(vm, PUSH_COUNT, R3, s->count, 1);
}

/* Each user has a program of its own: the number that it writes is in it. */
static uint32_t safestack_user(rad_vm *vm, const safestack_parts *s, int32_t number)
{
    uint32_t program = vm_here(vm);
    safestack_pop(vm, s);
    vm_store_at(vm, USE_WRITE, s->value, R1, number);
    vm_load_at(vm, USE_READ, R0, s->value, R1);
    vm_claim(vm, R0, VM_EQ, number, s->wrong, "number in an element of one's own");
    safestack_push(vm, s);
    vm_again(vm, program, R5);
    vm_end(vm);
    return program;
}

static void safestack_build(rad_vm *vm, const rad_case *c)
{
    uint32_t elements = (uint32_t)c->params[ELEMENTS], threads = (uint32_t)c->params[THREADS];
    safestack_parts s = {
        .head = vm_cell(vm, "head", 0),
        .count = vm_cell(vm, "count", elements),
        .next = rad__vm_cells(vm, "next", elements, -1),
        .value = rad__vm_cells(vm, "element", elements, 0),
        .wrong = vm_about(vm, "element of two threads"),
        .versions = c->repaired,
    };
    for (uint32_t i = 0; i + 1 < elements; i++) vm_cell_starts(vm, s.next + i, i + 1);
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t program = safestack_user(vm, &s, (int32_t)i);
        vm_thread_starts(vm, rad__vm_thread(vm, "user", program, false), R5, c->params[ROUNDS]);
    }
    rad__vm_main(vm, SPAWN, 0, threads);
}

static const vm_toy safestack_toy = {.build = safestack_build, .sites = safestack_sites};

static const rad_param safestack_params[] = {
    [THREADS] = {"threads", 3, 1, 16, "threads", false},
    [ELEMENTS] = {"elements", 3, 2, 64, "elements of the stack", false},
    [ROUNDS] = {"rounds", 2, 1, 16, "how often each thread pops and pushes", false},
    {.name = NULL},
};

const rad_machine rad__toy_safestack = {
    .name = "safestack",
    .about = "a lock-free stack whose pop takes the link of the top element first (SafeStack)",
    .params = safestack_params,
    .bug = "pop can take the link of an element that is just being pushed again",
    .bug_site = USE_READ,
    .own = &safestack_toy,
    VM_FUNCTIONS,
};
