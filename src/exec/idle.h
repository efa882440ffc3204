/* idle.h — who sleeps, who searches, and whom to wake: no wakeup lost, no herd.
 *
 * Word      counts: parked (high half) and searching (low half), changed together by one compare-and-swap
 * Bits      one per worker, set while it is parked and nobody has claimed it
 * Token     one per worker, the word its thread waits on: 1 = go on
 *
 * A *searcher* looks for work in other workers' queues; at most half of the workers do so at a time. A *ticket*
 * is the right and the duty to wake one parked worker: it is taken together with the change
 * "parked - 1, searching + 1", so the woken worker is a searcher from that moment on.
 *
 *     busy   --begin_search-->  searching                            searching + 1
 *     searching --end_search--> busy              it found work      searching - 1
 *     busy, searching --announce--> parked                           parked + 1 (and searching - 1)
 *     parked --somebody's ticket, token--> searching
 *
 *              producer                              worker going to sleep
 *         W1   makes work visible      (seq_cst)     K1   sets its bit
 *         W2   loads counts            (seq_cst)     K2   counts: parked + 1, searching - 1   (seq_cst)
 *              nobody searches and                   K3   looks at every queue                (seq_cst)
 *              somebody is parked ?                       something there ? notify, as a producer does
 *         W3   ticket: counts          (CAS)         K4   waits for its token
 *         W4   claims a bit, sets its token
 *                                                    searcher that found something
 *                                               R1   counts: searching - 1                (seq_cst)
 *                                                    it was the last one and somebody is parked ?
 *                                               R2   looks at every queue                 (seq_cst)
 *                                                    something there ? notify, as a producer does
 * Claim: visible work has somebody awake who will look at it.
 *   W2 before K2 in the one order of seq_cst accesses: then W1 is before K3, which sees the work.
 *   K2 before W2: W2 sees the sleeper. Nobody searches: it is woken, or W3 fails because somebody else took the
 *   ticket. Somebody searches: the last of those that do comes to its own K2 or R1, which is after W2 (it was still
 *   counted there), and so its K3 or R2 sees the work, unless somebody has taken it.
 * A worker that has announced itself never takes that back: at K3 it behaves like any producer, and the ticket
 * it may get is used on itself. So `counts` never has to be corrected, and there is no moment in which it
 * says something that will turn out false.
 *
 * The end needs no such care: `done` is set and then every worker gets a token, asleep or not.
 *
 * I1  bits set = parked + tickets not yet used + workers between K1 and K2: whoever holds a ticket finds a bit.
 * I2  a token is set only for a worker that has announced itself (or when the executor stops), once.
 * I3  searching = searchers + woken workers that have not looked at their token + tickets not yet used.
 *
 * Order     the parked are woken in turn: the first one at or after `next`.
 *
 * The plain order (option) is the older scheme: every notice wakes worker next, next + 1, … whether it sleeps or
 * not; a token set for a worker that is awake makes its next sleep end at once. Nothing is lost there
 * either, since each notice makes one worker look again, but it wakes far too often.
 *
 * Rejected: waking the next one whenever the last searcher finds something, as others do, without R2 (a single
 * task for a sleeping pool then wakes two workers, and pays for the second before it runs); a timed sleep (hides
 * lost wakeups, and costs wakeups when idle); backing out at K3 by undoing K2 (the bit may be claimed already: then
 * counts is wrong for a while, and a producer that looks in that while trusts a searcher who is none); a lock around a
 * list of sleepers (producers would wait for it); bits and count in one word (56 workers at most). */
#ifndef RAD_EXEC_IDLE_H
#define RAD_EXEC_IDLE_H

#include "exec/choose.h"
#include "exec/task.h"

enum { RAD_WORKERS_MAX = 256 };

typedef struct rad_idle_seat {
    _Alignas(64) _Atomic uint32_t token; /* what the worker's thread waits on */
} rad_idle_seat;

typedef struct rad_idle {
    _Alignas(64) _Atomic uint64_t counts;
    _Alignas(64) _Atomic uint64_t bits[RAD_WORKERS_MAX / 64];
    _Atomic uint32_t next;
    uint32_t workers;
    bool plain;
    rad_idle_seat *seats;
} rad_idle;

/* 1 … RAD_WORKERS_MAX workers. False: out of memory. */
RAD_INTERNAL bool rad__idle_open(rad_idle *idle, uint32_t workers, bool plain);
RAD_INTERNAL void rad__idle_close(rad_idle *idle);
RAD_INTERNAL void rad__idle_reset(rad_idle *idle); /* as when opened; nobody else may use it */

/* Whoever made work visible (W1): W2 … W4. Answers whose thread must be woken, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__idle_notify(rad_idle *idle);

/* A guess: whether rad__idle_notify would wake somebody. */
static inline bool rad__idle_could_wake(const rad_idle *idle)
{
    uint64_t counts = atomic_load_explicit(&idle->counts, memory_order_relaxed);
    return rad__choose_wake((uint32_t)counts, (uint32_t)(counts >> 32));
}

/* The same, for work that only `worker` can do: wakes it if it is parked, whoever searches. */
RAD_INTERNAL uint32_t rad__idle_notify_worker(rad_idle *idle, uint32_t worker);

/* A worker with nothing to do: whether it may search. */
RAD_INTERNAL bool rad__idle_begin_search(rad_idle *idle);

/* A searcher that found work: R1. True: R2 is due. */
RAD_INTERNAL RAD_MUST_USE bool rad__idle_end_search(rad_idle *idle);

RAD_INTERNAL void rad__idle_announce(rad_idle *idle, uint32_t self, bool searching); /* K1, K2 */

/* K3 saw something: makes sure that somebody looks at it; itself rather than another. `only_mine`: work that no
 * searcher can do, so that it does not help that somebody searches. */
RAD_INTERNAL uint32_t rad__idle_notify_self(rad_idle *idle, uint32_t self, bool only_mine);

/* K4. True: it has its token, which is used up, and counts as a searcher. */
RAD_INTERNAL bool rad__idle_take_token(rad_idle *idle, uint32_t self);

static inline bool rad__idle_has_token(const rad_idle *idle, uint32_t self)
{
    return atomic_load_explicit(&idle->seats[self].token, memory_order_relaxed) != 0;
}

/* The executor stops (done is set): wakes `worker` whatever it does. The counts no longer matter. */
RAD_INTERNAL void rad__idle_call(rad_idle *idle, uint32_t worker);

static inline uint32_t rad__idle_searching(const rad_idle *idle)
{
    return (uint32_t)atomic_load_explicit(&idle->counts, memory_order_relaxed);
}

static inline uint32_t rad__idle_parked(const rad_idle *idle)
{
    return (uint32_t)(atomic_load_explicit(&idle->counts, memory_order_relaxed) >> 32);
}

#endif
