/* user_timer.h — for select: timers as clauses. */
#ifndef RAD_RT_USER_TIMER_H
#define RAD_RT_USER_TIMER_H

#include <raddle/fiber.h>

#include "rt/wait.h"

/* Waiting for a timer without a function; that it has one is a mistake of `call`. */
RAD_INTERNAL void rad__timer_clause(rad_clause *c, rad_timer *t, const char *call);

#endif
