/* folder.h — a folder that is held open: what is in it is reached from there, whatever becomes of its path, and no
 * symbolic link in it is followed.
 *
 * Names are those of entries ("journal") or of entries one folder below ("effects/x.lock"); "" is the folder itself.
 * Only the path that opens it may lead through links: its user has named it. What is made in it is its owner's alone
 * (0700 and 0600), whatever the umask. */
#ifndef RAD_OS_FOLDER_H
#define RAD_OS_FOLDER_H

#include "os/file.h"

typedef struct rad_os_folder {
    int fd;         /* negative: not open */
    char *path;     /* as it was named, for messages */
    char *absolute; /* the same from the root, for code that changes the current folder */
} rad_os_folder;

/* Takes the name; nothing is opened yet. */
RAD_INTERNAL int rad__os_folder_name(rad_os_folder *f, const char *path, rad_error *error);
/* 1: it is open; 0: there is no such folder. */
RAD_INTERNAL int rad__os_folder_open(rad_os_folder *f, rad_error *error);
RAD_INTERNAL void rad__os_folder_close(rad_os_folder *f);

/* The folder itself (""), which is open then, or one in it. 1: it was made; 0: it was there. */
RAD_INTERNAL int rad__os_folder_make(rad_os_folder *f, const char *name, rad_error *error);
/* RAD_EINPUT: it belongs to another user, or others may write to it: they decide what is in it. */
RAD_INTERNAL int rad__os_folder_check(const rad_os_folder *f, const char *name, rad_error *error);
/* Whether its path still leads to it. */
RAD_INTERNAL bool rad__os_folder_is_there(const rad_os_folder *f);

/* The names in it, which are durable then; of one that is not named, of the one above ("..") as well. */
RAD_INTERNAL int rad__os_sync_folder(const rad_os_folder *f, const char *name, rad_error *error);
RAD_INTERNAL int rad__os_folder_list(const rad_os_folder *f, const char *name, rad_os_names *names, rad_error *error);

/* For durable.c: the folder that `name` is in, as a descriptor, and the rest of the name. Negative: see errno. */
RAD_INTERNAL int rad__os_folder_enter(const rad_os_folder *f, const char *name, const char **rest);
RAD_INTERNAL void rad__os_folder_leave(const rad_os_folder *f, int fd);
/* "PATH/NAME: cannot WHAT: …" from errno; a symbolic link is RAD_EINPUT, and named as such. */
RAD_INTERNAL int rad__os_folder_error(rad_error *error, const rad_os_folder *f, const char *name, const char *what);
/* Whoever has no standard output or error would get their numbers, and what is printed would stand in the file. */
RAD_INTERNAL int rad__os_above_streams(int fd);

#endif
