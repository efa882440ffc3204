/* hash.h — 64 bits of XXH3, for blocks of the log and bodies of answers. */
#ifndef RAD_LOAD_LOG_HASH_H
#define RAD_LOAD_LOG_HASH_H

#include "base/digest_inline.h"

static inline uint64_t rad__load_hash(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}

#endif
