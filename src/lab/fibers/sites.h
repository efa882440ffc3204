/* sites.h — what a runner of a program under test does next, and what can be wrong with it: the same in the program's
 * process and in raddle. */
#ifndef RAD_LAB_FIBERS_SITES_H
#define RAD_LAB_FIBERS_SITES_H

#include "rt/ops.h"

#include <raddle/machine.h>

/* Sites of the machine. Their numbers are in files: a new operation is added at the end of RAD_OPS. */
enum {
    RAD_AT_BEGIN = 0, /* a fiber's function is called */
    RAD_AT_RESUME,    /* a fiber that waited continues */
    RAD_AT_END,       /* a fiber's function has returned */
    RAD_AT_MAIN,
    RAD_AT_THREAD,
    RAD_AT_TICK,
#define RAD_AT_ROW(answer, name, parameters, arguments, object) RAD_AT_##name,
    RAD_OPS(RAD_AT_ROW)
#undef RAD_AT_ROW
        RAD_AT_COUNT
};

/* Oracles of the machine, from RAD_ORACLE_OWN on. */
enum { RAD_ORACLE_MISUSE = RAD_ORACLE_OWN, RAD_ORACLE_EXIT };

RAD_INTERNAL extern const char *const rad__fiber_oracles[];

/* Kinds of actions and notes. */
enum { RAD_FIBER_RUN = 0, RAD_FIBER_TICK };

/* "mutex_lock", and "lock" for stories; NULL beyond the last. */
RAD_INTERNAL const char *rad__site_name(uint32_t site);
RAD_INTERNAL const char *rad__site_text(uint32_t site);

#endif
