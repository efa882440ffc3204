/* debug.h — a run of a program under test in gdb: it stops where the run fails. */
#ifndef RAD_LAB_PROGRAMS_DEBUG_H
#define RAD_LAB_PROGRAMS_DEBUG_H

#include <raddle/lab.h>

#include "base/check.h"

/* Runs an artifact of a program, whose story is known, once more, in gdb, until the user leaves it. RAD_EINPUT: it is
 * about no program, or gdb is not there. */
RAD_INTERNAL int rad__lab_debug(const rad_artifact *a, const rad_story *s, rad_error *error);

/* Whether that can be done. */
RAD_INTERNAL int rad__lab_can_debug(const rad_artifact *a, rad_error *error);

#endif
