/* raddle/policy.h — how to write a policy: what decides within one run.
 *
 * A run is a sequence of decisions: which of the enabled actions is next, and, inside a step, which of n values a
 * machine gets. Raddle calls the policy for each of them. A *policy* is a table of functions (struct rad_policy_table)
 * over a state of its own; only `choose` is needed. docs/policy.md is the guide.
 *
 *     create                                   once, with the text after the colon in "name:text"
 *     begin(run)                               for every run
 *         changed(action, enabled)             an action entered or left the enabled set
 *         choose(choice) -> index              two or more can be chosen
 *         ran(action, footprint)               a step is over
 *     end(run)
 *     destroy                                  once
 *
 * A policy in a shared object exports `rad_policies` and needs no library: what it calls comes with the run.
 *
 *     cc -shared -fPIC lru.c $(pkg-config --cflags raddle-lab) -o lru.so
 *     raddle run counter --policy ./lru.so
 *     raddle explore counter --strategy ./lru.so
 *
 * A program with machines of its own adds its policies before rad_lab_main (rad_policy_add).
 *
 * Raddle calls one function of a policy at a time. A policy reads no clock, no address and no random numbers but
 * rad_policy_below: then a run follows from its seed and its index alone, in whichever process it is done. Replay,
 * shrink and show never call a policy: they use the recorded choices. */
#ifndef RADDLE_POLICY_H
#define RADDLE_POLICY_H

#include <raddle/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Goes into rad_policy_table.abi. Fields of the table, the run and the choice, and calls, are only added, at the ends,
 * and each addition raises the number: raddle loads policies of its own number and of lower ones. */
enum { RAD_POLICY_ABI = 1 };

enum { RAD_POLICY_NAME_MAX = 15 };

/* ---- What a policy sees ------------------------------------------------------------------------------ */

struct rad_policy_calls;

/* The run. Valid from begin to end; the counts are those of the moment. */
typedef struct rad_policy_run {
    const struct rad_policy_calls *calls; /* for the functions below */
    void *inside;                         /* raddle's own */
    uint64_t seed;                        /* --seed */
    uint64_t run;                         /* index of the run: 0, 1, … in `explore`, 0 for a single run */
    uint64_t steps;                       /* done so far */
    uint64_t decisions;                   /* made so far */
    uint32_t current;                     /* the action of the step that runs or ran last; RAD_NONE before the first */
} rad_policy_run;

/* One decision, for `choose`. */
typedef struct rad_policy_choice {
    enum rad_pick_kind kind; /* RAD_PICK_ACTION: which action is next; the others: a value inside a step */
    uint32_t site;           /* of a value: where; of actions: where the current actor is, or RAD_NONE */
    uint32_t count;          /* 2 or more; the answer is an index below it */
    uint32_t baseline;       /* the index that raddle takes without a policy; of a value 0 */
    bool preempts;           /* any other index than `baseline` preempts the current actor */
} rad_policy_choice;

/* An action: what it is, and what its next step announced (rad_announce). */
typedef struct rad_policy_action {
    uint32_t number;           /* dense, in order of creation: the canonical order */
    uint32_t kind;             /* of the machine's own numbering */
    uint32_t actor;            /* RAD_NONE: an event from outside */
    uint32_t object;           /* part of its identity, RAD_NONE: none */
    uint64_t argument;         /* part of its identity */
    uint32_t site;             /* announced */
    uint32_t target;           /* announced: the object that the step touches; RAD_NONE: none */
    enum rad_access access;    /* announced: what the step does to it */
    uint64_t actor_signature;  /* the same in every schedule; 0: no actor */
    uint64_t target_signature; /* the same in every schedule; 0: no target */
} rad_policy_action;

typedef struct rad_touched {
    uint32_t object;
    uint32_t access; /* enum rad_access */
} rad_touched;

/* What a step touched: the announced object first, then the others. */
typedef struct rad_footprint {
    const rad_touched *items;
    uint32_t count;
    bool yielded;
} rad_footprint;

/* ---- The policy -------------------------------------------------------------------------------------- */

typedef struct rad_policy_table {
    uint32_t abi;      /* RAD_POLICY_ABI */
    const char *name;  /* a-z, then a-z, 0-9, - or _; RAD_POLICY_NAME_MAX at most; goes into files */
    const char *about; /* one line for `raddle list`; may be NULL */
    /* Seed and index of the run change nothing: `explore` does one run. */
    bool same_every_run;
    /* Raddle allocates the state. Without `create` it is zero when a run begins. With `create` it is kept between runs,
     * and begin has to forget them: the runs of an exploration are done by several processes, in any order. */
    size_t state_size;

    /* An index below c->count. Anything else ends the run with an error that names the policy. */
    uint32_t (*choose)(void *state, rad_policy_run *r, const rad_policy_choice *c);

    /* Optional. `argument` is the text after the colon, or NULL; without `create` there must be none. create returns 0,
     * or RAD_EINPUT with a text in *error; destroy is called only after a create that returned 0. */
    int (*create)(void *state, const char *argument, rad_error *error);
    void (*destroy)(void *state);
    void (*begin)(void *state, rad_policy_run *r);
    /* In the middle of a step, or before the first one. */
    void (*changed)(void *state, rad_policy_run *r, uint32_t action, bool enabled);
    void (*ran)(void *state, rad_policy_run *r, uint32_t action, const rad_footprint *f);
    void (*end)(void *state, rad_policy_run *r);
} rad_policy_table;

/* A shared object defines this, NULL at the end. */
RAD_API extern const rad_policy_table *const rad_policies[];

/* ---- What a policy calls ----------------------------------------------------------------------------- */

enum rad_policy_space { RAD_PER_ACTION = 0, RAD_PER_ACTOR, RAD_PER_OBJECT, RAD_PER_SPACES };

/* Used through the functions below. */
struct rad_policy_calls {
    uint32_t (*action_at)(const rad_policy_run *r, uint32_t index);
    uint32_t (*index_of)(const rad_policy_run *r, uint32_t action);
    uint32_t (*next_enabled)(const rad_policy_run *r, uint32_t action);
    bool (*look)(const rad_policy_run *r, uint32_t action, rad_policy_action *out);
    uint64_t *(*word)(rad_policy_run *r, enum rad_policy_space space, uint32_t number);
    uint64_t (*below)(rad_policy_run *r, uint64_t bound);
    void (*name_of)(const rad_policy_run *r, uint32_t action, char *text, size_t size);
    void (*prune)(rad_policy_run *r);
};

/* The number of the index-th enabled action in canonical order, in a choice of kind RAD_PICK_ACTION; RAD_NONE beyond
 * the last. Constant time up to 64 actions, then a search in a tree of fan-out 16. */
static inline uint32_t rad_policy_action_at(const rad_policy_run *r, uint32_t index)
{
    return r->calls->action_at(r, index);
}

/* The index of an enabled action; RAD_NONE when it is not enabled. The same cost. */
static inline uint32_t rad_policy_index_of(const rad_policy_run *r, uint32_t action)
{
    return r->calls->index_of(r, action);
}

/* The first enabled action whose number is `action` or higher, or RAD_NONE: cheaper than action_at for walking the
 * set. */
static inline uint32_t rad_policy_next(const rad_policy_run *r, uint32_t action)
{
    return r->calls->next_enabled(r, action);
}

/* What an action is and has announced, enabled or not. Constant time. False, and nothing is written: there is no such
 * action. */
static inline bool rad_policy_look(const rad_policy_run *r, uint32_t action, rad_policy_action *out)
{
    return r->calls->look(r, action, out);
}

/* A word for the policy's own use, one for each action, actor or object, 0 when a run begins. `number` is one that a
 * call or a footprint gave, or RAD_NONE. Constant time; the address holds until the next call. Raddle keeps the words
 * and deals with lack of memory. */
static inline uint64_t *rad_policy_word(rad_policy_run *r, enum rad_policy_space space, uint32_t number)
{
    return r->calls->word(r, space, number);
}

/* Uniform in 0 … bound-1; 0 for a bound of 0. Each run seeds the generator from its seed and index. */
static inline uint64_t rad_policy_below(rad_policy_run *r, uint64_t bound)
{
    return r->calls->below(r, bound);
}

/* "producer 2: put": for messages. */
static inline void rad_policy_name(const rad_policy_run *r, uint32_t action, char *text, size_t size)
{
    r->calls->name_of(r, action, text, size);
}

/* Ends the run: whatever follows is equivalent to what another run does. It counts as a run without a failure. From any
 * function; the answer of that `choose` is ignored. In `explore` only: elsewhere the run ends with an error that names
 * the policy, because a single run has to come to its end. */
static inline void rad_policy_prune(rad_policy_run *r)
{
    r->calls->prune(r);
}

/* Do the next steps of two actions conflict, as announced? Then their order matters: one actor's steps always do,
 * others when they touch one object and not both read. */
static inline bool rad_policy_conflict(const rad_policy_action *a, const rad_policy_action *b)
{
    if (a->actor == b->actor && a->actor != RAD_NONE) return true;
    if (a->target != b->target || a->target == RAD_NONE) return false;
    return a->access != RAD_LOCAL && b->access != RAD_LOCAL && (a->access == RAD_WRITE || b->access == RAD_WRITE);
}

/* Does the next step of an action conflict with a step of another actor that touched `f`? */
static inline bool rad_policy_meets(const rad_policy_action *a, const rad_footprint *f)
{
    uint32_t i;
    for (i = 0; i < f->count; i++)
        if (f->items[i].object == a->target && a->target != RAD_NONE && f->items[i].access != RAD_LOCAL &&
            a->access != RAD_LOCAL && (f->items[i].access == RAD_WRITE || a->access == RAD_WRITE))
            return true;
    return false;
}

/* ---- For programs that are linked with raddle-lab ---------------------------------------------------- */

/* Adds a policy for this process: its name is then a policy and a strategy like any other, in rad_lab_main,
 * rad_lab_run, rad_lab_explore and rad_flow_run. The table must outlive its use. RAD_EINPUT: the name is bad or taken,
 * the version is not one of this library's, `choose` is missing. */
RAD_API int rad_policy_add(const rad_policy_table *table, rad_error *error);

/* The same for a shared object: PATH, or PATH:NAME when it has several policies, or PATH:NAME:ARGUMENT. The path has a
 * slash in it. Raddle looks into the file for `rad_policies` before it loads it, and it stays loaded. `name` gets what
 * to give as a policy: "NAME" or "NAME:ARGUMENT". RAD_EINPUT says what is wrong with the file. */
enum { RAD_POLICY_TEXT_MAX = 48 };
RAD_API int rad_policy_load(const char *path, char name[RAD_POLICY_TEXT_MAX], rad_error *error);

#ifdef __cplusplus
}
#endif
#endif
