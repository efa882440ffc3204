/* listed.h — the cases of the exhaustive tier: a few made by hand, each for a mechanism that short programs do not
 * reach, then generated ones (at most 3 workers, 4 tasks, programs of 8). The list is fixed: case i stays case i. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_LISTED_H
#define RAD_LAB_MACHINES_EXECUTOR_LISTED_H

#include "lab/machines/executor/case.h"

/* NULL: out of memory. `name` ("fair-injector", "generated-17") is for people. */
RAD_INTERNAL rad_exec_case *rad__exec_listed(uint32_t i, char name[32]);

#endif
