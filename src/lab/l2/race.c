/* race.c — data races: two accesses to a byte, not both atomic, at least one of them a write, neither known to
 * have happened before the other.
 *
 * Each granule keeps the accesses that a later one could race with. An access happened before the running
 * thread when its clock is not above the thread's component for it (FastTrack). A new access makes an older one
 * superfluous when the older happened before it and the new one conflicts with at least as much: whatever
 * would race with the older races with the newer one, too. So lists stay at one or two records. */
#include "lab/l2/l2.h"

#include "base/alloc.h"

static const char *kind_text(uint32_t kind)
{
    static const char *const texts[] = {"reads", "writes", "reads atomically", "writes atomically"};
    return texts[kind & 3];
}

static void race_report(l2 *l, const l2_record *old, const char *address, uint8_t mask,
                        uint32_t kind, uint32_t site)
{
    char what[80], here[110], there[110], first[RAD_NAME_MAX], second[RAD_NAME_MAX];
    uint32_t shared = old->mask & mask;
    const char *byte = address - __builtin_ctz(mask) + __builtin_ctz(shared);
    rad_code_site one = rad__l2_place(old->site), other = rad__l2_place(site);
    rad__l2_name_of(l, byte, what, sizeof what);
    rad__l2_site_text(site, here, sizeof here);
    rad__l2_site_text(old->site, there, sizeof there);
    rad__actor_name(l->k, old->thread - 1u, first);
    rad__actor_name(l->k, l->running->index - 1u, second);
    rad_evaluated(l->k, L2_RACE);
    rad_race(l->k, L2_RACE, rad__l2_object_at(l, byte), &one, &other,
             "%s: %s %s at %s; %s %s at %s; nothing orders the two", what, first,
             kind_text(old->kind), there, second, kind_text(kind), here);
}

/* May an access of kind `fresh` take the place of one of kind `old` that happened before it? */
static inline bool covers(uint32_t fresh, uint32_t old)
{
    if (fresh == L2_IS_WRITE || fresh == old) return true;
    return old ==
           L2_IS_ATOMIC; /* an atomic read conflicts with plain writes only, as all others do */
}

static inline bool conflict(uint32_t a, uint32_t b)
{
    return ((a | b) & L2_IS_WRITE) && !(a & b & L2_IS_ATOMIC);
}

/* Walks the records of a granule: reports races, drops what the new access covers. Returns a record that was
 * dropped and can be used again, or 0. */
static uint32_t race_walk(l2 *l, l2_cell *cell, const char *address, uint8_t mask, uint32_t kind,
                          uint32_t site)
{
    const l2_thread *t = l->running;
    uint32_t *link = &cell->record, dropped = 0;
    while (*link != 0) {
        l2_record *r = &l->records[*link];
        if (r->mask & mask) {
            bool before = r->clock <= t->clock.at[r->thread];
            if (RAD_UNLIKELY(!before && conflict(r->kind, kind)))
                race_report(l, r, address, mask, kind, site);
            if (before && covers(kind, r->kind)) {
                r->mask &= (uint8_t)~mask;
                if (r->mask == 0) {
                    dropped = *link;
                    *link = r->next;
                    continue;
                }
            }
        }
        link = &r->next;
    }
    return dropped;
}

/* The usual case: nothing in the list is in the way, and the thread's own last access is brought up to date. */
static inline bool race_renew(l2 *l, const l2_cell *cell, uint8_t mask, uint32_t kind,
                              uint32_t site)
{
    const l2_thread *t = l->running;
    for (uint32_t at = cell->record; at != 0;) {
        l2_record *r = &l->records[at];
        if (r->thread == t->index) {
            if (r->mask != mask || r->kind != kind) return false;
            r->clock = t->clock.at[t->index];
            r->site = (uint16_t)site;
            return r->next == 0 || (kind & L2_IS_ATOMIC); /* atomics before it were looked at */
        }
        if (!(r->kind & kind & L2_IS_ATOMIC)) return false;
        at = r->next;
    }
    return false;
}

void rad__l2_access(l2 *l, l2_cell *cell, const char *address, uint8_t mask, uint32_t kind,
                    uint32_t site)
{
    const l2_thread *t = l->running;
    if (RAD_LIKELY(race_renew(l, cell, mask, kind, site))) return;
    uint32_t at = race_walk(l, cell, address, mask, kind, site);
    if (at == 0) {
        if (!RAD_GROW(&l->records, &l->record_capacity, l->record_count + 1))
            rad__l2_error(l, RAD_ENOMEM, "out of memory while watching for races");
        at = l->record_count++;
    }
    l->records[at] = (l2_record){
        .clock = t->clock.at[t->index],
        .next = cell->record,
        .site = (uint16_t)site,
        .mask = mask,
        .thread = t->index,
        .kind = kind,
    };
    cell->record = at;
}

/* A plain write begins the history of the atomics under it anew. */
static void forget_locations(l2 *l, const l2_cell *cell, uint8_t mask)
{
    for (uint32_t i = cell->location; i != 0; i = l->locations[i].next) {
        l2_location *o = &l->locations[i];
        if (!(o->mask & mask)) continue;
        o->known = o->publishes = false;
        l->effect = true;
    }
}

void rad__l2_range(l2 *l, const char *address, size_t size, uint32_t kind, uint32_t site)
{
    if (l->phase != L2_PHASE_RUN) {
        if (size > 0) rad__l2_memory_check(l, address, site);
        if (size > 1) rad__l2_memory_check(l, address + size - 1, site);
        return;
    }
    while (size > 0) {
        l2_cell *cell = l2_cell_of(l, address);
        /* Granules are counted from the beginning of the space or of the static data; both are aligned. */
        uint32_t at =
            (uint32_t)((uintptr_t)address & 7); /* tidy: address ok: its place in a granule */
        uint32_t count = size < 8 - at ? (uint32_t)size : 8 - at;
        if (cell == NULL) return; /* constants, or memory of the lab: nobody writes there */
        uint8_t mask = (uint8_t)(((1u << count) - 1) << at);
        if (cell->run != l->run) rad__l2_cell_open(l, cell, address, site);
        l->k->evaluations[L2_RACE]++;
        rad__l2_access(l, cell, address, mask, kind, site);
        if ((kind & L2_IS_WRITE) && cell->location) forget_locations(l, cell, mask);
        address += count;
        size -= count;
    }
}
