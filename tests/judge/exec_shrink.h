/* exec_shrink.h — a smaller case with which something is still wrong. */
#ifndef RAD_TEST_EXEC_SHRINK_H
#define RAD_TEST_EXEC_SHRINK_H

#include "exec_case.h"

typedef bool (*exec_is_bad)(const exec_case *c, void *context);

/* Leaves out one thing at a time as long as the case stays bad. */
void exec_shrink(exec_case *c, exec_is_bad is_bad, void *context);

#endif
