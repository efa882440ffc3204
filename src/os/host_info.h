/* host_info.h — what machine this is, and what time of day: for the records people keep of a run, never for
 * decisions. */
#ifndef RAD_OS_HOST_INFO_H
#define RAD_OS_HOST_INFO_H

#include "base/check.h"

/* What is not known is "" or 0. */
typedef struct rad_os_host_info {
    char host[128];
    char system[256]; /* "Linux 6.1.0-18-amd64 x86_64" */
    char cpu[128];
    uint32_t cores;
    uint64_t memory_bytes;
} rad_os_host_info;

RAD_INTERNAL void rad__os_host_info(rad_os_host_info *m);

/* Nanoseconds since 1970, UTC; may jump. */
RAD_INTERNAL uint64_t rad__os_time_of_day_ns(void);

/* The largest amount of memory this process had so far; 0: not known. */
RAD_INTERNAL uint64_t rad__os_memory_peak(void);

#endif
