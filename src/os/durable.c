/* durable.c — see durable.h. */
#define _GNU_SOURCE
#include "os/durable.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/fault.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWNER_ONLY = 0600 };

static int durable_error(rad_error *error, const char *path, const char *what)
{
    return rad__error(error, RAD_EIO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* ---- Files by name -------------------------------------------------------------------------------------- */

/* Not even a pipe that nobody writes to is waited for. */
static int open_in(const rad_os_folder *f, const char *name, int flags)
{
    const char *rest;
    int at = rad__os_folder_enter(f, name, &rest);
    int fd = at < 0 ? -1 : openat(at, rest, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, OWNER_ONLY);
    rad__os_folder_leave(f, at);
    return rad__os_above_streams(fd);
}

static int stat_in(const rad_os_folder *f, const char *name, struct stat *s)
{
    const char *rest;
    int at = rad__os_folder_enter(f, name, &rest);
    int answer = at < 0 ? -1 : fstatat(at, rest, s, AT_SYMLINK_NOFOLLOW);
    rad__os_folder_leave(f, at);
    return answer;
}

int rad__os_remove_in(const rad_os_folder *f, const char *name, rad_error *error)
{
    const char *rest;
    int at = rad__os_folder_enter(f, name, &rest);
    bool gone = at >= 0 && (unlinkat(at, rest, 0) == 0 || errno == ENOENT);
    rad__os_folder_leave(f, at);
    return gone ? 0 : rad__os_folder_error(error, f, name, "remove");
}

/* A umask may have taken something away; what root makes for a user is that user's, if the system can say so. */
static bool is_owners_alone(int fd, const rad_os_folder *f)
{
    struct stat file, folder;
    if (fstat(fd, &file) != 0 || fstat(f->fd, &folder) != 0) return false;
    if (geteuid() == 0 && file.st_uid != folder.st_uid && fchown(fd, folder.st_uid, folder.st_gid) != 0) errno = 0;
    return (file.st_mode & 07777) == OWNER_ONLY || fchmod(fd, OWNER_ONLY) == 0;
}

int rad__os_create(int *fd, const rad_os_folder *f, const char *name, rad_error *error)
{
    rad_error none = {0};
    *fd = -1;
    if (rad__os_remove_in(f, name, &none) != 0) return rad__error(error, none.code, "%s", none.text);
    if (!rad__os_fails(ENOSPC)) *fd = open_in(f, name, O_RDWR | O_CREAT | O_EXCL | O_APPEND);
    if (*fd >= 0 && is_owners_alone(*fd, f)) return 0;
    int code = rad__os_folder_error(error, f, name, "create");
    if (*fd >= 0) close(*fd);
    *fd = -1;
    return code;
}

/* Negative: there is none (*code 0), or none that can be used. */
static int open_regular(const rad_os_folder *f, const char *name, int flags, int *code, rad_error *error)
{
    struct stat s;
    int fd = rad__os_fails(EACCES) ? -1 : open_in(f, name, flags);
    *code = 0;
    if (fd < 0 && errno == ENOENT) return -1;
    if (fd < 0 && errno != ENXIO) { /* which a socket says */
        *code = rad__os_folder_error(error, f, name, "open");
        return -1;
    }
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) return fd;
    if (fd >= 0) close(fd);
    *code = rad__error(error, RAD_EINPUT, "%s/%s: not a regular file", f->path, name);
    return -1;
}

int rad__os_open_end(int *fd, const rad_os_folder *f, const char *name, rad_error *error)
{
    int code;
    *fd = open_regular(f, name, O_RDWR | O_APPEND, &code, error);
    if (*fd >= 0) return 0;
    return code != 0 ? code : rad__error(error, RAD_EINPUT, "%s/%s: no such file", f->path, name);
}

/* Both names are in one folder, or one of them is above the other's. */
static int rename_in(const rad_os_folder *f, const char *from, const char *to, bool links)
{
    const char *a, *b;
    int at = rad__os_folder_enter(f, from, &a), there = rad__os_folder_enter(f, to, &b), answer = -1;
    if (at >= 0 && there >= 0) answer = links ? linkat(at, a, there, b, 0) : renameat(at, a, there, b);
    rad__os_folder_leave(f, at);
    rad__os_folder_leave(f, there);
    return answer;
}

int rad__os_rename_in(const rad_os_folder *f, const char *from, const char *to, rad_error *error)
{
    if (!rad__os_fails(ENOSPC) && rename_in(f, from, to, false) == 0) return 0;
    return rad__os_folder_error(error, f, to, "rename");
}

int rad__os_link_in(const rad_os_folder *f, const char *from, const char *to, rad_error *error)
{
    if (!rad__os_fails(ENOSPC) && rename_in(f, from, to, true) == 0) return 1;
    return errno == EEXIST ? 0 : rad__os_folder_error(error, f, to, "link");
}

int rad__os_is_in(const rad_os_folder *f, const char *name, rad_error *error)
{
    struct stat s;
    if (!rad__os_fails(EACCES) && stat_in(f, name, &s) == 0) {
        if (!S_ISLNK(s.st_mode)) return 1;
        errno = ELOOP;
    }
    return errno == ENOENT ? 0 : rad__os_folder_error(error, f, name, "look at");
}

int rad__os_is_file(int fd, const rad_os_folder *f, const char *name, uint64_t *size, rad_error *error)
{
    struct stat held, named;
    if (rad__os_fails(EIO) || fstat(fd, &held) != 0) return rad__os_folder_error(error, f, name, "look at");
    *size = (uint64_t)held.st_size;
    return stat_in(f, name, &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino &&
                   rad__os_folder_is_there(f)
               ? 1
               : 0;
}

/* ---- Their bytes ---------------------------------------------------------------------------------------- */

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
    if (rad__os_fails(EIO) || ftruncate(fd, (off_t)size) != 0) return durable_error(error, path, "cut");
    return 0;
}

int rad__os_sync(int fd, const char *path, rad_error *error)
{
    if (rad__os_fails(EIO) || fdatasync(fd) != 0) return durable_error(error, path, "sync");
    return 0;
}

/* Shorter when somebody cuts it meanwhile. */
static int read_bytes(int fd, const char *path, char *data, size_t *size, rad_error *error)
{
    size_t have = 0;
    while (have < *size) {
        ssize_t got = rad__os_fails(EIO) ? -1 : pread(fd, data + have, *size - have, (off_t)have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return durable_error(error, path, "read");
        if (got == 0) break;
        have += (size_t)got;
    }
    data[have] = 0;
    *size = have;
    return 0;
}

int rad__os_read_open(int fd, const char *path, uint64_t limit, char **data, size_t *size, rad_error *error)
{
    struct stat s;
    *data = NULL;
    if (rad__os_fails(EIO) || fstat(fd, &s) != 0) return durable_error(error, path, "read");
    if ((uint64_t)s.st_size > limit)
        return rad__error(error, RAD_EINPUT, "%s: %llu bytes, more than the limit of %llu", path,
                          (unsigned long long)s.st_size, (unsigned long long)limit);
    *size = (size_t)s.st_size;
    char *bytes = rad__alloc(*size + 1, 1);
    int code = bytes != NULL ? read_bytes(fd, path, bytes, size, error) : rad__error_memory(error);
    if (code == 0)
        *data = bytes;
    else
        rad__free(bytes);
    return code == 0 ? 1 : code;
}

int rad__os_read_in(const rad_os_folder *f, const char *name, uint64_t limit, char **data, size_t *size,
                    rad_error *error)
{
    int code;
    rad_error own = {0};
    *data = NULL;
    int fd = open_regular(f, name, O_RDONLY, &code, error);
    if (fd < 0) return code;
    code = rad__os_read_open(fd, name, limit, data, size, &own);
    close(fd);
    if (own.code == RAD_ENOMEM) return rad__error_memory(error);
    return own.code == 0 ? code : rad__error(error, own.code, "%s/%s", f->path, own.text);
}

/* ---- Locks ---------------------------------------------------------------------------------------------- */

/* What flock says where it cannot be had: on some network and user-space file systems, or mounted without. */
static int lock_error(rad_error *error, const char *path, const char *what)
{
    if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)
        return rad__error(error, RAD_EIO,
                          "%s: this file system has no locks (%s), which keep two runners apart: "
                          "name a directory on another one, or mount it with locks",
                          path, strerror(errno));
    return durable_error(error, path, what);
}

int rad__os_lock_file(int fd, const char *path, rad_error *error)
{
    if (!rad__os_fails(ENOLCK) && flock(fd, LOCK_EX | LOCK_NB) == 0) return 1;
    return errno == EWOULDBLOCK ? 0 : lock_error(error, path, "lock");
}

/* Shared, so that two who ask at the same time do not take each other for a holder. */
int rad__os_holder(const rad_os_folder *f, const char *name, rad_error *error)
{
    int code;
    int fd = open_regular(f, name, O_RDONLY, &code, error);
    if (fd < 0) return code != 0 ? code : RAD_OS_NO_FILE;
    int answer = RAD_OS_NOT_HELD;
    if (rad__os_fails(ENOLCK) || flock(fd, LOCK_SH | LOCK_NB) != 0)
        answer = errno == EWOULDBLOCK ? RAD_OS_HELD : lock_error(error, f->path, "ask who holds");
    close(fd);
    return answer;
}
