/* idle.h — which workers sleep, which search, and which to wake: no wakeup lost, no herd.
 *
 * Searching how many workers look for work in the queues of others; at most half of them do so at a time
 * Bits      one per worker, set while it is parked and no thread has claimed it
 * Wake word one per worker, the word its thread waits on: 1 = continue
 *
 * A thread that raises `searching` from 0 to 1 to wake a worker holds a *ticket*: it claims a bit and gives that
 * worker its wake word; the woken worker is the searcher that was counted.
 *
 *     busy   --begin_search-->  searching                            searching + 1
 *     searching --end_search--> busy              it found work      searching - 1
 *     busy, searching --announce--> parked                           bit set (and searching - 1)
 *     parked --its bit claimed, wake word--> searching                   searching + 1, by the claimer
 *
 *              producer                              worker going to sleep
 *         W1   makes work visible      (seq_cst)     K1   sets its bit                        (seq_cst)
 *         W2   loads searching         (seq_cst)     K2   if it searched: searching - 1       (seq_cst)
 *              not 0 ? done                          B    barrier for every thread, if light
 *         W3   loads the bits          (seq_cst)     K3   looks at every queue                (seq_cst)
 *              none ? done                                something there ? notify, as a producer does
 *         W4   searching: 0 -> 1   (CAS, seq_cst)    K4   waits for its wake word   (taken: exchange, acq_rel)
 *              not 0 any more ? done
 *         W5   claims a bit       (RMW, seq_cst)          searcher that found something
 *              gives the wake word     (release)     R1   searching - 1                       (seq_cst)
 *              all gone ? W6                              it was the last one and a bit is set ?
 *         W6   searching - 1           (seq_cst)     R2   looks at every queue                (seq_cst)
 *              again from W3                              something there ? notify, as a producer does
 * Claim: for visible work, some worker is awake that will look at it.
 *   The producer saw a searcher (W2, W4). The last of those that are counted comes to its own K2, R1 or W6, which is
 *   after W2, since it was still counted there. Then K3 and R2 are after W1 and see the work, unless it was
 *   taken; W6 looks at the bits again, and claims one, or there is none: see below.
 *   The producer saw no bit (W3). A worker that sets its bit later has its K3 after W1, and sees the work. All
 *   others are awake, and come to a K3 of that kind before they sleep.
 *   It claimed a bit: that worker is awake, and searches. Its K4 takes what W5 gave, and so comes after W1.
 * (K1 and K2 may come in either order: it is K3 that has to be after both.)
 *
 * Light     A worker that pushes to its own queue is a producer, too, and does so every few nanoseconds; a full
 *           barrier for each push made fib 14 % slower. So a push is W1 with release, followed by W3 alone, with
 *           relaxed loads and nothing but a compiler barrier in front (rad__idle_could_wake). It saw a bit: the queue
 *           is published with seq_cst, and the column follows from W2. It saw none: done.
 *              The other column pays with B (os/barrier.h; rad__shell_barrier): while it lasts the pusher executes a
 *           full barrier. If that comes after its W1, K3 sees the work. Otherwise it comes before its W3, which then
 *           sees the bit. A push that saw no bit at all is therefore seen by every K3 that follows.
 *              Where the system refuses the barrier nothing is light: every push is followed by the whole column.
 *           The only worker of an executor needs no barrier: no other thread pushes to a deque.
 *           (Rejected: W2 in front of W3, to trust a searcher as the column does. R1 would need a barrier as well,
 *           and comes with every task that wakes a sleeping pool.)
 *
 * A worker that has announced itself never takes that back: at K3 it behaves like any producer, and prefers to wake
 * itself.
 *
 * Only its worker looks into an inbox. The sender makes the work visible (W1) and claims that worker's bit. If the
 * bit is not set, either the worker is being woken, or its K1 comes later and its K3 sees the work.
 *
 * The end needs no such care: `done` is set and then every worker gets a wake word, asleep or not.
 *
 * I1  a bit is set by its worker, before it sleeps, and cleared by exactly one claimer, who gives the wake word.
 * I2  a wake word is given only to a worker whose bit was claimed (or when the executor stops), once.
 * I3  searching = searchers + woken workers that have not looked at their wake word + tickets between W4 and W5 or W6.
 *
 * Order     the parked are woken in turn: the first one at or after `next`.
 *
 * The plain order (option) is the older scheme: every notice wakes worker next, next + 1, … whether it sleeps or
 * not; a wake word set for a worker that is awake makes its next sleep end at once. Nothing is lost there
 * either, since each notice makes one worker look again, but it wakes far too often.
 *
 * Rejected: a count of the parked beside the bits, changed together with `searching` (between setting its bit and being
 * counted a worker may be claimed in another one's place; a sender to that other one then finds
 * none counted, and leaves it asleep); waking the next one whenever the last searcher finds something, as others
 * do, without R2 (a single task for a sleeping pool then wakes two workers, and pays for the second before it
 * runs); a timed sleep (hides lost wakeups, and costs wakeups when idle); backing out at K3 (the bit may be claimed
 * already); a lock around a list of sleepers (producers would wait for it). */
#ifndef RAD_EXEC_IDLE_H
#define RAD_EXEC_IDLE_H

#include "exec/choose.h"
#include "exec/task.h"

enum { RAD_WORKERS_MAX = 256 };

typedef struct rad_idle_seat {
    _Alignas(64) _Atomic uint32_t wake_word; /* what the worker's thread waits on */
} rad_idle_seat;

typedef struct rad_idle {
    _Alignas(64) _Atomic uint32_t searching;
    _Alignas(64) _Atomic uint64_t bits[RAD_WORKERS_MAX / 64];
    _Atomic uint32_t next;
    uint32_t workers, words; /* of bits */
    uint32_t regular;        /* of the workers; half of them may search */
    _Atomic bool light;      /* in the line of the bits: a push reads both */
    bool plain;
    rad_idle_seat *seats;
} rad_idle;

/* 1 … RAD_WORKERS_MAX workers. False: out of memory. */
RAD_INTERNAL bool rad__idle_open(rad_idle *idle, uint32_t workers, bool plain);
RAD_INTERNAL void rad__idle_close(rad_idle *idle);
RAD_INTERNAL void rad__idle_reset(rad_idle *idle); /* as when opened; nobody else may use it */

/* By the thread that made work visible (W1): W2 … W6. Answers whose thread must be woken, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__idle_notify(rad_idle *idle);

/* The same; if a worker is to be woken, then rather `worker` than another. */
RAD_INTERNAL uint32_t rad__idle_notify_near(rad_idle *idle, uint32_t worker);

/* Pushes are light from now on, or not any more: whether B is done is up to the shell. */
static inline void rad__idle_lighten(rad_idle *idle, bool light)
{
    if (!idle->plain) atomic_store_explicit(&idle->light, light, memory_order_relaxed);
}

/* Whether B is due. */
static inline bool rad__idle_needs_barrier(const rad_idle *idle)
{
    return !idle->plain && atomic_load_explicit(&idle->light, memory_order_relaxed);
}

/* After a push to the worker's own queue, W1: whether rad__idle_notify might wake a worker. If so, the queue has to be
 * published (rad__deque_publish) before it is called. If not, nothing is lost. */
static inline bool rad__idle_could_wake(const rad_idle *idle)
{
    if (RAD_UNLIKELY(!atomic_load_explicit(&idle->light, memory_order_relaxed))) return true;
    atomic_signal_fence(memory_order_seq_cst); /* W1 before W3, pairs with B */
    for (uint32_t i = 0; i < idle->words; i++)
        if (atomic_load_explicit(&idle->bits[i], memory_order_relaxed) != 0) return true;
    return false;
}

/* The same, for work that only `worker` can do: wakes it if it is parked, even if others search. */
RAD_INTERNAL uint32_t rad__idle_notify_worker(rad_idle *idle, uint32_t worker);

/* A worker with nothing to do: whether it may search. */
RAD_INTERNAL bool rad__idle_begin_search(rad_idle *idle);

/* A searcher that found work: R1. True: R2 is due. */
RAD_INTERNAL RAD_MUST_USE bool rad__idle_end_search(rad_idle *idle);

/* A parked worker leaves for good. True: its bit is gone, nobody will give it a wake word; it is as if it were awake,
 * and has to look at every queue once more. False: its wake word is on the way. */
RAD_INTERNAL RAD_MUST_USE bool rad__idle_withdraw(rad_idle *idle, uint32_t self);

RAD_INTERNAL void rad__idle_announce(rad_idle *idle, uint32_t self, bool searching); /* K1, K2 */

/* K3 saw something: makes sure that a worker looks at it; itself rather than another. `only_mine`: work that no
 * searcher can do, so a searcher does not help. */
RAD_INTERNAL uint32_t rad__idle_notify_self(rad_idle *idle, uint32_t self, bool only_mine);

/* K4. True: it has its wake word, which is used up, and counts as a searcher. */
RAD_INTERNAL bool rad__idle_take_wake_word(rad_idle *idle, uint32_t self);

static inline bool rad__idle_has_wake_word(const rad_idle *idle, uint32_t self)
{
    return atomic_load_explicit(&idle->seats[self].wake_word, memory_order_relaxed) != 0;
}

/* The executor stops (done is set): wakes `worker` whatever it does. The counts no longer matter. */
RAD_INTERNAL void rad__idle_call(rad_idle *idle, uint32_t worker);

static inline uint32_t rad__idle_searching(const rad_idle *idle)
{
    return atomic_load_explicit(&idle->searching, memory_order_relaxed);
}

static inline uint32_t rad__idle_parked(const rad_idle *idle)
{
    uint32_t parked = 0;
    for (uint32_t i = 0; i < idle->words; i++)
        parked += (uint32_t)__builtin_popcountll(atomic_load_explicit(&idle->bits[i], memory_order_relaxed));
    return parked;
}

#endif
