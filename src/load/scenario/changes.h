/* changes.h — what a command line changes of a scenario, as text that goes into the log: lines of "key=value". A replay
 * makes the same changes. */
#ifndef RAD_LOAD_SCENARIO_CHANGES_H
#define RAD_LOAD_SCENARIO_CHANGES_H

#include "load/scenario/scenario.h"

/* NULL: memory ran out. `target` may be NULL. */
RAD_INTERNAL const char *rad__load_changes_make(rad_arena *arena, const char *target);

/* `s` may be a copy: what is new lives in the arena. RAD_EINPUT: not a URL, several targets, an unknown key. */
RAD_INTERNAL int rad__load_changes_apply(rad__load_scenario *s, rad_arena *arena, const char *changes,
                                         rad_error *error);

#endif
