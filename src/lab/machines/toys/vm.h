/* vm.h — tiny threads over shared words: the language the toy machines are written in.
 *
 * A toy builds programs (vm_load, vm_lock, vm_jump_if …), names the threads that run them, and may add an
 * invariant; the functions that make it a rad_machine are here and the same for all (VM_FUNCTIONS).
 *
 * Steps     one shared operation each. Everything local (registers, jumps, claims, quiet accesses) rides
 *           along with the shared operation before it, up to the next one; what comes before a thread's
 *           first shared operation runs when the thread starts. A thread whose program is over ends in
 *           the step of its last operation. So n threads of k operations have (nk)!/(k!)^n schedules.
 * Objects   cells, mutexes, condition variables, threads if any is joined, and names for reports
 *           (vm_about). An object's number is its place in vm->words, in order of creation.
 * Words     cell: its value; mutex: owner + 1, 0 when free; condition: number of waiters;
 *           thread: 1 when it has ended.
 *
 *           UNBORN --start--> READY --wait--> WAITING --signal--> READY --end of program--> ENDED
 *
 * I1  a READY thread is at a shared operation, and its action is enabled <=> that can run.
 * I2  `wants` of a mutex holds exactly the READY threads that are about to lock it.
 * I3  `joiners` holds exactly the READY threads whose join has to wait. */
#ifndef RAD_LAB_MACHINES_TOYS_VM_H
#define RAD_LAB_MACHINES_TOYS_VM_H

#include <raddle/machine.h>

#include "base/check.h"

enum { VM_REGS = 6, VM_THREADS_MAX = 256 };

/* Operands are registers or small numbers: vm_add(vm, R1, R0, 1). */
enum vm_register { R0 = INT32_MIN, R1, R2, R3, R4, R5, VM_REG_LAST = R5 };

enum vm_relation { VM_EQ = 0, VM_NE, VM_LT, VM_GE };

enum vm_code {
    /* shared: one step each */
    VM_LOAD = 0,  /* to = object */
    VM_STORE,     /* object = x */
    VM_FETCH_ADD, /* to = object; object += x */
    VM_CAS,       /* to = (object == x); if so object = y */
    VM_EXCHANGE,  /* to = object; object = x */
    VM_COMPARE,   /* to = object; if that is x, object = y */
    VM_MEMORY_CODES,
    VM_UNLOCK = VM_MEMORY_CODES,
    VM_WAIT, /* `other` is the mutex; a VM_RELOCK follows */
    VM_SIGNAL,
    VM_BROADCAST,
    VM_SPAWN,  /* thread x */
    VM_PICK,   /* to = any of 0 … x - 1 */
    VM_FOLLOW, /* reads through the pointer that x stands for: 0 is null, and really so */
    VM_YIELD,  /* offers the turn to the others */
    VM_EASY_CODES,
    VM_LOCK = VM_EASY_CODES, /* from here on a thread may have to wait before the operation */
    VM_RELOCK,               /* lock after a wait; `other` is the condition */
    VM_JOIN,                 /* threads x … y - 1, all of them */
    VM_SHARED_CODES,
    VM_END = VM_SHARED_CODES,
    /* local */
    VM_QUIET_LOAD, /* accesses that are no scheduling points: guarded data, ghosts */
    VM_QUIET_STORE,
    VM_SET, /* to = x */
    VM_ADD, /* to = x + y */
    VM_SUB,
    VM_AND,
    VM_AGAIN, /* register y -= 1, then to `to` when it is not 0 */
    VM_JUMP,  /* to `to` when x relation y */
    VM_CLAIM  /* assertion: x relation y; `other` is its text */
};

typedef struct vm_op {
    uint8_t code;     /* enum vm_code */
    uint8_t relation; /* enum vm_relation */
    uint8_t access;   /* enum rad_access, of shared ones */
    uint8_t spare;
    uint32_t site;
    uint32_t object; /* the first of its family */
    int32_t index;   /* added to `object` */
    int32_t x, y;
    uint32_t to; /* register (0 …) or place in the code */
    uint32_t other;
} vm_op;

_Static_assert(sizeof(vm_op) == 32, "two to a cache line");

enum vm_state { VM_UNBORN = 0, VM_READY, VM_WAITING, VM_ENDED };

typedef struct vm_thread {
    int64_t regs[VM_REGS];
    uint32_t pc;
    uint32_t actor; /* also its action: there is one per actor, made together */
    uint32_t state; /* enum vm_state */
    uint32_t fresh; /* spawned and has not stepped yet */
} vm_thread;

_Static_assert(sizeof(vm_thread) == 64, "hashed and copied as it is: no padding");

typedef struct vm_totals {
    uint32_t born, ended;
} vm_totals;

typedef struct rad_vm rad_vm;

/* What is special about one toy: rad_machine.own. */
typedef struct vm_toy {
    void (*build)(rad_vm *vm, const rad_case *c);
    void (*invariant)(const rad_vm *vm, rad_kernel *k); /* or NULL */
    const char *const *sites;                           /* NULL at the end */
} vm_toy;

struct rad_vm {
    const vm_toy *toy;
    rad_case c;
    /* The program: fixed once built. */
    vm_op *code;
    uint32_t code_count, code_capacity;
    const char **texts; /* of claims */
    uint32_t text_count, text_capacity;
    const char **roles; /* of objects */
    uint32_t object_count, role_capacity;
    int64_t *initial; /* words at the start */
    uint32_t initial_capacity;
    vm_thread *plan; /* threads at the start */
    uint32_t thread_count, plan_capacity;
    const char **thread_roles;
    uint32_t thread_role_capacity;
    uint32_t *side; /* per object: number of its wants or queue */
    uint32_t side_capacity;
    uint32_t mutex_count, cond_count;
    uint32_t thread_object; /* of thread 0; RAD_NONE when nobody joins */
    uint32_t set_words;     /* 64-bit words of a set of threads */
    bool joins;             /* some thread joins another */
    bool failed;            /* memory ran out while building */
    /* The state: one block; the parts below are places in it. */
    char *state, *image;
    size_t state_size;
    size_t hashed_size; /* the rest follows from it */
    vm_thread *threads;
    int64_t *words;
    vm_totals *totals;
    uint16_t *born;    /* actor -> thread */
    uint16_t *queues;  /* thread_count per condition: waiters, oldest first, zeros behind */
    uint64_t *wants;   /* set_words per mutex */
    uint64_t *joiners; /* set_words */
    int64_t pointee;   /* what VM_FOLLOW finds */
};

/* ---- The machine's functions ---------------------------------------------------------------------- */

RAD_INTERNAL int rad__vm_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error);
RAD_INTERNAL void rad__vm_destroy(void *self);
RAD_INTERNAL void rad__vm_reset(void *self, rad_kernel *k);
RAD_INTERNAL void rad__vm_step(void *self, rad_kernel *k, uint32_t action);
RAD_INTERNAL enum rad_end rad__vm_idle(void *self, rad_kernel *k);
RAD_INTERNAL void rad__vm_check(void *self, rad_kernel *k);
RAD_INTERNAL void rad__vm_state(const void *self, rad_state_hash *h);
RAD_INTERNAL size_t rad__vm_save(const void *self, void *to);
RAD_INTERNAL void rad__vm_load(void *self, const void *from);
RAD_INTERNAL const char *rad__vm_kind_name(const void *self, uint32_t kind);
RAD_INTERNAL const char *rad__vm_site_name(const void *self, uint32_t site);

/* The part of a rad_machine that all toys share; `check` is added by those with an invariant. VM_BUILT is for one whose
 * create does more. */
#define VM_FUNCTIONS .create = rad__vm_create, VM_BUILT
#define VM_BUILT                                                                                                       \
    .destroy = rad__vm_destroy, .reset = rad__vm_reset, .step = rad__vm_step, .idle = rad__vm_idle,                    \
    .state = rad__vm_state, .save = rad__vm_save, .load = rad__vm_load, .kind_name = rad__vm_kind_name,                \
    .site_name = rad__vm_site_name

/* For invariants. */
static inline int64_t vm_word(const rad_vm *vm, uint32_t object)
{
    return vm->words[object];
}

/* ---- Building --------------------------------------------------------------------------------------
 * Everything returns numbers; memory running out is remembered and reported by rad__vm_create. */

RAD_INTERNAL uint32_t rad__vm_cells(rad_vm *vm, const char *role, uint32_t count, int64_t value);
RAD_INTERNAL uint32_t rad__vm_mutexes(rad_vm *vm, const char *role, uint32_t count);
RAD_INTERNAL uint32_t rad__vm_cond(rad_vm *vm, const char *role);

/* A thread that will run the program at `program`; started at once, or by vm_spawn. */
RAD_INTERNAL uint32_t rad__vm_thread(rad_vm *vm, const char *role, uint32_t program, bool started);

/* A thread "main" that spawns the threads first … first + count - 1, in this order, and ends. */
RAD_INTERNAL void rad__vm_main(rad_vm *vm, uint32_t site, uint32_t first, uint32_t count);

/* The next operation; returns its place. */
RAD_INTERNAL uint32_t rad__vm_emit(rad_vm *vm, vm_op op);
RAD_INTERNAL uint32_t rad__vm_text(rad_vm *vm, const char *text);

static inline uint32_t vm_cell(rad_vm *vm, const char *role, int64_t value)
{
    return rad__vm_cells(vm, role, 1, value);
}

static inline uint32_t vm_mutex(rad_vm *vm, const char *role)
{
    return rad__vm_mutexes(vm, role, 1);
}

/* A name for what a claim is about: the identity of its failure. */
static inline uint32_t vm_about(rad_vm *vm, const char *role)
{
    return rad__vm_cells(vm, role, 1, 0);
}

/* The values a cell and a register of a thread have at the start. */
static inline void vm_cell_starts(rad_vm *vm, uint32_t cell, int64_t value)
{
    if (!vm->failed) vm->initial[cell] = value;
}

static inline void vm_thread_starts(rad_vm *vm, uint32_t thread, enum vm_register r, int64_t value)
{
    if (!vm->failed) vm->plan[thread].regs[r - R0] = value;
}

static inline uint32_t vm_reg(enum vm_register r)
{
    return (uint32_t)(r - R0);
}

/* Where the next operation will be: a program's beginning, or where to jump back to. */
static inline uint32_t vm_here(const rad_vm *vm)
{
    return vm->code_count;
}

static inline void vm_end(rad_vm *vm)
{
    rad__vm_emit(vm, (vm_op){.code = VM_END});
}

/* ---- Shared operations; each has a site. Those with _at take object number `object + index`. ------- */

static inline void vm_load_at(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object, int32_t index)
{
    rad__vm_emit(vm, (vm_op){.code = VM_LOAD, .site = site, .object = object, .index = index, .to = vm_reg(to)});
}

static inline void vm_load(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object)
{
    vm_load_at(vm, site, to, object, 0);
}

static inline void vm_store_at(rad_vm *vm, uint32_t site, uint32_t object, int32_t index, int32_t x)
{
    rad__vm_emit(vm, (vm_op){.code = VM_STORE, .site = site, .object = object, .index = index, .x = x});
}

static inline void vm_store(rad_vm *vm, uint32_t site, uint32_t object, int32_t x)
{
    vm_store_at(vm, site, object, 0, x);
}

static inline void vm_fetch_add_at(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object, int32_t index,
                                   int32_t x)
{
    rad__vm_emit(
        vm, (vm_op){.code = VM_FETCH_ADD, .site = site, .object = object, .index = index, .x = x, .to = vm_reg(to)});
}

static inline void vm_fetch_add(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object, int32_t x)
{
    vm_fetch_add_at(vm, site, to, object, 0, x);
}

/* to = 1 when the object was `expected` and is now `desired`, else 0. */
static inline void vm_cas(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object, int32_t expected,
                          int32_t desired)
{
    rad__vm_emit(
        vm, (vm_op){.code = VM_CAS, .site = site, .object = object, .x = expected, .y = desired, .to = vm_reg(to)});
}

/* to = what the object was before it became x. */
static inline void vm_exchange_at(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object, int32_t index,
                                  int32_t x)
{
    rad__vm_emit(
        vm, (vm_op){.code = VM_EXCHANGE, .site = site, .object = object, .index = index, .x = x, .to = vm_reg(to)});
}

static inline void vm_exchange(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object, int32_t x)
{
    vm_exchange_at(vm, site, to, object, 0, x);
}

/* to = what the object was; it is `desired` now if that was `expected`. */
static inline void vm_compare_exchange(rad_vm *vm, uint32_t site, enum vm_register to, uint32_t object,
                                       int32_t expected, int32_t desired)
{
    rad__vm_emit(
        vm, (vm_op){.code = VM_COMPARE, .site = site, .object = object, .x = expected, .y = desired, .to = vm_reg(to)});
}

static inline void vm_lock_at(rad_vm *vm, uint32_t site, uint32_t mutex, int32_t index)
{
    rad__vm_emit(vm, (vm_op){.code = VM_LOCK, .site = site, .object = mutex, .index = index});
}

static inline void vm_lock(rad_vm *vm, uint32_t site, uint32_t mutex)
{
    vm_lock_at(vm, site, mutex, 0);
}

static inline void vm_unlock_at(rad_vm *vm, uint32_t site, uint32_t mutex, int32_t index)
{
    rad__vm_emit(vm, (vm_op){.code = VM_UNLOCK, .site = site, .object = mutex, .index = index});
}

static inline void vm_unlock(rad_vm *vm, uint32_t site, uint32_t mutex)
{
    vm_unlock_at(vm, site, mutex, 0);
}

/* Two steps: release the mutex and sleep; once woken, lock it again (at the site `again`). */
static inline void vm_wait(rad_vm *vm, uint32_t site, uint32_t again, uint32_t cond, uint32_t mutex)
{
    rad__vm_emit(vm, (vm_op){.code = VM_WAIT, .site = site, .object = cond, .other = mutex});
    rad__vm_emit(vm, (vm_op){.code = VM_RELOCK, .site = again, .object = mutex, .other = cond});
}

/* Wakes one waiter (a choice), or all; without a waiter it is lost. */
static inline void vm_signal(rad_vm *vm, uint32_t site, uint32_t cond)
{
    rad__vm_emit(vm, (vm_op){.code = VM_SIGNAL, .site = site, .object = cond});
}

static inline void vm_broadcast(rad_vm *vm, uint32_t site, uint32_t cond)
{
    rad__vm_emit(vm, (vm_op){.code = VM_BROADCAST, .site = site, .object = cond});
}

static inline void vm_spawn(rad_vm *vm, uint32_t site, uint32_t thread)
{
    rad__vm_emit(vm, (vm_op){.code = VM_SPAWN, .object = RAD_NONE, .site = site, .x = (int32_t)thread});
}

/* Waits until the threads first … first + count - 1 have ended: one step. */
static inline void vm_join(rad_vm *vm, uint32_t site, uint32_t first, uint32_t count)
{
    rad__vm_emit(vm, (vm_op){.code = VM_JOIN, .site = site, .x = (int32_t)first, .y = (int32_t)(first + count)});
}

static inline void vm_pick(rad_vm *vm, uint32_t site, enum vm_register to, int32_t count)
{
    rad__vm_emit(vm, (vm_op){.code = VM_PICK, .object = RAD_NONE, .site = site, .x = count, .to = vm_reg(to)});
}

/* Follows the pointer that `x` means; `object` is what it should point to. */
static inline void vm_follow(rad_vm *vm, uint32_t site, uint32_t object, int32_t x)
{
    rad__vm_emit(vm, (vm_op){.code = VM_FOLLOW, .site = site, .object = object, .x = x});
}

/* A step without effect, after which the baseline and `pct` prefer other threads: for loops that spin. */
static inline void vm_yield(rad_vm *vm, uint32_t site)
{
    rad__vm_emit(vm, (vm_op){.code = VM_YIELD, .object = RAD_NONE, .site = site});
}

/* ---- Local operations ------------------------------------------------------------------------------ */

static inline void vm_quiet_load(rad_vm *vm, enum vm_register to, uint32_t object, int32_t index)
{
    rad__vm_emit(vm, (vm_op){.code = VM_QUIET_LOAD, .object = object, .index = index, .to = vm_reg(to)});
}

static inline void vm_quiet_store(rad_vm *vm, uint32_t object, int32_t index, int32_t x)
{
    rad__vm_emit(vm, (vm_op){.code = VM_QUIET_STORE, .object = object, .index = index, .x = x});
}

static inline void vm_set(rad_vm *vm, enum vm_register to, int32_t x)
{
    rad__vm_emit(vm, (vm_op){.code = VM_SET, .x = x, .to = vm_reg(to)});
}

static inline void vm_add(rad_vm *vm, enum vm_register to, int32_t x, int32_t y)
{
    rad__vm_emit(vm, (vm_op){.code = VM_ADD, .x = x, .y = y, .to = vm_reg(to)});
}

static inline void vm_sub(rad_vm *vm, enum vm_register to, int32_t x, int32_t y)
{
    rad__vm_emit(vm, (vm_op){.code = VM_SUB, .x = x, .y = y, .to = vm_reg(to)});
}

static inline void vm_and(rad_vm *vm, enum vm_register to, int32_t x, int32_t y)
{
    rad__vm_emit(vm, (vm_op){.code = VM_AND, .x = x, .y = y, .to = vm_reg(to)});
}

/* Forward: the place to give to vm_land. */
static inline uint32_t vm_jump_if(rad_vm *vm, int32_t x, enum vm_relation relation, int32_t y)
{
    return rad__vm_emit(vm, (vm_op){.code = VM_JUMP, .relation = (uint8_t)relation, .x = x, .y = y});
}

static inline uint32_t vm_jump(rad_vm *vm)
{
    return vm_jump_if(vm, 0, VM_EQ, 0);
}

static inline void vm_land(rad_vm *vm, uint32_t jump)
{
    if (!vm->failed) vm->code[jump].to = vm->code_count;
}

/* Backward, to a place that vm_here gave. */
static inline void vm_back_if(rad_vm *vm, uint32_t to, int32_t x, enum vm_relation relation, int32_t y)
{
    rad__vm_emit(vm, (vm_op){.code = VM_JUMP, .relation = (uint8_t)relation, .x = x, .y = y, .to = to});
}

static inline void vm_back(rad_vm *vm, uint32_t to)
{
    vm_back_if(vm, to, 0, VM_EQ, 0);
}

/* Counts `r` down and goes back while it is not zero. */
static inline void vm_again(rad_vm *vm, uint32_t to, enum vm_register r)
{
    rad__vm_emit(vm, (vm_op){.code = VM_AGAIN, .y = (int32_t)vm_reg(r), .to = to});
}

/* An assertion of the program on trial. */
static inline void vm_claim(rad_vm *vm, int32_t x, enum vm_relation relation, int32_t y, uint32_t about,
                            const char *text)
{
    uint32_t number = rad__vm_text(vm, text);
    rad__vm_emit(
        vm, (vm_op){.code = VM_CLAIM, .relation = (uint8_t)relation, .object = about, .x = x, .y = y, .other = number});
}

#endif
