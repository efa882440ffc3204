/* crc32.h — CRC-32 as in ISO 3309, Ethernet and zip files (polynomial 0xedb88320, reflected), eight bytes at a time.
 * Only for formats of others. */
#ifndef RAD_BASE_CRC32_H
#define RAD_BASE_CRC32_H

#include "base/check.h"

typedef struct rad_crc32 {
    uint32_t table[8][256];
} rad_crc32;

RAD_INTERNAL void rad__crc32_open(rad_crc32 *c); /* nothing to free */
RAD_INTERNAL uint32_t rad__crc32(const rad_crc32 *c, const void *data, size_t size);

#endif
