/* lanes.h — where the actors of a story stand on the page, and from when to when.
 *
 * Three forms, the first that fits: *columns* (each actor's words stand in its own column), *graph*
 * (narrow lanes, all words to the right of them), *list* (no lanes, only words). */
#ifndef RAD_VIEW_LANES_H
#define RAD_VIEW_LANES_H

#include "view/canvas.h"

#include <raddle/lab.h>

enum rad_lanes_form { RAD_LANES_COLUMNS = 0, RAD_LANES_GRAPH, RAD_LANES_LIST };

typedef struct rad_lane {
    uint32_t actor;
    uint32_t x;           /* of the vertical line */
    uint32_t room;        /* columns for words, in the form with columns */
    uint32_t words;       /* the room its longest words would take */
    uint32_t wanted;      /* the same with the places in the program, which are left out where they do not fit */
    uint64_t first, last; /* lines between which the vertical line is drawn */
} rad_lane;

typedef struct rad_lanes {
    enum rad_lanes_form form;
    uint32_t margin; /* columns of the step numbers */
    uint32_t words_x, words_room;
    uint32_t name_room; /* the longest name, in graph and list form */
    uint32_t count;     /* actors that have a line to show */
    rad_lane *lanes;
    uint32_t *lane_of; /* by actor; RAD_NONE: not shown */
} rad_lanes;

RAD_INTERNAL bool rad__lanes_open(rad_lanes *l, const rad_story *s, uint32_t width, bool all);
RAD_INTERNAL void rad__lanes_close(rad_lanes *l);

#endif
