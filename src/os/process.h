/* process.h — children: start one on a function, talk to it, see how it ends.
 *
 * A child is a fork without exec: it has the parent's memory as it was, and the shared mappings. It dies
 * with its parent, so that a killed supervisor leaves nothing behind. */
#ifndef RAD_OS_PROCESS_H
#define RAD_OS_PROCESS_H

#include "base/check.h"

/* Runs `run` in a new process, which exits with its result (0 … 255). In the child signals that end
 * a process are as at the start of a program. */
RAD_INTERNAL int rad__os_fork(int *pid, void *context, int (*run)(void *context), rad_error *error);

/* The same for a `run` that executes a program soon: until then the child uses our memory, which is cheaper than a copy
 * of it, and we wait. It writes to nothing that we read; of what it gives back to the system only files are its own. */
RAD_INTERNAL int rad__os_fork_to_execute(int *pid, void *context, int (*run)(void *context), rad_error *error);

typedef struct rad_os_exit {
    int status; /* exit status, when signal is 0 */
    int signal; /* what killed it, or 0 */
} rad_os_exit;

/* 1 when the child has ended and *out says how; 0 when it still runs (only if not `block`). A child that
 * has ended must be waited for once. */
RAD_INTERNAL int rad__os_wait(int pid, bool block, rad_os_exit *out, rad_error *error);

/* Ends this process as another one has ended. */
RAD_INTERNAL _Noreturn void rad__os_die_of(const rad_os_exit *how);

/* "SIGSEGV"; "signal 99" has no name and becomes "unknown signal". */
RAD_INTERNAL const char *rad__os_signal_name(int number);

/* Kills at once (SIGKILL). A child that is gone already is no error. */
RAD_INTERNAL int rad__os_kill(int pid, rad_error *error);

/* CPU time the child has used so far: tells a step that does not return from a machine that is busy. */
RAD_INTERNAL int rad__os_cpu_ns(int pid, uint64_t *ns, rad_error *error);

/* It computes, or would if a processor were free; false also when that cannot be known. */
RAD_INTERNAL bool rad__os_is_runnable(int pid);

/* The name of the system call in which it sleeps; "": it is in none, or in one without a name here. */
RAD_INTERNAL void rad__os_sleeps_in(int pid, char *name, size_t size);

/* fds[0] reads what is written to fds[1]. */
RAD_INTERNAL int rad__os_pipe(int fds[2], rad_error *error);
RAD_INTERNAL void rad__os_close(int fd); /* negative ones are ignored */

/* At most `size` bytes; 0 at the end; a signal in between is not noticed. */
RAD_INTERNAL int64_t rad__os_read(int fd, void *to, size_t size, rad_error *error);

/* Everything, or an error; a reader that is gone is RAD_EIO, not SIGPIPE. */
RAD_INTERNAL int rad__os_write_all(int fd, const void *data, size_t size, rad_error *error);

/* Waits until one of `fds` can be read (or has ended), at most `timeout_ms` (negative: for ever).
 * ready[i] says which; the result is how many, 0 after the time or when a signal came. Negative fds are
 * left out. */
enum { RAD_OS_POLL_MAX = 256 };
RAD_INTERNAL int rad__os_poll(const int *fds, uint32_t count, int timeout_ms, bool *ready, rad_error *error);

/* The system can turn the system calls of a process into signals (Syscall User Dispatch), and is not to be kept from
 * it: RADDLE_GATE=no. */
RAD_INTERNAL bool rad__os_calls_are_seen(void);

#endif
