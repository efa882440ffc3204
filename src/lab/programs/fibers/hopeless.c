/* hopeless.c — fibers that nothing can wake any more, while others still run: a deadlock of some (partial deadlock), or
 * a fiber that was left behind (leak). They are reported at the moment it happens.
 *
 * Hopeful   are those that can run, those that a timer or the system wakes, and those that a hopeful one can wake:
 *           by what it holds (a mutex: its holder; a join, a nursery: the fibers themselves), by what it can reach (the
 *           other end of a channel, a condition …: reach.h), by cancelling. The others are hopeless, and stay so.
 * Certain   is only what is found in both ways: first without looking at memory, which is cheap and finds more than
 *           there is; and then with it. In doubt nothing is said. */
#include "lab/programs/fibers/reach.h"

#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"
#include "rt/nursery.h"
#include "rt/sync.h"
#include "rt/timer.h"

#include <string.h>

enum { STUCK_MAX = 256, LOOK_AT_ENDS = 512, SCANS_AT_ONCE = 3 };

static bool waits(const rad_runner *r)
{
    return r->kind == RAD_RUNNER_FIBER && !r->ended && !r->enabled;
}

/* ---- What a fiber waits for -------------------------------------------------------------------------------- */

typedef struct waited {
    enum rad_kind kind;
    const rad_waitable *one;   /* NULL: none */
    const rad_clause *several; /* NULL: one */
    uint32_t count;
} waited;

static waited waited_of(const rad_runner *r)
{
    uint64_t what = atomic_load_explicit(&r->slot->waits_for, memory_order_relaxed);
    uint64_t at = what << 8 >> 8;
    const void *object = (const void *)(uintptr_t)at; /* tidy: address ok: as it was stored */
    waited w = {.kind = (enum rad_kind)(what >> 56), .count = 1};
    if (w.kind == RAD_KIND_SEVERAL) {
        w.several = object;
        w.count += atomic_load_explicit(&r->slot->waits_more, memory_order_relaxed);
    } else {
        w.one = object;
    }
    return w;
}

/* Locks without a time limit are waited for by a fiber that is to end, too. */
static bool can_be_cancelled(const rad_runner *r, const waited *w)
{
    if (r->slot->shields > 0) return false;
    if (w->kind == RAD_KIND_MUTEX) return r->site == RAD_AT_mutex_lock_until;
    if (w->kind == RAD_KIND_RWLOCK) return r->site == RAD_AT_rwlock_read_until || r->site == RAD_AT_rwlock_write_until;
    return w->kind != RAD_KIND_NURSERY;
}

/* ---- Timers -------------------------------------------------------------------------------------------------- */

static void timed_is_hopeful(void)
{
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        const rad_wheel *w = &((const rad_rt_worker *)x->shell.scratch)->wheel;
        for (uint32_t level = 0; level < RAD_WHEEL_LEVELS; level++) {
            for (uint32_t slot = 0; w->slots[level] && slot < RAD_WHEEL_SLOTS; slot++) {
                const rad_timer_link *head = &w->lists[level][slot];
                if (!(w->slots[level] >> slot & 1)) continue;
                for (const rad_timer_link *l = head->next; l != head; l = l->next) {
                    const rad_strand *who = ((const rad_wheel_timer *)(const void *)l)->who;
                    uint32_t runner = rad__runner_of_strand(rad__strand_who(who));
                    if (runner != RAD_NONE) rad__stage.runners[runner].hopeful = true;
                }
            }
        }
    }
}

/* ---- Who can wake whom ------------------------------------------------------------------------------------------ */

/* `memory`: what can be reached is known; otherwise nothing on the heap or a stack is. */
typedef struct look {
    bool memory;
    bool needs_memory; /* something would have been there to be looked at */
} look;

static bool holder_wakes(uint64_t who)
{
    uint32_t holder = who != 0 ? rad__runner_of_strand(who) : RAD_NONE;
    if (holder == RAD_NONE) return true; /* nobody: it is about to be had; or a thread */
    return rad__stage.runners[holder].hopeful;
}

static bool all_children_end(const rad__nursery *f)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (r->slot && !r->ended && r->slot->nursery == f && !r->hopeful) return false;
    }
    return true;
}

static bool is_reached(look *l, const void *address)
{
    if (l->memory) return rad__reach_has(address);
    if (rad__reach_is_variable(address)) return true;
    l->needs_memory = true;
    return false;
}

static bool can_be_woken_at(look *l, const rad_waitable *o, enum rad_kind kind)
{
    uint64_t readers = 0;
    const void *lock = NULL;
    switch (kind) {
    case RAD_KIND_MUTEX: return holder_wakes(rad__mutex_holder(o));
    case RAD_KIND_ONCE: return holder_wakes(rad__once_runner(o));
    case RAD_KIND_RWLOCK: {
        uint64_t writer = rad__rwlock_holders(o, &readers, &lock);
        return readers > 0 || writer == 0 ? is_reached(l, o) : holder_wakes(writer);
    }
    case RAD_KIND_FIBER: {
        const rad_slot *slot = (const rad_slot *)(const void *)((const char *)o - offsetof(rad_slot, done));
        return holder_wakes(rad__strand_who(&slot->strand));
    }
    case RAD_KIND_NURSERY: return all_children_end((const rad__nursery *)(const void *)o);
    case RAD_KIND_CHANNEL:
    case RAD_KIND_CONDITION:
    case RAD_KIND_SEMAPHORE:
    case RAD_KIND_WAIT_GROUP:
    case RAD_KIND_BARRIER:
    case RAD_KIND_STOCK: return is_reached(l, o);
    default: return true; /* the system, or a timer */
    }
}

/* A runtime that the program has made can be shut down by the program; that of rad_main it does not know. */
static bool is_of_rad_main(void)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (r->kind == RAD_RUNNER_FIBER && r->spawner == 0) return strcmp(r->role, "first") == 0;
    }
    return false;
}

/* A fiber can cancel the nursery that it is in, and with it all nurseries below; who has a nursery or a handle can do
 * so at any time. */
static bool can_be_cancelled_by_others(look *l, const rad_runner *r)
{
    for (const rad__nursery *f = r->slot->nursery; f != NULL; f = f->parent) {
        for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
            const rad_runner *q = &rad__stage.runners[i];
            if (q == r || !q->hopeful || q->slot == NULL || q->ended) continue;
            if (q->slot->nursery == f || q->slot == f->owner) return true;
        }
        if (is_reached(l, f)) return true;
    }
    if (!l->memory) {
        l->needs_memory = true;
        return false;
    }
    return rad__reach_has_handle(r) || !is_of_rad_main();
}

static bool can_be_woken(look *l, const rad_runner *r)
{
    waited w = waited_of(r);
    if (w.one != NULL && can_be_woken_at(l, w.one, w.kind)) return true;
    if (w.one == NULL && w.several == NULL) return true; /* it sleeps */
    const rad_clause *c = w.several;
    for (uint32_t i = 0; c != NULL && i < w.count; i++, c = c->further)
        if (can_be_woken_at(l, c->object, (enum rad_kind)c->object->kind)) return true;
    return can_be_cancelled(r, &w) && can_be_cancelled_by_others(l, r);
}

/* ---- Looking ------------------------------------------------------------------------------------------ */

/* Also in a call of the C library: it sleeps. What a thread waits for there is not looked into: in doubt it runs. */
static bool runs(const rad_runner *r)
{
    bool sleeps = r->word != NULL && (r->kind == RAD_RUNNER_FIBER || r->deadline_ns != UINT64_MAX);
    return !r->ended && r->kind != RAD_RUNNER_CLOCK && (r->enabled || sleeps || rad__thread_is_waiting(r));
}

/* How many fibers are hopeless. */
static uint32_t look_at_all(look *l)
{
    uint32_t hopeless = 0;
    bool more = true;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) rad__stage.runners[i].hopeful = runs(&rad__stage.runners[i]);
    timed_is_hopeful();
    for (uint32_t i = 0; l->memory && i < rad__stage.runner_count; i++)
        if (rad__stage.runners[i].hopeful) rad__reach_runner(&rad__stage.runners[i]);
    while (more) {
        more = false;
        hopeless = 0;
        for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
            rad_runner *r = &rad__stage.runners[i];
            if (!waits(r) || r->hopeful) continue;
            if (!can_be_woken(l, r)) {
                hopeless++;
                continue;
            }
            r->hopeful = more = true;
            if (l->memory) rad__reach_runner(r);
        }
    }
    return hopeless;
}

/* Whether one of them has what another one of them waits for. */
static bool is_deadlock(const rad_runner *r)
{
    uint32_t object, holder;
    rad__fiber_waits(r, &object, &holder);
    return holder != RAD_NONE && !rad__stage.runners[holder].hopeful;
}

static void report(void)
{
    uint32_t stuck[STUCK_MAX], count = 0;
    bool deadlock = false;
    for (uint32_t i = 0; i < rad__stage.runner_count && count < STUCK_MAX; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (!waits(r) || r->hopeful) continue;
        stuck[count++] = i;
        deadlock |= is_deadlock(r);
    }
    rad__frames_tell_all(false);
    rad__stage.over = true;
    rad__tell_stuck(deadlock ? RAD_ORACLE_PARTIAL : RAD_ORACLE_LEAK, stuck, count,
                    count > 1 ? "Nothing can wake them any more" : "Nothing can wake it any more");
}

/* Of many fibers only those that wait for a lock are looked at: a look takes time for each of them. */
static bool has_stuck_holder(const rad_runner *r)
{
    uint32_t object, holder;
    rad__fiber_waits(r, &object, &holder);
    return holder != RAD_NONE && waits(&rad__stage.runners[holder]);
}

/* Cheap, and often enough: is it likely that this one is hopeless? If one that used the object before is still there,
 * it is not; when that one ends it is asked again. */
static bool is_worth_a_look(const rad_runner *r)
{
    uint32_t object, holder, users[2];
    if (!waits(r)) return false;
    rad__fiber_waits(r, &object, &holder);
    if (holder != RAD_NONE) return waits(&rad__stage.runners[holder]);
    if (object == RAD_NONE) return false;
    rad__object_users(object, users);
    for (uint32_t i = 0; i < 2; i++)
        if (users[i] != RAD_NONE && users[i] != r->number && runs(&rad__stage.runners[users[i]])) return false;
    return true;
}

/* A scan of memory costs as much as hundreds of steps: a run that gives no reason has some at first, then one whenever
 * twice as many steps were made as at the last one. */
static bool may_scan(void)
{
    rad_stage *s = &rad__stage;
    if (s->points < s->next_scan) return false;
    s->next_scan = ++s->scans < SCANS_AT_ONCE ? 0 : 2 * s->points;
    return true;
}

/* When a fiber begins to wait: if it is worth it for that one. When one ends, and 4, 16, 64 … steps later, for somebody
 * may have forgotten something: if it is for any that waits. */
static bool is_time(const rad_runner *r)
{
    rad_stage *s = &rad__stage;
    if (waits(r)) {
        s->quiet = 0;
        return s->runner_count <= LOOK_AT_ENDS ? is_worth_a_look(r) : has_stuck_holder(r);
    }
    s->quiet = r->ended ? 0 : s->quiet + 1;
    if (!r->ended && (s->quiet & (s->quiet - 1)) != 0) return false;
    bool turn = s->quiet >= 4 && __builtin_ctzll(s->quiet) % 2 == 0;
    if ((!r->ended && !turn) || s->runner_count > LOOK_AT_ENDS) return false;
    for (uint32_t i = 0; i < s->runner_count; i++)
        if (is_worth_a_look(&s->runners[i])) return true;
    return false;
}

__attribute__((noinline)) static void look_at_hopeless(void)
{
    rad_stage *s = &rad__stage;
    look quick = {.memory = false}, whole = {.memory = true};
    if (s->over || s->enabled_count == 0) return; /* the kernel sees that itself */
    rad__tell_evaluated(RAD_ORACLE_PARTIAL);
    if (look_at_all(&quick) == 0) return;
    if (quick.needs_memory) {
        if (!may_scan() || !rad__reach_begin()) return;
        rad__tell_evaluated(RAD_ORACLE_LEAK);
        if (look_at_all(&whole) == 0) return;
    }
    report();
}

void rad__hopeless_look(const rad_runner *r)
{
    if (r->kind != RAD_RUNNER_CLOCK && is_time(r)) look_at_hopeless();
}

void rad__hopeless_end(void)
{
    rad_stage *s = &rad__stage;
    bool any = false;
    for (uint32_t i = 0; i < s->runner_count; i++) {
        rad_runner *r = &s->runners[i];
        bool first = r->kind == RAD_RUNNER_FIBER && r->spawner == 0; /* by main */
        if (first && !r->ended) return;
        any |= waits(r);
        r->hopeful = false;
    }
    rad__tell_evaluated(RAD_ORACLE_LEAK);
    if (any) report();
}
