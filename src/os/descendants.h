/* descendants.h — the processes that come from this one: its children, theirs, and so on, in whatever session or group.
 *
 * A process that adopts orphans loses none of them: a process that forks twice and leaves its session becomes its child
 * when the one in between has ended. So there are no descendants exactly when there are no children, which the system
 * tells without a race. Which they are is read from /proc, and may have changed by then: to end all of them, signal,
 * wait, and look again, until there are no children.
 *
 * No other process is ever hit: a signal goes to a descriptor (pidfd) of a process that was seen to be a descendant
 * while the descriptor was open. Rejected: groups (setsid leaves them), control groups (not every user may make one).
 * */
#ifndef RAD_OS_DESCENDANTS_H
#define RAD_OS_DESCENDANTS_H

#include "base/check.h"

/* From now on. False: the system cannot. */
RAD_INTERNAL bool rad__os_adopt_orphans(void);

/* Living, or dead and not waited for. */
RAD_INTERNAL bool rad__os_has_children(void);

/* To each that lives, once, but those of `group` (0: all); how many. 0 also where /proc cannot be read. */
RAD_INTERNAL uint32_t rad__os_signal_descendants(int number, int group);

#endif
