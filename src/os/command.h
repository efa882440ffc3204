/* command.h — a shell command with all that comes from it, its output, its end, and the wish of others that it ends.
 *
 * For a process that does nothing else (detach.h): SIGTERM and SIGCHLD are taken from a descriptor, one command at a
 * time, and orphans of the command become its children. The shell is killed when its starter dies; what the shell has
 * started may live on. */
#ifndef RAD_OS_COMMAND_H
#define RAD_OS_COMMAND_H

#include "base/check.h"

typedef struct rad_os_command {
    int pid;     /* and the number of its group */
    int output;  /* readable end of its standard output; negative: it was closed */
    int signals; /* negative: not open */
    bool adopts; /* no process that comes from the command gets away */
    bool asked_to_end;
    bool ended;
    int status, signal; /* when it has */
} rad_os_command;

/* `sh -c command` in folder `dir` (NULL: here) with this environment; its errors go to the open file `log`.
 * A folder that is not there ends it with status 126, and a line in the log. */
RAD_INTERNAL int rad__os_command_start(rad_os_command *s, const char *command, const char *dir,
                                       char *const *environment, int log, rad_error *error);

/* Until there is output, the command has ended, somebody has asked for the first time that it ends, or the time is up.
 * How much output was read into `to`; what the command wrote before it ended has been read when `ended` is seen and
 * nothing was read. */
RAD_INTERNAL int64_t rad__os_command_watch(rad_os_command *s, void *to, size_t size, uint64_t timeout_ns,
                                           rad_error *error);

/* All that came from the command: SIGTERM, or SIGKILL. Whoever is made meanwhile is missed: look who is left, and kill
 * again. That nobody is there is no error. */
RAD_INTERNAL int rad__os_command_kill(const rad_os_command *s, bool at_once, rad_error *error);
/* The command has ended, and others that came from it have not. */
RAD_INTERNAL bool rad__os_command_is_left(const rad_os_command *s);
RAD_INTERNAL void rad__os_command_close(rad_os_command *s);

/* The environment of this process. */
RAD_INTERNAL char *const *rad__os_environment(void);

#endif
