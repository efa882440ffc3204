/* durable.h — files whose bytes, names and holders have to outlive whoever wrote them.
 *
 * A byte counts when the file was synced, a name when the folder was. Names are taken by link, which fails when the
 * name is there already: of several who want it exactly one gets it. A lock belongs to an open file and goes with the
 * process that has it open, however that ends, so whether somebody holds it says whether he lives; it is on the
 * inode, so a file that is locked before it is linked has no moment under its name in which it is free.
 *
 * Rejected: locks of fcntl (closing any other descriptor of the file gives them up, and two runners in one process do
 * not see each other's); files that say "I am here" (nobody takes them away after kill -9). */
#ifndef RAD_OS_DURABLE_H
#define RAD_OS_DURABLE_H

#include "base/check.h"

/* A new file of that name; what was there has lost its name. Nobody's child inherits it. */
RAD_INTERNAL int rad__os_create(int *fd, const char *path, rad_error *error);

/* One that is there, to be appended to. RAD_EINPUT: it is not. */
RAD_INTERNAL int rad__os_open_end(int *fd, const char *path, rad_error *error);

/* All of it, or an error; what was written before stays. */
RAD_INTERNAL int rad__os_put(int fd, const char *path, const void *data, size_t size,
                             rad_error *error);
RAD_INTERNAL int rad__os_cut(int fd, const char *path, uint64_t size, rad_error *error);
RAD_INTERNAL int rad__os_sync(int fd, const char *path, rad_error *error);

/* The names in it. */
RAD_INTERNAL int rad__os_sync_folder(const char *path, rad_error *error);

RAD_INTERNAL int rad__os_rename(const char *from, const char *to, rad_error *error);

/* 1: the file has the second name as well; 0: another one has it. */
RAD_INTERNAL int rad__os_link(const char *from, const char *to, rad_error *error);

/* 1: it is held until fd, and all copies that were inherited, are closed; 0: somebody else has it. */
RAD_INTERNAL int rad__os_lock_file(int fd, const char *path, rad_error *error);

enum rad_os_holder { RAD_OS_NO_FILE = 0, RAD_OS_NOT_HELD, RAD_OS_HELD };

/* Negative: it could not be told. */
RAD_INTERNAL int rad__os_holder(const char *path, rad_error *error);

#endif
