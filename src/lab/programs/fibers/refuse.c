/* refuse.c — calls that a program under test cannot make: they would start something that the kernel does not see, or
 * that outlives the run. Each is refused by its name; what it would have taken and returned does not matter, so each is
 * a function without parameters that has the symbol of the call.
 *
 * Before main there is no kernel to tell: then the process ends, and says why on its standard error. */
#define _GNU_SOURCE
#include "base/readable.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define THREADS   "it starts a thread of the C library's own, which cannot be explored"
#define PROCESSES "a run under test starts no other processes"
#define IDENTITY  "who it is stays when a run has ended"
#define EXECUTOR  "an executor of its own cannot be explored yet; fibers (rad_main) can"

void rad__refuse(const char *call, const char *why)
{
    if (rad__stage.running) rad__program_refused(call, why);
    rad__readable_print(stderr, "the program calls %s before main: %s\n", call, why);
    rad__process_exit(127);
}

#define REFUSED(name, why)                                                                                             \
    RAD_API _Noreturn void rad__refused_##name(void) __asm__(#name);                                                   \
    void rad__refused_##name(void)                                                                                     \
    {                                                                                                                  \
        rad__refuse(#name, why);                                                                                       \
    }

REFUSED(aio_read, THREADS)
REFUSED(aio_read64, THREADS)
REFUSED(aio_write, THREADS)
REFUSED(aio_write64, THREADS)
REFUSED(lio_listio, THREADS)
REFUSED(lio_listio64, THREADS)
REFUSED(getaddrinfo_a, THREADS)
REFUSED(mq_notify, THREADS)

REFUSED(setuid, IDENTITY)
REFUSED(setgid, IDENTITY)
REFUSED(seteuid, IDENTITY)
REFUSED(setegid, IDENTITY)
REFUSED(setreuid, IDENTITY)
REFUSED(setregid, IDENTITY)
REFUSED(setresuid, IDENTITY)
REFUSED(setresgid, IDENTITY)
REFUSED(setgroups, IDENTITY)
REFUSED(initgroups, IDENTITY)

REFUSED(fork, PROCESSES)
REFUSED(vfork, PROCESSES)
REFUSED(clone, PROCESSES)
REFUSED(forkpty, PROCESSES)
REFUSED(system, PROCESSES)
REFUSED(popen, PROCESSES)
REFUSED(posix_spawn, PROCESSES)
REFUSED(posix_spawnp, PROCESSES)
REFUSED(execve, PROCESSES)
REFUSED(execv, PROCESSES)
REFUSED(execvp, PROCESSES)
REFUSED(execvpe, PROCESSES)
REFUSED(fexecve, PROCESSES)
REFUSED(execl, PROCESSES)
REFUSED(execlp, PROCESSES)
REFUSED(execle, PROCESSES)
REFUSED(daemon, PROCESSES)

/* The lab makes its runs by it. */
RAD_ANSWER(pid_t, _Fork, (void))
{
    if (rad__program_calls()) rad__refuse("_Fork", PROCESSES);
    return RAD_REAL(_Fork)();
}

/* ---- System calls by number ----------------------------------------------------------------------------- */

/* The call that this is, if it is one that would be refused; or NULL. */
static const char *refused_number(long number)
{
    switch (number) {
#ifdef SYS_fork
    case SYS_fork: return "fork";
    case SYS_vfork: return "vfork";
#endif
    case SYS_clone: return "clone";
    case SYS_clone3: return "clone3";
    case SYS_execve: return "execve";
    case SYS_execveat: return "execveat";
    case SYS_io_uring_setup: return "io_uring_setup";
    default: return NULL;
    }
}

RAD_ANSWER(long, syscall, (long number, ...))
{
    long a[6];
    va_list more;
    va_start(more, number);
    for (uint32_t i = 0; i < 6; i++) a[i] = va_arg(more, long);
    va_end(more);
    long answer;
    if (rad__stage.running) {
        const char *name = refused_number(number);
        if (name) rad__refuse(name, PROCESSES);
        if (rad__clock_by_number(number, a, &answer) || rad__random_by_number(number, a, &answer) ||
            rad__identity_by_number(number, &answer) || rad__futex_by_number(number, a, &answer) ||
            rad__processors_by_number(number, a, &answer) || rad__descriptors_by_number(number, a, &answer) ||
            rad__timers_by_number(number, a, &answer) || rad__signals_by_number(number, a, &answer) ||
            rad__signal_files_by_number(number, a, &answer))
            return answer;
    }
    return RAD_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

REFUSED(rad_exec_create, EXECUTOR)
REFUSED(rad_exec_close, EXECUTOR)
REFUSED(rad_exec_join, EXECUTOR)
REFUSED(rad_exec_destroy, EXECUTOR)
REFUSED(rad_exec_spawn, EXECUTOR)
REFUSED(rad_exec_spawn_batch, EXECUTOR)
REFUSED(rad_exec_spawn_on, EXECUTOR)
REFUSED(rad_exec_stats, EXECUTOR)
REFUSED(rad_exec_wake, EXECUTOR)
REFUSED(rad_exec_wake_on, EXECUTOR)
REFUSED(rad_exec_workers, EXECUTOR)
REFUSED(rad_group_spawn, EXECUTOR)
REFUSED(rad_group_wait, EXECUTOR)
REFUSED(rad_worker_exec, EXECUTOR)
REFUSED(rad_worker_fail, EXECUTOR)
REFUSED(rad_worker_index, EXECUTOR)
REFUSED(rad_worker_scratch, EXECUTOR)
REFUSED(rad_worker_spawn, EXECUTOR)
REFUSED(rad_worker_spawn_global, EXECUTOR)
REFUSED(rad_worker_spawn_on, EXECUTOR)
REFUSED(rad_worker_wake, EXECUTOR)
