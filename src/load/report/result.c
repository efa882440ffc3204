/* result.c — what is left of a run, asked by its callers. */
#include "load/report/result.h"

#include "base/alloc.h"
#include "base/error.h"
#include "load/report/render.h"

#include <stdio.h>

_Static_assert(RAD_LOAD_NO_DATA == RAD__LOAD_NO_DATA, "callers and we mean the same");

void rad_load_result_free(rad_load_result *r)
{
    if (r == NULL) return;
    if (r->metrics.scenario != NULL) rad__load_metrics_close(&r->metrics);
    rad__arena_free(&r->scenario.arena); /* all of the scenario lives there */
    rad__free(r->text);
    rad__free(r);
}

bool rad__load_result_take(rad_load_result *r, rad__load_scheduler *c)
{
    rad__load_metrics_end(&c->metrics);
    rad__load_counters_add(&r->counters, &c->counters);
    if (c->log != NULL) r->log_bytes += c->log->written;
    if (r->metrics.scenario != NULL) return rad__load_metrics_merge(&r->metrics, &c->metrics);
    r->metrics = c->metrics;
    r->metrics.scenario = &r->scenario;
    c->metrics = (rad__load_metrics){0};
    return true;
}

/* Whether the statistics are those of the whole run. */
static bool can_assert(const rad_load_result *r)
{
    return !r->filtered && r->metrics.scenario != NULL;
}

struct rad__load_verdict_of rad__load_result_assertions(const rad_load_result *r)
{
    struct rad__load_verdict_of v = {0, 0};
    for (uint32_t i = 0; can_assert(r) && i < r->scenario.assertion_count; i++) {
        const struct rad__load_assertion *a = &r->scenario.assertions[i];
        v.made++;
        v.held += rad__load_assertion_holds(a, rad__load_metrics_measure(&r->metrics, a));
    }
    return v;
}

/* ---- No response ------------------------------------------------------------------------------------------- */

static void put_why(rad_bytes *to, bool *first, uint64_t count, const char *what)
{
    if (count == 0) return;
    rad__bytes_format(to, "%s%s %s", *first ? ": " : ", ", rad__load_count_label(count).text, what);
    *first = false;
}

static void put_reasons(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    uint64_t early = m->all.issued - m->measured.issued;
    bool first = true;
    if (m->measured.issued > 0)
        rad__bytes_format(to, "no response: %s requests sent", rad__load_count_label(m->measured.issued).text);
    else
        rad__bytes_format(to, "no request was sent");
    if (early > 0) rad__bytes_format(to, " after the warm-up (%s during it)", rad__load_count_label(early).text);
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        put_why(to, &first, m->by_fault[i], rad__load_fault_name((enum rad__load_fault)i));
    put_why(to, &first, m->measured.cancelled, "cancelled at the end");
    put_why(to, &first, r->under_way, "without an end");
    put_why(to, &first, m->dropped, "arrivals dropped");
    if (m->measured.issued == 0) put_why(to, &first, m->connection_errors, "connections failed");
}

bool rad__load_result_no_data(const rad_load_result *r, char why[RAD__LOAD_WHY])
{
    rad_bytes text = {0};
    why[0] = 0;
    if (r->filtered || r->metrics.scenario == NULL || r->metrics.measured.responses > 0) return false;
    put_reasons(&text, r);
    snprintf(why, RAD__LOAD_WHY, "%.*s", text.failed ? 0 : (int)text.size,
             text.data != NULL ? (const char *)text.data : "");
    if (text.failed) snprintf(why, RAD__LOAD_WHY, "no response");
    rad__bytes_free(&text);
    return true;
}

/* ---- For its callers --------------------------------------------------------------------------------------- */

void rad_load_result_facts(const rad_load_result *r, rad_load_facts *facts)
{
    const rad__load_metrics *m = &r->metrics;
    struct rad__load_verdict_of v = rad__load_result_assertions(r);
    *facts = (rad_load_facts){
        .seed = r->seed,
        .duration_ns = m->end_ns,
        .requests = m->measured.issued,
        .responses = m->measured.responses,
        .errors = m->measured.errors,
        .timeouts = m->measured.timeouts,
        .cancelled = m->measured.cancelled,
        .p50_ns = rad__load_quantile(&m->service, 500000),
        .p99_ns = rad__load_quantile(&m->service, 990000),
        .rate_milli = rad__load_metrics_rate(m),
        .assertions = v.made,
        .assertions_failed = v.made - v.held,
        .end = r->end,
        .turns = m->turns,
        .records = r->records,
        .simulated = r->level == RAD__LOAD_LEVEL_SIMULATED,
        .cut_off = r->cut_off,
    };
    char why[RAD__LOAD_WHY];
    rad__load_result_no_data(r, why);
    snprintf(facts->no_data, sizeof facts->no_data, "%s", why);
}

uint64_t rad_load_percentile(const rad_load_result *r, bool response, uint32_t ppm)
{
    const rad_histogram *h = response && r->metrics.response.count > 0 ? &r->metrics.response : &r->metrics.service;
    return rad__load_quantile(h, ppm < RAD__LOAD_PPM ? ppm : RAD__LOAD_PPM);
}

char *rad_load_text(const rad_load_result *r, enum rad_load_form form, rad_error *error)
{
    rad_bytes b = {0};
    rad__error_clear(error);
    switch (form) {
    case RAD_LOAD_SUMMARY: rad__load_render_summary(&b, r, NULL); break;
    case RAD_LOAD_JSON: rad__load_render_json(&b, r, NULL); break;
    case RAD_LOAD_CSV: rad__load_render_csv(&b, r); break;
    case RAD_LOAD_PROMETHEUS: rad__load_render_prometheus(&b, r); break;
    case RAD_LOAD_HTML: rad__load_render_html(&b, r, NULL); break;
    default: rad__error(error, RAD_EINPUT, "no such form of a result"); return NULL;
    }
    rad__bytes_put(&b, "", 1);
    if (!b.failed) return (char *)b.data;
    rad__bytes_free(&b);
    rad__error_memory(error);
    return NULL;
}
