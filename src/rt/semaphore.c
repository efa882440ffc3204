/* semaphore.c — permits.
 *
 * Word      bit 0: WAITING, somebody is in the queue, or was; above: how many permits there are.
 *
 * Without WAITING both calls are one compare-and-swap. With it they go by the object's lock; whoever releases gives
 * to those who wait, in their order, as long as there is enough for the first of them.
 *
 * Z1  WAITING is set under the object's lock by whoever is about to queue, and cleared there by those who acquire
 *     when nobody is left in the queue (Y3); a release never clears it.
 * Z2  with WAITING the word changes only under the object's lock, and the first of the queue wants more than there
 *     is, unless it is about to leave: it was cancelled, or its time is up. Then it gives to those behind it, when
 *     it has left. (In select it wants one, so that there are none: nothing to give.) */
#include "rt/ops.h"
#include "rt/sync.h"

typedef struct semaphore {
    _Atomic uint64_t word;
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue waiters; /* want: how many */
} semaphore;

_Static_assert(sizeof(semaphore) <= sizeof(rad_semaphore), "there is room for it");
RAD_NAMED(semaphore);

#define WAITING UINT64_C(1)

static semaphore *semaphore_of(rad_semaphore *s)
{
    return (semaphore *)(void *)s;
}

void rad__op_semaphore_init(rad_semaphore *s, uint32_t permits)
{
    *s = (rad_semaphore)RAD_SEMAPHORE_INIT(permits);
}

uint32_t rad__op_semaphore_permits(const rad_semaphore *public)
{
    const semaphore *s = (const semaphore *)(const void *)public;
    return (uint32_t)(atomic_load_explicit(&s->word, memory_order_relaxed) >> 1);
}

/* ---- Acquiring --------------------------------------------------------------------------------------- */

/* Without the lock, and not past those who wait. */
static bool acquire_fast(semaphore *s, uint64_t permits)
{
    uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
    while (!(word & WAITING) && word >> 1 >= permits) /* Pairs with the change in rad__op_semaphore_release. */
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, word - (permits << 1), memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

static bool acquire_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    semaphore *s = (semaphore *)((char *)c->object - offsetof(semaphore, object));
    uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed), next;
    bool enough;
    rad__waitable_begin(c->object, RAD_KIND_SEMAPHORE);
    c->code = 0;
    do {
        enough = s->waiters.first == NULL && word >> 1 >= c->want;
        next = enough ? (word & ~WAITING) - (c->want << 1) : word | WAITING;
        /* Pairs with the change in rad__op_semaphore_release. */
    } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, next, memory_order_acquire, memory_order_relaxed));
    return enough;
}

static void clause_open(rad_clause *c, semaphore *s, uint32_t permits)
{
    *c = (rad_clause){.object = &s->object, .queue = &s->waiters, .attempt = acquire_attempt, .want = permits};
}

void rad__semaphore_clause(rad_clause *c, rad_semaphore *s)
{
    rad__waitable_ready(&semaphore_of(s)->object, RAD_KIND_SEMAPHORE);
    clause_open(c, semaphore_of(s), 1);
}

/* Under the lock, with WAITING: to those whose turn it is. */
static void give(semaphore *s, rad_wakes *wakes)
{
    uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
    rad_clause *c;
    while ((c = s->waiters.first) != NULL && word >> 1 >= c->want) {
        if (!rad__queue_claim_first(&s->waiters)) continue;
        word -= c->want << 1;
        rad__wakes_add(wakes, c);
    }
    /* Z2: nobody else changes it. Pairs with those who acquire. */
    atomic_store_explicit(&s->word, word, memory_order_release);
}

/* With WAITING, also if that has gone meanwhile: whoever acquires what is added here has to wait for the lock (Y3).
 * */
static void add(semaphore *s, uint64_t permits)
{
    rad_wakes wakes = {0};
    rad__lock(&s->object.lock);
    uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
    /* Pairs with those who acquire, and with a release without the lock before the flag was set. */
    while (!atomic_compare_exchange_weak_explicit(&s->word, &word, (word + (permits << 1)) | WAITING,
                                                  memory_order_acq_rel, memory_order_relaxed)) {
    }
    give(s, &wakes);
    rad__unlock(&s->object.lock);
    rad__wakes_go(&wakes);
}

int rad__op_semaphore_acquire(rad_semaphore *public, uint32_t permits, rad_time until)
{
    semaphore *s = semaphore_of(public);
    if (RAD_LIKELY(acquire_fast(s, permits)) || permits == 0) return 0;
    rad_clause c;
    clause_open(&c, s, permits);
    int done = rad__wait_anyway(&c, until);
    if (done < 0 && permits > 1) add(s, 0); /* Z2: who stood behind us may want less; nobody waits for none */
    return done;
}

/* ---- Releasing --------------------------------------------------------------------------------------- */

void rad__op_semaphore_release(rad_semaphore *public, uint32_t permits)
{
    semaphore *s = semaphore_of(public);
    uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
    do {
        if ((word >> 1) + permits > RAD_SEMAPHORE_MAX)
            rad__misuse("rad_semaphore_release", "more permits than there can be");
        if (word & WAITING) {
            add(s, permits);
            return;
        }
        /* Pairs with those who acquire. */
    } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, word + ((uint64_t)permits << 1),
                                                    memory_order_release, memory_order_relaxed));
}
