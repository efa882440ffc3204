/* render_json.c — metrics.json: the fields Z6 documents, under its names, and ours beside them.
 *
 * Ours: response_latency (null for closed schedules), checks, late, arrivals, by_name, scheduler, and what is said
 * about the run itself (engine, end, level, no_data). Times are nanoseconds, rates per second, shares from 0 to 1; null
 * where nothing was measured. */
#include "load/report/render.h"

#include <inttypes.h>
#include <string.h>

/* An object or array that is being written: knows whether a comma is due. */
struct level {
    rad_bytes *to;
    int depth;
    bool any;
};

static void key(struct level *l, const char *name)
{
    rad__bytes_format(l->to, "%s\n%*s", l->any ? "," : "", 2 * l->depth, "");
    l->any = true;
    if (name == NULL) return;
    rad__load_put_json_text(l->to, name);
    rad__bytes_format(l->to, ": ");
}

static struct level begin(struct level *outer, const char *name, char bracket)
{
    key(outer, name);
    rad__bytes_format(outer->to, "%c", bracket);
    return (struct level){outer->to, outer->depth + 1, false};
}

static void end(const struct level *l, char bracket)
{
    if (l->any) rad__bytes_format(l->to, "\n%*s", 2 * (l->depth - 1), "");
    rad__bytes_format(l->to, "%c", bracket);
}

static void put_text(struct level *l, const char *name, const char *text)
{
    key(l, name);
    rad__load_put_json_text(l->to, text);
}

/* The key; and null, if there is no data for it. */
static bool is_null(struct level *l, const char *name, uint64_t n)
{
    key(l, name);
    if (n == RAD__LOAD_NO_DATA) rad__bytes_format(l->to, "null");
    return n == RAD__LOAD_NO_DATA;
}

static void put_count(struct level *l, const char *name, uint64_t n)
{
    if (!is_null(l, name, n)) rad__bytes_format(l->to, "%" PRIu64, n);
}

static void put_bool(struct level *l, const char *name, bool yes)
{
    key(l, name);
    rad__bytes_format(l->to, "%s", yes ? "true" : "false");
}

/* n / 1000 */
static void put_milli(struct level *l, const char *name, uint64_t n)
{
    if (is_null(l, name, n)) return;
    rad__bytes_format(l->to, "%" PRIu64 ".%03u", n / 1000, (unsigned)(n % 1000));
}

/* n / 1,000,000 */
static void put_ppm(struct level *l, const char *name, uint64_t n)
{
    if (is_null(l, name, n)) return;
    rad__bytes_format(l->to, "%" PRIu64 ".%06u", n / 1000000, (unsigned)(n % 1000000));
}

/* ---- Groups ---------------------------------------------------------------------------------------------- */

static void put_runtime(struct level *top, const rad_load_result *r, const struct rad__load_identity *who)
{
    struct level l = begin(top, "runtime", '{');
    put_text(&l, "start_time", who != NULL ? who->start : NULL);
    put_text(&l, "end_time", who != NULL ? who->end : NULL);
    key(&l, "duration_seconds");
    rad__bytes_format(l.to, "%" PRIu64 ".%09u", r->metrics.end_ns / 1000000000,
                      (unsigned)(r->metrics.end_ns % 1000000000));
    put_count(&l, "vus", r->scenario.users);
    put_count(&l, "seed", r->seed);
    put_count(&l, "tick_ns", r->scenario.tick_ns);
    put_count(&l, "shards", r->shards);
    put_text(&l, "schedule", rad__load_is_open(r) ? "open" : "closed");
    put_text(&l, "engine", rad__load_engine_label(r));
    put_text(&l, "ended", rad__load_end_label(r));
    put_text(&l, "repeatable", r->level == RAD__LOAD_LEVEL_SIMULATED ? "whole run" : "plan");
    put_bool(&l, "cut_off", r->cut_off);
    put_count(&l, "turns", r->metrics.turns);
    if (r->records > 0 || r->cut_off) put_count(&l, "records", r->records);
    put_bool(&l, "filtered", r->filtered);
    end(&l, '}');
}

static void put_methods(struct level *outer, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    struct level l = begin(outer, "by_method", '{');
    for (uint32_t i = 0; i < s->request_count; i++) {
        uint64_t sum = 0;
        bool again = false;
        for (uint32_t k = 0; k < i; k++) again |= strcmp(s->requests[k].method, s->requests[i].method) == 0;
        for (uint32_t k = i; k < s->request_count; k++)
            if (strcmp(s->requests[k].method, s->requests[i].method) == 0) sum += r->metrics.by_request[k].tally.issued;
        if (!again) put_count(&l, s->requests[i].method, sum);
    }
    end(&l, '}');
}

static void put_statuses(struct level *outer, const rad__load_metrics *m)
{
    static const char DIGITS[] = "0123456789";
    struct level l = begin(outer, "by_status", '{');
    for (uint32_t i = 0; i < 1000; i++) {
        char name[4] = {DIGITS[i / 100], DIGITS[i / 10 % 10], DIGITS[i % 10], 0};
        if (m->by_status[i] > 0) put_count(&l, name, m->by_status[i]);
    }
    end(&l, '}');
}

static void put_requests(struct level *top, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    const struct rad__load_tally *t = &m->measured;
    uint64_t failed = t->responses - m->ok + t->errors + t->timeouts;
    struct level l = begin(top, "requests", '{');
    put_count(&l, "total", t->issued);
    put_count(&l, "success", m->ok);
    put_count(&l, "failed", failed);
    put_ppm(&l, "success_rate", rad__load_ppm(m->ok, m->ok + failed));
    put_methods(&l, r);
    put_statuses(&l, m);
    put_count(&l, "responses", t->responses);
    put_count(&l, "errors", t->errors);
    put_count(&l, "timeouts", t->timeouts);
    put_count(&l, "cancelled", t->cancelled);
    put_count(&l, "warmup", m->all.issued - t->issued);
    put_count(&l, "iterations", m->iterations);
    put_count(&l, "header_bytes", m->header_bytes);
    put_count(&l, "body_bytes", m->body_bytes);
    end(&l, '}');
}

static void put_times(struct level *outer, const char *name, const rad_histogram *h)
{
    struct level l = begin(outer, name, '{');
    bool any = h->count > 0;
    put_count(&l, "min_ns", any ? h->min : RAD__LOAD_NO_DATA);
    put_count(&l, "max_ns", any ? h->max : RAD__LOAD_NO_DATA);
    put_count(&l, "mean_ns", any ? (uint64_t)(rad__histogram_mean(h) + 0.5) : RAD__LOAD_NO_DATA);
    put_count(&l, "stddev_ns", any ? (uint64_t)(rad__histogram_deviation(h) + 0.5) : RAD__LOAD_NO_DATA);
    put_count(&l, "p50_ns", rad__load_quantile(h, 500000));
    put_count(&l, "p90_ns", rad__load_quantile(h, 900000));
    put_count(&l, "p95_ns", rad__load_quantile(h, 950000));
    put_count(&l, "p99_ns", rad__load_quantile(h, 990000));
    put_count(&l, "p999_ns", rad__load_quantile(h, 999000));
    end(&l, '}');
}

static void put_throughput(struct level *top, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    struct rad__load_throughput t = rad__load_throughput_of(r);
    struct level l = begin(top, "throughput", '{');
    put_milli(&l, "rps", t.average_milli);
    put_count(&l, "peak_rps", t.peak);
    put_count(&l, "min_rps", t.least);
    end(&l, '}');
    if (!rad__load_is_open(r)) return;
    l = begin(top, "arrivals", '{');
    put_count(&l, "begun", m->arrivals);
    put_count(&l, "blocked", m->blocked);
    put_count(&l, "dropped", m->dropped);
    put_count(&l, "mean_late_ns", rad__load_mean_late(m));
    end(&l, '}');
}

static void put_connections(struct level *top, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    struct level l = begin(top, "connections", '{');
    put_count(&l, "total", m->connections);
    put_count(&l, "before_first_request", m->early);
    put_count(&l, "reused", rad__load_reused(r));
    put_count(&l, "errors", m->connection_errors);
    put_count(&l, "avg_connection_time_ns", rad__load_mean_connect(m));
    end(&l, '}');
}

static void put_errors(struct level *top, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    uint64_t errors = m->measured.errors + m->measured.timeouts;
    struct level l = begin(top, "errors", '{');
    put_count(&l, "total", errors);
    put_ppm(&l, "rate", rad__load_ppm(errors, m->measured.responses + errors));
    struct level types = begin(&l, "by_type", '{');
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        if (m->by_fault[i] > 0) put_count(&types, rad__load_fault_name((enum rad__load_fault)i), m->by_fault[i]);
    end(&types, '}');
    put_count(&l, "late_responses", m->late);
    put_count(&l, "long_waits", m->long_waits);
    struct level waits = begin(&l, "exhausted", '{');
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        if (m->exhausted[i] > 0) put_count(&waits, rad__load_fault_name((enum rad__load_fault)i), m->exhausted[i]);
    end(&waits, '}');
    end(&l, '}');
    l = begin(top, "checks", '{');
    put_count(&l, "made", m->checks_made);
    put_count(&l, "failed", m->checks_failed);
    end(&l, '}');
}

/* ---- Assertions ------------------------------------------------------------------------------------------ */

static void put_measure(struct level *l, const char *name, const struct rad__load_assertion *a, uint64_t value)
{
    switch (a->measure) {
    case RAD__LOAD_SERVICE_NS:
    case RAD__LOAD_RESPONSE_NS:
    case RAD__LOAD_DROPPED_COUNT: put_count(l, name, value); return;
    case RAD__LOAD_RATE: put_milli(l, name, value); return;
    case RAD__LOAD_ERROR_SHARE:
    case RAD__LOAD_SUCCESS_SHARE:
    case RAD__LOAD_RATE_REACHED:
    case RAD__LOAD_5XX_SHARE:
    case RAD__LOAD_CHECK_SHARE: put_ppm(l, name, value); return;
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

static void put_assertions(struct level *top, const rad_load_result *r)
{
    struct level l = begin(top, "assertions", '[');
    for (uint32_t i = 0; i < r->scenario.assertion_count && !r->filtered; i++) {
        const struct rad__load_assertion *a = &r->scenario.assertions[i];
        uint64_t actual = rad__load_metrics_measure(&r->metrics, a);
        struct level one = begin(&l, NULL, '{');
        put_text(&one, "name", a->name);
        put_bool(&one, "passed", rad__load_assertion_holds(a, actual));
        put_measure(&one, "expected", a, a->bound);
        put_measure(&one, "actual", a, actual);
        put_text(&one, "bound", a->at_least ? "at least" : "at most");
        put_text(&one, "unit", unit_of(a));
        end(&one, '}');
    }
    end(&l, ']');
}

static void put_by_name(struct level *top, const rad_load_result *r)
{
    struct level l = begin(top, "by_name", '{');
    for (uint32_t i = 0; i < r->scenario.request_count; i++) {
        const struct rad__load_by_request *b = &r->metrics.by_request[i];
        struct level one = begin(&l, r->scenario.requests[i].name, '{');
        put_count(&one, "total", b->tally.issued);
        put_count(&one, "responses", b->tally.responses);
        put_count(&one, "success", b->ok);
        put_count(&one, "errors", b->tally.errors);
        put_count(&one, "timeouts", b->tally.timeouts);
        put_count(&one, "cancelled", b->tally.cancelled);
        put_count(&one, "checks_failed", b->checks_failed);
        if (r->scenario.request_count <= RAD__LOAD_HISTOGRAMS_MAX)
            put_times(&one, "latency", &b->service);
        else
            put_text(&one, "latency", NULL);
        end(&one, '}');
    }
    end(&l, '}');
}

static void put_scheduler(struct level *top, const struct rad__load_counters *c)
{
    if (c->ticks == 0) return;
    struct level l = begin(top, "scheduler", '{');
    put_count(&l, "ticks", c->ticks);
    put_count(&l, "events", c->events);
    put_count(&l, "vus_spawned", c->spawned);
    put_count(&l, "vus_completed", c->completed);
    put_count(&l, "cohorts", c->cohorts);
    put_count(&l, "activations", c->activated);
    put_milli(&l, "avg_cohort_size", c->cohorts > 0 ? c->activated * 1000 / c->cohorts : RAD__LOAD_NO_DATA);
    put_count(&l, "deepest_queue", c->deepest_queue);
    end(&l, '}');
}

void rad__load_render_json(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who)
{
    rad__bytes_put(to, "{", 1);
    struct level top = {to, 1, false};
    put_text(&top, "version", "1.0");
    put_text(&top, "run_id", who != NULL ? who->run_id : NULL);
    struct level l = begin(&top, "scenario", '{');
    put_text(&l, "name", r->scenario.name);
    put_text(&l, "version", r->scenario.version);
    end(&l, '}');
    char why[RAD__LOAD_WHY];
    put_text(&top, "no_data", rad__load_result_no_data(r, why) ? why : NULL);
    put_runtime(&top, r, who);
    put_requests(&top, r);
    put_times(&top, "latency", &r->metrics.service);
    if (rad__load_is_open(r))
        put_times(&top, "response_latency", &r->metrics.response);
    else
        put_text(&top, "response_latency", NULL);
    put_throughput(&top, r);
    put_connections(&top, r);
    put_errors(&top, r);
    put_assertions(&top, r);
    put_by_name(&top, r);
    put_scheduler(&top, &r->counters);
    end(&top, '}');
    rad__bytes_put(to, "\n", 1);
}
