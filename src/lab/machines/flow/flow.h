/* flow.h — the trial of the flow machine, for the rest of the lab. */
#ifndef RAD_LAB_MACHINES_FLOW_FLOW_H
#define RAD_LAB_MACHINES_FLOW_FLOW_H

#include "base/check.h"

#include <raddle/lab.h>

extern RAD_INTERNAL const rad_machine rad__machine_flow;

#endif
