/* order.h — what happened before what: clocks, and the accesses to memory that a later one could race with. L2 and
 * watched programs (watched/) share it.
 *
 * Clock    a vector with one component per thread. A thread's own component grows whenever it publishes something; an
 *          access happened before a thread when its component is not above what the thread has heard of (FastTrack).
 * Granule  eight aligned bytes. Each has a list of the accesses that a later one could race with, each with its bytes,
 *          so neighbours in a word are told apart.
 * Race     two accesses to a byte, not both atomic, at least one of them a write, neither of which happened before the
 *          other.
 *
 * A new access makes an older one superfluous when the older happened before it and the new one conflicts with at
 * least as much: whatever would race with the older races with the newer one, too. So lists stay at one or two. */
#ifndef RAD_LAB_ORDER_H
#define RAD_LAB_ORDER_H

#include "base/alloc.h"

/* ---- Clocks ------------------------------------------------------------------------------------------------ */

static inline void rad__clock_join(uint32_t *into, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

static inline void rad__clock_copy(uint32_t *into, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) into[i] = from[i];
}

/* Memory orders as compilers pass them. Bits above say what hardware may do with a lock. */
enum {
    RAD_ORDER_RELAXED,
    RAD_ORDER_CONSUME,
    RAD_ORDER_ACQUIRE,
    RAD_ORDER_RELEASE,
    RAD_ORDER_ACQ_REL,
    RAD_ORDER_SEQ_CST
};

static inline bool rad__order_acquires(int order)
{
    order &= 7;
    return order != RAD_ORDER_RELAXED && order != RAD_ORDER_RELEASE;
}

static inline bool rad__order_releases(int order)
{
    return (order & 7) >= RAD_ORDER_RELEASE;
}

/* What a thread knows: its clock, what an acquire fence would add to it, what its last release fence published. */
typedef struct rad_order_view {
    uint32_t *clock, *acquired, *released;
    bool fenced; /* `released` is not empty */
} rad_order_view;

/* A load of what `release` published: acquire: the clock learns of it; relaxed: so will an acquire fence. */
static inline void rad__order_receive(const rad_order_view *v, const uint32_t *release, int order, uint32_t count)
{
    rad__clock_join(rad__order_acquires(order) ? v->clock : v->acquired, release, count);
}

/* A store; returns whether the location publishes anything now. A read-modify-write goes on with the release sequence
 * instead of ending it (C++20 and RC11, without stores of the same thread). */
static inline bool rad__order_publish(const rad_order_view *v, uint32_t *release, bool publishes, int order,
                                      bool goes_on, uint32_t count)
{
    const uint32_t *what = rad__order_releases(order) ? v->clock : v->released;
    bool says = rad__order_releases(order) || v->fenced;
    if (!says) return goes_on && publishes;
    if (goes_on && publishes)
        rad__clock_join(release, what, count);
    else
        rad__clock_copy(release, what, count);
    return true;
}

/* Returns whether `released` is not empty now. `own` is the thread's component. */
static inline bool rad__order_fence(const rad_order_view *v, int order, uint32_t own, uint32_t count)
{
    if (rad__order_acquires(order)) rad__clock_join(v->clock, v->acquired, count);
    if (!rad__order_releases(order)) return v->fenced;
    rad__clock_copy(v->released, v->clock, count);
    v->clock[own]++;
    return true;
}

/* ---- Accesses ----------------------------------------------------------------------------------------------- */

enum { RAD_ACCESS_WRITES = 1, RAD_ACCESS_ATOMIC = 2 };

static inline const char *rad__access_text(uint32_t kind)
{
    static const char *const texts[] = {"reads", "writes", "reads atomically", "writes atomically"};
    return texts[kind & 3];
}

/* One that a later one may race with. */
typedef struct rad_accessed {
    uint32_t clock; /* of the thread, at the access */
    uint32_t next;  /* in the granule; 0 ends */
    uint32_t site;
    uint16_t thread;
    uint8_t mask; /* which of the eight bytes */
    uint8_t kind;
} rad_accessed;

/* [0] is unused. */
typedef struct rad_accesses {
    rad_accessed *items;
    uint32_t count, capacity;
} rad_accesses;

/* One that is made now. */
typedef struct rad_access_now {
    const uint32_t *clock; /* of its thread */
    const char *address;   /* of its first byte, for reports */
    uint32_t site;
    uint16_t thread;
    uint8_t mask, kind;
} rad_access_now;

/* The two race. */
typedef void rad_race_found(void *context, const rad_accessed *old, const rad_access_now *now);

/* May an access of kind `fresh` take the place of one of kind `old` that happened before it? An atomic read conflicts
 * with plain writes only, as all others do. */
static inline bool rad__access_covers(uint32_t fresh, uint32_t old)
{
    return fresh == RAD_ACCESS_WRITES || fresh == old || old == RAD_ACCESS_ATOMIC;
}

static inline bool rad__access_conflicts(uint32_t a, uint32_t b)
{
    return ((a | b) & RAD_ACCESS_WRITES) && !(a & b & RAD_ACCESS_ATOMIC);
}

/* The newest access to these bytes is the thread's own, since it last published anything, and a plain one that is at
 * least as strong: what could race with the new access could race with that one. */
static inline bool rad__access_is_known(const rad_accesses *all, uint32_t head, const uint32_t *clock, uint32_t thread,
                                        uint8_t mask, uint32_t kind)
{
    const rad_accessed *r = &all->items[head];
    return head != 0 && r->thread == thread && r->clock == clock[thread] && (r->mask & mask) == mask &&
           r->kind < RAD_ACCESS_ATOMIC && r->kind >= kind;
}

/* Walks the list of a granule: reports races, drops what the new access covers. Returns a record that was dropped and
 * can be used again, or 0. */
static inline uint32_t rad__accesses_walk(rad_accesses *all, uint32_t *head, const rad_access_now *now,
                                          rad_race_found *found, void *context)
{
    uint32_t *link = head, dropped = 0;
    while (*link != 0) {
        rad_accessed *r = &all->items[*link];
        if (r->mask & now->mask) {
            bool before = r->clock <= now->clock[r->thread];
            if (RAD_UNLIKELY(!before && rad__access_conflicts(r->kind, now->kind))) found(context, r, now);
            if (before && rad__access_covers(now->kind, r->kind)) {
                r->mask &= (uint8_t)~now->mask;
                if (r->mask == 0) {
                    dropped = *link;
                    *link = r->next;
                    continue;
                }
            }
        }
        link = &r->next;
    }
    return dropped;
}

/* The usual case: nothing in the list is in the way, and the thread's own last access is brought up to date. */
static inline bool rad__accesses_renew(rad_accesses *all, uint32_t head, const rad_access_now *now)
{
    for (uint32_t at = head; at != 0;) {
        rad_accessed *r = &all->items[at];
        if (r->thread == now->thread) {
            if (r->mask != now->mask || r->kind != now->kind) return false;
            r->clock = now->clock[now->thread];
            r->site = now->site;
            /* Atomics before it were looked at. */
            return r->next == 0 || (now->kind & RAD_ACCESS_ATOMIC);
        }
        if (!(r->kind & now->kind & RAD_ACCESS_ATOMIC)) return false;
        at = r->next;
    }
    return false;
}

/* An access to the granule with this list. False: no memory. */
static inline bool rad__accesses_add(rad_accesses *all, uint32_t *head, const rad_access_now *now,
                                     rad_race_found *found, void *context)
{
    if (RAD_LIKELY(rad__accesses_renew(all, *head, now))) return true;
    uint32_t at = rad__accesses_walk(all, head, now, found, context);
    if (at == 0) {
        if (!RAD_GROW(&all->items, &all->capacity, all->count + 1)) return false;
        at = all->count++;
    }
    all->items[at] = (rad_accessed){.clock = now->clock[now->thread],
                                    .next = *head,
                                    .site = now->site,
                                    .thread = now->thread,
                                    .mask = now->mask,
                                    .kind = now->kind};
    *head = at;
    return true;
}

#endif
