#include "base/list.h"
#include "core/kernel.h"
#include "exec/task.h" /* expect: include */
