/* append.c — see append.h. */
#define _GNU_SOURCE
#include "os/append.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/prng.h"
#include "os/clock.h"
#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct rad_os_append {
    int fd;
    char *path;
};

static int append_error(rad_error *error, const char *path, const char *what)
{
    return rad__error(error, RAD_EIO, "%s: cannot %s: %s", path, what, strerror(errno));
}

int rad__os_append_open(rad_os_append **out, const char *path, rad_error *error)
{
    struct stat s;
    *out = NULL;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) return rad__error(error, RAD_EIO, "%s: not a regular file", path);
    rad_os_append *a = rad__alloc(1, sizeof *a);
    char *copy = rad__copy_text(path);
    if (a == NULL || copy == NULL) {
        rad__free(a);
        rad__free(copy);
        return rad__error_memory(error);
    }
    a->path = copy;
    a->fd = rad__os_fails(EACCES) ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (a->fd < 0) {
        int code = append_error(error, path, "create");
        rad__free(a->path);
        rad__free(a);
        return code;
    }
    *out = a;
    return 0;
}

int rad__os_append_put(rad_os_append *a, const void *data, size_t size, rad_error *error)
{
    const char *at = data;
    while (size > 0) {
        ssize_t wrote = rad__os_fails(ENOSPC) ? -1 : write(a->fd, at, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return append_error(error, a->path, "write");
        at += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

int rad__os_append_sync(rad_os_append *a, rad_error *error)
{
    if (rad__os_fails(EIO) || fdatasync(a->fd) != 0) return append_error(error, a->path, "sync");
    return 0;
}

int rad__os_append_close(rad_os_append *a, rad_error *error)
{
    int code = 0;
    if (a == NULL) return 0;
    if (close(a->fd) != 0) code = append_error(error, a->path, "close");
    rad__free(a->path);
    rad__free(a);
    return code;
}

bool rad__os_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int rad__os_remove(const char *path, rad_error *error)
{
    if (unlink(path) == 0 || errno == ENOENT) return 0;
    return append_error(error, path, "remove");
}

/* Where the system gives none, the clock and an address must do: it is for seeds, not for secrets. */
uint64_t rad__os_random(void)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = rad__mix2(rad__os_now_ns(), (uint64_t)getpid());
    return number != 0 ? number : 1;
}
