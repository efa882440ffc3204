/* fibers_run.h — runs a program of the judge with the real runtime: on threads, or under `raddle explore`. */
#ifndef RAD_TEST_FIBERS_RUN_H
#define RAD_TEST_FIBERS_RUN_H

#include "fibers_program.h"

typedef struct fibers_run_options {
    uint32_t workers;
    uint32_t first, count; /* the program is run for each of these numbers: other delays */
    uint64_t seed;
    void (*begins)(void *context, uint32_t number);
    bool (*ended)(void *context, uint32_t number); /* false: no more */
    void *context;
    /* Under exploration; NULL: on threads. The kernel decides about delays, so the program has none. Everything before
     * the first decision runs once; then this says where the result of the run at hand goes. */
    fibers_result *(*claim)(void *context);
    uint32_t ranks[FIBERS_SOONS]; /* which of the deadlines that come soon comes first */
} fibers_run_options;

/* *now is what the program has done so far: if the process ends (a deadlock, a mistake), that is its result. When it
 * has returned there was no runtime to be had. */
void fibers_run(const fibers_program *p, const fibers_run_options *o, fibers_result *now);

/* Once, as a program of its own, with `claim`. False: there was no runtime to be had. */
bool fibers_run_explored(const fibers_program *p, const fibers_run_options *o);

#endif
