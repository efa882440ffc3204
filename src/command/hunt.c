#include "hunt.h"

#include "report.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text, *setting;
    uint32_t param; /* of programs */
} passes[PASSES] = {[PASS_POINTS] = {"decisions where there were races", NULL, 0},
                    [PASS_FREE_CLOCK] = {"a free clock", "clock=1", 0},
                    [PASS_SPURIOUS] = {"spurious wakeups", "spurious=1", 4}};

const char *hunt_pass_text(enum hunt_pass pass)
{
    return passes[pass].text;
}

const char *hunt_pass_setting(enum hunt_pass pass)
{
    return passes[pass].setting;
}

void hunt_name(hunt *h, const char *path, const char *machine)
{
    static const char *const ends[] = {".min.raddle.json", ".raddle.json", ".json", ".raddle.log", ".session", ".flow"};
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path ? path : machine;
    size_t stem = strlen(name);
    for (uint32_t i = 0; path && i < sizeof ends / sizeof *ends; i++) {
        if (ends_with(name, ends[i])) {
            stem -= strlen(ends[i]);
            break;
        }
    }
    bool artifact = path && ends_with(path, ".raddle.json");
    snprintf(h->name, sizeof h->name, "%.*s%s", stem < 180 ? (int)stem : 180, name, artifact ? "-again" : "");
}

static bool hunt_path(const hunt *h, uint32_t index, const char *end, char *path, size_t size)
{
    char name[256], ordinal[16] = "";
    if (index > 0) snprintf(ordinal, sizeof ordinal, "-%u", index + 1);
    snprintf(name, sizeof name, "%.200s%s%s", h->name, ordinal, end);
    return join_path(path, size, h->dir, name);
}

bug *hunt_find(hunt *h, const char *identity)
{
    for (uint32_t i = 0; i < h->bug_count; i++)
        if (strcmp(h->bugs[i].identity, identity) == 0) return &h->bugs[i];
    return NULL;
}

void hunt_head(hunt *h)
{
    if (!h->json && h->head[0]) {
        out(h->c, "%s%s%s%s\n", style(h->c, STYLE_BOLD), h->head, style(h->c, STYLE_OFF), h->head_rest);
        h->head[0] = 0;
    }
}

bug *hunt_keep(hunt *h, const rad_artifact *a)
{
    const rad_verdict *v = rad_artifact_verdict(a);
    if (h->bug_count == KEEP_BUGS_MAX || hunt_find(h, v->identity)) return NULL;
    char path[KEEP_PATH_MAX];
    bug *b = &h->bugs[h->bug_count];
    *b = (bug){.verdict = *v, .pass = h->pass};
    snprintf(b->identity, sizeof b->identity, "%s", v->identity);
    if (!hunt_path(h, h->bug_count, ".raddle.json", path, sizeof path)) complain(h->c, "--output: path too long");
    h->bug_count++;
    progress_clear(h->c);
    keep_artifact(h->c, a, path, &b->found);
    if (!h->json) {
        hunt_head(h);
        out_text(h->c, "\n");
        if (h->pass != PASS_FIRST) out(h->c, "Only with %s:\n", passes[h->pass].text);
        report_verdict(h->c, 0, v);
        keep_report(h->c, "written", &b->found);
        out_flush(h->c);
    }
    return b;
}

static void tell_second(hunt *h, const bug *b, const rad_artifact *second)
{
    if (second == NULL) return;
    bool known = hunt_find(h, rad_artifact_verdict(second)->identity) != NULL;
    if (!h->json) {
        report_label(h->c, "second");
        out(h->c, "while shrinking %s another bug was met: %s%s\n", b->identity, rad_artifact_verdict(second)->identity,
            known ? " (known already)" : "");
    }
    bug *other = hunt_keep(h, second);
    if (other) other->second = true;
}

/* For each of the two stages. A bug gets half of what is left of the time for all: how many follow is not known. */
static double stage_seconds(const hunt *h)
{
    const double least = 0.05;
    if (h->shrink_all <= 0) return h->shrink_seconds;
    double half = (h->shrink_all - h->shrink_used) / 2 / 2;
    return half < least ? least : half < RAD_SHRINK_SECONDS ? half : RAD_SHRINK_SECONDS;
}

int hunt_shrink(hunt *h, bug *b, const rad_finding *f)
{
    cli *c = h->c;
    char path[KEEP_PATH_MAX];
    int status = shrink_artifact(c, f->artifact, stage_seconds(h), &b->small);
    h->shrink_used += b->small.report.elapsed;
    if (status != 0) return status;
    b->is_shrunk = true;
    hunt_path(h, (uint32_t)(b - h->bugs), ".min.raddle.json", path, sizeof path);
    keep_artifact(c, b->small.artifact, path, &b->minimised);
    if (!h->json) {
        out(c, "\n%s%s%s: first in run %s, %s run%s failed this way\n", style(c, STYLE_BOLD), b->identity,
            style(c, STYLE_OFF), number(f->run), number(f->failures), plural(f->failures));
        shrunk_report(c, &b->small);
        keep_report(c, "written", &b->minimised);
        out_text(c, "\n");
        status = tell_summary(c, b->small.artifact);
        status = status == EXIT_FOUND ? 0 : status; /* said; the search has found a failure anyway */
        hunt_replay_line(h, b);
    }
    tell_second(h, b, b->small.report.second);
    return status ? status : *c->stop ? EXIT_INTERRUPTED : 0;
}

/* The one command that replays it. */
static bool replay_command(const hunt *h, const bug *b, char *text, size_t size)
{
    const kept *k = b->is_shrunk && b->minimised.written ? &b->minimised : &b->found;
    command_text(h->c, "replay", k->path, text, size);
    return k->written;
}

void hunt_replay_line(hunt *h, const bug *b)
{
    char text[2 * KEEP_PATH_MAX];
    if (replay_command(h, b, text, sizeof text)) {
        out_text(h->c, "\n");
        report_label(h->c, "replay");
        out(h->c, "%s\n", text);
    }
}

int hunt_explain(hunt *h, rad_exploration *e, bool wanted)
{
    int status = 0;
    for (uint32_t i = 0; i < e->finding_count; i++) {
        const rad_finding *f = &e->findings[i];
        const char *identity = rad_artifact_verdict(f->artifact)->identity;
        hunt_keep(h, f->artifact); /* known already, unless the search could not call back */
        bug *b = hunt_find(h, identity);
        if (b == NULL || b->pass != h->pass || b->is_shrunk) /* too many, or told already */
            continue;
        bool shrink = wanted && !e->interrupted && status == 0;
        int result = shrink ? hunt_shrink(h, b, f) : 0;
        status = status ? status : result;
        if (!h->json && (!shrink || result != 0)) {
            if (rad_artifact_target(f->artifact)->machine->describe) {
                out_text(h->c, "\n");
                tell_summary(h->c, f->artifact);
            }
            hunt_replay_line(h, b);
        }
    }
    if (status == EXIT_INTERRUPTED) e->interrupted = true;
    return status;
}

static const rad_finding *finding_of(const bug *b, const rad_exploration *e)
{
    for (uint32_t i = 0; i < e->finding_count; i++)
        if (strcmp(rad_artifact_verdict(e->findings[i].artifact)->identity, b->identity) == 0) return &e->findings[i];
    return NULL;
}

bool hunt_needs(const bug *b, enum hunt_pass pass)
{
    if (b->pass != pass || pass == PASS_FIRST) return false;
    return !b->is_shrunk || rad_artifact_target(b->small.artifact)->c.params[passes[pass].param] != 0;
}

bool hunt_first_in(const hunt *h, enum hunt_pass pass)
{
    for (uint32_t i = 0; i < h->bug_count; i++)
        if (h->bugs[i].pass == pass) return true;
    return false;
}

void hunt_json(writer *j, hunt *h, const rad_exploration *const e[PASSES])
{
    put_array(j, "findings");
    for (uint32_t i = 0; i < h->bug_count; i++) {
        const bug *b = &h->bugs[i];
        const rad_finding *f = finding_of(b, e[b->pass]);
        char text[2 * KEEP_PATH_MAX];
        put_object(j, NULL);
        if (f) {
            put_count(j, "run", f->run);
            put_count(j, "failures", f->failures);
        }
        put_bool(j, "second", b->second);
        if (e[PASS_FREE_CLOCK]) put_bool(j, "needs_delay", hunt_needs(b, PASS_FREE_CLOCK));
        if (e[PASS_SPURIOUS]) put_bool(j, "needs_spurious", hunt_needs(b, PASS_SPURIOUS));
        put_failure(j, "failure", &b->verdict);
        put_text(j, "trace_hash", b->verdict.trace_hash);
        keep_json(j, &b->found);
        if (b->is_shrunk) {
            put_object(j, "minimised");
            keep_json(j, &b->minimised);
            shrunk_json(j, &b->small);
            put_close(j, '}');
        }
        put_text(j, "replay", replay_command(h, b, text, sizeof text) ? text : NULL);
        put_close(j, '}');
    }
    put_close(j, ']');
}

void hunt_free(hunt *h)
{
    for (uint32_t i = 0; i < h->bug_count; i++) {
        keep_free(&h->bugs[i].found);
        keep_free(&h->bugs[i].minimised);
        shrunk_free(&h->bugs[i].small);
    }
}
