/* identity.c — the numbers by which the system knows the process of a program under test. Each run has another process,
 * and each time the program is run others; it sees the same ones. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { OWN = RAD_OWN_PID, PARENT = 4241 };

RAD_ANSWER(pid_t, getpid, (void))
{
    return rad__program_calls() ? OWN : RAD_REAL(getpid)();
}

/* main's is that of the process. */
static pid_t own_thread(void)
{
    return OWN + (pid_t)rad__thread_number();
}

RAD_ANSWER(pid_t, gettid, (void))
{
    return rad__program_calls() ? own_thread() : RAD_REAL(gettid)();
}

RAD_ANSWER(pid_t, getppid, (void))
{
    return rad__program_calls() ? PARENT : RAD_REAL(getppid)();
}

const char *rad__own_path(const char *path, char own[RAD_OWN_PATH])
{
    char told[24];
    int size = snprintf(told, sizeof told, "/proc/%d", OWN);
    if (path == NULL || strncmp(path, told, (size_t)size) != 0 || (path[size] != '/' && path[size] != 0)) return path;
    int used = snprintf(own, RAD_OWN_PATH, "/proc/self%s", path + size);
    return used < RAD_OWN_PATH ? own : path;
}

bool rad__identity_by_number(long number, long *answer)
{
    *answer = number == SYS_getppid ? PARENT : number == SYS_gettid ? own_thread() : OWN;
    return number == SYS_getpid || number == SYS_gettid || number == SYS_getppid;
}
