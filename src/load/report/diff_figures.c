/* diff_figures.c — everything there is to tell of two sides, whether or not it says anything: see diff.h.
 *
 * Each figure knows its direction: times, errors and dropped arrivals should be small, rates and shares of success
 * large; how many requests or connections there were is neither. */
#include "base/alloc.h"
#include "load/report/diff.h"

#include <math.h>

/* ---- Of one run ------------------------------------------------------------------------------------------ */

static void add(struct rad__load_figures *to, const char *group, const char *name, enum rad__load_direction better,
                enum rad__load_shape shape, uint64_t value)
{
    RAD_ASSERT(to->count < RAD__LOAD_FIGURES_MAX);
    to->at[to->count++] = (struct rad__load_figure){group, name, better, shape, value, value};
}

static void add_times(struct rad__load_figures *to, const char *group, const rad_histogram *h)
{
    static const struct {
        const char *name;
        uint32_t ppm;
    } SHARES[] = {{"min_ns", 0},      {"max_ns", 1000000}, {"p50_ns", 500000}, {"p90_ns", 900000},
                  {"p95_ns", 950000}, {"p99_ns", 990000},  {"p999_ns", 999000}};
    uint64_t mean = h->count > 0 ? (uint64_t)(rad__histogram_mean(h) + 0.5) : RAD__LOAD_NO_DATA;
    add(to, group, "mean_ns", RAD__LOAD_SMALLER, RAD__LOAD_NANOSECONDS, mean);
    for (uint32_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++)
        add(to, group, SHARES[i].name, RAD__LOAD_SMALLER, RAD__LOAD_NANOSECONDS, rad__load_quantile(h, SHARES[i].ppm));
}

static void add_requests(struct rad__load_figures *to, const rad__load_metrics *m)
{
    const struct rad__load_tally *t = &m->measured;
    uint64_t errors = t->errors + t->timeouts, failed = t->responses - m->ok + errors;
    add(to, "requests", "total", RAD__LOAD_NEITHER, RAD__LOAD_PLAIN, t->issued);
    add(to, "requests", "success", RAD__LOAD_NEITHER, RAD__LOAD_PLAIN, m->ok);
    add(to, "requests", "failed", RAD__LOAD_SMALLER, RAD__LOAD_PLAIN, failed);
    add(to, "requests", "success_rate", RAD__LOAD_LARGER, RAD__LOAD_SHARE, rad__load_ppm(m->ok, m->ok + failed));
}

static void add_rest(struct rad__load_figures *to, const rad_load_result *r, bool open)
{
    const rad__load_metrics *m = &r->metrics;
    struct rad__load_throughput t = rad__load_throughput_of(r);
    uint64_t errors = m->measured.errors + m->measured.timeouts;
    add(to, "throughput", "rps", RAD__LOAD_LARGER, RAD__LOAD_PER_SECOND, t.average_milli);
    add(to, "throughput", "peak_rps", RAD__LOAD_LARGER, RAD__LOAD_PLAIN, t.peak);
    add(to, "throughput", "min_rps", RAD__LOAD_LARGER, RAD__LOAD_PLAIN, t.least);
    add(to, "connections", "total", RAD__LOAD_NEITHER, RAD__LOAD_PLAIN, m->connections);
    add(to, "connections", "errors", RAD__LOAD_SMALLER, RAD__LOAD_PLAIN, m->connection_errors);
    add(to, "connections", "avg_connection_time_ns", RAD__LOAD_SMALLER, RAD__LOAD_NANOSECONDS,
        rad__load_mean_connect(m));
    add(to, "errors", "total", RAD__LOAD_SMALLER, RAD__LOAD_PLAIN, errors);
    add(to, "errors", "rate", RAD__LOAD_SMALLER, RAD__LOAD_SHARE,
        rad__load_ppm(errors, m->measured.responses + errors));
    add(to, "checks", "failed", RAD__LOAD_SMALLER, RAD__LOAD_PLAIN, m->checks_failed);
    if (!open) return;
    add(to, "arrivals", "begun", RAD__LOAD_NEITHER, RAD__LOAD_PLAIN, m->arrivals);
    add(to, "arrivals", "blocked", RAD__LOAD_SMALLER, RAD__LOAD_PLAIN, m->blocked);
    add(to, "arrivals", "dropped", RAD__LOAD_SMALLER, RAD__LOAD_PLAIN, m->dropped);
}

static void of_run(struct rad__load_figures *to, const rad_load_result *r, bool open)
{
    to->count = 0;
    add_requests(to, &r->metrics);
    add_times(to, "latency", &r->metrics.service);
    if (open) add_times(to, "response_latency", &r->metrics.response);
    add_rest(to, r, open);
}

/* ---- Of a side ------------------------------------------------------------------------------------------- */

/* Of the runs that have it. */
static uint64_t median(const struct rad__load_figures *runs, uint32_t count, uint32_t figure, uint64_t *sorted)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = runs[i].at[figure].run1;
        uint32_t at = known;
        if (value == RAD__LOAD_NO_DATA) continue;
        for (; at > 0 && sorted[at - 1] > value; at--) sorted[at] = sorted[at - 1];
        sorted[at] = value;
        known++;
    }
    if (known == 0) return RAD__LOAD_NO_DATA;
    uint64_t low = sorted[(known - 1) / 2], high = sorted[known / 2];
    return low + (high - low) / 2;
}

static bool of_side(struct rad__load_figures *to, const struct rad__load_side *side, bool open)
{
    struct rad__load_figures *runs = rad__alloc(side->count, sizeof *runs);
    uint64_t *sorted = rad__alloc(side->count, sizeof *sorted);
    bool ok = runs != NULL && sorted != NULL;
    for (uint32_t i = 0; ok && i < side->count; i++) of_run(&runs[i], side->runs[i], open);
    if (ok) *to = runs[0];
    for (uint32_t i = 0; ok && i < to->count; i++) to->at[i].run1 = median(runs, side->count, i, sorted);
    rad__free(runs);
    rad__free(sorted);
    return ok;
}

bool rad__load_figures_make(struct rad__load_figures *f, const struct rad__load_side sides[2])
{
    struct rad__load_figures after = {0};
    bool open = true;
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < sides[s].count; i++) open &= rad__load_is_open(sides[s].runs[i]);
    if (!of_side(f, &sides[0], open) || !of_side(&after, &sides[1], open)) return false;
    for (uint32_t i = 0; i < f->count; i++) f->at[i].run2 = after.at[i].run1;
    return true;
}

double rad__load_figure_change(const struct rad__load_figure *f)
{
    if (f->run1 == 0) return f->run2 == 0 ? 0 : (double)INFINITY;
    return ((double)f->run2 - (double)f->run1) * 100 / (double)f->run1;
}
