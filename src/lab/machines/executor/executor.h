/* executor.h — the trial of the executor, for the rest of the lab and for the command line. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_EXECUTOR_H
#define RAD_LAB_MACHINES_EXECUTOR_EXECUTOR_H

#include "lab/machines/executor/world.h"

extern RAD_INTERNAL const rad_machine rad__machine_exec;

/* The state in words, a line each: gate, workers, tasks that have not ended, resources, events, programs. */
RAD_INTERNAL void rad__world_describe(const rad_exec_world *w, rad_bytes *to);

/* For the shrinker: see rad_machine. */
RAD_INTERNAL uint64_t rad__world_case_size(const rad_case *c);
RAD_INTERNAL bool rad__world_case_reduce(const rad_case *from, rad_cursor *at, rad_case *to);
RAD_INTERNAL uint32_t rad__world_case_heir(const rad_case *from, const rad_case *to, const rad_cursor *at,
                                           uint32_t actor);

/* Of a run that is over. */
RAD_INTERNAL enum rad_expect rad__world_outcome(const rad_exec_world *w);

#endif
