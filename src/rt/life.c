#include "rt/life.h"

#define SIGNAL       (UINT64_C(1) << 3)
#define STATE_MASK   UINT64_C(7)
#define OWNER_MASK   (UINT64_C(0xffff) << 16)
#define GENERATION_1 (UINT64_C(1) << 32)

/* The same word in another state, without signal and owner. */
static uint64_t moved(uint64_t word, enum rad_fiber_state state)
{
    return (word & ~(STATE_MASK | SIGNAL | OWNER_MASK)) | (uint64_t)state;
}

/* A change by who owns the fiber, whom only a signal can disturb. Answers the word before. */
static uint64_t change(rad_life *life, enum rad_fiber_state from, enum rad_fiber_state to,
                       uint64_t keep, uint64_t add)
{
    uint64_t word = atomic_load_explicit(&life->word, memory_order_relaxed);
    uint64_t next;
    do {
        RAD_ASSERT(rad__life_state(word) == from);
        next = moved(word, to) | (word & keep) | add;
        /* Pairs with itself in the other thread that has or had the fiber, and with the change in unpark. */
    } while (!atomic_compare_exchange_weak_explicit(&life->word, &word, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return word;
}

void rad__life_init(rad_life *life)
{
    atomic_init(&life->word, GENERATION_1);
}

uint32_t rad__life_begin(rad_life *life)
{
    return rad__life_generation(change(life, RAD_FIBER_IDLE, RAD_FIBER_ASSIGNED, 0, 0));
}

void rad__life_own(rad_life *life, uint32_t worker)
{
    RAD_DCHECK(worker <= 0xffff);
    change(life, RAD_FIBER_ASSIGNED, RAD_FIBER_OWNED, SIGNAL, (uint64_t)worker << 16);
}

void rad__life_yield(rad_life *life)
{
    change(life, RAD_FIBER_OWNED, RAD_FIBER_ASSIGNED, SIGNAL, 0);
}

enum rad_park rad__life_park(rad_life *life)
{
    uint64_t word = atomic_load_explicit(&life->word, memory_order_relaxed);
    for (;;) {
        RAD_ASSERT(rad__life_state(word) == RAD_FIBER_OWNED);
        bool signalled = rad__life_signalled(word);
        uint64_t next = signalled ? word & ~SIGNAL : moved(word, RAD_FIBER_PARKED);
        /* P1, pairs with U2. */
        if (atomic_compare_exchange_weak_explicit(&life->word, &word, next, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return signalled ? RAD_PARK_GOES_ON : RAD_PARKED;
    }
}

enum rad_unpark rad__life_unpark(rad_life *life, uint32_t generation)
{
    uint64_t word = atomic_load_explicit(&life->word, memory_order_relaxed);
    for (;;) {
        enum rad_fiber_state state = rad__life_state(word);
        bool lives = state != RAD_FIBER_IDLE && state != RAD_FIBER_DONE;
        if (!lives || rad__life_generation(word) != generation) return RAD_UNPARK_STALE;
        bool parked = state == RAD_FIBER_PARKED;
        uint64_t next = parked ? moved(word, RAD_FIBER_ASSIGNED) : word | SIGNAL;
        /* U2, pairs with P1, also when the signal is there already: U1 has to be seen behind it. */
        if (atomic_compare_exchange_weak_explicit(&life->word, &word, next, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return parked ? RAD_UNPARK_QUEUE : RAD_UNPARK_LATCHED;
    }
}

void rad__life_end(rad_life *life)
{
    change(life, RAD_FIBER_OWNED, RAD_FIBER_DONE, 0, 0);
}

void rad__life_retire(rad_life *life)
{
    uint64_t word = atomic_load_explicit(&life->word, memory_order_relaxed);
    uint64_t next;
    do {
        uint32_t generation = rad__life_generation(word) + 1;
        RAD_ASSERT(rad__life_state(word) == RAD_FIBER_DONE);
        next = (uint64_t)(generation ? generation : 1) << 32 | RAD_FIBER_IDLE; /* 0 is nobody's */
        /* Pairs with the change in rad__life_begin. */
    } while (!atomic_compare_exchange_weak_explicit(&life->word, &word, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
}
