/* inserted.h — what raddle knows of the calls that `raddle cc` has inserted into a program under test (watched/):
 * how many there are, where they are, and which of those before plain accesses are points.
 *
 * A plain access becomes a point when its place has raced. The names of these places, as identities of races have
 * them, are in the body of the case, in alphabetical order: so a file has them, and replays with the same points. */
#ifndef RAD_LAB_PROGRAMS_INSERTED_H
#define RAD_LAB_PROGRAMS_INSERTED_H

#include "base/check.h"

#include <raddle/lab.h>

/* As the program tells it, behind its greeting. */
typedef struct rad_inserted {
    uint64_t modules, calls; /* that were built so; in all of them */
    char without[104];       /* one that has none of these calls; "": each has some */
} rad_inserted;

/* Divides the body of a case: the arguments, and names of places, each with a newline behind it. Both are the
 * caller's, to be freed. */
RAD_INTERNAL int rad__inserted_split(const char *body, char **arguments, char **points, rad_error *error);

/* *to gets the case of `from` and the places of the races that were found. *more: there are new ones; only then it
 * has to be freed. */
RAD_INTERNAL int rad__inserted_join(rad_target *to, const rad_target *from, const rad_exploration *e, bool *more,
                                    rad_error *error);

/* Writes "(file.c:12)" where a message of the program has "[+1a2b]". */
RAD_INTERNAL void rad__spots_read(char *message, size_t size);

#endif
