#include "exec/injector.h"

#include "base/alloc.h"

static void positions_reset(rad_injector *q)
{
    atomic_init(&q->head, 0);
    atomic_init(&q->tail, 0);
    atomic_init(&q->spilled, 0);
    atomic_flag_clear_explicit(&q->taken, memory_order_relaxed);
    rad__inbox_open(&q->overflow);
}

bool rad__injector_open(rad_injector *q, uint32_t ring)
{
    RAD_ASSERT(ring >= 2 && (ring & (ring - 1)) == 0);
    q->cells = rad__alloc_later(ring, sizeof *q->cells);
    if (q->cells == NULL) return false;
    q->mask = ring - 1;
    positions_reset(q); /* the cells are zero, and most of them are never touched */
    return true;
}

void rad__injector_reset(rad_injector *q)
{
    for (uint64_t i = 0; i <= q->mask; i++) atomic_init(&q->cells[i].turn, 0);
    positions_reset(q);
}

void rad__injector_close(rad_injector *q)
{
    rad__free(q->cells);
    q->cells = NULL;
}

/* ---- The ring ------------------------------------------------------------------------------------- */

static uint64_t lap_of(const rad_injector *q, uint64_t position)
{
    return position / (q->mask + 1);
}

static bool ring_push(rad_injector *q, rad_task *task)
{
    uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    for (;;) {
        rad_injector_cell *cell = &q->cells[tail & q->mask];
        /* Pairs with the release in ring_pop: the popper of the last lap is done with the cell. */
        uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);
        uint64_t mine = 2 * lap_of(q, tail);
        if (turn == mine) {
            if (!atomic_compare_exchange_weak_explicit(&q->tail, &tail, tail + 1, memory_order_relaxed,
                                                       memory_order_relaxed))
                continue;
            cell->task = task;
            /* Pairs with the loads in ring_pop (publishes the task) and ring_is_empty (W1). */
            atomic_store_explicit(&cell->turn, mine + 1, memory_order_seq_cst);
            return true;
        }
        if (turn < mine) return false; /* still filled from the last lap: the ring is full */
        tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    }
}

static rad_task *ring_pop(rad_injector *q)
{
    uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
    for (;;) {
        rad_injector_cell *cell = &q->cells[head & q->mask];
        /* Pairs with the release in ring_push. */
        uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);
        uint64_t filled = 2 * lap_of(q, head) + 1;
        if (turn == filled) {
            if (!atomic_compare_exchange_weak_explicit(&q->head, &head, head + 1, memory_order_relaxed,
                                                       memory_order_relaxed))
                continue;
            rad_task *task = cell->task;
            /* Pairs with the acquire in ring_push of the next lap. */
            atomic_store_explicit(&cell->turn, filled + 1, memory_order_release);
            return task;
        }
        if (turn < filled) return NULL; /* not filled yet: the ring is empty, or a push is under way */
        head = atomic_load_explicit(&q->head, memory_order_relaxed);
    }
}

/* ---- The overflow list ------------------------------------------------------------------------------ */

static uint32_t list_pop_some(rad_injector *q, rad_task **tasks, uint32_t most)
{
    uint32_t count = 0;
    if (atomic_load_explicit(&q->spilled, memory_order_relaxed) == 0) return 0;
    /* Pairs with the clear below: the next holder sees what this one did to the list. */
    if (atomic_flag_test_and_set_explicit(&q->taken, memory_order_acquire)) return 0;
    while (count < most && (tasks[count] = rad__inbox_pop(&q->overflow)) != NULL) count++;
    atomic_flag_clear_explicit(&q->taken, memory_order_release); /* pairs with the test above */
    if (count) atomic_fetch_sub_explicit(&q->spilled, count, memory_order_relaxed);
    return count;
}

/* ---- Both ------------------------------------------------------------------------------------------ */

void rad__injector_push(rad_injector *q, rad_task *task)
{
    bool list_is_empty = atomic_load_explicit(&q->spilled, memory_order_relaxed) == 0;
    if (list_is_empty && ring_push(q, task)) return;
    /* J2: before it is linked. Pairs with the load of spilled in rad__injector_is_empty. */
    atomic_fetch_add_explicit(&q->spilled, 1, memory_order_seq_cst);
    rad__inbox_push(&q->overflow, task);
}

uint32_t rad__injector_pop(rad_injector *q, rad_task **tasks, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && (tasks[count] = ring_pop(q)) != NULL) count++;
    return count + list_pop_some(q, tasks + count, most - count);
}

/* Whether the oldest position is filled: only then can anything be popped. */
static bool ring_is_empty(const rad_injector *q)
{
    uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
    for (;;) {
        uint64_t filled = 2 * lap_of(q, head) + 1;
        /* Pairs with the store in ring_push. */
        uint64_t turn = atomic_load_explicit(&q->cells[head & q->mask].turn, memory_order_seq_cst);
        if (turn <= filled) return turn < filled;
        head = atomic_load_explicit(&q->head, memory_order_relaxed); /* it was popped meanwhile */
    }
}

bool rad__injector_is_empty(const rad_injector *q)
{
    /* Pairs with the add in rad__injector_push. */
    return ring_is_empty(q) && atomic_load_explicit(&q->spilled, memory_order_seq_cst) == 0;
}

uint64_t rad__injector_count(const rad_injector *q)
{
    uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
    return (tail > head ? tail - head : 0) + atomic_load_explicit(&q->spilled, memory_order_relaxed);
}
