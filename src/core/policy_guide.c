/* policy_guide.c — `guide`: follows a choice list. Total: a value out of range is clamped to the last
 * member, after the end comes the baseline. What artifacts, shrinking and exhaustive search use. */
#include "core/kernel.h"

typedef struct guide_policy {
    rad_policy base;
    const uint32_t *list;   /* borrowed: this, */
    const rad_choice *path; /* or this */
    uint64_t count;
    uint64_t at;
} guide_policy;

static void guide_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    (void)k, (void)info;
    ((guide_policy *)p)->at = 0;
}

static uint32_t guide_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    (void)k;
    guide_policy *g = (guide_policy *)p;
    if (g->at >= g->count) return 0;
    uint32_t chosen = g->path != NULL ? g->path[g->at].chosen : g->list[g->at];
    g->at++;
    return chosen < d->count ? chosen : d->count - 1;
}

static int guide_create(rad_policy **p, const char *argument, rad_error *error)
{
    (void)argument;
    *p = NULL;
    return rad__error(error, RAD_EINPUT, "the policy guide needs a list: raddle replay FILE");
}

const rad_policy_class rad__guide_class = {
    .name = "guide",
    .about = "a choice list; the baseline after its end",
    .create = guide_create,
    .destroy = rad__policy_release,
    .choose = guide_choose,
    .begin = guide_begin,
};

int rad__policy_guide(rad_policy **p, rad_error *error)
{
    return rad__policy_alloc(p, &rad__guide_class, sizeof(guide_policy), NULL, error);
}

static void guide_set(rad_policy *p, const uint32_t *list, const rad_choice *path, uint64_t count)
{
    guide_policy *g = (guide_policy *)p;
    g->list = list;
    g->path = path;
    g->count = count;
    g->at = 0;
}

void rad__guide_set(rad_policy *p, const uint32_t *list, uint64_t count)
{
    guide_set(p, list, NULL, count);
}

void rad__guide_follow(rad_policy *p, const rad_choice *path, uint64_t count)
{
    guide_set(p, NULL, path, count);
}
