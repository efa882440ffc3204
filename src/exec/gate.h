/* gate.h — how many tasks are in flight, and whether new ones may come in from outside: one word, so that
 * spawn against join is one compare-and-swap.
 *
 * Word      bit 63: closed; bits 0 … 62: tasks in flight, that is admitted and not finished, blocked ones too,
 *           plus the credit that workers hold: a worker counts its spawns and ends among themselves and
 *           asks this word, which everybody shares, only when its credit runs out or it has nothing to do
 *
 *     OPEN, n   --enter-->  OPEN, n+1        from outside; refused when closed
 *     any, n>0  --add-->    same, n+k        a task in flight spawns: it never asks the gate
 *     any, n>=k --leave-->  same, n-k        LAST when that is CLOSED, 0: this caller ends the executor
 *     OPEN, n   --close-->  CLOSED, n        DRAINED when n is 0
 *
 * G1  CLOSED, 0 is reached exactly once, and reported to exactly one caller (LAST or DRAINED).
 * G2  after CLOSED, 0 the word does not change: no task from outside gets in, and none is left inside.
 *
 * Ordering  leave is a release and reading LAST an acquire: what finished tasks wrote is visible to the
 *           thread that ends the executor. enter and add need none: the queue the task goes through publishes it. */
#ifndef RAD_EXEC_GATE_H
#define RAD_EXEC_GATE_H

#include <stdatomic.h>

#include "base/check.h"

typedef struct rad_gate {
    _Atomic uint64_t word;
} rad_gate;

#define RAD_GATE_CLOSED    (UINT64_C(1) << 63)
#define RAD_GATE_COUNT_MAX (RAD_GATE_CLOSED - 1)

enum rad_gate_enter { RAD_GATE_ENTERED = 0, RAD_GATE_REFUSED, RAD_GATE_FULL };
enum rad_gate_leave { RAD_GATE_LEFT = 0, RAD_GATE_LAST };
enum rad_gate_close { RAD_GATE_CLOSING = 0, RAD_GATE_DRAINED, RAD_GATE_WAS_CLOSED };

/* `count` tasks from outside, all or none. */
RAD_INTERNAL RAD_MUST_USE enum rad_gate_enter rad__gate_enter(rad_gate *g, uint64_t count);

/* `count` tasks spawned by one that is in flight. */
RAD_INTERNAL void rad__gate_add(rad_gate *g, uint64_t count);

/* `count` tasks have finished (or were never spawned: credit given back). */
RAD_INTERNAL RAD_MUST_USE enum rad_gate_leave rad__gate_leave(rad_gate *g, uint64_t count);
RAD_INTERNAL RAD_MUST_USE enum rad_gate_close rad__gate_close(rad_gate *g);

static inline uint64_t rad__gate_count(const rad_gate *g)
{
    return atomic_load_explicit(&g->word, memory_order_relaxed) & RAD_GATE_COUNT_MAX;
}

static inline bool rad__gate_is_open(const rad_gate *g)
{
    return !(atomic_load_explicit(&g->word, memory_order_relaxed) & RAD_GATE_CLOSED);
}

#endif
