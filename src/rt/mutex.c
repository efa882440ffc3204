/* mutex.c — a lock whose word says who has it.
 *
 * Word      the holder (rad__who), 0: free; bit 0: CONTENDED, somebody is in the queue; bit 1: WOKEN, somebody was
 *           taken out of it to try for himself, and has not yet.
 * Taking    0 -> self. With a flag, or a holder: by the slow way, which spins for a moment, then queues.
 * Unlocking self -> 0. With CONTENDED: the first of the queue is *woken*, to try for himself, or, when he does not
 *           want to wait any longer, the lock is *handed over* to him: he is the holder before he knows. While
 *           somebody is WOKEN nobody else is: one at a time is enough to keep the lock busy.
 *
 * Why not always hand over: from that moment to the time he runs nobody can use the lock, and everybody who comes
 * queues up: a convoy, in which each unlock costs a switch. Why not never: whoever is slow to wake would find it
 * taken again each time. A clause of select is always handed its lock, because it has to be done when it is claimed.
 * A fiber that unlocks and locks again and again without ever leaving its worker would keep the one it has woken from
 * running: after OVERTAKEN times it yields.
 *
 * X1  the holder bits change only from 0 to self, by self, or from self, by self (to 0, or to whom it is handed).
 * X2  the flags are set and cleared under the object's lock, by anybody; without it they are passed on as found.
 * X3  CONTENDED is set as long as somebody is in the queue (Y2); WOKEN as long as somebody was woken and has not
 *     tried.
 *
 *          who waits, under the object's lock            holder
 *     M1   free? takes it: done                      U1  self -> 0; or else, if CONTENDED and not WOKEN:
 *     M2   sets CONTENDED, queues                    U2  under the object's lock: claims the first
 *     M3   gives the lock back, parks                U3  word: 0 and WOKEN, or handed over; wakes
 * Claim: whoever queues is woken. M2 changes the word that U1 changes: U1 first, and M1 finds it free; M2 first, and
 * U1 finds the flag. With WOKEN the holder leaves it at 0: whoever was woken then tries, and finds it free, or held
 * by one who will find CONTENDED in turn, because whoever tries and fails clears WOKEN and sets CONTENDED.
 *
 * Ordering  taking is acquire, giving back release, on the word. */
#include "os/clock.h"
#include "os/thread.h"
#include "rt/ops.h"
#include "rt/runtime.h"
#include "rt/sync.h"
#include "rt/wait_one.h"

typedef struct mutex {
    _Atomic uint64_t word;
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue waiters; /* want: when it is to be handed over; data: who */
    _Atomic uint32_t overtaken;
} mutex;

_Static_assert(sizeof(mutex) <= sizeof(rad_mutex), "there is room for it");
RAD_NAMED(mutex);

#define CONTENDED UINT64_C(1)
#define WOKEN     UINT64_C(2)
#define FLAGS     (CONTENDED | WOKEN)

enum { TAKEN = 0, TRY = 1 }; /* the code of a clause that was claimed */
enum { OVERTAKEN = 64, PATIENCE_NS = 1000000 };

#ifndef RAD_MUTEX_SPINS
#define RAD_MUTEX_SPINS 30 /* the lab looks once */
#endif

static mutex *mutex_of(rad_mutex *m)
{
    return (mutex *)(void *)m;
}

/* ---- Taking ------------------------------------------------------------------------------------------ */

/* Past those who wait, if it is free. */
static bool barge(mutex *m, uint64_t self)
{
    uint64_t word = atomic_load_explicit(&m->word, memory_order_relaxed);
    while ((word & ~FLAGS) == 0) /* Pairs with the stores and changes that free it. */
        if (atomic_compare_exchange_weak_explicit(&m->word, &word, word | self, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* M1, M2, under the object's lock; `woken`: by the one who was. */
static bool take_or_contend(mutex *m, uint64_t self, uint64_t woken)
{
    uint64_t word = atomic_load_explicit(&m->word, memory_order_relaxed), next;
    bool is_free; /* a select may try for what its caller holds: that is not free, either */
    do {
        uint64_t flags = word & WOKEN & ~woken;
        is_free = (word & ~FLAGS) == 0;
        if (is_free)
            next = self | flags | (m->waiters.first ? CONTENDED : 0);
        else
            next = (word & ~FLAGS) | flags | CONTENDED;
        /* Pairs with the changes that free it. */
    } while (!atomic_compare_exchange_weak_explicit(&m->word, &word, next, memory_order_acquire, memory_order_relaxed));
    return is_free;
}

static bool lock_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    mutex *m = (mutex *)((char *)c->object - offsetof(mutex, object));
    rad__waitable_begin(c->object, RAD_KIND_MUTEX);
    c->code = TAKEN;
    return take_or_contend(m, rad__clause_who(c), 0);
}

static void clause_open(rad_clause *c, mutex *m, uintptr_t self, uint64_t hand_over)
{
    *c = (rad_clause){
        .object = &m->object, .queue = &m->waiters, .attempt = lock_attempt, .data = (void *)self, .want = hand_over};
}

void rad__mutex_clause(rad_clause *c, rad_mutex *m)
{
    rad__waitable_ready(&mutex_of(m)->object, RAD_KIND_MUTEX);
    clause_open(c, mutex_of(m), rad__who(), 0);
}

/* Whoever holds it may be about to give it back; not if there is nobody else to run him. */
static bool spin(mutex *m, uint64_t self)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    if (rt_worker != NULL && rad_exec_workers(rt_worker->runtime->exec) == 1) return barge(m, self);
    for (uint32_t i = 0; i < RAD_MUTEX_SPINS; i++) {
        if (barge(m, self)) return true;
        if (atomic_load_explicit(&m->word, memory_order_relaxed) & CONTENDED) return false;
        rad__os_pause();
    }
    return false;
}

/* Whoever was woken may not get to run before we leave the worker. */
static void let_others(mutex *m)
{
    if (atomic_load_explicit(&m->overtaken, memory_order_relaxed) < OVERTAKEN) return;
    atomic_store_explicit(&m->overtaken, 0, memory_order_relaxed);
    if (rad__running() != NULL) rad__strand_leave(RAD_LEAVE_YIELD);
}

RAD_INLINE int wait_for_it(mutex *m, uint64_t self, uint64_t until)
{
    if ((atomic_load_explicit(&m->word, memory_order_relaxed) & ~FLAGS) == self && until != 0)
        rad__misuse("rad_mutex_lock", "the caller holds it already");
    if (until == 0) return barge(m, self) ? 0 : RAD_ETIMEOUT;
    let_others(m);
    if (spin(m, self)) return 0;
    rad_strand *strand = rad__running();
    rad_clause c;
    clause_open(&c, m, self, rad__os_now_ns() + PATIENCE_NS);
    rad__lock(&m->object.lock);
    if (lock_attempt(&c, NULL)) {
        rad__unlock(&m->object.lock);
        return 0;
    }
    int done = rad__wait_locked(&c, strand, until);
    while (done == 0 && c.code == TRY) {
        rad__lock(&m->object.lock);
        if (take_or_contend(m, self, WOKEN)) {
            rad__unlock(&m->object.lock);
            return 0;
        }
        done = rad__wait_again(&c, strand, until);
    }
    return done;
}

static __attribute__((noinline)) int lock_slow(mutex *m, uint64_t self, rad_slot *slot, uint64_t until)
{
    int code = wait_for_it(m, self, until);
    if (code == 0) rad__holds_mutex(slot, 1);
    return code;
}

RAD_INLINE bool lock_fast(mutex *m, uint64_t self, rad_slot *slot)
{
    uint64_t free = 0;
    /* Pairs with the changes that free it. */
    if (RAD_UNLIKELY(!atomic_compare_exchange_strong_explicit(&m->word, &free, self, memory_order_acquire,
                                                              memory_order_relaxed)))
        return false;
    rad__holds_mutex(slot, 1);
    return true;
}

int rad__op_mutex_lock_until(rad_mutex *public, rad_time until)
{
    mutex *m = mutex_of(public);
    rad_slot *slot;
    uint64_t self = rad__caller(&slot);
    return lock_fast(m, self, slot) ? 0 : lock_slow(m, self, slot, until);
}

static __attribute__((noinline)) void lock_shielded(mutex *m, uint64_t self, rad_slot *slot)
{
    rad_strand *s = rad__shield_begin();
    int code = lock_slow(m, self, slot, RAD_FOREVER);
    RAD_ASSERT(code == 0);
    rad__shield_end(s);
}

void rad__op_mutex_lock(rad_mutex *public)
{
    mutex *m = mutex_of(public);
    rad_slot *slot;
    uint64_t self = rad__caller(&slot);
    if (!lock_fast(m, self, slot)) lock_shielded(m, self, slot);
}

/* ---- Giving back -------------------------------------------------------------------------------------- */

/* U2, U3. False: nobody waits any more; it is still held, without CONTENDED. */
static bool pass_on(mutex *m, uint64_t self)
{
    rad_wakes wakes = {0};
    uint64_t now = rad__os_now_ns();
    rad__lock(&m->object.lock); /* now nobody else changes the word: it is held (X1), and X2 */
    rad_clause *c = rad__queue_claim(&m->waiters);
    uint64_t rest = m->waiters.first ? CONTENDED : 0;
    if (c != NULL) {
        c->code = c->want <= now ? TAKEN : TRY;
        rad__wakes_add(&wakes, c);
    }
    uint64_t next = c == NULL ? self : rest | (c->code == TAKEN ? rad__clause_who(c) : WOKEN);
    /* Pairs with all that take it. */
    atomic_store_explicit(&m->word, next, memory_order_release);
    atomic_store_explicit(&m->overtaken, 0, memory_order_relaxed);
    rad__unlock(&m->object.lock);
    rad__wakes_go(&wakes);
    return c != NULL;
}

static __attribute__((noinline)) void unlock_slow(mutex *m, uint64_t self)
{
    uint64_t word = atomic_load_explicit(&m->word, memory_order_relaxed);
    for (;;) {
        if ((word & ~FLAGS) != self)
            rad__misuse("rad_mutex_unlock", word & ~FLAGS ? "another fiber or thread holds it" : "it is not locked");
        if ((word & FLAGS) == CONTENDED) {
            if (pass_on(m, self)) return;
            word = self;
        }
        if (word & WOKEN) atomic_fetch_add_explicit(&m->overtaken, 1, memory_order_relaxed);
        /* Pairs with all that take it. */
        if (atomic_compare_exchange_strong_explicit(&m->word, &word, word & FLAGS, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
}

void rad__op_mutex_unlock(rad_mutex *public)
{
    mutex *m = mutex_of(public);
    rad_slot *slot;
    uint64_t self = rad__caller(&slot), mine = self;
    rad__holds_mutex(slot, -1);
    /* Pairs with all that take it. */
    if (RAD_LIKELY(
            atomic_compare_exchange_strong_explicit(&m->word, &mine, 0, memory_order_release, memory_order_relaxed)))
        return;
    unlock_slow(m, self);
}

bool rad__op_mutex_is_mine(const rad_mutex *public)
{
    const mutex *m = (const mutex *)(const void *)public;
    return (atomic_load_explicit(&m->word, memory_order_relaxed) & ~FLAGS) == rad__who();
}

uint64_t rad__mutex_holder(const rad_waitable *o)
{
    const mutex *m = (const mutex *)((const char *)o - offsetof(mutex, object));
    return atomic_load_explicit(&m->word, memory_order_relaxed) & ~FLAGS;
}
