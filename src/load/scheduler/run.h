/* run.h — a run: scheduler and engine take turns until it is over. */
#ifndef RAD_LOAD_SCHEDULER_RUN_H
#define RAD_LOAD_SCHEDULER_RUN_H

#include "load/scheduler/scheduler.h"

/* What a run looks at beside its engine. All may be NULL. */
struct rad__load_hooks {
    void *context;
    void (*watch)(void *context, const rad__load_scheduler *c); /* after each turn, for progress */
    bool (*behind)(void *context);                              /* the log cannot be written fast enough: pause */
    const volatile int *stop;                                   /* not 0: the run is to end */
};

/* Until the run is over, or something fails; then the log has no end, and can be read as one that was cut off. `hooks`
 * may be NULL. */
RAD_INTERNAL int rad__load_run(rad__load_scheduler *c, rad__load_engine *e, const struct rad__load_hooks *hooks,
                               rad_error *error);

#endif
