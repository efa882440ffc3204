/* policy_lru.c — a policy of one's own, in a shared object: the actor that has not run for longest is next.
 *
 *     cc -shared -fPIC policy_lru.c $(pkg-config --cflags raddle-lab) -o lru.so
 *     raddle run buffer --policy ./lru.so
 *
 * No actor that stays enabled is passed over twice by the same actor. */
#include <raddle/policy.h>

struct lru {
    uint64_t clock;
};

/* When the actor of the index-th enabled action ran last; 0: never. */
static uint64_t last_run(rad_policy_run *r, uint32_t index)
{
    rad_policy_action a;
    if (!rad_policy_look(r, rad_policy_action_at(r, index), &a)) return 0;
    return *rad_policy_word(r, RAD_PER_ACTOR, a.actor);
}

static uint32_t choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    uint32_t best = 0;
    (void)state;
    if (c->kind != RAD_PICK_ACTION) return c->baseline; /* a value inside a step */
    for (uint32_t i = 1; i < c->count; i++)
        if (last_run(r, i) < last_run(r, best)) best = i;
    return best;
}

static void ran(void *state, rad_policy_run *r, uint32_t action, const rad_footprint *f)
{
    rad_policy_action a;
    (void)f;
    if (rad_policy_look(r, action, &a)) *rad_policy_word(r, RAD_PER_ACTOR, a.actor) = ++((struct lru *)state)->clock;
}

static const rad_policy_table LRU = {.abi = RAD_POLICY_ABI,
                                     .name = "lru",
                                     .about = "the actor that has not run for longest",
                                     .same_every_run = true,
                                     .state_size = sizeof(struct lru),
                                     .choose = choose,
                                     .ran = ran};

const rad_policy_table *const rad_policies[] = {&LRU, NULL};
