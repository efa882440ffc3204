#include "base/set128.h"

#include "base/alloc.h"

#include <string.h>

static bool digest_is_zero(rad_digest d)
{
    return d.low == 0 && d.high == 0;
}

/* The slot that holds d, or the empty one where it belongs. */
static rad_digest *set_slot(rad_digest *slots, uint64_t slot_count, rad_digest d)
{
    uint64_t at = d.low & (slot_count - 1);
    while (!digest_is_zero(slots[at]) && !rad__digest_equal(slots[at], d)) at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static bool set_grow(rad_set128 *s)
{
    uint64_t wanted = s->slot_count ? s->slot_count * 2 : 1024;
    rad_digest *slots = rad__alloc(wanted, sizeof *slots);
    if (slots == NULL) return false;
    for (uint64_t i = 0; i < s->slot_count; i++)
        if (!digest_is_zero(s->slots[i])) *set_slot(slots, wanted, s->slots[i]) = s->slots[i];
    rad__free(s->slots);
    s->slots = slots;
    s->slot_count = wanted;
    return true;
}

bool rad__set128_has(const rad_set128 *s, rad_digest d)
{
    if (digest_is_zero(d)) return s->has_zero;
    return s->slot_count && !digest_is_zero(*set_slot(s->slots, s->slot_count, d));
}

enum rad_set_add rad__set128_add(rad_set128 *s, rad_digest d)
{
    bool zero = digest_is_zero(d);
    rad_digest *slot = zero || s->slot_count == 0 ? NULL : set_slot(s->slots, s->slot_count, d);
    if (zero ? s->has_zero : slot && !digest_is_zero(*slot)) return RAD_SET_KNOWN;
    if (s->limit && s->count >= s->limit) return RAD_SET_FULL;
    if (zero) {
        s->has_zero = true;
    } else {
        /* Three quarters full at most, so that probing stays short. */
        if (s->count * 4 >= s->slot_count * 3) {
            if (!set_grow(s)) return RAD_SET_NOMEM;
            slot = set_slot(s->slots, s->slot_count, d);
        }
        *slot = d;
    }
    s->count++;
    return RAD_SET_NEW;
}

void rad__set128_clear(rad_set128 *s)
{
    if (s->slot_count) memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    s->count = 0;
    s->has_zero = false;
}

void rad__set128_free(rad_set128 *s)
{
    rad__free(s->slots);
    *s = (rad_set128){.limit = s->limit};
}
