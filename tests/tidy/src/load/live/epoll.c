#include "load/scheduler/random.h"
#include "os/clock.h"
#include "load/report/render.h" /* expect: include */
