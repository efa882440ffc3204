/* calendar.c — see calendar.h. */
#include "load/scheduler/calendar.h"

#include "base/alloc.h"

enum { DAYS = RAD__CALENDAR_DAYS, WORDS = DAYS / 64 };

bool rad__calendar_open(rad__calendar *c)
{
    *c = (rad__calendar){0};
    c->days = rad__alloc(DAYS, sizeof *c->days);
    c->busy = rad__alloc(WORDS, sizeof *c->busy);
    if (c->days == NULL || c->busy == NULL) {
        rad__calendar_close(c);
        return false;
    }
    for (uint32_t i = 0; i < DAYS; i++) c->days[i] = (struct rad__calendar_day){RAD_NONE, RAD_NONE};
    return true;
}

void rad__calendar_close(rad__calendar *c)
{
    rad__free(c->days);
    rad__free(c->busy);
    rad__free(c->next);
    rad__heap_free(&c->far);
    *c = (rad__calendar){0};
}

static void put_near(rad__calendar *c, uint32_t entry, uint64_t tick)
{
    uint32_t number = (uint32_t)(tick % DAYS);
    struct rad__calendar_day *day = &c->days[number];
    c->next[entry] = RAD_NONE;
    if (day->last == RAD_NONE)
        day->first = entry;
    else
        c->next[day->last] = entry;
    day->last = entry;
    c->busy[number / 64] |= UINT64_C(1) << number % 64;
    c->near++;
}

bool rad__calendar_put(rad__calendar *c, uint32_t entry, uint64_t tick)
{
    RAD_ASSERT(tick >= c->today);
    if (!RAD_GROW(&c->next, &c->next_capacity, entry + 1)) return false;
    if (tick - c->today >= DAYS) return rad__heap_push(&c->far, entry, tick, c->sequence++);
    put_near(c, entry, tick);
    return true;
}

/* The first busy day, counted from today, once around. */
static uint64_t first_near(const rad__calendar *c)
{
    uint32_t start = (uint32_t)(c->today % DAYS);
    uint64_t bits = c->busy[start / 64] & ~UINT64_C(0) << start % 64;
    for (uint32_t word = start / 64, left = WORDS + 1; left > 0; left--) {
        if (bits != 0) {
            uint32_t day = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return c->today + (day - start + DAYS) % DAYS;
        }
        word = (word + 1) % WORDS;
        bits = c->busy[word];
    }
    return UINT64_MAX;
}

uint64_t rad__calendar_first(const rad__calendar *c)
{
    if (c->near > 0) return first_near(c); /* whatever is near comes before whatever is far */
    return c->far.count > 0 ? rad__heap_top(&c->far)->key : UINT64_MAX;
}

/* Today has moved: what is near now goes into the ring, in its old order and before anything newer. */
static void bring_near(rad__calendar *c)
{
    while (c->far.count > 0 && rad__heap_top(&c->far)->key - c->today < DAYS) {
        uint32_t entry = rad__heap_top(&c->far)->item;
        uint64_t tick = rad__heap_top(&c->far)->key;
        rad__heap_remove(&c->far, entry);
        put_near(c, entry, tick);
    }
}

uint32_t rad__calendar_take(rad__calendar *c, uint64_t tick)
{
    uint64_t first = rad__calendar_first(c);
    c->today = first < tick ? first : tick; /* what is overdue comes first, tick by tick */
    bring_near(c);
    if (first > tick) return RAD_NONE;
    uint32_t number = (uint32_t)(c->today % DAYS);
    struct rad__calendar_day *day = &c->days[number];
    uint32_t entry = day->first;
    day->first = c->next[entry];
    c->near--;
    if (day->first == RAD_NONE) {
        day->last = RAD_NONE;
        c->busy[number / 64] &= ~(UINT64_C(1) << number % 64);
    }
    return entry;
}
