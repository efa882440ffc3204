/* debugger.h — gdb, on a process of ours. */
#ifndef RAD_OS_DEBUGGER_H
#define RAD_OS_DEBUGGER_H

#include "base/check.h"

/* RAD_EINPUT: gdb is not on the PATH. */
RAD_INTERNAL int rad__os_debugger_find(rad_error *error);

/* Starts gdb in the terminal, on this process, which it lets continue until it stops; then it shows where, in the frame
 * of `function` if gdb finds one, else the one that `inner` frames lie below. *debugger is its process. */
RAD_INTERNAL int rad__os_debugger_start(int *debugger, int pid, uint32_t inner, const char *function, rad_error *error);

/* Until the user has left it. Interrupts of the terminal are the debugger's until then. */
RAD_INTERNAL void rad__os_debugger_wait(int debugger);

#endif
