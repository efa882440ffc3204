/* proper.h — proper completion: when a case is done, nobody is still at work.
 *
 * A case completes by the end of its first token or by `finish`. A token that is alive then has been forgotten:
 * branches that an `any` has left behind, branches that a `finish` cuts off. Branches of a `join none` are on their own
 * by the flow's own words, and not counted; nor are those that wait, at their forks, for the token that finishes. */
#ifndef RAD_FLOW_MACHINE_PROPER_H
#define RAD_FLOW_MACHINE_PROPER_H

#include "flow/machine/vm.h"

/* Whom the token's next step would leave behind, the oldest of them. RAD_NONE: nobody, or it completes nothing. */
RAD_INTERNAL uint32_t rad__flow_left_behind(const rad_flow_vm *vm, uint32_t token);

#endif
