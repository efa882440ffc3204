/* render_json.c — metrics.json: the fields Z6 documents, under its names, and ours beside them.
 *
 * Ours: response_latency (null for closed schedules), checks, late, arrivals, by_name, scheduler, and what is said
 * about the run itself (engine, end, level, no_data). Times are nanoseconds, rates per second, shares from 0 to 1; null
 * where nothing was measured. */
#include "base/json_out.h"
#include "load/report/render.h"

#include <string.h>

static void put_count(rad_json_out *j, const char *name, uint64_t n)
{
    rad__out_format(j, name, "%s", rad__load_json_label(n, 0).text);
}

static void put_milli(rad_json_out *j, const char *name, uint64_t n)
{
    rad__out_format(j, name, "%s", rad__load_json_label(n, 3).text);
}

static void put_ppm(rad_json_out *j, const char *name, uint64_t n)
{
    rad__out_format(j, name, "%s", rad__load_json_label(n, 6).text);
}

/* ---- Groups ---------------------------------------------------------------------------------------------- */

static void put_runtime(rad_json_out *j, const rad_load_result *r, const struct rad__load_identity *who)
{
    rad__out_open(j, "runtime", '{');
    rad__out_text(j, "start_time", who != NULL ? who->start : NULL);
    rad__out_text(j, "end_time", who != NULL ? who->end : NULL);
    rad__out_format(j, "duration_seconds", "%s", rad__load_json_label(r->metrics.end_ns, 9).text);
    put_count(j, "vus", r->scenario.users);
    put_count(j, "seed", r->seed);
    put_count(j, "tick_ns", r->scenario.tick_ns);
    put_count(j, "shards", r->shards);
    rad__out_text(j, "schedule", rad__load_is_open(r) ? "open" : "closed");
    rad__out_text(j, "engine", rad__load_engine_label(r));
    rad__out_text(j, "ended", rad__load_end_label(r));
    rad__out_text(j, "repeatable", r->level == RAD__LOAD_LEVEL_SIMULATED ? "whole run" : "plan");
    rad__out_bool(j, "cut_off", r->cut_off);
    put_count(j, "turns", r->metrics.turns);
    if (r->records > 0 || r->cut_off) put_count(j, "records", r->records);
    rad__out_bool(j, "filtered", r->filtered);
    rad__out_close(j, '}');
}

static void put_methods(rad_json_out *j, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    rad__out_open(j, "by_method", '{');
    for (uint32_t i = 0; i < s->request_count; i++) {
        uint64_t sum = 0;
        bool again = false;
        for (uint32_t k = 0; k < i; k++) again |= strcmp(s->requests[k].method, s->requests[i].method) == 0;
        for (uint32_t k = i; k < s->request_count; k++)
            if (strcmp(s->requests[k].method, s->requests[i].method) == 0) sum += r->metrics.by_request[k].tally.issued;
        if (!again) put_count(j, s->requests[i].method, sum);
    }
    rad__out_close(j, '}');
}

static void put_statuses(rad_json_out *j, const rad__load_metrics *m)
{
    static const char DIGITS[] = "0123456789";
    rad__out_open(j, "by_status", '{');
    for (uint32_t i = 0; i < 1000; i++) {
        char name[4] = {DIGITS[i / 100], DIGITS[i / 10 % 10], DIGITS[i % 10], 0};
        if (m->by_status[i] > 0) put_count(j, name, m->by_status[i]);
    }
    rad__out_close(j, '}');
}

static void put_requests(rad_json_out *j, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    const struct rad__load_tally *t = &m->measured;
    uint64_t failed = t->responses - m->ok + t->errors + t->timeouts;
    rad__out_open(j, "requests", '{');
    put_count(j, "total", t->issued);
    put_count(j, "success", m->ok);
    put_count(j, "failed", failed);
    put_ppm(j, "success_rate", rad__load_ppm(m->ok, m->ok + failed));
    put_methods(j, r);
    put_statuses(j, m);
    put_count(j, "responses", t->responses);
    put_count(j, "errors", t->errors);
    put_count(j, "timeouts", t->timeouts);
    put_count(j, "cancelled", t->cancelled);
    put_count(j, "warmup", m->all.issued - t->issued);
    put_count(j, "iterations", m->iterations);
    put_count(j, "header_bytes", m->header_bytes);
    put_count(j, "body_bytes", m->body_bytes);
    rad__out_close(j, '}');
}

static void put_times(rad_json_out *j, const char *name, const rad_histogram *h)
{
    rad__out_open(j, name, '{');
    bool any = h->count > 0;
    put_count(j, "min_ns", any ? h->min : RAD__LOAD_NO_DATA);
    put_count(j, "max_ns", any ? h->max : RAD__LOAD_NO_DATA);
    put_count(j, "mean_ns", any ? (uint64_t)(rad__histogram_mean(h) + 0.5) : RAD__LOAD_NO_DATA);
    put_count(j, "stddev_ns", any ? (uint64_t)(rad__histogram_deviation(h) + 0.5) : RAD__LOAD_NO_DATA);
    put_count(j, "p50_ns", rad__load_quantile(h, 500000));
    put_count(j, "p90_ns", rad__load_quantile(h, 900000));
    put_count(j, "p95_ns", rad__load_quantile(h, 950000));
    put_count(j, "p99_ns", rad__load_quantile(h, 990000));
    put_count(j, "p999_ns", rad__load_quantile(h, 999000));
    rad__out_close(j, '}');
}

static void put_throughput(rad_json_out *j, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    struct rad__load_throughput t = rad__load_throughput_of(r);
    rad__out_open(j, "throughput", '{');
    put_milli(j, "rps", t.average_milli);
    put_count(j, "peak_rps", t.peak);
    put_count(j, "min_rps", t.least);
    rad__out_close(j, '}');
    if (!rad__load_is_open(r)) return;
    rad__out_open(j, "arrivals", '{');
    put_count(j, "begun", m->arrivals);
    put_count(j, "blocked", m->blocked);
    put_count(j, "dropped", m->dropped);
    put_count(j, "mean_late_ns", rad__load_mean_late(m));
    rad__out_close(j, '}');
}

static void put_connections(rad_json_out *j, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    rad__out_open(j, "connections", '{');
    put_count(j, "total", m->connections);
    put_count(j, "before_first_request", m->early);
    put_count(j, "reused", rad__load_reused(r));
    put_count(j, "errors", m->connection_errors);
    put_count(j, "avg_connection_time_ns", rad__load_mean_connect(m));
    rad__out_close(j, '}');
}

static void put_errors(rad_json_out *j, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    uint64_t errors = m->measured.errors + m->measured.timeouts;
    rad__out_open(j, "errors", '{');
    put_count(j, "total", errors);
    put_ppm(j, "rate", rad__load_ppm(errors, m->measured.responses + errors));
    rad__out_open(j, "by_type", '{');
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        if (m->by_fault[i] > 0) put_count(j, rad__load_fault_name((enum rad__load_fault)i), m->by_fault[i]);
    rad__out_close(j, '}');
    put_count(j, "late_responses", m->late);
    put_count(j, "long_waits", m->long_waits);
    rad__out_open(j, "exhausted", '{');
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        if (m->exhausted[i] > 0) put_count(j, rad__load_fault_name((enum rad__load_fault)i), m->exhausted[i]);
    rad__out_close(j, '}');
    rad__out_close(j, '}');
    rad__out_open(j, "checks", '{');
    put_count(j, "made", m->checks_made);
    put_count(j, "failed", m->checks_failed);
    rad__out_close(j, '}');
}

/* ---- Assertions ------------------------------------------------------------------------------------------ */

static void put_measure(rad_json_out *j, const char *name, const struct rad__load_assertion *a, uint64_t value)
{
    switch (a->measure) {
    case RAD__LOAD_SERVICE_NS:
    case RAD__LOAD_RESPONSE_NS:
    case RAD__LOAD_DROPPED_COUNT: put_count(j, name, value); return;
    case RAD__LOAD_RATE: put_milli(j, name, value); return;
    case RAD__LOAD_ERROR_SHARE:
    case RAD__LOAD_SUCCESS_SHARE:
    case RAD__LOAD_RATE_REACHED:
    case RAD__LOAD_5XX_SHARE:
    case RAD__LOAD_CHECK_SHARE: put_ppm(j, name, value); return;
    }
}

static const char *unit_of(const struct rad__load_assertion *a)
{
    switch (a->measure) {
    case RAD__LOAD_SERVICE_NS:
    case RAD__LOAD_RESPONSE_NS: return "ns";
    case RAD__LOAD_RATE: return "per second";
    case RAD__LOAD_DROPPED_COUNT: return "count";
    default: return "share";
    }
}

static void put_assertions(rad_json_out *j, const rad_load_result *r)
{
    rad__out_open(j, "assertions", '[');
    for (uint32_t i = 0; i < r->scenario.assertion_count && !r->filtered; i++) {
        const struct rad__load_assertion *a = &r->scenario.assertions[i];
        uint64_t actual = rad__load_metrics_measure(&r->metrics, a);
        rad__out_open(j, NULL, '{');
        rad__out_text(j, "name", a->name);
        rad__out_bool(j, "passed", rad__load_assertion_holds(a, actual));
        put_measure(j, "expected", a, a->bound);
        put_measure(j, "actual", a, actual);
        rad__out_text(j, "bound", a->at_least ? "at least" : "at most");
        rad__out_text(j, "unit", unit_of(a));
        rad__out_close(j, '}');
    }
    rad__out_close(j, ']');
}

static void put_by_name(rad_json_out *j, const rad_load_result *r)
{
    rad__out_open(j, "by_name", '{');
    for (uint32_t i = 0; i < r->scenario.request_count; i++) {
        const struct rad__load_by_request *b = &r->metrics.by_request[i];
        rad__out_open(j, r->scenario.requests[i].name, '{');
        put_count(j, "total", b->tally.issued);
        put_count(j, "responses", b->tally.responses);
        put_count(j, "success", b->ok);
        put_count(j, "errors", b->tally.errors);
        put_count(j, "timeouts", b->tally.timeouts);
        put_count(j, "cancelled", b->tally.cancelled);
        put_count(j, "checks_failed", b->checks_failed);
        if (r->scenario.request_count <= RAD__LOAD_HISTOGRAMS_MAX)
            put_times(j, "latency", &b->service);
        else
            rad__out_text(j, "latency", NULL);
        rad__out_close(j, '}');
    }
    rad__out_close(j, '}');
}

static void put_scheduler(rad_json_out *j, const struct rad__load_counters *c)
{
    if (c->ticks == 0) return;
    rad__out_open(j, "scheduler", '{');
    put_count(j, "ticks", c->ticks);
    put_count(j, "events", c->events);
    put_count(j, "vus_spawned", c->spawned);
    put_count(j, "vus_completed", c->completed);
    put_count(j, "cohorts", c->cohorts);
    put_count(j, "activations", c->activated);
    put_milli(j, "avg_cohort_size", c->cohorts > 0 ? c->activated * 1000 / c->cohorts : RAD__LOAD_NO_DATA);
    put_count(j, "deepest_queue", c->deepest_queue);
    rad__out_close(j, '}');
}

void rad__load_render_json(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who)
{
    rad_json_out out, *j = &out;
    rad__out_begin(j, to, RAD_JSON_UTF8);
    rad__out_text(j, "version", "1.0");
    rad__out_text(j, "run_id", who != NULL ? who->run_id : NULL);
    rad__out_open(j, "scenario", '{');
    rad__out_text(j, "name", r->scenario.name);
    rad__out_text(j, "version", r->scenario.version);
    rad__out_close(j, '}');
    char why[RAD__LOAD_WHY];
    rad__out_text(j, "no_data", rad__load_result_no_data(r, why) ? why : NULL);
    put_runtime(j, r, who);
    put_requests(j, r);
    put_times(j, "latency", &r->metrics.service);
    if (rad__load_is_open(r))
        put_times(j, "response_latency", &r->metrics.response);
    else
        rad__out_text(j, "response_latency", NULL);
    put_throughput(j, r);
    put_connections(j, r);
    put_errors(j, r);
    put_assertions(j, r);
    put_by_name(j, r);
    put_scheduler(j, &r->counters);
    rad__out_end(j);
}
