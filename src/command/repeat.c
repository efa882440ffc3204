#include "repeat.h"

#include "base/readable.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

/* Of long runs the beginning is compared; and a step that hangs is for the search to find. */
enum { STEPS_MAX = 2000, HANG_MS = 1000 };

static bool is_same_line(const rad_story *a, const rad_story *b, uint64_t i)
{
    const rad_line *x = &a->lines[i], *y = &b->lines[i];
    return strcmp(a->actors[x->actor], b->actors[y->actor]) == 0 && strcmp(x->site, y->site) == 0 &&
           strcmp(x->object, y->object) == 0;
}

static void put_line(const rad_story *s, uint64_t i, char *text, size_t size)
{
    if (i < s->line_count)
        snprintf(text, size, "%s: %s %s", s->actors[s->lines[i].actor], s->lines[i].site, s->lines[i].object);
    else
        snprintf(text, size, "the end");
}

/* Between two decisions: the run is told twice, and the stories are compared. */
static void find_step(const rad_artifact *a, char why[REPEAT_TEXT])
{
    rad_error ignored = {.code = 0};
    rad_story *one = NULL, *two = NULL;
    char first[120], second[120];
    snprintf(why, REPEAT_TEXT, "what is done between two decisions is another");
    if (rad_lab_story(a, &one, &ignored) == 0 && rad_lab_story(a, &two, &ignored) == 0) {
        uint64_t i = 0;
        while (i < one->line_count && i < two->line_count && is_same_line(one, two, i)) i++;
        put_line(one, i, first, sizeof first);
        put_line(two, i, second, sizeof second);
        if (i < one->line_count || i < two->line_count)
            snprintf(why, REPEAT_TEXT, "at step %s: once %s, and once %s", number(i), first, second);
    }
    rad_story_free(one);
    rad_story_free(two);
}

bool repeats(const rad_target *t, uint64_t seed, char why[REPEAT_TEXT])
{
    rad_error ignored = {.code = 0};
    rad_target begins = *t;
    rad_verdict first, again;
    rad_log *log = NULL;
    rad_artifact *a = NULL;
    if (begins.c.max_steps == 0 || begins.c.max_steps > STEPS_MAX) begins.c.max_steps = STEPS_MAX;
    if (begins.c.hang_ms == 0 || begins.c.hang_ms > HANG_MS) begins.c.hang_ms = HANG_MS;
    rad_run_request request = {.seed = seed, .get_log = &log, .artifact = &a};
    int code = rad_lab_run(&begins, &request, &first, &ignored);
    bool known = code == 0 && log != NULL && a != NULL;
    if (known) {
        request = (rad_run_request){.hang_seconds = begins.c.hang_ms / 1e3, .from_log = log};
        known = rad_lab_run(&begins, &request, &again, &ignored) == 0;
    }
    bool decides =
        known && again.result == RAD_RESULT_DIVERGED && strncmp(again.divergence, "decision", strlen("decision")) == 0;
    bool same = !known || (again.result != RAD_RESULT_DIVERGED && strcmp(first.trace_hash, again.trace_hash) == 0);
    if (decides)
        snprintf(why, REPEAT_TEXT, "%s", again.divergence);
    else if (!same)
        find_step(a, why);
    rad_log_free(log);
    rad_artifact_free(a);
    return same;
}

void report_unrepeatable(cli *c, const char *why)
{
    char text[REPEAT_TEXT + 300];
    rad__readable_text(text, sizeof text,
                       ": the same choices gave another run in another process: %s. What is found need not be "
                       "found "
                       "again. Addresses, memory that was not initialised, the processor's own clock and random "
                       "numbers, and files can make that difference (docs/fibers-under-test.md)",
                       why);
    out(c, "\n%sNOT REPEATABLE%s", style(c, STYLE_BAD), style(c, STYLE_OFF));
    out_wrapped(c, (uint32_t)strlen("NOT REPEATABLE"), 4, text);
}
