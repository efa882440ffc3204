#include "lab/machines/executor/event_queue.h"

#include "base/alloc.h"

void rad__event_queue_open(rad_event_queue *q, uint32_t limit)
{
    *q = (rad_event_queue){.free_slot = RAD_NONE, .limit = limit};
}

void rad__event_queue_close(rad_event_queue *q)
{
    rad__heap_free(&q->heap);
    rad__free(q->slots);
    *q = (rad_event_queue){.free_slot = RAD_NONE};
}

static uint32_t queue_take_slot(rad_event_queue *q)
{
    uint32_t slot = q->free_slot;
    if (slot != RAD_NONE) {
        q->free_slot = q->slots[slot].next_free;
        return slot;
    }
    if (!RAD_GROW(&q->slots, &q->slot_capacity, q->slot_count + 1)) return RAD_NONE;
    return q->slot_count++;
}

static void queue_give_slot(rad_event_queue *q, uint32_t slot)
{
    q->slots[slot].next_free = q->free_slot;
    q->free_slot = slot;
}

enum rad_queue_result rad__event_queue_push(rad_event_queue *q, uint64_t time, uint64_t payload)
{
    if (time < q->now) return RAD_QUEUE_PAST;
    if (q->heap.count >= q->limit) return RAD_QUEUE_FULL;
    uint32_t slot = queue_take_slot(q);
    if (slot == RAD_NONE) return RAD_QUEUE_NOMEM;
    if (!rad__heap_push(&q->heap, slot, time, q->sequence)) {
        queue_give_slot(q, slot);
        return RAD_QUEUE_NOMEM;
    }
    q->sequence++;
    q->slots[slot].payload = payload;
    return RAD_QUEUE_OK;
}

bool rad__event_queue_peek(const rad_event_queue *q, rad_queued *out)
{
    if (q->heap.count == 0) return false;
    const rad_heap_node *top = rad__heap_top(&q->heap);
    *out = (rad_queued){top->key, top->tie, q->slots[top->item].payload};
    return true;
}

bool rad__event_queue_pop(rad_event_queue *q, rad_queued *out)
{
    if (!rad__event_queue_peek(q, out)) return false;
    uint32_t slot = rad__heap_top(&q->heap)->item;
    RAD_ASSERT(out->time >= q->now); /* I1 */
    q->now = out->time;
    rad__heap_remove(&q->heap, slot);
    queue_give_slot(q, slot);
    return true;
}
