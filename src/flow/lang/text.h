/* text.h — parts of a resolved flow as people would write them. */
#ifndef RAD_FLOW_LANG_TEXT_H
#define RAD_FLOW_LANG_TEXT_H

#include "base/bytes.h"
#include "flow/lang/syntax.h"

/* "n + 1 < length(t)", with no parentheses that are not needed. What is written into `out` ends with no zero. */
RAD_INTERNAL void rad__flow_expr_text(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree,
                                      const rad_flow_expr *e);

/* In the largest unit that leaves no rest: "1500ms", "2m". */
RAD_INTERNAL void rad__flow_duration_text(rad_bytes *out, uint64_t ns);

/* The first line of a statement, without its blocks: "do build", "many over files as file". */
RAD_INTERNAL void rad__flow_statement_text(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree,
                                           const rad_flow_statement *s);

/* "join first 2", nothing for statements that have none. */
RAD_INTERNAL void rad__flow_join_text(rad_bytes *out, const rad_flow_statement *s);

/* "signal go into t", "timer 3s". */
RAD_INTERNAL void rad__flow_event_text(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree,
                                       const rad_flow_event *event);

#endif
