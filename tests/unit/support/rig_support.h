/* rig_support.h — what the tests of the kernel and the lab share.
 *
 *   bare_rig   a kernel and a choice buffer, without the lab
 *   puppet     a machine whose functions are the test's
 *   weave      threads written as tables: which object each step touches, who is spawned, who yields
 *   witness    an observer that writes down what the kernel should have done, by its own means
 *   leaves     every choice list of a machine, enumerated without tree.c
 *   pearson    a chi-square statistic, and what it may be at most */
#ifndef RAD_TESTS_RIG_SUPPORT_H
#define RAD_TESTS_RIG_SUPPORT_H

#include "core/kernel.h"

#include <raddle/lab.h>

/* ---- A kernel without the lab ---------------------------------------------------------------------- */

typedef struct bare_rig {
    rad_kernel *kernel;
    rad_choice *choices;
    volatile uint64_t choice_count;
    rad_estimates blank;
    rad_policy *guide;
    uint64_t max_steps;
    enum rad_limit limit;
    bool whole_trace, fair, check;
    rad_observer *observer;
} bare_rig;

void bare_open(bare_rig *b, const rad_machine *m, void *self, uint64_t choices_max);
void bare_close(bare_rig *b);
rad_run_options bare_options(bare_rig *b, rad_policy *policy);
enum rad_outcome bare_run(bare_rig *b, const char *policy, uint64_t seed, uint64_t run);
enum rad_outcome bare_guide(bare_rig *b, const uint32_t *list, uint64_t count);
rad_policy *policy_named(const char *name);

/* ---- Puppet ---------------------------------------------------------------------------------------- */

typedef struct puppet puppet;
struct puppet {
    void (*reset)(puppet *p, rad_kernel *k);
    void (*step)(puppet *p, rad_kernel *k, uint32_t action);
    void (*check)(puppet *p, rad_kernel *k);
    enum rad_end end;
    uint32_t actions[64]; /* for the test's own use, from here on */
    uint32_t objects[16];
    uint64_t number;
    void *data;
};

extern const rad_machine puppet_machine;
extern puppet *puppet_on_stage; /* what puppet_machine.create returns */
rad_target puppet_target(puppet *p);

/* ---- Weave ----------------------------------------------------------------------------------------- */

enum weave_what { WEAVE_PLAIN = 0, WEAVE_YIELD, WEAVE_SPAWN, WEAVE_PICK };

typedef struct weave_op {
    enum weave_what what;
    enum rad_access access;
    uint32_t object;
    uint32_t argument; /* SPAWN: which thread; PICK: how many */
} weave_op;

enum { WEAVE_THREADS = 8, WEAVE_OPS = 16, WEAVE_STEPS = 64 };

typedef struct weave {
    weave_op ops[WEAVE_THREADS][WEAVE_OPS];
    uint32_t count[WEAVE_THREADS];
    bool spawned[WEAVE_THREADS]; /* not there at the start */
    uint32_t threads, objects;
    /* the run */
    uint32_t at[WEAVE_THREADS], actor[WEAVE_THREADS], thread_of[WEAVE_THREADS];
    uint32_t object_number[WEAVE_OPS];
    uint8_t order[WEAVE_STEPS]; /* threads in the order they ran */
    uint32_t steps;
} weave;

/* `threads` threads that write one object `k` times each, all there at the start. */
weave weave_writers(uint32_t threads, uint32_t k);
extern const rad_machine weave_machine;
extern weave *weave_on_loom;
rad_target weave_target(weave *w);
uint64_t weave_order_number(const weave *w); /* the order as a number in base `threads` */

/* ---- Witness --------------------------------------------------------------------------------------- */

typedef struct witness {
    rad_observer observer;
    bool check_valid; /* rad__enabled_valid after every step */
    uint64_t steps, decisions, invalid;
    uint64_t preemptions, delays; /* counted without the kernel's flags and indices */
    uint64_t wrong_index;         /* decisions in which index <-> action was no bijection */
    uint64_t wrong_order;         /* … or the others were not in ascending order */
    uint32_t actions_run[4096];
    uint32_t counts[4096];    /* of decisions */
    uint32_t baselines[4096]; /* of decisions among actions */
    uint32_t last_action;
    bool last_yielded;
    rad_touched touched[16]; /* of the last step */
    uint32_t touched_count;
} witness;

void witness_open(witness *w);

/* ---- Every choice list ------------------------------------------------------------------------------ */

typedef struct leaf {
    uint64_t preemptions, delays;
    bool failed;
    char identity[120];
    char hash[33];
} leaf;

typedef struct leaves {
    leaf *items;
    uint32_t count, capacity;
} leaves;

/* Runs every choice list of the target; costs come from a witness. */
void leaves_of(leaves *l, const rad_target *t);
void leaves_free(leaves *l);

/* ---- Numbers ---------------------------------------------------------------------------------------- */

double pearson(const uint64_t *seen, uint32_t cells, uint64_t total);
double pearson_limit(uint32_t cells); /* six standard deviations above the mean */

uint64_t multinomial(uint32_t n, uint32_t k); /* (nk)! / (k!)^n */

/* A target by name, with "n=2 k=3" or NULL. */
rad_target target_of(const char *machine, const char *words);

/* Everything but the time must be equal. */
void assert_same_exploration(const rad_exploration *a, const rad_exploration *b);

#endif
