/* realign.h — what became of a recorded run in code that was edited, in words and in JSON. */
#ifndef RAD_COMMAND_REALIGN_H
#define RAD_COMMAND_REALIGN_H

#include "json.h"

/* Nothing is wrong: the failure is gone, or there was none. */
bool realigned_well(const rad_realignment *r) RAD_COMMAND(realigned_well);

/* "diverged at step 3 because …", "still fails", …: one line without its end. */
void realigned_line(const rad_realignment *r, char *text, size_t size) RAD_COMMAND(realigned_line);

/* The line, and below it where the two runs part, where they meet again, and how many steps they share. */
void report_realigned(cli *c, const rad_realignment *r) RAD_COMMAND(report_realigned);
void put_realigned(writer *j, const rad_realignment *r) RAD_COMMAND(put_realigned);

#endif
