/* render_series.c — the two forms other programs collect: a table of seconds (CSV), and the text of Prometheus. */
#include "load/report/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t SECOND = 1000000000;

/* A time of a second, if it had any answer. */
static void put_time(rad_bytes *to, const struct rad__load_second *s, uint64_t ns)
{
    if (s->responses > 0)
        rad__bytes_format(to, "%" PRIu64 ",", ns);
    else
        rad__bytes_format(to, ",");
}

/* One row for each second, which stands under the time it begins at. */
void rad__load_render_csv(rad_bytes *to, const rad_load_result *r)
{
    rad__bytes_format(to, "tick,timestamp_ns,rps,latency_min_ns,latency_p50_ns,latency_p99_ns,"
                          "errors,active_vus\n");
    for (struct rad__load_seconds_at at = {0}; rad__load_seconds_next(r, &at);) {
        const struct rad__load_second *s = &at.second;
        uint64_t ns = s->second * SECOND;
        rad__bytes_format(to, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", ns / r->scenario.tick_ns, ns, s->responses);
        put_time(to, s, s->min_ns);
        put_time(to, s, s->p50_ns);
        put_time(to, s, s->p99_ns);
        rad__bytes_format(to, "%" PRIu64 ",%" PRIu32 "\n", s->errors, s->users);
    }
}

/* ---- Prometheus ------------------------------------------------------------------------------------------ */

static void put_label_value(rad_bytes *to, const char *text)
{
    rad_bytes shown = {0};
    rad__bytes_put_readable(&shown, text, strlen(text), RAD_READABLE_LINES);
    for (uint32_t i = 0; i < shown.size; i++) {
        char c = (char)shown.data[i];
        if (c == '\\' || c == '"') rad__bytes_put(to, "\\", 1);
        rad__bytes_put(to, c == '\n' ? "\\n" : c == '\t' ? " " : &c, c == '\n' ? 2 : 1);
    }
    to->failed |= shown.failed;
    rad__bytes_free(&shown);
}

static void family(rad_bytes *to, const char *name, const char *type, const char *help)
{
    rad__bytes_format(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* name{scenario="…",label="value"} ; `label` may be NULL */
static void sample(rad_bytes *to, const rad_load_result *r, const char *name, const char *label, const char *value)
{
    rad__bytes_format(to, "%s{scenario=\"", name);
    put_label_value(to, rad__load_name_label(r));
    if (label != NULL) {
        rad__bytes_format(to, "\",%s=\"", label);
        put_label_value(to, value);
    }
    rad__bytes_format(to, "\"} ");
}

static void put_counter(rad_bytes *to, const rad_load_result *r, const char *name, const char *help, uint64_t value)
{
    family(to, name, "counter", help);
    sample(to, r, name, NULL, NULL);
    rad__bytes_format(to, "%" PRIu64 "\n", value);
}

static void put_seconds(rad_bytes *to, unsigned __int128 ns)
{
    rad__bytes_format(to, "%" PRIu64 ".%09u\n", (uint64_t)(ns / SECOND), (unsigned)(ns % SECOND));
}

static void put_summary(rad_bytes *to, const rad_load_result *r, const char *name, const char *help,
                        const rad_histogram *h)
{
    static const struct {
        const char *text;
        uint32_t ppm;
    } SHARES[] = {{"0.5", 500000}, {"0.9", 900000}, {"0.95", 950000}, {"0.99", 990000}, {"0.999", 999000}};
    char part[64];
    family(to, name, "summary", help);
    for (uint32_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        sample(to, r, name, "quantile", SHARES[i].text);
        if (h->count > 0)
            put_seconds(to, rad__histogram_at_ppm(h, SHARES[i].ppm));
        else
            rad__bytes_format(to, "NaN\n"); /* as client libraries of Prometheus do */
    }
    snprintf(part, sizeof part, "%s_sum", name);
    sample(to, r, part, NULL, NULL);
    put_seconds(to, h->sum);
    snprintf(part, sizeof part, "%s_count", name);
    sample(to, r, part, NULL, NULL);
    rad__bytes_format(to, "%" PRIu64 "\n", h->count);
}

static void put_statuses(rad_bytes *to, const rad_load_result *r)
{
    char status[16];
    family(to, "z6_responses_total", "counter", "Responses by status.");
    for (uint32_t i = 0; i < 1000; i++) {
        if (r->metrics.by_status[i] == 0) continue;
        snprintf(status, sizeof status, "%u", (unsigned)i);
        sample(to, r, "z6_responses_total", "status", status);
        rad__bytes_format(to, "%" PRIu64 "\n", r->metrics.by_status[i]);
    }
    family(to, "z6_errors_total", "counter", "Requests that ended with an error or a timeout, by type.");
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++) {
        if (r->metrics.by_fault[i] == 0) continue;
        sample(to, r, "z6_errors_total", "type", rad__load_fault_name((enum rad__load_fault)i));
        rad__bytes_format(to, "%" PRIu64 "\n", r->metrics.by_fault[i]);
    }
}

/* z6_requests_total, z6_latency_seconds and its count are Z6's; the others follow their pattern. */
void rad__load_render_prometheus(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    put_counter(to, r, "z6_requests_total", "Requests that were issued after the warm-up.", m->measured.issued);
    put_statuses(to, r);
    put_summary(to, r, "z6_latency_seconds", "Service time of requests with a response.", &m->service);
    if (rad__load_is_open(r)) {
        put_summary(to, r, "z6_response_seconds", "Response time of requests with a response, from the planned time.",
                    &m->response);
        put_counter(to, r, "z6_arrivals_dropped_total", "Arrivals that were never started.", m->dropped);
    }
    put_counter(to, r, "z6_connections_total", "Connections that were established.", m->connections);
    put_counter(to, r, "z6_connection_errors_total", "Connections that failed.", m->connection_errors);
    put_counter(to, r, "z6_checks_failed_total", "Checks that did not hold.", m->checks_failed);
    family(to, "z6_duration_seconds", "gauge", "How long the run lasted.");
    sample(to, r, "z6_duration_seconds", NULL, NULL);
    put_seconds(to, m->end_ns);
}
