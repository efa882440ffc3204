/* spin.c — rounds of equal looks; see spin.h.
 *
 * Most looks are the first of their kind: these compare with nothing. */
#include "core/spin.h"

/* Bit p - 1: the look p before is equal. */
static uint64_t looks_equal(const rad_looks *l, uint32_t count, uint64_t look)
{
    uint32_t known = count < RAD_SPIN_PERIOD ? count : RAD_SPIN_PERIOD;
    uint64_t equal = 0;
    for (uint32_t p = 1; p <= known; p++)
        equal |= (uint64_t)(l->last[(count - p) % RAD_SPIN_PERIOD] == look) << (p - 1);
    return equal;
}

uint8_t rad__looks_add(rad_looks *l, uint32_t *count, uint64_t look, bool private)
{
    uint32_t at = *count;
    uint64_t kind = UINT64_C(1) << look % 64, equal = 0;
    uint8_t spins = 0;
    if (at == 0) l->kinds = l->repeats = l->private = 0;
    if (l->kinds & kind) equal = looks_equal(l, at, look);
    l->private = !private ? 0 : (uint8_t)(l->private + (l->private < RAD_SPIN_PERIOD));
    for (uint64_t rest = equal; rest != 0; rest &= rest - 1) {
        uint32_t p = (uint32_t)__builtin_ctzll(rest) + 1, enough = (RAD_SPIN_ROUNDS - 1) * p;
        uint32_t same = l->repeats >> (p - 1) & 1 ? l->same[p - 1] : 0;
        if (same < enough) same++;
        l->same[p - 1] = (uint8_t)same;
        if (spins == 0 && same == enough && l->private < p) spins = (uint8_t)p;
    }
    l->repeats = equal;
    l->kinds |= kind;
    l->last[at % RAD_SPIN_PERIOD] = look;
    *count = at + 1 < 2 * RAD_SPIN_PERIOD ? at + 1 : RAD_SPIN_PERIOD; /* the same place in `last` */
    return spins;
}
