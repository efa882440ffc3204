/* blocks.c — blocks of the heap in a watched program: what was freed stays for a while, so that whoever still uses
 * it is found; and what is allocated is nobody's yet.
 *
 * A freed block is kept from malloc until a thousand others were freed, or some MiB of them. So long its cells say
 * so, and the next access to one is a failure. Freeing is a write for all who have used the block. */
#include "lab/watched/watched.h"

#include "lab/fibers/tell.h"

#include <malloc.h>

extern void __libc_free(void *p);

enum { KEPT_BLOCKS = 1 << 10, KEPT_BYTES = 8 << 20 };

/* Of this run: put back with the program's memory. */
static struct {
    void *block;
    size_t size;
} kept[KEPT_BLOCKS];
static uint32_t kept_next;
static size_t kept_bytes;

static void let_go(uint32_t place)
{
    if (kept[place].block == NULL) return;
    rad__watched_forget(kept[place].block, kept[place].size);
    kept_bytes -= kept[place].size;
    __libc_free(kept[place].block);
    kept[place].block = NULL;
}

static const rad_freed *freed_at(const rad_watch *w, const rad_cell *cell)
{
    return &w->freed[cell->access & ~RAD_CELL_FREED];
}

static const char *role_of(uint32_t runner)
{
    return rad__stage.runners[runner].role;
}

void rad__watched_gone(rad_watch *w, const rad_cell *cell, const char *at, uint32_t kind,
                       uint32_t site)
{
    char place[RAD_PLACE_TEXT], spot[96];
    const rad_freed *f = freed_at(w, cell);
    rad__watched_place_text(&w->sites[site], place);
    rad__watched_spot(w->sites[site].pc, spot, sizeof spot);
    if (rad__tell_kernel) rad__tell_kernel->evaluations[RAD_ORACLE_FREED]++;
    rad__program_fails(RAD_ORACLE_FREED, place,
                       "%s %s a block of %zu bytes, %zu bytes behind its beginning, at %s %s: it "
                       "was freed by %s",
                       rad__stage.current->role, kind & RAD_ACCESS_WRITES ? "writes to" : "reads",
                       f->size, (size_t)(at - f->block), place, spot, role_of(f->runner));
}

static void mark(rad_watch *w, rad_view *v, char *block, size_t size, uint32_t number,
                 uint32_t site)
{
    for (size_t i = 0; i < size; i += 8) {
        rad_cell *cell = rad__cell_of(w, block + i);
        if (cell == NULL) return;
        if (cell->access != 0)
            rad__watched_access(w, v, cell, block + i, 0xff, RAD_ACCESS_WRITES, site);
        *cell = (rad_cell){.access = number | RAD_CELL_FREED};
    }
}

static void freed_twice(const rad_freed *f)
{
    rad__program_fails(RAD_ORACLE_FREED_TWICE, "free",
                       "free: %s frees a block of %zu bytes that was freed by %s before",
                       rad__stage.current->role, f->size, role_of(f->runner));
}

bool rad__watched_free(void *block, size_t size, const void *pc)
{
    rad_watch *w = rad__watch;
    rad_view *v = rad__view_now(w);
    if (v == NULL || size == 0 || size > KEPT_BYTES / 2) return false;
    rad_cell *cell = rad__cell_of(w, block);
    if (cell == NULL) return false;
    if ((cell->access & RAD_CELL_FREED) && freed_at(w, cell)->block == block)
        freed_twice(freed_at(w, cell));
    if (!RAD_GROW(&w->freed, &w->freed_capacity, w->freed_count + 1)) return false;
    uint32_t number = w->freed_count++;
    w->freed[number] = (rad_freed){block, size, rad__stage.current->number};
    mark(w, v, block, size, number, rad__watched_site(w, pc, "free"));
    uint32_t place = kept_next++ % KEPT_BLOCKS;
    let_go(place);
    kept[place].block = block;
    kept[place].size = size;
    kept_bytes += size;
    for (uint32_t i = kept_next; kept_bytes > KEPT_BYTES; i++) let_go(i % KEPT_BLOCKS);
    return true;
}
