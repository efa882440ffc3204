/* folder.c — see folder.h. */
#define _GNU_SOURCE
#include "os/folder.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_ROOM = 256, OTHERS_WRITE = 0022, OWNER_ONLY = 0700 };

int rad__os_above_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), number = errno;
    close(fd);
    errno = number;
    return above;
}

/* ---- Names ---------------------------------------------------------------------------------------------- */

int rad__os_folder_enter(const rad_os_folder *f, const char *name, const char **rest)
{
    char part[PART_ROOM];
    const char *slash = strchr(name, '/');
    *rest = name[0] != 0 ? name : ".";
    if (slash == NULL) return f->fd;
    size_t length = (size_t)(slash - name);
    RAD_ASSERT(length < sizeof part);
    memcpy(part, name, length);
    part[length] = 0;
    *rest = slash + 1;
    return openat(f->fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void rad__os_folder_leave(const rad_os_folder *f, int fd)
{
    int number = errno;
    if (fd >= 0 && fd != f->fd) close(fd);
    errno = number;
}

static bool is_link(const rad_os_folder *f, const char *name)
{
    struct stat s;
    return fstatat(f->fd, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode);
}

int rad__os_folder_error(rad_error *error, const rad_os_folder *f, const char *name, const char *what)
{
    char part[PART_ROOM];
    int number = errno;
    const char *slash = strchr(name, '/'), *link = NULL;
    snprintf(part, sizeof part, "%.*s", slash != NULL ? (int)(slash - name) : 0, name);
    if (slash != NULL && is_link(f, part))
        link = part; /* the folder it is in: the system calls that no folder */
    else if (number == ELOOP)
        link = name;
    if (number == ENAMETOOLONG) return rad__error(error, RAD_EINPUT, "%.200s…: the path is too long", f->path);
    if (link != NULL)
        return rad__error(error, RAD_EINPUT, "%s/%s: a symbolic link, which is not followed here: remove it", f->path,
                          link);
    return rad__error(error, RAD_EIO, "%s%s%s: cannot %s: %s", f->path, name[0] != 0 ? "/" : "", name, what,
                      strerror(number));
}

/* ---- Opening -------------------------------------------------------------------------------------------- */

int rad__os_folder_name(rad_os_folder *f, const char *path, rad_error *error)
{
    rad_error none = {0};
    char *current = NULL;
    if (path[0] == 0) { /* put behind the current folder, it would be that one */
        *f = (rad_os_folder){.fd = -1};
        return rad__error(error, RAD_EINPUT, "the name of the directory is empty");
    }
    *f = (rad_os_folder){.fd = -1, .path = rad__copy_text(path)};
    if (path[0] != '/' && rad__os_current_folder(&current, &none) == 0) {
        size_t room = strlen(current) + strlen(path) + 2;
        f->absolute = rad__alloc(room, 1);
        if (f->absolute != NULL) snprintf(f->absolute, room, "%s/%s", current, path);
    } else {
        f->absolute = rad__copy_text(path);
    }
    rad__free(current);
    if (f->path != NULL && f->absolute != NULL) return 0;
    rad__os_folder_close(f);
    return rad__error_memory(error);
}

void rad__os_folder_close(rad_os_folder *f)
{
    if (f->fd >= 0) close(f->fd);
    rad__free(f->path);
    rad__free(f->absolute);
    *f = (rad_os_folder){.fd = -1};
}

int rad__os_folder_open(rad_os_folder *f, rad_error *error)
{
    if (f->fd >= 0) return 1;
    f->fd = rad__os_fails(EACCES) ? -1 : rad__os_above_streams(open(f->absolute, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (f->fd >= 0) return 1;
    if (errno == ENOENT) return 0;
    if (errno == ENOTDIR) return rad__error(error, RAD_EINPUT, "%s: not a directory", f->path);
    return rad__os_folder_error(error, f, "", "open the directory");
}

bool rad__os_folder_is_there(const rad_os_folder *f)
{
    struct stat held, named;
    return fstat(f->fd, &held) == 0 && stat(f->absolute, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

/* ---- Making --------------------------------------------------------------------------------------------- */

/* A umask may have taken away what the owner needs. By descriptor: the name may be another's by now. */
static bool set_mode(int at, const char *name)
{
    char link[64];
    struct stat s;
    int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &s) == 0;
    if (ok && (s.st_mode & 0777) != OWNER_ONLY) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ok = chmod(link, OWNER_ONLY) == 0;
    }
    int number = errno;
    if (fd >= 0) close(fd);
    errno = number;
    return ok;
}

/* 1: made; 0: it was there; negative: see errno. */
static int make_at(int at, const char *name, bool follow)
{
    struct stat s;
    if (!rad__os_fails(ENOSPC) && mkdirat(at, name, OWNER_ONLY) == 0) return set_mode(at, name) ? 1 : -1;
    if (errno != EEXIST) return -1;
    if (fstatat(at, name, &s, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0) return -1;
    if (S_ISDIR(s.st_mode)) return 0;
    errno = S_ISLNK(s.st_mode) ? ELOOP : ENOTDIR;
    return -1;
}

int rad__os_folder_make(rad_os_folder *f, const char *name, rad_error *error)
{
    bool is_itself = name[0] == 0;
    int made = make_at(is_itself ? AT_FDCWD : f->fd, is_itself ? f->absolute : name, is_itself);
    if (made < 0) return rad__os_folder_error(error, f, name, "create the directory");
    if (!is_itself) return made;
    int code = rad__os_folder_open(f, error);
    if (code == 0) return rad__error(error, RAD_EIO, "%s: it was removed", f->path);
    return code < 0 ? code : made;
}

int rad__os_folder_check(const rad_os_folder *f, const char *name, rad_error *error)
{
    struct stat s;
    const char *slash = name[0] != 0 ? "/" : "";
    if (rad__os_fails(EACCES) || fstatat(f->fd, name[0] != 0 ? name : ".", &s, AT_SYMLINK_NOFOLLOW) != 0)
        return rad__os_folder_error(error, f, name, "look at");
    errno = S_ISLNK(s.st_mode) ? ELOOP : ENOTDIR;
    if (!S_ISDIR(s.st_mode)) return rad__os_folder_error(error, f, name, "use as a directory");
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return rad__error(error, RAD_EINPUT,
                          "%s%s%s: belongs to user %lu, who could change what is run: run it as that "
                          "user, or name another directory",
                          f->path, slash, name, (unsigned long)s.st_uid);
    if ((s.st_mode & OTHERS_WRITE) != 0)
        return rad__error(error, RAD_EINPUT,
                          "%s%s%s: others may write to it (mode %03o), and could change what is run: "
                          "chmod go-w it, or name another directory",
                          f->path, slash, name, (unsigned)s.st_mode & 0777);
    return 0;
}

/* ---- What is in it -------------------------------------------------------------------------------------- */

static int open_part(const rad_os_folder *f, const char *name)
{
    if (rad__os_fails(EIO)) return -1;
    int fd = openat(f->fd, name[0] != 0 ? name : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR && is_link(f, name)) errno = ELOOP; /* the system says the other */
    return fd;
}

int rad__os_sync_folder(const rad_os_folder *f, const char *name, rad_error *error)
{
    int fd = open_part(f, name);
    if (fd < 0) return rad__os_folder_error(error, f, name, "open the directory");
    int failed = rad__os_fails(EIO) || fsync(fd) != 0;
    int code = failed ? rad__os_folder_error(error, f, name, "sync the directory") : 0;
    close(fd);
    return code;
}

int rad__os_folder_list(const rad_os_folder *f, const char *name, rad_os_names *names, rad_error *error)
{
    *names = (rad_os_names){0};
    int fd = open_part(f, name);
    if (fd >= 0) return rad__os_list_open(names, fd, f->path, error);
    if (errno == ENOENT) return rad__error(error, RAD_EINPUT, "%s/%s: no such directory", f->path, name);
    return rad__os_folder_error(error, f, name, "list the directory");
}
