/* tour.h — what the parts of the tour share. */
#ifndef RAD_CLI_TOUR_H
#define RAD_CLI_TOUR_H

#include "command/cli.h"

/* Something the tour has told did not happen: that is a bug in raddle. Answers the status. */
int tour_not_as_told(const cli *c, const char *what);

int tour_fibers(cli *c);

typedef struct tour_example {
    const char *path, *text;
} tour_example;

#endif
