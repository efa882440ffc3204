/* strategy.h — how the runs of an exploration are arranged: a list of phases.
 *
 * A policy chooses within a run; a strategy says which runs there are. A sampling phase is a policy and a
 * number of runs; a tree phase is a depth-first search under a bound. `auto` is a portfolio. */
#ifndef RAD_LAB_STRATEGY_H
#define RAD_LAB_STRATEGY_H

#include "lab/unit.h"

typedef struct rad_plan_phase {
    char name[24];
    bool tree;
    bool dedup;
    bool learns; /* estimates are folded between epochs */
    bool deepen; /* tree: belongs to a row of rising bounds, ends it when nothing was cut off */
    enum rad_bound bound;
    uint64_t bound_limit;
    uint64_t runs; /* at most; tree phases of a row share what is left */
} rad_plan_phase;

typedef struct rad_plan {
    uint32_t count;
    rad_plan_phase phases[RAD_PHASES_MAX];
} rad_plan;

/* NULL = "auto". */
RAD_INTERNAL int rad__plan(rad_plan *p, const char *strategy, uint64_t runs, const rad_machine *m,
                           rad_error *error);

/* The first run index after `run` at which estimates are folded: 1, 16, 64, 256, then every 256. The
 * first run knows nothing, so it is an epoch by itself; the second one already aims. */
RAD_INTERNAL uint64_t rad__epoch_end(uint64_t run);

#endif
