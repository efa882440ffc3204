/* policy_user.h — policies that users write (raddle/policy.h): the table of those that this process knows, and what
 * puts one under the kernel. */
#ifndef RAD_CORE_POLICY_USER_H
#define RAD_CORE_POLICY_USER_H

#include "core/policy.h"

#include <raddle/policy.h>

/* The function that is being called: what a supervisor knows when the process dies or hangs in it (rad_beacon). */
enum rad_policy_function {
    RAD_POLICY_NOT_CALLED = 0,
    RAD_POLICY_BEGIN,
    RAD_POLICY_CHANGED,
    RAD_POLICY_CHOOSE,
    RAD_POLICY_RAN,
    RAD_POLICY_END,
    RAD_POLICY_FUNCTIONS
};
RAD_INTERNAL const char *rad__policy_function_name(uint64_t function);

/* Adds a table that the caller has checked; it is borrowed. */
RAD_INTERNAL int rad__user_policy_add(const rad_policy_table *table, rad_error *error);

/* By index, and by the name before a colon; NULL: there is none. */
RAD_INTERNAL const rad_policy_table *rad__user_policy_at(uint32_t index);
RAD_INTERNAL const rad_policy_table *rad__user_policy_find(const char *name);

/* How many there are; forgets all but the first `count`. */
RAD_INTERNAL uint32_t rad__user_policies(void);
RAD_INTERNAL void rad__user_policies_cut(uint32_t count);

RAD_INTERNAL int rad__user_policy_create(rad_policy **p, const rad_policy_table *table, const char *argument,
                                         rad_error *error);

#endif
