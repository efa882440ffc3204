#include "base/list.h"
#include "os/clock.h"
#include "exec/task.h"
#include "core/kernel.h" /* expect: include */
