/* diff_gate.c — what a comparison may fail by: see diff.h. */
#include "base/alloc.h"
#include "load/report/diff.h"
#include "load/report/rank_test.h"

#include <math.h>
#include <string.h>

/* Why these: p50 and p99 are what people promise. p10 is of the answers that met no queue and no busy machine: where
 * whatever else runs there moves the median of two runs in ten, it hardly moves p10, and a server that got slower
 * does. The rate says what a closed schedule could not ask for; the failed share, that fast answers are not errors.
 * More of them (p90, p95, the mean) move with these, and every row makes it harder for the others to be certain. */
static const struct {
    const char *name, *title;
    enum rad__load_shape shape;
    enum rad__load_direction better;
    uint32_t ppm;
} KINDS[RAD__LOAD_ROW_KINDS] = {
    {"p10_ns", "p10 ms", RAD__LOAD_NANOSECONDS, RAD__LOAD_SMALLER, 100000},
    {"p50_ns", "p50 ms", RAD__LOAD_NANOSECONDS, RAD__LOAD_SMALLER, 500000},
    {"p99_ns", "p99 ms", RAD__LOAD_NANOSECONDS, RAD__LOAD_SMALLER, 990000},
    {"rate", "rate /s", RAD__LOAD_PER_SECOND, RAD__LOAD_LARGER, 0},
    {"failed_share", "failed", RAD__LOAD_SHARE, RAD__LOAD_SMALLER, 0},
    {"response_p50_ns", "response p50 ms", RAD__LOAD_NANOSECONDS, RAD__LOAD_SMALLER, 500000},
    {"response_p99_ns", "response p99 ms", RAD__LOAD_NANOSECONDS, RAD__LOAD_SMALLER, 990000},
};

static const double MARGIN_PCT = 5; /* when tested, unless another one is asked for */

const char *rad__load_row_name(enum rad__load_row_kind kind)
{
    return KINDS[kind].name;
}

const char *rad__load_row_title(enum rad__load_row_kind kind)
{
    return KINDS[kind].title;
}

enum rad__load_shape rad__load_row_shape(enum rad__load_row_kind kind)
{
    return KINDS[kind].shape;
}

/* ---- Values of a run ------------------------------------------------------------------------------------- */

static double or_none(uint64_t value)
{
    return value != RAD__LOAD_NO_DATA ? (double)value : (double)NAN;
}

static double share_failed(const struct rad__load_tally *t, uint64_t ok)
{
    double done = (double)(t->responses + t->errors + t->timeouts);
    return done > 0 ? (done - (double)ok) / done : (double)NAN;
}

static double rate_of(const rad__load_metrics *m, uint64_t responses)
{
    uint64_t from = m->scenario->warmup_ns;
    return m->end_ns > from ? (double)responses * 1e9 / (double)(m->end_ns - from) : (double)NAN;
}

static const struct rad__load_by_request *find_name(const rad_load_result *r, const char *name, uint32_t likely)
{
    const struct rad__load_request *requests = r->scenario.requests;
    uint32_t count = r->scenario.request_count;
    if (likely < count && strcmp(requests[likely].name, name) == 0) return &r->metrics.by_request[likely];
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(requests[i].name, name) == 0) return &r->metrics.by_request[i];
    return NULL;
}

/* Not a number: this run has none. `likely`: where the name is in the scenario, probably. */
static double value_of(const rad_load_result *r, const struct rad__load_row *row, uint32_t likely)
{
    const rad__load_metrics *m = &r->metrics;
    const struct rad__load_by_request *b = row->name != NULL ? find_name(r, row->name, likely) : NULL;
    if (row->name != NULL && b == NULL) return (double)NAN;
    const struct rad__load_tally *t = b != NULL ? &b->tally : &m->measured;
    switch (row->kind) {
    case RAD__LOAD_ROW_RATE: return rate_of(m, t->responses);
    case RAD__LOAD_ROW_FAILED: return share_failed(t, b != NULL ? b->ok : m->ok);
    case RAD__LOAD_ROW_RESPONSE_P50:
    case RAD__LOAD_ROW_RESPONSE_P99: return or_none(rad__load_quantile(&m->response, KINDS[row->kind].ppm));
    default: break;
    }
    return or_none(rad__load_quantile(b != NULL ? &b->service : &m->service, KINDS[row->kind].ppm));
}

/* ---- A row ----------------------------------------------------------------------------------------------- */

static void sort(double *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        double value = values[i];
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
}

/* A share is 0 in most runs, so that its median says nothing. */
static double middle_of(double *values, uint32_t count, bool share)
{
    double sum = 0;
    if (count == 0) return (double)NAN;
    for (uint32_t i = 0; i < count; i++) sum += values[i];
    if (share) return sum / count;
    sort(values, count);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static uint32_t gather(const struct rad__load_side *side, const struct rad__load_row *row, uint32_t likely,
                       double *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        double value = value_of(side->runs[i], row, likely);
        if (!isnan(value)) values[count++] = value;
    }
    return count;
}

/* Whoever deals out values that are all the same always gets the same: there is nothing to test, whoever gets them, and
 * so it is no test to correct the others for. */
static bool all_equal(double *const of[2], const uint32_t runs[2])
{
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < runs[s]; i++)
            if (of[s][i] > of[0][0] || of[s][i] < of[0][0]) return false;
    return true;
}

/* False: memory ran out. */
static bool fill_row(struct rad__load_gate *g, struct rad__load_row *row, const struct rad__load_side sides[2],
                     uint32_t likely, double *values)
{
    double *const of[2] = {values, values + sides[0].count};
    struct rad__load_rank_p p = {1, 1};
    bool share = KINDS[row->kind].shape == RAD__LOAD_SHARE;
    for (uint32_t s = 0; s < 2; s++) {
        row->runs[s] = gather(&sides[s], row, likely, of[s]);
        row->middle[s] = middle_of(of[s], row->runs[s], share);
    }
    row->p = row->p_better = 1;
    row->verdict = RAD__LOAD_ROW_NO_DATA;
    if (row->runs[0] == 0 || row->runs[1] == 0) return true;
    row->verdict = RAD__LOAD_ROW_NEITHER;
    row->tested = !all_equal(of, row->runs);
    if (!row->tested) return true;
    g->tested++;
    g->exact &= row->runs[0] + row->runs[1] <= RAD__LOAD_RANK_EXACT;
    if (!rad__load_rank_test(of[0], row->runs[0], of[1], row->runs[1], &p)) return false;
    bool small = KINDS[row->kind].better == RAD__LOAD_SMALLER;
    row->p = small ? p.larger : p.smaller;
    row->p_better = small ? p.smaller : p.larger;
    return true;
}

static bool add_row(struct rad__load_gate *g, const struct rad__load_side sides[2], const char *name,
                    enum rad__load_row_kind kind, uint32_t likely, double *values)
{
    if (!RAD_GROW(&g->rows, &g->capacity, g->count + 1)) return false;
    struct rad__load_row *row = &g->rows[g->count++];
    *row = (struct rad__load_row){.name = name, .kind = kind};
    return fill_row(g, row, sides, likely, values);
}

/* ---- All rows -------------------------------------------------------------------------------------------- */

static bool has_name(const struct rad__load_gate *g, const char *name)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (strcmp(g->rows[i].name, name) == 0) return true;
    return false;
}

/* Names in the order in which they come up. */
static bool add_names(struct rad__load_gate *g, const struct rad__load_side sides[2], double *values)
{
    for (uint32_t s = 0; s < 2; s++) {
        for (uint32_t i = 0; i < sides[s].count; i++) {
            const rad__load_scenario *scenario = &sides[s].runs[i]->scenario;
            for (uint32_t k = 0; k < scenario->request_count; k++) {
                const char *name = scenario->requests[k].name;
                if (has_name(g, name)) continue;
                for (uint32_t kind = 0; kind <= RAD__LOAD_ROW_FAILED; kind++)
                    if (!add_row(g, sides, name, (enum rad__load_row_kind)kind, k, values)) return false;
            }
        }
    }
    return true;
}

static bool all_runs(const struct rad__load_side sides[2], bool (*holds)(const rad_load_result *r, uint32_t most),
                     uint32_t most)
{
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < sides[s].count; i++)
            if (!holds(sides[s].runs[i], most)) return false;
    return true;
}

static bool has_arrivals(const rad_load_result *r, uint32_t most)
{
    (void)most;
    return rad__load_is_open(r);
}

static bool has_names_up_to(const rad_load_result *r, uint32_t most)
{
    return r->scenario.request_count <= most;
}

static bool add_rows(struct rad__load_gate *g, const struct rad__load_side sides[2], double *values)
{
    g->names_left = !all_runs(sides, has_names_up_to, RAD__LOAD_HISTOGRAMS_MAX);
    if (!g->names_left && !add_names(g, sides, values)) return false;
    bool one_name = g->count == RAD__LOAD_ROW_FAILED + 1; /* all requests have it */
    for (uint32_t kind = 0; kind <= RAD__LOAD_ROW_FAILED && !one_name; kind++)
        if (!add_row(g, sides, NULL, (enum rad__load_row_kind)kind, 0, values)) return false;
    for (uint32_t kind = RAD__LOAD_ROW_RESPONSE_P50; kind < RAD__LOAD_ROW_KINDS; kind++)
        if (all_runs(sides, has_arrivals, 0) && !add_row(g, sides, NULL, (enum rad__load_row_kind)kind, 0, values))
            return false;
    return true;
}

/* ---- Verdicts -------------------------------------------------------------------------------------------- */

double rad__load_row_change(const struct rad__load_row *row)
{
    double off = row->middle[1] - row->middle[0];
    if (isnan(off) || row->middle[0] > 0) return off * 100 / row->middle[0];
    return off > 0 ? (double)INFINITY : 0;
}

/* Over those rows that are tested; the two directions are two families. */
static bool correct(struct rad__load_gate *g)
{
    double *p = rad__alloc(2 * (size_t)g->tested + 1, sizeof *p), *better = p + g->tested;
    uint32_t at = 0;
    if (p == NULL) return false;
    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->rows[i].tested) continue;
        p[at] = g->rows[i].p;
        better[at++] = g->rows[i].p_better;
    }
    bool ok = rad__load_holm(p, g->tested) && rad__load_holm(better, g->tested);
    at = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->rows[i].tested) continue;
        g->rows[i].p = p[at];
        g->rows[i].p_better = better[at++];
    }
    rad__free(p);
    return ok;
}

/* How many runs a side have a p that is small enough, at their best, for so many rows. */
static uint32_t runs_needed(uint32_t rows, double level)
{
    uint32_t n = 2;
    while (n < 1000 && rad__load_rank_least(n, n) * rows > level) n++;
    return n;
}

static bool is_possible(const struct rad__load_gate *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t *runs = g->rows[i].runs;
        if (g->rows[i].tested && rad__load_rank_least(runs[0], runs[1]) * g->tested <= g->level) return true;
    }
    return false;
}

/* Off by more than the margin, in the direction asked about. A failed share counts however small, when it is tested:
 * the test is all there is to say about it. */
static bool is_off(const struct rad__load_gate *g, const struct rad__load_row *row, bool worse)
{
    double change = rad__load_row_change(row);
    bool grows = (KINDS[row->kind].better == RAD__LOAD_SMALLER) == worse;
    bool any = g->possible && KINDS[row->kind].shape == RAD__LOAD_SHARE;
    if (!grows) change = -change;
    return any ? change > 0 : change > g->margin_pct;
}

static bool is_certain(const struct rad__load_gate *g, double p)
{
    return !g->possible || p <= g->level;
}

static void judge(struct rad__load_gate *g)
{
    for (uint32_t i = 0; i < g->count && g->margin_pct >= 0; i++) {
        struct rad__load_row *row = &g->rows[i];
        if (!row->tested) continue;
        if (is_certain(g, row->p) && is_off(g, row, true))
            row->verdict = RAD__LOAD_ROW_WORSE;
        else if (is_certain(g, row->p_better) && is_off(g, row, false))
            row->verdict = RAD__LOAD_ROW_BETTER;
        g->worse += row->verdict == RAD__LOAD_ROW_WORSE;
        g->better += row->verdict == RAD__LOAD_ROW_BETTER;
    }
}

bool rad__load_gate_make(struct rad__load_gate *g, const struct rad__load_side sides[2], double threshold_pct,
                         double level)
{
    *g = (struct rad__load_gate){.exact = true, .level = level};
    double *values = rad__alloc((size_t)sides[0].count + sides[1].count, sizeof *values);
    bool ok = values != NULL && add_rows(g, sides, values) && correct(g);
    rad__free(values);
    if (!ok) {
        rad__load_gate_free(g);
        return false;
    }
    g->possible = is_possible(g);
    g->needed = runs_needed(g->tested, level);
    g->margin_pct = threshold_pct >= 0 ? threshold_pct : g->possible ? MARGIN_PCT : -1;
    judge(g);
    return true;
}

void rad__load_gate_free(struct rad__load_gate *g)
{
    rad__free(g->rows);
    *g = (struct rad__load_gate){0};
}
