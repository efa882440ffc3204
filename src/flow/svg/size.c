/* size.c — texts of the picture, and how much room everything takes. */
#include "base/alloc.h"
#include "flow/lang/text.h"
#include "flow/svg/parts.h"

#include <string.h>

/* ---- Texts ---------------------------------------------------------------------------------------------- */

bool rad__draw_is_wait(const rad_flow_statement *s)
{
    return s->kind == RAD_FLOW_DEFER && s->branches[0].block.place.line == 0;
}

int64_t rad__draw_text_width(const char *text, int64_t letter)
{
    int64_t letters = 0;
    for (; *text != 0; text++) letters += ((unsigned char)*text & 0xc0) != 0x80;
    if (letters > DRAW_TEXT_MOST) letters = DRAW_TEXT_MOST;
    return (letters * letter + 9) / 10;
}

static rad_bytes *begin_text(drawing *d)
{
    d->scratch.size = 0;
    return &d->scratch;
}

static const char *end_text(drawing *d)
{
    rad__bytes_put(&d->scratch, "", 1);
    return d->scratch.failed ? "" : (const char *)d->scratch.data;
}

const char *rad__draw_label(drawing *d, const rad_flow_statement *s)
{
    rad_bytes *out = begin_text(d);
    if (s->kind == RAD_FLOW_DO) {
        const rad_flow_task *t = &d->tree->tasks[s->name];
        if (t->is_anonymous)
            rad__bytes_format(out, "$ %s", rad__flow_name(d->file, t->command));
        else
            rad__bytes_format(out, "%s", rad__flow_name(d->file, t->name));
    } else if (s->kind == RAD_FLOW_REPEAT) {
        rad__bytes_format(out, "until ");
        rad__flow_expr_text(out, d->file, d->tree, s->expr);
    } else if (s->kind == RAD_FLOW_SET) {
        rad__bytes_format(out, "%s = ", rad__flow_name(d->file, d->tree->variables[s->name].name));
        rad__flow_expr_text(out, d->file, d->tree, s->expr);
    } else {
        rad__flow_statement_text(out, d->file, d->tree, s);
    }
    return end_text(d);
}

const char *rad__draw_branch_label(drawing *d, const rad_flow_statement *s, uint32_t i)
{
    rad_bytes *out = begin_text(d);
    const rad_flow_branch *b = &s->branches[i];
    if (b->when != NULL)
        rad__flow_expr_text(out, d->file, d->tree, b->when);
    else if (s->has_else && i + 1 == s->branch_count)
        rad__bytes_format(out, s->kind == RAD_FLOW_AWAIT ? "expired" : "else");
    else if (s->kind == RAD_FLOW_DEFER)
        rad__flow_event_text(out, d->file, d->tree, &b->event);
    return end_text(d);
}

/* What else people want to know of a task: "retry 3, timeout 10s, undo refund". */
const char *rad__draw_detail(drawing *d, const rad_flow_task *t)
{
    rad_bytes *out = begin_text(d);
    const char *comma = "";
    if (t->retries > 0) {
        rad__bytes_format(out, "retry %u", t->retries);
        if (t->delay_ns > 0) rad__bytes_format(out, " delay ");
        if (t->delay_ns > 0) rad__flow_duration_text(out, t->delay_ns);
        if (t->backoff > 1) rad__bytes_format(out, " backoff %u", t->backoff);
        comma = ", ";
    }
    if (t->timeout_ns > 0) {
        rad__bytes_format(out, "%stimeout ", comma);
        rad__flow_duration_text(out, t->timeout_ns);
        comma = ", ";
    }
    if (t->undo != RAD_NONE)
        rad__bytes_format(out, "%sundo %s", comma, rad__flow_name(d->file, d->tree->tasks[t->undo].name));
    return end_text(d);
}

const char *rad__draw_handler_label(drawing *d, const rad_flow_statement *s, bool is_failure)
{
    rad_bytes *out = begin_text(d);
    rad__bytes_format(out, is_failure ? "on failure" : "on cancel");
    if (is_failure && s->into != RAD_NONE)
        rad__bytes_format(out, " into %s", rad__flow_name(d->file, d->tree->variables[s->into].name));
    return end_text(d);
}

const char *rad__draw_join_label(drawing *d, const rad_flow_statement *s)
{
    rad_bytes *out = begin_text(d);
    rad__flow_join_text(out, s);
    if (s->kind == RAD_FLOW_INTERLEAVE) rad__bytes_format(out, "each once");
    return end_text(d);
}

/* ---- Boxes ---------------------------------------------------------------------------------------------- */

static draw_room centred(int64_t width, int64_t height)
{
    return (draw_room){(width + 1) / 2, (width + 1) / 2, height};
}

static draw_room task_room(drawing *d, const rad_flow_statement *s, int64_t width)
{
    const rad_flow_task *t = &d->tree->tasks[s->name];
    int64_t height = DRAW_LINE;
    if (!t->is_anonymous) {
        const char *command = rad__flow_name(d->file, t->command);
        int64_t second = rad__draw_text_width(command, DRAW_SMALL_LETTER);
        width = draw_most(width, second);
        height += 14;
    }
    int64_t third = rad__draw_text_width(rad__draw_detail(d, t), DRAW_SMALL_LETTER);
    if (third > 0) height += 14;
    return centred(draw_most(draw_most(width, third), 60) + 24, height);
}

draw_room rad__draw_box_room(drawing *d, const rad_flow_statement *s)
{
    int64_t width = rad__draw_text_width(rad__draw_label(d, s), DRAW_LETTER);
    if (s->kind == RAD_FLOW_DO) return task_room(d, s, width);
    bool is_diamond = s->kind == RAD_FLOW_XOR || (s->kind == RAD_FLOW_DEFER && !rad__draw_is_wait(s));
    if (is_diamond) return centred(DRAW_DIAMOND, DRAW_DIAMOND);
    return centred(draw_most(width + 28, 60), s->branch_count > 1 ? DRAW_PILL : DRAW_LINE);
}

/* ---- Blocks --------------------------------------------------------------------------------------------- */

draw_room rad__draw_block_room(drawing *d, const rad_flow_block *block)
{
    draw_room room = {10, 10, 0};
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next) {
        const draw_room *one = &d->rooms[s->number];
        room.left = draw_most(room.left, one->left);
        room.right = draw_most(room.right, one->right);
        room.height += one->height + (s->next != NULL ? DRAW_STEP : 0);
    }
    return room;
}

static draw_room labelled(draw_room block, int64_t label)
{
    if (label == 0) return block;
    int64_t half = (label + 20 + 1) / 2;
    return (draw_room){draw_most(block.left, half), draw_most(block.right, half),
                       DRAW_PILL + (block.height > 0 ? DRAW_STEP - 6 : 0) + block.height};
}

draw_room rad__draw_column_room(drawing *d, const rad_flow_statement *s, uint32_t i)
{
    const char *label = rad__draw_branch_label(d, s, i);
    return labelled(rad__draw_block_room(d, &s->branches[i].block), rad__draw_text_width(label, DRAW_SMALL_LETTER));
}

draw_room rad__draw_handler_room(drawing *d, const rad_flow_statement *s, bool is_failure)
{
    const rad_flow_branch *handler = is_failure ? s->on_failure : s->on_cancel;
    if (handler == NULL) return (draw_room){0, 0, 0};
    const char *label = rad__draw_handler_label(d, s, is_failure);
    return labelled(rad__draw_block_room(d, &handler->block), rad__draw_text_width(label, DRAW_SMALL_LETTER));
}

draw_room rad__draw_row_room(drawing *d, const rad_flow_statement *s)
{
    int64_t x = 0, height = 0, axis = 0;
    uint32_t before = (s->branch_count - 1) / 2, behind = s->branch_count / 2;
    for (uint32_t i = 0; i < s->branch_count; i++) {
        draw_room column = rad__draw_column_room(d, s, i);
        if (i == before) axis = x + column.left;
        if (i == behind) axis = (axis + x + column.left) / 2;
        x += column.left + column.right + DRAW_COLUMN;
        height = draw_most(height, column.height);
    }
    return (draw_room){axis, x - DRAW_COLUMN - axis, height};
}

/* ---- Statements ----------------------------------------------------------------------------------------- */

/* A head, the row below it, a foot. */
static draw_room fork_room(drawing *d, const rad_flow_statement *s, int64_t foot)
{
    draw_room head = rad__draw_box_room(d, s), row = rad__draw_row_room(d, s);
    return (draw_room){draw_most(head.left + 8, row.left), draw_most(head.right + 8, row.right),
                       head.height + DRAW_STEP + row.height + DRAW_STEP + foot};
}

static draw_room many_room(drawing *d, const rad_flow_statement *s)
{
    draw_room head = rad__draw_box_room(d, s);
    draw_room block = rad__draw_block_room(d, &s->branches[0].block);
    int64_t side = DRAW_PAD + 10;
    return (draw_room){draw_most(head.left + 8, block.left + side), draw_most(head.right + 8, block.right + side),
                       head.height + 2 * DRAW_STEP + block.height + 2 * DRAW_PAD + 10 + DRAW_PILL};
}

static draw_room loop_room(drawing *d, const rad_flow_statement *s)
{
    draw_room head = rad__draw_box_room(d, s);
    draw_room block = rad__draw_block_room(d, &s->branches[0].block);
    int64_t beside = DRAW_LOOP, height = head.height + block.height + DRAW_STEP;
    height += s->kind == RAD_FLOW_REPEAT ? 16 : 34;
    return (draw_room){draw_most(head.left, block.left) + beside,
                       draw_most(head.right, block.right) + (s->kind == RAD_FLOW_REPEAT ? 0 : beside), height};
}

static draw_room frame_room(drawing *d, const rad_flow_statement *s)
{
    draw_room body = rad__draw_block_room(d, &s->branches[0].block);
    int64_t tag = rad__draw_box_room(d, s).left * 2, height = body.height;
    draw_room room = {body.left + DRAW_PAD, body.right + DRAW_PAD, 0};
    for (int is_failure = 0; is_failure < 2; is_failure++) {
        draw_room handler = rad__draw_handler_room(d, s, is_failure);
        if (handler.left == 0) continue;
        room.right += handler.left + handler.right + DRAW_COLUMN;
        height = draw_most(height, handler.height);
    }
    int64_t missing = tag + 32 + rad__draw_badge_room(d, s) - room.left - room.right;
    if (missing > 0) room.right += missing;
    bool has_handler = s->on_cancel != NULL || s->on_failure != NULL;
    room.height = DRAW_TAG + DRAW_PAD + height + DRAW_PAD + (has_handler ? DRAW_MERGE : 0);
    return room;
}

static draw_room await_room(drawing *d, const rad_flow_statement *s)
{
    draw_room box = rad__draw_box_room(d, s);
    if (!s->has_else) return box;
    draw_room other = rad__draw_column_room(d, s, 0);
    return (draw_room){box.left, box.right + DRAW_COLUMN + other.left + other.right,
                       box.height + DRAW_STEP + other.height + DRAW_MERGE};
}

static draw_room statement_room(drawing *d, const rad_flow_statement *s)
{
    switch (s->kind) {
    case RAD_FLOW_BLOCK: return rad__draw_block_room(d, &s->branches[0].block);
    case RAD_FLOW_PAR:
    case RAD_FLOW_OR:
    case RAD_FLOW_INTERLEAVE: return fork_room(d, s, DRAW_PILL);
    case RAD_FLOW_XOR: return fork_room(d, s, DRAW_MERGE);
    case RAD_FLOW_DEFER: return rad__draw_is_wait(s) ? rad__draw_box_room(d, s) : fork_room(d, s, DRAW_MERGE);
    case RAD_FLOW_MANY: return many_room(d, s);
    case RAD_FLOW_LOOP:
    case RAD_FLOW_WHILE:
    case RAD_FLOW_REPEAT: return loop_room(d, s);
    case RAD_FLOW_REGION:
    case RAD_FLOW_LOCK: return frame_room(d, s);
    case RAD_FLOW_AWAIT: return await_room(d, s);
    default: return rad__draw_box_room(d, s);
    }
}

static bool has_frame(const rad_flow_statement *s)
{
    return s->kind == RAD_FLOW_REGION || s->kind == RAD_FLOW_LOCK;
}

/* Inner ones first. */
static void measure_block(drawing *d, const rad_flow_block *block)
{
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next) {
        for (uint32_t i = 0; i < s->branch_count; i++) measure_block(d, &s->branches[i].block);
        if (s->on_cancel != NULL) measure_block(d, &s->on_cancel->block);
        if (s->on_failure != NULL) measure_block(d, &s->on_failure->block);
        draw_room *room = &d->rooms[s->number];
        *room = statement_room(d, s);
        if (s->kind != RAD_FLOW_BLOCK && !has_frame(s))
            room->right = draw_most(room->right, rad__draw_box_room(d, s).right + rad__draw_badge_room(d, s));
    }
}

draw_room rad__draw_measure(drawing *d)
{
    measure_block(d, &d->tree->body);
    return rad__draw_block_room(d, &d->tree->body);
}
