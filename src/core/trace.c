#include "core/trace.h"

#include "base/alloc.h"
#include "base/digest_inline.h"

#include <string.h>

bool rad__trace_open(rad_trace *t)
{
    /* Most runs are short: what they do not need is not touched. */
    *t = (rad_trace){.own = rad__alloc_later(RAD_TRACE_KEEP, sizeof *t->own)};
    t->own_capacity = t->own ? RAD_TRACE_KEEP : 0;
    return t->own != NULL;
}

void rad__trace_free(rad_trace *t)
{
    rad__free(t->own);
    *t = (rad_trace){0};
}

void rad__trace_restart(rad_trace *t, bool whole, rad_event *ring)
{
    bool own = whole || ring == NULL;
    t->events = own ? t->own : ring;
    t->capacity = own ? t->own_capacity : RAD_TRACE_KEEP;
    t->count = t->folded = 0;
    t->limit = t->capacity;
    t->digest = (rad_digest){RAD_TRACE_VERSION, 0};
    t->whole = whole;
    t->failed = false;
}

bool rad__trace_grow(rad_trace *t)
{
    RAD_ASSERT(t->whole && t->events == t->own);
    if (t->capacity > UINT32_MAX / 4 || !RAD_GROW(&t->own, &t->own_capacity, t->capacity * 2)) {
        t->failed = true;
        t->whole = false; /* from here on it is a ring again */
    }
    t->events = t->own;
    t->capacity = t->own_capacity;
    t->limit = t->capacity;
    return !t->failed;
}

rad_digest rad__digest_events(rad_digest d, const rad_event *ring, uint32_t capacity, uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n < to; n++) {
        uint64_t words[4];
        memcpy(words, &ring[n & (capacity - 1)], sizeof words);
        words[0] ^= d.low;
        words[1] ^= d.high;
        XXH128_hash_t h = XXH3_128bits(words, sizeof words);
        d = (rad_digest){h.low64, h.high64};
    }
    return d;
}

void rad__trace_fold(rad_trace *t, uint64_t count)
{
    RAD_ASSERT(count <= t->count);
    if (count <= t->folded) return;
    t->digest = rad__digest_events(t->digest, t->events, t->capacity, t->folded, count);
    t->folded = count;
    if (!t->whole) t->limit = count + t->capacity;
}
