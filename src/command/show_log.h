/* show_log.h — a decision log, printed. */
#ifndef RAD_COMMAND_SHOW_LOG_H
#define RAD_COMMAND_SHOW_LOG_H

#include "report.h"

/* Returns the exit status. */
int show_log(cli *c, const char *path, bool json) RAD_COMMAND(show_log);

#endif
