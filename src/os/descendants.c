/* descendants.c — see descendants.h.
 *
 * Numbers: /proc may be that of an outer PID namespace (whoever enters a new one does not have to mount it again). Each
 * process has a line there with its numbers from that namespace inwards; this process's own line says how many of
 * them lead to its own namespace, where signals take their numbers from. */
#define _GNU_SOURCE
#include "os/descendants.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_ROOM = 4096, LEVELS_MAX = 32 };

typedef struct relative {
    int pid, parent;   /* as /proc has them */
    int number, group; /* in the namespace of this process */
    bool lives, is_ours;
} relative;

typedef struct relatives {
    relative *items;
    uint32_t count, capacity;
    uint32_t level; /* which of the numbers of a line are those of this namespace */
    int self;       /* as /proc has it */
} relatives;

bool rad__os_adopt_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

bool rad__os_has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* ---- /proc ---------------------------------------------------------------------------------------------- */

/* The numbers behind "NAME:"; how many. */
static uint32_t numbers_of(const char *status, const char *name, int numbers[LEVELS_MAX])
{
    const char *at = strstr(status, name);
    uint32_t count = 0;
    if (at == NULL) return 0;
    for (at += strlen(name); *at != '\n' && *at != 0 && count < LEVELS_MAX;) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        int number = 0;
        for (; *at >= '0' && *at <= '9' && number < INT32_MAX / 10; at++) number = number * 10 + (*at - '0');
        numbers[count++] = number;
    }
    return count;
}

/* False: there is no such process any more. */
static bool read_status(const char *process, char status[STATUS_ROOM])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.32s/status", process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, status, STATUS_ROOM - 1);
    close(fd);
    status[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* `level`: of the namespace of this process. */
static bool read_relative(const char *process, uint32_t level, relative *r)
{
    char status[STATUS_ROOM];
    int parent[LEVELS_MAX], pids[LEVELS_MAX], groups[LEVELS_MAX];
    if (!read_status(process, status)) return false;
    const char *state = strstr(status, "\nState:\t");
    if (state == NULL || numbers_of(status, "\nPPid:", parent) != 1 || numbers_of(status, "\nNSpid:", pids) <= level ||
        numbers_of(status, "\nNSpgid:", groups) <= level)
        return false;
    *r = (relative){.pid = pids[0],
                    .parent = parent[0],
                    .number = pids[level],
                    .group = groups[level],
                    .lives = state[8] != 'Z' && state[8] != 'X'};
    return true;
}

static bool find_self(relatives *all)
{
    char status[STATUS_ROOM];
    int pids[LEVELS_MAX];
    if (!read_status("self", status)) return false;
    uint32_t count = numbers_of(status, "\nNSpid:", pids);
    if (count == 0 || pids[count - 1] != (int)getpid()) return false;
    all->level = count - 1;
    all->self = pids[0];
    return true;
}

static bool is_ours(const relatives *all, int pid)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].pid == pid) return all->items[i].is_ours;
    return pid == all->self;
}

/* A generation at a time. */
static void mark_ours(relatives *all)
{
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < all->count; i++) {
            relative *r = &all->items[i];
            if (r->is_ours || !is_ours(all, r->parent)) continue;
            r->is_ours = any = true;
        }
    }
}

/* What cannot be remembered is not found. */
static void read_all(relatives *all)
{
    DIR *proc = opendir("/proc");
    if (proc == NULL) return;
    for (const struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        relative r;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        if (!read_relative(entry->d_name, all->level, &r) || r.pid == all->self) continue;
        if (!RAD_GROW(&all->items, &all->capacity, all->count + 1)) break;
        all->items[all->count++] = r;
    }
    closedir(proc);
    mark_ours(all);
}

/* ---- Signals -------------------------------------------------------------------------------------------- */

static int open_process(int pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0u);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

/* Whoever has the number now is seen to be ours while the descriptor is open, or not signalled. Systems without such
 * descriptors get the signal by number, a moment after it was seen. */
static bool signal_one(const relatives *all, const relative *r, int number)
{
    char name[16];
    relative now;
    int fd = open_process(r->number);
    if (fd < 0 && errno != ENOSYS) return false;
    snprintf(name, sizeof name, "%d", r->pid);
    bool sent = read_relative(name, all->level, &now) && now.lives && now.number == r->number &&
                (now.parent == all->self || is_ours(all, now.parent));
#ifdef SYS_pidfd_send_signal
    if (sent && fd >= 0) sent = syscall(SYS_pidfd_send_signal, fd, number, NULL, 0u) == 0;
#endif
    if (sent && fd < 0) sent = kill(r->number, number) == 0;
    if (fd >= 0) close(fd);
    return sent;
}

uint32_t rad__os_signal_descendants(int number, int group)
{
    relatives all = {0};
    uint32_t sent = 0;
    if (!find_self(&all)) return 0;
    read_all(&all);
    for (uint32_t i = 0; i < all.count; i++) {
        const relative *r = &all.items[i];
        if (!r->is_ours || (group != 0 && r->group == group)) continue;
        sent += signal_one(&all, r, number);
    }
    rad__free(all.items);
    return sent;
}
