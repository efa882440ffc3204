/* path_run.c — the path of a run whose choices are known: the list is run once more, in a process of its own. So
 * exploring costs nothing for paths: only what is written has one. */
#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/path.h"
#include "lab/single_run.h"

#include <string.h>

/* ---- The policy: a choice list, with a recorder ------------------------------------------------------- */

typedef struct traced_policy {
    rad_policy base;
    const rad_artifact *list;
    uint64_t at;
    rad_path_recorder recorder;
} traced_policy;

static void traced_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    (void)k, (void)info;
    traced_policy *t = (traced_policy *)p;
    t->at = 0;
    rad__path_begin(&t->recorder);
}

static uint32_t traced_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    traced_policy *t = (traced_policy *)p;
    uint32_t chosen = t->at < t->list->choice_count ? t->list->choices[t->at++] : 0;
    if (chosen >= d->count) chosen = d->count - 1;
    rad__path_decided(&t->recorder, k, d, chosen);
    return chosen;
}

static void traced_announced(rad_policy *p, rad_kernel *k, uint32_t action)
{
    rad__path_announced(&((traced_policy *)p)->recorder, k, action);
}

static void traced_ran(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    (void)f;
    rad__path_ran(&((traced_policy *)p)->recorder, k, action);
}

static const rad_policy_class traced_class = {
    .name = "traced",
    .about = "a choice list whose path is recorded",
    .destroy = rad__policy_release,
    .choose = traced_choose,
    .begin = traced_begin,
    .announced = traced_announced,
    .ran = traced_ran,
};

/* ---- Running ------------------------------------------------------------------------------------------ */

bool rad__verdict_is_deadly(const rad_verdict *v)
{
    return v->result == RAD_RESULT_FAILURE && (strcmp(v->kind, "crash") == 0 || strcmp(v->kind, "hang") == 0);
}

void rad__artifact_limits(const rad_artifact *a, rad_rig *rig)
{
    if (rad__artifact_is_round(a)) rig->limit = RAD_LIMIT_ROUND;
    if (a->expects_failure) rig->ends_at = a->expected.identity;
}

static bool is_run_of(const rad_artifact *a, const rad_verdict *v, const rad_path_shared *s)
{
    const rad_verdict *want = &a->expected;
    if (s->full) return false;
    if (rad__verdict_is_deadly(want)) return s->path.step_count == want->failure_step + 1;
    return v->result == want->result && strcmp(v->trace_hash, want->trace_hash) == 0;
}

static int trace(const rad_artifact *a, rad_single_run *t, rad_path **out, rad_error *error)
{
    traced_policy *p = (traced_policy *)t->policy;
    rad_verdict v = {.steps = 0};
    rad__artifact_limits(a, &t->rig);
    if (rad__verdict_is_deadly(&a->expected)) p->recorder.deadly = a->expected.failure_step;
    int code = rad__single_run_do(t, &v, error);
    if (code == 0 && is_run_of(a, &v, p->recorder.shared)) code = rad__path_copy(out, &p->recorder.shared->path, error);
    return code;
}

int rad__path_of(const rad_artifact *a, rad_path **out, rad_error *error)
{
    rad_single_run t = {.seed = a->seed};
    *out = NULL;
    if (rad__verdict_is_deadly(&a->expected) && a->expected.failure_step == 0)
        return 0; /* nobody is asked before the first step */
    rad__watch_begin(&t.watch, a->target.c.hang_ms / 1e3, NULL);
    int code = rad__policy_alloc(&t.policy, &traced_class, sizeof(traced_policy), NULL, error);
    if (code != 0) return code;
    traced_policy *p = (traced_policy *)t.policy;
    p->list = a;
    code = rad__path_open(&p->recorder, error);
    if (code == 0) code = rad__rig_open(&t.rig, &a->target, error);
    if (code == 0) {
        code = trace(a, &t, out, error);
        rad__rig_close(&t.rig);
    }
    rad__path_close(&p->recorder);
    rad__policy_destroy(t.policy);
    return code;
}
