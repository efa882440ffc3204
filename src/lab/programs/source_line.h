/* source_line.h — lines of source files, to be quoted. Files stay in memory until they are closed. */
#ifndef RAD_LAB_PROGRAMS_SOURCE_LINE_H
#define RAD_LAB_PROGRAMS_SOURCE_LINE_H

#include "base/check.h"

typedef struct rad_source_files rad_source_files;

/* NULL: no memory. */
RAD_INTERNAL rad_source_files *rad__source_files_open(void);
RAD_INTERNAL void rad__source_files_close(rad_source_files *s);

/* A line without the blanks around it, cut to `size`; "": there is no such file or line. A relative `file` is looked
 * for in `folder`. */
RAD_INTERNAL void rad__source_line(rad_source_files *s, const char *folder, const char *file, uint32_t line, char *text,
                                   size_t size);

#endif
