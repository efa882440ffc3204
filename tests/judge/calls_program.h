/* calls_program.h — tiny programs over the executor's public calls (raddle/exec.h).
 *
 * Up to four tasks of up to five operations each, and what the thread outside does between create and join. Each task
 * is spawned by one operation at most; one that nothing spawns never runs. Any list of operations is a program:
 *   - an answer (yield, block, the end …) with jobs under way first waits for them; if that fails, the task fails;
 *   - a job never blocks, and spawns itself again by yielding;
 *   - `sibling` outside of a group is a plain spawn. */
#ifndef RAD_TEST_CALLS_PROGRAM_H
#define RAD_TEST_CALLS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CALLS_TASKS = 4,
    CALLS_OUTSIDE = CALLS_TASKS, /* the index of the thread outside */
    CALLS_ACTORS,
    CALLS_LENGTH = 5,
    CALLS_WORKERS = 4,
    CALLS_COUNTERS = 2,
    CALLS_TEXT = 2048
};

enum calls_op {
    CALLS_TICK,         /* counter a: sees its value, and raises it */
    CALLS_SPAWN,        /* task a: rad_worker_spawn */
    CALLS_SPAWN_GLOBAL, /* task a: rad_worker_spawn_global */
    CALLS_SPAWN_ON,     /* task a, worker b: rad_worker_spawn_on */
    CALLS_ENTER,        /* task a: rad_exec_spawn; sees whether the gate was open */
    CALLS_ENTER_ON,     /* task a, worker b: rad_exec_spawn_on; the same */
    CALLS_ENTER_BATCH,  /* tasks a and b: rad_exec_spawn_batch; the same */
    CALLS_FORK,         /* task a: rad_group_spawn into the group of this run */
    CALLS_SIBLING,      /* task a: rad_group_spawn into the group that the task is a job of */
    CALLS_WAIT,         /* rad_group_wait; sees what it says; false: fails, unless a is 1 */
    CALLS_YIELD,
    CALLS_YIELD_GLOBAL,
    CALLS_AGAIN,
    CALLS_RESPAWN,   /* spawns itself, and is done */
    CALLS_BLOCK,     /* says that it may be woken, and blocks */
    CALLS_WAKE,      /* task a, if it says so: rad_exec_wake; sees whether it did */
    CALLS_WAKE_ON,   /* the same with rad_exec_wake_on, worker b */
    CALLS_WAKE_HERE, /* the same with rad_worker_wake */
    CALLS_SCRATCH,   /* the worker's scratch memory: sees how often it was here, and counts */
    CALLS_CLOSE,
    CALLS_FAIL, /* with code a, or none if a is 0 */
    CALLS_OPS
};

typedef struct calls_step {
    uint8_t op, a, b;
} calls_step;

typedef struct calls_program {
    uint8_t workers;
    bool stop; /* stop_on_failure */
    uint8_t task_count;
    uint8_t length[CALLS_ACTORS];
    calls_step code[CALLS_ACTORS][CALLS_LENGTH];
} calls_program;

/* Which operation a step is for this actor: see above. */
enum calls_op calls_op_of(const calls_program *p, uint8_t actor, uint8_t at);

/* Does the operation return from run? */
bool calls_is_answer(enum calls_op op);

/* Is it a job of a group? */
bool calls_is_job(const calls_program *p, uint8_t task);

void calls_text(const calls_program *p, char text[CALLS_TEXT]);

/* The n-th way to leave something out: an operation, a worker, the option. False: there are not that many. */
bool calls_cut(const calls_program *p, uint32_t n, calls_program *smaller);

/* ---- What a program did ---------------------------------------------------------------------------------- */

enum calls_fate {
    CALLS_NEVER, /* nothing spawned it */
    CALLS_REFUSED,
    CALLS_DONE,
    CALLS_FAILED,
    CALLS_DROPPED, /* by a stopped executor, through `drop` */
    CALLS_UNRUN    /* a job that a stopped executor did not run to its end */
};

typedef struct calls_result {
    uint64_t history[CALLS_ACTORS]; /* what it saw, in its order */
    uint8_t fate[CALLS_TASKS];
    uint8_t counters[CALLS_COUNTERS];
    uint8_t scratch; /* of all workers together */
    uint8_t ended;   /* answers DONE and FAILED */
    uint8_t runs;    /* calls of run */
    int64_t code;    /* of join */
    /* With one worker: where it found tasks. */
    uint8_t from_local, from_later, from_inbox, from_shared;
} calls_result;

/* Operation `at` saw `value`. */
uint64_t calls_saw(uint64_t history, uint8_t at, uint64_t value);
uint64_t calls_digest(const calls_result *r);

#endif
