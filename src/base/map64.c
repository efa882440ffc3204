#include "base/map64.h"

#include "base/alloc.h"
#include "base/prng.h"

#include <string.h>

/* The slot that holds the key, or the empty one where it belongs. */
static rad_map64_slot *map_slot(rad_map64_slot *slots, uint32_t slot_count, uint64_t key)
{
    uint32_t at = (uint32_t)rad__mix64(key) & (slot_count - 1);
    while (slots[at].value != RAD_NONE && slots[at].key != key) at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

uint32_t rad__map64_find(const rad_map64 *m, uint64_t key)
{
    return m->slot_count ? map_slot(m->slots, m->slot_count, key)->value : RAD_NONE;
}

static bool map_grow(rad_map64 *m)
{
    uint32_t wanted = m->slot_count ? m->slot_count * 2 : 32;
    rad_map64_slot *slots = rad__alloc(wanted, sizeof *slots);
    if (slots == NULL) return false;
    memset(slots, 0xff, wanted * sizeof *slots);
    for (uint32_t i = 0; i < m->slot_count; i++)
        if (m->slots[i].value != RAD_NONE) *map_slot(slots, wanted, m->slots[i].key) = m->slots[i];
    rad__free(m->slots);
    m->slots = slots;
    m->slot_count = wanted;
    return true;
}

bool rad__map64_add(rad_map64 *m, uint64_t key, uint32_t value)
{
    RAD_DCHECK(value != RAD_NONE && rad__map64_find(m, key) == RAD_NONE);
    /* Half full at most, so that probing stays short. */
    if (m->count * 2 >= m->slot_count && !map_grow(m)) return false;
    *map_slot(m->slots, m->slot_count, key) = (rad_map64_slot){key, value};
    m->count++;
    return true;
}

void rad__map64_clear(rad_map64 *m)
{
    if (m->count) memset(m->slots, 0xff, m->slot_count * sizeof *m->slots);
    m->count = 0;
}

void rad__map64_free(rad_map64 *m)
{
    rad__free(m->slots);
    *m = (rad_map64){0};
}
