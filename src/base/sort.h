/* sort.h — lists in order: stable for all that have an order, and small numbers quickly. */
#ifndef RAD_BASE_SORT_H
#define RAD_BASE_SORT_H

#include "base/check.h"

/* Whether `b` has to stand before `a`, which is before it now: never for equals. */
typedef bool rad_is_after(const void *context, const void *a, const void *b);

/* Stable. Merges runs of 1, 2, 4, …; without memory for a second list it inserts one by one. */
RAD_INTERNAL void rad__sort(void *items, size_t count, size_t size, rad_is_after *is_after, const void *context);

/* Ascending. Shell's sort: these lists are short and nearly sorted, and long ones are rare. */
static inline void rad__sort_u32(uint32_t *items, uint32_t count)
{
    uint32_t gap = 1;
    while (gap < count / 3) gap = gap * 3 + 1;
    for (; gap > 0; gap /= 3) {
        for (uint32_t i = gap; i < count; i++) {
            uint32_t item = items[i], at = i;
            for (; at >= gap && items[at - gap] > item; at -= gap) items[at] = items[at - gap];
            items[at] = item;
        }
    }
}

#endif
