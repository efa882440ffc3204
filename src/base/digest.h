/* digest.h — 128-bit digests (XXH3), folded record by record.
 *
 * A digest is a fold over fixed-layout, little-endian records: each new state is a hash of the last one and
 * the record. So
 * equal prefixes have equal digests and the first difference can be located. */
#ifndef RAD_BASE_DIGEST_H
#define RAD_BASE_DIGEST_H

#include "base/check.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "records are hashed as they lie in memory: a big-endian port swaps them first");

typedef struct rad_digest {
    uint64_t low, high;
} rad_digest;

enum { RAD_DIGEST_TEXT = 33 }; /* 32 hexadecimal digits and the end */

static inline bool rad__digest_equal(rad_digest a, rad_digest b)
{
    return a.low == b.low && a.high == b.high;
}

RAD_INTERNAL rad_digest rad__digest_of(const void *bytes, size_t size);
RAD_INTERNAL void rad__digest_text(rad_digest d, char text[RAD_DIGEST_TEXT]);
RAD_INTERNAL bool rad__digest_parse(const char *text, rad_digest *d);

struct rad_state_hash {
    rad_digest digest;
};

#endif
