/* memory.c — the memory of a model: its heap, its static variables, its stacks; what lies where.
 *
 * The heap only grows within a run and is empty again in the next: an address means one allocation per run, so
 * every use after free is seen, and an address is reproducible. Between blocks there is a gap of a granule. */
#include "lab/l2/l2.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/prng.h"
#include "os/pages.h"

#include <stdio.h>
#include <string.h>

static size_t stack_offset(uint32_t thread)
{
    return L2_HEAP + L2_GUARD + (size_t)thread * (L2_STACK + L2_GUARD);
}

static bool memory_stacks(l2 *l, rad_error *error)
{
    for (uint32_t i = 0; i <= l->thread_count; i++) {
        l->threads[i].stack = l->space + stack_offset(i);
        if (rad__os_pages_guard(l->threads[i].stack - L2_GUARD, L2_GUARD, error) != 0) return false;
    }
    return true;
}

bool rad__l2_memory_open(l2 *l, rad_error *error)
{
    void *space;
    l->space_size = stack_offset(l->thread_count + 1);
    if (rad__os_pages_map(&space, l->space_size, error) != 0) return false;
    l->space = space;
    l->data_size = (size_t)(__stop_l2data - __start_l2data);
    l->cells = rad__alloc(l->space_size / 8, sizeof *l->cells);
    l->data_cells = rad__alloc(l->data_size / 8 + 1, sizeof *l->data_cells);
    l->block_at = rad__alloc(L2_HEAP / 8, sizeof *l->block_at);
    if (!l->cells || !l->data_cells || !l->block_at || !RAD_GROW(&l->blocks, &l->block_capacity, 16) ||
        !RAD_GROW(&l->accesses.items, &l->accesses.capacity, 256) ||
        !RAD_GROW(&l->locations, &l->location_capacity, 64)) {
        rad__error_memory(error);
        return false;
    }
    return memory_stacks(l, error);
}

void rad__l2_memory_close(l2 *l)
{
    rad__os_pages_unmap(l->space, l->space_size);
    rad__free(l->cells);
    rad__free(l->data_cells);
    rad__free(l->block_at);
    rad__free(l->blocks);
    rad__free(l->accesses.items);
    rad__free(l->locations);
}

void rad__l2_memory_reset(l2 *l)
{
    if (++l->run == 0) { /* after 2^32 runs old cells must not look valid */
        memset(l->cells, 0, l->space_size / 8 * sizeof *l->cells);
        memset(l->data_cells, 0, (l->data_size / 8 + 1) * sizeof *l->data_cells);
        l->run = 1;
    }
    for (uint32_t i = 0; i < l->extent_count; i++) {
        l2_extent e = l->extents[i];
        memcpy(__start_l2data + e.from, l->data_image + e.from, e.to - e.from);
    }
    l->heap_used = 0;
    l->block_count = l->accesses.count = l->location_count = 1;
    l->blocks_live = 0;
    l->name_count = 0;
    l->fiber_stack_count = 0;
}

/* ---- What is where ------------------------------------------------------------------------------------ */

static const char *const UNTOUCHABLE = "memory that does not belong to the model";

static bool in_heap(const l2 *l, const char *address)
{
    return (size_t)(address - l->space) < L2_HEAP;
}

/* A static variable of files that the model does not use, which is therefore not restored between runs: an index or a
 * pointer has gone astray. */
static bool out_of_reach(const l2 *l, const char *address)
{
    size_t offset = (size_t)(address - __start_l2data);
    if (offset >= l->data_size) return false;
    for (uint32_t i = 0; i < l->extent_count; i++)
        if (offset >= l->extents[i].from && offset < l->extents[i].to) return false;
    return true;
}

/* The block of a heap address, or NULL. */
static l2_block *block_of(const l2 *l, const char *address)
{
    size_t offset = (size_t)(address - l->space);
    if (offset >= l->heap_used || l->block_at[offset / 8] == 0) return NULL;
    l2_block *b = &l->blocks[l->block_at[offset / 8]];
    return offset - b->offset < b->size ? b : NULL;
}

bool rad__l2_is_gone(const l2 *l, const char *address)
{
    const l2_block *b = in_heap(l, address) ? block_of(l, address) : NULL;
    return in_heap(l, address) && (b == NULL || b->freed);
}

void rad__l2_name_of(const l2 *l, const char *address, char *text, size_t size)
{
    for (uint32_t i = 0; i < l->name_count; i++) {
        const l2_name *n = &l->names[i];
        if ((size_t)(address - n->from) >= n->size) continue;
        size_t at = (size_t)(address - n->from);
        if (at == 0)
            snprintf(text, size, "%s", n->name);
        else
            snprintf(text, size, "%s+%zu", n->name, at);
        return;
    }
    const l2_block *b = in_heap(l, address) ? block_of(l, address) : NULL;
    size_t data = (size_t)(address - __start_l2data);
    if (b != NULL)
        snprintf(text, size, "heap %u+%zu", (unsigned)(b - l->blocks), (size_t)(address - l->space) - b->offset);
    else if (data < l->data_size)
        snprintf(text, size, "static+%zu", data);
    else if ((size_t)(address - l->space) < l->space_size && !in_heap(l, address))
        snprintf(text, size, "a stack");
    else if (in_heap(l, address))
        snprintf(text, size, "heap outside of any allocation");
    else
        snprintf(text, size, "%s", UNTOUCHABLE);
}

static const char *role_of(const l2 *l, const char *address)
{
    for (uint32_t i = 0; i < l->name_count; i++)
        if ((size_t)(address - l->names[i].from) < l->names[i].size) return l->names[i].name;
    if (in_heap(l, address)) return "heap";
    return (size_t)(address - __start_l2data) < l->data_size ? "static" : "stack";
}

/* The same in every schedule: who allocated, the how manieth of its allocations, how far into it. */
static uint64_t signature_of(const l2 *l, const char *address)
{
    const l2_block *b = in_heap(l, address) ? block_of(l, address) : NULL;
    if (b != NULL) return rad__mix2((uint64_t)b->thread << 32 | b->ordinal, (uint64_t)(address - l->space) - b->offset);
    if ((size_t)(address - l->space) < l->space_size)
        return rad__mix2(UINT64_C(1) << 62, (uint64_t)(address - l->space));
    return rad__mix2(UINT64_C(1) << 63, (uint64_t)(address - __start_l2data));
}

static uint32_t object_new(l2 *l, const char *address)
{
    uint32_t object = rad_object(l->k, RAD_NONE, role_of(l, address));
    if (object != RAD_NONE) l->k->objects[object].signature = signature_of(l, address);
    return object;
}

static const char *location_address(const l2_location *o)
{
    return o->granule + __builtin_ctz(o->mask);
}

uint32_t rad__l2_object(l2 *l, uint32_t location)
{
    l2_location *o = &l->locations[location];
    if (o->object == RAD_NONE) o->object = object_new(l, location_address(o));
    return o->object;
}

uint32_t rad__l2_object_at(l2 *l, const char *address)
{
    return l2_cell_of(l, address) ? object_new(l, address) : RAD_NONE;
}

/* A thread-local variable: production takes the address of one for who the thread is (rad__who). Which variable it is
 * depends on the build, so only the thread counts. */
static uint32_t thread_of_local(const l2 *l, uint64_t value)
{
    enum { AROUND = 1 << 16 };
    for (uint32_t i = 1; l->borrows && i <= l->thread_count && i < L2_CLOCKS; i++) {
        uint64_t pointer = (uint64_t)(uintptr_t)l->threads[i].pointer; /* tidy: address ok: it is */
        if (value - (pointer - AROUND) < 2 * (uint64_t)AROUND) return i;
    }
    return RAD_NONE;
}

/* The region that an address is in, and the distance within it; false: it is none of the code under test. */
static bool address_parts(const l2 *l, uint64_t value, uint64_t *region, uint64_t *offset)
{
    uint64_t space = (uint64_t)(uintptr_t)l->space;      /* tidy: address ok: it is */
    uint64_t data = (uint64_t)(uintptr_t)__start_l2data; /* tidy: address ok: taken */
    uint64_t text = (uint64_t)(uintptr_t)__start_l2text; /* tidy: address ok: out here */
    uint32_t thread;
    *region = 0;
    if (value - space < l->space_size) {
        *region = 1;
        *offset = value - space;
    } else if (value - data < l->data_size) {
        *region = 2;
        *offset = value - data;
    } else if (value - text < rad__l2_text_size) {
        *region = 3;
        *offset = value - text;
    } else if ((thread = thread_of_local(l, value)) != RAD_NONE) {
        *region = 4;
        *offset = (uint64_t)thread << 8 | (value & 7); /* production keeps flags there */
    }
    return *region != 0;
}

/* Addresses have 48 bits. Production keeps a kind above some (rad__waits_for): that stays, and the rest is an address
 * all the same. */
uint64_t rad__l2_canonical(const l2 *l, uint64_t value)
{
    enum { BITS = 48 };
    const uint64_t low = (UINT64_C(1) << BITS) - 1;
    uint64_t region, offset;
    if ((value & low) <= UINT32_MAX || !address_parts(l, value & low, &region, &offset)) return value;
    if (value <= low) return region << 60 | offset;
    return (value & ~low) | region << 44 | offset;
}

/* ---- Cells and locations ------------------------------------------------------------------------------- */

static _Noreturn void memory_misuse(l2 *l, const char *address, const l2_block *b, uint32_t site)
{
    char what[96], where[120], place[L2_PLACE_MAX];
    rad__l2_name_of(l, address, what, sizeof what);
    rad__l2_site_text(site, where, sizeof where);
    rad__l2_fail(l, b ? L2_USE_AFTER_FREE : L2_BAD_ADDRESS, rad__l2_object_at(l, address),
                 rad__l2_place_text(site, place), "%s %s, at %s", what, b ? "is used after it was freed" : "is used",
                 where);
}

void rad__l2_memory_check(l2 *l, const char *address, uint32_t site)
{
    if (!in_heap(l, address)) {
        if (RAD_UNLIKELY(out_of_reach(l, address))) memory_misuse(l, address, NULL, site);
        return;
    }
    const l2_block *b = block_of(l, address);
    if (RAD_UNLIKELY(b == NULL || b->freed)) memory_misuse(l, address, b, site);
}

void rad__l2_cell_open(l2 *l, l2_cell *cell, const char *address, uint32_t site)
{
    if (in_heap(l, address)) {
        const l2_block *b = block_of(l, address);
        if (b == NULL || b->freed) memory_misuse(l, address, b, site);
        *cell = (l2_cell){.run = l->run};
        if (b->thread == L2_MAIN) return;
        /* The zeroes were written by whoever allocated: reading them without having heard of it is a race. */
        if (!RAD_GROW(&l->accesses.items, &l->accesses.capacity, l->accesses.count + 1))
            rad__l2_error(l, RAD_ENOMEM, "out of memory while watching for races");
        cell->record = l->accesses.count++;
        l->accesses.items[cell->record] = (rad_accessed){
            .clock = b->clock,
            .site = L2_NO_SITE,
            .mask = 0xff,
            .thread = b->thread,
            .kind = L2_IS_WRITE,
        };
        return;
    }
    if (RAD_UNLIKELY(out_of_reach(l, address))) memory_misuse(l, address, NULL, site);
    *cell = (l2_cell){.run = l->run};
}

uint32_t rad__l2_location(l2 *l, l2_cell *cell, const char *address, uint8_t mask)
{
    uint32_t at = cell->location;
    while (at != 0 && l->locations[at].mask != mask) at = l->locations[at].next;
    if (RAD_LIKELY(at != 0)) return at;
    if (!RAD_GROW(&l->locations, &l->location_capacity, l->location_count + 1))
        rad__l2_error(l, RAD_ENOMEM, "out of memory for atomic locations");
    at = l->location_count++;
    bool mixed = false;
    for (uint32_t i = cell->location; i != 0; i = l->locations[i].next) {
        if (!(l->locations[i].mask & mask)) continue;
        l->locations[i].mixed = mixed = true;
    }
    l->locations[at] = (l2_location){
        .granule = (char *)address - __builtin_ctz(mask),
        .next = cell->location,
        .object = RAD_NONE,
        .mask = mask,
        .mixed = mixed,
    };
    cell->location = at;
    return at;
}

bool rad__l2_is_stack(const l2 *l, const char *address)
{
    size_t offset = (size_t)(address - l->space);
    if (offset >= L2_HEAP && offset < l->space_size) return true;
    for (uint32_t i = 0; i < l->fiber_stack_count; i++)
        if ((size_t)(address - l->fiber_stacks[i].from) < l->fiber_stacks[i].size) return true;
    return false;
}
