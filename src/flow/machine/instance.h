/* instance.h — one execution of a flow: the machine (vm.h), the kernel that decides, and what comes in and goes out.
 *
 *     open -> (run -> asks -> … -> feed)* -> closed
 *
 * run does steps until no token can continue by itself; what tokens want from the world is in `asks`; what the world
 * answers is fed, and is the only thing besides choices that a case depends on. Where inputs are fed between steps is
 * part of the run: a journal keeps the step number with each of them, and a second case that is fed the same at the
 * same steps does the same, choice by choice, and has the same trace digest. Nothing here waits, or knows a clock. */
#ifndef RAD_FLOW_MACHINE_INSTANCE_H
#define RAD_FLOW_MACHINE_INSTANCE_H

#include "core/kernel.h"
#include "flow/lang/program.h"

/* ---- What a case asks of the world ---------------------------------------------------------------------- */

enum rad_flow_ask_kind {
    RAD_ASK_START = 1, /* run the task: key, attempt, task, values (rad__flow_case_value of the token's data) */
    RAD_ASK_STOP,      /* it was cancelled: end it if it runs; no result will be taken any more */
    RAD_ASK_TIMER,     /* tell me after delay_ns; key */
    RAD_ASK_NO_TIMER,  /* forget that timer */
    RAD_ASK_KINDS
};

/* The key of an effect: (path of the token, n-th effect of that path), as text "0/3.1#2". Two effects of a case never
 * have the same; a retry keeps the key and counts `attempt` (from 1). */
enum { RAD_FLOW_KEY_MAX = 8192 };

typedef struct rad_flow_ask {
    enum rad_flow_ask_kind kind;
    uint32_t token;  /* number, for rad__flow_case_key and rad__flow_case_value */
    uint32_t effect; /* the n of its key */
    uint32_t task;   /* index into the tree's tasks, or RAD_NONE */
    uint32_t attempt;
    uint32_t alternative; /* of a TIMER of a defer: which branch; otherwise 0 */
    uint32_t
        data; /* of START: the data as they were at the start; valid until the asks are taken (rad__flow_asks_taken) */
    uint64_t delay_ns;
    uint64_t step; /* at which it was asked */
} rad_flow_ask;

/* ---- What the world tells a case ------------------------------------------------------------------------ */

enum rad_flow_input_kind {
    RAD_INPUT_RESULT = 1, /* key, attempt, ok, values */
    RAD_INPUT_TIMER,      /* key, alternative */
    RAD_INPUT_SIGNAL,     /* name, text: the payload */
    RAD_INPUT_CANCEL,     /* scope, name */
    RAD_INPUT_KINDS
};

/* A value written by a task: the variable's index, and the value as text ("12", "true", any text). */
typedef struct rad_flow_write {
    uint32_t variable;
    const char *text;
    size_t length;
} rad_flow_write;

typedef struct rad_flow_input {
    enum rad_flow_input_kind kind;
    const char *key; /* "0/3.1#2" */
    uint32_t attempt;
    uint32_t alternative;
    bool ok;
    const char *why; /* of a result that is not ok: a reason for people, or NULL */
    const rad_flow_write *writes;
    uint32_t write_count;
    enum rad_flow_part scope;
    const char *name; /* of a signal, task or region */
    const char *text; /* of a signal, or NULL */
    size_t length;
} rad_flow_input;

/* ---- The case ------------------------------------------------------------------------------------------- */

enum rad_flow_world {
    RAD_WORLD_LIVE = 0, /* the caller answers the asks */
    RAD_WORLD_CHOSEN,   /* simulated: outcomes, values and events are choices of the kernel */
    RAD_WORLD_DRAWN     /* simulated: they are drawn from (seed, key), whatever the order of steps */
};

enum rad_flow_state {
    RAD_CASE_RUNNING = 0, /* the quantum was used up */
    RAD_CASE_WAITING,     /* for the world */
    RAD_CASE_DONE,
    RAD_CASE_FAILED, /* see failure */
    RAD_CASE_CANCELLED,
    RAD_CASE_DEADLOCK, /* see failure */
    RAD_CASE_DIVERGED, /* a strict replay; see error */
    RAD_CASE_BROKEN    /* memory or a limit; see error */
};

typedef struct rad_flow_initial {
    const char *name, *text;
} rad_flow_initial;

typedef struct rad_flow_case_options {
    const char *policy; /* "first", "random", "pct:3", …; NULL: "first" */
    uint64_t seed;
    enum rad_flow_world world;
    uint64_t outcome_seed;           /* of RAD_WORLD_DRAWN */
    const rad_flow_initial *initial; /* data that begin with other values than in the file */
    uint32_t initial_count;
    bool keep_choices; /* for rad__flow_case_choices; at most RAD_CHOICES_MAX */
    bool whole_trace;
    rad_policy *own_policy; /* instead of the named one; the caller frees it */
    rad_observer *observers[RAD_OBSERVERS_MAX];
} rad_flow_case_options;

typedef struct rad_flow_case {
    const rad_flow_program *program;
    struct rad_flow_vm *vm;
    rad_kernel *kernel;
    rad_policy *policy;
    bool policy_is_own;
    enum rad_flow_state state;
    rad_flow_ask *asks; /* not taken yet, oldest first */
    uint32_t ask_count, ask_capacity;
    rad_choice_buffer choices;
    uint64_t choice_count;
    rad_error error;
} rad_flow_case;

RAD_INTERNAL int rad__flow_case_open(rad_flow_case **out, const rad_flow_program *p, const rad_flow_case_options *o,
                                     rad_error *error);
RAD_INTERNAL void rad__flow_case_close(rad_flow_case *c); /* may be NULL */

/* At most `steps` steps. */
RAD_INTERNAL enum rad_flow_state rad__flow_case_run(rad_flow_case *c, uint64_t steps);

/* Before the next step. What no token waits for any more (a result of an effect that was stopped) is ignored: *used is
 * false. RAD_EINPUT: it never was asked, a value does not fit its variable, there is no such name. */
RAD_INTERNAL int rad__flow_case_feed(rad_flow_case *c, const rad_flow_input *input, bool *used, rad_error *error);

/* The caller has seen to all asks. */
RAD_INTERNAL void rad__flow_asks_taken(rad_flow_case *c);

/* The caller has seen to none of them: those that no token wants any more go. */
RAD_INTERNAL void rad__flow_asks_prune(rad_flow_case *c);

RAD_INTERNAL uint64_t rad__flow_case_steps(const rad_flow_case *c);
RAD_INTERNAL rad_digest rad__flow_case_digest(const rad_flow_case *c); /* of the trace so far */
RAD_INTERNAL void rad__flow_case_key(const rad_flow_case *c, uint32_t token, uint32_t effect,
                                     char key[RAD_FLOW_KEY_MAX]);

/* Which of its many a token is, for people: the values of `as`, or numbers, outermost first; "" when there are none.
 * What does not fit is left out. */
enum { RAD_FLOW_INSTANCE_MAX = 64 };
RAD_INTERNAL void rad__flow_case_instance(const rad_flow_case *c, uint32_t token, uint32_t data,
                                          char text[RAD_FLOW_INSTANCE_MAX]);

/* The value of a variable as text in the data of an ask; RAD_NONE: of the flow as it ended (or the first token's data
 * now). Valid until the next step; numbers are written into `number`. */
RAD_INTERNAL const char *rad__flow_case_value(const rad_flow_case *c, uint32_t data, uint32_t variable, char number[24],
                                              size_t *length);

/* Why it failed or is stuck, with lines; "" when it is not. */
RAD_INTERNAL const char *rad__flow_case_failure(const rad_flow_case *c);

#endif
