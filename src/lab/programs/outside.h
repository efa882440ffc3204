/* outside.h — what a program under test did to the world outside of its process: texts such as "unlink(notes.txt)",
 * each once. */
#ifndef RAD_LAB_PROGRAMS_OUTSIDE_H
#define RAD_LAB_PROGRAMS_OUTSIDE_H

#include "base/check.h"

#include <raddle/lab.h>

/* In the order of the texts. Of too many the last in that order are left out, so the set does not depend on which came
 * first. */
RAD_INTERNAL void rad__outside_add(rad_outside *o, const char *text);
RAD_INTERNAL void rad__outside_join(rad_outside *o, const rad_outside *more);

#endif
