/* plain.c — the calls that the compiler inserts for plain accesses, and what instrumented code gets instead of the
 * C library's memory functions: mem* report what they touch; the heap is the model's own. */
#include "lab/l2/l2.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

/* ---- Accesses --------------------------------------------------------------------------------------------- */

/* One that lies within a granule, which nearly all do. */
static inline void plain(void *address, size_t size, uint32_t kind, const void *pc)
{
    l2 *l = rad__l2;
    uint32_t at = (uint32_t)((uintptr_t)address & 7); /* tidy: address ok: its place in a granule */
    l2_cell *cell = l2_cell_of(l, address);
    if (cell == NULL) return; /* constants, or memory of the lab: nobody writes there */
    if (RAD_LIKELY(l->phase == L2_PHASE_RUN && at + size <= 8 && cell->run == l->run && cell->location == 0)) {
        uint8_t mask = size == 8 ? 0xff : (uint8_t)(((1u << size) - 1) << at);
        if (RAD_UNLIKELY(!l2_access_is_known(l, cell, mask, kind)))
            rad__l2_access(l, cell, address, mask, kind, l2_site_of(pc));
        return;
    }
    rad__l2_range(l, address, size, kind, l2_site_of(pc));
}

#define DEFINE_PLAIN(name, size, kind)                                                                                 \
    RAD_INTERNAL void rad__l2_tsan_##name(void *address);                                                              \
    void rad__l2_tsan_##name(void *address)                                                                            \
    {                                                                                                                  \
        plain(address, size, kind, __builtin_return_address(0));                                                       \
    }

#define DEFINE_SIZE(size)                                                                                              \
    DEFINE_PLAIN(read##size, size, 0)                                                                                  \
    DEFINE_PLAIN(write##size, size, L2_IS_WRITE)                                                                       \
    DEFINE_PLAIN(read_write##size, size, L2_IS_WRITE)                                                                  \
    DEFINE_PLAIN(unaligned_read##size, size, 0)                                                                        \
    DEFINE_PLAIN(unaligned_write##size, size, L2_IS_WRITE)                                                             \
    DEFINE_PLAIN(unaligned_read_write##size, size, L2_IS_WRITE)                                                        \
    DEFINE_PLAIN(volatile_read##size, size, 0)                                                                         \
    DEFINE_PLAIN(volatile_write##size, size, L2_IS_WRITE)                                                              \
    DEFINE_PLAIN(unaligned_volatile_read##size, size, 0)                                                               \
    DEFINE_PLAIN(unaligned_volatile_write##size, size, L2_IS_WRITE)

DEFINE_SIZE(1)
DEFINE_SIZE(2)
DEFINE_SIZE(4)
DEFINE_SIZE(8)
DEFINE_SIZE(16)

RAD_INTERNAL void rad__l2_tsan_read_range(void *address, size_t size);
void rad__l2_tsan_read_range(void *address, size_t size)
{
    rad__l2_range(rad__l2, address, size, 0, l2_site_of(__builtin_return_address(0)));
}

RAD_INTERNAL void rad__l2_tsan_write_range(void *address, size_t size);
void rad__l2_tsan_write_range(void *address, size_t size)
{
    rad__l2_range(rad__l2, address, size, L2_IS_WRITE, l2_site_of(__builtin_return_address(0)));
}

/* C++ only; a table pointer is as plain as any other. */
RAD_INTERNAL void rad__l2_tsan_vptr_update(void **address, void *value);
void rad__l2_tsan_vptr_update(void **address, void *value)
{
    (void)value;
    plain(address, sizeof *address, L2_IS_WRITE, __builtin_return_address(0));
}

RAD_INTERNAL void rad__l2_tsan_vptr_read(void **address);
void rad__l2_tsan_vptr_read(void **address)
{
    plain(address, sizeof *address, 0, __builtin_return_address(0));
}

RAD_INTERNAL void rad__l2_tsan_init(void);
void rad__l2_tsan_init(void)
{
}

RAD_INTERNAL void rad__l2_tsan_func_entry(void *caller);
void rad__l2_tsan_func_entry(void *caller)
{
    (void)caller;
}

RAD_INTERNAL void rad__l2_tsan_func_exit(void);
void rad__l2_tsan_func_exit(void)
{
}

/* ---- mem* ------------------------------------------------------------------------------------------------- */

#define DEFINE_COPY(name, function)                                                                                    \
    RAD_INTERNAL void *name(void *to, const void *from, size_t size);                                                  \
    void *name(void *to, const void *from, size_t size)                                                                \
    {                                                                                                                  \
        uint32_t site = l2_site_of(__builtin_return_address(0));                                                       \
        rad__l2_range(rad__l2, from, size, 0, site);                                                                   \
        rad__l2_range(rad__l2, to, size, L2_IS_WRITE, site);                                                           \
        return function(to, from, size);                                                                               \
    }

#define DEFINE_SET(name)                                                                                               \
    RAD_INTERNAL void *name(void *to, int byte, size_t size);                                                          \
    void *name(void *to, int byte, size_t size)                                                                        \
    {                                                                                                                  \
        rad__l2_range(rad__l2, to, size, L2_IS_WRITE, l2_site_of(__builtin_return_address(0)));                        \
        return memset(to, byte, size);                                                                                 \
    }

DEFINE_COPY(rad__l2_memcpy, memcpy)
DEFINE_COPY(rad__l2_memmove, memmove)
DEFINE_COPY(rad__l2_tsan_memcpy, memcpy)
DEFINE_COPY(rad__l2_tsan_memmove, memmove)
DEFINE_SET(rad__l2_memset)
DEFINE_SET(rad__l2_tsan_memset)

RAD_INTERNAL int rad__l2_memcmp(const void *a, const void *b, size_t size);
int rad__l2_memcmp(const void *a, const void *b, size_t size)
{
    uint32_t site = l2_site_of(__builtin_return_address(0));
    rad__l2_range(rad__l2, a, size, 0, site);
    rad__l2_range(rad__l2, b, size, 0, site);
    return memcmp(a, b, size);
}

RAD_INTERNAL size_t rad__l2_strlen(const char *text);
size_t rad__l2_strlen(const char *text)
{
    size_t size = strlen(text);
    rad__l2_range(rad__l2, text, size + 1, 0, l2_site_of(__builtin_return_address(0)));
    return size;
}

/* ---- The heap ---------------------------------------------------------------------------------------------- */

enum { HEAP_ALIGN = 64, HEAP_GAP = 8 };

/* Zeroed, even for malloc: whoever reads what it has not written gets the same in every run. Blocks begin on
 * lines of 64 bytes, as whoever asks for aligned members expects. */
static void *heap_take(size_t size)
{
    l2 *l = rad__l2;
    l2_thread *t = l->running;
    uint64_t offset = ((uint64_t)l->heap_used + HEAP_GAP + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN;
    if (size == 0) size = 1;
    if (size > L2_HEAP || offset + size > L2_HEAP)
        rad__l2_error(l, RAD_ELIMIT, "a model allocates more than the lab's heap holds");
    if (l->block_count > UINT16_MAX || !RAD_GROW(&l->blocks, &l->block_capacity, l->block_count + 1))
        rad__l2_error(l, RAD_ENOMEM, "out of memory for the blocks of a model");
    uint32_t block = l->block_count++;
    l->blocks[block] = (l2_block){
        .offset = (uint32_t)offset,
        .size = (uint32_t)size,
        .clock = t->clock.at[t->index],
        .ordinal = t->allocations++,
        .thread = t->index,
    };
    for (uint64_t i = (l->heap_used + 7) / 8; i < offset / 8; i++) l->block_at[i] = 0;
    for (uint64_t i = 0; i < (size + 7) / 8; i++) l->block_at[offset / 8 + i] = (uint16_t)block;
    l->heap_used = (uint32_t)(offset + size);
    l->blocks_live++;
    return memset(l->space + offset, 0, size);
}

static l2_block *heap_block(l2 *l, void *p, const char *what, uint32_t site)
{
    size_t offset = (size_t)((char *)p - l->space);
    uint32_t at = offset < l->heap_used ? l->block_at[offset / 8] : 0;
    l2_block *b = &l->blocks[at];
    if (at != 0 && b->offset == offset && !b->freed) return b;
    char where[120], place[L2_PLACE_MAX];
    rad__l2_site_text(site, where, sizeof where);
    rad__l2_fail(l, L2_USE_AFTER_FREE, RAD_NONE, rad__l2_place_text(site, place), "%s of %s, at %s", what,
                 at != 0 && b->offset == offset ? "what is freed already" : "what was not allocated", where);
}

static void heap_give(void *p, const char *what, uint32_t site)
{
    l2 *l = rad__l2;
    l2_block *b = heap_block(l, p, what, site);
    rad_evaluated(l->k, L2_USE_AFTER_FREE);
    if (l->phase == L2_PHASE_RUN) {
        /* Freeing is a write for whoever used it; afterwards its cells are nobody's. */
        for (uint32_t i = 0; i < b->size; i += 8) {
            l2_cell *cell = &l->cells[(b->offset + i) / 8];
            if (cell->run != l->run) continue;
            rad__l2_access(l, cell, l->space + b->offset + i, 0xff, L2_IS_WRITE, site);
            cell->run = l->run - 1;
        }
    }
    b->freed = true;
    l->blocks_live--;
}

RAD_INTERNAL void *rad__l2_malloc(size_t size);
void *rad__l2_malloc(size_t size)
{
    return heap_take(size);
}

RAD_INTERNAL void *rad__l2_calloc(size_t count, size_t size);
void *rad__l2_calloc(size_t count, size_t size)
{
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? NULL : heap_take(total);
}

RAD_INTERNAL void *rad__l2_aligned_alloc(size_t alignment, size_t size);
void *rad__l2_aligned_alloc(size_t alignment, size_t size)
{
    return alignment <= HEAP_ALIGN ? heap_take(size) : NULL;
}

RAD_INTERNAL void rad__l2_free(void *p);
void rad__l2_free(void *p)
{
    if (p != NULL) heap_give(p, "a free", l2_site_of(__builtin_return_address(0)));
}

RAD_INTERNAL void *rad__l2_realloc(void *p, size_t size);
void *rad__l2_realloc(void *p, size_t size)
{
    uint32_t site = l2_site_of(__builtin_return_address(0));
    if (p == NULL) return heap_take(size);
    uint32_t old = heap_block(rad__l2, p, "a realloc", site)->size;
    void *fresh = heap_take(size);
    rad__l2_range(rad__l2, p, old < size ? old : size, 0, site);
    memcpy(fresh, p, old < size ? old : size);
    heap_give(p, "a realloc", site);
    return fresh;
}
