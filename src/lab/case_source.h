/* case_source.h — cases whose body is a text file, line by line: {"source":["…","…"]}. They shrink by leaving lines
 * out. */
#ifndef RAD_LAB_CASE_SOURCE_H
#define RAD_LAB_CASE_SOURCE_H

#include "lab/case.h"

/* The lines as one text, each with "\n"; rad__free it. NULL and the error. `keys` are all that the body may have
 * (with "source"); NULL at the end. */
RAD_INTERNAL char *rad__case_source_text(const rad_case *c, const char *const *keys, rad_error *error);

/* How many lines, and what the parameters that shrink are above their least. */
RAD_INTERNAL uint64_t rad__case_source_size(const rad_machine *m, const rad_case *c);

/* For rad_machine.reduce. */
RAD_INTERNAL bool rad__case_source_reduce(const rad_case *from, rad_cursor *at, rad_case *to);

/* A target of `machine` whose source is a file. `check` looks at the text first: its errors name the file. `key` and
 * `value` (may be NULL) are one more field of the body. */
RAD_INTERNAL int rad__case_source_target(rad_target *t, const rad_machine *machine, const char *path,
                                         int (*check)(const char *path, const char *text, size_t size,
                                                      rad_error *error),
                                         const char *key, const char *value, rad_error *error);

#endif
