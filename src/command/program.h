/* program.h — a program of the user's, without machines of its own, as the machine that the verbs work on. */
#ifndef RADDLE_COMMAND_PROGRAM_H
#define RADDLE_COMMAND_PROGRAM_H

#include "cli.h"

/* `argv` is the program's, its path first, `library` the lab's for it; both stay the caller's. *machine is the name
 * that it has from now on. Returns 0 or the exit status. */
int test_program(cli *c, char *const *argv, const char *library, const char **machine)
    RAD_COMMAND(test_program);

#endif
