/* waitgroup.c — a count, and those who wait until it is 0.
 *
 * Word      bit 0: WAITING, somebody is in the queue, or was; above: the count.
 *
 * Q1  WAITING is set under the object's lock by whoever is about to queue, and cleared there by who waits and finds
 *     0. So "0 without WAITING" is only seen when whoever made it 0 has left (Y3): a group may lie in the frame of
 *     who waits.
 * Q2  with WAITING the count becomes less only under the object's lock. */
#include "rt/ops.h"
#include "rt/sync.h"

typedef struct waitgroup {
    _Atomic uint64_t word;
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue waiters;
} waitgroup;

_Static_assert(sizeof(waitgroup) <= sizeof(rad_waitgroup), "there is room for it");
RAD_NAMED(waitgroup);

#define WAITING UINT64_C(1)
#define ONE     UINT64_C(2)

static waitgroup *waitgroup_of(rad_waitgroup *g)
{
    return (waitgroup *)(void *)g;
}

void rad__op_waitgroup_add(rad_waitgroup *public, uint32_t count)
{
    waitgroup *g = waitgroup_of(public);
    uint64_t word = atomic_fetch_add_explicit(&g->word, count * ONE, memory_order_relaxed);
    if ((word >> 1) + count > UINT32_MAX) rad__misuse("rad_waitgroup_add", "more than it can count");
}

static uint64_t one_less(uint64_t word)
{
    if (word < ONE) rad__misuse("rad_waitgroup_done", "more done than added");
    return word - ONE;
}

static __attribute__((noinline)) void done_slow(waitgroup *g)
{
    rad_wakes wakes = {0};
    rad__lock(&g->object.lock);
    uint64_t word = atomic_load_explicit(&g->word, memory_order_relaxed), next;
    do next = one_less(word) | WAITING; /* also if the flag has gone meanwhile: Q1 */
    /* Pairs with those who wait, and with what others did before their own. */
    while (!atomic_compare_exchange_weak_explicit(&g->word, &word, next, memory_order_acq_rel, memory_order_relaxed));
    if (next < ONE) rad__queue_claim_all(&g->waiters, 0, &wakes);
    rad__unlock(&g->object.lock);
    rad__wakes_go(&wakes);
}

void rad__op_waitgroup_done(rad_waitgroup *public)
{
    waitgroup *g = waitgroup_of(public);
    uint64_t word = atomic_load_explicit(&g->word, memory_order_relaxed);
    do
        if (word & WAITING) {
            done_slow(g);
            return;
        }
    /* Pairs with those who wait. */
    while (!atomic_compare_exchange_weak_explicit(&g->word, &word, one_less(word), memory_order_acq_rel,
                                                  memory_order_relaxed));
}

static bool wait_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    waitgroup *g = (waitgroup *)((char *)c->object - offsetof(waitgroup, object));
    uint64_t word = atomic_load_explicit(&g->word, memory_order_relaxed), next;
    rad__waitable_begin(c->object, RAD_KIND_WAIT_GROUP);
    c->code = 0;
    do next = word < ONE ? 0 : word | WAITING;
    /* Pairs with the changes of those who are done. */
    while (!atomic_compare_exchange_weak_explicit(&g->word, &word, next, memory_order_acquire, memory_order_relaxed));
    return next == 0;
}

static void clause_open(rad_clause *c, waitgroup *g)
{
    *c = (rad_clause){.object = &g->object, .queue = &g->waiters, .attempt = wait_attempt};
}

void rad__waitgroup_clause(rad_clause *c, rad_waitgroup *g)
{
    rad__waitable_ready(&waitgroup_of(g)->object, RAD_KIND_WAIT_GROUP);
    clause_open(c, waitgroup_of(g));
}

int rad__op_waitgroup_wait(rad_waitgroup *public, rad_time until)
{
    waitgroup *g = waitgroup_of(public);
    rad_clause c;
    /* Pairs with the changes of those who are done. */
    if (atomic_load_explicit(&g->word, memory_order_acquire) == 0) return 0;
    clause_open(&c, g);
    return rad__wait_anyway(&c, until);
}
