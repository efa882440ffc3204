/* visit.h — what a run did with each statement of a flow: counted while it runs (history.h), shown in its picture. */
#ifndef RAD_FLOW_LANG_VISIT_H
#define RAD_FLOW_LANG_VISIT_H

#include <stdint.h>

/* How a run left a statement. */
enum rad_flow_visited {
    RAD_VISIT_NEVER = 0,
    RAD_VISIT_DONE,
    RAD_VISIT_WAITING,
    RAD_VISIT_FAILED,
    RAD_VISIT_CANCELLED,
    RAD_VISITS
};

typedef struct rad_flow_visit {
    enum rad_flow_visited state;
    uint32_t order;            /* the statement was the n-th that was visited, from 1 */
    uint64_t times, cancelled; /* how often it was begun, how often that was cancelled */
    uint64_t first, last;      /* steps */
} rad_flow_visit;

#endif
