/* stream.c — files written and read piece by piece; see file.h.
 *
 * Writer      open ---put*---> keep      temporary file synced, renamed to the path
 *                        \---> discard   temporary file removed
 * I1  the path has its old content, or none, until keep has succeeded.
 * I2  after keep (failed or not) and discard there is no temporary file. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/error.h"
#include "os/fault.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rad_os_writer {
    int fd;
    char *path;      /* where it will be: links followed */
    char *temporary; /* in the same folder, so that rename is atomic */
};

struct rad_os_reader {
    int fd;
    char *path;
    uint64_t size;
};

/* ---- Writing -------------------------------------------------------------------------------------- */

static int stream_error(rad_error *error, const char *path, const char *what)
{
    return rad__error(error, RAD_EIO, "%s: cannot %s: %s", path, what, strerror(errno));
}

static void writer_free(rad_os_writer *w)
{
    if (w->fd >= 0) close(w->fd);
    rad__free(w->temporary);
    rad__free(w->path);
    rad__free(w);
}

/* Where a write to `path` shall end: the file behind a link, so that the link stays. Refuses devices and
 * pipes: renaming would replace the device by a file. */
static int writer_resolve(rad_os_writer *w, const char *path, rad_error *error)
{
    struct stat s;
    char resolved[PATH_MAX];
    if (lstat(path, &s) == 0 && S_ISLNK(s.st_mode)) {
        if (realpath(path, resolved) == NULL) return stream_error(error, path, "follow the link");
        path = resolved;
    }
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
        return rad__error(error, RAD_EINPUT, "%s: cannot write: it exists and is not a regular file", path);
    size_t room = strlen(path) + 48;
    w->path = rad__copy_text(path);
    w->temporary = rad__alloc(room, 1);
    if (w->path == NULL || w->temporary == NULL) return rad__error_memory(error);
    static unsigned serial;
    snprintf(w->temporary, room, "%s.%ld-%u.tmp", path, (long)getpid(), serial++);
    return 0;
}

int rad__os_writer_open(rad_os_writer **out, const char *path, rad_error *error)
{
    *out = NULL;
    rad_os_writer *w = rad__alloc(1, sizeof *w);
    if (w == NULL) return rad__error_memory(error);
    w->fd = -1;
    int code = writer_resolve(w, path, error);
    if (code == 0) {
        int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
        w->fd = rad__os_fails(ENOSPC) ? -1 : open(w->temporary, flags, 0666);
        if (w->fd < 0) code = stream_error(error, path, "create");
    }
    if (code != 0) {
        writer_free(w);
        return code;
    }
    *out = w;
    return 0;
}

int rad__os_writer_put(rad_os_writer *w, const void *data, size_t size, rad_error *error)
{
    const char *at = data;
    while (size > 0) {
        ssize_t put = rad__os_fails(ENOSPC) ? -1 : write(w->fd, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return stream_error(error, w->path, "write");
        at += put;
        size -= (size_t)put;
    }
    return 0;
}

int rad__os_writer_keep(rad_os_writer *w, rad_error *error)
{
    int code = 0;
    if (rad__os_fails(EIO) || fsync(w->fd) != 0) {
        code = stream_error(error, w->path, "sync");
    } else {
        int closed = close(w->fd);
        w->fd = -1;
        if (rad__os_fails(EIO) || closed != 0)
            code = stream_error(error, w->path, "close");
        else if (rad__os_fails(EIO) || rename(w->temporary, w->path) != 0)
            code = stream_error(error, w->path, "rename");
    }
    if (code != 0) {
        rad__os_writer_discard(w);
        return code;
    }
    writer_free(w);
    return 0;
}

void rad__os_writer_discard(rad_os_writer *w)
{
    if (w != NULL) {
        unlink(w->temporary);
        writer_free(w);
    }
}

/* ---- Reading -------------------------------------------------------------------------------------- */

static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

const char *rad__os_not_regular(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? kind_of(s.st_mode) : NULL;
}

int rad__os_open_regular(int *fd, const char *path, uint64_t *size, rad_error *error)
{
    struct stat s;
    /* O_NONBLOCK: opening a pipe nobody writes to must not wait for ever; O_NOCTTY: nor may a terminal become ours. */
    *fd = rad__os_fails(EIO) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0) {
        int number = errno;
        const char *kind = rad__os_not_regular(path); /* a socket cannot even be opened */
        if (kind != NULL) return rad__error(error, RAD_EINPUT, "%s: %s, not a regular file", path, kind);
        bool usage = number == ENOENT || number == ENOTDIR || number == ELOOP;
        return rad__error(error, usage ? RAD_EINPUT : RAD_EIO, "%s: cannot open: %s", path, strerror(number));
    }
    int code = 0;
    if (rad__os_fails(EIO) || fstat(*fd, &s) != 0)
        code = stream_error(error, path, "read");
    else if (!S_ISREG(s.st_mode))
        code = rad__error(error, RAD_EINPUT, "%s: %s, not a regular file", path, kind_of(s.st_mode));
    if (code != 0) {
        close(*fd);
        *fd = -1;
        return code;
    }
    *size = (uint64_t)s.st_size;
    return 0;
}

int rad__os_reader_open(rad_os_reader **out, const char *path, rad_error *error)
{
    *out = NULL;
    rad_os_reader *r = rad__alloc(1, sizeof *r);
    char *copy = rad__copy_text(path);
    if (r == NULL || copy == NULL) {
        rad__free(r);
        rad__free(copy);
        return rad__error_memory(error);
    }
    r->path = copy;
    int code = rad__os_open_regular(&r->fd, path, &r->size, error);
    if (code != 0) {
        rad__os_reader_close(r);
        return code;
    }
    *out = r;
    return 0;
}

uint64_t rad__os_reader_size(const rad_os_reader *r)
{
    return r->size;
}

int64_t rad__os_reader_get(rad_os_reader *r, void *to, size_t size, rad_error *error)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = rad__os_fails(EIO) ? -1 : read(r->fd, (char *)to + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return stream_error(error, r->path, "read");
        if (got == 0) break;
        have += (size_t)got;
    }
    return (int64_t)have;
}

void rad__os_reader_close(rad_os_reader *r)
{
    if (r != NULL) {
        if (r->fd >= 0) close(r->fd);
        rad__free(r->path);
        rad__free(r);
    }
}
