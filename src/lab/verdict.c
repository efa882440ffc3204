/* verdict.c — what came of a run, from its kernel. In a file of its own, without JSON: processes under test hold it. */
#include "lab/artifact.h"

#include "lab/json.h"

#include <stdio.h>
#include <string.h>

static void verdict_failure(const rad_kernel *k, uint32_t oracle, uint64_t step, const char *message,
                            const char *identity, rad_verdict *v)
{
    const char *kind = rad_oracle_name(k->machine, oracle);
    v->result = RAD_RESULT_FAILURE;
    v->failure_step = step;
    snprintf(v->kind, sizeof v->kind, "%s", kind ? kind : "unnamed");
    snprintf(v->message, sizeof v->message, "%s", message);
    snprintf(v->identity, sizeof v->identity, "%s", identity);
}

/* A machine may say anything; what is written and read back must be the same. */
static void verdict_clean(rad_verdict *v)
{
    rad__text_clean(v->kind);
    rad__text_clean(v->message);
    rad__text_clean(v->identity);
    rad__text_clean(v->divergence);
    rad__text_plain(v->kind);
    rad__text_plain(v->message);
    rad__text_plain(v->identity);
}

void rad__verdict_of(const rad_kernel *k, rad_verdict *v)
{
    const rad_failure *f = &k->failure;
    memset(v, 0, sizeof *v);
    v->steps = k->step;
    v->decisions = k->decisions;
    rad__digest_text(rad__kernel_digest(k), v->trace_hash);
    if (k->outcome == RAD_OUTCOME_FAILED) {
        verdict_failure(k, f->oracle, f->step, f->message, f->identity, v);
    } else if (k->outcome == RAD_OUTCOME_CUT) {
        v->result = RAD_RESULT_CUT;
    } else if (k->outcome == RAD_OUTCOME_DIVERGED) {
        v->result = RAD_RESULT_DIVERGED;
        snprintf(v->divergence, sizeof v->divergence, "%s", k->error.text);
    }
    verdict_clean(v);
}

void rad__verdict_of_race(const rad_kernel *k, const rad_report *r, rad_verdict *v)
{
    memset(v, 0, sizeof *v);
    v->steps = r->steps;
    v->decisions = r->decisions;
    rad__digest_text(r->digest, v->trace_hash);
    verdict_failure(k, r->oracle, r->step, r->message, r->identity, v);
    verdict_clean(v);
}
