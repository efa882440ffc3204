/* run.h — runs a case in its folder, and resumes one that was left.
 *
 *     run      folder, lock, header (synced, held) -> turns
 *     resume   lock, journal (held), replay, what was begun is looked for -> turns
 *     turn     steps -> asks -> STARTED records, one sync, launch -> receipts, timers, signals: an INPUT each, fed
 *     end      what runs is stopped and waited for -> END, synced
 *
 * I1  STARTED is durable before its effect can begin.
 * I2  An INPUT is in the journal before it is fed; it need not be durable: if it is lost, its receipt, timer or spool
 *     file still exists, and nothing that followed from it has left the machine before the next sync.
 * I3  A spool file goes after the INPUT it became is durable.
 * I4  What a case no longer wants is ended after the INPUT that is the reason is durable.
 * I5  A process that does not hold the journal writes to the spool of the folder only.
 * I6  Nothing is begun by a runner whose journal is no longer the file that has the name. */
#ifndef RAD_FLOW_RUN_RUN_H
#define RAD_FLOW_RUN_RUN_H

#include <raddle/flow.h>

#include "flow/lang/program.h"
#include "flow/run/host.h"

typedef struct rad_flow_named_function {
    const char *name;
    rad_flow_function *function;
    void *context;
} rad_flow_named_function;

typedef struct rad_flow_run_options {
    rad_flow_options given;
    char *const *environment; /* what commands have besides the data; may be NULL */
    const rad_flow_named_function *functions;
    uint32_t function_count;
} rad_flow_run_options;

RAD_INTERNAL int rad__flow_run(const rad_flow_host *host, const rad_flow_program *p, const rad_flow_run_options *o,
                               rad_flow_result *result, rad_error *error);
RAD_INTERNAL int rad__flow_resume(const rad_flow_host *host, const rad_flow_program *p, const rad_flow_run_options *o,
                                  rad_flow_result *result, rad_error *error);

/* Production's host. Unsynced: nothing is. */
RAD_INTERNAL int rad__flow_host_open(rad_flow_host *host, const char *folder, bool unsynced, rad_error *error);
RAD_INTERNAL void rad__flow_host_close(rad_flow_host *host);

/* Lines that are only in one of two texts, "-" and "+" before them, with their numbers; rad__free it. */
RAD_INTERNAL char *rad__flow_difference(const char *old, size_t old_size, const char *new, size_t new_size);

#endif
