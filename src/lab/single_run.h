/* single_run.h — one run in a process of its own, so that a machine that dies is a verdict and not the end of us. */
#ifndef RAD_LAB_SINGLE_RUN_H
#define RAD_LAB_SINGLE_RUN_H

#include "lab/log_file.h"
#include "lab/log_value.h"
#include "lab/rig.h"
#include "lab/watch.h"

typedef struct rad_single_run {
    rad_rig rig;
    rad_policy *policy;
    uint64_t seed;
    rad_log_out *logs[2];   /* a file, and memory; either may be NULL */
    rad_log_memory *memory; /* shared with the child, for get_log */
    size_t memory_size;
    char **divergence; /* for the caller; may be NULL */
    bool kept;         /* the child has come to its end, and its logs with it */
    struct rad_single_run_answer *answer;
    rad_run_watch watch;
    int ends[2]; /* a pipe that ends with the child */
    int asked;   /* number of requests to stop (signals) when it began */
    bool interrupted;
} rad_single_run;

/* Forks, runs what the rig and the policy say, waits, and turns what came of it into a verdict. The choices are in
 * rig.choices, which is shared; what else the policy wants to tell it keeps in shared memory, too. */
RAD_INTERNAL int rad__single_run_do(rad_single_run *t, rad_verdict *v, rad_error *error);

#endif
