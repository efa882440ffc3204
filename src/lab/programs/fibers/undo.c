/* undo.c — descriptors and signals of a run are put back: see snapshot.h.
 *
 * A descriptor that was there before the run has a copy with a high number, from which it is made again. What it refers
 * to is shared by all runs; positions in files are put back by around.c. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "lab/programs/fibers/snapshot.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNALS = 64, COPIES_FROM = 520, WATCHED = 16 };

typedef struct kept {
    int fd, copy;
} kept;

typedef struct gap {
    unsigned from, to;
} gap;

/* As the system has it, not the C library, whose calls are marked. */
typedef struct action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
} action;

struct rad_undo {
    kept *files;
    struct pollfd *polled;
    gap *gaps;
    uint32_t file_count, gap_count, polled_count;
    bool did;
    action actions[SIGNALS + 1];
    uint64_t mask;
    stack_t stack;
};

/* ---- Descriptors ------------------------------------------------------------------------------------------ */

static void file_keep(rad_undo *u, int fd)
{
    u->files[u->file_count] = (kept){fd, fcntl(fd, F_DUPFD_CLOEXEC, COPIES_FROM)};
    u->polled[u->file_count++].fd = fd;
}

/* Numbers that the program gets first are watched: closing all that it might have takes long. */
static void gaps_watch(rad_undo *u)
{
    u->polled_count = u->file_count;
    for (uint32_t i = 0; i < u->gap_count; i++)
        for (unsigned fd = u->gaps[i].from; fd <= u->gaps[i].to; fd++) u->polled[u->polled_count++].fd = (int)fd;
}

static bool files_open(rad_undo *u)
{
    u->files = rad__alloc(RAD_LAB_FDS, sizeof *u->files);
    u->polled = rad__alloc(2 * RAD_LAB_FDS, sizeof *u->polled);
    u->gaps = rad__alloc(RAD_LAB_FDS, sizeof *u->gaps);
    if (u->files == NULL || u->polled == NULL || u->gaps == NULL) return false;
    unsigned free_from = 0;
    for (int fd = 0; fd <= RAD_LAB_FDS; fd++) {
        bool used = fd == RAD_LAB_FDS || fcntl(fd, F_GETFD) >= 0;
        if (!used) continue;
        if ((unsigned)fd > free_from) u->gaps[u->gap_count++] = (gap){free_from, (unsigned)fd - 1};
        free_from = (unsigned)fd + 1;
        if (fd < RAD_LAB_FDS) file_keep(u, fd);
        if (fd < RAD_LAB_FDS && u->files[u->file_count - 1].copy < 0) return false;
    }
    gaps_watch(u);
    return true;
}

/* Are descriptors lost, are there more than before? Looks at so many of the numbers that were free. */
static void files_look(rad_undo *u, uint32_t watched, bool *lost, bool *more)
{
    uint32_t count = u->file_count + watched;
    if (count > u->polled_count) count = u->polled_count;
    *more = *lost = poll(u->polled, count, 0) < 0;
    for (uint32_t i = 0; i < u->file_count && !*lost; i++) *lost = u->polled[i].revents & POLLNVAL;
    for (uint32_t i = u->file_count; i < count && !*more; i++) *more = !(u->polled[i].revents & POLLNVAL);
}

/* Marked: a descriptor was closed, so those that are open need not have the first numbers. */
static bool files_back(rad_undo *u, bool marked)
{
    bool lost = marked, more = marked;
    if (!marked) files_look(u, WATCHED, &lost, &more);
    u->did = lost || more;
    for (uint32_t i = 0; i < u->gap_count && more; i++) syscall(SYS_close_range, u->gaps[i].from, u->gaps[i].to, 0);
    for (uint32_t i = 0; i < u->file_count && lost; i++)
        if (syscall(SYS_dup3, u->files[i].copy, u->files[i].fd, 0) < 0) return false;
    return true;
}

/* ---- Signals ---------------------------------------------------------------------------------------------- */

static void signals_open(rad_undo *u)
{
    for (int i = 1; i <= SIGNALS; i++) syscall(SYS_rt_sigaction, i, NULL, &u->actions[i], sizeof u->mask);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &u->mask, sizeof u->mask);
    syscall(SYS_sigaltstack, NULL, &u->stack);
}

static bool signals_back(rad_undo *u)
{
    uint64_t all = UINT64_MAX, pending = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
    syscall(SYS_rt_sigpending, &pending, sizeof pending);
    for (int i = 1; i <= SIGNALS; i++)
        if (i != SIGKILL && i != SIGSTOP) syscall(SYS_rt_sigaction, i, &u->actions[i], NULL, sizeof u->mask);
    syscall(SYS_sigaltstack, &u->stack, NULL);
    if (pending) return false; /* it would come in the next run */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &u->mask, NULL, sizeof u->mask);
    return true;
}

/* ---- Both ------------------------------------------------------------------------------------------------- */

rad_undo *rad__undo_open(const char **why)
{
    rad_undo *u = rad__alloc(1, sizeof *u);
    *why = "there is no memory, or there are too many descriptors";
    if (u == NULL || !files_open(u)) return NULL;
    signals_open(u);
    return u;
}

bool rad__undo(rad_undo *u, const char **why)
{
    if (!files_back(u, rad__marks->files)) {
        *why = "a descriptor cannot be put back";
        return false;
    }
    u->did |= rad__marks->signals;
    if (rad__marks->signals && !signals_back(u)) {
        *why = "it leaves a signal that waits to be delivered";
        return false;
    }
    return true;
}

bool rad__undo_did(const rad_undo *u)
{
    return u->did;
}

bool rad__undo_is_done(rad_undo *u)
{
    bool lost, more;
    files_look(u, RAD_LAB_FDS, &lost, &more);
    return !lost && !more;
}
