/* planted.h — what the programs beside it share: programs with fibers that have a scheduling bug, for `raddle explore`.
 * With -DFIXED the bug is mended. */
#ifndef PLANTED_H
#define PLANTED_H

#include <raddle.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
enum { fixed = 1 };
#else
enum { fixed = 0 };
#endif

/* Runs both, and waits for them. */
static inline int both(rad_fn one, rad_fn two)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, one, NULL);
    rad_nursery_go(&n, two, NULL);
    return rad_nursery_wait(&n);
}

#endif
