/* select.c — one of several operations: the clauses of wait.h, with several of them. */
#include "os/clock.h"
#include "rt/chan.h"
#include "rt/ops.h"
#include "rt/runtime.h"
#include "rt/sync.h"

enum {
    FEW = 8, /* so many clauses fit into a small frame */
    NOT_PLAIN = 1
};

/* Where looking begins. */
static uint32_t draw(uint32_t count)
{
    static _Atomic uint32_t turn; /* of threads */
    rad_core *core = rad__core();
    if (core != NULL && core->running != NULL)
        return (uint32_t)rad__prng_below(&rad__seat_of(core)->prng, count);
    return atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % count;
}

/* Cases that are not clauses: they tell until when to wait, and what it means when that was for nothing. */
typedef struct selection {
    rad_select_case *cases;
    rad_clause *clauses;
    uint8_t *at; /* the case of each clause */
    uint32_t count;
    uint64_t time;     /* the earliest of RAD_ON_TIME */
    int timer, cancel; /* cases, or -1 */
    int code;          /* of the clause that was done */
    bool files;        /* one of the clauses is for a file */
} selection;

_Static_assert(RAD_SELECT_MAX <= UINT8_MAX, "a case fits into a byte");

/* 0: done. RAD_ESTALE: a handle that was given up. NOT_PLAIN: it is not about an object of ours. */
static int plain_clause(rad_clause *c, const rad_select_case *from)
{
    switch (from->kind) {
    case RAD_ON_SEND: rad__send_clause(c, from->on.chan, from->value); return 0;
    case RAD_ON_RECV: rad__recv_clause(c, from->on.chan, from->value); return 0;
    case RAD_ON_JOIN: return rad__join_clause(c, from->on.fiber, from->value) ? 0 : RAD_ESTALE;
    case RAD_ON_LOCK: rad__mutex_clause(c, from->on.mutex); return 0;
    case RAD_ON_ACQUIRE: rad__semaphore_clause(c, from->on.semaphore); return 0;
    case RAD_ON_GROUP: rad__waitgroup_clause(c, from->on.group); return 0;
    default: return NOT_PLAIN;
    }
}

/* 0, or why not: RAD_ESTALE. `now`: select will not wait. */
static int selection_add(selection *s, uint32_t index, bool now)
{
    const rad_select_case *from = &s->cases[index];
    rad_clause *c = &s->clauses[s->count];
    int code = plain_clause(c, from);
    switch (code == NOT_PLAIN ? from->kind : RAD_ON_SEND) {
    case RAD_ON_SEND: break;
    case RAD_ON_TIME:
        if (s->timer < 0 || from->on.time < s->time) {
            s->timer = (int)index;
            s->time = from->on.time;
        }
        return 0;
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

/* What can be done without a clause, or -1. */
static int due(const selection *s)
{
    if (s->cancel >= 0 && is_canceled()) return s->cancel;
    if (s->timer >= 0 && rad__os_now_ns() >= s->time) return s->timer;
    return -1;
}

/* The case that was done, or why none was; looking begins at case number `start`. */
static int selection_wait(selection *s, uint32_t start, uint64_t until)
{
    enum rad_select_kind kind = s->cases[start].kind;
    int done = kind == RAD_ON_TIME || kind == RAD_ON_CANCEL ? due(s) : -1;
    if (done >= 0) return done;
    uint32_t first = 0;
    while (first < s->count && s->at[first] < start) first++;
    uint64_t limit = s->timer >= 0 && s->time < until ? s->time : until;
    done = rad__wait(s->clauses, s->count, first < s->count ? first : 0, limit);
    if (done >= 0) {
        s->code = s->clauses[done].code;
        return s->at[done];
    }
    if (done == RAD_ECANCELED) return s->cancel >= 0 ? s->cancel : done;
    int other = due(s); /* also when it was a try */
    return other >= 0 ? other : done;
}

static int select_among(rad_clause *clauses, uint8_t *at, rad_select_case *cases, uint32_t count,
                        uint32_t start, uint64_t until)
{
    selection s = {.cases = cases, .clauses = clauses, .at = at, .timer = -1, .cancel = -1};
    for (uint32_t i = 0; i < count; i++) {
        int code = selection_add(&s, i, until == 0);
        if (code != 0) return code;
    }
    if (s.files) rad__file_waits(true);
    int done = selection_wait(&s, start, until);
    if (s.files) rad__file_waits(false);
    if (done >= 0) cases[done].code = s.code;
    return done;
}

static __attribute__((noinline)) int select_few(rad_select_case *cases, uint32_t count,
                                                uint32_t start, uint64_t until)
{
    rad_clause clauses[FEW];
    uint8_t at[FEW];
    return select_among(clauses, at, cases, count, start, until);
}

static __attribute__((noinline)) int select_many(rad_select_case *cases, uint32_t count,
                                                 uint32_t start, uint64_t until)
{
    rad_clause clauses[RAD_SELECT_MAX];
    uint8_t at[RAD_SELECT_MAX];
    return select_among(clauses, at, cases, count, start, until);
}

/* One after the other, each with its own lock, as long as they are plain: the first that can be done, or -1. That costs
 * less than all of them at once, which is only needed to wait, or to say that none can be done. */
static int try_some(rad_select_case *cases, uint32_t count, uint32_t start, uint64_t until)
{
    rad_strand *self = rad__running();
    rad_clause c;
    if (self != NULL && until != 0 && RAD_UNLIKELY(rad__fiber_is_canceled(self))) return -1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = start + i < count ? start + i : start + i - count;
        rad_wakes wakes = {0};
        if (plain_clause(&c, &cases[at]) != 0) return -1;
        rad__lock(&c.object->lock);
        bool done = c.attempt(&c, &wakes);
        rad__unlock(&c.object->lock);
        rad__wakes_go(&wakes);
        if (!done) continue;
        cases[at].code = c.code;
        return (int)at;
    }
    return -1;
}

int rad__op_select(rad_select_case *cases, uint32_t count, rad_time until)
{
    if (count == 0 || count > RAD_SELECT_MAX) return RAD_EINPUT;
    uint32_t start = count > 1 ? draw(count) : 0;
    int done = try_some(cases, count, start, until);
    if (done >= 0) return done;
    return count <= FEW ? select_few(cases, count, start, until)
                        : select_many(cases, count, start, until);
}
