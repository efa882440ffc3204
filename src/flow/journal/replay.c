/* replay.c — see replay.h. */
#include "flow/journal/replay.h"

#include "base/error.h"
#include "flow/machine/vm.h"

#include <stdio.h>
#include <string.h>

enum { ASKS_LEAST = 64 };

static void differs(rad_flow_rerun *r, const rad_flow_record *record, const char *what)
{
    r->as_recorded = false;
    snprintf(r->reason, sizeof r->reason, "record %llu (%s) at step %llu: %.300s", (unsigned long long)record->sequence,
             rad__flow_record_name(record->type), (unsigned long long)record->step, what);
}

/* A replay runs nothing, and keeps what is still asked for: by the end, or when there is twice as much as was kept. */
static void keep_asks(rad_flow_rerun *r)
{
    if (r->c->ask_count < r->asks_most) return;
    rad__flow_asks_prune(r->c);
    r->asks_most = 2 * r->c->ask_count + ASKS_LEAST;
}

int rad__flow_go_to(rad_flow_case *c, uint64_t step, uint64_t quantum, int (*after)(void *context, rad_error *error),
                    void *context, rad_error *error)
{
    for (uint64_t at; (at = rad__flow_case_steps(c)) < step;) {
        uint64_t left = step - at;
        rad__flow_case_run(c, left < quantum ? left : quantum);
        int code = after(context, error);
        if (code != 0) return code;
        if (rad__flow_case_steps(c) == at) break;
    }
    return 0;
}

const char *rad__flow_differs(const rad_flow_case *c, const rad_flow_record *record)
{
    rad_digest digest = rad__flow_case_digest(c);
    if (c->state == RAD_CASE_BROKEN || c->state == RAD_CASE_DIVERGED) return c->error.text;
    if (rad__flow_case_steps(c) != record->step) return "the flow does not come to that step";
    if (digest.low != record->digest.low || (record->type == RAD_RECORD_END && digest.high != record->digest.high))
        return "the flow has done something else before";
    return NULL;
}

static int after_steps(void *context, rad_error *error)
{
    rad_flow_rerun *r = context;
    (void)error;
    keep_asks(r);
    if (r->history != NULL) rad__flow_history_take(r->history, r->c);
    return 0;
}

static void go_to(rad_flow_rerun *r, uint64_t step)
{
    rad__flow_go_to(r->c, step, r->quantum, after_steps, r, NULL);
}

/* Lack of memory is an error, and no difference. */
static int take(rad_flow_rerun *r, const rad_flow_record *record, rad_error *error)
{
    bool used;
    rad_error why = {0};
    if (record->type != RAD_RECORD_INPUT && record->type != RAD_RECORD_END) return 0;
    go_to(r, record->step);
    const char *what = rad__flow_differs(r->c, record);
    if (what != NULL) {
        differs(r, record, what);
        return r->c->error.code == RAD_ENOMEM ? rad__error_memory(error) : 0;
    }
    if (record->type == RAD_RECORD_INPUT) {
        r->inputs++;
        int status = rad__flow_case_feed(r->c, &record->input, &used, &why);
        if (status == RAD_ENOMEM) return rad__error_memory(error);
        if (status != 0) differs(r, record, why.text);
        return 0;
    }
    r->ended = true;
    if (rad__flow_case_run(r->c, 0) != record->state) differs(r, record, "the flow has not ended in that way");
    return 0;
}

int rad__flow_replay_journal(rad_flow_rerun *out, const rad_flow_program *p, rad_flow_journal *j,
                             rad_flow_history *history, uint64_t quantum, rad_error *error)
{
    *out = (rad_flow_rerun){.as_recorded = true, .history = history, .quantum = quantum};
    if (quantum == 0) out->quantum = UINT64_MAX;
    if (history != NULL && out->quantum > RAD_HISTORY_EVERY) out->quantum = RAD_HISTORY_EVERY;
    if (strcmp(j->header.hash, p->hash) != 0)
        return rad__error(error, RAD_EINPUT, "%s: begun with another text of the flow", j->name);
    rad_flow_case_options o = {.policy = j->header.policy,
                               .seed = j->header.seed,
                               .initial = j->header.initial,
                               .initial_count = j->header.initial_count};
    int status = rad__flow_case_open(&out->c, p, &o, error);
    if (status != 0) return status;
    rad_flow_record record;
    while (status == 0 && out->as_recorded) {
        int got = rad__flow_journal_next(j, &record, error);
        if (got == 0) break;
        status = got < 0 ? got : take(out, &record, error);
    }
    if (status == 0 && out->as_recorded && !out->ended) { /* what follows from the last input */
        go_to(out, rad__flow_case_steps(out->c) + RAD_REPLAY_BEYOND);
        if (out->c->error.code == RAD_ENOMEM) status = rad__error_memory(error);
    }
    if (status != 0) {
        rad__flow_case_close(out->c);
        out->c = NULL;
        return status;
    }
    rad__flow_asks_prune(out->c);
    if (out->history != NULL) rad__flow_history_end(out->history, out->c);
    return 0;
}
