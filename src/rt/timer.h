/* timer.h — a wheel of timers: arming and disarming in constant time, expiring in order, exact to the nanosecond.
 *
 * Wheel     11 levels of 64 slots; a slot of level n spans 64^n ns, so the 11 levels span every time there is. A
 *           timer lies on the level of the highest digit (base 64) in which its deadline differs from `base`, a
 *           time that has passed, in the slot which that digit names. So all of a lower level come before all of a
 *           higher one, and within a level slots are in order of time: the earliest slot is two bit searches away.
 * Cascade   When the time has come for a slot above level 0, `base` moves to its beginning, and its timers move to
 *           levels below, at most ten times in the life of a timer. Slots of level 0 hold one deadline each.
 *           A slot with one timer in it, which is due, needs no cascade.
 * Ties      Timers with equal deadlines are always in the same slot, and a cascade keeps the order of a list: they
 *           expire in the order in which they were armed, and nobody keeps count.
 * Bounds    One call moves at most RAD_WHEEL_BUDGET timers, so that a slot with a million of them holds up neither
 *           the lock nor the caller; `floor` is then the level of the slot that is half moved. Until it is empty
 *           timers whose place is in it are still appended to it (ties!), and nothing expires.
 *
 * A deadline that has passed already when it is armed counts as `present`, the time of the last look.
 *
 * W1  base <= present <= every deadline in the wheel that is not yet due; base only grows.
 * W2  a slot's bit is set exactly when there is a timer in it; only then its links mean anything.
 * W3  next_ns is not later than the earliest deadline; it changes under the lock.
 * W4  after a look at time `now`, next_ns <= now means that the look stopped early, because RAD_WHEEL_BUDGET (timer.c)
 *     or `max` was used up: look again.
 *
 *         fiber (its timer is on its stack)            expirer (any thread)
 *     S1  arms it                                  E1  takes the lock, finds it due
 *     S2  waits, is woken           E2  unlinks it, copies who and ticket
 *     S3  armed? no: leaves                        E3  armed = 0, the last time it looks at the timer
 *     S4  takes the lock; armed? unlinks it        E4  gives the lock back, wakes the one that it has copied
 * Claim: after disarming nobody touches the timer. In S3 it saw E3, and everything the expirer did with the timer comes
 * before. In S4 it holds the lock, so the expirer is before E1, and finds no timer, or after E3.
 * The fiber that E4 wakes may run again already, for another reason: the ticket (a generation) tells.
 *
 *         armer                                        who sleeps until next_ns
 *     A1  next_ns = deadline, and says so          N1  says that it is about to sleep
 *     A2  asks whether a thread sleeps, wakes it       N2  next_ns
 * These are two words: a thread that sleeps for a wheel in which others arm needs a full fence between N1 and N2, and
 * the armer one between A1 and A2. A fiber arms in the wheel of the worker that runs it, which does not sleep.
 *
 * Rejected: ticks of some microseconds (fewer levels, but either early, or late, or each slot has to be sorted, with
 * the lock held, and numbers to break ties); a heap (a million live timers: 20 cold lines per arming); lazy
 * deletion (a timer on a stack has to be gone when the stack is). */
#ifndef RAD_RT_TIMER_H
#define RAD_RT_TIMER_H

#include "os/lock.h"

enum { RAD_WHEEL_LEVELS = 11, RAD_WHEEL_SLOTS = 64 };

typedef struct rad_timer_link {
    struct rad_timer_link *next, *prev;
} rad_timer_link;

/* All zero: not armed. */
typedef struct rad_wheel_timer {
    rad_timer_link link; /* first: a link is its timer */
    uint64_t deadline_ns;
    void *who;
    struct rad_wheel *wheel; /* has to be there as long as the timer is armed */
    uint32_t ticket;
    _Atomic uint32_t armed;
} rad_wheel_timer;

typedef struct rad_wheel {
    rad_lock lock;
    uint32_t floor;  /* level of the slot that is half moved; 0: none */
    uint32_t levels; /* bit n: something is on level n */
    uint64_t base_ns, present_ns;
    _Atomic uint64_t next_ns;
    uint64_t slots[RAD_WHEEL_LEVELS]; /* of each level: bit n: something is in slot n */
    rad_timer_link lists[RAD_WHEEL_LEVELS][RAD_WHEEL_SLOTS];
} rad_wheel;

typedef struct rad_expired {
    void *who;
    uint32_t ticket;
} rad_expired;

/* Nothing has to be closed: a wheel is done with when no timer is armed. */
RAD_INTERNAL void rad__wheel_open(rad_wheel *w, uint64_t now_ns);

/* True when it became the earliest: who sleeps until the wheel's next look has to be told. UINT64_MAX: for ever. */
RAD_INTERNAL bool rad__wheel_arm(rad_wheel *w, rad_wheel_timer *t, uint64_t deadline_ns, void *who, uint32_t ticket);

/* From any thread. True: it will not expire. False: it has expired, or was never armed; costs no lock.
 * The timer's memory is the caller's again. */
RAD_INTERNAL bool rad__timer_disarm(rad_wheel_timer *t);

/* Takes out up to `max` timers whose time has come, in order, from any thread; the caller wakes whom it finds in
 * `out`. When rad__wheel_next is not later than now afterwards, there is more: to be called again, soon. */
RAD_INTERNAL uint32_t rad__wheel_expire(rad_wheel *w, uint64_t now_ns, rad_expired *out, uint32_t max);

/* When to look next, from any thread: the earliest deadline, or a time before it; looking then brings the answer
 * nearer. UINT64_MAX: nothing is armed, or for ever. */
static inline uint64_t rad__wheel_next(const rad_wheel *w)
{
    return atomic_load_explicit(&w->next_ns, memory_order_relaxed);
}

#endif
