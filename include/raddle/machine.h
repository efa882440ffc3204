/* raddle/machine.h — how to describe something that can be explored.
 *
 * A *machine* is anything whose next step a policy can choose: threads over shared cells, an
 * executor, a protocol, a workflow. It implements a few functions (struct rad_machine); then every
 * tool of the lab works on it: explore, record, replay, shrink, show, corpus.
 *
 * The kernel (struct rad_kernel) makes the decisions. While it resets or steps a machine, the machine
 * calls the functions below to create actors and objects, to say what became enabled or disabled and what
 * a step touched, and to ask for choices. A machine has no clock, no random numbers and nothing that
 * depends on an address: everything it does is a function of its case and of the choices it was given.
 *
 *     reset(m, k)          rad_actor, rad_object, rad_action, rad_enable …
 *     loop  the kernel picks one enabled action a
 *           step(m, k, a)  rad_pick, rad_enable, rad_disable, rad_announce, rad_value, rad_fail …
 *           check(m, k)    rad_fail when an invariant does not hold
 *     until nothing is enabled, then idle(m, k) says whether that is the end or a deadlock. */
#ifndef RADDLE_MACHINE_H
#define RADDLE_MACHINE_H

#include <raddle/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rad_kernel rad_kernel;

/* ---- Actors, objects, actions -------------------------------------------------------------------
 * Each has a *number*, dense, in order of creation within the run: it gives the canonical order and is
 * equal in all runs that began with the same choices. Actors and objects also have a *signature*,
 * (spawner's signature, ordinal among the spawner's children), which is the same in every schedule and
 * lets different runs be compared. `role` names what it is ("producer", "fork"), not which one; the
 * string must outlive the kernel. Numbers are RAD_NONE only when memory ran out (the run then ends). */

RAD_API uint32_t rad_actor(rad_kernel *k, uint32_t spawner, const char *role);
RAD_API uint32_t rad_object(rad_kernel *k, uint32_t creator, const char *role);

/* The action {kind, actor, object, argument}; equal ones get the same number. Most machines have one
 * action per actor ("run") and keep its number. */
RAD_API uint32_t rad_action(rad_kernel *k, uint32_t kind, uint32_t actor, uint32_t object, uint64_t argument);

/* Additions to and removals from the enabled set; allowed in reset and step, in any order. Enabling
 * what is enabled, or disabling what is not, does nothing. */
RAD_API void rad_enable(rad_kernel *k, uint32_t action);
RAD_API void rad_disable(rad_kernel *k, uint32_t action);

/* What an access does to an object. Two steps conflict when they touch one object and not both read. */
enum rad_access { RAD_LOCAL = 0, RAD_READ = 1, RAD_WRITE = 2 };

/* What `action` will do when it is next chosen: at which site (a place that survives an edit: numbers
 * are the machine's, named by site_name), to which object. Holds until announced anew. */
RAD_API void rad_announce(rad_kernel *k, uint32_t action, uint32_t site, uint32_t object, enum rad_access access);

/* ---- Inside a step ------------------------------------------------------------------------------ */

/* A choice inside the step: 0 … count-1, where 0 is the default (oldest first, newest store, no fault).
 * A count of 1 is not a decision. Kinds are for people and for bounds. */
enum rad_pick_kind {
    RAD_PICK_ACTION = 0, /* the kernel's own: which action is next */
    RAD_PICK_CASE,       /* select case, branch */
    RAD_PICK_WAKE,       /* which waiter is woken */
    RAD_PICK_VALUE,      /* a value the program asked for */
    RAD_PICK_FAULT,      /* does something fail here */
    RAD_PICK_READ,       /* which store a load reads */
    RAD_PICK_KINDS
};
RAD_API uint32_t rad_pick(rad_kernel *k, enum rad_pick_kind kind, uint32_t site, uint32_t count);

/* The step touched one more object than its action announced. */
RAD_API void rad_touch(rad_kernel *k, uint32_t object, enum rad_access access);

/* What the step read, wrote or returned: goes into the trace and so into the digest. */
RAD_API void rad_value(rad_kernel *k, uint64_t value);

/* One more event of this step in the trace. kind < 0x8000, named by kind_name. In a name the sign % is replaced by the
 * value ("wakes worker %"), the sign @ for the name of the actor of that number, the sign # for the name of
 * the object; where there is none of these, the value follows unless it is 0 and there is no object. */
RAD_API void rad_note(rad_kernel *k, uint32_t kind, uint32_t object, uint64_t value);

/* The current actor yields: the baseline continues with another actor, and that is no preemption. Call it in a step
 * that found nothing to do. An actor that yields twice lets the actors run first that it kept waiting in between
 * (docs/write-a-machine.md, "Spinning"). */
RAD_API void rad_yields(rad_kernel *k);

/* The step changed nothing, although its action announced a write: a compare-and-swap that failed. The lab recognises
 * an actor that spins by steps without effect, and takes announced writes for effects. */
RAD_API void rad_looked(rad_kernel *k);

/* `actor` now waits for `object`, which `holder` has (or RAD_NONE). For reports; ends when any action
 * of the actor is enabled. */
RAD_API void rad_wait(rad_kernel *k, uint32_t actor, uint32_t object, uint32_t holder);

/* `actor` has ended and cannot be waited for by a deadlock report. */
RAD_API void rad_ended(rad_kernel *k, uint32_t actor);

/* ---- Oracles ------------------------------------------------------------------------------------
 * The first four belong to the kernel and lab; machines add their own from RAD_ORACLE_OWN on, named in
 * `oracles`. Each evaluation is counted, so that "nothing found" can be told from "nothing checked". */

enum { RAD_IDENTITY_MAX = 240 };

enum rad_oracle {
    RAD_ORACLE_DEADLOCK = 0,   /* nothing enabled, not finished */
    RAD_ORACLE_LIVELOCK,       /* a fair round of steps ends in the state in which it began */
    RAD_ORACLE_CRASH,          /* the machine's process died */
    RAD_ORACLE_HANG,           /* a step does not return */
    RAD_ORACLE_NONDETERMINISM, /* the same choices gave another run */
    RAD_ORACLE_ASSERT,         /* an assertion of the program under test */
    RAD_ORACLE_INVARIANT,      /* a property of the state after a step */
    RAD_ORACLE_STEP_LIMIT,     /* a machine that ends under every schedule took max_steps steps */
    RAD_ORACLE_OWN = 8,
    RAD_ORACLES_MAX = 40
};

/* Reports a failure of `oracle` about `object` (or RAD_NONE); the first one ends the run after this step.
 *
 * Failures with the same identity are one bug: explore reports it once, and shrinking keeps it. The identity is the
 * oracle, the role of the object and the site, "assertion:account@the sum is %d": so keep numbers out of roles.
 * The site is the format, RAD_CHECK takes the text of its condition, and rad_fail_at has it as an argument. Deadlocks
 * and the other failures that the lab itself reports have no site. */
RAD_API void rad_fail(rad_kernel *k, uint32_t oracle, uint32_t object, const char *format, ...) RAD_PRINTF(4, 5);
RAD_API void rad_fail_at(rad_kernel *k, uint32_t oracle, uint32_t object, const char *site, const char *format, ...)
    RAD_PRINTF(5, 6);

/* A place in code: what an access or a call is called in reports. Texts live as long as the machine. */
typedef struct rad_code_site {
    const char *function, *operation;
    uint32_t ordinal; /* from 1, among those with the same function and operation */
    /* For suppressions; NULL: not known. The source file, with its path or without, and the program or library. */
    const char *file, *module;
} rad_code_site;

/* Reports a failure that need not end the run: a race does harm in some runs only, and another failure may come
 * later. Counts once a run for each pair of places; their order does not matter. In `explore` the run
 * continues (unless told otherwise: rad_explore_options.races_fatal), elsewhere it ends after this step. */
RAD_API void rad_race(rad_kernel *k, uint32_t oracle, uint32_t object, const rad_code_site *one,
                      const rad_code_site *other, const char *format, ...) RAD_PRINTF(6, 7);

/* Counts one evaluation of an oracle. */
RAD_API void rad_evaluated(rad_kernel *k, uint32_t oracle);

#define RAD_CHECK(k, oracle, condition, object, ...)                                                                   \
    (rad_evaluated((k), (oracle)),                                                                                     \
     (condition) ? (void)0 : rad_fail_at((k), (oracle), (object), #condition, __VA_ARGS__))

/* ---- Looking at the kernel (also for policies and check functions) -------------------------------- */

RAD_API uint64_t rad_step_count(const rad_kernel *k);
RAD_API uint32_t rad_current_actor(const rad_kernel *k); /* of the action being stepped */
RAD_API bool rad_is_enabled(const rad_kernel *k, uint32_t action);
RAD_API uint32_t rad_enabled_count(const rad_kernel *k);

/* ---- The case: what one trial is about ------------------------------------------------------------ */

#define RAD_PARAMS_MAX 8

typedef struct rad_param {
    const char *name; /* lower case; NULL ends a list */
    int64_t default_value;
    int64_t min, max;
    const char *about;
    bool fixed; /* shrinking does not change it */
} rad_param;

enum { RAD_MAX_STEPS_DEFAULT = 100000 };

typedef struct rad_case {
    bool repaired; /* the fixed version, without the bug */
    int64_t params[RAD_PARAMS_MAX];
    uint64_t max_steps; /* a run that is not finished then is cut; 0 = RAD_MAX_STEPS_DEFAULT */
    /* The document, for machines that take one (rad_machine.body): the text of a JSON object. NULL is the
     * machine's default. A case borrows it, always: the caller keeps the text as long as the case is used. */
    const char *body;
    /* Rounds of loops that yield or spin which each actor makes in a run before the schedule has to be fair; 0: none.
     * Set by the explorer, and kept in schedule files: docs/write-a-machine.md, "Spinning". */
    uint32_t spin_rounds;
    uint32_t hang_ms; /* CPU time that one step may take; 0: 10,000. Kept in schedule files, too */
} rad_case;

/* ---- Smaller cases: for machines that say how theirs shrink ------------------------------------------ */

/* A range [from, to) of a list, to be left out. All zero at first. */
typedef struct rad_cut {
    uint32_t from, to;
    uint32_t span; /* of this pass */
} rad_cut;

/* Delta debugging over a list: the next range to leave out. The whole list, then halves, quarters, … single
 * items; each pass goes from the end to the front, so a cut that was taken does not move those to come.
 * `count` is the length that the list has now. False, and all zero again, after the last. */
RAD_API bool rad_cut_next(rad_cut *cut, uint32_t count);

/* Where a reducer is in its round. All zero when a round begins; `cut` and `at` are the machine's own. */
typedef struct rad_cursor {
    rad_cut cut;
    uint32_t at[4];
    bool taken;  /* set by the lab: the case of the last call was taken, and is `from` now */
    bool failed; /* set by the machine, which then returns false: memory ran out */
} rad_cursor;

/* ---- The machine ---------------------------------------------------------------------------------- */

enum rad_end { RAD_END_FINISHED = 0, RAD_END_STUCK };

/* The sink a machine pours its state into, in an order that does not depend on addresses. */
typedef struct rad_state_hash rad_state_hash;
RAD_API void rad_state_add(rad_state_hash *h, const void *bytes, size_t size);

typedef struct rad_machine {
    const char *name;
    const char *about; /* one line */
    const rad_param *params;
    const char *const *oracles; /* names from RAD_ORACLE_OWN on, NULL at the end; or NULL */
    const char *bug;            /* what is wrong with it, one line; NULL when nothing is */
    uint32_t bug_site;          /* the site at which the bug bites (RAD_NONE: none) */
    /* Every run ends, under every schedule: one that takes max_steps steps is a failure, `step-limit`. Without this
     * it is cut, which is neither a pass nor a failure: machines that spin do not end under an unfair schedule. */
    bool ends;
    /* Steps that only read are progress, too: none of them counts as spinning, however often it repeats itself. */
    bool progresses;
    bool self_test; /* tests raddle itself: 'raddle list' shows it only with --all */
    /* The default document of a machine that takes one, the text of a JSON object without blanks; NULL: numbers
     * are enough. Its fields are beside the parameters in a case file, so they have other names; `machine`,
     * `repaired`, `max_steps` and `schema_version` are taken, too. */
    const char *body;
    const void *own; /* for machines that share their functions: what create has to know about this one */

    /* One instance; it is reset for every run. `c` and its body are valid only during the call; the body is
     * not NULL when the machine takes one. A case without sense is RAD_EINPUT, and its text begins with the
     * place in the body ("threads[1][3]: expected …, found …"): the reader of a file puts its name before it. */
    int (*create)(void **self, const struct rad_machine *m, const rad_case *c, rad_error *error);
    void (*destroy)(void *self);
    void (*reset)(void *self, rad_kernel *k);
    void (*step)(void *self, rad_kernel *k, uint32_t action);
    enum rad_end (*idle)(void *self, rad_kernel *k);

    /* Optional. */
    void (*check)(void *self, rad_kernel *k);           /* invariants, after reset and after every step */
    void (*state)(const void *self, rad_state_hash *h); /* the *whole* state: allows dedup */
    size_t (*save)(const void *self, void *to);         /* snapshot; to == NULL asks for the size */
    void (*load)(void *self, const void *from);
    /* How large a case is, the first thing by which runs are compared: what shrinks must count. It may be asked
     * about any case that reduce made. NULL: the sum of the parameters that are not fixed (above their minimum)
     * and the length of the body. */
    uint64_t (*size)(const rad_case *c);
    /* The next smaller case, in an order of the machine's own, the most promising first; false ends the round.
     * *to is a copy of *from; a new body is memory from malloc, and from then on the lab's. Continuing where the
     * cursor is, and not from the beginning, after a case was taken makes a round linear; rounds are made
     * until one takes nothing. Passed over: a case that is not smaller by `size`, or that create refuses. */
    bool (*reduce)(const rad_case *from, rad_cursor *at, rad_case *to);
    /* Which actor in the case `to` takes over the part of `actor` of `from`; RAD_NONE: none, its steps are left out.
     * With it, the present run is tried in the smaller case first, actor by actor. `at` is the cursor
     * with which reduce made `to`; NULL: the lab lowered a parameter. NULL: nothing is carried over. */
    uint32_t (*heir)(const rad_case *from, const rad_case *to, const rad_cursor *at, uint32_t actor);
    /* Which of the enabled actions the machine itself would take now, of a machine with policies of its own: policy
     * `own` asks. RAD_NONE: it has no opinion. */
    uint32_t (*prefer)(const void *self);
    /* What no verdict on this case covers, as the end of a sentence: "every schedule was tried, under sequential
     * consistency". NULL, or without it: the schedules of the machine are all there is. */
    const char *(*limits)(const struct rad_machine *m, const rad_case *c);
    const char *(*kind_name)(const void *self, uint32_t kind); /* of actions and notes */
    const char *(*site_name)(const void *self, uint32_t site); /* NULL beyond the last site; "": unused */
    /* The state in words, for reports: calls `line` for each line of it. A machine that has this speaks for
     * itself: a step is shown by its notes alone, or, when it has none, by the name of its site. */
    void (*describe)(const void *self, void (*line)(void *context, const char *text), void *context);
} rad_machine;

/* "deadlock", "assertion", …, then the machine's own; NULL when there is no such oracle. */
RAD_API const char *rad_oracle_name(const rad_machine *m, uint32_t oracle);

#ifdef __cplusplus
}
#endif
#endif
