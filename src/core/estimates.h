/* estimates.h — what earlier runs tell the next one, keyed by signatures.
 *
 * Per (actor, object): how many steps of that actor touched that object, summed over runs; object 0
 * stands for all steps of the actor. Folding is addition and maximum, so the order of folding does not
 * matter and parallel exploration gives what one process would. */
#ifndef RAD_CORE_ESTIMATES_H
#define RAD_CORE_ESTIMATES_H

#include "base/bytes.h"
#include "base/map64.h"

typedef struct rad_estimate {
    uint64_t actor, object; /* signatures; object 0 = any */
    uint64_t parent;        /* of the actor; 0 = none */
    uint64_t events;
    uint64_t writes; /* those of them that write */
    uint64_t runs;   /* in how many runs the pair was seen */
} rad_estimate;

typedef struct rad_estimates {
    rad_estimate *items; /* in order of first fold */
    uint32_t count;
    uint32_t capacity;
    rad_map64 index; /* pair -> item */
    uint64_t runs;
    uint64_t chances_max; /* of the longest run: what pct counts */
} rad_estimates;

enum { RAD_ESTIMATES_MAX = 1 << 16 }; /* pairs; more are left out */

RAD_INTERNAL void rad__estimates_add(rad_estimates *e, const rad_estimate *one);
RAD_INTERNAL void rad__estimates_fold(rad_estimates *into, const rad_estimates *from);
RAD_INTERNAL const rad_estimate *rad__estimates_find(const rad_estimates *e, uint64_t actor, uint64_t object);
RAD_INTERNAL void rad__estimates_clear(rad_estimates *e);
RAD_INTERNAL void rad__estimates_free(rad_estimates *e);

/* Between processes of one build. */
RAD_INTERNAL void rad__estimates_write(const rad_estimates *e, rad_bytes *to);
RAD_INTERNAL bool rad__estimates_read(rad_estimates *e, rad_reader *from);

#endif
