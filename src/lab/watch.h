/* watch.h — does the process that runs a machine still move? One watch for all who wait for such a process.
 *
 * A step may use so much CPU time, or, if it sleeps instead of computing, take RAD_ASLEEP_FACTOR times as long by the
 * clock. A step that has used a share of its CPU time meanwhile, or would compute if a processor were free, does not
 * sleep: the computer is busy, and the step is given its time. A program under test that sleeps for
 * RAD_PROGRAM_ASLEEP_SECONDS sleeps in a call that the kernel does not see, such as a read of what nobody writes. */
#ifndef RAD_LAB_WATCH_H
#define RAD_LAB_WATCH_H

#include "lab/rig.h"

enum { RAD_HANG_SECONDS = 10, RAD_HANG_SECONDS_MAX = 1000 * 1000 };
enum { RAD_ASLEEP_FACTOR = 6, RAD_ASLEEP_SHARE = 10, RAD_PROGRAM_ASLEEP_SECONDS = 5 };

/* What those who watched the runs of one case have seen. Once a step has used up its time, others that look the same
 * get a share of it, RAD_HUNG_SHARE, or RAD_HUNG_FACTOR times what the slowest step that did return took: a search
 * meets the same endless loop many times, and a shrinker looks for it. */
typedef struct rad_habits {
    uint64_t slowest_ns; /* at least */
    bool hung;           /* with all of its time */
} rad_habits;

enum { RAD_HUNG_SHARE = 20, RAD_HUNG_FACTOR = 8 };

typedef struct rad_run_watch {
    uint64_t hang_ns;   /* CPU time that a step may take */
    rad_habits *habits; /* NULL: that stays so */
    /* Where the run was when it was last seen to move, and its CPU time then. */
    uint64_t run, steps, cpu_ns, at_ns;
    int pid;             /* whose CPU time: a run may have a process of its own */
    double hung_seconds; /* how long it did not move; 0: it did */
    bool asleep;         /* most of that without computing */
    char call[64];       /* of the system, in which it sleeps; "": not known */
} rad_run_watch;

/* 0 seconds: RAD_HANG_SECONDS. */
RAD_INTERNAL void rad__watch_begin(rad_run_watch *w, double hang_seconds, rad_habits *habits);

/* Looks at a process; true when it hangs, and `hung_seconds` says for how long. */
RAD_INTERNAL bool rad__watch_hangs(rad_run_watch *w, const rad_rig_shared *shared, int pid);

#endif
