/* dump.h — every fiber of a runtime, for people: its state, what it waits for, since when. */
#ifndef RAD_RT_DUMP_H
#define RAD_RT_DUMP_H

#include <stdio.h>

#include "rt/fiber.h"

/* By anybody, while the fibers run: each line is true of some moment. */
RAD_INTERNAL void rad__dump(rad_runtime *rt, FILE *to);

/* Who runs on that worker, if anybody does. */
RAD_INTERNAL void rad__dump_running(rad_runtime *rt, uint32_t worker, FILE *to);

#endif
