/* realign.h — following a recorded path in code that has been edited since.
 *
 * The policy `realign` walks the recording and the run side by side. Every actor of the run that is in the recording
 * has a queue: its recorded steps that have not happened yet. Of those that can run, the one goes whose next recorded
 * step comes first. So a step that cannot run now is left waiting and made up for as soon as it can, and the others
 * keep the recorded order among themselves. What an actor is about to do is, compared with the front of its queue,
 *
 *   exact     the same site: that step
 *   renamed   a site that the recording does not know, where it has one that the machine has no more: that step
 *   skipped   a site that comes later in the queue: what is before it no longer exists
 *   new       anything else: a step that was added; it runs when the front of the queue is due
 *   beyond    after the end of the queue, or an actor that the recording does not have: when nothing recorded can run
 *
 * "Comes later" may also mean that a step of an equal name was added. Both are tried, and then a plan: the sites of
 * each actor in the run just made are compared with the recorded ones as diff does, which also finds actors that have
 * changed places. The run that fails in the recorded way counts; otherwise the one that met most of the recorded
 * choices, and of those the one that found most of the recording. */
#ifndef RAD_LAB_REALIGN_H
#define RAD_LAB_REALIGN_H

#include "lab/path.h"

#include <raddle/lab.h>

/* Which recorded step, if any, each step of an earlier run was. */
typedef struct rad_realign_plan {
    const rad_path *run;
    uint32_t *actor_of; /* actor of that run -> recorded one, or RAD_NONE */
    uint32_t *step_of;  /* step of that run -> recorded one, or RAD_NONE */
    uint32_t *order;    /* its steps, actor by actor */
    uint32_t *from;     /* per actor: where its steps begin in `order`; one more at the end */
} rad_realign_plan;

enum { RAD_REALIGN_TEXT = 480 };

enum rad_realign_status {
    RAD_STEP_WAITS = 0, /* has not happened */
    RAD_STEP_FOUND,
    RAD_STEP_LATE,   /* happened, but could not when it was due */
    RAD_STEP_SKIPPED /* its actor has gone past it */
};

/* Shared with the process that runs. The lists lie behind it. */
typedef struct rad_realign_shared {
    uint32_t added, renamed, divergences;
    bool ambiguous; /* a step was skipped, or new, and could have been either */
    bool diverged, again;
    uint64_t diverged_at;
    uint64_t again_at;
    uint32_t again_step; /* of the recording */
    char because[RAD_REALIGN_TEXT];
    char again_as[RAD_REALIGN_TEXT];
    uint8_t *steps; /* enum rad_realign_status of each recorded step */
    uint8_t *picks; /* of each recorded pick: 1 when it was made */
} rad_realign_shared;

typedef struct rad_realign_options {
    const rad_path *recorded;
    const bool *vanished;         /* recorded sites that the machine has no more */
    const rad_realign_plan *plan; /* may be NULL */
    bool inserts;                 /* what may be skipped or new is new */
    bool by_name;                 /* two steps about objects of different names are not the same */
} rad_realign_options;

/* From a run made with the same options; borrows the run. Of steps that may be the recorded one the last, or the first,
 * is it. */
RAD_INTERNAL int rad__realign_plan(rad_realign_plan *plan, const rad_realign_options *o, const rad_path *run, bool late,
                                   rad_error *error);
RAD_INTERNAL void rad__realign_plan_free(rad_realign_plan *plan);

/* All borrowed. What happens in the run, and its path, is in shared memory until the policy is destroyed. */
RAD_INTERNAL int rad__policy_realign(rad_policy **p, const rad_realign_options *o, rad_error *error);
RAD_INTERNAL const rad_realign_shared *rad__realign_shared(const rad_policy *p);
RAD_INTERNAL const rad_path_shared *rad__realign_path(const rad_policy *p);

#endif
