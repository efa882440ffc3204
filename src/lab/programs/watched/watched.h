/* watched.h — the memory of a program under test that `raddle cc` has built: its atomics are points, its plain
 * accesses are looked at for races.
 *
 * The compiler has inserted a call before each access (stub.c), and the program runs on one kernel thread, so what
 * the call finds in memory is the newest. The orders that atomics were given decide what happened before what; so
 * do the operations that the lab answers (edges.c). The order of accesses is lab/order.h's, as at L2.
 *
 * Points    an atomic, a volatile access, and a plain one whose place is in the list of those that have raced; and
 *           one that reads the same as before, round after round, in a loop that writes nothing.
 * Memory    a cell for each granule of eight bytes, by a table of pages: the accesses that a later one could race
 *           with, and the atomic locations in it. A page belongs to the run whose number it has, so nothing is
 *           cleared between runs.
 * Where     all of it is in the lab's heap, which is not put back (fibers/heap.c); its root is allocated before the
 *           first decision. What happened before that was done by one thread alone, and precedes everything.
 *
 * A *view* is what a fiber or thread has heard of. There are few: one that has ended leaves its component to the next
 * one, and when there are more fibers than components, some share. That can hide a race and never makes one. */
#ifndef RAD_LAB_PROGRAMS_WATCHED_WATCHED_H
#define RAD_LAB_PROGRAMS_WATCHED_WATCHED_H

#include "core/spin.h"
#include "lab/order.h"
#include "lab/programs/fibers/stage.h"
#include "lab/programs/watched/stub.h"

enum {
    RAD_VIEWS_MAX = 64,
    RAD_PAGE_CELLS = 512,
    RAD_PAGES_MAX = 1 << 16, /* of 4 KiB of the program; beyond them nothing is looked at */
    RAD_PAGE_CACHE = 1 << 10
};

typedef struct rad_view {
    uint32_t clock[RAD_VIEWS_MAX], acquired[RAD_VIEWS_MAX], released[RAD_VIEWS_MAX];
    uint32_t reads; /* since it wrote, or met a point */
    uint32_t look_count;
    rad_looks looks; /* … beyond some hundred of them */
    bool fenced;
    bool taken;
    bool fresh;      /* it has made no access: its stack may have been another fiber's */
    uint32_t runner; /* the last one that had it … */
    uint32_t since;  /* … from this time of its own on */
} rad_view;

/* An atomic location: the bytes `mask` of a granule. */
typedef struct rad_location {
    uint32_t release[RAD_VIEWS_MAX]; /* what an acquire of the newest value receives */
    uint64_t value;                  /* newest, in place: the bytes of the granule */
    uint32_t version;                /* how often the value has changed */
    uint32_t next;                   /* in the granule; 0 ends */
    uint8_t mask;
    bool publishes; /* `release` is not empty */
    bool known;     /* `value` is what was written last by an atomic */
} rad_location;

/* What was done with a block, by whom and where. */
typedef struct rad_block_call {
    uintptr_t pc;    /* 0: not known */
    uint32_t runner; /* its number */
} rad_block_call;

/* A block that the program has: blocks.c. */
typedef struct rad_block {
    const void *at;
    uint32_t run; /* it is of this run; of no other one */
    rad_block_call allocated;
} rad_block;

/* A block that was freed, and is kept. */
typedef struct rad_freed {
    const char *block;
    size_t size;
    rad_block_call allocated, freed;
} rad_freed;

#define RAD_CELL_FREED (UINT32_C(1) << 31)

typedef struct rad_cell {
    uint32_t access, location; /* lists; 0: empty. Of a freed block: its number and RAD_CELL_FREED */
} rad_cell;

typedef struct rad_watched_page {
    uintptr_t number; /* of the program's page, + 1; 0: none */
    uint32_t run;     /* its cells are of this run */
    rad_cell *cells;
} rad_watched_page;

/* A call that the compiler inserted, or one of the C library's functions, by where it returns to. */
typedef struct rad_watched_site {
    uintptr_t pc;     /* 0: none */
    const char *call; /* the function; NULL: inserted */
    bool is_point;
    const char *source, *line; /* as raddle has told; NULL: not asked yet */
} rad_watched_site;

/* An object of the lab's operations: what it passes on. */
typedef struct rad_passed {
    const void *object;
    uint32_t clock[RAD_VIEWS_MAX];
} rad_passed;

typedef struct rad_variable_name {
    const void *at; /* NULL: free */
    char text[48];  /* "": it has none */
} rad_variable_name;

enum { RAD_SITES_WATCHED_MAX = 1 << 18, RAD_NAMES_WATCHED_MAX = 1 << 12, RAD_BLOCKS_WATCHED_MAX = 1 << 16 };

typedef struct rad_watch {
    uint32_t run;
    bool runs; /* … and is under way */
    rad_accesses accesses;
    rad_location *locations; /* [0] is unused */
    uint32_t location_count, location_capacity;
    rad_freed *freed;      /* of this run … */
    uint32_t freed_before; /* … and first those from before the first decision, by their addresses */
    uint32_t freed_count, freed_capacity;
    rad_block *blocks, *blocks_before; /* by a hash: of this run, and from before the first decision */
    uint32_t block_count, block_count_before;
    rad_passed *passed;
    uint32_t passed_count, passed_capacity;
    uint32_t *passed_slots;           /* of these, by a hash; [i] is a number + 1 */
    uint32_t everyone[RAD_VIEWS_MAX]; /* what every operation hears of */
    bool any_everyone;
    rad_view views[RAD_VIEWS_MAX];
    uint32_t view_count; /* that have been taken in this run */
    rad_watched_page *pages;
    uint32_t page_count;
    struct {
        uintptr_t number;
        uint32_t run;
        rad_cell *cells;
    } cache[RAD_PAGE_CACHE];
    rad_watched_site *sites;
    uint32_t site_count;
    rad_variable_name *names; /* of variables that were asked for, by a hash */
    uint32_t name_count;
    const char *points;    /* names of sites, each with a newline behind it; or NULL */
    uint32_t operation[2]; /* under way: locations of its granules */
    const char *operation_at;
    size_t operation_size;
    uint32_t operation_site;
} rad_watch;

/* NULL: nothing is watched. */
RAD_INTERNAL extern rad_watch *rad__monitor;

/* Before anything is forked: does the program have such code? False: no memory. */
RAD_INTERNAL bool rad__watched_open(void);

/* The list of points, which stays the caller's. */
RAD_INTERNAL void rad__watched_points(const char *points);

/* How many calls the compiler has inserted; modules that were built so: how many, and the first without any (or
 * NULL). The path of the program is "". */
RAD_INTERNAL uint64_t rad__watched_calls(uint32_t *modules, const char **without);

/* ---- Memory (shadow.c) ------------------------------------------------------------------------------------ */

/* NULL: there is no room for it. */
RAD_INTERNAL rad_cell *rad__cell_find(rad_watch *w, uintptr_t number);

static inline rad_cell *rad__cell_of(rad_watch *w, const char *at)
{
    uintptr_t bits = (uintptr_t)at, number = bits >> 12; /* tidy: address ok: where to look */
    uint32_t place = (uint32_t)(number % RAD_PAGE_CACHE);
    rad_cell *cells = w->cache[place].number == number && w->cache[place].run == w->run ? w->cache[place].cells
                                                                                        : rad__cell_find(w, number);
    return RAD_LIKELY(cells != NULL) ? &cells[bits >> 3 & (RAD_PAGE_CELLS - 1)] : NULL;
}

/* The place in its granule. */
static inline uint32_t rad__cell_at(const char *at)
{
    return (uint32_t)((uintptr_t)at & 7); /* tidy: address ok: as it says */
}

/* The location of these bytes, new or known; 0: no memory. */
RAD_INTERNAL uint32_t rad__location_of(rad_watch *w, rad_cell *cell, uint8_t mask);

/* What was there is another thing from here on. */
RAD_INTERNAL void rad__watched_forget(const void *at, size_t size);

/* Before the first access of the runner that runs. */
RAD_INTERNAL void rad__watched_fresh(rad_view *v);

/* `call`: the C library's function that is called there, or NULL. */
RAD_INTERNAL uint32_t rad__watched_site(rad_watch *w, const void *pc, const char *call);

/* ---- What happened before what (edges.c) ------------------------------------------------------------------- */

RAD_INTERNAL void rad__watched_program(void);         /* main is next */
RAD_INTERNAL void rad__watched_run(void);             /* the first decision is next */
RAD_INTERNAL void rad__watched_begins(rad_runner *r); /* the runner that runs has made it */
RAD_INTERNAL void rad__watched_ended(rad_runner *r);
RAD_INTERNAL void rad__watched_operation(uint32_t site, const void *object); /* of the lab's own */
RAD_INTERNAL void rad__watched_done(uint32_t site, const void *object);      /* a call of a fiber, before it returns */
RAD_INTERNAL void rad__watched_wakes(const rad_runner *r);                   /* the runner that runs lets it go on */
RAD_INTERNAL void rad__watched_joins_all(void);                              /* it has waited for all fibers */
RAD_INTERNAL void rad__watched_acquire(const void *object);
RAD_INTERNAL void rad__watched_release(const void *object);

/* Of code that cannot be seen: it may have heard of everything. */
RAD_INTERNAL void rad__watched_hears_all(rad_watch *w, rad_view *v);

/* Of the runner that runs; NULL: what it does is not watched. */
static inline rad_view *rad__view_now(rad_watch *w)
{
    const rad_runner *r = rad__stage.current;
    return w != NULL && w->runs && rad__stage.running && r->view != 0 ? &w->views[r->view - 1] : NULL;
}

static inline rad_order_view rad__order_of(rad_view *v)
{
    return (rad_order_view){v->clock, v->acquired, v->released, v->fenced};
}

static inline uint32_t rad__view_index(const rad_watch *w, const rad_view *v)
{
    return (uint32_t)(v - w->views);
}

/* ---- Calls (atomics.c, plain.c) ------------------------------------------------------------------------------ */

enum { RAD_PLAIN_WRITES = 1, RAD_PLAIN_MET = 2 /* its point is behind it */ };

RAD_INTERNAL void rad__watched_plain(const void *at, size_t size, int how, const void *pc);

/* It reads there (NULL: it writes): a loop that only reads, and sees the same, lets others go first. */
RAD_INTERNAL void rad__watched_looks(rad_view *v, const char *at, size_t size, const void *pc);

RAD_INTERNAL void rad__watched_volatile(const void *at, size_t size, int writes, const void *pc);
RAD_INTERNAL void rad__watched_begin(const void *at, size_t size, enum rad_watched_kind kind, const void *pc);
RAD_INTERNAL void rad__watched_end(enum rad_watched_kind kind, int order);
RAD_INTERNAL void rad__watched_fence(int order);

/* A point of the runner that runs, for an access. */
RAD_INTERNAL void rad__watched_stop(uint32_t site, const void *at, const void *pc);

/* One access within a granule. */
RAD_INTERNAL void rad__watched_access(rad_watch *w, const rad_view *v, rad_cell *cell, const char *at, uint8_t mask,
                                      uint32_t kind, uint32_t site);

static inline uint8_t rad__mask_of(uint32_t at, size_t size)
{
    return size >= 8 ? 0xff : (uint8_t)(((1u << size) - 1) << at);
}

/* ---- The heap (blocks.c) ----------------------------------------------------------------------- */

/* The program has got this block from the call that returns to `pc`. */
RAD_INTERNAL void rad__watched_allocated(const void *block, size_t size, const void *pc);

/* The program frees a block in a step. True: it is kept, and given to the C library later. */
RAD_INTERNAL bool rad__watched_free(void *block, size_t size, const void *pc);

/* The cells of this page are new: what was freed before the first decision is marked in it. */
RAD_INTERNAL void rad__watched_freed_before(const rad_watch *w, uintptr_t number, rad_cell *cells);

/* An access to what was freed. */
RAD_INTERNAL _Noreturn void rad__watched_gone(rad_watch *w, const rad_cell *cell, const char *at, uint32_t kind,
                                              uint32_t site);

/* ---- Names (names.c) ------------------------------------------------------------------------------------------- */

enum { RAD_PLACE_TEXT = 96 };

RAD_INTERNAL void rad__watched_module(const rad_watched_module *m);

/* Is this in code that `raddle cc` has compiled? */
RAD_INTERNAL bool rad__watched_code(const void *pc);

/* The place in such code from which the call comes that returns to `pc`, be it by way of other code, such as operator
 * new; `pc` if none is found. */
RAD_INTERNAL const void *rad__watched_caller(const void *pc);

/* A place in the code: "bump: write 2", without its number when it is the first. */
RAD_INTERNAL rad_code_site rad__watched_place(const rad_watched_site *s);
RAD_INTERNAL void rad__watched_place_text(const rad_watched_site *s, char text[RAD_PLACE_TEXT]);

/* Its source file, for the patterns of --suppress; NULL: not known, or not asked for. */
RAD_INTERNAL const char *rad__watched_source(rad_watched_site *s);

/* For raddle, which writes the line in its place: "[+1a2b]" of the program, "[/lib/x.so+1a2b]" of others. */
enum { RAD_SPOT_PATH = 70 }; /* that a message has room for */
RAD_INTERNAL void rad__watched_spot(uintptr_t pc, char *text, size_t size);

/* The line itself, "(list.c:12)", which raddle is asked for; leaves the text where raddle is told the run: it asks
 * afterwards. */
RAD_INTERNAL void rad__watched_line(uintptr_t pc, char *text, size_t size);

/* The variable there, for people: NULL: none is known. Outlives the run. */
RAD_INTERNAL const char *rad__watched_variable(const void *at);

/* "counter+8", "a stack", "memory". */
RAD_INTERNAL void rad__watched_name(const void *at, char *text, size_t size);

#endif
