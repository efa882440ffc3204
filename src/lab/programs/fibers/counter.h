/* counter.h — the processor's counter of time, and the system's page of clocks: see counter.c. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_COUNTER_H
#define RAD_LAB_PROGRAMS_FIBERS_COUNTER_H

#include "base/check.h"

#include <signal.h>
#include <stdbool.h>

/* Before the program's constructors; and in each process, because the program may have set an action meanwhile. */
RAD_INTERNAL void rad__counter_start(void);
RAD_INTERNAL void rad__counter_open(void);

/* What SIGSEGV does for the program: as sigaction has it. False: that is the system's to say. */
RAD_INTERNAL bool rad__counter_action(const struct sigaction *new, struct sigaction *old);

/* The program sets it by the number of the call: the counter is the real one from now on. */
RAD_INTERNAL void rad__counter_shut(void);

#endif
