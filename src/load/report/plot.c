/* plot.c — see plot.h. */
#include "load/report/plot.h"

#include <math.h>
#include <stdio.h>

/* In units of the drawing. It is as wide as a phone; on larger screens it grows, and its letters with it. */
enum { WIDTH = 400, HEIGHT = 220, LEFT = 46, RIGHT = 10, TOP = 12, BOTTOM = 34 };

void rad__load_plot_number(char *text, size_t size, double value)
{
    static const char UNITS[] = {0, 'k', 'M', 'G', 'T', 'P', 0};
    int unit = 0;
    for (; fabs(value) >= 1000 && unit < 5; unit++) value /= 1000;
    snprintf(text, size, "%.3g%c", value, UNITS[unit]);
}

/* 1, 2 or 5 times a power of ten, not less than `value`. */
static double round_up(double value)
{
    double power = pow(10, floor(log10(value)));
    double first = value / power;
    return power * (first <= 1.0000001 ? 1 : first <= 2.0000001 ? 2 : first <= 5.0000001 ? 5 : 10);
}

static double round_down(double value)
{
    double power = pow(10, floor(log10(value) + 1e-9));
    double first = value / power;
    return power * (first < 2 ? 1 : first < 5 ? 2 : 5);
}

uint32_t rad__load_plot_ticks(struct rad__load_plot_tick *ticks, double most, uint32_t wanted, double *end)
{
    double step = round_up((most > 0 ? most : 1) / wanted);
    uint32_t count = 0;
    while (count < RAD__LOAD_PLOT_TICKS) {
        double at = step * count;
        ticks[count].at = *end = at;
        rad__load_plot_number(ticks[count].label, sizeof ticks[count].label, at);
        count++;
        if (at >= most && count > 1) break;
    }
    return count;
}

/* ---- Axes ------------------------------------------------------------------------------------------------ */

struct axes {
    const struct rad__load_plot *plot;
    double low, high;
    struct rad__load_plot_tick ticks[RAD__LOAD_PLOT_TICKS];
    uint32_t tick_count;
};

static void range_of(const struct rad__load_plot *p, double *low, double *high)
{
    *low = (double)INFINITY;
    *high = 0;
    for (uint32_t i = 0; i < p->line_count; i++) {
        for (uint32_t k = 0; k < p->count; k++) {
            double y = p->lines[i].y[k];
            if (isnan(y)) continue;
            if (y < *low) *low = y;
            if (y > *high) *high = y;
        }
    }
}

/* Every 1, 2 and 5 of two decades, every decade of more, every other one of many. */
static void log_ticks(struct axes *a)
{
    double decades = log10(a->high / a->low);
    double factor = decades > 6 ? 1000 : decades > 2.2 ? 10 : 0;
    double at = factor > 0 ? pow(10, ceil(log10(a->low) - 1e-9)) : a->low;
    while (at <= a->high * 1.0000001 && a->tick_count < RAD__LOAD_PLOT_TICKS) {
        struct rad__load_plot_tick *t = &a->ticks[a->tick_count++];
        t->at = at;
        rad__load_plot_number(t->label, sizeof t->label, at);
        at = factor > 0 ? at * factor : round_up(at * 1.5);
    }
}

static struct axes axes_of(const struct rad__load_plot *p)
{
    struct axes a = {.plot = p};
    range_of(p, &a.low, &a.high);
    if (p->log) {
        if (!(a.low > 0) || isinf(a.low)) a.low = a.high = 1;
        a.low = round_down(a.low);
        a.high = round_up(a.high);
        if (a.high < a.low * 10) a.high = a.low * 10;
        log_ticks(&a);
        return a;
    }
    a.low = 0;
    a.tick_count = rad__load_plot_ticks(a.ticks, a.high, 4, &a.high);
    return a;
}

static double place_x(const struct axes *a, double x)
{
    double span = a->plot->x_to - a->plot->x_from;
    return LEFT + (x - a->plot->x_from) / (span > 0 ? span : 1) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct axes *a, double y)
{
    double share = a->plot->log ? log10(y / a->low) / log10(a->high / a->low) : (y - a->low) / (a->high - a->low);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

static void put_axes(rad_bytes *to, const struct axes *a)
{
    const struct rad__load_plot *p = a->plot;
    for (uint32_t i = 0; i < a->tick_count; i++) {
        double y = place_y(a, a->ticks[i].at);
        rad__bytes_format(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
        rad__bytes_format(to, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT - 5,
                          y + 3.5, a->ticks[i].label);
    }
    for (uint32_t i = 0; i < p->x_tick_count; i++) {
        double x = place_x(a, p->x_ticks[i].at);
        rad__bytes_format(to, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                          x > WIDTH - 18 ? WIDTH - 18 : x, HEIGHT - BOTTOM + 14, p->x_ticks[i].label);
    }
    rad__bytes_format(to, "<path class=\"axis\" d=\"M%d %dH%d\"/>", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT);
    rad__bytes_format(to, "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                      (WIDTH + LEFT - RIGHT) / 2, HEIGHT - 5, p->x_title);
}

/* ---- Lines ----------------------------------------------------------------------------------------------- */

static void put_bars(rad_bytes *to, const struct axes *a, const struct rad__load_plot_line *line)
{
    const struct rad__load_plot *p = a->plot;
    double width = (double)(WIDTH - LEFT - RIGHT) / (p->count > 0 ? p->count : 1);
    rad__bytes_format(to, "<path class=\"bar %s\" d=\"", line->colour);
    for (uint32_t i = 0; i < p->count; i++) {
        if (isnan(line->y[i]) || line->y[i] <= 0) continue;
        double x = place_x(a, p->x[i]), y = place_y(a, line->y[i]);
        double thin = width > 3 ? width - 1 : width * 0.8;
        rad__bytes_format(to, "M%.1f %dV%.1fh%.1fV%dz", x - thin / 2, HEIGHT - BOTTOM, y, thin, HEIGHT - BOTTOM);
    }
    rad__bytes_format(to, "\"/>");
}

/* One stretch between two gaps, from point `i`; returns the point after it. A point all alone becomes a dot. */
static uint32_t put_stretch(rad_bytes *to, const struct axes *a, const struct rad__load_plot_line *line, uint32_t i,
                            bool fill)
{
    const struct rad__load_plot *p = a->plot;
    uint32_t first = i;
    for (; i < p->count && !isnan(line->y[i]); i++)
        rad__bytes_format(to, "%s%.1f %.1f", i == first ? "M" : "L", place_x(a, p->x[i]), place_y(a, line->y[i]));
    if (fill)
        rad__bytes_format(to, "L%.1f %dL%.1f %dz", place_x(a, p->x[i - 1]), HEIGHT - BOTTOM, place_x(a, p->x[first]),
                          HEIGHT - BOTTOM);
    else if (i == first + 1)
        rad__bytes_format(to, "h0.1");
    return i;
}

static void put_path(rad_bytes *to, const struct axes *a, const struct rad__load_plot_line *line, bool fill)
{
    rad__bytes_format(to, "<path class=\"%s %s\" d=\"", fill ? "area" : "line", line->colour);
    for (uint32_t i = 0; i < a->plot->count;) i = isnan(line->y[i]) ? i + 1 : put_stretch(to, a, line, i, fill);
    rad__bytes_format(to, "\"/>");
}

static void put_hints(rad_bytes *to, const struct axes *a)
{
    const struct rad__load_plot *p = a->plot;
    double width = (double)(WIDTH - LEFT - RIGHT) / (p->count > 0 ? p->count : 1);
    for (uint32_t i = 0; p->hint != NULL && i < p->count; i++) {
        rad__bytes_format(to, "<rect class=\"hint\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>",
                          place_x(a, p->x[i]) - width / 2, TOP, width, HEIGHT - TOP - BOTTOM);
        p->hint(to, p->context, i);
        rad__bytes_format(to, "</title></rect>");
    }
}

void rad__load_plot_put(rad_bytes *to, const struct rad__load_plot *p)
{
    struct axes a = axes_of(p);
    rad__bytes_format(to, "<figure><figcaption><b>%s</b> <span class=\"unit\">%s</span>", p->title, p->unit);
    for (uint32_t i = 0; i < p->line_count && p->line_count > 1; i++)
        rad__bytes_format(to, "<span class=\"key %s\">%s</span>", p->lines[i].colour, p->lines[i].name);
    rad__bytes_format(to,
                      "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
                      "aria-labelledby=\"%s-t %s-d\"><title id=\"%s-t\">%s</title>"
                      "<desc id=\"%s-d\">%s</desc>\n",
                      WIDTH, HEIGHT, p->id, p->id, p->id, p->title, p->id, p->about);
    put_axes(to, &a);
    for (uint32_t i = p->line_count; i-- > 0;) { /* the first one lies on top */
        const struct rad__load_plot_line *line = &p->lines[i];
        if (line->style == RAD__LOAD_PLOT_BARS) {
            put_bars(to, &a, line);
            continue;
        }
        if (line->style == RAD__LOAD_PLOT_AREA) put_path(to, &a, line, true);
        put_path(to, &a, line, false);
    }
    put_hints(to, &a);
    rad__bytes_format(to, "</svg>\n<p class=\"about\">%s</p></figure>\n", p->about);
}
