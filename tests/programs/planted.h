/* planted.h — what the programs beside it share: programs with fibers that have a scheduling bug, for `raddle explore`.
 * With the argument `fixed` the bug is mended. Each defines `start`, the first fiber; one with a main of its own says
 * OWN_MAIN before. */
#ifndef PLANTED_H
#define PLANTED_H

#include <raddle.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef OWN_MAIN
static bool fixed;

static int start(void *arg);

int main(int argc, char **argv)
{
    fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    return rad_main(NULL, start, NULL, NULL);
}
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
