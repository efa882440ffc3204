/* double_parts.h — the machine of double.h from inside: double_disk.c has its files, double.c its
 * processes and its time. */
#ifndef TESTS_FLOW_DOUBLE_PARTS_H
#define TESTS_FLOW_DOUBLE_PARTS_H

#include "double.h"

#include "base/prng.h"

#include <stdlib.h>

enum {
    NAMES = 600,
    INODES = 2000,
    HANDLES = 4000,
    PROCESSES = 800,
    NAME_ROOM = 320,
    COUNTS = 400,
    CALLS_MAX = 1000000
};

/* Its own memory: tests let that of the library run out. */
typedef struct bytes {
    uint8_t *data;
    uint32_t size, capacity;
} bytes;

typedef struct inode {
    bytes now, kept;
    int holder; /* handle, or -1 */
} inode;

typedef struct entry {
    char name[NAME_ROOM];
    int inode;     /* -1: no such name */
    uint32_t hash; /* of the name: most of the names that are compared differ */
} entry;

typedef struct handle {
    int inode, process; /* process -1: closed */
} handle;

typedef struct process {
    double_world *w;
    int pid;
    bool alive, is_shim;
    rad_flow_host host;
    rad_flow_shim *shim;
    /* Its command. */
    bool spawned, worked, ended, printed;
    int status, signal;
    uint32_t ticks_left;
} process;

typedef struct count {
    char key[64], command[64], folder[64];
    uint32_t attempt;
    uint32_t works;
    bool may_doubt;
    char environment[512];
} count;

struct double_world {
    entry now[NAMES], kept[NAMES];
    uint32_t now_count, kept_count;
    inode inodes[INODES];
    uint32_t inode_count;
    handle handles[HANDLES];
    uint32_t handle_count;
    process *processes[PROCESSES];
    uint32_t process_count;
    process *runner;
    count counts[COUNTS];
    uint32_t count_count;
    uint64_t clock_ns, calls, all_calls, crash_at;
    enum double_crash crash;
    uint32_t tear, unsynced, syncs;
    bool crashed, full, in_tick;
    uint64_t release_at;
    uint64_t lack_at, lack_calls, lack_first;
    bool lacking, lacked; /* some allocation from now on fails; one did */
    uint64_t fail_at, fail_calls;
    const rad_error *fail_in;
    uint32_t processes_then; /* when it failed */
    const char *held;        /* command whose shims get no time, or NULL */
    bool noticed;            /* something has changed in a folder since the last wait */
    rad_prng prng;
};

static inline void double_require(bool condition)
{
    if (!condition) abort();
}

/* Every call begins here. NULL: the caller is dead. */
double_world *double_enter(void *context, rad_error *error);

/* ---- double_disk.c ---------------------------------------------------------------------------------- */

void double_set_name(entry *entries, uint32_t *n, const char *name, int at); /* at < 0: it goes */
int double_inode_of(const double_world *w, const char *name);                /* -1: none */
void double_replace(double_world *w, const char *name);                      /* by a copy */
void double_close_handles(double_world *w, const process *p);
void double_lose(double_world *w); /* what the crash takes with it */
void double_file_table(rad_flow_host *host);

#endif
