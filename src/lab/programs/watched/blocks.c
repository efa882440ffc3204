/* blocks.c — blocks of the heap in a watched program: what was freed stays for a while, so that who still uses it is
 * found; and what is allocated belongs to nobody yet.
 *
 * A freed block is kept from malloc until a thousand others were freed, or some MiB of them. So long its cells say
 * so, and the next access to one is a failure. Freeing is a write for all who have used the block.
 *
 * Before the first decision cells are of no run: what is freed then is kept in a list, and marked in each page of
 * cells that a run begins. */
#include "lab/programs/watched/watched.h"

#include "lab/programs/fibers/tell.h"

#include <stdio.h>
#include <string.h>

extern void __libc_free(void *p);

enum { KEPT_BLOCKS = 1 << 10, KEPT_BYTES = 8 << 20, CALL_TEXT = 200, HISTORY_TEXT = 2 * CALL_TEXT + 8 };
enum { RUN_BEFORE = 1 }; /* the first decision */

/* Of this run: put back with the program's memory. */
static struct {
    void *block;
    size_t size;
    bool before; /* the first decision */
} kept[KEPT_BLOCKS];
static uint32_t kept_next;
static size_t kept_bytes;

/* ---- What the program has ----------------------------------------------------------------------------------- */

static rad_block *block_place(rad_block *table, uint32_t run, const void *block)
{
    uint64_t bits = (uintptr_t)block; /* tidy: address ok: where to look for the same one */
    uint32_t at = (uint32_t)((bits >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    for (;; at++) {
        rad_block *b = &table[at % RAD_BLOCKS_WATCHED_MAX];
        if (b->at == NULL || b->run != run || b->at == block) return b;
    }
}

void rad__watched_allocated(const void *block, size_t size, const void *pc)
{
    rad_watch *w = rad__monitor;
    const rad_runner *r = rad__stage.current;
    rad__watched_forget(block, size);
    uint32_t *count = w->runs ? &w->block_count : &w->block_count_before;
    uint32_t run = w->runs ? w->run : RUN_BEFORE;
    if (r == NULL || !rad__stage.running || *count == RAD_BLOCKS_WATCHED_MAX / 4 * 3) return;
    rad_block *b = block_place(w->runs ? w->blocks : w->blocks_before, run, block);
    *count += b->at == NULL || b->run != run;
    uintptr_t caller = (uintptr_t)rad__watched_caller(pc); /* tidy: address ok: for its name */
    *b = (rad_block){block, run, {caller, r->number}};
}

static rad_block_call allocated(const rad_watch *w, const void *block)
{
    const rad_block *b = w->runs ? block_place(w->blocks, w->run, block) : NULL;
    if (b == NULL || b->at != block || b->run != w->run) b = block_place(w->blocks_before, RUN_BEFORE, block);
    return b->at == block ? b->allocated : (rad_block_call){0, 0};
}

/* Another process may have come here before, and this memory is shared. */
void rad__watched_program(void)
{
    rad_watch *w = rad__monitor;
    if (w == NULL) return;
    w->runs = false;
    w->freed_before = w->freed_count = 0;
    if (w->block_count_before > 0) memset(w->blocks_before, 0, RAD_BLOCKS_WATCHED_MAX * sizeof *w->blocks_before);
    w->block_count_before = 0;
}

/* ---- What it had -------------------------------------------------------------------------------------------- */

/* The first of those from before the first decision that is not below `block`. There may be thousands. */
static uint32_t freed_place(const rad_watch *w, const void *block)
{
    uint32_t low = 0, high = w->freed_before;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)w->freed[middle].block < (uintptr_t)block) /* tidy: address ok: as they are sorted */
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void freed_remove(rad_watch *w, const void *block)
{
    uint32_t i = freed_place(w, block);
    if (i == w->freed_before || w->freed[i].block != block) return;
    w->freed_before--;
    memmove(&w->freed[i], &w->freed[i + 1], (w->freed_before - i) * sizeof *w->freed);
}

static void let_go(rad_watch *w, uint32_t place)
{
    char *block = kept[place].block;
    size_t size = kept[place].size;
    if (block == NULL) return;
    if (!w->runs)
        freed_remove(w, block);
    else if (kept[place].before) /* pages that this run has not used would still be marked */
        for (size_t i = 0; i < size; i += 8) rad__cell_of(w, block + i);
    rad__watched_forget(block, size);
    kept_bytes -= size;
    __libc_free(block);
    kept[place].block = NULL;
}

static void keep(rad_watch *w, void *block, size_t size)
{
    uint32_t place = kept_next++ % KEPT_BLOCKS;
    let_go(w, place);
    kept[place].block = block;
    kept[place].size = size;
    kept[place].before = !w->runs;
    kept_bytes += size;
    for (uint32_t i = kept_next; kept_bytes > KEPT_BYTES; i++) let_go(w, i % KEPT_BLOCKS);
}

static const rad_freed *freed_at(const rad_watch *w, const rad_cell *cell)
{
    return &w->freed[cell->access & ~RAD_CELL_FREED];
}

void rad__watched_freed_before(const rad_watch *w, uintptr_t number, rad_cell *cells)
{
    enum { PAGE = 8 * RAD_PAGE_CELLS };
    uintptr_t from = number * PAGE, to = from + PAGE;
    uint32_t low = 0, high = w->freed_before;
    while (low < high) { /* the first one that ends behind the beginning of the page */
        uint32_t middle = low + (high - low) / 2;
        const rad_freed *f = &w->freed[middle];
        if ((uintptr_t)f->block + f->size <= from) /* tidy: address ok: as cells are found */
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->freed_before; low++) {
        const rad_freed *f = &w->freed[low];
        uintptr_t at = (uintptr_t)f->block, end = at + f->size; /* tidy: address ok: as above */
        if (at >= to) return;
        for (at = at < from ? from : at; at < end && at < to; at += 8)
            cells[(at - from) / 8] = (rad_cell){.access = low | RAD_CELL_FREED};
    }
}

/* ---- Reports ------------------------------------------------------------------------------------------------ */

static const char *role_of(uint32_t runner)
{
    return rad__stage.runners[runner].role;
}

/* "freed by reader in pool_close [+1a2b]" */
static void call_text(const char *what, const rad_block_call *c, char text[CALL_TEXT])
{
    char spot[96];
    const rad_watched_site site = {.pc = c->pc};
    text[0] = 0;
    if (c->pc == 0) return;
    rad__watched_spot(c->pc, spot, sizeof spot);
    snprintf(text, CALL_TEXT, "%s by %.30s in %.40s %.80s", what, role_of(c->runner),
             rad__watched_place(&site).function, spot);
}

static const char *history(const rad_freed *f, char text[HISTORY_TEXT])
{
    char freed[CALL_TEXT], got[CALL_TEXT];
    call_text("freed", &f->freed, freed);
    call_text("allocated", &f->allocated, got);
    snprintf(text, HISTORY_TEXT, "%s%s%s", freed, got[0] ? ", " : "", got);
    return text;
}

void rad__watched_gone(rad_watch *w, const rad_cell *cell, const char *at, uint32_t kind, uint32_t site)
{
    char place[RAD_PLACE_TEXT], spot[96], before[HISTORY_TEXT];
    const rad_freed *f = freed_at(w, cell);
    rad__watched_place_text(&w->sites[site], place);
    rad__watched_spot(w->sites[site].pc, spot, sizeof spot);
    if (rad__tell_kernel) rad__tell_kernel->evaluations[RAD_ORACLE_FREED]++;
    rad__program_fails(RAD_ORACLE_FREED, place, "%.40s %s byte %zu of a block of %zu at %s %s: %s",
                       rad__stage.current->role, kind & RAD_ACCESS_WRITES ? "writes" : "reads", (size_t)(at - f->block),
                       f->size, place, spot, history(f, before));
}

static void mark(rad_watch *w, rad_view *v, char *block, size_t size, uint32_t number, uint32_t site)
{
    for (size_t i = 0; i < size; i += 8) {
        rad_cell *cell = rad__cell_of(w, block + i);
        if (cell == NULL) return;
        if (cell->access != 0) rad__watched_access(w, v, cell, block + i, 0xff, RAD_ACCESS_WRITES, site);
        *cell = (rad_cell){.access = number | RAD_CELL_FREED};
    }
}

static void freed_twice(const rad_freed *f, const void *pc)
{
    char spot[96], before[HISTORY_TEXT];
    rad__watched_spot((uintptr_t)pc, spot, sizeof spot); /* tidy: address ok: for its name */
    rad__program_fails(RAD_ORACLE_FREED_TWICE, "free", "%.40s frees a block of %zu bytes again %s: %s",
                       rad__stage.current->role, f->size, spot, history(f, before));
}

/* Where it belongs in w->freed; RAD_NONE: no memory. */
static uint32_t freed_add(rad_watch *w, const rad_freed *f)
{
    if (!RAD_GROW(&w->freed, &w->freed_capacity, w->freed_count + 1)) return RAD_NONE;
    uint32_t at = w->freed_count++;
    if (!w->runs) {
        at = freed_place(w, f->block);
        memmove(&w->freed[at + 1], &w->freed[at], (w->freed_before - at) * sizeof *w->freed);
        w->freed_before++;
    }
    w->freed[at] = *f;
    return at;
}

/* Before the first decision there is one thread, and no cell. */
static bool free_before(rad_watch *w, const rad_freed *f, const void *pc)
{
    uint32_t i = freed_place(w, f->block);
    if (i < w->freed_before && w->freed[i].block == f->block) freed_twice(&w->freed[i], pc);
    return freed_add(w, f) != RAD_NONE;
}

static bool free_in_run(rad_watch *w, rad_view *v, const rad_freed *f, const void *pc)
{
    char *block = (char *)(uintptr_t)f->block; /* tidy: address ok: it is the program's */
    const rad_cell *cell = rad__cell_of(w, block);
    if (cell == NULL) return false;
    if ((cell->access & RAD_CELL_FREED) && freed_at(w, cell)->block == block) freed_twice(freed_at(w, cell), pc);
    uint32_t number = freed_add(w, f);
    if (number == RAD_NONE) return false;
    mark(w, v, block, f->size, number, rad__watched_site(w, pc, "free"));
    return true;
}

bool rad__watched_free(void *block, size_t size, const void *pc)
{
    rad_watch *w = rad__monitor;
    const rad_runner *r = rad__stage.current;
    if (r == NULL || size == 0 || size > KEPT_BYTES / 2) return false;
    pc = rad__watched_caller(pc);
    uintptr_t place = (uintptr_t)pc; /* tidy: address ok: for its name */
    const rad_freed f = {block, size, allocated(w, block), {place, r->number}};
    rad_view *v = rad__view_now(w);
    bool kept_back = false;
    if (v != NULL)
        kept_back = free_in_run(w, v, &f, pc);
    else if (rad__stage.prefix && !w->runs)
        kept_back = free_before(w, &f, pc);
    if (kept_back) keep(w, block, size);
    return kept_back;
}
