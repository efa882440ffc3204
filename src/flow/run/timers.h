/* timers.h — the timers of a case: which is the next one, and which is that of a key. A case of a hundred
 * thousand instances has as many; none of what is done to one depends on how many there are, but by a logarithm.
 *
 * I1  the heap has the timers that are set, by the time they are due, and of two of one time by their number.
 * I2  by_key leads to each of them; it may also lead to places that are empty or another timer's by now. */
#ifndef RAD_FLOW_RUN_TIMERS_H
#define RAD_FLOW_RUN_TIMERS_H

#include "base/heap.h"
#include "base/map64.h"

typedef struct rad_flow_timer {
    char *key;
    uint32_t alternative, attempt;
    uint64_t due_ns;
} rad_flow_timer;

typedef struct rad_flow_timers {
    rad_flow_timer *items;
    uint32_t item_count, item_capacity;
    uint32_t *unused; /* places in items */
    uint32_t unused_count, unused_capacity;
    rad_heap heap;
    rad_map64 by_key;
    uint64_t number; /* of the last one that was set */
} rad_flow_timers;

/* The key is copied. False: no memory; they can only be freed then. */
RAD_INTERNAL bool rad__flow_timers_set(rad_flow_timers *t, const rad_flow_timer *timer);
/* The one of that key and alternative, if there is one. */
RAD_INTERNAL void rad__flow_timers_drop(rad_flow_timers *t, const char *key, uint32_t alternative);
/* Takes the next one out; its key is the caller's, who frees it. There must be one. */
RAD_INTERNAL rad_flow_timer rad__flow_timers_take(rad_flow_timers *t);
RAD_INTERNAL void rad__flow_timers_free(rad_flow_timers *t);

static inline uint32_t rad__flow_timers_count(const rad_flow_timers *t)
{
    return t->heap.count;
}

/* When the next one is due; UINT64_MAX: there is none. */
static inline uint64_t rad__flow_timers_next_ns(const rad_flow_timers *t)
{
    return t->heap.count > 0 ? rad__heap_top(&t->heap)->key : UINT64_MAX;
}

#endif
