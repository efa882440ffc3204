/* policy.h — who decides within one run.
 *
 * A policy is a table of small functions over its own state; adding one touches its own file and one row
 * of POLICIES (policy.c). It answers with an index into the decision, so it can return only a member; an index
 * out of range ends the run as an internal error.
 *
 * The kernel records every decision, whichever policy made it: the log of any policy is the kernel's choice
 * buffer (the seed's get_log), and `guide` and `replay` are the policies made from a list and from a
 * log (the seed's from_log). */
#ifndef RAD_CORE_POLICY_H
#define RAD_CORE_POLICY_H

#include "core/choice.h"
#include "core/estimates.h"

#include <raddle/policy.h> /* rad_footprint; and policies that users write: policy_user.c */

typedef struct rad_policy rad_policy;

typedef struct rad_decision {
    enum rad_pick_kind kind;
    uint32_t site;
    uint32_t count;    /* at least 2 */
    uint32_t baseline; /* RAD_PICK_ACTION: the action with index 0 */
    bool preemptible;  /* RAD_PICK_ACTION: index 0 continues the current actor */
} rad_decision;

typedef struct rad_run_info {
    uint64_t seed;
    uint64_t run;
    const rad_estimates *estimates; /* of earlier runs; may be empty, never NULL */
} rad_run_info;

typedef struct rad_policy_class {
    const char *name;
    const char *about;
    /* `argument` is the text after the colon ("3" in pct:3) or NULL. */
    int (*create)(rad_policy **p, const char *argument, rad_error *error);
    void (*destroy)(rad_policy *p);
    uint32_t (*choose)(rad_policy *p, rad_kernel *k, const rad_decision *d);
    /* Optional from here on. */
    void (*begin)(rad_policy *p, rad_kernel *k, const rad_run_info *info);
    void (*changed)(rad_policy *p, rad_kernel *k, uint32_t action, bool enabled);
    /* The action's announcement (site, object, access) is new; it may or may not be enabled. */
    void (*announced)(rad_policy *p, rad_kernel *k, uint32_t action);
    void (*ran)(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *f);
    void (*end)(rad_policy *p, rad_kernel *k, rad_estimates *into);
} rad_policy_class;

struct rad_policy {
    const rad_policy_class *class;
};

/* By name, such as "random" or "pct:3"; those made from files have functions of their own. */
RAD_INTERNAL int rad__policy_create(rad_policy **p, const char *name, rad_error *error);
RAD_INTERNAL void rad__policy_destroy(rad_policy *p);

/* NULL after the last. */
RAD_INTERNAL const rad_policy_class *rad__policy_class_at(uint32_t index);

/* For create and destroy of policies: `size` zeroed bytes that begin with struct rad_policy. */
RAD_INTERNAL int rad__policy_alloc(rad_policy **p, const rad_policy_class *class, size_t size, const char *argument,
                                   rad_error *error);
RAD_INTERNAL void rad__policy_release(rad_policy *p);

/* `guide`: a choice list, clamped, the baseline after its end. The list is borrowed. */
RAD_INTERNAL int rad__policy_guide(rad_policy **p, rad_error *error);
RAD_INTERNAL void rad__guide_set(rad_policy *p, const uint32_t *list, uint64_t count);
/* The same of recorded choices, also of those that the kernel writes over: entry n is read before it is written. */
RAD_INTERNAL void rad__guide_follow(rad_policy *p, const rad_choice *path, uint64_t count);

extern const rad_policy_class rad__policy_first, rad__policy_random, rad__policy_fair, rad__policy_pct,
    rad__policy_surw, rad__policy_pos, rad__policy_own, rad__guide_class;

#endif
