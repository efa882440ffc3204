/* session.h — the trial of the session machine, for the rest of the lab. */
#ifndef RAD_LAB_MACHINES_SESSION_SESSION_H
#define RAD_LAB_MACHINES_SESSION_SESSION_H

#include "base/check.h"

#include <raddle/lab.h>

extern RAD_INTERNAL const rad_machine rad__machine_session;

#endif
