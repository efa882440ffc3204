/* history.h — what a case does, told from its trace while it runs: how often each statement was gone through, and every
 * step in words. The runner of the case calls rad__flow_history_take often enough: the trace keeps the last 4,096
 * events, and a step has one, and one for each token it cancels. */
#ifndef RAD_FLOW_MACHINE_HISTORY_H
#define RAD_FLOW_MACHINE_HISTORY_H

#include "base/bytes.h"
#include "flow/lang/visit.h"
#include "flow/machine/instance.h"

/* Steps between two calls of take, so that nothing is missed. */
enum { RAD_HISTORY_EVERY = 64 };

typedef struct rad_flow_history {
    rad_flow_visit *visits; /* per statement, by number: for a picture */
    uint32_t *last;         /* operation, by token */
    uint32_t last_capacity;
    uint32_t order;
    uint64_t failing; /* the token whose failure the next step is, or RAD_NONE: it ends, and is not cancelled */
    uint64_t seen;    /* events */
    bool has_text;
    rad_bytes text; /* a line each: "12 0/3.1 line 8: starts compile, attempt 1"; equal runs have equal texts */
    bool failed;    /* memory ran out */
} rad_flow_history;

/* False: no memory. rad__flow_history_free it, also then. */
RAD_INTERNAL bool rad__flow_history_open(rad_flow_history *h, const rad_flow_program *p, bool has_text);
RAD_INTERNAL void rad__flow_history_take(rad_flow_history *h, const rad_flow_case *c);
/* The case does not continue: what waits is marked, the text ends. */
RAD_INTERNAL void rad__flow_history_end(rad_flow_history *h, const rad_flow_case *c);
RAD_INTERNAL void rad__flow_history_free(rad_flow_history *h);

#endif
