/* folder_watch.c — see folder_watch.h. A file that is closed by its writer is noticed as well: a lock goes that way. */
#define _GNU_SOURCE
#include "os/folder_watch.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static int folder_watch_error(rad_error *error, const char *what)
{
    return rad__error(error, RAD_EIO, "cannot %s: %s", what, strerror(errno));
}

int rad__os_folder_watch_open(int *fd, rad_error *error)
{
    *fd = rad__os_fails(EMFILE) ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return *fd < 0 ? folder_watch_error(error, "watch directories") : 0;
}

int rad__os_folder_watch_add(int fd, const char *folder, rad_error *error)
{
    uint32_t what = IN_MOVED_TO | IN_CLOSE_WRITE | IN_ONLYDIR;
    if (rad__os_fails(ENOSPC) || inotify_add_watch(fd, folder, what) < 0)
        return folder_watch_error(error, "watch a directory");
    return 0;
}

int rad__os_folder_watch_wait(int fd, uint64_t timeout_ns, rad_error *error)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};
    uint64_t ms = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
    char events[4096];
    int got = rad__os_fails(EIO) ? -1 : poll(&item, 1, ms > 1000000 ? 1000000 : (int)ms);
    if (got < 0 && errno != EINTR) return folder_watch_error(error, "wait for a directory");
    if (got <= 0) return 0;
    while (read(fd, events, sizeof events) > 0) continue;
    return 1;
}
