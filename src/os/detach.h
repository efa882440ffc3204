/* detach.h — a child that continues when its parent dies, and that nothing meant for the parent reaches.
 *
 * It has the parent's memory as it was (fork without exec), a session of its own (Ctrl-C at the terminal goes past
 * it), no open file of the parent's but one that it may keep (a lock that the parent holds must be free when the parent
 * is dead), and nothing to read or print on. SIGTERM waits until the child looks for it: see command.h. A parent with
 * threads may have been caught anywhere: of what is not safe in a signal handler the child may only use memory, which
 * the C library promises to keep usable. */
#ifndef RAD_OS_DETACH_H
#define RAD_OS_DETACH_H

#include "base/check.h"

/* The child exits with the result of `run`, and has closed what it is not to have when the call returns. It must be
 * waited for (process.h) while the parent lives. `keep`: the one file that stays open; negative: none. */
RAD_INTERNAL int rad__os_detach(int *pid, int keep, void *context, int (*run)(void *context), rad_error *error);

RAD_INTERNAL int rad__os_process_id(void);
RAD_INTERNAL bool rad__os_is_alive(int pid); /* there is a process of that number */

#endif
