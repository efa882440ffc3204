/* segv.h — being told of an access to memory that faults (SIGSEGV, SIGBUS), before the process dies of it.
 *
 * The handler says whether it knew what the access was. Then it has reported it, the handlers of before are put back,
 * and the access is repeated: the process dies of what it did, with a core file that shows it. Otherwise the
 * handler of before gets the signal, as if ours were not there.
 *
 * A stack that has overflowed has no room for a handler: each thread that may run on such a stack needs another one
 * for signals. */
#ifndef RAD_OS_SEGV_H
#define RAD_OS_SEGV_H

#include "base/check.h"

typedef struct rad_os_segv {
    uintptr_t address; /* that was touched; 0 when the system does not say */
    uintptr_t stack;   /* where the stack pointer was; 0 when this machine's is not known */
} rad_os_segv;

/* Async-signal-safe. One at a time in the process: the caller sees to that. */
RAD_INTERNAL int rad__os_segv_open(bool (*handler)(const rad_os_segv *fault), rad_error *error);

/* Puts back what was there before, unless other code has replaced ours. */
RAD_INTERNAL void rad__os_segv_close(void);

/* For handlers: to the standard error output, all of it or as much as it takes. */
RAD_INTERNAL void rad__os_segv_say(const char *text, size_t size);

/* Ends the process as abort does, after such a text. */
RAD_INTERNAL _Noreturn void rad__os_segv_abort(void);

typedef struct rad_os_signal_stack {
    void *memory; /* NULL: the thread had one already, and keeps it */
} rad_os_signal_stack;

/* A stack for the signal handlers of the calling thread, which also closes it, before it ends. */
RAD_INTERNAL int rad__os_signal_stack_open(rad_os_signal_stack *s, rad_error *error);
RAD_INTERNAL void rad__os_signal_stack_close(rad_os_signal_stack *s);

#endif
