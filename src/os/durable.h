/* durable.h — files whose bytes, names and locks have to outlive the process that wrote them.
 *
 * A byte counts when the file was synced, a name when the folder was. Names are taken by link, which fails if the
 * name exists: of several processes that want it exactly one gets it. A lock belongs to an open file and ends with the
 * process that has it open, however that ends, so a lock that is held says that its process lives. The lock is on the
 * inode, so a file that is locked before it is linked is never free under its name, and removing the name does not
 * unlock it.
 *
 * A full disk is an ordinary error of each call that writes: it returns RAD_EIO with the name of the file. What was
 * there before stays, but a write may leave a part of its bytes behind: the caller cuts them off (rad__os_cut), as the
 * next runner does with the journal of a workflow.
 *
 * They are in a folder that is held open (folder.h): no link is followed to any of them, and what is made is 0600.
 *
 * Rejected: locks of fcntl (closing any other descriptor of the file gives them up, and two runners in one process do
 * not see each other's); files that say "I am here" (they remain after kill -9). */
#ifndef RAD_OS_DURABLE_H
#define RAD_OS_DURABLE_H

#include "os/folder.h"

/* A new file of that name; what was there has lost its name. Nobody's child inherits it. It belongs to the owner of the
 * folder. */
RAD_INTERNAL int rad__os_create(int *fd, const rad_os_folder *f, const char *name, rad_error *error);

/* One that is there, to be appended to. RAD_EINPUT: it is not, or is no regular file. */
RAD_INTERNAL int rad__os_open_end(int *fd, const rad_os_folder *f, const char *name, rad_error *error);

/* All of it, or an error; what was written before stays. `path` is for messages here and below. */
RAD_INTERNAL int rad__os_put(int fd, const char *path, const void *data, size_t size, rad_error *error);
RAD_INTERNAL int rad__os_cut(int fd, const char *path, uint64_t size, rad_error *error);
RAD_INTERNAL int rad__os_sync(int fd, const char *path, rad_error *error);

RAD_INTERNAL int rad__os_rename_in(const rad_os_folder *f, const char *from, const char *to, rad_error *error);

/* 1: the file has the second name as well; 0: another one has it. */
RAD_INTERNAL int rad__os_link_in(const rad_os_folder *f, const char *from, const char *to, rad_error *error);
/* One that is not there is no error. */
RAD_INTERNAL int rad__os_remove_in(const rad_os_folder *f, const char *name, rad_error *error);

/* 1: the whole file, with one zero byte after it, rad__free it; 0: there is none. */
RAD_INTERNAL int rad__os_read_in(const rad_os_folder *f, const char *name, uint64_t limit, char **data, size_t *size,
                                 rad_error *error);
/* The same of one that is open, from its beginning. */
RAD_INTERNAL int rad__os_read_open(int fd, const char *path, uint64_t limit, char **data, size_t *size,
                                   rad_error *error);

/* 1: something has that name; 0: nothing has. RAD_EINPUT: a link has. */
RAD_INTERNAL int rad__os_is_in(const rad_os_folder *f, const char *name, rad_error *error);
/* 1: the file that is open is the one of that name, in the folder its path leads to, and has so many bytes; 0: it is
 * not, or no longer. */
RAD_INTERNAL int rad__os_is_file(int fd, const rad_os_folder *f, const char *name, uint64_t *size, rad_error *error);

/* ---- Locks ---------------------------------------------------------------------------------------------- */

/* 1: it is held until fd, and all copies that were inherited, are closed; 0: another process has it. */
RAD_INTERNAL int rad__os_lock_file(int fd, const char *path, rad_error *error);

enum rad_os_holder { RAD_OS_NO_FILE = 0, RAD_OS_NOT_HELD, RAD_OS_HELD };

/* Negative: it could not be told. */
RAD_INTERNAL int rad__os_holder(const rad_os_folder *f, const char *name, rad_error *error);

#endif
