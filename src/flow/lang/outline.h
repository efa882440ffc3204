/* outline.h — the statements of a flow by their numbers: for callers that have an operation and report its place. */
#ifndef RAD_FLOW_LANG_OUTLINE_H
#define RAD_FLOW_LANG_OUTLINE_H

#include "flow/lang/program.h"

/* Indexed by number, from 1; [0] is NULL. NULL: no memory. rad__free it. */
RAD_INTERNAL const rad_flow_statement **rad__flow_outline(const rad_flow_tree *tree);

/* The line of a branch; of a wait, which has none, that of the statement. */
RAD_INTERNAL uint32_t rad__flow_branch_line(const rad_flow_statement *s, uint32_t branch);

#endif
