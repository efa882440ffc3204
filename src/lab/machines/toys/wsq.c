/* wsq.c — the work-stealing queues of CHESS (Musuvathi et al. 2008; chess in SCTBench).
 *
 * The owner pushes and pops at the tail, thieves steal at the head under a lock (Cilk's THE protocol). Who takes
 * an item moves its index first and looks at the other one afterwards; an owner that meets a thief decides again
 * under the lock. In the end each item must have been done exactly once.
 *
 *   wsq              the lock is a mutex                       push fills the last free slot
 *   wsq-interlocked  the lock is a word that is swapped        push fills the last free slot
 *   wsq-state        the same; a shared table has the number   the table grows without a lock
 *                    of calls that each thread is in
 *
 * A thief raises the head before it has read the slot. A push in between takes the slot for a free one:
 *
 *     thief                                 owner
 *     read head: 0, write head: 1
 *     read tail: 2
 *                                           push: tail 2, head 1: writes slot 2 mod 2
 *     read slot 0: the new item; the old one is lost, and the new one is done twice
 *
 * Fixed: a push leaves one slot free. The queue of wsq-state does so always, as published. What fails there is
 * the table: a thread that finds no row of its own sets the size anew, and cuts off or clears the row of another
 * that has just done the same. Fixed: the table has all rows from the start. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { STEALERS, ITEMS, ATTEMPTS };
enum { MASK = 1 }; /* of the first array, which has two slots */

enum {
    SPAWN,
    JOIN,
    CHECK,
    DO_READ,
    DO_WRITE,
    LOCK,
    SPIN,
    UNLOCK,
    STEAL_HEAD,
    STEAL_RAISE,
    STEAL_TAIL,
    STEAL_RESTORE,
    POP_TAIL,
    POP_LOWER,
    POP_HEAD,
    POP_RESTORE,
    SYNC_TAIL,
    SYNC_LOWER,
    SYNC_HEAD,
    SYNC_RESTORE,
    SYNC_EMPTY,
    SYNC_RESET_HEAD,
    SYNC_RESET_TAIL,
    PUSH_TAIL,
    PUSH_HEAD,
    PUSH_MASK,
    PUSH_RAISE,
    GROW_HEAD,
    GROW_TAIL,
    GROW_MASK,
    GROW_WRITE_HEAD,
    GROW_WRITE_TAIL,
    GROW_COPY,
    GROW_PASTE,
    GROW_ARRAY,
    GROW_WRITE_MASK,
    GROW_NEW_HEAD,
    GROW_NEW_TAIL,
    SLOT_ARRAY,
    SLOT_MASK,
    SLOT_READ,
    SLOT_WRITE,
    TABLE_SIZE,
    TABLE_CLEAR,
    TABLE_GROW,
    TABLE_FIND,
    ROW_READ,
    ROW_WRITE
};

static const char *const wsq_sites[] = {
    [SPAWN] = "main: spawn",
    [JOIN] = "main: wait for the others",
    [CHECK] = "main: read item",
    [DO_READ] = "item: read how often it was done",
    [DO_WRITE] = "item: write how often it was done",
    [LOCK] = "lock",
    [SPIN] = "lock: held, yield",
    [UNLOCK] = "unlock",
    [STEAL_HEAD] = "steal: read head",
    [STEAL_RAISE] = "steal: write head",
    [STEAL_TAIL] = "steal: read tail",
    [STEAL_RESTORE] = "steal: restore head",
    [POP_TAIL] = "pop: read tail",
    [POP_LOWER] = "pop: write tail",
    [POP_HEAD] = "pop: read head",
    [POP_RESTORE] = "pop: restore tail",
    [SYNC_TAIL] = "locked pop: read tail",
    [SYNC_LOWER] = "locked pop: write tail",
    [SYNC_HEAD] = "locked pop: read head",
    [SYNC_RESTORE] = "locked pop: restore tail",
    [SYNC_EMPTY] = "locked pop: read head again",
    [SYNC_RESET_HEAD] = "locked pop: reset head",
    [SYNC_RESET_TAIL] = "locked pop: reset tail",
    [PUSH_TAIL] = "push: read tail",
    [PUSH_HEAD] = "push: read head",
    [PUSH_MASK] = "push: read mask",
    [PUSH_RAISE] = "push: write tail",
    [GROW_HEAD] = "locked push: read head",
    [GROW_TAIL] = "locked push: read tail",
    [GROW_MASK] = "locked push: read mask",
    [GROW_WRITE_HEAD] = "locked push: write head",
    [GROW_WRITE_TAIL] = "locked push: write tail",
    [GROW_COPY] = "locked push: read old slot",
    [GROW_PASTE] = "locked push: write new slot",
    [GROW_ARRAY] = "locked push: write array",
    [GROW_WRITE_MASK] = "locked push: write mask",
    [GROW_NEW_HEAD] = "locked push: write head of the new array",
    [GROW_NEW_TAIL] = "locked push: write tail of the new array",
    [SLOT_ARRAY] = "slot: read array",
    [SLOT_MASK] = "slot: read mask",
    [SLOT_READ] = "slot: read",
    [SLOT_WRITE] = "slot: write",
    [TABLE_SIZE] = "table: read size, is there a row",
    [TABLE_CLEAR] = "table: clear row",
    [TABLE_GROW] = "table: write size",
    [TABLE_FIND] = "table: read size, find row",
    [ROW_READ] = "table: read row",
    [ROW_WRITE] = "table: write row",
    NULL,
};

enum wsq_kind { WSQ_MUTEX, WSQ_INTERLOCKED, WSQ_STATE };

typedef struct wsq_parts {
    enum wsq_kind kind;
    uint32_t head, tail, array, mask; /* `array` is where the slots of the array in use begin */
    uint32_t slots;                   /* all arrays: 2 slots, then 4, then 8 … */
    uint32_t lock, items, wrong;
    uint32_t size, rows; /* of the table: a row is how many calls a thread is in */
    int32_t spare;       /* slots that a push leaves free */
} wsq_parts;

/* One thread's view while its program is emitted. */
typedef struct wsq_thread {
    rad_vm *vm;
    const wsq_parts *p;
    int32_t row;
} wsq_thread;

/* ---- The table of wsq-state. Uses R4 and R5; everything else keeps to R0 … R3 where a row is written. ------- */

static void table_find(const wsq_thread *t)
{
    vm_load(t->vm, TABLE_FIND, R4, t->p->size);
    vm_claim(t->vm, R4, VM_GE, t->row + 1, t->p->wrong, "rows of the table when one is needed");
}

/* Adds to the row; what is there already must be at least `least`. */
static void table_add(const wsq_thread *t, int32_t least, int32_t change)
{
    table_find(t);
    vm_load_at(t->vm, ROW_READ, R5, t->p->rows, t->row);
    vm_claim(t->vm, R5, VM_GE, least, t->p->wrong, "calls in the row of a thread");
    vm_add(t->vm, R5, R5, change);
    vm_store_at(t->vm, ROW_WRITE, t->p->rows, t->row, R5);
}

/* The size becomes row + 1: rows behind are cut off, rows that were missing are empty. */
static void table_resize(const wsq_thread *t)
{
    vm_load(t->vm, TABLE_SIZE, R4, t->p->size);
    uint32_t clear = vm_here(t->vm);
    uint32_t done = vm_jump_if(t->vm, R4, VM_GE, t->row + 1);
    vm_store_at(t->vm, TABLE_CLEAR, t->p->rows, R4, 0);
    vm_add(t->vm, R4, R4, 1);
    vm_back(t->vm, clear);
    vm_land(t->vm, done);
    vm_store(t->vm, TABLE_GROW, t->p->size, t->row + 1);
}

/* A thread enters a call, or leaves it. */
static void call_begins(const wsq_thread *t)
{
    if (t->p->kind != WSQ_STATE) return;
    vm_load(t->vm, TABLE_SIZE, R4, t->p->size);
    uint32_t there = vm_jump_if(t->vm, R4, VM_GE, t->row + 1);
    table_resize(t);
    vm_land(t->vm, there);
    table_add(t, 0, 1);
}

static void call_ends(const wsq_thread *t)
{
    if (t->p->kind == WSQ_STATE) table_add(t, 1, -1);
}

/* ---- Operations of the queue ------------------------------------------------------------------------------- */

/* Uses R4. */
static void wsq_acquire(const wsq_thread *t)
{
    if (t->p->kind == WSQ_MUTEX) {
        vm_lock(t->vm, LOCK, t->p->lock);
        return;
    }
    call_begins(t);
    uint32_t again = vm_here(t->vm);
    vm_exchange(t->vm, LOCK, R4, t->p->lock, 1);
    uint32_t free = vm_jump_if(t->vm, R4, VM_EQ, 0);
    vm_yield(t->vm, SPIN);
    vm_back(t->vm, again);
    vm_land(t->vm, free);
    call_ends(t);
}

static void wsq_release(const wsq_thread *t)
{
    if (t->p->kind == WSQ_MUTEX) {
        vm_unlock(t->vm, UNLOCK, t->p->lock);
        return;
    }
    call_begins(t);
    vm_store(t->vm, UNLOCK, t->p->lock, 0);
    call_ends(t);
}

/* R3 = where the slot of index R1 is. Uses R2. */
static void wsq_slot(const wsq_thread *t)
{
    vm_load(t->vm, SLOT_ARRAY, R2, t->p->array);
    vm_load(t->vm, SLOT_MASK, R3, t->p->mask);
    vm_and(t->vm, R3, R1, R3);
    vm_add(t->vm, R3, R3, R2);
}

/* R0 = the item at index R1. */
static void wsq_take(const wsq_thread *t)
{
    wsq_slot(t);
    vm_load_at(t->vm, SLOT_READ, R0, t->p->slots, R3);
}

/* Item R0, when it is one, was done once more. */
static void wsq_do(const wsq_thread *t)
{
    uint32_t none = vm_jump_if(t->vm, R0, VM_LT, 0);
    vm_load_at(t->vm, DO_READ, R1, t->p->items, R0);
    vm_add(t->vm, R1, R1, 1);
    vm_store_at(t->vm, DO_WRITE, t->p->items, R0, R1);
    vm_land(t->vm, none);
}

/* R0 = an item, or -1. */
static void wsq_steal(const wsq_thread *t)
{
    const wsq_parts *p = t->p;
    call_begins(t);
    wsq_acquire(t);
    vm_load(t->vm, STEAL_HEAD, R1, p->head);
    vm_add(t->vm, R2, R1, 1);
    vm_store(t->vm, STEAL_RAISE, p->head, R2);
    vm_load(t->vm, STEAL_TAIL, R2, p->tail);
    uint32_t empty = vm_jump_if(t->vm, R1, VM_GE, R2);
    wsq_take(t);
    uint32_t done = vm_jump(t->vm);
    vm_land(t->vm, empty);
    vm_store(t->vm, STEAL_RESTORE, p->head, R1);
    vm_set(t->vm, R0, -1);
    vm_land(t->vm, done);
    wsq_release(t);
    call_ends(t);
}

/* R0 = an item, or -1; the queue is locked. An empty one begins again at 0. */
static void wsq_locked_pop(const wsq_thread *t)
{
    const wsq_parts *p = t->p;
    call_begins(t);
    wsq_acquire(t);
    vm_load(t->vm, SYNC_TAIL, R1, p->tail);
    vm_sub(t->vm, R1, R1, 1);
    vm_store(t->vm, SYNC_LOWER, p->tail, R1);
    vm_load(t->vm, SYNC_HEAD, R2, p->head);
    uint32_t none = vm_jump_if(t->vm, R1, VM_LT, R2);
    wsq_take(t);
    uint32_t taken = vm_jump(t->vm);
    vm_land(t->vm, none);
    vm_add(t->vm, R2, R1, 1);
    vm_store(t->vm, SYNC_RESTORE, p->tail, R2);
    vm_set(t->vm, R0, -1);
    vm_land(t->vm, taken);
    vm_load(t->vm, SYNC_EMPTY, R2, p->head);
    uint32_t some = vm_jump_if(t->vm, R1, VM_GE, R2);
    vm_store(t->vm, SYNC_RESET_HEAD, p->head, 0);
    vm_store(t->vm, SYNC_RESET_TAIL, p->tail, 0);
    vm_land(t->vm, some);
    wsq_release(t);
    call_ends(t);
}

/* R0 = an item, or -1. */
static void wsq_pop(const wsq_thread *t)
{
    const wsq_parts *p = t->p;
    call_begins(t);
    vm_load(t->vm, POP_TAIL, R1, p->tail);
    vm_sub(t->vm, R1, R1, 1);
    vm_store(t->vm, POP_LOWER, p->tail, R1);
    vm_load(t->vm, POP_HEAD, R2, p->head);
    uint32_t close = vm_jump_if(t->vm, R1, VM_LT, R2);
    wsq_take(t);
    uint32_t done = vm_jump(t->vm);
    vm_land(t->vm, close);
    vm_add(t->vm, R1, R1, 1);
    vm_store(t->vm, POP_RESTORE, p->tail, R1);
    wsq_locked_pop(t);
    vm_land(t->vm, done);
    call_ends(t);
}

/* An array of twice the size; R1 is the head, R2 the number of items, R3 the mask. Uses all registers. */
static void wsq_grow(const wsq_thread *t)
{
    const wsq_parts *p = t->p;
    vm_set(t->vm, R4, 0);
    uint32_t copy = vm_here(t->vm);
    uint32_t all = vm_jump_if(t->vm, R4, VM_GE, R2);
    vm_add(t->vm, R5, R1, R4);
    vm_and(t->vm, R5, R5, R3);
    vm_add(t->vm, R5, R5, R3);
    vm_load_at(t->vm, GROW_COPY, R0, p->slots - 1, R5); /* an array begins at its mask - 1 */
    vm_add(t->vm, R5, R3, R3);
    vm_add(t->vm, R5, R5, R4);
    vm_store_at(t->vm, GROW_PASTE, p->slots, R5, R0);
    vm_add(t->vm, R4, R4, 1);
    vm_back(t->vm, copy);
    vm_land(t->vm, all);
    vm_add(t->vm, R3, R3, R3);
    vm_store(t->vm, GROW_ARRAY, p->array, R3);
    vm_add(t->vm, R3, R3, 1);
    vm_store(t->vm, GROW_WRITE_MASK, p->mask, R3);
    vm_store(t->vm, GROW_NEW_HEAD, p->head, 0);
    vm_store(t->vm, GROW_NEW_TAIL, p->tail, R2);
}

static void wsq_locked_push(const wsq_thread *t, int32_t item)
{
    const wsq_parts *p = t->p;
    call_begins(t);
    wsq_acquire(t);
    vm_load(t->vm, GROW_HEAD, R1, p->head);
    vm_load(t->vm, GROW_TAIL, R2, p->tail);
    vm_sub(t->vm, R2, R2, R1);
    vm_load(t->vm, GROW_MASK, R3, p->mask);
    vm_and(t->vm, R1, R1, R3);
    vm_store(t->vm, GROW_WRITE_HEAD, p->head, R1);
    vm_add(t->vm, R0, R1, R2);
    vm_store(t->vm, GROW_WRITE_TAIL, p->tail, R0);
    uint32_t room = vm_jump_if(t->vm, R2, VM_LT, R3);
    wsq_grow(t);
    vm_land(t->vm, room);
    vm_load(t->vm, GROW_TAIL, R1, p->tail);
    wsq_slot(t);
    vm_store_at(t->vm, SLOT_WRITE, p->slots, R3, item);
    vm_add(t->vm, R1, R1, 1);
    vm_store(t->vm, PUSH_RAISE, p->tail, R1);
    wsq_release(t);
    call_ends(t);
}

static void wsq_push(const wsq_thread *t, int32_t item)
{
    const wsq_parts *p = t->p;
    call_begins(t);
    vm_load(t->vm, PUSH_TAIL, R1, p->tail);
    vm_load(t->vm, PUSH_HEAD, R2, p->head);
    vm_load(t->vm, PUSH_MASK, R3, p->mask);
    vm_add(t->vm, R2, R2, R3);
    vm_add(t->vm, R2, R2, 1 - p->spare);
    uint32_t full = vm_jump_if(t->vm, R1, VM_GE, R2);
    wsq_slot(t);
    vm_store_at(t->vm, SLOT_WRITE, p->slots, R3, item);
    vm_add(t->vm, R1, R1, 1);
    vm_store(t->vm, PUSH_RAISE, p->tail, R1);
    uint32_t done = vm_jump(t->vm);
    vm_land(t->vm, full);
    wsq_locked_push(t, item);
    vm_land(t->vm, done);
    call_ends(t);
}

/* ---- Threads ----------------------------------------------------------------------------------------------- */

/* As published: two pushes and a pop in turn, then pops; wsq-state pushes everything first. */
static uint32_t wsq_owner(rad_vm *vm, const wsq_parts *p, int32_t items)
{
    wsq_thread t = {vm, p, 0};
    uint32_t program = vm_here(vm);
    int32_t pops = items;
    for (int32_t i = 0; i < items; i++) {
        wsq_push(&t, i);
        if (p->kind == WSQ_STATE || i % 2 == 0) continue;
        wsq_pop(&t);
        wsq_do(&t);
        pops--;
    }
    for (; pops > 0; pops--) {
        wsq_pop(&t);
        wsq_do(&t);
    }
    vm_end(vm);
    return program;
}

static uint32_t wsq_stealer(rad_vm *vm, const wsq_parts *p, int32_t row, int64_t attempts)
{
    wsq_thread t = {vm, p, row};
    uint32_t program = vm_here(vm);
    call_begins(&t);
    for (int64_t i = 0; i < attempts; i++) {
        wsq_steal(&t);
        wsq_do(&t);
    }
    call_ends(&t);
    vm_end(vm);
    return program;
}

static void wsq_main(rad_vm *vm, const wsq_parts *p, uint32_t threads, int32_t items)
{
    uint32_t program = vm_here(vm);
    for (uint32_t i = 0; i < threads; i++) vm_spawn(vm, SPAWN, i);
    vm_join(vm, JOIN, 0, threads);
    for (int32_t i = 0; i < items; i++) {
        vm_load_at(vm, CHECK, R0, p->items, i);
        vm_claim(vm, R0, VM_EQ, 1, p->wrong, "how often an item was done");
    }
    vm_end(vm);
    rad__vm_thread(vm, "main", program, true);
}

static void wsq_build_kind(rad_vm *vm, const rad_case *c, enum wsq_kind kind)
{
    uint32_t items = (uint32_t)c->params[ITEMS], stealers = (uint32_t)c->params[STEALERS];
    bool state = kind == WSQ_STATE;
    uint32_t slots = 0; /* an array that is full to the last slot but one is doubled */
    for (uint32_t size = MASK + 1; slots == 0 || size <= 2 * items; size *= 2) slots += size;
    wsq_parts p = {
        .kind = kind,
        .head = vm_cell(vm, "head", 0),
        .tail = vm_cell(vm, "tail", 0),
        .array = vm_cell(vm, "array", MASK - 1),
        .mask = vm_cell(vm, "mask", MASK),
        .slots = rad__vm_cells(vm, "slot", slots, -1),
        .lock = kind == WSQ_MUTEX ? vm_mutex(vm, "lock") : vm_cell(vm, "lock", 0),
        .items = rad__vm_cells(vm, "item", items, 0),
        .spare = state || c->repaired,
    };
    p.wrong = vm_about(vm, state ? "table" : "lost item");
    if (state) {
        p.size = vm_cell(vm, "size", c->repaired ? stealers + 1 : 1);
        p.rows = rad__vm_cells(vm, "row", stealers + 1, 0);
        vm_cell_starts(vm, p.rows, 1); /* main is in the test */
    }
    for (uint32_t i = 0; i < stealers; i++) {
        uint32_t stealer = wsq_stealer(vm, &p, (int32_t)i + 1, c->params[ATTEMPTS]);
        rad__vm_thread(vm, "stealer", stealer, false);
    }
    rad__vm_thread(vm, "owner", wsq_owner(vm, &p, (int32_t)items), false);
    wsq_main(vm, &p, stealers + 1, (int32_t)items);
}

static void wsq_build(rad_vm *vm, const rad_case *c)
{
    wsq_build_kind(vm, c, WSQ_MUTEX);
}

static void wsq_interlocked_build(rad_vm *vm, const rad_case *c)
{
    wsq_build_kind(vm, c, WSQ_INTERLOCKED);
}

static void wsq_state_build(rad_vm *vm, const rad_case *c)
{
    wsq_build_kind(vm, c, WSQ_STATE);
}

static const vm_toy wsq_toy = {.build = wsq_build, .sites = wsq_sites};

static const vm_toy wsq_interlocked_toy = {.build = wsq_interlocked_build, .sites = wsq_sites};

static const vm_toy wsq_state_toy = {.build = wsq_state_build, .sites = wsq_sites};

/* The published programs have one thief, that of wsq-state has two. */
#define WSQ_PARAMS(thieves)                                                                                            \
    {                                                                                                                  \
        [STEALERS] = {"stealers", thieves, 1, 8, "threads that steal", false},                                         \
        [ITEMS] = {"items", 4, 2, 32, "items that the owner pushes", false},                                           \
        [ATTEMPTS] = {"attempts", 2, 1, 8, "how often each of them tries", false}, {.name = NULL},                     \
    }

static const rad_param wsq_params[] = WSQ_PARAMS(1);
static const rad_param wsq_state_params[] = WSQ_PARAMS(2);

const rad_machine rad__toy_wsq = {
    .name = "wsq",
    .about = "a work-stealing queue whose thieves hold a lock (CHESS WorkStealQueue)",
    .params = wsq_params,
    .bug = "push fills the last slot, which a thief may be about to read",
    .bug_site = SLOT_WRITE,
    .own = &wsq_toy,
    VM_FUNCTIONS,
};

const rad_machine rad__toy_wsq_interlocked = {
    .name = "wsq-interlocked",
    .about = "the same queue with a spin lock (CHESS InterlockedWorkStealQueue)",
    .params = wsq_params,
    .bug = "push fills the last slot, which a thief may be about to read",
    .bug_site = SLOT_WRITE,
    .own = &wsq_interlocked_toy,
    VM_FUNCTIONS,
};

const rad_machine rad__toy_wsq_state = {
    .name = "wsq-state",
    .about = "the same queue, with a table of the calls of each thread (CHESS StateWorkStealQueue)",
    .params = wsq_state_params,
    .bug = "a thread without a row in the table makes it grow without a lock",
    .bug_site = TABLE_FIND,
    .own = &wsq_state_toy,
    VM_FUNCTIONS,
};
