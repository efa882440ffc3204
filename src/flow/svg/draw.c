/* draw.c — where everything goes. See parts.h. */
#include "flow/svg/draw.h"

#include "base/alloc.h"
#include "flow/svg/parts.h"

#include <inttypes.h>
#include <string.h>

#define AT "%" PRId64 " %" PRId64
#define N  "%" PRId64

static void draw_block(drawing *d, const rad_flow_block *block, int64_t x, int64_t y);

/* ---- What a run has done -------------------------------------------------------------------------------- */

static bool was_visited(const drawing *d, const rad_flow_statement *s)
{
    return d->visits == NULL || s == NULL || d->visits[s->number].state != RAD_VISIT_NEVER;
}

/* Whether somebody went on behind it. */
static bool was_passed(const drawing *d, const rad_flow_statement *s)
{
    if (d->visits == NULL || s == NULL) return true;
    const rad_flow_visit *v = &d->visits[s->number];
    return v->state == RAD_VISIT_DONE || v->times > v->cancelled + 1;
}

static const char *edge(bool taken)
{
    return taken ? "e" : "e off";
}

static const rad_flow_statement *last_of(const rad_flow_block *block)
{
    const rad_flow_statement *s = block->first;
    while (s != NULL && s->next != NULL) s = s->next;
    return s;
}

/* Nobody comes out behind it. */
static bool ends_here(const rad_flow_block *block);

static bool is_end(const rad_flow_statement *s)
{
    if (s->kind == RAD_FLOW_BLOCK) return ends_here(&s->branches[0].block);
    return s->kind == RAD_FLOW_FINISH || s->kind == RAD_FLOW_FAIL ||
           (s->kind == RAD_FLOW_CANCEL && s->scope == RAD_FLOW_PART_CASE);
}

static bool ends_here(const rad_flow_block *block)
{
    const rad_flow_statement *s = last_of(block);
    return s != NULL && is_end(s);
}

/* An arrowhead points at a box; what begins with a line of its own has none. */
static bool begins_with_a_line(const rad_flow_statement *s)
{
    if (s == NULL) return true;
    if (s->kind == RAD_FLOW_BLOCK) return begins_with_a_line(s->branches[0].block.first);
    return s->kind == RAD_FLOW_REGION || s->kind == RAD_FLOW_LOCK || s->kind == RAD_FLOW_REPEAT;
}

/* From (x, y) down to a statement at `to`. */
static void draw_into(drawing *d, bool taken, const rad_flow_statement *s, int64_t x, int64_t y, int64_t to)
{
    if (begins_with_a_line(s))
        rad__draw_path(d, edge(taken), "M" AT "V" N, x, y, to);
    else
        rad__draw_arrow(d, edge(taken), x, y, to);
}

/* ---- Boxes ---------------------------------------------------------------------------------------------- */

static void draw_task(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    const rad_flow_task *t = &d->tree->tasks[s->name];
    draw_room room = rad__draw_box_room(d, s);
    bool is_anonymous = t->is_anonymous;
    rad__draw_rect(d, "task", x - room.left, y, room.left + room.right, room.height, 6);
    rad__draw_text(d, is_anonymous ? "" : "name", x, y + 19, rad__draw_label(d, s));
    int64_t line = y + 33;
    if (!is_anonymous) rad__draw_text(d, "small", x, line, rad__flow_name(d->file, t->command));
    if (!is_anonymous) line += 14;
    const char *detail = rad__draw_detail(d, t);
    if (detail[0] != 0) rad__draw_text(d, "small", x, line, detail);
}

static const char *box_class(const rad_flow_statement *s)
{
    switch (s->kind) {
    case RAD_FLOW_SET: return "set";
    case RAD_FLOW_DEFER: return "wait";
    case RAD_FLOW_REACH:
    case RAD_FLOW_EXPIRE:
    case RAD_FLOW_AWAIT: return "flag";
    case RAD_FLOW_CANCEL:
    case RAD_FLOW_FINISH:
    case RAD_FLOW_FAIL: return "stop";
    case RAD_FLOW_LOOP:
    case RAD_FLOW_WHILE:
    case RAD_FLOW_REPEAT: return "loop";
    case RAD_FLOW_PAR:
    case RAD_FLOW_OR:
    case RAD_FLOW_INTERLEAVE:
    case RAD_FLOW_MANY: return "fork";
    default: return "act";
    }
}

/* Loops are hexagons, milestones flags; all else is round, and data is not. */
static void draw_outline(drawing *d, const rad_flow_statement *s, draw_room room, int64_t x, int64_t y)
{
    const char *class = box_class(s);
    int64_t left = x - room.left, right = x + room.right, half = room.height / 2;
    if (strcmp(class, "loop") == 0)
        rad__draw_path(d, class, "M" AT "L" AT "H" N "L" AT "L" AT "H" N "Z", left, y + half, left + 9, y, right - 9,
                       right, y + half, right - 9, y + room.height, left + 9);
    else if (strcmp(class, "flag") == 0)
        rad__draw_path(d, class, "M" AT "H" N "l-9 " N "l9 " N "H" N "Z", left, y, right, half, room.height - half,
                       left);
    else
        rad__draw_rect(d, class, left, y, room.left + room.right, room.height, strcmp(class, "set") == 0 ? 2 : half);
}

/* A box with one line, the head of a fork or loop. */
static void draw_box(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    draw_room room = rad__draw_box_room(d, s);
    rad__draw_open(d, s);
    if (s->kind == RAD_FLOW_DO) {
        draw_task(d, s, x, y);
    } else {
        draw_outline(d, s, room, x, y);
        rad__draw_text(d, "", x, y + room.height / 2 + 4, rad__draw_label(d, s));
    }
    rad__draw_close(d);
    rad__draw_badge(d, s, x + room.right, y);
}

static void draw_pill(drawing *d, const char *class, int64_t x, int64_t y, const char *text)
{
    int64_t width = rad__draw_text_width(text, DRAW_SMALL_LETTER) + 20;
    rad__draw_rect(d, class, x - width / 2, y, width, DRAW_PILL, DRAW_PILL / 2);
    rad__draw_text(d, "small", x, y + 15, text);
}

/* ---- Branches ------------------------------------------------------------------------------------------- */

/* From (from, y) sideways to x, then down to `to`, with an arrowhead. */
static void draw_turn_down(drawing *d, const char *class, int64_t from, int64_t y, int64_t x, int64_t to)
{
    if (from == x) {
        rad__draw_arrow(d, class, x, y, to);
        return;
    }
    int64_t bend = x > from ? -6 : 6;
    rad__draw_path(d, class, "M" AT "H" N "Q" AT " " AT, from, y, x + bend, x, y, x, y + 6);
    rad__draw_arrow(d, class, x, y + 6, to);
}

/* From (from, y) down to `to`, then sideways to x. */
static void draw_turn_in(drawing *d, const char *class, int64_t from, int64_t y, int64_t to, int64_t x)
{
    int64_t bend = x > from ? 6 : -6;
    if (from == x)
        rad__draw_path(d, class, "M" AT "V" N, from, y, to);
    else
        rad__draw_path(d, class, "M" AT "V" N "Q" AT " " AT "H" N, from, y, to - 6, from, to, from + bend, to, x);
}

/* A branch with its label, without what leads to it; returns whether one came here. */
static void draw_column(drawing *d, const rad_flow_statement *s, uint32_t i, int64_t x, int64_t y)
{
    const rad_flow_block *block = &s->branches[i].block;
    bool taken = was_visited(d, s) && was_visited(d, block->first);
    const char *label = rad__draw_branch_label(d, s, i);
    if (label[0] != 0) {
        if (!taken) rad__bytes_format(&d->out, "<g class=\"off\">\n");
        draw_pill(d, "when", x, y, label);
        if (!taken) rad__draw_close(d);
        y += DRAW_PILL;
        if (block->first != NULL) draw_into(d, taken, block->first, x, y, y + DRAW_STEP - 6);
        y += DRAW_STEP - 6;
    }
    draw_block(d, block, x, y);
}

static void draw_diamond(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    int64_t half = DRAW_DIAMOND / 2;
    rad__draw_open(d, s);
    rad__draw_path(d, "choice", "M" AT "l15 15l-15 15l-15 -15z", x, y);
    if (s->kind == RAD_FLOW_XOR)
        rad__draw_path(d, "mark", "M" AT "l8 8m0 -8l-8 8", x - 4, y + half - 4);
    else
        rad__draw_path(d, "mark", "M" AT "a6 6 0 1 0 12 0a6 6 0 1 0 -12 0m6 -3.5v3.5h2.5", x - 6, y + half);
    rad__draw_close(d);
    rad__draw_badge(d, s, x + half + 6, y);
}

static bool has_bars(const rad_flow_statement *s)
{
    return s->kind != RAD_FLOW_XOR && s->kind != RAD_FLOW_DEFER;
}

/* The bar behind the head or foot of a fork, over all its columns. */
static void draw_bar(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    draw_room row = rad__draw_row_room(d, s);
    int64_t left = x - row.left + rad__draw_column_room(d, s, 0).left - 16;
    int64_t right = x + row.right - rad__draw_column_room(d, s, s->branch_count - 1).right + 16;
    rad__draw_rect(d, was_visited(d, s) ? "bar" : "bar off", left, y - 2, right - left, 4, 2);
}

static void draw_columns(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y, int64_t head, int64_t foot)
{
    draw_room row = rad__draw_row_room(d, s);
    int64_t left = x - row.left, middle = y - DRAW_STEP - head / 2;
    for (uint32_t i = 0; i < s->branch_count; i++) {
        const rad_flow_block *block = &s->branches[i].block;
        draw_room column = rad__draw_column_room(d, s, i);
        int64_t axis = left + column.left;
        const char *in = edge(was_visited(d, s) && was_visited(d, block->first));
        const char *out = edge(was_visited(d, s) && was_passed(d, last_of(block)));
        bool has_label = rad__draw_branch_label(d, s, i)[0] != 0;
        if (has_bars(s) && !has_label)
            draw_into(d, strcmp(in, "e") == 0, block->first, axis, middle, y);
        else if (has_bars(s))
            rad__draw_arrow(d, in, axis, middle, y);
        else
            draw_turn_down(d, in, x, middle, axis, y);
        if (!ends_here(block)) draw_turn_in(d, out, axis, y + column.height, foot, has_bars(s) ? axis : x);
        draw_column(d, s, i, axis, y);
        left += column.left + column.right + DRAW_COLUMN;
    }
}

/* A fork with bars, or a choice. */
static void draw_fork(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    draw_room head = rad__draw_box_room(d, s), row = rad__draw_row_room(d, s);
    int64_t top = y + head.height + DRAW_STEP, bottom = top + row.height + DRAW_STEP;
    int64_t foot = has_bars(s) ? bottom + DRAW_PILL / 2 : bottom + DRAW_MERGE / 2 - 6;
    draw_columns(d, s, x, top, head.height, foot);
    if (!has_bars(s)) {
        rad__draw_path(d, edge(was_passed(d, s)), "M" AT "V" N, x, foot, bottom + DRAW_MERGE);
        draw_diamond(d, s, x, y);
        return;
    }
    draw_bar(d, s, x, y + head.height / 2);
    draw_bar(d, s, x, foot);
    draw_pill(d, "fork", x, bottom, rad__draw_join_label(d, s));
    draw_box(d, s, x, y);
}

static void draw_many(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    draw_room head = rad__draw_box_room(d, s);
    const rad_flow_block *block = &s->branches[0].block;
    draw_room inner = rad__draw_block_room(d, block);
    int64_t top = y + head.height + DRAW_STEP, height = inner.height + 2 * DRAW_PAD;
    int64_t left = x - inner.left - DRAW_PAD, width = inner.left + inner.right + 2 * DRAW_PAD;
    int64_t bottom = top + height + 10 + DRAW_STEP;
    const char *in = edge(was_visited(d, s) && was_visited(d, block->first));
    rad__draw_path(d, in, "M" AT "V" N, x, y + head.height, top);
    if (!ends_here(block)) rad__draw_path(d, edge(was_passed(d, s)), "M" AT "V" N, x, top + height, bottom);
    for (int64_t i = 2; i >= 0; i--) rad__draw_rect(d, "stack", left + 5 * i, top + 5 * i, width, height, 5);
    draw_into(d, was_visited(d, s) && was_visited(d, block->first), block->first, x, top, top + DRAW_PAD);
    draw_block(d, block, x, top + DRAW_PAD);
    if (!ends_here(block))
        rad__draw_path(d, edge(was_passed(d, last_of(block))), "M" AT "v" N, x, top + height - DRAW_PAD,
                       (int64_t)DRAW_PAD);
    draw_pill(d, "fork", x, bottom, rad__draw_join_label(d, s));
    draw_box(d, s, x, y);
}

/* ---- Loops ---------------------------------------------------------------------------------------------- */

/* loop and while: the head is first; back on the left, out on the right. */
static void draw_while(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    draw_room head = rad__draw_box_room(d, s), room = d->rooms[s->number];
    const rad_flow_block *block = &s->branches[0].block;
    int64_t top = y + head.height + DRAW_STEP, bottom = top + rad__draw_block_room(d, block).height;
    int64_t middle = y + head.height / 2, left = x - room.left + 6, right = x + room.right - 6;
    const char *in = edge(was_visited(d, s) && was_visited(d, block->first));
    const char *back = edge(was_visited(d, s) && was_passed(d, last_of(block)));
    rad__draw_arrow(d, in, x, y + head.height, top);
    if (!ends_here(block)) {
        rad__draw_path(d, back, "M" AT "v4q0 6 -6 6H" N "q-6 0 -6 -6V" N "q0 -6 6 -6H" N, x, bottom, left + 6,
                       middle + 6, x - head.left - 6);
        rad__draw_head_right(d, back, x - head.left, middle);
    }
    rad__draw_path(d, edge(was_passed(d, s)), "M" AT "H" N "q6 0 6 6V" N "q0 6 -6 6H" N "V" N, x + head.right, middle,
                   right - 6, bottom + 16, x, y + room.height);
    draw_block(d, block, x, top);
    draw_box(d, s, x, y);
}

/* The head is last; back on the left. */
static void draw_repeat(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    draw_room head = rad__draw_box_room(d, s), room = d->rooms[s->number];
    const rad_flow_block *block = &s->branches[0].block;
    int64_t top = y + 16, bottom = top + rad__draw_block_room(d, block).height + DRAW_STEP;
    int64_t middle = bottom + head.height / 2, left = x - room.left + 6;
    bool again = d->visits == NULL || d->visits[s->number].times > 1;
    draw_into(d, was_visited(d, s) && was_visited(d, block->first), block->first, x, y, top);
    if (!ends_here(block))
        rad__draw_arrow(d, edge(was_visited(d, s) && was_passed(d, last_of(block))), x, bottom - DRAW_STEP, bottom);
    rad__draw_path(d, edge(again), "M" AT "H" N "q-6 0 -6 -6V" N "q0 -6 6 -6H" N, x - head.left, middle, left + 6,
                   y + 10, x - 7);
    rad__draw_head_right(d, edge(again), x - 1, y + 4);
    draw_block(d, block, x, top);
    draw_box(d, s, x, bottom);
}

/* ---- Frames --------------------------------------------------------------------------------------------- */

static void draw_handler(drawing *d, const rad_flow_statement *s, bool is_failure, int64_t *right, int64_t x, int64_t y,
                         int64_t foot)
{
    const rad_flow_branch *handler = is_failure ? s->on_failure : s->on_cancel;
    if (handler == NULL) return;
    draw_room column = rad__draw_handler_room(d, s, is_failure);
    const rad_flow_block *block = &handler->block;
    int64_t start = *right + DRAW_COLUMN, axis = start + column.left;
    bool taken = was_visited(d, s) && was_visited(d, block->first);
    rad__draw_path(d, "cut", "M" AT "V" N, start - DRAW_COLUMN / 2, y - DRAW_PAD, foot - 8);
    draw_pill(d, "when", axis, y, rad__draw_handler_label(d, s, is_failure));
    if (block->first != NULL) draw_into(d, taken, block->first, axis, y + DRAW_PILL, y + DRAW_PILL + DRAW_STEP - 6);
    if (!ends_here(block))
        draw_turn_in(d, edge(taken && was_passed(d, last_of(block))), axis, y + column.height, foot, x);
    draw_block(d, block, axis, y + DRAW_PILL + DRAW_STEP - 6);
    *right = start + column.left + column.right;
}

static void draw_frame(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    draw_room room = d->rooms[s->number];
    const rad_flow_block *block = &s->branches[0].block;
    draw_room body = rad__draw_block_room(d, block);
    int64_t top = y + DRAW_TAG + DRAW_PAD, bottom = y + room.height, right = x + body.right;
    int64_t tag = rad__draw_box_room(d, s).left * 2;
    bool is_region = s->kind == RAD_FLOW_REGION;
    rad__draw_open(d, s);
    rad__draw_rect(d, is_region ? "region" : "lock", x - room.left, y, room.left + room.right, room.height, 8);
    rad__draw_close(d);
    draw_into(d, was_visited(d, s) && was_visited(d, block->first), block->first, x, y, top);
    int64_t foot = s->on_cancel != NULL || s->on_failure != NULL ? bottom - DRAW_PAD : bottom;
    if (!ends_here(block))
        rad__draw_path(d, edge(was_visited(d, s) && was_passed(d, last_of(block))), "M" AT "V" N, x, top + body.height,
                       foot);
    if (foot < bottom) rad__draw_path(d, edge(was_passed(d, s)), "M" AT "V" N, x, foot, bottom);
    draw_block(d, block, x, top);
    draw_handler(d, s, false, &right, x, top, bottom - DRAW_PAD);
    draw_handler(d, s, true, &right, x, top, bottom - DRAW_PAD);
    rad__draw_rect(d, is_region ? "tag" : "tag locked", x - room.left + 8, y - DRAW_TAG / 2, tag, DRAW_TAG, 4);
    rad__draw_text(d, "", x - room.left + 8 + tag / 2, y + 4, rad__draw_label(d, s));
    rad__draw_badge(d, s, x + room.right - rad__draw_badge_room(d, s) - 8, y);
}

static void draw_await(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    if (s->has_else) {
        draw_room box = rad__draw_box_room(d, s), other = rad__draw_column_room(d, s, 0);
        const rad_flow_block *block = &s->branches[0].block;
        int64_t axis = x + box.right + DRAW_COLUMN + other.left, top = y + box.height + DRAW_STEP;
        int64_t bottom = y + d->rooms[s->number].height;
        bool taken = was_visited(d, s) && was_visited(d, block->first);
        draw_turn_down(d, edge(taken), x + box.right - 9, y + box.height / 2, axis, top);
        draw_column(d, s, 0, axis, top);
        if (!ends_here(block))
            draw_turn_in(d, edge(taken && was_passed(d, last_of(block))), axis, top + other.height, bottom - 8, x);
        rad__draw_path(d, edge(was_passed(d, s)), "M" AT "V" N, x, y + box.height, bottom);
    }
    draw_box(d, s, x, y);
}

/* ---- Statements ----------------------------------------------------------------------------------------- */

static void draw_statement(drawing *d, const rad_flow_statement *s, int64_t x, int64_t y)
{
    switch (s->kind) {
    case RAD_FLOW_BLOCK: draw_block(d, &s->branches[0].block, x, y); break;
    case RAD_FLOW_DEFER:
        if (rad__draw_is_wait(s))
            draw_box(d, s, x, y);
        else
            draw_fork(d, s, x, y);
        break;
    case RAD_FLOW_PAR:
    case RAD_FLOW_OR:
    case RAD_FLOW_INTERLEAVE:
    case RAD_FLOW_XOR: draw_fork(d, s, x, y); break;
    case RAD_FLOW_MANY: draw_many(d, s, x, y); break;
    case RAD_FLOW_LOOP:
    case RAD_FLOW_WHILE: draw_while(d, s, x, y); break;
    case RAD_FLOW_REPEAT: draw_repeat(d, s, x, y); break;
    case RAD_FLOW_REGION:
    case RAD_FLOW_LOCK: draw_frame(d, s, x, y); break;
    case RAD_FLOW_AWAIT: draw_await(d, s, x, y); break;
    default: draw_box(d, s, x, y); break;
    }
}

static void draw_block(drawing *d, const rad_flow_block *block, int64_t x, int64_t y)
{
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next) {
        draw_statement(d, s, x, y);
        y += d->rooms[s->number].height;
        if (s->next != NULL && !is_end(s)) draw_into(d, was_visited(d, s->next), s->next, x, y, y + DRAW_STEP);
        y += DRAW_STEP;
    }
}

/* ---- The picture ---------------------------------------------------------------------------------------- */

enum { TITLE = 62, ENDS = 46 };

static void draw_title(drawing *d, int64_t width, int64_t height)
{
    const char *name = rad__flow_name(d->file, d->tree->name);
    rad__bytes_format(&d->out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" N "\" height=\"" N "\" viewBox=\"0 0 " AT
                      "\" role=\"img\" "
                      "style=\"max-width:100%%;height:auto\">\n<title>flow %s</title>\n",
                      width, height, width, height, name);
    rad__bytes_put(&d->out, rad__draw_style, strlen(rad__draw_style));
    rad__bytes_format(&d->out, "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n");
    rad__draw_line(d, "title", DRAW_MARGIN, 36, name);
    if (d->tree->about != RAD_NONE)
        rad__draw_line(d, "about", DRAW_MARGIN, 56, rad__flow_name(d->file, d->tree->about));
}

static void draw_whole(drawing *d)
{
    draw_room body = rad__draw_measure(d);
    const char *about = d->tree->about != RAD_NONE ? rad__flow_name(d->file, d->tree->about) : "";
    int64_t title = (int64_t)strlen(rad__flow_name(d->file, d->tree->name)) * 12;
    int64_t width = draw_most(body.left + body.right, (int64_t)strlen(about) * 8);
    width = draw_most(width, title);
    if (d->visits != NULL) width = draw_most(width, DRAW_LEGEND_WIDTH);
    int64_t x = DRAW_MARGIN + body.left + (width - body.left - body.right) / 2;
    int64_t y = TITLE + ENDS, bottom = y + body.height;
    int64_t height = bottom + ENDS + DRAW_MARGIN + (d->visits != NULL ? DRAW_LEGEND_HEIGHT : 0);
    draw_title(d, width + 2 * DRAW_MARGIN, height);
    rad__bytes_format(&d->out, "<circle class=\"end\" cx=\"" N "\" cy=\"%d\" r=\"8\"/>\n", x, TITLE + 16);
    draw_into(d, was_visited(d, d->tree->body.first), d->tree->body.first, x, TITLE + 24, y);
    draw_block(d, &d->tree->body, x, y);
    if (!ends_here(&d->tree->body))
        rad__draw_arrow(d, edge(was_passed(d, last_of(&d->tree->body))), x, bottom, bottom + 24);
    rad__bytes_format(&d->out,
                      "<circle class=\"ring\" cx=\"" N "\" cy=\"" N "\" r=\"9\"/>"
                      "<circle class=\"end\" cx=\"" N "\" cy=\"" N "\" r=\"5\"/>\n",
                      x, bottom + 34, x, bottom + 34);
    if (d->visits != NULL) rad__draw_legend(d, DRAW_MARGIN, bottom + ENDS + 40);
    rad__bytes_format(&d->out, "</svg>\n");
    rad__bytes_put(&d->out, "", 1);
}

char *rad__flow_draw(const rad_flow_file *file, const rad_flow_tree *tree, const rad_flow_visit *visits)
{
    drawing d = {.file = file, .tree = tree, .visits = visits};
    d.rooms = rad__alloc((size_t)tree->statement_count + 1, sizeof *d.rooms);
    if (d.rooms == NULL) return NULL;
    draw_whole(&d);
    bool failed = d.scratch.failed || d.out.failed;
    rad__free(d.rooms);
    rad__bytes_free(&d.scratch);
    if (!failed) return (char *)d.out.data;
    rad__bytes_free(&d.out);
    return NULL;
}
