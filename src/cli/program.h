/* program.h — verbs on machines that are in another program or shared object. */
#ifndef RADDLE_CLI_PROGRAM_H
#define RADDLE_CLI_PROGRAM_H

#include "command/shell.h"

/* `raddle explore ./pet …` and `raddle replay FILE -- ./pet`: lets the program do it. GO_ON: no program is named. */
int run_elsewhere(cli *c, const verb *v, int argc, char **argv);

#endif
