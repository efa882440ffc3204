/* sites.h — the places in instrumented code where the compiler inserted a call, known by name.
 *
 * The table is made when building (tools/l2_sites.c) from the relocations of the instrumented object: one per
 * inserted call. A site is (function, operation, ordinal): the second load of rad__deque_steal, in order of
 * address; copies of an inline function are one. It is found at run time by the distance of the return address
 * from the beginning of the section; linking moves the section as a whole, so the number of a site is the same
 * after linking anew. */
#ifndef RAD_LAB_L2_SITES_H
#define RAD_LAB_L2_SITES_H

#include "base/check.h"

typedef struct l2_site {
    uint16_t line;   /* 0: unknown */
    uint8_t point;   /* a scheduling point (an atomic, a wait, a wake), not a plain access */
    uint8_t ordinal; /* from 1, among those with the same function and operation, by address */
    const char *function, *operation;
    const char *file; /* of the line */
    const char *home; /* of the function, with its folder; another one when the line was inlined */
} l2_site;

/* Points first, then plain accesses; each part by function name, operation, ordinal. */
extern RAD_INTERNAL const l2_site rad__l2_sites[];
extern RAD_INTERNAL const uint32_t rad__l2_site_count, rad__l2_point_count;
extern RAD_INTERNAL const uint32_t rad__l2_text_size;

/* By offset of the return address: the number of the site and one; 0 where there is none. */
extern RAD_INTERNAL const uint16_t rad__l2_site_at[];

/* The static variables that a model can touch (tools/l2_reach.awk), as places in l2data: those of model n, in the order
 * of the table of models, are rad__l2_extents[rad__l2_extent_of[n] … rad__l2_extent_of[n + 1] - 1], by address. */
typedef struct l2_extent {
    uint32_t from, to;
} l2_extent;

extern RAD_INTERNAL const l2_extent rad__l2_extents[];
extern RAD_INTERNAL const uint16_t rad__l2_extent_of[];

/* Ends of the sections of the instrumented object; the linker knows them. */
extern RAD_INTERNAL const char __start_l2text[];
extern RAD_INTERNAL char __start_l2data[], __stop_l2data[];

#endif
