/* reach.h — what the program can still get hold of: a conservative scan of its memory, from the stacks of those fibers
 * that can run and from its variables, through blocks of the heap. What looks like a pointer is one.
 *
 * Blocks    of the C library's heap, found by walking it, and the live part of each fiber's stack. A pointer into a
 *           block reaches all of it. What the scan does not know by blocks (other mappings) is reached as a whole.
 * Left out  the runtime's own memory and the lab's, which know every fiber; the C library's variables, which know
 *           what was freed.
 * Doubt     memory that is shared with others, more than 64 MB of it, or timers with functions of the
 *           program: rad__reach_begin says no. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_REACH_H
#define RAD_LAB_PROGRAMS_FIBERS_REACH_H

#include "lab/programs/fibers/stage.h"

/* Scans the variables. False: pointers may be where it cannot look. */
RAD_INTERNAL bool rad__reach_begin(void);

/* This runner may still run: what is on its stack can be used. */
RAD_INTERNAL void rad__reach_runner(const rad_runner *r);

/* Whether a runner that was named can reach this address. */
RAD_INTERNAL bool rad__reach_has(const void *address);

/* … or a handle of this fiber, to cancel it. */
RAD_INTERNAL bool rad__reach_has_handle(const rad_runner *r);

/* Whether it is a variable, which needs no pointer: everybody can reach it. Without rad__reach_begin. */
RAD_INTERNAL bool rad__reach_is_variable(const void *address);

/* For rounds (round.c): the live part of a runner's stack; and all memory that the program can write, but for stacks
 * and what the runtime has of its own. False: it cannot be known. */
RAD_INTERNAL void rad__reach_stack_state(const rad_runner *r, rad_state_hash *h);
RAD_INTERNAL bool rad__reach_state(rad_state_hash *h);

/* Mappings that are shared now are raddle's own. */
RAD_INTERNAL void rad__reach_own(void);

#endif
