#include "exec/injector.h"

#include "base/alloc.h"

bool rad__injector_open(rad_injector *q, uint32_t ring)
{
    RAD_ASSERT(ring >= 2 && (ring & (ring - 1)) == 0);
    q->cells = rad__alloc(ring, sizeof *q->cells);
    if (q->cells == NULL) return false;
    q->mask = ring - 1;
    for (uint32_t i = 0; i < ring; i++) atomic_init(&q->cells[i].turn, 0);
    atomic_init(&q->head, 0);
    atomic_init(&q->tail, 0);
    atomic_init(&q->spilled, 0);
    atomic_init(&q->anchor.next, NULL);
    atomic_init(&q->last, &q->anchor);
    atomic_flag_clear_explicit(&q->taken, memory_order_relaxed);
    q->first = &q->anchor;
    return true;
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
            if (!atomic_compare_exchange_weak_explicit(&q->tail, &tail, tail + 1,
                                                       memory_order_relaxed, memory_order_relaxed))
                continue;
            cell->task = task;
            /* Pairs with the acquire in ring_pop: publishes the task. */
            atomic_store_explicit(&cell->turn, mine + 1, memory_order_release);
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
            if (!atomic_compare_exchange_weak_explicit(&q->head, &head, head + 1,
                                                       memory_order_relaxed, memory_order_relaxed))
                continue;
            rad_task *task = cell->task;
            /* Pairs with the acquire in ring_push of the next lap. */
            atomic_store_explicit(&cell->turn, filled + 1, memory_order_release);
            return task;
        }
        if (turn < filled)
            return NULL; /* not filled yet: the ring is empty, or a push is under way */
        head = atomic_load_explicit(&q->head, memory_order_relaxed);
    }
}

/* ---- The overflow list ------------------------------------------------------------------------------ */

static void list_link(rad_injector *q, rad_task *task)
{
    atomic_store_explicit(&task->next, NULL, memory_order_relaxed);
    /* Pairs with itself: each pusher links behind a task that is completely written. */
    rad_task *before = atomic_exchange_explicit(&q->last, task, memory_order_acq_rel);
    /* Pairs with the acquire of next in list_pop. */
    atomic_store_explicit(&before->next, task, memory_order_release);
}

/* The holder of `taken` only. NULL also while the oldest push has exchanged but not yet linked (J3). */
static rad_task *list_pop(rad_injector *q)
{
    rad_task *first = q->first;
    rad_task *next =
        atomic_load_explicit(&first->next, memory_order_acquire); /* pairs with list_link */
    if (first == &q->anchor) {
        if (next == NULL) return NULL;
        q->first = first = next;
        next = atomic_load_explicit(&first->next, memory_order_acquire); /* pairs with list_link */
    }
    if (next == NULL) {
        /* It looks like the only one. The anchor goes behind it, so that it can be taken out. */
        if (atomic_load_explicit(&q->last, memory_order_relaxed) != first) return NULL;
        list_link(q, &q->anchor);
        next = atomic_load_explicit(&first->next, memory_order_acquire); /* pairs with list_link */
        if (next == NULL) return NULL;
    }
    q->first = next;
    return first;
}

static uint32_t list_pop_some(rad_injector *q, rad_task **tasks, uint32_t most)
{
    uint32_t count = 0;
    if (atomic_load_explicit(&q->spilled, memory_order_relaxed) == 0) return 0;
    /* Pairs with the clear below: the next holder sees what this one did to `first`. */
    if (atomic_flag_test_and_set_explicit(&q->taken, memory_order_acquire)) return 0;
    while (count < most && (tasks[count] = list_pop(q)) != NULL) count++;
    atomic_flag_clear_explicit(&q->taken, memory_order_release); /* pairs with the test above */
    if (count) atomic_fetch_sub_explicit(&q->spilled, count, memory_order_relaxed);
    return count;
}

/* ---- Both ------------------------------------------------------------------------------------------ */

void rad__injector_push(rad_injector *q, rad_task *task)
{
    bool list_is_empty = atomic_load_explicit(&q->spilled, memory_order_relaxed) == 0;
    if (list_is_empty && ring_push(q, task)) return;
    atomic_fetch_add_explicit(&q->spilled, 1, memory_order_relaxed); /* J2: before it is linked */
    list_link(q, task);
}

uint32_t rad__injector_pop(rad_injector *q, rad_task **tasks, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && (tasks[count] = ring_pop(q)) != NULL) count++;
    return count + list_pop_some(q, tasks + count, most - count);
}

uint64_t rad__injector_count(const rad_injector *q)
{
    uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
    return (tail > head ? tail - head : 0) +
           atomic_load_explicit(&q->spilled, memory_order_relaxed);
}
