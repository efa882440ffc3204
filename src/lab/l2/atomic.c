/* atomic.c — the calls that the compiler inserts for atomics (-fsanitize=thread), gcc's and clang's. They are made to
 * __tsan_…; linking renames them (tools/l2_link.sh), so that a program under the real sanitizer is not ours.
 *
 * Each stops at a point (l2_point) and, when the thread is chosen, does its work on real memory: nobody else
 * runs, so that needs no atomic instruction. Then the clocks, as C11 has them:
 *
 *     load     acquire: clock joins what the location's newest store published; relaxed: so does `acquired`,
 *              which an acquire fence joins to the clock
 *     store    release: the location publishes the clock; relaxed: what the last release fence published.
 *              Either way it ends the release sequence before it (C++20 and RC11 without same-thread stores)
 *     RMW      both; goes on with the release sequence instead of ending it
 *     fence    moves `acquired` into the clock, the clock into `released`. It is no scheduling point: under
 *              sequential consistency it commutes with everything
 *     barrier  (os/barrier.h) a fence of every thread, by one of them
 *
 * A compare-and-swap that may fail for no reason never does here. */
#include "lab/l2/l2.h"

typedef unsigned char u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 u128;
#endif

static inline rad_order_view view_of(l2_thread *t)
{
    return (rad_order_view){t->clock.at, t->acquired.at, t->released.at, t->fenced};
}

/* An operation under way. A 16-byte one has two locations, each with its half of the work. */
typedef struct op {
    l2 *l;
    char *address;
    l2_cell *cell;
    uint32_t location, second; /* 0: setup or check, where nothing is watched; second: of 16 bytes */
    uint32_t site;
    uint8_t mask;
} op;

/* ---- The place for a weak memory model ------------------------------------------------------------------- */

/* Where the value lies that the running thread's load reads. Stage one is sequential consistency, where there is
 * nothing to choose: memory holds the newest. A weaker model keeps a list of stores per location, asks
 * rad_pick(k, RAD_PICK_READ, site, how many it may read) with 0 for the newest, and answers with the place of
 * that store in the list. (Read-modify-writes read the newest in any model that we know how to check.) */
static inline const volatile void *load_source(const op *o)
{
    return o->address;
}

/* ---- Beginning -------------------------------------------------------------------------------------------- */

static _Noreturn void bad_address(l2 *l, const char *address, unsigned size, uint32_t site)
{
    char where[120], place[L2_PLACE_MAX];
    rad__l2_site_text(site, where, sizeof where);
    rad__l2_fail(l, L2_BAD_ADDRESS, RAD_NONE, rad__l2_place_text(site, place), "%s of %u bytes, at %s",
                 l2_cell_of(l, address) ? "an atomic across an 8-byte boundary"
                                        : "an atomic on memory that is not the model's",
                 size, where);
}

static _Noreturn void unseen_write(op *o, const l2_location *at)
{
    char what[96], where[120], place[L2_PLACE_MAX];
    rad__l2_name_of(o->l, at->granule + __builtin_ctz(at->mask), what, sizeof what);
    rad__l2_site_text(o->site, where, sizeof where);
    rad__l2_fail(o->l, L2_UNSEEN_WRITE, at->object, rad__l2_place_text(o->site, place),
                 "%s was changed by code that is not instrumented; noticed at %s", what, where);
}

static inline uint64_t bytes_of(uint8_t mask)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        if (mask >> i & 1) bits |= UINT64_C(0xff) << (8 * i);
    return bits;
}

static inline uint64_t granule_value(const l2_location *o)
{
    return *(volatile uint64_t *)o->granule;
}

RAD_INLINE void check_unseen(op *o, uint32_t location)
{
    l2_location *at = &o->l->locations[location];
    o->l->k->evaluations[L2_UNSEEN_WRITE]++;
    uint64_t now = granule_value(at);
    if (RAD_UNLIKELY(at->known && at->value != now)) {
        uint64_t bits = at->mask == 0xff ? ~UINT64_C(0) : bytes_of(at->mask);
        if (((at->value ^ now) & bits) == 0) return;
        if (!rad__l2_is_stack(o->l, at->granule)) unseen_write(o, at);
        at->known = at->publishes = false; /* another frame: its history begins anew */
    }
}

/* Both halves of a 16-byte access are wholly theirs. */
static inline uint32_t second_location(op *o)
{
    l2_cell *cell = o->cell + 1;
    if (cell->run != o->l->run) rad__l2_cell_open(o->l, cell, o->address + 8, o->site);
    return rad__l2_location(o->l, cell, o->address + 8, 0xff);
}

RAD_INLINE void op_begin(op *o, const volatile void *address, unsigned size, enum rad_access access, const void *pc)
{
    l2 *l = rad__l2;
    o->l = l;
    o->address = (char *)address;
    o->location = o->second = 0;
    o->site = l2_site_of(pc);
    if (l->phase != L2_PHASE_RUN) {
        rad__l2_memory_check(l, o->address, o->site);
        uint32_t number = l2_number(l, o->site);
        if (number < RAD_SITES_MAX && l->k) l->k->reached[number] = 1; /* though it is no point here */
        return;
    }
    o->cell = l2_cell_of(l, o->address);
    uint32_t at = (uint32_t)((uintptr_t)address & 7); /* tidy: address ok: its place in a granule */
    if (RAD_UNLIKELY(o->cell == NULL || (at & (size - 1)) != 0 || (size == 16 && at != 0)))
        bad_address(l, o->address, size, o->site);
    o->mask = size >= 8 ? 0xff : (uint8_t)(((1u << size) - 1) << at);
    if (o->cell->run != l->run) rad__l2_cell_open(l, o->cell, o->address, o->site);
    o->location = rad__l2_location(l, o->cell, o->address, o->mask);
    l2_point(l, o->site, o->location, access);
    /* Others have run: it may have been freed, and cells with it. */
    if (RAD_UNLIKELY(o->cell->run != l->run)) {
        rad__l2_cell_open(l, o->cell, o->address, o->site);
        o->location = rad__l2_location(l, o->cell, o->address, o->mask);
    }
    check_unseen(o, o->location);
    l->locations[o->location].touched |= (uint8_t)(1u << l->running->index);
    if (size == 16) {
        o->second = second_location(o);
        rad_touch(l->k, rad__l2_object(l, o->second), access);
        check_unseen(o, o->second);
    }
}

/* ---- Ending ------------------------------------------------------------------------------------------------ */

static void touch_overlapping(op *o, uint32_t location, enum rad_access access)
{
    l2 *l = o->l;
    for (uint32_t i = o->cell->location; i != 0; i = l->locations[i].next) {
        if (i == location || !(l->locations[i].mask & o->mask)) continue;
        rad_touch(l->k, rad__l2_object(l, i), access);
        if (access != RAD_WRITE) continue;
        l->locations[i].known = false;
    }
}

/* What is behind a location goes to the thread. With mixed sizes: behind everything it overlaps. */
RAD_INLINE void receive(op *o, uint32_t location, int order)
{
    rad_order_view view = view_of(o->l->running);
    const l2_location *all = o->l->locations, *at = &all[location];
    if (at->publishes) rad__order_receive(&view, at->release.at, order, L2_CLOCKS);
    if (RAD_LIKELY(!at->mixed)) return;
    for (uint32_t i = o->cell->location; i != 0; i = all[i].next)
        if (all[i].publishes && (all[i].mask & o->mask)) rad__order_receive(&view, all[i].release.at, order, L2_CLOCKS);
}

RAD_INLINE void publish(op *o, uint32_t location, int order, bool sequence_goes_on)
{
    rad_order_view view = view_of(o->l->running);
    l2_location *at = &o->l->locations[location];
    at->publishes = rad__order_publish(&view, at->release.at, at->publishes, order, sequence_goes_on, L2_CLOCKS);
    at->value = granule_value(at);
    at->known = true;
}

RAD_INLINE void end_load(op *o, int order, uint64_t value)
{
    l2 *l = o->l;
    if (o->location == 0) return;
    receive(o, o->location, order);
    rad__l2_access(l, o->cell, o->address, o->mask, L2_IS_ATOMIC, o->site);
    if (o->second) {
        receive(o, o->second, order);
        rad__l2_access(l, o->cell + 1, o->address + 8, 0xff, L2_IS_ATOMIC, o->site);
    }
    l2_location *at = &l->locations[o->location];
    if (!at->known) {
        at->value = granule_value(at);
        at->known = true;
    }
    value = rad__l2_canonical(l, value);
    l2_saw(l, o->location, o->site, value);
    rad_value(l->k, value);
}

RAD_INLINE void end_write(op *o, uint32_t location, l2_cell *cell, int order, bool is_rmw)
{
    l2 *l = o->l;
    if (is_rmw) receive(o, location, order);
    rad__l2_access(l, cell, cell == o->cell ? o->address : o->address + 8, cell == o->cell ? o->mask : 0xff,
                   L2_IS_ATOMIC | L2_IS_WRITE, o->site);
    if (RAD_UNLIKELY(l->locations[location].mixed)) touch_overlapping(o, location, RAD_WRITE);
    publish(o, location, order, is_rmw);
}

/* After a store or a read-modify-write; `changed`: the value is another one now. */
RAD_INLINE void end_change(op *o, int order, bool is_rmw, bool changed, uint64_t value)
{
    l2 *l = o->l;
    l2_thread *t = l->running;
    if (o->location == 0) return;
    end_write(o, o->location, o->cell, order, is_rmw);
    if (o->second) end_write(o, o->second, o->cell + 1, order, is_rmw);
    if (rad__order_releases(order)) t->clock.at[t->index]++;
    value = rad__l2_canonical(l, value);
    if (changed)
        l2_wrote(l, o->location, o->site);
    else
        l2_saw(l, o->location, o->site, value);
    rad_value(l->k, value);
}

/* ---- The calls --------------------------------------------------------------------------------------------- */

#define ADD(a, b)  ((a) + (b))
#define SUB(a, b)  ((a) - (b))
#define AND(a, b)  ((a) & (b))
#define OR(a, b)   ((a) | (b))
#define XOR(a, b)  ((a) ^ (b))
#define NAND(a, b) (~((a) & (b)))
#define TAKE(a, b) (b)

#define DEFINE_RMW(bits, type, name, OPERATION)                                                                        \
    RAD_INTERNAL type rad__l2_tsan_atomic##bits##_##name(volatile type *a, type v, int order);                         \
    type rad__l2_tsan_atomic##bits##_##name(volatile type *a, type v, int order)                                       \
    {                                                                                                                  \
        op o;                                                                                                          \
        op_begin(&o, a, sizeof(type), RAD_WRITE, __builtin_return_address(0));                                         \
        type old = *a, fresh = (type)OPERATION(old, v);                                                                \
        *a = fresh;                                                                                                    \
        end_change(&o, order, true, old != fresh, (uint64_t)old);                                                      \
        return old;                                                                                                    \
    }

#define DEFINE_ACCESS(bits, type)                                                                                      \
    RAD_INTERNAL type rad__l2_tsan_atomic##bits##_load(const volatile type *a, int order);                             \
    type rad__l2_tsan_atomic##bits##_load(const volatile type *a, int order)                                           \
    {                                                                                                                  \
        op o;                                                                                                          \
        op_begin(&o, a, sizeof(type), RAD_READ, __builtin_return_address(0));                                          \
        type value = *(const volatile type *)load_source(&o);                                                          \
        end_load(&o, order, (uint64_t)value);                                                                          \
        return value;                                                                                                  \
    }                                                                                                                  \
    RAD_INTERNAL void rad__l2_tsan_atomic##bits##_store(volatile type *a, type v, int order);                          \
    void rad__l2_tsan_atomic##bits##_store(volatile type *a, type v, int order)                                        \
    {                                                                                                                  \
        op o;                                                                                                          \
        op_begin(&o, a, sizeof(type), RAD_WRITE, __builtin_return_address(0));                                         \
        type old = *a;                                                                                                 \
        *a = v;                                                                                                        \
        end_change(&o, order, false, old != v, (uint64_t)v);                                                           \
    }

/* gcc asks for success and keeps what was there in *expected; clang asks for what was there. */
#define DEFINE_CAS(bits, type)                                                                                         \
    static inline bool cas##bits(volatile type *a, type *expected, type fresh, int order, int otherwise,               \
                                 const void *pc)                                                                       \
    {                                                                                                                  \
        op o;                                                                                                          \
        op_begin(&o, a, sizeof(type), RAD_WRITE, pc);                                                                  \
        type old = *a;                                                                                                 \
        if (old != *expected) {                                                                                        \
            end_load(&o, otherwise, (uint64_t)old);                                                                    \
            *expected = old;                                                                                           \
            return false;                                                                                              \
        }                                                                                                              \
        *a = fresh;                                                                                                    \
        end_change(&o, order, true, old != fresh, (uint64_t)old);                                                      \
        return true;                                                                                                   \
    }                                                                                                                  \
    RAD_INTERNAL int rad__l2_tsan_atomic##bits##_compare_exchange_strong(volatile type *a, void *e, type v, int order, \
                                                                         int other);                                   \
    int rad__l2_tsan_atomic##bits##_compare_exchange_strong(volatile type *a, void *e, type v, int order, int other)   \
    {                                                                                                                  \
        return cas##bits(a, e, v, order, other, __builtin_return_address(0));                                          \
    }                                                                                                                  \
    RAD_INTERNAL int rad__l2_tsan_atomic##bits##_compare_exchange_weak(volatile type *a, void *e, type v, int order,   \
                                                                       int other);                                     \
    int rad__l2_tsan_atomic##bits##_compare_exchange_weak(volatile type *a, void *e, type v, int order, int other)     \
    {                                                                                                                  \
        return cas##bits(a, e, v, order, other, __builtin_return_address(0));                                          \
    }                                                                                                                  \
    RAD_INTERNAL type rad__l2_tsan_atomic##bits##_compare_exchange_val(volatile type *a, type e, type v, int order,    \
                                                                       int other);                                     \
    type rad__l2_tsan_atomic##bits##_compare_exchange_val(volatile type *a, type e, type v, int order, int other)      \
    {                                                                                                                  \
        cas##bits(a, &e, v, order, other, __builtin_return_address(0));                                                \
        return e;                                                                                                      \
    }

#define DEFINE_ALL(bits, type)                                                                                         \
    DEFINE_ACCESS(bits, type)                                                                                          \
    DEFINE_CAS(bits, type)                                                                                             \
    DEFINE_RMW(bits, type, exchange, TAKE)                                                                             \
    DEFINE_RMW(bits, type, fetch_add, ADD)                                                                             \
    DEFINE_RMW(bits, type, fetch_sub, SUB)                                                                             \
    DEFINE_RMW(bits, type, fetch_and, AND)                                                                             \
    DEFINE_RMW(bits, type, fetch_or, OR)                                                                               \
    DEFINE_RMW(bits, type, fetch_xor, XOR)                                                                             \
    DEFINE_RMW(bits, type, fetch_nand, NAND)

DEFINE_ALL(8, u8)
DEFINE_ALL(16, u16)
DEFINE_ALL(32, u32)
DEFINE_ALL(64, u64)
#ifdef __SIZEOF_INT128__
DEFINE_ALL(128, u128)
#endif

static void fence(l2_thread *t, int order)
{
    rad_order_view view = view_of(t);
    t->fenced = rad__order_fence(&view, order, t->index, L2_CLOCKS);
}

RAD_INTERNAL void rad__l2_tsan_atomic_thread_fence(int order);
void rad__l2_tsan_atomic_thread_fence(int order)
{
    l2 *l = rad__l2;
    if (l->phase == L2_PHASE_RUN) fence(l->running, order);
}

/* A memory model with store buffers empties all of them here, and it becomes a scheduling point. */
RAD_INTERNAL bool rad__l2_barrier(void);
bool rad__l2_barrier(void)
{
    l2 *l = rad__l2;
    for (uint32_t i = 1; l->phase == L2_PHASE_RUN && i <= l->thread_count; i++)
        fence(&l->threads[i], RAD_ORDER_SEQ_CST);
    return true;
}

RAD_INTERNAL bool rad__l2_barrier_register(void);
bool rad__l2_barrier_register(void)
{
    return true;
}

/* Orders a thread against its own signal handlers: there are none. */
RAD_INTERNAL void rad__l2_tsan_atomic_signal_fence(int order);
void rad__l2_tsan_atomic_signal_fence(int order)
{
    (void)order;
}
