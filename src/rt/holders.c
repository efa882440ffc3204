#include "rt/holders.h"

#include "rt/nursery.h"
#include "rt/runtime.h"
#include "rt/sync.h"

static rad_slot *slots_of(rad_runtime *rt)
{
    rad__lock(&rt->room.lock);
    rad_slot *made = rt->made;
    rad__unlock(&rt->room.lock);
    return made;
}

static bool is_alive(const rad_slot *slot)
{
    enum rad_fiber_state state = rad__life_state(rad__life_look(&slot->strand.life));
    return state != RAD_FIBER_IDLE && state != RAD_FIBER_DONE;
}

/* NULL: no fiber of this runtime. */
static rad_slot *fiber_who(rad_runtime *rt, uint64_t who)
{
    rad_slot *slot = who != 0 ? slots_of(rt) : NULL;
    while (slot != NULL && (uintptr_t)&slot->strand != who) /* tidy: address ok: the same or not */
        slot = slot->made_before;
    return slot;
}

/* ---- What it waits for --------------------------------------------------------------------------------- */

static void look_at_fiber(rad_waited *w, const rad_waitable *o)
{
    const rad_slot *slot = (const rad_slot *)((const char *)o - offsetof(rad_slot, done));
    w->number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    w->name = atomic_load_explicit(&slot->name, memory_order_relaxed);
    w->who = (uintptr_t)&slot->strand; /* as rad__who has it. tidy: address ok */
}

static void look_at_nursery(rad_waited *w, rad_waitable *o)
{
    rad_family *f = (rad_family *)o;
    rad__lock(&o->lock);
    w->left = f->count + atomic_load_explicit(&f->told, memory_order_relaxed);
    rad__unlock(&o->lock);
}

void rad__waited_look(rad_waited *w, const rad_slot *slot)
{
    uint64_t what = atomic_load_explicit(&slot->waits_for, memory_order_relaxed);
    uint64_t value = what << 8 >> 8;
    *w = (rad_waited){.kind = (enum rad_kind)(what >> 56)};
    w->more = atomic_load_explicit(&slot->waits_more, memory_order_relaxed);
    w->number = value;
    if (w->kind == RAD_KIND_NOTHING || w->kind == RAD_KIND_FILE) return;
    rad_waitable *o = (rad_waitable *)(uintptr_t)value; /* tidy: address ok: as it was stored */
    w->number = o->number;
    w->name = rad__waitable_name(o);
    switch (w->kind) {
    case RAD_KIND_FIBER: look_at_fiber(w, o); break;
    case RAD_KIND_NURSERY: look_at_nursery(w, o); break;
    case RAD_KIND_MUTEX: w->who = rad__mutex_holder(o); break;
    case RAD_KIND_RWLOCK: w->who = rad__rwlock_holders(o, &w->left, &w->lock); break;
    case RAD_KIND_ONCE: w->who = rad__once_runner(o); break;
    default: break;
    }
}

/* ---- Words --------------------------------------------------------------------------------------------- */

void rad__fiber_print(const rad_slot *slot, FILE *to)
{
    const char *name = atomic_load_explicit(&slot->name, memory_order_relaxed);
    uint64_t number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    fprintf(to, "fiber %llu", (unsigned long long)number);
    if (name != NULL) fprintf(to, " '%s'", name);
}

static void print_who(rad_runtime *rt, uint64_t who, FILE *to)
{
    const rad_slot *slot = fiber_who(rt, who);
    if (slot == NULL)
        fprintf(to, "a thread");
    else if (!is_alive(slot))
        fprintf(to, "a fiber that has ended");
    else
        rad__fiber_print(slot, to);
}

static const char *kept_how(const rad_waited *w)
{
    if (w->kind == RAD_KIND_MUTEX) return "held by";
    if (w->kind == RAD_KIND_ONCE) return "run by";
    return w->left > 0 ? "read by" : "written by";
}

/* Those that are known, and how many more. */
static void print_readers(const rad_waited *w, rad_runtime *rt, FILE *to)
{
    enum { MOST = 8 };
    uint64_t known = 0;
    fprintf(to, ", %s ", kept_how(w));
    for (rad_slot *slot = slots_of(rt); slot != NULL && known < MOST && known < w->left;
         slot = slot->made_before) {
        if (!rad__slot_reads(slot, w->lock) || !is_alive(slot)) continue;
        if (known++ > 0) fprintf(to, ", ");
        rad__fiber_print(slot, to);
    }
    if (known < w->left)
        fprintf(to, "%s%llu%s", known > 0 ? " and " : "", (unsigned long long)(w->left - known),
                known > 0     ? " more"
                : w->left > 1 ? " readers"
                              : " reader");
}

static const char *const KINDS[] = {
#define KIND_TEXT(name, text) text,
    RAD_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
};

static void print_object(const rad_waited *w, FILE *to)
{
    fprintf(to, "%s %llu", KINDS[w->kind], (unsigned long long)w->number);
    if (w->name != NULL) fprintf(to, " '%s'", w->name);
}

void rad__waited_print(const rad_waited *w, rad_runtime *rt, FILE *to)
{
    if (w->kind == RAD_KIND_NOTHING) {
        fprintf(to, "sleeps");
    } else {
        fprintf(to, "waits for ");
        print_object(w, to);
    }
    if (w->more > 0) fprintf(to, " or %u other%s", w->more, w->more > 1 ? "s" : "");
    if (w->kind == RAD_KIND_NURSERY)
        fprintf(to, " with %llu fiber%s", (unsigned long long)w->left, w->left == 1 ? "" : "s");
    else if (w->kind == RAD_KIND_RWLOCK && w->left > 0)
        print_readers(w, rt, to);
    else if (w->who != 0 && w->kind != RAD_KIND_FIBER) {
        fprintf(to, ", %s ", kept_how(w));
        print_who(rt, w->who, to);
    }
}

/* ---- Cycles ------------------------------------------------------------------------------------------- */

enum { CYCLE_MOST = 256 };

/* A fiber that waits, and the one that keeps it. */
typedef struct edge {
    rad_slot *slot;
    rad_waited waited;
    uint32_t next; /* the edge of the one that keeps it; RAD_NONE */
    uint32_t seen; /* by the walk with this number */
} edge;

static rad_slot *keeper_of(const rad_waited *w, rad_runtime *rt)
{
    if (w->more > 0) return NULL; /* something else may come */
    if (w->kind != RAD_KIND_RWLOCK || w->left == 0) return fiber_who(rt, w->who);
    rad_slot *slot = slots_of(rt);
    while (slot != NULL && !(rad__slot_reads(slot, w->lock) && is_alive(slot)))
        slot = slot->made_before;
    return slot;
}

static uint32_t collect(rad_runtime *rt, edge *edges)
{
    uint32_t count = 0;
    for (rad_slot *slot = slots_of(rt); slot != NULL && count < CYCLE_MOST;
         slot = slot->made_before) {
        uint64_t word = rad__life_look(&slot->strand.life);
        if (rad__life_state(word) != RAD_FIBER_PARKED || !rad__strand_hold(&slot->strand, word))
            continue;
        edge *e = &edges[count];
        *e = (edge){.slot = slot, .next = RAD_NONE};
        rad__waited_look(&e->waited, slot);
        rad__strand_let_go(&slot->strand);
        count += e->waited.who != 0 || e->waited.lock != NULL;
    }
    return count;
}

static void connect(rad_runtime *rt, edge *edges, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const rad_slot *keeper = keeper_of(&edges[i].waited, rt);
        for (uint32_t k = 0; k < count && keeper != NULL && edges[i].next == RAD_NONE; k++)
            if (edges[k].slot == keeper) edges[i].next = k;
    }
}

static void print_cycle(const edge *edges, uint32_t first, FILE *to)
{
    uint32_t at = first;
    fprintf(to, "  cycle: ");
    rad__fiber_print(edges[at].slot, to);
    do {
        const rad_waited *w = &edges[at].waited;
        fprintf(to, " waits for ");
        print_object(w, to);
        at = edges[at].next;
        if (w->kind != RAD_KIND_FIBER) {
            fprintf(to, " %s ", kept_how(w));
            rad__fiber_print(edges[at].slot, to);
        }
        if (at != first) fprintf(to, ", which");
    } while (at != first);
    fprintf(to, "\n");
}

void rad__cycles_print(rad_runtime *rt, FILE *to)
{
    static edge edges[CYCLE_MOST]; /* one report in a process */
    uint32_t count = collect(rt, edges);
    connect(rt, edges, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        while (at != RAD_NONE && edges[at].seen == 0) {
            edges[at].seen = i + 1;
            at = edges[at].next;
        }
        if (at != RAD_NONE && edges[at].seen == i + 1) print_cycle(edges, at, to);
    }
}
