/* clock.h — the monotonic clock; time of day is not used here. */
#ifndef RAD_OS_CLOCK_H
#define RAD_OS_CLOCK_H

#include "base/check.h"

/* Since some fixed moment in the past; never goes back. */
RAD_INTERNAL uint64_t rad__os_now_ns(void);
RAD_INTERNAL double rad__os_now_seconds(void);

#endif
