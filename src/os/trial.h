/* trial.h — a function in a child process that may do what it likes: end, crash, never return. And the way from a
 * program with tests to the command that explores them. */
#ifndef RAD_OS_TRIAL_H
#define RAD_OS_TRIAL_H

#include "base/check.h"

typedef struct rad_os_trial {
    int status, signal; /* how it ended; signal 0: with that status */
    bool late;          /* it was killed when its time was up */
} rad_os_trial;

/* Zeroes, which children share. NULL: no memory. */
RAD_INTERNAL void *rad__os_trial_memory(size_t size);

/* Runs body(context) in a child, which ends with status 0 after it, and waits, at most so long. Children of its own are
 * killed with it. RAD_EIO: no process could be started. */
RAD_INTERNAL int rad__os_trial(void (*body)(void *context), void *context, uint64_t limit_ns, rad_os_trial *out,
                               rad_error *error);

/* In the child: what it prints goes to standard error. */
RAD_INTERNAL void rad__os_trial_aside(void);

/* In the child: ends it at once, whatever other threads do; waits for that. */
RAD_INTERNAL _Noreturn void rad__os_trial_ends(int status);
RAD_INTERNAL void rad__os_trial_rests(void);

/* The path of this program: as it was called if that is a path, else from the system. */
RAD_INTERNAL const char *rad__os_trial_program(const char *called, char *path, size_t size);

/* Becomes the command `raddle`: that of the variable RADDLE, or the one beside the library that this program is linked
 * with (in its directory, or in bin beside or above that), or the one on the PATH. argv[0] is replaced. Returns only
 * when there is none, with a text that says where it was looked for. */
RAD_INTERNAL void rad__os_trial_raddle(char **argv, rad_error *error);

#endif
