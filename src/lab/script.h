/* script.h — the policy `script`: given actors run in a given order, as far as they can.
 *
 * For trying another order of the steps of a known run, or the same run in another case. A step of an actor
 * that cannot run is passed over; after the last one the baseline runs. Whether the failure is still there is
 * for the caller to see. */
#ifndef RAD_LAB_SCRIPT_H
#define RAD_LAB_SCRIPT_H

#include "core/policy.h"
#include "lab/batch.h"

RAD_INTERNAL int rad__policy_script(rad_policy **p, rad_error *error);

/* Everything is borrowed. */
RAD_INTERNAL void rad__script_set(rad_policy *p, const rad_script_step *steps, uint64_t step_count,
                                  const uint32_t *picks, uint64_t pick_count);

#endif
