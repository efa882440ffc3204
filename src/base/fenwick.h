/* fenwick.h — weights over dense numbers with a weighted draw in O(log n) (a Fenwick tree). */
#ifndef RAD_BASE_FENWICK_H
#define RAD_BASE_FENWICK_H

#include "base/check.h"

typedef struct rad_fenwick {
    uint64_t *sums;  /* 1-based partial sums */
    uint64_t *value; /* the weights themselves */
    uint32_t capacity;
    uint64_t total;
} rad_fenwick;

/* Room for numbers below `limit`. */
RAD_INTERNAL bool rad__fenwick_reserve(rad_fenwick *f, uint32_t limit);
RAD_INTERNAL void rad__fenwick_clear(rad_fenwick *f);
RAD_INTERNAL void rad__fenwick_free(rad_fenwick *f);
RAD_INTERNAL void rad__fenwick_set(rad_fenwick *f, uint32_t number, uint64_t weight);

/* The number in whose interval `point` falls, point < total. */
RAD_INTERNAL uint32_t rad__fenwick_find(const rad_fenwick *f, uint64_t point);

static inline uint64_t rad__fenwick_get(const rad_fenwick *f, uint32_t number)
{
    return number < f->capacity ? f->value[number] : 0;
}

#endif
