/* sort.h — small numbers in order. Shell's sort: lists here are short and nearly sorted, and long ones are rare. */
#ifndef RAD_BASE_SORT_H
#define RAD_BASE_SORT_H

#include "base/check.h"

/* Ascending. */
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
