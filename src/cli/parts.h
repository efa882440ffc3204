/* parts.h — the verbs that only `raddle` has, and verbs whose first word names one of their parts. */
#ifndef RAD_CLI_PARTS_H
#define RAD_CLI_PARTS_H

#include "command/options.h"

extern const verb VERB_TOUR, VERB_EXEC, VERB_SESSION, VERB_LOAD, VERB_FLOW;

/* The parts are called "VERB PART" (parts.c). */
/* A load log, or the journal of a workflow (show_other.c). The exit status. */
int show_other(cli *c, const char *path, bool journal, bool json);

int run_part(cli *c, const verb *whole, int argc, char **argv);

#endif
