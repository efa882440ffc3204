#include "rt/timer.h"

#ifndef RAD_WHEEL_BUDGET
#define RAD_WHEEL_BUDGET 128 /* timers moved by one call; the lab tries a small one */
#endif

enum { DIGIT = 6, LOOKS = 16 }; /* timers in a slot that are looked through for the earliest */

typedef struct place {
    uint32_t level, slot;
} place;

/* The digit in which they differ first, counted from below. */
static uint32_t level_between(uint64_t a, uint64_t b)
{
    uint64_t differing = (a ^ b) | 1;
    return (63 - (uint32_t)__builtin_clzll(differing)) / DIGIT;
}

static uint32_t digit(uint64_t time, uint32_t level)
{
    return (uint32_t)(time >> (level * DIGIT)) % RAD_WHEEL_SLOTS;
}

static rad_wheel_timer *timer_of(rad_timer_link *link)
{
    return (rad_wheel_timer *)link;
}

static void put(rad_wheel *w, rad_wheel_timer *t, uint32_t level)
{
    uint32_t slot = digit(t->deadline_ns, level);
    rad_timer_link *head = &w->lists[level][slot], *last = head;
    if (w->slots[level] >> slot & 1) {
        last = head->prev;
    } else {
        w->slots[level] |= UINT64_C(1) << slot;
        w->levels |= 1u << level;
    }
    t->link = (rad_timer_link){.next = head, .prev = last};
    last->next = &t->link;
    head->prev = &t->link;
}

static void slot_is_empty(rad_wheel *w, const rad_timer_link *head)
{
    uint32_t index = (uint32_t)(head - &w->lists[0][0]);
    uint32_t level = index / RAD_WHEEL_SLOTS;
    w->slots[level] &= ~(UINT64_C(1) << index % RAD_WHEEL_SLOTS);
    if (w->slots[level] == 0) w->levels &= ~(1u << level);
}

static void take(rad_wheel *w, rad_wheel_timer *t)
{
    rad_timer_link *next = t->link.next, *prev = t->link.prev;
    prev->next = next;
    next->prev = prev;
    if (next == prev) slot_is_empty(w, next); /* only the head is left */
}

/* The earliest slot; there is one. */
static place earliest(const rad_wheel *w)
{
    uint32_t level = (uint32_t)__builtin_ctz(w->levels);
    return (place){level, (uint32_t)__builtin_ctzll(w->slots[level])};
}

/* When the slot begins: the digits of base, its own, and zeros. */
static uint64_t beginning(const rad_wheel *w, place p)
{
    uint64_t above = UINT64_MAX << (p.level * DIGIT) << DIGIT; /* in two steps: level 10 has nothing above */
    return (w->base_ns & above) | (uint64_t)p.slot << (p.level * DIGIT);
}

static void set_next(rad_wheel *w, uint64_t time)
{
    atomic_store_explicit(&w->next_ns, time, memory_order_relaxed);
}

void rad__wheel_open(rad_wheel *w, uint64_t now_ns)
{
    atomic_init(&w->lock.taken, 0);
    w->floor = w->levels = 0;
    w->base_ns = w->present_ns = now_ns;
    for (uint32_t level = 0; level < RAD_WHEEL_LEVELS; level++) w->slots[level] = 0;
    atomic_init(&w->next_ns, UINT64_MAX);
}

bool rad__wheel_arm(rad_wheel *w, rad_wheel_timer *t, uint64_t deadline_ns, void *who, uint32_t ticket)
{
    RAD_DCHECK(atomic_load_explicit(&t->armed, memory_order_relaxed) == 0);
    t->who = who;
    t->wheel = w;
    t->ticket = ticket;
    rad__lock(&w->lock);
    t->deadline_ns = deadline_ns < w->present_ns ? w->present_ns : deadline_ns;
    uint32_t level = level_between(t->deadline_ns, w->base_ns);
    put(w, t, level < w->floor ? w->floor : level);
    atomic_store_explicit(&t->armed, 1, memory_order_relaxed);
    bool first = t->deadline_ns < rad__wheel_next(w);
    if (first) set_next(w, t->deadline_ns);
    rad__unlock(&w->lock);
    return first;
}

bool rad__timer_disarm(rad_wheel_timer *t)
{
    /* S3, pairs with E3. */
    if (atomic_load_explicit(&t->armed, memory_order_acquire) == 0) return false;
    rad_wheel *w = t->wheel;
    rad__lock(&w->lock);
    bool armed = atomic_load_explicit(&t->armed, memory_order_relaxed);
    if (armed) {
        take(w, t);
        atomic_store_explicit(&t->armed, 0, memory_order_relaxed);
        /* A next look that is too early is allowed, but whoever has nothing to wait for may sleep for good. */
        if (w->levels == 0) set_next(w, UINT64_MAX);
    }
    rad__unlock(&w->lock);
    return armed;
}

/* ---- Expiring ----------------------------------------------------------------------------------------------- */

/* Timers lie on stacks, mostly not in the cache, and each has to come before it says where the next one is. So they are
 * fetched from the other end as well, at the same time; NULL: they have met. */
static rad_timer_link *far_ahead(rad_timer_link *far, const rad_timer_link *near)
{
    if (far == near || far->prev == near) return NULL;
    __builtin_prefetch(far->prev);
    return far->prev;
}

/* Moves timers of the slot that is half moved; false when the budget is used up before it is empty. */
static bool cascade(rad_wheel *w, uint32_t *budget)
{
    uint32_t slot = digit(w->base_ns, w->floor);
    rad_timer_link *far = w->lists[w->floor][slot].prev;
    while (w->slots[w->floor] >> slot & 1) {
        rad_wheel_timer *t = timer_of(w->lists[w->floor][slot].next);
        if (*budget == 0) return false;
        --*budget;
        if (far != NULL) far = far_ahead(far, &t->link);
        take(w, t);
        put(w, t, level_between(t->deadline_ns, w->base_ns));
    }
    w->floor = 0;
    return true;
}

/* E2, E3. */
static void expire(rad_wheel *w, rad_wheel_timer *t, rad_expired *out)
{
    take(w, t);
    *out = (rad_expired){t->who, t->ticket};
    /* Pairs with the load in rad__timer_disarm: whoever sees it may free the timer. */
    atomic_store_explicit(&t->armed, 0, memory_order_release);
}

static uint64_t next_look(const rad_wheel *w)
{
    if (w->floor) return w->base_ns; /* which has passed: at once */
    if (w->levels == 0) return UINT64_MAX;
    place p = earliest(w);
    uint64_t start = beginning(w, p), least = UINT64_MAX;
    const rad_timer_link *head = &w->lists[p.level][p.slot], *at = head->next;
    if (p.level == 0) return start;
    for (uint32_t i = 0; i < LOOKS && at != head; i++, at = at->next) {
        uint64_t deadline = ((const rad_wheel_timer *)at)->deadline_ns;
        if (deadline < least) least = deadline;
    }
    return at == head ? least : start;
}

uint32_t rad__wheel_expire(rad_wheel *w, uint64_t now_ns, rad_expired *out, uint32_t max)
{
    uint32_t count = 0, budget = RAD_WHEEL_BUDGET;
    if (rad__wheel_next(w) > now_ns) return 0;
    rad__lock(&w->lock);
    if (now_ns > w->present_ns) w->present_ns = now_ns;
    uint64_t now = w->present_ns; /* whoever is behind cannot turn time back */
    while (w->floor == 0 || cascade(w, &budget)) {
        place p = w->levels ? earliest(w) : (place){0, 0};
        uint64_t start = w->levels ? beginning(w, p) : UINT64_MAX;
        if (w->levels == 0 || start > now) {
            w->base_ns = now; /* in no slot that is in use: such a slot begins later */
            break;
        }
        rad_timer_link *head = &w->lists[p.level][p.slot];
        rad_wheel_timer *t = timer_of(head->next);
        bool ordered = p.level == 0 || (t->link.next == head && t->deadline_ns <= now);
        if (ordered && count == max) break;
        if (ordered) {
            expire(w, t, &out[count++]);
        } else {
            w->base_ns = start;
            w->floor = p.level;
        }
    }
    set_next(w, next_look(w));
    rad__unlock(&w->lock);
    return count;
}
