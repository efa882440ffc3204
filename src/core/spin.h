/* spin.h — an actor that only looks, and sees the same again and again.
 *
 * A *look* is a step that reads and changes nothing. An actor spins when its last looks are RAD_SPIN_ROUNDS equal
 * rounds: 3 * p looks with the period p, for some p up to RAD_SPIN_PERIOD. Equal means the same place, the same object
 * and the same value. The caller that keeps the looks drops them when the actor does anything else.
 *
 * The kernel finds looks by itself in what the steps of a machine announce and say (kernel.c). L2 has machines whose
 * steps are several operations, and tells by rad__spin_saw what they came to.
 *
 * A *private* look is a write to something that nobody else has touched in this run, such as a thread's count of its
 * tries. Its value does not count, and it is no reason to wait: a round needs at least one look that is not private.
 *
 * Rejected: counting each look by itself. A loop over a table that asks for its length each time would spin.
 * Rejected: rounds whose writes are equal. They are as idle, but every write would have to be kept. */
#ifndef RAD_CORE_SPIN_H
#define RAD_CORE_SPIN_H

#include "base/check.h"

enum { RAD_SPIN_ROUNDS = 3, RAD_SPIN_PERIOD = 64 };

typedef struct rad_looks {
    uint64_t last[RAD_SPIN_PERIOD]; /* look i is at i modulo the size */
    uint64_t kinds;                 /* of looks: a bit that is not set has no look in `last` */
    uint64_t repeats;               /* bit p - 1: same[p - 1] counts; otherwise that is 0 */
    uint8_t same[RAD_SPIN_PERIOD];  /* [p - 1]: how many of the last looks equal the one p before */
    uint8_t private;                /* how many of the last looks are, in a row */
} rad_looks;

/* One more look; the period when the actor spins now, otherwise 0. *count is the number of looks so far: to set it to 0
 * is to forget them, which happens far more often than a look. */
RAD_INTERNAL uint8_t rad__looks_add(rad_looks *l, uint32_t *count, uint64_t look, bool private);

#endif
