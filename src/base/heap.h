/* heap.h — an indexed binary min-heap of (key, tie) over dense item numbers: push, pop, remove and
 * re-key in O(log n). Serves the priorities of `pct` and the event queue in logical time.
 *
 * I1  every node is not greater than its children in (key, tie) order.
 * I2  place[item] is the position of an item in the heap, or RAD_NONE. */
#ifndef RAD_BASE_HEAP_H
#define RAD_BASE_HEAP_H

#include "base/check.h"

typedef struct rad_heap_node {
    uint64_t key;
    uint64_t tie;
    uint32_t item;
} rad_heap_node;

typedef struct rad_heap {
    rad_heap_node *nodes;
    uint32_t count;
    uint32_t node_capacity;
    uint32_t *place;
    uint32_t place_count;
    uint32_t place_capacity;
} rad_heap;

RAD_INTERNAL bool rad__heap_push(rad_heap *h, uint32_t item, uint64_t key, uint64_t tie);
RAD_INTERNAL bool rad__heap_remove(rad_heap *h, uint32_t item); /* true when it was there */
RAD_INTERNAL void rad__heap_clear(rad_heap *h);
RAD_INTERNAL void rad__heap_free(rad_heap *h);
RAD_INTERNAL bool rad__heap_valid(const rad_heap *h);

/* The least node; the heap must not be empty. */
static inline const rad_heap_node *rad__heap_top(const rad_heap *h)
{
    RAD_DCHECK(h->count > 0);
    return &h->nodes[0];
}

static inline bool rad__heap_has(const rad_heap *h, uint32_t item)
{
    return item < h->place_count && h->place[item] != RAD_NONE;
}

#endif
