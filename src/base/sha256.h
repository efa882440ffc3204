/* sha256.h — SHA-256 (FIPS 180-4), for files that other programs check: our own hashes are XXH3. */
#ifndef RAD_BASE_SHA256_H
#define RAD_BASE_SHA256_H

#include "base/check.h"

enum { RAD_SHA256_SIZE = 32, RAD_SHA256_BLOCK = 64 };

typedef struct rad_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[RAD_SHA256_BLOCK];
} rad_sha256;

RAD_INTERNAL void rad__sha256_begin(rad_sha256 *s);
RAD_INTERNAL void rad__sha256_put(rad_sha256 *s, const void *data, size_t size);
RAD_INTERNAL void rad__sha256_end(rad_sha256 *s, uint8_t out[RAD_SHA256_SIZE]);

/* All at once; as 64 hexadecimal digits and a zero. */
RAD_INTERNAL void rad__sha256(const void *data, size_t size, uint8_t out[RAD_SHA256_SIZE]);
RAD_INTERNAL void rad__sha256_text(const void *data, size_t size, char text[2 * RAD_SHA256_SIZE + 1]);

#endif
