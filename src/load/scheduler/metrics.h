/* metrics.h — statistics, made of events and nothing else: a run's own summary and the analysis of its log are the
 * same function over the same values.
 *
 * Requests that were issued during the warm-up count in `all`, and nowhere else. */
#ifndef RAD_LOAD_SCHEDULER_METRICS_H
#define RAD_LOAD_SCHEDULER_METRICS_H

#include "base/histogram.h"
#include "load/log/event.h"

/* issued = responses + errors + timeouts + cancelled + under way */
struct rad__load_tally {
    uint64_t issued, responses, errors, timeouts, cancelled;
};

struct rad__load_by_request {
    struct rad__load_tally tally;
    uint64_t ok; /* responses below 400 */
    uint64_t checks_failed;
    rad_histogram service; /* opened with the first answer, when there are few requests (counts NULL: not) */
};

/* One second of the run. */
struct rad__load_second {
    uint64_t second, turns;
    uint64_t issued, responses, errors; /* with timeouts */
    uint64_t min_ns, p50_ns, p99_ns, max_ns;
    uint32_t users; /* not complete, at its end */
};

typedef struct rad__load_metrics {
    const rad__load_scenario *scenario;
    uint64_t now_ns, turns, events;
    uint64_t end_ns; /* when the run was over, or now */

    struct rad__load_tally all, measured;
    uint64_t ok;              /* measured responses below 400 */
    uint64_t by_status[1000]; /* measured */
    uint64_t by_class[6];     /* 0: none of 1xx … 5xx */
    uint64_t by_fault[RAD__LOAD_FAULT_COUNT];
    uint64_t header_bytes, body_bytes;
    uint64_t checks_made, checks_failed;
    uint64_t late, long_waits, exhausted[RAD__LOAD_FAULT_COUNT];
    uint64_t iterations;

    uint64_t arrivals, blocked, dropped; /* open: begun; those of them that waited; never begun */
    uint64_t begun_late_ns;              /* sum */

    uint64_t connections, connections_closed, connection_errors;
    uint64_t early, early_errors; /* of the first and the last of these: before the first request */
    uint64_t connect_ns;          /* sum */
    uint32_t spawned, completed, gave_up;

    rad_histogram service, response, connect;
    struct rad__load_by_request *by_request; /* scenario->request_count of them */

    struct rad__load_second current;
    rad_histogram current_service;
    struct rad__load_second *seconds; /* those that are past; at most SECONDS_MAX */
    uint32_t second_count, second_capacity;
    bool failed; /* memory ran out; sticky */
} rad__load_metrics;

enum { RAD__LOAD_SECONDS_MAX = 1000000, RAD__LOAD_HISTOGRAMS_MAX = 64 };

RAD_INTERNAL bool rad__load_metrics_open(rad__load_metrics *m, const rad__load_scenario *scenario);
RAD_INTERNAL void rad__load_metrics_close(rad__load_metrics *m);

RAD_INTERNAL void rad__load_metrics_turn(rad__load_metrics *m, uint64_t now_ns);
RAD_INTERNAL void rad__load_metrics_feed(rad__load_metrics *m, const rad__load_event *event);

/* Closes the second that is not over. */
RAD_INTERNAL void rad__load_metrics_end(rad__load_metrics *m);

/* Afterwards `m` is about both runs, which ran at the same time (shards). */
RAD_INTERNAL bool rad__load_metrics_merge(rad__load_metrics *m, const rad__load_metrics *other);

/* In place of a figure for which nothing was measured: the time of no answer, a share of no requests. Such a figure is
 * never shown as a number, and an assertion about it does not hold. */
#define RAD__LOAD_NO_DATA UINT64_MAX

/* How many of so many, in millionths; of none: no data. */
static inline uint64_t rad__load_ppm(uint64_t part, uint64_t whole)
{
    if (whole == 0) return RAD__LOAD_NO_DATA;
    return (uint64_t)((unsigned __int128)part * RAD__LOAD_PPM / whole);
}

/* Of values that were not recorded: no data. */
static inline uint64_t rad__load_quantile(const rad_histogram *h, uint32_t ppm)
{
    return h->count > 0 ? rad__histogram_at_ppm(h, ppm) : RAD__LOAD_NO_DATA;
}

/* What an assertion is about, as an integer in the unit of its bound. */
RAD_INTERNAL uint64_t rad__load_metrics_measure(const rad__load_metrics *m, const struct rad__load_assertion *a);
RAD_INTERNAL bool rad__load_assertion_holds(const struct rad__load_assertion *a, uint64_t actual);

/* Answers per 1,000 s of the time that was measured; none at all is a rate of 0, no time at all is no data. */
RAD_INTERNAL uint64_t rad__load_metrics_rate(const rad__load_metrics *m);

#endif
