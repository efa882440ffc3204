#include "base/list.h"
#include "os/clock.h"
#include "core/kernel.h"
#include "exec/task.h"
#include "rt/chan.h"
#include "lab/toys/counter.h"
#include "view/lanes.h" /* expect: include */
#include "flow/machine/vm.h"
