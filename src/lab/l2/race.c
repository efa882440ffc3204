/* race.c — accesses of a model, checked for races (lab/order.h). */
#include "lab/l2/l2.h"

static void race_report(void *context, const rad_accessed *old, const rad_access_now *now)
{
    l2 *l = context;
    char what[80], here[110], there[110], first[RAD_NAME_MAX], second[RAD_NAME_MAX];
    uint32_t shared = old->mask & now->mask;
    const char *byte = now->address - __builtin_ctz(now->mask) + __builtin_ctz(shared);
    rad_code_site one = rad__l2_place(old->site), other = rad__l2_place(now->site);
    rad__l2_name_of(l, byte, what, sizeof what);
    rad__l2_site_text(now->site, here, sizeof here);
    rad__l2_site_text(old->site, there, sizeof there);
    rad__actor_name(l->k, old->thread - 1u, first);
    rad__actor_name(l->k, now->thread - 1u, second);
    rad_evaluated(l->k, L2_RACE);
    rad_race(l->k, L2_RACE, rad__l2_object_at(l, byte), &one, &other,
             "%s: %s %s at %s; %s %s at %s; nothing orders the two", what, first, rad__access_text(old->kind), there,
             second, rad__access_text(now->kind), here);
}

void rad__l2_access(l2 *l, l2_cell *cell, const char *address, uint8_t mask, uint32_t kind, uint32_t site)
{
    const l2_thread *t = l->running;
    rad_access_now now = {t->clock.at, address, site, t->index, mask, (uint8_t)kind};
    if (!rad__accesses_add(&l->accesses, &cell->record, &now, race_report, l))
        rad__l2_error(l, RAD_ENOMEM, "out of memory while watching for races");
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
        uint32_t at = (uint32_t)((uintptr_t)address & 7); /* tidy: address ok: its place in a granule */
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
