/* snapshot.h — the whole state of a scheduler, apart: going on from a copy is going on from the original. */
#ifndef RAD_LOAD_SCHEDULER_SNAPSHOT_H
#define RAD_LOAD_SCHEDULER_SNAPSHOT_H

#include "load/scheduler/scheduler.h"

/* The copy writes to `log` (may be NULL) and shares the scenario, nothing else. False: no memory, and *to is empty. */
RAD_INTERNAL bool rad__load_scheduler_copy(rad__load_scheduler *to, const rad__load_scheduler *from,
                                           rad__load_log *log);

#endif
