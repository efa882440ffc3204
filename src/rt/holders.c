#include "rt/holders.h"

#include "base/readable.h"
#include "rt/nursery.h"
#include "rt/ready.h"
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
    enum rad_fiber_state state = rad__state_of(rad__state_look(&slot->strand.state_word));
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

static void look_at_fiber(rad_waited_object *w, const rad_waitable *o)
{
    const rad_slot *slot = (const rad_slot *)((const char *)o - offsetof(rad_slot, done));
    w->number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    w->name = atomic_load_explicit(&slot->name, memory_order_relaxed);
    w->who = (uintptr_t)&slot->strand; /* as rad__who has it. tidy: address ok */
}

static void look_at_nursery(rad_waited_object *w, rad_waitable *o)
{
    rad__nursery *f = (rad__nursery *)o;
    w->nursery = f;
    rad__lock(&o->lock);
    w->left = f->count + atomic_load_explicit(&f->unlisted, memory_order_relaxed);
    rad__unlock(&o->lock);
}

static void waited_object_look(rad_waited_object *w, rad_waitable *o)
{
    *w = (rad_waited_object){.kind = (enum rad_kind)o->kind, .number = o->number};
    w->name = rad__waitable_name(o);
    switch (w->kind) {
    case RAD_KIND_FIBER: look_at_fiber(w, o); break;
    case RAD_KIND_NURSERY: look_at_nursery(w, o); break;
    case RAD_KIND_MUTEX: w->who = rad__mutex_holder(o); break;
    case RAD_KIND_RWLOCK: w->who = rad__rwlock_holders(o, &w->left, &w->lock); break;
    case RAD_KIND_ONCE: w->who = rad__once_runner(o); break;
    case RAD_KIND_DESCRIPTOR: w->number = (uint64_t)((const rad_file *)o)->fd; break;
    default: break;
    }
}

void rad__waited_look(rad_waited *w, const rad_slot *slot)
{
    uint64_t what = atomic_load_explicit(&slot->waits_for, memory_order_relaxed);
    uint64_t value = what << 8 >> 8;
    uint32_t total = 1 + atomic_load_explicit(&slot->waits_more, memory_order_relaxed);
    void *at = (void *)(uintptr_t)value; /* tidy: address ok: as it was stored */
    w->count = w->more = 0;
    switch ((enum rad_kind)(what >> 56)) {
    case RAD_KIND_NOTHING: return;
    case RAD_KIND_FILE: w->objects[w->count++] = (rad_waited_object){.kind = RAD_KIND_FILE, .number = value}; return;
    case RAD_KIND_SEVERAL:
        for (const rad_clause *c = at; w->count < total && w->count < RAD_WAITED_MOST; c = c->further)
            waited_object_look(&w->objects[w->count++], c->object);
        w->more = total - w->count;
        return;
    default: waited_object_look(&w->objects[w->count++], at);
    }
}

/* ---- Words --------------------------------------------------------------------------------------------- */

void rad__fiber_print(const rad_slot *slot, FILE *to)
{
    const char *name = atomic_load_explicit(&slot->name, memory_order_relaxed);
    uint64_t number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    rad__readable_print(to, "fiber %llu", (unsigned long long)number);
    if (name != NULL) rad__readable_print(to, " '%s'", name);
}

static void print_who(rad_runtime *rt, uint64_t who, FILE *to)
{
    const rad_slot *slot = fiber_who(rt, who);
    if (slot == NULL)
        rad__readable_print(to, "a thread");
    else if (!is_alive(slot))
        rad__readable_print(to, "a fiber that has ended");
    else
        rad__fiber_print(slot, to);
}

static const char *kept_how(const rad_waited_object *w)
{
    if (w->kind == RAD_KIND_NURSERY) return "with";
    if (w->kind == RAD_KIND_MUTEX) return "held by";
    if (w->kind == RAD_KIND_ONCE) return "run by";
    return w->left > 0 ? "read by" : "written by";
}

/* Those that are known, and how many more. */
static void print_readers(const rad_waited_object *w, rad_runtime *rt, FILE *to)
{
    enum { MOST = 8 };
    uint64_t known = 0;
    rad__readable_print(to, "%s ", kept_how(w));
    for (rad_slot *slot = slots_of(rt); slot != NULL && known < MOST && known < w->left; slot = slot->made_before) {
        if (!rad__slot_reads(slot, w->lock) || !is_alive(slot)) continue;
        if (known++ > 0) rad__readable_print(to, ", ");
        rad__fiber_print(slot, to);
    }
    if (known < w->left)
        rad__readable_print(to, "%s%llu%s", known > 0 ? " and " : "", (unsigned long long)(w->left - known),
                            known > 0     ? " more"
                            : w->left > 1 ? " readers"
                                          : " reader");
}

static const char *const KINDS[] = {
#define KIND_TEXT(name, text) text,
    RAD_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
};

static void print_object(const rad_waited_object *w, FILE *to)
{
    rad__readable_print(to, "%s %llu", KINDS[w->kind], (unsigned long long)w->number);
    if (w->name != NULL) rad__readable_print(to, " '%s'", w->name);
}

/* `comma` before who keeps it. */
static void print_keepers(const rad_waited_object *w, const char *comma, rad_runtime *rt, FILE *to)
{
    if (w->kind == RAD_KIND_NURSERY) {
        rad__readable_print(to, " with %llu fiber%s", (unsigned long long)w->left, w->left == 1 ? "" : "s");
    } else if (w->kind == RAD_KIND_RWLOCK && w->left > 0) {
        rad__readable_print(to, "%s ", comma);
        print_readers(w, rt, to);
    } else if (w->who != 0 && w->kind != RAD_KIND_FIBER) {
        rad__readable_print(to, "%s %s ", comma, kept_how(w));
        print_who(rt, w->who, to);
    }
}

void rad__waited_print(const rad_waited *w, rad_runtime *rt, FILE *to)
{
    const char *comma = w->count > 1 ? "" : ",";
    if (w->count == 0) rad__readable_print(to, "sleeps");
    for (uint32_t i = 0; i < w->count; i++) {
        bool last = i + 1 == w->count && w->more == 0;
        rad__readable_print(to, i == 0 ? "waits for " : last ? " or " : ", ");
        print_object(&w->objects[i], to);
        print_keepers(&w->objects[i], comma, rt, to);
    }
    if (w->more > 0) rad__readable_print(to, " or %u other%s", w->more, w->more > 1 ? "s" : "");
}

/* ---- Cycles ------------------------------------------------------------------------------------------- */

enum { CYCLE_MOST = 256 };

enum { NEW = 0, ON_PATH, PASSED };

/* A fiber that waits for one object. */
typedef struct edge {
    rad_slot *slot;
    const rad_slot *keeper;      /* who keeps it, or NULL: none, or all fibers of a nursery */
    const rad__nursery *nursery; /* the nursery that the fiber is in */
    rad_waited_object waited;
    uint32_t next;   /* the edge that the walk follows, of one who keeps it */
    uint32_t before; /* on the path; or RAD_NONE */
    uint8_t seen;    /* by the walk */
} edge;

static rad_slot *keeper_of(const rad_waited_object *w, rad_runtime *rt)
{
    if (w->kind != RAD_KIND_RWLOCK || w->left == 0) return fiber_who(rt, w->who);
    rad_slot *slot = slots_of(rt);
    while (slot != NULL && !(rad__slot_reads(slot, w->lock) && is_alive(slot))) slot = slot->made_before;
    return slot;
}

/* Fibers that wait for one of several are left out: something else may come. */
static uint32_t collect(rad_runtime *rt, edge *edges)
{
    uint32_t count = 0;
    for (rad_slot *slot = slots_of(rt); slot != NULL && count < CYCLE_MOST; slot = slot->made_before) {
        rad_waited waited;
        uint64_t word = rad__state_look(&slot->strand.state_word);
        if (rad__state_of(word) != RAD_FIBER_PARKED || !rad__strand_hold(&slot->strand, word)) continue;
        rad__waited_look(&waited, slot);
        const rad__nursery *nursery = slot->nursery;
        rad__strand_let_go(&slot->strand);
        const rad_waited_object *w = waited.objects;
        if (waited.count != 1 || (w->who == 0 && w->lock == NULL && w->nursery == NULL)) continue;
        edges[count++] = (edge){.slot = slot, .nursery = nursery, .waited = *w};
    }
    return count;
}

/* Whether e waits for the fiber of k: of a nursery it needs the end of every fiber, so each one will do. */
static bool keeps(const edge *e, const edge *k)
{
    if (e->waited.nursery != NULL) return k->nursery == e->waited.nursery;
    return k->slot == e->keeper;
}

/* Depth first. The first edge that is on its own path, or RAD_NONE. */
static uint32_t find_cycle(edge *edges, uint32_t count, uint32_t first)
{
    uint32_t at = first;
    edges[at].before = RAD_NONE;
    while (at != RAD_NONE) {
        edge *e = &edges[at];
        e->seen = ON_PATH;
        while (e->next < count && (edges[e->next].seen == PASSED || !keeps(e, &edges[e->next]))) e->next++;
        if (e->next < count && edges[e->next].seen == ON_PATH) return e->next;
        if (e->next < count) {
            edges[e->next].before = at;
            at = e->next;
        } else {
            e->seen = PASSED;
            at = e->before;
        }
    }
    return RAD_NONE;
}

static void print_cycle(const edge *edges, uint32_t first, FILE *to)
{
    uint32_t at = first;
    rad__readable_print(to, "  cycle: ");
    rad__fiber_print(edges[at].slot, to);
    do {
        const rad_waited_object *w = &edges[at].waited;
        rad__readable_print(to, " waits for ");
        print_object(w, to);
        at = edges[at].next;
        if (w->kind != RAD_KIND_FIBER) {
            rad__readable_print(to, " %s ", kept_how(w));
            rad__fiber_print(edges[at].slot, to);
        }
        if (at != first) rad__readable_print(to, ", which");
    } while (at != first);
    rad__readable_print(to, "\n");
}

/* One of those that go through the same fibers: a hundred children may wait for their owner. */
void rad__cycles_print(rad_runtime *rt, FILE *to)
{
    static edge edges[CYCLE_MOST]; /* one report in a process */
    uint32_t count = collect(rt, edges);
    for (uint32_t i = 0; i < count; i++) edges[i].keeper = keeper_of(&edges[i].waited, rt);
    for (uint32_t i = 0; i < count; i++) {
        if (edges[i].seen == PASSED) continue;
        uint32_t first = find_cycle(edges, count, i);
        if (first != RAD_NONE) print_cycle(edges, first, to);
        for (uint32_t k = 0; k < count; k++)
            if (edges[k].seen == ON_PATH) edges[k].seen = PASSED;
    }
}
