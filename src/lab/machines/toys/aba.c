/* aba.c — a lock-free stack (Treiber 1986) that uses its nodes again.
 *
 *     popper                                recycler                   stack
 *     read top: 1, read its next: 2                                    1 2 3
 *                                           pop 1, pop 2, push 1       1 3
 *     top is 1, as before: compare-and-swap to 2 succeeds              2 3      but 2 is in use
 *
 * Twin: the word `top` also carries a version that every change raises. In both, top = node + version;
 * versions are multiples of 256, and without the repair the version stays 0.
 *
 * The ghost cells `in use` record who has a node; they are no part of the algorithm. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { POPPERS, RECYCLERS, NODES };
enum { POP_TOP, POP_NEXT, POP_CAS, PUSH_TOP, PUSH_NEXT, PUSH_CAS, JOIN };
enum { NODE_MASK = 255, VERSION = 256 };

static const char *const aba_sites[] = {
    [POP_TOP] = "pop: read top",
    [POP_NEXT] = "pop: read next",
    [POP_CAS] = "pop: swap top",
    [PUSH_TOP] = "push: read top",
    [PUSH_NEXT] = "push: write next",
    [PUSH_CAS] = "push: swap top",
    [JOIN] = "checker: wait for the others",
    NULL,
};

typedef struct aba_stack {
    uint32_t top, next, in_use, wrong; /* node i is next + i, in_use + i; 0 is none */
    int32_t raise;                     /* what a change adds to the version */
} aba_stack;

/* R1 = a node taken from the stack, or 0 when it is empty. Uses R0, R2, R3. */
static void aba_pop(rad_vm *vm, const aba_stack *s)
{
    uint32_t again = vm_here(vm);
    vm_load(vm, POP_TOP, R0, s->top);
    vm_and(vm, R1, R0, NODE_MASK);
    uint32_t empty = vm_jump_if(vm, R1, VM_EQ, 0);
    vm_load_at(vm, POP_NEXT, R2, s->next, R1);
    vm_sub(vm, R3, R0, R1);
    vm_add(vm, R2, R2, R3);
    vm_add(vm, R2, R2, s->raise);
    vm_cas(vm, POP_CAS, R3, s->top, R0, R2);
    vm_back_if(vm, again, R3, VM_EQ, 0);
    vm_quiet_load(vm, R3, s->in_use, R1);
    vm_claim(vm, R3, VM_EQ, 0, s->wrong, "users of a node that was just popped");
    vm_quiet_store(vm, s->in_use, R1, 1);
    vm_land(vm, empty);
}

/* Puts node R4 on the stack. Uses R0, R1, R3, R5. */
static void aba_push(rad_vm *vm, const aba_stack *s)
{
    vm_quiet_store(vm, s->in_use, R4, 0);
    uint32_t again = vm_here(vm);
    vm_load(vm, PUSH_TOP, R0, s->top);
    vm_and(vm, R1, R0, NODE_MASK);
    vm_store_at(vm, PUSH_NEXT, s->next, R4, R1);
    vm_sub(vm, R3, R0, R1);
    vm_add(vm, R3, R3, s->raise);
    vm_add(vm, R3, R3, R4);
    vm_cas(vm, PUSH_CAS, R5, s->top, R0, R3);
    vm_back_if(vm, again, R5, VM_EQ, 0);
}

static uint32_t aba_recycler(rad_vm *vm, const aba_stack *s)
{
    uint32_t program = vm_here(vm);
    aba_pop(vm, s);
    vm_set(vm, R4, R1);
    aba_pop(vm, s); /* and keeps it */
    uint32_t none = vm_jump_if(vm, R4, VM_EQ, 0);
    aba_push(vm, s);
    vm_land(vm, none);
    vm_end(vm);
    return program;
}

/* When all have ended: takes what is left; then every node must have exactly one user. */
static uint32_t aba_checker(rad_vm *vm, const aba_stack *s, uint32_t others, int32_t nodes)
{
    uint32_t program = vm_here(vm);
    vm_join(vm, JOIN, 0, others);
    uint32_t again = vm_here(vm);
    aba_pop(vm, s);
    vm_back_if(vm, again, R1, VM_NE, 0);
    vm_set(vm, R4, 0);
    for (int32_t i = 1; i <= nodes; i++) {
        vm_quiet_load(vm, R3, s->in_use, i);
        vm_add(vm, R4, R4, R3);
    }
    vm_claim(vm, R4, VM_EQ, nodes, s->wrong, "nodes found again in the end");
    vm_end(vm);
    return program;
}

static void aba_build(rad_vm *vm, const rad_case *c)
{
    uint32_t nodes = (uint32_t)c->params[NODES];
    uint32_t others = (uint32_t)(c->params[POPPERS] + c->params[RECYCLERS]);
    aba_stack s = {
        .top = vm_cell(vm, "top", 1),
        .next = rad__vm_cells(vm, "next", nodes + 1, 0),
        .in_use = rad__vm_cells(vm, "in use", nodes + 1, 0),
        .wrong = vm_about(vm, "stack"),
        .raise = c->repaired ? VERSION : 0,
    };
    for (uint32_t i = 1; i < nodes; i++) vm_cell_starts(vm, s.next + i, i + 1);

    uint32_t popper = vm_here(vm);
    aba_pop(vm, &s);
    vm_end(vm);
    uint32_t recycler = aba_recycler(vm, &s);
    uint32_t checker = aba_checker(vm, &s, others, (int32_t)nodes);
    for (int64_t i = 0; i < c->params[POPPERS]; i++) rad__vm_thread(vm, "popper", popper, true);
    for (int64_t i = 0; i < c->params[RECYCLERS]; i++) rad__vm_thread(vm, "recycler", recycler, true);
    rad__vm_thread(vm, "checker", checker, true);
}

static const vm_toy aba_toy = {.build = aba_build, .sites = aba_sites};

static const rad_param aba_params[] = {
    [POPPERS] = {"poppers", 1, 1, 16, "threads that pop one node", false},
    [RECYCLERS] = {"recyclers", 1, 1, 16, "threads that pop two nodes and push the first", false},
    [NODES] = {"nodes", 3, 2, 64, "nodes on the stack at the start", false},
    {.name = NULL},
};

const rad_machine rad__toy_aba = {
    .name = "aba",
    .about = "a lock-free stack whose nodes are used again",
    .params = aba_params,
    .bug = "top can be the same node as before and yet another stack: a node in use comes back",
    .bug_site = POP_CAS,
    .own = &aba_toy,
    VM_FUNCTIONS,
};
