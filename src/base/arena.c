#include "base/arena.h"

#include "base/alloc.h"

#include <string.h>

enum { BLOCK = 16 << 10, ALIGNMENT = 16 };

struct rad_arena_block {
    struct rad_arena_block *older;
    size_t size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

static bool arena_extend(rad_arena *a, size_t size)
{
    size_t room = size > BLOCK ? size : BLOCK;
    struct rad_arena_block *block = rad__alloc(1, sizeof *block + room);
    if (block == NULL) return false;
    block->older = a->blocks;
    block->size = room;
    a->blocks = block;
    a->used = 0;
    return true;
}

void *rad__arena_take(rad_arena *a, size_t count, size_t size)
{
    size_t bytes;
    bool fits = !__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX / 2;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (fits && (a->blocks == NULL || a->blocks->size - a->used < bytes)) fits = arena_extend(a, bytes);
    if (!fits) {
        a->failed = true;
        return NULL;
    }
    void *taken = a->blocks->bytes + a->used;
    a->used += bytes;
    return taken;
}

char *rad__arena_text(rad_arena *a, const char *text, size_t length)
{
    char *copy = rad__arena_take(a, length + 1, 1);
    if (copy != NULL) memcpy(copy, text, length);
    return copy;
}

void rad__arena_free(rad_arena *a)
{
    for (struct rad_arena_block *b = a->blocks, *older; b != NULL; b = older) {
        older = b->older;
        rad__free(b);
    }
    *a = (rad_arena){.blocks = NULL};
}
