/* shape.c — boxes, arrows, texts and badges as SVG. */
#include "base/escape.h"
#include "flow/lang/text.h"
#include "flow/svg/parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Every colour twice, plainly: programs that draw SVG and are no browser know no variables. */
const char rad__draw_style[] =
    "<style>\n"
    "text { fill: #1c2128; font: 12.5px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', "
    "monospace; text-anchor: middle }\n"
    ".page { fill: #fff }\n"
    ".title { font: 600 18px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; text-anchor: start "
    "}\n"
    ".about { font: 13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; text-anchor: start; "
    "fill: #59636f }\n"
    ".name { font-weight: 600 }\n"
    ".small { font-size: 10.6px; fill: #59636f } .start { text-anchor: start }\n"
    ".e { fill: none; stroke: #66707d; stroke-width: 1.5 } .a { fill: #66707d }\n"
    ".task { fill: #e8f0fc; stroke: #3b73c4; stroke-width: 1.5 }\n"
    ".set { fill: #f3f4f6; stroke: #8a94a3 } .wait { fill: #fdf3dc; stroke: #b9861a }\n"
    ".flag { fill: #e4f5f3; stroke: #24857a } .stop { fill: #fdebe8; stroke: #c0432f }\n"
    ".stop, .flag, .wait, .act { stroke-width: 1.5 } .act { fill: #f1eafb; stroke: #7a4fb5 }\n"
    ".bar { fill: #37875a } .fork { fill: #e3f3ea; stroke: #37875a; stroke-width: 1.5 }\n"
    ".choice { fill: #fdf3dc; stroke: #b9861a; stroke-width: 1.5 } .mark { fill: none; stroke: "
    "#8a6206; stroke-width: 2 }\n"
    ".loop { fill: #f1eafb; stroke: #7a4fb5; stroke-width: 1.5 }\n"
    ".when { fill: #fff; stroke: #c3cad3 }\n"
    ".stack { fill: #fff; stroke: #9cc4ae } .region { fill: #c0432f; fill-opacity: .03; stroke: "
    "#b4543f; stroke-width: 1.5; stroke-dasharray: 6 4 }\n"
    ".lock { fill: #59636f; fill-opacity: .05; stroke: #66707d; stroke-dasharray: 2 3 }\n"
    ".cut { fill: none; stroke: #b4543f; stroke-dasharray: 2 4 }\n"
    ".tag { fill: #fff; stroke: #b4543f } .tag.locked { stroke: #66707d }\n"
    ".end { fill: #1c2128 } .ring { fill: none; stroke: #1c2128; stroke-width: 1.5 }\n"
    ".off { opacity: .35 } .off .e, .e.off { stroke-dasharray: 4 4 }\n"
    ".badge { fill: #fff; stroke-width: 1.5 } .icon { fill: none; stroke-width: 2; stroke-linecap: "
    "round }\n"
    ".done.badge, .done.icon { stroke: #1f7a43 } .waiting.badge, .waiting.icon { stroke: #1f5fb8 "
    "}\n"
    ".failed.badge, .failed.icon { stroke: #c0281a } .cancelled.badge, .cancelled.icon { stroke: "
    "#6b5b00 }\n"
    ".never.badge { stroke: #8a94a3; stroke-dasharray: 3 3 }\n"
    ".count { font-size: 11px; font-weight: 600; text-anchor: start }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e4e8ee } .page, .when, .stack, .tag, .badge { fill: #15191f }\n"
    ".about, .small { fill: #9aa5b2 } .e { stroke: #8b96a4 } .a { fill: #8b96a4 }\n"
    ".task { fill: #16263d; stroke: #6ea0ea } .set { fill: #20252c; stroke: #76818f }\n"
    ".wait, .choice { fill: #2c2410; stroke: #d6a63c } .mark { stroke: #e6bd62 }\n"
    ".flag { fill: #10292a; stroke: #4fb8ab } .stop { fill: #331a17; stroke: #ea7a66 }\n"
    ".act, .loop { fill: #251b36; stroke: #a987dd } .bar { fill: #58b582 }\n"
    ".fork { fill: #12291d; stroke: #58b582 } .when { stroke: #4a5462 } .stack { stroke: #33614a "
    "}\n"
    ".region { stroke: #d0735d } .cut, .tag { stroke: #d0735d } .lock, .tag.locked { stroke: "
    "#8b96a4 }\n"
    ".end { fill: #e4e8ee } .ring { stroke: #e4e8ee }\n"
    ".done.badge, .done.icon { stroke: #54c47f } .waiting.badge, .waiting.icon { stroke: #6ea6f2 "
    "}\n"
    ".failed.badge, .failed.icon { stroke: #f2796b } .cancelled.badge, .cancelled.icon { stroke: "
    "#cdb84a }\n"
    "}\n"
    "</style>\n";

/* ---- Texts ---------------------------------------------------------------------------------------------- */

/* Letters that mean something in XML, and bytes that must not be there, are replaced. */
static void draw_escaped(rad_bytes *out, const char *text, size_t size)
{
    rad__put_xml_text(out, text, size, RAD_READABLE_CELLS);
}

/* How many bytes the first DRAW_TEXT_MOST letters have; the whole text if there are no more. */
static size_t cut_off(const char *text)
{
    size_t size = 0, last = 0;
    for (uint32_t letters = 0; text[size] != 0; letters++) {
        if (letters == DRAW_TEXT_MOST) return last;
        if (letters == DRAW_TEXT_MOST - 1) last = size;
        size++;
        while (((unsigned char)text[size] & 0xc0) == 0x80) size++;
    }
    return size;
}

void rad__draw_text(drawing *d, const char *class, int64_t x, int64_t y, const char *text)
{
    size_t size = cut_off(text);
    rad__bytes_format(&d->out, "<text class=\"%s\" x=\"%" PRId64 "\" y=\"%" PRId64 "\">", class, x, y);
    draw_escaped(&d->out, text, size);
    rad__bytes_format(&d->out, "%s</text>\n", text[size] != 0 ? "\xe2\x80\xa6" : "");
}

void rad__draw_line(drawing *d, const char *class, int64_t x, int64_t y, const char *text)
{
    rad__bytes_format(&d->out, "<text class=\"%s\" x=\"%" PRId64 "\" y=\"%" PRId64 "\">", class, x, y);
    draw_escaped(&d->out, text, strlen(text));
    rad__bytes_format(&d->out, "</text>\n");
}

/* ---- Shapes --------------------------------------------------------------------------------------------- */

void rad__draw_rect(drawing *d, const char *class, int64_t x, int64_t y, int64_t width, int64_t height, int64_t round)
{
    rad__bytes_format(&d->out,
                      "<rect class=\"%s\" x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%" PRId64 "\" height=\"%" PRId64
                      "\" rx=\"%" PRId64 "\"/>\n",
                      class, x, y, width, height, round);
}

void rad__draw_path(drawing *d, const char *class, const char *format, ...)
{
    char path[400];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    RAD_ASSERT(length > 0 && (size_t)length < sizeof path);
    rad__bytes_format(&d->out, "<path class=\"%s\" d=\"%s\"/>\n", class, path);
}

void rad__draw_arrow(drawing *d, const char *class, int64_t x, int64_t y, int64_t to)
{
    bool is_off = strstr(class, "off") != NULL;
    rad__draw_path(d, class, "M%" PRId64 " %" PRId64 "V%" PRId64, x, y, to - 6);
    rad__draw_path(d, is_off ? "a off" : "a", "M%" PRId64 " %" PRId64 "l-4 -8h8z", x, to);
}

void rad__draw_head_right(drawing *d, const char *class, int64_t x, int64_t y)
{
    bool is_off = strstr(class, "off") != NULL;
    rad__draw_path(d, is_off ? "a off" : "a", "M%" PRId64 " %" PRId64 "l-8 -4v8z", x, y);
}

enum { BADGE_OVER = 12 }; /* how far it lies over its box */

/* ---- Runs ----------------------------------------------------------------------------------------------- */

static const char *const STATES[RAD_VISITS] = {"never", "done", "waiting", "failed", "cancelled"};

static void put_visit(drawing *d, const rad_flow_visit *v)
{
    rad__bytes_format(&d->out, "\n%s", STATES[v->state]);
    if (v->state == RAD_VISIT_NEVER) return;
    rad__bytes_format(&d->out, ", %" PRIu64 " time%s", v->times, v->times == 1 ? "" : "s");
    if (v->cancelled > 0) rad__bytes_format(&d->out, ", cancelled %" PRIu64, v->cancelled);
    rad__bytes_format(&d->out, ", step%s %" PRIu64, v->first == v->last ? "" : "s", v->first);
    if (v->first != v->last) rad__bytes_format(&d->out, " to %" PRIu64, v->last);
}

void rad__draw_open(drawing *d, const rad_flow_statement *s)
{
    const rad_flow_visit *v = d->visits != NULL ? &d->visits[s->number] : NULL;
    rad__bytes_format(&d->out, "<g id=\"s%u\"%s><title>line %u: ", s->number,
                      v != NULL && v->state == RAD_VISIT_NEVER ? " class=\"off\"" : "", s->place.line);
    d->scratch.size = 0;
    rad__flow_statement_text(&d->scratch, d->file, d->tree, s);
    if (!d->scratch.failed) draw_escaped(&d->out, (const char *)d->scratch.data, d->scratch.size);
    if (s->kind == RAD_FLOW_DO) {
        const rad_flow_task *t = &d->tree->tasks[s->name];
        const char *command = rad__flow_name(d->file, t->command);
        rad__bytes_format(&d->out, t->is_call ? "\ncall " : "\nrun ");
        draw_escaped(&d->out, command, strlen(command));
    }
    if (v != NULL) put_visit(d, v);
    rad__bytes_format(&d->out, "</title>\n");
}

void rad__draw_close(drawing *d)
{
    rad__bytes_format(&d->out, "</g>\n");
}

/* A tick, dots, a cross, a struck circle: the state does not hang on a colour. Around (x, y), 10 by 10. */
static void draw_icon(drawing *d, enum rad_flow_visited state, int64_t x, int64_t y)
{
    char class[24];
    snprintf(class, sizeof class, "%s icon", STATES[state]);
    if (state == RAD_VISIT_DONE) rad__draw_path(d, class, "M%" PRId64 " %" PRId64 "l3 4l6 -7", x - 4, y);
    if (state == RAD_VISIT_FAILED) rad__draw_path(d, class, "M%" PRId64 " %" PRId64 "l8 8m0 -8l-8 8", x - 4, y - 4);
    if (state == RAD_VISIT_WAITING) rad__draw_path(d, class, "M%" PRId64 " %" PRId64 "h.1m4 0h.1m4 0h.1", x - 4, y);
    if (state == RAD_VISIT_CANCELLED)
        rad__draw_path(d, class,
                       "M%" PRId64 " %" PRId64 "a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0m1.4 3.2l6.2 "
                       "-6.4",
                       x - 4, y);
}

static int64_t badge_width(const char *text)
{
    return 23 + rad__draw_text_width(text, 70);
}

/* In which order, and how often: "3", "3 ×2". Empty: no badge. */
static void badge_text(const drawing *d, const rad_flow_statement *s, char text[48])
{
    text[0] = 0;
    if (d->visits == NULL || d->visits[s->number].state == RAD_VISIT_NEVER) return;
    const rad_flow_visit *v = &d->visits[s->number];
    if (v->times > 1)
        snprintf(text, 48, "%u \xc3\x97%" PRIu64, v->order, v->times);
    else
        snprintf(text, 48, "%u", v->order);
}

int64_t rad__draw_badge_room(const drawing *d, const rad_flow_statement *s)
{
    char text[48];
    badge_text(d, s, text);
    return text[0] != 0 ? badge_width(text) - BADGE_OVER : 0;
}

static void draw_one_badge(drawing *d, enum rad_flow_visited state, const char *text, int64_t left, int64_t y)
{
    char class[24];
    snprintf(class, sizeof class, "%s badge", STATES[state]);
    int64_t width = badge_width(text);
    rad__draw_rect(d, class, left, y - 9, width, 18, 9);
    draw_icon(d, state, left + 11, y);
    rad__draw_text(d, "count", left + 19, y + 4, text);
}

void rad__draw_badge(drawing *d, const rad_flow_statement *s, int64_t right, int64_t top)
{
    char text[48];
    badge_text(d, s, text);
    if (text[0] != 0) draw_one_badge(d, d->visits[s->number].state, text, right - BADGE_OVER, top);
}

void rad__draw_legend(drawing *d, int64_t x, int64_t y)
{
    static const char *const says[RAD_VISITS] = {"", "done", "waiting", "failed", "cancelled"};
    for (unsigned i = RAD_VISIT_DONE; i < RAD_VISITS; i++) {
        draw_one_badge(d, (enum rad_flow_visited)i, "", x, y);
        rad__draw_text(d, "small start", x + 28, y + 4, says[i]);
        x += 44 + (int64_t)strlen(says[i]) * 7;
    }
    rad__bytes_format(&d->out, "<g class=\"off\">\n");
    rad__draw_rect(d, "task", x, y - 8, 26, 16, 4);
    rad__bytes_format(&d->out, "</g>\n");
    rad__draw_text(d, "small start", x + 32, y + 4, "never visited");
    x += 44 + 13 * 7;
    draw_one_badge(d, RAD_VISIT_DONE,
                   "3 \xc3\x97"
                   "2",
                   x, y);
    rad__draw_text(d, "small start", x + 56, y + 4, "third to begin, twice");
}
