/* policy_own.c — `own`: what the machine itself would do, of machines that have a preference (rad_machine.prefer); the
 * baseline of others. So a machine with policies of its own, as the session machine has, is recorded, replayed and
 * shrunk like any other. */
#include "core/kernel.h"

static int own_create(rad_policy **p, const char *argument, rad_error *error)
{
    return rad__policy_alloc(p, &rad__policy_own, sizeof(rad_policy), argument, error);
}

static uint32_t own_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    (void)p;
    if (d->kind != RAD_PICK_ACTION || k->machine->prefer == NULL) return 0;
    uint32_t action = k->machine->prefer(k->self);
    return action != RAD_NONE && rad__bitset_has(&k->enabled, action) ? rad__index_of(k, d, action) : 0;
}

const rad_policy_class rad__policy_own = {
    .name = "own",
    .about = "what the machine itself would do, if it has policies of its own; else the baseline",
    .create = own_create,
    .destroy = rad__policy_release,
    .choose = own_choose,
};
