/* show.c — `raddle show`: the run of an artifact as a swimlane. */
#include "keep.h"
#include "options.h"
#include "report.h"
#include "show_log.h"
#include "suppressions.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct show_args {
    const char *suppress;
    uint64_t width;
    bool all, only_case, json;
} show_args;

#define AT(field) offsetof(show_args, field)

static const option SHOW_OPTIONS[] = {
    {"all", OPTION_FLAG, AT(all), NULL,
     "also draw steps outside the causal past of the failure, and each round of a loop", 0, 0, 0},
    {"width", OPTION_COUNT, AT(width), "N", "columns (default: the terminal's, otherwise 100)", 40, 1000, 0},
    {"case", OPTION_FLAG, AT(only_case), NULL, "print its test case instead, as a file for 'raddle explore'", 0, 0, 0},
    OPTION_SUPPRESS(show_args),
    OPTION_JSON(show_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void json_frame(writer *j, const char *key, const rad_source_place *f)
{
    if (f == NULL) {
        put_text(j, key, NULL);
        return;
    }
    put_object(j, key);
    put_text(j, "function", f->function[0] ? f->function : NULL);
    put_text(j, "file", f->file[0] ? f->file : NULL);
    if (f->line)
        put_count(j, "line", f->line);
    else
        put_text(j, "line", NULL);
    put_text(j, "source", f->source[0] ? f->source : NULL);
    put_close(j, '}');
}

/* Where the fibers of a program are at its end. */
static void json_places(writer *j, const rad_story *s)
{
    if (s->stack_count == 0) return;
    put_array(j, "places");
    for (uint32_t i = 0; i < s->stack_count; i++) {
        const rad_source_stack *stack = &s->stacks[i];
        put_object(j, NULL);
        put_count(j, "actor", stack->actor);
        put_bool(j, "failed", stack->failed);
        if (stack->full) put_bool(j, "stack_full", true);
        put_array(j, "frames");
        for (uint32_t k = 0; k < stack->frame_count; k++) json_frame(j, NULL, &stack->frames[k]);
        put_close(j, ']');
        put_close(j, '}');
    }
    put_close(j, ']');
}

static void json_line(writer *j, const rad_line *line)
{
    static const char *const accesses[] = {[RAD_LOCAL] = "local", [RAD_READ] = "read", [RAD_WRITE] = "write"};
    static const char *const turns[] = {
        [RAD_SWITCH_NONE] = "none", [RAD_SWITCH_FORCED] = "forced", [RAD_SWITCH_PREEMPTIVE] = "preemptive"};
    put_object(j, NULL);
    put_count(j, "step", line->step);
    put_count(j, "actor", line->actor);
    put_text(j, "object", line->object);
    put_text(j, "site", line->site);
    put_text(j, "kind", line->kind);
    put_text(j, "access", accesses[line->access]);
    if (line->has_value)
        put_count(j, "value", line->value);
    else
        put_text(j, "value", NULL);
    put_text(j, "switch", turns[line->turn]);
    put_bool(j, "decisive", line->decisive);
    put_bool(j, "hidden", line->hidden);
    put_text(j, "note", line->note);
    put_text(j, "words", line->words[0] ? line->words : NULL);
    json_frame(j, "at", line->at);
    put_close(j, '}');
}

/* The last events in words, for machines that have words of their own. */
static void json_events(writer *j, const rad_story *s)
{
    if (s->state == NULL) return;
    put_array(j, "last_events");
    for (uint64_t i = first_event(s); i < s->line_count; i++) {
        char text[256];
        event_text(s, i, text, sizeof text);
        put_text(j, NULL, text);
    }
    put_close(j, ']');
}

static void json_story(writer *j, const rad_story *s, bool all)
{
    put_array(j, "actors");
    for (uint32_t i = 0; i < s->actor_count; i++) put_text(j, NULL, s->actors[i]);
    put_close(j, ']');
    put_array(j, "lines");
    for (uint64_t i = 0; i < s->line_count; i++)
        if (all || !s->lines[i].hidden) json_line(j, &s->lines[i]);
    put_close(j, ']');
    put_array(j, "waits");
    for (uint32_t i = 0; i < s->wait_count; i++) {
        put_object(j, NULL);
        put_count(j, "actor", s->waits[i].actor);
        put_text(j, "object", s->waits[i].object);
        put_text(j, "holder", s->waits[i].holder);
        json_frame(j, "made", s->waits[i].made);
        put_close(j, '}');
    }
    put_close(j, ']');
    put_verdict(j, &s->verdict);
    put_measure(j, "measure", &s->measure);
    put_lines(j, "state", s->state);
    json_events(j, s);
}

static int show_json(cli *c, const char *path, const rad_artifact *a, bool all)
{
    rad_error error = {.code = 0};
    rad_story *story = NULL;
    writer j;
    if (rad_lab_story(a, &story, &error) != 0) return complain_error(c, &error);
    put_begin(&j, c);
    put_text(&j, "verb", "show");
    put_text(&j, "file", path);
    put_target(&j, rad_artifact_target(a));
    put_text(&j, "policy", rad_artifact_policy(a));
    put_count(&j, "seed", rad_artifact_seed(a));
    put_bool(&j, "as_recorded", story->as_recorded);
    put_text(&j, "reason", story->as_recorded ? NULL : story->reason);
    json_story(&j, story, all);
    json_places(&j, story);
    put_lines(&j, "blame", story->blame);
    if (story->output) put_text(&j, "output", story->output);
    put_end(&j);
    int status = story->as_recorded ? EXIT_FINE : EXIT_FOUND;
    rad_story_free(story);
    return status;
}

static int show_case(cli *c, const rad_artifact *a)
{
    rad_error error = {.code = 0};
    char *text = rad_target_json(rad_artifact_target(a), &error);
    if (text == NULL) return complain_error(c, &error);
    out_text(c, text);
    rad_free(text);
    return EXIT_FINE;
}

static int show_text(cli *c, const char *path, const rad_artifact *a, const show_args *args)
{
    char text[256];
    rad_target_text(rad_artifact_target(a), text, sizeof text);
    out(c, "%s%s%s: %s, policy %s, seed %llu\n\n", style(c, STYLE_BOLD), path, style(c, STYLE_OFF), text,
        rad_artifact_policy(a), (unsigned long long)rad_artifact_seed(a));
    return tell_story(c, a, args->width ? (uint32_t)args->width : c->width, args->all);
}

/* ---- Which kind of file ------------------------------------------------------------------------------- */

/* A directory of a workflow or of a load test stands for the file in it. */
static const char *file_in(const char *path, char room[4096])
{
    static const char *const names[] = {"journal", "events.log"};
    for (int i = 0; i < 2; i++)
        if (join_path(room, 4096, path, names[i]) && access(room, R_OK) == 0) return room;
    return path;
}

static int show_unknown(cli *c, const char *path)
{
    complain(c,
             "'%.400s': not a file that Raddle writes; expected a schedule file (JSON), a decision "
             "log (RADDLELOG), a load log "
             "(RADLOAD) or a journal of a workflow (RADFLOW)",
             path);
    return EXIT_USAGE;
}

/* What is no schedule file; GO_ON: it is one. */
static int show_by_kind(cli *c, const char *path, const show_args *args)
{
    enum file_kind kind = file_kind(path);
    bool other = kind == FILE_LOAD || kind == FILE_JOURNAL;
    if (kind == FILE_SCHEDULE) return GO_ON;
    if (kind == FILE_UNKNOWN || kind == FILE_EMPTY) return show_unknown(c, path);
    if (args->only_case || args->width || args->all)
        return bad_usage(c, "'%.400s': --case, --width and --all need a schedule file", path);
    if (kind == FILE_DECISIONS) return show_log(c, path, args->json);
    if (other && c->show_other) return c->show_other(c, path, kind == FILE_JOURNAL, args->json);
    complain(c, "'%.400s': from a %s; type: raddle show %s", path, kind == FILE_LOAD ? "load test" : "workflow",
             shell_word(path));
    return EXIT_USAGE;
}

static int show_run(cli *c, int argc, char **argv)
{
    show_args args = {.width = 0};
    const char *path;
    rad_artifact *a = NULL;
    words w;
    int status = options_parse(c, &VERB_SHOW, argc, argv, &args, &w);
    if (status != GO_ON) return status;
    char room[4096], *inside = room;
    if (w.count == 1 && file_in(w.at[0], room) == room) w.at = &inside;
    if ((status = read_file_word(c, w.at, w.count, &path)) != 0 || (status = show_by_kind(c, path, &args)) != GO_ON ||
        (status = read_artifact(c, path, false, &a)) != 0)
        return status;
    suppressions known;
    if ((status = suppressions_read(c, args.suppress, &known)) == 0) {
        if (args.only_case)
            status = show_case(c, a);
        else
            status = args.json ? show_json(c, path, a, args.all) : show_text(c, path, a, &args);
        suppressions_free(&known);
    }
    rad_artifact_free(a);
    return status;
}

static const char *const SHOW_EXAMPLES[] = {
    "raddle show buffer.min.raddle.json",
    "which actor did what, and which switches mattered",
    "raddle show buffer.raddle.json --all --width 160 | less -R",
    "every step of the run as it was found",
    "raddle show buffer.min.raddle.json --case > mine.json && raddle explore mine.json",
    "its test case as a file, to edit and explore",
    NULL,
};

const verb VERB_SHOW = {
    .name = "show",
    .about = "draw a schedule file's run; print what another file of Raddle holds",
    .usage = "FILE [options] [-- ./PROGRAM [ARGUMENTS]]",
    .text = "Draw the run of a schedule file: time runs down, one lane per actor, >>> marks the "
            "decisive switches. Steps outside the causal past of the failure are left out. Below "
            "it: which actor waits for what.\n\n"
            "A long run is easier to read after raddle shrink. If the run is no longer the "
            "recorded one, the first lines say so.",
    .status = "0 done, 1 not the recorded run, " STATUS_ERRORS,
    .options = SHOW_OPTIONS,
    .examples = SHOW_EXAMPLES,
    .run = show_run,
};
