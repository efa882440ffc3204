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
    ENDED,
    COMMON
}; /* who can run; before the step; since the mark: who could, who did; in between: who has ended */
enum { BEHIND, LOOKS, ABLE, STOPPED, RAN, OWN };

void rad__fair_reset(rad_fair *f)
{
    f->world = 0;
    f->worldly = false;
    f->held = 0;
    f->spent = false;
    f->actors_aside = f->actions_aside = 0;
    f->calm = 0;
    if (!f->active) return;
    for (uint32_t i = 0; i < f->slots; i++) f->slot[f->owner[i].party] = 0;
    f->slots = 0;
    f->active = false;
}

void rad__fair_free(rad_fair *f)
{
    rad__free(f->owner);
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
    if (!RAD_GROW(&f->slot, &f->slot_capacity, parties) || !RAD_GROW(&f->owner, &f->owner_capacity, slots) ||
        !RAD_GROW(&f->sets, &f->set_capacity, sets * words))
        return false;
    memset(f->slot + old_slots, 0, (f->slot_capacity - old_slots) * sizeof *f->slot);
    if (words == had) return true;
    for (uint32_t i = COMMON + OWN * f->slots; had != 0 && i-- > 0;) {
        uint64_t *to = f->sets + (size_t)i * words;
        memmove(to, f->sets + (size_t)i * had, had * sizeof *to);
        bool ran = i >= COMMON && (i - COMMON) % OWN == RAN; /* new ones count as those who ran */
        memset(to + had, ran ? 0xff : 0, (words - had) * sizeof *to);
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

/* `looks`: it did nothing but look, and did not yield; `spins`: and sees the same again. */
static void fair_ran(rad_fair *f, uint32_t party, bool looks, bool spins)
{
    const uint64_t *now = common(f, NOW), *before = common(f, BEFORE);
    uint64_t others = ~(UINT64_C(1) << party % 64);
    for (uint32_t i = 0; i < f->slots; i++) {
        uint64_t *able = own(f, i, ABLE), *stopped = own(f, i, STOPPED);
        if (!looks) memset(own(f, i, LOOKS), 0, f->words * sizeof(uint64_t));
        if (spins) own(f, i, LOOKS)[party / 64] &= others;
        own(f, i, BEHIND)[party / 64] &= others;
        set_add(own(f, i, RAN), party);
        for (uint32_t w = 0; w < f->words; w++) {
            able[w] &= now[w];
            if (f->owner[i].party == party) stopped[w] |= before[w] & ~now[w];
        }
    }
}

/* Who comes into being in a window is not starved in it, as if it had run; nor is the actor by itself. */
static void window_open(rad_kernel *k, uint32_t slot)
{
    rad_fair *f = &k->fair;
    uint32_t parties = k->actor_count + 1;
    uint64_t *ran = own(f, slot, RAN);
    f->owner[slot].opened = k->step;
    memcpy(own(f, slot, ABLE), common(f, NOW), f->words * sizeof(uint64_t));
    memset(own(f, slot, STOPPED), 0, f->words * sizeof(uint64_t));
    for (uint32_t w = 0; w < f->words; w++)
        ran[w] = w < parties / 64 ? 0 : UINT64_MAX << (w == parties / 64 ? parties % 64 : 0);
    set_add(ran, f->owner[slot].party);
    if (!f->worldly) set_add(ran, 0);
}

/* The first yield of an actor opens its first window; there is nobody yet whom it starved. */
static void fair_yields(rad_kernel *k, uint32_t party, bool spins)
{
    rad_fair *f = &k->fair;
    bool first = f->slot[party] == 0;
    if (first) {
        f->owner[f->slots].party = party;
        f->slot[party] = ++f->slots;
    }
    uint32_t slot = f->slot[party] - 1;
    uint64_t *behind = own(f, slot, BEHIND), *looks = own(f, slot, LOOKS);
    const uint64_t *able = own(f, slot, ABLE), *stopped = own(f, slot, STOPPED);
    bool ends = !first && (!spins || k->step - f->owner[slot].opened >= RAD_TURN);
    for (uint32_t w = 0; w < f->words; w++) {
        uint64_t starved = ends ? (able[w] | stopped[w]) & ~own(f, slot, RAN)[w] : 0;
        behind[w] = first ? 0 : behind[w] | starved;
        looks[w] = spins ? common(f, NOW)[w] : 0;
    }
    if (first || ends) window_open(k, slot);
    behind[party / 64] &= ~(UINT64_C(1) << party % 64);
    looks[party / 64] &= ~(UINT64_C(1) << party % 64);
}

/* ---- Rounds ----------------------------------------------------------------------------------------------
 * A livelock is a state that comes back, with a round of steps in between that is fair: every actor that could run in
 * it ran, and did the only thing it could. Such a round can be repeated for ever. States are compared at yields, with
 * one that is marked; the mark moves on at yields 1, 2, 4, 8, …, so a round is seen when the mark is inside it. */

static void round_touched(rad_kernel *k)
{
    rad_fair *f = &k->fair;
    for (uint32_t i = 0; i < k->touched_count; i++) {
        uint32_t object = k->touched[i].object;
        if (object >= k->object_count || object == f->object) continue;
        if (f->object == RAD_NONE || strcmp(k->objects[object].role, k->objects[f->object].role) < 0)
            f->object = object;
    }
}

static void round_note(rad_kernel *k, uint32_t party, bool chose)
{
    rad_fair *f = &k->fair;
    for (uint32_t w = 0; w < f->words; w++) common(f, COULD)[w] |= common(f, NOW)[w];
    set_add(common(f, DID), party);
    f->varies |= chose || f->world > 1;
    for (uint32_t i = 0; i < k->actor_count; i++) f->varies |= k->actors[i].enabled > 1;
    round_touched(k);
}

static bool round_is_fair(const rad_fair *f)
{
    uint64_t left = 0;
    for (uint32_t w = 0; w < f->words; w++) left |= common(f, COULD)[w] & ~common(f, DID)[w];
    return left == 0 && !f->varies;
}

static bool round_state(rad_kernel *k, bool whole, rad_digest *digest)
{
    rad_state_hash h = {{0, 0}};
    if (k->round_state) return k->round_state(k->self, whole, digest);
    k->machine->state(k->self, &h);
    *digest = h.digest;
    return true;
}

static void round_mark(rad_kernel *k, rad_digest part, bool whole, rad_digest digest)
{
    rad_fair *f = &k->fair;
    f->marked = true;
    f->mark_part = part;
    f->mark_whole = whole;
    f->mark = digest;
    f->mark_step = k->step;
    while (f->next_mark <= f->yields) f->next_mark *= 2;
    f->varies = false;
    f->object = RAD_NONE;
    memcpy(common(f, COULD), common(f, NOW), f->words * sizeof(uint64_t));
    memset(common(f, DID), 0, f->words * sizeof(uint64_t));
}

/* Where an actor is: the site of what it can do next. */
static const char *round_place(const rad_kernel *k, uint32_t actor)
{
    for (uint32_t i = 0; i < k->action_count; i++)
        if (k->actions[i].actor == actor && rad_is_enabled(k, i) && k->machine->site_name)
            return k->machine->site_name(k->self, k->actions[i].site);
    return NULL;
}

static void round_report(rad_kernel *k)
{
    const rad_fair *f = &k->fair;
    char who[240] = "", name[RAD_NAME_MAX];
    for (uint32_t i = 0; i < k->actor_count; i++) {
        size_t used = strlen(who);
        if (!(common(f, DID)[(i + 1) / 64] >> (i + 1) % 64 & 1)) continue;
        const char *place = round_place(k, i);
        rad__actor_name(k, i, name);
        snprintf(who + used, sizeof who - used, "%s%s%s%s", used ? "; " : "", name, place ? " at " : "",
                 place ? place : "");
    }
    rad_fail(k, RAD_ORACLE_LIVELOCK, f->object,
             "steps %llu to %llu can repeat forever: they end in the state in which they began, and "
             "each actor that can run does (%s)",
             (unsigned long long)f->mark_step + 1, (unsigned long long)k->step, who);
}

/* A state may be a lot to look at. So the whole of it counts from the second round on: until then most are dismissed
 * because somebody did not run, or by a part. */
static void round_look(rad_kernel *k)
{
    rad_fair *f = &k->fair;
    rad_digest part = {0, 0}, whole = {0, 0};
    if ((k->machine->state == NULL && k->round_state == NULL) || k->ended) return;
    rad_evaluated(k, RAD_ORACLE_LIVELOCK);
    bool fair = f->marked && round_is_fair(f), marks = ++f->yields >= f->next_mark;
    if ((!fair && !marks) || !round_state(k, false, &part)) return;
    bool again = fair && rad__digest_equal(part, f->mark_part);
    if (k->round_state == NULL) whole = part;
    if (again && !round_state(k, true, &whole)) return;
    if (again && f->mark_whole && rad__digest_equal(whole, f->mark))
        round_report(k);
    else if (marks || (again && !f->mark_whole))
        round_mark(k, part, again || k->round_state == NULL, whole);
}

/* F2 */
static void fair_settle(rad_kernel *k)
{
    rad_fair *f = &k->fair;
    const uint64_t *now = common(f, NOW);
    for (uint32_t i = 0; i < f->slots; i++) {
        const uint64_t *behind = own(f, i, BEHIND), *looks = own(f, i, LOOKS);
        uint64_t waits = 0;
        for (uint32_t w = 0; w < f->words; w++) waits |= (behind[w] | looks[w]) & now[w];
        rad__enabled_aside(k, f->owner[i].party - 1, waits != 0);
    }
    if (k->fresh_count) rad__enabled_settle(k);
    f->held += f->actions_aside > 0;
}

/* Another step like one that the sets know already: it changes none of them. That is nearly every step in which nobody
 * yields and nothing is enabled or disabled. */
static bool fair_is_calm(rad_kernel *k, uint32_t party, bool looks, bool chose)
{
    rad_fair *f = &k->fair;
    if (party >= 64 || !(f->calm >> party & 1) || (!looks && !f->calm_wrote)) return false;
    f->varies |= chose;
    round_touched(k);
    f->held += f->actions_aside > 0;
    return true;
}

static void fair_calms(rad_fair *f, uint32_t party, bool looks)
{
    if (f->calm == 0) f->calm_wrote = false;
    if (party < 64) f->calm |= UINT64_C(1) << party;
    f->calm_wrote |= !looks;
}

void rad__fair_stepped(rad_kernel *k, uint32_t action, bool yields, bool looks, bool chose)
{
    rad_fair *f = &k->fair;
    uint32_t party = k->actions[action].actor + 1; /* RAD_NONE + 1 is the world */
    yields = yields && party != 0;
    if (!yields && (!f->active || fair_is_calm(k, party, looks, chose))) return;
    bool spins = yields && looks && rad__spins(k, party - 1) > 0;
    bool opens = yields && (party >= f->slot_capacity || f->slot[party] == 0);
    if (!fair_reserve(f, f->slots + opens, k->actor_count + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in fair scheduling");
        return;
    }
    bool begins = !f->active;
    f->active = true;
    fair_look(k);
    if (begins) {
        f->marked = false;
        f->yields = 0;
        f->next_mark = 1;
    } else {
        fair_ran(f, party, looks && (spins || !yields), spins);
        round_note(k, party, chose);
    }
    if (yields) round_look(k);
    if (yields) fair_yields(k, party, spins);
    memcpy(common(f, BEFORE), common(f, NOW), f->words * sizeof(uint64_t));
    fair_settle(k);
    if (yields)
        f->calm = 0;
    else
        fair_calms(f, party, looks);
}

/* Looks count from the first that repeats another: until then the actor is as far from spinning as anybody, and an
 * actor that really spins changes no state in the round by which this may be wrong. */
static void looks_state(const rad_looks *l, uint32_t count, rad_state_hash *h)
{
    uint32_t known = count < RAD_SPIN_PERIOD ? count : RAD_SPIN_PERIOD;
    if (count == 0 || l->repeats == 0) return;
    for (uint32_t p = 1; p <= known; p++) rad_state_add(h, &l->last[(count - p) % RAD_SPIN_PERIOD], sizeof l->last[0]);
    for (uint64_t rest = l->repeats; rest != 0; rest &= rest - 1) {
        uint32_t p = (uint32_t)__builtin_ctzll(rest);
        uint8_t pair[] = {(uint8_t)p, l->same[p]};
        rad_state_add(h, pair, sizeof pair);
    }
}

/* Of a window only this counts: whom its actor is behind, and why; of the others who has run, who else was stopped, who
 * else could always run. Actors that have ended are nobody's concern. */
static void window_state(const rad_fair *f, uint32_t slot, const uint64_t *ended, rad_state_hash *h)
{
    uint64_t left = 0;
    for (uint32_t w = 0; w < f->words; w++)
        left |= own(f, slot, BEHIND)[w] | own(f, slot, LOOKS)[w] | ~(own(f, slot, RAN)[w] | ended[w]);
    if (left == 0) return; /* everybody ran: it is as if it had not begun */
    rad_state_add(h, &f->owner[slot].party, sizeof f->owner[slot].party);
    for (uint32_t w = 0; w < f->words; w++) {
        uint64_t behind = own(f, slot, BEHIND)[w] & ~ended[w];
        uint64_t ran = (own(f, slot, RAN)[w] | ended[w]) & ~behind;
        uint64_t stopped = own(f, slot, STOPPED)[w] & ~(behind | ran);
        uint64_t able = own(f, slot, ABLE)[w] & ~(behind | ran | stopped);
        uint64_t sets[] = {behind, own(f, slot, LOOKS)[w] & ~ended[w], ran, stopped, able};
        rad_state_add(h, sets, sizeof sets);
    }
}

void rad__fair_state(const rad_kernel *k, rad_state_hash *h)
{
    const rad_fair *f = &k->fair;
    for (uint32_t i = 0; k->recognises && i < k->actor_count && i < k->looks_capacity; i++)
        if (!k->actors[i].ended) looks_state(&k->looks[i], k->actors[i].looks, h);
    if (!f->active) return;
    uint64_t *ended = common(f, ENDED);
    memset(ended, 0, f->words * sizeof *ended);
    for (uint32_t i = 0; i < k->actor_count && i + 1 < f->words * 64; i++)
        if (k->actors[i].ended) set_add(ended, i + 1);
    for (uint32_t i = 0; i < k->actor_count; i++) {
        uint32_t slot = i + 1 < f->slot_capacity ? f->slot[i + 1] : 0;
        if (slot != 0 && !k->actors[i].ended) window_state(f, slot - 1, ended, h);
    }
}
