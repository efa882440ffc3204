/* run.h — a run: core and engine take turns until it is over. */
#ifndef RAD_LOAD_RUN_H
#define RAD_LOAD_RUN_H

#include "load/core.h"

/* Called after each turn, for progress; may be NULL. */
typedef void rad__load_watch(void *context, const rad__load_core *c);

/* Until the run is over, or something fails; then the log is ended in any case, so that it can be read. */
RAD_INTERNAL int rad__load_run(rad__load_core *c, rad__load_engine *e, rad__load_watch *watch,
                               void *context, rad_error *error);

#endif
