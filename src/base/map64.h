/* map64.h — a map from 64-bit keys to small integers. Open addressing, no removal, cheap to clear and
 * refill. Keys that are hashes already are fine, keys that are not are mixed first. */
#ifndef RAD_BASE_MAP64_H
#define RAD_BASE_MAP64_H

#include "base/check.h"

typedef struct rad_map64_slot {
    uint64_t key;
    uint32_t value; /* RAD_NONE = the slot is empty */
} rad_map64_slot;

typedef struct rad_map64 {
    rad_map64_slot *slots;
    uint32_t slot_count; /* a power of two, or 0 */
    uint32_t count;
} rad_map64;

/* The value of a key, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__map64_find(const rad_map64 *m, uint64_t key);

/* Adds a key that is not there. False when memory ran out. */
RAD_INTERNAL bool rad__map64_add(rad_map64 *m, uint64_t key, uint32_t value);
RAD_INTERNAL void rad__map64_clear(rad_map64 *m);
RAD_INTERNAL void rad__map64_free(rad_map64 *m);

#endif
