/* draw.h — a flow as a picture, with a run of it drawn over. */
#ifndef RAD_FLOW_SVG_DRAW_H
#define RAD_FLOW_SVG_DRAW_H

#include "flow/lang/syntax.h"
#include "flow/lang/visit.h"

/* SVG. visits: one per statement, by number (so there are statement_count + 1); NULL: no run. The caller frees the
 * text with rad__free; NULL: no memory. The same flow and run give the same text. */
RAD_INTERNAL char *rad__flow_draw(const rad_flow_file *file, const rad_flow_tree *tree, const rad_flow_visit *visits);

#endif
