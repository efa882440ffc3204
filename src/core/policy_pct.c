/* policy_pct.c — `pct:D`: probabilistic concurrency testing (Burckhardt et al. 2010).
 *
 * Every actor gets a random priority; the highest enabled one runs. At D-1 random chances the actor that
 * would run is put below all others. A bug that needs D ordered events among n actors and k
 * chances is hit with probability at least 1/(n k^(D-1)). k comes from earlier runs. A chance is a decision between two
 * or more enabled actors, or a step of the only one while it has a lock that somebody waits for: put back in there, it
 * goes on, and the other one comes first as soon as the lock is free. An actor that yields goes to the very end. Far
 * behind the expected length the run goes on fairly, so that a livelock there is the program's and not the schedule's.
 *
 * Keys, smallest first: [random) above [DEMOTED + …) above [YIELDED + …). */
#include "base/alloc.h"
#include "base/heap.h"
#include "base/prng.h"
#include "core/kernel.h"

#include <stdlib.h>

#define KEY_DEMOTED (UINT64_C(1) << 62)
#define KEY_YIELDED (UINT64_C(1) << 63)

enum {
    PCT_DEPTH_MAX = 32,
    PCT_LENGTH_UNKNOWN = 64, /* expected chances when no run has been seen */
    PCT_TAIL = 20            /* the fair tail begins after 20 expected lengths */
};

typedef struct pct_policy {
    rad_policy base;
    uint32_t depth;
    rad_prng prng;
    rad_heap heap; /* enabled actions by key of their actor */
    uint64_t *keys;
    uint32_t key_count, key_capacity;
    uint64_t point[PCT_DEPTH_MAX]; /* chance at which change i happens; unordered */
    uint64_t chance;
    bool decided; /* the chance that this step was is counted already */
    uint64_t tail_at;
    uint64_t yields;
} pct_policy;

static int pct_create(rad_policy **out, const char *argument, rad_error *error)
{
    uint32_t depth = 3;
    if (argument != NULL) {
        char *end;
        unsigned long value = strtoul(argument, &end, 10);
        if (*argument < '0' || *argument > '9' || *end != 0 || value < 1 || value > PCT_DEPTH_MAX)
            return rad__error(error, RAD_EINPUT, "policy pct: expected a depth from 1 to %d, found '%s'", PCT_DEPTH_MAX,
                              argument);
        depth = (uint32_t)value;
    }
    int code = rad__policy_alloc(out, &rad__policy_pct, sizeof(pct_policy), NULL, error);
    if (code == 0) ((pct_policy *)*out)->depth = depth;
    return code;
}

static void pct_destroy(rad_policy *p)
{
    pct_policy *t = (pct_policy *)p;
    rad__heap_free(&t->heap);
    rad__free(t->keys);
    rad__policy_release(p);
}

static void pct_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    (void)k;
    pct_policy *t = (pct_policy *)p;
    uint64_t length = info->estimates->chances_max;
    if (length == 0) length = PCT_LENGTH_UNKNOWN;
    t->prng = rad__prng(info->seed, RAD_STREAM_PCT, info->run);
    rad__heap_clear(&t->heap);
    t->key_count = 0;
    for (uint32_t i = 0; i + 1 < t->depth; i++) t->point[i] = 1 + rad__prng_below(&t->prng, length);
    t->chance = t->yields = 0;
    t->decided = false;
    t->tail_at = length * PCT_TAIL + 1000;
}

/* Actors of nobody share key slot 0; the others follow. */
static uint32_t pct_slot(const rad_kernel *k, uint32_t action)
{
    return k->actions[action].actor + 1;
}

static void pct_insert(pct_policy *t, rad_kernel *k, uint32_t action)
{
    uint32_t slot = pct_slot(k, action);
    if (!RAD_GROW(&t->keys, &t->key_capacity, slot + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in policy pct");
        return;
    }
    while (t->key_count <= slot) t->keys[t->key_count++] = rad__prng_next(&t->prng) % KEY_DEMOTED;
    if (!rad__heap_push(&t->heap, action, t->keys[slot], action))
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in policy pct");
}

static void pct_changed(rad_policy *p, rad_kernel *k, uint32_t action, bool enabled)
{
    pct_policy *t = (pct_policy *)p;
    if (enabled)
        pct_insert(t, k, action);
    else
        rad__heap_remove(&t->heap, action);
}

/* The best enabled action. Keys only grow, so a node with an old key is found here, at the top. */
static uint32_t pct_top(pct_policy *t, rad_kernel *k)
{
    for (;;) {
        const rad_heap_node *top = rad__heap_top(&t->heap);
        uint32_t action = top->item;
        if (top->key == t->keys[pct_slot(k, action)]) return action;
        rad__heap_remove(&t->heap, action);
        pct_insert(t, k, action);
    }
}

/* Change number i. Those that have yielded are below the demoted ones and stay there. */
static void pct_demote(pct_policy *t, uint32_t slot, uint32_t i)
{
    bool yielded = t->keys[slot] >= KEY_YIELDED;
    uint64_t key = yielded ? KEY_YIELDED + t->yields++ : KEY_DEMOTED + t->depth - i;
    if (key > t->keys[slot]) t->keys[slot] = key;
}

static uint32_t pct_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    pct_policy *t = (pct_policy *)p;
    if (d->kind != RAD_PICK_ACTION) return (uint32_t)rad__prng_below(&t->prng, d->count);
    t->chance++;
    t->decided = true;
    if (t->chance > t->tail_at) return rad__index_of(k, d, k->oldest);
    for (uint32_t i = 0; i + 1 < t->depth; i++)
        if (t->point[i] == t->chance) pct_demote(t, pct_slot(k, pct_top(t, k)), i);
    return rad__index_of(k, d, pct_top(t, k));
}

/* Does anybody wait for what this actor has? Its own end is no such thing: after it the actor has no priority. */
static bool pct_is_awaited(const rad_kernel *k, uint32_t actor)
{
    if (actor == RAD_NONE) return false;
    for (uint32_t i = 0; i < k->actor_count; i++) {
        const rad_actor_entry *a = &k->actors[i];
        if (!a->waiting || a->holder != actor || a->waits_for >= k->object_count) continue;
        if (!rad__is_end_of(k, a->waits_for, actor)) return true;
    }
    return false;
}

static void pct_ran(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    pct_policy *t = (pct_policy *)p;
    uint32_t slot = pct_slot(k, action);
    if (!t->decided && slot < t->key_count && pct_is_awaited(k, k->actions[action].actor)) {
        t->chance++;
        for (uint32_t i = 0; i + 1 < t->depth; i++)
            if (t->point[i] == t->chance) pct_demote(t, slot, i);
    }
    t->decided = false;
    if (f->yielded && slot < t->key_count) t->keys[slot] = KEY_YIELDED + t->yields++;
}

static void pct_end(rad_policy *p, rad_kernel *k, rad_estimates *into)
{
    (void)k;
    const pct_policy *t = (const pct_policy *)p;
    if (into && t->chance > into->chances_max) into->chances_max = t->chance;
}

const rad_policy_class rad__policy_pct = {
    .name = "pct",
    .about = "random priorities with D-1 changes (pct:3); finds bugs of small depth",
    .create = pct_create,
    .destroy = pct_destroy,
    .choose = pct_choose,
    .begin = pct_begin,
    .changed = pct_changed,
    .ran = pct_ran,
    .end = pct_end,
};
