/* marks.c — calls of the C library that leave something behind which is not memory: they do what they do, and are noted
 * for rad__snapshot_back.
 *
 * None of them takes or returns a floating-point number, so each is a function of six words that passes them on. What
 * the C library calls by itself is not seen here: the page tables, the map of the process and its descriptors show
 * it. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/snapshot.h"
#include "lab/programs/fibers/stage.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/watched.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

typedef long words_function(long a, long b, long c, long d, long e, long f);

#define PARAMETERS long a, long b, long c, long d, long e, long f
#define ARGUMENTS  a, b, c, d, e, f

/* ---- The real ones ------------------------------------------------------------------------------------------ */

/* Descriptors that were there. */
#define FILES(row) row(close_range) row(closefrom) row(dup2) row(dup3) row(fclose) row(fcloseall)

/* What these do stays. */
#define STAYING(row)                                                                                                   \
    row(chdir) row(chroot) row(fchdir) row(mlock) row(mlockall) row(nice) row(personality) row(prlimit)                \
        row(setpriority) row(setrlimit) row(setrlimit64) row(setsid) row(shmat) row(umask) row(unshare)

#define ADDRESSES(row) row(mmap) row(munmap) row(mremap) row(mprotect) row(madvise)

enum real_name {
#define REAL_ROW(name) REAL_##name,
    REAL_close,
    FILES(REAL_ROW) STAYING(REAL_ROW) ADDRESSES(REAL_ROW)
#undef REAL_ROW
        REAL_COUNT
};

static const char *const real_names[REAL_COUNT] = {
#define NAME_ROW(name) #name,
    "close", FILES(NAME_ROW) STAYING(NAME_ROW) ADDRESSES(NAME_ROW)
#undef NAME_ROW
};

/* Found before anything is forked: dlsym writes to memory, and would do so in each run. */
static words_function *reals[REAL_COUNT];

static words_function *real(enum real_name name)
{
    if (reals[name] == NULL) {
        void *symbol = dlsym(RTLD_NEXT, real_names[name]);
        RAD_ASSERT(symbol != NULL);
        memcpy(&reals[name], &symbol, sizeof reals[name]);
    }
    return reals[name];
}

void rad__marks_open(void)
{
    for (uint32_t i = 0; i < REAL_COUNT; i++)
        if (dlsym(RTLD_NEXT, real_names[i]) != NULL) real((enum real_name)i);
}

#define MARKED(name, note)                                                                                             \
    RAD_API long rad__marked_##name(PARAMETERS) __asm__(#name);                                                        \
    long rad__marked_##name(PARAMETERS)                                                                                \
    {                                                                                                                  \
        if (rad__stage.running) rad__marks->note;                                                                      \
        return real(REAL_##name)(ARGUMENTS);                                                                           \
    }

#define MARKED_FILES(name) MARKED(name, files = true)
FILES(MARKED_FILES)

void rad__marked_closes(int fd)
{
    rad__marks->files = true;
    rad__timers_close(fd);
    rad__signal_files_close(fd);
}

RAD_API long rad__marked_close(PARAMETERS) __asm__("close");
long rad__marked_close(PARAMETERS)
{
    if (rad__stage.running) rad__marked_closes((int)a);
    return real(REAL_close)(ARGUMENTS);
}
#define MARKED_STAYING(name) MARKED(name, beyond = "it calls " #name)
STAYING(MARKED_STAYING)

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* Memory that no runner has used. */
static long fresh(long at, size_t size)
{
    bool seen = rad__monitor != NULL && rad__stage.running && rad__argument_pointer(at) != MAP_FAILED;
    if (seen) rad__watched_forget(rad__argument_pointer(at), size);
    return at;
}

static void mark_lost(uint64_t from, size_t size)
{
    rad_marks *m = rad__marks;
    if (!rad__stage.running) return;
    fresh((long)from, size);
    m->maps = true;
    if (m->lost_count == RAD_LOST_MAX) {
        m->beyond = "it gives memory back many times";
        return;
    }
    m->lost[m->lost_count].from = from;
    m->lost[m->lost_count++].to = from + size;
}

#define DECLARE(name) RAD_API long rad__marked_##name(PARAMETERS) __asm__(#name);
ADDRESSES(DECLARE)
DECLARE(mmap64)

long rad__marked_mmap(PARAMETERS)
{
    if (rad__stage.running) rad__marks->maps = true;
    if (d & MAP_FIXED) mark_lost((uint64_t)a, (size_t)b);
    return fresh(real(REAL_mmap)(ARGUMENTS), (size_t)b);
}

long rad__marked_mmap64(PARAMETERS)
{
    return rad__marked_mmap(ARGUMENTS);
}

long rad__marked_munmap(PARAMETERS)
{
    mark_lost((uint64_t)a, (size_t)b);
    return real(REAL_munmap)(ARGUMENTS);
}

long rad__marked_mremap(PARAMETERS)
{
    mark_lost((uint64_t)a, (size_t)b);
    return fresh(real(REAL_mremap)(ARGUMENTS), (size_t)c);
}

long rad__marked_mprotect(PARAMETERS)
{
    if (rad__stage.running) rad__marks->maps = true;
    return real(REAL_mprotect)(ARGUMENTS);
}

long rad__marked_madvise(PARAMETERS)
{
    if (c == MADV_DONTNEED || c == MADV_FREE || c == MADV_REMOVE) mark_lost((uint64_t)a, (size_t)b);
    return real(REAL_madvise)(ARGUMENTS);
}
