/* diff_text.c — a comparison for people, and as JSON: see diff.h. */
#include "base/json_out.h"
#include "load/report/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SHOWN_PCT = 5; /* figures that are off by less are not worth a line */

/* As far as it can be seen: results need not have the text of their scenario. */
static bool same_two(const rad_load_result *a, const rad_load_result *b)
{
    if (a->text != NULL && b->text != NULL) return strcmp(a->text, b->text) == 0;
    return strcmp(rad__load_name_label(a), rad__load_name_label(b)) == 0;
}

static bool same_scenario(const struct rad__load_comparison *c)
{
    bool same = true;
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < c->sides[s].count; i++) same &= same_two(c->sides[0].runs[0], c->sides[s].runs[i]);
    return same;
}

/* ---- For people ------------------------------------------------------------------------------------------ */

static struct rad__load_label label_of(enum rad__load_shape shape, uint64_t value)
{
    switch (shape) {
    case RAD__LOAD_NANOSECONDS: return rad__load_ms_label(value);
    case RAD__LOAD_PER_SECOND: return rad__load_rate_label(value);
    case RAD__LOAD_SHARE: return rad__load_share_label(value);
    case RAD__LOAD_PLAIN: break;
    }
    return rad__load_count_label(value);
}

/* Rows have rates a second and shares from 0 to 1; labels have them 1,000 and 1,000,000 times as large. */
static uint64_t scaled(enum rad__load_shape shape, double value)
{
    if (isnan(value)) return RAD__LOAD_NO_DATA;
    double times = shape == RAD__LOAD_PER_SECOND ? 1e3 : shape == RAD__LOAD_SHARE ? 1e6 : 1;
    return (uint64_t)(value * times + 0.5);
}

static void put_change(rad_bytes *to, double change)
{
    if (isnan(change))
        rad__bytes_format(to, "           ");
    else if (isinf(change))
        rad__bytes_format(to, "   from none");
    else
        rad__bytes_format(to, " %+9.1f %%", change);
}

static void put_row(rad_bytes *to, const struct rad__load_comparison *c, const struct rad__load_row *row)
{
    static const char *const VERDICTS[] = {"", "", "  worse", "  better"};
    enum rad__load_shape shape = rad__load_row_shape(row->kind);
    char title[64];
    snprintf(title, sizeof title, "%.40s %s", row->name != NULL ? row->name : "all", rad__load_row_title(row->kind));
    rad__bytes_format(to, "%-36s %14s %14s", title, label_of(shape, scaled(shape, row->middle[0])).text,
                      label_of(shape, scaled(shape, row->middle[1])).text);
    put_change(to, rad__load_row_change(row));
    if (c->gate.possible && row->tested)
        rad__bytes_format(to, "  %8.6f", row->p);
    else if (c->gate.possible)
        rad__bytes_format(to, "          ");
    rad__bytes_format(to, "%s\n", VERDICTS[row->verdict]);
}

/* What the rows have already. */
static bool is_in_rows(const struct rad__load_figure *f)
{
    static const char *const NAMES[] = {"p50_ns", "p99_ns", "rps", "success_rate"};
    for (uint32_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(f->name, NAMES[i]) == 0) return true;
    return false;
}

static void put_figures(rad_bytes *to, const struct rad__load_comparison *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->figures.count; i++) {
        const struct rad__load_figure *f = &c->figures.at[i];
        bool ns = f->shape == RAD__LOAD_NANOSECONDS;
        char title[64];
        if (is_in_rows(f) || !rad__load_figure_known(f)) continue;
        if (!(fabs(rad__load_figure_change(f)) > SHOWN_PCT)) continue;
        if (!any)
            rad__bytes_format(to, "\nAlso, off by more than %g %%; none of these fails a comparison\n", SHOWN_PCT);
        any = true;
        snprintf(title, sizeof title, "%.20s %.*s%s", f->group, (int)strlen(f->name) - (ns ? 3 : 0), f->name,
                 ns ? " ms" : "");
        rad__bytes_format(to, "%-36s %14s %14s", title, label_of(f->shape, f->run1).text,
                          label_of(f->shape, f->run2).text);
        put_change(to, rad__load_figure_change(f));
        rad__bytes_format(to, "\n");
    }
}

static void put_rule(rad_bytes *to, const struct rad__load_comparison *c)
{
    const struct rad__load_gate *g = &c->gate;
    if (g->possible) {
        rad__bytes_format(to,
                          "Test: Wilcoxon-Mann-Whitney on one value a run, one-sided, %s; level %g %% "
                          "for all %" PRIu32 " rows\ntogether (p is corrected by Holm). Worse: p is at most the level, "
                          "and the median is off by more than\n%g %%; of a failed share, at all.\n",
                          g->exact ? "exact" : "by normal approximation", g->level * 100, g->tested, g->margin_pct);
        return;
    }
    rad__bytes_format(to,
                      "No test is possible with %" PRIu32 " and %" PRIu32 " runs: for %" PRIu32
                      " rows at a level of %g %% it takes %" PRIu32 " a side.\n",
                      c->sides[0].count, c->sides[1].count, g->tested, g->level * 100, g->needed);
    if (g->margin_pct >= 0)
        rad__bytes_format(to, "Worse: off by more than %g %%, whatever chance does.\n", g->margin_pct);
    else
        rad__bytes_format(to, "Nothing fails: no --threshold was given.\n");
}

void rad__load_comparison_text(rad_bytes *to, const struct rad__load_comparison *c)
{
    const struct rad__load_gate *g = &c->gate;
    if (!same_scenario(c)) rad__bytes_format(to, "The scenarios of these runs are not the same.\n");
    if (g->names_left)
        rad__bytes_format(to, "More than %d names: only all requests together are compared.\n",
                          RAD__LOAD_HISTOGRAMS_MAX);
    char heads[2][32];
    for (uint32_t s = 0; s < 2; s++)
        snprintf(heads[s], sizeof heads[s], "%" PRIu32 " %s", c->sides[s].count, s == 0 ? "before" : "after");
    rad__bytes_format(to, "%-36s %14s %14s %11s%s\n", "", heads[0], heads[1], "change",
                      g->possible ? "         p" : "");
    for (uint32_t i = 0; i < g->count; i++) put_row(to, c, &g->rows[i]);
    put_figures(to, c);
    rad__bytes_format(to, "\n");
    put_rule(to, c);
    for (uint32_t s = 0; s < 2; s++)
        if (c->no_data[s][0] != 0)
            rad__bytes_format(to, "no data %s: %s\n", s == 0 ? "before" : "after", c->no_data[s]);
    if (g->margin_pct >= 0)
        rad__bytes_format(to, "%" PRIu32 " worse, %" PRIu32 " better, of %" PRIu32 " rows\n", g->worse, g->better,
                          g->count);
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

/* A shape counts in units of 10 to the power of minus these. */
static int digits_of(enum rad__load_shape shape)
{
    return shape == RAD__LOAD_PER_SECOND ? 3 : shape == RAD__LOAD_SHARE ? 6 : 0;
}

static void put_number(rad_json_out *j, const char *name, enum rad__load_shape shape, double value)
{
    if (isnan(value) || isinf(value))
        rad__out_text(j, name, NULL);
    else
        rad__out_format(j, name, "%.*f", digits_of(shape), value);
}

static void put_json_row(rad_json_out *j, const struct rad__load_comparison *c, const struct rad__load_row *row)
{
    static const char *const VERDICTS[] = {"no data", "neither", "worse", "better"};
    enum rad__load_shape shape = rad__load_row_shape(row->kind);
    bool judged = c->gate.margin_pct >= 0 || row->verdict == RAD__LOAD_ROW_NO_DATA;
    bool tested = c->gate.possible && row->tested;
    rad__out_open_line(j, NULL, '{');
    rad__out_text(j, "name", row->name);
    rad__out_text(j, "figure", rad__load_row_name(row->kind));
    put_number(j, "before", shape, row->middle[0]);
    put_number(j, "after", shape, row->middle[1]);
    put_number(j, "change_pct", RAD__LOAD_PER_SECOND, rad__load_row_change(row));
    rad__out_count(j, "runs_before", row->runs[0]);
    rad__out_count(j, "runs_after", row->runs[1]);
    rad__out_format(j, "p", tested ? "%.9g" : "null", row->p);
    rad__out_format(j, "p_better", tested ? "%.9g" : "null", row->p_better);
    rad__out_text(j, "verdict", judged ? VERDICTS[row->verdict] : NULL);
    rad__out_close(j, '}');
}

static void put_json_figure(rad_json_out *j, const struct rad__load_figure *f, double threshold)
{
    bool known = rad__load_figure_known(f), less = known && f->run2 < f->run1;
    double change = known ? rad__load_figure_change(f) : (double)NAN;
    uint64_t delta = less ? f->run1 - f->run2 : f->run2 - f->run1;
    bool judged = known && f->better != RAD__LOAD_NEITHER && f->run1 != f->run2;
    int digits = digits_of(f->shape);
    rad__out_open_line(j, f->name, '{');
    rad__out_format(j, "run1", "%s", rad__load_json_label(f->run1, digits).text);
    rad__out_format(j, "run2", "%s", rad__load_json_label(f->run2, digits).text);
    rad__out_format(j, "delta", "%s%s", less ? "-" : "",
                    rad__load_json_label(known ? delta : RAD__LOAD_NO_DATA, digits).text);
    put_number(j, "delta_pct", RAD__LOAD_PER_SECOND, change);
    if (judged)
        rad__out_bool(j, "improved", less == (f->better == RAD__LOAD_SMALLER));
    else
        rad__out_text(j, "improved", NULL);
    rad__out_bool(j, "beyond_threshold", known && fabs(change) > threshold);
    rad__out_close(j, '}');
}

static void put_figure_groups(rad_json_out *j, const struct rad__load_comparison *c)
{
    const struct rad__load_figures *all = &c->figures;
    double threshold = c->threshold_pct >= 0 ? c->threshold_pct : SHOWN_PCT;
    rad__out_open(j, "comparison", '{');
    for (uint32_t i = 0; i < all->count; i++) {
        const struct rad__load_figure *f = &all->at[i];
        if (i == 0 || strcmp(all->at[i - 1].group, f->group) != 0) rad__out_open(j, f->group, '{');
        put_json_figure(j, f, threshold);
        if (i + 1 == all->count || strcmp(all->at[i + 1].group, f->group) != 0) rad__out_close(j, '}');
    }
    rad__out_close(j, '}');
}

static void put_side(rad_json_out *j, const struct rad__load_comparison *c, uint32_t side)
{
    const struct rad__load_side *s = &c->sides[side];
    rad__out_open_line(j, side == 0 ? "run1" : "run2", '{');
    rad__out_count(j, "runs", s->count);
    rad__out_text(j, "scenario", s->runs[0]->scenario.name);
    rad__out_open(j, "seeds", '[');
    for (uint32_t i = 0; i < s->count; i++) rad__out_count(j, NULL, s->runs[i]->seed);
    rad__out_close(j, ']');
    rad__out_text(j, "no_data", c->no_data[side][0] != 0 ? c->no_data[side] : NULL);
    rad__out_close(j, '}');
}

static void put_test(rad_json_out *j, const struct rad__load_gate *g)
{
    rad__out_open_line(j, "test", '{');
    rad__out_bool(j, "possible", g->possible);
    rad__out_text(j, "name", "Wilcoxon-Mann-Whitney");
    rad__out_count(j, "sides", 1);
    rad__out_bool(j, "exact", g->exact);
    rad__out_format(j, "level", "%g", g->level);
    rad__out_text(j, "correction", "Holm");
    rad__out_count(j, "rows", g->tested);
    rad__out_count(j, "runs_needed", g->needed);
    rad__out_close(j, '}');
}

void rad__load_comparison_json(rad_bytes *to, const struct rad__load_comparison *c)
{
    const struct rad__load_gate *g = &c->gate;
    rad_json_out out, *j = &out;
    rad__out_begin(j, to, RAD_JSON_UTF8);
    rad__out_text(j, "version", "1.1");
    put_side(j, c, 0);
    put_side(j, c, 1);
    rad__out_bool(j, "same_scenario", same_scenario(c));
    rad__out_format(j, "threshold_pct", g->margin_pct >= 0 ? "%g" : "null", g->margin_pct);
    put_test(j, g);
    rad__out_count(j, "worse", g->worse);
    rad__out_count(j, "better", g->better);
    rad__out_open(j, "rows", '[');
    for (uint32_t i = 0; i < g->count; i++) put_json_row(j, c, &g->rows[i]);
    rad__out_close(j, ']');
    put_figure_groups(j, c);
    rad__out_end(j);
}
