/* clocks.c — the C library's clocks and sleeps for a program under test: all are the virtual clock (time.c).
 *
 * Date      The calendar begins at a fixed date in every run, so that what is made of the time (names, seeds) is the
 *           same again.
 * Sleep     In production a fiber that calls sleep keeps its worker, and the others continue on the other workers.
 *           Here it waits for the clock, and the others can run. It is not canceled, as it is not in production.
 * Alarms    lab/programs/threads/alarms.c. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/interposed.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* 2020-09-13 12:26:40 UTC */
#define CALENDAR_BEGINS (UINT64_C(1600000000) * SECOND)

static uint64_t calendar_ns(void)
{
    return CALENDAR_BEGINS + rad__time_look() - RAD_TIME_BEGINS;
}

/* 0, or EINVAL. Clocks of CPU time: computing takes none. */
static int read_clock(clockid_t clock, uint64_t *ns)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI: *ns = calendar_ns(); return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM: *ns = rad__time_look(); return 0;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID: *ns = rad__time_look() - RAD_TIME_BEGINS; return 0;
    default: return EINVAL;
    }
}

/* ---- Looking ------------------------------------------------------------------------------------------ */

RAD_ANSWER(int, clock_gettime, (clockid_t clock, struct timespec *at))
{
    uint64_t ns;
    if (!rad__program_calls() || read_clock(clock, &ns) != 0) return RAD_REAL(clock_gettime)(clock, at);
    *at = (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
    return 0;
}

int rad__clock_show(clockid_t clock, struct timespec *at)
{
    return rad__libc_clock_gettime(clock, at);
}

RAD_ANSWER(int, gettimeofday, (struct timeval * at, void *zone))
{
    if (!rad__program_calls()) return RAD_REAL(gettimeofday)(at, zone);
    uint64_t ns = calendar_ns();
    if (at) *at = (struct timeval){(time_t)(ns / SECOND), (suseconds_t)(ns % SECOND / 1000)};
    if (zone) *(struct timezone *)zone = (struct timezone){0, 0};
    return 0;
}

RAD_ANSWER(time_t, time, (time_t * at))
{
    if (!rad__program_calls()) return RAD_REAL(time)(at);
    time_t seconds = (time_t)(calendar_ns() / SECOND);
    if (at) *at = seconds;
    return seconds;
}

RAD_ANSWER(int, timespec_get, (struct timespec * at, int base))
{
    if (!rad__program_calls() || base != TIME_UTC) return RAD_REAL(timespec_get)(at, base);
    uint64_t ns = calendar_ns();
    *at = (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
    return base;
}

RAD_ANSWER(clock_t, clock, (void))
{
    if (!rad__program_calls()) return RAD_REAL(clock)();
    return (clock_t)((rad__time_look() - RAD_TIME_BEGINS) / (SECOND / CLOCKS_PER_SEC));
}

RAD_ANSWER(clock_t, times, (struct tms * at))
{
    if (!rad__program_calls()) return RAD_REAL(times)(at);
    if (at) *at = (struct tms){0, 0, 0, 0};
    return (clock_t)(rad__time_look() / (SECOND / 100));
}

/* ---- Sleeping ----------------------------------------------------------------------------------------- */

bool rad__ns_of(const struct timespec *t, uint64_t *ns)
{
    if (t->tv_sec < 0 || t->tv_nsec < 0 || (uint64_t)t->tv_nsec >= SECOND) return false;
    *ns = (uint64_t)t->tv_sec < UINT64_MAX / SECOND - 1 ? (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec
                                                        : UINT64_MAX;
    return true;
}

/* What was left when a handler ended it. */
static int slept(uint64_t ns, struct timespec *left)
{
    if (ns == 0) return 0;
    if (left) *left = (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
    errno = EINTR;
    return -1;
}

RAD_ANSWER(int, nanosleep, (const struct timespec *how_long, struct timespec *left))
{
    uint64_t ns;
    if (!rad__stage.running) return RAD_REAL(nanosleep)(how_long, left);
    if (!rad__ns_of(how_long, &ns)) {
        errno = EINVAL;
        return -1;
    }
    return slept(rad__time_sleep(ns), left);
}

/* What os calls: tools/seam.sh renames it there. */
RAD_INTERNAL int rad__past_nanosleep(const struct timespec *how_long, struct timespec *left);

int rad__past_nanosleep(const struct timespec *how_long, struct timespec *left)
{
    rad__dispatch_shut(false); /* the runtime's own: it asks whether an address can be read */
    int code = RAD_REAL(nanosleep)(how_long, left);
    rad__dispatch_shut(rad__stage.running && rad__stage.current != NULL);
    return code;
}

RAD_ANSWER(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *how_long, struct timespec *left))
{
    uint64_t ns, begins = 0;
    if (!rad__stage.running) return RAD_REAL(clock_nanosleep)(clock, flags, how_long, left);
    int wrong = clock == CLOCK_THREAD_CPUTIME_ID ? EINVAL : rad__clock_wrong(clock);
    if (wrong != 0) return wrong;
    if (!rad__ns_of(how_long, &ns) || read_clock(clock, &begins) != 0) return EINVAL;
    if (flags & TIMER_ABSTIME) ns = ns > begins ? ns - begins : 0;
    bool absolute = flags & TIMER_ABSTIME;
    return slept(rad__time_sleep(ns), absolute ? NULL : left) == 0 ? 0 : EINTR;
}

RAD_ANSWER(int, usleep, (useconds_t how_long))
{
    if (!rad__stage.running) return RAD_REAL(usleep)(how_long);
    return slept(rad__time_sleep((uint64_t)how_long * 1000), NULL);
}

RAD_ANSWER(unsigned, sleep, (unsigned how_long))
{
    if (!rad__stage.running) return RAD_REAL(sleep)(how_long);
    return (unsigned)(rad__time_sleep((uint64_t)how_long * SECOND) / SECOND); /* as the C library does */
}

RAD_ANSWER(int, thrd_sleep, (const struct timespec *how_long, struct timespec *left))
{
    uint64_t ns;
    if (!rad__stage.running) return RAD_REAL(thrd_sleep)(how_long, left);
    if (!rad__ns_of(how_long, &ns)) return -2;
    return slept(rad__time_sleep(ns), left);
}

RAD_ANSWER(int, sched_yield, (void))
{
    if (!rad__stage.running) return RAD_REAL(sched_yield)();
    rad__point(RAD_AT_yield, NULL);
    return 0;
}

RAD_ANSWER(void, thrd_yield, (void))
{
    if (rad__stage.running) rad__point(RAD_AT_yield, NULL);
}

bool rad__clock_by_number(long number, const long *a, long *answer)
{
    switch (number) {
    case SYS_clock_gettime:
        *answer = rad__libc_clock_gettime((clockid_t)a[0], rad__argument_pointer(a[1]));
        return true;
    case SYS_nanosleep:
        *answer = rad__libc_nanosleep(rad__argument_pointer(a[0]), rad__argument_pointer(a[1]));
        return true;
    case SYS_clock_nanosleep: {
        int code = rad__libc_clock_nanosleep((clockid_t)a[0], (int)a[1], rad__argument_pointer(a[2]),
                                             rad__argument_pointer(a[3]));
        if (code != 0) errno = code;
        *answer = code == 0 ? 0 : -1;
        return true;
    }
    case SYS_gettimeofday:
        *answer = rad__libc_gettimeofday(rad__argument_pointer(a[0]), rad__argument_pointer(a[1]));
        return true;
#ifdef SYS_time
    case SYS_time: *answer = rad__libc_time(rad__argument_pointer(a[0])); return true;
#endif
    case SYS_times: *answer = rad__libc_times(rad__argument_pointer(a[0])); return true;
    case SYS_sched_yield: *answer = rad__libc_sched_yield(); return true;
    default: return false;
    }
}
