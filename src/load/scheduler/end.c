/* end.c — how a run ends: time is up, what is under way may finish, the rest is cancelled; what has to hold. */
#include "load/scheduler/scheduler.h"

/* Nobody begins anything any more; who is under way may finish, if there is time for that. */
void rad__load_end_begin(rad__load_scheduler *c)
{
    if (c->phase != RAD__LOAD_RUNNING) return;
    if (c->scenario->drain_ns == 0) {
        rad__load_end_over(c);
        return;
    }
    c->phase = RAD__LOAD_DRAINING;
    rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_PHASE, .count = RAD__LOAD_DRAINING});
    rad__load_lines_clear(c);
    c->idle = c->warm = (struct rad__load_line){RAD_NONE, RAD_NONE};
    for (uint32_t vu = 0; vu < c->user_count; vu++) {
        const struct rad__load_user *u = &c->users[vu];
        if (u->state != RAD__LOAD_COMPLETE && u->waits != RAD__LOAD_FOR_ANSWER) rad__load_user_finish(c, vu);
    }
}

void rad__load_end_over(rad__load_scheduler *c)
{
    if (c->phase == RAD__LOAD_OVER) return;
    rad__load_lines_clear(c);
    c->idle = c->warm = (struct rad__load_line){RAD_NONE, RAD_NONE};
    for (uint32_t vu = 0; vu < c->user_count; vu++)
        if (c->users[vu].state != RAD__LOAD_COMPLETE) rad__load_user_finish(c, vu);
    uint64_t dropped = rad__load_arrivals_unserved(c);
    if (dropped > 0) rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_DROPPED, .count = dropped});
    c->phase = RAD__LOAD_OVER;
    rad__load_emit(
        c, &(rad__load_event){.kind = RAD__LOAD_PHASE, .count = RAD__LOAD_OVER, .fault = (uint32_t)c->exhausted});
    rad__load_assert_now(c, true);
}

/* In logs of version 1 an assertion without data has this for what was measured, and holds. */
static uint64_t taken_for(const struct rad__load_assertion *a)
{
    return a->at_least && a->measure != RAD__LOAD_RATE ? RAD__LOAD_PPM : 0;
}

/* During the run only those that may end it are looked at, and only once there is something to look at: data may still
 * come. At the end all of them, those that hold, too. */
void rad__load_assert_now(rad__load_scheduler *c, bool final)
{
    const struct rad__load_tally *t = &c->metrics.measured;
    bool something = t->responses + t->errors + t->timeouts > 0;
    bool old = c->log != NULL && c->log->version == 1;
    if (c->shards > 1) return; /* what has to hold is about all of them: whoever merges them looks */
    for (uint32_t i = 0; i < c->scenario->assertion_count; i++) {
        const struct rad__load_assertion *a = &c->scenario->assertions[i];
        if (!final && (!a->abort || !something)) continue;
        uint64_t actual = rad__load_metrics_measure(&c->metrics, a);
        if (actual == RAD__LOAD_NO_DATA && old) actual = taken_for(a);
        if (actual == RAD__LOAD_NO_DATA && !final) continue;
        bool holds = rad__load_assertion_holds(a, actual);
        if (!holds) c->failed = true;
        if (!holds && !final) c->aborted = true;
        if (holds && !final) continue;
        rad__load_event event = {.kind = holds ? RAD__LOAD_ASSERTION_PASSED : RAD__LOAD_ASSERTION_FAILED,
                                 .what = i,
                                 .actual = actual,
                                 .wanted = a->bound};
        rad__load_emit(c, &event);
    }
}
