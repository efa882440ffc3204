/* append.h — files that grow at their end and are read while they do, or after their writer was killed; files
 * mapped into memory; and a number nobody can guess.
 *
 * Unlike those of file.h, a file that is appended to has its name from the beginning: what is in it counts, however the
 * writer ends. Its format must bear being cut off anywhere. */
#ifndef RAD_OS_APPEND_H
#define RAD_OS_APPEND_H

#include "os/file.h"

typedef struct rad_os_append rad_os_append;

/* A new file, or an old one emptied. *a is NULL after a failure. Refuses what is not a regular file. */
RAD_INTERNAL int rad__os_append_open(rad_os_append **a, const char *path, rad_error *error);
/* All of it, or an error; what was written before stays. */
RAD_INTERNAL int rad__os_append_put(rad_os_append *a, const void *data, size_t size, rad_error *error);
RAD_INTERNAL int rad__os_append_sync(rad_os_append *a, rad_error *error);
RAD_INTERNAL int rad__os_append_close(rad_os_append *a, rad_error *error); /* a may be NULL */

/* A whole regular file as memory that can be read (map.c). An empty one is NULL and 0, and no error. If it becomes
 * shorter meanwhile, zeros stand in for what is gone: the reader asks whether it is whole, and gets RAD_EIO,
 * which replaces an error there was. */
RAD_INTERNAL int rad__os_map(const char *path, const void **data, size_t *size, rad_error *error);
RAD_INTERNAL int rad__os_map_is_whole(const void *data, const char *path, rad_error *error);
RAD_INTERNAL void rad__os_unmap(const void *data, size_t size);

/* Whether both names are of one file that exists: what is written to one would be lost in the other. */
RAD_INTERNAL bool rad__os_same_file(const char *a, const char *b);

/* Removes a file; one that is not there is no error. */
RAD_INTERNAL int rad__os_remove(const char *path, rad_error *error);

/* Not 0, and never the same. */
RAD_INTERNAL uint64_t rad__os_random(void);

#endif
