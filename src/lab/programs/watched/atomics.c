/* atomics.c — atomic operations of a watched program: each is a point, then the program does it, then it is ordered.
 *
 * What a step saw is told as a version: how often the location has changed in this run. So loops that look at the
 * same value again are recognised (core/spin.h), and no address goes into a digest. */
#include "lab/programs/watched/watched.h"

#include "lab/programs/fibers/tell.h"

#include <string.h>

static uint64_t bytes_of(uint8_t mask)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        if (mask >> i & 1) bits |= UINT64_C(0xff) << (8 * i);
    return bits;
}

static uint64_t value_of(const char *at, uint8_t mask)
{
    uint64_t value = 0;
    const char *granule = at - rad__cell_at(at);
    memcpy(&value, granule, sizeof value);
    return value & bytes_of(mask);
}

/* Code that is not instrumented may have written meanwhile, and have heard of everything before. */
static uint32_t look(rad_watch *w, rad_view *v, uint32_t location, const char *at)
{
    rad_location *l = &w->locations[location];
    uint64_t now = value_of(at, l->mask);
    if (l->version > 0 && l->value == now) return l->version;
    if (l->known) {
        rad__watched_hears_all(w, v);
        l->publishes = false;
    }
    l->version++;
    l->value = now;
    l->known = true;
    return l->version;
}

void rad__watched_stop(uint32_t site, const void *at, const void *pc)
{
    rad_runner *r = rad__stage.current;
    enum { ALONE = 2 }; /* main and the clock */
    if (rad__stage.prefix && rad__stage.runner_count <= ALONE) return;
    r->caller = pc;
    rad__point(site, at);
    r->caller = NULL;
}

static uint32_t site_of(enum rad_watched_kind kind)
{
    static const uint16_t sites[] = {[RAD_WATCHED_LOAD] = RAD_AT_LOAD,         [RAD_WATCHED_STORE] = RAD_AT_STORE,
                                     [RAD_WATCHED_EXCHANGE] = RAD_AT_EXCHANGE, [RAD_WATCHED_FETCH] = RAD_AT_FETCH,
                                     [RAD_WATCHED_CAS] = RAD_AT_CAS,           [RAD_WATCHED_READ] = RAD_AT_READ,
                                     [RAD_WATCHED_WRITE] = RAD_AT_WRITE};
    return sites[kind];
}

/* The granules of the operation that begins: at most two, of 16 bytes or across a boundary. */
static uint32_t operation_open(rad_watch *w, rad_view *v, const char *at, size_t size, bool writes)
{
    uint32_t version = 0;
    w->operation_at = at;
    w->operation_size = size;
    w->operation[0] = w->operation[1] = 0;
    for (uint32_t i = 0; i < 2 && size > 0; i++) {
        uint32_t from = rad__cell_at(at);
        size_t part = size < 8 - from ? size : 8 - from;
        rad_cell *cell = rad__cell_of(w, at);
        if (cell == NULL) break;
        if (RAD_UNLIKELY(cell->access & RAD_CELL_FREED))
            rad__watched_gone(w, cell, at, writes ? RAD_ACCESS_WRITES : 0, w->operation_site);
        w->operation[i] = rad__location_of(w, cell, rad__mask_of(from, part));
        if (w->operation[i] == 0) rad__program_unfit("out of memory for atomic locations");
        version += look(w, v, w->operation[i], at);
        at += part;
        size -= part;
    }
    return version;
}

void rad__watched_begin(const void *at, size_t size, enum rad_watched_kind kind, const void *pc)
{
    rad_watch *w = rad__monitor;
    if (w == NULL || !rad__stage.running) return;
    rad__watched_stop(site_of(kind), at, pc);
    rad_view *v = rad__view_now(w);
    w->operation_at = NULL;
    if (v == NULL) return;
    if (RAD_UNLIKELY(v->fresh)) rad__watched_fresh(v);
    v->reads = v->look_count = 0;
    w->operation_site = rad__watched_site(w, pc, NULL);
    operation_open(w, v, at, size, kind != RAD_WATCHED_LOAD);
}

/* What the value is now; whether it is another one. */
static bool settle(rad_watch *w, uint32_t location, const char *at)
{
    rad_location *l = &w->locations[location];
    uint64_t now = value_of(at, l->mask);
    bool changed = now != l->value;
    l->version += changed;
    l->value = now;
    return changed;
}

static bool overlap(const rad_location *a, const rad_location *b)
{
    return a != b && (a->mask & b->mask);
}

/* With mixed sizes: behind everything that it overlaps. */
static void receive(rad_watch *w, rad_view *v, const rad_cell *cell, uint32_t location, int order)
{
    rad_order_view view = rad__order_of(v);
    const rad_location *all = w->locations, *l = &all[location];
    for (uint32_t i = cell->location; i != 0; i = all[i].next)
        if (all[i].publishes && (i == location || overlap(&all[i], l)))
            rad__order_receive(&view, all[i].release, order, w->view_count);
}

static void publish(rad_watch *w, rad_view *v, const rad_cell *cell, uint32_t location, int order, bool goes_on)
{
    rad_order_view view = rad__order_of(v);
    rad_location *l = &w->locations[location];
    l->publishes = rad__order_publish(&view, l->release, l->publishes, order, goes_on, w->view_count);
    l->known = true;
    for (uint32_t i = cell->location; i != 0; i = w->locations[i].next)
        if (overlap(&w->locations[i], l)) w->locations[i].known = false;
}

void rad__watched_end(enum rad_watched_kind kind, int order)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    if (v == NULL || w->operation_at == NULL) return;
    bool writes = kind != RAD_WATCHED_LOAD && kind != RAD_WATCHED_CAS_FAILED, changed = false;
    bool reads = kind != RAD_WATCHED_STORE;
    uint32_t version = 0, access = RAD_ACCESS_ATOMIC | (writes ? RAD_ACCESS_WRITES : 0);
    const char *at = w->operation_at;
    size_t left = w->operation_size;
    for (uint32_t i = 0; i < 2 && w->operation[i] != 0; i++) {
        uint32_t from = rad__cell_at(at), location = w->operation[i];
        size_t part = left < 8 - from ? left : 8 - from;
        rad_cell *cell = rad__cell_of(w, at);
        if (reads) receive(w, v, cell, location, order);
        rad__watched_access(w, v, cell, at, rad__mask_of(from, part), access, w->operation_site);
        if (writes) changed |= settle(w, location, at);
        if (writes) publish(w, v, cell, location, order, reads);
        version += w->locations[location].version;
        at += part;
        left -= part;
    }
    w->operation_at = NULL;
    if (writes && rad__order_releases(order)) v->clock[rad__view_index(w, v)]++;
    if (!changed && !rad__stage.prefix) rad__tell_saw(version);
}

void rad__watched_fence(int order)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    if (v == NULL) return;
    rad_order_view view = rad__order_of(v);
    v->fenced = rad__order_fence(&view, order, rad__view_index(w, v), w->view_count);
}

/* A point, and a plain access all the same: it can race. */
void rad__watched_volatile(const void *at, size_t size, int writes, const void *pc)
{
    rad_watch *w = rad__monitor;
    if (w == NULL || !rad__stage.running) return;
    rad__watched_stop(writes ? RAD_AT_WRITE : RAD_AT_READ, at, pc);
    rad_view *v = rad__view_now(w);
    if (v == NULL) return;
    rad__watched_plain(at, size, (writes ? RAD_PLAIN_WRITES : 0) | RAD_PLAIN_MET, pc);
    if (writes || size > 8 || rad__cell_at(at) + size > 8) return;
    rad_cell *cell = rad__cell_of(w, at);
    uint32_t location = cell ? rad__location_of(w, cell, rad__mask_of(rad__cell_at(at), size)) : 0;
    if (location == 0 || rad__stage.prefix) return;
    w->locations[location].known = false; /* nobody need have told */
    rad__tell_saw(look(w, v, location, at));
    w->locations[location].known = false;
}

const RAD_API rad_watched_calls rad_watched = {.module = rad__watched_module,
                                               .plain = rad__watched_plain,
                                               .volatiles = rad__watched_volatile,
                                               .begin = rad__watched_begin,
                                               .end = rad__watched_end,
                                               .fence = rad__watched_fence,
                                               .acquire = rad__watched_acquire,
                                               .release = rad__watched_release};
