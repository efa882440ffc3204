#include "judge_set.h"

#include "base/alloc.h"

#include <string.h>

static uint32_t slot_of(const judge_set *s, uint64_t digest)
{
    uint32_t at = (uint32_t)(digest ^ (digest >> 32)) & (s->slot_count - 1);
    while (s->slots[at] != 0 && s->items[s->slots[at] - 1] != digest) at = (at + 1) & (s->slot_count - 1);
    return at;
}

static void grow(judge_set *s)
{
    s->slot_count = s->slot_count ? 2 * s->slot_count : 256;
    rad__free(s->slots);
    s->slots = rad__alloc(s->slot_count, sizeof *s->slots);
    RAD_ASSERT(s->slots != NULL && RAD_GROW(&s->items, &s->room, s->slot_count / 2));
    for (uint32_t i = 0; i < s->count; i++) s->slots[slot_of(s, s->items[i])] = i + 1;
}

bool judge_set_has(const judge_set *s, uint64_t digest)
{
    return s->slot_count > 0 && s->slots[slot_of(s, digest)] != 0;
}

bool judge_set_add(judge_set *s, uint64_t digest)
{
    if (2 * s->count >= s->slot_count) grow(s);
    uint32_t at = slot_of(s, digest);
    if (s->slots[at] != 0) return false;
    s->items[s->count++] = digest;
    s->slots[at] = s->count;
    return true;
}

void judge_set_free(judge_set *s)
{
    rad__free(s->items);
    rad__free(s->slots);
    memset(s, 0, sizeof *s);
}

uint64_t judge_fold(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ (digest >> 29);
}

uint64_t judge_digest(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t digest = size;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        digest = judge_fold(digest, word);
    }
    for (; size > 0; size--) digest = judge_fold(digest, *p++);
    return digest;
}
