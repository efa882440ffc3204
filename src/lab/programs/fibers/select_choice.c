/* select_choice.c — rad_select under test: which of the cases that can be done is done is the kernel's choice.
 *
 * Production (rt/select.c) draws an order of the cases and does the first in it that can be done. Here the order begins
 * with the chosen one. Only cases that may be done now are offered: a choice among others would be the same run again.
 * What may be done is looked up here for the kinds that programs use most; any other kind may always be. So this can
 * offer too much, and then production does the next one; never too little, which is checked when select does not wait.
 *
 * Twins     A select that waits lies in its queues in that order, too: of two cases about one thing the first gets it.
 *           So these are offered as well, each as the first. Which of other cases is first cannot be observed. */
#include "lab/programs/fibers/mistakes.h"

#include "lab/programs/fibers/tell.h"
#include "lab/programs/stream.h"
#include "rt/chan.h"
#include "rt/sync.h"
#include "rt/ticker.h"

/* What a case is about, and the operation that is like it. NULL: not about an object. */
static const void *case_object(const rad_select_case *c, uint32_t *site)
{
    *site = RAD_AT_select;
    switch (c->kind) {
    case RAD_ON_SEND: *site = RAD_AT_send; break;
    case RAD_ON_RECV: *site = RAD_AT_recv; break;
    case RAD_ON_JOIN: *site = RAD_AT_join; return c->on.fiber.slot;
    case RAD_ON_LOCK: *site = RAD_AT_mutex_lock; break;
    case RAD_ON_ACQUIRE: *site = RAD_AT_semaphore_acquire; break;
    case RAD_ON_GROUP: *site = RAD_AT_waitgroup_wait; break;
    case RAD_ON_TAKE: *site = RAD_AT_pool_take; break;
    case RAD_ON_TICK: *site = RAD_AT_ticker_wait; break;
    case RAD_ON_TIMER: *site = RAD_AT_timer_wait; break;
    case RAD_ON_READ: *site = RAD_AT_rwlock_read; break;
    case RAD_ON_WRITE: *site = RAD_AT_rwlock_write; break;
    default: return NULL;
    }
    return c->on.chan; /* of all these the union holds a pointer */
}

/* ---- Which may be done ---------------------------------------------------------------------------------- */

/* Somebody waits in it whose wait has not ended by another clause of his. */
static bool has_partner(const rad_queue *q)
{
    const rad_clause *c = q->first;
    while (c != NULL && !c->waiter->single &&
           atomic_load_explicit(&c->waiter->word, memory_order_relaxed) != RAD_WAIT_OPEN)
        c = c->next;
    return c != NULL;
}

static bool is_held(rad_mutex *m)
{
    rad_clause c;
    rad__mutex_clause(&c, m);
    return rad__mutex_holder(c.object) != 0;
}

static bool may_be_done(const rad_select_case *c)
{
    const rad_chan *chan = c->on.chan;
    bool uses_channel = c->kind == RAD_ON_SEND || c->kind == RAD_ON_RECV;
    if (uses_channel && (chan == NULL || chan->alive != RAD_ALIVE || chan->closed)) return true;
    switch (c->kind) {
    case RAD_OFF: return false;
    case RAD_ON_SEND:
        return chan->count < chan->capacity || chan->mode != RAD_CHAN_BLOCKS || has_partner(&chan->receivers);
    case RAD_ON_RECV: return chan->count > 0 || has_partner(&chan->senders);
    case RAD_ON_LOCK: return c->on.mutex == NULL || !is_held(c->on.mutex);
    case RAD_ON_TIME: return rad__stage.now_ns >= c->on.time;
    case RAD_ON_JOIN:
        return c->on.fiber.slot == NULL || rad__fiber_generation(&c->on.fiber.slot->strand) != c->on.fiber.generation ||
               c->on.fiber.slot->ended;
    default: return true;
    }
}

/* Then select does not wait. */
static bool will_be_done(const rad_select_case *c)
{
    bool is_sure = c->kind == RAD_ON_SEND || c->kind == RAD_ON_RECV || c->kind == RAD_ON_JOIN || c->kind == RAD_ON_TIME;
    return is_sure && may_be_done(c);
}

/* ---- Twins ----------------------------------------------------------------------------------------------- */

static uint64_t time_of(const rad_select_case *c)
{
    if (c->kind == RAD_ON_TIME) return c->on.time;
    return c->on.ticker != NULL && c->on.ticker->period != 0 ? rad__ticker_next(c->on.ticker) : RAD_FOREVER;
}

/* What happens to the one could as well happen to the other. */
static bool are_twins(const rad_select_case *a, const rad_select_case *b)
{
    bool timed = a->kind == RAD_ON_TIME || a->kind == RAD_ON_TICK;
    if (timed && (b->kind == RAD_ON_TIME || b->kind == RAD_ON_TICK)) return time_of(a) == time_of(b);
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case RAD_OFF: return false;
    case RAD_ON_CANCEL: return true;
    case RAD_ON_FD: return a->on.file.fd == b->on.file.fd;
    case RAD_ON_JOIN: return a->on.fiber.slot == b->on.fiber.slot;
    default: return a->on.chan == b->on.chan; /* or whatever the union points to */
    }
}

static bool has_twin(const rad_select_case *cases, uint32_t count, uint32_t i)
{
    for (uint32_t k = 0; k < count; k++)
        if (k != i && are_twins(&cases[k], &cases[i])) return true;
    return false;
}

/* ---- The choice ------------------------------------------------------------------------------------------ */

/* With this state the generator's next number is 0: eight cases are then tried in the order they have. */
static const rad_prng in_order = {(unsigned __int128)UINT64_C(0xdba7208509dc6fbc) << 64 | UINT64_C(0xf24b0ffac22ab37d)};

/* The cases that may be done, now or after a wait, by their index. Returns how many. */
static uint32_t offer(const rad_select_case *cases, uint32_t count, bool waits, uint32_t *offered)
{
    uint32_t many = 0, site;
    for (uint32_t i = 0; i < count; i++) {
        const void *object = case_object(&cases[i], &site);
        if (object != NULL) rad__tell_touch(rad__object_at(object, site), RAD_WRITE);
        waits = waits && !will_be_done(&cases[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (may_be_done(&cases[i]) || (waits && has_twin(cases, count, i))) offered[many++] = i;
    return many;
}

/* A thread draws its order from numbers that the kernel does not have. So the chosen case is tried alone before the
 * others, and its twins, which would have to be behind it, do not wait. */
static int thread_selects(rad_select_case *cases, uint32_t count, uint32_t first, rad_time until)
{
    rad_select_case others[RAD_SELECT_MAX];
    int done = rad__op_select(&cases[first], 1, 0);
    if (done != RAD_ETIMEOUT) return done < 0 ? done : (int)first;
    for (uint32_t i = 0; i < count; i++) {
        others[i] = cases[i];
        if (i != first && are_twins(&cases[i], &cases[first])) others[i].kind = RAD_OFF;
    }
    done = rad__op_select(others, count, until);
    if (done >= 0) cases[done] = others[done];
    return done;
}

/* A fiber draws its cases in this order. */
static int fiber_selects(rad_select_case *cases, uint32_t count, uint32_t first, rad_time until)
{
    rad_select_case turned[RAD_SELECT_MAX];
    rad__rt_worker()->prng = in_order;
    for (uint32_t i = 0; i < count; i++) turned[i] = cases[(first + i) % count];
    int done = rad__op_select(turned, count, until);
    if (done < 0) return done;
    uint32_t at = (first + (uint32_t)done) % count;
    cases[at] = turned[done];
    return (int)at;
}

int rad__select_chosen(rad_select_case *cases, uint32_t count, rad_time until)
{
    uint32_t offered[RAD_SELECT_MAX];
    if (!rad__stage.running || count == 0 || count > RAD_SELECT_MAX) return rad__op_select(cases, count, until);
    uint32_t many = offer(cases, count, until != 0, offered);
    uint32_t first = many > 0 ? offered[rad__tell_pick(RAD_PICK_CASE, RAD_AT_select, many)] : 0;
    int at =
        rad__running() != NULL ? fiber_selects(cases, count, first, until) : thread_selects(cases, count, first, until);
    if (at < 0) return at;
    RAD_ASSERT(many > 0 || until != 0);
    if (cases[at].kind == RAD_ON_SEND) rad__send_checked(cases[at].on.chan, cases[at].code, "rad_select");
    rad__tell_apart(RAD_STREAM_SELECTED, (uint32_t)at, 0, 0, 0, NULL);
    return at;
}
