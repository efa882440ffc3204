#include "rt/wait_one.h"

#include "os/clock.h"
#include "os/wait.h"
#include "rt/runtime.h"

void rad__waitable_number(rad_waitable *o, enum rad_kind kind)
{
    static _Atomic uint64_t made;
    o->kind = (uint8_t)kind;
    o->number = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1;
}

void rad__waitable_open(rad_waitable *o, enum rad_kind kind)
{
    *o = (rad_waitable){0};
    rad__waitable_number(o, kind);
}

void rad__waitable_ready(rad_waitable *o, enum rad_kind kind)
{
    rad__lock(&o->lock);
    rad__waitable_begin(o, kind);
    rad__unlock(&o->lock);
}

/* ---- Queues ------------------------------------------------------------------------------------------ */

static bool waiter_claim(rad_waiter *w)
{
    uint32_t open = RAD_WAIT_OPEN;
    /* N2 and V2: each pairs with the other. Who claims sees what the waiter wrote before it queued its clauses. */
    return atomic_compare_exchange_strong_explicit(&w->word, &open, RAD_WAIT_CLAIMED, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

rad_clause *rad__queue_claim_some(rad_queue *q)
{
    rad_clause *c;
    while ((c = q->first) != NULL) {
        rad__queue_remove(q, c); /* N1 */
        if (c->waiter->single || waiter_claim(c->waiter)) return c;
    }
    return NULL;
}

bool rad__queue_claim_first(rad_queue *q)
{
    rad_clause *c = q->first;
    rad__queue_remove(q, c); /* N1 */
    return c->waiter->single || waiter_claim(c->waiter);
}

/* ---- Waking ------------------------------------------------------------------------------------------ */

void rad__wakes_add(rad_wakes *wakes, rad_clause *c)
{
    c->next = NULL;
    if (wakes->last)
        wakes->last->next = c;
    else
        wakes->first = c;
    wakes->last = c;
}

void rad__queue_claim_all(rad_queue *q, int code, rad_wakes *wakes)
{
    rad_clause *c;
    while ((c = rad__queue_claim(q)) != NULL) {
        c->code = code;
        rad__wakes_add(wakes, c);
    }
}

void rad__clause_notify(rad_rt_worker *rt_worker, rad_clause *c)
{
    rad_waiter *w = c->waiter;
    rad_strand *strand = w->strand; /* N5 */
    uint32_t generation = w->generation;
    rad_runtime *visited = strand != NULL ? rad__visit_begin(rt_worker, strand->runtime) : NULL;
    /* N6, pairs with the load of V1: the data, and how it ended. */
    atomic_store_explicit(&w->word, RAD_WAIT_NOTIFIED + c->index, memory_order_release);
    if (strand != NULL) /* N7 */
        rad__strand_unpark(rt_worker, strand, generation);
    else
        rad__os_word_wake(&w->word, 1);
    if (RAD_UNLIKELY(visited != NULL)) rad__visit_end(visited);
}

void rad__wakes_go(rad_wakes *wakes)
{
    rad_clause *next;
    if (wakes->first == NULL) return;
    rad_rt_worker *rt_worker = rad__rt_worker();
    for (rad_clause *c = wakes->first; c != NULL; c = next) {
        next = c->next;
        rad__clause_notify(rt_worker, c);
    }
}

/* ---- Locks of several objects --------------------------------------------------------------------------- */

/* In the order of their numbers, each once: linked by `further`. */
static rad_clause *in_order(rad_clause *clauses, uint32_t count)
{
    rad_clause *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        rad_clause **at = &first;
        uint64_t number = clauses[i].object->number;
        while (*at != NULL && (*at)->object->number < number) at = &(*at)->further;
        if (*at != NULL && (*at)->object->number == number) continue;
        clauses[i].further = *at;
        *at = &clauses[i];
    }
    return first;
}

static void lock_all(rad_clause *first)
{
    for (; first != NULL; first = first->further) rad__lock(&first->object->lock);
}

static void unlock_all(rad_clause *first)
{
    for (; first != NULL; first = first->further) rad__unlock(&first->object->lock);
}

/* ---- Waiting ----------------------------------------------------------------------------------------- */

/* The first that can be done, or -1. */
static int attempt_all(rad_clause *clauses, uint32_t count, rad_wakes *wakes)
{
    for (uint32_t i = 0; i < count; i++)
        if (clauses[i].attempt(&clauses[i], wakes)) return (int)i;
    return -1;
}

/* V3. */
static void withdraw(rad_clause *clauses, uint32_t count, uint32_t except)
{
    for (uint32_t i = 0; i < count; i++) {
        rad_clause *c = &clauses[i];
        if (i == except) continue;
        rad__lock(&c->object->lock);
        if (c->queued) rad__queue_remove(c->queue, c);
        rad__unlock(&c->object->lock);
    }
}

/* A thread has nothing else to do. 0, or why it does not want to wait any longer. */
static int rest_thread(rad_waiter *w, uint32_t seen, uint64_t until)
{
    if (until == RAD_FOREVER || seen == RAD_WAIT_CLAIMED) {
        rad__os_word_wait(&w->word, seen);
        return 0;
    }
    uint64_t now = rad__os_now_ns();
    if (now >= until) return RAD_ETIMEOUT;
    rad__os_word_wait_for(&w->word, seen, until - now);
    return 0;
}

/* V2: nobody will end the wait any more but its time or its cancellation. False: somebody else has claimed it. */
bool rad__wait_give_up(rad_waiter *w, rad_clause *clauses, uint32_t seen)
{
    if (!w->single) return seen == RAD_WAIT_OPEN && waiter_claim(w);
    rad__lock(&clauses->object->lock);
    bool queued = clauses->queued;
    if (queued) rad__queue_remove(clauses->queue, clauses);
    rad__unlock(&clauses->object->lock);
    return queued;
}

/* Until a clause was done: its index. Or why nobody will do one any more. */
static int waiter_wait(rad_waiter *w, rad_clause *clauses, uint64_t until)
{
    rad_alarm alarm = {.until = until};
    bool claimed = false;
    int why = 0;
    for (;;) {
        uint32_t seen = rad__waiter_look(w);
        if (seen >= RAD_WAIT_NOTIFIED) {
            why = (int)(seen - RAD_WAIT_NOTIFIED);
            break;
        }
        if (why < 0 && rad__wait_give_up(w, clauses, seen)) break;
        claimed = why < 0 || seen == RAD_WAIT_CLAIMED; /* N6 will come */
        why = w->strand ? rad__fiber_rest(w->strand, &alarm, !claimed)
                        : rest_thread(w, seen, claimed ? RAD_FOREVER : until);
    }
    if (w->strand) rad__alarm_off(&alarm);
    return why;
}

static void clauses_queue(rad_clause *clauses, uint32_t count, rad_waiter *w)
{
    for (uint32_t i = 0; i < count; i++) {
        clauses[i].waiter = w;
        clauses[i].index = i;
        rad__queue_put(clauses[i].queue, &clauses[i]);
    }
}

int rad__wait_until(rad_waiter *w, rad_clause *clauses, uint64_t until)
{
    uint64_t deadline = w->strand ? rad__fiber_deadline(w->strand) : RAD_FOREVER;
    int done = waiter_wait(w, clauses, until < deadline ? until : deadline);
    return done == RAD_ETIMEOUT && deadline <= until ? RAD_ECANCELED : done;
}

int rad__wait_again(rad_clause *c, rad_strand *self, uint64_t until)
{
    rad_waiter w;
    rad__waiter_open(&w, c, self);
    rad__queue_put_first(c->queue, c);
    rad__unlock(&c->object->lock);
    return rad__wait_single(&w, c, until);
}

int rad__wait_after(rad_clause *c, rad_strand *self, uint64_t until, void (*after)(void *arg), void *arg)
{
    rad_waiter w;
    rad__waiter_open(&w, c, self);
    rad__queue_put(c->queue, c);
    rad__unlock(&c->object->lock);
    after(arg);
    return rad__wait_single(&w, c, until);
}

static int wait_one(rad_clause *c, rad_strand *self, uint64_t until)
{
    rad_wakes wakes = {0};
    rad__lock(&c->object->lock);
    bool done = c->attempt(c, &wakes);
    if (!done && until != 0)
        return c->asks ? rad__wait_after(c, self, until, c->asks, c) : rad__wait_locked(c, self, until);
    rad__unlock(&c->object->lock);
    rad__wakes_go(&wakes);
    return done ? 0 : RAD_ETIMEOUT;
}

int rad__wait_anyway(rad_clause *c, uint64_t until)
{
    return wait_one(c, rad__running(), until);
}

/* A report reads the clauses of several objects while the fiber is held, so this call has not returned. */
static void tell_what(rad_strand *self, const rad_clause *objects)
{
    uint64_t now = atomic_load_explicit(&self->runtime->now_ns, memory_order_relaxed);
    uint64_t what = objects != NULL ? rad__waits_for(objects->object) : 0;
    uint32_t more = 0;
    for (const rad_clause *c = objects; c != NULL && c->further != NULL; c = c->further) more++;
    uint64_t first = (uintptr_t)objects; /* tidy: address ok: only read again */
    if (more > 0) what = (uint64_t)RAD_KIND_SEVERAL << 56 | (first << 8 >> 8);
    rad__fiber_waits_for(self, now, what, more);
}

int rad__wait(rad_clause *clauses, uint32_t count, uint64_t until)
{
    rad_strand *self = rad__running();
    if (self != NULL && until != 0 && RAD_UNLIKELY(rad__fiber_is_canceled(self))) return RAD_ECANCELED;
    if (count == 1) return wait_one(clauses, self, until);
    rad_wakes wakes = {0};
    rad_clause *objects = in_order(clauses, count);
    lock_all(objects);
    int done = attempt_all(clauses, count, &wakes);
    if (done >= 0 || until == 0) {
        unlock_all(objects);
        rad__wakes_go(&wakes);
        return done >= 0 ? done : RAD_ETIMEOUT;
    }
    rad_waiter w = {.strand = self, .generation = self ? rad__fiber_generation(self) : 0};
    if (self != NULL) tell_what(self, objects);
    clauses_queue(clauses, count, &w);
    unlock_all(objects);
    for (uint32_t i = 0; i < count; i++)
        if (clauses[i].asks) clauses[i].asks(&clauses[i]);
    done = rad__wait_until(&w, clauses, until);
    withdraw(clauses, count, done < 0 ? RAD_NONE : (uint32_t)done);
    return done;
}
