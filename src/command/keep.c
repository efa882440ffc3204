#include "keep.h"

#include "progress.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

enum { CERTIFICATE_MAX = 600 };

void keep_artifact(cli *c, const rad_artifact *a, const char *path, kept *k)
{
    rad_error error = {.code = 0}, again = {.code = 0};
    *k = (kept){.base64 = NULL};
    snprintf(k->path, sizeof k->path, "%s", path);
    k->written = rad_artifact_write(a, path, &error) == 0;
    if (k->written) return;
    complain(c, "%s; the schedule file follows, base64-encoded", error.text);
    k->base64 = rad_artifact_base64(a, &again);
    if (k->base64 == NULL) complain_error(c, &again);
}

void keep_free(kept *k)
{
    rad_free(k->base64);
    k->base64 = NULL;
}

/* The part of a path behind the last slash. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void keep_report(cli *c, const char *label, const kept *k)
{
    report_label(c, label);
    if (k->written) {
        out(c, "%s\n", k->path);
        return;
    }
    out(c, "not as a file; feed these lines to: base64 -d > %s\n", shell_word(file_name(k->path)));
    out_text(c, k->base64 ? k->base64 : "");
    out_flush(c);
}

void keep_json(writer *j, const kept *k)
{
    put_text(j, "artifact", k->written ? k->path : NULL);
    if (!k->written) put_text(j, "artifact_base64", k->base64);
}

bool minimised_path(char *path, size_t size, const char *from)
{
    static const char *const ends[] = {".raddle.json", ".json"};
    int stem = (int)strlen(from);
    bool minimal = ends_with(from, ".min.raddle.json");
    for (size_t i = 0; i < 2 && !minimal; i++) {
        if (ends_with(from, ends[i])) {
            stem -= (int)strlen(ends[i]);
            break;
        }
    }
    int used = snprintf(path, size, "%.*s%s", stem, from, minimal ? "" : ".min.raddle.json");
    return used >= 0 && (size_t)used < size;
}

/* ---- Shrink ---------------------------------------------------------------------------------------- */

int shrink_artifact(cli *c, const rad_artifact *a, double seconds, shrunk *s)
{
    rad_error error = {.code = 0};
    *s = (shrunk){.artifact = NULL};
    rad_shrink_options options = {
        .seconds = seconds, .progress = c->progress ? progress_shrink : NULL, .context = c, .interrupted = c->stop};
    int code = rad_lab_shrink(a, &options, &s->artifact, &s->report, &error);
    progress_clear(c);
    return code == 0 ? 0 : complain_error(c, &error);
}

void shrunk_free(shrunk *s)
{
    rad_artifact_free(s->artifact);
    rad_artifact_free(s->report.second);
    *s = (shrunk){.artifact = NULL};
}

/* "both schedules with fewer were tried, and neither fails this way" */
static void none_fails_text(const rad_shrink_report *r, char *text, size_t size)
{
    const char *fair = r->certified_held ? "fair " : "";
    if (r->certified_runs == 1)
        snprintf(text, size, "the one %sschedule with fewer was tried, and does not fail this way", fair);
    else if (r->certified_runs == 2)
        snprintf(text, size, "both %sschedules with fewer were tried, and neither fails this way", fair);
    else
        snprintf(text, size, "all %s %sschedules with fewer were tried, and none fails this way",
                 number(r->certified_runs), fair);
}

/* "minimal: it needs 1 preemption; …", with the limits of the machine. */
static void certificate_text(const rad_artifact *a, const rad_shrink_report *r, char *text, size_t size)
{
    char none[160];
    const char *limits = rad_target_limits(rad_artifact_target(a));
    if (r->certificate != RAD_MINIMAL) {
        snprintf(text, size, "not certified");
    } else if (r->after.preemptions == 0) {
        snprintf(text, size, "minimal: it fails without any preemption");
    } else {
        none_fails_text(r, none, sizeof none);
        snprintf(text, size, "minimal: it needs %s preemption%s; %s%s%s%s", number(r->after.preemptions),
                 plural(r->after.preemptions), none, limits ? " (limits: " : "", limits ? limits : "",
                 limits ? ")" : "");
    }
}

static const char *budget_name(enum rad_budget b)
{
    static const char *const names[] = {NULL, "runs", "steps", "time"};
    return names[b];
}

/* Why there is no certificate. */
static void report_because(cli *c, const rad_shrink_report *r)
{
    const char *all = number(r->certified_runs);
    report_label(c, "because");
    if (*c->stop)
        out(c, "it was interrupted before all schedules with fewer preemptions were tried (%s were)\n", all);
    else if (r->certificate_ended == RAD_BUDGET_TIME)
        out(c, "time was up before all schedules with fewer preemptions were tried (%s were)\n", all);
    else if (r->certificate_ended == RAD_BUDGET_STEPS)
        out(c, "steps were used up before all schedules with fewer preemptions were tried (%s were)\n", all);
    else if (r->certificate_ended == RAD_BUDGET_NONE && r->certified_cut > 0)
        out(c, "of %s schedules with fewer preemptions %s were cut at the step limit\n", all, number(r->certified_cut));
    else
        out(c, "the schedules with fewer preemptions are too many to try (%s were)\n", all);
}

static void report_stopped(cli *c, const rad_shrink_report *r)
{
    if (*c->stop) {
        report_label(c, "stopped");
        out_text(c, "interrupted: a smaller failure may exist\n");
        return;
    }
    if (r->stopped == RAD_BUDGET_NONE) return;
    report_label(c, "stopped");
    if (r->stopped == RAD_BUDGET_TIME) {
        out_text(c, "time was up: a smaller failure may exist\n");
    } else {
        bool runs = r->stopped == RAD_BUDGET_RUNS;
        out(c, "after %s %s: a smaller failure may exist\n", number(runs ? r->checks : r->steps),
            runs ? "runs" : "steps");
    }
}

void shrunk_report(cli *c, const shrunk *s)
{
    const rad_measure *from = &s->report.before, *to = &s->report.after;
    char text[CERTIFICATE_MAX];
    report_label(c, "shrunk");
    out(c, "%s → %s choice%s, %s → %s preemption%s, %s → %s step%s (%s run%s)\n", number(from->choices),
        number(to->choices), plural(to->choices), number(from->preemptions), number(to->preemptions),
        plural(to->preemptions), number(from->steps), number(to->steps), plural(to->steps), number(s->report.checks),
        plural(s->report.checks));
    report_stopped(c, &s->report);
    if (from->case_size != to->case_size) {
        report_label(c, "case");
        rad_target_text(rad_artifact_target(s->artifact), text, sizeof text);
        out(c, "%s\n", text);
    }
    certificate_text(s->artifact, &s->report, text, sizeof text);
    out_wrapped(c, 0, 4, text);
    if (s->report.certificate != RAD_MINIMAL) report_because(c, &s->report);
}

void shrunk_json(writer *j, const shrunk *s)
{
    char text[CERTIFICATE_MAX];
    certificate_text(s->artifact, &s->report, text, sizeof text);
    put_text(j, "certificate", text);
    put_bool(j, "certified", s->report.certificate == RAD_MINIMAL);
    put_measure(j, "before", &s->report.before);
    put_measure(j, "after", &s->report.after);
    put_count(j, "checks", s->report.checks);
    put_text(j, "stopped", *j->c->stop ? "interrupted" : budget_name(s->report.stopped));
    put_count(j, "certified_runs", s->report.certified_runs);
    put_count(j, "certified_cut", s->report.certified_cut);
    put_count(j, "certified_held", s->report.certified_held);
    put_text(j, "certificate_stopped", budget_name(s->report.certificate_ended));
    put_failure(j, "failure", rad_artifact_verdict(s->artifact));
}

/* ---- Story ----------------------------------------------------------------------------------------- */

bool story_differs(cli *c, const rad_story *s)
{
    if (s->as_recorded) return false;
    out(c, "%snot the recorded run%s: %s\n\n", style(c, STYLE_BAD), style(c, STYLE_OFF), s->reason);
    return true;
}

int tell_summary(cli *c, const rad_artifact *a)
{
    rad_error error = {.code = 0};
    rad_story *story = NULL;
    if (rad_artifact_verdict(a)->steps <= RAD_LAST_EVENTS || rad_artifact_target(a)->machine->describe == NULL)
        return tell_story(c, a, c->width, false);
    if (rad_lab_story(a, &story, &error) != 0) return complain_error(c, &error);
    bool differs = story_differs(c, story);
    report_verdict(c, 0, &story->verdict);
    out(c, "%s steps are too many for a diagram here; 'raddle show' draws them.\n\n", number(story->line_count));
    report_state(c, story);
    report_events(c, story);
    rad_story_free(story);
    return differs ? EXIT_FOUND : 0;
}

int tell_story(cli *c, const rad_artifact *a, uint32_t width, bool all)
{
    rad_error error = {.code = 0};
    rad_story *story = NULL;
    if (rad_lab_story(a, &story, &error) != 0) return complain_error(c, &error);
    bool differs = story_differs(c, story);
    char *text = rad_story_text(story, width, c->colour, all);
    if (text) {
        out_drawn(c, text);
        report_output(c, story);
    }
    rad_story_free(story);
    if (text == NULL) {
        complain(c, "out of memory");
        return EXIT_RUNTIME;
    }
    rad_free(text);
    return differs ? EXIT_FOUND : 0;
}
