/* event_queue.h — future events in logical time, ordered by (time, sequence).
 *
 * Two events at the same time come out in the order they went in: ties never depend on addresses.
 * Bounded: at the limit push refuses and the caller decides what that means. Push and pop cost O(log n).
 *
 * I1  now never goes back, and no event lies before it. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_EVENT_QUEUE_H
#define RAD_LAB_MACHINES_EXECUTOR_EVENT_QUEUE_H

#include "base/heap.h"

typedef struct rad_queued {
    uint64_t time;
    uint64_t sequence; /* order of push over the queue's life */
    uint64_t payload;
} rad_queued;

typedef struct rad_queued_slot {
    uint64_t payload;
    uint32_t next_free;
} rad_queued_slot;

typedef struct rad_event_queue {
    rad_heap heap;
    rad_queued_slot *slots;
    uint32_t slot_count, slot_capacity;
    uint32_t free_slot; /* head of the list of free slots, or RAD_NONE */
    uint32_t limit;
    uint64_t sequence;
    uint64_t now;
} rad_event_queue;

enum rad_queue_result { RAD_QUEUE_OK = 0, RAD_QUEUE_FULL, RAD_QUEUE_PAST, RAD_QUEUE_NOMEM };

RAD_INTERNAL void rad__event_queue_open(rad_event_queue *q, uint32_t limit);
RAD_INTERNAL void rad__event_queue_close(rad_event_queue *q);

/* PAST: time lies before now. */
RAD_INTERNAL enum rad_queue_result rad__event_queue_push(rad_event_queue *q, uint64_t time, uint64_t payload);
/* The next event, and now moves to its time; false when empty. */
RAD_INTERNAL bool rad__event_queue_pop(rad_event_queue *q, rad_queued *out);
RAD_INTERNAL bool rad__event_queue_peek(const rad_event_queue *q, rad_queued *out);

static inline uint32_t rad__event_queue_count(const rad_event_queue *q)
{
    return q->heap.count;
}

#endif
