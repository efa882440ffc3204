#include "realign.h"

#include "report.h"

#include <stdio.h>

bool realigned_well(const rad_realignment *r)
{
    return r->answer == RAD_REALIGNED_GONE || r->answer == RAD_REALIGNED_PASSES;
}

void realigned_line(const rad_realignment *r, char *text, size_t size)
{
    const char *answer = rad_realigned_text(r->answer);
    if (r->answer == RAD_REALIGNED_DIVERGED && r->divergences > 0) {
        snprintf(text, size, "diverged at step %s because %s", number(r->diverged_at), r->because);
    } else if (r->answer == RAD_REALIGNED_DIVERGED) {
        snprintf(text, size, "diverged: %s recorded choice%s not met", number(r->lost),
                 r->lost == 1 ? " was" : "s were");
    } else {
        snprintf(text, size, "%s", answer);
    }
}

static void report_meeting(cli *c, const rad_realignment *r)
{
    if (r->divergences == 0) return;
    if (r->answer != RAD_REALIGNED_DIVERGED) {
        report_label(c, "differs");
        out(c, "at step %s: %s\n", number(r->diverged_at), r->because);
    }
    report_label(c, "again");
    if (!r->again) {
        out_text(c, "never: the two runs do not come together any more\n");
        return;
    }
    out(c, "in step from step %s on: %s (step %s of the recording)", number(r->again_at), r->again_as,
        number(r->again_recorded));
    if (r->divergences > 1)
        out(c, "; %s more difference%s after it", number(r->divergences - 1), plural(r->divergences - 1));
    out_text(c, "\n");
}

void report_realigned(cli *c, const rad_realignment *r)
{
    char text[900];
    realigned_line(r, text, sizeof text);
    out(c, "%s%s%s", style(c, realigned_well(r) ? STYLE_GOOD : STYLE_BAD), text, style(c, STYLE_OFF));
    if (r->as_recorded) {
        out_text(c, ", as recorded\n");
        return;
    }
    out(c, "%s\n", r->by_list ? " (by the plain list of choices; by actors and sites it does not)" : "");
    report_meeting(c, r);
    report_label(c, "steps");
    out(c, "%s of %s recorded found (%s late), %s new, %s site%s renamed\n", number(r->found), number(r->recorded),
        number(r->late), number(r->added), number(r->renamed), plural(r->renamed));
    if (r->lost > 0) {
        report_label(c, "lost");
        out(c, "%s recorded choice%s not met%s\n", number(r->lost), r->lost == 1 ? " was" : "s were",
            r->answer == RAD_REALIGNED_DIVERGED ? ": whether the failure is gone is not known" : "");
    }
}

void put_realigned(writer *j, const rad_realignment *r)
{
    put_text(j, "answer", rad_realigned_text(r->answer));
    put_bool(j, "as_recorded", r->as_recorded);
    put_bool(j, "by_list", r->by_list);
    put_object(j, "realigned");
    put_count(j, "recorded", r->recorded);
    put_count(j, "found", r->found);
    put_count(j, "late", r->late);
    put_count(j, "missing", r->missing);
    put_count(j, "added", r->added);
    put_count(j, "renamed", r->renamed);
    put_count(j, "lost", r->lost);
    put_count(j, "divergences", r->divergences);
    if (r->divergences > 0) {
        put_count(j, "diverged_at", r->diverged_at);
        put_text(j, "because", r->because);
    }
    if (r->again) {
        put_count(j, "again_at", r->again_at);
        put_count(j, "again_recorded", r->again_recorded);
        put_text(j, "again_as", r->again_as);
    }
    put_close(j, '}');
}
