/* fibers.h — a program without machines of its own, whose fibers are put under test. */
#ifndef RAD_CLI_FIBERS_H
#define RAD_CLI_FIBERS_H

#include "command/shell.h"

#include "base/elf.h"

#include <limits.h>

/* A file of the lab's, beside this command, where it was built or installed; or where the installation was meant to
 * be. */
bool find_lab_file(const char *built, const char *installed, char *path, size_t size);

/* Where programs find raddle.h and libraddle.so of this raddle: folders. */
bool find_raddle(char headers[PATH_MAX], char library[PATH_MAX]);

/* Can it be put under test? Returns 0 or an exit status, message printed. */
int check_fibers(cli *c, const char *path, const rad_elf *e);

/* Makes it the machine of the verb. Its path is argv[at], its arguments are all that follows; what came before is
 * left for the verb, with the name of the machine if it takes one. Returns GO_ON or an exit status. */
int use_fibers(cli *c, const verb *v, bool takes_machine, int at, int dashes, int *argc, char **argv);

/* The same of a program that has tests of raddle/test.h: `raddle test` keeps the words behind it for itself. */
int use_tests(cli *c, const verb *v, bool takes_machine, int at, int dashes, int *argc, char **argv);

#endif
