/* host.h — everything a runner and its shims ask of the world, as a table of functions.
 *
 * Production's table is the operating system (os.c). Tests have one whose files lose what was not synced, and
 * whose processes can be killed at any call; what decides about effects is the same code over both.
 *
 * Names of files are below the folder of the case: "journal", "effects/x.lock"; "" is the folder itself. */
#ifndef RAD_FLOW_RUN_HOST_H
#define RAD_FLOW_RUN_HOST_H

#include "base/check.h"

struct rad_flow_shim;
struct rad_os_names;

/* What a shim has seen of its command. */
typedef struct rad_flow_watched {
    bool ended, asked_to_end; /* asked by a signal to the shim */
    int status, signal;       /* when it has ended */
    bool left;                /* the same: others of its group are still there */
} rad_flow_watched;

typedef struct rad_flow_host {
    void *context; /* the first argument of all of them */

    /* Files, as in os/durable.h and os/file.h. */
    int (*make_folder)(void *host, const char *name, rad_error *error);
    /* RAD_EINPUT: others than its owner may change what is in it. */
    int (*check_folder)(void *host, const char *name, rad_error *error);
    int (*create)(void *host, int *file, const char *name, rad_error *error);
    int (*open_end)(void *host, int *file, const char *name, rad_error *error);
    int (*put)(void *host, int file, const void *data, size_t size, rad_error *error);
    int (*cut)(void *host, int file, uint64_t size, rad_error *error);
    int (*sync)(void *host, int file, rad_error *error);
    void (*close)(void *host, int file);
    int (*sync_folder)(void *host, const char *name, rad_error *error);
    int (*rename)(void *host, const char *from, const char *to, rad_error *error);
    int (*link)(void *host, const char *from, const char *to, rad_error *error);
    int (*remove)(void *host, const char *name, rad_error *error);
    /* 1: the whole file, rad__free it; 0: there is none. */
    int (*read)(void *host, const char *name, char **data, size_t *size, rad_error *error);
    int (*read_open)(void *host, int file, char **data, size_t *size, rad_error *error);
    int (*exists)(void *host, const char *name, rad_error *error); /* 1, 0; a link is an error */
    /* 1: that file still has that name, and so many bytes; 0: it has none any more, or another has it. */
    int (*is_file)(void *host, int file, const char *name, uint64_t *size, rad_error *error);
    int (*list)(void *host, const char *name, struct rad_os_names *names, rad_error *error);
    int (*lock)(void *host, int file, rad_error *error);
    int (*holder)(void *host, const char *name, rad_error *error); /* enum rad_os_holder */

    /* For a runner. A shim that is launched continues without it; the host has it from then on, also after a failure.
     * */
    int (*launch)(void *host, struct rad_flow_shim *shim, int *pid, rad_error *error);
    bool (*is_running)(void *host, int pid); /* one that was launched from here */
    /* Until something has changed in "effects" or "signals", the time is up, or for some other reason. */
    int (*wait)(void *host, uint64_t timeout_ns, rad_error *error);

    /* For a shim: its one command. Output that was read; see rad__os_command_watch. */
    int (*spawn)(void *host, const struct rad_flow_shim *shim, rad_error *error);
    int64_t (*watch)(void *host, void *to, size_t size, uint64_t timeout_ns, rad_flow_watched *watched,
                     rad_error *error);
    int (*kill)(void *host, bool at_once, rad_error *error); /* all that came from it */

    int (*current_folder)(void *host, char **path, rad_error *error); /* rad__free it */
    bool (*is_folder)(void *host, const char *path);                  /* not below that of the case */
    int (*self)(void *host);                                          /* number of the process */
    uint64_t (*now)(void *host);     /* time of day, in nanoseconds: may be set forward and back */
    uint64_t (*elapsed)(void *host); /* nanoseconds since whenever: never goes back, never jumps */
    uint64_t (*random)(void *host);  /* not 0, and never the same */
    void (*sleep)(void *host, uint64_t ns);
} rad_flow_host;

#endif
