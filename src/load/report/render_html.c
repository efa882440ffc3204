/* render_html.c — a result as one page: figures, plots, tables. One file, no script, nothing from elsewhere; light and
 * dark as the reader's system is; what the plots show is also said in words. */
#include "base/escape.h"
#include "load/report/plot.h"
#include "load/report/render.h"
#include "load/report/render_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(n) rad__load_count_label(n).text
#define MS(ns)   rad__load_ms_label(ns).text

/* ---- Seconds, few enough to draw ------------------------------------------------------------------------- */

enum { POINTS = 120 };

struct series {
    uint32_t count;
    uint64_t each; /* seconds in a point */
    double x[POINTS], p50[POINTS], p99[POINTS], max[POINTS];
    double answers[POINTS], issued[POINTS], errors[POINTS], users[POINTS];
    uint64_t responses[POINTS];
};

static void gather_second(struct series *s, const struct rad__load_second *second)
{
    uint64_t at = second->second / s->each;
    if (at >= POINTS) return;
    uint32_t i = (uint32_t)at;
    if (i >= s->count) s->count = i + 1;
    s->answers[i] += (double)second->responses;
    s->issued[i] += (double)second->issued;
    s->errors[i] += (double)second->errors;
    s->users[i] = fmax(s->users[i], (double)second->users);
    if (second->responses == 0) return;
    s->p50[i] += (double)second->p50_ns * (double)second->responses;
    s->responses[i] += second->responses;
    s->p99[i] = fmax(s->p99[i], (double)second->p99_ns);
    s->max[i] = fmax(s->max[i], (double)second->max_ns);
}

/* Rates are means of the point's seconds, medians are weighted by answers, p99 and maximum are the largest. The last
 * second, which only has the end of the run, is left out. */
static void gather(struct series *s, const rad_load_result *r)
{
    uint64_t whole = (r->metrics.end_ns + 999999999) / 1000000000;
    *s = (struct series){.each = (whole + POINTS - 1) / POINTS};
    if (s->each == 0) s->each = 1;
    for (struct rad__load_seconds_at at = {0}; rad__load_seconds_next(r, &at);)
        if (at.second.second < whole) gather_second(s, &at.second);
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t left = whole - (uint64_t)i * s->each;
        double seconds = (double)(left < s->each ? left : s->each);
        s->x[i] = ((double)i + 0.5) * (double)s->each;
        s->answers[i] /= seconds;
        s->issued[i] /= seconds;
        bool any = s->responses[i] > 0;
        s->p50[i] = any ? s->p50[i] / (double)s->responses[i] / 1e6 : (double)NAN;
        s->p99[i] = any ? s->p99[i] / 1e6 : (double)NAN;
        s->max[i] = any ? s->max[i] / 1e6 : (double)NAN;
    }
}

static void hint(rad_bytes *to, const void *context, uint32_t i)
{
    const struct series *s = context;
    rad__bytes_format(to, "%" PRIu64 " s: ", (uint64_t)i * s->each);
    if (s->responses[i] > 0)
        rad__bytes_format(to, "p50 %.2f ms, p99 %.2f ms, max %.2f ms; ", s->p50[i], s->p99[i], s->max[i]);
    rad__bytes_format(to, "%.0f responses/s, %.0f errors, %.0f VUs", s->answers[i], s->errors[i], s->users[i]);
}

/* ---- Plots over time ------------------------------------------------------------------------------------- */

static struct rad__load_plot over_time(const struct series *s)
{
    double last;
    struct rad__load_plot p = {
        .count = s->count, .x = s->x, .x_title = "seconds since the start", .hint = hint, .context = s};
    p.x_to = (double)s->count * (double)s->each;
    p.x_tick_count = rad__load_plot_ticks(p.x_ticks, p.x_to, 5, &last);
    while (p.x_tick_count > 1 && p.x_ticks[p.x_tick_count - 1].at > p.x_to) p.x_tick_count--;
    return p;
}

static uint32_t largest(const double *y, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < count; i++)
        if (isnan(y[most]) || y[i] > y[most]) most = i;
    return most;
}

static void put_latency_plot(rad_bytes *to, const rad_load_result *r, const struct series *s)
{
    char about[300];
    uint32_t worst = largest(s->max, s->count);
    const rad_histogram *h = &r->metrics.service;
    snprintf(about, sizeof about,
             "Half of the responses took less than %s ms, 99 of 100 less than %s ms. The slowest took "
             "%.1f ms, around second %.0f.",
             MS(rad__histogram_at_ppm(h, 500000)), MS(rad__histogram_at_ppm(h, 990000)),
             s->count > 0 && !isnan(s->max[worst]) ? s->max[worst] : 0,
             s->count > 0 ? s->x[worst] - 0.5 * (double)s->each : 0);
    struct rad__load_plot p = over_time(s);
    p.id = "latency";
    p.title = "Latency";
    p.about = h->count > 0 ? about : "no data: there were no responses.";
    p.unit = "ms";
    p.log = true;
    p.lines[0] = (struct rad__load_plot_line){"p50", "c1", s->p50, RAD__LOAD_PLOT_LINE};
    p.lines[1] = (struct rad__load_plot_line){"p99", "c2", s->p99, RAD__LOAD_PLOT_LINE};
    p.lines[2] = (struct rad__load_plot_line){"max", "c3", s->max, RAD__LOAD_PLOT_LINE};
    p.line_count = 3;
    rad__load_plot_put(to, &p);
}

static void put_rate_plot(rad_bytes *to, const rad_load_result *r, const struct series *s)
{
    char about[300];
    struct rad__load_throughput t = rad__load_throughput_of(r);
    snprintf(about, sizeof about, "On average %s responses a second; in the best second %s, in the worst %s.",
             rad__load_rate_label(t.average_milli).text, COUNT(t.peak), COUNT(t.least));
    struct rad__load_plot p = over_time(s);
    p.id = "rate";
    p.title = "Rate";
    p.about = about;
    p.unit = "per second";
    p.lines[0] = (struct rad__load_plot_line){"responses", "c1", s->answers, RAD__LOAD_PLOT_AREA};
    p.lines[1] = (struct rad__load_plot_line){"requests", "c4", s->issued, RAD__LOAD_PLOT_LINE};
    p.line_count = 2;
    rad__load_plot_put(to, &p);
}

static void put_error_plot(rad_bytes *to, const rad_load_result *r, const struct series *s)
{
    char about[300], unit[48];
    const struct rad__load_tally *all = &r->metrics.all;
    uint32_t worst = largest(s->errors, s->count);
    if (all->errors + all->timeouts == 0)
        snprintf(about, sizeof about, "No request ended with an error or a timeout.");
    else
        snprintf(about, sizeof about, "%s errors and %s timeouts; most of them around second %.0f.", COUNT(all->errors),
                 COUNT(all->timeouts), s->x[worst] - 0.5 * (double)s->each);
    if (s->each == 1)
        snprintf(unit, sizeof unit, "per second");
    else
        snprintf(unit, sizeof unit, "in %" PRIu64 " seconds", s->each);
    struct rad__load_plot p = over_time(s);
    p.id = "errors";
    p.title = "Errors and timeouts";
    p.about = about;
    p.unit = unit;
    p.lines[0] = (struct rad__load_plot_line){"errors", "c3", s->errors, RAD__LOAD_PLOT_BARS};
    p.line_count = 1;
    rad__load_plot_put(to, &p);
}

static void put_user_plot(rad_bytes *to, const rad_load_result *r, const struct series *s)
{
    char about[300];
    double most = s->count > 0 ? s->users[largest(s->users, s->count)] : 0;
    snprintf(about, sizeof about, "%s virtual users in all, at most %.0f at the same time.", COUNT(r->metrics.spawned),
             most);
    struct rad__load_plot p = over_time(s);
    p.id = "users";
    p.title = "Virtual users";
    p.about = about;
    p.unit = "active";
    p.lines[0] = (struct rad__load_plot_line){"virtual users", "c5", s->users, RAD__LOAD_PLOT_AREA};
    p.line_count = 1;
    rad__load_plot_put(to, &p);
}

/* ---- The percentile curve -------------------------------------------------------------------------------- */

enum { CURVE = 101 };

/* x is how many nines: 0 is p0, 1 is p90, 2 is p99, …; as far as there are answers to tell it from. */
static double nines_of(const rad_histogram *h)
{
    double nines = h->count > 1 ? log10((double)h->count) : 1;
    return nines > 6 ? 6 : nines < 1 ? 1 : nines;
}

static void curve_of(const rad_histogram *h, double most, double *x, double *y)
{
    double own = nines_of(h);
    for (uint32_t i = 0; i < CURVE; i++) {
        x[i] = most * i / (CURVE - 1);
        double share = 1 - pow(10, -x[i]);
        uint64_t ns = rad__histogram_at_ppm(h, (uint32_t)(share * 1e6 + 0.5));
        y[i] = h->count > 0 && x[i] <= own + 1e-9 && ns > 0 ? (double)ns / 1e6 : (double)NAN;
    }
}

static void put_percentiles(rad_bytes *to, const rad_load_result *r)
{
    static const char *const LABELS[] = {"min", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999"};
    double x[CURVE], service[CURVE], response[CURVE];
    char about[300];
    const rad_histogram *a = &r->metrics.service, *b = &r->metrics.response;
    bool open = rad__load_is_open(r);
    double most = nines_of(a);
    curve_of(a, most, x, service);
    curve_of(b, most, x, response);
    if (a->count == 0)
        snprintf(about, sizeof about, "no data: there were no responses.");
    else if (open)
        snprintf(about, sizeof about,
                 "p99 of the service time %s ms, of the response time, from the planned time, %s ms.",
                 MS(rad__histogram_at_ppm(a, 990000)), MS(rad__histogram_at_ppm(b, 990000)));
    else
        snprintf(about, sizeof about,
                 "Service time: p90 %s ms, p99 %s ms, p99.9 %s ms. In a closed model slow "
                 "responses mean fewer requests: coordinated omission is not corrected for.",
                 MS(rad__histogram_at_ppm(a, 900000)), MS(rad__histogram_at_ppm(a, 990000)),
                 MS(rad__histogram_at_ppm(a, 999000)));
    struct rad__load_plot p = {.id = "percentiles",
                               .title = "Percentiles",
                               .about = about,
                               .unit = "ms",
                               .log = true,
                               .count = CURVE,
                               .x = x,
                               .x_to = most,
                               .x_title = "share of the responses that were faster"};
    for (uint32_t i = 0; i < 7 && i <= most; i++) {
        struct rad__load_plot_tick *t = &p.x_ticks[p.x_tick_count++];
        t->at = i;
        snprintf(t->label, sizeof t->label, "%s", LABELS[i]);
    }
    p.lines[0] = (struct rad__load_plot_line){"service", "c1", service, RAD__LOAD_PLOT_LINE};
    p.lines[1] = (struct rad__load_plot_line){"response", "c2", response, RAD__LOAD_PLOT_LINE};
    p.line_count = open ? 2 : 1;
    rad__load_plot_put(to, &p);
}

/* ---- The distribution ------------------------------------------------------------------------------------ */

enum { BINS = 60 };

static void put_distribution(rad_bytes *to, const rad_load_result *r)
{
    const rad_histogram *h = &r->metrics.service;
    double x[BINS], count[BINS] = {0};
    double low = h->count > 0 ? floor(log10((double)(h->min > 0 ? h->min : 1)) * 3) / 3 : 6;
    double high = h->count > 0 ? ceil(log10((double)(h->max > 0 ? h->max : 1)) * 3 + 1e-9) / 3 : 9;
    if (high - low < 1) high = low + 1;
    for (uint32_t i = 0; i < BINS; i++) x[i] = low + (high - low) * (i + 0.5) / BINS;
    for (rad_histogram_step s = {0}; rad__histogram_next(h, &s);) {
        double middle = log10(((double)s.from + (double)s.to) / 2 + 1e-9);
        double bin = (middle - low) / (high - low) * BINS;
        uint32_t i = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (uint32_t)bin;
        count[i] += (double)s.count;
    }
    struct rad__load_plot p = {.id = "distribution",
                               .title = "Distribution",
                               .about = h->count > 0 ? "How many responses took how long; the scale of "
                                                       "the times is logarithmic."
                                                     : "no data: there were no responses.",
                               .unit = "responses",
                               .count = BINS,
                               .x = x,
                               .x_from = low,
                               .x_to = high,
                               .x_title = "service time, ms"};
    for (double at = ceil(low - 1e-9); at <= high + 1e-9 && p.x_tick_count < RAD__LOAD_PLOT_TICKS; at++) {
        struct rad__load_plot_tick *t = &p.x_ticks[p.x_tick_count++];
        t->at = at;
        rad__load_plot_number(t->label, sizeof t->label, pow(10, at) / 1e6);
    }
    p.lines[0] = (struct rad__load_plot_line){"responses", "c1", count, RAD__LOAD_PLOT_BARS};
    p.line_count = 1;
    rad__load_plot_put(to, &p);
}

static void put_plots(rad_bytes *to, const rad_load_result *r)
{
    struct series s;
    gather(&s, r);
    rad__bytes_format(to, "<section class=\"plots\" aria-label=\"Plots\">\n");
    put_latency_plot(to, r, &s);
    put_percentiles(to, r);
    put_rate_plot(to, r, &s);
    put_distribution(to, r);
    put_error_plot(to, r, &s);
    put_user_plot(to, r, &s);
    rad__bytes_format(to, "</section>\n");
    if (s.each > 1)
        rad__bytes_format(to,
                          "<p class=\"note\">Each point is %" PRIu64
                          " seconds: rates are their means, p99 and max the largest of them.</p>\n",
                          s.each);
}

void rad__load_render_html(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who)
{
    rad__load_page_head(to, r, who);
    put_plots(to, r);
    rad__load_page_tables(to, r);
    rad_bytes summary = {0};
    rad__load_render_summary(&summary, r, who);
    rad__bytes_format(to, "<details><summary>The summary as text</summary><pre>");
    if (!summary.failed) rad__put_xml_text(to, (const char *)summary.data, summary.size, RAD_READABLE_LINES);
    to->failed |= summary.failed;
    rad__bytes_free(&summary);
    rad__bytes_format(to, "</pre></details>\n</main></body></html>\n");
}
