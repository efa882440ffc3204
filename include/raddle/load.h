/* raddle/load.h — load tests that can be repeated and replayed.
 *
 * A scenario (TOML, docs/load.md) says which virtual users send which requests when, and what must hold. A run executes
 * it, on the scenario's simulated target or on a real server, and writes a log, which can be replayed without a server,
 * analysed and compared.
 *
 *     rad_load_scenario *s;
 *     rad_load_read(&s, "checkout.toml", &error);
 *     rad_load_options o = rad_load_defaults();
 *     o.log = "events.log";
 *     rad_load_result *r;
 *     rad_load_run(&r, s, &o, &error);
 *     char *text = rad_load_text(r, RAD_LOAD_SUMMARY, &error);
 *
 * Guaranteed:
 *     plan        same scenario and seed: the same requests, bytes, think times and arrivals, also on a real server
 *     simulated   same scenario, seed and version: the same log, byte for byte, on any host
 *     recorded    the log of a run on a real server replays to the same log, any number of times
 * Two runs on a real server are never promised to equal each other.
 *
 * Calls return 0 or a negative RAD_E… code with the text in *error. */
#ifndef RADDLE_LOAD_H
#define RADDLE_LOAD_H

#include <raddle/lab.h> /* rad_free */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scenarios -------------------------------------------------------------------------------------------- */

typedef struct rad_load_scenario rad_load_scenario;

/* RAD_EINPUT: "FILE:LINE:COLUMN: what is wrong". */
RAD_API int rad_load_read(rad_load_scenario **s, const char *path, rad_error *error);
/* From memory; `name` is for messages, and files the scenario names are looked up beside it. */
RAD_API int rad_load_parse(rad_load_scenario **s, const char *name, const char *text, size_t size, rad_error *error);
RAD_API void rad_load_free(rad_load_scenario *s);
/* Whether the files and environment variables that it names exist. RAD_EINPUT: which one does not. */
RAD_API int rad_load_check(const rad_load_scenario *s, rad_error *error);
/* What it is, in a few lines for people. rad_free the text; NULL: no memory. */
RAD_API char *rad_load_outline(const rad_load_scenario *s);
RAD_API bool rad_load_has_simulated(const rad_load_scenario *s);

/* ---- Runs ------------------------------------------------------------------------------------------------- */

enum rad_load_engine {
    RAD_LOAD_AUTO,      /* simulated if the scenario has one and no target is given, else the best of the others */
    RAD_LOAD_SIMULATED, /* the scenario's own target */
    RAD_LOAD_EPOLL,
    RAD_LOAD_URING
};

/* In place of a figure for which nothing was measured. */
#define RAD_LOAD_NO_DATA UINT64_MAX

/* How far a run is. */
typedef struct rad_load_progress {
    uint64_t now_ns, duration_ns; /* 0: iterations decide */
    uint64_t requests, responses, errors, under_way;
    uint64_t rate_milli;     /* responses per 1,000 s, in the last second */
    uint64_t p50_ns, p99_ns; /* or RAD_LOAD_NO_DATA */
    uint64_t dropped, late;
    uint32_t users;
} rad_load_progress;

typedef struct rad_load_options {
    uint64_t seed;      /* 0: the scenario's; if it has none, Raddle picks one (rad_load_facts.seed) */
    const char *log;    /* file to write; NULL: none */
    const char *target; /* URL instead of the scenario's (one target); NULL: the scenario's */
    enum rad_load_engine engine;
    uint32_t shards;    /* schedulers side by side, each with its share of the users; 0: 1 */
    volatile int *stop; /* when it becomes nonzero: finish the tick, flush, end. May be NULL */
    void (*watch)(void *context, const rad_load_progress *progress); /* about ten times a second; may be NULL */
    void *context;
} rad_load_options;

RAD_API rad_load_options rad_load_defaults(void);

typedef struct rad_load_result rad_load_result;

/* RAD_EIO, RAD_ENOMEM: the run ended early; *r has the results until then, unless it is NULL. */
RAD_API int rad_load_run(rad_load_result **r, const rad_load_scenario *s, const rad_load_options *o, rad_error *error);
RAD_API void rad_load_result_free(rad_load_result *r);

enum rad_load_end {
    RAD_LOAD_DONE,
    RAD_LOAD_INTERRUPTED,
    RAD_LOAD_ABORTED,  /* an assertion that aborts did not hold */
    RAD_LOAD_EXHAUSTED /* the log was full, or the disk too slow */
};

typedef struct rad_load_facts {
    uint64_t seed, duration_ns, requests, responses, errors, timeouts, cancelled;
    uint64_t p50_ns, p99_ns, rate_milli; /* or RAD_LOAD_NO_DATA */
    uint32_t assertions, assertions_failed;
    enum rad_load_end end;
    uint64_t turns, records; /* the last: of an analysis */
    bool simulated, cut_off; /* the last: of a log without its end */
    char no_data[512];       /* why there is no response to judge the run by; "": there is one */
} rad_load_facts;

RAD_API void rad_load_result_facts(const rad_load_result *r, rad_load_facts *facts);

/* ---- Logs ------------------------------------------------------------------------------------------------- */

/* How long a log is. A run that was killed leaves a log without its end: it is good up to its last whole
 * block, and a replay or an analysis covers these turns only. */
typedef struct rad_load_extent {
    bool cut_off;
    bool in_header; /* cut off before its first block can begin: nothing can be made of it */
    uint64_t turns, records;
} rad_load_extent;

/* RAD_EINPUT: not a log, or damaged. */
RAD_API int rad_load_survey(rad_load_extent *extent, const char *path, rad_error *error);

typedef struct rad_load_verdict {
    bool same;    /* byte for byte, as far as the log goes */
    bool cut_off; /* it does not go to its end */
    uint64_t turns, records;
    uint64_t record; /* the first that differs; 0: another difference */
    char text[512];
} rad_load_verdict;

/* Replays a log. 0 also when it differs, or was cut off. `output` (may be NULL): the log is written anew; one that was
 * cut off only if `partial` is set, and then without an end, too, unless only that was missing. *r may be NULL. */
RAD_API int rad_load_replay(rad_load_verdict *verdict, rad_load_result **r, const char *path, const char *output,
                            bool partial, rad_error *error);

/* The same log without its outputs, which follow from its inputs; replay with an output restores them. */
RAD_API int rad_load_strip(const char *path, const char *output, rad_error *error);

/* ---- A log, tick by tick ------------------------------------------------------------------------------------ */

typedef struct rad_load_stepper rad_load_stepper;

/* Begins before the first turn of a shard. */
RAD_API int rad_load_stepper_open(rad_load_stepper **s, const char *path, uint32_t shard, rad_error *error);
RAD_API void rad_load_stepper_free(rad_load_stepper *s);
/* To a turn, from 1 on; 0: before the first. Forward or back; stops at the last one. */
RAD_API int rad_load_stepper_go(rad_load_stepper *s, uint64_t turn, rad_error *error);
RAD_API uint64_t rad_load_stepper_turn(const rad_load_stepper *s);
RAD_API bool rad_load_stepper_at_end(const rad_load_stepper *s);
/* What happened in this turn, record by record; what the users do now. rad_free the text; NULL: no memory. */
RAD_API char *rad_load_stepper_records(const rad_load_stepper *s);
RAD_API char *rad_load_stepper_state(const rad_load_stepper *s);

/* ---- Analysis ---------------------------------------------------------------------------------------------- */

/* As an event log of Z6's, version 1; *records (may be NULL): how many. RAD_ELIMIT: more than Z6 reads. */
RAD_API int rad_load_export_z6(const char *path, const char *output, uint64_t *records, rad_error *error);

/* Statistics of the events of a log (also of one of Z6's, without filter): those of requests for which `filter` holds
 * (NULL: all; docs/load-results.md has the expressions). */
RAD_API int rad_load_analyze(rad_load_result **r, const char *path, const char *filter, rad_error *error);

/* ---- Results ---------------------------------------------------------------------------------------------- */

enum rad_load_form {
    RAD_LOAD_SUMMARY,    /* for people */
    RAD_LOAD_JSON,       /* metrics.json */
    RAD_LOAD_CSV,        /* timeseries.csv */
    RAD_LOAD_PROMETHEUS, /* text format */
    RAD_LOAD_HTML        /* a page with plots, in one file */
};

/* rad_free the text; NULL: *error says why. */
RAD_API char *rad_load_text(const rad_load_result *r, enum rad_load_form form, rad_error *error);

/* The same into a file: whole, or not at all. */
RAD_API int rad_load_save(const rad_load_result *r, enum rad_load_form form, const char *path, rad_error *error);

/* A directory for the results of a run, below `parent` (which is created if it does not exist), named after the present
 * time: the run writes events.log, the rest is written at the end. */
typedef struct rad_load_folder rad_load_folder;
RAD_API int rad_load_folder_open(rad_load_folder **f, const char *parent, rad_error *error);
RAD_API const char *rad_load_folder_path(const rad_load_folder *f);
RAD_API const char *rad_load_folder_log(const rad_load_folder *f);
/* metrics.json, summary.txt, timeseries.csv, config.toml, metadata.json. */
RAD_API int rad_load_folder_keep(const rad_load_folder *f, const rad_load_result *r, const char *scenario_path,
                                 const char *command_line, int exit_code, rad_error *error);
RAD_API void rad_load_folder_free(rad_load_folder *f);

/* Service time (or response time, if there is any and `response` is set) at a share in parts per million; or
 * RAD_LOAD_NO_DATA. */
RAD_API uint64_t rad_load_percentile(const rad_load_result *r, bool response, uint32_t ppm);

/* Two sides, each of one run or of several, beside each other. Rows that may be worse: p10, p50, p99, responses a
 * second and failed share, of each request name and of all. With enough runs a side, a rank test (Wilcoxon, Mann,
 * Whitney; one-sided; Holm's correction over all rows) and the threshold decide; with fewer, the threshold alone, if
 * one is given. docs/load-results.md has the rules. */
typedef struct rad_load_diff_options {
    double threshold_pct; /* how much worse counts; negative: 5 with a test, and nothing counts without one */
    double level_pct;     /* how often equal sides may be reported as different, in percent; default: 1 */
    bool json;
} rad_load_diff_options;

typedef struct rad_load_difference {
    uint32_t rows, worse, better;
    bool tested;  /* there were enough runs */
    bool no_data; /* a side has no response at all */
} rad_load_difference;

RAD_API rad_load_diff_options rad_load_diff_defaults(void);

/* `options` and `difference` may be NULL. rad_free the text; NULL: *error says why (RAD_EINPUT: bad options, or the
 * same run twice on a side). */
RAD_API char *rad_load_diff(const rad_load_result *const *before, uint32_t before_count,
                            const rad_load_result *const *after, uint32_t after_count,
                            const rad_load_diff_options *options, rad_load_difference *difference, rad_error *error);

/* ---- A target to try it on --------------------------------------------------------------------------------- */

typedef struct rad_load_serve_options {
    const char *host;                         /* NULL: 127.0.0.1 */
    uint32_t port;                            /* 0: any */
    uint64_t latency_low_ns, latency_high_ns; /* drawn evenly */
    uint32_t error_ppm;                       /* that many of a million responses have status 503 */
    uint64_t stall_every_ns, stall_ns;        /* no response is sent in the last stall_ns of each stall_every_ns */
    uint32_t body_bytes;
    uint32_t requests_per_connection; /* 0: any number */
    bool misbehave;                   /* some paths violate HTTP on purpose: src/load/serve/paths.c lists them */
    uint64_t seed;
    volatile int *stop;                              /* serves until it is not 0 */
    void (*listening)(void *context, uint32_t port); /* may be NULL */
    void *context;
} rad_load_serve_options;

/* Serves HTTP/1.1 on the caller's thread; *served (may be NULL): how many requests. RAD_EIO: it cannot listen there. */
RAD_API int rad_load_serve(const rad_load_serve_options *o, uint64_t *served, rad_error *error);

#ifdef __cplusplus
}
#endif

#endif
