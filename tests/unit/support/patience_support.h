/* patience_support.h — for tests that wait. No test fails because the machine is busy: a test waits for what has to
 * happen, however long that takes, and a program that hangs is stopped from outside (tools/cpu_limit.c).
 *
 * What only a clock can show is shown by the quickest of many tries: with the bug each of them takes long, and on a
 * busy machine only some do. */
#ifndef PATIENCE_SUPPORT_H
#define PATIENCE_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <raddle.h>

enum { PATIENCE_SECONDS = 3600 };

#define PATIENCE_NS (UINT64_C(1000000000) * PATIENCE_SECONDS)

/* For rad_options.extra_workers: one worker is one worker. Beside one that gets no CPU for a while the runtime seats
 * another, and then turns are no order any more. */
static inline uint32_t extra_beside(uint32_t workers)
{
    return workers == 1 ? RAD_NONE : 0;
}

/* For a child process: it does not outlive the test for long. */
static inline void patience_limit_child(void)
{
    alarm(PATIENCE_SECONDS);
}

/* CPU time of the calling thread. */
static inline uint64_t patience_thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
