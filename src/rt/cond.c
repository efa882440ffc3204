/* cond.c — conditions: a queue of those who wait, and nothing else. There is nothing that could be had without
 * waiting, so there is no word.
 *
 * The mutex is unlocked when the clause lies in the queue, not before: whoever changes the data under the mutex, and
 * then signals, finds it there. */
#include "rt/ops.h"
#include "rt/sync.h"
#include "rt/wait_one.h"

typedef struct cond {
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue waiters;
} cond;

_Static_assert(sizeof(cond) <= sizeof(rad_cond), "there is room for it");
RAD_NAMED(cond);

static cond *cond_of(rad_cond *c)
{
    return (cond *)(void *)c;
}

static void unlock(void *mutex)
{
    rad__op_mutex_unlock(mutex);
}

int rad__op_cond_wait(rad_cond *public, rad_mutex *m, rad_time until)
{
    cond *c = cond_of(public);
    rad_strand *self = rad__running();
    if (!rad__op_mutex_is_mine(m)) rad__misuse("rad_cond_wait", "the caller does not hold the mutex");
    if (until == 0) return RAD_ETIMEOUT;
    if (self != NULL && rad__fiber_is_canceled(self)) return RAD_ECANCELED;
    rad_clause clause = {.object = &c->object, .queue = &c->waiters};
    rad__lock(&c->object.lock);
    rad__waitable_begin(&c->object, RAD_KIND_CONDITION);
    int done = rad__wait_after(&clause, self, until, unlock, m);
    rad__op_mutex_lock(m);
    return done;
}

void rad__op_cond_signal(rad_cond *public)
{
    cond *c = cond_of(public);
    rad_wakes wakes = {0};
    rad__lock(&c->object.lock);
    rad_clause *clause = rad__queue_claim(&c->waiters);
    if (clause) rad__wakes_add(&wakes, clause);
    rad__unlock(&c->object.lock);
    rad__wakes_go(&wakes);
}

void rad__op_cond_broadcast(rad_cond *public)
{
    cond *c = cond_of(public);
    rad_wakes wakes = {0};
    rad__lock(&c->object.lock);
    rad__queue_claim_all(&c->waiters, 0, &wakes);
    rad__unlock(&c->object.lock);
    rad__wakes_go(&wakes);
}
