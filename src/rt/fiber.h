/* fiber.h — slots: a strand and what else belongs to a fiber; from spawn to recycling.
 *
 *     idle, in a pool --spawn--> the executor runs it --ends--> joined, released --> idle, in a pool
 *
 * References    one of the fiber itself, until it is off its stack for good, and one of its handle, if there is one.
 * Who gives
 *               up the last one retires the slot (its generation changes) and puts it into a pool. So a slot is in no
 *               queue and on no stack when it is used again, and a handle that is still held names the same fiber.
 * Pools         each worker has a list of its own, newest first: those are warm. What is too much
 *               goes to the runtime's list, and comes from there, several at a time. Slots are never freed
 *               before the runtime is: the holder of an old handle finds another generation, not other memory.
 *               Where the number of fibers is limited there is only the runtime's list: a slot that lies idle in
 *               one worker would be missing at another, long before there are as many fibers as there may be.
 *
 * B1  `ended`, `result`, `code` and `joiners` belong to the lock of `done`.
 * B2  what only the fiber touches (arg, shields …) is written by the spawner before it is queued. */
#ifndef RAD_RT_FIBER_H
#define RAD_RT_FIBER_H

#include <raddle/fiber.h>

#include "rt/timer.h"
#include "rt/wait.h"

typedef struct rad_slot rad_slot;
typedef struct rad_locals rad_locals;     /* local.c */
typedef struct rad__nursery rad__nursery; /* what is inside a rad_nursery: nursery.h */

enum { RAD_REFERS_FIBER = 1, RAD_REFERS_HANDLE = 2 };

/* Four cache lines, for there may be a million of them. */
struct rad_slot {
    _Alignas(64) rad_strand strand; /* first */
    rad_fn fn;
    void *arg;
    _Atomic uint64_t number; /* of the fiber: none has the same in this runtime */
    _Atomic(const char *) name;
    _Atomic uint32_t references; /* RAD_REFERS_… */
    _Atomic uint32_t canceled;   /* generation of the fiber that was asked to end; 0: none */
    uint16_t shields;
    uint16_t nurseries; /* that it has opened, and not waited for */
    uint16_t mutexes;   /* that it holds */
    uint8_t rwlocks;    /* that it holds, modulo 256 */
    bool ended;
    rad_waitable done; /* what joiners wait for */
    rad_queue joiners;
    _Alignas(16) unsigned char result[RAD_RESULT_SIZE]; /* its result, and … */
    int code;                                           /* … what its function answered */
    uint8_t sharp;                                      /* its timers have no slack; nests */
    _Atomic(const void *) reads;                        /* an RW lock that it has to read, or NULL: see rwlock.c */
    rad_locals *locals;                                 /* only the fiber touches them; NULL: none was set */
    rad_time deadline;                                  /* of the nurseries it is in */
    rad__nursery *nursery;                              /* the nursery it is in, or NULL */
    _Atomic(rad_slot *) younger;                        /* in it; itself: it is not listed there */
    union {
        rad_slot *elder; /* in it */
        rad_slot *next;  /* in a pool */
    };
    rad_slot *made_before;
    /* For reports: what it waits for, when it is parked. */
    /* kind << 56 | address of the object; of a file its descriptor; of several the first clause, see wait.c */
    _Atomic uint64_t waits_for;
    _Atomic uint32_t waits_since; /* in units of 2^20 ns */
    _Atomic uint32_t waits_more;  /* objects, beside that one */
};

_Static_assert(sizeof(rad_slot) == 256, "four cache lines");

static inline rad_slot *rad__slot_of(rad_strand *s)
{
    return (rad_slot *)s;
}

static inline uint32_t rad__fiber_generation(const rad_strand *s)
{
    return rad__state_generation(rad__state_look(&s->state_word));
}

/* Whether its fiber has this RW lock to read, as far as the slot knows: one of them. For reports, too. */
static inline bool rad__slot_reads(const rad_slot *slot, const void *lock)
{
    return atomic_load_explicit(&slot->reads, memory_order_relaxed) == lock;
}

/* Who calls, as rad__who says it, and its slot; NULL: a thread. */
static inline uint64_t rad__caller(rad_slot **slot)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    rad_strand *self = rt_worker != NULL ? rt_worker->running : NULL;
    *slot = rad__slot_of(self);
    return RAD_LIKELY(self != NULL) ? rad__strand_who(self) : rad__who();
}

/* The caller's; who is not a fiber must not have made this call. */
RAD_INTERNAL rad_slot *rad__my_slot(const char *call);

/* ---- For wait.c -------------------------------------------------------------------------------------- */

/* The time a fiber waits no longer than its nurseries allow, unless it is shielded. */
static inline uint64_t rad__fiber_deadline(const rad_strand *s)
{
    const rad_slot *slot = (const rad_slot *)s;
    return slot->shields == 0 ? slot->deadline : RAD_FOREVER;
}

/* A timer that is armed when it is first needed. */
typedef struct rad_alarm {
    uint64_t until;
    bool set;
    rad_wheel_timer timer;
    _Atomic uint32_t *sharp; /* where it is counted as sharp; NULL: it is not */
} rad_alarm;

/* The fiber on whose stack the caller is: whether it is to end, and was not shielded. */
static inline bool rad__fiber_is_canceled(const rad_strand *s)
{
    const rad_slot *slot = (const rad_slot *)s;
    uint32_t canceled = atomic_load_explicit(&slot->canceled, memory_order_relaxed);
    return RAD_UNLIKELY(canceled == rad__fiber_generation(s)) && slot->shields == 0;
}

enum { RAD_SINCE_SHIFT = 20 };

/* What a slot says of this object. Only read again by reports. */
static inline uint64_t rad__waits_for(const rad_waitable *o)
{
    uint64_t address = (uintptr_t)o; /* tidy: address ok: only read again */
    return (uint64_t)o->kind << 56 | (address << 8 >> 8);
}

/* For reports: it is about to wait, since `now`, for this (0: nothing), or one of so many more. */
RAD_INLINE void rad__fiber_waits_for(rad_strand *s, uint64_t now, uint64_t what, uint32_t more)
{
    rad_slot *slot = rad__slot_of(s);
    atomic_store_explicit(&slot->waits_for, what, memory_order_relaxed);
    atomic_store_explicit(&slot->waits_since, (uint32_t)(now >> RAD_SINCE_SHIFT), memory_order_relaxed);
    atomic_store_explicit(&slot->waits_more, more, memory_order_relaxed);
}

/* A report that would name this file names its descriptor instead. */
static inline void rad__fiber_names_file(rad_strand *s, const rad_waitable *o, uint32_t fd)
{
    const uint64_t kind = (uint64_t)RAD_KIND_FILE << 56;
    rad_slot *slot = rad__slot_of(s);
    if (atomic_load_explicit(&slot->waits_for, memory_order_relaxed) == rad__waits_for(o))
        atomic_store_explicit(&slot->waits_for, kind | fd, memory_order_relaxed);
}

/* Parks, once; unless it does not want to wait any longer: RAD_ETIMEOUT, RAD_ECANCELED. With `open` false it is not
 * asked. */
RAD_INTERNAL int rad__fiber_rest(rad_strand *s, rad_alarm *alarm, bool open);

RAD_INTERNAL void rad__alarm_off(rad_alarm *alarm);

/* ---- Making fibers ----------------------------------------------------------------------------------- */

/* A slot for a new fiber, which the caller starts; NULL and *code: RAD_ENOMEM, RAD_ELIMIT. `rt_worker` may be NULL: a
 * thread. */
RAD_INTERNAL rad_slot *rad__slot_take(rad_runtime *rt, rad_rt_worker *rt_worker, int *code);

/* There are as many as there may be, RAD_ELIMIT. Where spawning waits a fiber waits until one is given back, unless it
 * is cancelled. Otherwise it gives up when no fiber is leaving. */
RAD_INTERNAL rad_slot *rad__slot_late(rad_runtime *rt, bool is_fiber, int *code);

/* Nobody refers to it any more. */
RAD_INTERNAL void rad__slot_recycle(rad_runtime *rt, rad_rt_worker *rt_worker, rad_slot *slot);

/* What is done on a fiber stack: fiber after fiber. */
RAD_INTERNAL void rad__fiber_body(void *fiber_stack);

/* fn(arg) in a slot that was taken; the caller queues it (rad__strand_start, or the executor's spawn). */
RAD_INTERNAL void rad__fiber_begin(rad_slot *slot, rad_fiber *handle, rad_fn fn, void *arg);

/* It began, on this worker (NULL: a thread): gives it a number that no other fiber has. */
RAD_INTERNAL void rad__fiber_enumerate(rad_slot *slot, rad_rt_worker *rt_worker);

/* It began, and cannot be queued after all: the slot goes back. */
RAD_INTERNAL void rad__fiber_undo(rad_slot *slot, rad_rt_worker *rt_worker);

/* The fiber has ended: destroys what it has, on its stack. */
RAD_INTERNAL void rad__locals_end(rad_slot *slot);

/* Asks it to end, if it is still the same fiber. */
RAD_INTERNAL void rad__slot_cancel(rad_slot *slot, uint32_t generation);

/* Joining as a clause; false: the handle is stale. */
RAD_INTERNAL bool rad__join_clause(rad_clause *c, rad_fiber fiber, rad_fiber_result *result);

/* By the spawner, into a nursery or NULL; `call` is what the program has called. */
RAD_INTERNAL int rad__spawn(const char *call, rad__nursery *nursery, rad_fiber *handle, rad_fn fn, void *arg);

#endif
