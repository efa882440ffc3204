/* program.h — a program of the user's, without machines of its own, as the machine that the verbs work on. */
#ifndef RAD_COMMAND_PROGRAM_H
#define RAD_COMMAND_PROGRAM_H

#include "cli.h"

/* `argv` is the program's, its path first, `library` the lab's for it; both stay the caller's. *machine is the name
 * that it has from now on. Returns 0 or the exit status. */
int test_program(cli *c, char *const *argv, const char *library, const char **machine) RAD_COMMAND(test_program);

/* The same program with other arguments, which stay the caller's. */
int test_program_again(cli *c, char *const *argv) RAD_COMMAND(test_program_again);

/* *to is the target with the places of the races that were found as points, if there are new ones: then *more, and
 * it has to be freed. Returns 0 or an exit status. */
int program_points(cli *c, rad_target *to, const rad_target *from, const rad_exploration *e, bool *more)
    RAD_COMMAND(program_points);

/* What raddle cc has inserted: how many calls, in how many files; and one that has none (NULL: each has some). */
uint64_t program_inserted(uint64_t *modules, const char **without) RAD_COMMAND(program_inserted);

/* ---- Its tests (program_tests.c) ----------------------------------------------------------------- */

/* The program under test has tests of raddle/test.h. `open`: none was named, so files name theirs. */
void program_has_tests(bool open) RAD_COMMAND(program_has_tests);

typedef struct catalog_test {
    const char *name, *file;
    uint32_t line;
} catalog_test;

/* A rad_sometimes. */
typedef struct catalog_goal {
    const char *what, *file, *function;
    uint32_t line;
    bool come_to, held; /* by a test, and in one, that was explored */
    bool told;          /* it has failed a test */
} catalog_goal;

typedef struct catalog_param {
    const char *name, *value, *about; /* value: without PARAMETER=VALUE */
} catalog_param;

typedef struct catalog {
    char *text; /* all names are in it; NULL: the program has no tests */
    catalog_test *tests;
    catalog_goal *goals; /* by their numbers */
    catalog_param *params;
    uint32_t test_count, goal_count, param_count;
} catalog;

/* Asks the program under test. Without one, or if it has no tests, the catalog is empty. Returns 0 or an exit status,
 * message printed. */
int catalog_read(cli *c, catalog *k) RAD_COMMAND(catalog_read);
void catalog_free(catalog *k) RAD_COMMAND(catalog_free);

/* The place of a goal in rad_exploration.site_reached: a run came to it; the next one: and it held. */
uint32_t goal_site(uint32_t goal) RAD_COMMAND(goal_site);

/* The test that is explored is in the arguments of the program; NULL: none. */
const char *program_test(void) RAD_COMMAND(program_test);

/* Tells an artifact of a program, and runs it once more in gdb. Returns the exit status. */
int debug_artifact(cli *c, const rad_artifact *a) RAD_COMMAND(debug_artifact);

/* What it reads from its standard input, each run from the beginning. The path stays the caller's. */
void test_input(const char *path) RAD_COMMAND(test_input);

enum { SHOWN_MAX = 400 };

/* Where the runs of a search print: a path of less than SHOWN_MAX bytes. The path stays the caller's. */
void test_shown(const char *path) RAD_COMMAND(test_shown);

/* Its threads run on threads of the system. */
void test_real_threads(bool real) RAD_COMMAND(test_real_threads);

#endif
