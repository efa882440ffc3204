/* spin.h — an actor that only looks, and sees the same again and again.
 *
 * A *look* is a step that reads and changes nothing. An actor spins when its last looks are RAD_SPIN_ROUNDS equal
 * rounds: 3 * p looks with the period p, for some p up to RAD_SPIN_PERIOD. Equal means the same place, the same object
 * and the same value. Whoever keeps the looks forgets them when the actor does anything else.
 *
 * Rejected: counting each look by itself. A loop over a table that asks for its length each time would spin. */
#ifndef RAD_CORE_SPIN_H
#define RAD_CORE_SPIN_H

#include "base/check.h"

enum { RAD_SPIN_ROUNDS = 3, RAD_SPIN_PERIOD = 8 };

typedef struct rad_looks {
    uint64_t last[RAD_SPIN_PERIOD]; /* look i is at i modulo the size */
    uint8_t same[RAD_SPIN_PERIOD];  /* [p - 1]: how many of the last looks equal the one p before */
} rad_looks;

/* One more look; true when the actor spins now. *count is the number of looks so far: to set it to 0 is to forget them,
 * which happens far more often than a look. */
RAD_INTERNAL bool rad__looks_add(rad_looks *l, uint32_t *count, uint64_t look);

#endif
