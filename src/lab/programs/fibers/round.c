/* round.c — has the state of a program come back? Then its fibers can go round for ever: a livelock (core/fair.h).
 *
 * Part      of each runner what it is about to do and what it waits for, and the live part of its stack.
 * Whole     besides, all memory that the program can write, the C library's variables (rand has its state there), and
 *           the blocks of the heap, but for the runtime's own: what that knows of a fiber is in the part.
 * Passed    who was woken for a mutex, and found it taken, is passed by for a millisecond, not for ever: what comes
 *           after that is another state.
 * Unknown   time may pass (a timer, a loop that looks at the clock), descriptors are in use, the run is uncontrolled,
 *           or the scan is in doubt (reach.h): then nothing comes back. So a round may be missed, and none is made up.
 *
 * A whole state takes as long as hundreds of steps. After the fourth only the 16th, 64th, 256th … is looked at: a loop
 * that changes memory costs little, and one that does not is found by its first few rounds. */
#include "lab/programs/fibers/mistakes.h"
#include "lab/programs/fibers/reach.h"
#include "lab/programs/threads/threads.h"

#include "core/kernel.h"

enum { ROUNDS_FIRST = 4 };

static uint64_t asked;

static void runner_state(const rad_runner *r, rad_state_hash *h)
{
    const rad_slot *s = r->slot;
    uint64_t own[] = {r->number, r->enabled,  r->site,  (uintptr_t)r->object, /* tidy: address ok: one run */
                      r->looks,  r->after_ns, r->woken, (uintptr_t)r->word};  /* tidy: address ok: one run */
    rad_state_add(h, own, sizeof own);
    if (s == NULL) return;
    uint64_t slot[] = {atomic_load_explicit(&s->waits_for, memory_order_relaxed),
                       atomic_load_explicit(&s->waits_more, memory_order_relaxed),
                       atomic_load_explicit(&s->canceled, memory_order_relaxed),
                       s->deadline,
                       s->shields,
                       s->nurseries,
                       s->mutexes,
                       s->rwlocks,
                       s->ended,
                       (uint64_t)s->code,
                       (uintptr_t)s->joiners.first}; /* tidy: address ok: one run */
    rad_state_add(h, slot, sizeof slot);
    rad_state_add(h, s->result, sizeof s->result);
}

static bool is_known(void)
{
    const rad_stage *s = &rad__stage;
    return !s->uncontrolled && !s->external && !rad__files_are_used() && !rad__descriptors_used &&
           rad__time_next() == UINT64_MAX;
}

static bool is_turn(uint64_t n)
{
    return (n & (n - 1)) == 0 && __builtin_ctzll(n) % 2 == 0;
}

bool rad__program_round(void *self, bool whole, rad_digest *digest)
{
    (void)self;
    if (!is_known() || (whole && ++asked > ROUNDS_FIRST && !is_turn(asked))) return false;
    return rad__round_state(whole, digest);
}

bool rad__round_state(bool whole, rad_digest *digest)
{
    const rad_stage *s = &rad__stage;
    rad_state_hash h = {{0, 0}};
    if (!is_known()) return false;
    uint64_t all[] = {s->now_ns, s->random, s->is_seeded, s->runner_count, rad__random_state(), s->passed_by};
    rad_state_add(&h, all, sizeof all);
    for (uint32_t i = 0; i < s->runner_count; i++) {
        const rad_runner *r = &s->runners[i];
        if (r->ended || r->kind == RAD_RUNNER_CLOCK) continue;
        runner_state(r, &h);
        rad__reach_stack_state(r, &h);
    }
    bool known = !whole || rad__reach_state(&h);
    *digest = h.digest;
    return known;
}
