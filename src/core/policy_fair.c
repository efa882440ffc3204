/* policy_fair.c — `fair`: round robin over actors; actions of nobody (external events) go first. */
#include "base/alloc.h"
#include "core/kernel.h"

typedef struct fair_policy {
    rad_policy base;
    rad_bitset ready;      /* actors with an enabled action */
    uint32_t *ready_count; /* how many, by actor */
    uint32_t ready_capacity;
    rad_bitset external; /* enabled actions without an actor */
    uint32_t last;       /* actor that ran last */
} fair_policy;

static int fair_create(rad_policy **p, const char *argument, rad_error *error)
{
    return rad__policy_alloc(p, &rad__policy_fair, sizeof(fair_policy), argument, error);
}

static void fair_destroy(rad_policy *p)
{
    fair_policy *f = (fair_policy *)p;
    rad__bitset_free(&f->ready);
    rad__bitset_free(&f->external);
    rad__free(f->ready_count);
    rad__policy_release(p);
}

static void fair_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    (void)k, (void)info;
    fair_policy *f = (fair_policy *)p;
    rad__bitset_clear(&f->ready);
    rad__bitset_clear(&f->external);
    for (uint32_t i = 0; i < f->ready_capacity; i++) f->ready_count[i] = 0;
    f->last = RAD_NONE;
}

static void fair_changed(rad_policy *p, rad_kernel *k, uint32_t action, bool enabled)
{
    fair_policy *f = (fair_policy *)p;
    uint32_t actor = k->actions[action].actor;
    bool external = actor == RAD_NONE;
    rad_bitset *set = external ? &f->external : &f->ready;
    uint32_t member = external ? action : actor;
    if (!rad__bitset_reserve(set, member + 1) ||
        (!external && !RAD_GROW(&f->ready_count, &f->ready_capacity, actor + 1))) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in policy fair");
        return;
    }
    uint32_t count = external ? enabled : (f->ready_count[actor] += enabled ? 1 : UINT32_MAX);
    if (count == 0)
        rad__bitset_remove(set, member);
    else
        rad__bitset_add(set, member);
}

/* Of several actions of one actor the one that has waited longest. */
static uint32_t fair_action_of(const rad_kernel *k, uint32_t actor)
{
    if (k->actors[actor].enabled == 1) return rad__actor_action(k, actor);
    uint32_t action = k->oldest;
    while (k->actions[action].actor != actor) action = k->actions[action].newer;
    return action;
}

static uint32_t fair_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    fair_policy *f = (fair_policy *)p;
    if (d->kind != RAD_PICK_ACTION) return 0;
    if (f->external.count) return rad__index_of(k, d, rad__bitset_next(&f->external, 0));
    uint32_t actor = rad__bitset_next(&f->ready, f->last + 1); /* RAD_NONE + 1 is 0 */
    if (actor == RAD_NONE) actor = rad__bitset_next(&f->ready, 0);
    return rad__index_of(k, d, fair_action_of(k, actor));
}

static void fair_ran(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *footprint)
{
    (void)footprint;
    uint32_t actor = k->actions[action].actor;
    if (actor != RAD_NONE) ((fair_policy *)p)->last = actor;
}

const rad_policy_class rad__policy_fair = {
    .name = "fair",
    .about = "round robin over actors, external events first",
    .create = fair_create,
    .destroy = fair_destroy,
    .choose = fair_choose,
    .begin = fair_begin,
    .changed = fair_changed,
    .ran = fair_ran,
};
