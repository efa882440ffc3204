/* calls_generate.h — random programs over the executor's calls. */
#ifndef RAD_TEST_CALLS_GENERATE_H
#define RAD_TEST_CALLS_GENERATE_H

#include "calls_program.h"

/* `ops`: operations in all, at most; `workers`: 1, 2 or 4. */
void calls_generate(uint64_t seed, uint8_t workers, uint8_t ops, calls_program *p);

typedef struct calls_coverage {
    uint64_t programs, ops[CALLS_OPS], outside[CALLS_OPS], stop, jobs, nested;
} calls_coverage;

void calls_cover(calls_coverage *v, const calls_program *p);

#endif
