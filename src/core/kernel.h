/* kernel.h — the decision kernel: one loop that owns every choice of a machine.
 *
 * Run          reset -> (decide -> step -> check)* -> outcome
 * Decide       one enabled: the kernel runs it without calling the policy or recording a choice
 *              two or more: the policy gives an index, the kernel records it
 *              none: the machine says finished or stuck
 *
 * Fair         with options.fair, an actor that yields or spins is held back for those it starved: fair.h, spin.h
 *
 * Enabled set  dense action numbers in a bitmap (canonical order = ascending number) and, threaded
 *              through the actions, a list in the order of enabling (for the baseline)
 * Index        0 is the baseline: the current actor's action while it can run, has not yielded and has
 *              not been chosen BASELINE_STREAK times in a row; otherwise the one enabled longest, ties by
 *              number (the action that ran waits from the end of its step, behind those that the step
 *              enabled). 1 … are the others in canonical order.
 *
 * I1  bit set <=> action enabled <=> linked in the list or waiting in `fresh` (settled after the step).
 * I2  set_hash is the sum of the hashes of the enabled actions.
 * I3  choices has one record per decision with two or more values, in order. */
#ifndef RAD_CORE_KERNEL_H
#define RAD_CORE_KERNEL_H

#include "base/bitset.h"
#include "base/error.h"
#include "core/fair.h"
#include "core/policy.h"
#include "core/spin.h"
#include "core/trace.h"

#include <string.h>

enum { RAD_BASELINE_STREAK = 1000, RAD_SITES_MAX = 1024 };

enum rad_outcome {
    RAD_OUTCOME_FINISHED = 0,
    RAD_OUTCOME_FAILED,   /* an oracle reported: see failure */
    RAD_OUTCOME_DIVERGED, /* a strict replay met something else: see error */
    RAD_OUTCOME_CUT,      /* max_steps were taken: neither finished nor failed */
    RAD_OUTCOME_PRUNED,   /* an observer ended the run: nothing new behind this state */
    RAD_OUTCOME_ERROR     /* resources or a bug: see error */
};

typedef struct rad_failure {
    uint32_t oracle;
    uint64_t step;
    char message[400];
    char identity[RAD_IDENTITY_MAX]; /* oracle, role of the object, site: the same bug in another run or case */
} rad_failure;

/* A failure that did not end the run, and how far the run was after its step: a run that is ended there is the same up
 * to here. */
typedef struct rad_report {
    uint32_t oracle;
    uint64_t step;
    char message[400];
    char identity[RAD_IDENTITY_MAX];
    uint64_t steps, decisions, switches;
    rad_digest digest;
    uint32_t set_hash_count;
    uint64_t set_roll;
} rad_report;

enum { RAD_REPORTS_MAX = 8 }; /* in one run; further ones count only if they end it */

/* Things that watch a run besides its policy: log writer, trace classes, dedup. All optional. */
typedef struct rad_observer rad_observer;
struct rad_observer {
    void (*begin)(rad_observer *o, rad_kernel *k);
    void (*changed)(rad_observer *o, rad_kernel *k, uint32_t action, bool enabled);
    /* Before a choice among actions; true ends the run as pruned. */
    bool (*deciding)(rad_observer *o, rad_kernel *k);
    void (*decided)(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen);
    /* Only of choices within a step. */
    void (*picked)(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen);
    void (*ran)(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f);
};

enum { RAD_OBSERVERS_MAX = 4 };

/* Lies in memory shared with the supervisor: what is known of a run when its process dies. The trace keeps its last
 * events here, so that the supervisor can compute the digest, which nobody wants of most runs. */
enum { RAD_PATTERNS_TOLD = 256 };

typedef struct rad_beacon {
    volatile uint64_t steps;  /* completed */
    volatile uint64_t events; /* in these */
    volatile uint64_t folded; /* so many of them are part of the digest below; at most `events` */
    volatile uint64_t digest_low, digest_high;
    volatile uint64_t function;           /* of a user's policy, while it runs: enum rad_policy_function */
    char policy[RAD_POLICY_NAME_MAX + 1]; /* its name */
    volatile uint64_t suppressed;         /* races that did not count, … */
    volatile uint32_t suppressed_by[RAD_PATTERNS_TOLD]; /* … and how many of them each of the first patterns matched */
    rad_event ring[RAD_TRACE_KEEP];
} rad_beacon;

/* After the last completed step. */
RAD_INTERNAL rad_digest rad__beacon_digest(const rad_beacon *b);

/* What it means that a run takes max_steps steps. */
enum rad_limit {
    RAD_LIMIT_CUTS = 0, /* nothing: the run is cut there */
    RAD_LIMIT_FAILS,    /* a failure, step-limit: the machine ends under every schedule */
    RAD_LIMIT_ROUND     /* a failure, livelock: it is known that the run goes round from here */
};

typedef struct rad_run_options {
    rad_policy *policy;
    rad_run_info info;
    uint64_t max_steps; /* 0 = RAD_MAX_STEPS */
    enum rad_limit limit;
    /* Which races end the run: NULL: all; otherwise those of this identity ("": none). */
    const char *ends_at;
    const char *const
        *suppressed;      /* patterns of functions and files whose races do not count, NULL at the end; or NULL */
    bool may_prune;       /* a user's policy may leave the rest of the run out */
    bool fair;            /* who yields or spins lets others go first: fair.h */
    uint32_t spin_rounds; /* … but not in this number of first rounds of each actor */
    bool whole_trace;     /* keep every event, not only the last ones */
    bool digest_later;    /* trace.digest is right only after rad__kernel_digest */
    bool check;           /* the structures after each step, not only now and then: RAD_CHECK_EVERY */
    rad_estimates *into;  /* what the policy learned is added here; may be NULL */
    rad_beacon *beacon;   /* where the run is, for the supervisor; may be NULL */
    rad_observer *observers[RAD_OBSERVERS_MAX];
} rad_run_options;

/* How many steps are made before structures are looked at from end to end, by the kernel (I1, I2) and by machines. */
enum { RAD_CHECK_EVERY = 1024 };

#define RAD_MAX_STEPS ((uint64_t)RAD_MAX_STEPS_DEFAULT)

typedef struct rad_actor_entry {
    uint64_t signature;
    const char *role;
    uint32_t spawner;
    uint32_t actors_spawned;
    uint32_t objects_made;
    uint32_t action;  /* the newest enabled one; RAD_NONE: ask rad__actor_action */
    uint32_t enabled; /* how many, also aside */
    uint32_t waits_for;
    uint32_t holder;
    uint32_t looks;  /* since it did anything else: spin.h */
    uint32_t spared; /* rounds in which it let nobody go first: fair.h */
    bool waiting;
    bool ended;
    uint8_t spins;        /* in the last of its looks, if it has any: the period; 0: it does not */
    uint8_t spared_looks; /* of a round that is not complete */
    bool aside;           /* fair.h */
} rad_actor_entry;

typedef struct rad_object_entry {
    uint64_t signature;
    const char *role;
    const char *name; /* of its own, for people; NULL: it is known by its role */
} rad_object_entry;

enum rad_link { RAD_LINK_NONE = 0, RAD_LINK_LIST, RAD_LINK_FRESH, RAD_LINK_ASIDE };

typedef struct rad_action_entry {
    uint64_t hash; /* of the four fields: its share of set_hash */
    uint64_t argument;
    uint32_t kind;
    uint32_t actor;
    uint32_t object;
    uint32_t older, newer; /* neighbours in the order of enabling */
    uint32_t site;         /* announced */
    uint32_t target;       /* announced object */
    uint8_t access;        /* announced */
    uint8_t link;          /* enum rad_link */
} rad_action_entry;

struct rad_kernel {
    const rad_machine *machine;
    void *self;

    rad_actor_entry *actors;
    uint32_t actor_count, actor_capacity;
    rad_object_entry *objects;
    uint32_t object_count, object_capacity;
    uint32_t root_actors, root_objects; /* made by nobody: ordinals for their signatures */
    rad_action_entry *actions;
    uint32_t action_count, action_capacity;
    uint32_t *intern; /* open addressing: action number, valid when stamp matches */
    uint32_t *intern_stamp;
    uint32_t intern_size, intern_generation;

    rad_bitset enabled;
    uint64_t set_hash;
    uint32_t oldest, newest; /* ends of the list */
    uint32_t *fresh;         /* enabled in this step, to be linked in order of number */
    uint32_t fresh_count, fresh_capacity;

    uint64_t step;
    uint32_t current;  /* action being stepped, or the last one */
    uint32_t streak;   /* how often in a row the current actor was chosen */
    uint64_t switches; /* how often another actor ran than before */
    uint64_t value;
    bool valued;    /* the step said `value` */
    bool looked;    /* … that it wrote nothing */
    bool stirred;   /* it enabled or disabled something */
    bool chose;     /* it made a choice */
    bool yielded;   /* the baseline goes to another actor */
    bool gives_way; /* it yielded, or spins: fair.h */
    bool spared;    /* it would have yielded, but is in one of the rounds that let nobody go first: fair.h */
    bool idles;     /* it did nothing but look: spin.h */
    rad_touched *touched;
    uint32_t touched_count, touched_capacity;

    rad_fair fair;
    rad_round_state *round_state; /* of the machine, in this run; or NULL */
    bool recognises;              /* who spins: spin.h */
    uint64_t turn;                /* the step at which the next long turn ends: fair.h */
    uint64_t check_at;            /* the step after which the enabled set is checked next … */
    uint64_t unchecked;           /* … and steps of earlier runs that were made since the last time */
    rad_looks *looks;             /* per actor */
    uint32_t looks_capacity;

    rad_choice_buffer choices;
    uint64_t decisions;
    uint64_t set_roll;    /* rolling hash over (set_hash, count, chosen) of all decisions */
    uint64_t *set_hashes; /* set_roll at every 64th decision */
    uint32_t set_hash_count, set_hash_capacity;
    rad_trace trace;

    rad_run_options options;
    const rad_policy_class *policy_class;
    uint32_t observer_count;
    bool observed_deciding, observed_decided; /* some observer wants to know */
    bool failed;
    bool ended; /* the run must stop after this step: failure, divergence, error */
    enum rad_outcome outcome;
    rad_failure failure;
    rad_report reports[RAD_REPORTS_MAX + 1]; /* the last one: of a race that ends the run */
    uint32_t report_count, reports_settled;  /* settled: the step of the report is over */
    rad_error error;

    uint64_t suppressed;     /* races that did not count, over all runs of this kernel, … */
    uint64_t *suppressed_by; /* … and for each of options.suppressed how many of them it matched */
    uint32_t suppressed_count, suppressed_capacity;
    uint64_t evaluations[RAD_ORACLES_MAX]; /* over all runs of this kernel */
    uint8_t reached[RAD_SITES_MAX];        /* sites stepped, over all runs */
};

/* `choices` has room for the caller's limit; without items none are kept, and there is no limit. Machine and self may
 * be set later by rad__kernel_use. */
RAD_INTERNAL int rad__kernel_open(rad_kernel **k, rad_choice_buffer choices, rad_error *error);
RAD_INTERNAL void rad__kernel_close(rad_kernel *k);
RAD_INTERNAL void rad__kernel_use(rad_kernel *k, const rad_machine *machine, void *self);
RAD_INTERNAL enum rad_outcome rad__kernel_run(rad_kernel *k, const rad_run_options *options);

/* The same in parts, for a machine that waits for the world in between. Advance does at most `steps` steps and is
 * true when nothing can go on: the run has ended, or the world must enable something. That is done by the machine's
 * owner between two calls (rad_enable, rad_note …, then rad__enabled_settle). How steps are divided among calls
 * changes nothing. */
RAD_INTERNAL void rad__kernel_begin(rad_kernel *k, const rad_run_options *options);
RAD_INTERNAL bool rad__kernel_advance(rad_kernel *k, uint64_t steps);
RAD_INTERNAL enum rad_outcome rad__kernel_end(rad_kernel *k);

/* The digest of the run so far. Without digest_later it is also in trace.digest whenever one of the above returns. */
RAD_INTERNAL rad_digest rad__kernel_digest(const rad_kernel *k);

/* a or b, where chance decides which: a branch would be mispredicted every other time. */
static inline uint32_t rad__either(bool which, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & -(uint32_t)which);
}

/* Index <-> action for a decision of kind RAD_PICK_ACTION. */
RAD_INTERNAL uint32_t rad__action_at_wide(const rad_kernel *k, const rad_decision *d, uint32_t index);
static inline uint32_t rad__action_at(const rad_kernel *k, const rad_decision *d, uint32_t index)
{
    if (RAD_UNLIKELY(k->enabled.word_count != 1)) return rad__action_at_wide(k, d, index);
    uint64_t others = k->enabled.words[0] & ~(UINT64_C(1) << d->baseline); /* never empty */
    for (uint32_t i = 1; i < index; i++) others &= others - 1;
    return rad__either(index != 0, (uint32_t)__builtin_ctzll(others), d->baseline);
}
RAD_INTERNAL uint32_t rad__index_of(const rad_kernel *k, const rad_decision *d, uint32_t action);

/* Is this the failure that a file speaks of? Files of earlier versions name no site: then any will do. */
RAD_INTERNAL bool rad__identity_is(const char *recorded, const char *actual);

/* Ends the run: by a strict policy or by whatever noticed a lack of resources. */
RAD_INTERNAL void rad__kernel_diverge(rad_kernel *k, const char *format, ...) RAD_PRINTF(2, 3);
RAD_INTERNAL void rad__kernel_error(rad_kernel *k, int code, const char *text);

/* "producer 2", "fork 0", "mutex accounts", or the bare role when it is the only one; "-" for RAD_NONE. */
enum { RAD_NAME_MAX = 48 };
RAD_INTERNAL void rad__actor_name(const rad_kernel *k, uint32_t actor, char name[RAD_NAME_MAX]);
/* Gives an object a name of its own, which has to outlive the run; identities keep to its role. */
RAD_INTERNAL void rad__object_called(rad_kernel *k, uint32_t object, const char *name);
RAD_INTERNAL void rad__object_name(const rad_kernel *k, uint32_t object, char name[RAD_NAME_MAX]);
RAD_INTERNAL void rad__action_name(const rad_kernel *k, uint32_t action, char name[2 * RAD_NAME_MAX]);

/* A new run has no actions yet; the kernel's own files only. */
RAD_INTERNAL void rad__actions_forget(rad_kernel *k);

/* The baseline goes to another actor, and that is no preemption; fairness is not concerned. For machines whose steps
 * yield in a sense of their own: a worker whose task does has not stopped making progress. */
RAD_INTERNAL void rad__turn_ends(rad_kernel *k);

/* In a step, for machines that know better than the kernel what their actor saw (and have `progresses`): 0: it had an
 * effect; otherwise it was a look, private or not. Long turns end in such machines, too: rad__turns_are_long, in
 * reset. */
RAD_INTERNAL void rad__spin_saw(rad_kernel *k, uint32_t actor, uint64_t look, bool private);
RAD_INTERNAL void rad__turns_are_long(rad_kernel *k);

/* As rad_yields, also in the first rounds that a run spares: for a check that counts fair rounds. */
RAD_INTERNAL void rad__yields_fairly(rad_kernel *k);

/* The actor of the step would yield after this number of rounds. True: they are among its first ones, and let nobody go
 * first. */
RAD_INTERNAL bool rad__spared(rad_kernel *k, uint32_t actor, uint32_t rounds);

/* Is this object the end of the actor, for which others wait? An end has the role of its actor. */
static inline bool rad__is_end_of(const rad_kernel *k, uint32_t object, uint32_t actor)
{
    return strcmp(k->objects[object].role, k->actors[actor].role) == 0;
}

/* Whether it has looked, and spun in its last look: how many looks its round has. */
static inline uint32_t rad__spins(const rad_kernel *k, uint32_t actor)
{
    return k->actors[actor].looks > 0 ? k->actors[actor].spins : 0;
}

/* Links what was enabled in reset, or in the step of `action`; the kernel's own files only. */
RAD_INTERNAL void rad__enabled_settle(rad_kernel *k);
RAD_INTERNAL uint32_t rad__enabled_newest_of(const rad_kernel *k, uint32_t actor);
RAD_INTERNAL void rad__enabled_stepped(rad_kernel *k, uint32_t action);
/* All enabled actions of an actor leave the set, or come back to its end (after rad__enabled_settle). */
RAD_INTERNAL void rad__enabled_aside(rad_kernel *k, uint32_t actor, bool aside);
RAD_INTERNAL bool rad__enabled_valid(const rad_kernel *k);
RAD_INTERNAL void rad__deadlock_report(rad_kernel *k);

/* The same of some actors that wait in vain, whatever the others do; `why` is a sentence without its stop. */
RAD_INTERNAL void rad__stuck_report(rad_kernel *k, uint32_t oracle, const uint32_t *actors, uint32_t count,
                                    const char *why);

/* rad_value and rad_announce, for machines of the lab that make very short steps. */
static inline void rad__kernel_value(rad_kernel *k, uint64_t value)
{
    k->value = value;
    k->valued = true;
}

static inline void rad__kernel_announce(rad_kernel *k, uint32_t action, uint32_t site, uint32_t object,
                                        enum rad_access access)
{
    if (RAD_UNLIKELY(action >= k->action_count)) return;
    rad_action_entry *a = &k->actions[action];
    a->site = site;
    a->target = object;
    a->access = (uint8_t)access;
    if (k->policy_class->announced) k->policy_class->announced(k->options.policy, k, action);
}

/* Between steps: the enabled action of an actor, the newest if there are several, or RAD_NONE. */
static inline uint32_t rad__actor_action(const rad_kernel *k, uint32_t actor)
{
    const rad_actor_entry *a = &k->actors[actor];
    if (RAD_LIKELY(a->action != RAD_NONE || a->enabled == 0)) return a->action;
    return rad__enabled_newest_of(k, actor);
}

#endif
