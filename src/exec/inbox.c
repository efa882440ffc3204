#include "exec/inbox.h"

void rad__inbox_open(rad_inbox *q)
{
    atomic_init(&q->anchor.next, NULL);
    atomic_init(&q->last, &q->anchor);
    q->anchor.run = NULL;
    q->first = &q->anchor;
}

void rad__inbox_push(rad_inbox *q, rad_task *task)
{
    atomic_store_explicit(&task->next, NULL, memory_order_relaxed);
    /* S1, pairs with itself (each sender links behind a task that is completely written) and with the
     * load in rad__inbox_is_empty. */
    rad_task *before = atomic_exchange_explicit(&q->last, task, memory_order_seq_cst);
    /* S2, pairs with R1 and with the loads in rad__inbox_is_empty. */
    atomic_store_explicit(&before->next, task, memory_order_seq_cst);
}

rad_task *rad__inbox_pop(rad_inbox *q)
{
    rad_task *first = q->first;
    rad_task *next = atomic_load_explicit(&first->next, memory_order_acquire); /* R1, pairs with S2 */
    if (first == &q->anchor) {
        if (next == NULL) return NULL;
        q->first = first = next;
        next = atomic_load_explicit(&first->next, memory_order_acquire); /* R1, pairs with S2 */
    }
    if (next == NULL) {
        /* It looks like the only one. The anchor goes behind it, so that it can be taken out. */
        if (atomic_load_explicit(&q->last, memory_order_relaxed) != first) return NULL;
        rad__inbox_push(q, &q->anchor);
        next = atomic_load_explicit(&first->next, memory_order_acquire); /* R1, pairs with S2 */
        if (next == NULL) return NULL;
    }
    q->first = next; /* R2 */
    return first;
}

bool rad__inbox_is_empty(const rad_inbox *q)
{
    const rad_task *first = q->first;
    const rad_task *next = atomic_load_explicit(&first->next, memory_order_seq_cst); /* pairs with S2 */
    if (first == &q->anchor) {
        if (next == NULL) return true;
        first = next;
        next = atomic_load_explicit(&first->next, memory_order_seq_cst); /* pairs with S2 */
    }
    /* Pairs with S1. */
    return next == NULL && atomic_load_explicit(&q->last, memory_order_seq_cst) != first;
}
