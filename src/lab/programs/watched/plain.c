/* plain.c — plain accesses of a watched program: they are looked at for races, and go on.
 *
 * Spinning  A loop that reads and writes nothing would never end, if what it waits for is no atomic: after so many
 *           reads without a write or a point they are looked at (core/spin.h), and when they are the same round
 *           after round, the next one is a point at which others go first. */
#include "lab/programs/watched/watched.h"

#include "base/prng.h"
#include "lab/programs/fibers/tell.h"
#include "lab/race.h"

#include <stdio.h>
#include <string.h>

enum { READS_BEFORE = 256 };

/* ---- Races --------------------------------------------------------------------------------------------------- */

static uint32_t runner_of(const rad_watch *w, uint32_t thread, uint32_t clock)
{
    const rad_view *v = &w->views[thread];
    return clock >= v->since ? v->runner : RAD_NONE; /* it has ended, and left its component */
}

static void race_found(void *context, const rad_accessed *old, const rad_access_now *now)
{
    const rad_watch *w = context;
    uint32_t shared = (uint32_t)(old->mask & now->mask);
    const char *byte = now->address - __builtin_ctz(now->mask) + __builtin_ctz(shared);
    rad_watched_site *before = &w->sites[old->site], *here = &w->sites[now->site];
    rad_race_told r = {.oracle = RAD_ORACLE_RACE,
                       .first = runner_of(w, old->thread, old->clock),
                       .second = rad__stage.current->number,
                       .first_kind = old->kind,
                       .second_kind = now->kind,
                       .one = rad__watched_place(before),
                       .other = rad__watched_place(here)};
    r.one.file = rad__watched_source(before);
    r.other.file = rad__watched_source(here);
    rad__watched_name(byte, r.what, sizeof r.what);
    rad__watched_spot(before->pc, r.first_spot, sizeof r.first_spot);
    rad__watched_spot(here->pc, r.second_spot, sizeof r.second_spot);
    rad__tell_race(&r);
}

void rad__watched_access(rad_watch *w, const rad_view *v, rad_cell *cell, const char *at, uint8_t mask, uint32_t kind,
                         uint32_t site)
{
    uint16_t index = (uint16_t)rad__view_index(w, v);
    rad_access_now now = {v->clock, at, site, index, mask, (uint8_t)kind};
    if (rad__tell_kernel) rad__tell_kernel->evaluations[RAD_ORACLE_RACE]++;
    if (!rad__accesses_add(&w->accesses, &cell->access, &now, race_found, w))
        rad__program_unfit("out of memory while watching for races");
}

/* A plain write begins the history of the atomics under it anew. */
static void forget_locations(rad_watch *w, const rad_cell *cell, uint8_t mask)
{
    for (uint32_t i = cell->location; i != 0; i = w->locations[i].next)
        if (w->locations[i].mask & mask) w->locations[i].known = w->locations[i].publishes = false;
}

static void access_range(rad_watch *w, const rad_view *v, const char *at, size_t size, uint32_t kind, uint32_t site)
{
    while (size > 0) {
        uint32_t from = rad__cell_at(at);
        size_t part = size < 8 - from ? size : 8 - from;
        uint8_t mask = rad__mask_of(from, part);
        rad_cell *cell = rad__cell_of(w, at);
        if (cell == NULL) return;
        if (RAD_UNLIKELY(cell->access & RAD_CELL_FREED)) rad__watched_gone(w, cell, at, kind, site);
        if (!rad__access_is_known(&w->accesses, cell->access, v->clock, rad__view_index(w, v), mask, kind))
            rad__watched_access(w, v, cell, at, mask, kind, site);
        if ((kind & RAD_ACCESS_WRITES) && cell->location) forget_locations(w, cell, mask);
        at += part;
        size -= part;
    }
}

/* ---- Spinning -------------------------------------------------------------------------------------------------- */

static void read_again(rad_view *v, const char *at, size_t size, const void *pc)
{
    uint64_t value = 0;
    uint64_t place = (uintptr_t)pc; /* tidy: address ok: compared */
    uint64_t where = (uintptr_t)at; /* tidy: address ok: compared */
    memcpy(&value, at, size < sizeof value ? size : sizeof value);
    uint64_t look = rad__mix2(rad__mix2(place, where), value);
    if (rad__looks_add(&v->looks, &v->look_count, look, false) == 0) return;
    v->reads = v->look_count = 0;
    if (!rad__stage.prefix) rad__tell_yields(false);
    rad__watched_stop(RAD_AT_READ, at, pc);
}

void rad__watched_looks(rad_view *v, const char *at, size_t size, const void *pc)
{
    if (at == NULL)
        v->reads = v->look_count = 0;
    else if (RAD_UNLIKELY(++v->reads > READS_BEFORE))
        read_again(v, at, size, pc);
}

/* ---- The call ------------------------------------------------------------------------------- */

static inline bool is_known(rad_watch *w, const rad_view *v, const char *at, size_t size, uint32_t kind)
{
    uint32_t from = rad__cell_at(at);
    if (from + size > 8) return false;
    const rad_cell *cell = rad__cell_of(w, at);
    return cell != NULL && cell->location == 0 && !(cell->access & RAD_CELL_FREED) &&
           rad__access_is_known(&w->accesses, cell->access, v->clock, rad__view_index(w, v), rad__mask_of(from, size),
                                kind);
}

void rad__watched_plain(const void *address, size_t size, int how, const void *pc)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    const char *at = address;
    if (v == NULL || size == 0) return;
    uint32_t kind = how & RAD_PLAIN_WRITES ? RAD_ACCESS_WRITES : 0;
    bool met = how & RAD_PLAIN_MET;
    if (!met) rad__watched_looks(v, kind ? NULL : at, size, pc);
    if (w->points == NULL && is_known(w, v, at, size, kind)) return;
    if (RAD_UNLIKELY(v->fresh)) rad__watched_fresh(v);
    uint32_t site = rad__watched_site(w, pc, NULL);
    if (RAD_UNLIKELY(w->sites[site].is_point) && !met) rad__watched_stop(kind ? RAD_AT_WRITE : RAD_AT_READ, at, pc);
    access_range(w, v, at, size, kind, site);
}
