/* bitset.h — an ordered set of small integers with rank and select.
 *
 * The enabled set of the kernel: members are dense numbers, so a bitmap is the set *and* its canonical
 * order. Above the words stands a tree of counts with fan-out 16; sets of up to 64 × 16 numbers need
 * no tree at all.
 *
 * I1  count is the number of bits set.
 * I2  counts[l][i] is the number of bits set below node i of level l. */
#ifndef RAD_BASE_BITSET_H
#define RAD_BASE_BITSET_H

#include "base/check.h"

enum { RAD_BITSET_FANOUT = 16, RAD_BITSET_LEVELS = 6 };

typedef struct rad_bitset {
    uint64_t *words;
    uint32_t word_capacity;
    uint32_t word_count; /* words in use: covers the largest number added since the last clear */
    uint32_t count;
    uint32_t levels; /* count levels in use above the words */
    uint32_t *counts[RAD_BITSET_LEVELS];
    uint32_t count_capacity[RAD_BITSET_LEVELS];
} rad_bitset;

/* Room for numbers below `limit`; false when memory ran out (the set is then as before). */
RAD_INTERNAL bool rad__bitset_reserve(rad_bitset *s, uint32_t limit);
RAD_INTERNAL void rad__bitset_clear(rad_bitset *s);
RAD_INTERNAL void rad__bitset_free(rad_bitset *s);

/* True when membership changed. The number must be below the reserved limit. */
RAD_INTERNAL bool rad__bitset_add(rad_bitset *s, uint32_t number);
RAD_INTERNAL bool rad__bitset_remove(rad_bitset *s, uint32_t number);

/* The index-th member, index < count; the number of members below `number`. */
RAD_INTERNAL uint32_t rad__bitset_select(const rad_bitset *s, uint32_t index);
RAD_INTERNAL uint32_t rad__bitset_rank(const rad_bitset *s, uint32_t number);

/* The first member at or after `number`, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__bitset_next(const rad_bitset *s, uint32_t number);

RAD_INTERNAL bool rad__bitset_valid(const rad_bitset *s);

/* Without an instruction set to rely on, the compiler would call a function for this. */
static inline uint32_t rad__popcount(uint64_t x)
{
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcountll(x);
#else
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
#endif
}

static inline bool rad__bitset_has(const rad_bitset *s, uint32_t number)
{
    uint32_t word = number >> 6;
    return word < s->word_count && (s->words[word] >> (number & 63) & 1);
}

#endif
