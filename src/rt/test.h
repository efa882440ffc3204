/* test.h — tests of a program: which there are, and how one runs.
 *
 *     test.c         the lists, and one test as the first fiber of a runtime
 *     test_main.c    rad_test_main: what the command line asks for
 *     test_calls.c   what checks and choices do in production: on threads, seeded. The lab has another file in its
 *                    place (lab/programs/fibers/test_calls.c), where they are the kernel's.
 *
 * Lists are made by constructors, before main, so nothing here allocates. */
#ifndef RAD_RT_TEST_H
#define RAD_RT_TEST_H

#include "base/check.h"

#include <raddle/test.h>

#include <stdio.h>

enum { RAD_GOALS_MAX = 256, RAD_GOAL_CAME = 1, RAD_GOAL_HELD = 2 };

/* In order; NULL: none. */
RAD_INTERNAL rad_test *rad__tests(void);
RAD_INTERNAL rad_test_param *rad__test_params(void);
RAD_INTERNAL rad_goal *rad__goals(void);

/* Numbers the goals, by file, line and text; those of one place have one number. Returns how many there are. */
RAD_INTERNAL uint32_t rad__goals_number(void);

RAD_INTERNAL rad_test *rad__test_find(const char *name);

/* What is wrong with the lists, in `text`; false: nothing. */
RAD_INTERNAL bool rad__tests_wrong(char *text, size_t size);

/* NAME=VALUE. False: `text` says what is wrong. */
RAD_INTERNAL bool rad__test_set(const char *assignment, char *text, size_t size);

/* "there are: a, b, c" */
RAD_INTERNAL void rad__test_names(char *text, size_t size);

/* Runs the test once, in a runtime of its own. Returns 0 or the code of a runtime that does not start. */
RAD_INTERNAL int rad__test_run(const rad_test *test, rad_error *error);

/* All lists, for raddle: a line each, its parts with tabs between them, the last line "end". A main of the user's may
 * print lines of its own. */
#define RAD_CATALOG_LEAD "raddle-test\t"
RAD_INTERNAL void rad__test_catalog(FILE *to);

/* ---- What differs between production and lab (test_calls.c) ----------------------------------------- */

/* In the lab; then also whether raddle asks for the catalog. */
RAD_INTERNAL bool rad__test_is_explored(void);
RAD_INTERNAL bool rad__test_is_listed(void);

/* A test begins and ends: what it calls is the test's. */
RAD_INTERNAL void rad__test_begins(void);
RAD_INTERNAL void rad__test_ends(void);

/* This call of the program makes no sense. */
RAD_INTERNAL _Noreturn void rad__test_refuses(const char *why);

/* Production: what a process that repeats a test shares with its parent. */
typedef struct rad_stress {
    uint64_t seed;
    _Atomic uint64_t draws;               /* of the repetition under way */
    _Atomic uint32_t failed;              /* the first check that fails says so */
    uint32_t runs;                        /* repetitions that have passed */
    bool done;                            /* the one under way has */
    char text[600];                       /* what failed */
    _Atomic uint8_t goals[RAD_GOALS_MAX]; /* RAD_GOAL_… */
} rad_stress;

/* From now on choices and checks are those of a stress; NULL: of none. */
RAD_INTERNAL void rad__test_stress(rad_stress *s);

#endif
