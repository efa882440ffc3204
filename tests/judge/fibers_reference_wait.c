/* fibers_reference_wait.c — waiting. Every operation that may wait is a select: of one case, or of several.
 *
 * Those who wait are in one list, by the time they began to. After each action all that can be are served, from
 * the front of that list. A mutex is the exception: nobody is served, because a free one may be taken by others. */
#include "fibers_reference_parts.h"

#include <string.h>

const fibers_op *stage_op(const stage *s, uint32_t f)
{
    const fibers_fiber *fiber = &s->program->fibers[f];
    return s->w.fibers[f].pc < fiber->op_count ? &fiber->ops[s->w.fibers[f].pc] : NULL;
}

static uint32_t one_case(fibers_case *c, uint8_t kind, uint8_t object, uint8_t number, uint8_t until)
{
    *c = (fibers_case){.kind = kind, .object = object, .number = number, .until = until};
    return 1;
}

static uint32_t select_cases(const fibers_op *op, uint8_t off, fibers_case cases[FIBERS_CASES])
{
    for (uint32_t i = 0; i < op->case_count; i++) {
        cases[i] = op->cases[i];
        if (cases[i].kind == FIBERS_ACQUIRE) cases[i].number = 1;
        if (off & 1u << i) cases[i].kind = FIBERS_OFF;
    }
    return op->case_count;
}

uint32_t stage_cases(const stage *s, uint32_t f, fibers_case cases[FIBERS_CASES])
{
    const world_fiber *w = &s->w.fibers[f];
    const fibers_op *op = stage_op(s, f);
    if (op == NULL) return one_case(cases, FIBERS_NURSERY_WAIT, 0, 0, FIBERS_NEVER);
    switch (op->kind) {
    case FIBERS_SELECT: return select_cases(op, w->off, cases);
    case FIBERS_LOCK: return one_case(cases, FIBERS_LOCK_UNTIL, op->object, 0, 0);
    case FIBERS_READ: return one_case(cases, FIBERS_READ_UNTIL, op->object, 0, 0);
    case FIBERS_WRITE: return one_case(cases, FIBERS_WRITE_UNTIL, op->object, 0, 0);
    case FIBERS_COND_WAIT: return one_case(cases, w->phase == 3 ? FIBERS_LOCK_UNTIL : FIBERS_COND_WAIT, 0, 0, 0);
    case FIBERS_TASK: return one_case(cases, w->phase == 2 ? FIBERS_JOIN : FIBERS_TASK, op->object, 0, 0);
    case FIBERS_TASK_JOIN:
        if (w->phase == 0) return one_case(cases, FIBERS_TASK_JOIN, 0, 0, 0);
        return one_case(cases, FIBERS_JOIN, (uint8_t)(w->fetched - 1), 0, 0);
    case FIBERS_SPAWN:
    case FIBERS_SEND_SPAWN:
    case FIBERS_NURSERY_SPAWN:
    case FIBERS_NURSERY_GO: return one_case(cases, FIBERS_SPAWN, 0, 0, 0);
    default: return one_case(cases, op->kind, op->object, op->number, op->until);
    }
}

/* ---- Who waits ------------------------------------------------------------------------------------------------- */

static bool is_of_kind(uint8_t kind, uint8_t wanted)
{
    if (wanted == FIBERS_SEND && kind == FIBERS_SEND_MANY) return true;
    if (wanted == FIBERS_RECV && kind == FIBERS_RECV_MANY) return true;
    return kind == wanted;
}

static bool waits_for(const stage *s, uint32_t f, uint8_t kind, uint8_t object, uint32_t *i)
{
    fibers_case cases[FIBERS_CASES];
    uint32_t count = stage_cases(s, f, cases);
    for (*i = 0; *i < count; (*i)++)
        if (is_of_kind(cases[*i].kind, kind) && cases[*i].object == object) return true;
    return false;
}

uint32_t stage_first(const stage *s, uint32_t not_f, uint8_t kind, uint8_t object, uint32_t *i)
{
    for (uint32_t at = 0; at < s->w.order_count; at++) {
        uint32_t f = s->w.order[at];
        if (f != not_f && waits_for(s, f, kind, object, i)) return f;
    }
    return FIBERS_MOST;
}

bool stage_is_behind(const stage *s, uint32_t f, uint8_t kind, uint8_t object)
{
    uint32_t i;
    for (uint32_t at = 0; at < s->w.order_count && s->w.order[at] != f; at++)
        if (waits_for(s, s->w.order[at], kind, object, &i)) return true;
    return false;
}

static void saw_queue(stage *s, uint32_t f)
{
    fibers_case cases[FIBERS_CASES];
    uint32_t count = stage_cases(s, f, cases);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t object = cases[i].object;
        if (cases[i].kind == FIBERS_ACQUIRE && s->w.permits[object] >= cases[i].number)
            stage_saw(s, FIBERS_SEEN_MANY_PERMITS);
        if (cases[i].kind == FIBERS_READ_UNTIL && !rwlock_is_written(s, object)) stage_saw(s, FIBERS_SEEN_WRITER_FIRST);
    }
}

void stage_wait(stage *s, uint32_t f)
{
    saw_queue(s, f);
    if (s->w.fibers[f].canceled && s->w.fibers[f].shield) stage_saw(s, FIBERS_SEEN_SHIELDED);
    s->w.fibers[f].state = WAITING;
    s->w.fibers[f].prodded |= s->w.fibers[f].stale;
    s->w.fibers[f].stale = 0;
    s->w.order[s->w.order_count++] = (uint8_t)f;
}

void stage_leave(stage *s, uint32_t f)
{
    uint32_t kept = 0;
    if (s->w.fibers[f].state != WAITING) return;
    for (uint32_t at = 0; at < s->w.order_count; at++)
        if (s->w.order[at] != f) s->w.order[kept++] = s->w.order[at];
    memset(s->w.order + kept, 0, FIBERS_MOST - kept);
    s->w.order_count = (uint8_t)kept;
    s->w.fibers[f].state = READY;
}

/* ---- Answers --------------------------------------------------------------------------------------------------- */

void stage_finish(stage *s, uint32_t f, int code, uint8_t v0, uint8_t v1, uint8_t v2)
{
    world_fiber *w = &s->w.fibers[f];
    const fibers_op *op = stage_op(s, f);
    stage_leave(s, f);
    w->saved = 0;
    if (s->program->fibers[f].is_sender) {
        w->saved = (int8_t)code;
    } else {
        fibers_entry *e = &s->w.result.log[f][s->w.result.counts[f]++];
        *e = (fibers_entry){(int8_t)code, {v0, v1, v2}};
        s->set->codes[op ? op->kind : FIBERS_NURSERY_WAIT][fibers_code_index((int8_t)code)] = 1;
        if (code < 0 && code != FIBERS_SKIPPED) w->last = (int8_t)code;
    }
    if (op != NULL) w->pc++;
    w->phase = w->off = w->many_count = w->fetched = w->prodded = w->stale = 0;
    memset(w->many, 0, sizeof w->many);
    if (op == NULL) w->phase = 1; /* the wait at the end is over */
}

void stage_finish_case(stage *s, uint32_t f, uint32_t i, int code, uint8_t v0, uint8_t v1, uint8_t v2)
{
    const fibers_op *op = stage_op(s, f);
    if (op == NULL || op->kind != FIBERS_SELECT) {
        stage_finish(s, f, code, v0, v1, v2);
        return;
    }
    if (s->w.fibers[f].state == WAITING) stage_saw(s, FIBERS_SEEN_SELECT_WOKEN);
    stage_finish(s, f, (int)i, (uint8_t)code, v0, v1);
}

/* The wait ends with an error; nothing was done. */
static void fails(stage *s, uint32_t f, int code)
{
    world_fiber *w = &s->w.fibers[f];
    const fibers_op *op = stage_op(s, f);
    uint32_t reader;
    bool wrote = op->kind == FIBERS_SELECT && w->state == WAITING &&
                 (waits_for(s, f, FIBERS_WRITE_UNTIL, 0, &reader) || waits_for(s, f, FIBERS_WRITE_UNTIL, 1, &reader));
    if (wrote && (stage_first(s, f, FIBERS_READ_UNTIL, 0, &reader) != FIBERS_MOST ||
                  stage_first(s, f, FIBERS_READ_UNTIL, 1, &reader) != FIBERS_MOST))
        stage_saw(s, FIBERS_SEEN_SELECT_LEAVES);
    if (op->kind == FIBERS_ACQUIRE && w->state == WAITING && s->w.permits[op->object] > 0 &&
        stage_first(s, f, FIBERS_ACQUIRE, op->object, &reader) != FIBERS_MOST)
        stage_saw(s, FIBERS_SEEN_PERMITS_LEFT);
    if (w->state == WAITING && op->kind == FIBERS_BARRIER) stage_saw(s, FIBERS_SEEN_BARRIER_LEFT);
    if (op->kind == FIBERS_COND_WAIT && w->phase == 1) { /* the mutex first */
        stage_leave(s, f);
        w->phase = 2;
        w->saved = (int8_t)code;
    } else if (op->kind == FIBERS_TASK && w->phase == 1) { /* the fiber is waited for */
        stage_saw(s, FIBERS_SEEN_TASK_REFUSED);
        stage_leave(s, f);
        w->phase = 2;
        w->saved = (int8_t)code;
        if (code == RAD_ECANCELED || stage_is_told(s, f) || stage_is_late(s, f)) stage_cancel(s, op->object);
        if (s->w.fibers[op->object].state != ENDED) stage_wait(s, f);
    } else if (op->kind == FIBERS_NURSERY_GO || op->kind == FIBERS_NURSERY_SPAWN) {
        stage_spawn_failed(s, f, code);
    } else {
        stage_finish(s, f, code, 0, 0, 0);
    }
}

/* ---- Cancellation ---------------------------------------------------------------------------------------------- */

bool stage_is_told(const stage *s, uint32_t f)
{
    return s->w.fibers[f].canceled && s->w.fibers[f].shield == 0 && !s->w.fibers[f].stale;
}

bool stage_is_late(const stage *s, uint32_t f)
{
    return s->w.fibers[f].late >= LATE_YES && s->w.fibers[f].shield == 0;
}

bool stage_late_counts(const stage *s, uint32_t f, uint8_t until)
{
    return stage_is_late(s, f) && (until != FIBERS_PASSED || s->w.fibers[f].late == LATE_BEFORE);
}

/* Whether this wait lasts, whatever comes. */
static bool is_deaf(const stage *s, uint32_t f)
{
    const fibers_op *op = stage_op(s, f);
    if (op == NULL) return true;
    switch (op->kind) {
    case FIBERS_LOCK:
    case FIBERS_READ:
    case FIBERS_WRITE:
    case FIBERS_NURSERY_WAIT: return true;
    case FIBERS_COND_WAIT: return s->w.fibers[f].phase == 3;
    case FIBERS_TASK: return s->w.fibers[f].phase == 2;
    case FIBERS_TASK_JOIN: return s->w.fibers[f].phase == 1;
    default: return false;
    }
}

static uint8_t until_of(const stage *s, uint32_t f)
{
    const fibers_op *op = stage_op(s, f);
    if (is_deaf(s, f) || op->kind == FIBERS_SLEEP || !fibers_op_waits(op->kind)) return FIBERS_NEVER;
    return op->until;
}

void stage_cancel_nursery(stage *s, uint32_t f, int reason)
{
    world_fiber *w = &s->w.fibers[f];
    w->is_canceled = 1;
    if (w->has_reason) {
        stage_saw(s, FIBERS_SEEN_REASON_TWICE);
    } else {
        w->has_reason = 1;
        w->reason = (int8_t)reason;
        if (reason != 0 && !w->has_failure) {
            w->has_failure = 1;
            w->failure = (int8_t)reason;
            stage_saw(s, FIBERS_SEEN_REASON);
        }
    }
    for (uint32_t g = 0; g < s->program->fiber_count; g++) {
        world_fiber *child = &s->w.fibers[g];
        if (child->nursery != f + 1 || child->state == UNBORN || child->state == ENDED) continue;
        if (!child->canceled) child->arriving = 1;
        if (child->opened != OWNER_OPEN) continue;
        stage_saw(s, FIBERS_SEEN_CANCEL_BELOW);
        stage_cancel_nursery(s, g, reason != 0 ? reason : RAD_ECANCELED);
    }
}

/* What a fiber waits for ends, because it was cancelled or its nursery's deadline has come. */
static void interrupts(stage *s, uint32_t f)
{
    fibers_case cases[FIBERS_CASES];
    const fibers_op *op = stage_op(s, f);
    uint32_t count = stage_cases(s, f, cases);
    if (s->w.fibers[f].state != WAITING || s->w.fibers[f].shield > 0) return;
    if (!s->w.fibers[f].canceled && op != NULL && !stage_late_counts(s, f, until_of(s, f))) return;
    if (op == NULL || op->kind == FIBERS_NURSERY_WAIT) {
        stage_saw(s, FIBERS_SEEN_OWNER_CANCELED);
        stage_cancel_nursery(s, f, RAD_ECANCELED);
        return;
    }
    if (op->kind == FIBERS_TASK_JOIN && s->w.fibers[f].phase == 1)
        stage_cancel(s, (uint32_t)(s->w.fibers[f].fetched - 1));
    if (op->kind == FIBERS_TASK && s->w.fibers[f].phase == 2) stage_cancel(s, op->object);
    if (is_deaf(s, f)) {
        stage_saw(s, FIBERS_SEEN_LOCK_CANCELED);
        return;
    }
    stage_saw(s, s->w.fibers[f].canceled ? FIBERS_SEEN_WAIT_CANCELED : FIBERS_SEEN_WAIT_DEADLINE);
    if (op->kind == FIBERS_COND_WAIT) stage_saw(s, FIBERS_SEEN_COND_CANCELED);
    for (uint32_t i = 0; i < count; i++) {
        if (cases[i].kind != FIBERS_ON_CANCEL) continue;
        stage_saw(s, FIBERS_SEEN_SELECT_ON_CANCEL);
        stage_finish_case(s, f, i, 0, 0, 0, 0);
        return;
    }
    if (op->kind == FIBERS_SELECT) stage_saw(s, FIBERS_SEEN_SELECT_CANCELED);
    fails(s, f, RAD_ECANCELED);
}

void stage_cancel(stage *s, uint32_t f)
{
    world_fiber *w = &s->w.fibers[f];
    w->arriving = 0;
    if (w->state == ENDED) stage_saw(s, FIBERS_SEEN_CANCEL_ENDED);
    if (w->state == ENDED || w->state == UNBORN || w->canceled) return;
    w->canceled = 1;
    if (w->state == WAITING)
        w->prodded = 1; /* what it waits for may still be quicker */
    else if (stage_op(s, f) == NULL || fibers_op_waits(stage_op(s, f)->kind) ||
             stage_op(s, f)->kind == FIBERS_NURSERY_WAIT)
        w->stale = (uint8_t)stage_open(s, 2, 0); /* it is in its next call already, and did not wait yet */
}

void stage_prodded(stage *s, uint32_t f)
{
    s->w.fibers[f].prodded = 0;
    interrupts(s, f);
}

void stage_late(stage *s, uint32_t f)
{
    s->w.fibers[f].late = LATE_YES;
    interrupts(s, f);
}

/* ---- Deadlines ------------------------------------------------------------------------------------------------- */

bool stage_can_time_out(const stage *s, uint32_t f)
{
    fibers_case cases[FIBERS_CASES];
    if (s->w.fibers[f].state != WAITING) return false;
    if (stage_is_late(s, f) && s->w.fibers[f].late == LATE_BEFORE) return false;   /* that was earlier */
    if (s->is_firm && stage_is_late(s, f) && s->w.fibers[f].prodded) return false; /* that first */
    uint8_t until = until_of(s, f);
    uint32_t count = stage_cases(s, f, cases);
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].kind == FIBERS_SLEEP && cases[i].until == FIBERS_SOON) return true;
    return until == FIBERS_SOON || until == FIBERS_PASSED; /* of a condition */
}

void stage_times_out(stage *s, uint32_t f)
{
    fibers_case cases[FIBERS_CASES];
    uint8_t until = until_of(s, f);
    uint32_t count = stage_cases(s, f, cases), which[FIBERS_CASES + 1], found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].kind == FIBERS_SLEEP && cases[i].until == FIBERS_SOON) which[found++] = i;
    if (until == FIBERS_SOON || until == FIBERS_PASSED) which[found++] = FIBERS_CASES;
    uint32_t chosen = which[stage_pick(s, found)];
    if (chosen < FIBERS_CASES) {
        stage_finish_case(s, f, chosen, 0, 0, 0, 0);
        return;
    }
    stage_saw(s, FIBERS_SEEN_WAIT_TIMEOUT);
    if (stage_op(s, f)->kind == FIBERS_SELECT) stage_saw(s, FIBERS_SEEN_SELECT_TIMEOUT);
    fails(s, f, RAD_ETIMEOUT);
}

/* ---- Beginning, and being served ------------------------------------------------------------------------------- */

/* "What can be had at once is had, also by a fiber that was cancelled": locks and the like. */
static bool asks_first(const fibers_op *op)
{
    switch (op->kind) {
    case FIBERS_LOCK_UNTIL:
    case FIBERS_READ_UNTIL:
    case FIBERS_WRITE_UNTIL:
    case FIBERS_ACQUIRE:
    case FIBERS_GROUP_WAIT:
    case FIBERS_ONCE:
    case FIBERS_BARRIER:
    case FIBERS_SPAWN:
    case FIBERS_SEND_SPAWN:
    case FIBERS_NURSERY_SPAWN:
    case FIBERS_NURSERY_GO: return true;
    default: return false;
    }
}

/* Those that are ready; a time that comes soon may have come, or not. FIBERS_CASES: none. */
static uint32_t choose_case(stage *s, uint32_t f, const fibers_case *cases, uint32_t count)
{
    uint32_t which[FIBERS_CASES + 1], ready = 0, maybe = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_soon = cases[i].kind == FIBERS_SLEEP && cases[i].until == FIBERS_SOON &&
                       !s->is_quiet; /* then it has not come yet */
        maybe += is_soon;
        if (is_soon || case_is_ready(s, f, &cases[i])) which[ready++] = i;
    }
    if (ready - maybe > 1) stage_saw(s, FIBERS_SEEN_SELECT_RANDOM);
    if (ready == maybe) which[ready++] = FIBERS_CASES;
    return which[stage_pick(s, ready)];
}

/* Of two deadlines that have passed the earlier one counts. The tick that is due was, before anything began. */
static bool sleeps_too_long(stage *s, uint32_t f, const fibers_op *op)
{
    uint8_t time = op->kind == FIBERS_TICK && op->number ? FIBERS_PASSED : op->until;
    bool either = time == FIBERS_SOON && s->w.fibers[f].late == LATE_YES;
    return stage_late_counts(s, f, time) && !(either && stage_open(s, 2, 0));
}

static bool is_refused(stage *s, uint32_t f, const fibers_op *op, uint8_t until, const fibers_case *cases,
                       uint32_t count)
{
    bool told = !is_deaf(s, f) && stage_is_told(s, f), late = !is_deaf(s, f) && stage_is_late(s, f);
    if (told) stage_saw(s, FIBERS_SEEN_CANCELED_BEFORE);
    if (op->kind == FIBERS_BLOCKING) { /* the thread may be quicker, or not */
        bool soon = until == FIBERS_SOON, ends = told || (late && stage_late_counts(s, f, until));
        bool earlier = late && s->w.fibers[f].late == LATE_BEFORE && until != FIBERS_NOW;
        if (ends && stage_open(s, 2, 0) == 0) return fails(s, f, RAD_ECANCELED), true;
        if (until != FIBERS_NEVER && !(soon && s->is_quiet) && !earlier &&
            (soon ? stage_pick(s, 2) : stage_open(s, 2, until != FIBERS_PASSED)) == 0)
            return fails(s, f, RAD_ETIMEOUT), true;
        return false;
    }
    if (op->kind == FIBERS_JOIN && s->w.fibers[op->object].gone) return false;
    if (late && op->until != FIBERS_NOW && (op->kind == FIBERS_SLEEP || op->kind == FIBERS_TICK))
        told = told || sleeps_too_long(s, f, op);
    for (uint32_t i = 0; i < count; i++) /* a select for time 0 is one with a default */
        if (op->kind == FIBERS_SELECT && cases[i].kind == FIBERS_SLEEP && cases[i].until == FIBERS_NOW) return false;
    if (!told || op->until == FIBERS_NOW || asks_first(op)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (cases[i].kind != FIBERS_ON_CANCEL) continue;
        stage_saw(s, FIBERS_SEEN_SELECT_ON_CANCEL);
        return stage_finish_case(s, f, i, 0, 0, 0, 0), true;
    }
    return fails(s, f, RAD_ECANCELED), true;
}

void stage_begin_wait(stage *s, uint32_t f)
{
    fibers_case cases[FIBERS_CASES];
    const fibers_op *op = stage_op(s, f);
    uint8_t until = until_of(s, f);
    uint32_t count = stage_cases(s, f, cases);
    bool told = stage_is_told(s, f), late = stage_is_late(s, f);
    if (is_refused(s, f, op, until, cases, count)) return;
    uint32_t chosen = choose_case(s, f, cases, count);
    if (chosen < FIBERS_CASES) {
        if (told) stage_saw(s, FIBERS_SEEN_CANCELED_HAS);
        if (late) stage_saw(s, FIBERS_SEEN_LATE_HAS);
        case_do(s, f, &cases[chosen], chosen, false);
    } else if (until == FIBERS_NOW) {
        fails(s, f, RAD_ETIMEOUT);
    } else if (told && !is_deaf(s, f)) {
        fails(s, f, RAD_ECANCELED);
    } else if (!is_deaf(s, f) && stage_late_counts(s, f, until)) { /* it is in line for a moment */
        if (s->is_firm) {
            fails(s, f, RAD_ECANCELED);
        } else {
            stage_wait(s, f);
            s->w.fibers[f].prodded = 1;
        }
    } else if (until == FIBERS_PASSED && !(s->is_parallel && stage_pick(s, 2))) {
        fails(s, f, RAD_ETIMEOUT);
    } else {
        stage_wait(s, f);
    }
}

static bool serve(stage *s, uint32_t f)
{
    fibers_case cases[FIBERS_CASES];
    uint32_t count = stage_cases(s, f, cases), which[FIBERS_CASES], ready = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool has_action = cases[i].kind == FIBERS_LOCK_UNTIL || cases[i].kind == FIBERS_ON_CANCEL ||
                          (cases[i].kind == FIBERS_SLEEP && cases[i].until == FIBERS_SOON);
        if (!has_action && case_is_ready(s, f, &cases[i])) which[ready++] = i;
    }
    if (ready == 0) return false;
    uint32_t i = which[stage_pick(s, ready)];
    case_do(s, f, &cases[i], i, true);
    return true;
}

void stage_settle(stage *s)
{
    for (uint32_t at = 0; at < s->w.order_count;) at = serve(s, s->w.order[at]) ? 0 : at + 1;
}
