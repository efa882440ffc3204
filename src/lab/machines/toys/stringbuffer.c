/* stringbuffer.c — StringBuffer.append of Java 1.4 (Flanagan and Qadeer 2003; SCTBench stringbuffer-jdk1.4).
 *
 * append(other) locks its own buffer, asks the other buffer for its length, then for that many characters.
 * The other buffer locks itself in each of the two calls, but nobody holds it from one to the next:
 *
 *     appender                              eraser
 *     length of the shared buffer: 3
 *                                           erase: 0 characters are left
 *     copy 3 characters: there are none
 *                                           append "abc": 3 again
 *
 * `count` is read as often as the C++ version of SCTBench does. The appender's own buffer is private: only its
 * lock is there, because locking is a step. Fixed: the other buffer stays locked over both calls. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { ROUNDS };
enum { TEXT = 3 }; /* characters of "abc" */
enum {
    SPAWN,
    E_LOCK,
    E_END,
    E_REST,
    E_READ,
    E_WRITE,
    E_UNLOCK,
    P_LOCK,
    P_READ,
    P_PLACE,
    P_WRITE,
    P_UNLOCK,
    A_OWN_LOCK,
    A_LENGTH_LOCK,
    A_LENGTH,
    A_LENGTH_UNLOCK,
    A_COPY_LOCK,
    A_COPY,
    A_COPY_UNLOCK,
    A_OWN_UNLOCK
};

static const char *const stringbuffer_sites[] = {
    [SPAWN] = "main: spawn",
    [E_LOCK] = "erase: lock",
    [E_END] = "erase: read count, for the end",
    [E_REST] = "erase: read count, for the rest",
    [E_READ] = "erase: read count",
    [E_WRITE] = "erase: write count",
    [E_UNLOCK] = "erase: unlock",
    [P_LOCK] = "append text: lock",
    [P_READ] = "append text: read count",
    [P_PLACE] = "append text: read count, for the place",
    [P_WRITE] = "append text: write count",
    [P_UNLOCK] = "append text: unlock",
    [A_OWN_LOCK] = "append: lock own buffer",
    [A_LENGTH_LOCK] = "length: lock",
    [A_LENGTH] = "length: read count",
    [A_LENGTH_UNLOCK] = "length: unlock",
    [A_COPY_LOCK] = "copy: lock",
    [A_COPY] = "copy: read count",
    [A_COPY_UNLOCK] = "copy: unlock",
    [A_OWN_UNLOCK] = "append: unlock own buffer",
    NULL,
};

typedef struct stringbuffer_parts {
    uint32_t count, lock, own_lock, wrong;
    bool locked_over_both;
} stringbuffer_parts;

static uint32_t stringbuffer_eraser(rad_vm *vm, const stringbuffer_parts *p)
{
    uint32_t program = vm_here(vm);
    vm_lock(vm, E_LOCK, p->lock);
    vm_load(vm, E_END, R0, p->count); /* erases up to here */
    vm_load(vm, E_REST, R1, p->count);
    vm_load(vm, E_READ, R1, p->count);
    vm_sub(vm, R1, R1, R0);
    vm_store(vm, E_WRITE, p->count, R1);
    vm_unlock(vm, E_UNLOCK, p->lock);
    vm_lock(vm, P_LOCK, p->lock);
    vm_load(vm, P_READ, R0, p->count);
    vm_load(vm, P_PLACE, R1, p->count);
    vm_add(vm, R0, R0, TEXT);
    vm_store(vm, P_WRITE, p->count, R0);
    vm_unlock(vm, P_UNLOCK, p->lock);
    vm_again(vm, program, R5);
    vm_end(vm);
    return program;
}

static uint32_t stringbuffer_appender(rad_vm *vm, const stringbuffer_parts *p)
{
    uint32_t program = vm_here(vm);
    vm_lock(vm, A_OWN_LOCK, p->own_lock);
    vm_lock(vm, A_LENGTH_LOCK, p->lock);
    vm_load(vm, A_LENGTH, R0, p->count);
    if (!p->locked_over_both) {
        vm_unlock(vm, A_LENGTH_UNLOCK, p->lock);
        vm_lock(vm, A_COPY_LOCK, p->lock);
    }
    vm_load(vm, A_COPY, R1, p->count);
    vm_claim(vm, R1, VM_GE, R0, p->wrong, "characters to copy from a buffer of that length");
    vm_unlock(vm, A_COPY_UNLOCK, p->lock);
    vm_unlock(vm, A_OWN_UNLOCK, p->own_lock);
    vm_again(vm, program, R5);
    vm_end(vm);
    return program;
}

static void stringbuffer_build(rad_vm *vm, const rad_case *c)
{
    stringbuffer_parts p = {
        .count = vm_cell(vm, "count", TEXT),
        .lock = vm_mutex(vm, "shared buffer"),
        .own_lock = vm_mutex(vm, "own buffer"),
        .wrong = vm_about(vm, "stale length"),
        .locked_over_both = c->repaired,
    };
    uint32_t eraser = stringbuffer_eraser(vm, &p), appender = stringbuffer_appender(vm, &p);
    vm_thread_starts(vm, rad__vm_thread(vm, "eraser", eraser, false), R5, c->params[ROUNDS]);
    vm_thread_starts(vm, rad__vm_thread(vm, "appender", appender, false), R5, c->params[ROUNDS]);
    rad__vm_main(vm, SPAWN, 0, 2);
}

static const vm_toy stringbuffer_toy = {.build = stringbuffer_build, .sites = stringbuffer_sites};

static const rad_param stringbuffer_params[] = {
    [ROUNDS] = {"rounds", 1, 1, 16, "how often each thread does its part", false},
    {.name = NULL},
};

const rad_machine rad__toy_stringbuffer = {
    .name = "stringbuffer",
    .about = "one thread appends a buffer to its own while another erases it (SCTBench "
             "stringbuffer-jdk1.4)",
    .params = stringbuffer_params,
    .bug = "the buffer can be erased between asking for its length and copying as many characters",
    .bug_site = A_COPY,
    .own = &stringbuffer_toy,
    VM_FUNCTIONS,
};
