/* explore.c — `raddle explore`: many runs; what fails is kept, shrunk and explained. */
#include "coverage.h"
#include "hunt.h"
#include "options.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

typedef struct explore_args {
    const char *strategy, *output, *races, *suppress, *clock;
    uint64_t runs, steps, seed, jobs, max_steps;
    double seconds;
    bool stop_on_first, repaired, twice, no_shrink, json;
} explore_args;

#define AT(field) offsetof(explore_args, field)

static const option EXPLORE_OPTIONS[] = {
    {"strategy", OPTION_TEXT, AT(strategy), "S",
     "how to search: a name (preset: auto; see 'raddle list') or ./FILE.so", 0, 0, 0},
    {"runs", OPTION_COUNT, AT(runs), "N", "stop after N runs (default: 20,000)", 1,
     UINT64_C(1000000000000), 0},
    {"steps", OPTION_COUNT, AT(steps), "N",
     "stop after N steps of all runs (default: 5,000 a run, at least 100 million)", 1,
     UINT64_C(1000000000000000), 0},
    {"time", OPTION_SECONDS, AT(seconds), "S",
     "stop after S seconds (default: 600, none with --runs)", 0, 0, 0},
    OPTION_SEED(explore_args),
    {"jobs", OPTION_COUNT, AT(jobs), "N", "so many processes; results do not depend on it", 1, 64,
     'j'},
    {"stop-on-first", OPTION_FLAG, AT(stop_on_first), NULL, "stop at the first failure", 0, 0, 0},
    OPTION_REPAIRED(explore_args),
    OPTION_MAX_STEPS(explore_args),
    {"twice", OPTION_FLAG, AT(twice), NULL, "run everything twice and compare", 0, 0, 0},
    {"races", OPTION_TEXT, AT(races), "WHAT",
     "after a data race: continue the run, or fatal (default: continue)", 0, 0, 0},
    {"suppress", OPTION_TEXT, AT(suppress), "FILE",
     "races that do not count: lines race:FUNCTION or race:FILE, * for anything", 0, 0, 0},
    {"clock", OPTION_TEXT, AT(clock), "HOW",
     "of programs: time passes when nothing can run: quiet; or at any time: free", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "DIR", "where artifacts go (preset: the current folder)", 0,
     0, 0},
    {"no-shrink", OPTION_FLAG, AT(no_shrink), NULL, "keep what was found as it is", 0, 0, 0},
    OPTION_JSON(explore_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void on_progress(void *context, const rad_progress *p)
{
    hunt *h = context;
    progress_explore(&h->limits, p);
}

static void on_found(void *context, const rad_artifact *a)
{
    hunt_keep(context, a);
}

static int check_strategy(cli *c, const char *name)
{
    nearest n;
    rad_named s;
    size_t size = name ? strcspn(name, ":") : 0;
    if (name == NULL) {
        return 0;
    }
    nearest_begin(&n, name);
    for (uint32_t i = 0; rad_strategy_at(i, &s); i++) {
        if (strcspn(s.name, ":") == size && strncmp(s.name, name, size) == 0) {
            return 0; /* the library reads what follows the colon */
        }
        nearest_try(&n, s.name);
    }
    return bad_usage(c, "no strategy is called '%.80s'%s 'raddle list' shows them", name,
                     *nearest_hint(&n, "") ? nearest_hint(&n, "") : ";");
}

static void write_head(hunt *h, const rad_target *t, const explore_args *a)
{
    char text[256];
    rad_target_text(t, text, sizeof text);
    snprintf(h->head, sizeof h->head, "explore %s", text);
    snprintf(h->head_rest, sizeof h->head_rest, ": strategy %.80s, up to %s runs, seed %llu",
             a->strategy ? a->strategy : "auto", number(a->runs ? a->runs : RAD_RUNS_PRESET),
             (unsigned long long)a->seed);
}

static void report_json(hunt *h, const rad_target *t, const explore_args *a,
                        const rad_exploration *e)
{
    writer j;
    put_begin(&j, h->c);
    put_text(&j, "verb", "explore");
    put_target(&j, t);
    put_text(&j, "strategy", a->strategy ? a->strategy : "auto");
    put_count(&j, "seed", a->seed);
    put_count(&j, "runs_budget", a->runs ? a->runs : RAD_RUNS_PRESET);
    coverage_json(&j, t, e);
    hunt_json(&j, h, e);
    put_end(&j);
}

static int check_races(cli *c, const char *word)
{
    if (word == NULL || strcmp(word, "continue") == 0 || strcmp(word, "fatal") == 0) {
        return 0;
    }
    return bad_usage(c, "--races '%.80s': expected continue or fatal", word);
}

/* `word` may be NULL. */
static int set_clock(cli *c, const char *word, rad_target *t)
{
    rad_error error = {.code = 0};
    if (word == NULL) {
        return 0;
    }
    bool is_free = strcmp(word, "free") == 0;
    if (!is_free && strcmp(word, "quiet") != 0) {
        return bad_usage(c, "--clock '%.80s': expected quiet or free", word);
    }
    int code = rad_target_set(t, is_free ? "clock=1" : "clock=0", &error);
    return code == 0 ? 0 : bad_usage(c, "--clock is for programs with fibers");
}

static int explore(hunt *h, const rad_target *t, const explore_args *a,
                   const char *const *suppressed)
{
    rad_error error = {.code = 0};
    rad_exploration e = {.runs = 0};
    rad_explore_options options = {
        .strategy = a->strategy,
        .runs = a->runs,
        .steps = a->steps,
        .seconds = a->seconds,
        .seed = a->seed,
        .jobs = (uint32_t)a->jobs,
        .stop_on_first = a->stop_on_first,
        .twice = a->twice,
        .races_fatal = a->races && strcmp(a->races, "fatal") == 0,
        .suppressed = suppressed,
        .progress = h->c->progress ? on_progress : NULL,
        .found = on_found,
        .context = h,
        .interrupted = h->c->stop,
    };
    int code = rad_lab_explore(t, &options, &e, &error);
    progress_clear(h->c);
    if (code != 0 && code != RAD_EINTERRUPTED) {
        rad_exploration_free(&e);
        return complain_error(h->c, &error);
    }
    e.interrupted = e.interrupted || code == RAD_EINTERRUPTED;
    hunt_head(h);
    int status = hunt_explain(h, &e, !a->no_shrink);
    if (h->json) {
        report_json(h, t, a, &e);
    } else {
        out_text(h->c, "\n");
        coverage_report(h->c, t, &e, a->seed);
    }
    bool found = e.finding_count > 0 || h->bug_count > 0 || rad_exploration_all_cut(&e);
    bool interrupted = e.interrupted;
    rad_exploration_free(&e);
    return status ? status : interrupted ? EXIT_INTERRUPTED : found ? EXIT_FOUND : EXIT_FINE;
}

static int explore_run(cli *c, int argc, char **argv)
{
    static hunt h; /* too large for a stack */
    explore_args a = {.seed = 1, .jobs = 1};
    rad_target t;
    words w;
    int status = options_parse(c, &VERB_EXPLORE, argc, argv, &a, &w);
    if (status != GO_ON) {
        return status;
    }
    const char *const *suppressed = NULL;
    rad_error error = {.code = 0};
    if ((status = load_policy(c, &a.strategy)) != 0 ||
        (status = check_strategy(c, a.strategy)) != 0 || (status = check_races(c, a.races)) != 0 ||
        (status = check_output(c, a.output)) != 0) {
        return status;
    }
    if (a.suppress && rad_suppressions_read(&suppressed, a.suppress, &error) != 0) {
        return complain_error(c, &error);
    }
    if ((status = read_target(c, w.at, w.count, a.repaired, a.max_steps, &t)) != 0) {
        rad_suppressions_free(suppressed);
        return status;
    }
    if (c->program_words && a.strategy && strchr(a.strategy, '/')) {
        status = bad_usage(
            c, "--strategy '%.200s': programs cannot be explored with policies of your own yet",
            a.strategy);
    } else {
        status = set_clock(c, a.clock, &t);
    }
    if (status != 0) {
        rad_suppressions_free(suppressed);
        rad_target_free(&t);
        return status;
    }
    h = (hunt){.c = c, .dir = a.output, .json = a.json};
    h.limits = (progress_limits){c, a.seconds};
    hunt_name(&h, target_file(w.at, w.count), t.machine->name);
    write_head(&h, &t, &a);
    status = explore(&h, &t, &a, suppressed);
    rad_suppressions_free(suppressed);
    hunt_free(&h);
    rad_target_free(&t);
    return status;
}

static const char *const EXPLORE_EXAMPLES[] = {
    "raddle explore buffer",
    "look for failures of the machine 'buffer', keep and explain the first of each kind",
    "raddle explore reorder n=10 --strategy surw --runs 100000",
    "another case, another strategy, a larger budget",
    "raddle explore philosophers --repaired -j 4 --time 60",
    "the twin without the bug, four processes, one minute",
    "raddle explore buffer --json | jq .findings[0].failure",
    "for scripts",
    "raddle explore mine.json",
    "the case that is written in a file; see docs/cases.md",
    "raddle explore --runs 5000 ./program input.txt",
    "a program with fibers and its arguments",
    NULL,
};

const verb VERB_EXPLORE = {
    "explore",
    "many runs: find failures, keep, shrink and explain them",
    "[./PROGRAM] MACHINE|FILE.json [NAME=VALUE …] [options]",
    "Runs a machine, or the case of a file, many times under a strategy. A path with a slash names "
    "a program: with machines of its own, one of which follows (docs/machine.md), or with fibers, "
    "which is explored as it is, with the arguments that follow it; options of raddle's come "
    "before it (docs/fibers-under-test.md). Each new kind of "
    "failure "
    "is "
    "written to NAME.raddle.json at once (the machine's name, or the file's), then shrunk to "
    "NAME.min.raddle.json and explained. At the end "
    "stands what was covered. The same arguments give the same results, whatever -j is (only "
    "--time "
    "depends on the speed of the computer).\n\n"
    "Exit status: 0 nothing found, 1 a failure was found or every run was cut, 2 bad usage, 3 "
    "trouble with files or "
    "memory, 130 interrupted (what was found is kept).",
    EXPLORE_OPTIONS,
    EXPLORE_EXAMPLES,
    explore_run,
};
