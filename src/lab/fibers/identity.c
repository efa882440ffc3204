/* identity.c — the numbers by which the system knows the process of a program under test. Each run has another process,
 * and each time the program is run others; it sees the same ones. */
#define _GNU_SOURCE
#include "lab/fibers/libc.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { OWN = 4242, PARENT = 4241 };

RAD_ANSWER(pid_t, getpid, (void))
{
    return rad__program_calls() ? OWN : RAD_REAL(getpid)();
}

RAD_ANSWER(pid_t, gettid, (void))
{
    return rad__program_calls() ? OWN : RAD_REAL(gettid)();
}

RAD_ANSWER(pid_t, getppid, (void))
{
    return rad__program_calls() ? PARENT : RAD_REAL(getppid)();
}

bool rad__identity_by_number(long number, long *answer)
{
    *answer = number == SYS_getppid ? PARENT : OWN;
    return number == SYS_getpid || number == SYS_gettid || number == SYS_getppid;
}

/* To itself, or to its group: that is raddle's, too. */
RAD_ANSWER(int, kill, (pid_t pid, int number))
{
    if (!rad__program_calls()) return RAD_REAL(kill)(pid, number);
    if (pid == OWN || pid == 0 || pid == -OWN)
        pid = RAD_REAL(getpid)();
    else if (number != 0)
        rad__program_reaches("kill", NULL);
    return RAD_REAL(kill)(pid, number);
}
