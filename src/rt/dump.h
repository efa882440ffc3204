/* dump.h — every fiber of a runtime, for people: its state, what it waits for, since when, and who called whom.
 *
 * A fiber that is parked is kept from running while its stack is read (rad__strand_hold), some microseconds; a wake in
 * between is not lost, only late. Of a fiber that runs, the thread of its worker reads the stack, in a signal handler
 * (os/peek.h). A fiber that can run, and does not, shows none: a worker may take it at any time.
 *
 * Rejected: reading the stack as it is, and looking afterwards whether the fiber is parked in the same generation. It
 * may have run and parked again in between, many times, and then what was read never was the case: of two reads that
 * agreed, with the same word before and after, some were wrong within a second. */
#ifndef RAD_RT_DUMP_H
#define RAD_RT_DUMP_H

#include <stdio.h>

#include "rt/fiber.h"

/* By any thread, while the fibers run: what is said of each is true of some moment. */
RAD_INTERNAL void rad__dump(rad_runtime *rt, FILE *to);

/* One fiber, if it has not ended. */
RAD_INTERNAL void rad__dump_fiber(rad_slot *slot, FILE *to);

#endif
