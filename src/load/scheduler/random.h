/* random.h — random numbers that belong to a place in the plan, not to a moment of the run.
 *
 * Every draw has a key: (seed, user, iteration, position, purpose). A stream of xorshift64* begins at a nonzero mix of
 * the key, so what a user draws does not depend on who drew before, on the number of shards, or on how fast the server
 * was: the plan of a run is a function of scenario and seed. In open schedules the arrival is the key, not the user
 * that happens to serve it (vu RAD__LOAD_ARRIVAL, iteration = number of the arrival). */
#ifndef RAD_LOAD_SCHEDULER_RANDOM_H
#define RAD_LOAD_SCHEDULER_RANDOM_H

#include "base/prng.h"

#define RAD__LOAD_ARRIVAL UINT32_MAX

/* Part of what a seed means: only append. */
enum rad__load_purpose {
    RAD__LOAD_DRAW_REQUEST = 1, /* which request */
    RAD__LOAD_DRAW_TARGET,
    RAD__LOAD_DRAW_PAUSE, /* think time */
    RAD__LOAD_DRAW_JITTER,
    RAD__LOAD_DRAW_CONNECTION, /* which of the free ones */
    RAD__LOAD_DRAW_ROW,        /* of a data file */
    RAD__LOAD_DRAW_TEMPLATE,   /* placeholders */
    RAD__LOAD_DRAW_ANSWER,     /* what the simulated target does with a request */
    RAD__LOAD_DRAW_CONNECT     /* and with a connection */
};

typedef struct rad__load_stream {
    uint64_t state; /* never 0: xorshift would stay there */
} rad__load_stream;

/* xorshift64* (Marsaglia 2003, Vigna 2014), as the seed document has it. */
static inline uint64_t rad__load_next(rad__load_stream *r)
{
    uint64_t x = r->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    r->state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

static inline rad__load_stream rad__load_draw(uint64_t seed, uint32_t vu, uint64_t iteration, uint32_t position,
                                              enum rad__load_purpose purpose)
{
    uint64_t mixed =
        rad__mix2(rad__mix2(seed, iteration), (uint64_t)vu << 32 ^ (uint64_t)position << 8 ^ (uint64_t)purpose);
    return (rad__load_stream){mixed != 0 ? mixed : UINT64_C(0x9e3779b97f4a7c15)};
}

/* Uniform in 0 … bound-1 without bias (Lemire 2019). bound > 0. */
static inline uint64_t rad__load_below(rad__load_stream *r, uint64_t bound)
{
    RAD_DCHECK(bound > 0);
    unsigned __int128 product = (unsigned __int128)rad__load_next(r) * bound;
    if (RAD_UNLIKELY((uint64_t)product < bound)) {
        uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold) product = (unsigned __int128)rad__load_next(r) * bound;
    }
    return (uint64_t)(product >> 64);
}

#endif
