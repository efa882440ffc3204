/* raddle/lab.h — run, explore, replay, shrink and show machines.
 *
 * The `raddle` command is built on these calls; it adds words and colours. Calls
 * return 0 or a negative RAD_E… code with the text in *error. A failure of the machine under test is a
 * result, not an error. Nothing here reads the environment or a random number. A clock is read for progress, for steps
 * that do not return, and for time budgets: if one of these ends a stage, the result says so. */
#ifndef RADDLE_LAB_H
#define RADDLE_LAB_H

#include <raddle/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version -------------------------------------------------------------------------------------- */

RAD_API const char *rad_version(void);       /* "0.1.0" */
RAD_API const char *rad_build_git_sha(void); /* or "unknown" */
RAD_API const char *rad_build_compiler(void);

/* ---- Machines that ship with raddle, and yours ------------------------------------------------------ */

RAD_API const rad_machine *rad_machine_at(uint32_t index); /* NULL after the last */
RAD_API const rad_machine *rad_machine_find(const char *name);

/* Adds a machine to the table above for this process; it must outlive its use. It hides one of the same name that
 * ships with raddle. */
RAD_API int rad_machine_add(const rad_machine *m, rad_error *error);
RAD_API bool rad_machine_is_added(const rad_machine *m);

/* ---- Programs with machines of their own (docs/write-a-machine.md) ------------------------------------------ */

/* The whole command for a program with machines: list, run, explore, replay, shrink, show, corpus, with the options
 * and exit statuses of `raddle`. NULL ends `machines`. Returns the status that main should return:
 *
 *     int main(int argc, char **argv)
 *     {
 *         static const rad_machine *const machines[] = {&LAMP, &DOOR, NULL};
 *         return rad_lab_main(argc, argv, machines);
 *     }
 *
 * `raddle explore ./program` runs such a program as `./program explore`, so main has to pass on the arguments that it
 * gets. While the call lasts, SIGINT and SIGTERM end the search, not the program. */
RAD_API int rad_lab_main(int argc, char **argv, const rad_machine *const *machines);

/* A shared object defines this instead, NULL at the end: `raddle explore ./machines.so` finds it by its name. */
RAD_API extern const rad_machine *const rad_lab_machines[];

/* The program that a run was recorded with. */
typedef struct rad_lab_program {
    char path[1024];    /* as it was typed; "": none, the machine ships with raddle */
    char build_id[132]; /* GNU build id, or "file:" and a digest of the file; "": not known */
    char library[132];  /* the same of the lab's library under a program without machines; "": none */
} rad_lab_program;

RAD_API const rad_lab_program *rad_lab_program_own(void); /* NULL: this process has none */

/* What an artifact or log says, also when its machine is not known here. False: no program, or it cannot be read. */
RAD_API bool rad_lab_program_of(const char *file, rad_lab_program *out);

/* A machine and the case to try. */
typedef struct rad_target {
    const rad_machine *machine;
    rad_case c;
} rad_target;

/* The default case; then words such as "n=10" change it. Errors name the parameter and its range. */
RAD_API int rad_target_init(rad_target *t, const char *machine, rad_error *error);
RAD_API int rad_target_set(rad_target *t, const char *assignment, rad_error *error);

/* "reorder n=10", with " (fixed)" for the fixed version, and " (body 1f2e3d4c)" for a document of its own. */
RAD_API void rad_target_text(const rad_target *t, char *text, size_t size);

/* The case of a file: a case file (docs/files.md), an artifact, even an edited one, or a log. The body is
 * the target's own and in canonical form (no blanks, fields in the order of the file): rad_target_free it. */
RAD_API int rad_target_read(rad_target *t, const char *path, rad_error *error);

/* The case of machine `session` that a protocol file is about (docs/session.md), of a protocol or, NULL,
 * of the last one: rad_target_free it. */
RAD_API int rad_target_protocol(rad_target *t, const char *path, const char *protocol, rad_error *error);

/* A load scenario (TOML) as a target of the machine `load-scenario`. */
RAD_API int rad_target_scenario(rad_target *t, const char *path, rad_error *error);

/* The case of machine `flow` that a flow file (docs/flow.md) is about, of the flow of that name or, NULL, of the last
 * one: rad_target_free it. */
RAD_API int rad_target_flow(rad_target *t, const char *path, const char *flow, rad_error *error);

/* The text of a case file, which rad_target_read reads back; rad_free it. */
RAD_API char *rad_target_json(const rad_target *t, rad_error *error);

/* For targets from rad_target_read and rad_lab_replay_log: frees the body they own. All other targets
 * borrow theirs, and so does every copy of one; for those of rad_target_init this does nothing. */
RAD_API void rad_target_free(rad_target *t);

/* ---- Policies and strategies ------------------------------------------------------------------------ */

typedef struct rad_named {
    const char *name, *about;
} rad_named;

RAD_API bool rad_policy_at(uint32_t index, rad_named *out); /* false after the last */
RAD_API bool rad_strategy_at(uint32_t index, rad_named *out);

/* ---- One run ---------------------------------------------------------------------------------------- */

enum rad_result {
    RAD_RESULT_PASS = 0, /* finished, no oracle complained */
    RAD_RESULT_FAILURE,
    RAD_RESULT_DIVERGED, /* strict replay only */
    RAD_RESULT_CUT       /* not finished after max_steps steps: neither pass nor failure */
};

typedef struct rad_verdict {
    enum rad_result result;
    uint64_t steps;
    uint64_t decisions;
    char trace_hash[33];
    /* RAD_RESULT_FAILURE */
    char kind[40]; /* the oracle's name */
    uint64_t failure_step;
    char message[400];
    char identity[RAD_IDENTITY_MAX]; /* rad_fail says what it is made of */
    /* RAD_RESULT_DIVERGED */
    char divergence[512];
} rad_verdict;

typedef struct rad_run_request {
    const char *policy; /* "random", "pct:3", …; see rad_policy_at. NULL: "random" */
    uint64_t seed;
    const char *log;    /* write a strict log to this file; NULL: none */
    uint64_t log_limit; /* bytes; 0 = 256 MiB */
    /* The run as an artifact that expects the same result, also a pass; rad_artifact_free it. NULL: no. NULL in it:
     * the run diverged. */
    struct rad_artifact **artifact;
    double hang_seconds; /* as in rad_explore_options */
    /* The decisions of the run as a value: rad_log_free it. NULL in it: the process of the run died, or it diverged. */
    struct rad_log **get_log;
    /* Instead of `policy`, which is NULL then: the choices of this log, strictly. The first decision that differs
     * from the log ends the run (RAD_RESULT_DIVERGED). */
    const struct rad_log *from_log;
    /* Of a run that diverged: decision, step, difference, expected and actual set, in full; rad_free it. NULL in it:
     * the run did not diverge. The verdict has the beginning of the text. */
    char **divergence;
} rad_run_request;

RAD_API int rad_lab_run(const rad_target *t, const rad_run_request *r, rad_verdict *v, rad_error *error);

/* Replays a log strictly: any other set of enabled actions is a divergence. On success *t is what was
 * run; rad_target_free it. */
RAD_API int rad_lab_replay_log(const char *path, rad_target *t, rad_verdict *v, rad_error *error);

/* ---- Logs: what was decided in a run, decision by decision ------------------------------------------- */

typedef struct rad_log rad_log;

/* From a file that rad_lab_run or rad_log_write made, and into one. Reading checks every record: RAD_EINPUT has the
 * place of the first one that is wrong. A log stays as it is. */
RAD_API int rad_log_read(rad_log **log, const char *path, rad_error *error);
RAD_API int rad_log_write(const rad_log *log, const char *path, rad_error *error);
RAD_API void rad_log_free(rad_log *log); /* may be NULL */

typedef struct rad_log_facts {
    const rad_target *target; /* what was run; the log's own, as the policy's name is */
    const char *policy;
    uint64_t seed;
    uint64_t steps, decisions;
    enum rad_result result; /* PASS, FAILURE or CUT */
    char trace_hash[33];
} rad_log_facts;
RAD_API void rad_log_look(const rad_log *log, rad_log_facts *out);

/* A member of the enabled set: the action's number, and what the machine gave to rad_action. */
typedef struct rad_log_member {
    uint32_t number;
    uint32_t kind, actor, object;
    uint64_t argument;
} rad_log_member;

typedef struct rad_log_decision {
    uint64_t sequence; /* 0, 1, … */
    enum rad_pick_kind kind;
    uint32_t site;             /* or RAD_NONE */
    uint32_t count;            /* how many could be chosen; 2 or more */
    uint32_t chosen;           /* index below count: of the set, or the value of a choice inside a step */
    const rad_log_member *set; /* RAD_PICK_ACTION: what was enabled, in canonical order; otherwise NULL */
} rad_log_decision;

/* Walks through the decisions in their order. Next: 1 and a decision, whose set is valid until the next call; 0 after
 * the last one; a negative code when memory ran out. Several walks of one log do not disturb each other. */
typedef struct rad_log_walk rad_log_walk;
RAD_API int rad_log_begin(rad_log_walk **walk, const rad_log *log, rad_error *error);
RAD_API int rad_log_next(rad_log_walk *walk, rad_log_decision *out, rad_error *error);
RAD_API void rad_log_end(rad_log_walk *walk); /* may be NULL; before the log is freed */

/* ---- Artifacts -------------------------------------------------------------------------------------- */

typedef struct rad_artifact rad_artifact;

RAD_API int rad_artifact_read(rad_artifact **a, const char *path, bool edited_ok, rad_error *error);
RAD_API int rad_artifact_write(const rad_artifact *a, const char *path, rad_error *error);
RAD_API char *rad_artifact_json(const rad_artifact *a, rad_error *error);   /* rad_free it */
RAD_API char *rad_artifact_base64(const rad_artifact *a, rad_error *error); /* rad_free it */
RAD_API void rad_artifact_free(rad_artifact *a);
RAD_API void rad_free(void *p);

RAD_API const rad_target *rad_artifact_target(const rad_artifact *a);
RAD_API const rad_lab_program *rad_artifact_program(const rad_artifact *a); /* NULL: none */
RAD_API const char *rad_artifact_policy(const rad_artifact *a);
RAD_API uint64_t rad_artifact_seed(const rad_artifact *a);
RAD_API bool rad_artifact_expects_failure(const rad_artifact *a);
RAD_API const rad_verdict *rad_artifact_verdict(const rad_artifact *a); /* what it says happens */
RAD_API uint64_t rad_artifact_choice_count(const rad_artifact *a);      /* the list's length */

/* True when the file is a log rather than an artifact (its first bytes say so). */
RAD_API bool rad_is_log(const char *path);

typedef struct rad_replay {
    rad_verdict actual;
    bool same_failure; /* it fails, and with the identity of the file */
    bool as_recorded;  /* expectation, kind, step and hash all hold */
    char reason[800];  /* what differs, when not */
} rad_replay;

/* `other` replays the choices on another target (the fixed version); NULL: its own. */
RAD_API int rad_lab_replay(const rad_artifact *a, const rad_target *other, rad_replay *out, rad_error *error);

/* ---- Replay on changed code (docs/realign.md) -------------------------------------------------------- */

/* What became of a recorded run in code that was edited since. */
enum rad_realigned {
    RAD_REALIGNED_FAILS = 0, /* still: with the identity of the file */
    RAD_REALIGNED_OTHER,     /* it fails, in another way, or although a pass was recorded */
    RAD_REALIGNED_GONE,      /* every recorded choice was made, or cannot be made any more: no failure */
    RAD_REALIGNED_PASSES,    /* the same of a file that expects no failure */
    RAD_REALIGNED_DIVERGED,  /* no failure, but recorded choices were not met: not known */
    RAD_REALIGNED_CUT        /* not finished after max_steps steps: not known */
};

RAD_API const char *rad_realigned_text(enum rad_realigned answer); /* "still fails", … */

typedef struct rad_realignment {
    enum rad_realigned answer;
    rad_verdict actual; /* of the run made now */
    bool as_recorded;   /* nothing differs */
    bool by_list;       /* the run made now followed the plain list of choices: only that still fails */
    /* Recorded steps; how many of them were found (late: after the recording's next ones), how many are missing; steps
     * of the run made now that were not recorded; recorded sites that have another name. */
    uint64_t recorded, found, late, missing, added, renamed;
    uint64_t lost; /* recorded choices that were not met */
    uint64_t divergences;
    uint64_t diverged_at; /* step of the run made now, of the first of them */
    char because[480];
    bool again;                        /* after the first one it was in step with the recording again */
    uint64_t again_at, again_recorded; /* step of the run made now, and of the recording */
    char again_as[480];                /* "producer 1 at 'put'" */
    rad_artifact *artifact;            /* the run made now */
} rad_realignment;

/* Replays by the recorded actors and sites instead of the plain list of choices. `other` as in rad_lab_replay. An
 * artifact without a path (of an earlier version) is realigned if its own machine still behaves as recorded; otherwise
 * this is RAD_EINPUT. */
RAD_API int rad_lab_realign(const rad_artifact *a, const rad_target *other, rad_realignment *out, rad_error *error);
RAD_API void rad_realignment_free(rad_realignment *r);

/* The artifact of a bug that is gone: expects what now happens. Refuses when the run still fails. */
RAD_API int rad_artifact_accept(rad_artifact *a, rad_error *error);

/* ---- Explore ---------------------------------------------------------------------------------------- */

typedef struct rad_progress {
    const char *phase; /* "surw", "preempt:2", … */
    uint64_t runs, runs_budget;
    uint64_t failures;
    uint64_t cut;     /* runs that were not finished at the step limit */
    uint64_t classes; /* distinct trace classes */
    double elapsed;   /* seconds */
} rad_progress;

typedef struct rad_explore_options {
    const char *strategy; /* NULL = "auto" */
    uint64_t runs;        /* 0 = RAD_RUNS_DEFAULT */
    uint64_t steps;       /* in all runs together; 0 = RAD_STEPS_PER_RUN a run, at least RAD_STEPS_DEFAULT */
    /* At most; when that stops the search, `out_of_time` is set, and the result depends on the host's speed.
     * 0 = RAD_SECONDS_DEFAULT if `runs` is 0, no limit otherwise. */
    double seconds;
    uint64_t seed;
    uint32_t jobs;      /* worker processes; 0 = 1. Results do not depend on it. */
    bool stop_on_first; /* the run that fails is the last one counted */
    bool twice;         /* run everything twice and compare */
    bool check;         /* check Raddle's own structures after each step, not only every 1,024; slow */
    bool fair_only;     /* no searches in which loops run to their end: docs/write-a-machine.md */
    bool apart;         /* of a program: each run in a process of its own */
    bool races_fatal;   /* a data race ends its run, as any other failure does */
    /* Functions and files whose races do not count, with * for anything; NULL at the end. NULL: none. */
    const char *const *suppressed; /* stays the caller's */
    /* CPU time one step may take, 0 = 10; a step that sleeps may take six times that by the clock. */
    double hang_seconds;
    void (*progress)(void *context, const rad_progress *p); /* several times a second; may be NULL */
    /* Called as soon as a failure of a new identity is found, lowest run first; may be NULL. */
    void (*found)(void *context, const rad_artifact *a);
    void *context;
    volatile const int *interrupted; /* becomes non-zero to stop early; may be NULL */
} rad_explore_options;

enum { RAD_RUNS_DEFAULT = 20000, RAD_FINDINGS_MAX = 16, RAD_PHASES_MAX = 32 };
enum { RAD_STEPS_DEFAULT = 100000000, RAD_STEPS_PER_RUN = 5000, RAD_SECONDS_DEFAULT = 600 };

typedef struct rad_finding {
    rad_artifact *artifact; /* of the lowest failing run with this identity */
    uint64_t run;           /* its index */
    uint64_t failures;      /* how many runs failed this way */
} rad_finding;

typedef struct rad_phase {
    char name[24];
    uint64_t runs;
    uint64_t failures;
    uint64_t cut;         /* runs that were not finished at the step limit */
    bool bounded;         /* an exhaustive search (dfs and its bounds) */
    bool exhausted;       /* it finished: everything within the bound was tried */
    bool pruned;          /* the bound cut something off, so a higher one would see more */
    bool endless;         /* some runs were cut or repeat forever: not tried to the end */
    uint32_t spin_rounds; /* > 0: as in rad_case: not only fair schedules */
    uint64_t preemptions; /* … with at most this number of them */
    bool spent;           /* some actor used these rounds up, so more would see more */
} rad_phase;

/* Calls by which runs of a program under test changed what outlives them, or asked what is outside of their process:
 * "unlink(notes.txt)". In the order of the texts, each once. */
enum { RAD_OUTSIDE_MAX = 16, RAD_OUTSIDE_TEXT = 100 };
typedef struct rad_outside {
    uint32_t count;
    bool more; /* than there is room for */
    char texts[RAD_OUTSIDE_MAX][RAD_OUTSIDE_TEXT];
} rad_outside;

typedef struct rad_exploration {
    uint64_t runs, steps, failures;
    uint64_t cut;              /* runs that were not finished at the step limit */
    uint64_t held;             /* runs in which an actor that yields or spins was held back: docs/write-a-machine.md */
    uint64_t classes;          /* distinct trace classes seen */
    bool classes_capped;       /* more than the counter holds */
    uint64_t races_suppressed; /* how often a race did not count, … */
    /* … and, for each of rad_explore_options.suppressed, how many of these it matches: a race counts for all that match
     * it. In a run whose process died, only the first 256 count. */
    uint64_t *suppressed_by;
    uint64_t suppressed_count;
    char sourceless[200]; /* why the source file of a race in a program under test was not known; "": all were */
    /* Distinct states met at decisions between actions, with strategy dedup; otherwise 0. States that only a process
     * knew that died are counted again. */
    uint64_t states;
    /* A program under test: runs that were made one after the other in one process, whose state is restored after
     * each; how many of these were repeated in a fresh process, and were equal; and why, from some run on, each run had
     * a process of its own, "" if none had. */
    uint64_t in_process, audits;
    char apart[100];
    uint64_t evaluations[RAD_ORACLES_MAX];
    bool complete; /* some phase tried every schedule there is (held > 0: every fair one), each to its end */
    bool interrupted, out_of_time, out_of_steps; /* why it stopped before its runs were used up */
    uint32_t killed; /* workers that another process killed (SIGKILL); their runs were repeated */
    double elapsed;
    uint32_t finding_count;
    rad_finding findings[RAD_FINDINGS_MAX]; /* by lowest run */
    uint64_t findings_dropped;              /* failing runs whose identity is beyond the table */
    uint32_t phase_count;
    rad_phase phases[RAD_PHASES_MAX];
    uint32_t site_count; /* sites the machine names */
    uint8_t site_reached[1024];
    rad_outside outside;
    bool timed;  /* some run of a program under test had a timer or a deadline */
    bool waited; /* … a thread that waited for a condition */
} rad_exploration;

RAD_API int rad_lab_explore(const rad_target *t, const rad_explore_options *o, rad_exploration *out, rad_error *error);
RAD_API void rad_exploration_free(rad_exploration *e);

/* The patterns of a file, for rad_explore_options.suppressed: lines "race:FUNCTION" or "race:FILE", with * for
 * anything, and comments that begin with #. RAD_EINPUT names the line. */
RAD_API int rad_suppressions_read(const char *const **list, const char *path, rad_error *error);
RAD_API uint64_t rad_suppressions_line(const char *const *list, uint64_t index); /* from 1, of one that was read so */
RAD_API void rad_suppressions_free(const char *const *list);                     /* may be NULL */

/* From now on these races count in no run, be it replayed or drawn, unless the options of an exploration name others.
 * The list stays the caller's; NULL: none. */
RAD_API void rad_lab_suppress(const char *const *patterns);

/* The verdict, in one sentence with its limits: what was found, what was tried, which bound is complete, how
 * many runs were cut, and what the machine and fairness leave out. */
enum { RAD_STATEMENT_MAX = 800 };
RAD_API void rad_exploration_text(const rad_target *t, const rad_exploration *e, char text[RAD_STATEMENT_MAX]);

/* What no verdict on this case covers (rad_machine.limits); NULL: nothing is left out. */
RAD_API const char *rad_target_limits(const rad_target *t);

/* No run of it came to an end: nothing is known. */
RAD_API bool rad_exploration_all_cut(const rad_exploration *e);

/* ---- Shrink ----------------------------------------------------------------------------------------- */

enum rad_certificate {
    RAD_NOT_CERTIFIED = 0, /* the search below did not finish within its budget */
    RAD_MINIMAL            /* no failure of this identity with one preemption fewer: exhausted */
};

/* How large a run is. Runs are compared by case_size, then preemptions, switches, nonzero, the sum of the choices,
 * choices, steps: the first that differs decides. docs/write-a-machine.md says what a preemption is. */
typedef struct rad_measure {
    uint64_t case_size; /* by rad_machine.size */
    uint64_t choices;   /* length of the list */
    uint64_t nonzero;   /* choices that differ from the baseline */
    uint64_t preemptions;
    uint64_t switches;
    uint64_t steps;
} rad_measure;

enum { RAD_SHRINK_SECONDS = 120 };

typedef struct rad_shrink_options {
    uint64_t checks;       /* runs the reducers may use; 0 = 20,000 */
    uint64_t certify_runs; /* runs the certificate may use; 0 = 200,000 */
    uint64_t steps;        /* steps each of the two may use; 0 = RAD_STEPS_DEFAULT */
    double seconds;        /* each of the two may take; 0 = RAD_SHRINK_SECONDS; negative: no limit */
    double hang_seconds;   /* as in rad_explore_options */
    void (*progress)(void *context, const char *stage, uint64_t checks, const rad_measure *m);
    void *context;
    volatile const int *interrupted;
    const char *const *suppressed; /* as in rad_explore_options: such a race is no second bug */
} rad_shrink_options;

/* Which budget ended a stage before it was done. Steps and runs are the same on every host, time is not. */
enum rad_budget { RAD_BUDGET_NONE = 0, RAD_BUDGET_RUNS, RAD_BUDGET_STEPS, RAD_BUDGET_TIME };

typedef struct rad_shrink_report {
    rad_measure before, after;
    uint64_t checks, steps;  /* used by the reducers */
    enum rad_budget stopped; /* the reducers: NONE: nothing gets smaller any more */
    enum rad_certificate certificate;
    uint64_t certified_runs;           /* made for it: those of every bound from 0 to one preemption fewer */
    uint64_t certified_cut;            /* those that were not finished at the step limit: they prove nothing */
    uint64_t certified_held;           /* those in which an actor was held back: only fair schedules were tried */
    enum rad_budget certificate_ended; /* NONE: all schedules with fewer preemptions were tried */
    double elapsed;                    /* seconds, of both */
    rad_artifact *second;              /* another bug that shrinking met and that fails on the original case, or NULL */
} rad_shrink_report;

/* *out is a new artifact with the same failure identity, at most as large by rad_measure. `o` may be NULL:
 * defaults. */
RAD_API int rad_lab_shrink(const rad_artifact *a, const rad_shrink_options *o, rad_artifact **out,
                           rad_shrink_report *report, rad_error *error);

/* ---- Story: a run told step by step, for viewers ------------------------------------------------------ */

enum rad_switch {
    RAD_SWITCH_NONE = 0, /* the same actor continues */
    RAD_SWITCH_FORCED,   /* the one before blocked, yielded or ended */
    RAD_SWITCH_PREEMPTIVE
};

/* A place in the code of a program under test. */
typedef struct rad_source_place {
    char function[48]; /* "": not known */
    char file[240];    /* as the compiler was given it; "": the program has no debug information there */
    uint32_t line;
    char source[128]; /* the line itself; "": the file is not there */
    bool own;         /* the program's own code: not in a library, or in a header of one */
} rad_source_place;

/* The calls in which a fiber of such a program was at the end of the run, the innermost first. */
typedef struct rad_source_stack {
    uint32_t actor; /* index into actors */
    bool failed;    /* the failure is here; otherwise it waits */
    bool full;      /* … because its stack overflowed */
    uint32_t frame_count;
    const rad_source_place *frames;
} rad_source_stack;

typedef struct rad_line {
    uint64_t step;
    uint32_t actor;   /* index into actors */
    char object[48];  /* "-" when none */
    const char *site; /* or "" */
    const char *kind; /* of the action */
    enum rad_access access;
    bool has_value; /* the step said one */
    uint64_t value;
    enum rad_switch turn;
    bool decisive;              /* this switch matters: the shrunk list chooses something other than the baseline */
    bool hidden;                /* not in the causal past of the failure */
    bool waits;                 /* after this step its actor had to wait for another one */
    char note[96];              /* choices made inside the step, notes of the machine; "" */
    char words[128];            /* the step in the machine's own words; "": to be put together from the above */
    const rad_source_place *at; /* of a program under test: the call that it makes; NULL: not known */
} rad_line;

/* What an actor of a program under test was about to do when the run ended. */
typedef struct rad_pending {
    const char *site;           /* or "" */
    const rad_source_place *at; /* NULL: not known, or there is nothing left to do */
} rad_pending;

typedef struct rad_wait_edge {
    uint32_t actor;
    char object[48];
    char holder[48];              /* "-" when none has it */
    const rad_source_place *made; /* of a program under test: the call that made the object; NULL: not known */
} rad_wait_edge;

typedef struct rad_story {
    uint32_t actor_count;
    char (*actors)[48];
    uint64_t line_count;
    rad_line *lines;
    uint32_t wait_count;
    rad_wait_edge *waits; /* at the end */
    rad_pending *pending; /* of a program under test, one for each actor; otherwise NULL */
    char *state;          /* at the end, in the machine's words, lines that end in "\n"; NULL: it has none */
    /* What a program under test printed, the first 4,095 bytes. NULL: nothing, or it is no program. */
    char *output;
    /* Of such a program that failed: where its fibers are, those that failed first. */
    uint32_t stack_count;
    const rad_source_stack *stacks;
    /* Why nothing woke the actors that wait, lines that end in "\n"; NULL: nothing is known. */
    char *blame;
    rad_verdict verdict;
    rad_measure measure;
    bool as_recorded; /* the run in the story is the one of the file, step by step */
    char reason[800]; /* what differs, when not */
} rad_story;

RAD_API int rad_lab_story(const rad_artifact *a, rad_story **out, rad_error *error);
RAD_API void rad_story_free(rad_story *s);

enum { RAD_LAST_EVENTS = 200 };

/* The story as text: a swimlane of actors, the decisive switches marked, waits and verdict below. With a state, that
 * follows, and of a failure with hidden lines the last RAD_LAST_EVENTS ones, a line each.
 * `width` in columns (0 = 100); `all` shows hidden lines too. rad_free the result. */
RAD_API char *rad_story_text(const rad_story *s, uint32_t width, bool colour, bool all);

/* ---- Cases of the executor (machine `exec`) ------------------------------------------------------------
 * docs/dev/executor-cases.md has their fields. Targets own their bodies: rad_target_free. */

/* At most this many of each; all at least 1 except the last two. */
typedef struct rad_exec_bounds {
    uint32_t workers, programs, tasks, length;
    uint32_t workers_min; /* 0 = 1 */
    uint32_t family;      /* tasks that one task may come to, itself included */
    uint32_t resources, events;
    bool hang; /* some task waits for something that never comes: the case expects a deadlock */
} rad_exec_bounds;

RAD_API rad_exec_bounds rad_exec_bounds_small(void);  /* 3 workers, 4 tasks, programs of 8 */
RAD_API rad_exec_bounds rad_exec_bounds_stress(void); /* 8 workers, 16 tasks, programs of 32 */

/* A case made from a seed: arbitrary programs that end under every schedule (or, with `hang`, never do). The
 * same seed and bounds give the same case. RAD_EINPUT names the bound that is out of range. */
RAD_API int rad_exec_generate(uint64_t seed, const rad_exec_bounds *b, rad_target *t, rad_error *error);

/* The fixed list of the exhaustive tier. */
enum { RAD_EXEC_LISTED = 520 };
RAD_API int rad_exec_listed(uint32_t i, char name[32], rad_target *t, rad_error *error);

/* What a case has; RAD_EINPUT when it is none of machine `exec`. */
typedef struct rad_exec_shape {
    uint32_t workers, programs, tasks, instructions, resources, events;
    const char *expect; /* "ends", "completed", "refused", "deadlock" */
} rad_exec_shape;
RAD_API int rad_exec_shape_of(const rad_target *t, rad_exec_shape *out, rad_error *error);

/* How the run of a story ended: "completed", "refused", "deadlock", "step-limit", or the oracle that failed. NULL: not
 * a run of machine `exec`. */
RAD_API const char *rad_exec_outcome(const rad_story *s);

/* Which of the first three an exploration has met: sites of this name. */
RAD_API bool rad_exec_met(const rad_exploration *e, const char *outcome);

#ifdef __cplusplus
}
#endif
#endif
