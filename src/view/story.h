/* story.h — what the parts of the story view share. */
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

/* Which actor waits for which, the circle if there is one, the verdict, the measure. */
RAD_INTERNAL void rad__tell_end(rad_teller *t);

/* Lines that repeat those before them and are left out: `times` rounds of `size` lines. */
typedef struct rad_rounds {
    uint64_t from; /* the first of them; UINT64_MAX: there are none */
    uint64_t size, times;
} rad_rounds;

/* Does a round begin at this line that repeats so often that it is worth it? */
RAD_INTERNAL void rad__rounds_find(const rad_teller *t, uint64_t at, rad_rounds *r);

/* Says that they are left out; returns the line after them, and forgets them. */
RAD_INTERNAL uint64_t rad__rounds_tell(rad_teller *t, rad_rounds *r);

#endif
