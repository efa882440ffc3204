#include "view/canvas.h"

#include "base/alloc.h"
#include "base/readable.h"
#include "base/utf8.h"

#include <string.h>

static const char *const STYLE_ON[] = {
    [RAD_STYLE_PLAIN] = "",
    [RAD_STYLE_DIM] = "\033[2m",
    [RAD_STYLE_BOLD] = "\033[1m",
    [RAD_STYLE_DECISIVE] = "\033[1;33m",
    [RAD_STYLE_BAD] = "\033[1;31m",
    [RAD_STYLE_GOOD] = "\033[1;32m",
    [RAD_STYLE_LANE + 0] = "\033[36m",
    [RAD_STYLE_LANE + 1] = "\033[35m",
    [RAD_STYLE_LANE + 2] = "\033[34m",
    [RAD_STYLE_LANE + 3] = "\033[32m",
    [RAD_STYLE_LANE + 4] = "\033[96m",
    [RAD_STYLE_LANE + 5] = "\033[95m",
};
_Static_assert(sizeof STYLE_ON / sizeof *STYLE_ON == RAD_STYLE_LANE + RAD_STYLE_LANES, "a colour per lane");

bool rad__canvas_open(rad_canvas *c, uint32_t width, bool colour)
{
    *c = (rad_canvas){.width = width, .colour = colour};
    c->cells = rad__alloc(width, sizeof *c->cells);
    return c->cells != NULL;
}

void rad__canvas_close(rad_canvas *c)
{
    rad__free(c->cells);
    rad__bytes_free(&c->out);
    *c = (rad_canvas){.width = 0};
}

/* The size of the UTF-8 character at `text`; a stray byte counts as one. */
static size_t glyph_size(const char *text, size_t left)
{
    size_t size = rad__utf8_size(text, left);
    return size > 0 ? size : 1;
}

/* Every glyph passes the gate here: names come from machines and files that are not ours. */
static void canvas_set(rad_canvas *c, uint32_t x, const char *glyph, size_t size, uint32_t style)
{
    char shown[RAD_CHARACTER_MAX];
    size_t shown_size;
    if (x >= c->width) return;
    rad_canvas_cell *cell = &c->cells[x];
    rad__readable_character(glyph, size, RAD_READABLE_CELLS, shown, &shown_size);
    memset(cell->glyph, 0, sizeof cell->glyph);
    memcpy(cell->glyph, shown, shown_size);
    cell->style = (uint8_t)style;
}

void rad__canvas_put(rad_canvas *c, uint32_t x, const char *glyph, uint32_t style)
{
    canvas_set(c, x, glyph, glyph_size(glyph, strlen(glyph)), style);
}

void rad__canvas_text(rad_canvas *c, uint32_t x, uint32_t room, const char *text, size_t size, uint32_t style)
{
    uint32_t used = 0;
    for (size_t i = 0; i < size && text[i] && used < room;) {
        size_t n = glyph_size(text + i, size - i);
        canvas_set(c, x + used++, text + i, n, style);
        i += n;
    }
}

void rad__canvas_emit(rad_canvas *c)
{
    uint32_t end = c->width;
    while (end > 0 && (c->cells[end - 1].glyph[0] == 0 || c->cells[end - 1].glyph[0] == ' ')) end--;
    uint8_t style = RAD_STYLE_PLAIN;
    for (uint32_t x = 0; x < end; x++) {
        const rad_canvas_cell *cell = &c->cells[x];
        bool blank = cell->glyph[0] == 0 || cell->glyph[0] == ' ';
        uint8_t wanted = blank ? style : cell->style;
        if (c->colour && wanted != style) {
            const char *on = STYLE_ON[wanted];
            if (style != RAD_STYLE_PLAIN) rad__bytes_put(&c->out, "\033[0m", 4);
            rad__bytes_put(&c->out, on, strlen(on));
            style = wanted;
        }
        rad__bytes_put(&c->out, blank ? " " : cell->glyph, blank ? 1 : strlen(cell->glyph));
    }
    if (c->colour && style != RAD_STYLE_PLAIN) rad__bytes_put(&c->out, "\033[0m", 4);
    rad__bytes_put(&c->out, "\n", 1);
    memset(c->cells, 0, c->width * sizeof *c->cells);
}

uint32_t rad__columns(const char *text)
{
    uint32_t count = 0;
    for (size_t left = strlen(text); left > 0; count++) {
        size_t n = glyph_size(text, left);
        text += n;
        left -= n;
    }
    return count;
}

/* A name too long for the row is broken behind a sign in its second half, if there is one. */
static size_t break_of_name(const char *text, size_t size)
{
    for (size_t at = size; at > size / 2; at--)
        if (strchr("._:/])>", text[at - 1]) && strchr("._:/])>", text[at]) == NULL) return at;
    return size;
}

size_t rad__wrap(const char *text, uint32_t room, const char **next)
{
    size_t size = strlen(text), at = 0, word_end = 0;
    uint32_t used = 0;
    while (at < size && (used < room || at == 0)) {
        if (text[at] == ' ' && at > 0 && text[at - 1] != ' ') word_end = at;
        at += glyph_size(text + at, size - at);
        used++;
    }
    size_t taken = at;
    if (at < size && text[at] != ' ') taken = word_end > 0 ? word_end : break_of_name(text, at);
    *next = text + taken;
    while (**next == ' ') (*next)++;
    return taken;
}

void rad__canvas_paragraph(rad_canvas *c, uint32_t x, uint32_t hang, const char *text, uint32_t style)
{
    do {
        uint32_t room = x < c->width ? c->width - x : 1;
        const char *next;
        size_t size = rad__wrap(text, room, &next);
        rad__canvas_text(c, x, room, text, size, style);
        rad__canvas_emit(c);
        text = next;
        x = hang;
    } while (*text);
}
