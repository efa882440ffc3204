/* fibers_generate.h — random programs for the judge of fibers. */
#ifndef RAD_TEST_FIBERS_GENERATE_H
#define RAD_TEST_FIBERS_GENERATE_H

#include "fibers_program.h"

/* The program of a seed: two to five fibers about one to three themes (channels, locks, nurseries …). */
void fibers_generate(uint64_t seed, fibers_program *p);

/* A small one, all of whose schedules can be tried: few of the operations of the other are left. */
void fibers_generate_small(uint64_t seed, fibers_program *p);

#endif
