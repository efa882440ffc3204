/* coverage.h — what an exploration covered, so that "nothing found" is a statement. */
#ifndef RAD_COMMAND_COVERAGE_H
#define RAD_COMMAND_COVERAGE_H

#include "hunt.h"

void coverage_report(cli *c, const rad_target *t, const rad_exploration *e, uint64_t seed) RAD_COMMAND(coverage_report);
/* What a program did outside of its process, in how many runs; "": nothing. */
enum { COVERAGE_OUTSIDE_MAX = RAD_OUTSIDE_MAX * (RAD_OUTSIDE_TEXT + 2) + 100 };
void coverage_outside(const rad_target *t, const rad_exploration *e, char *text, size_t size)
    RAD_COMMAND(coverage_outside);
/* What is covered by a later pass: a line. */
void coverage_late(const hunt *h, enum hunt_pass pass, const rad_target *t, const rad_exploration *e)
    RAD_COMMAND(coverage_late);
void coverage_json(writer *j, const rad_target *t, const rad_exploration *e) RAD_COMMAND(coverage_json);

#endif
