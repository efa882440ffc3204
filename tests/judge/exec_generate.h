/* exec_generate.h — random executor cases, and how much of the language they use. */
#ifndef RAD_TEST_EXEC_GENERATE_H
#define RAD_TEST_EXEC_GENERATE_H

#include "exec_case.h"

typedef struct exec_bounds {
    uint8_t workers, programs, length, tasks, events;
    bool loops; /* jumps back, and a small step limit */
} exec_bounds;

/* Programs spawn only later programs, and (without loops) jump only forward; they may leak, give back what they do
 * not have, wait for what does not come. */
void exec_generate(uint64_t seed, const exec_bounds *b, exec_case *c);

typedef struct exec_coverage {
    uint64_t cases, ops[CASE_OPS], events[CASE_EVENT_KINDS], workers[CASE_WORKERS + 1];
    uint64_t expects[CASE_EXPECTS], eager, stop, round_robin, begun_inside, waits_with_else;
} exec_coverage;

void exec_cover(exec_coverage *v, const exec_case *c);

#endif
