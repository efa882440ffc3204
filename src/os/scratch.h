/* scratch.h — folders for a while: an empty one with a name of its own, and what is in it removed with it. */
#ifndef RAD_OS_SCRATCH_H
#define RAD_OS_SCRATCH_H

#include "base/check.h"

enum { RAD_OS_SCRATCH_PATH = 200 };

/* In $TMPDIR, or /tmp. */
RAD_INTERNAL int rad__os_scratch_make(char path[RAD_OS_SCRATCH_PATH], rad_error *error);

/* The folder, and all that is in it; what cannot be removed stays. Links are removed, not followed. */
RAD_INTERNAL void rad__os_scratch_remove(const char *path);

#endif
