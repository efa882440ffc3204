/* alarms.c — alarm and setitimer ring by the virtual clock: SIGALRM comes to the process when its time has come. Timers
 * that count the time in which a program computes never ring: here computing takes none. */
#define _GNU_SOURCE
#include "lab/fibers/libc.h"
#include "lab/threads/threads.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>

#define SECOND UINT64_C(1000000000)

static uint64_t rings_ns = UINT64_MAX, again_ns;

uint64_t rad__alarms_next(void)
{
    return rings_ns;
}

bool rad__alarms_ring(void)
{
    siginfo_t info;
    if (rings_ns > rad__stage.now_ns) return false;
    rings_ns = again_ns > 0 ? rad__stage.now_ns + again_ns : UINT64_MAX;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGALRM;
    info.si_code = SI_KERNEL;
    rad__signal_send(NULL, SIGALRM, &info);
    return true;
}

static uint64_t ns_of(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_usec * 1000;
}

static struct timeval time_of(uint64_t ns)
{
    return (struct timeval){(time_t)(ns / SECOND), (suseconds_t)(ns % SECOND / 1000)};
}

static uint64_t left(void)
{
    uint64_t now = rad__stage.now_ns;
    return rings_ns == UINT64_MAX ? 0 : rings_ns > now ? rings_ns - now : 1000;
}

static void set(uint64_t ns, uint64_t again)
{
    rings_ns = ns > 0 ? rad__stage.now_ns + ns : UINT64_MAX;
    again_ns = again;
}

RAD_ANSWER(unsigned, alarm, (unsigned seconds))
{
    if (!rad__program_calls()) return RAD_REAL(alarm)(seconds);
    uint64_t before = left();
    set(seconds * SECOND, 0);
    return (unsigned)((before + SECOND - 1) / SECOND);
}

RAD_ANSWER(unsigned, ualarm, (unsigned us, unsigned again))
{
    if (!rad__program_calls()) return RAD_REAL(ualarm)(us, again);
    uint64_t before = left();
    set(us * UINT64_C(1000), again * UINT64_C(1000));
    return (unsigned)(before / 1000);
}

RAD_ANSWER(int, getitimer, (int which, struct itimerval *at))
{
    if (!rad__program_calls()) return RAD_REAL(getitimer)(which, at);
    bool real = which == ITIMER_REAL;
    *at = (struct itimerval){time_of(real ? again_ns : 0), time_of(real ? left() : 0)};
    return 0;
}

RAD_ANSWER(int, setitimer, (int which, const struct itimerval *to, struct itimerval *was))
{
    if (!rad__program_calls()) return RAD_REAL(setitimer)(which, to, was);
    if (was) rad__libc_getitimer(which, was);
    if (which == ITIMER_REAL)
        set(ns_of(&to->it_value), ns_of(&to->it_interval));
    else
        rad__program_reaches("setitimer", "of CPU time never rings");
    return 0;
}
