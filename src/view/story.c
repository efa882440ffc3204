/* story.c — a run told as a swimlane: one lane per actor, time downwards, the switches that matter
 * marked.
 *
 *      step  producer            consumer
 *         1  ● lock m
 *       >>>  preempt producer, run consumer        decisive: heavy arrow
 *            ┣━━━━━━━━━━━━━━━━━━▶┓
 *         2  │                   ● wait m
 *            │◀┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┤                                   forced: light arrow
 *            … 12 steps of consumer that do not matter …             hidden
 *            … steps 20 to 99 are the 2 steps before them, 40 times more …   rounds.c
 *
 * A lane is drawn from its actor's first shown step to its last, or to the end when it waits there. */
#include "view/story.h"

#include "base/alloc.h"
#include "base/readable.h"
#include "view/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 40, ELLIPSIS_ACTORS = 3 };

/* The glyphs of an arrow between lanes, light and heavy. */
typedef struct arrow_glyphs {
    const char *along, *across;       /* the line itself; where it crosses a lane */
    const char *out_right, *out_left; /* leaves a lane that goes on */
    const char *end_right, *end_left; /* leaves a lane that ends here */
    const char *new_right, *new_left; /* reaches a lane that begins here, from the left, the right */
    const char *lane;                 /* reaches a lane that was there before */
    uint32_t style;
} arrow_glyphs;

static const arrow_glyphs ARROWS[] = {
    [RAD_SWITCH_FORCED] = {"┄", "┼", "├", "┤", "╰", "╯", "╮", "╭", "│", RAD_STYLE_DIM},
    [RAD_SWITCH_PREEMPTIVE] = {"─", "┼", "├", "┤", "╰", "╯", "╮", "╭", "│", RAD_STYLE_PLAIN},
};
static const arrow_glyphs ARROW_DECISIVE = {"━", "┿", "┣", "┫", "┗", "┛", "┓", "┏", "┃", RAD_STYLE_DECISIVE};

static uint32_t lane_style(uint32_t lane)
{
    return RAD_STYLE_LANE + lane % RAD_STYLE_LANES;
}

static bool line_is_shown(const rad_teller *t, const rad_line *line)
{
    return line->actor < t->story->actor_count && (t->all || !line->hidden);
}

static const char *actor_name(const rad_teller *t, uint32_t actor)
{
    return actor < t->story->actor_count ? t->story->actors[actor] : "nobody";
}

/* A program's thread stops once more after a call that lets others continue. Where none of them did, that step says
 * nothing: it is drawn only first or last in a turn. */
static bool only_continues(const rad_teller *t, uint64_t at)
{
    const rad_story *s = t->story;
    const rad_line *line = &s->lines[at];
    return !t->all && strcmp(line->site, "continue") == 0 && line->access == RAD_LOCAL && line->note[0] == 0 &&
           line->turn == RAD_SWITCH_NONE && at != t->failing_line && at + 1 < s->line_count &&
           line[1].actor == line->actor && (at == 0 || line[-1].actor == line->actor);
}

/* ---- Lanes ----------------------------------------------------------------------------------------- */

/* The vertical lines that pass the place just before line `at` (or beside it, when `beside`). */
static void draw_lanes(rad_teller *t, uint64_t at, bool beside)
{
    for (uint32_t i = 0; t->lanes.form != RAD_LANES_LIST && i < t->lanes.count; i++) {
        const rad_lane *lane = &t->lanes.lanes[i];
        bool begun = beside ? lane->first <= at : lane->first < at;
        if (begun && lane->last >= at) rad__canvas_put(&t->canvas, lane->x, "│", lane_style(i));
    }
}

static void draw_margin(rad_teller *t, const char *text, uint32_t style)
{
    uint32_t size = rad__columns(text), edge = t->lanes.margin - 2;
    rad__canvas_text(&t->canvas, edge > size ? edge - size : 0, size, text, strlen(text), style);
}

/* ---- Switches -------------------------------------------------------------------------------------- */

/* The arrow from lane `from` to lane `to`, above line `at`. */
static void draw_arrow(rad_teller *t, uint32_t from, uint32_t to, uint64_t at, const arrow_glyphs *g)
{
    const rad_lane *a = &t->lanes.lanes[from], *b = &t->lanes.lanes[to];
    bool right = b->x > a->x;
    draw_lanes(t, at, false);
    uint32_t low = right ? a->x : b->x, high = right ? b->x : a->x;
    for (uint32_t x = low + 1; x < high; x++) {
        bool crossing = t->canvas.cells[x].glyph[0] != 0;
        rad__canvas_put(&t->canvas, x, crossing ? g->across : g->along, g->style);
    }
    rad__canvas_put(&t->canvas, right ? b->x - 1 : b->x + 1, right ? "▶" : "◀", g->style);
    bool goes_on = a->last >= at, was_there = b->first < at;
    const char *begin = goes_on ? (right ? g->out_right : g->out_left) : (right ? g->end_right : g->end_left);
    const char *end = was_there ? g->lane : (right ? g->new_right : g->new_left);
    rad__canvas_put(&t->canvas, a->x, begin, g->style);
    rad__canvas_put(&t->canvas, b->x, end, g->style);
    rad__canvas_emit(&t->canvas);
}

/* The line at which the turn of line `at`'s actor began: its switch is the one to show. */
static const rad_line *turn_begins(const rad_story *s, uint64_t at)
{
    const rad_line *line = &s->lines[at];
    while (at > 0 && line->turn == RAD_SWITCH_NONE && s->lines[at - 1].actor == line->actor) line = &s->lines[--at];
    return line;
}

static void tell_decisive(rad_teller *t, const rad_line *entry, uint32_t from)
{
    char text[200];
    const char *to = actor_name(t, entry->actor);
    if (from == RAD_NONE)
        snprintf(text, sizeof text, "%s begins", to);
    else if (entry->turn == RAD_SWITCH_PREEMPTIVE)
        snprintf(text, sizeof text, "preempt %s, run %s", actor_name(t, from), to);
    else
        snprintf(text, sizeof text, "switch to %s: %s stopped, and another was next", to, actor_name(t, from));
    draw_margin(t, ">>>", RAD_STYLE_DECISIVE);
    rad__canvas_paragraph(&t->canvas, t->lanes.margin, t->lanes.margin, text, RAD_STYLE_DECISIVE);
}

/* Of a program: the line of code that the actor was kept from, which it may never have come to. */
static void tell_kept_from(rad_teller *t, uint32_t from, uint64_t at)
{
    const rad_story *s = t->story;
    rad_pending next = {.site = ""};
    while (at < s->line_count && s->lines[at].actor != from) at++;
    if (at < s->line_count)
        next = (rad_pending){s->lines[at].site, s->lines[at].at};
    else if (s->pending)
        next = s->pending[from];
    if (next.at == NULL) return;
    char text[RAD_PLACE_MAX + 200], place[RAD_PLACE_MAX];
    rad__place_text(next.at, place);
    bool is_behind = strcmp(next.site, "continue") == 0; /* the call at that line was made */
    snprintf(text, sizeof text, "%s stops %s %s%s%s", actor_name(t, from), is_behind ? "after" : "before", place,
             next.at->source[0] ? ": " : "", next.at->source);
    rad__canvas_paragraph(&t->canvas, t->lanes.margin, t->lanes.margin + 2, text, RAD_STYLE_DECISIVE);
}

static uint32_t room_of(const rad_teller *t, const rad_line *line)
{
    const rad_lane *lane = &t->lanes.lanes[t->lanes.lane_of[line->actor]];
    return t->lanes.form == RAD_LANES_COLUMNS ? lane->room : t->lanes.words_room;
}

/* What a line says, with its place in the program if that fits into the row. False: it did not. */
static bool line_text(const rad_teller *t, const rad_line *line, char words[RAD_WORDS_MAX])
{
    char place[RAD_PLACE_MAX];
    rad__line_words(line, actor_name(t, line->actor), words);
    if (line->at == NULL) return true;
    size_t used = strlen(words);
    rad__place_text(line->at, place);
    if (rad__columns(words) + 2 + rad__columns(place) > room_of(t, line)) return false;
    snprintf(words + used, RAD_WORDS_MAX - used, "  %s", place);
    return true;
}

/* Of a program: the line of code that the actor runs now, if the row of that step has no room for it. */
static void tell_what_runs(rad_teller *t, uint64_t at)
{
    const rad_story *s = t->story;
    uint32_t actor = s->lines[at].actor;
    while (at < s->line_count && s->lines[at].actor == actor &&
           (s->lines[at].at == NULL || strcmp(s->lines[at].site, "begin") == 0))
        at++; /* where a function begins there is only a brace */
    if (at == s->line_count || s->lines[at].actor != actor) return;
    const rad_source_place *place = s->lines[at].at;
    char text[RAD_PLACE_MAX + 200], where[RAD_PLACE_MAX], words[RAD_WORDS_MAX];
    if (line_text(t, &s->lines[at], words)) return;
    rad__place_text(place, where);
    snprintf(text, sizeof text, "%s runs %s%s%s", actor_name(t, actor), where, place->source[0] ? ": " : "",
             place->source);
    rad__canvas_paragraph(&t->canvas, t->lanes.margin, t->lanes.margin + 2, text, RAD_STYLE_DECISIVE);
}

/* What lies between the last shown line (actor `from`, or RAD_NONE) and line `at`. */
static void tell_switch(rad_teller *t, uint32_t from, uint64_t at)
{
    uint32_t actor = t->story->lines[at].actor;
    if (from == actor) return;
    const rad_line *entry = turn_begins(t->story, at);
    if (entry->decisive) {
        tell_decisive(t, entry, from);
        if (from != RAD_NONE && entry->turn == RAD_SWITCH_PREEMPTIVE)
            tell_kept_from(t, from, at);
        else
            tell_what_runs(t, at);
    }
    if (from != RAD_NONE && t->lanes.form != RAD_LANES_LIST) {
        const arrow_glyphs *g = entry->decisive                        ? &ARROW_DECISIVE
                                : entry->turn == RAD_SWITCH_PREEMPTIVE ? &ARROWS[RAD_SWITCH_PREEMPTIVE]
                                                                       : &ARROWS[RAD_SWITCH_FORCED];
        draw_arrow(t, t->lanes.lane_of[from], t->lanes.lane_of[actor], at, g);
    }
}

/* ---- Lines ----------------------------------------------------------------------------------------- */

static void tell_line(rad_teller *t, uint64_t at)
{
    const rad_line *line = &t->story->lines[at];
    uint32_t index = t->lanes.lane_of[line->actor];
    const rad_lane *lane = &t->lanes.lanes[index];
    bool columns = t->lanes.form == RAD_LANES_COLUMNS, failing = at == t->failing_line;
    uint32_t x = columns ? lane->x + 2 : t->lanes.words_x;
    uint32_t room = room_of(t, line);
    uint32_t style = failing                                           ? RAD_STYLE_BAD
                     : line->hidden                                    ? RAD_STYLE_DIM
                     : line->decisive && line->turn == RAD_SWITCH_NONE ? RAD_STYLE_DECISIVE
                                                                       : lane_style(index);
    char words[RAD_WORDS_MAX], number[24];
    (void)line_text(t, line, words);
    snprintf(number, sizeof number, "%" PRIu64, line->step);
    draw_margin(t, number, RAD_STYLE_DIM);
    const char *rest = words;
    for (bool first = true; first || *rest; first = false) {
        draw_lanes(t, at, true);
        if (first && t->lanes.form != RAD_LANES_LIST)
            rad__canvas_put(&t->canvas, lane->x, failing ? "✗" : line->waits ? "○" : "●", style);
        if (first && !columns) {
            const char *name = actor_name(t, line->actor);
            rad__canvas_text(&t->canvas, t->lanes.words_x - t->lanes.name_room - 2, t->lanes.name_room, name,
                             strlen(name), lane_style(index));
        }
        const char *next;
        size_t size = rad__wrap(rest, room, &next);
        rad__canvas_text(&t->canvas, x, room, rest, size, style);
        rad__canvas_emit(&t->canvas);
        rest = next;
    }
}

/* "… 12 steps of setter 1 and checker that do not matter …" */
static void tell_hidden(rad_teller *t, uint64_t from, uint64_t to)
{
    uint32_t names[ELLIPSIS_ACTORS], count = 0;
    bool more = false;
    for (uint64_t i = from; i < to; i++) {
        uint32_t actor = t->story->lines[i].actor, k = 0;
        while (k < count && names[k] != actor) k++;
        if (k == count && count < ELLIPSIS_ACTORS)
            names[count++] = actor;
        else if (k == count)
            more = true;
    }
    char text[320], number[32];
    uint64_t steps = to - from;
    int used =
        snprintf(text, sizeof text, "… %s step%s of ", rad__readable_count(steps, number), steps == 1 ? "" : "s");
    for (uint32_t k = 0; k < count; k++) {
        const char *join = k == 0 ? "" : k + 1 == count && !more ? " and " : ", ";
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", join, actor_name(t, names[k]));
    }
    snprintf(text + used, sizeof text - (size_t)used, "%s that do%s not matter …", more ? " and others" : "",
             steps == 1 ? "es" : "");
    rad__canvas_paragraph(&t->canvas, t->lanes.margin, t->lanes.margin + 2, text, RAD_STYLE_DIM);
}

static void tell_lines(rad_teller *t)
{
    const rad_story *s = t->story;
    rad_rounds again = {.from = UINT64_MAX};
    uint32_t last = RAD_NONE;
    for (uint64_t i = 0; i < s->line_count; i++) {
        if (i == again.from) i = rad__rounds_tell(t, &again);
        if (again.from == UINT64_MAX && line_is_shown(t, &s->lines[i])) rad__rounds_find(t, i, &again);
        uint64_t hidden = i;
        while (hidden < s->line_count && !line_is_shown(t, &s->lines[hidden])) hidden++;
        if (hidden > i) {
            tell_hidden(t, i, hidden);
            i = hidden;
        }
        if (i < s->line_count && !only_continues(t, i)) {
            tell_switch(t, last, i);
            tell_line(t, i);
            last = s->lines[i].actor;
        }
    }
}

/* ---- The page -------------------------------------------------------------------------------------- */

static void tell_heading(rad_teller *t)
{
    const rad_lanes *l = &t->lanes;
    if (l->count == 0) return;
    for (int row = 0; row < 2; row++) {
        char rule[3 * RAD_CANVAS_WIDTH_MAX + 1];
        size_t used = 0;
        for (uint32_t i = 0; row == 1 && i < RAD_CANVAS_WIDTH_MAX; i++)
            used += (size_t)snprintf(rule + used, sizeof rule - used, "─");
        rad__canvas_text(&t->canvas, 1, l->margin - 3, row ? rule : "step", row ? used : 4, RAD_STYLE_DIM);
        for (uint32_t i = 0; l->form == RAD_LANES_COLUMNS && i < l->count; i++) {
            const rad_lane *lane = &l->lanes[i];
            const char *name = t->story->actors[lane->actor];
            rad__canvas_text(&t->canvas, lane->x, lane->room + 1, row ? rule : name, row ? used : strlen(name),
                             row ? RAD_STYLE_DIM : lane_style(i));
        }
        if (l->form != RAD_LANES_COLUMNS) {
            const char *text = row ? rule : "who, and what";
            rad__canvas_text(&t->canvas, l->words_x - l->name_room - 2, 13, text, row ? used : strlen(text),
                             RAD_STYLE_DIM);
        }
        rad__canvas_emit(&t->canvas);
    }
}

static uint64_t find_failing_line(const rad_story *s)
{
    const rad_verdict *v = &s->verdict;
    if (v->result != RAD_RESULT_FAILURE || strcmp(v->kind, "deadlock") == 0 || strcmp(v->kind, "livelock") == 0 ||
        strcmp(v->kind, "starvation") == 0 || strcmp(v->kind, "step-limit") == 0)
        return UINT64_MAX; /* no single step is at fault */
    for (uint64_t i = s->line_count; i-- > 0;)
        if (s->lines[i].step <= v->failure_step) return i;
    return UINT64_MAX;
}

char *rad_story_text(const rad_story *s, uint32_t width, bool colour, bool all)
{
    width = width == 0 ? WIDTH_DEFAULT : width;
    width = width < WIDTH_MIN ? WIDTH_MIN : width;
    width = width > RAD_CANVAS_WIDTH_MAX ? RAD_CANVAS_WIDTH_MAX : width;
    rad_teller t = {.story = s, .all = all, .failing_line = find_failing_line(s)};
    char *text = NULL;
    if (rad__canvas_open(&t.canvas, width, colour) && rad__lanes_open(&t.lanes, s, width, all)) {
        tell_heading(&t);
        tell_lines(&t);
        rad__tell_end(&t);
        rad__bytes_put(&t.canvas.out, "", 1);
        if (!t.canvas.out.failed) {
            text = (char *)t.canvas.out.data;
            t.canvas.out = (rad_bytes){.data = NULL};
        }
    }
    rad__lanes_close(&t.lanes);
    rad__canvas_close(&t.canvas);
    return text;
}
