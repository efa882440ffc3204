#include "base/list.h"
#include "os/clock.h" /* only thread may; expect: include */
#include "core/kernel.h" /* expect: include */
