#include "base/fenwick.h"

#include "base/alloc.h"

#include <string.h>

bool rad__fenwick_reserve(rad_fenwick *f, uint32_t limit)
{
    if (RAD_LIKELY(limit <= f->capacity)) return true;
    uint32_t capacity = f->capacity ? f->capacity : 16; /* a power of two */
    while (capacity < limit) capacity *= 2;
    uint64_t *sums = rad__alloc((size_t)capacity + 1, sizeof *sums);
    uint64_t *value = rad__alloc(capacity, sizeof *value);
    if (sums == NULL || value == NULL) {
        rad__free(sums);
        rad__free(value);
        return false;
    }
    if (f->capacity) memcpy(value, f->value, f->capacity * sizeof *value);
    for (uint32_t i = 1; i <= capacity; i++) {
        sums[i] += value[i - 1];
        uint32_t parent = i + (i & -i);
        if (parent <= capacity) sums[parent] += sums[i];
    }
    rad__free(f->sums);
    rad__free(f->value);
    f->sums = sums;
    f->value = value;
    f->capacity = capacity;
    return true;
}

void rad__fenwick_clear(rad_fenwick *f)
{
    if (f->capacity) {
        memset(f->sums, 0, ((size_t)f->capacity + 1) * sizeof *f->sums);
        memset(f->value, 0, (size_t)f->capacity * sizeof *f->value);
    }
    f->total = 0;
}

void rad__fenwick_free(rad_fenwick *f)
{
    rad__free(f->sums);
    rad__free(f->value);
    *f = (rad_fenwick){0};
}

void rad__fenwick_set(rad_fenwick *f, uint32_t number, uint64_t weight)
{
    RAD_ASSERT(number < f->capacity);
    uint64_t change = weight - f->value[number]; /* wraps for decreases; sums wrap back */
    if (change == 0) return;
    f->value[number] = weight;
    f->total += change;
    for (uint32_t i = number + 1; i <= f->capacity; i += i & -i) f->sums[i] += change;
}

uint32_t rad__fenwick_find(const rad_fenwick *f, uint64_t point)
{
    RAD_ASSERT(point < f->total);
    uint32_t at = 0;
    for (uint32_t jump = f->capacity; jump > 0; jump /= 2) {
        if (at + jump <= f->capacity && f->sums[at + jump] <= point) {
            at += jump;
            point -= f->sums[at];
        }
    }
    return at;
}
