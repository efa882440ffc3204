/* parts.h — what the files of the drawing share.
 *
 *     size.c   how much room everything takes
 *     shape.c  boxes, bars, arrows, texts
 *     draw.c        where they go
 *
 * Every statement has an axis: it is entered at the top of it and left at the bottom. A block is its statements below
 * each other on one axis; branches are blocks beside each other, each with its own. So a statement's room is what it
 * takes to the left and to the right of its axis, and its height; two walks do: one that measures, one that draws. */
#ifndef RAD_FLOW_SVG_PARTS_H
#define RAD_FLOW_SVG_PARTS_H

#include "base/bytes.h"
#include "flow/svg/draw.h"

enum {
    DRAW_MARGIN = 28,
    DRAW_STEP = 24,   /* between statements */
    DRAW_COLUMN = 28, /* between branches */
    DRAW_PAD = 14,    /* inside frames */
    DRAW_TAG = 22,    /* the name of a frame */
    DRAW_LINE = 28,   /* a box with one line of text */
    DRAW_PILL = 22,   /* the head or foot of a fork, the condition of a branch */
    DRAW_DIAMOND = 30,
    DRAW_MERGE = 22,    /* where branches come together without a bar */
    DRAW_LOOP = 24,     /* beside a loop, for its way back */
    DRAW_TEXT_MOST = 44 /* letters; the rest is in the tooltip */
};

/* Of fixed width fonts, in tenths of a pixel: 0.602 em. */
enum { DRAW_LETTER = 75, DRAW_SMALL_LETTER = 64 };

typedef struct draw_room {
    int64_t left, right, height;
} draw_room;

typedef struct drawing {
    const rad_flow_file *file;
    const rad_flow_tree *tree;
    const rad_flow_visit *visits; /* or NULL */
    draw_room *rooms;             /* by statement */
    rad_bytes out;
    rad_bytes scratch; /* the last label */
} drawing;

/* ---- size.c ---------------------------------------------------------------------------------------- */

static inline int64_t draw_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

RAD_INTERNAL bool rad__draw_is_wait(const rad_flow_statement *s);

/* Up to DRAW_TEXT_MOST letters of it; how wide they are. */
RAD_INTERNAL int64_t rad__draw_text_width(const char *text, int64_t letter);

/* What is written into a box, a head, a tag, or on a branch. It is in `scratch`: valid until the next one. */
RAD_INTERNAL const char *rad__draw_label(drawing *d, const rad_flow_statement *s);
RAD_INTERNAL const char *rad__draw_branch_label(drawing *d, const rad_flow_statement *s, uint32_t i);
RAD_INTERNAL const char *rad__draw_detail(drawing *d, const rad_flow_task *t);
RAD_INTERNAL const char *rad__draw_handler_label(drawing *d, const rad_flow_statement *s, bool is_failure);
RAD_INTERNAL const char *rad__draw_join_label(drawing *d, const rad_flow_statement *s);

/* Of a box, head or foot on the axis. */
RAD_INTERNAL draw_room rad__draw_box_room(drawing *d, const rad_flow_statement *s);
RAD_INTERNAL draw_room rad__draw_block_room(drawing *d, const rad_flow_block *block);
/* The block of a branch with its label above. */
RAD_INTERNAL draw_room rad__draw_column_room(drawing *d, const rad_flow_statement *s, uint32_t i);
RAD_INTERNAL draw_room rad__draw_handler_room(drawing *d, const rad_flow_statement *s, bool is_failure);
/* All columns beside each other; the axis is that of the one in the middle, or between the two. */
RAD_INTERNAL draw_room rad__draw_row_room(drawing *d, const rad_flow_statement *s);

/* Fills in rooms; returns that of the body. */
RAD_INTERNAL draw_room rad__draw_measure(drawing *d);

/* ---- shape.c --------------------------------------------------------------------------------------- */

/* Around x, its baseline at y; cut off behind DRAW_TEXT_MOST letters. */
RAD_INTERNAL void rad__draw_text(drawing *d, const char *class, int64_t x, int64_t y, const char *text);
RAD_INTERNAL void rad__draw_rect(drawing *d, const char *class, int64_t x, int64_t y, int64_t width, int64_t height,
                                 int64_t round);
/* The same from x on, whole. */
RAD_INTERNAL void rad__draw_line(drawing *d, const char *class, int64_t x, int64_t y, const char *text);
/* From (x, y) down to `to`, with an arrowhead. */
RAD_INTERNAL void rad__draw_arrow(drawing *d, const char *class, int64_t x, int64_t y, int64_t to);
RAD_INTERNAL void rad__draw_path(drawing *d, const char *class, const char *format, ...) RAD_PRINTF(3, 4);
RAD_INTERNAL void rad__draw_head_right(drawing *d, const char *class, int64_t x, int64_t y);

/* Begins the group of a statement: its tooltip, and how the run left it. */
RAD_INTERNAL void rad__draw_open(drawing *d, const rad_flow_statement *s);
RAD_INTERNAL void rad__draw_close(drawing *d);

/* How far the badge of a statement goes beyond its box. */
RAD_INTERNAL int64_t rad__draw_badge_room(const drawing *d, const rad_flow_statement *s);

/* The order number and the state, at the upper right corner of its box. */
RAD_INTERNAL void rad__draw_badge(drawing *d, const rad_flow_statement *s, int64_t right, int64_t top);
RAD_INTERNAL void rad__draw_legend(drawing *d, int64_t x, int64_t y);
enum { DRAW_LEGEND_WIDTH = 690, DRAW_LEGEND_HEIGHT = 60 };

RAD_INTERNAL extern const char rad__draw_style[];

#endif
