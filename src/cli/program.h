/* program.h — verbs on machines that are in another program or shared object. */
#ifndef RAD_CLI_PROGRAM_H
#define RAD_CLI_PROGRAM_H

#include "command/shell.h"

/* `raddle explore ./pet …` and `raddle replay FILE -- ./pet`: lets a program with machines do it, and makes a
 * machine of one without. GO_ON: the verb is to run, with the words that are left. */
int run_elsewhere(cli *c, const verb *v, int *argc, char **argv);

#endif
