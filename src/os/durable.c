/* durable.c — see durable.h. */
#define _GNU_SOURCE
#include "os/durable.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int durable_error(rad_error *error, const char *path, const char *what)
{
    return rad__error(error, RAD_EIO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Whoever has no standard output or error would get their numbers here, and what is printed would stand in the file. */
static int above_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), number = errno;
    close(fd);
    errno = number;
    return above;
}

int rad__os_create(int *fd, const char *path, rad_error *error)
{
    *fd = -1;
    if (unlink(path) != 0 && errno != ENOENT) return durable_error(error, path, "replace");
    if (!rad__os_fails(ENOSPC))
        *fd = above_streams(open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    return *fd < 0 ? durable_error(error, path, "create") : 0;
}

int rad__os_open_end(int *fd, const char *path, rad_error *error)
{
    *fd = rad__os_fails(EACCES) ? -1 : above_streams(open(path, O_RDWR | O_APPEND | O_CLOEXEC));
    if (*fd >= 0) return 0;
    if (errno == ENOENT || errno == ENOTDIR)
        return rad__error(error, RAD_EINPUT, "%s: no such file", path);
    return durable_error(error, path, "open");
}

int rad__os_put(int fd, const char *path, const void *data, size_t size, rad_error *error)
{
    const char *at = data;
    while (size > 0) {
        ssize_t wrote = rad__os_fails(ENOSPC) ? -1 : write(fd, at, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return durable_error(error, path, "write");
        at += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

int rad__os_cut(int fd, const char *path, uint64_t size, rad_error *error)
{
    if (rad__os_fails(EIO) || ftruncate(fd, (off_t)size) != 0)
        return durable_error(error, path, "cut");
    return 0;
}

int rad__os_sync(int fd, const char *path, rad_error *error)
{
    if (rad__os_fails(EIO) || fdatasync(fd) != 0) return durable_error(error, path, "sync");
    return 0;
}

int rad__os_sync_folder(const char *path, rad_error *error)
{
    int fd = rad__os_fails(EIO) ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return durable_error(error, path, "open the folder");
    int failed = rad__os_fails(EIO) || fsync(fd) != 0;
    int code = failed ? durable_error(error, path, "sync the folder") : 0;
    close(fd);
    return code;
}

int rad__os_rename(const char *from, const char *to, rad_error *error)
{
    if (rad__os_fails(ENOSPC) || rename(from, to) != 0) return durable_error(error, to, "rename");
    return 0;
}

int rad__os_link(const char *from, const char *to, rad_error *error)
{
    if (!rad__os_fails(ENOSPC) && link(from, to) == 0) return 1;
    return errno == EEXIST ? 0 : durable_error(error, to, "link");
}

/* ---- Locks ---------------------------------------------------------------------------------------------- */

int rad__os_lock_file(int fd, const char *path, rad_error *error)
{
    if (!rad__os_fails(ENOLCK) && flock(fd, LOCK_EX | LOCK_NB) == 0) return 1;
    return errno == EWOULDBLOCK ? 0 : durable_error(error, path, "lock");
}

/* Shared, so that two who ask at the same time do not take each other for a holder. */
int rad__os_holder(const char *path, rad_error *error)
{
    int fd = rad__os_fails(EACCES) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return RAD_OS_NO_FILE;
    if (fd < 0) return durable_error(error, path, "open");
    int answer = RAD_OS_NOT_HELD;
    if (rad__os_fails(ENOLCK) || flock(fd, LOCK_SH | LOCK_NB) != 0)
        answer = errno == EWOULDBLOCK ? RAD_OS_HELD : durable_error(error, path, "ask who holds");
    close(fd);
    return answer;
}
