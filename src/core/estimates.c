#include "core/estimates.h"

#include "base/alloc.h"
#include "base/prng.h"

#include <string.h>

/* A collision of two pairs would cost one estimate, once in 2^64. */
static uint64_t pair_key(uint64_t actor, uint64_t object)
{
    return rad__mix2(actor, object);
}

void rad__estimates_add(rad_estimates *e, const rad_estimate *one)
{
    uint64_t key = pair_key(one->actor, one->object);
    uint32_t at = rad__map64_find(&e->index, key);
    if (at == RAD_NONE) {
        if (e->count == RAD_ESTIMATES_MAX || !RAD_GROW(&e->items, &e->capacity, e->count + 1) ||
            !rad__map64_add(&e->index, key, e->count))
            return;
        e->items[e->count++] = *one;
        return;
    }
    e->items[at].events += one->events;
    e->items[at].writes += one->writes;
    e->items[at].runs += one->runs;
}

void rad__estimates_fold(rad_estimates *into, const rad_estimates *from)
{
    for (uint32_t i = 0; i < from->count; i++) rad__estimates_add(into, &from->items[i]);
    into->runs += from->runs;
    if (from->chances_max > into->chances_max) into->chances_max = from->chances_max;
}

const rad_estimate *rad__estimates_find(const rad_estimates *e, uint64_t actor, uint64_t object)
{
    uint32_t at = rad__map64_find(&e->index, pair_key(actor, object));
    return at == RAD_NONE ? NULL : &e->items[at];
}

void rad__estimates_clear(rad_estimates *e)
{
    rad__map64_clear(&e->index);
    e->count = 0;
    e->runs = 0;
    e->chances_max = 0;
}

void rad__estimates_free(rad_estimates *e)
{
    rad__free(e->items);
    rad__map64_free(&e->index);
    *e = (rad_estimates){0};
}

void rad__estimates_write(const rad_estimates *e, rad_bytes *to)
{
    rad__bytes_put(to, &e->runs, sizeof e->runs);
    rad__bytes_put(to, &e->chances_max, sizeof e->chances_max);
    rad__bytes_put(to, &e->count, sizeof e->count);
    rad__bytes_put(to, e->items, e->count * sizeof *e->items);
}

bool rad__estimates_read(rad_estimates *e, rad_reader *from)
{
    rad__estimates_clear(e);
    const void *runs = rad__read_bytes(from, sizeof e->runs);
    const void *chances = rad__read_bytes(from, sizeof e->chances_max);
    const void *count_at = rad__read_bytes(from, sizeof e->count);
    if (count_at == NULL) return false;
    uint32_t count;
    memcpy(&count, count_at, sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        const void *bytes = rad__read_bytes(from, sizeof(rad_estimate));
        if (bytes == NULL) return false;
        rad_estimate one;
        memcpy(&one, bytes, sizeof one);
        rad__estimates_add(e, &one);
    }
    memcpy(&e->runs, runs, sizeof e->runs);
    memcpy(&e->chances_max, chances, sizeof e->chances_max);
    return true;
}
