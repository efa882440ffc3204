#include "lab/script.h"

#include "core/kernel.h"

enum { LOOK_AHEAD = 64 }; /* steps passed over at once, so that a step's cost is bounded */

typedef struct script_policy {
    rad_policy base;
    const rad_script_step *steps;
    uint64_t step_count;
    const uint32_t *picks;
    uint64_t pick_count;
    uint64_t at;                 /* the next step */
    const rad_script_step *step; /* of the step under way; NULL: it has none */
    bool found;                  /* `step` is set */
    uint32_t picked;             /* how many of its picks were given out */
} script_policy;

static void script_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    script_policy *s = (script_policy *)p;
    (void)k, (void)info;
    s->at = 0;
    s->found = false;
}

/* Finds the step of the step under way: the next one of its actor. Those before it belong to actors that
 * could not run, because one that could would have been chosen. */
static void script_find(script_policy *s, const rad_kernel *k)
{
    uint32_t actor = k->actions[k->current].actor;
    uint64_t i = s->at, end = i + LOOK_AHEAD < s->step_count ? i + LOOK_AHEAD : s->step_count;
    if (s->found) return;
    while (i < end && s->steps[i].actor != actor) i++;
    s->step = i < end ? &s->steps[i] : NULL;
    if (s->step) s->at = i + 1;
    s->found = true;
    s->picked = 0;
}

static uint32_t script_pick(script_policy *s, const rad_kernel *k, uint32_t count)
{
    script_find(s, k);
    if (s->step == NULL || s->picked >= s->step->pick_count) return 0;
    uint64_t at = (uint64_t)s->step->pick_at + s->picked++;
    if (at >= s->pick_count) return 0;
    return s->picks[at] < count ? s->picks[at] : count - 1;
}

static uint32_t script_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    script_policy *s = (script_policy *)p;
    if (d->kind != RAD_PICK_ACTION) return script_pick(s, k, d->count);
    for (; s->at < s->step_count; s->at++) {
        uint32_t actor = s->steps[s->at].actor;
        uint32_t action = actor < k->actor_count ? rad__actor_action(k, actor) : RAD_NONE;
        if (action != RAD_NONE) return rad__index_of(k, d, action);
    }
    return 0;
}

static void script_ran(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    script_policy *s = (script_policy *)p;
    (void)action, (void)f;
    script_find(s, k);
    s->found = false;
}

static const rad_policy_class SCRIPT = {
    .name = "script",
    .about = "given actors in a given order",
    .destroy = rad__policy_release,
    .choose = script_choose,
    .begin = script_begin,
    .ran = script_ran,
};

int rad__policy_script(rad_policy **p, rad_error *error)
{
    return rad__policy_alloc(p, &SCRIPT, sizeof(script_policy), NULL, error);
}

void rad__script_set(rad_policy *p, const rad_script_step *steps, uint64_t step_count, const uint32_t *picks,
                     uint64_t pick_count)
{
    script_policy *s = (script_policy *)p;
    s->steps = steps;
    s->step_count = step_count;
    s->picks = picks;
    s->pick_count = pick_count;
}
