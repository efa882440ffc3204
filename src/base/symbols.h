/* symbols.h — names as small numbers, in the order in which they were first met. */
#ifndef RAD_BASE_SYMBOLS_H
#define RAD_BASE_SYMBOLS_H

#include "base/arena.h"

typedef struct rad_symbols {
    const char **texts;
    uint32_t count, capacity;
    uint32_t *slots; /* open addressing: number + 1, or 0 */
    uint32_t slot_count;
    rad_arena arena;
} rad_symbols;

enum { RAD_SYMBOLS_MAX = 60000 };

/* The number of a name, new or not; RAD_NONE: there are too many, or no memory. */
RAD_INTERNAL uint32_t rad__symbol(rad_symbols *s, const char *text, size_t length);

/* RAD_NONE: nobody has used it. */
RAD_INTERNAL uint32_t rad__symbol_find(const rad_symbols *s, const char *text, size_t length);

RAD_INTERNAL void rad__symbols_free(rad_symbols *s);

#endif
