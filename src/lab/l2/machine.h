/* machine.h — the models of L2 as machines, in the order of the table of models; see docs/memory-level.md. */
#ifndef RAD_LAB_L2_MACHINE_H
#define RAD_LAB_L2_MACHINE_H

#include "base/check.h"

#include <raddle/machine.h>

/* NULL after the last. */
RAD_INTERNAL const rad_machine *rad__l2_machine(uint32_t index);

/* The number of the first atomic of the function that the model's `bug_at` names. RAD_NONE: the model has no bug, does
 * not say where, or names a function without atomics. */
struct rad_model;
RAD_INTERNAL uint32_t rad__l2_bug_site(const struct rad_model *m);

#endif
