#include "exec/choose.h"

/* The first set bit in [from, to), or RAD_NONE. */
static uint32_t first_parked(const uint64_t *parked, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to; at = (at / 64 + 1) * 64) {
        uint64_t rest = parked[at / 64] >> (at % 64);
        if (rest == 0) continue;
        uint32_t found = at + (uint32_t)__builtin_ctzll(rest);
        return found < to ? found : RAD_NONE;
    }
    return RAD_NONE;
}

uint32_t rad__choose_sleeper(const uint64_t *parked, uint32_t workers, uint32_t next)
{
    next = next < workers ? next : 0;
    uint32_t found = first_parked(parked, next, workers);
    return found != RAD_NONE ? found : first_parked(parked, 0, next);
}
