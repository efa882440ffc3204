/* diff.c — what differs between two results, and whether that is better or worse.
 *
 * Each figure knows its direction: times, errors and dropped arrivals should be small, rates and shares of success
 * large; how many requests or connections there were is neither. A difference counts when it is more than the threshold
 * in percent of the first run; from nothing to something always does. */
#include "base/error.h"
#include "load/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum better { NEITHER, SMALLER, LARGER };
enum shape { PLAIN, NANOSECONDS, THOUSANDTHS, MILLIONTHS };

struct figure {
    const char *group, *name;
    enum better better;
    enum shape shape;
    uint64_t run1, run2;
};

enum { FIGURES_MAX = 48 };

struct comparison {
    const rad_load_result *a, *b;
    double threshold;
    uint32_t count;
    struct figure figures[FIGURES_MAX];
};

/* ---- Figures --------------------------------------------------------------------------------------------- */

static void add(struct comparison *c, struct figure f)
{
    RAD_ASSERT(c->count < FIGURES_MAX);
    c->figures[c->count++] = f;
}

static void add_times(struct comparison *c, const char *group, const rad_histogram *a,
                      const rad_histogram *b)
{
    static const struct {
        const char *name;
        uint32_t ppm;
    } SHARES[] = {{"p50_ns", 500000},
                  {"p90_ns", 900000},
                  {"p95_ns", 950000},
                  {"p99_ns", 990000},
                  {"p999_ns", 999000}};
    add(c, (struct figure){group, "min_ns", SMALLER, NANOSECONDS, a->count > 0 ? a->min : 0,
                           b->count > 0 ? b->min : 0});
    add(c, (struct figure){group, "max_ns", SMALLER, NANOSECONDS, a->max, b->max});
    add(c, (struct figure){group, "mean_ns", SMALLER, NANOSECONDS,
                           (uint64_t)(rad__histogram_mean(a) + 0.5),
                           (uint64_t)(rad__histogram_mean(b) + 0.5)});
    for (uint32_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++)
        add(c, (struct figure){group, SHARES[i].name, SMALLER, NANOSECONDS,
                               rad__histogram_at_ppm(a, SHARES[i].ppm),
                               rad__histogram_at_ppm(b, SHARES[i].ppm)});
}

static uint64_t failed_of(const rad__load_metrics *m)
{
    const struct rad__load_tally *t = &m->measured;
    return t->responses - m->ok + t->errors + t->timeouts;
}

static uint64_t errors_of(const rad__load_metrics *m)
{
    return m->measured.errors + m->measured.timeouts;
}

static void add_requests(struct comparison *c, const rad__load_metrics *x,
                         const rad__load_metrics *y)
{
    add(c, (struct figure){"requests", "total", NEITHER, PLAIN, x->measured.issued,
                           y->measured.issued});
    add(c, (struct figure){"requests", "success", NEITHER, PLAIN, x->ok, y->ok});
    add(c, (struct figure){"requests", "failed", SMALLER, PLAIN, failed_of(x), failed_of(y)});
    add(c, (struct figure){"requests", "success_rate", LARGER, MILLIONTHS,
                           rad__load_ppm(x->ok, x->ok + failed_of(x)),
                           rad__load_ppm(y->ok, y->ok + failed_of(y))});
}

static uint64_t mean_connect(const rad__load_metrics *m)
{
    return m->connections > 0 ? m->connect_ns / m->connections : 0;
}

static void add_rest(struct comparison *c, const rad__load_metrics *x, const rad__load_metrics *y)
{
    struct rad__load_throughput s = rad__load_throughput_of(c->a),
                                t = rad__load_throughput_of(c->b);
    add(c, (struct figure){"throughput", "rps", LARGER, THOUSANDTHS, s.average_milli,
                           t.average_milli});
    add(c, (struct figure){"throughput", "peak_rps", LARGER, PLAIN, s.peak, t.peak});
    add(c, (struct figure){"throughput", "min_rps", LARGER, PLAIN, s.least, t.least});
    add(c, (struct figure){"connections", "total", NEITHER, PLAIN, x->connections, y->connections});
    add(c, (struct figure){"connections", "errors", SMALLER, PLAIN, x->connection_errors,
                           y->connection_errors});
    add(c, (struct figure){"connections", "avg_connection_time_ns", SMALLER, NANOSECONDS,
                           mean_connect(x), mean_connect(y)});
    add(c, (struct figure){"errors", "total", SMALLER, PLAIN, errors_of(x), errors_of(y)});
    add(c, (struct figure){"errors", "rate", SMALLER, MILLIONTHS,
                           rad__load_ppm(errors_of(x), x->measured.responses + errors_of(x)),
                           rad__load_ppm(errors_of(y), y->measured.responses + errors_of(y))});
    add(c, (struct figure){"checks", "failed", SMALLER, PLAIN, x->checks_failed, y->checks_failed});
    if (!rad__load_is_open(c->a) || !rad__load_is_open(c->b)) return;
    add(c, (struct figure){"arrivals", "begun", NEITHER, PLAIN, x->arrivals, y->arrivals});
    add(c, (struct figure){"arrivals", "blocked", SMALLER, PLAIN, x->blocked, y->blocked});
    add(c, (struct figure){"arrivals", "dropped", SMALLER, PLAIN, x->dropped, y->dropped});
}

static void compare(struct comparison *c)
{
    const rad__load_metrics *x = &c->a->metrics, *y = &c->b->metrics;
    add_requests(c, x, y);
    add_times(c, "latency", &x->service, &y->service);
    if (rad__load_is_open(c->a) && rad__load_is_open(c->b))
        add_times(c, "response_latency", &x->response, &y->response);
    add_rest(c, x, y);
}

/* ---- Judgement ------------------------------------------------------------------------------------------- */

static double percent(const struct figure *f)
{
    return ((double)f->run2 - (double)f->run1) * 100 / (double)f->run1;
}

static bool beyond(const struct comparison *c, const struct figure *f)
{
    if (f->run1 == f->run2) return false;
    return f->run1 == 0 || fabs(percent(f)) > c->threshold;
}

static bool is_better(const struct figure *f)
{
    return f->better == SMALLER ? f->run2 < f->run1 : f->run2 > f->run1;
}

static bool is_worse(const struct comparison *c, const struct figure *f)
{
    return beyond(c, f) && f->better != NEITHER && !is_better(f);
}

/* As far as it can be seen: results need not have the text of their scenario. */
static bool same_scenario(const rad_load_result *a, const rad_load_result *b)
{
    if (a->text != NULL && b->text != NULL) return strcmp(a->text, b->text) == 0;
    return strcmp(rad__load_name_label(a), rad__load_name_label(b)) == 0;
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

static struct rad__load_label label_of(const struct figure *f, uint64_t value)
{
    switch (f->shape) {
    case NANOSECONDS: return rad__load_ms_label(value);
    case THOUSANDTHS: return rad__load_rate_label(value);
    case MILLIONTHS: return rad__load_share_label(value);
    case PLAIN: break;
    }
    return rad__load_count_label(value);
}

/* "latency p99 ms": without the unit of its name, with the one it is told in. */
static struct rad__load_label title_of(const struct figure *f)
{
    struct rad__load_label title;
    bool ns = f->shape == NANOSECONDS;
    int length = (int)strlen(f->name) - (ns ? 3 : 0);
    snprintf(title.text, sizeof title.text, "%.20s %.*s%s", f->group, length, f->name,
             ns ? " ms" : "");
    return title;
}

static void put_change(rad_bytes *to, const struct figure *f)
{
    if (f->run1 == 0)
        rad__bytes_format(to, "   from none");
    else
        rad__bytes_format(to, " %+9.1f %%", percent(f));
}

static void put_text(rad_bytes *to, const struct comparison *c)
{
    uint32_t better = 0, worse = 0, other = 0, within = 0;
    if (!same_scenario(c->a, c->b))
        rad__bytes_format(to, "The scenarios of the two runs are not the same.\n\n");
    for (uint32_t i = 0; i < c->count; i++) {
        const struct figure *f = &c->figures[i];
        if (!beyond(c, f)) {
            within++;
            continue;
        }
        bool bad = is_worse(c, f), neither = f->better == NEITHER;
        if (better + worse + other == 0)
            rad__bytes_format(to, "%-36s %14s %14s %11s\n", "", "run 1", "run 2", "change");
        *(bad ? &worse : neither ? &other : &better) += 1;
        rad__bytes_format(to, "%-36s %14s %14s", title_of(f).text, label_of(f, f->run1).text,
                          label_of(f, f->run2).text);
        put_change(to, f);
        rad__bytes_format(to, "%s\n", bad ? "  worse" : neither ? "" : "  better");
    }
    rad__bytes_format(
        to,
        "%s%" PRIu32 " worse, %" PRIu32 " better, %" PRIu32 " neither, %" PRIu32 " within %g %%\n",
        better + worse + other > 0 ? "\n" : "", worse, better, other, within, c->threshold);
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static void put_value(rad_bytes *to, enum shape shape, uint64_t value)
{
    if (shape == THOUSANDTHS)
        rad__bytes_format(to, "%" PRIu64 ".%03u", value / 1000, (unsigned)(value % 1000));
    else if (shape == MILLIONTHS)
        rad__bytes_format(to, "%" PRIu64 ".%06u", value / 1000000, (unsigned)(value % 1000000));
    else
        rad__bytes_format(to, "%" PRIu64, value);
}

static void put_figure(rad_bytes *to, const struct comparison *c, const struct figure *f)
{
    bool less = f->run2 < f->run1;
    rad__bytes_format(to, "      \"%s\": {\"run1\": ", f->name);
    put_value(to, f->shape, f->run1);
    rad__bytes_format(to, ", \"run2\": ");
    put_value(to, f->shape, f->run2);
    rad__bytes_format(to, ", \"delta\": %s", less ? "-" : "");
    put_value(to, f->shape, less ? f->run1 - f->run2 : f->run2 - f->run1);
    rad__bytes_format(to, ", \"delta_pct\": ");
    if (f->run1 != 0)
        rad__bytes_format(to, "%.3f", percent(f));
    else
        rad__bytes_format(to, "%s", f->run2 == 0 ? "0.000" : "null");
    bool known = f->better != NEITHER && f->run1 != f->run2;
    rad__bytes_format(to, ", \"improved\": %s, \"beyond_threshold\": %s}",
                      !known         ? "null"
                      : is_better(f) ? "true"
                                     : "false",
                      beyond(c, f) ? "true" : "false");
}

static void put_run(rad_bytes *to, const char *name, const rad_load_result *r)
{
    rad__bytes_format(to, "  \"%s\": {\"scenario\": ", name);
    rad__load_put_json_text(to, r->scenario.name);
    rad__bytes_format(to, ", \"seed\": %" PRIu64 ", \"duration_seconds\": %" PRIu64 ".%09u},\n",
                      r->seed, r->metrics.end_ns / 1000000000,
                      (unsigned)(r->metrics.end_ns % 1000000000));
}

static void put_json(rad_bytes *to, const struct comparison *c, uint32_t worse)
{
    rad__bytes_format(to, "{\n  \"version\": \"1.0\",\n");
    put_run(to, "run1", c->a);
    put_run(to, "run2", c->b);
    rad__bytes_format(to,
                      "  \"same_scenario\": %s,\n  \"threshold_pct\": %g,\n  \"worse\": %" PRIu32
                      ",\n  \"comparison\": {\n",
                      same_scenario(c->a, c->b) ? "true" : "false", c->threshold, worse);
    for (uint32_t i = 0; i < c->count; i++) {
        const struct figure *f = &c->figures[i];
        bool first = i == 0 || strcmp(c->figures[i - 1].group, f->group) != 0;
        bool last = i + 1 == c->count || strcmp(c->figures[i + 1].group, f->group) != 0;
        if (first) rad__bytes_format(to, "    \"%s\": {\n", f->group);
        put_figure(to, c, f);
        if (last)
            rad__bytes_format(to, "\n    }%s\n", i + 1 < c->count ? "," : "");
        else
            rad__bytes_format(to, ",\n");
    }
    rad__bytes_format(to, "  }\n}\n");
}

char *rad_load_diff(const rad_load_result *a, const rad_load_result *b, double threshold, bool json,
                    uint32_t *worse, rad_error *error)
{
    rad__error_clear(error);
    if (!(threshold >= 0) || isinf(threshold)) {
        rad__error(error, RAD_EINPUT, "the threshold is a number of percent from 0");
        return NULL;
    }
    struct comparison c = {.a = a, .b = b, .threshold = threshold};
    uint32_t count = 0;
    rad_bytes text = {0};
    compare(&c);
    for (uint32_t i = 0; i < c.count; i++) count += is_worse(&c, &c.figures[i]);
    if (json)
        put_json(&text, &c, count);
    else
        put_text(&text, &c);
    rad__bytes_put(&text, "", 1);
    if (worse != NULL) *worse = count;
    if (!text.failed) return (char *)text.data;
    rad__bytes_free(&text);
    rad__error_memory(error);
    return NULL;
}
