/* signal.h — being asked to stop.
 *
 * SIGINT, SIGTERM and SIGHUP raise a flag, which everything that may take long looks at: it keeps what it has, says so
 * and ends. The third one does not wait for that (the second may come along with the first: to the process, and to its
 * group). A SIGHUP that is ignored when the process begins stays ignored: nohup means it. A closed pipe and a limit on
 * the size of files are errors of write, not signals. */
#ifndef RAD_OS_SIGNAL_H
#define RAD_OS_SIGNAL_H

#include "base/check.h"

#include <signal.h>

enum { RAD_OS_STATUS_INTERRUPTED = 130, RAD_OS_SIGNALS = 5 };

/* As they were. */
typedef struct rad_os_signals {
    struct sigaction action[RAD_OS_SIGNALS];
} rad_os_signals;

RAD_INTERNAL void rad__os_signals_watch(rad_os_signals *before);
RAD_INTERNAL void rad__os_signals_restore(const rad_os_signals *before);

/* How many signals have asked; it stays 0 unless they are watched. */
RAD_INTERNAL volatile int *rad__os_interrupted(void);

/* From now on the first one ends the process, after these words on stderr: for what has nothing to keep and need not
 * look at the flag. NULL: as before. The text stays the caller's. */
RAD_INTERNAL void rad__os_signals_end_at_once(const char *last_words);

/* Nothing ends the process in between: for what would leave a half. */
RAD_INTERNAL void rad__os_signals_hold(sigset_t *before);
RAD_INTERNAL void rad__os_signals_let_go(const sigset_t *before);

/* Whether one has asked since it was `before`: what begins after an interrupt, to tell of it, ends by the next one. */
static inline bool rad__os_interrupted_since(int before)
{
    return *rad__os_interrupted() != before;
}

/* In a child that only works for this process: a request to the group to stop reaches the parent, and the parent
 * decides. */
RAD_INTERNAL void rad__os_signals_leave_to_parent(void);

#endif
