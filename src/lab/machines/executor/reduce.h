/* reduce.h — smaller cases of the executor, in a fixed order: fewer workers; fewer and earlier events; fewer tasks;
 * shorter programs, simpler instructions, smaller operands; fewer resources; plainer options. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_REDUCE_H
#define RAD_LAB_MACHINES_EXECUTOR_REDUCE_H

#include "lab/machines/executor/case.h"

/* Turns *c into the n-th smaller case; false (and *c unchanged) when there are no more. Every one is smaller by
 * rad__exec_case_size and a case that can be read. */
RAD_INTERNAL bool rad__exec_reduce(rad_exec_case *c, uint32_t n);

#endif
