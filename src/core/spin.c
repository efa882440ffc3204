/* spin.c — rounds of equal looks; see spin.h. */
#include "core/spin.h"

#include <string.h>

bool rad__looks_add(rad_looks *l, uint32_t *count, uint64_t look)
{
    uint32_t at = *count, known = at < RAD_SPIN_PERIOD ? at : RAD_SPIN_PERIOD;
    bool spins = false;
    if (known == 0) memset(l->same, 0, sizeof l->same);
    for (uint32_t p = 1; p <= known; p++) {
        uint8_t *same = &l->same[p - 1];
        uint32_t enough = (RAD_SPIN_ROUNDS - 1) * p;
        if (l->last[(at - p) % RAD_SPIN_PERIOD] != look)
            *same = 0;
        else if (*same < enough)
            ++*same;
        spins |= *same == enough;
    }
    l->last[at % RAD_SPIN_PERIOD] = look;
    *count = at + 1 < 2 * RAD_SPIN_PERIOD ? at + 1 : RAD_SPIN_PERIOD; /* the same place in `last` */
    return spins;
}
