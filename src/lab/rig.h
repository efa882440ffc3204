/* rig.h — a kernel with a machine in it, ready to run: what every tool of the lab starts from. */
#ifndef RAD_LAB_RIG_H
#define RAD_LAB_RIG_H

#include "core/kernel.h"
#include "lab/artifact.h"
#include "lab/programs/source_name.h"

#include <stdatomic.h>

/* Head of the mapping that a supervisor shares with the process that runs. */
typedef struct rad_rig_shared {
    volatile uint64_t run; /* which run of the current batch is under way */
    volatile uint64_t choice_count;
    volatile uint64_t panic;     /* an assertion of ours failed */
    volatile uint64_t trouble;   /* the process gave up for a reason of ours, not the machine's */
    volatile int64_t pid;        /* in which the run is; 0: in the process that raddle has started */
    volatile uint64_t here;      /* that process makes many runs */
    volatile uint64_t check;     /* as in rad_run_options; for the process that the run is in */
    volatile uint64_t timed;     /* a run of the current batch had a timer or a deadline, … */
    volatile uint64_t waited;    /* … or a thread that waited for a condition … */
    rad_outside outside;         /* … and what its runs did outside of their processes */
    volatile uint64_t asked;     /* questions of the process (serve.h), … */
    _Atomic uint64_t answered;   /* … the last one that was answered, … */
    char source[RAD_SOURCE_MAX]; /* … by this */
    rad_beacon beacon;
} rad_rig_shared;

enum { RAD_RIG_WHY = 100 };

enum rad_batch_time { RAD_BATCH_BEGINS, RAD_BATCH_ENDS, RAD_BATCH_ANSWERED };

typedef struct rad_rig rad_rig;

struct rad_rig {
    rad_target target; /* without its body: the machine has read it */
    rad_kernel *kernel;
    void *self;          /* the machine */
    rad_policy *guide;   /* for choice lists */
    rad_estimates blank; /* knows nothing */
    rad_rig_shared *shared;
    rad_choice *choices; /* of the run under way, behind the head */
    size_t mapping_size;
    enum rad_limit limit; /* as the machine has it, unless an artifact knows more */
    bool unfair;          /* all schedules, not only fair ones */
    const char *ends_at;  /* as in rad_run_options: NULL, all races end a run */
    const char *const *suppressed;
    int memory; /* the mapping as a file, for a machine whose process is a program; or -1 */
    /* A run from beginning to end, for a machine of which each run needs a process. NULL: none does. */
    enum rad_outcome (*apart)(rad_rig *r, const rad_run_options *options);
    /* False, when a batch ends: it has to be done again. May be NULL. */
    bool (*between)(rad_rig *r, enum rad_batch_time when);
    uint64_t here, audits; /* runs of this batch that had no process of their own; made again in one */
    char why[RAD_RIG_WHY]; /* each run has a process of its own because …; "": it has not */
};

/* What its step limit means. */
RAD_INTERNAL enum rad_limit rad__limit_of(const rad_machine *m);

/* Memory for the choices is reserved for the worst case and paid for when used. */
RAD_INTERNAL int rad__rig_open(rad_rig *r, const rad_target *t, rad_error *error);
RAD_INTERNAL void rad__rig_close(rad_rig *r);

/* The same in the mapping of another process's rig, by its file. */
RAD_INTERNAL int rad__rig_join(rad_rig *r, const rad_target *t, int memory, rad_error *error);

/* For those two: kernel and policy of a rig that has its machine; the mapping is the rig's from here on. */
RAD_INTERNAL int rad__rig_set_up(rad_rig *r, void *mapping, rad_error *error);
RAD_INTERNAL size_t rad__rig_mapping_size(void);

/* A whole run. */
RAD_INTERNAL enum rad_outcome rad__rig_run(rad_rig *r, const rad_run_options *options);

/* Options for a run of this rig; the caller adds what it needs. */
RAD_INTERNAL rad_run_options rad__rig_options(rad_rig *r, rad_policy *policy);

/* Runs a choice list: total, the baseline after its end. `watcher` may be NULL. */
RAD_INTERNAL enum rad_outcome rad__rig_guide(rad_rig *r, const uint32_t *choices, uint64_t count, bool whole_trace,
                                             rad_observer *watcher);
/* The same of recorded choices, the rig's own too. */
RAD_INTERNAL enum rad_outcome rad__rig_follow(rad_rig *r, const rad_choice *path, uint64_t count, bool whole_trace,
                                              rad_observer *watcher);

/* What ends the runs of an artifact (path_run.c). */
RAD_INTERNAL void rad__artifact_limits(const rad_artifact *a, rad_rig *rig);

/* The rig of a story (story.c), as the run has left it. */
RAD_INTERNAL const rad_rig *rad__story_rig(const rad_story *s);

#endif
