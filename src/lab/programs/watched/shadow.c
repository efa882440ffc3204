/* shadow.c — what is kept for each granule of the program's memory, and for each inserted call: watched.h. */
#include "lab/programs/watched/watched.h"

#include "lab/programs/fibers/tell.h"

#include <string.h>

rad_watch *rad__monitor;

bool rad__watched_open(void)
{
    uint32_t modules = 0;
    const char *without;
    rad__watched_calls(&modules, &without);
    if (modules == 0) return true;
    rad_watch *w = rad__alloc(1, sizeof *w);
    if (w == NULL) return false;
    w->pages = rad__alloc(RAD_PAGES_MAX, sizeof *w->pages);
    w->sites = rad__alloc(RAD_SITES_WATCHED_MAX, sizeof *w->sites);
    w->names = rad__alloc(RAD_NAMES_WATCHED_MAX, sizeof *w->names);
    w->blocks = rad__alloc(RAD_BLOCKS_WATCHED_MAX, sizeof *w->blocks);
    w->blocks_before = rad__alloc(RAD_BLOCKS_WATCHED_MAX, sizeof *w->blocks_before);
    if (!w->pages || !w->sites || !w->names || !w->blocks || !w->blocks_before ||
        !RAD_GROW(&w->accesses.items, &w->accesses.capacity, 256) ||
        !RAD_GROW(&w->locations, &w->location_capacity, 16))
        return false;
    w->run = 1;
    rad__monitor = w;
    return true;
}

void rad__watched_points(const char *points)
{
    if (rad__monitor != NULL) rad__monitor->points = points[0] ? points : NULL;
}

/* ---- Pages ------------------------------------------------------------------------------------------------- */

static uint32_t spread(uintptr_t key, uint32_t size)
{
    return (uint32_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (size - 1);
}

static rad_watched_page *page_place(rad_watch *w, uintptr_t number)
{
    uint32_t at = spread(number, RAD_PAGES_MAX);
    while (w->pages[at].number != 0 && w->pages[at].number != number + 1) at = (at + 1) & (RAD_PAGES_MAX - 1);
    return &w->pages[at];
}

/* Pages of runs before this one, if there are too many. */
static void pages_drop(rad_watch *w)
{
    for (uint32_t i = 0; i < RAD_PAGES_MAX; i++) {
        rad__free(w->pages[i].cells);
        w->pages[i] = (rad_watched_page){.number = 0};
    }
    memset(w->cache, 0, sizeof w->cache);
    w->page_count = 0;
}

rad_cell *rad__cell_find(rad_watch *w, uintptr_t number)
{
    rad_watched_page *p = page_place(w, number);
    bool is_new = p->number == 0 || p->run != w->run;
    if (p->number == 0) {
        if (w->page_count >= RAD_PAGES_MAX / 4 * 3) return NULL;
        rad_cell *cells = rad__alloc(RAD_PAGE_CELLS, sizeof *cells);
        if (cells == NULL) return NULL;
        *p = (rad_watched_page){number + 1, w->run, cells};
        w->page_count++;
    } else if (p->run != w->run) {
        memset(p->cells, 0, RAD_PAGE_CELLS * sizeof *p->cells);
        p->run = w->run;
    }
    if (w->freed_before > 0 && is_new) rad__watched_freed_before(w, number, p->cells);
    uint32_t place = (uint32_t)(number % RAD_PAGE_CACHE);
    w->cache[place].number = number;
    w->cache[place].run = w->run;
    w->cache[place].cells = p->cells;
    return p->cells;
}

static void forget_in_page(const rad_watch *w, const rad_watched_page *p, uintptr_t from, uintptr_t to)
{
    if (p->number == 0 || p->run != w->run) return;
    uintptr_t first = (p->number - 1) * RAD_PAGE_CELLS, last = first + RAD_PAGE_CELLS;
    if (from < first) from = first;
    if (to > last) to = last;
    if (from < to) memset(&p->cells[from - first], 0, (to - from) * sizeof *p->cells);
}

void rad__watched_forget(const void *at, size_t size)
{
    rad_watch *w = rad__monitor;
    if (w == NULL || !w->runs || size == 0) return;
    uintptr_t bits = (uintptr_t)at; /* tidy: address ok: a key */
    uintptr_t from = bits >> 3, to = (bits + size + 7) >> 3;
    uintptr_t page = from / RAD_PAGE_CELLS, end = (to + RAD_PAGE_CELLS - 1) / RAD_PAGE_CELLS;
    if (end - page > RAD_PAGES_MAX / 16) {
        for (uint32_t i = 0; i < RAD_PAGES_MAX; i++) forget_in_page(w, &w->pages[i], from, to);
        return;
    }
    for (; page < end; page++) forget_in_page(w, page_place(w, page), from, to);
}

void rad__watched_fresh(rad_view *v)
{
    const rad_runner *r = rad__stage.current;
    const rad_fiber_stack *fiber_stack = r->kind == RAD_RUNNER_FIBER && r->slot ? r->slot->strand.fiber_stack : NULL;
    v->fresh = false;
    if (fiber_stack != NULL) rad__watched_forget(fiber_stack->base, fiber_stack->size);
}

void rad__watched_run(void)
{
    rad_watch *w = rad__monitor;
    if (w == NULL) return;
    if (w->page_count > RAD_PAGES_MAX / 2 || w->run == UINT32_MAX) {
        pages_drop(w);
        memset(w->blocks, 0, RAD_BLOCKS_WATCHED_MAX * sizeof *w->blocks);
        w->run = 0;
    }
    w->run++;
    w->runs = true;
    w->accesses.count = w->location_count = 1;
    w->passed_count = 0;
    w->freed_count = w->freed_before;
    w->block_count = 0;
    w->any_everyone = false;
    w->view_count = 0;
    if (w->passed_slots) memset(w->passed_slots, 0, 2 * w->passed_capacity * sizeof *w->passed_slots);
    memset(w->everyone, 0, sizeof w->everyone);
    memset(w->views, 0, sizeof w->views);
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        rad_runner *r = &rad__stage.runners[i];
        r->view = 0;
        if (!r->ended) rad__watched_begins(r);
    }
}

/* ---- Locations ------------------------------------------------------------------------------------------------ */

uint32_t rad__location_of(rad_watch *w, rad_cell *cell, uint8_t mask)
{
    uint32_t at = cell->location;
    while (at != 0 && w->locations[at].mask != mask) at = w->locations[at].next;
    if (RAD_LIKELY(at != 0)) return at;
    if (!RAD_GROW(&w->locations, &w->location_capacity, w->location_count + 1)) return 0;
    at = w->location_count++;
    rad_location *l = &w->locations[at];
    memset(l, 0, sizeof *l);
    l->next = cell->location;
    l->mask = mask;
    cell->location = at;
    return at;
}

/* ---- Sites ---------------------------------------------------------------------------------------------------- */

static bool is_named(const char *names, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, name, size) == 0 && at[size] == '\n') return true;
    return false;
}

uint32_t rad__watched_site(rad_watch *w, const void *pc, const char *call)
{
    uintptr_t key = (uintptr_t)pc; /* tidy: address ok: a key, and an offset for people */
    uint32_t at = spread(key, RAD_SITES_WATCHED_MAX);
    while (w->sites[at].pc != 0 && w->sites[at].pc != key) at = (at + 1) & (RAD_SITES_WATCHED_MAX - 1);
    rad_watched_site *s = &w->sites[at];
    if (RAD_LIKELY(s->pc != 0)) return at;
    if (w->site_count == RAD_SITES_WATCHED_MAX / 4 * 3)
        rad__program_unfit("the program has more than 196,000 places with accesses to memory");
    w->site_count++;
    s->pc = key;
    s->call = call;
    if (w->points != NULL) {
        char text[RAD_PLACE_TEXT];
        rad__watched_place_text(s, text);
        s->is_point = is_named(w->points, text);
    }
    return at;
}
