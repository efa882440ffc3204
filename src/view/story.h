/* story.h — what the two halves of the story view share. */
#ifndef RAD_VIEW_STORY_H
#define RAD_VIEW_STORY_H

#include "view/lanes.h"

typedef struct rad_teller {
    const rad_story *story;
    rad_canvas canvas;
    rad_lanes lanes;
    bool all;
    uint64_t failing_line; /* the line at which the failure shows; UINT64_MAX: none */
} rad_teller;

/* Who waits for whom, the circle if there is one, the verdict, the measure. */
RAD_INTERNAL void rad__tell_end(rad_teller *t);

#endif
