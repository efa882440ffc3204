/* read_bounds.c — what has to hold: [assertions]; and what a run may use: [limits]. */
#include "load/scenario/read.h"

#include <string.h>

/* ---- [assertions] ---------------------------------------------------------------------------------------- */

enum form { TIME, SHARE, RATE, COUNT };

struct measure {
    const char *key;
    enum rad__load_measure what;
    uint32_t percentile_ppm;
    enum form form;
    bool at_least, only_open;
};

static const struct measure MEASURES[] = {
    {"p50_latency_ms", RAD__LOAD_SERVICE_NS, 500000, TIME, false, false},
    {"p90_latency_ms", RAD__LOAD_SERVICE_NS, 900000, TIME, false, false},
    {"p95_latency_ms", RAD__LOAD_SERVICE_NS, 950000, TIME, false, false},
    {"p99_latency_ms", RAD__LOAD_SERVICE_NS, 990000, TIME, false, false},
    {"p999_latency_ms", RAD__LOAD_SERVICE_NS, 999000, TIME, false, false},
    {"p50_response_ms", RAD__LOAD_RESPONSE_NS, 500000, TIME, false, true},
    {"p90_response_ms", RAD__LOAD_RESPONSE_NS, 900000, TIME, false, true},
    {"p95_response_ms", RAD__LOAD_RESPONSE_NS, 950000, TIME, false, true},
    {"p99_response_ms", RAD__LOAD_RESPONSE_NS, 990000, TIME, false, true},
    {"p999_response_ms", RAD__LOAD_RESPONSE_NS, 999000, TIME, false, true},
    {"error_rate_max", RAD__LOAD_ERROR_SHARE, 0, SHARE, false, false},
    {"success_rate_min", RAD__LOAD_SUCCESS_SHARE, 0, SHARE, true, false},
    {"rps_min", RAD__LOAD_RATE, 0, RATE, true, false},
    {"rate_reached_min", RAD__LOAD_RATE_REACHED, 0, SHARE, true, true},
    {"status_5xx_max_rate", RAD__LOAD_5XX_SHARE, 0, SHARE, false, false},
    {"checks_min", RAD__LOAD_CHECK_SHARE, 0, SHARE, true, false},
    {"dropped_max", RAD__LOAD_DROPPED_COUNT, 0, COUNT, false, true},
};
enum { MEASURE_COUNT = sizeof MEASURES / sizeof *MEASURES };

static uint64_t bound_of(rad__load_reading *r, const rad_toml_node *node, enum form form)
{
    switch (form) {
    case TIME: return rad__load_as_time(r, node, RAD__LOAD_MS, 1, RAD__LOAD_HOUR, 0);
    case SHARE: return rad__load_as_scaled(r, node, 6, 0, RAD__LOAD_PPM, 0);
    case RATE: return rad__load_as_scaled(r, node, 3, 1, UINT64_C(1000000) * 1000, 0);
    case COUNT: return rad__load_as_whole(r, node, 0, UINT64_C(1) << 53, 0);
    }
    return 0;
}

/* A number, or {max = …, abort = true}. */
static void read_assertion(rad__load_reading *r, rad_toml_node *node, const struct measure *m,
                           struct rad__load_assertion *a)
{
    *a = (struct rad__load_assertion){
        .name = m->key, .measure = m->what, .percentile_ppm = m->percentile_ppm, .at_least = m->at_least};
    if (node->type != RAD_TOML_TABLE) {
        a->bound = bound_of(r, node, m->form);
        return;
    }
    rad__load_part p = rad__load_part_of(r, node, "assertions.*");
    const char *key = m->at_least ? "min" : "max", *wrong = m->at_least ? "max" : "min";
    const rad_toml_node *other = rad__load_find(&p, wrong);
    if (other != NULL) rad__load_wrong(r, other, "%s: expected '%s', found '%s'", m->key, key, wrong);
    a->bound = bound_of(r, rad__load_need(&p, key, m->key), m->form);
    a->abort = rad__load_get_bool(&p, "abort", false);
}

/* What can never be measured would hold for ever: that is a mistake, not a success. */
static void check_measurable(rad__load_reading *r, const rad_toml_node *node, const struct measure *m)
{
    const rad__load_scenario *s = r->s;
    uint64_t checks = 0;
    for (uint32_t i = 0; i < s->request_count; i++) checks += s->requests[i].check_count;
    if (m->only_open && s->schedule.model != RAD__LOAD_OPEN)
        rad__load_wrong(r, node,
                        "%s: expected a schedule of type \"arrival_rate\": without one there is no "
                        "plan to compare with%s",
                        m->key, m->form == TIME ? "; *_latency_ms is the time of service" : "");
    if (m->what == RAD__LOAD_CHECK_SHARE && checks == 0)
        rad__load_wrong(r, node, "%s: expected checks in some request, found none", m->key);
}

void rad__load_read_assertions(rad__load_reading *r, const rad__load_part *top)
{
    rad__load_part p = rad__load_part_get(top, "assertions", "assertions");
    rad__load_scenario *s = r->s;
    struct rad__load_assertion *assertions = rad__load_take(r, MEASURE_COUNT, sizeof *assertions);
    if (rad__load_bad(r)) return;
    for (rad_toml_node *n = rad__toml_first(p.node); n != NULL && !rad__load_bad(r); n = rad__toml_next(n)) {
        uint32_t i = 0;
        while (strcmp(MEASURES[i].key, n->key->text) != 0) i++; /* there are no other keys */
        RAD_ASSERT(i < MEASURE_COUNT);
        check_measurable(r, n, &MEASURES[i]);
        read_assertion(r, n, &MEASURES[i], &assertions[s->assertion_count++]);
    }
    s->assertions = assertions;
}

/* ---- [limits] -------------------------------------------------------------------------------------------- */

void rad__load_read_limits(rad__load_reading *r, const rad__load_part *top)
{
    rad__load_part p = rad__load_part_get(top, "limits", "limits");
    struct rad__load_limits l = rad__load_limits_defaults();
    l.max_vus = (uint32_t)rad__load_get_whole(&p, "max_vus", 1, RAD__LOAD_USERS_MAX, l.max_vus);
    l.max_events = (uint32_t)rad__load_get_whole(&p, "max_events", 1, 1000000, l.max_events);
    l.max_activations = (uint32_t)rad__load_get_whole(&p, "max_activations", 1, RAD__LOAD_USERS_MAX, l.max_activations);
    l.flush_ticks = rad__load_get_whole(&p, "flush_ticks", 1, 1000000000, l.flush_ticks);
    l.warn_ticks = rad__load_get_whole(&p, "warn_ticks", 1, 1000000000, l.warn_ticks);
    l.timeout_ns = rad__load_get_time(&p, "request_timeout_ms", RAD__LOAD_MS, 1, RAD__LOAD_HOUR, l.timeout_ns);
    l.retry_ns = rad__load_get_time(&p, "retry_ms", RAD__LOAD_MS, 1, RAD__LOAD_HOUR, l.retry_ns);
    l.max_log_bytes = rad__load_get_whole(&p, "max_event_log_size_mb", 1, 10 << 10, l.max_log_bytes >> 20) << 20;
    l.max_response_bytes = (uint32_t)rad__load_get_whole(&p, "max_response_bytes", 1, 10 << 20, l.max_response_bytes);
    l.max_header_bytes = (uint32_t)rad__load_get_whole(&p, "max_header_bytes", 1, 800 << 10, l.max_header_bytes);
    l.give_up_after = (uint32_t)rad__load_get_whole(&p, "give_up_after", 0, 1000000000, l.give_up_after);
    r->max_connections =
        (uint32_t)rad__load_get_whole(&p, "max_connections", 1, RAD__LOAD_USERS_MAX, RAD__LOAD_USERS_MAX);
    r->s->limits = l;
}
