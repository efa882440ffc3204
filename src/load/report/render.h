/* render.h — results in the forms of the outside world. All append to `to`; to->failed when memory ran out.
 *
 * Everything here is a function of the result and of what the caller knows about the run (who), so that the same
 * result always gives the same text. There is no clock. */
#ifndef RAD_LOAD_REPORT_RENDER_H
#define RAD_LOAD_REPORT_RENDER_H

#include "base/bytes.h"
#include "load/report/result.h"

/* What the result cannot know. Texts may be NULL: not known. */
struct rad__load_identity {
    const char *run_id;
    const char *start, *end; /* time of day, RFC 3339 */
};

/* `who` may be NULL in all of them. */
RAD_INTERNAL void rad__load_render_summary(rad_bytes *to, const rad_load_result *r,
                                           const struct rad__load_identity *who);
RAD_INTERNAL void rad__load_render_json(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who);
RAD_INTERNAL void rad__load_render_csv(rad_bytes *to, const rad_load_result *r);
RAD_INTERNAL void rad__load_render_prometheus(rad_bytes *to, const rad_load_result *r);
RAD_INTERNAL void rad__load_render_html(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who);

/* ---- Numbers and texts ------------------------------------------------------------------------------------ */

/* By value, so that one call can have several. */
struct rad__load_label {
    char text[48];
};

/* Of RAD__LOAD_NO_DATA, all of them: "no data". */
RAD_INTERNAL struct rad__load_label rad__load_count_label(uint64_t n);     /* 1,234,567 */
RAD_INTERNAL struct rad__load_label rad__load_ms_label(uint64_t ns);       /* 12.345, rounded */
RAD_INTERNAL struct rad__load_label rad__load_seconds_label(uint64_t ns);  /* 10.500 s */
RAD_INTERNAL struct rad__load_label rad__load_share_label(uint64_t ppm);   /* 12.34 % */
RAD_INTERNAL struct rad__load_label rad__load_bytes_label(uint64_t bytes); /* 12.3 MB */
RAD_INTERNAL struct rad__load_label rad__load_rate_label(uint64_t milli);  /* 1,234.5 */
/* p50, p99.9 */
RAD_INTERNAL struct rad__load_label rad__load_percentile_label(uint32_t ppm);
/* n divided by 10 to the power of `digits`, as JSON has numbers; null where nothing was measured. */
RAD_INTERNAL struct rad__load_label rad__load_json_label(uint64_t n, int digits);

/* One name, for HTML, also inside attributes. */
RAD_INTERNAL void rad__load_put_html_text(rad_bytes *to, const char *text);

/* ---- What several forms need ------------------------------------------------------------------------------ */

struct rad__load_throughput {
    uint64_t average_milli, peak, least; /* answers per 1,000 s; in one whole second; or no data */
};
RAD_INTERNAL struct rad__load_throughput rad__load_throughput_of(const rad_load_result *r);

/* How long opening a connection took, and how late arrivals began, on average, ns; or no data. */
RAD_INTERNAL uint64_t rad__load_mean_connect(const rad__load_metrics *m);
RAD_INTERNAL uint64_t rad__load_mean_late(const rad__load_metrics *m);

/* Requests of a connection that were not its first, all in all: warm-up and all. */
RAD_INTERNAL uint64_t rad__load_reused(const rad_load_result *r);

/* Seconds in order, those in which nothing happened, too. `at` begins all zero. False: that was all. */
struct rad__load_seconds_at {
    struct rad__load_second second;
    uint32_t next;
    bool begun;
};
RAD_INTERNAL bool rad__load_seconds_next(const rad_load_result *r, struct rad__load_seconds_at *at);

/* "at most 100.000 ms", "99.12 %": a bound or what was measured. */
RAD_INTERNAL struct rad__load_label rad__load_measure_label(const struct rad__load_assertion *a, uint64_t value);

/* A scenario need not have one. */
static inline const char *rad__load_name_label(const rad_load_result *r)
{
    return r->scenario.name != NULL ? r->scenario.name : "load test";
}

RAD_INTERNAL const char *rad__load_engine_label(const rad_load_result *r);
RAD_INTERNAL const char *rad__load_end_label(const rad_load_result *r);
RAD_INTERNAL const char *rad__load_repeatable_label(const rad_load_result *r);
static inline bool rad__load_is_open(const rad_load_result *r)
{
    return r->scenario.schedule.model == RAD__LOAD_OPEN;
}

#endif
