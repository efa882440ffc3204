/* policy_surw.c — `surw`: selectively uniform random walk (Zhao et al. 2025).
 *
 * A plain random walk is far from uniform over interleavings: actors that do more get fewer late
 * steps. If the next actor is drawn with weight = events it still has to do, every interleaving has the
 * same probability. Children count into their spawner until they are spawned. Each run applies the rule
 * only to the events on one object (the *selected* ones; sometimes to all): an actor is drawn whose
 * selected event comes next, the others wait before theirs. Of these and of everything else that goes by
 * random priorities: each event draws one, and the highest runs. So somebody may stand still for long, which
 * a uniform draw at each step nearly never lets happen. The object is drawn by how many pairs of events
 * conflict on it (by the root of that).
 *
 * An actor that polls, with sleeps in between, has no end of events that are not selected, and what it waits for may be
 * behind one that is. So after as many others as two runs have in the mean, somebody that waits goes; the patience
 * halves each time that it ends.
 *
 * Counts come from earlier runs, keyed by signature. The first run of an exploration has none and walks
 * uniformly over what is enabled.
 *
 * I1  waiting = enabled actions whose announced step is selected; free = the other enabled ones, by rank.
 * I2  weight[actor] = selected events the actor and its unspawned descendants are expected to do. */
#include "base/alloc.h"
#include "base/fenwick.h"
#include "base/heap.h"
#include "base/prng.h"
#include "core/kernel.h"

enum {
    SURW_ALL_OF = 8, /* one run in eight selects all events */
    SURW_DRAWS = 16, /* weighted draws before giving up on finding an enabled actor */
    SURW_PATIENCE_LEAST = 16
};

/* Events of one actor on one object in this run. */
typedef struct surw_count {
    uint32_t actor, object; /* object RAD_NONE: any */
    uint64_t events, writes;
} surw_count;

/* What all actors together do to one object. */
typedef struct surw_object {
    uint64_t signature;
    uint64_t events, event_squares; /* sum over actors, and sum of the squares */
    uint64_t reads, read_squares;
} surw_object;

typedef struct surw_policy {
    rad_policy base;
    rad_prng prng;
    bool informed;
    bool all;          /* every event is selected */
    uint64_t selected; /* else: signature of the selected object */
    uint32_t object;   /* its number in this run, when it exists */

    rad_bitset waiting;
    rad_heap free;
    uint64_t *rank; /* of actions: of the event that they would do now; the least goes first */
    uint32_t rank_count, rank_capacity;
    rad_fenwick weight;
    rad_bitset seen;   /* actors whose weight is set */
    uint32_t next;     /* the actor drawn to do the next selected event, or RAD_NONE */
    uint64_t others;   /* events since the last selected one */
    uint64_t patience; /* how many there may be */

    /* From the estimates, rebuilt when they change. */
    uint64_t known_runs;
    uint32_t *actor_item; /* items that are actors, parents before children */
    uint64_t *subtree;    /* expected selected events of the actor and its descendants */
    uint32_t actor_items, actor_capacity, subtree_capacity;
    surw_object *objects;
    uint32_t object_count, object_capacity;
    rad_map64 object_index; /* signature -> object */
    rad_fenwick conflicts;  /* by object */

    /* What this run adds. */
    surw_count *counts;
    uint32_t count_count, count_capacity;
    rad_map64 count_index;
} surw_policy;

static int surw_create(rad_policy **p, const char *argument, rad_error *error)
{
    return rad__policy_alloc(p, &rad__policy_surw, sizeof(surw_policy), argument, error);
}

static void surw_destroy(rad_policy *p)
{
    surw_policy *s = (surw_policy *)p;
    rad__bitset_free(&s->waiting);
    rad__heap_free(&s->free);
    rad__free(s->rank);
    rad__bitset_free(&s->seen);
    rad__fenwick_free(&s->weight);
    rad__free(s->actor_item);
    rad__free(s->subtree);
    rad__free(s->objects);
    rad__free(s->counts);
    rad__map64_free(&s->count_index);
    rad__map64_free(&s->object_index);
    rad__fenwick_free(&s->conflicts);
    rad__policy_release(p);
}

static void surw_memory(rad_kernel *k)
{
    rad__kernel_error(k, RAD_ENOMEM, "out of memory in policy surw");
}

/* ---- Counting this run ---------------------------------------------------------------------------- */

static uint64_t count_key(uint32_t actor, uint32_t object)
{
    return (uint64_t)actor << 32 | object;
}

static void surw_count_event(surw_policy *s, rad_kernel *k, uint32_t actor, uint32_t object, bool writes)
{
    uint32_t at = rad__map64_find(&s->count_index, count_key(actor, object));
    if (at == RAD_NONE) {
        at = s->count_count;
        if (!RAD_GROW(&s->counts, &s->count_capacity, at + 1) ||
            !rad__map64_add(&s->count_index, count_key(actor, object), at)) {
            surw_memory(k);
            return;
        }
        s->counts[s->count_count++] = (surw_count){.actor = actor, .object = object};
    }
    s->counts[at].events++;
    s->counts[at].writes += writes;
}

/* ---- Learning from estimates ---------------------------------------------------------------------- */

/* Objects come in the order of their first item. */
static surw_object *surw_object_of(surw_policy *s, uint64_t signature)
{
    uint32_t at = rad__map64_find(&s->object_index, signature);
    if (at != RAD_NONE) return &s->objects[at];
    at = s->object_count;
    if (!RAD_GROW(&s->objects, &s->object_capacity, at + 1) || !rad__map64_add(&s->object_index, signature, at))
        return NULL;
    s->objects[s->object_count++] = (surw_object){.signature = signature};
    return &s->objects[at];
}

static uint64_t integer_root(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit /= 2)
        if ((root + bit) * (root + bit) <= x) root += bit;
    return root;
}

/* The root of the number of pairs of events of different actors of which at least one writes: busy
 * objects come first, quiet ones have their chance. */
static uint64_t surw_conflicts(const surw_object *o)
{
    uint64_t pairs = o->events * o->events - o->event_squares;
    uint64_t harmless = o->reads * o->reads - o->read_squares;
    return integer_root((pairs - harmless) / 2);
}

static bool surw_learn(surw_policy *s, const rad_estimates *e)
{
    s->actor_items = s->object_count = 0;
    rad__fenwick_clear(&s->conflicts);
    rad__map64_clear(&s->object_index);
    for (uint32_t i = 0; i < e->count; i++) {
        const rad_estimate *item = &e->items[i];
        if (item->object == 0) {
            if (!RAD_GROW(&s->actor_item, &s->actor_capacity, s->actor_items + 1)) return false;
            s->actor_item[s->actor_items++] = i;
            continue;
        }
        surw_object *o = surw_object_of(s, item->object);
        if (o == NULL) return false;
        /* Means over the runs, in sixteenths: sums over millions of runs would overflow when squared. */
        uint64_t events = (item->events * 16 + e->runs - 1) / e->runs;
        uint64_t reads = ((item->events - item->writes) * 16 + e->runs - 1) / e->runs;
        o->events += events;
        o->event_squares += events * events;
        o->reads += reads;
        o->read_squares += reads * reads;
    }
    if (!rad__fenwick_reserve(&s->conflicts, s->object_count)) return false;
    for (uint32_t i = 0; i < s->object_count; i++) rad__fenwick_set(&s->conflicts, i, surw_conflicts(&s->objects[i]));
    s->known_runs = e->runs;
    return true;
}

/* Expected number of selected events, rounded up, of one actor alone. */
static uint64_t surw_expected(const surw_policy *s, const rad_estimates *e, const rad_estimate *actor)
{
    const rad_estimate *item = s->all ? actor : rad__estimates_find(e, actor->actor, s->selected);
    return item == NULL ? 0 : (item->events + actor->runs - 1) / actor->runs;
}

static bool surw_weigh(surw_policy *s, const rad_estimates *e)
{
    if (!RAD_GROW(&s->subtree, &s->subtree_capacity, e->count)) return false;
    for (uint32_t i = 0; i < s->actor_items; i++)
        s->subtree[s->actor_item[i]] = surw_expected(s, e, &e->items[s->actor_item[i]]);
    for (uint32_t i = s->actor_items; i-- > 0;) {
        uint32_t item = s->actor_item[i];
        if (e->items[item].parent == 0) continue;
        const rad_estimate *parent = rad__estimates_find(e, e->items[item].parent, 0);
        if (parent != NULL) s->subtree[parent - e->items] += s->subtree[item];
    }
    return true;
}

static void surw_is_patient(surw_policy *s, const rad_estimates *e)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < s->actor_items; i++) events += e->items[s->actor_item[i]].events;
    s->patience = 2 * events / e->runs;
}

static void surw_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    surw_policy *s = (surw_policy *)p;
    const rad_estimates *e = info->estimates;
    s->prng = rad__prng(info->seed, RAD_STREAM_SURW, info->run);
    s->informed = e->runs > 0;
    rad__bitset_clear(&s->waiting);
    rad__heap_clear(&s->free);
    s->rank_count = 0;
    rad__bitset_clear(&s->seen);
    rad__fenwick_clear(&s->weight);
    s->next = RAD_NONE;
    s->others = 0;
    s->object = RAD_NONE;
    rad__map64_clear(&s->count_index);
    s->count_count = 0;
    if (!s->informed) return;
    if (s->known_runs != e->runs && !surw_learn(s, e)) surw_memory(k);
    s->all = s->conflicts.total == 0 || rad__prng_below(&s->prng, SURW_ALL_OF) == 0;
    if (!s->all) {
        uint64_t point = rad__prng_below(&s->prng, s->conflicts.total);
        s->selected = s->objects[rad__fenwick_find(&s->conflicts, point)].signature;
    }
    if (!surw_weigh(s, e)) surw_memory(k);
    surw_is_patient(s, e);
}

/* ---- Deciding ------------------------------------------------------------------------------------- */

static bool surw_is_selected(surw_policy *s, const rad_kernel *k, uint32_t object, uint32_t access)
{
    if (s->all) return true;
    if (object >= k->object_count || access == RAD_LOCAL) return false;
    if (s->object == RAD_NONE && k->objects[object].signature == s->selected) s->object = object;
    return object == s->object;
}

/* Brings I1 in line for one action. */
static void surw_place(surw_policy *s, rad_kernel *k, uint32_t action)
{
    const rad_action_entry *a = &k->actions[action];
    bool enabled = rad__bitset_has(&k->enabled, action);
    bool selected = surw_is_selected(s, k, a->target, a->access);
    if (!rad__bitset_reserve(&s->waiting, action + 1) || !RAD_GROW(&s->rank, &s->rank_capacity, action + 1)) {
        surw_memory(k);
        return;
    }
    while (s->rank_count <= action) s->rank[s->rank_count++] = rad__prng_next(&s->prng);
    if (enabled && selected)
        rad__bitset_add(&s->waiting, action);
    else
        rad__bitset_remove(&s->waiting, action);
    rad__heap_remove(&s->free, action);
    if (enabled && !selected && !rad__heap_push(&s->free, action, s->rank[action], action)) surw_memory(k);
}

/* What it does next is another event. */
static void surw_rank_anew(surw_policy *s, rad_kernel *k, uint32_t action)
{
    if (action >= s->rank_count) return;
    s->rank[action] = rad__prng_next(&s->prng);
    surw_place(s, k, action);
}

/* A new actor takes its share of its spawner's weight. */
static void surw_meet(surw_policy *s, rad_kernel *k, uint32_t actor)
{
    if (actor >= k->actor_count || rad__bitset_has(&s->seen, actor)) return;
    if (!rad__bitset_reserve(&s->seen, actor + 1) || !rad__fenwick_reserve(&s->weight, actor + 1)) {
        surw_memory(k);
        return;
    }
    rad__bitset_add(&s->seen, actor);
    const rad_estimates *e = k->options.info.estimates;
    const rad_estimate *item = rad__estimates_find(e, k->actors[actor].signature, 0);
    uint64_t share = item ? s->subtree[item - e->items] : 1;
    rad__fenwick_set(&s->weight, actor, share);
    uint32_t spawner = k->actors[actor].spawner;
    if (spawner == RAD_NONE) return;
    uint64_t left = rad__fenwick_get(&s->weight, spawner);
    /* The event that was drawn was the spawner's or one of its descendants': now it is known whether the new one's. */
    if (s->next == spawner && left > 0 && rad__prng_below(&s->prng, left) < share) s->next = actor;
    if (spawner < s->weight.capacity) rad__fenwick_set(&s->weight, spawner, left > share ? left - share : 0);
}

static void surw_changed(rad_policy *p, rad_kernel *k, uint32_t action, bool enabled)
{
    surw_policy *s = (surw_policy *)p;
    if (!s->informed) return;
    if (enabled) surw_meet(s, k, k->actions[action].actor);
    surw_place(s, k, action);
}

static void surw_announced(rad_policy *p, rad_kernel *k, uint32_t action)
{
    surw_policy *s = (surw_policy *)p;
    if (s->informed) surw_place(s, k, action);
}

/* An actor by weight; with `enabled_only`, one that waits before a selected event now. */
static uint32_t surw_draw(surw_policy *s, const rad_kernel *k, bool enabled_only)
{
    for (int i = 0; i < SURW_DRAWS && s->weight.total > 0; i++) {
        uint32_t actor = rad__fenwick_find(&s->weight, rad__prng_below(&s->prng, s->weight.total));
        if (k->actors[actor].ended) {
            rad__fenwick_set(&s->weight, actor, 0);
            continue;
        }
        uint32_t action = rad__actor_action(k, actor);
        if (!enabled_only || (action != RAD_NONE && rad__bitset_has(&s->waiting, action))) return actor;
    }
    return RAD_NONE;
}

static uint32_t surw_action(surw_policy *s, rad_kernel *k)
{
    uint32_t drawn = s->next != RAD_NONE ? rad__actor_action(k, s->next) : RAD_NONE;
    bool ready = drawn != RAD_NONE && rad__bitset_has(&s->waiting, drawn);
    const rad_heap_node *free = s->free.count > 0 ? rad__heap_top(&s->free) : NULL;
    if (s->others > s->patience && s->waiting.count > 0) {
        s->patience = s->patience / 2 > SURW_PATIENCE_LEAST ? s->patience / 2 : SURW_PATIENCE_LEAST;
        free = NULL;
    }
    if (free && !(ready && s->rank[drawn] < free->key)) return free->item;
    if (ready) return drawn;
    /* Nobody is free and the drawn one cannot go: draw among those that wait. */
    s->next = surw_draw(s, k, true);
    if (s->next != RAD_NONE) return rad__actor_action(k, s->next);
    return rad__bitset_select(&s->waiting, (uint32_t)rad__prng_below(&s->prng, s->waiting.count));
}

static uint32_t surw_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    surw_policy *s = (surw_policy *)p;
    if (d->kind != RAD_PICK_ACTION || !s->informed) return (uint32_t)rad__prng_below(&s->prng, d->count);
    if (s->next == RAD_NONE) s->next = surw_draw(s, k, s->all);
    return rad__index_of(k, d, surw_action(s, k));
}

static void surw_ran(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    surw_policy *s = (surw_policy *)p;
    uint32_t actor = k->actions[action].actor;
    if (actor == RAD_NONE) {
        surw_rank_anew(s, k, action);
        return;
    }
    bool selected = s->informed && s->all;
    surw_count_event(s, k, actor, RAD_NONE, false);
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->items[i].access == RAD_LOCAL || f->items[i].object >= k->object_count) continue;
        surw_count_event(s, k, actor, f->items[i].object, f->items[i].access == RAD_WRITE);
        if (s->informed && surw_is_selected(s, k, f->items[i].object, f->items[i].access)) selected = true;
    }
    if (!selected) {
        s->others++;
        surw_rank_anew(s, k, action);
        return;
    }
    s->others = 0;
    /* At least 1 remains while the actor lives: an estimate that was too low must not starve it. */
    uint64_t left = rad__fenwick_get(&s->weight, actor);
    if (actor < s->weight.capacity) rad__fenwick_set(&s->weight, actor, left > 1 ? left - 1 : 1);
    s->next = RAD_NONE;
}

/* Actors in order of number, so that a parent's estimate always stands before its children's. What an actor does to its
 * own end is left out: whoever joins it comes after that in every order, so there is nothing to select. */
static void surw_end(rad_policy *p, rad_kernel *k, rad_estimates *into)
{
    surw_policy *s = (surw_policy *)p;
    if (into == NULL) return;
    for (uint32_t a = 0; a < k->actor_count; a++) {
        uint32_t slot = rad__map64_find(&s->count_index, count_key(a, RAD_NONE));
        uint32_t spawner = k->actors[a].spawner;
        rad__estimates_add(into, &(rad_estimate){
                                     .actor = k->actors[a].signature,
                                     .parent = spawner == RAD_NONE ? 0 : k->actors[spawner].signature,
                                     .events = slot == RAD_NONE ? 0 : s->counts[slot].events,
                                     .runs = 1,
                                 });
    }
    for (uint32_t i = 0; i < s->count_count; i++) {
        const surw_count *c = &s->counts[i];
        if (c->object == RAD_NONE) continue;
        if (c->events == 1 && rad__is_end_of(k, c->object, c->actor)) continue;
        rad__estimates_add(into, &(rad_estimate){
                                     .actor = k->actors[c->actor].signature,
                                     .object = k->objects[c->object].signature,
                                     .events = c->events,
                                     .writes = c->writes,
                                     .runs = 1,
                                 });
    }
}

const rad_policy_class rad__policy_surw = {
    .name = "surw",
    .about = "uniform over interleavings of the events on one object; learns from earlier runs",
    .create = surw_create,
    .destroy = surw_destroy,
    .choose = surw_choose,
    .begin = surw_begin,
    .changed = surw_changed,
    .announced = surw_announced,
    .ran = surw_ran,
    .end = surw_end,
};
