/* enabled.c — the enabled set: a bitmap in canonical order, and a list in order of enabling.
 *
 * Within one step a machine may enable and disable in any order; the list must not depend on that
 * order, so additions wait in `fresh` and are linked by number when the step is over (settle). The
 * action that ran goes behind them, so that a yield always goes to another one.
 *
 *     NONE --enable--> FRESH --settle--> LIST --disable--> NONE
 *     LIST --it was stepped--> LIST, at the end: its waiting begins anew
 *     FRESH --disable--> FRESH with its bit clear; settle drops it
 *     LIST --its actor is set aside (fair.h)--> ASIDE --it comes back--> FRESH
 *     NONE --enable, of an actor that is aside--> ASIDE --disable--> NONE */
#include "core/kernel.h"

#include "base/alloc.h"
#include "base/sort.h"

static inline void enabled_stirs(rad_kernel *k)
{
    k->stirred = true;
    k->fair.calm = 0;
}

static void enabled_tell(rad_kernel *k, uint32_t action, bool enabled)
{
    if (k->policy_class->changed) k->policy_class->changed(k->options.policy, k, action, enabled);
    for (uint32_t i = 0; i < k->observer_count; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->changed) o->changed(o, k, action, enabled);
    }
}

static void enabled_unlink(rad_kernel *k, uint32_t action)
{
    rad_action_entry *a = &k->actions[action];
    if (a->link != RAD_LINK_LIST) return;
    *(a->older != RAD_NONE ? &k->actions[a->older].newer : &k->oldest) = a->newer;
    *(a->newer != RAD_NONE ? &k->actions[a->newer].older : &k->newest) = a->older;
    a->link = RAD_LINK_NONE;
}

static void enabled_refresh(rad_kernel *k, uint32_t action)
{
    rad_action_entry *a = &k->actions[action];
    if (a->link == RAD_LINK_FRESH) return;
    if (!RAD_GROW(&k->fresh, &k->fresh_capacity, k->fresh_count + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in the enabled set");
        return;
    }
    a->link = RAD_LINK_FRESH;
    k->fresh[k->fresh_count++] = action;
}

/* Of an actor that is aside. */
static void enable_aside(rad_kernel *k, uint32_t action)
{
    rad_action_entry *a = &k->actions[action];
    if (a->link == RAD_LINK_ASIDE) return;
    a->link = RAD_LINK_ASIDE;
    k->actors[a->actor].enabled++;
    k->actors[a->actor].waiting = false;
    k->fair.actions_aside++;
    enabled_stirs(k);
}

void rad_enable(rad_kernel *k, uint32_t action)
{
    if (action >= k->action_count) return;
    rad_action_entry *a = &k->actions[action];
    if (RAD_UNLIKELY(k->fair.actors_aside) && a->actor < k->actor_count && k->actors[a->actor].aside) {
        enable_aside(k, action);
        return;
    }
    if (!rad__bitset_add(&k->enabled, action)) return;
    enabled_stirs(k);
    k->set_hash += a->hash;
    if (a->actor < k->actor_count) {
        k->actors[a->actor].enabled++;
        k->actors[a->actor].waiting = false;
    } else {
        k->fair.world++;
        k->fair.worldly = true;
    }
    enabled_refresh(k, action);
    enabled_tell(k, action, true);
}

void rad_disable(rad_kernel *k, uint32_t action)
{
    if (action >= k->action_count) return;
    rad_action_entry *a = &k->actions[action];
    if (!rad__bitset_remove(&k->enabled, action)) {
        if (a->link != RAD_LINK_ASIDE) return;
        a->link = RAD_LINK_NONE;
        k->actors[a->actor].enabled--;
        k->fair.actions_aside--;
        enabled_stirs(k);
        return;
    }
    enabled_stirs(k);
    k->set_hash -= a->hash;
    if (a->actor < k->actor_count) {
        k->actors[a->actor].enabled--;
        if (k->actors[a->actor].action == action) k->actors[a->actor].action = RAD_NONE;
    } else {
        k->fair.world--;
    }
    enabled_unlink(k, action);
    enabled_tell(k, action, false);
}

/* Whether it is the first or the last already is up to chance: no branch asks, and where a neighbour is missing the
 * action itself is written to instead, whose links are set at the end. */
static inline void enabled_to_end(rad_kernel *k, uint32_t action)
{
    rad_action_entry *a = &k->actions[action];
    uint32_t older = a->older, newer = a->newer;
    bool first = older == RAD_NONE, last = newer == RAD_NONE;
    if (RAD_LIKELY(a->actor < k->actor_count)) k->actors[a->actor].action = action;
    if (first & last) return; /* alone: nothing to put in order */
    k->actions[rad__either(first, action, older)].newer = newer;
    k->actions[rad__either(last, action, newer)].older = older;
    k->oldest = rad__either(first, newer, k->oldest);
    uint32_t newest = rad__either(last, older, k->newest);
    k->actions[newest].newer = action;
    k->newest = action;
    a->older = newest;
    a->newer = RAD_NONE;
}

void rad__enabled_stepped(rad_kernel *k, uint32_t action)
{
    if (k->fresh_count) rad__enabled_settle(k);
    if (k->actions[action].link == RAD_LINK_LIST) enabled_to_end(k, action);
}

static void enabled_leave(rad_kernel *k, uint32_t action)
{
    rad_action_entry *a = &k->actions[action];
    if (!rad__bitset_remove(&k->enabled, action)) return;
    k->set_hash -= a->hash;
    enabled_unlink(k, action);
    a->link = RAD_LINK_ASIDE;
    k->fair.actions_aside++;
    enabled_tell(k, action, false);
}

static void enabled_return(rad_kernel *k, uint32_t action)
{
    rad_action_entry *a = &k->actions[action];
    if (a->link != RAD_LINK_ASIDE) return;
    a->link = RAD_LINK_NONE;
    k->fair.actions_aside--;
    rad__bitset_add(&k->enabled, action);
    k->set_hash += a->hash;
    enabled_refresh(k, action);
    enabled_tell(k, action, true);
}

void rad__enabled_aside(rad_kernel *k, uint32_t actor, bool aside)
{
    rad_actor_entry *of = &k->actors[actor];
    if (of->aside == aside) return;
    of->aside = aside;
    of->action = RAD_NONE;
    k->fair.actors_aside += aside ? 1 : UINT32_MAX;
    for (uint32_t i = 0; i < k->action_count; i++) {
        if (k->actions[i].actor != actor) continue;
        if (aside)
            enabled_leave(k, i);
        else
            enabled_return(k, i);
    }
}

uint32_t rad__enabled_newest_of(const rad_kernel *k, uint32_t actor)
{
    uint32_t at = k->newest;
    while (at != RAD_NONE && k->actions[at].actor != actor) at = k->actions[at].older;
    return at;
}

void rad__enabled_settle(rad_kernel *k)
{
    if (k->fresh_count > 1) rad__sort_u32(k->fresh, k->fresh_count);
    for (uint32_t i = 0; i < k->fresh_count; i++) {
        uint32_t action = k->fresh[i];
        rad_action_entry *a = &k->actions[action];
        a->link = RAD_LINK_NONE;
        if (!rad__bitset_has(&k->enabled, action)) continue;
        a->link = RAD_LINK_LIST;
        a->older = k->newest;
        a->newer = RAD_NONE;
        *(k->newest != RAD_NONE ? &k->actions[k->newest].newer : &k->oldest) = action;
        k->newest = action;
        if (a->actor < k->actor_count) k->actors[a->actor].action = action;
    }
    k->fresh_count = 0;
}

bool rad__enabled_valid(const rad_kernel *k)
{
    uint32_t linked = 0, older = RAD_NONE;
    uint64_t sum = 0;
    for (uint32_t at = k->oldest; at != RAD_NONE; at = k->actions[at].newer) {
        const rad_action_entry *a = &k->actions[at];
        if (a->link != RAD_LINK_LIST || a->older != older) return false;
        if (!rad__bitset_has(&k->enabled, at)) return false; /* I1 */
        sum += a->hash;
        older = at;
        linked++;
    }
    return older == k->newest && linked == k->enabled.count && sum == k->set_hash && /* I1, I2 */
           rad__bitset_valid(&k->enabled);
}

uint32_t rad__action_at_wide(const rad_kernel *k, const rad_decision *d, uint32_t index)
{
    if (index == 0) return d->baseline;
    uint32_t base_rank = rad__bitset_rank(&k->enabled, d->baseline);
    return rad__bitset_select(&k->enabled, index <= base_rank ? index - 1 : index);
}

uint32_t rad__index_of(const rad_kernel *k, const rad_decision *d, uint32_t action)
{
    if (action == d->baseline) return 0;
    uint32_t rank = rad__bitset_rank(&k->enabled, action);
    return action < d->baseline ? rank + 1 : rank;
}
