/* shrink.h — making a failing run small: state shared by its stages.
 *
 * A candidate is run; it is taken when it fails with the same identity and is strictly less by the order
 * below. So shrinking ends, never slips to another bug (shrink_second.c keeps those), and does nothing to its
 * own output. What is kept is not the candidate but what its run recorded: clamped values
 * and a useless tail disappear by themselves.
 *
 * Order: case, preemptions, switches, choices other than the baseline, their sum, length, steps. */
#ifndef RAD_LAB_SHRINK_H
#define RAD_LAB_SHRINK_H

#include "lab/case.h"
#include "lab/recorder.h"
#include "lab/workers.h"

enum { RAD_OTHERS_MAX = 8 };

typedef struct rad_shrinker {
    const rad_shrink_options *options;
    rad_target target;      /* of the best run; owns its body */
    rad_batch_finding best; /* owned */
    rad_measure measure;
    uint64_t sum; /* of the choices */
    rad_workers *workers;
    rad_digest workers_case; /* the case that the workers have */
    uint64_t checks, checks_max;
    uint64_t steps, steps_max;
    double started, seconds, told; /* 0 seconds: no limit */
    double certify_seconds;        /* used */
    uint64_t certify_steps;
    enum rad_budget stopped;
    const char *stage;
    bool unfair;           /* the file is from before the fair rule: its runs hold no actor back (rad__replay) */
    bool round;            /* the failure is a livelock at the step limit */
    const char *ends_at;   /* what the file says fails; NULL: it does not say. Until there is a best run */
    uint64_t ran;          /* runs of the last batch; 0 when it ended in a failure */
    rad_recorder recorder; /* the best run step by step, when `recorded` */
    bool recorded;
    rad_set128 searched;                      /* cases in which fresh runs found nothing */
    rad_batch_finding others[RAD_OTHERS_MAX]; /* failures of other identities, in the order met */
    uint32_t other_count;
    rad_choice *draft; /* the candidate being built */
    uint32_t draft_capacity;
    rad_error *error;
} rad_shrinker;

/* Runs a batch on `t`; the caller frees the result. A run that kills or hangs its process is a finding like any other.
 * False when the machine refuses the case, or after an error. */
RAD_INTERNAL bool rad__shrink_run(rad_shrinker *s, const rad_target *t, const rad_batch *u, rad_batch_result *out);

/* The same, and takes what is better; true when something was. */
RAD_INTERNAL bool rad__shrink_try(rad_shrinker *s, const rad_target *t, const rad_batch *u);

/* The same for a choice list on the best target. */
RAD_INTERNAL bool rad__shrink_try_list(rad_shrinker *s, const rad_choice *list, uint64_t count);

/* Fills the recorder with the best run. False when that cannot be: it kills or hangs its process. */
RAD_INTERNAL bool rad__shrink_record(rad_shrinker *s);

/* False when the budget is used up, the user interrupts, or something went wrong. */
RAD_INTERNAL bool rad__shrink_goes_on(rad_shrinker *s);

RAD_INTERNAL uint64_t rad__case_size(const rad_target *t);
RAD_INTERNAL void rad__finding_free(rad_batch_finding *f);

/* Stages; each may be called any number of times. */
RAD_INTERNAL void rad__shrink_list(rad_shrinker *s);  /* shrink_list.c: zero, delete, lower */
RAD_INTERNAL void rad__shrink_case(rad_shrinker *s);  /* shrink_case.c */
RAD_INTERNAL void rad__shrink_order(rad_shrinker *s); /* shrink_order.c: fewer switches */

/* shrink_second.c: notes a failure of another identity (and takes it over); which of those noted is a failure of the
 * original case, or NULL; frees them. */
RAD_INTERNAL void rad__shrink_note(rad_shrinker *s, rad_batch_finding *f);
RAD_INTERNAL rad_artifact *rad__shrink_second(rad_shrinker *s, const rad_target *original);
RAD_INTERNAL void rad__shrink_forget(rad_shrinker *s);

#endif
