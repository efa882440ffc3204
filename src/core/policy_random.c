/* policy_random.c — `random`: uniform over what is offered; the seed and the run's index fix it. */
#include "base/prng.h"
#include "core/kernel.h"

typedef struct random_policy {
    rad_policy base;
    rad_prng prng;
} random_policy;

static int random_create(rad_policy **p, const char *argument, rad_error *error)
{
    return rad__policy_alloc(p, &rad__policy_random, sizeof(random_policy), argument, error);
}

static void random_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    (void)k;
    ((random_policy *)p)->prng = rad__prng(info->seed, RAD_STREAM_RANDOM, info->run);
}

static uint32_t random_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    (void)k;
    return (uint32_t)rad__prng_below(&((random_policy *)p)->prng, d->count);
}

const rad_policy_class rad__policy_random = {
    .name = "random",
    .about = "uniform over what is enabled, from a seed",
    .create = random_create,
    .destroy = rad__policy_release,
    .choose = random_choose,
    .begin = random_begin,
};
