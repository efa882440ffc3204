/* passer.c — a policy (raddle/policy.h) for starved.c: whoever has not run for longest is next, but after 100 steps not
 * the seventh actor as long as another one can run. It is passed by for ever, and no schedule of that is fair. Who has
 * made a call comes to the next one at once. */
#include <raddle/policy.h>

enum { PASSED = 6, FAIR_STEPS = 100 };

static bool is_passed(const rad_policy_run *r, uint32_t action)
{
    return action >= PASSED && r->steps > FAIR_STEPS;
}

static uint64_t last_run(rad_policy_run *r, uint32_t index)
{
    rad_policy_action a;
    uint32_t action = rad_policy_action_at(r, index);
    if (!rad_policy_look(r, action, &a)) return 0;
    uint64_t last = *rad_policy_word(r, RAD_PER_ACTOR, a.actor);
    if (a.access == RAD_LOCAL && last > 0 && last + 1 >= r->steps) return 0; /* it has made a call just now */
    return is_passed(r, action) ? UINT64_MAX : last;
}

static uint32_t choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    uint32_t best = 0;
    (void)state;
    if (c->kind != RAD_PICK_ACTION) return c->baseline;
    for (uint32_t i = 1; i < c->count; i++)
        if (last_run(r, i) < last_run(r, best)) best = i;
    return best;
}

static void ran(void *state, rad_policy_run *r, uint32_t action, const rad_footprint *f)
{
    rad_policy_action a;
    (void)state;
    (void)f;
    if (rad_policy_look(r, action, &a)) *rad_policy_word(r, RAD_PER_ACTOR, a.actor) = r->steps;
}

static const rad_policy_table PASSER = {.abi = RAD_POLICY_ABI,
                                        .name = "passer",
                                        .about = "fair to all but one",
                                        .same_every_run = true,
                                        .choose = choose,
                                        .ran = ran};

const rad_policy_table *const rad_policies[] = {&PASSER, NULL};
