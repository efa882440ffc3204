#include "core/estimates.h"

#include "base/alloc.h"
#include "base/prng.h"

#include <string.h>

static uint32_t *estimates_slot(const rad_estimates *e, uint64_t actor, uint64_t object)
{
    uint32_t mask = e->index_size - 1;
    uint32_t at = (uint32_t)rad__mix2(actor, object) & mask;
    while (e->index[at] != RAD_NONE) {
        const rad_estimate *item = &e->items[e->index[at]];
        if (item->actor == actor && item->object == object) break;
        at = (at + 1) & mask;
    }
    return &e->index[at];
}

static bool estimates_reindex(rad_estimates *e)
{
    uint32_t size = e->index_size ? e->index_size * 2 : 64;
    uint32_t *index = rad__alloc(size, sizeof *index);
    if (index == NULL) return false;
    memset(index, 0xff, size * sizeof *index);
    rad__free(e->index);
    e->index = index;
    e->index_size = size;
    for (uint32_t i = 0; i < e->count; i++)
        *estimates_slot(e, e->items[i].actor, e->items[i].object) = i;
    return true;
}

void rad__estimates_add(rad_estimates *e, const rad_estimate *one)
{
    if (e->count * 2 >= e->index_size && !estimates_reindex(e)) return;
    uint32_t *slot = estimates_slot(e, one->actor, one->object);
    if (*slot == RAD_NONE) {
        if (e->count == RAD_ESTIMATES_MAX || !RAD_GROW(&e->items, &e->capacity, e->count + 1))
            return;
        e->items[e->count] = *one;
        *slot = e->count++;
        return;
    }
    e->items[*slot].events += one->events;
    e->items[*slot].writes += one->writes;
    e->items[*slot].runs += one->runs;
}

void rad__estimates_fold(rad_estimates *into, const rad_estimates *from)
{
    for (uint32_t i = 0; i < from->count; i++) rad__estimates_add(into, &from->items[i]);
    into->runs += from->runs;
    if (from->decisions_max > into->decisions_max) into->decisions_max = from->decisions_max;
}

const rad_estimate *rad__estimates_find(const rad_estimates *e, uint64_t actor, uint64_t object)
{
    if (e->count == 0) return NULL;
    uint32_t at = *estimates_slot(e, actor, object);
    return at == RAD_NONE ? NULL : &e->items[at];
}

void rad__estimates_clear(rad_estimates *e)
{
    if (e->index_size) memset(e->index, 0xff, e->index_size * sizeof *e->index);
    e->count = 0;
    e->runs = 0;
    e->decisions_max = 0;
}

void rad__estimates_free(rad_estimates *e)
{
    rad__free(e->items);
    rad__free(e->index);
    *e = (rad_estimates){0};
}

void rad__estimates_write(const rad_estimates *e, rad_bytes *to)
{
    rad__bytes_put(to, &e->runs, sizeof e->runs);
    rad__bytes_put(to, &e->decisions_max, sizeof e->decisions_max);
    rad__bytes_put(to, &e->count, sizeof e->count);
    rad__bytes_put(to, e->items, e->count * sizeof *e->items);
}

bool rad__estimates_read(rad_estimates *e, rad_reader *from)
{
    rad__estimates_clear(e);
    const void *runs = rad__read_bytes(from, sizeof e->runs);
    const void *decisions = rad__read_bytes(from, sizeof e->decisions_max);
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
    memcpy(&e->decisions_max, decisions, sizeof e->decisions_max);
    return true;
}
