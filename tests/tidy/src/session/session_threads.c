#include "core/kernel.h"
#include "exec/task.h"
#include "os/clock.h"
#include "lab/explore.h" /* expect: include */
