/* fibers_text.h — a program of the judge from a line of text:
 *
 *     limit 2 waits: spawn f1; recv c0 soon | select {send c0, recv c1} never; nursery_go n0 2 | note
 *
 * Fibers are separated by |, operations by ;. After the name of an operation come its object, its number and its
 * deadline (now, passed, soon, never), as far as it has them. Objects are always the same: c0 has no room, c1 has
 * room for one, c2 too, and drops the old; one permit is in s0, two in s1; g0 waits for one; two meet at the
 * barrier; there is one item, one thread (or "threads 2:"), room for two tasks. Fibers return their last error. */
#ifndef RAD_TEST_FIBERS_TEXT_H
#define RAD_TEST_FIBERS_TEXT_H

#include "fibers_program.h"

/* NULL: all is well; else where the text is wrong. */
const char *fibers_parse(const char *text, fibers_program *p);

#endif
