#include "base/list.h"
#include "session/lang/program.h"
#include "core/kernel.h" /* expect: include */
#include "os/clock.h" /* only run may; expect: include */
#include "session/run/threads.h" /* expect: include */
