#include "lab/script.h"

#include "core/kernel.h"

typedef struct script_policy {
    rad_policy base;
    const rad_cue *cues;
    uint64_t cue_count;
    const uint32_t *picks;
    uint64_t pick_count;
    uint64_t step;   /* the step whose picks are being given out */
    uint32_t picked; /* how many of them */
} script_policy;

static void script_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    script_policy *s = (script_policy *)p;
    (void)k, (void)info;
    s->step = 0;
    s->picked = 0;
}

static uint32_t script_pick(script_policy *s, uint64_t step, uint32_t count)
{
    if (s->step != step) s->picked = 0;
    s->step = step;
    if (step >= s->cue_count || s->picked >= s->cues[step].pick_count) return 0;
    uint64_t at = (uint64_t)s->cues[step].pick_at + s->picked++;
    if (at >= s->pick_count) return 0;
    return s->picks[at] < count ? s->picks[at] : count - 1;
}

static uint32_t script_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    script_policy *s = (script_policy *)p;
    if (d->kind != RAD_PICK_ACTION) return script_pick(s, k->step, d->count);
    uint32_t actor = k->step < s->cue_count ? s->cues[k->step].actor : RAD_NONE;
    uint32_t action = actor < k->actor_count ? rad__actor_action(k, actor) : RAD_NONE;
    return action == RAD_NONE ? 0 : rad__index_of(k, d, action);
}

static const rad_policy_class SCRIPT = {
    .name = "script",
    .about = "given actors in a given order",
    .destroy = rad__policy_release,
    .choose = script_choose,
    .begin = script_begin,
};

int rad__policy_script(rad_policy **p, rad_error *error)
{
    return rad__policy_alloc(p, &SCRIPT, sizeof(script_policy), NULL, error);
}

void rad__script_set(rad_policy *p, const rad_cue *cues, uint64_t cue_count, const uint32_t *picks,
                     uint64_t pick_count)
{
    script_policy *s = (script_policy *)p;
    s->cues = cues;
    s->cue_count = cue_count;
    s->picks = picks;
    s->pick_count = pick_count;
}
