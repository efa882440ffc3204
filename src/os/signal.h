/* signal.h — being asked to stop.
 *
 * The first SIGINT or SIGTERM raises a flag, which long loops look at; the second one kills, in case
 * nobody looks. */
#ifndef RAD_OS_SIGNAL_H
#define RAD_OS_SIGNAL_H

#include "base/check.h"

/* From now on SIGINT and SIGTERM set the flag and SIGPIPE is ignored (writing reports EPIPE). */
RAD_INTERNAL int rad__os_catch_interrupts(rad_error *error);

/* 0, or the number of the signal that asked. */
RAD_INTERNAL volatile int *rad__os_interrupted(void);

#endif
