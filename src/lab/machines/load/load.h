/* load.h — the machines `load` and `load-scenario`. */
#ifndef RAD_LAB_MACHINES_LOAD_LOAD_H
#define RAD_LAB_MACHINES_LOAD_LOAD_H

#include <raddle/machine.h>

#include "base/check.h"

RAD_INTERNAL extern const rad_machine rad__machine_load, rad__machine_scenario;

#endif
