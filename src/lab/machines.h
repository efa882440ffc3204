/* machines.h — the machines a process knows, and the words that make a target of one.
 *
 * The calls themselves are public: rad_machine_at, rad_machine_find, rad_machine_add, rad_target_init,
 * rad_target_set, rad_target_text (raddle/lab.h). */
#ifndef RAD_LAB_MACHINES_H
#define RAD_LAB_MACHINES_H

#include "base/check.h"

#include <raddle/lab.h>

/* How many parameters a machine has. */
RAD_INTERNAL uint32_t rad__machine_param_count(const rad_machine *m);

/* Index of the parameter with this name (of `length` characters), or RAD_NONE. */
RAD_INTERNAL uint32_t rad__machine_param(const rad_machine *m, const char *name, size_t length);

/* The default case of a machine. */
RAD_INTERNAL void rad__target_default(rad_target *t, const rad_machine *m);

/* Names every parameter that is out of its range, as rad_target_set would; for cases read from files. */
RAD_INTERNAL int rad__target_check(const rad_target *t, rad_error *error);

/* Machines that only some programs have: `at` gives them by number, NULL after the last. They follow the built-in ones.
 * The models of L2 call it when they are linked in: raddle and the tests have them, libraddle-lab does not. */
RAD_INTERNAL void rad__machines_linked(const rad_machine *(*at)(uint32_t index));

/* How many machines were added; forgets all but the first `count` of them. */
RAD_INTERNAL uint32_t rad__machines_added(void);
RAD_INTERNAL void rad__machines_cut(uint32_t count);

/* Forgets all of them, and their memory; for tests. */
RAD_INTERNAL void rad__machines_forget(void);

#endif
