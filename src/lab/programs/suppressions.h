/* suppressions.h — races that do not count, from text; rad_suppressions_read is the same from a file. */
#ifndef RAD_LAB_PROGRAMS_SUPPRESSIONS_H
#define RAD_LAB_PROGRAMS_SUPPRESSIONS_H

#include "base/error.h"

RAD_INTERNAL int rad__suppressions_parse(const char *const **list, const char *text, size_t size, const char *name,
                                         rad_error *error);

#endif
