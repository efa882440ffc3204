/* server.h — the processes of a program under test: they do units, or one of them tells one run by a stream.
 *
 *     raddle ──starts──▶ keeper ──forks──▶ worker: does units, a run at a time
 *                           └─────forks──▶ one fresh process for one run, when the worker asks for it
 *
 * Keeper    has done what precedes the first decision, once, and sleeps (keeper.c). So it is the original from which
 *           everything else is forked. It survives its children: a crash costs a fork.
 * Here      The worker makes a run in its own process, and puts back what the run changed (snapshot.h). The first runs
 *           and then every thousandth are *audited*: made again in a fresh process; so is the first run of each kind of
 *           failure in a unit, and each run that kills its worker: only what the fresh process confirms counts. A
 *           difference is the end of this: the unit is done again, first with more care, then with a process for each
 *           run.
 * Apart     The worker forks a process for each run. The kernel's memory is shared (heap.c), so after the child's end
 *           the worker has all that the run left.
 * Early     If what precedes the first decision opens something that a fork does not copy (a descriptor, memory that is
 *           shared), or dies, it is part of each run: runs begin with main. A first child tries, and tells which it
 *           is. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_SERVER_H
#define RAD_LAB_PROGRAMS_FIBERS_SERVER_H

#include "lab/programs/fibers/snapshot.h"
#include "lab/programs/hello.h"
#include "lab/programs/stream.h"
#include "lab/rig.h"

#include <sys/types.h>

RAD_INTERNAL extern rad_call_stream rad__server_stream;

/* Ends the process, which the program's own call of _exit does not. */
RAD_INTERNAL _Noreturn void rad__process_exit(int status);

/* From now on a signal that kills the program tells first where: crash.c. */
RAD_INTERNAL void rad__crash_watch(void);

/* The step that begins now does not return: after so much CPU time, or when it has slept for long, it tells where. */
RAD_INTERNAL void rad__crash_in(uint32_t cpu_ms);

/* Both return the exit status. */
RAD_INTERNAL int rad__server_tells(int in, int out, bool dies);
RAD_INTERNAL int rad__keeper_works(int in, int out, int memory, const rad_setup *setup);

/* The lab's heap as it is now, kept for rad__heap_back; false: there is no memory. */
RAD_INTERNAL bool rad__heap_keep(void);
RAD_INTERNAL void rad__heap_back(void);

/* How much fits into a block of it. */
RAD_INTERNAL size_t rad__heap_room(void *p);

/* ---- Between keeper and worker ---------------------------------------------------------------------------- */

enum rad_phase_now { RAD_NOW_IDLE, RAD_NOW_RUNS, RAD_NOW_RESTORES };

/* Why a worker leaves by itself. */
enum rad_leaving { RAD_LEAVES_NOT, RAD_LEAVES_RENEWED, RAD_LEAVES_APART };

enum { RAD_WHY_MAX = 100 };

/* What the keeper knows. In shared memory, too: a page of its own that the keeper writes to would look as if the worker
 * had written to it. */
typedef struct rad_keeper {
    rad_rig *rig;
    int in, out; /* units, and their results */
    int worker;  /* the keeper's end of a pair of sockets */
    int memory;  /* reads the keeper's memory; -1: that is not possible */
    bool late;   /* what precedes the first decision has run */
    bool apart;  /* each run has a process */
    pid_t pid;   /* of the worker */
    char *stack; /* the program's part of the first stack begins here */
} rad_keeper;

/* In shared memory of its own, which is not put back. */
typedef struct rad_control {
    rad_keeper keeper;
    rad_marks marks;
    struct rad_runs_here *worker; /* what it keeps over runs */
    uint32_t now;                 /* enum rad_phase_now */
    uint32_t leaving;             /* enum rad_leaving */
    bool here;                    /* the run under way is in the worker's process */
    bool done;                    /* a child has done what it was for */
    bool copies;                  /* … and a fork copies all of it */
    bool in_unit;                 /* the worker has read one, and has not begun to answer */
    bool trusts;                  /* the runs of this unit (snapshot.h) */
    bool is_void;                 /* … and should not have done */
    bool careful;                 /* it trusts no more */
    uint32_t renewed;             /* workers that left since */
    uint32_t units, void_units;
    uint32_t donors; /* threads that a run has needed so far, and bytes of stack */
    size_t donor_size;
    uint32_t prepared; /* of these the keeper has so many, of this size */
    size_t prepared_size;
    uint64_t runs;           /* of all workers, in their own process */
    enum rad_limit limit;    /* of the run under way */
    rad_run_options options; /* of the run that is to be made in a fresh process */
    char why[RAD_WHY_MAX];   /* runs are not made in the worker's process; "": they are */
} rad_control;

RAD_INTERNAL extern rad_control *rad__control;

/* In the worker, with its end of the pair: until the units end. Returns the exit status. */
RAD_INTERNAL int rad__worker_serves(int keeper);

/* One run in this process, which is a fresh one: as `control->options` has it. Never returns. */
RAD_INTERNAL _Noreturn void rad__run_and_exit(void);

/* A child that dies with its parent; 0 in the child. */
RAD_INTERNAL pid_t rad__child_start(void);

/* Waits for a child. True: it has done what it was for. */
RAD_INTERNAL bool rad__child_wait(pid_t pid, int *status);

/* Ends as the child did. */
RAD_INTERNAL _Noreturn void rad__die_of(int status);

#endif
