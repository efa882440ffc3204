/* strategy.h — how the runs of an exploration are arranged: as phases, in rows that take turns.
 *
 * A policy chooses within a run; a strategy says which runs there are. A phase is one sampling policy or one
 * depth-first search: what results and --json name ("surw", "preempt:2"). A row is one phase, or several, one after the
 * other: searches with rising bounds. Most strategies have one row. `auto` is a portfolio: its rows take turns in
 * slices that double, in proportion to their shares (explore.c). No plan knows the budget. */
#ifndef RAD_LAB_STRATEGY_H
#define RAD_LAB_STRATEGY_H

#include "lab/batch.h"

typedef struct rad_plan_phase {
    char name[24];
    bool tree;
    bool dedup;
    bool learns; /* estimates are folded between epochs */
    enum rad_bound bound;
    uint64_t bound_limit;
    uint64_t runs;        /* at most */
    uint32_t spin_rounds; /* as in rad_case; 0: as the case has it */
} rad_plan_phase;

/* Phases [first, first + count), one after the other. */
typedef struct rad_plan_row {
    uint32_t first, count;
    uint64_t share; /* runs of its first turn */
    bool spins;     /* its phases have spin rounds: no turn until an actor was held back */
} rad_plan_row;

enum { RAD_ROWS_MAX = 8 };

typedef struct rad_plan {
    uint32_t count, row_count;
    rad_plan_phase phases[RAD_PHASES_MAX];
    rad_plan_row rows[RAD_ROWS_MAX];
} rad_plan;

/* NULL = "auto". */
RAD_INTERNAL int rad__plan(rad_plan *p, const char *strategy, const rad_target *t, rad_error *error);

/* The first run index after `run` at which estimates are folded: 1, 16, 64, 256, then every 256. The
 * first run knows nothing, so it is an epoch by itself; the second one already aims. */
RAD_INTERNAL uint64_t rad__epoch_end(uint64_t run);

#endif
