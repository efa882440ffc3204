#include "base/symbols.h"

#include "base/alloc.h"
#include "base/digest.h"

#include <string.h>

enum { SLOTS_FIRST = 64 };

/* Where it is, or where it would be; there is room. */
static uint32_t *slot_of(const rad_symbols *s, const char *text, size_t length)
{
    uint32_t at = (uint32_t)rad__digest_of(text, length).low & (s->slot_count - 1);
    for (; s->slots[at] != 0; at = (at + 1) & (s->slot_count - 1)) {
        const char *other = s->texts[s->slots[at] - 1];
        if (strncmp(other, text, length) == 0 && other[length] == 0) break;
    }
    return &s->slots[at];
}

static bool slots_grow(rad_symbols *s)
{
    uint32_t count = s->slot_count ? s->slot_count * 2 : SLOTS_FIRST;
    uint32_t *slots = rad__alloc(count, sizeof *slots);
    if (slots == NULL) return false;
    rad__free(s->slots);
    s->slots = slots;
    s->slot_count = count;
    for (uint32_t i = 0; i < s->count; i++) *slot_of(s, s->texts[i], strlen(s->texts[i])) = i + 1;
    return true;
}

uint32_t rad__symbol_find(const rad_symbols *s, const char *text, size_t length)
{
    if (s->slot_count == 0) return RAD_NONE;
    return *slot_of(s, text, length) - 1; /* 0 - 1 is RAD_NONE */
}

uint32_t rad__symbol(rad_symbols *s, const char *text, size_t length)
{
    uint32_t known = rad__symbol_find(s, text, length);
    if (known != RAD_NONE) return known;
    if (s->count >= RAD_SYMBOLS_MAX) return RAD_NONE;
    if (s->count * 2 >= s->slot_count && !slots_grow(s)) return RAD_NONE;
    if (!RAD_GROW(&s->texts, &s->capacity, s->count + 1)) return RAD_NONE;
    const char *copy = rad__arena_text(&s->arena, text, length);
    if (copy == NULL) return RAD_NONE;
    s->texts[s->count] = copy;
    *slot_of(s, text, length) = s->count + 1;
    return s->count++;
}

void rad__symbols_free(rad_symbols *s)
{
    rad__free(s->texts);
    rad__free(s->slots);
    rad__arena_free(&s->arena);
    *s = (rad_symbols){.texts = NULL};
}
