/* validate.c — the validator of flows, over targets of the lab, and its counterexamples as artifacts. */
#include "flow/check/validate.h"

#include "base/alloc.h"
#include "base/error.h"
#include "lab/machines/flow/machine.h"
#include "lab/rig.h"

#include <stdio.h>
#include <string.h>

int rad_flow_validate(const rad_target *t, const rad_flow_validate_options *o, rad_flow_validation **out,
                      rad_error *error)
{
    char name[RAD_LEX_NAME_MAX + 1];
    rad_flow_program *p = NULL;
    rad__error_clear(error);
    *out = NULL;
    if (t->machine != &rad__machine_flow) return rad__error(error, RAD_EINPUT, "%s is no flow", t->machine->name);
    char *source = rad__flow_case_source(&t->c, name, sizeof name, error);
    if (source == NULL) return error->code;
    int status = rad__flow_program_read(&p, "source", source, strlen(source), name[0] != 0 ? name : NULL, error);
    rad__free(source);
    if (status == 0) status = rad__flow_validate(p, o, out, error);
    rad__flow_program_free(p);
    return status;
}

/* What the lab must say about the run. */
static bool shows(enum rad_flow_property property, bool other, const rad_kernel *k)
{
    if (other) return k->outcome == RAD_OUTCOME_FINISHED;
    if (k->outcome != RAD_OUTCOME_FAILED) return false;
    uint32_t oracle = k->failure.oracle;
    switch (property) {
    case RAD_FLOW_NO_DEADLOCK: return oracle == RAD_ORACLE_DEADLOCK;
    case RAD_FLOW_PROPER_END: return oracle == RAD_ORACLE_FLOW_IMPROPER;
    case RAD_FLOW_NO_LIVELOCK: return oracle == RAD_ORACLE_LIVELOCK;
    case RAD_FLOW_CAN_END: return oracle == RAD_ORACLE_LIVELOCK || oracle == RAD_ORACLE_DEADLOCK;
    default: return oracle == RAD_ORACLE_FLOW_CONFLUENCE;
    }
}

/* The search has shown that the run goes round for ever: it is cut where it has been round once. */
static bool is_round(const rad_flow_validation *v, enum rad_flow_property property)
{
    return v->verdicts[RAD_FLOW_NO_LIVELOCK].answer == RAD_FLOW_FAILS &&
           (property == RAD_FLOW_NO_LIVELOCK || property == RAD_FLOW_CAN_END);
}

static rad_target case_of(const rad_target *t, const rad_flow_validation *v, enum rad_flow_property property)
{
    const rad_flow_verdict *f = &v->verdicts[property];
    rad_target own = *t;
    char words[100];
    rad_error ignored;
    snprintf(words, sizeof words, "outcomes=%llu fail=0 proper=%d", (unsigned long long)f->outcomes,
             property == RAD_FLOW_PROPER_END);
    rad_target_set(&own, words, &ignored);
    own.c.max_steps = is_round(v, property) ? f->steps : f->steps > RAD_MAX_STEPS / 2 ? 2 * f->steps : 0;
    return own;
}

int rad_flow_counterexample(const rad_target *t, const rad_flow_validation *v, enum rad_flow_property property,
                            bool other, rad_artifact **a, rad_error *error)
{
    const rad_flow_verdict *f = &v->verdicts[property];
    rad__error_clear(error);
    *a = NULL;
    if (f->answer != RAD_FLOW_FAILS || f->choices == NULL || (other && f->other == NULL)) return 0;
    rad_target own = case_of(t, v, property);
    rad_rig rig;
    int status = rad__rig_open(&rig, &own, error);
    if (status != 0) return status;
    if (is_round(v, property)) rig.limit = RAD_LIMIT_ROUND;
    if (other)
        rad__rig_guide(&rig, f->other, f->other_count, false, NULL);
    else
        rad__rig_guide(&rig, f->choices, f->choice_count, false, NULL);
    if (rig.kernel->outcome == RAD_OUTCOME_ERROR)
        status = rad__error(error, rig.kernel->error.code, "%s", rig.kernel->error.text);
    else if (!shows(property, other, rig.kernel))
        status =
            rad__error(error, RAD_EBUG, "the run that should show it does not: %s", rad_flow_property_name(property));
    else
        status = rad__artifact_of_run(a, &own, "guide", 0, rig.kernel, error);
    rad__rig_close(&rig);
    return status;
}
