/* fibers_run_ops.c — the little language, told with the public calls: one case per operation. */
#include "fibers_run_parts.h"

#include <string.h>

enum { SOON_MOST_NS = 60000, SOON_LEAST_NS = 1000000 };

/* ---- Functions that the runtime calls -------------------------------------------------------------------------- */

typedef struct once_call {
    runner *by;
    int code;
    uint8_t ran;
} once_call;

static int once_runs(void *arg)
{
    once_call *call = arg;
    call->ran = 1;
    let_others(call->by->rig);
    if (call->by->rig->options->claim) return call->code;
    for (uint64_t n = rad__prng_below(&call->by->prng, 3); n > 0; n--) rad_yield();
    return call->code;
}

typedef struct thread_call {
    runner *by;
    const fibers_op *op;
    uint8_t value;
} thread_call;

static int thread_does(void *arg)
{
    thread_call *call = arg;
    rad_chan *chan = call->by->rig->chans[call->op->object];
    uint8_t value = (uint8_t)(FIBERS_THREAD_VALUE + call->by->index);
    switch (call->op->number) {
    case 1: return rad_send(chan, &value, 0);
    case 2: return rad_recv(chan, &call->value, 0);
    default: return 5;
    }
}

/* ---- Deadlines ------------------------------------------------------------------------------------------------- */

/* Under exploration the deadlines come by their ranks: the times that are behind add up to less than any that is
 * ahead. */
static uint64_t soon_ns(runner *f)
{
    const rig *r = f->rig;
    if (r->options->claim == NULL) return rad__prng_below(&f->prng, SOON_MOST_NS);
    uint32_t at = fibers_soons_before(r->program, f->index, r->now->counts[f->index], f->part);
    return (uint64_t)SOON_LEAST_NS << 2 * r->options->ranks[at % FIBERS_SOONS];
}

static rad_time until(runner *f, uint8_t kind)
{
    switch (kind) {
    case FIBERS_NOW: return f->until = 0;
    case FIBERS_PASSED: return f->until = 1;
    case FIBERS_SOON: return f->until = rad_after(soon_ns(f));
    default: return f->until = RAD_FOREVER;
    }
}

/* No wait times out before its deadline. */
static int in_time(const runner *f, int code)
{
    return code == RAD_ETIMEOUT && rad_now() < f->until ? FIBERS_EARLY : code;
}

/* ---- Operations ------------------------------------------------------------------------------------------------ */

/* Before it can run, for others may come before the call returns; with false: it could not be started. Who is in a
 * nursery is not counted: its owner outlives it. */
static void count_living(rig *r, uint32_t j, bool starts)
{
    if (r->options->claim == NULL) return;
    r->runners[j].is_counted = starts;
    r->living = starts ? r->living + 1 : r->living - 1;
}

static bool is_known(const runner *f, uint32_t j)
{
    return f->rig->published[j];
}

/* Virtual time stands still between two calls: a tick that is due has to be made so. */
static rad_ticker *due_ticker(runner *f)
{
    if (f->rig->options->claim) f->due = (rad_ticker){.start = 1, .period = 1};
    return &f->due;
}

static int do_spawn(runner *f, const fibers_op *op)
{
    rig *r = f->rig;
    bool nursery = op->kind == FIBERS_NURSERY_SPAWN || op->kind == FIBERS_NURSERY_GO;
    uint32_t j = nursery ? op->number : op->object;
    const fibers_op *sent = &r->program->fibers[j].ops[0];
    runner *child = &r->runners[j];
    uint8_t value = fibers_value(j, 0, 0);
    int code = 0;
    if (nursery && op->object == f->index && (!f->was_opened || (f->was_waited && op->kind == FIBERS_NURSERY_GO)))
        return FIBERS_SKIPPED;
    switch (op->kind) {
    case FIBERS_SPAWN:
        count_living(r, j, true);
        code = rad_spawn(&r->handles[j], fibers_body, child);
        if (code != 0) count_living(r, j, false);
        break;
    case FIBERS_SEND_SPAWN:
        code = rad_send_spawn(&r->handles[j], r->chans[sent->object], &value, until(f, sent->until));
        break;
    case FIBERS_NURSERY_SPAWN:
        code = rad_nursery_spawn(&r->nurseries[op->object], &r->handles[j], fibers_body, child);
        break;
    default: rad_nursery_go(&r->nurseries[op->object], fibers_body, child); return 0;
    }
    if (code != 0) return code;
    r->published[j] = true;
    return 0;
}

static void log_gift(runner *f, uint32_t j, const rad_fiber_result *given, fibers_entry *e)
{
    e->values[0] = given->bytes[0];
    e->values[1] = (uint8_t)given->code;
    e->values[2] = f->rig->destroyed[j];
}

static int do_join(runner *f, const fibers_op *op, fibers_entry *e)
{
    rad_fiber_result given;
    if (!is_known(f, op->object)) return FIBERS_SKIPPED;
    int code = rad_join(f->rig->handles[op->object], &given, until(f, op->until));
    if (code == 0) log_gift(f, op->object, &given, e);
    return in_time(f, code);
}

static int do_task(runner *f, const fibers_op *op, fibers_entry *e)
{
    rad_fiber_result given;
    rig *r = f->rig;
    if (op->kind == FIBERS_TASK) count_living(r, op->object, true);
    if (op->kind == FIBERS_TASK)
        return in_time(f, rad_chan_send_spawn(r->tasks, fibers_body, &r->runners[op->object], until(f, op->until)));
    int code = rad_chan_recv_join(r->tasks, &given, until(f, op->until));
    if (code != 0) return in_time(f, code);
    log_gift(f, given.bytes[1], &given, e);
    return 0;
}

static int do_chan(runner *f, const fibers_op *op, fibers_entry *e)
{
    rad_chan *chan = f->rig->chans[op->object];
    uint32_t at = f->rig->now->counts[f->index];
    uint8_t values[FIBERS_BATCH];
    for (uint32_t i = 0; i < FIBERS_BATCH; i++) values[i] = fibers_value(f->index, at, i);
    switch (op->kind) {
    case FIBERS_SEND: return in_time(f, rad_send(chan, values, until(f, op->until)));
    case FIBERS_RECV: return in_time(f, rad_recv(chan, e->values, until(f, op->until)));
    case FIBERS_SEND_MANY: return in_time(f, rad_send_many(chan, values, op->number, until(f, op->until)));
    case FIBERS_RECV_MANY: return in_time(f, rad_recv_many(chan, e->values, op->number, until(f, op->until)));
    case FIBERS_CLOSE: return rad_chan_close(chan, op->number);
    case FIBERS_CODE: return rad_chan_code(chan);
    default: return (int)rad_chan_count(chan);
    }
}

static void note_lock(runner *f, uint8_t kind, uint8_t l)
{
    if (kind == FIBERS_READ || kind == FIBERS_READ_UNTIL)
        f->reads |= (uint8_t)(1u << l);
    else
        f->writes |= (uint8_t)(1u << l);
}

void fibers_rw_unlock(runner *f, uint8_t l)
{
    f->reads &= (uint8_t) ~(1u << l);
    f->writes &= (uint8_t) ~(1u << l);
    rad_rwlock_unlock(&f->rig->rwlocks[l]);
}

static int do_rwlock(runner *f, const fibers_op *op)
{
    rad_rwlock *l = &f->rig->rwlocks[op->object];
    int code = 0;
    if (has_lock(f, op->object) != (op->kind == FIBERS_RW_UNLOCK)) return FIBERS_SKIPPED;
    switch (op->kind) {
    case FIBERS_RW_UNLOCK: fibers_rw_unlock(f, op->object); return 0;
    case FIBERS_READ: rad_rwlock_read(l); break;
    case FIBERS_WRITE: rad_rwlock_write(l); break;
    case FIBERS_READ_UNTIL: code = rad_rwlock_read_until(l, until(f, op->until)); break;
    default: code = rad_rwlock_write_until(l, until(f, op->until)); break;
    }
    if (code == 0) note_lock(f, op->kind, op->object);
    return in_time(f, code);
}

static int do_mutex(runner *f, const fibers_op *op)
{
    rad_mutex *m = &f->rig->mutexes[op->object];
    bool is_mine = rad_mutex_is_mine(m);
    switch (op->kind) {
    case FIBERS_IS_MINE: return is_mine;
    case FIBERS_LOCK:
        if (is_mine) return FIBERS_SKIPPED;
        rad_mutex_lock(m);
        return 0;
    case FIBERS_LOCK_UNTIL:
        if (is_mine) return FIBERS_SKIPPED;
        return in_time(f, rad_mutex_lock_until(m, until(f, op->until)));
    case FIBERS_COND_WAIT:
        if (!is_mine) return FIBERS_SKIPPED;
        int code = in_time(f, rad_cond_wait(&f->rig->cond, m, until(f, op->until)));
        return rad_mutex_is_mine(m) ? code : FIBERS_EARLY;
    case FIBERS_MISTAKE:
        if (is_mine) return FIBERS_SKIPPED;
        if (f->rig->options->claim) f->rig->now->end = FIBERS_ABORTED;
        rad_mutex_unlock(m);
        return 0;
    default:
        if (!is_mine) return FIBERS_SKIPPED;
        rad_mutex_unlock(m);
        return 0;
    }
}

static int do_sync(runner *f, const fibers_op *op, fibers_entry *e)
{
    rig *r = f->rig;
    once_call call = {.by = f, .code = op->number};
    int code;
    switch (op->kind) {
    case FIBERS_SIGNAL: rad_cond_signal(&r->cond); return 0;
    case FIBERS_BROADCAST: rad_cond_broadcast(&r->cond); return 0;
    case FIBERS_ACQUIRE:
        return in_time(f, rad_semaphore_acquire(&r->semaphores[op->object], op->number, until(f, op->until)));
    case FIBERS_POST: rad_semaphore_release(&r->semaphores[op->object], op->number); return 0;
    case FIBERS_PERMITS: return (int)rad_semaphore_permits(&r->semaphores[op->object]);
    case FIBERS_GROUP_ADD: rad_waitgroup_add(&r->groups[op->object], op->number); return 0;
    case FIBERS_GROUP_DONE: rad_waitgroup_done(&r->groups[op->object]); return 0;
    case FIBERS_GROUP_WAIT: return in_time(f, rad_waitgroup_wait(&r->groups[op->object], until(f, op->until)));
    case FIBERS_ONCE:
        code = rad_once_run(&r->once, once_runs, &call, until(f, op->until));
        e->values[0] = call.ran;
        return in_time(f, code);
    default: return in_time(f, rad_barrier_wait(&r->barrier, until(f, op->until)));
    }
}

static void take_item(runner *f, void *item, uint8_t *value)
{
    *value = (uint8_t) * (uint32_t *)item;
    f->items[f->item_count++] = item;
}

static int do_stock(runner *f, const fibers_op *op, fibers_entry *e)
{
    rig *r = f->rig;
    void *item;
    int code;
    switch (op->kind) {
    case FIBERS_TAKE:
        if (f->item_count == 2) return FIBERS_SKIPPED;
        code = rad_pool_take(r->stock, &item, until(f, op->until));
        if (code == 0) take_item(f, item, &e->values[0]);
        return in_time(f, code);
    case FIBERS_PUT:
        if (f->item_count == 0) return FIBERS_SKIPPED;
        rad_pool_give(r->stock, f->items[--f->item_count]);
        return 0;
    case FIBERS_STOCK_CLOSE: return rad_pool_close(r->stock, op->number);
    default: return rad_pool_code(r->stock);
    }
}

static int do_time(runner *f, const fibers_op *op)
{
    rig *r = f->rig;
    int code;
    switch (op->kind) {
    case FIBERS_SLEEP:
        code = rad_sleep_until(until(f, op->until));
        return code == 0 && rad_now() < f->until ? FIBERS_EARLY : code;
    case FIBERS_TICK:
        return in_time(f, rad_ticker_wait(op->number ? due_ticker(f) : &f->never, NULL, until(f, op->until)));
    case FIBERS_TIMER_START: return rad_timer_start(r->timer, until(f, op->until));
    case FIBERS_TIMER_STOP: return rad_timer_stop(r->timer);
    case FIBERS_TIMER_WAIT: return in_time(f, rad_timer_wait(r->timer, until(f, op->until)));
    case FIBERS_ALARM_START:
        code = rad_timer_start(r->alarm, until(f, op->until));
        r->alarms_due += (uint32_t)(1 - code);
        return code;
    default:
        code = rad_timer_stop(r->alarm);
        r->alarms_due -= (uint32_t)code;
        return code;
    }
}

static int do_nursery(runner *f, const fibers_op *op)
{
    rig *r = f->rig;
    bool is_open = op->object != f->index || (f->was_opened && !f->was_waited);
    switch (op->kind) {
    case FIBERS_OPEN:
        if (f->was_opened) return FIBERS_SKIPPED;
        f->was_opened = true;
        rad_nursery_open(&r->nurseries[f->index], until(f, op->until));
        return 0;
    case FIBERS_NURSERY_CANCEL:
        if (!is_open) return FIBERS_SKIPPED;
        rad_nursery_cancel(&r->nurseries[op->object], op->number);
        return 0;
    case FIBERS_NURSERY_CLOSE:
        if (!is_open) return FIBERS_SKIPPED;
        rad_nursery_close(&r->nurseries[op->object]);
        return 0;
    default:
        if (!f->was_opened || f->was_waited) return FIBERS_SKIPPED;
        f->was_waited = true;
        return rad_nursery_wait(&r->nurseries[f->index]);
    }
}

static int do_self(runner *f, const fibers_op *op)
{
    rig *r = f->rig;
    uint8_t given[2] = {op->number, (uint8_t)f->index};
    switch (op->kind) {
    case FIBERS_YIELD: rad_yield(); return 0;
    case FIBERS_NOTE: return (int)++r->note;
    case FIBERS_CANCEL:
        if (!is_known(f, op->object)) return FIBERS_SKIPPED;
        rad_cancel(r->handles[op->object]);
        return 0;
    case FIBERS_RELEASE:
        if (!is_known(f, op->object) || atomic_exchange(&r->released[op->object], true)) return FIBERS_SKIPPED;
        rad_release(r->handles[op->object]);
        return 0;
    case FIBERS_GIVE: rad_set_result(given, sizeof given); return 0;
    case FIBERS_IS_CANCELED: return rad_is_canceled();
    case FIBERS_SHIELD:
        if (op->number == 0 && f->shield == 0) return FIBERS_SKIPPED;
        f->shield = (uint8_t)(op->number ? f->shield + 1 : f->shield - 1);
        rad_shield(op->number);
        return 0;
    case FIBERS_LOCAL_SET: f->given = op->number; return rad_local_set(r->key, op->number ? f : NULL);
    default: return rad_local_get(r->key) == NULL ? 0 : f->given;
    }
}

/* ---- Select ---------------------------------------------------------------------------------------------------- */

typedef struct select_values {
    uint8_t value;
    void *item;
    rad_fiber_result given;
} select_values;

static void fill_case(runner *f, const fibers_case *c, uint32_t i, rad_select_case *to, select_values *v)
{
    static const uint8_t kinds[FIBERS_OP_KINDS] = {
        [FIBERS_SEND] = RAD_ON_SEND,         [FIBERS_RECV] = RAD_ON_RECV,
        [FIBERS_JOIN] = RAD_ON_JOIN,         [FIBERS_SLEEP] = RAD_ON_TIME,
        [FIBERS_ON_CANCEL] = RAD_ON_CANCEL,  [FIBERS_LOCK_UNTIL] = RAD_ON_LOCK,
        [FIBERS_ACQUIRE] = RAD_ON_ACQUIRE,   [FIBERS_GROUP_WAIT] = RAD_ON_GROUP,
        [FIBERS_TAKE] = RAD_ON_TAKE,         [FIBERS_TICK] = RAD_ON_TICK,
        [FIBERS_TIMER_WAIT] = RAD_ON_TIMER,  [FIBERS_READ_UNTIL] = RAD_ON_READ,
        [FIBERS_WRITE_UNTIL] = RAD_ON_WRITE, [FIBERS_OFF] = RAD_OFF,
    };
    rig *r = f->rig;
    to->kind = (enum rad_select_kind)kinds[c->kind];
    to->value = &v->value;
    v->value = fibers_value(f->index, r->now->counts[f->index], i);
    switch (c->kind) {
    case FIBERS_SEND:
    case FIBERS_RECV: to->on.chan = r->chans[c->object]; break;
    case FIBERS_JOIN:
        if (is_known(f, c->object))
            to->on.fiber = r->handles[c->object];
        else
            to->kind = RAD_OFF;
        to->value = &v->given;
        break;
    case FIBERS_SLEEP: to->on.time = until(f, c->until); break;
    case FIBERS_LOCK_UNTIL:
        to->on.mutex = &r->mutexes[c->object];
        if (rad_mutex_is_mine(to->on.mutex)) to->kind = RAD_OFF;
        break;
    case FIBERS_READ_UNTIL:
    case FIBERS_WRITE_UNTIL:
        to->on.rwlock = &r->rwlocks[c->object];
        if (has_lock(f, c->object)) to->kind = RAD_OFF;
        break;
    case FIBERS_ACQUIRE: to->on.semaphore = &r->semaphores[c->object]; break;
    case FIBERS_GROUP_WAIT: to->on.group = &r->groups[c->object]; break;
    case FIBERS_TAKE:
        to->on.pool = r->stock;
        to->value = &v->item;
        if (f->item_count == 2) to->kind = RAD_OFF;
        break;
    case FIBERS_TICK:
        to->on.ticker = c->number ? due_ticker(f) : &f->never;
        to->value = NULL;
        break;
    case FIBERS_TIMER_WAIT: to->on.timer = r->timer; break;
    default: break;
    }
}

static int do_select(runner *f, const fibers_op *op, fibers_entry *e)
{
    rad_select_case cases[FIBERS_CASES];
    select_values values[FIBERS_CASES];
    memset(cases, 0, sizeof cases);
    for (uint32_t i = 0; i < op->case_count; i++) {
        f->part = i + 1;
        fill_case(f, &op->cases[i], i, &cases[i], &values[i]);
    }
    f->part = 0;
    int which = rad_select(cases, op->case_count, until(f, op->until));
    if (which < 0) return in_time(f, which);
    const fibers_case *c = &op->cases[which];
    const select_values *v = &values[which];
    e->values[0] = (uint8_t)cases[which].code;
    if (cases[which].code != 0) return which;
    switch (c->kind) {
    case FIBERS_RECV: e->values[1] = v->value; break;
    case FIBERS_JOIN:
        e->values[1] = v->given.bytes[0];
        e->values[2] = (uint8_t)v->given.code;
        break;
    case FIBERS_READ_UNTIL:
    case FIBERS_WRITE_UNTIL: note_lock(f, c->kind, c->object); break;
    case FIBERS_TAKE: take_item(f, v->item, &e->values[1]); break;
    case FIBERS_SLEEP:
        if (rad_now() < cases[which].on.time) return FIBERS_EARLY;
        break;
    default: break;
    }
    return which;
}

static int do_blocking(runner *f, const fibers_op *op, fibers_entry *e)
{
    thread_call call = {.by = f, .op = op};
    int answer = 0, code = rad_blocking(thread_does, &call, &answer, until(f, op->until));
    if (code != 0) return in_time(f, code);
    e->values[0] = (uint8_t)answer;
    e->values[1] = call.value;
    return 0;
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

int fibers_do(runner *f, const fibers_op *op, fibers_entry *e)
{
    switch (op->kind) {
    case FIBERS_SPAWN:
    case FIBERS_SEND_SPAWN:
    case FIBERS_NURSERY_SPAWN:
    case FIBERS_NURSERY_GO: return do_spawn(f, op);
    case FIBERS_JOIN: return do_join(f, op, e);
    case FIBERS_TASK:
    case FIBERS_TASK_JOIN: return do_task(f, op, e);
    case FIBERS_SEND:
    case FIBERS_RECV:
    case FIBERS_SEND_MANY:
    case FIBERS_RECV_MANY:
    case FIBERS_CLOSE:
    case FIBERS_CODE:
    case FIBERS_COUNT: return do_chan(f, op, e);
    case FIBERS_SELECT: return do_select(f, op, e);
    case FIBERS_LOCK:
    case FIBERS_LOCK_UNTIL:
    case FIBERS_UNLOCK:
    case FIBERS_IS_MINE:
    case FIBERS_COND_WAIT:
    case FIBERS_MISTAKE: return do_mutex(f, op);
    case FIBERS_READ:
    case FIBERS_WRITE:
    case FIBERS_READ_UNTIL:
    case FIBERS_WRITE_UNTIL:
    case FIBERS_RW_UNLOCK: return do_rwlock(f, op);
    case FIBERS_SIGNAL:
    case FIBERS_BROADCAST:
    case FIBERS_ACQUIRE:
    case FIBERS_POST:
    case FIBERS_PERMITS:
    case FIBERS_GROUP_ADD:
    case FIBERS_GROUP_DONE:
    case FIBERS_GROUP_WAIT:
    case FIBERS_ONCE:
    case FIBERS_BARRIER: return do_sync(f, op, e);
    case FIBERS_TAKE:
    case FIBERS_PUT:
    case FIBERS_STOCK_CLOSE:
    case FIBERS_STOCK_CODE: return do_stock(f, op, e);
    case FIBERS_SLEEP:
    case FIBERS_TICK:
    case FIBERS_TIMER_START:
    case FIBERS_TIMER_STOP:
    case FIBERS_TIMER_WAIT:
    case FIBERS_ALARM_START:
    case FIBERS_ALARM_STOP: return do_time(f, op);
    case FIBERS_OPEN:
    case FIBERS_NURSERY_CANCEL:
    case FIBERS_NURSERY_CLOSE:
    case FIBERS_NURSERY_WAIT: return do_nursery(f, op);
    case FIBERS_BLOCKING: return do_blocking(f, op, e);
    default: return do_self(f, op);
    }
}
