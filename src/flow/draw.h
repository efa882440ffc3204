/* draw.h — a flow as a picture, with a run of it drawn over. */
#ifndef RAD_FLOW_DRAW_H
#define RAD_FLOW_DRAW_H

#include "flow/syntax.h"

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

/* SVG. visits: one per statement, by number (so there are statement_count + 1); NULL: no run. The caller frees the
 * text with rad__free; NULL: no memory. The same flow and run give the same text. */
RAD_INTERNAL char *rad__flow_draw(const rad_flow_file *file, const rad_flow_tree *tree,
                                  const rad_flow_visit *visits);

#endif
