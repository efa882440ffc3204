/* shim.h — the process between a runner and a shell command.
 *
 *     claim      takes the effect's name for itself, durably: from here on it is begun
 *     spawn      starts the command
 *     watch      takes its output and its end; ends it when its time is up or on request: a file, or SIGTERM
 *     write      writes the receipt: temporary name, sync, rename, sync
 *
 * A runner starts it, and then it needs no runner: it continues if the runner is killed, and a later runner finds its
 * lock held, or its receipt. If it dies before the receipt is durable, it is not known whether the command has done
 * its work: only that is "in doubt".
 *
 * A step at a time, so that tests can stop the world between any two. */
#ifndef RAD_FLOW_RUN_SHIM_H
#define RAD_FLOW_RUN_SHIM_H

#include "flow/run/files.h"

enum rad_flow_shim_state { RAD_SHIM_CLAIM = 0, RAD_SHIM_SPAWN, RAD_SHIM_WATCH, RAD_SHIM_WRITE, RAD_SHIM_OVER };

/* How often it tries, once a second: to write its receipt, when the disk is full; to start its command, when there are
 * no more processes to be had. */
enum { RAD_SHIM_WRITES_MAX = 60, RAD_SHIM_SPAWNS_MAX = 10 };
#define RAD_SHIM_GRACE_NS UINT64_C(3000000000) /* between SIGTERM and SIGKILL */
/* Between two looks for effects/ID.stop. A watch of the folder would come at once, but there are 128 for all the
 * processes of a user, and each shim would need one. */
#define RAD_SHIM_LOOK_NS UINT64_C(200000000)

typedef struct rad_flow_shim {
    /* What is to be done. */
    char *id, *key, *command, *dir; /* dir may be NULL */
    uint32_t attempt, run;
    char **environment;  /* ends with NULL */
    uint64_t timeout_ns; /* 0: none */
    bool keeps_output;

    /* How far it is. */
    enum rad_flow_shim_state state;
    int lock, out, log; /* files; negative: not open */
    rad_flow_receipt receipt;
    rad_bytes output;
    uint64_t end_by_ns, kill_by_ns; /* of host->elapsed; 0: not set */
    uint64_t look_ns;               /* when to look again whether its end was requested */
    bool killed;
    uint32_t kills;          /* of those that are left, after the first */
    uint32_t spawns, writes; /* how often it has tried */
    size_t late;             /* bytes of output that were read after the command's end */
} rad_flow_shim;

/* Nothing in it yet. NULL: no memory. */
RAD_INTERNAL rad_flow_shim *rad__flow_shim_new(void);
RAD_INTERNAL void rad__flow_shim_free(rad_flow_shim *shim); /* may be NULL */

/* False: it is over. */
RAD_INTERNAL bool rad__flow_shim_step(rad_flow_shim *shim, const rad_flow_host *host);

#endif
