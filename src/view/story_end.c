/* story_end.c — the text below the lanes: who waits for whom, and how the run ended. */
#include "view/story.h"

#include "base/readable.h"
#include "view/words.h"

#include <stdio.h>
#include <string.h>

enum { WAITS_MAX = 24, CIRCLE_MAX = 64, NAMED_MOST = 4 };

static void blank_row(rad_teller *t)
{
    rad__canvas_emit(&t->canvas);
}

/* Nobody misses the clock: it is in each machine that has time, and most of their runs do without it. */
static bool is_unseen(const rad_teller *t, uint32_t actor)
{
    return t->lanes.lane_of[actor] == RAD_NONE && strcmp(t->story->actors[actor], "clock") != 0;
}

/* The actors that take no shown step: a few by their names. */
static void tell_unseen(rad_teller *t)
{
    const rad_story *s = t->story;
    uint32_t unseen = 0, named = 0;
    for (uint32_t i = 0; i < s->actor_count; i++) unseen += is_unseen(t, i);
    if (unseen == 0) return;
    char text[NAMED_MOST * (sizeof s->actors[0] + 2) + 64] = "(", number[32];
    for (uint32_t i = 0; i < s->actor_count && unseen <= NAMED_MOST; i++) {
        if (!is_unseen(t, i)) continue;
        named++;
        const char *between = named == 1 ? "" : named == unseen ? " and " : ", ";
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", between, s->actors[i]);
    }
    size_t used = strlen(text);
    if (named == 0)
        snprintf(text + used, sizeof text - used, "%s %sactors", rad__readable_count(unseen, number),
                 t->lanes.count ? "other " : "");
    used = strlen(text);
    snprintf(text + used, sizeof text - used, unseen == 1 ? " has no step here)" : " have no step here)");
    rad__canvas_paragraph(&t->canvas, 1, 2, text, RAD_STYLE_DIM);
}

/* What the hollow sign means, which no run without a wait shows. */
static void tell_hollow(rad_teller *t)
{
    const rad_story *s = t->story;
    bool hollow = false;
    for (uint64_t i = 0; i < s->line_count; i++) hollow |= s->lines[i].waits && (t->all || !s->lines[i].hidden);
    if (hollow && t->lanes.form != RAD_LANES_LIST)
        rad__canvas_paragraph(&t->canvas, 1, 3, "○ after this step its actor had to wait", RAD_STYLE_DIM);
}

static uint32_t actor_by_name(const rad_story *s, const char *name)
{
    for (uint32_t i = 0; i < s->actor_count; i++)
        if (strcmp(s->actors[i], name) == 0) return i;
    return RAD_NONE;
}

static const rad_wait_edge *wait_of(const rad_story *s, uint32_t actor)
{
    for (uint32_t i = 0; i < s->wait_count; i++)
        if (s->waits[i].actor == actor) return &s->waits[i];
    return NULL;
}

/* Follows "waits for what is held by" from one actor; the length of the way back to it, or 0. */
static uint32_t circle_from(const rad_story *s, uint32_t actor, uint32_t circle[CIRCLE_MAX])
{
    uint32_t at = actor;
    for (uint32_t length = 0; length < CIRCLE_MAX;) {
        circle[length++] = at;
        const rad_wait_edge *edge = wait_of(s, at);
        at = edge ? actor_by_name(s, edge->holder) : RAD_NONE;
        if (at == actor) return length;
        if (at == RAD_NONE) return 0;
    }
    return 0;
}

static void tell_circle(rad_teller *t)
{
    const rad_story *s = t->story;
    uint32_t circle[CIRCLE_MAX], length = 0;
    for (uint32_t i = 0; i < s->wait_count && i < CIRCLE_MAX && length == 0; i++)
        length = circle_from(s, s->waits[i].actor, circle);
    if (length == 0) return;
    char text[CIRCLE_MAX * 56];
    int used = snprintf(text, sizeof text, "a circle: %s", s->actors[circle[0]]);
    for (uint32_t i = 1; i <= length; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " → %s", s->actors[circle[i % length]]);
    rad__canvas_paragraph(&t->canvas, 1, 5, text, RAD_STYLE_BOLD);
}

static void tell_waits(rad_teller *t)
{
    const rad_story *s = t->story;
    for (uint32_t i = 0; i < s->wait_count && i < WAITS_MAX; i++) {
        const rad_wait_edge *edge = &s->waits[i];
        const char *who = edge->actor < s->actor_count ? s->actors[edge->actor] : "nobody";
        bool held = edge->holder[0] && strcmp(edge->holder, "-") != 0;
        bool end = strcmp(edge->holder, edge->object) == 0; /* it waits for an actor to end */
        const char *unknown = s->stack_count > 0 ? "a timer or the system" : "something";
        bool known = edge->object[0] && strcmp(edge->object, "-") != 0;
        char text[200 + RAD_PLACE_MAX];
        bool holder = held && !end;
        int used = snprintf(text, sizeof text, "%s waits for %s%s%s", who, known ? edge->object : unknown,
                            holder ? ", held by " : "", holder ? edge->holder : "");
        if (edge->made && !held) {
            char place[RAD_PLACE_MAX];
            rad__place_text(edge->made, place);
            snprintf(text + used, sizeof text - (size_t)used, " (first used at %s)", place);
        }
        rad__canvas_paragraph(&t->canvas, 1, 5, text, RAD_STYLE_PLAIN);
    }
    if (s->wait_count > WAITS_MAX) {
        char text[64], number[32];
        snprintf(text, sizeof text, "and %s more wait", rad__readable_count(s->wait_count - WAITS_MAX, number));
        rad__canvas_paragraph(&t->canvas, 1, 5, text, RAD_STYLE_DIM);
    }
}

/* The message without the kind it may begin with: "deadlock: x" under the heading deadlock is "x". */
static const char *message_of(const rad_verdict *v)
{
    size_t size = strlen(v->kind);
    bool repeats = strncmp(v->message, v->kind, size) == 0 && v->message[size] == ':';
    const char *message = repeats ? v->message + size + 1 : v->message;
    while (*message == ' ') message++;
    return message;
}

static void tell_verdict(rad_teller *t)
{
    const rad_verdict *v = &t->story->verdict;
    char text[640], number[32];
    uint32_t style = RAD_STYLE_BAD;
    if (v->result == RAD_RESULT_PASS) {
        style = RAD_STYLE_GOOD;
        snprintf(text, sizeof text, "✓ passed: %s step%s, nothing to report", rad__readable_count(v->steps, number),
                 v->steps == 1 ? "" : "s");
    } else if (v->result == RAD_RESULT_CUT) {
        snprintf(text, sizeof text, "… cut: not finished after %s step%s, neither passed nor failed",
                 rad__readable_count(v->steps, number), v->steps == 1 ? "" : "s");
    } else if (v->result == RAD_RESULT_DIVERGED) {
        snprintf(text, sizeof text, "✗ diverged: %s", v->divergence);
    } else {
        bool told = strcmp(v->kind, "deadlock") == 0 && t->story->wait_count > 0 && t->story->state == NULL;
        const char *message = told ? "no actor can run" : message_of(v);
        snprintf(text, sizeof text, "✗ %s at step %s%s%s", v->kind, rad__readable_count(v->failure_step, number),
                 *message ? ": " : "", message);
    }
    rad__canvas_paragraph(&t->canvas, 1, 3, text, style);
}

static void tell_measure(rad_teller *t)
{
    const rad_measure *m = &t->story->measure;
    char text[200], steps[32], switches[32], preemptions[32], nonzero[32];
    snprintf(text, sizeof text, "%s step%s, %s switch%s (%s preemptive), %s choice%s off the baseline",
             rad__readable_count(m->steps, steps), m->steps == 1 ? "" : "s", rad__readable_count(m->switches, switches),
             m->switches == 1 ? "" : "es", rad__readable_count(m->preemptions, preemptions),
             rad__readable_count(m->nonzero, nonzero), m->nonzero == 1 ? "" : "s");
    rad__canvas_paragraph(&t->canvas, 3, 3, text, RAD_STYLE_DIM);
}

/* ---- What a report needs that nobody can run again ------------------------------------------------- */

static void tell_heading(rad_teller *t, const char *text)
{
    blank_row(t);
    rad__canvas_paragraph(&t->canvas, 1, 1, text, RAD_STYLE_BOLD);
}

static void tell_state(rad_teller *t)
{
    const char *at = t->story->state;
    if (at == NULL || *at == 0) return;
    tell_heading(t, "State at the end");
    while (*at) {
        char line[4096];
        size_t size = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", size < sizeof line ? (int)size : (int)sizeof line - 1, at);
        rad__canvas_paragraph(&t->canvas, 3, 7, line, RAD_STYLE_PLAIN);
        at += size + (at[size] != 0);
    }
}

/* Of a failure that is told in part: its last steps without a gap. */
static void tell_events(rad_teller *t)
{
    const rad_story *s = t->story;
    uint64_t from = s->line_count > RAD_LAST_EVENTS ? s->line_count - RAD_LAST_EVENTS : 0;
    bool hidden = false;
    for (uint64_t i = from; i < s->line_count; i++) hidden |= s->lines[i].hidden;
    if (s->state == NULL || t->all || !hidden) return;
    char text[RAD_WORDS_MAX + 80], words[RAD_WORDS_MAX], number[32];
    snprintf(text, sizeof text, "Last %s events", rad__readable_count(s->line_count - from, number));
    tell_heading(t, text);
    for (uint64_t i = from; i < s->line_count; i++) {
        const rad_line *line = &s->lines[i];
        const char *who = line->actor < s->actor_count ? s->actors[line->actor] : "nobody";
        rad__line_words(line, who, words);
        snprintf(text, sizeof text, "%5llu %s: %s", (unsigned long long)line->step, who, words);
        rad__canvas_paragraph(&t->canvas, 1, 7, text, RAD_STYLE_PLAIN);
    }
}

void rad__tell_end(rad_teller *t)
{
    blank_row(t);
    tell_unseen(t);
    tell_hollow(t);
    tell_waits(t);
    tell_circle(t);
    tell_verdict(t);
    tell_measure(t);
    tell_state(t);
    tell_events(t);
}
