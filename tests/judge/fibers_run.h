/* fibers_run.h — runs a program of the judge with the real runtime, on threads. */
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
} fibers_run_options;

/* *now is what the program has done so far: if the process ends (a deadlock, a mistake), that is its result. When it
 * has returned there was no runtime to be had. */
void fibers_run(const fibers_program *p, const fibers_run_options *o, fibers_result *now);

#endif
