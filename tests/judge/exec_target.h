/* exec_target.h — a case as a target of the lab. */
#ifndef RAD_TEST_EXEC_TARGET_H
#define RAD_TEST_EXEC_TARGET_H

#include "exec_case.h"

#include <raddle/lab.h>

/* Through a case file, as a user would. False: the lab refuses the case. rad_target_free it. */
bool exec_target(const exec_case *c, const char *machine, rad_target *t);

#endif
