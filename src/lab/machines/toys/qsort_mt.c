/* qsort_mt.c — a quicksort with a pool of threads (Spinellis 2006 for FreeBSD; SCTBench qsort_mt).
 *
 * Worker i waits on a condition until its state is `work`, then sorts elements a … a + n - 1 of the list. Where
 * both parts are large enough, a worker gives the left one to an idle worker and continues with the right one.
 * The last worker to become idle ends the others. In the end main looks whether the list is in order.
 *
 * Giving away changes the state under the lock of the pool, before the worker itself is locked:
 *
 *     giver                                 worker, not yet asleep
 *     state = work
 *                                           lock, state is work, unlock; sorts nothing: no part yet
 *                                           state = idle, sleeps
 *     lock the worker, write a and n,
 *     signal: the state is idle             sleeps on; that part is never sorted
 *
 * Fixed: the giver locks the worker before it changes the state. Reads and writes of elements can be steps of
 * their own (accesses=1) or part of the step before (accesses=0), as in tools that stop only where a race was
 * seen. The list is sorted for real, by the first element and, below 7 elements, by insertion. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { ELEMENTS, THREADS, FORK, ACCESSES };
enum { IDLE, WORK, TERM };
enum { SMALL = 7, WORKERS_MAX = 16 };

enum {
    SPAWN,
    M_LOCK,
    M_BEGIN,
    M_COUNT,
    M_WORK,
    M_IDLE,
    M_LESS_IDLE,
    M_SIGNAL,
    M_UNLOCK,
    M_JOIN,
    M_CHECK,
    W_LOCK,
    W_STATE,
    W_WAIT,
    W_WOKEN,
    W_UNLOCK,
    W_TERM,
    W_WORK,
    W_BEGIN,
    W_COUNT,
    OWN_BEGIN,
    OWN_COUNT,
    G_LOCK_POOL,
    G_STATE,
    G_IDLE,
    G_LESS_IDLE,
    G_WORK,
    G_LOCK,
    G_UNLOCK_POOL,
    G_BEGIN,
    G_COUNT,
    G_SIGNAL,
    G_UNLOCK,
    D_LOCK_POOL,
    D_STATE,
    D_IDLE,
    D_MORE_IDLE,
    D_ALL_IDLE,
    D_LOCK,
    D_TERM,
    D_SIGNAL,
    D_UNLOCK,
    D_UNLOCK_POOL,
    X_READ,
    X_WRITE
};

static const char *const qsort_sites[] = {
    [SPAWN] = "main: spawn",
    [M_LOCK] = "main: lock worker",
    [M_BEGIN] = "main: write a",
    [M_COUNT] = "main: write n",
    [M_WORK] = "main: write state",
    [M_IDLE] = "main: read idle",
    [M_LESS_IDLE] = "main: write idle",
    [M_SIGNAL] = "main: signal",
    [M_UNLOCK] = "main: unlock worker",
    [M_JOIN] = "main: wait for the workers",
    [M_CHECK] = "main: read element",
    [W_LOCK] = "worker: lock",
    [W_STATE] = "worker: read state",
    [W_WAIT] = "worker: wait",
    [W_WOKEN] = "worker: woken, lock again",
    [W_UNLOCK] = "worker: unlock",
    [W_TERM] = "worker: read state, is it the end",
    [W_WORK] = "worker: read state, is there work",
    [W_BEGIN] = "worker: read a",
    [W_COUNT] = "worker: read n",
    [OWN_BEGIN] = "worker: write a of its left part",
    [OWN_COUNT] = "worker: write n of its left part",
    [G_LOCK_POOL] = "give: lock pool",
    [G_STATE] = "give: read state",
    [G_IDLE] = "give: read idle",
    [G_LESS_IDLE] = "give: write idle",
    [G_WORK] = "give: write state",
    [G_LOCK] = "give: lock worker",
    [G_UNLOCK_POOL] = "give: unlock pool",
    [G_BEGIN] = "give: write a",
    [G_COUNT] = "give: write n",
    [G_SIGNAL] = "give: signal",
    [G_UNLOCK] = "give: unlock worker",
    [D_LOCK_POOL] = "done: lock pool",
    [D_STATE] = "done: write state",
    [D_IDLE] = "done: read idle",
    [D_MORE_IDLE] = "done: write idle",
    [D_ALL_IDLE] = "done: read idle again",
    [D_LOCK] = "end: lock worker",
    [D_TERM] = "end: write state",
    [D_SIGNAL] = "end: signal",
    [D_UNLOCK] = "end: unlock worker",
    [D_UNLOCK_POOL] = "done: unlock pool",
    [X_READ] = "sort: read element",
    [X_WRITE] = "sort: write element",
    NULL,
};

/* Worker i has state + i, begin + i …; `begin` is the number of the first element + 1, and 0 before there is one. */
typedef struct qsort_parts {
    uint32_t list, state, begin, count, lock, wake; /* families */
    uint32_t pool, idle, wrong;
    uint32_t top, pending_begin, pending_end; /* of one worker: a stack of right parts */
    int32_t elements, workers, fork;
    bool quiet, locks_first;
} qsort_parts;

static void qsort_read(rad_vm *vm, const qsort_parts *p, enum vm_register to, int32_t offset, int32_t index)
{
    uint32_t list = p->list + (uint32_t)offset;
    if (p->quiet)
        vm_quiet_load(vm, to, list, index);
    else
        vm_load_at(vm, X_READ, to, list, index);
}

static void qsort_write(rad_vm *vm, const qsort_parts *p, int32_t offset, int32_t index, int32_t x)
{
    uint32_t list = p->list + (uint32_t)offset;
    if (p->quiet)
        vm_quiet_store(vm, list, index, x);
    else
        vm_store_at(vm, X_WRITE, list, index, x);
}

/* Sorts the elements R0 … R1 - 1 by insertion. Uses all registers. */
static void qsort_insert(rad_vm *vm, const qsort_parts *p)
{
    vm_add(vm, R3, R0, 1);
    uint32_t each = vm_here(vm);
    uint32_t all = vm_jump_if(vm, R3, VM_GE, R1);
    vm_set(vm, R4, R3);
    uint32_t down = vm_here(vm);
    uint32_t bottom = vm_jump_if(vm, R0, VM_GE, R4);
    qsort_read(vm, p, R2, -1, R4);
    qsort_read(vm, p, R5, 0, R4);
    uint32_t placed = vm_jump_if(vm, R5, VM_GE, R2);
    qsort_write(vm, p, -1, R4, R5);
    qsort_write(vm, p, 0, R4, R2);
    vm_sub(vm, R4, R4, 1);
    vm_back(vm, down);
    vm_land(vm, bottom);
    vm_land(vm, placed);
    vm_add(vm, R3, R3, 1);
    vm_back(vm, each);
    vm_land(vm, all);
}

/* Elements less than the first one come to the left of it: R3 is where it is now. Uses all registers. */
static void qsort_partition(rad_vm *vm, const qsort_parts *p)
{
    vm_set(vm, R3, R0);
    vm_set(vm, R4, R0);
    uint32_t each = vm_here(vm);
    vm_add(vm, R4, R4, 1);
    uint32_t all = vm_jump_if(vm, R4, VM_GE, R1);
    qsort_read(vm, p, R5, 0, R4);
    qsort_read(vm, p, R2, 0, R0);
    vm_back_if(vm, each, R5, VM_GE, R2);
    vm_add(vm, R3, R3, 1);
    qsort_read(vm, p, R2, 0, R3);
    qsort_write(vm, p, 0, R3, R5);
    qsort_write(vm, p, 0, R4, R2);
    vm_back(vm, each);
    vm_land(vm, all);
    qsort_read(vm, p, R2, 0, R0);
    qsort_read(vm, p, R5, 0, R3);
    qsort_write(vm, p, 0, R0, R5);
    qsort_write(vm, p, 0, R3, R2);
}

/* Gives the part that begins at R0 and has R4 elements to worker i, if that is idle: then it jumps to the place
 * that is returned. Uses R2. */
static uint32_t qsort_give_to(rad_vm *vm, const qsort_parts *p, int32_t i)
{
    vm_load_at(vm, G_STATE, R2, p->state, i);
    uint32_t busy = vm_jump_if(vm, R2, VM_NE, IDLE);
    vm_load(vm, G_IDLE, R2, p->idle);
    vm_sub(vm, R2, R2, 1);
    vm_store(vm, G_LESS_IDLE, p->idle, R2);
    if (p->locks_first) vm_lock_at(vm, G_LOCK, p->lock, i);
    vm_store_at(vm, G_WORK, p->state, i, WORK);
    if (!p->locks_first) vm_lock_at(vm, G_LOCK, p->lock, i);
    vm_unlock(vm, G_UNLOCK_POOL, p->pool);
    vm_add(vm, R2, R0, 1);
    vm_store_at(vm, G_BEGIN, p->begin, i, R2);
    vm_store_at(vm, G_COUNT, p->count, i, R4);
    vm_signal(vm, G_SIGNAL, p->wake + (uint32_t)i);
    vm_unlock_at(vm, G_UNLOCK, p->lock, i);
    uint32_t given = vm_jump(vm);
    vm_land(vm, busy);
    return given;
}

/* Claims something of a register; a worker for which that does not hold ends, so that it touches nothing else. */
static void qsort_must(rad_vm *vm, const qsort_parts *p, enum vm_register r, enum vm_relation relation, int32_t y,
                       const char *text)
{
    vm_claim(vm, r, relation, y, p->wrong, text);
    uint32_t good = vm_jump_if(vm, r, relation, y);
    vm_end(vm);
    vm_land(vm, good);
}

/* R0, R1 = the part that the worker's own `begin` and `count` name. */
static void qsort_own_part(rad_vm *vm, const qsort_parts *p, int32_t worker)
{
    vm_load_at(vm, W_BEGIN, R0, p->begin, worker);
    vm_load_at(vm, W_COUNT, R1, p->count, worker);
    uint32_t nothing = vm_jump_if(vm, R1, VM_EQ, 0);
    qsort_must(vm, p, R0, VM_NE, 0, "where a part with elements begins");
    vm_land(vm, nothing);
    vm_sub(vm, R0, R0, 1);
    vm_add(vm, R1, R1, R0);
    qsort_must(vm, p, R1, VM_LT, p->elements + 1, "where a part ends");
}

/* What to do with the two parts beside R3. The right one waits on the worker's stack. */
static void qsort_split(rad_vm *vm, const qsort_parts *p, int32_t worker, uint32_t sort)
{
    uint32_t given[WORKERS_MAX];
    vm_sub(vm, R4, R3, R0);
    vm_add(vm, R3, R3, 1);
    vm_quiet_load(vm, R2, p->top, worker);
    vm_quiet_store(vm, p->pending_begin, R2, R3);
    vm_quiet_store(vm, p->pending_end, R2, R1);
    vm_add(vm, R2, R2, 1);
    vm_quiet_store(vm, p->top, worker, R2);
    vm_sub(vm, R5, R1, R3);
    uint32_t left_small = vm_jump_if(vm, R4, VM_LT, p->fork + 1);
    uint32_t right_small = vm_jump_if(vm, R5, VM_LT, p->fork + 1);
    vm_lock(vm, G_LOCK_POOL, p->pool);
    for (int32_t i = 0; i < p->workers; i++) given[i] = qsort_give_to(vm, p, i);
    vm_unlock(vm, G_UNLOCK_POOL, p->pool);
    vm_land(vm, left_small);
    vm_land(vm, right_small);
    uint32_t empty = vm_jump_if(vm, R4, VM_EQ, 0);
    vm_add(vm, R2, R0, 1);
    vm_store_at(vm, OWN_BEGIN, p->begin, worker, R2);
    vm_store_at(vm, OWN_COUNT, p->count, worker, R4);
    qsort_own_part(vm, p, worker);
    vm_back(vm, sort);
    vm_land(vm, empty);
    for (int32_t i = 0; i < p->workers; i++) vm_land(vm, given[i]);
}

/* Sorts the elements R0 … R1 - 1. */
static void qsort_sort(rad_vm *vm, const qsort_parts *p, int32_t worker)
{
    uint32_t sort = vm_here(vm);
    vm_sub(vm, R2, R1, R0);
    uint32_t small = vm_jump_if(vm, R2, VM_LT, SMALL);
    qsort_partition(vm, p);
    qsort_split(vm, p, worker, sort);
    uint32_t split = vm_jump(vm);
    vm_land(vm, small);
    qsort_insert(vm, p);
    vm_land(vm, split);
    vm_quiet_load(vm, R2, p->top, worker);
    uint32_t done = vm_jump_if(vm, R2, VM_EQ, 0);
    vm_sub(vm, R2, R2, 1);
    vm_quiet_store(vm, p->top, worker, R2);
    vm_quiet_load(vm, R0, p->pending_begin, R2);
    vm_quiet_load(vm, R1, p->pending_end, R2);
    vm_back(vm, sort);
    vm_land(vm, done);
}

/* The last one to become idle ends all others. */
static void qsort_done(rad_vm *vm, const qsort_parts *p, int32_t worker, uint32_t again)
{
    vm_lock(vm, D_LOCK_POOL, p->pool);
    vm_store_at(vm, D_STATE, p->state, worker, IDLE);
    vm_load(vm, D_IDLE, R0, p->idle);
    vm_add(vm, R0, R0, 1);
    vm_store(vm, D_MORE_IDLE, p->idle, R0);
    vm_load(vm, D_ALL_IDLE, R0, p->idle);
    uint32_t last = vm_jump_if(vm, R0, VM_EQ, p->workers);
    vm_unlock(vm, D_UNLOCK_POOL, p->pool);
    vm_back(vm, again);
    vm_land(vm, last);
    for (int32_t i = 0; i < p->workers; i++) {
        if (i == worker) continue;
        vm_lock_at(vm, D_LOCK, p->lock, i);
        vm_store_at(vm, D_TERM, p->state, i, TERM);
        vm_signal(vm, D_SIGNAL, p->wake + (uint32_t)i);
        vm_unlock_at(vm, D_UNLOCK, p->lock, i);
    }
    vm_unlock(vm, D_UNLOCK_POOL, p->pool);
}

static uint32_t qsort_worker(rad_vm *vm, const qsort_parts *p, int32_t worker)
{
    uint32_t program = vm_here(vm), mutex = p->lock + (uint32_t)worker;
    vm_lock(vm, W_LOCK, mutex);
    uint32_t look = vm_here(vm);
    vm_load_at(vm, W_STATE, R0, p->state, worker);
    uint32_t awake = vm_jump_if(vm, R0, VM_NE, IDLE);
    vm_wait(vm, W_WAIT, W_WOKEN, p->wake + (uint32_t)worker, mutex);
    vm_back(vm, look);
    vm_land(vm, awake);
    vm_unlock(vm, W_UNLOCK, mutex);
    vm_load_at(vm, W_TERM, R0, p->state, worker);
    uint32_t end = vm_jump_if(vm, R0, VM_EQ, TERM);
    vm_load_at(vm, W_WORK, R0, p->state, worker);
    vm_claim(vm, R0, VM_EQ, WORK, p->wrong, "state of a worker that was woken");
    qsort_own_part(vm, p, worker);
    qsort_sort(vm, p, worker);
    qsort_done(vm, p, worker, program);
    vm_land(vm, end);
    vm_end(vm);
    return program;
}

/* Gives the whole list to the first worker. */
static void qsort_main(rad_vm *vm, const qsort_parts *p)
{
    uint32_t program = vm_here(vm), workers = (uint32_t)p->workers;
    for (uint32_t i = 0; i < workers; i++) vm_spawn(vm, SPAWN, i);
    vm_lock(vm, M_LOCK, p->lock);
    vm_store(vm, M_BEGIN, p->begin, 1);
    vm_store(vm, M_COUNT, p->count, p->elements);
    vm_store(vm, M_WORK, p->state, WORK);
    vm_load(vm, M_IDLE, R0, p->idle);
    vm_sub(vm, R0, R0, 1);
    vm_store(vm, M_LESS_IDLE, p->idle, R0);
    vm_signal(vm, M_SIGNAL, p->wake);
    vm_unlock(vm, M_UNLOCK, p->lock);
    vm_join(vm, M_JOIN, 0, workers);
    vm_load(vm, M_CHECK, R0, p->list);
    for (int32_t i = 1; i < p->elements; i++) {
        vm_load_at(vm, M_CHECK, R1, p->list, i);
        vm_claim(vm, R1, VM_GE, R0, p->wrong, "an element of the list that was sorted");
        vm_set(vm, R0, R1);
    }
    vm_end(vm);
    rad__vm_thread(vm, "main", program, true);
}

static void qsort_build(rad_vm *vm, const rad_case *c)
{
    uint32_t elements = (uint32_t)c->params[ELEMENTS], workers = (uint32_t)c->params[THREADS];
    qsort_parts p = {
        .list = rad__vm_cells(vm, "element", elements, 0),
        .state = rad__vm_cells(vm, "state", workers, IDLE),
        .begin = rad__vm_cells(vm, "a", workers, 0),
        .count = rad__vm_cells(vm, "n", workers, 0),
        .lock = rad__vm_mutexes(vm, "worker lock", workers),
        .pool = vm_mutex(vm, "pool"),
        .idle = vm_cell(vm, "idle", workers),
        .wrong = vm_about(vm, "unsorted part"),
        .top = rad__vm_cells(vm, "right parts", workers, 0),
        .elements = (int32_t)elements,
        .workers = (int32_t)workers,
        .fork = (int32_t)c->params[FORK],
        .quiet = c->params[ACCESSES] == 0,
        .locks_first = c->repaired,
    };
    p.wake = rad__vm_cond(vm, "work");
    for (uint32_t i = 1; i < workers; i++) rad__vm_cond(vm, "work");
    /* 32 of these split into 25 and 6, the 25 into 18 and 6, and no further part is given away: much as published. */
    for (uint32_t i = 0; i < elements; i++) vm_cell_starts(vm, p.list + i, (51 + i * 47) % 64);
    for (uint32_t i = 0; i < workers; i++) {
        p.pending_begin = rad__vm_cells(vm, "right part: begin", elements, 0);
        p.pending_end = rad__vm_cells(vm, "right part: end", elements, 0);
        rad__vm_thread(vm, "worker", qsort_worker(vm, &p, (int32_t)i), false);
    }
    qsort_main(vm, &p);
}

static const vm_toy qsort_toy = {.build = qsort_build, .sites = qsort_sites};

static const rad_param qsort_params[] = {
    [ELEMENTS] = {"elements", 32, 8, 64, "elements of the list", false},
    [THREADS] = {"threads", 4, 1, WORKERS_MAX, "threads that sort", false},
    [FORK] = {"fork", 4, 1, 64, "a part with more elements than this can be given away", false},
    [ACCESSES] = {"accesses", 1, 0, 1, "0: reads and writes of elements are no steps, 1: they are", true},
    {.name = NULL},
};

const rad_machine rad__toy_qsort_mt = {
    .name = "qsort-mt",
    .about = "a quicksort that gives parts of the list to other threads (SCTBench qsort_mt)",
    .params = qsort_params,
    .bug = "a worker can see that it has work before it can see which",
    .bug_site = W_COUNT,
    .own = &qsort_toy,
    VM_FUNCTIONS,
};
