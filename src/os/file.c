/* file.c — whole files and folders; see file.h. Streams are in stream.c. */
#include "os/file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"
#include "os/fault.h"
#include "os/signal.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int rad__os_read_file(const char *path, uint64_t limit, char **data, size_t *size, rad_error *error)
{
    rad_os_reader *r = NULL;
    *data = NULL;
    *size = 0;
    int code = rad__os_reader_open(&r, path, error);
    if (code != 0) return code;
    uint64_t bytes = rad__os_reader_size(r);
    if (bytes > limit) {
        code = rad__error(error, RAD_EINPUT, "%s: %llu bytes, more than the limit of %llu", path,
                          (unsigned long long)bytes, (unsigned long long)limit);
        goto out;
    }
    *data = rad__alloc(bytes + 1, 1);
    if (*data == NULL) {
        code = rad__error_memory(error);
        goto out;
    }
    int64_t got = rad__os_reader_get(r, *data, bytes, error);
    if (got < 0) {
        code = (int)got;
        rad__free(*data);
        *data = NULL;
        goto out;
    }
    *size = (size_t)got;
    if (*size < bytes) {
        code = rad__error(error, RAD_EIO, "%s: it became shorter while it was read", path);
        rad__free(*data);
        *data = NULL;
        *size = 0;
    }
out:
    rad__os_reader_close(r);
    return code;
}

int rad__os_write_file(const char *path, const void *data, size_t size, rad_error *error)
{
    rad_os_writer *w = NULL;
    sigset_t before;
    rad__os_signals_hold(&before);
    int code = rad__os_writer_open(&w, path, error);
    if (code == 0) {
        code = rad__os_writer_put(w, data, size, error);
        if (code == 0)
            code = rad__os_writer_keep(w, error);
        else
            rad__os_writer_discard(w);
    }
    rad__os_signals_let_go(&before);
    return code;
}

bool rad__os_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

int rad__os_current_folder(char **path, rad_error *error)
{
    char own[4096];
    *path = NULL;
    if (rad__os_fails(ENOENT) || getcwd(own, sizeof own) == NULL)
        return rad__error(error, RAD_EIO, "cannot find out the current directory: %s", strerror(errno));
    *path = rad__copy_text(own);
    return *path != NULL ? 0 : rad__error_memory(error);
}

bool rad__os_exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

int rad__os_make_directory(const char *path, rad_error *error)
{
    struct stat s;
    if (!rad__os_fails(ENOSPC) && mkdir(path, 0777) == 0) return 0;
    int number = errno;
    if (number == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return 0;
    return rad__error(error, RAD_EIO, "%s: cannot create the directory: %s", path, strerror(number));
}

/* ---- Folders -------------------------------------------------------------------------------------- */

void rad__os_names_free(rad_os_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) rad__free(names->items[i]);
    rad__free(names->items);
    *names = (rad_os_names){0};
}

static bool name_is_after(const void *context, const void *a, const void *b)
{
    (void)context;
    return strcmp(*(char *const *)a, *(char *const *)b) > 0;
}

static int names_add(rad_os_names *names, const char *name, rad_error *error)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return 0;
    char *copy = rad__copy_text(name);
    if (copy == NULL || !RAD_GROW(&names->items, &names->capacity, names->count + 1)) {
        rad__free(copy);
        return rad__error_memory(error);
    }
    names->items[names->count++] = copy;
    return 0;
}

static int list_entries(rad_os_names *names, DIR *dir, const char *folder, rad_error *error)
{
    int code = 0;
    while (code == 0) {
        errno = 0;
        struct dirent *entry = rad__os_fails(EIO) ? NULL : readdir(dir);
        if (entry == NULL) {
            if (errno != 0)
                code = rad__error(error, RAD_EIO, "%s: cannot list the directory: %s", folder, strerror(errno));
            break;
        }
        code = names_add(names, entry->d_name, error);
    }
    closedir(dir);
    if (code != 0) {
        rad__os_names_free(names);
        return code;
    }
    rad__sort(names->items, names->count, sizeof *names->items, name_is_after, NULL);
    return 0;
}

static int list_error(rad_error *error, const char *folder)
{
    int number = errno;
    int code = number == ENOENT || number == ENOTDIR ? RAD_EINPUT : RAD_EIO;
    return rad__error(error, code, "%s: cannot list the directory: %s", folder, strerror(number));
}

int rad__os_list(rad_os_names *names, const char *folder, rad_error *error)
{
    *names = (rad_os_names){0};
    DIR *dir = rad__os_fails(EIO) ? NULL : opendir(folder);
    return dir != NULL ? list_entries(names, dir, folder, error) : list_error(error, folder);
}

int rad__os_list_open(rad_os_names *names, int fd, const char *folder, rad_error *error)
{
    *names = (rad_os_names){0};
    DIR *dir = fdopendir(fd);
    if (dir != NULL) return list_entries(names, dir, folder, error);
    int code = list_error(error, folder);
    close(fd);
    return code;
}
