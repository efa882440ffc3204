/* history.h — what a case has done, told from its trace: every step in words, and how often each statement was gone
 * through. The case must have been opened with whole_trace. */
#ifndef RAD_FLOW_HISTORY_H
#define RAD_FLOW_HISTORY_H

#include "flow/case.h"
#include "flow/draw.h"

/* A line for each step and for what happened in it: "12 0/3.1 line 8: starts compile, attempt 1". rad__free it; NULL:
 * no memory. Equal runs have equal texts. */
RAD_INTERNAL char *rad__flow_history_text(const rad_flow_case *c);

/* For rad__flow_draw: one per statement, by number; rad__free it. NULL: no memory. */
RAD_INTERNAL rad_flow_visit *rad__flow_history_visits(const rad_flow_case *c);

#endif
