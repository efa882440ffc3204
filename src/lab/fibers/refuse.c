/* refuse.c — calls that a program under test cannot make: they would start something that the kernel does not see, or
 * that outlives the run. Each is refused by its name; what it would have taken and returned does not matter, so each is
 * a function without parameters that has the symbol of the call.
 *
 * Before main there is no kernel to tell: then the process ends, and says why on its standard error. */
#include "base/readable.h"
#include "lab/fibers/server.h"
#include "lab/fibers/stage.h"

#include <stdio.h>

#define THREADS   "threads beside fibers cannot be explored yet; rad_spawn and rad_blocking can"
#define PROCESSES "a run under test starts no other processes"
#define EXECUTOR  "an executor of its own cannot be explored yet; fibers (rad_main) can"

static _Noreturn void refuse(const char *call, const char *why)
{
    if (rad__stage.running) rad__program_refused(call, why);
    rad__readable_print(stderr, "the program calls %s before main: %s\n", call, why);
    rad__process_exit(127);
}

#define REFUSED(name, why)                                                                         \
    RAD_API _Noreturn void rad__refused_##name(void) __asm__(#name);                               \
    void rad__refused_##name(void)                                                                 \
    {                                                                                              \
        refuse(#name, why);                                                                        \
    }

REFUSED(pthread_create, THREADS)
REFUSED(thrd_create, THREADS)

REFUSED(fork, PROCESSES)
REFUSED(vfork, PROCESSES)
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
