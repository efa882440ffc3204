/* batch.h — a portion of exploration: what a worker process is asked to do, and what it answers.
 *
 * A batch is a pure function of its content, so it does not matter which process does it, when, or how
 * the whole is cut into batches. Three kinds:
 *
 *   sample   runs [first, first + count) of a policy, with given estimates
 *   tree     up to `count` runs of a depth-first search, from `path` on, never going back above `floor`
 *   script   one run in which given actors run in a given order, as far as they can
 *
 * A tree batch that does not finish answers with the path it would have run next. */
#ifndef RAD_LAB_BATCH_H
#define RAD_LAB_BATCH_H

#include "base/set128.h"
#include "lab/rig.h"
#include "lab/trace_classes.h"

enum rad_bound { RAD_BOUND_NONE = 0, RAD_BOUND_PREEMPTIONS, RAD_BOUND_DELAYS };

enum rad_batch_kind { RAD_BATCH_SAMPLE = 0, RAD_BATCH_TREE, RAD_BATCH_SCRIPT };

/* One step of a script: who runs, and what it picks inside the step. */
typedef struct rad_script_step {
    uint32_t actor;
    uint32_t pick_at, pick_count; /* range in the script's picks */
} rad_script_step;

typedef struct rad_batch {
    enum rad_batch_kind kind;
    bool stop_on_first;
    bool twice;
    bool check; /* structures after each step */
    bool round; /* the step limit is a livelock: rad__artifact_is_round */
    bool dedup;
    bool unfair;                    /* every schedule, as before there were fair ones */
    uint32_t spin_rounds;           /* as in rad_case, whatever the case says */
    bool races_go_on;               /* races do not end a run, except … */
    char ends_at[RAD_IDENTITY_MAX]; /* … those of this identity, if there is one */
    char policy[32];                /* sample */
    uint64_t seed;
    uint64_t first; /* sample: index of the first run within the phase */
    uint64_t count;
    uint64_t steps_max;   /* ends after the run with which it has taken this many; 0: no limit */
    enum rad_bound bound; /* tree */
    uint64_t bound_limit;
    uint64_t floor;
    rad_choice *path; /* tree: the next run's prefix */
    uint64_t path_count;
    const rad_estimates *estimates; /* sample */
    const rad_script_step *steps;   /* script */
    uint64_t step_count;
    const uint32_t *picks;
    uint64_t pick_count;
} rad_batch;

/* One way to fail, first seen in run `first_run` of the batch. */
typedef struct rad_batch_finding {
    rad_verdict verdict;
    uint64_t first_run;
    uint64_t failures;
    rad_choice *choices;
    uint64_t choice_count;
    uint64_t *set_hashes;
    uint32_t set_hash_count;
    uint64_t set_roll; /* after the last decision */
    uint64_t switches;
} rad_batch_finding;

typedef struct rad_batch_result {
    uint64_t runs, steps, failures;
    uint64_t cut;            /* runs that were not finished at the step limit */
    uint64_t held;           /* runs in which an actor was held back: core/fair.h */
    uint64_t suppressed;     /* races that did not count, … */
    uint64_t *suppressed_by; /* … and how many of them each of the first patterns matched */
    uint64_t suppressed_count;
    uint64_t states;       /* tree with dedup: new ones */
    uint64_t here, audits; /* of a program: as in rad_rig */
    char why[RAD_RIG_WHY];
    rad_verdict last;      /* of the last run */
    uint64_t *last_hashes; /* its rolling set hashes, when the batch was one run */
    uint64_t last_hash_count;
    uint64_t evaluations[RAD_ORACLES_MAX];
    uint8_t reached[RAD_SITES_MAX];
    rad_outside outside;
    bool timed;     /* a run had a timer or a deadline */
    bool waited;    /* a run had a thread that waited for a condition */
    bool exhausted; /* tree: nothing is left */
    bool pruned;    /* tree: the bound cut something off */
    bool spent;     /* an actor used up its spin rounds */
    bool endless;   /* a run was cut off at the step limit, or came back to a state of its own */
    rad_choice *path;
    uint64_t path_count;
    rad_estimates learned;
    rad_digest *classes; /* of the runs, each once within the batch */
    uint64_t class_count;
    uint32_t class_capacity;
    rad_batch_finding *findings; /* every way to fail, by first run: a batch is short enough to keep all */
    uint64_t finding_count;
    uint32_t finding_capacity;
    rad_error error; /* resources: the batch is void */
} rad_batch_result;

/* What a process keeps between batches. */
typedef struct rad_batch_worker {
    rad_rig *rig;
    rad_policy *policy;
    char policy_name[32];
    rad_trace_classes classes;
    rad_set128 seen;    /* classes within the batch */
    rad_set128 visited; /* states, for dedup; lives as long as the process */
    rad_set128 passed;  /* states of the run under way, for dedup */
    rad_event *events;  /* of the first of two runs */
    uint32_t event_capacity;
    rad_policy *script;
} rad_batch_worker;

RAD_INTERNAL void rad__batch_worker_open(rad_batch_worker *b, rad_rig *rig);
RAD_INTERNAL void rad__batch_worker_close(rad_batch_worker *b);
RAD_INTERNAL void rad__batch_run(rad_batch_worker *b, const rad_batch *u, rad_batch_result *out);
RAD_INTERNAL void rad__batch_result_free(rad_batch_result *r);

/* Room for one more finding, or NULL with the result's error set. */
RAD_INTERNAL rad_batch_finding *rad__batch_finding_add(rad_batch_result *r);

/* Between processes of one build. Reading allocates; false when short or out of memory. */
RAD_INTERNAL void rad__batch_free(rad_batch *u); /* one that was read */
RAD_INTERNAL void rad__batch_write(const rad_batch *u, rad_bytes *to);
RAD_INTERNAL bool rad__batch_read(rad_batch *u, rad_estimates *estimates, rad_reader *from);
RAD_INTERNAL void rad__batch_result_write(const rad_batch_result *r, rad_bytes *to);
RAD_INTERNAL bool rad__batch_result_read(rad_batch_result *r, rad_reader *from);

/* ---- Depth-first search over choice lists (tree.c) -------------------------------------------------- */

/* What index `chosen` of a decision costs under the bound. */
RAD_INTERNAL uint64_t rad__tree_cost(enum rad_bound bound, const rad_choice *c, uint32_t chosen);

/* Turns a finished run into the path of the next one, in place: `count` becomes its length. False when
 * nothing is left at or below `floor`. Sets *pruned when the bound cut an alternative off. */
RAD_INTERNAL bool rad__tree_advance(rad_choice *run, uint64_t *count, uint64_t floor, enum rad_bound bound,
                                    uint64_t limit, bool *pruned);

/* Cuts off the later half of what is left: path/floor keep the deeper part, *other gets the rest (path
 * in a new allocation). False when there is nothing to give away. */
RAD_INTERNAL bool rad__tree_split(rad_batch *u, rad_batch *other);

#endif
