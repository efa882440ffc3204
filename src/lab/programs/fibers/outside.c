/* outside.c — calls by which a program under test changes what outlives its run: files and their names. They are made
 * as they are; the run is marked uncontrolled, and the summary names them. Reading is not marked.
 *
 * In the directory of --scratch, which is the run's own, nothing is marked. Names are compared as they are written: one
 * that is relative or begins with the directory, and has no "..", is in it. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/snapshot.h"

#include "lab/programs/fibers/server.h"
#include "lab/programs/outside.h"
#include "lab/rig.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void rad__libc_find(const char *name, void *real)
{
    /* Old programs have conditions of another form, under the same names. */
    bool twice = strncmp(name, "pthread_cond_", 13) == 0;
    void *symbol = twice ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;
    if (symbol == NULL) symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL) {
        dprintf(STDERR_FILENO, "no %s in the C library\n", name);
        rad__process_exit(127);
    }
    memcpy(real, &symbol, sizeof symbol);
}

/* ---- Marks -------------------------------------------------------------------------------------------- */

void rad__program_reaches(const char *call, const char *what)
{
    char text[RAD_OUTSIDE_TEXT];
    if (what)
        snprintf(text, sizeof text, "%s(%s)", call, what);
    else
        snprintf(text, sizeof text, "%s", call);
    rad__outside_add(&rad__stage.outside, text);
    if (rad__stage.shared) rad__outside_add(&rad__stage.shared->outside, text);
    rad__stage_is_uncontrolled();
}

/* Not worth a mark: nothing is left of what is written there. */
static bool is_harmless(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/self/", 11) == 0;
}

static bool is_in_scratch(const char *path)
{
    const char *scratch = rad__stage.scratch;
    size_t size = strlen(scratch);
    if (size == 0 || strstr(path, "..")) return false;
    return path[0] != '/' || (strncmp(path, scratch, size) == 0 && (path[size] == '/' || path[size] == 0));
}

static void changes(const char *call, const char *path)
{
    if (!rad__program_calls() || path == NULL || is_harmless(path) || is_in_scratch(path)) return;
    rad__program_reaches(call, path);
}

/* ---- Opening ------------------------------------------------------------------------------------------ */

static bool is_random(const char *path)
{
    return strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0;
}

/* Answered by the lab: random bytes, and the processors. *fd is what open says. */
static bool is_answered(const char *path, int *fd)
{
    if (!rad__program_calls() || path == NULL) return false;
    if (is_random(path)) *fd = rad__random_file();
    return is_random(path) || rad__processors_file(path, fd);
}

static void opens(const char *call, const char *path, int flags)
{
    bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    if (!unnamed && ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)))) changes(call, path);
}

/* The mode is there if the flags say so. */
static mode_t mode_of(int flags, va_list more)
{
    bool makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return makes ? va_arg(more, mode_t) : 0;
}

#define OWN(path) rad__own_path(path, (char[RAD_OWN_PATH]){0})

#define OPEN(name)                                                                                                     \
    RAD_ANSWER(int, name, (const char *path, int flags, ...))                                                          \
    {                                                                                                                  \
        int fd = -1;                                                                                                   \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = mode_of(flags, more);                                                                            \
        va_end(more);                                                                                                  \
        if (is_answered(path, &fd)) return fd;                                                                         \
        opens(#name, path, flags);                                                                                     \
        return RAD_REAL(name)(OWN(path), flags, mode);                                                                 \
    }

#define OPENAT(name)                                                                                                   \
    RAD_ANSWER(int, name, (int at, const char *path, int flags, ...))                                                  \
    {                                                                                                                  \
        int fd = -1;                                                                                                   \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = mode_of(flags, more);                                                                            \
        va_end(more);                                                                                                  \
        if (is_answered(path, &fd)) return fd;                                                                         \
        opens(#name, path, flags);                                                                                     \
        return RAD_REAL(name)(at, OWN(path), flags, mode);                                                             \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* What the compiler makes of calls with two arguments when it hardens a program. */
#define OPEN_2(name)                                                                                                   \
    RAD_ANSWER(int, name, (const char *path, int flags))                                                               \
    {                                                                                                                  \
        int fd = -1;                                                                                                   \
        if (is_answered(path, &fd)) return fd;                                                                         \
        opens("open", path, flags);                                                                                    \
        return RAD_REAL(name)(OWN(path), flags);                                                                       \
    }

#define OPENAT_2(name)                                                                                                 \
    RAD_ANSWER(int, name, (int at, const char *path, int flags))                                                       \
    {                                                                                                                  \
        int fd = -1;                                                                                                   \
        if (is_answered(path, &fd)) return fd;                                                                         \
        opens("openat", path, flags);                                                                                  \
        return RAD_REAL(name)(at, OWN(path), flags);                                                                   \
    }

OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

#define CREAT(name)                                                                                                    \
    RAD_ANSWER(int, name, (const char *path, mode_t mode))                                                             \
    {                                                                                                                  \
        changes(#name, path);                                                                                          \
        return RAD_REAL(name)(path, mode);                                                                             \
    }

CREAT(creat)
CREAT(creat64)

static bool writes(const char *mode)
{
    return strpbrk(mode, "wa+") != NULL;
}

#define FOPEN(name)                                                                                                    \
    RAD_ANSWER(FILE *, name, (const char *path, const char *mode))                                                     \
    {                                                                                                                  \
        int fd = -1;                                                                                                   \
        if (is_answered(path, &fd)) return fd < 0 ? NULL : fdopen(fd, "r");                                            \
        if (writes(mode)) changes(#name, path);                                                                        \
        return RAD_REAL(name)(OWN(path), mode);                                                                        \
    }

FOPEN(fopen)
FOPEN(fopen64)

#define FREOPEN(name)                                                                                                  \
    RAD_ANSWER(FILE *, name, (const char *path, const char *mode, FILE *file))                                         \
    {                                                                                                                  \
        if (writes(mode)) changes(#name, path);                                                                        \
        if (rad__program_calls()) rad__marks->files = true;                                                            \
        return RAD_REAL(name)(path, mode, file);                                                                       \
    }

FREOPEN(freopen)
FREOPEN(freopen64)

/* ---- Names -------------------------------------------------------------------------------------------- */

/* One path first. */
#define CHANGES(name, parameters, arguments)                                                                           \
    RAD_ANSWER(int, name, parameters)                                                                                  \
    {                                                                                                                  \
        changes(#name, path);                                                                                          \
        return RAD_REAL(name) arguments;                                                                               \
    }

CHANGES(unlink, (const char *path), (path))
CHANGES(unlinkat, (int at, const char *path, int flags), (at, path, flags))
CHANGES(remove, (const char *path), (path))
CHANGES(rmdir, (const char *path), (path))
CHANGES(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CHANGES(mkfifo, (const char *path, mode_t mode), (path, mode))
CHANGES(chmod, (const char *path, mode_t mode), (path, mode))
CHANGES(truncate, (const char *path, off_t size), (path, size))
CHANGES(truncate64, (const char *path, off64_t size), (path, size))
CHANGES(rename, (const char *path, const char *to), (path, to))
CHANGES(renameat, (int at, const char *path, int to_at, const char *to), (at, path, to_at, to))
CHANGES(renameat2, (int at, const char *path, int to_at, const char *to, unsigned flags), (at, path, to_at, to, flags))
CHANGES(link, (const char *from, const char *path), (from, path))
CHANGES(symlink, (const char *from, const char *path), (from, path))
CHANGES(mkstemp, (char *path), (path))
CHANGES(mkstemp64, (char *path), (path))
CHANGES(mkostemp, (char *path, int flags), (path, flags))

RAD_ANSWER(char *, mkdtemp, (char *path))
{
    changes("mkdtemp", path);
    return RAD_REAL(mkdtemp)(path);
}

/* ---- Memory that has a name ------------------------------------------------------------------------------ */

RAD_ANSWER(int, shm_open, (const char *name, int flags, mode_t mode))
{
    if (rad__program_calls()) rad__program_reaches("shm_open", name);
    return RAD_REAL(shm_open)(name, flags, mode);
}

RAD_ANSWER(int, shmget, (int key, size_t size, int flags))
{
    if (rad__program_calls() && key != 0) rad__program_reaches("shmget", NULL);
    return RAD_REAL(shmget)(key, size, flags);
}
