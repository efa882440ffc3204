/* file.h — files and folders.
 *
 * Nothing is ever half-written: new content goes to a temporary file in the same folder, is synced, and
 * takes the name at the end; whatever fails before that removes the temporary file and leaves what was
 * there. Messages begin with the path and end with the system's reason. */
#ifndef RAD_OS_FILE_H
#define RAD_OS_FILE_H

#include "base/check.h"

/* The whole file, with one zero byte after it; rad__free it. A file of more than `limit` bytes is
 * refused (RAD_EINPUT) before it is read. A file that does not exist is RAD_EINPUT too. */
RAD_INTERNAL int rad__os_read_file(const char *path, uint64_t limit, char **data, size_t *size, rad_error *error);

RAD_INTERNAL int rad__os_write_file(const char *path, const void *data, size_t size, rad_error *error);

/* Opens a file that a user has named, to read it. It may be a link, but what is behind it has to be a regular file:
 * RAD_EINPUT names what it is instead, at once (a pipe would block, a device might never end). */
RAD_INTERNAL int rad__os_open_regular(int *fd, const char *path, uint64_t *size, rad_error *error);

/* "a pipe", "a directory", "a device", "a socket"; NULL: it is a regular file, or there is none. */
RAD_INTERNAL const char *rad__os_not_regular(const char *path);

RAD_INTERNAL bool rad__os_exists(const char *path);
RAD_INTERNAL bool rad__os_is_folder(const char *path);

/* The one this process works in; rad__free it. */
RAD_INTERNAL int rad__os_current_folder(char **path, rad_error *error);

/* One level; no error when it exists already. */
RAD_INTERNAL int rad__os_make_directory(const char *path, rad_error *error);

typedef struct rad_os_names {
    char **items; /* without the folder, sorted by bytes; no "." and ".." */
    uint32_t count;
    uint32_t capacity;
} rad_os_names;

RAD_INTERNAL int rad__os_list(rad_os_names *names, const char *folder, rad_error *error);
/* The same of a folder that is open, which is closed; `folder` is for messages. */
RAD_INTERNAL int rad__os_list_open(rad_os_names *names, int fd, const char *folder, rad_error *error);
RAD_INTERNAL void rad__os_names_free(rad_os_names *names);

/* ---- Streams: files too large to hold in memory (stream.c) ------------------------------------------ */

typedef struct rad_os_writer rad_os_writer;

/* *w is NULL after a failure. Refuses what is not a regular file: a device cannot be renamed over. */
RAD_INTERNAL int rad__os_writer_open(rad_os_writer **w, const char *path, rad_error *error);
RAD_INTERNAL int rad__os_writer_put(rad_os_writer *w, const void *data, size_t size, rad_error *error);

/* Both end the writer. Keep: sync, rename; discard: as if it had never been. */
RAD_INTERNAL int rad__os_writer_keep(rad_os_writer *w, rad_error *error);
RAD_INTERNAL void rad__os_writer_discard(rad_os_writer *w); /* may be NULL */

typedef struct rad_os_reader rad_os_reader;

RAD_INTERNAL int rad__os_reader_open(rad_os_reader **r, const char *path, rad_error *error);
RAD_INTERNAL uint64_t rad__os_reader_size(const rad_os_reader *r); /* when it was opened */

/* As many bytes as there are, up to `size`; less only at the end. Negative on failure. */
RAD_INTERNAL int64_t rad__os_reader_get(rad_os_reader *r, void *to, size_t size, rad_error *error);
RAD_INTERNAL void rad__os_reader_close(rad_os_reader *r); /* may be NULL */

#endif
