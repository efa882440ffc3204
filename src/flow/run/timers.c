/* timers.c — see timers.h. The map forgets nothing, so it is filled anew when most of what it leads
 * to is gone: a case that waits a million times, once at a time, has a small one. */
#include "flow/run/timers.h"

#include "base/alloc.h"
#include "base/digest.h"

#include <string.h>

enum { STALE_MOST = 1024 };

static uint64_t hash_of(const char *key, uint32_t alternative)
{
    return rad__digest_of(key, strlen(key)).low + alternative;
}

/* The place of that timer, or RAD_NONE. Where the map leads to something else, the next key is looked at. */
static uint32_t find(const rad_flow_timers *t, const char *key, uint32_t alternative)
{
    for (uint64_t at = hash_of(key, alternative);; at++) {
        uint32_t place = rad__map64_find(&t->by_key, at);
        if (place == RAD_NONE) return RAD_NONE;
        const rad_flow_timer *timer = &t->items[place];
        if (timer->key != NULL && timer->alternative == alternative && strcmp(timer->key, key) == 0) return place;
    }
}

static bool note(rad_flow_timers *t, uint32_t place)
{
    for (uint64_t at = hash_of(t->items[place].key, t->items[place].alternative);; at++) {
        uint32_t there = rad__map64_find(&t->by_key, at);
        if (there == place) return true;
        if (there == RAD_NONE) return rad__map64_add(&t->by_key, at, place);
    }
}

static bool fill_anew(rad_flow_timers *t)
{
    rad__map64_clear(&t->by_key);
    for (uint32_t i = 0; i < t->item_count; i++)
        if (t->items[i].key != NULL && !note(t, i)) return false;
    return true;
}

static void empty(rad_flow_timers *t, uint32_t place)
{
    t->items[place].key = NULL;
    t->unused[t->unused_count++] = place;
}

bool rad__flow_timers_set(rad_flow_timers *t, const rad_flow_timer *timer)
{
    bool is_new = t->unused_count == 0;
    uint32_t place = is_new ? t->item_count : t->unused[t->unused_count - 1];
    if (!RAD_GROW(&t->items, &t->item_capacity, place + 1) ||
        !RAD_GROW(&t->unused, &t->unused_capacity, t->item_count + 1))
        return false; /* room to give the place back is there before it is taken */
    char *key = rad__copy_text(timer->key);
    if (key == NULL) return false;
    t->items[place] = *timer;
    t->items[place].key = key;
    if (is_new)
        t->item_count++;
    else
        t->unused_count--;
    bool stale = t->by_key.count > 2 * t->heap.count + STALE_MOST;
    if ((stale ? fill_anew(t) : note(t, place)) && rad__heap_push(&t->heap, place, timer->due_ns, t->number + 1)) {
        t->number++;
        return true;
    }
    rad__free(key);
    empty(t, place);
    return false;
}

void rad__flow_timers_drop(rad_flow_timers *t, const char *key, uint32_t alternative)
{
    uint32_t place = find(t, key, alternative);
    if (place == RAD_NONE) return;
    rad__heap_remove(&t->heap, place);
    rad__free(t->items[place].key);
    empty(t, place);
}

rad_flow_timer rad__flow_timers_take(rad_flow_timers *t)
{
    uint32_t place = rad__heap_top(&t->heap)->item;
    rad_flow_timer timer = t->items[place];
    rad__heap_remove(&t->heap, place);
    empty(t, place);
    return timer;
}

void rad__flow_timers_free(rad_flow_timers *t)
{
    for (uint32_t i = 0; i < t->item_count; i++) rad__free(t->items[i].key);
    rad__free(t->items);
    rad__free(t->unused);
    rad__heap_free(&t->heap);
    rad__map64_free(&t->by_key);
    *t = (rad_flow_timers){0};
}
