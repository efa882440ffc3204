/* tour.c — `raddle tour`: the main job in a minute, on a small machine with a real bug. */
#include "tour.h"
#include "command/coverage.h"
#include "command/keep.h"
#include "command/report.h"
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOUR_RUNS = 20000, TOUR_SEED = 1, TOUR_CASE = 1 };
static const char TOUR_MACHINE[] = "buffer";

typedef struct tour_args {
    const char *output;
} tour_args;

static const option TOUR_OPTIONS[] = {
    {"output", OPTION_TEXT, offsetof(tour_args, output), "DIR",
     "keep the files in DIR, which must exist (default: a temporary directory, removed at the end)",
     0, 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

typedef struct tour {
    cli *c;
    char dir[KEEP_PATH_MAX / 2];
    bool temporary;
    rad_target target;
    rad_artifact *found;
    kept found_file, small_file;
    shrunk small;
} tour;

void tour_part(cli *c, int n, const char *title, const char *command)
{
    out(c, "\n%s%d. %s%s\n", style(c, STYLE_BOLD), n, title, style(c, STYLE_OFF));
    if (command) {
        out(c, "%s   $ raddle %s%s\n", style(c, STYLE_DIM), command, style(c, STYLE_OFF));
    }
    out_text(c, "\n");
    out_flush(c);
}

int tour_not_as_told(const cli *c, const char *what)
{
    complain(c, "%s: this is a bug in raddle, please report it", what);
    return EXIT_BUG;
}

static int open_dir(tour *t, const char *output)
{
    struct stat about;
    if (output) {
        if (stat(output, &about) != 0 || !S_ISDIR(about.st_mode)) {
            return bad_usage(t->c, "--output: '%.200s' is not an existing directory", output);
        }
        snprintf(t->dir, sizeof t->dir, "%s", output);
        return 0;
    }
    snprintf(t->dir, sizeof t->dir, "%.1000s/raddle-tour.XXXXXX", t->c->temp_dir);
    if (mkdtemp(t->dir) == NULL) {
        complain(t->c, "cannot create a directory in '%.400s': %s; use --output DIR",
                 t->c->temp_dir, strerror(errno));
        return EXIT_RUNTIME;
    }
    t->temporary = true;
    return 0;
}

static void close_dir(tour *t)
{
    if (t->temporary) {
        unlink(t->found_file.path);
        unlink(t->small_file.path);
        rmdir(t->dir);
    }
}

static int tell_machine(tour *t)
{
    cli *c = t->c;
    const rad_machine *m = t->target.machine;
    char text[256];
    rad_target_text(&t->target, text, sizeof text);
    tour_part(c, 1, "The program on trial", NULL);
    out(c, "   %s%s%s: %s\n", style(c, STYLE_BOLD), text, style(c, STYLE_OFF), m->about);
    out(c, "   Its bug: %s\n", m->bug ? m->bug : "none");
    out_paragraph(c, 3,
                  "Whether it strikes depends on who runs when. On real threads that is left to "
                  "chance; here raddle decides every single step, so it can try them one by one.");
    return 0;
}

static int explore(tour *t, bool repaired, rad_exploration *e)
{
    rad_error error = {.code = 0};
    rad_target target = t->target;
    target.c.repaired = repaired;
    rad_explore_options options = {.runs = TOUR_RUNS,
                                   .seed = TOUR_SEED,
                                   .jobs = 1,
                                   .stop_on_first = true,
                                   .interrupted = t->c->stop};
    int code = rad_lab_explore(&target, &options, e, &error);
    if (code == RAD_EINTERRUPTED || *t->c->stop) {
        return EXIT_INTERRUPTED;
    }
    return code ? complain_error(t->c, &error) : 0;
}

static int find(tour *t)
{
    cli *c = t->c;
    rad_exploration e = {.runs = 0};
    char path[KEEP_PATH_MAX];
    tour_part(c, 2, "Explore: run it until something breaks", "explore buffer --stop-on-first");
    int status = explore(t, false, &e);
    if (status == 0 && e.finding_count == 0) {
        status = tour_not_as_told(c, "exploring the machine found nothing");
    }
    if (status != 0) {
        rad_exploration_free(&e);
        return status;
    }
    t->found = e.findings[0].artifact;
    e.findings[0].artifact = NULL;
    out(c, "   After %s run%s: ", number(e.runs), plural(e.runs));
    report_verdict(c, 18, rad_artifact_verdict(t->found));
    join_path(path, sizeof path, t->dir, "buffer.raddle.json");
    keep_artifact(c, t->found, path, &t->found_file);
    rad_exploration_free(&e);
    if (!t->found_file.written) {
        return EXIT_RUNTIME;
    }
    out(c, "   The %s choices that led there are now a file: %s\n",
        number(rad_artifact_choice_count(t->found)), t->found_file.path);
    return 0;
}

static int shrink(tour *t)
{
    cli *c = t->c;
    char path[KEEP_PATH_MAX];
    tour_part(c, 3, "Shrink: the smallest run that breaks in the same way",
              "shrink buffer.raddle.json");
    int status = shrink_artifact(c, t->found, 0, &t->small);
    if (status != 0) {
        return status;
    }
    shrunk_report(c, &t->small);
    join_path(path, sizeof path, t->dir, "buffer.min.raddle.json");
    keep_artifact(c, t->small.artifact, path, &t->small_file);
    return t->small_file.written ? 0 : EXIT_RUNTIME;
}

static int replay(tour *t)
{
    cli *c = t->c;
    rad_error error = {.code = 0};
    rad_artifact *a = NULL;
    rad_replay r = {.as_recorded = false};
    tour_part(c, 4, "Replay: the file alone is enough", "replay buffer.min.raddle.json");
    int code = rad_artifact_read(&a, t->small_file.path, false, &error);
    if (code == 0) {
        code = rad_lab_replay(a, NULL, &r, &error);
    }
    rad_artifact_free(a);
    if (code != 0) {
        return complain_error(c, &error);
    }
    if (!r.as_recorded) {
        return tour_not_as_told(c, r.reason);
    }
    out_text(c, "   ");
    report_verdict(c, 3, &r.actual);
    out(c, "   As recorded, step by step: trace %s\n", r.actual.trace_hash);
    return 0;
}

static int explain(tour *t)
{
    tour_part(t->c, 5, "Explain: who did what, and the switches that matter",
              "show buffer.min.raddle.json");
    return tell_story(t->c, t->small.artifact, t->c->width, false);
}

static int try_twin(tour *t)
{
    cli *c = t->c;
    rad_exploration e = {.runs = 0};
    rad_target twin = t->target;
    twin.c.repaired = true;
    tour_part(c, 6, "The repaired twin: the same search finds nothing",
              "explore buffer --repaired");
    int status = explore(t, true, &e);
    if (status == 0 && e.finding_count > 0) {
        status = tour_not_as_told(c, "the repaired twin failed");
    }
    if (status == 0) {
        coverage_report(c, &twin, &e, TOUR_SEED);
    }
    rad_exploration_free(&e);
    return status;
}

/* A case that is small enough for every schedule. */
static int generate_case(tour *t, rad_target *target)
{
    rad_error error = {.code = 0};
    rad_exec_bounds bounds = rad_exec_bounds_small();
    bounds.workers = bounds.tasks = bounds.programs = bounds.family = 2;
    bounds.length = 5;
    bounds.events = 1;
    return rad_exec_generate(TOUR_CASE, &bounds, target, &error) ? complain_error(t->c, &error) : 0;
}

static int tell_case(tour *t, const rad_target *target)
{
    cli *c = t->c;
    rad_error error = {.code = 0};
    char *text = rad_target_json(target, &error);
    if (text == NULL) {
        return complain_error(c, &error);
    }
    out_paragraph(
        c, 3,
        "Raddle's own executor is on trial, too: the functions that production runs, one step at a "
        "time, under tasks that are little programs. This case was made from a seed:");
    out_text(c, "\n");
    out_text(c, text);
    out_text(c, "\n");
    rad_free(text);
    return 0;
}

static int try_executor(tour *t)
{
    cli *c = t->c;
    rad_error error = {.code = 0};
    rad_exploration e = {.runs = 0};
    rad_target target;
    tour_part(c, 7, "The executor: every state of a case",
              "exec gen --workers 2 --tasks 2 --programs 2 --family 2 --length 5 --events 1");
    int status = generate_case(t, &target);
    if (status != 0) {
        return status;
    }
    rad_explore_options options = {.strategy = "dedup",
                                   .runs = TOUR_RUNS,
                                   .seed = TOUR_SEED,
                                   .jobs = 1,
                                   .interrupted = c->stop};
    status = tell_case(t, &target);
    if (status == 0 && rad_lab_explore(&target, &options, &e, &error) != 0) {
        status = complain_error(c, &error);
    }
    if (status == 0 && *c->stop) {
        status = EXIT_INTERRUPTED;
    }
    if (status == 0 && (e.finding_count > 0 || !e.complete)) {
        status = tour_not_as_told(c, "the case of the executor was not explored without a failure");
    }
    if (status == 0) {
        coverage_report(c, &target, &e, TOUR_SEED);
    }
    rad_exploration_free(&e);
    rad_target_free(&target);
    return status;
}

static int try_fibers(tour *t)
{
    return tour_fibers(t->c);
}

static int try_session(tour *t)
{
    return tour_session(t->c);
}

static int try_load(tour *t)
{
    return tour_load(t->c, t->dir);
}

static int try_flow(tour *t)
{
    return tour_flow(t->c, t->dir);
}

static void tell_next(tour *t)
{
    cli *c = t->c;
    out(c, "\n%sWhat to type next%s\n\n", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    out(c, "   raddle list                     the machines you can try\n");
    out(c, "   raddle explore philosophers     another deadlock\n");
    out(c, "   raddle test --help              tests of your own program with fibers\n");
    out(c, "   raddle exec explore -j 2        the executor, 520 cases, a minute\n");
    out(c, "   raddle session --help           protocols: check, run, draw, as C\n");
    out(c, "   raddle load --help              load tests: run, replay, compare\n");
    out(c, "   raddle flow --help              workflows: run, resume, validate\n");
    out(c, "   raddle explore --help           strategies, budgets, several processes\n");
    if (t->temporary) {
        out(c, "   raddle tour --output .          the same, and keep the two files\n");
    } else {
        out(c, "   raddle show %s\n", shell_word(t->small_file.path));
    }
}

static int tour_run(cli *c, int argc, char **argv)
{
    static int (*const parts[])(tour *) = {tell_machine, find,     shrink,       replay,
                                           explain,      try_twin, try_executor, try_fibers,
                                           try_session,  try_load, try_flow};
    static tour t;
    tour_args a = {.output = NULL};
    rad_error error = {.code = 0};
    words w;
    int status = options_parse(c, &VERB_TOUR, argc, argv, &a, &w);
    if (status != GO_ON) {
        return status;
    }
    if (w.count > 0) {
        return bad_usage(c, "unexpected argument '%.80s'", w.at[0]);
    }
    t = (tour){.c = c};
    if (rad_target_init(&t.target, TOUR_MACHINE, &error) != 0) {
        return complain_error(c, &error);
    }
    if ((status = open_dir(&t, a.output)) != 0) {
        return status;
    }
    out(c, "%sraddle %s: a tour%s\n", style(c, STYLE_BOLD), rad_version(), style(c, STYLE_OFF));
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == 0; i++) {
        status = parts[i](&t);
    }
    if (status == 0) {
        tell_next(&t);
    }
    close_dir(&t);
    keep_free(&t.found_file);
    keep_free(&t.small_file);
    shrunk_free(&t.small);
    rad_artifact_free(t.found);
    return status;
}

static const char *const TOUR_EXAMPLES[] = {
    "raddle tour",
    "watch a bug being found, shrunk, drawn, replayed and fixed",
    "mkdir tour && raddle tour --output tour",
    "the same, and keep its files",
    NULL,
};

const verb VERB_TOUR = {
    .name = "tour",
    .about = "find, shrink, read and replay a bug, and check its fix, in a minute",
    .usage = "[options]",
    .text = "Find a bug, shrink it, draw it, replay it, and check its fix; then one result each of "
            "fibers, protocols, load tests and workflows.",
    .status = "0 everything went as told, " STATUS_ERRORS,
    .options = TOUR_OPTIONS,
    .examples = TOUR_EXAMPLES,
    .run = tour_run,
};
