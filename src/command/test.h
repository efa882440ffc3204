/* test.h — `raddle test`: each test of a program is explored, and its result is reported in one of several forms.
 *
 *     test.c          which tests there are, and exploring one
 *     test_goals.c    rad_sometimes: which were met, in all runs of a test
 *     test_threads.c  a test on threads, which the program does by itself
 *     test_report.c   lines for people, TAP, JSON, JUnit */
#ifndef RAD_COMMAND_TEST_H
#define RAD_COMMAND_TEST_H

#include "hunt.h"
#include "program.h"

#include "base/bytes.h"

/* ---- Goals ---------------------------------------------------------------------------------------- */

enum goal_state { GOAL_ELSEWHERE = 0, GOAL_HELD, GOAL_OF_OTHERS, GOAL_NEVER_TRUE, GOAL_NOT_COME_TO };

/* Of a test that was explored. ELSEWHERE: no run came there, and it is not in the body of the test. OF_OTHERS: it was
 * never true, but it is in another file than the test, in code that other tests use, too. */
enum goal_state goal_of_test(const catalog *k, uint32_t goal, const char *test, const rad_exploration *e)
    RAD_COMMAND(goal_of_test);
bool goal_is_bad(enum goal_state s) RAD_COMMAND(goal_is_bad);

/* "never true in 2,000 runs: WHAT (file.c:12)" */
void goal_text(const catalog *k, uint32_t goal, enum goal_state s, uint64_t runs, char *text, size_t size)
    RAD_COMMAND(goal_text);

/* What a second search of the same test met, the first one has met. */
void goals_join(const catalog *k, rad_exploration *into, const rad_exploration *from) RAD_COMMAND(goals_join);

/* How many are bad; `text`, which may be NULL, is the first of them. */
uint32_t goals_bad(const catalog *k, const char *test, const rad_exploration *e, char *text, size_t size)
    RAD_COMMAND(goals_bad);

/* A line for each that a run came to, or that is bad; the same as an array "sometimes". */
void goals_report(cli *c, const catalog *k, const char *test, const rad_exploration *e) RAD_COMMAND(goals_report);
void goals_json(writer *j, const catalog *k, const char *test, const rad_exploration *e) RAD_COMMAND(goals_json);

/* ---- Outcomes ------------------------------------------------------------------------------------- */

enum test_result { TEST_PASSED = 0, TEST_FAILED, TEST_UNFIT /* it cannot be explored */, TEST_SKIPPED };

typedef struct test_outcome {
    const char *name, *file; /* file NULL: not known */
    uint32_t line;
    enum test_result result;
    char message[1100]; /* one line, with the limits of what it says */
    rad_bytes details;  /* lines: what was found, and how to replay it */
    const char *kind;   /* of the failure: "check", "deadlock", … */
    hunt *hunt;         /* NULL: nothing was explored */
    const rad_exploration *e;
} test_outcome;

/* ---- On threads ------------------------------------------------------------------------------------ */

typedef struct thread_request {
    const char *program, *test;
    char *const *params;
    uint32_t param_count;
    uint64_t runs, seed; /* runs 0: as many as the program does by itself */
    double seconds;      /* 0: the same */
} thread_request;

/* Lets the program run one of its tests with --threads. Returns 0 and the outcome, or an exit status. */
int test_on_threads(cli *c, const thread_request *r, test_outcome *o) RAD_COMMAND(test_on_threads);

/* ---- Reports ---------------------------------------------------------------------------------------- */

enum test_form { TEST_LINES = 0, TEST_TAP, TEST_JSON };

typedef struct test_report {
    cli *c;
    enum test_form form;
    const char *program; /* for JUnit: the suite */
    uint32_t planned, told, failed, unfit, skipped;
    uint64_t seed;
    writer j;
    const char *junit; /* a file; NULL: none */
    rad_bytes cases;   /* of JUnit */
    double seconds;
} test_report;

void report_begin(test_report *r, uint32_t planned) RAD_COMMAND(test_report_begin);
void report_test(test_report *r, const catalog *k, const test_outcome *o) RAD_COMMAND(test_report_test);

/* Returns 0 or an exit status: JUnit's file could not be written. */
int report_end(test_report *r, const char *limits, const suppressions *known, bool interrupted)
    RAD_COMMAND(test_report_end);

#endif
