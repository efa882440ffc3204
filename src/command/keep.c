#include "keep.h"

#include "progress.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

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

int shrink_artifact(cli *c, const rad_artifact *a, double seconds, double hang_seconds, const char *const *suppressed,
                    shrunk *s)
{
    rad_error error = {.code = 0};
    *s = (shrunk){.artifact = NULL};
    rad_shrink_options options = {.seconds = seconds,
                                  .hang_seconds = hang_seconds,
                                  .progress = c->progress ? progress_shrink : NULL,
                                  .context = c,
                                  .interrupted = c->stop,
                                  .suppressed = suppressed};
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

void certificate_text(const rad_artifact *a, const rad_shrink_report *r, char *text, size_t size)
{
    const char *limits = rad_target_limits(rad_artifact_target(a));
    if (r->certificate != RAD_MINIMAL) {
        snprintf(text, size, "not certified");
    } else if (r->after.preemptions == 0) {
        snprintf(text, size, "minimal: fails without any preemption");
    } else {
        uint64_t fewer = r->after.preemptions - 1;
        snprintf(text, size, "minimal: no failure with %llu preemption%s%s%s%s", (unsigned long long)fewer,
                 plural(fewer), limits ? ", " : "", limits ? limits : "",
                 r->certified_held ? ", under fair schedules" : "");
    }
}

static const char *budget_name(enum rad_budget b)
{
    static const char *const names[] = {NULL, "runs", "steps", "time"};
    return names[b];
}

/* Why there is a certificate, or none. */
static void report_because(cli *c, const rad_shrink_report *r)
{
    const char *all = number(r->certified_runs);
    report_label(c, "because");
    if (r->certificate == RAD_MINIMAL) {
        out(c, "all %s%s schedule%s with fewer preemptions were tried\n", all, r->certified_held ? " fair" : "",
            plural(r->certified_runs));
    } else if (*c->stop) {
        out(c, "it was interrupted before all schedules with fewer preemptions were tried (%s were)\n", all);
    } else if (r->certificate_ended == RAD_BUDGET_TIME) {
        out(c, "time was up before all schedules with fewer preemptions were tried (%s were)\n", all);
    } else if (r->certificate_ended == RAD_BUDGET_STEPS) {
        out(c, "steps were used up before all schedules with fewer preemptions were tried (%s were)\n", all);
    } else if (r->certificate_ended == RAD_BUDGET_NONE && r->certified_cut > 0) {
        out(c, "of %s schedules with fewer preemptions %s were cut at the step limit\n", all, number(r->certified_cut));
    } else {
        out(c, "the schedules with fewer preemptions are too many to try (%s were)\n", all);
    }
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
    char text[300];
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
    out(c, "%s\n", text);
    if (s->report.certificate != RAD_MINIMAL || to->preemptions > 0) report_because(c, &s->report);
}

void shrunk_json(writer *j, const shrunk *s)
{
    char text[300];
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
