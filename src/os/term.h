/* term.h — what the user's terminal and environment say; read once by the shells, passed down as
 * values. */
#ifndef RAD_OS_TERM_H
#define RAD_OS_TERM_H

#include "base/check.h"

RAD_INTERNAL bool rad__os_is_terminal(int fd);

/* Columns, or 0 when it is not known. */
RAD_INTERNAL uint32_t rad__os_terminal_width(int fd);

/* The value of an environment variable, or NULL when it is not set. */
RAD_INTERNAL const char *rad__os_env(const char *name);

/* True when fd is a terminal that wants colour: no NO_COLOR (any non-empty value), TERM not "dumb". */
RAD_INTERNAL bool rad__os_wants_colour(int fd);

#endif
