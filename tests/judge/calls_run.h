/* calls_run.h — a program on real threads. */
#ifndef RAD_TEST_CALLS_RUN_H
#define RAD_TEST_CALLS_RUN_H

#include "calls_program.h"

/* `seed` sets how long operations are held up. Rules that hold in every run (what a task sent to a worker runs on,
 * each task ends once, the counts of the executor) are checked on the way: *broken is "" or says which does not
 * hold. */
void calls_run(const calls_program *p, uint64_t seed, calls_result *r, char broken[160]);

#endif
