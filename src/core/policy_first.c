/* policy_first.c — `first`: the first of the canonical order, the dull value inside a step. The same set
 * gives the same choice in whatever order it was reported. */
#include "core/kernel.h"

static int first_create(rad_policy **p, const char *argument, rad_error *error)
{
    return rad__policy_alloc(p, &rad__policy_first, sizeof(rad_policy), argument, error);
}

static uint32_t first_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    (void)p;
    if (d->kind != RAD_PICK_ACTION) return 0;
    return rad__index_of(k, d, rad__bitset_next(&k->enabled, 0));
}

const rad_policy_class rad__policy_first = {
    .name = "first",
    .about = "the first of the canonical order; always the same run",
    .create = first_create,
    .destroy = rad__policy_release,
    .choose = first_choose,
};
