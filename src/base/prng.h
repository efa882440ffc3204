/* prng.h — random numbers with explicit state (PCG-XSL-RR 128/64, O'Neill 2014).
 *
 * State is always a parameter; each purpose has a stream of its own, derived from (seed, purpose,
 * index), so that drawing more in one place never shifts another. */
#ifndef RAD_BASE_PRNG_H
#define RAD_BASE_PRNG_H

#include "base/check.h"

typedef struct rad_prng {
    unsigned __int128 state;
} rad_prng;

/* Purposes of streams; part of what a seed means, so only append. */
enum rad_stream {
    RAD_STREAM_RANDOM = 1,
    RAD_STREAM_PCT,
    RAD_STREAM_SURW,
    RAD_STREAM_SHRINK,
    RAD_STREAM_TEST,
    RAD_STREAM_CASE,
    RAD_STREAM_STEAL,    /* whom a worker's thread asks */
    RAD_STREAM_SELECT,   /* the order in which a select looks */
    RAD_STREAM_PROTOCOL, /* a random protocol */
    RAD_STREAM_POS,
    RAD_STREAM_POLICY, /* one that a user wrote */
    RAD_STREAM_PROGRAM /* what a program under test takes for random numbers of the system */
};

/* Mixes 64 bits (the finaliser of splitmix64). */
static inline uint64_t rad__mix64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t rad__mix2(uint64_t a, uint64_t b)
{
    return rad__mix64(a + UINT64_C(0x9e3779b97f4a7c15) + rad__mix64(b + UINT64_C(0x632be59bd9b4e019)));
}

/* Folds two words into one by a full multiplication: half the cost of rad__mix2, good enough for
 * fingerprints that nobody attacks. */
static inline uint64_t rad__fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product =
        (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ UINT64_C(0xd1b54a32d192ed03));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t rad__prng_next(rad_prng *r)
{
    const unsigned __int128 multiplier =
        (unsigned __int128)UINT64_C(2549297995355413924) << 64 | UINT64_C(4865540595714422341);
    const unsigned __int128 increment =
        (unsigned __int128)UINT64_C(6364136223846793005) << 64 | UINT64_C(1442695040888963407);
    r->state = r->state * multiplier + increment;
    uint64_t folded = (uint64_t)(r->state >> 64) ^ (uint64_t)r->state;
    unsigned turn = (unsigned)(r->state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

static inline rad_prng rad__prng(uint64_t seed, enum rad_stream purpose, uint64_t index)
{
    uint64_t high = rad__mix2(seed, (uint64_t)purpose);
    uint64_t low = rad__mix2(high, index);
    rad_prng r = {(unsigned __int128)high << 64 | low};
    rad__prng_next(&r);
    return r;
}

/* Uniform in 0 … bound-1 without bias (Lemire 2019: multiply, reject the short interval). bound > 0. */
static inline uint64_t rad__prng_below(rad_prng *r, uint64_t bound)
{
    unsigned __int128 product = (unsigned __int128)rad__prng_next(r) * bound;
    if (RAD_UNLIKELY((uint64_t)product < bound)) {
        uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold) product = (unsigned __int128)rad__prng_next(r) * bound;
    }
    return (uint64_t)(product >> 64);
}

#endif
