/* exec_watch.h — every schedule of a case, and what each of them showed.
 *
 * The lab's machine `exec` inside a machine of ours: after each step ours asks it to describe its state, and keeps
 * for each task what changed, as the reference does. These histories are part of the state, so a search that
 * visits each state once visits each result. */
#ifndef RAD_TEST_EXEC_WATCH_H
#define RAD_TEST_EXEC_WATCH_H

#include "exec_reference.h"

typedef struct exec_watched {
    judge_set results; /* of runs that no fault cut off */
    bool refused;      /* the lab does not take the case */
    bool complete;     /* every schedule was tried */
    uint64_t runs, steps;
    bool outcomes[OUTCOMES], kinds[EXEC_REF_KINDS];
    char trouble[300]; /* another failure, or words that were not understood; "" */
} exec_watched;

/* Strategy "dedup" tries every schedule; others sample. */
void exec_watch(const exec_case *c, const char *strategy, uint64_t seed, uint64_t most_runs, exec_watched *w);

/* The machine as it is, with its own idea of a state: outcomes and failures of every schedule, no results. */
void exec_unwatched(const exec_case *c, uint64_t most_runs, exec_watched *w);
void exec_watched_free(exec_watched *w);

#endif
