/* fibers_reference_ops.c — the small steps of a fiber: what does not wait, and what has more than one step. */
#include "fibers_reference_parts.h"

/* ---- Spawning -------------------------------------------------------------------------------------------------- */

static uint8_t later_of(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static void nursery_fails(stage *s, uint32_t owner, int code)
{
    if (s->w.fibers[owner].has_failure) return;
    s->w.fibers[owner].has_failure = 1;
    s->w.fibers[owner].failure = (int8_t)code;
}

void stage_spawn_failed(stage *s, uint32_t f, int code)
{
    const fibers_op *op = stage_op(s, f);
    bool goes = op->kind == FIBERS_NURSERY_GO;
    if (goes && code == RAD_ECLOSED) nursery_fails(s, op->object, code);
    if (goes && code != RAD_ECLOSED) stage_cancel_nursery(s, op->object, code);
    stage_finish(s, f, goes ? 0 : code, 0, 0, 0);
}

static uint8_t child_of(const fibers_op *op)
{
    return op->kind == FIBERS_NURSERY_SPAWN || op->kind == FIBERS_NURSERY_GO ? op->number : op->object;
}

static void gives_birth(stage *s, const fibers_op *op)
{
    world_fiber *child = &s->w.fibers[child_of(op)];
    bool nursery = op->kind == FIBERS_NURSERY_SPAWN || op->kind == FIBERS_NURSERY_GO;
    child->state = READY;
    child->released = op->kind == FIBERS_NURSERY_GO; /* there is no handle */
    if (!nursery) return;
    const world_fiber *owner = &s->w.fibers[op->object];
    child->nursery = (uint8_t)(op->object + 1);
    child->canceled = owner->is_canceled;
    child->late = later_of(owner->deadline, owner->late);
    if (owner->is_canceled) stage_saw(s, FIBERS_SEEN_SPAWN_CANCELED);
}

/* Phase 0 or 2: starts it; 1: says where it is. */
static void step_spawn(stage *s, uint32_t f, const fibers_op *op)
{
    world_fiber *w = &s->w.fibers[f];
    bool nursery = op->kind == FIBERS_NURSERY_SPAWN || op->kind == FIBERS_NURSERY_GO;
    const fibers_case room = {.kind = FIBERS_SPAWN};
    if (w->phase == 1) {
        s->w.fibers[child_of(op)].published = op->kind != FIBERS_NURSERY_GO;
        stage_finish(s, f, 0, 0, 0, 0);
        return;
    }
    uint8_t opened = s->w.fibers[op->object].opened;
    if (nursery && (opened == OWNER_NONE || (opened == OWNER_WAITED && op->kind == FIBERS_NURSERY_GO))) {
        stage_finish(s, f, FIBERS_SKIPPED, 0, 0, 0);
    } else if (nursery && (s->w.fibers[op->object].opened != OWNER_OPEN || s->w.fibers[op->object].is_closed)) {
        stage_saw(s, FIBERS_SEEN_SPAWN_CLOSED);
        stage_spawn_failed(s, f, RAD_ECLOSED);
    } else if (case_is_ready(s, f, &room)) {
        gives_birth(s, op);
        w->phase = 1;
    } else if (s->program->limit_waits) {
        w->phase = 0;
        stage_begin_wait(s, f);
    } else {
        stage_saw(s, FIBERS_SEEN_LIMIT);
        if (nursery)
            stage_spawn_failed(s, f, RAD_ELIMIT);
        else
            stage_finish(s, f, RAD_ELIMIT, 0, 0, 0);
    }
}

/* Phase 0: starts it; 1: sends its handle; 2: could not, and waits for it. */
static void step_task(stage *s, uint32_t f, const fibers_op *op)
{
    const fibers_case ended = {.kind = FIBERS_JOIN, .object = op->object};
    world_fiber *w = &s->w.fibers[f];
    if (w->phase == 0) {
        gives_birth(s, op);
        w->phase = 1;
    } else if (w->phase == 1) {
        stage_begin_wait(s, f);
    } else {
        case_do(s, f, &ended, 0, false);
    }
}

/* ---- Operations of several steps ------------------------------------------------------------------------------- */

void stage_signal(stage *s, uint32_t f)
{
    stage_leave(s, f);
    s->w.fibers[f].phase = 2;
    s->w.fibers[f].saved = 0;
}

/* Phase 0: unlocks; 1: waits for a signal; 2: is to lock; 3: waits for the mutex. */
static void step_cond_wait(stage *s, uint32_t f, const fibers_op *op)
{
    world_fiber *w = &s->w.fibers[f];
    if (w->phase == 2) {
        if (s->w.owners[0] == 0) {
            s->w.owners[0] = (uint8_t)(f + 1);
            stage_finish(s, f, w->saved, 0, 0, 0);
        } else {
            stage_saw(s, FIBERS_SEEN_COND_RELOCK);
            w->phase = 3;
            stage_wait(s, f);
        }
    } else if (s->w.owners[0] != f + 1) {
        stage_finish(s, f, FIBERS_SKIPPED, 0, 0, 0);
    } else if (op->until == FIBERS_NOW) {
        stage_finish(s, f, RAD_ETIMEOUT, 0, 0, 0);
    } else if (stage_is_told(s, f) || (stage_late_counts(s, f, op->until) && stage_open(s, 2, 0) == 0)) {
        stage_finish(s, f, RAD_ECANCELED, 0, 0, 0);
    } else if (op->until == FIBERS_PASSED && !stage_late_counts(s, f, op->until) && stage_open(s, 2, 0) == 0) {
        stage_finish(s, f, RAD_ETIMEOUT, 0, 0, 0);
    } else {
        mutex_unlock(s, 0);
        w->phase = 1;
        stage_wait(s, f);
        w->prodded |= stage_late_counts(s, f, op->until);
    }
}

static void step_signal(stage *s, uint32_t f, bool all)
{
    uint32_t i, g, woken = 0;
    while ((g = stage_first(s, f, FIBERS_COND_WAIT, 0, &i)) != FIBERS_MOST && (all || woken == 0)) {
        stage_signal(s, g);
        woken++;
    }
    if (woken == 0) stage_saw(s, FIBERS_SEEN_SIGNAL_NOBODY);
    if (woken > 1) stage_saw(s, FIBERS_SEEN_BROADCAST_WAKES);
    if (woken == 1 && !all && g != FIBERS_MOST) stage_saw(s, FIBERS_SEEN_SIGNAL_WAKES);
    stage_finish(s, f, 0, 0, 0, 0);
}

static void step_once(stage *s, uint32_t f, const fibers_op *op)
{
    if (s->w.fibers[f].phase == 0) {
        stage_begin_wait(s, f);
        return;
    }
    s->w.once = op->number == 0 ? ONCE_DONE : ONCE_FRESH;
    stage_finish(s, f, op->number, 1, 0, 0);
}

static void step_take(stage *s, uint32_t f)
{
    world_fiber *w = &s->w.fibers[f];
    uint32_t i = (uint32_t)w->saved;
    uint8_t item = ++s->w.created;
    if (s->program->stock_fails & 1u << (item - 1)) {
        s->w.made--;
        stage_saw(s, FIBERS_SEEN_STOCK_FAILS);
        stage_finish_case(s, f, i, 6, 0, 0, 0);
    } else {
        w->items[w->item_count++] = item;
        stage_finish_case(s, f, i, 0, item, 0, 0);
    }
}

/* What a thread does for a fiber: it is no fiber, so nothing cancels it. */
static void step_blocking(stage *s, uint32_t f, const fibers_op *op)
{
    int code = 5;
    uint8_t value = 0;
    if (s->w.fibers[f].phase == 0) {
        stage_begin_wait(s, f);
        return;
    }
    if (op->number == 1 && !chan_try_send(s, FIBERS_MOST, op->object, (uint8_t)(FIBERS_THREAD_VALUE + f), &code))
        code = RAD_ETIMEOUT;
    if (op->number == 2 && !chan_try_recv(s, FIBERS_MOST, op->object, &value, &code)) code = RAD_ETIMEOUT;
    s->w.busy--;
    stage_finish(s, f, 0, (uint8_t)code, value, 0);
}

static void step_nursery_wait(stage *s, uint32_t f)
{
    const fibers_case all = {.kind = FIBERS_NURSERY_WAIT};
    if (stage_is_told(s, f) || (stage_is_late(s, f) && !nursery_is_empty(s, f))) {
        stage_saw(s, FIBERS_SEEN_OWNER_CANCELED);
        stage_cancel_nursery(s, f, RAD_ECANCELED);
    }
    if (nursery_is_empty(s, f))
        case_do(s, f, &all, 0, false);
    else
        stage_wait(s, f);
}

/* Phase 0: begins; 1: all have been reached. */
static void step_nursery_cancel(stage *s, uint32_t f, const fibers_op *op)
{
    if (s->w.fibers[op->object].opened != OWNER_OPEN) {
        stage_finish(s, f, FIBERS_SKIPPED, 0, 0, 0);
    } else if (s->w.fibers[f].phase == 0) {
        stage_cancel_nursery(s, op->object, op->number);
        s->w.fibers[f].phase = 1;
    } else {
        stage_finish(s, f, 0, 0, 0, 0);
    }
}

/* What would be a mistake, or has no handle. */
static bool is_out_of_place(const stage *s, uint32_t f, uint8_t kind, uint8_t object)
{
    const world_fiber *w = &s->w.fibers[f];
    switch (kind) {
    case FIBERS_JOIN: return !s->w.fibers[object].published;
    case FIBERS_TAKE: return w->item_count == 2;
    case FIBERS_LOCK:
    case FIBERS_LOCK_UNTIL: return s->w.owners[object] == f + 1;
    case FIBERS_READ:
    case FIBERS_WRITE:
    case FIBERS_READ_UNTIL:
    case FIBERS_WRITE_UNTIL: return (w->reads | w->writes) & 1u << object;
    default: return false;
    }
}

static void step_select(stage *s, uint32_t f, const fibers_op *op)
{
    for (uint32_t i = 0; i < op->case_count; i++)
        if (is_out_of_place(s, f, op->cases[i].kind, op->cases[i].object)) s->w.fibers[f].off |= (uint8_t)(1u << i);
    stage_begin_wait(s, f);
}

/* ---- Operations of one step ------------------------------------------------------------------------------------ */

/* What the operation answers. */
static int do_at_once_sync(stage *s, uint32_t f, const fibers_op *op)
{
    world_fiber *w = &s->w.fibers[f];
    uint8_t bit = (uint8_t)(1u << op->object);
    switch (op->kind) {
    case FIBERS_UNLOCK:
        if (s->w.owners[op->object] != f + 1) return FIBERS_SKIPPED;
        mutex_unlock(s, op->object);
        return 0;
    case FIBERS_IS_MINE: return s->w.owners[op->object] == f + 1;
    case FIBERS_RW_UNLOCK:
        if (!((w->reads | w->writes) & bit)) return FIBERS_SKIPPED;
        w->reads &= (uint8_t)~bit;
        w->writes &= (uint8_t)~bit;
        return 0;
    case FIBERS_POST: s->w.permits[op->object] += op->number; return 0;
    case FIBERS_PERMITS: return s->w.permits[op->object];
    case FIBERS_GROUP_ADD: s->w.groups[op->object] += op->number; return 0;
    case FIBERS_GROUP_DONE: s->w.groups[op->object]--; return 0;
    case FIBERS_PUT:
        if (w->item_count == 0) return FIBERS_SKIPPED;
        stock_put(s, w->items[--w->item_count]);
        w->items[w->item_count] = 0;
        return 0;
    case FIBERS_STOCK_CLOSE:
        if (s->w.stock_is_closed) return 0;
        s->w.stock_is_closed = 1;
        s->w.stock_code = (int8_t)op->number;
        s->w.made -= s->w.idle_count;
        s->w.idle_count = s->w.idle[0] = s->w.idle[1] = 0;
        return 1;
    case FIBERS_STOCK_CODE: return s->w.stock_code;
    default: return 0;
    }
}

static int start_timer(stage *s, uint8_t *timer, uint8_t until)
{
    int was = *timer != TIMER_IDLE;
    if (*timer == TIMER_FIRED) stage_saw(s, FIBERS_SEEN_TIMER_IN_TIME);
    if (*timer != TIMER_IDLE && *timer != TIMER_FIRED) stage_saw(s, FIBERS_SEEN_TIMER_RUNNING);
    *timer = until == FIBERS_NEVER ? TIMER_FAR : until == FIBERS_SOON ? TIMER_SOON : TIMER_DUE;
    return was;
}

static int stop_timer(stage *s, uint8_t *timer)
{
    int was = start_timer(s, timer, FIBERS_NEVER);
    *timer = TIMER_IDLE;
    return was;
}

static int do_at_once(stage *s, uint32_t f, const fibers_op *op)
{
    world_fiber *w = &s->w.fibers[f];
    switch (op->kind) {
    case FIBERS_NOTE: return ++s->w.note;
    case FIBERS_CANCEL:
        if (!s->w.fibers[op->object].published) return FIBERS_SKIPPED;
        stage_cancel(s, op->object);
        return 0;
    case FIBERS_RELEASE:
        if (!s->w.fibers[op->object].published || s->w.fibers[op->object].released) return FIBERS_SKIPPED;
        s->w.fibers[op->object].released = 1;
        return 0;
    case FIBERS_GIVE: w->given = op->number; return 0;
    case FIBERS_IS_CANCELED: return w->canceled || w->late >= LATE_YES;
    case FIBERS_SHIELD:
        if (op->number == 0 && w->shield == 0) return FIBERS_SKIPPED;
        w->shield = (uint8_t)(op->number ? w->shield + 1 : w->shield - 1);
        return 0;
    case FIBERS_LOCAL_SET: w->local = op->number; return 0;
    case FIBERS_LOCAL_GET: return w->local;
    case FIBERS_CLOSE:
        if (s->w.chans[op->object].is_closed) {
            stage_saw(s, FIBERS_SEEN_CLOSE_TWICE);
            return 0;
        }
        s->w.chans[op->object].is_closed = 1;
        s->w.chans[op->object].code = (int8_t)op->number;
        return 1;
    case FIBERS_CODE: return s->w.chans[op->object].code;
    case FIBERS_COUNT: return s->w.chans[op->object].count;
    case FIBERS_TIMER_START: return start_timer(s, &s->w.timer, op->until);
    case FIBERS_TIMER_STOP: return stop_timer(s, &s->w.timer);
    case FIBERS_ALARM_START: return start_timer(s, &s->w.alarm, op->until);
    case FIBERS_ALARM_STOP: return stop_timer(s, &s->w.alarm);
    case FIBERS_OPEN:
        if (w->opened != OWNER_NONE) return FIBERS_SKIPPED;
        w->opened = OWNER_OPEN;
        w->deadline = op->until == FIBERS_NEVER ? LATE_NO : op->until == FIBERS_SOON ? LATE_SOON : LATE_BEFORE;
        return 0;
    case FIBERS_NURSERY_CLOSE:
        if (s->w.fibers[op->object].opened != OWNER_OPEN) return FIBERS_SKIPPED;
        s->w.fibers[op->object].is_closed = 1;
        return 0;
    default: return do_at_once_sync(s, f, op);
    }
}

/* ---- The end of a fiber ---------------------------------------------------------------------------------------- */

static bool gives_back(stage *s, uint32_t f)
{
    world_fiber *w = &s->w.fibers[f];
    for (uint8_t m = 0; m < FIBERS_LOCKS; m++) {
        if (s->w.owners[m] != f + 1) continue;
        mutex_unlock(s, m);
        return true;
    }
    for (uint8_t l = 0; l < FIBERS_LOCKS; l++) {
        uint8_t bit = (uint8_t)(1u << l);
        if (!((w->reads | w->writes) & bit)) continue;
        w->reads &= (uint8_t)~bit;
        w->writes &= (uint8_t)~bit;
        return true;
    }
    if (w->item_count == 0) return false;
    stock_put(s, w->items[--w->item_count]);
    w->items[w->item_count] = 0;
    return true;
}

static int answer_of(const stage *s, uint32_t f)
{
    const fibers_fiber *fiber = &s->program->fibers[f];
    if (fiber->is_sender) return s->w.fibers[f].saved;
    return fiber->returns == FIBERS_RETURNS_LAST ? s->w.fibers[f].last : fiber->returns;
}

static void step_end(stage *s, uint32_t f)
{
    world_fiber *w = &s->w.fibers[f];
    if (gives_back(s, f)) return;
    if (w->opened == OWNER_OPEN) {
        step_nursery_wait(s, f);
        return;
    }
    int answer = answer_of(s, f);
    w->state = ENDED;
    w->arriving = 0;
    w->answer = (int8_t)answer;
    w->destroyed = w->local != 0;
    if (f == 0) s->w.result.answer = (int8_t)answer;
    if (w->nursery == 0 || answer == 0) return;
    const world_fiber *owner = &s->w.fibers[w->nursery - 1];
    if (owner->has_reason && owner->reason == 0 && answer == RAD_ECANCELED) {
        stage_saw(s, FIBERS_SEEN_CHILD_ON_PURPOSE);
        return;
    }
    if (!owner->has_failure) stage_saw(s, FIBERS_SEEN_CHILD_FAILS);
    nursery_fails(s, w->nursery - 1u, answer);
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

void stage_step(stage *s, uint32_t f)
{
    world_fiber *w = &s->w.fibers[f];
    const fibers_op *op = stage_op(s, f);
    if (op == NULL) {
        step_end(s, f);
        return;
    }
    switch (op->kind) {
    case FIBERS_SPAWN:
    case FIBERS_SEND_SPAWN:
    case FIBERS_NURSERY_SPAWN:
    case FIBERS_NURSERY_GO: step_spawn(s, f, op); return;
    case FIBERS_TASK: step_task(s, f, op); return;
    case FIBERS_COND_WAIT: step_cond_wait(s, f, op); return;
    case FIBERS_SIGNAL:
    case FIBERS_BROADCAST: step_signal(s, f, op->kind == FIBERS_BROADCAST); return;
    case FIBERS_ONCE: step_once(s, f, op); return;
    case FIBERS_BLOCKING: step_blocking(s, f, op); return;
    case FIBERS_NURSERY_CANCEL: step_nursery_cancel(s, f, op); return;
    case FIBERS_NURSERY_WAIT:
        if (w->opened == OWNER_OPEN)
            step_nursery_wait(s, f);
        else
            stage_finish(s, f, FIBERS_SKIPPED, 0, 0, 0);
        return;
    case FIBERS_MISTAKE:
        if (s->w.owners[op->object] == f + 1)
            stage_finish(s, f, FIBERS_SKIPPED, 0, 0, 0);
        else
            s->w.is_aborted = 1;
        return;
    default: break;
    }
    if (w->phase == 1 && (op->kind == FIBERS_SEND_MANY || op->kind == FIBERS_RECV_MANY)) {
        batch_more(s, f);
    } else if (w->phase == 1 && op->kind == FIBERS_TASK_JOIN) {
        const fibers_case ended = {.kind = FIBERS_JOIN, .object = (uint8_t)(w->fetched - 1)};
        if (stage_is_told(s, f) || stage_is_late(s, f)) stage_cancel(s, ended.object);
        if (case_is_ready(s, f, &ended))
            case_do(s, f, &ended, 0, false);
        else
            stage_wait(s, f);
    } else if (w->phase == 1) { /* of a take, alone or in a select */
        step_take(s, f);
    } else if (op->kind == FIBERS_SELECT) {
        step_select(s, f, op);
    } else if (op->kind == FIBERS_TIMER_START || op->kind == FIBERS_ALARM_START || op->kind == FIBERS_OPEN ||
               !(fibers_op_waits(op->kind) || op->kind == FIBERS_LOCK || op->kind == FIBERS_READ ||
                 op->kind == FIBERS_WRITE)) {
        stage_finish(s, f, do_at_once(s, f, op), 0, 0, 0);
    } else if (is_out_of_place(s, f, op->kind, op->object)) {
        stage_finish(s, f, FIBERS_SKIPPED, 0, 0, 0);
    } else {
        stage_begin_wait(s, f);
    }
}
