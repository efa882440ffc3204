/* generate.h — cases made from a seed: arbitrary programs that end under every schedule, and, when asked for, ones that
 * certainly hang.
 *
 * Why they end: a program spawns only later programs and jumps only forward; what is acquired is released on
 * the way out; every token that is waited for has an event. So whatever the scheduler does, all tasks finish,
 * unless it is wrong.
 * Why they hang: one task that is runnable from the start waits for a token that has no event. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_GENERATE_H
#define RAD_LAB_MACHINES_EXECUTOR_GENERATE_H

#include "lab/machines/executor/case.h"

#include <raddle/lab.h>

/* The same seed and bounds give the same case. NULL: out of memory. */
RAD_INTERNAL rad_exec_case *rad__exec_generate(uint64_t seed, const rad_exec_bounds *bounds);

#endif
