/* tour.h — what the parts of the tour share. */
#ifndef RAD_CLI_TOUR_H
#define RAD_CLI_TOUR_H

#include "command/cli.h"

void tour_part(cli *c, int n, const char *title, const char *command);

/* Something the tour has told did not happen: that is a bug in raddle. Answers the status. */
int tour_not_as_told(const cli *c, const char *what);

int tour_fibers(cli *c);
int tour_session(cli *c);
int tour_load(cli *c, const char *folder); /* for a file that does not stay */
int tour_flow(cli *c, const char *folder); /* the same */

#endif
