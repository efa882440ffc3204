/* validate.h — the validator of flows: raddle/flow_validate.h over a program, without the lab.
 *
 *     search.c   visits every state, and keeps the graph
 *     local.c    which steps need not be tried in other orders
 *     graph.c    what can be reached in the graph: ends, circles
 *     validate.c          the verdicts */
#ifndef RAD_FLOW_CHECK_VALIDATE_H
#define RAD_FLOW_CHECK_VALIDATE_H

#include "flow/lang/program.h"

#include <raddle/flow_validate.h>

RAD_INTERNAL int rad__flow_validate(const rad_flow_program *p, const rad_flow_validate_options *o,
                                    rad_flow_validation **out, rad_error *error);

#endif
