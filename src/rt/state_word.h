/* state_word.h — one word for each fiber: its state, a signal that has not been looked at, and its generation.
 *
 * Word      bits 0 … 2: state; bit 3: signal; bits 16 … 31: the worker that owns it; bits 32 … 63: generation
 *
 *     IDLE     --begin-->   ASSIGNED             a new incarnation; it is to be queued
 *     ASSIGNED --own-->     OWNED by a worker    popped, about to run
 *     OWNED    --yield-->   ASSIGNED             off its stack; to be queued
 *     OWNED    --park-->    PARKED               off its stack, no signal: it belongs to the waker that unparks it
 *     OWNED, signal --park--> OWNED              it continues, the signal is used up
 *     PARKED   --unpark-->  ASSIGNED             to be queued, by exactly this caller
 *     ASSIGNED, OWNED --unpark--> same, signal   latched: the next park does not wait
 *     PARKED   --hold-->    OWNED by nobody      its stack is looked at; then it is parked again, as by a worker
 *     OWNED    --end-->     DONE
 *     DONE     --retire-->  IDLE                 generation + 1: handles, wait nodes and timers of before are stale
 *
 * Every arrow is one read-modify-write in one function, whose answer says what the caller has to do. Anything else is a
 * mistake of ours and stops the process.
 *
 *              fiber (by its worker, off its stack)       waker
 *         P1   word: OWNED -> PARKED, unless a signal      U1   makes true what the fiber waits for
 *              is there; then it is used up                U2   word: PARKED -> ASSIGNED, or sets the signal
 * Claim: a wake is never lost and never makes two. P1 and U2 change the same word, so one is first. U2 first: P1 finds
 * the signal and the fiber continues, to look at what it waits for again. P1 first: U2 finds PARKED, and queues it. A
 * second waker finds ASSIGNED, and latches. P1 comes after the switch: a fiber that is PARKED is off its stack, with
 * its registers saved, so a waker that finds it so may run it at once.
 *
 * F1  a fiber is in a queue, or about to be put into one by who made it ASSIGNED, exactly when it is ASSIGNED.
 * F2  only its owner changes a word that is OWNED, except for the signal.
 * F3  the generation changes only from DONE to IDLE: what was said to a former incarnation is told apart.
 *
 * Ordering  every change is acq_rel: who takes a fiber over sees what it did before, and who wakes it passes on what
 *           the waker did (U1).
 *
 * Rejected: a latch beside the state (two variables; the race between them is the classical lost wakeup); publishing
 * PARKED before the switch (a waker on another processor would run the fiber on a stack that is still in use). */
#ifndef RAD_RT_STATE_WORD_H
#define RAD_RT_STATE_WORD_H

#include <stdatomic.h>

#include "base/check.h"

enum rad_fiber_state { RAD_FIBER_IDLE = 0, RAD_FIBER_ASSIGNED, RAD_FIBER_OWNED, RAD_FIBER_PARKED, RAD_FIBER_DONE };

typedef struct rad_state_word {
    _Atomic uint64_t word;
} rad_state_word;

#define RAD_STATE_STATE  UINT64_C(7)
#define RAD_STATE_SIGNAL (UINT64_C(1) << 3)
#define RAD_STATE_OWNER  (UINT64_C(0xffff) << 16)

static inline enum rad_fiber_state rad__state_of(uint64_t word)
{
    return (enum rad_fiber_state)(word & 7);
}

static inline bool rad__state_signalled(uint64_t word)
{
    return word >> 3 & 1;
}

static inline uint32_t rad__state_owner(uint64_t word)
{
    return (uint32_t)(word >> 16) & 0xffff;
}

static inline uint32_t rad__state_generation(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline uint64_t rad__state_look(const rad_state_word *state)
{
    return atomic_load_explicit(&state->word, memory_order_relaxed);
}

enum { RAD_STATE_NOBODY = 0xffff }; /* no worker's number */

enum rad_park { RAD_PARKED = 0, RAD_PARK_GOES_ON };

enum rad_unpark {
    RAD_UNPARK_QUEUE = 0, /* the caller puts it into a queue */
    RAD_UNPARK_LATCHED,   /* it runs or will run, and does not wait next time */
    RAD_UNPARK_STALE      /* it has ended: another incarnation, or none */
};

/* The same word in another state, without signal and owner. */
static inline uint64_t rad__state_moved(uint64_t word, enum rad_fiber_state state)
{
    return (word & ~(RAD_STATE_STATE | RAD_STATE_SIGNAL | RAD_STATE_OWNER)) | (uint64_t)state;
}

/* A change by who owns the fiber, whom only a signal can disturb. Answers the word before. */
static inline uint64_t rad__state_change(rad_state_word *state, enum rad_fiber_state from, enum rad_fiber_state to,
                                         uint64_t keep, uint64_t add)
{
    uint64_t word = atomic_load_explicit(&state->word, memory_order_relaxed);
    uint64_t next;
    do {
        RAD_ASSERT(rad__state_of(word) == from);
        next = rad__state_moved(word, to) | (word & keep) | add;
        /* Pairs with itself in the other thread that has or had the fiber, and with the change in unpark. */
    } while (
        !atomic_compare_exchange_weak_explicit(&state->word, &word, next, memory_order_acq_rel, memory_order_relaxed));
    return word;
}

/* IDLE; generation 1, so that 0 means nobody. */
static inline void rad__state_init(rad_state_word *state)
{
    atomic_init(&state->word, (UINT64_C(1) << 32));
}

/* The generation of the new incarnation. The caller queues it. */
static inline uint32_t rad__state_begin(rad_state_word *state)
{
    return rad__state_generation(rad__state_change(state, RAD_FIBER_IDLE, RAD_FIBER_ASSIGNED, 0, 0));
}

static inline void rad__state_own(rad_state_word *state, uint32_t worker)
{
    RAD_DCHECK(worker < RAD_STATE_NOBODY);
    rad__state_change(state, RAD_FIBER_ASSIGNED, RAD_FIBER_OWNED, RAD_STATE_SIGNAL, (uint64_t)worker << 16);
}

/* Off its stack: the caller queues it. */
static inline void rad__state_yield(rad_state_word *state)
{
    rad__state_change(state, RAD_FIBER_OWNED, RAD_FIBER_ASSIGNED, RAD_STATE_SIGNAL, 0);
}

/* Off its stack. PARKED: it is no longer the caller's. */
static inline RAD_MUST_USE enum rad_park rad__state_park(rad_state_word *state)
{
    uint64_t word = atomic_load_explicit(&state->word, memory_order_relaxed);
    for (;;) {
        RAD_ASSERT(rad__state_of(word) == RAD_FIBER_OWNED);
        bool signalled = rad__state_signalled(word);
        uint64_t next = signalled ? word & ~RAD_STATE_SIGNAL : rad__state_moved(word, RAD_FIBER_PARKED);
        /* P1, pairs with U2. */
        if (atomic_compare_exchange_weak_explicit(&state->word, &word, next, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return signalled ? RAD_PARK_GOES_ON : RAD_PARKED;
    }
}

/* Was seen PARKED with this word, and is the caller's if it still is: a waker leaves a signal meanwhile. The
 * caller parks it again, which tells whether one did. */
static inline RAD_MUST_USE bool rad__state_hold(rad_state_word *state, uint64_t word)
{
    RAD_DCHECK(rad__state_of(word) == RAD_FIBER_PARKED);
    uint64_t next = rad__state_moved(word, RAD_FIBER_OWNED) | (uint64_t)RAD_STATE_NOBODY << 16;
    /* Pairs with P1: what it left on its stack is seen. */
    return atomic_compare_exchange_strong_explicit(&state->word, &word, next, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* Any number of times, from anywhere. */
static inline RAD_MUST_USE enum rad_unpark rad__state_unpark(rad_state_word *state, uint32_t generation)
{
    uint64_t word = atomic_load_explicit(&state->word, memory_order_relaxed);
    for (;;) {
        enum rad_fiber_state now = rad__state_of(word);
        bool lives = now != RAD_FIBER_IDLE && now != RAD_FIBER_DONE;
        if (!lives || rad__state_generation(word) != generation) return RAD_UNPARK_STALE;
        bool parked = now == RAD_FIBER_PARKED;
        uint64_t next = parked ? rad__state_moved(word, RAD_FIBER_ASSIGNED) : word | RAD_STATE_SIGNAL;
        /* U2, pairs with P1, also when the signal is there already: U1 has to be seen behind it. */
        if (atomic_compare_exchange_weak_explicit(&state->word, &word, next, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return parked ? RAD_UNPARK_QUEUE : RAD_UNPARK_LATCHED;
    }
}

/* By its owner: it will not run again. A signal is forgotten. */
static inline void rad__state_end(rad_state_word *state)
{
    rad__state_change(state, RAD_FIBER_OWNED, RAD_FIBER_DONE, 0, 0);
}

/* Everybody who wanted its result has it. */
static inline void rad__state_retire(rad_state_word *state)
{
    uint64_t word = atomic_load_explicit(&state->word, memory_order_relaxed);
    uint64_t next;
    do {
        uint32_t generation = rad__state_generation(word) + 1;
        RAD_ASSERT(rad__state_of(word) == RAD_FIBER_DONE);
        next = (uint64_t)(generation ? generation : 1) << 32 | RAD_FIBER_IDLE; /* 0 is nobody's */
        /* Pairs with the change in rad__state_begin. */
    } while (
        !atomic_compare_exchange_weak_explicit(&state->word, &word, next, memory_order_acq_rel, memory_order_relaxed));
}

#endif
