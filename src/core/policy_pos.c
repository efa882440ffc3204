/* policy_pos.c — `pos`: partial order sampling (Yuan, Yang, Gu 2018).
 *
 * Every event that is due gets a random priority, and the enabled one with the highest runs. When an event has run, the
 * events that race with it (another actor's, on the same object, one of the two writes) draw new priorities: so two
 * orders of racing events do not hang on one draw made long before, and what is independent is not shuffled over and
 * over. It needs no estimates, so its first run is as good as its thousandth.
 *
 * An actor that yields stands behind all others until something that it looks at changes.
 *
 * I1  the heap has the enabled actions, each with the priority of the event it would do now; the least key runs. */
#include "base/heap.h"
#include "base/prng.h"
#include "core/kernel.h"

#define KEY_YIELDED (UINT64_C(1) << 63)

typedef struct pos_policy {
    rad_policy base;
    rad_prng prng;
    rad_heap heap;
    uint64_t yields;
} pos_policy;

static int pos_create(rad_policy **p, const char *argument, rad_error *error)
{
    return rad__policy_alloc(p, &rad__policy_pos, sizeof(pos_policy), argument, error);
}

static void pos_destroy(rad_policy *p)
{
    rad__heap_free(&((pos_policy *)p)->heap);
    rad__policy_release(p);
}

static void pos_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    (void)k;
    pos_policy *s = (pos_policy *)p;
    s->prng = rad__prng(info->seed, RAD_STREAM_POS, info->run);
    rad__heap_clear(&s->heap);
    s->yields = 0;
}

static void pos_set(pos_policy *s, rad_kernel *k, uint32_t action, uint64_t key)
{
    rad__heap_remove(&s->heap, action);
    if (!rad__heap_push(&s->heap, action, key, action)) rad__kernel_error(k, RAD_ENOMEM, "out of memory in policy pos");
}

static void pos_draw(pos_policy *s, rad_kernel *k, uint32_t action)
{
    pos_set(s, k, action, rad__prng_next(&s->prng) % KEY_YIELDED);
}

static void pos_changed(rad_policy *p, rad_kernel *k, uint32_t action, bool enabled)
{
    pos_policy *s = (pos_policy *)p;
    if (enabled)
        pos_draw(s, k, action);
    else
        rad__heap_remove(&s->heap, action);
}

static bool pos_race(const rad_action_entry *a, const rad_footprint *f)
{
    if (a->access == RAD_LOCAL) return false;
    for (uint32_t i = 0; i < f->count; i++) {
        const rad_touched *t = &f->items[i];
        if (t->object == a->target && t->access != RAD_LOCAL && (t->access == RAD_WRITE || a->access == RAD_WRITE))
            return true;
    }
    return false;
}

static void pos_ran(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    pos_policy *s = (pos_policy *)p;
    uint32_t actor = k->actions[action].actor;
    for (uint32_t other = rad__bitset_next(&k->enabled, 0); other != RAD_NONE;
         other = rad__bitset_next(&k->enabled, other + 1)) {
        bool own = other == action || (actor != RAD_NONE && k->actions[other].actor == actor);
        if (own && f->yielded)
            pos_set(s, k, other, KEY_YIELDED + s->yields++);
        else if (own || pos_race(&k->actions[other], f))
            pos_draw(s, k, other);
    }
}

static uint32_t pos_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    pos_policy *s = (pos_policy *)p;
    if (d->kind != RAD_PICK_ACTION) return (uint32_t)rad__prng_below(&s->prng, d->count);
    return rad__index_of(k, d, rad__heap_top(&s->heap)->item);
}

const rad_policy_class rad__policy_pos = {
    .name = "pos",
    .about = "random priorities of events, drawn anew for those that race with what ran",
    .create = pos_create,
    .destroy = pos_destroy,
    .choose = pos_choose,
    .begin = pos_begin,
    .changed = pos_changed,
    .ran = pos_ran,
};
