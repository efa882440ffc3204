/* svg.c — a protocol as a sequence diagram, in SVG: a lane for each role, time runs downwards.
 *
 * Two walks over the statements, in the same order. The first one measures: how wide the gaps between lanes have to be
 * so that no label touches a lane (a label lies in the gap next to its sender), and which lanes a frame (choice, loop,
 * par) has to span. Then places are known, and the second one draws.
 *
 * Text is measured as letters of fixed width, and messages are set in such a font: what fits here fits everywhere. */
#include "session/lang/program.h"

#include "base/alloc.h"
#include "base/escape.h"

#include <string.h>

enum {
    MARGIN = 24,
    LETTER = 8,       /* of messages, 13 px: 0.602 em in all common fonts of fixed width */
    NAME_LETTER = 10, /* of roles, 14 px bold: wider than most */
    LANE_PAD = 28,    /* between a label and the lanes */
    TOP = 64,         /* where heads of lanes are; the title is above */
    HEAD = 32,
    ROW = 38,
    NOTE = 34,
    FRAME_TOP = 34,
    FRAME_INSET = 38, /* from the outermost lane to the frame: there is room for "and" */
    FRAME_STEP = 8,   /* more for each frame inside */
    FRAME_BOTTOM = 12,
    SEPARATOR = 26,
    CONTINUE = 34,
    TAG = 20
};

typedef struct frame {
    const rad_global *what;
    uint32_t parent;   /* or RAD_NONE */
    uint32_t from, to; /* lanes; RAD_NONE: none yet */
    int64_t inset;     /* from its outermost lanes to its sides */
    int64_t need;      /* width, for its texts */
    int64_t left, right, top, bottom;
} frame;

typedef struct drawing {
    const rad_protocols *all;
    const rad_global_protocol *g;
    int64_t *lanes; /* x */
    int64_t *gaps;  /* gaps[i] is left of lane i, and the last one right of the last lane */
    frame *frames;  /* in the order of their beginnings */
    uint32_t frame_count, frame_capacity, next_frame;
    uint32_t open; /* the frame around, or RAD_NONE */
    int64_t y, width;
    rad_bytes front; /* what is in front of lanes and frames */
    bool failed;
} drawing;

/* ---- Texts ----------------------------------------------------------------------------------------------- */

static void put_escaped(rad_bytes *out, const char *text)
{
    rad__put_xml_text(out, text, strlen(text), RAD_READABLE_CELLS);
}

static void message_text(const drawing *d, const rad_global *m, rad_bytes *out)
{
    rad__bytes_format(out, "%s", rad__text_of(d->all, m->label));
    for (uint32_t i = 0; i < m->signature.count; i++) {
        rad__bytes_format(out, "%s", i ? ", " : "(");
        if (m->fields[i].name != RAD_NONE) rad__bytes_format(out, "%s: ", rad__text_of(d->all, m->fields[i].name));
        rad__bytes_format(out, "%s", rad__type_name((enum rad_type)m->signature.types[i]));
    }
    if (m->signature.count > 0) rad__bytes_put(out, ")", 1);
    rad__bytes_put(out, "", 1);
}

static void text_done(drawing *d, rad_bytes *text)
{
    d->failed |= text->failed;
    rad__bytes_free(text);
}

static int64_t message_width(drawing *d, const rad_global *m)
{
    rad_bytes text = {0};
    message_text(d, m, &text);
    int64_t width = text.size > 0 ? (int64_t)(text.size - 1) * LETTER : 0;
    text_done(d, &text);
    return width;
}

static void tag_text(const drawing *d, const rad_global *g, rad_bytes *out)
{
    if (g->kind == RAD_GLOBAL_CHOICE)
        rad__bytes_format(out, "choice at %s", d->g->roles[g->from]);
    else if (g->kind == RAD_GLOBAL_LOOP)
        rad__bytes_format(out, "loop %s", g->loop_name);
    else
        rad__bytes_format(out, "par");
    rad__bytes_put(out, "", 1);
}

static const char *text_of(const rad_bytes *b)
{
    return b->failed ? "" : (const char *)b->data;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

static void need_gap(drawing *d, uint32_t gap, int64_t width)
{
    if (d->gaps[gap] < width) d->gaps[gap] = width;
}

static void span(drawing *d, uint32_t lane)
{
    if (d->open == RAD_NONE) return;
    frame *f = &d->frames[d->open];
    if (f->from == RAD_NONE || lane < f->from) f->from = lane;
    if (f->to == RAD_NONE || lane > f->to) f->to = lane;
}

/* The frame around. */
static void widen(drawing *d, int64_t inset)
{
    if (d->open != RAD_NONE && d->frames[d->open].inset < inset) d->frames[d->open].inset = inset;
}

static void measure_list(drawing *d, const rad_global *list);

static void measure_frame(drawing *d, const rad_global *g)
{
    if (!RAD_GROW(&d->frames, &d->frame_capacity, d->frame_count + 1)) {
        d->failed = true;
        return;
    }
    rad_bytes tag = {0};
    tag_text(d, g, &tag);
    uint32_t me = d->frame_count++, outer = d->open;
    d->frames[me] = (frame){.what = g, .parent = outer, .from = RAD_NONE, .to = RAD_NONE, .inset = FRAME_INSET};
    d->frames[me].need = (int64_t)tag.size * LETTER + 48;
    text_done(d, &tag);
    d->open = me;
    if (g->kind == RAD_GLOBAL_CHOICE) span(d, g->from);
    for (uint32_t i = 0; i < g->block_count && !d->failed; i++) measure_list(d, g->blocks[i]);
    d->open = outer;
    frame *f = &d->frames[me];
    if (f->from == RAD_NONE) f->from = f->to = 0;
    span(d, f->from);
    span(d, f->to);
    need_gap(d, f->from, f->inset + 12);
    need_gap(d, f->to + 1, f->inset + 12);
    widen(d, f->inset + FRAME_STEP);
}

static void measure_one(drawing *d, const rad_global *g)
{
    int64_t width;
    switch (g->kind) {
    case RAD_GLOBAL_MESSAGE:
        need_gap(d, g->from < g->to ? g->from + 1 : g->from, message_width(d, g) + LANE_PAD);
        span(d, g->from);
        span(d, g->to);
        break;
    case RAD_GLOBAL_DOES:
        width = (int64_t)strlen(rad__text_of(d->all, g->label)) * LETTER + 24;
        need_gap(d, g->from, width / 2 + 12);
        need_gap(d, g->from + 1, width / 2 + 12);
        widen(d, width / 2 + 8);
        span(d, g->from);
        break;
    case RAD_GLOBAL_CONTINUE:
        width = ((int64_t)strlen(g->loop->loop_name) + 11) * LETTER + 48;
        if (d->frames[d->open].need < width) d->frames[d->open].need = width; /* of its loop, or inside */
        break;
    case RAD_GLOBAL_CHOICE:
    case RAD_GLOBAL_LOOP:
    case RAD_GLOBAL_PAR: measure_frame(d, g); break;
    }
}

static void measure_list(drawing *d, const rad_global *list)
{
    for (const rad_global *g = list; g != NULL && !d->failed; g = g->next) measure_one(d, g);
}

static int64_t head_width(const drawing *d, uint32_t role)
{
    return (int64_t)strlen(d->g->roles[role]) * NAME_LETTER + 32;
}

/* From gaps to places; inner frames come after outer ones, so their places are known first. */
static void place(drawing *d)
{
    uint32_t count = d->g->role_count;
    for (uint32_t i = 0; i < count; i++) {
        int64_t half = head_width(d, i) / 2;
        int64_t before = i ? head_width(d, i - 1) / 2 + 20 : 0;
        need_gap(d, i, half + before);
    }
    need_gap(d, count, head_width(d, count - 1) / 2);
    int64_t x = MARGIN;
    for (uint32_t i = 0; i < count; i++) d->lanes[i] = x += d->gaps[i];
    d->width = x + d->gaps[count] + MARGIN;
    for (uint32_t i = d->frame_count; i-- > 0;) {
        frame *f = &d->frames[i];
        f->left = d->lanes[f->from] - f->inset;
        f->right = most(f->right, most(d->lanes[f->to] + f->inset, f->left + f->need));
        if (f->parent != RAD_NONE) d->frames[f->parent].right = most(d->frames[f->parent].right, f->right + FRAME_STEP);
        d->width = most(d->width, f->right + MARGIN);
    }
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static void draw_text(rad_bytes *out, const char *class, int64_t x, int64_t y, const char *text)
{
    rad__bytes_format(out, "<text class=\"%s\" x=\"%lld\" y=\"%lld\">", class, (long long)x, (long long)y);
    put_escaped(out, text);
    rad__bytes_format(out, "</text>\n");
}

static void draw_rect(rad_bytes *out, const char *class, int64_t x, int64_t y, int64_t width, int64_t height, int round)
{
    rad__bytes_format(out, "<rect class=\"%s\" x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" rx=\"%d\"/>\n",
                      class, (long long)x, (long long)y, (long long)width, (long long)height, round);
}

static void draw_message(drawing *d, const rad_global *g)
{
    bool right = g->from < g->to;
    int64_t from = d->lanes[g->from], to = d->lanes[g->to], beside = d->lanes[right ? g->from + 1 : g->from - 1];
    int64_t tip = to + (right ? -1 : 1), back = to + (right ? -10 : 10), y = d->y + 26;
    rad_bytes text = {0};
    message_text(d, g, &text);
    draw_text(&d->front, "m", (from + beside) / 2, d->y + 18, text_of(&text));
    text_done(d, &text);
    rad__bytes_format(&d->front,
                      "<path class=\"a\" d=\"M%lld %lldH%lld\"/>"
                      "<path class=\"h\" d=\"M%lld %lldL%lld %lldL%lld %lldZ\"/>\n",
                      (long long)from, (long long)y, (long long)back, (long long)tip, (long long)y, (long long)back,
                      (long long)y - 4, (long long)back, (long long)y + 4);
    rad__bytes_format(&d->front, "<circle class=\"h\" cx=\"%lld\" cy=\"%lld\" r=\"2.5\"/>\n", (long long)from,
                      (long long)y);
    d->y += ROW;
}

static void draw_does(drawing *d, const rad_global *g)
{
    const char *what = rad__text_of(d->all, g->label);
    int64_t width = (int64_t)strlen(what) * LETTER + 20, x = d->lanes[g->from];
    draw_rect(&d->front, "n", x - width / 2, d->y + 5, width, 24, 4);
    draw_text(&d->front, "m", x, d->y + 21, what);
    d->y += NOTE;
}

static void draw_continue(drawing *d, const rad_global *g)
{
    const frame *f = &d->frames[d->open];
    int64_t width = ((int64_t)strlen(g->loop->loop_name) + 11) * LETTER + 20;
    int64_t middle = (f->left + f->right) / 2;
    rad_bytes text = {0};
    rad__bytes_format(&text, "\xe2\x86\xba continue %s", g->loop->loop_name);
    rad__bytes_put(&text, "", 1);
    draw_rect(&d->front, "c", middle - width / 2, d->y + 5, width, 22, 11);
    draw_text(&d->front, "ct", middle, d->y + 20, text_of(&text));
    text_done(d, &text);
    d->y += CONTINUE;
}

static void draw_list(drawing *d, const rad_global *list);

static const char *frame_class(const rad_global *g)
{
    return g->kind == RAD_GLOBAL_CHOICE ? "choice" : g->kind == RAD_GLOBAL_LOOP ? "loop" : "par";
}

static void draw_tag(drawing *d, const frame *f)
{
    rad_bytes tag = {0}, class = {0};
    tag_text(d, f->what, &tag);
    int64_t width = (int64_t)(tag.size - !tag.failed) * LETTER + 16;
    rad__bytes_format(&d->front, "<path class=\"%s tag\" d=\"M%lld %lldh%lldv%dl-7 7H%lldz\"/>\n", frame_class(f->what),
                      (long long)f->left, (long long)f->top, (long long)width, TAG - 7, (long long)f->left);
    rad__bytes_format(&class, "t %s", frame_class(f->what));
    rad__bytes_put(&class, "", 1);
    draw_text(&d->front, text_of(&class), f->left + 7, f->top + 14, text_of(&tag));
    text_done(d, &tag);
    text_done(d, &class);
}

static void draw_frame(drawing *d, const rad_global *g)
{
    uint32_t me = d->next_frame++, outer = d->open;
    frame *f = &d->frames[me];
    d->open = me;
    f->top = d->y + 6;
    d->y += FRAME_TOP;
    draw_tag(d, f);
    for (uint32_t i = 0; i < g->block_count; i++) {
        if (i > 0) {
            int64_t y = d->y + 6;
            rad__bytes_format(&d->front, "<path class=\"%s cut\" d=\"M%lld %lldH%lld\"/>\n", frame_class(g),
                              (long long)f->left, (long long)y, (long long)f->right);
            rad__bytes_format(&d->front, "<text class=\"t %s\" x=\"%lld\" y=\"%lld\">%s</text>\n", frame_class(g),
                              (long long)f->left + 7, (long long)y + 15, g->kind == RAD_GLOBAL_CHOICE ? "or" : "and");
            d->y += SEPARATOR;
        }
        draw_list(d, g->blocks[i]);
    }
    d->y += FRAME_BOTTOM;
    f->bottom = d->y;
    d->y += 8;
    d->open = outer;
}

static void draw_list(drawing *d, const rad_global *list)
{
    for (const rad_global *g = list; g != NULL; g = g->next) switch (g->kind) {
        case RAD_GLOBAL_MESSAGE: draw_message(d, g); break;
        case RAD_GLOBAL_DOES: draw_does(d, g); break;
        case RAD_GLOBAL_CONTINUE: draw_continue(d, g); break;
        case RAD_GLOBAL_CHOICE:
        case RAD_GLOBAL_LOOP:
        case RAD_GLOBAL_PAR: draw_frame(d, g); break;
        }
}

/* ---- The picture ----------------------------------------------------------------------------------------- */

static const char STYLE[] =
    "<style>\n"
    "text { fill: #1c2128; font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', "
    "monospace }\n"
    ".title { font: 600 18px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif }\n"
    ".role { font: 600 14px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; text-anchor: middle "
    "}\n"
    ".head { fill: #eceff3; stroke: #8a94a3 }\n"
    ".lane { stroke: #c5ccd6; stroke-width: 1.5 }\n"
    ".m { text-anchor: middle }\n"
    ".a { stroke: #30363f; stroke-width: 1.5; fill: none } .h { fill: #30363f }\n"
    ".n { fill: #fff6cf; stroke: #c9a93c }\n"
    ".c { fill: #e3edfb; stroke: #3b73c4 } .ct { fill: #2a5aa3; text-anchor: middle }\n"
    ".part { fill: #eceff3 } .pt { font-weight: bold }\n"
    ".frame { stroke-width: 1.25; fill-opacity: .6 } .cut { fill: none; stroke-dasharray: 5 4 }\n"
    ".choice { fill: #fdf5e3; stroke: #bf8a1d } .loop { fill: #edf4fd; stroke: #3b73c4 }\n"
    ".par { fill: #ecf7f0; stroke: #37875a }\n"
    ".choice.tag { fill: #f9e5b5 } .loop.tag { fill: #d3e3fa } .par.tag { fill: #cdebd9 }\n"
    ".t { stroke: none } .t.choice { fill: #73500b } .t.loop { fill: #24508f } .t.par { fill: "
    "#1f5a3a }\n"
    "</style>\n";

static void draw_heads(drawing *d, rad_bytes *out, int64_t y)
{
    for (uint32_t i = 0; i < d->g->role_count; i++) {
        int64_t width = head_width(d, i);
        draw_rect(out, "head", d->lanes[i] - width / 2, y, width, HEAD, 6);
        draw_text(out, "role", d->lanes[i], y + 21, d->g->roles[i]);
    }
}

/* What is behind comes first: frames, lanes, then everything else. */
static void assemble(drawing *d, rad_bytes *out)
{
    const char *name = rad__text_of(d->all, d->g->name);
    int64_t bottom = d->y + 12, height = bottom + HEAD + MARGIN;
    int64_t title = (int64_t)strlen(name) * 13 + 2 * MARGIN;
    d->width = most(d->width, title);
    rad__bytes_format(out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
                      "viewBox=\"0 0 %lld %lld\" role=\"img\">\n<title>",
                      (long long)d->width, (long long)height, (long long)d->width, (long long)height);
    put_escaped(out, name);
    rad__bytes_put(out, "</title>\n", 9);
    rad__bytes_put(out, STYLE, sizeof STYLE - 1);
    rad__bytes_format(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    draw_text(out, "title", MARGIN, 36, name);
    for (uint32_t i = 0; i < d->frame_count; i++) {
        const frame *f = &d->frames[i];
        rad__bytes_format(out,
                          "<rect class=\"%s frame\" x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
                          "rx=\"3\"/>\n",
                          frame_class(f->what), (long long)f->left, (long long)f->top, (long long)(f->right - f->left),
                          (long long)(f->bottom - f->top));
    }
    for (uint32_t i = 0; i < d->g->role_count; i++)
        rad__bytes_format(out, "<path class=\"lane\" d=\"M%lld %dV%lld\"/>\n", (long long)d->lanes[i], TOP + HEAD,
                          (long long)bottom);
    draw_heads(d, out, TOP);
    draw_heads(d, out, bottom);
    rad__bytes_put(out, d->front.data, d->front.size);
    rad__bytes_format(out, "</svg>\n");
    rad__bytes_put(out, "", 1);
}

static void draw_part(drawing *d, uint32_t role)
{
    rad_bytes text = {0};
    rad__bytes_format(&text, "the part of %s", d->g->roles[role]);
    rad__bytes_put(&text, "", 1);
    draw_rect(&d->front, "part", MARGIN, d->y + 8, d->width - 2 * MARGIN, 24, 4);
    draw_text(&d->front, "pt", MARGIN + 10, d->y + 25, text_of(&text));
    text_done(d, &text);
    d->y += 40;
    draw_list(d, d->g->role_bodies[role]);
}

static void draw_all(drawing *d)
{
    measure_list(d, d->g->body);
    for (uint32_t i = 0; i < d->g->role_count; i++) measure_list(d, d->g->role_bodies[i]);
    if (d->failed) return;
    place(d);
    d->y = TOP + HEAD + 8;
    draw_list(d, d->g->body);
    for (uint32_t i = 0; d->g->is_locals && i < d->g->role_count; i++) draw_part(d, i);
}

char *rad_protocol_svg(const rad_protocols *p, uint32_t protocol)
{
    drawing d = {.all = p, .g = &rad__protocol(p, protocol)->types.global, .open = RAD_NONE};
    rad_bytes out = {0};
    d.lanes = rad__alloc(d.g->role_count, sizeof *d.lanes);
    d.gaps = rad__alloc(d.g->role_count + 1, sizeof *d.gaps);
    d.failed = d.lanes == NULL || d.gaps == NULL;
    if (!d.failed) draw_all(&d);
    d.failed |= d.front.failed;
    if (!d.failed) assemble(&d, &out);
    rad__free(d.lanes);
    rad__free(d.gaps);
    rad__free(d.frames);
    rad__bytes_free(&d.front);
    if (!d.failed && !out.failed) return (char *)out.data;
    rad__bytes_free(&out);
    return NULL;
}
