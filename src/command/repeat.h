/* repeat.h — does a program under test make the same run again, in another process, when the choices are the same? */
#ifndef RAD_COMMAND_REPEAT_H
#define RAD_COMMAND_REPEAT_H

#include "cli.h"

enum { REPEAT_TEXT = 600 };

/* Makes one run, and the same again. True: it does, or that could not be found out (a crash, a hang: the search meets
 * that, too). False: `why` is where and how the two runs differ. */
bool repeats(const rad_target *t, uint64_t seed, char why[REPEAT_TEXT]) RAD_COMMAND(repeats);

/* Says that it does not. */
void report_unrepeatable(cli *c, const char *why) RAD_COMMAND(report_unrepeatable);

#endif
