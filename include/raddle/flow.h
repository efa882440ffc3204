/* raddle/flow.h — workflows: tasks in order, side by side, repeated, cancelled; run so that being killed loses nothing.
 *
 * A flow file (docs/flow.md) says which tasks there are (shell commands, or C functions that are registered here) and
 * what follows what. A *case* is one execution of it, in a directory of its own:
 *
 *     rad_flow *f;
 *     rad_flow_read(&f, "release.flow", NULL, &error);
 *     rad_flow_options o = rad_flow_defaults();
 *     rad_flow_result r;
 *     rad_flow_run(f, "cases/17", &o, &r, &error);       // from the beginning
 *     rad_flow_resume(f, "cases/17", &o, &r, &error);    // when it was interrupted, killed, or the power failed
 *
 * Guaranteed:
 *     commands    a command that was started is never started again, unless it was in doubt (its shim, or the host,
 *                 died before the end was recorded) and the caller, or the task's on_doubt, says so. Killing the runner
 *                 leaves nothing in doubt: commands continue, and the next runner takes their results.
 *     functions   at least once, each time with the same key
 *     signals     each is taken once, also if it was sent while no runner lived
 *     the rest    is a function of the flow, the policy, the seed and the inputs in their order
 *
 * Calls return 0 or a negative RAD_E… code with the text in *error. */
#ifndef RADDLE_FLOW_H
#define RADDLE_FLOW_H

#include <raddle/lab.h> /* rad_free */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Flows ---------------------------------------------------------------------------------------------- */

typedef struct rad_flow rad_flow;

/* The flow of that name, NULL: the last one of the file. RAD_EINPUT: "FILE:LINE:COLUMN: what is wrong". */
RAD_API int rad_flow_read(rad_flow **f, const char *path, const char *name, rad_error *error);
/* From memory; `path` is for messages. */
RAD_API int rad_flow_parse(rad_flow **f, const char *path, const char *text, size_t size, const char *name,
                           rad_error *error);
RAD_API void rad_flow_free(rad_flow *f); /* may be NULL */
RAD_API const char *rad_flow_name(const rad_flow *f);

/* ---- Tasks that are C functions ------------------------------------------------------------------------- */

typedef struct rad_flow_call rad_flow_call;

/* "CASE:KEY": the same whenever this effect is tried again, and of no other effect. */
RAD_API const char *rad_flow_call_id(const rad_flow_call *call);
RAD_API uint32_t rad_flow_call_attempt(const rad_flow_call *call); /* from 1 */
/* A variable the task reads, as text; NULL: it reads none of that name. */
RAD_API const char *rad_flow_call_value(const rad_flow_call *call, const char *name);
/* What is written when the function succeeds. RAD_EINPUT: the task does not write that, or the text does not fit. */
RAD_API int rad_flow_call_set(rad_flow_call *call, const char *name, const char *text, rad_error *error);

/* 0: done. Anything else: failed, and error->text may say why. */
typedef int rad_flow_function(void *context, rad_flow_call *call, rad_error *error);

/* For `call "name"`. It is called on the thread that runs the case. RAD_EINPUT: there is one of that name. */
RAD_API int rad_flow_register(rad_flow *f, const char *name, rad_flow_function *function, void *context,
                              rad_error *error);

/* ---- Running -------------------------------------------------------------------------------------------- */

typedef struct rad_flow_setting {
    const char *name, *text;
} rad_flow_setting;

enum rad_flow_news {
    RAD_FLOW_TASK_STARTED = 1,
    RAD_FLOW_TASK_TAKEN_OVER, /* it was begun by an earlier runner, and still runs */
    RAD_FLOW_TASK_DONE,
    RAD_FLOW_TASK_FAILED, /* text: why */
    RAD_FLOW_TASK_STOPPED,
    RAD_FLOW_TASK_IN_DOUBT,
    RAD_FLOW_TASK_AGAIN, /* it was in doubt, and is run again */
    RAD_FLOW_SIGNAL_TAKEN,
    RAD_FLOW_CANCEL_TAKEN,
    RAD_FLOW_TIMER_FIRED,
    RAD_FLOW_JOURNAL_CUT /* text: its last record was torn, and was cut off */
};

typedef struct rad_flow_progress {
    enum rad_flow_news news;
    const char *task, *key; /* or "" */
    const char *instance;   /* which one of `many`: its `as`, or its number; outermost first; or "" */
    const char *text;       /* or "" */
    uint32_t attempt;
    uint64_t took_ns;                 /* of a command that ended */
    uint64_t steps;                   /* so far */
    uint32_t running, queued, timers; /* now */
    uint64_t done, failed;            /* attempts that ended, since this runner began */
} rad_flow_progress;

/* How a task in doubt is to be settled. */
enum rad_flow_answer { RAD_FLOW_ANSWER_DONE = 1, RAD_FLOW_ANSWER_FAILED, RAD_FLOW_ANSWER_AGAIN };

typedef struct rad_flow_settle {
    const char *key;
    enum rad_flow_answer answer;
    const char *output; /* of DONE: what it printed, for `capture`; may be NULL */
} rad_flow_settle;

typedef struct rad_flow_options {
    const char *policy;               /* of run; NULL: "first" */
    uint64_t seed;                    /* of run */
    const char *case_id;              /* of run; 63 characters at most; NULL: one is drawn */
    const rad_flow_setting *settings; /* of run: data that begin with other values than in the file */
    uint32_t setting_count;
    const rad_flow_settle *settles; /* of resume */
    uint32_t settle_count;
    uint32_t jobs;      /* commands at a time; 0: as many as there are processors */
    bool unsynced;      /* nothing is synced: fast, safe from kill, not from a power failure */
    volatile int *stop; /* when it becomes nonzero: end; running commands continue. May be NULL */
    void (*watch)(void *context, const rad_flow_progress *progress); /* may be NULL */
    void *context;
} rad_flow_options;

RAD_API rad_flow_options rad_flow_defaults(void);

enum rad_flow_end {
    RAD_FLOW_END_DONE = 0,
    RAD_FLOW_END_FAILED,
    RAD_FLOW_END_CANCELLED,
    RAD_FLOW_END_DEADLOCK,
    /* Not the end of the case, but of the runner; resume continues it: */
    RAD_FLOW_END_IN_DOUBT,   /* text: which, and what to do */
    RAD_FLOW_END_INTERRUPTED /* running commands continue */
};

typedef struct rad_flow_result {
    enum rad_flow_end end;
    char text[512];   /* why; "" when it is done */
    char task[64];    /* FAILED: the task whose failure no handler caught; "": no task's */
    char doubt[256];  /* IN_DOUBT: the key of the first attempt in doubt; "": it is longer than that */
    char case_id[64]; /* also when the call failed, if the case had begun */
    uint64_t steps;
    char digest[33]; /* of the trace */
} rad_flow_result;

/* Begins an execution in a directory, which is made if it is not there. RAD_EINPUT: it holds an execution already, it
 * belongs to another user, others may write to it, or a link is in the place of a file. RAD_EIO: what was written so
 * far is whole; resume continues when the reason is gone. Also when the journal is deleted or replaced: nothing more is
 * started then. */
RAD_API int rad_flow_run(rad_flow *f, const char *folder, const rad_flow_options *o, rad_flow_result *result,
                         rad_error *error);

/* Continues an execution. f may be NULL: the flow as it is in the directory (without registered functions).
 * RAD_EINPUT: no execution, one that another runner works on, a journal that is damaged or of another version, a flow
 * that is not the one it was begun with. */
RAD_API int rad_flow_resume(rad_flow *f, const char *folder, const rad_flow_options *o, rad_flow_result *result,
                            rad_error *error);

/* What differs between the flow an execution was begun with and this one, line by line; "" when nothing does. rad_free
 * it. */
RAD_API int rad_flow_changes(const rad_flow *f, const char *folder, char **text, rad_error *error);

/* ---- From outside: any process, whether a runner lives or not ------------------------------------------- */

/* RAD_EINPUT: no execution, one that has ended, or no such signal in its flow. `text` may be NULL. */
RAD_API int rad_flow_send(const char *folder, const char *name, const char *text, rad_error *error);

enum rad_flow_part { RAD_FLOW_PART_TASK = 0, RAD_FLOW_PART_REGION, RAD_FLOW_PART_CASE }; /* journals have these */
RAD_API int rad_flow_cancel(const char *folder, enum rad_flow_part part, const char *name, rad_error *error);

enum rad_flow_task_state {
    RAD_FLOW_TASK_IS_QUEUED = 0,
    RAD_FLOW_TASK_IS_RUNNING,
    RAD_FLOW_TASK_HAS_RECEIPT, /* it has ended; no runner has seen it yet */
    RAD_FLOW_TASK_IS_IN_DOUBT
};

typedef struct rad_flow_task_status {
    const char *key, *task;
    const char *instance; /* as in rad_flow_progress */
    uint32_t attempt;
    enum rad_flow_task_state state;
    uint64_t since_ns; /* time of day, since 1970; 0: not begun */
} rad_flow_task_status;

typedef struct rad_flow_status {
    const char *flow, *case_id, *policy;
    uint64_t seed, began_ns, last_ns; /* times of day */
    uint64_t records, steps;
    bool has_ended;
    enum rad_flow_end end; /* when it has */
    const char *text;      /* why it failed; what it waits for */
    int runner;            /* process that works on it; 0: none; -1: one whose number is not known */
    bool torn;             /* the last record is not whole (a runner may be writing it right now) */
    uint32_t signals;      /* sent, and not taken */
    uint32_t timers;
    uint64_t next_timer_ns; /* time of day; 0: none */
    const rad_flow_task_status *tasks;
    uint32_t task_count;
    const rad_flow_setting *data; /* of the first token, or as it ended */
    uint32_t data_count;
    void *inside;
} rad_flow_status;

/* Reads only, and needs no lock. rad_flow_status_free it, also after an error. */
RAD_API int rad_flow_look(rad_flow_status *s, const char *folder, rad_error *error);
RAD_API void rad_flow_status_free(rad_flow_status *s);

/* What commands printed, and their errors: of a task, a key, or (NULL) all, oldest first; '?' for bytes that are 0.
 * RAD_EINPUT: no execution, or no such task or key. rad_free the text. */
RAD_API int rad_flow_logs(const char *folder, const char *task_or_key, char **text, rad_error *error);

/* ---- Executions in memory: the caller runs tasks and timers ----------------------------------------------- */

/* The same machine without directory, clock and processes: it takes steps until it needs something, says what it
 * needs, and gets the result. The same results before the same steps give the same run and digest. */
typedef struct rad_flow_instance rad_flow_instance;

/* Of the options: policy, seed, settings. The flow must outlive it. */
RAD_API int rad_flow_open(rad_flow_instance **i, const rad_flow *f, const rad_flow_options *o, rad_error *error);
RAD_API void rad_flow_close(rad_flow_instance *i); /* may be NULL */

enum rad_flow_now {
    RAD_FLOW_NOW_RUNNING = 0, /* the steps were used up */
    RAD_FLOW_NOW_WAITING,     /* for what it has wished for, or a signal */
    RAD_FLOW_NOW_DONE,
    RAD_FLOW_NOW_FAILED,
    RAD_FLOW_NOW_CANCELLED,
    RAD_FLOW_NOW_DEADLOCK,
    RAD_FLOW_NOW_BROKEN /* no memory, or a limit */
};

/* Takes at most `steps` steps; how they are split over calls does not matter. */
RAD_API enum rad_flow_now rad_flow_go(rad_flow_instance *i, uint64_t steps);

enum rad_flow_wish_kind {
    RAD_FLOW_WISH_START = 1, /* run the task */
    RAD_FLOW_WISH_STOP,      /* its result is not wanted any more */
    RAD_FLOW_WISH_TIMER,     /* give_timer after delay_ns */
    RAD_FLOW_WISH_NO_TIMER
};

enum { RAD_FLOW_WISH_KEY_MAX = 8192 };

typedef struct rad_flow_wish {
    enum rad_flow_wish_kind kind;
    const char *task;    /* of START and STOP */
    const char *command; /* of START: the shell command, or the function's name */
    uint32_t attempt;
    uint32_t alternative; /* of timers */
    uint64_t delay_ns;
    char key[RAD_FLOW_WISH_KEY_MAX];
    uint32_t data; /* for rad_flow_wish_value */
} rad_flow_wish;

/* False: there are no more. Values can be asked for until the next rad_flow_go. */
RAD_API bool rad_flow_next_wish(rad_flow_instance *i, rad_flow_wish *wish);
/* What a variable is where the task starts; NULL: there is none of that name. rad_free it. */
RAD_API char *rad_flow_wish_value(const rad_flow_instance *i, const rad_flow_wish *wish, const char *name);

/* Before the next step. A result that is not waited for any more is ignored. RAD_EINPUT: it never was wished for,
 * there is no such name, or a value does not fit. `why` and `text` may be NULL. */
RAD_API int rad_flow_give_result(rad_flow_instance *i, const char *key, uint32_t attempt, bool ok,
                                 const rad_flow_setting *writes, uint32_t write_count, const char *why,
                                 rad_error *error);
RAD_API int rad_flow_give_timer(rad_flow_instance *i, const char *key, uint32_t attempt, uint32_t alternative,
                                rad_error *error);
RAD_API int rad_flow_give_signal(rad_flow_instance *i, const char *name, const char *text, rad_error *error);
RAD_API int rad_flow_give_cancel(rad_flow_instance *i, enum rad_flow_part part, const char *name, rad_error *error);

RAD_API uint64_t rad_flow_instance_steps(const rad_flow_instance *i);
RAD_API void rad_flow_instance_digest(const rad_flow_instance *i, char digest[33]);
RAD_API const char *rad_flow_instance_failure(const rad_flow_instance *i); /* "" when there is none */
/* Of the flow as it ended, or of its first token now. rad_free it. */
RAD_API char *rad_flow_instance_value(const rad_flow_instance *i, const char *name);

/* ---- To look at ------------------------------------------------------------------------------------------ */

typedef struct rad_flow_facts {
    const char *about;  /* "" when the file has none */
    const char *sha256; /* of the file's text */
    uint32_t statements, operations, tasks, data, signals;
} rad_flow_facts;

RAD_API void rad_flow_look_at(const rad_flow *f, rad_flow_facts *facts);
/* By number; NULL behind the last. */
RAD_API const char *rad_flow_task_name(const rad_flow *f, uint32_t i);
RAD_API const char *rad_flow_data_name(const rad_flow *f, uint32_t i);
RAD_API const char *rad_flow_signal_name(const rad_flow *f, uint32_t i);

/* The graph as SVG; of a case with what it has gone through. rad_free it. */
RAD_API int rad_flow_draw(const rad_flow *f, char **svg, rad_error *error);
RAD_API int rad_flow_draw_case(const char *folder, char **svg, rad_error *error);

typedef struct rad_flow_replayed {
    bool as_recorded;
    char reason[400];  /* what differs, when not */
    const char *state; /* "done", "waiting", … */
    uint64_t steps, inputs;
    char digest[33];
} rad_flow_replayed;

/* Every step again from the journal; nothing is run or written. `steps` (may be NULL): a line for each; rad_free it. */
RAD_API int rad_flow_replay(const char *folder, rad_flow_replayed *out, char **steps, rad_error *error);

/* Whether another text of the flow could have done what was recorded of a case. Steps are compared by stable names: the
 * path of the token, and what it does there (a task by its name), not by line. */
typedef struct rad_flow_replayed_on {
    bool fits;
    const char *state;      /* of the case on that flow: "done", "waiting", … */
    uint64_t steps, inputs; /* that both have */
    /* When it does not fit: */
    uint64_t record;                              /* the next one of the journal; 0: it is behind the last */
    const char *step;                             /* what was recorded: "0/3.1#2 do compile (line 7)" */
    const char *reason;                           /* what is different, if there is more to say than the sets do */
    const char *const *recorded, *const *offered; /* what could run there: then, and on that flow */
    uint32_t recorded_count, offered_count;
    void *inside;
} rad_flow_replayed_on;

/* `name`: of several flows in the file, NULL: that of the case's name. Nothing is run or written. RAD_EINPUT: no case,
 * a damaged journal, a bad file. rad_flow_replayed_on_free the result, also after an error. */
RAD_API int rad_flow_replay_on(const char *folder, const char *path, const char *name, rad_flow_replayed_on *out,
                               rad_error *error);
RAD_API void rad_flow_replayed_on_free(rad_flow_replayed_on *r);

/* Whole, or not at all. */
RAD_API int rad_flow_keep(const char *path, const char *text, rad_error *error);

#ifdef __cplusplus
}
#endif

#endif
