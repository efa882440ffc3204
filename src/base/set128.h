/* set128.h — a set of 128-bit digests with a bound: visited states, seen trace classes. Open
 * addressing; the digest is its own hash. The all-zero digest is kept aside. */
#ifndef RAD_BASE_SET128_H
#define RAD_BASE_SET128_H

#include "base/digest.h"

typedef struct rad_set128 {
    rad_digest *slots;
    uint64_t slot_count; /* a power of two, or 0 */
    uint64_t count;
    uint64_t limit; /* 0 = none; at the limit nothing more is added */
    bool has_zero;
} rad_set128;

enum rad_set_add { RAD_SET_NEW, RAD_SET_KNOWN, RAD_SET_FULL, RAD_SET_NOMEM };

RAD_INTERNAL enum rad_set_add rad__set128_add(rad_set128 *s, rad_digest d);
RAD_INTERNAL bool rad__set128_has(const rad_set128 *s, rad_digest d);

/* Before a number of additions: asks for the memory that this one will look at. */
static inline void rad__set128_prefetch(const rad_set128 *s, rad_digest d)
{
    if (s->slot_count) __builtin_prefetch(&s->slots[d.low & (s->slot_count - 1)], 1);
}

RAD_INTERNAL void rad__set128_clear(rad_set128 *s);
RAD_INTERNAL void rad__set128_free(rad_set128 *s);

#endif
