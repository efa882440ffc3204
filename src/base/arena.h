/* arena.h — memory that is given back all at once. */
#ifndef RAD_BASE_ARENA_H
#define RAD_BASE_ARENA_H

#include "base/check.h"

/* All zero: empty. */
typedef struct rad_arena {
    struct rad_arena_block *blocks;
    size_t used; /* of the first block */
    bool failed; /* memory ran out; sticky */
} rad_arena;

/* Zeroed, aligned for anything; NULL when memory ran out. */
RAD_INTERNAL void *rad__arena_take(rad_arena *a, size_t count, size_t size);

/* A copy of `length` characters, and a zero. */
RAD_INTERNAL char *rad__arena_text(rad_arena *a, const char *text, size_t length);

RAD_INTERNAL void rad__arena_free(rad_arena *a);

#endif
