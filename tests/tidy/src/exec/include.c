#include "base/list.h"
#include "os/clock.h" /* only shell* may; expect: include */
#include "core/kernel.h" /* expect: include */
