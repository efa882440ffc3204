/* raddle/session.h — protocols between roles: checked, projected, run under a monitor.
 *
 * A protocol file (docs/session.md) says which role sends which message to which role, with choices, loops, parallel
 * parts and calls. It is checked, and split into one local type for each role; a *machine* runs these as coroutines,
 * one instruction at a time, and refuses what the protocol does not allow. How many coroutines advance in a round (N),
 * which ones, and on how many threads: none of this makes a difference to any of them.
 *
 *     rad_protocols *p;
 *     rad_protocols_read(&p, "two_buyer.session", &error);
 *     rad_session_options o = rad_session_defaults();
 *     rad_session_vm *vm;
 *     rad_session_create(&vm, p, &o, &error);
 *     rad_session_handle(vm, "quote", my_quote, my_shop, &error); // what Seller offers; without: a number is drawn
 *     rad_session_open(vm, "TwoBuyer", 100, &error);
 *     enum rad_session_end end = rad_session_run(vm, 0);
 *
 * Calls return 0 or a negative RAD_E… code with the text in *error. Nothing here is a thread of its own; one
 * machine is used by one thread at a time. */
#ifndef RADDLE_SESSION_H
#define RADDLE_SESSION_H

#include <raddle/lab.h> /* rad_free */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Protocols ---------------------------------------------------------------------------------------- */

typedef struct rad_protocols rad_protocols;

/* Reads, checks and projects all protocols of a file. RAD_EINPUT: "FILE:LINE:COLUMN: what is wrong". */
RAD_API int rad_protocols_read(rad_protocols **p, const char *path, rad_error *error);

/* The same from memory; `name` is for messages. */
RAD_API int rad_protocols_parse(rad_protocols **p, const char *name, const char *text, size_t size, rad_error *error);
RAD_API void rad_protocols_free(rad_protocols *p);

RAD_API uint32_t rad_protocols_count(const rad_protocols *p);
RAD_API const char *rad_protocol_name(const rad_protocols *p, uint32_t protocol); /* NULL after the last */

/* The one that is meant when none is named: the last. RAD_NONE: there is none of that name. */
RAD_API uint32_t rad_protocol_find(const rad_protocols *p, const char *name);

RAD_API uint32_t rad_protocol_role_count(const rad_protocols *p, uint32_t protocol);
RAD_API const char *rad_protocol_role(const rad_protocols *p, uint32_t protocol, uint32_t role);

/* The part of a role and of its parallel branches, for people. rad_free the text; NULL: no memory. */
RAD_API char *rad_protocol_type_text(const rad_protocols *p, uint32_t protocol, uint32_t role);

/* The same as a C header: typed functions over channels, with a monitor (raddle/talk.h). A role that is one of a
 * family gets the header of its family. rad_free the text. NULL: *error says why: RAD_ENOMEM; RAD_EINPUT: two things
 * would have the same name in C. */
RAD_API char *rad_protocol_c_text(const rad_protocols *p, uint32_t protocol, uint32_t role, rad_error *error);

/* The protocol as a sequence diagram, in SVG; one that is written role by role as one diagram for each part, below each
 * other. rad_free the text; NULL: no memory. */
RAD_API char *rad_protocol_svg(const rad_protocols *p, uint32_t protocol);

typedef struct rad_protocol_counts {
    uint32_t roles, threads, edges, states, instructions;
} rad_protocol_counts;
RAD_API void rad_protocol_count(const rad_protocols *p, uint32_t protocol, rad_protocol_counts *out);

/* How large a random protocol may be. */
typedef struct rad_generate_bounds {
    uint32_t roles;      /* 2 … 8 */
    uint32_t family;     /* roles in a family, at most: 0 … 6 */
    uint32_t depth;      /* of blocks: 0 … 8 */
    uint32_t statements; /* about: 1 … 1,000 */
    uint32_t branches;   /* of a choice, at most: 2 … 4 */
    uint32_t subs;       /* protocols to call, at most: 0 … 8 */
} rad_generate_bounds;

RAD_API rad_generate_bounds rad_generate_defaults(void);

/* The text of a random protocol file, which rad_protocols_parse accepts; the last protocol in it is Main. NULL bounds:
 * the defaults. rad_free it. NULL: RAD_EINPUT (the bounds), RAD_ENOMEM. */
RAD_API char *rad_protocols_generate(uint64_t seed, const rad_generate_bounds *b, rad_error *error);

/* ---- Values and effects -------------------------------------------------------------------------------- */

enum rad_value_type { RAD_VALUE_INT = 0, RAD_VALUE_BOOL, RAD_VALUE_TEXT };

typedef struct rad_session_value {
    enum rad_value_type type;
    uint32_t length;  /* of the text, RAD_VALUE_TEXT_MAX at most */
    int64_t number;   /* of int and bool */
    const char *text; /* ends in a zero; one given by a handler is copied */
} rad_session_value;

enum { RAD_VALUE_TEXT_MAX = 65535 };

/* What a role is asked for: */
enum rad_effect_kind {
    RAD_EFFECT_PRODUCE = 0, /* the fields of a message it sends */
    RAD_EFFECT_SELECT,      /* which message it sends, and its fields */
    RAD_EFFECT_CONSUME,     /* it has received a message: here are the fields */
    RAD_EFFECT_DOES         /* `A does name` */
};

enum { RAD_EFFECT_FIELDS_MAX = 8 };

/* A message that can be selected. */
typedef struct rad_effect_option {
    const char *name, *partner;
    uint32_t field_count;
    enum rad_value_type types[RAD_EFFECT_FIELDS_MAX];
} rad_effect_option;

typedef struct rad_effect {
    enum rad_effect_kind kind;
    const char *session; /* "3": the fourth that was opened; "3/Alice.0": the first that Alice of it opened */
    const char *role;
    const char *thread;   /* the role, or one of its parallel branches: "Alice.2" */
    const char *partner;  /* or NULL */
    const char *name;     /* of the message or of what is done; NULL of a selection */
    uint64_t occurrence;  /* how many effects this coroutine has had before */
    uint64_t draw;        /* the same number in every run of this seed: the only randomness there is */
    uint32_t field_count; /* how many are given, or wanted */
    rad_session_value fields[RAD_EFFECT_FIELDS_MAX]; /* wanted ones have their types, and are 0, false or "" */
    uint32_t option_count;
    const rad_effect_option *options; /* of a selection */
    uint32_t chosen;                  /* … to be set, with field_count and fields of that option */
    void *coroutine_state;            /* of this coroutine of this session alone: rad_session_coroutine_state */
} rad_effect;

enum rad_effect_result {
    RAD_EFFECT_DONE = 0,
    RAD_EFFECT_BLOCKED, /* nothing was done; it is asked again in a later round */
    RAD_EFFECT_FAILED   /* the session is faulted, others continue */
};

/* Must depend only on what it is given and on the state of its coroutine, and touch nothing else: the schedule decides
 * which of two roles runs first, so state that they share would depend on the schedule. rad_session_invariant checks
 * that. Nothing that it is given is a clock or a random number. */
typedef enum rad_effect_result rad_effect_handler(void *context, rad_effect *e);

/* ---- The machine --------------------------------------------------------------------------------------- */

typedef struct rad_session_vm rad_session_vm;

enum rad_session_policy {
    RAD_SESSION_COOPERATIVE = 0, /* the coroutine that ran continues until it yields or blocks */
    RAD_SESSION_ROUND_ROBIN,     /* the coroutine that has been ready longest */
    RAD_SESSION_PROGRESS         /* the holder of its session's progress token, but not forever */
};

/* What a send into a full buffer does. Only with the first one is a run the same for all N and policies. */
enum rad_session_full {
    RAD_FULL_BLOCK = 0,
    RAD_FULL_ERROR,  /* the session is faulted */
    RAD_FULL_DROP,   /* the message is lost; those that arrive are in order */
    RAD_FULL_LATEST, /* it takes the place of the newest one in the buffer */
    RAD_FULL_RESIZE  /* the buffer doubles, up to 65,536 messages; then the session is faulted */
};

#define RAD_SESSION_ALL UINT32_MAX

typedef struct rad_session_options {
    uint32_t n; /* coroutines that advance in a round: 1 …, or RAD_SESSION_ALL */
    enum rad_session_policy policy;
    uint32_t capacity; /* of each buffer, in messages; 0 = 1, which is enough for projected roles */
    enum rad_session_full full;
    uint64_t seed;                   /* for draws */
    uint64_t start;                  /* not 0: coroutines begin in an order drawn from this */
    bool log;                        /* keep all events, for rad_session_events */
    bool record;                     /* keep all effects, for rad_session_effects */
    volatile const int *interrupted; /* becomes non-zero: runs end early, as if out of fuel; may be NULL */
} rad_session_options;

RAD_API rad_session_options rad_session_defaults(void);

/* The protocols are borrowed. RAD_EINPUT names the option. */
RAD_API int rad_session_create(rad_session_vm **vm, const rad_protocols *p, const rad_session_options *o,
                               rad_error *error);
RAD_API void rad_session_destroy(rad_session_vm *vm);

/* The handler of effects of this name (a message's, or what is done; of a selection: any of its messages). NULL: of
 * all that have no other one. Without any: values and choices come from the seed. Before the first session is
 * opened. */
RAD_API int rad_session_handle(rad_session_vm *vm, const char *name, rad_effect_handler *handler, void *context,
                               rad_error *error);

/* Memory of handlers: `size` bytes for each coroutine, that is for each role of each session and for each parallel
 * branch of a role, all 0 before its first effect. A branch that begins again, in a loop, finds what it left. The bytes
 * are freed with the session, however it ended. `drop`, unless it is NULL, is called then, once for each coroutine
 * whose handlers were called, to free what the bytes point to. Before the first session is opened. RAD_EINPUT: more
 * than RAD_COROUTINE_STATE_MAX bytes. */
enum { RAD_COROUTINE_STATE_MAX = 1 << 20 };
RAD_API int rad_session_coroutine_state(rad_session_vm *vm, size_t size, void (*drop)(void *state), rad_error *error);

/* Opens `count` sessions, or none; they are numbered 0, 1, … in order. NULL: the protocol that was written last.
 * RAD_EINTERRUPTED: there were many, and options.interrupted became non-zero meanwhile. */
RAD_API int rad_session_open(rad_session_vm *vm, const char *protocol, uint32_t count, rad_error *error);

/* ---- Effects on record --------------------------------------------------------------------------------- */

typedef struct rad_effect_log rad_effect_log;

/* The results of handlers, of a machine with options.record. It is the caller's: rad_effect_log_free it, not before
 * every machine that replays it is gone. NULL: nothing is recorded, or it was taken before. */
RAD_API rad_effect_log *rad_session_take_effects(rad_session_vm *vm);
RAD_API void rad_effect_log_free(rad_effect_log *log);
RAD_API uint64_t rad_effect_log_count(const rad_effect_log *log);

/* From now on handlers are not called: their results come from the log, by session, coroutine and occurrence, so N and
 * policy may differ. A coroutine that asks for something else than was recorded, or for more, faults its session, and
 * rad_session_report says what was asked and what is on record. Before the first session is opened. */
RAD_API void rad_session_replay(rad_session_vm *vm, const rad_effect_log *log);

/* The first difference, in words ("session 3, Seller: handler of quote, effect 0: quote 17 and quote 21"): of a result
 * before which everything was the same, if there is one; others may only be its consequences. If there is none but that
 * one log has more, its first record that the other does not have ("session 3, Seller: effect 4, quote
 * 17, is in the first log only (record 12)"). False: they are equal. */
RAD_API bool rad_effect_log_differ(const rad_effect_log *a, const rad_effect_log *b, char *text, size_t size);

/* ---- Running -------------------------------------------------------------------------------------------- */

enum rad_session_end {
    RAD_SESSION_COMPLETE = 0, /* everybody is at the end, or faulted */
    RAD_SESSION_EXHAUSTED,    /* the rounds are used up; may be run on */
    RAD_SESSION_STUCK,        /* no coroutine can run: see rad_session_report */
    RAD_SESSION_NO_MEMORY
};

/* So many rounds; 0: until the end. Two runs of 10 rounds are one of 20. */
RAD_API enum rad_session_end rad_session_run(rad_session_vm *vm, uint64_t rounds);

/* ---- What happened ------------------------------------------------------------------------------------- */

enum rad_session_event_kind {
    RAD_SESSION_SENT = 0,
    RAD_SESSION_RECEIVED,
    RAD_SESSION_INVOKED,
    RAD_SESSION_OPENED,
    RAD_SESSION_CLOSED,
    RAD_SESSION_SPAWNED,
    RAD_SESSION_JOINED,
    RAD_SESSION_ACQUIRED,
    RAD_SESSION_RELEASED,
    RAD_SESSION_HALTED,
    RAD_SESSION_FAULTED,
    RAD_SESSION_EVENT_KINDS
};

typedef struct rad_session_event {
    uint64_t tick; /* the round */
    uint32_t session;
    uint32_t thread; /* of its protocol */
    uint16_t kind;
    uint16_t label;  /* rad_protocols_text; or the kind of fault */
    uint32_t edge;   /* RAD_NONE: none */
    uint64_t number; /* of the message on its edge, of the effect in its coroutine */
    uint64_t value;  /* a hash of the fields */
    uint64_t causes; /* a hash of everything that this event depends on, itself included */
} rad_session_event;

RAD_API uint64_t rad_session_event_count(const rad_session_vm *vm); /* kept ones: options.log */
RAD_API const rad_session_event *rad_session_events(const rad_session_vm *vm);
RAD_API const char *rad_session_event_name(uint32_t kind);

/* Those of one session; `out` has room for `count`. Returns how many. */
RAD_API uint64_t rad_session_filter(const rad_session_event *events, uint64_t count, uint32_t session,
                                    rad_session_event *out);

/* Drops ticks and puts coroutines after each other: equal for all N and policies. Sessions that code opens have numbers
 * in the order in which that happened: of those, rad_session_trace_text, which goes by their paths, is equal. */
RAD_API void rad_session_normalize(rad_session_event *events, uint64_t count);

typedef struct rad_session_info {
    uint32_t sessions, sessions_closed, sessions_faulted;
    uint32_t coroutines, ready, blocked, ended;
    uint64_t rounds, instructions, messages, effects;
    /* Of everything that happened, as each coroutine saw it: the same for all N and policies. */
    char digest[33];
} rad_session_info;

RAD_API void rad_session_look(const rad_session_vm *vm, rad_session_info *out);

/* The same digest of one session, whatever others do. False: there is no such session. */
RAD_API bool rad_session_digest(const rad_session_vm *vm, uint32_t session, char text[33]);

enum rad_coroutine_phase {
    RAD_COROUTINE_IDLE = 0, /* a parallel branch that has not begun */
    RAD_COROUTINE_READY,
    RAD_COROUTINE_BLOCKED,
    RAD_COROUTINE_ENDED,
    RAD_COROUTINE_FAULTED
};

enum { RAD_COROUTINE_REGISTERS_MAX = 16 };

/* One role of one session, or a parallel branch of it. Texts are valid until the machine runs again. */
typedef struct rad_coroutine {
    const char *session, *role, *thread; /* as in rad_effect */
    enum rad_coroutine_phase phase;
    const char *waits;     /* of a blocked one: why ("waits for a message"); NULL: it is not */
    const char *from, *to; /* … and the coroutines at the ends of the buffer, if it waits for one */
    const char *fault;     /* of its session; NULL: none */
    uint32_t line;         /* of the file, where it is or where it faulted; 0: nowhere */
    uint64_t events, effects;
    uint32_t register_count;
    rad_session_value registers[RAD_COROUTINE_REGISTERS_MAX];
} rad_coroutine;

/* They are numbered session by session, in the order of opening. False: there is no such one. */
RAD_API uint32_t rad_session_coroutine_count(const rad_session_vm *vm);
RAD_API bool rad_session_coroutine(const rad_session_vm *vm, uint32_t number, rad_coroutine *out);

/* A line for each coroutine that is blocked: its name, the reason, the edge, and the line of the file; and for each
 * faulted session the reason. rad_free the text; NULL: no memory. */
RAD_API char *rad_session_report(const rad_session_vm *vm);

/* A line per event. `session` may be RAD_NONE: all. rad_free the text. */
RAD_API char *rad_session_trace_text(const rad_session_vm *vm, uint32_t session, bool normalize);

/* ---- On several threads ----------------------------------------------------------------------------------- */

typedef struct rad_session_crowd {
    const char *protocol; /* NULL: the last */
    uint32_t sessions;
    uint32_t threads; /* 0: as many as there are CPUs */
    uint64_t rounds;  /* of each part; 0: until the end */
    /* As for rad_session_invariant; called on all threads. Handlers are, too: those of one session never at the
     * same time. */
    int (*prepare)(void *context, rad_session_vm *vm, rad_error *error);
    void *context;
} rad_session_crowd;

/* Runs crowd->sessions sessions, as rad_session_open and rad_session_run would, but on several cores:
 * sessions are independent, so parts of them are tasks of an executor. `info` is of all together,
 * with the same digest as on one thread. With options.log *trace, unless it is NULL, is the normalized trace of all,
 * the same as on one thread, too: rad_free it. */
RAD_API int rad_session_run_crowd(const rad_protocols *p, const rad_session_options *o, const rad_session_crowd *crowd,
                                  enum rad_session_end *end, rad_session_info *info, char **trace, rad_error *error);

/* ---- Buffers that are large enough ----------------------------------------------------------------------- */

enum rad_capacity_answer {
    RAD_CAPACITY_SUFFICIENT = 0, /* `capacity` is the least that never gets stuck: everything was tried */
    RAD_CAPACITY_STUCK,          /* stuck even with `capacity`, the most that was asked for */
    RAD_CAPACITY_UNKNOWN,        /* too many states to try them all with `capacity` */
    RAD_CAPACITY_WRONG           /* a role receives what it cannot expect, or a message is left over */
};

typedef struct rad_capacity {
    enum rad_capacity_answer answer;
    uint32_t capacity;
    uint64_t states; /* tried with it */
    char stuck[600]; /* with one less, or with it: what each role waits for */
} rad_capacity;

/* Tries buffers of 1, 2, … `most` messages (0 = 16), with every order and choice that the local types allow.
 * Projected roles need 1. `states`: at most, with each; 0 = 200,000. */
RAD_API int rad_protocol_capacity(const rad_protocols *p, uint32_t protocol, uint32_t most, uint64_t states,
                                  rad_capacity *out, rad_error *error);

/* Whether the protocol was written role by role, and so may need more than 1. */
RAD_API bool rad_protocol_is_locals(const rad_protocols *p, uint32_t protocol);

/* ---- Is it the same under every schedule? ----------------------------------------------------------------- */

/* Two runs of the same sessions, with the same seed and handlers, both with options.log and options.record. Equal: each
 * coroutine's events are the same, with the same causes, as far as both have come; so are effects; and if both are
 * complete, final types and registers. True when so; otherwise `text` names the first difference. It names a handler
 * if everything before its result was the same, and the result was not. */
RAD_API bool rad_session_same(const rad_session_vm *a, const rad_session_vm *b, char *text, size_t size);

typedef struct rad_invariance_options {
    const char *protocol; /* NULL: the last */
    uint32_t sessions;    /* 0 = 1 */
    const uint32_t *ns;   /* NULL: 1, 2, 3, 7, all */
    uint32_t n_count;
    uint32_t policies; /* bit n: policy n; 0 = all */
    uint32_t starts;   /* orders of beginning, besides the plain one; 0 = 1 */
    uint64_t seed;     /* the first */
    uint32_t seeds;    /* 0 = 1 */
    uint32_t capacity; /* as in rad_session_options */
    enum rad_session_full full;
    uint64_t rounds; /* at most, of each run; 0: until the end */
    /* Registers handlers, for every machine that is made. May be NULL. */
    int (*prepare)(void *context, rad_session_vm *vm, rad_error *error);
    void *context;
    void (*progress)(void *context, uint64_t done, uint64_t all); /* may be NULL */
    volatile const int *interrupted;                              /* may be NULL */
} rad_invariance_options;

typedef struct rad_invariance {
    bool holds;
    uint64_t runs, events;
    /* How runs ended; they add up to `runs`. Faulted: as complete, but a session of it was faulted. */
    uint64_t complete, faulted, exhausted, stuck;
    uint64_t apart;  /* runs besides, with only some of the handlers called: see rad_session_invariant */
    char digest[33]; /* of the first seed */
    /* When it does not hold: the run that differs from N = 1, round robin, plain start. */
    uint32_t n;
    enum rad_session_policy policy;
    uint64_t seed, start;
    char difference[600];
} rad_invariance;

/* Runs the sessions with every N, policy and start, and compares each run with N = 1, round robin, plain start.
 *
 * A run that is out of fuel may be the beginning of another; one that is stuck is not: if another one is complete,
 * these two differ.
 *
 * With handlers (`prepare`), it also checks that coroutines share nothing: it repeats the plain run with the handlers
 * of only some coroutines, and takes the results of the others from the record, often enough that of any two coroutines
 * each one runs without the other. A handler that uses something that another coroutine has left returns something else
 * then, even if every schedule has the two in the same order. Not noticed: what changes no result, and a clock that
 * does not advance between two runs. */
RAD_API int rad_session_invariant(const rad_protocols *p, const rad_invariance_options *o, rad_invariance *out,
                                  rad_error *error);

#ifdef __cplusplus
}
#endif
#endif
