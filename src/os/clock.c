/* clock.c — see clock.h. */
#include "os/clock.h"

#include <time.h>

uint64_t rad__os_now_ns(void)
{
    struct timespec t;
    int failed = clock_gettime(CLOCK_MONOTONIC, &t);
    RAD_ASSERT(failed == 0); /* fails only for a clock that does not exist */
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

double rad__os_now_seconds(void)
{
    return (double)rad__os_now_ns() * 1e-9;
}
