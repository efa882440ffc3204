/* plot.h — a plot as SVG inside a page: lines or bars over a straight or logarithmic axis, with a text for those who
 * cannot see it. Colours and sizes are the page's (render_html.c): a plot only names classes. */
#ifndef RAD_LOAD_REPORT_PLOT_H
#define RAD_LOAD_REPORT_PLOT_H

#include "base/bytes.h"

enum { RAD__LOAD_PLOT_LINES = 3, RAD__LOAD_PLOT_TICKS = 8 };

enum rad__load_plot_style {
    RAD__LOAD_PLOT_LINE,
    RAD__LOAD_PLOT_AREA, /* a line, filled down to the axis */
    RAD__LOAD_PLOT_BARS
};

struct rad__load_plot_line {
    const char *name;
    const char *colour; /* class */
    const double *y;    /* not a number: a gap */
    enum rad__load_plot_style style;
};

struct rad__load_plot_tick {
    double at;
    char label[16];
};

struct rad__load_plot {
    const char *id;            /* unique in the page */
    const char *title, *about; /* the second: what it shows, in a sentence with its figures */
    const char *unit;          /* of y */
    bool log;                  /* y; all values are above 0 */
    uint32_t count;            /* of points in each line */
    const double *x;
    double x_from, x_to;
    const char *x_title;
    struct rad__load_plot_tick x_ticks[RAD__LOAD_PLOT_TICKS];
    uint32_t x_tick_count;
    struct rad__load_plot_line lines[RAD__LOAD_PLOT_LINES];
    uint32_t line_count;
    /* What is shown for a point when it is pointed at; may be NULL. */
    void (*hint)(rad_bytes *to, const void *context, uint32_t point);
    const void *context;
};

RAD_INTERNAL void rad__load_plot_put(rad_bytes *to, const struct rad__load_plot *plot);

/* Ticks for a straight axis from 0 to `most`, at most RAD__LOAD_PLOT_TICKS of them; *end is the last one. */
RAD_INTERNAL uint32_t rad__load_plot_ticks(struct rad__load_plot_tick *ticks, double most, uint32_t wanted,
                                           double *end);

/* "250", "1.5k", "20M"; "0.5". */
RAD_INTERNAL void rad__load_plot_number(char *text, size_t size, double value);

#endif
