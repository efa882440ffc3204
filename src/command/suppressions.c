#include "suppressions.h"

#include "report.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

int suppressions_read(cli *c, const char *path, suppressions *s)
{
    rad_error error = {.code = 0};
    *s = (suppressions){.file = path};
    if (path == NULL) return 0;
    if (rad_suppressions_read(&s->patterns, path, &error) != 0) return complain_error(c, &error);
    while (s->patterns[s->count]) s->count++;
    s->races = rad__alloc(s->count, sizeof *s->races);
    if (s->races == NULL) {
        suppressions_free(s);
        complain(c, "out of memory");
        return EXIT_RUNTIME;
    }
    rad_lab_suppress(s->patterns);
    return 0;
}

void suppressions_free(suppressions *s)
{
    rad_lab_suppress(NULL);
    rad_suppressions_free(s->patterns);
    rad__free(s->races);
    *s = (suppressions){.file = NULL};
}

void suppressions_add(suppressions *s, const rad_exploration *e)
{
    s->all += e->races_suppressed;
    for (uint64_t i = 0; i < s->count && i < e->suppressed_count; i++) s->races[i] += e->suppressed_by[i];
    if (s->sourceless[0] == 0) memcpy(s->sourceless, e->sourceless, sizeof s->sourceless);
}

/* One of them begins with a label, the others stand below. */
static void report_line(cli *c, const suppressions *s, uint64_t i, const char *label)
{
    report_label(c, label);
    out(c, "%s:%llu: race:%s: ", s->file, (unsigned long long)rad_suppressions_line(s->patterns, i), s->patterns[i]);
}

void suppressions_report(cli *c, const suppressions *s)
{
    bool any_unused = false;
    if (s->all) {
        report_label(c, "suppressed");
        out(c, "%s data race%s\n", number(s->all), plural(s->all));
    }
    for (uint64_t i = 0; i < s->count; i++) {
        if (s->races[i] == 0) continue;
        report_line(c, s, i, "");
        out(c, "%s\n", number(s->races[i]));
    }
    for (uint64_t i = 0; i < s->count; i++) {
        if (s->races[i] > 0) continue;
        report_line(c, s, i, any_unused ? "" : "unused");
        out_text(c, "no data race matches\n");
        any_unused = true;
    }
    if (!any_unused || s->sourceless[0] == 0) return;
    report_label(c, "");
    out(c, "%s\n", s->sourceless);
}

void suppressions_json(writer *j, const suppressions *s)
{
    if (s->patterns == NULL) return;
    put_array(j, "suppressions");
    for (uint64_t i = 0; i < s->count; i++) {
        put_object(j, NULL);
        put_text(j, "file", s->file);
        put_count(j, "line", rad_suppressions_line(s->patterns, i));
        put_text(j, "pattern", s->patterns[i]);
        put_count(j, "races", s->races[i]);
        put_close(j, '}');
    }
    put_close(j, ']');
    if (s->sourceless[0]) put_text(j, "sourceless", s->sourceless);
}
