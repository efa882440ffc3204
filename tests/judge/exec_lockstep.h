/* exec_lockstep.h — one run of a case in the lab, followed by the reference step by step.
 *
 * The lab tells each step in words. Every step that touches a task must be a move that the reference allows, with
 * the same task and the same words; what is left at the end must be the same, and so must the verdict. */
#ifndef RAD_TEST_EXEC_LOCKSTEP_H
#define RAD_TEST_EXEC_LOCKSTEP_H

#include "exec_reference.h"

enum { EXEC_DIFFERENCE = 600 };

typedef struct exec_lockstep_seen {
    uint64_t runs, refused_cases, steps, moves[5], sources[PLACES], stolen, stolen_later, batches;
    uint64_t ticks;
    uint64_t outcomes[OUTCOMES], kinds[EXEC_REF_KINDS], cut;
} exec_lockstep_seen;

/* False: *difference says where they part. A case that the lab refuses agrees with everything. */
bool exec_lockstep(const exec_case *c, const char *policy, uint64_t seed, exec_lockstep_seen *seen,
                   char difference[EXEC_DIFFERENCE]);

#endif
