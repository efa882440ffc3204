/* turns.h — one at a time for each descriptor of the process: a semaphore, whatever runtime its users are in.
 *
 * A turn is given back by the thread that has it, except in the child of a fork: there is no other thread, so all turns
 * are free again. */
#ifndef RAD_RT_TURNS_H
#define RAD_RT_TURNS_H

#include <raddle/sync.h>

#include "base/check.h"

/* NULL: no memory. Stays where it is. */
RAD_INTERNAL rad_semaphore *rad__turn_of(int fd);

#endif
