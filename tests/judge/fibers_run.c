/* fibers_run.c — the little language, told with the public calls: one case per operation.
 *
 * Every program runs inside a fiber that starts its first fiber, joins whatever was started, and begins again. Before
 * each operation a fiber spins, yields or does neither, by a stream of random numbers. */
#include "fibers_run.h"

#include "base/prng.h"

#include <raddle.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { SOON_MOST_NS = 60000, SPIN_MOST = 3000, LAG_YIELDS = 8 };

typedef struct rig rig;

typedef struct runner {
    rig *rig;
    uint32_t index;
    rad_prng prng;
    rad_ticker due, never;
    uint8_t reads, writes, item_count, shield, gift;
    bool was_opened, was_waited, lags;
    int last;
    void *items[2];
    rad_time until; /* of the operation at hand */
} runner;

struct rig {
    const fibers_program *program;
    const fibers_run_options *options;
    fibers_result *now;
    rad_prng prng;
    runner runners[FIBERS_MOST];
    rad_fiber handles[FIBERS_MOST];
    _Atomic bool published[FIBERS_MOST], released[FIBERS_MOST], destroyed[FIBERS_MOST];
    rad_nursery nurseries[FIBERS_MOST];
    rad_chan *chans[FIBERS_CHANS], *tasks;
    rad_mutex mutexes[FIBERS_LOCKS];
    rad_rwlock rwlocks[FIBERS_LOCKS];
    rad_semaphore semaphores[FIBERS_LOCKS];
    rad_waitgroup groups[FIBERS_LOCKS];
    rad_cond cond;
    rad_once once;
    rad_barrier barrier;
    rad_stock *stock;
    rad_timer *timer, *alarm;
    rad_local_key key;
    _Atomic uint32_t note, created, good, destroyed_items, alarms_due, alarms_done;
};

/* ---- Functions that the runtime calls -------------------------------------------------------------------------- */

static int item_create(void *context, void *item)
{
    rig *r = context;
    uint32_t number = ++r->created;
    if (r->program->stock_fails & 1u << (number - 1)) return 6;
    *(uint32_t *)item = number;
    r->good++;
    return 0;
}

static int item_reset(void *context, void *item)
{
    return (((rig *)context)->program->stock_spoils >> (*(uint32_t *)item - 1)) & 1;
}

static void item_destroy(void *context, void *item)
{
    (void)item;
    ((rig *)context)->destroyed_items++;
}

static void local_destroy(void *value)
{
    runner *r = value;
    r->rig->destroyed[r->index] = true;
}

static int alarm_rings(void *arg)
{
    rig *r = arg;
    uint8_t value = FIBERS_ALARM_VALUE;
    RAD_IGNORE(rad_send(r->chans[0], &value, 0));
    r->alarms_done++;
    return 0;
}

typedef struct once_call {
    runner *by;
    int code;
    uint8_t ran;
} once_call;

static int once_runs(void *arg)
{
    once_call *call = arg;
    call->ran = 1;
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

/* ---- Delays and deadlines -------------------------------------------------------------------------------------- */

static void spin(uint64_t turns)
{
    for (; turns > 0; turns--) __asm__ volatile("");
}

/* One that lags lets the others get to where they wait. */
static void shake(runner *f)
{
    uint64_t way = rad__prng_below(&f->prng, 8), n = rad__prng_below(&f->prng, SPIN_MOST);
    if (f->lags) {
        for (n = LAG_YIELDS; n > 0; n--) {
            rad_yield();
            if (f->rig->options->workers > 1) spin(SPIN_MOST);
        }
    } else if (way == 0) {
        for (n %= 4; n > 0; n--) rad_yield();
    } else if (way == 1) {
        spin(n);
    } else if (way == 2) {
        sched_yield();
    }
}

static rad_time until(runner *f, uint8_t kind)
{
    switch (kind) {
    case FIBERS_NOW: return f->until = 0;
    case FIBERS_PASSED: return f->until = 1;
    case FIBERS_SOON: return f->until = rad_after(rad__prng_below(&f->prng, SOON_MOST_NS));
    default: return f->until = RAD_FOREVER;
    }
}

/* No wait times out before its deadline. */
static int in_time(const runner *f, int code)
{
    return code == RAD_ETIMEOUT && rad_now() < f->until ? FIBERS_EARLY : code;
}

/* ---- Operations ------------------------------------------------------------------------------------------------ */

static int run_fiber(void *arg);

static bool is_known(const runner *f, uint32_t j)
{
    return f->rig->published[j];
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
    if (nursery && op->object == f->index &&
        (!f->was_opened || (f->was_waited && op->kind == FIBERS_NURSERY_GO)))
        return FIBERS_SKIPPED;
    switch (op->kind) {
    case FIBERS_SPAWN: code = rad_spawn(&r->handles[j], run_fiber, child); break;
    case FIBERS_SEND_SPAWN:
        code =
            rad_send_spawn(&r->handles[j], r->chans[sent->object], &value, until(f, sent->until));
        break;
    case FIBERS_NURSERY_SPAWN:
        code = rad_nursery_spawn(&r->nurseries[op->object], &r->handles[j], run_fiber, child);
        break;
    default: rad_nursery_go(&r->nurseries[op->object], run_fiber, child); return 0;
    }
    if (code == 0) r->published[j] = true;
    return code;
}

static void log_gift(runner *f, uint32_t j, const rad_gift *gift, fibers_entry *e)
{
    e->values[0] = gift->bytes[0];
    e->values[1] = (uint8_t)gift->code;
    e->values[2] = f->rig->destroyed[j];
}

static int do_join(runner *f, const fibers_op *op, fibers_entry *e)
{
    rad_gift gift;
    if (!is_known(f, op->object)) return FIBERS_SKIPPED;
    int code = rad_join(f->rig->handles[op->object], &gift, until(f, op->until));
    if (code == 0) log_gift(f, op->object, &gift, e);
    return in_time(f, code);
}

static int do_task(runner *f, const fibers_op *op, fibers_entry *e)
{
    rad_gift gift;
    rig *r = f->rig;
    if (op->kind == FIBERS_TASK)
        return in_time(f, rad_chan_send_spawn(r->tasks, run_fiber, &r->runners[op->object],
                                              until(f, op->until)));
    int code = rad_chan_recv_join(r->tasks, &gift, until(f, op->until));
    if (code != 0) return in_time(f, code);
    log_gift(f, gift.bytes[1], &gift, e);
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
    case FIBERS_SEND_MANY:
        return in_time(f, rad_send_many(chan, values, op->number, until(f, op->until)));
    case FIBERS_RECV_MANY:
        return in_time(f, rad_recv_many(chan, e->values, op->number, until(f, op->until)));
    case FIBERS_CLOSE: return rad_chan_close(chan, op->number);
    case FIBERS_CODE: return rad_chan_code(chan);
    default: return (int)rad_chan_count(chan);
    }
}

static bool has_lock(const runner *f, uint8_t l)
{
    return (f->reads | f->writes) & 1u << l;
}

static void note_lock(runner *f, uint8_t kind, uint8_t l)
{
    if (kind == FIBERS_READ || kind == FIBERS_READ_UNTIL)
        f->reads |= (uint8_t)(1u << l);
    else
        f->writes |= (uint8_t)(1u << l);
}

static void rw_unlock(runner *f, uint8_t l)
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
    case FIBERS_RW_UNLOCK: rw_unlock(f, op->object); return 0;
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
        return in_time(
            f, rad_semaphore_acquire(&r->semaphores[op->object], op->number, until(f, op->until)));
    case FIBERS_POST: rad_semaphore_release(&r->semaphores[op->object], op->number); return 0;
    case FIBERS_PERMITS: return (int)rad_semaphore_permits(&r->semaphores[op->object]);
    case FIBERS_GROUP_ADD: rad_waitgroup_add(&r->groups[op->object], op->number); return 0;
    case FIBERS_GROUP_DONE: rad_waitgroup_done(&r->groups[op->object]); return 0;
    case FIBERS_GROUP_WAIT:
        return in_time(f, rad_waitgroup_wait(&r->groups[op->object], until(f, op->until)));
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
        code = rad_stock_take(r->stock, &item, until(f, op->until));
        if (code == 0) take_item(f, item, &e->values[0]);
        return in_time(f, code);
    case FIBERS_PUT:
        if (f->item_count == 0) return FIBERS_SKIPPED;
        rad_stock_give(r->stock, f->items[--f->item_count]);
        return 0;
    case FIBERS_STOCK_CLOSE: return rad_stock_close(r->stock, op->number);
    default: return rad_stock_code(r->stock);
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
        return in_time(
            f, rad_ticker_wait(op->number ? &f->due : &f->never, NULL, until(f, op->until)));
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
    uint8_t gift[2] = {op->number, (uint8_t)f->index};
    switch (op->kind) {
    case FIBERS_YIELD: rad_yield(); return 0;
    case FIBERS_NOTE: return (int)++r->note;
    case FIBERS_CANCEL:
        if (!is_known(f, op->object)) return FIBERS_SKIPPED;
        rad_cancel(r->handles[op->object]);
        return 0;
    case FIBERS_RELEASE:
        if (!is_known(f, op->object) || atomic_exchange(&r->released[op->object], true))
            return FIBERS_SKIPPED;
        rad_release(r->handles[op->object]);
        return 0;
    case FIBERS_GIVE: rad_give(gift, sizeof gift); return 0;
    case FIBERS_IS_CANCELED: return rad_is_canceled();
    case FIBERS_SHIELD:
        if (op->number == 0 && f->shield == 0) return FIBERS_SKIPPED;
        f->shield = (uint8_t)(op->number ? f->shield + 1 : f->shield - 1);
        rad_shield(op->number);
        return 0;
    case FIBERS_LOCAL_SET:
        f->gift = op->number;
        return rad_local_set(r->key, op->number ? f : NULL);
    default: return rad_local_get(r->key) == NULL ? 0 : f->gift;
    }
}

/* ---- Select ---------------------------------------------------------------------------------------------------- */

typedef struct select_values {
    uint8_t value;
    void *item;
    rad_gift gift;
} select_values;

static void fill_case(runner *f, const fibers_case *c, uint32_t i, rad_select_case *to,
                      select_values *v)
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
        to->value = &v->gift;
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
        to->on.stock = r->stock;
        to->value = &v->item;
        if (f->item_count == 2) to->kind = RAD_OFF;
        break;
    case FIBERS_TICK:
        to->on.ticker = c->number ? &f->due : &f->never;
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
    for (uint32_t i = 0; i < op->case_count; i++)
        fill_case(f, &op->cases[i], i, &cases[i], &values[i]);
    int which = rad_select(cases, op->case_count, until(f, op->until));
    if (which < 0) return in_time(f, which);
    const fibers_case *c = &op->cases[which];
    const select_values *v = &values[which];
    e->values[0] = (uint8_t)cases[which].code;
    if (cases[which].code != 0) return which;
    switch (c->kind) {
    case FIBERS_RECV: e->values[1] = v->value; break;
    case FIBERS_JOIN:
        e->values[1] = v->gift.bytes[0];
        e->values[2] = (uint8_t)v->gift.code;
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

/* ---- Fibers ---------------------------------------------------------------------------------------------------- */

static int do_op(runner *f, const fibers_op *op, fibers_entry *e)
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

static void write_entry(runner *f, int code, const fibers_entry *e)
{
    fibers_result *now = f->rig->now;
    fibers_entry *to = &now->log[f->index][now->counts[f->index]];
    *to = *e;
    to->code = (int8_t)code;
    if (code < 0) memset(to->values, 0, sizeof to->values);
    if (code < 0 && code != FIBERS_SKIPPED) f->last = code;
    atomic_signal_fence(memory_order_seq_cst);
    ((volatile uint8_t *)now->counts)[f->index]++;
}

static void give_back(runner *f)
{
    for (uint32_t m = 0; m < FIBERS_LOCKS; m++)
        if (rad_mutex_is_mine(&f->rig->mutexes[m])) rad_mutex_unlock(&f->rig->mutexes[m]);
    for (uint8_t l = 0; l < FIBERS_LOCKS; l++)
        if (has_lock(f, l)) rw_unlock(f, l);
    while (f->item_count > 0) rad_stock_give(f->rig->stock, f->items[--f->item_count]);
}

static int run_fiber(void *arg)
{
    runner *f = arg;
    const fibers_fiber *fiber = &f->rig->program->fibers[f->index];
    uint8_t gift[2] = {0, (uint8_t)f->index};
    rad_give(gift, sizeof gift);
    for (uint32_t i = 0; i < fiber->op_count; i++) {
        fibers_entry e = {.code = 0};
        shake(f);
        int code = do_op(f, &fiber->ops[i], &e);
        write_entry(f, code, &e);
    }
    shake(f);
    give_back(f);
    if (f->was_opened && !f->was_waited) {
        fibers_entry e = {.code = 0};
        write_entry(f, rad_nursery_wait(&f->rig->nurseries[f->index]), &e);
    }
    return fiber->returns == FIBERS_RETURNS_LAST ? f->last : fiber->returns;
}

/* ---- Programs -------------------------------------------------------------------------------------------------- */

static bool open_objects(rig *r, uint32_t number)
{
    const fibers_program *p = r->program;
    const rad_stock_calls calls = {item_create, item_reset, item_destroy, r};
    int code = 0;
    for (uint32_t i = 0; i < FIBERS_CHANS; i++)
        code |= rad_chan_create(&r->chans[i], 1, p->capacities[i], (enum rad_chan_mode)p->modes[i]);
    code |= rad_chan_create(&r->tasks, sizeof(rad_fiber), p->task_capacity, RAD_CHAN_BLOCKS);
    code |= rad_stock_create(&r->stock, sizeof(uint32_t), p->stock_capacity, &calls);
    code |= rad_timer_create(&r->timer, NULL, NULL);
    code |= rad_timer_create(&r->alarm, alarm_rings, r);
    code |= rad_local_create(&r->key, local_destroy);
    for (uint32_t i = 0; i < FIBERS_LOCKS; i++) {
        rad_semaphore_init(&r->semaphores[i], p->permits[i]);
        if (p->groups[i] > 0) rad_waitgroup_add(&r->groups[i], p->groups[i]);
    }
    rad_barrier_init(&r->barrier, p->parties);
    for (uint32_t i = 0; i < FIBERS_MOST; i++) {
        runner *f = &r->runners[i];
        f->rig = r;
        f->index = i;
        f->prng = (rad_prng){rad__prng_next(&r->prng)};
        f->lags = rad__prng_below(&f->prng, 4) == 0;
        rad_ticker_start(&f->due, 1);
        rad_ticker_start(&f->never, (uint64_t)1 << 60);
    }
    r->runners[0].lags = number % 2 == 0; /* often the others are to wait for what it does */
    return code == 0;
}

static void close_objects(rig *r)
{
    r->alarms_due -= rad_timer_stop(r->alarm);
    while (r->alarms_done != r->alarms_due) rad_sleep(20000);
    rad_timer_destroy(r->timer);
    rad_timer_destroy(r->alarm);
    for (uint32_t i = 0; i < FIBERS_CHANS; i++) rad_chan_destroy(r->chans[i]);
    rad_chan_destroy(r->tasks);
    rad_stock_destroy(r->stock);
    rad_local_delete(r->key);
    if (r->good != r->destroyed_items) r->now->end = FIBERS_CRASHED;
}

/* Whatever was started has ended. */
static void join_all(rig *r)
{
    bool joined[FIBERS_MOST] = {false}, any = true;
    while (any) {
        any = false;
        for (uint32_t j = 0; j < FIBERS_MOST; j++) {
            if (joined[j] || !r->published[j]) continue;
            any = joined[j] = true;
            RAD_IGNORE(rad_join(r->handles[j], NULL, RAD_FOREVER));
        }
        if (!any) any = rad_chan_recv_join(r->tasks, NULL, 0) == 0; /* nobody wants it any more */
    }
    for (uint32_t j = 0; j < FIBERS_MOST; j++)
        if (r->published[j] && !r->released[j]) rad_release(r->handles[j]);
}

static bool run_once(rig *r, uint32_t number)
{
    rad_gift gift;
    rad_fiber first;
    memset(r->now, 0, sizeof *r->now);
    if (r->options->begins) r->options->begins(r->options->context, number);
    if (!open_objects(r, number) || rad_spawn(&first, run_fiber, &r->runners[0]) != 0) return false;
    RAD_IGNORE(rad_join(first, &gift, RAD_FOREVER));
    join_all(r);
    rad_release(first);
    r->now->answer = (int8_t)gift.code;
    close_objects(r);
    return r->options->ended(r->options->context, number);
}

static int run_all(void *arg)
{
    rig *r = arg;
    const fibers_program *p = r->program;
    const fibers_run_options *o = r->options;
    fibers_result *now = r->now;
    for (uint32_t i = 0; i < o->count; i++) {
        memset(r, 0, sizeof *r);
        r->program = p;
        r->options = o;
        r->now = now;
        r->prng = rad__prng(o->seed, RAD_STREAM_TEST, o->first + i);
        if (!run_once(r, o->first + i)) break;
    }
    return 0;
}

void fibers_run(const fibers_program *p, const fibers_run_options *o, fibers_result *now)
{
    static rig r;
    rad_options options = {.workers = o->workers,
                           .extra_workers = RAD_NONE,
                           .fibers = p->limit ? p->limit + 1u : 0,
                           .spawn_waits = p->limit_waits,
                           .blocking_threads = p->blocking_threads,
                           .seed = o->seed};
    r = (rig){.program = p, .options = o, .now = now};
    RAD_IGNORE(rad_main(&options, run_all, &r, NULL));
}
