/* rounds.c — steps that repeat: a loop that makes a thousand rounds is drawn by its first and its last one.
 *
 *         4  ● write rwlock lock
 *         5  ● unlock rwlock lock
 *            … steps 6 to 765 are the 2 steps before them, 380 times more …
 *       766  ● write rwlock lock
 *       767  ● unlock rwlock lock
 *
 * Two lines are the same if nothing but the number of their steps differs, or the time to which a clock moves. A
 * decisive one is like no other. */
#include "view/story.h"

#include "base/readable.h"

#include <stdio.h>
#include <string.h>

enum { ROUND_MOST = 64, LEFT_OUT_LEAST = 12 };

/* "to 2000 us" */
static bool is_time(const char *text)
{
    unsigned long long us;
    int end = 0;
    return sscanf(text, "to %llu us%n", &us, &end) == 1 && end > 0 && text[end] == 0;
}

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || (is_time(a) && is_time(b));
}

static bool is_same(const rad_line *a, const rad_line *b)
{
    return a->actor == b->actor && a->turn == b->turn && a->hidden == b->hidden && !a->decisive && !b->decisive &&
           a->access == b->access && a->has_value == b->has_value && a->value == b->value && a->at == b->at &&
           strcmp(a->object, b->object) == 0 && strcmp(a->site, b->site) == 0 && strcmp(a->kind, b->kind) == 0 &&
           is_same_text(a->note, b->note) && is_same_text(a->words, b->words);
}

/* How many lines from `at + size` on are each like that `size` lines before it. */
static uint64_t count_same(const rad_teller *t, uint64_t at, uint64_t size)
{
    const rad_story *s = t->story;
    uint64_t end = at + size;
    while (end < s->line_count && end != t->failing_line && is_same(&s->lines[end], &s->lines[end - size])) end++;
    return end - at - size;
}

void rad__rounds_find(const rad_teller *t, uint64_t at, rad_rounds *r)
{
    r->from = UINT64_MAX;
    for (r->size = 1; !t->all && r->size <= ROUND_MOST; r->size++) {
        uint64_t more = count_same(t, at, r->size) / r->size;
        if (more < 2 || (more - 1) * r->size < LEFT_OUT_LEAST) continue;
        r->from = at + r->size;
        r->times = more - 1;
        return;
    }
}

uint64_t rad__rounds_tell(rad_teller *t, rad_rounds *r)
{
    const rad_line *lines = t->story->lines;
    uint64_t after = r->from + r->size * r->times;
    char text[200], first[32], last[32], size[32], times[32];
    snprintf(text, sizeof text, "… steps %s to %s are the %s step%s before them, %s time%s more …",
             rad__readable_count(lines[r->from].step, first), rad__readable_count(lines[after - 1].step, last),
             rad__readable_count(r->size, size), r->size == 1 ? "" : "s", rad__readable_count(r->times, times),
             r->times == 1 ? "" : "s");
    rad__canvas_paragraph(&t->canvas, t->lanes.margin, t->lanes.margin + 2, text, RAD_STYLE_DIM);
    r->from = UINT64_MAX;
    return after;
}
