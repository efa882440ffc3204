/* path.h — a run in words that survive an edit: per step who ran, and at which site.
 *
 * Choices are indices into sets, and a set changes with every edit. A path says the same by names: an *actor* is known
 * by its role, its number among its spawner's children of that role, and its spawner ("main/worker 2"; the first has
 * no number); a *site* by the machine's name for it, after the kind of the action if it has one besides 0. Line numbers
 * are no part of a name. The role of the object that a step is about tells which step a renamed one was. The n-th step
 * of an actor at a site is the n-th in its path.
 *
 * A recorder belongs to a policy, which passes on what the kernel tells it. What it records lies in memory shared with
 * the supervisor: the path of a run that kills its process is there up to the step that did it, that step included. */
#ifndef RAD_LAB_PATH_H
#define RAD_LAB_PATH_H

#include "base/map64.h"
#include "core/kernel.h"

enum {
    RAD_PATH_ACTOR_MAX = 96,
    RAD_PATH_SITE_MAX = 128,
    RAD_PATH_OBJECT_MAX = 64,
    /* A run with more of anything is recorded without a path. */
    RAD_PATH_NAMES_MAX = 16384, /* of actors, of sites, and of objects */
    RAD_PATH_STEPS_MAX = 1000 * 1000,
    RAD_PATH_PICKS_MAX = 1000 * 1000
};

typedef struct rad_path_step {
    uint32_t actor, site, object; /* indices into the names */
    bool chosen;                  /* by a choice that is not the baseline's */
} rad_path_step;

/* A choice inside a step. After the last one of a step that is not 0 none are kept. */
typedef struct rad_path_pick {
    uint32_t step, site, value; /* the site begins with the kind of choice: "wake: queue" */
} rad_path_pick;

typedef struct rad_path {
    char (*actors)[RAD_PATH_ACTOR_MAX];
    char (*sites)[RAD_PATH_SITE_MAX];
    char (*objects)[RAD_PATH_OBJECT_MAX]; /* roles, "mutex", and names, "mutex: hall"; "": none */
    rad_path_step *steps;
    rad_path_pick *picks; /* by step */
    uint32_t actor_count, site_count, object_count, step_count, pick_count;
} rad_path;

RAD_INTERNAL void rad__path_free(rad_path *p); /* may be NULL */
RAD_INTERNAL int rad__path_copy(rad_path **to, const rad_path *from, rad_error *error);

/* The index of a name, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__path_find_actor(const rad_path *p, const char *name);
RAD_INTERNAL uint32_t rad__path_find_site(const rad_path *p, const char *name);
/* Two that have names are the same if these are. */
#define RAD_PATH_NAMED ": "
RAD_INTERNAL bool rad__path_same_object(const char *one, const char *two);

typedef struct rad_path_shared {
    rad_path path;      /* its memory is shared, too */
    volatile bool full; /* there was too much of something: of no use */
} rad_path_shared;

typedef struct rad_path_recorder {
    rad_path_shared *shared;
    size_t mapping_size;
    struct rad_path_place *announced; /* per action: where its next step is */
    uint32_t announced_capacity;
    uint32_t *fresh; /* announced anew by the step under way, which itself ran at the site of before */
    uint32_t fresh_count, fresh_capacity;
    uint32_t *actor_of; /* actor of the kernel -> of the path */
    uint32_t actor_capacity;
    rad_map64 site_of;   /* (kind, site) -> of the path */
    uint64_t deadly;     /* the run ends before this step: it is known to kill its process */
    uint32_t picks_kept; /* with those of the step under way that are followed by one that is not 0 */
    bool chosen;         /* the step under way, or to come */
} rad_path_recorder;

RAD_INTERNAL int rad__path_open(rad_path_recorder *r, rad_error *error);
RAD_INTERNAL void rad__path_close(rad_path_recorder *r);

/* What the kernel tells the policy. `decided` also ends a run before its deadly step. */
RAD_INTERNAL void rad__path_begin(rad_path_recorder *r);
RAD_INTERNAL void rad__path_announced(rad_path_recorder *r, rad_kernel *k, uint32_t action);
RAD_INTERNAL void rad__path_decided(rad_path_recorder *r, rad_kernel *k, const rad_decision *d, uint32_t chosen);
RAD_INTERNAL void rad__path_ran(rad_path_recorder *r, rad_kernel *k, uint32_t action);

/* Names as the path has them. The site is that of the action's next step; while that is under way, of this step. */
RAD_INTERNAL uint32_t rad__path_actor(rad_path_recorder *r, rad_kernel *k, uint32_t actor);
RAD_INTERNAL uint32_t rad__path_site(rad_path_recorder *r, rad_kernel *k, uint32_t action);
RAD_INTERNAL uint32_t rad__path_object(rad_path_recorder *r, rad_kernel *k, uint32_t action);
RAD_INTERNAL uint32_t rad__path_pick_site(rad_path_recorder *r, rad_kernel *k, enum rad_pick_kind kind, uint32_t site);

/* Whether the machine still has a site of this name; true also when it does not say which it has. */
RAD_INTERNAL bool rad__path_site_exists(const rad_kernel *k, const char *name);

#endif
