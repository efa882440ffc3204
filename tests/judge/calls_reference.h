/* calls_reference.h — what the executor's public calls promise, as a machine that tries everything.
 *
 * Written from raddle/exec.h and docs/executor.md alone. A worker has a stack of tasks: the top one runs, those below
 * wait for their groups. With one worker the order in which it takes tasks is the documented one; with several, any
 * worker may take any task that can run, except that a task sent to a worker is taken by that one. */
#ifndef RAD_TEST_CALLS_REFERENCE_H
#define RAD_TEST_CALLS_REFERENCE_H

#include "calls_program.h"
#include "judge_set.h"

typedef struct calls_runs {
    judge_set results;
    uint32_t states;
    bool cut; /* more states than the limit */
} calls_runs;

void calls_enumerate(const calls_program *p, uint32_t most_states, calls_runs *runs);
void calls_runs_free(calls_runs *runs);

#endif
