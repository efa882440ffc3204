/* runtime.h — a runtime: an executor whose tasks are strands, and what they all share.
 *
 * The words of this folder, as Go has G, M and P (docs/architecture.md, "Words", has those of the others):
 *
 *     slot         what belongs to one fiber; used again for the next one, under another generation       fiber.h
 *     strand       what the executor sees of it: a task whose run switches to the fiber's stack           strand.h
 *     fiber stack  a stack, and the context saved on it; taken at the first run, given back at the end    fiber_stack.h
 *     state word   one word: state, signal, owner and generation of a fiber                               state_word.h
 *     rt_worker    what a worker has: the running strand, idle slots, fiber stacks (a cache), timers      rt_worker.h
 *     waiter       one that waits, for one or more clauses; the first that is done claims it              wait.h
 *     overdue      fibers that should have run already, taken before all others                           overdue.h
 *     monitor      the thread that looks after timers, workers stuck in system calls, deadlocks           monitor.h
 *     nursery      a scope that ends when the fibers started in it have ended                               nursery.h
 *     result       what a fiber leaves to those that join it                                              fiber.h
 *     pool         objects that fibers take and give back; "stock" in schedule files                      pool.h
 *     visit        a thread that is no worker, inside a call                                              below
 */
#ifndef RAD_RT_RUNTIME_H
#define RAD_RT_RUNTIME_H

#include "base/prng.h"
#include "os/peek.h"
#include "os/segv.h"
#include "rt/blocking.h"
#include "rt/fiber.h"
#include "rt/overdue.h"
#include "rt/ready.h"
#include "rt/stack.h"

struct rad_runtime {
    rad_exec *exec;
    rad_waitable room;   /* its lock is that of the pool */
    rad_queue spawners;  /* who waits for a slot; then none is idle */
    rad_slot *idle;      /* slots that no worker has */
    rad_slot *made;      /* all slots, newest first */
    uint32_t slots_left; /* number of slots that may still be made */
    uint32_t slots_made;
    bool is_capped;           /* no more fibers than the options say: workers keep no slots that others may need */
    bool spawn_waits;         /* then a fiber that spawns waits */
    _Atomic uint32_t leaving; /* if it is capped: fibers that have ended and are still on their stacks */
    rad_stacks stacks;
    rad_fiber_stacks fiber_stacks;
    struct batch *batches; /* memory of slots and fiber stacks */
    uint64_t seed;
    _Atomic uint64_t spawned; /* by threads */
    rad_overdue overdue;
    _Atomic uint64_t now_ns; /* when the monitor last looked */
    _Atomic bool dozing;     /* the monitor would like to be told when something happens */
    _Atomic bool closing;    /* no more fibers */
    _Atomic uint32_t visits; /* threads of others that are in a call: see rad__visit_begin */
    uint32_t own_threads;    /* that are no workers, and wake nobody by themselves */
    bool reports_deadlock;
    bool peeks;        /* fibers that run show where they are (os/peek.h) */
    uint64_t slack_ns; /* a worker may sleep so much longer than until its next timer */
    uint64_t stall_ns; /* a fiber that keeps its worker for longer is named; 0: none */
    struct rad_monitor *monitor;
    rad_ready ready;
    rad_blocking_pool blocking;
};

/* A thread that wakes a fiber from outside may still be in that call when the fiber runs, ends, and with it the
 * runtime, which has to stay until then:
 *              waker                                    the runtime's end
 *         X1   visits + 1                          Y1   the last fiber has ended
 *         X2   the fiber may go on (N6)            Y2   waits until there are no visits
 *         X3   wakes it                            Y3   frees everything
 *         X4   visits - 1
 * Claim: Y3 comes after X4, for X1 is before X2, which is before Y1. A thread that starts a fiber from outside, or
 * cancels all of them, or looks at them, is in the same position: X1 is the first thing such a call does. A worker of
 * the same runtime needs no visit: its thread is waited for. NULL is none. `rt_worker` is rad__rt_worker(). */
static inline rad_runtime *rad__visit_begin(const rad_rt_worker *rt_worker, rad_runtime *rt)
{
    if (RAD_LIKELY(rt_worker != NULL && rt_worker->runtime == rt)) return NULL;
    atomic_fetch_add_explicit(&rt->visits, 1, memory_order_relaxed);
    return rt;
}

static inline void rad__visit_end(rad_runtime *rt)
{
    /* X4, pairs with the load of Y2. */
    atomic_fetch_sub_explicit(&rt->visits, 1, memory_order_release);
}

/* By a worker that begins to run something, when the monitor dozes. */
RAD_INTERNAL void rad__runtime_stir(rad_runtime *rt);

/* Fibers whose time has come go on, on this worker, the earliest first. */
RAD_INTERNAL void rad__timers_expire(rad_rt_worker *rt_worker, uint64_t now);

/* The wheel of a worker, and what it knows about its sleepers. */
RAD_INTERNAL void rad__timers_open(rad_rt_worker *rt_worker, uint64_t now);

/* By the worker, before it sleeps: for how long, at most. 0: it has something to do, for timers have expired.
 * A timer expires when the worker is awake, or up to the slack later: then those that are due meanwhile expire with
 * it, and the worker wakes once for all of them. */
RAD_INTERNAL uint64_t rad__timers_rest(rad_rt_worker *rt_worker);

/* How late its timers may be. */
RAD_INTERNAL uint64_t rad__timers_slack(const rad_rt_worker *rt_worker);

/* By the worker, while it searches: whether it must not do so any longer. */
RAD_INTERNAL bool rad__timers_late(rad_rt_worker *rt_worker);

/* By the worker: it has run all that was due. */
RAD_INTERNAL void rad__timers_done(rad_rt_worker *rt_worker);

/* Its worker has put fibers into its queue of what is due: lets other workers see them. */
RAD_INTERNAL void rad__due_offer(rad_rt_worker *rt_worker);

/* The time, if there are any; else 0. By the worker, now and then. */
RAD_INTERNAL uint64_t rad__timers_due(rad_rt_worker *rt_worker);

/* Up to `count` new slots, each with a fiber stack in the pool, linked by `next`; NULL: there is no memory, or there
 * are as many as there may be. */
RAD_INTERNAL rad_slot *rad__runtime_grow(rad_runtime *rt, uint32_t count, int *code);

#endif
