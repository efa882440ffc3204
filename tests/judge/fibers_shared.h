/* fibers_shared.h — what a program under exploration and its judge share: a file in memory, with a result for each run.
 *
 * Output of runs is swallowed, and a deadlock ends a run without a word of the program; what it had written here until
 * then is left. */
#ifndef RAD_TEST_FIBERS_SHARED_H
#define RAD_TEST_FIBERS_SHARED_H

#include "fibers_program.h"

#include <stdatomic.h>

#define FIBERS_SHARED_FILE "RADDLE_JUDGE_RESULTS" /* the variable with its path */

enum { FIBERS_SHARED_ROOM = 400000 };

typedef struct fibers_shared {
    fibers_program program;
    uint32_t ranks[FIBERS_SOONS];
    _Atomic uint32_t count; /* of runs that have begun */
    fibers_result results[FIBERS_SHARED_ROOM];
} fibers_shared;

#endif
