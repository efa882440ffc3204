/* diff.h — two sides beside each other, each of one run or of several.
 *
 * Rows (diff_gate.c) are what a comparison may fail by: of each request name, and of all together, how long the answers
 * took (p10, p50, p99), how many came in a second, and the share that failed. Each run gives one value of a row.
 *
 *     tested       With enough runs a row is worse when a rank test says so (rank_test.h, one-sided, Holm's correction
 *                  over all rows) and it is off by more than the margin: what is certain but small is no failure.
 *     not tested   With too few runs the middles of both sides are compared with the threshold that was asked for; none
 *                  was: nothing fails.
 *
 * Figures (diff_figures.c) are everything else there is to tell: least and largest times, counts, connections. They
 * never fail a comparison: the least of many values and a number of requests are no property of the server. */
#ifndef RAD_LOAD_REPORT_DIFF_H
#define RAD_LOAD_REPORT_DIFF_H

#include "load/report/render.h"

struct rad__load_side {
    const rad_load_result *const *runs;
    uint32_t count;
};

/* How a value is written. */
enum rad__load_shape { RAD__LOAD_PLAIN, RAD__LOAD_NANOSECONDS, RAD__LOAD_PER_SECOND, RAD__LOAD_SHARE };

/* ---- Rows ------------------------------------------------------------------------------------------------- */

enum rad__load_row_kind {
    RAD__LOAD_ROW_P10,
    RAD__LOAD_ROW_P50,
    RAD__LOAD_ROW_P99,
    RAD__LOAD_ROW_RATE,
    RAD__LOAD_ROW_FAILED,
    RAD__LOAD_ROW_RESPONSE_P50, /* these two: of all requests, when both sides have arrivals */
    RAD__LOAD_ROW_RESPONSE_P99,
    RAD__LOAD_ROW_KINDS
};

enum rad__load_row_verdict { /* the first: a side has no data for it */
                             RAD__LOAD_ROW_NO_DATA,
                             RAD__LOAD_ROW_NEITHER,
                             RAD__LOAD_ROW_WORSE,
                             RAD__LOAD_ROW_BETTER
};

struct rad__load_row {
    const char *name; /* of the request; NULL: all of them */
    enum rad__load_row_kind kind;
    enum rad__load_row_verdict verdict;
    bool tested;        /* both sides have data, and not all runs are equal */
    uint32_t runs[2];   /* that have it */
    double middle[2];   /* median of these runs, or mean of a share; not a number: no data */
    double p, p_better; /* corrected; of the two being alike, and this one worse, or better, by chance */
};

struct rad__load_gate {
    struct rad__load_row *rows;
    uint32_t count, capacity;
    uint32_t tested;   /* rows in which there is something to test */
    bool possible;     /* some row could be found to differ: there are enough runs */
    bool exact;        /* no approximation was needed */
    bool names_left;   /* too many names: only all of them together are compared */
    uint32_t needed;   /* runs a side, at least, for so many rows */
    double level;      /* a share: 0.01 */
    double margin_pct; /* how far off a row is that may fail; negative: none was asked for, and none fails */
    uint32_t worse, better;
};

RAD_INTERNAL const char *rad__load_row_name(enum rad__load_row_kind kind);  /* "p50_ns", as in JSON */
RAD_INTERNAL const char *rad__load_row_title(enum rad__load_row_kind kind); /* "p50 ms" */
RAD_INTERNAL enum rad__load_shape rad__load_row_shape(enum rad__load_row_kind kind);

/* In percent of the first side. Infinite: from none to some. Not a number: one side has no data. */
RAD_INTERNAL double rad__load_row_change(const struct rad__load_row *row);

/* Fills in the rows. `threshold_pct` negative: none was asked for. False: memory ran out. */
RAD_INTERNAL bool rad__load_gate_make(struct rad__load_gate *g, const struct rad__load_side sides[2],
                                      double threshold_pct, double level);
RAD_INTERNAL void rad__load_gate_free(struct rad__load_gate *g);

/* ---- Figures ---------------------------------------------------------------------------------------------- */

enum rad__load_direction { RAD__LOAD_NEITHER, RAD__LOAD_SMALLER, RAD__LOAD_LARGER };

struct rad__load_figure {
    const char *group, *name;
    enum rad__load_direction better;
    enum rad__load_shape shape;
    uint64_t run1, run2; /* medians of the sides; or RAD__LOAD_NO_DATA */
};

enum { RAD__LOAD_FIGURES_MAX = 48 };

struct rad__load_figures {
    uint32_t count;
    struct rad__load_figure at[RAD__LOAD_FIGURES_MAX];
};

/* False: memory ran out. */
RAD_INTERNAL bool rad__load_figures_make(struct rad__load_figures *f, const struct rad__load_side sides[2]);
static inline bool rad__load_figure_known(const struct rad__load_figure *f)
{
    return f->run1 != RAD__LOAD_NO_DATA && f->run2 != RAD__LOAD_NO_DATA;
}
/* Of a known one; infinite: from none to some. */
RAD_INTERNAL double rad__load_figure_change(const struct rad__load_figure *f);

/* ---- As text ---------------------------------------------------------------------------------------------- */

struct rad__load_comparison {
    struct rad__load_side sides[2];
    struct rad__load_gate gate;
    struct rad__load_figures figures;
    double threshold_pct;           /* negative: none was asked for */
    char no_data[2][RAD__LOAD_WHY]; /* why a side has no response at all; "": it has */
};

RAD_INTERNAL void rad__load_comparison_text(rad_bytes *to, const struct rad__load_comparison *c);
RAD_INTERNAL void rad__load_comparison_json(rad_bytes *to, const struct rad__load_comparison *c);

#endif
