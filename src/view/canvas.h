/* canvas.h — one row of a text picture: cells with a glyph and a style, emitted into a buffer.
 *
 * Rows are drawn from left to right and from back to front (lanes first, text over them), then emitted
 * without the blanks at their end. With colour off the bytes contain no escape sequence at all. */
#ifndef RAD_VIEW_CANVAS_H
#define RAD_VIEW_CANVAS_H

#include "base/bytes.h"

enum rad_style {
    RAD_STYLE_PLAIN = 0,
    RAD_STYLE_DIM,
    RAD_STYLE_BOLD,
    RAD_STYLE_DECISIVE,
    RAD_STYLE_BAD,
    RAD_STYLE_GOOD,
    RAD_STYLE_LANE /* + lane number modulo RAD_STYLE_LANES */
};

enum { RAD_STYLE_LANES = 6, RAD_CANVAS_WIDTH_MAX = 1000 };

typedef struct rad_canvas_cell {
    char glyph[5]; /* one UTF-8 character; "" is a blank */
    uint8_t style;
} rad_canvas_cell;

typedef struct rad_canvas {
    rad_canvas_cell *cells;
    uint32_t width;
    bool colour;
    rad_bytes out;
} rad_canvas;

RAD_INTERNAL bool rad__canvas_open(rad_canvas *c, uint32_t width, bool colour);
RAD_INTERNAL void rad__canvas_close(rad_canvas *c); /* also what was emitted */

/* Puts one glyph, or text of at most `room` columns; what lies beyond the right edge is dropped. */
RAD_INTERNAL void rad__canvas_put(rad_canvas *c, uint32_t x, const char *glyph, uint32_t style);
RAD_INTERNAL void rad__canvas_text(rad_canvas *c, uint32_t x, uint32_t room, const char *text, size_t size,
                                   uint32_t style);

/* Ends the row: appends it to `out` and clears the cells. */
RAD_INTERNAL void rad__canvas_emit(rad_canvas *c);

/* Rows of plain text, wrapped between words at the right edge; later rows are indented by `hang`. */
RAD_INTERNAL void rad__canvas_paragraph(rad_canvas *c, uint32_t x, uint32_t hang, const char *text, uint32_t style);

/* The columns a text takes: its UTF-8 characters. */
RAD_INTERNAL uint32_t rad__columns(const char *text);

/* How many bytes of `text` fit into `room` columns, breaking between words where that is possible.
 * *next is where the rest begins (blanks skipped). At least one character when there is one. */
RAD_INTERNAL size_t rad__wrap(const char *text, uint32_t room, const char **next);

#endif
