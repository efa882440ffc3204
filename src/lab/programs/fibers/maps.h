/* maps.h — which addresses a process has, and what changed since: /proc/self/maps as ranges. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_MAPS_H
#define RAD_LAB_PROGRAMS_FIBERS_MAPS_H

#include "base/check.h"

enum { RAD_RANGE_READ = 1, RAD_RANGE_WRITE = 2, RAD_RANGE_RUN = 4, RAD_RANGE_SHARED = 8 };

typedef struct rad_range {
    uintptr_t from, to;
    uint32_t flags;
    bool stack; /* the one that the process began with */
} rad_range;

/* By address; memory is the lab's (heap.c), and used again by the next reading. */
typedef struct rad_maps {
    rad_range *at;
    uint32_t count, capacity;
    char *text;
    uint32_t text_capacity;
} rad_maps;

/* False: it cannot be read. */
RAD_INTERNAL bool rad__maps_read(rad_maps *m);

/* The first range at or after `from` that `now` has and `before` has not; false: there is none. */
RAD_INTERNAL bool rad__maps_added(const rad_maps *before, const rad_maps *now, uintptr_t from, rad_range *added);

/* Whether `now` has everything that `before` has, with the same rights. The stack may have grown. */
RAD_INTERNAL bool rad__maps_kept(const rad_maps *before, const rad_maps *now);

#endif
