/* watch.h — does the process that runs a machine still move? One watch for all who wait for such a process.
 *
 * A step may use so much CPU time, or, if it sleeps instead of computing, take RAD_ASLEEP_FACTOR times as long by the
 * clock. A step that has used a share of its CPU time meanwhile, or would compute if a processor were free, does not
 * sleep: the computer is busy, and the step is given its time. A program under test that sleeps for
 * RAD_PROGRAM_ASLEEP_SECONDS sleeps in a call that the kernel does not see, such as a read of what nobody writes. */
#ifndef RAD_LAB_WATCH_H
#define RAD_LAB_WATCH_H

#include "lab/rig.h"

enum {
    RAD_HANG_SECONDS = 10,
    RAD_ASLEEP_FACTOR = 6,
    RAD_ASLEEP_SHARE = 10,
    RAD_PROGRAM_ASLEEP_SECONDS = 5
};

typedef struct rad_watch {
    uint64_t hang_ns; /* CPU time that a step may take */
    /* Where the run was when it was last seen to move, and its CPU time then. */
    uint64_t run, steps, cpu_ns, at_ns;
    int pid;             /* whose CPU time: a run may have a process of its own */
    double hung_seconds; /* how long it did not move; 0: it did */
    bool asleep;         /* most of that without computing */
    char call[64];       /* of the system, in which it sleeps; "": not known */
} rad_watch;

/* 0 seconds: RAD_HANG_SECONDS. */
RAD_INTERNAL void rad__watch_begin(rad_watch *w, double hang_seconds);

/* Looks at a process; true when it hangs, and `hung_seconds` says for how long. */
RAD_INTERNAL bool rad__watch_hangs(rad_watch *w, const rad_rig_shared *shared, int pid);

#endif
