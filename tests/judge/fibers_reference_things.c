/* fibers_reference_things.c — channels, locks and the like: whether a fiber can have something now, and having it. */
#include "fibers_reference_parts.h"

#include <string.h>

/* ---- Channels -------------------------------------------------------------------------------------------------- */

static bool chan_can_send(const stage *s, uint32_t f, uint8_t c)
{
    uint32_t i;
    return s->w.chans[c].is_closed || s->w.chans[c].count < s->program->capacities[c] ||
           s->program->modes[c] != RAD_CHAN_BLOCKS || stage_first(s, f, FIBERS_RECV, c, &i) != FIBERS_MOST;
}

static bool chan_has_value(const stage *s, uint32_t f, uint8_t c)
{
    uint32_t i;
    return s->w.chans[c].count > 0 || stage_first(s, f, FIBERS_SEND, c, &i) != FIBERS_MOST;
}

static void chan_push(stage *s, uint8_t c, uint8_t value)
{
    s->w.chans[c].items[s->w.chans[c].count++] = value;
}

static uint8_t shift(uint8_t *items, uint8_t *count)
{
    uint8_t first = items[0];
    --*count;
    memmove(items, items + 1, *count);
    items[*count] = 0;
    return first;
}

/* A batch has its first: the rest is for later steps. */
static void batch_begins(stage *s, uint32_t f, uint8_t value)
{
    world_fiber *w = &s->w.fibers[f];
    w->saved = w->state == WAITING;
    stage_leave(s, f);
    w->many[0] = value;
    w->many_count = 1;
    w->phase = 1;
}

/* A select that waits may have several cases for the same channel: any of them. */
static uint32_t one_of_its_cases(stage *s, uint32_t g, uint8_t kind, uint8_t c)
{
    fibers_case cases[FIBERS_CASES];
    uint32_t count = stage_cases(s, g, cases), which[FIBERS_CASES], found = 0;
    if (stage_op(s, g)->kind != FIBERS_SELECT) return 0;
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].kind == kind && cases[i].object == c) which[found++] = i;
    return which[stage_pick(s, found)];
}

static void saw_meeting(stage *s, uint32_t f, uint32_t g, uint8_t c)
{
    bool one = f < FIBERS_MOST && stage_op(s, f) && stage_op(s, f)->kind == FIBERS_SELECT;
    if (s->program->capacities[c] == 0) stage_saw(s, FIBERS_SEEN_RENDEZVOUS);
    if (one && stage_op(s, g)->kind == FIBERS_SELECT) stage_saw(s, FIBERS_SEEN_SELECT_TWO);
}

bool chan_try_send(stage *s, uint32_t f, uint8_t c, uint8_t value, int *code)
{
    uint32_t i, g = stage_first(s, f, FIBERS_RECV, c, &i);
    *code = 0;
    if (s->w.chans[c].is_closed) {
        *code = RAD_ECLOSED;
    } else if (g != FIBERS_MOST) {
        stage_saw(s, FIBERS_SEEN_DIRECT);
        saw_meeting(s, f, g, c);
        i = one_of_its_cases(s, g, FIBERS_RECV, c);
        if (stage_op(s, g)->kind == FIBERS_RECV_MANY)
            batch_begins(s, g, value);
        else
            stage_finish_case(s, g, i, 0, value, 0, 0);
    } else if (s->w.chans[c].count < s->program->capacities[c]) {
        chan_push(s, c, value);
    } else if (s->program->modes[c] == RAD_CHAN_DROPS_NEW) {
        stage_saw(s, FIBERS_SEEN_DROP_NEW);
        *code = 1;
    } else if (s->program->modes[c] == RAD_CHAN_DROPS_OLD) {
        stage_saw(s, FIBERS_SEEN_DROP_OLD);
        shift(s->w.chans[c].items, &s->w.chans[c].count);
        chan_push(s, c, value);
        *code = 1;
    } else {
        return false;
    }
    return true;
}

/* What the first sender that waits has to send: it is taken now. */
static uint8_t take_from_sender(stage *s, uint32_t g, uint8_t c)
{
    const fibers_op *op = stage_op(s, g);
    uint32_t i = one_of_its_cases(s, g, FIBERS_SEND, c);
    uint8_t value = fibers_value(g, s->w.fibers[g].pc, op->kind == FIBERS_SELECT ? i : 0);
    if (op->kind == FIBERS_SELECT) stage_saw(s, FIBERS_SEEN_SELECT_BOTH_SENDS);
    if (op->kind == FIBERS_SEND_MANY)
        batch_begins(s, g, 0);
    else
        stage_finish_case(s, g, i, 0, 0, 0, 0);
    return value;
}

bool chan_try_recv(stage *s, uint32_t f, uint8_t c, uint8_t *value, int *code)
{
    uint32_t i, g = stage_first(s, f, FIBERS_SEND, c, &i);
    *code = 0;
    *value = 0;
    if (s->w.chans[c].count > 0) {
        if (s->w.chans[c].is_closed) stage_saw(s, FIBERS_SEEN_DRAIN);
        *value = shift(s->w.chans[c].items, &s->w.chans[c].count);
        if (g != FIBERS_MOST && !s->w.chans[c].is_closed) {
            stage_saw(s, FIBERS_SEEN_REFILL);
            chan_push(s, c, take_from_sender(s, g, c));
        }
    } else if (s->w.chans[c].is_closed) {
        *code = RAD_ECLOSED;
    } else if (g != FIBERS_MOST) {
        saw_meeting(s, f, g, c);
        *value = take_from_sender(s, g, c);
    } else {
        return false;
    }
    return true;
}

/* One more, or the end. */
static bool batch_is_over(stage *s, uint32_t f)
{
    world_fiber *w = &s->w.fibers[f];
    const fibers_op *op = stage_op(s, f);
    uint8_t c = op->object, value = 0;
    int code = 0;
    bool sends = op->kind == FIBERS_SEND_MANY;
    bool has_more = sends ? !s->w.chans[c].is_closed && chan_can_send(s, f, c) : chan_has_value(s, f, c);
    if (w->many_count == op->number || !has_more) {
        stage_finish(s, f, w->many_count, w->many[0], w->many[1], w->many[2]);
        return true;
    }
    if (sends)
        chan_try_send(s, f, c, fibers_value(f, w->pc, w->many_count), &code);
    else if (chan_try_recv(s, f, c, &value, &code))
        w->many[w->many_count] = value;
    w->many_count++;
    stage_saw(s, sends ? FIBERS_SEEN_BATCH_SENT : FIBERS_SEEN_BATCH_RECEIVED);
    if (w->saved) stage_saw(s, FIBERS_SEEN_BATCH_AFTER_WAIT);
    return false;
}

/* Others may do something between two values of a batch; in the runtime only after the first one. */
void batch_more(stage *s, uint32_t f)
{
    while (!batch_is_over(s, f) && s->is_firm) continue;
}

static void chan_case_do(stage *s, uint32_t f, const fibers_case *c, uint32_t i, bool has_waited)
{
    bool sends = c->kind == FIBERS_SEND || c->kind == FIBERS_SEND_MANY;
    bool is_many = c->kind == FIBERS_SEND_MANY || c->kind == FIBERS_RECV_MANY;
    bool selects = stage_op(s, f)->kind == FIBERS_SELECT;
    uint8_t value = 0;
    int code = 0;
    if (has_waited && s->w.chans[c->object].is_closed)
        stage_saw(s, selects ? FIBERS_SEEN_CLOSE_SELECT
                     : sends ? FIBERS_SEEN_CLOSE_SENDER
                             : FIBERS_SEEN_CLOSE_RECEIVER);
    stage_leave(s, f); /* it does not meet itself, and nobody is behind it */
    if (sends)
        chan_try_send(s, f, c->object, fibers_value(f, s->w.fibers[f].pc, selects ? i : 0), &code);
    else
        chan_try_recv(s, f, c->object, &value, &code);
    if (is_many && code >= 0)
        batch_begins(s, f, value);
    else
        stage_finish_case(s, f, i, code, value, 0, 0);
}

/* ---- Mutexes --------------------------------------------------------------------------------------------------- */

static void mutex_take(stage *s, uint32_t f, uint8_t m, uint32_t i)
{
    const fibers_op *op = stage_op(s, f);
    s->w.owners[m] = (uint8_t)(f + 1);
    if (op->kind == FIBERS_SELECT) stage_saw(s, FIBERS_SEEN_SELECT_LOCK);
    if (op->kind == FIBERS_COND_WAIT)
        stage_finish(s, f, s->w.fibers[f].saved, 0, 0, 0);
    else
        stage_finish_case(s, f, i, 0, 0, 0, 0);
}

/* A waiter gets it at once, or it is free, and the first to come takes it. */
void mutex_unlock(stage *s, uint8_t m)
{
    uint32_t i, g = stage_first(s, FIBERS_MOST, FIBERS_LOCK_UNTIL, m, &i);
    s->w.owners[m] = 0;
    if (g == FIBERS_MOST || stage_pick(s, 2) == 0) return;
    stage_saw(s, FIBERS_SEEN_HAND_OVER);
    mutex_take(s, g, m, i);
}

bool mutex_can_grab(const stage *s, uint32_t f, uint8_t *m, uint32_t *i)
{
    for (*m = 0; *m < FIBERS_LOCKS; ++*m)
        if (s->w.owners[*m] == 0 && s->w.fibers[f].state == WAITING &&
            stage_first(s, FIBERS_MOST, FIBERS_LOCK_UNTIL, *m, i) == f)
            return true;
    return false;
}

/* ---- RW locks -------------------------------------------------------------------------------------------------- */

static bool rwlock_has(const stage *s, uint8_t l, bool readers, bool writers)
{
    for (uint32_t f = 0; f < s->program->fiber_count; f++)
        if ((readers && s->w.fibers[f].reads & 1u << l) || (writers && s->w.fibers[f].writes & 1u << l)) return true;
    return false;
}

bool rwlock_is_written(const stage *s, uint8_t l)
{
    return rwlock_has(s, l, false, true);
}

static void rwlock_do(stage *s, uint32_t f, const fibers_case *c, uint32_t i, bool has_waited)
{
    uint32_t other;
    if (c->kind == FIBERS_READ_UNTIL) {
        if (has_waited && rwlock_has(s, c->object, true, false)) stage_saw(s, FIBERS_SEEN_READERS_IN);
        s->w.fibers[f].reads |= (uint8_t)(1u << c->object);
    } else {
        if (has_waited && stage_first(s, f, FIBERS_READ_UNTIL, c->object, &other) != FIBERS_MOST)
            stage_saw(s, FIBERS_SEEN_WRITER_AFTER_WRITER);
        s->w.fibers[f].writes |= (uint8_t)(1u << c->object);
    }
    stage_finish_case(s, f, i, 0, 0, 0, 0);
}

/* ---- The stock ------------------------------------------------------------------------------------------------- */

void stock_put(stage *s, uint8_t item)
{
    if (s->program->stock_spoils & 1u << (item - 1)) stage_saw(s, FIBERS_SEEN_STOCK_SPOILED);
    if (s->w.stock_is_closed || s->program->stock_spoils & 1u << (item - 1))
        s->w.made--;
    else
        s->w.idle[s->w.idle_count++] = item;
}

static void stock_do(stage *s, uint32_t f, uint32_t i, bool has_waited)
{
    world_fiber *w = &s->w.fibers[f];
    if (has_waited) stage_saw(s, s->w.stock_is_closed ? FIBERS_SEEN_STOCK_CLOSE_WAITER : FIBERS_SEEN_STOCK_WAITS);
    if (s->w.stock_is_closed) {
        stage_finish_case(s, f, i, RAD_ECLOSED, 0, 0, 0);
    } else if (s->w.idle_count > 0) { /* the one that was given back last */
        uint8_t item = s->w.idle[--s->w.idle_count];
        s->w.idle[s->w.idle_count] = 0;
        w->items[w->item_count++] = item;
        stage_saw(s, FIBERS_SEEN_STOCK_REUSED);
        stage_finish_case(s, f, i, 0, item, 0, 0);
    } else { /* one is made, in a step of its own */
        s->w.made++;
        stage_leave(s, f);
        w->phase = 1;
        w->saved = (int8_t)i;
    }
}

/* ---- Meetings and ends ----------------------------------------------------------------------------------------- */

static uint32_t barrier_count(const stage *s, uint32_t f)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < s->w.order_count; at++)
        count += s->w.order[at] != f && stage_op(s, s->w.order[at]) != NULL &&
                 stage_op(s, s->w.order[at])->kind == FIBERS_BARRIER;
    return count;
}

static void barrier_do(stage *s, uint32_t f)
{
    uint32_t i, g, one = stage_open(s, s->program->parties, 0);
    if (s->program->parties > 1) stage_saw(s, FIBERS_SEEN_BARRIER_OPENS);
    stage_finish(s, f, one == 0, 0, 0, 0);
    for (uint32_t n = 1; n < s->program->parties; n++) {
        g = stage_first(s, FIBERS_MOST, FIBERS_BARRIER, 0, &i);
        stage_finish(s, g, one == n, 0, 0, 0);
    }
}

static void join_do(stage *s, uint32_t f, const fibers_case *c, uint32_t i, bool has_waited)
{
    const fibers_op *op = stage_op(s, f);
    const world_fiber *ended = &s->w.fibers[c->object];
    uint32_t other;
    if (has_waited) {
        stage_saw(s, FIBERS_SEEN_JOIN_WAITS);
        if (stage_first(s, f, FIBERS_JOIN, c->object, &other) != FIBERS_MOST) stage_saw(s, FIBERS_SEEN_JOIN_MANY);
    }
    if (op->kind == FIBERS_TASK) {
        int code = s->w.fibers[f].saved;
        s->w.fibers[c->object].released = 1;
        stage_finish(s, f, code, 0, 0, 0);
    } else if (!has_waited && ended->gone && op->kind != FIBERS_TASK_JOIN) {
        stage_saw(s, FIBERS_SEEN_JOIN_STALE);
        stage_finish_case(s, f, i, RAD_ESTALE, 0, 0, 0);
    } else {
        if (op->kind == FIBERS_TASK_JOIN) s->w.fibers[c->object].released = 1;
        stage_finish_case(s, f, i, 0, ended->given, (uint8_t)ended->answer, ended->destroyed);
    }
}

bool nursery_is_empty(const stage *s, uint32_t owner)
{
    for (uint32_t f = 0; f < s->program->fiber_count; f++)
        if (s->w.fibers[f].nursery == owner + 1 && (s->w.fibers[f].state == READY || s->w.fibers[f].state == WAITING))
            return false;
    return true;
}

/* One that has ended counts until its handle is given up. */
uint32_t world_live(const stage *s)
{
    uint32_t live = 0;
    for (uint32_t f = 0; f < s->program->fiber_count; f++)
        live += s->w.fibers[f].state != UNBORN && !(s->w.fibers[f].state == ENDED && s->w.fibers[f].released);
    return live;
}

/* ---- Tasks in order -------------------------------------------------------------------------------------------- */

static void task_received(stage *s, uint32_t f, uint8_t task)
{
    stage_leave(s, f);
    s->w.fibers[f].fetched = (uint8_t)(task + 1);
    s->w.fibers[f].phase = 1;
}

static void task_do(stage *s, uint32_t f, const fibers_case *c)
{
    uint32_t i, g = stage_first(s, f, FIBERS_TASK_JOIN, 0, &i);
    if (g != FIBERS_MOST)
        task_received(s, g, c->object);
    else
        s->w.tasks[s->w.task_count++] = c->object;
    stage_finish(s, f, 0, 0, 0, 0);
}

static uint32_t task_first_sender(const stage *s)
{
    for (uint32_t at = 0; at < s->w.order_count; at++) {
        const fibers_op *op = stage_op(s, s->w.order[at]);
        if (op != NULL && op->kind == FIBERS_TASK && s->w.fibers[s->w.order[at]].phase == 1) return s->w.order[at];
    }
    return FIBERS_MOST;
}

static void task_join_do(stage *s, uint32_t f)
{
    uint32_t g = task_first_sender(s);
    uint8_t task;
    if (s->w.task_count > 0) {
        task = shift(s->w.tasks, &s->w.task_count);
        if (g != FIBERS_MOST) s->w.tasks[s->w.task_count++] = stage_op(s, g)->object;
    } else {
        task = stage_op(s, g)->object;
    }
    if (g != FIBERS_MOST) stage_finish(s, g, 0, 0, 0, 0);
    for (uint32_t i = 0; i < s->w.task_count; i++)
        if (s->w.fibers[s->w.tasks[i]].state == ENDED && s->w.fibers[task].state != ENDED)
            stage_saw(s, FIBERS_SEEN_TASK_IN_ORDER);
    task_received(s, f, task);
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

static bool lock_is_ready(const stage *s, uint32_t f, const fibers_case *c)
{
    uint32_t i;
    if (c->kind == FIBERS_LOCK_UNTIL) return s->w.owners[c->object] == 0;
    if (c->kind == FIBERS_WRITE_UNTIL)
        return !rwlock_has(s, c->object, true, true) && !stage_is_behind(s, f, FIBERS_WRITE_UNTIL, c->object);
    return !rwlock_has(s, c->object, false, true) &&
           stage_first(s, f, FIBERS_WRITE_UNTIL, c->object, &i) == FIBERS_MOST;
}

bool case_is_ready(const stage *s, uint32_t f, const fibers_case *c)
{
    uint32_t i;
    switch (c->kind) {
    case FIBERS_SEND:
    case FIBERS_SEND_MANY: return chan_can_send(s, f, c->object);
    case FIBERS_RECV:
    case FIBERS_RECV_MANY: return chan_has_value(s, f, c->object) || s->w.chans[c->object].is_closed;
    case FIBERS_JOIN: return s->w.fibers[c->object].state == ENDED;
    case FIBERS_SLEEP: return c->until == FIBERS_NOW || c->until == FIBERS_PASSED;
    case FIBERS_ON_CANCEL: return stage_is_told(s, f) || stage_is_late(s, f);
    case FIBERS_LOCK_UNTIL:
    case FIBERS_READ_UNTIL:
    case FIBERS_WRITE_UNTIL: return lock_is_ready(s, f, c);
    case FIBERS_ACQUIRE:
        return s->w.permits[c->object] >= c->number && !stage_is_behind(s, f, FIBERS_ACQUIRE, c->object);
    case FIBERS_GROUP_WAIT: return s->w.groups[c->object] == 0;
    case FIBERS_ONCE: return s->w.once != ONCE_RUNS;
    case FIBERS_BARRIER: return barrier_count(s, f) + 1 >= s->program->parties;
    case FIBERS_TAKE:
        return s->w.stock_is_closed || ((s->w.idle_count > 0 || s->w.made < s->program->stock_capacity) &&
                                        !stage_is_behind(s, f, FIBERS_TAKE, 0));
    case FIBERS_TIMER_WAIT: return s->w.timer == TIMER_FIRED && !stage_is_behind(s, f, FIBERS_TIMER_WAIT, 0);
    case FIBERS_TICK: return c->number == 1;
    case FIBERS_BLOCKING: return s->w.busy < s->program->blocking_threads;
    case FIBERS_NURSERY_WAIT: return nursery_is_empty(s, f);
    case FIBERS_SPAWN: return s->program->limit == 0 || world_live(s) < s->program->limit;
    case FIBERS_TASK:
        return s->w.task_count < s->program->task_capacity || stage_first(s, f, FIBERS_TASK_JOIN, 0, &i) != FIBERS_MOST;
    case FIBERS_TASK_JOIN: return s->w.task_count > 0 || task_first_sender(s) != FIBERS_MOST;
    default: return false; /* OFF; a condition: only a signal ends that */
    }
}

static void saw_waits(stage *s, const fibers_case *c)
{
    switch (c->kind) {
    case FIBERS_GROUP_WAIT: stage_saw(s, FIBERS_SEEN_GROUP_WAKES); break;
    case FIBERS_TIMER_WAIT: stage_saw(s, FIBERS_SEEN_TIMER_WAKES); break;
    case FIBERS_SPAWN: stage_saw(s, FIBERS_SEEN_LIMIT_WAITS); break;
    case FIBERS_BLOCKING: stage_saw(s, FIBERS_SEEN_BLOCKING_BUSY); break;
    case FIBERS_ONCE: stage_saw(s, s->w.once == ONCE_DONE ? FIBERS_SEEN_ONCE_WAITS : FIBERS_SEEN_ONCE_AGAIN); break;
    default: break;
    }
}

void case_do(stage *s, uint32_t f, const fibers_case *c, uint32_t i, bool has_waited)
{
    uint32_t other;
    if (has_waited) saw_waits(s, c);
    switch (c->kind) {
    case FIBERS_SEND:
    case FIBERS_SEND_MANY:
    case FIBERS_RECV:
    case FIBERS_RECV_MANY: chan_case_do(s, f, c, i, has_waited); return;
    case FIBERS_JOIN: join_do(s, f, c, i, has_waited); return;
    case FIBERS_LOCK_UNTIL:
        if (stage_first(s, f, FIBERS_LOCK_UNTIL, c->object, &other) != FIBERS_MOST) stage_saw(s, FIBERS_SEEN_BARGE);
        mutex_take(s, f, c->object, i);
        return;
    case FIBERS_READ_UNTIL:
    case FIBERS_WRITE_UNTIL: rwlock_do(s, f, c, i, has_waited); return;
    case FIBERS_BARRIER: barrier_do(s, f); return;
    case FIBERS_TAKE: stock_do(s, f, i, has_waited); return;
    case FIBERS_TASK: task_do(s, f, c); return;
    case FIBERS_TASK_JOIN: task_join_do(s, f); return;
    case FIBERS_ONCE:
        if (s->w.once == ONCE_DONE) break;
        s->w.once = ONCE_RUNS; /* its function runs, in a step of its own */
        stage_leave(s, f);
        s->w.fibers[f].phase = 1;
        return;
    case FIBERS_BLOCKING:
        s->w.busy++;
        stage_leave(s, f);
        s->w.fibers[f].phase = 1;
        return;
    case FIBERS_SPAWN: /* there is room: it tries again */
        stage_leave(s, f);
        s->w.fibers[f].phase = 2;
        return;
    case FIBERS_NURSERY_WAIT:
        s->w.fibers[f].opened = OWNER_WAITED;
        stage_finish(s, f, s->w.fibers[f].has_failure ? s->w.fibers[f].failure : 0, 0, 0, 0);
        return;
    case FIBERS_ACQUIRE: s->w.permits[c->object] -= c->number; break;
    case FIBERS_TIMER_WAIT: s->w.timer = TIMER_IDLE; break;
    default: break;
    }
    stage_finish_case(s, f, i, 0, 0, 0, 0);
}
