/* select.c — one of several operations: the clauses of wait.h, with several of them.
 *
 * Fairness  Every select draws an order of its cases, and does the first in this order that can be done. All orders are
 *           equally likely, so all cases that can be done are. The order is drawn a case at a time, so a select that
 *           finds one soon draws little.
 * Passes    The first pass tries one case after the other, each with its own lock. That costs less than all locks
 *           at once, which the second pass (rad__wait) takes: only then can select wait, or say that no case can be
 *           done. The second pass has the clauses in the drawn order.
 * Tested    In a program under test the drawn order is a choice of the lab: lab/programs/fibers/select_choice.c.
 *
 * Rejected: drawing only where a walk around the cases begins (a case behind many that cannot be done gets their share,
 * too: of eight cases with 0 and 1 ready, 0 is done in seven of eight selects). */
#include "os/clock.h"
#include "rt/chan.h"
#include "rt/ops.h"
#include "rt/pool.h"
#include "rt/runtime.h"
#include "rt/sync.h"
#include "rt/ticker.h"
#include "rt/user_timer.h"

enum {
    FEW = 8,   /* so many clauses fit into a small frame */
    DRAWN = 8, /* so many cases are drawn from 64 random bits: at least 16 are left for the last of them */
    NOT_PLAIN = 1
};

/* ---- The order ---------------------------------------------------------------------------------------- */

typedef struct order {
    uint64_t bits; /* a fraction of 2^64 */
    uint8_t at[RAD_SELECT_MAX];
} order;

_Static_assert(RAD_SELECT_MAX <= UINT8_MAX, "a case fits into a byte");

static uint64_t draw(void)
{
    static _Atomic uint64_t turn; /* of threads */
    rad_rt_worker *rt_worker = rad__rt_worker();
    if (rt_worker != NULL && rt_worker->running != NULL) return rad__prng_next(&rt_worker->prng);
    return rad__mix2(atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed), RAD_STREAM_SELECT);
}

/* The case in place i: any of those that are not in the places before. Fisher and Yates, from the front. */
static uint32_t order_next(order *o, uint32_t i, uint32_t count)
{
    if (i % DRAWN == 0 && count - i > 1) o->bits = draw();
    unsigned __int128 product = (unsigned __int128)o->bits * (count - i);
    uint32_t other = i + (uint32_t)(product >> 64);
    uint8_t found = o->at[other];
    o->bits = (uint64_t)product;
    o->at[other] = o->at[i];
    o->at[i] = found;
    return found;
}

/* ---- Cases -------------------------------------------------------------------------------------------- */

/* Cases that are not clauses: they tell until when to wait, and what it means when that was for nothing. */
typedef struct selection {
    rad_select_case *cases;
    rad_clause *clauses;
    uint8_t *at; /* the case of each clause */
    uint32_t count;
    uint64_t time;     /* the earliest of RAD_ON_TIME and RAD_ON_TICK */
    int timer, cancel; /* cases, or -1 */
    bool files;        /* one of the clauses is for a file */
} selection;

/* In all cases about an object but RAD_ON_JOIN the union holds a pointer to it. */
static void check_object(const rad_select_case *from)
{
    if (RAD_UNLIKELY(from->on.chan == NULL))
        rad__misuse("rad_select", "a case has a NULL pointer as its object; RAD_OFF switches a case off");
}

/* 0: done. RAD_ESTALE: a handle that was given up. NOT_PLAIN: it is not about an object of ours. */
static int plain_clause(rad_clause *c, const rad_select_case *from)
{
    switch (from->kind) {
    case RAD_ON_SEND:
        check_object(from);
        rad__chan_check(from->on.chan, "rad_select");
        rad__send_clause(c, from->on.chan, from->value);
        return 0;
    case RAD_ON_RECV:
        check_object(from);
        rad__chan_check(from->on.chan, "rad_select");
        rad__recv_clause(c, from->on.chan, from->value);
        return 0;
    case RAD_ON_JOIN: return rad__join_clause(c, from->on.fiber, from->value) ? 0 : RAD_ESTALE;
    case RAD_ON_LOCK:
        check_object(from);
        rad__mutex_clause(c, from->on.mutex);
        return 0;
    case RAD_ON_ACQUIRE:
        check_object(from);
        rad__semaphore_clause(c, from->on.semaphore);
        return 0;
    case RAD_ON_GROUP:
        check_object(from);
        rad__waitgroup_clause(c, from->on.group);
        return 0;
    case RAD_ON_READ:
    case RAD_ON_WRITE:
        check_object(from);
        rad__rwlock_clause(c, from->on.rwlock, from->kind == RAD_ON_WRITE);
        return 0;
    case RAD_ON_TAKE:
        check_object(from);
        if (from->value == NULL) rad__misuse("rad_select", "RAD_ON_TAKE needs a value");
        rad__take_clause(c, from->on.pool, from->value, "rad_select");
        return 0;
    case RAD_ON_TIMER:
        check_object(from);
        rad__timer_clause(c, from->on.timer, "rad_select");
        return 0;
    default: return NOT_PLAIN;
    }
}

/* The clause of this case was done, and no lock is held. */
static void set_code(rad_select_case *from, int code)
{
    from->code = from->kind == RAD_ON_TAKE ? rad__take_ends(from->on.pool, code, from->value) : code;
}

static rad_ticker *ticker_of(const rad_select_case *from)
{
    check_object(from);
    if (from->on.ticker->period == 0) rad__misuse("rad_select", "a ticker was not started");
    return from->on.ticker;
}

static void add_time(selection *s, uint32_t index, uint64_t time)
{
    if (s->timer >= 0 && s->time <= time) return;
    s->timer = (int)index;
    s->time = time;
}

/* 0, or why not: RAD_ESTALE. `now`: select will not wait. */
static int selection_add(selection *s, uint32_t index, bool now)
{
    const rad_select_case *from = &s->cases[index];
    rad_clause *c = &s->clauses[s->count];
    int code = plain_clause(c, from);
    switch (code == NOT_PLAIN ? from->kind : RAD_ON_SEND) {
    case RAD_ON_SEND: break;
    case RAD_OFF: return 0;
    case RAD_ON_TIME: add_time(s, index, from->on.time); return 0;
    case RAD_ON_TICK: add_time(s, index, rad__ticker_next(ticker_of(from))); return 0;
    case RAD_ON_CANCEL: s->cancel = (int)index; return 0;
    case RAD_ON_FD:
        code = rad__file_clause(c, from->on.file.fd, from->on.file.interest, now);
        s->files = true;
        break;
    default: rad__misuse("rad_select", "a case has a kind that does not exist");
    }
    s->at[s->count++] = (uint8_t)index;
    return code;
}

static bool is_canceled(void)
{
    rad_strand *s = rad__running();
    if (s == NULL) return false;
    uint64_t deadline = rad__fiber_deadline(s);
    return rad__fiber_is_canceled(s) || (deadline != RAD_FOREVER && rad__os_now_ns() >= deadline);
}

/* ---- The first pass ----------------------------------------------------------------------------------- */

/* 1: the case was done, and has its code. 0: it cannot be done now. Below: no select with this case can begin. */
static int try_other(rad_select_case *from)
{
    rad_clause file;
    int code = 0;
    bool done = false;
    switch (from->kind) {
    case RAD_ON_TIME: done = rad__os_now_ns() >= from->on.time; break;
    case RAD_ON_TICK: done = rad__ticker_take(ticker_of(from), from->value); break;
    case RAD_ON_CANCEL: done = is_canceled(); break;
    case RAD_ON_FD:
        code = rad__file_clause(&file, from->on.file.fd, from->on.file.interest, true);
        if (code != 0) return code;
        code = file.code;
        done = code != 0;
        break;
    default: break; /* RAD_OFF, or the second pass complains */
    }
    if (done) from->code = code;
    return done;
}

/* The same answers. */
static int try_case(rad_select_case *from)
{
    rad_clause c;
    rad_wakes wakes = {0};
    int code = plain_clause(&c, from);
    if (code == NOT_PLAIN) return try_other(from);
    if (code < 0) return code;
    rad__lock(&c.object->lock);
    bool done = c.attempt(&c, &wakes);
    rad__unlock(&c.object->lock);
    rad__wakes_go(&wakes);
    if (done) set_code(from, c.code);
    return done;
}

/* The first in the order that can be done, or RAD_ETIMEOUT, and then the order is complete. */
static int try_all(rad_select_case *cases, uint32_t count, order *o)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = order_next(o, i, count);
        int code = try_case(&cases[at]);
        if (code != 0) return code > 0 ? (int)at : code;
    }
    return RAD_ETIMEOUT;
}

/* ---- The second pass ---------------------------------------------------------------------------------- */

/* What can be done without a clause, or -1. */
static int due(const selection *s)
{
    if (s->cancel >= 0 && is_canceled()) return s->cancel;
    return s->timer >= 0 && try_other(&s->cases[s->timer]) > 0 ? s->timer : -1;
}

/* Readers do not have to wait any longer for those who wanted to write, and did not get to. */
static void leave_locks(const selection *s, int done)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const rad_select_case *from = &s->cases[s->at[i]];
        if (from->kind == RAD_ON_WRITE && (int)i != done) rad__rwlock_left(from->on.rwlock);
    }
}

/* The case that was done, or why none was. */
static int selection_wait(selection *s, uint64_t until)
{
    int done = rad__wait(s->clauses, s->count, s->timer >= 0 && s->time < until ? s->time : until);
    leave_locks(s, done);
    if (done >= 0) {
        set_code(&s->cases[s->at[done]], s->clauses[done].code);
        return s->at[done];
    }
    int other = done == RAD_ECANCELED ? s->cancel : due(s); /* also when it was a try */
    return other >= 0 ? other : done;
}

static int select_among(rad_clause *clauses, uint8_t *at, rad_select_case *cases, uint32_t count, const order *o,
                        uint64_t until)
{
    selection s = {.cases = cases, .clauses = clauses, .at = at, .timer = -1, .cancel = -1};
    for (uint32_t i = 0; i < count; i++) {
        int code = selection_add(&s, o->at[i], until == 0);
        if (code != 0) return code;
    }
    if (s.files) rad__file_waits(true);
    int done = selection_wait(&s, until);
    if (s.files) rad__file_waits(false);
    if (done >= 0 && done == s.cancel) cases[done].code = 0;
    return done;
}

static __attribute__((noinline)) int select_few(rad_select_case *cases, uint32_t count, const order *o, uint64_t until)
{
    rad_clause clauses[FEW];
    uint8_t at[FEW];
    return select_among(clauses, at, cases, count, o, until);
}

static __attribute__((noinline)) int select_many(rad_select_case *cases, uint32_t count, const order *o, uint64_t until)
{
    rad_clause clauses[RAD_SELECT_MAX];
    uint8_t at[RAD_SELECT_MAX];
    return select_among(clauses, at, cases, count, o, until);
}

static int select_one(rad_select_case *cases, uint32_t count, rad_strand *self, rad_time until)
{
    order o;
    o.bits = 0;
    for (uint32_t i = 0; i < count; i++) o.at[i] = (uint8_t)i;
    /* A fiber that was cancelled gets the case for that, or RAD_ECANCELED: from the second pass. */
    if (self == NULL || until == 0 || !rad__fiber_is_canceled(self)) {
        int done = try_all(cases, count, &o);
        if (done != RAD_ETIMEOUT) return done;
    }
    return count <= FEW ? select_few(cases, count, &o, until) : select_many(cases, count, &o, until);
}

/* The lock that was taken is one of the caller's: see rad__holds_mutex. */
static void now_holds(rad_slot *slot, const rad_select_case *done)
{
    if (done->kind == RAD_ON_LOCK) rad__holds_mutex(slot, 1);
    if (done->kind == RAD_ON_READ || done->kind == RAD_ON_WRITE)
        rad__rwlock_taken(slot, done->on.rwlock, done->kind == RAD_ON_WRITE);
}

int rad__op_select(rad_select_case *cases, uint32_t count, rad_time until)
{
    rad_strand *self = rad__running();
    if (count == 0 || count > RAD_SELECT_MAX) return RAD_EINPUT;
    int done = select_one(cases, count, self, until);
    if (done >= 0) now_holds(rad__slot_of(self), &cases[done]);
    return done;
}
