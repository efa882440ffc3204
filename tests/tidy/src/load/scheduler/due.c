#include "load/scenario/scenario.h"
#include "load/scheduler/calendar.h"
#include "load/live/live.h" /* downwards only; expect: include */
#include "os/clock.h" /* expect: include */
