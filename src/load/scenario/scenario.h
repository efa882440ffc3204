/* scenario.h — what a load test is: who asks whom for what, when, and what has to hold. A value: nothing here changes
 * once it was read (read.c, from TOML), and nothing of it is a clock, a socket or a secret.
 *
 * Times are nanoseconds, weights and shares are integers: decisions never depend on a floating-point number.
 * All that the scheduler decides by (scheduler/scheduler.h) is in plain fields; texts with placeholders stay templates,
 * which only the engines fill in (live/template.h): a replay needs no data file, no environment and no secret. */
#ifndef RAD_LOAD_SCENARIO_SCENARIO_H
#define RAD_LOAD_SCENARIO_SCENARIO_H

#include "base/arena.h"

enum {
    RAD__LOAD_REQUESTS_MAX = 1000,
    RAD__LOAD_TARGETS_MAX = 100,
    RAD__LOAD_CHECKS_MAX = 64, /* of one request: their results are the bits of a word */
    RAD__LOAD_PPM = 1000000    /* shares are parts per million */
};

/* ---- When ------------------------------------------------------------------------------------------------ */

/* A piece of a schedule: goes in a straight line from one level to another. Levels are virtual users, or arrivals
 * per 1,000 seconds; the next piece may begin elsewhere than this one ends. */
struct rad__load_stage {
    uint64_t length_ns;
    uint64_t from, to;
};

enum rad__load_model {
    RAD__LOAD_CLOSED, /* users: each asks again when it has its answer */
    RAD__LOAD_OPEN    /* arrivals: sent at their time, even if earlier ones still wait */
};

struct rad__load_schedule {
    enum rad__load_model model;
    bool drop; /* open: an arrival that finds nobody free is dropped; else it waits */
    uint32_t stage_count;
    const struct rad__load_stage *stages;
    /* Open: idle users serve in turn; else the user that was busy last does, so that few connections are used. */
    bool in_turn;
    /* Open: a connection is opened when it is needed; else all are before the first arrival. */
    bool connect_late;
};

/* ---- What ------------------------------------------------------------------------------------------------ */

struct rad__load_header {
    const char *name, *value; /* templates, both */
};

enum rad__load_extract_from { RAD__LOAD_FROM_HEADER, RAD__LOAD_FROM_JSON, RAD__LOAD_FROM_COOKIE };

/* Takes a value out of a response into a variable of the user. */
struct rad__load_extract {
    uint32_t variable; /* number of the variable */
    enum rad__load_extract_from from;
    const char *where; /* name of a header, JSON pointer, name of a cookie */
};

enum rad__load_check_of {
    RAD__LOAD_CHECK_STATUS,   /* low … high */
    RAD__LOAD_CHECK_SIZE,     /* of the body, low … high */
    RAD__LOAD_CHECK_CONTAINS, /* the body has `text` somewhere */
    RAD__LOAD_CHECK_HEADER,   /* the header `where` is `text` (NULL: exists) */
    RAD__LOAD_CHECK_JSON      /* the value at `where` is `text` (NULL: exists) */
};

struct rad__load_check {
    const char *name;
    enum rad__load_check_of of;
    uint64_t low, high;
    const char *where, *text;
};

struct rad__load_request {
    const char *name, *method;
    const char *path; /* template, begins with a slash */
    const struct rad__load_header *headers;
    uint32_t header_count;
    const char *body; /* template, or bytes of a file; NULL: none */
    uint32_t body_size;
    bool body_is_file;   /* as it is, no placeholders */
    uint64_t timeout_ns; /* 0: the default of the limits */
    uint64_t weight;     /* in millionths */
    uint32_t target;     /* RAD_NONE: drawn by weight */
    const struct rad__load_extract *extracts;
    const struct rad__load_check *checks;
    uint32_t extract_count, check_count;
};

struct rad__load_step {
    uint32_t request; /* RAD_NONE: drawn by weight */
    uint32_t repeat;
};

#define RAD__LOAD_SIMULATED_URL "http://simulated" /* of a scenario that names no other target */

struct rad__load_target {
    const char *name, *url;
    const char *host, *port, *base_path; /* of the url, apart; IPv6 without brackets */
    uint64_t weight;
    bool tls, http2, verify;
    const char *ca_bundle;   /* NULL: the system's */
    const char *server_name; /* for TLS and Host; the host unless given */
    uint32_t max_connections;
    uint32_t streams;                 /* requests at once on a connection: 1 for HTTP/1.1 */
    uint32_t requests_per_connection; /* closed after that many; 0: never */
    uint64_t connect_timeout_ns;
};

/* A column file: each user (open: each arrival) reads a row for each iteration. */
enum rad__load_order { RAD__LOAD_ROWS_IN_TURN, RAD__LOAD_ROWS_DRAWN, RAD__LOAD_ROWS_BY_USER };

struct rad__load_data {
    const char *name, *path;
    enum rad__load_order order;
    uint32_t column_count;
    uint32_t row_count;
    const char *const *columns; /* names */
    const char *const *cells;   /* row by row */
};

/* ---- What has to hold ------------------------------------------------------------------------------------ */

enum rad__load_measure {
    RAD__LOAD_SERVICE_NS,    /* a percentile of service time, at most */
    RAD__LOAD_RESPONSE_NS,   /* a percentile of response time, at most */
    RAD__LOAD_ERROR_SHARE,   /* errors and timeouts of all requests, at most, ppm */
    RAD__LOAD_SUCCESS_SHARE, /* responses below 400 of all requests, at least, ppm */
    RAD__LOAD_RATE,          /* requests answered per 1,000 s, at least */
    RAD__LOAD_RATE_REACHED,  /* arrivals begun in time of those planned, at least, ppm */
    RAD__LOAD_5XX_SHARE,     /* of all responses, at most, ppm */
    RAD__LOAD_CHECK_SHARE,   /* checks that held of those made, at least, ppm */
    RAD__LOAD_DROPPED_COUNT  /* arrivals dropped, at most */
};

struct rad__load_assertion {
    const char *name;
    enum rad__load_measure measure;
    uint32_t percentile_ppm; /* of the two times */
    bool at_least;           /* else at most */
    bool abort;              /* ends the run as soon as it does not hold */
    uint64_t bound;
};

/* ---- The simulated target -------------------------------------------------------------------------------- */

/* Latency by its inverse distribution: `value` at `share` (ppm), straight lines between; points ascend in both. */
struct rad__load_point {
    uint32_t share_ppm;
    uint64_t value;
};

struct rad__load_curve {
    uint32_t count; /* at least 1; one point: a constant */
    const struct rad__load_point *points;
};

struct rad__load_status {
    uint16_t status;
    uint64_t weight;
};

struct rad__load_simulated {
    struct rad__load_curve connect, latency, body; /* ns, ns, bytes */
    const struct rad__load_status *statuses;
    uint32_t status_count;
    uint32_t loss_ppm;                 /* no answer, ever */
    uint32_t reset_ppm;                /* the connection breaks instead of an answer */
    uint32_t garbage_ppm;              /* something that is not HTTP */
    uint32_t refuse_ppm;               /* a connection is refused */
    uint32_t max_connections;          /* more are refused; 0: no limit */
    uint32_t workers;                  /* requests served at once, the others stand in line; 0: no limit */
    uint64_t stall_every_ns, stall_ns; /* nothing is answered in the last stall_ns of each stall_every_ns */
    uint64_t late_ns; /* a cancelled request is still answered if it would have been within this time */
};

/* ---- All of it ------------------------------------------------------------------------------------------- */

struct rad__load_limits {
    uint32_t max_vus, max_events, max_activations; /* the last: in one tick */
    uint64_t flush_ticks, warn_ticks;
    uint64_t timeout_ns, retry_ns; /* retry: pool exhausted, connection refused */
    uint64_t max_log_bytes;
    uint32_t max_response_bytes, max_header_bytes;
    uint32_t give_up_after; /* connections that fail in a row before a user gives up; 0: never */
};

enum rad__load_pause { RAD__LOAD_NO_PAUSE, RAD__LOAD_CONSTANT_PAUSE, RAD__LOAD_RANDOM_PAUSE };

typedef struct rad__load_scenario {
    rad_arena arena; /* all of it lives here */
    const char *name, *version, *description, *author;

    uint64_t duration_ns; /* 0: iterations decide */
    uint64_t iterations;  /* of each user; 0: no limit */
    uint64_t seed;        /* 0: none was given */
    uint64_t tick_ns;
    uint64_t warmup_ns; /* requests begun before it are left out of statistics and assertions */
    uint64_t jitter_ns; /* users begin up to this much later than the schedule says */
    uint64_t drain_ns;  /* requests under way at the end get this much longer */
    uint32_t users;     /* all that the schedule ever spawns; open: how many serve arrivals */

    struct rad__load_schedule schedule;
    enum rad__load_pause pause; /* think time, after each request */
    uint64_t pause_low_ns, pause_high_ns;

    const struct rad__load_request *requests;
    const struct rad__load_target *targets;
    const struct rad__load_step *steps; /* one, drawn by weight, when there is no sequence */
    const struct rad__load_assertion *assertions;
    const struct rad__load_data *data;
    const char *const *variables; /* names of what is extracted */
    uint32_t request_count, target_count, step_count, assertion_count, data_count, variable_count;
    bool cookies; /* users keep the cookies they are given */

    bool has_simulated;
    struct rad__load_simulated simulated;
    struct rad__load_limits limits;
} rad__load_scenario;

RAD_INTERNAL struct rad__load_limits rad__load_limits_defaults(void);

/* How files that a scenario names are read: all of it with a zero after it, for rad__free; at most `limit` bytes.
 * rad__os_read_file does it. */
struct rad__load_files {
    int (*read)(const char *path, uint64_t limit, char **data, size_t *size, rad_error *error);
};

/* Reads TOML. `path` stands in messages, and files that it names are looked up beside it. 0, or RAD_EINPUT with
 * "PATH:LINE:COLUMN: …"; then there is nothing to free. `files` NULL: data and body files stay unread (a replay needs
 * none of them). */
RAD_INTERNAL int rad__load_scenario_parse(rad__load_scenario *s, const char *path, const char *text, size_t size,
                                          const struct rad__load_files *files, rad_error *error);
RAD_INTERNAL void rad__load_scenario_free(rad__load_scenario *s);

#endif
