/* wait.h — waiting: the one primitive under every call that may park.
 *
 * A fiber or thread waits with one or more *clauses*, each an operation on an *object* (receive from this channel,
 * join that fiber …), and one *waiter*, which represents it. A clause that cannot be done at once
 * lies in a queue of its object; waiter and clauses are local variables of the caller, which does not return while
 * any of them can be reached.
 *
 * Waiter    one word:    OPEN --claim--> CLAIMED --notify--> index of the clause that was done
 *           (With a single clause its queue says whether it is claimed: the one that takes the clause out of it, under
 *           the object's lock, has claimed the waiter. The word then changes from OPEN to notified.)
 *           To end the wait, claim the waiter, which exactly one can: a partner that does the operation, a close,
 *           or the waiter itself, when its time is up or it was cancelled. That is the commit: afterwards the operation
 *           is done, or not at all.
 *
 *              partner, under the object's lock           waiter
 *         N1   takes the clause out of its queue      V1   word < notified ? parks (or sleeps on the word)
 *         N2   word: OPEN -> CLAIMED, or another      V2   its time is up, or it was cancelled:
 *              clause                                      word: OPEN -> CLAIMED, by itself
 *         N3   does it: moves the data                V3   locks each object that a clause is still queued at,
 *         N4   unlocks                                     and takes it out
 *         N5   reads who it is                        V4   returns: waiter and clauses are gone
 *         N6   word := index            (release)
 *         N7   unparks (it may be gone by then)
 * Claim: nothing is lost. N2 and V2 change the same word. V2 first: the partner finds it claimed, and takes the
 * next clause in the queue. N2 first: the waiter sees CLAIMED, and waits for N6, which follows without waiting for
 * anything. N6 is before N7, so a waiter that is woken, or whose park did not wait, sees it.
 * Nothing dangles. A clause is in a queue, or held by the one that claimed its waiter (until N6), or in no hands.
 * After V1 with one clause it was taken out in N1; with several, V3 takes out the others. After N6 only the strand and
 * its generation are used, or the address of the word, to wake a thread that may no longer sleep there.
 * Timers and cancellation do not touch waiters: they unpark the fiber, which looks at the clock and its own flag,
 * and then competes for the claim like a partner.
 *
 * Locks     of several objects are taken in the order of their numbers. No waiter is woken while a lock is held:
 *           claimed waiters are collected, and notified afterwards (rad_wakes).
 *
 * O1  a queue of an object changes only under its lock.
 * O2  a clause that lies in a queue cannot be done: a call that makes it possible does it before it unlocks.
 *
 * Rejected: claiming the own waiter while clauses are tried one object at a time (a partner that finds a waiter claimed
 * drops its clause; if the claim is taken back, that clause is lost); a pointer from the fiber to its waiter, for
 * timers and cancellation (it would have to be guarded against the waiter's return). */
#ifndef RAD_RT_WAIT_H
#define RAD_RT_WAIT_H

#include "os/lock.h"
#include "rt/strand.h"

typedef struct rad_clause rad_clause;

/* What can be waited for: KIND(name, text). */
#define RAD_KIND_LIST(KIND)                                                                                            \
    KIND(NOTHING, "")                                                                                                  \
    KIND(CHANNEL, "channel")                                                                                           \
    KIND(FIBER, "fiber")                                                                                               \
    KIND(NURSERY, "nursery")                                                                                           \
    KIND(MUTEX, "mutex")                                                                                               \
    KIND(RWLOCK, "rwlock")                                                                                             \
    KIND(CONDITION, "condition")                                                                                       \
    KIND(SEMAPHORE, "semaphore")                                                                                       \
    KIND(WAIT_GROUP, "wait group")                                                                                     \
    KIND(ONCE, "once")                                                                                                 \
    KIND(BARRIER, "barrier")                                                                                           \
    KIND(STOCK, "stock")                                                                                               \
    KIND(BLOCKING_CALL, "blocking call")                                                                               \
    KIND(DESCRIPTOR, "descriptor")                                                                                     \
    KIND(ROOM, "room")                                                                                                 \
    KIND(TIMER, "timer")                                                                                               \
    KIND(FILE, "descriptor")                                                                                           \
    KIND(SEVERAL, "")

enum rad_kind {
#define RAD_KIND_VALUE(name, text) RAD_KIND_##name,
    RAD_KIND_LIST(RAD_KIND_VALUE)
#undef RAD_KIND_VALUE
};

/* The beginning of all of them. */
typedef struct rad_waitable {
    rad_lock lock;
    uint8_t kind;
    uint64_t number; /* locks are taken in this order */
} rad_waitable;

/* What programs can name has the name right behind it: RAD_NAMED(type) says so. */
typedef struct rad_labelled {
    rad_waitable object;
    _Atomic(const char *) name;
} rad_labelled;

#define RAD_NAMED(type)                                                                                                \
    _Static_assert(offsetof(type, name) - offsetof(type, object) == offsetof(rad_labelled, name),                      \
                   "the name is behind the object")

/* NULL: it has none, or is of a kind that has none. */
static inline const char *rad__waitable_name(const rad_waitable *o)
{
    const uint32_t named = 1u << RAD_KIND_CHANNEL | 1u << RAD_KIND_MUTEX | 1u << RAD_KIND_RWLOCK |
                           1u << RAD_KIND_CONDITION | 1u << RAD_KIND_SEMAPHORE | 1u << RAD_KIND_WAIT_GROUP |
                           1u << RAD_KIND_ONCE | 1u << RAD_KIND_BARRIER | 1u << RAD_KIND_STOCK;
    if (!(named >> o->kind & 1)) return NULL;
    return atomic_load_explicit(&((const rad_labelled *)o)->name, memory_order_relaxed);
}

/* A mark of objects on the heap, until they are destroyed. It lies behind the words that allocators write into what was
 * freed, so a call for a destroyed one is noticed until the memory is used again. */
typedef uint16_t rad_alive;

enum { RAD_ALIVE = 0xc4a9 };

static inline void rad__alive_end(rad_alive *alive)
{
    *(volatile rad_alive *)alive = 0; /* a compiler leaves out what is written before a free */
}

typedef struct rad_queue {
    rad_clause *first, *last;
} rad_queue;

enum { RAD_WAIT_OPEN = 0, RAD_WAIT_CLAIMED, RAD_WAIT_NOTIFIED };

typedef struct rad_waiter {
    _Atomic uint32_t word; /* RAD_WAIT_NOTIFIED + index */
    uint32_t generation;
    rad_strand *strand; /* NULL: a thread, which sleeps on the word */
    bool single;        /* it has one clause */
} rad_waiter;

/* Claimed, to be notified when no lock is held any more: first in, first out. */
typedef struct rad_wakes {
    rad_clause *first, *last;
} rad_wakes;

struct rad_clause {
    rad_waitable *object;
    rad_queue *queue; /* where it lies if it has to wait */
    /* Under the object's lock: does it, if that is possible now. */
    bool (*attempt)(rad_clause *c, rad_wakes *wakes);
    /* NULL, or what is to be done when it lies in its queue, without any lock. Waits by rad__wait only. */
    void (*asks)(void *clause);
    void *data;
    int code; /* how it ended, when it was done; see each operation */
    bool queued;
    uint32_t index;      /* among the clauses of its waiter */
    uint32_t generation; /* of the fiber that is joined */
    uint64_t want;       /* how much, since when ...: see each operation */
    rad_clause *next, *before;
    rad_clause *further; /* of several that wait together */
    rad_waiter *waiter;
};

/* What every clause needs; fields that an operation does not use are not looked at. */
RAD_INLINE void rad__clause_open(rad_clause *c, rad_waitable *object, rad_queue *queue,
                                 bool (*attempt)(rad_clause *c, rad_wakes *wakes), void *data)
{
    c->object = object;
    c->queue = queue;
    c->attempt = attempt;
    c->asks = NULL;
    c->data = data;
    c->code = 0;
    c->queued = false;
}

static inline void rad__queue_put(rad_queue *q, rad_clause *c)
{
    c->queued = true;
    c->next = NULL;
    c->before = q->last;
    if (q->last)
        q->last->next = c;
    else
        q->first = c;
    q->last = c;
}

static inline void rad__queue_put_first(rad_queue *q, rad_clause *c)
{
    c->queued = true;
    c->before = NULL;
    c->next = q->first;
    if (q->first)
        q->first->before = c;
    else
        q->last = c;
    q->first = c;
}

static inline void rad__queue_remove(rad_queue *q, rad_clause *c)
{
    c->queued = false;
    if (c->before)
        c->before->next = c->next;
    else
        q->first = c->next;
    if (c->next)
        c->next->before = c->before;
    else
        q->last = c->before;
}

/* The beginning of an object of this kind. */
RAD_INTERNAL void rad__waitable_open(rad_waitable *o, enum rad_kind kind);

RAD_INTERNAL void rad__waitable_number(rad_waitable *o, enum rad_kind kind);

/* The same for one that began as zeros, under its lock, before it is waited for; any number of times. */
static inline void rad__waitable_begin(rad_waitable *o, enum rad_kind kind)
{
    if (RAD_UNLIKELY(o->number == 0)) rad__waitable_number(o, kind);
}

/* The same, with the lock taken for it: for select, which needs the number before. */
RAD_INTERNAL void rad__waitable_ready(rad_waitable *o, enum rad_kind kind);

/* Does one of the clauses, and answers its index; as soon as that is possible, but not after `until`, as rad__os_now_ns
 * tells the time. 0: now or never. RAD_ETIMEOUT: the time is up. RAD_ECANCELED: the fiber is to end.
 * When several can be done it does the first of them. */
RAD_INTERNAL int rad__wait(rad_clause *clauses, uint32_t count, uint64_t until);

/* The same for one clause, which is done if that is possible at once, also by a fiber that was cancelled: for what is
 * needed to clean up. */
RAD_INTERNAL int rad__wait_anyway(rad_clause *c, uint64_t until);

/* ---- For those who make an operation possible: under the object's lock ------------------------------------ */

/* N1, N2: the first clause of the queue whose waiter is still open; the caller does it and adds it to its wakes. */
RAD_INTERNAL rad_clause *rad__queue_claim_some(rad_queue *q);

static inline rad_clause *rad__queue_claim(rad_queue *q)
{
    return q->first != NULL ? rad__queue_claim_some(q) : NULL;
}

/* N1, N2 for the first clause of a queue that is not empty. False: its waiter does not wait any longer. */
RAD_INTERNAL bool rad__queue_claim_first(rad_queue *q);

/* N5 … N7 of one, without any lock. By rad__rt_worker(), which may be NULL. */
RAD_INTERNAL void rad__clause_notify(rad_rt_worker *rt_worker, rad_clause *c);

RAD_INTERNAL void rad__wakes_add(rad_wakes *wakes, rad_clause *c);

/* All that wait there: `code` is how it ended for them. */
RAD_INTERNAL void rad__queue_claim_all(rad_queue *q, int code, rad_wakes *wakes);

/* N5 … N7, without any lock. */
RAD_INTERNAL void rad__wakes_go(rad_wakes *wakes);

#endif
