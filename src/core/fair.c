/* fair.c — windows, who comes behind whom, and who is aside; see fair.h.
 *
 * Sets are bitmaps over parties: 0 is the world, 1 + a the actor a. They come into being with the first yield of a run,
 * so machines that never yield pay nothing. */
#include "core/kernel.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

enum {
    NOW,
    BEFORE,
    COULD,
    DID,
    COMMON
}; /* who can run; before the step; since the mark: who could, who did */
enum { BEHIND, ABLE, STOPPED, RAN, OWN };

void rad__fair_reset(rad_fair *f)
{
    f->world = 0;
    f->held = 0;
    f->actors_aside = f->actions_aside = 0;
    if (!f->active) return;
    for (uint32_t i = 0; i < f->slots; i++) f->slot[f->party[i]] = 0;
    f->slots = 0;
    f->active = false;
}

void rad__fair_free(rad_fair *f)
{
    rad__free(f->party);
    rad__free(f->slot);
    rad__free(f->sets);
}

/* ---- Sets ------------------------------------------------------------------------------------------------ */

static uint64_t *common(const rad_fair *f, uint32_t which)
{
    return f->sets + (size_t)which * f->words;
}

static uint64_t *own(const rad_fair *f, uint32_t slot, uint32_t which)
{
    return f->sets + ((size_t)slot * OWN + COMMON + which) * f->words;
}

static void set_add(uint64_t *set, uint32_t party)
{
    set[party / 64] |= UINT64_C(1) << party % 64;
}

/* Room for `slots` slots and sets of `parties`, and what is there keeps its place. */
static bool fair_reserve(rad_fair *f, uint32_t slots, uint32_t parties)
{
    uint32_t words = (parties + 63) / 64, sets = COMMON + OWN * slots, had = f->words;
    if (words < had) words = had;
    if ((uint64_t)sets * words > UINT32_MAX) return false;
    uint32_t old_slots = f->slot_capacity;
    if (!RAD_GROW(&f->slot, &f->slot_capacity, parties) ||
        !RAD_GROW(&f->party, &f->party_capacity, slots) ||
        !RAD_GROW(&f->sets, &f->set_capacity, sets * words))
        return false;
    memset(f->slot + old_slots, 0, (f->slot_capacity - old_slots) * sizeof *f->slot);
    if (words == had) return true;
    for (uint32_t i = COMMON + OWN * f->slots; had != 0 && i-- > 0;) {
        uint64_t *to = f->sets + (size_t)i * words;
        memmove(to, f->sets + (size_t)i * had, had * sizeof *to);
        memset(to + had, 0, (words - had) * sizeof *to);
    }
    f->words = words;
    return true;
}

/* Who can run, for the machine. */
static void fair_look(rad_kernel *k)
{
    uint64_t *now = common(&k->fair, NOW);
    memset(now, 0, k->fair.words * sizeof *now);
    if (k->fair.world) set_add(now, 0);
    for (uint32_t i = 0; i < k->actor_count; i++)
        if (k->actors[i].enabled) set_add(now, i + 1);
}

/* ---- Windows --------------------------------------------------------------------------------------------- */

static void fair_ran(rad_fair *f, uint32_t party)
{
    const uint64_t *now = common(f, NOW), *before = common(f, BEFORE);
    for (uint32_t i = 0; i < f->slots; i++) {
        uint64_t *able = own(f, i, ABLE), *stopped = own(f, i, STOPPED);
        own(f, i, BEHIND)[party / 64] &= ~(UINT64_C(1) << party % 64);
        set_add(own(f, i, RAN), party);
        for (uint32_t w = 0; w < f->words; w++) {
            able[w] &= now[w];
            if (f->party[i] == party) stopped[w] |= before[w] & ~now[w];
        }
    }
}

/* The first yield of an actor opens its first window; there is nobody yet whom it starved. */
static void fair_yields(rad_fair *f, uint32_t party)
{
    bool first = f->slot[party] == 0;
    if (first) {
        f->party[f->slots] = party;
        f->slot[party] = ++f->slots;
    }
    uint32_t slot = f->slot[party] - 1;
    uint64_t *behind = own(f, slot, BEHIND), *able = own(f, slot, ABLE);
    uint64_t *stopped = own(f, slot, STOPPED), *ran = own(f, slot, RAN);
    for (uint32_t w = 0; w < f->words; w++) {
        behind[w] = first ? 0 : behind[w] | ((able[w] | stopped[w]) & ~ran[w]);
        able[w] = common(f, NOW)[w];
        stopped[w] = ran[w] = 0;
    }
}

/* ---- Rounds ----------------------------------------------------------------------------------------------
 * A livelock is a state that comes back, with a round of steps in between that is fair: every actor that could run in
 * it ran, and did the only thing it could. Such a round can be repeated for ever. States are compared at yields, with
 * one that is marked; the mark moves on at yields 1, 2, 4, 8, …, so a round is seen when the mark is inside it. */

static void round_note(rad_kernel *k, uint32_t party, bool chose)
{
    rad_fair *f = &k->fair;
    for (uint32_t w = 0; w < f->words; w++) common(f, COULD)[w] |= common(f, NOW)[w];
    set_add(common(f, DID), party);
    f->varies |= chose || f->world > 1;
    for (uint32_t i = 0; i < k->actor_count; i++) f->varies |= k->actors[i].enabled > 1;
}

static bool round_is_fair(const rad_fair *f)
{
    uint64_t left = 0;
    for (uint32_t w = 0; w < f->words; w++) left |= common(f, COULD)[w] & ~common(f, DID)[w];
    return left == 0 && !f->varies;
}

static void round_mark(rad_kernel *k, rad_digest digest)
{
    rad_fair *f = &k->fair;
    f->mark = digest;
    f->mark_step = k->step;
    f->next_mark *= 2;
    f->varies = false;
    memcpy(common(f, COULD), common(f, NOW), f->words * sizeof(uint64_t));
    memset(common(f, DID), 0, f->words * sizeof(uint64_t));
}

static void round_report(rad_kernel *k)
{
    const rad_fair *f = &k->fair;
    char who[200] = "", name[RAD_NAME_MAX];
    for (uint32_t i = 0; i < k->actor_count; i++) {
        size_t used = strlen(who);
        if (!(common(f, DID)[(i + 1) / 64] >> (i + 1) % 64 & 1)) continue;
        rad__actor_name(k, i, name);
        snprintf(who + used, sizeof who - used, "%s%s", used ? ", " : "", name);
    }
    rad_fail(
        k, RAD_ORACLE_LIVELOCK, RAD_NONE,
        "steps %llu to %llu can repeat for ever: they end in the state in which they began, and "
        "everybody who can go on does (%s)",
        (unsigned long long)f->mark_step + 1, (unsigned long long)k->step, who);
}

static void round_look(rad_kernel *k)
{
    rad_fair *f = &k->fair;
    rad_state_hash h = {{0, 0}};
    if (k->machine->state == NULL || k->ended) return;
    k->machine->state(k->self, &h);
    rad_evaluated(k, RAD_ORACLE_LIVELOCK);
    bool again = f->yields++ > 0 && rad__digest_equal(h.digest, f->mark) && round_is_fair(f);
    if (again)
        round_report(k);
    else if (f->yields == f->next_mark)
        round_mark(k, h.digest);
}

/* F2 */
static void fair_settle(rad_kernel *k)
{
    rad_fair *f = &k->fair;
    const uint64_t *now = common(f, NOW);
    for (uint32_t i = 0; i < f->slots; i++) {
        const uint64_t *behind = own(f, i, BEHIND);
        uint64_t waits = 0;
        for (uint32_t w = 0; w < f->words; w++) waits |= behind[w] & now[w];
        rad__enabled_aside(k, f->party[i] - 1, waits != 0);
    }
    if (k->fresh_count) rad__enabled_settle(k);
    f->held += f->actions_aside > 0;
}

void rad__fair_stepped(rad_kernel *k, uint32_t action, bool yields, bool chose)
{
    rad_fair *f = &k->fair;
    uint32_t party = k->actions[action].actor + 1; /* RAD_NONE + 1 is the world */
    yields = yields && party != 0;
    if (!yields && !f->active) return;
    bool opens = yields && (party >= f->slot_capacity || f->slot[party] == 0);
    if (!fair_reserve(f, f->slots + opens, k->actor_count + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in fair scheduling");
        return;
    }
    bool begins = !f->active;
    f->active = true;
    fair_look(k);
    if (begins) {
        f->yields = 0;
        f->next_mark = 1;
    } else {
        fair_ran(f, party);
        round_note(k, party, chose);
    }
    if (yields) round_look(k);
    if (yields) fair_yields(f, party);
    memcpy(common(f, BEFORE), common(f, NOW), f->words * sizeof(uint64_t));
    fair_settle(k);
}

/* Looks count from the first that repeats another: until then the actor is as far from spinning as anybody, and an
 * actor that really spins changes no state in the round by which this may be wrong. */
static void looks_state(const rad_looks *l, uint32_t count, rad_state_hash *h)
{
    uint32_t known = count < RAD_SPIN_PERIOD ? count : RAD_SPIN_PERIOD;
    bool repeats = false;
    for (uint32_t p = 0; p < known; p++) repeats |= l->same[p] > 0;
    if (!repeats) return;
    for (uint32_t p = 1; p <= known; p++)
        rad_state_add(h, &l->last[(count - p) % RAD_SPIN_PERIOD], sizeof l->last[0]);
    rad_state_add(h, l->same, sizeof l->same);
}

void rad__fair_state(const rad_kernel *k, rad_state_hash *h)
{
    const rad_fair *f = &k->fair;
    for (uint32_t i = 0; k->recognises && i < k->actor_count && i < k->looks_capacity; i++)
        looks_state(&k->looks[i], k->actors[i].looks, h);
    for (uint32_t i = 0; f->active && i < k->actor_count; i++) {
        uint32_t slot = i + 1 < f->slot_capacity ? f->slot[i + 1] : 0;
        rad_state_add(h, &i, sizeof i);
        if (slot) rad_state_add(h, own(f, slot - 1, 0), OWN * f->words * sizeof(uint64_t));
    }
}
