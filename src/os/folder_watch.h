/* folder_watch.h — waiting until something happens in a folder: a file gets a name in it, or the process that was
 * writing one is gone.
 *
 * What happened is not reported: the caller looks, and looks before it waits, after it has begun
 * to watch. A notice may be missed on file systems that have none, so no wait should be for ever. */
#ifndef RAD_OS_FOLDER_WATCH_H
#define RAD_OS_FOLDER_WATCH_H

#include "base/check.h"

RAD_INTERNAL int rad__os_folder_watch_open(int *fd, rad_error *error);
RAD_INTERNAL int rad__os_folder_watch_add(int fd, const char *folder, rad_error *error);

/* 1: something happened; 0: the time is up, or a signal came. */
RAD_INTERNAL int rad__os_folder_watch_wait(int fd, uint64_t timeout_ns, rad_error *error);

#endif
