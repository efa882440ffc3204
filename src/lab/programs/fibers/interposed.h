/* interposed.h — calls of the C library that a process under test answers itself when the program makes them.
 *
 * The lab lives in the same process and needs the real ones, so each of these functions first asks who calls.
 * interposed.txt lists them all; docs/fibers-under-test.md says what becomes of each. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_INTERPOSED_H
#define RAD_LAB_PROGRAMS_FIBERS_INTERPOSED_H

#include "lab/programs/fibers/stage.h"

#include <sys/socket.h>
#include <time.h>

/* Defines the function that has the symbol of the call. */
#define RAD_ANSWER(type, name, parameters)                                                                             \
    RAD_API type rad__libc_##name parameters __asm__(#name);                                                           \
    type rad__libc_##name parameters

/* The C library's own function of this name. */
#define RAD_REAL(name)                                                                                                 \
    __extension__({                                                                                                    \
        static __typeof__(&rad__libc_##name) real;                                                                     \
        if (real == NULL) rad__libc_find(#name, &real);                                                                \
        real;                                                                                                          \
    })

/* Sets the pointer to a function that `real` points to. Ends the process if there is none. */
RAD_INTERNAL void rad__libc_find(const char *name, void *real);

/* The program makes this call, and not the lab. */
static inline bool rad__program_calls(void)
{
    return rad__stage.running || !rad__stage.in_lab;
}

/* The program makes a call that changes what is outside of its process, or asks it: the run is uncontrolled, and the
 * summary names the call. `what` may be NULL. */
RAD_INTERNAL void rad__program_reaches(const char *call, const char *what);

/* The program makes a call that cannot be explored, in a run or before main. */
RAD_INTERNAL _Noreturn void rad__refuse(const char *call, const char *why);

/* What getpid says. */
enum { RAD_OWN_PID = 4242 };

/* System calls by their number (syscall). True: it is one of those, and has an answer. */
RAD_INTERNAL bool rad__clock_by_number(long number, const long *arguments, long *answer);
RAD_INTERNAL bool rad__random_by_number(long number, const long *arguments, long *answer);
RAD_INTERNAL bool rad__identity_by_number(long number, long *answer);
RAD_INTERNAL bool rad__processors_by_number(long number, const long *arguments, long *answer);
RAD_INTERNAL bool rad__descriptors_by_number(long number, const long *arguments, long *answer);
RAD_INTERNAL bool rad__timers_by_number(long number, const long *arguments, long *answer);
RAD_INTERNAL bool rad__signals_by_number(long number, const long *arguments, long *answer);
RAD_INTERNAL bool rad__signal_files_by_number(long number, const long *arguments, long *answer);
RAD_INTERNAL bool rad__futex_by_number(long number, const long *arguments, long *answer);

/* What the program sees on this clock: clocks.c. */
RAD_INTERNAL int rad__clock_show(clockid_t clock, struct timespec *at);

/* Nobody can wait for a time of this clock: EINVAL or ENOTSUP, as the system says; or 0. */
RAD_INTERNAL int rad__clock_wrong(clockid_t clock);

/* How long that is; UINT64_MAX: for ever. False: no time, and the call answers EINVAL. */
RAD_INTERNAL bool rad__ns_of(const struct timespec *t, uint64_t *ns);

/* An argument of such a call that is an address. */
static inline void *rad__argument_pointer(long argument)
{
    return (void *)argument;
}

/* True: this socket is now one within the program (loopback.c); *answer is connect's. */
RAD_INTERNAL bool rad__loopback_listen(int fd, int backlog);
RAD_INTERNAL bool rad__loopback_connect(int fd, const struct sockaddr *address, socklen_t length, int *answer);

/* The program's number is not that of its process: /proc/4242/… is /proc/self/…, which is written to `own`. Any other
 * path is the answer itself. */
enum { RAD_OWN_PATH = 256 };
RAD_INTERNAL const char *rad__own_path(const char *path, char own[RAD_OWN_PATH]);

/* True: this file tells of processors (threads/processors.c); *fd is a descriptor with what the program sees in it, or
 * -1, and errno. */
RAD_INTERNAL bool rad__processors_file(const char *path, int *fd);

/* A descriptor of a file with random bytes that are the same in each run; -1 and errno. */
RAD_INTERNAL int rad__random_file(void);

#endif
