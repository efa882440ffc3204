#include "progress.h"

#include <stdio.h>
#include <string.h>

/* "3 s", "4 min", "2 h". */
static void span_text(double seconds, char *text, size_t size)
{
    if (seconds < 100)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.0f h", seconds / 3600);
}

/* A line that is wider than the terminal would go on in a second row, and leave its first one there. */
void progress_line(const cli *c, const char *line)
{
    uint32_t room = c->progress_width > 1 ? c->progress_width - 1 : UINT32_MAX;
    size_t length = strlen(line);
    note("\r\033[K%.*s", (int)(length < room ? length : room), line);
}

void progress_explore(const progress_limits *limits, const rad_progress *p)
{
    if (!limits->c->progress) return;
    double rate = p->elapsed > 0 ? (double)p->runs / p->elapsed : 0;
    double left = rate > 0 && p->runs_budget > p->runs ? (double)(p->runs_budget - p->runs) / rate : 0;
    if (limits->seconds > 0 && limits->seconds - p->elapsed < left) left = limits->seconds - p->elapsed;
    char line[256], span[32];
    span_text(left > 0 ? left : 0, span, sizeof span);
    snprintf(line, sizeof line, "%-10s %s of %s runs  %s/s  %s failed  %s cut  %s classes  %s left", p->phase,
             number(p->runs), number(p->runs_budget), number((uint64_t)rate), number(p->failures), number(p->cut),
             number(p->classes), span);
    progress_line(limits->c, line);
}

void progress_shrink(void *context, const char *stage, uint64_t checks, const rad_measure *m)
{
    const cli *c = context;
    if (!c->progress) return;
    char line[256];
    snprintf(line, sizeof line, "shrinking: %-12s %s runs  %s choices  %s preemptions  %s steps", stage, number(checks),
             number(m->choices), number(m->preemptions), number(m->steps));
    progress_line(c, line);
}

void progress_items(const cli *c, const char *what, uint64_t done, uint64_t count)
{
    if (c->progress) {
        char line[256];
        snprintf(line, sizeof line, "%s %s of %s", what, number(done), number(count));
        progress_line(c, line);
    }
}

void progress_states(void *context, uint64_t states, uint64_t steps)
{
    const cli *c = context;
    if (c->progress) {
        char line[256];
        snprintf(line, sizeof line, "looking: %s states, %s steps", number(states), number(steps));
        progress_line(c, line);
    }
}

void progress_clear(const cli *c)
{
    if (c->progress) progress_line(c, "");
}
