/* render_summary.c — a result as text for people, in the order Z6 documents; what it adds stands where it belongs. */
#include "load/report/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(n) rad__load_count_label(n).text

static void heading(rad_bytes *to, const char *text)
{
    rad__bytes_format(to, "\n%s\n", text);
}

/* "  name        value" */
static void row(rad_bytes *to, const char *name, const char *format, ...) RAD_PRINTF(3, 4);
static void row(rad_bytes *to, const char *name, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rad__bytes_format(to, "  %-18s %s\n", name, text);
}

/* ---- Header and configuration ---------------------------------------------------------------------------- */

static void put_head(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who)
{
    const rad__load_scenario *s = &r->scenario;
    rad__bytes_format(to, "Load test: %s%s%s\n", rad__load_name_label(r), s->version != NULL ? ", version " : "",
                      s->version != NULL ? s->version : "");
    if (who != NULL && who->run_id != NULL) row(to, "run", "%s", who->run_id);
    if (who != NULL && who->start != NULL) row(to, "started", "%s", who->start);
    row(to, "duration", "%s", rad__load_seconds_label(r->metrics.end_ns).text);
    row(to, "seed", "%" PRIu64, r->seed);
    row(to, "ended", "%s", rad__load_end_label(r));
    if (r->cut_off) row(to, "what there is", "%s turns, %s records", COUNT(r->metrics.turns), COUNT(r->records));
    char why[RAD__LOAD_WHY];
    if (rad__load_result_no_data(r, why)) rad__bytes_format(to, "  %-18s %s\n", "no data", why);
    rad__bytes_format(to, "  %s\n", rad__load_repeatable_label(r));
    if (r->filtered) rad__bytes_format(to, "  Statistics are of those requests for which the filter holds.\n");
}

static void put_configuration(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    heading(to, "Configuration");
    row(to, "engine", "%s", rad__load_engine_label(r));
    if (r->shards > 1) row(to, "shards", "%" PRIu32, r->shards);
    row(to, "virtual users", "%s%s", COUNT(s->users),
        rad__load_is_open(r) ? " to serve arrivals (open model)" : " (closed model)");
    if (s->duration_ns != 0) row(to, "planned", "%s", rad__load_seconds_label(s->duration_ns).text);
    if (s->iterations != 0) row(to, "iterations", "%s of each virtual user", COUNT(s->iterations));
    if (s->warmup_ns != 0) row(to, "warm-up", "%s", rad__load_seconds_label(s->warmup_ns).text);
    row(to, "tick", "%s ms", rad__load_ms_label(s->tick_ns).text);
    for (uint32_t i = 0; i < s->target_count && i < 10; i++)
        row(to, i == 0 ? "target" : "", "%s (%s%s)", s->targets[i].url, s->targets[i].http2 ? "HTTP/2" : "HTTP/1.1",
            s->targets[i].tls ? ", TLS" : "");
}

/* ---- Requests -------------------------------------------------------------------------------------------- */

static void put_methods(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    for (uint32_t i = 0; i < s->request_count; i++) {
        const char *method = s->requests[i].method;
        uint64_t sum = 0;
        bool again = false;
        for (uint32_t k = 0; k < i; k++) again |= strcmp(s->requests[k].method, method) == 0;
        for (uint32_t k = i; k < s->request_count && !again; k++)
            if (strcmp(s->requests[k].method, method) == 0) sum += r->metrics.by_request[k].tally.issued;
        if (!again) row(to, method, "%s", COUNT(sum));
    }
}

static void put_by_name(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    if (s->request_count < 2 || s->request_count > RAD__LOAD_HISTOGRAMS_MAX) return;
    heading(to, "By name                  requests    responses       failed     p50 ms     p99 ms");
    for (uint32_t i = 0; i < s->request_count; i++) {
        const struct rad__load_by_request *b = &r->metrics.by_request[i];
        uint64_t p50 = rad__load_quantile(&b->service, 500000), p99 = rad__load_quantile(&b->service, 990000);
        uint64_t failed = b->tally.responses - b->ok + b->tally.errors + b->tally.timeouts;
        rad__bytes_format(to, "  %-18.40s %12s %12s %12s %10s %10s\n", s->requests[i].name, COUNT(b->tally.issued),
                          COUNT(b->tally.responses), COUNT(failed), rad__load_ms_label(p50).text,
                          rad__load_ms_label(p99).text);
    }
}

static void put_requests(rad_bytes *to, const rad_load_result *r)
{
    static const char *const CLASSES[] = {"other status", "1xx", "2xx", "3xx", "4xx", "5xx"};
    const rad__load_metrics *m = &r->metrics;
    const struct rad__load_tally *t = &m->measured;
    uint64_t failed = t->responses - m->ok + t->errors + t->timeouts, done = m->ok + failed;
    heading(to, "Requests");
    row(to, "total", "%s", COUNT(t->issued));
    if (m->all.issued > t->issued)
        row(to, "during warm-up", "%s, which count nowhere below", COUNT(m->all.issued - t->issued));
    row(to, "success", "%s (%s)", COUNT(m->ok), rad__load_share_label(rad__load_ppm(m->ok, done)).text);
    row(to, "failed", "%s (%s)", COUNT(failed), rad__load_share_label(rad__load_ppm(failed, done)).text);
    if (t->cancelled > 0) row(to, "cancelled", "%s, in flight at the end", COUNT(t->cancelled));
    if (r->under_way > 0) row(to, "unfinished", "%s, the log was cut off", COUNT(r->under_way));
    row(to, "iterations", "%s", COUNT(m->iterations));
    put_methods(to, r);
    for (uint32_t i = 1; i <= 6; i++)
        if (m->by_class[i % 6] > 0) row(to, CLASSES[i % 6], "%s", COUNT(m->by_class[i % 6]));
    row(to, "received", "%s headers, %s bodies", rad__load_bytes_label(m->header_bytes).text,
        rad__load_bytes_label(m->body_bytes).text);
    put_by_name(to, r);
}

/* ---- Times ----------------------------------------------------------------------------------------------- */

static void put_times(rad_bytes *to, const char *title, const rad_histogram *h)
{
    static const uint32_t SHARES[] = {500000, 900000, 950000, 990000, 999000};
    heading(to, title);
    if (h->count == 0) {
        rad__bytes_format(to, "  no data: no responses\n");
        return;
    }
    row(to, "min", "%s", rad__load_ms_label(h->min).text);
    row(to, "max", "%s", rad__load_ms_label(h->max).text);
    row(to, "mean", "%.3f ± %.3f", rad__histogram_mean(h) / 1e6, rad__histogram_deviation(h) / 1e6);
    for (uint32_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++)
        row(to, rad__load_percentile_label(SHARES[i]).text, "%s",
            rad__load_ms_label(rad__histogram_at_ppm(h, SHARES[i])).text);
}

static void put_latency(rad_bytes *to, const rad_load_result *r)
{
    if (rad__load_is_open(r)) {
        put_times(to, "Service time, ms (from sending to the last byte)", &r->metrics.service);
        put_times(to, "Response time, ms (from the planned time to the last byte)", &r->metrics.response);
        return;
    }
    put_times(to, "Latency, ms (service time: from sending to the last byte)", &r->metrics.service);
    rad__bytes_format(to, "  Coordinated omission is not corrected for: in a closed model "
                          "slow responses mean fewer requests.\n");
}

static void put_throughput(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    struct rad__load_throughput t = rad__load_throughput_of(r);
    heading(to, "Throughput, responses per second");
    row(to, "average", "%s", rad__load_rate_label(t.average_milli).text);
    row(to, "peak", "%s", COUNT(t.peak));
    row(to, "minimum", "%s", COUNT(t.least));
    if (!rad__load_is_open(r)) return;
    uint64_t mean = rad__load_mean_late(m);
    row(to, "arrivals", "%s started, %s never started", COUNT(m->arrivals), COUNT(m->dropped));
    row(to, "late", "%s of them: no virtual user was idle", COUNT(m->blocked));
    row(to, "behind plan", "%s%s", rad__load_ms_label(mean).text, mean != RAD__LOAD_NO_DATA ? " ms on average" : "");
}

/* ---- Connections, errors, checks ------------------------------------------------------------------------- */

static void put_connections(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    uint64_t mean = rad__load_mean_connect(m);
    heading(to, "Connections");
    if (m->early > 0)
        row(to, "established", "%s, %s of them before the first request", COUNT(m->connections), COUNT(m->early));
    else
        row(to, "established", "%s", COUNT(m->connections));
    row(to, "reused", "%s times", COUNT(rad__load_reused(r)));
    row(to, "failed", "%s", COUNT(m->connection_errors));
    row(to, "mean connect", "%s%s", rad__load_ms_label(mean).text, mean != RAD__LOAD_NO_DATA ? " ms" : "");
}

static void put_errors(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    uint64_t errors = m->measured.errors + m->measured.timeouts;
    heading(to, "Errors");
    row(to, "total", "%s (%s)", COUNT(errors),
        rad__load_share_label(rad__load_ppm(errors, m->measured.responses + errors)).text);
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        if (m->by_fault[i] > 0)
            rad__bytes_format(to, "  %-26s %s\n", rad__load_fault_name((enum rad__load_fault)i), COUNT(m->by_fault[i]));
    if (m->late > 0) row(to, "late responses", "%s, after their timeout", COUNT(m->late));
    if (m->long_waits > 0) row(to, "long waits", "%s", COUNT(m->long_waits));
    if (m->gave_up > 0) row(to, "VUs that gave up", "%s", COUNT(m->gave_up));
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        if (m->exhausted[i] > 0)
            rad__bytes_format(to, "  %-26s %s waits\n", rad__load_fault_name((enum rad__load_fault)i),
                              COUNT(m->exhausted[i]));
    if (m->checks_made == 0) return;
    heading(to, "Checks");
    row(to, "held", "%s of %s", COUNT(m->checks_made - m->checks_failed), COUNT(m->checks_made));
    for (uint32_t i = 0; i < r->scenario.request_count; i++)
        if (m->by_request[i].checks_failed > 0)
            row(to, r->scenario.requests[i].name, "%s failed", COUNT(m->by_request[i].checks_failed));
}

static void put_assertions(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    if (s->assertion_count == 0) return;
    heading(to, "Assertions");
    if (r->filtered) {
        rad__bytes_format(to, "  are about the whole run, not about a part of it\n");
        return;
    }
    for (uint32_t i = 0; i < s->assertion_count; i++) {
        const struct rad__load_assertion *a = &s->assertions[i];
        uint64_t actual = rad__load_metrics_measure(&r->metrics, a);
        rad__bytes_format(to, "  %s %-24s expected %s %s, actual %s\n",
                          rad__load_assertion_holds(a, actual) ? "pass" : "FAIL", a->name,
                          a->at_least ? "at least" : "at most", rad__load_measure_label(a, a->bound).text,
                          rad__load_measure_label(a, actual).text);
    }
    struct rad__load_verdict_of v = rad__load_result_assertions(r);
    row(to, "result", "%" PRIu32 "/%" PRIu32 " hold", v.held, v.made);
}

/* ---- The machine room ------------------------------------------------------------------------------------ */

static void put_scheduler(rad_bytes *to, const rad_load_result *r)
{
    const struct rad__load_counters *c = &r->counters;
    heading(to, "Scheduler");
    if (c->ticks == 0) {
        rad__bytes_format(to, "  not part of a log; 'raddle load replay --summary' prints them\n");
        return;
    }
    row(to, "ticks", "%s", COUNT(c->ticks));
    row(to, "events", "%s", COUNT(c->events));
    row(to, "VUs started", "%s", COUNT(c->spawned));
    row(to, "VUs finished", "%s", COUNT(c->completed));
    row(to, "cohorts", "%s", COUNT(c->cohorts));
    if (c->cohorts > 0)
        row(to, "activations", "%s, %.2f in a cohort on average", COUNT(c->activated),
            (double)c->activated / (double)c->cohorts);
    row(to, "deepest queue", "%s", COUNT(c->deepest_queue));
}

static void put_limits(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    uint64_t connections = 0;
    for (uint32_t i = 0; i < s->target_count; i++) connections += s->targets[i].max_connections;
    heading(to, "Limits, used / allowed");
    row(to, "virtual users", "%s / %s", COUNT(r->metrics.spawned), COUNT(s->limits.max_vus));
    if (r->connections_most > 0) row(to, "connections", "%s / %s", COUNT(r->connections_most), COUNT(connections));
    if (r->counters.ticks > 0)
        row(to, "queue", "%s / %s", COUNT(r->counters.deepest_queue), COUNT(s->limits.max_events));
    if (r->log_bytes > 0)
        row(to, "log", "%s / %s", rad__load_bytes_label(r->log_bytes).text,
            rad__load_bytes_label(s->limits.max_log_bytes).text);
    if (r->memory_bytes > 0) row(to, "memory", "%s", rad__load_bytes_label(r->memory_bytes).text);
}

void rad__load_render_summary(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who)
{
    put_head(to, r, who);
    put_configuration(to, r);
    put_requests(to, r);
    put_latency(to, r);
    put_throughput(to, r);
    put_connections(to, r);
    put_errors(to, r);
    put_assertions(to, r);
    put_scheduler(to, r);
    put_limits(to, r);
}
