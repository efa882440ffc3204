/* explore.c — `raddle explore`: many runs; what fails is kept, shrunk and explained. */
#include "coverage.h"
#include "hunt.h"
#include "options.h"
#include "program.h"
#include "repeat.h"
#include "report.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct explore_args {
    const char *strategy, *output, *races, *suppress, *clock, *spurious, *memory, *input, *shown;
    uint64_t runs, steps, seed, jobs, max_steps, processors, spin_rounds;
    double seconds, hang;
    bool stop_on_first, repaired, twice, check, apart, no_shrink, json, scratch, closed, real_threads;
} explore_args;

#define AT(field) offsetof(explore_args, field)

static const option EXPLORE_OPTIONS[] = {
    {"strategy", OPTION_TEXT, AT(strategy), "S",
     "search strategy: a name (default: auto; see 'raddle list') or a policy in ./FILE.so", 0, 0, 0},
    {"runs", OPTION_COUNT, AT(runs), "N", "stop after N runs (default: 20,000)", 1, UINT64_C(1000000000000), 0},
    {"steps", OPTION_COUNT, AT(steps), "N",
     "stop after N steps of all runs (default: 5,000 a run, at least 100 million)", 1, UINT64_C(1000000000000000), 0},
    {"time", OPTION_SECONDS, AT(seconds), "S",
     "stop searching after S seconds (default: 600, none with --runs), and shrinking after S more", 0, 0, 0},
    OPTION_SEED(explore_args),
    {"jobs", OPTION_COUNT, AT(jobs), "N", "run N processes; results are the same for every N (default: 1)", 1, 64, 'j'},
    {"stop-on-first", OPTION_FLAG, AT(stop_on_first), NULL, "stop at the first failure", 0, 0, 0},
    OPTION_FIXED(explore_args),
    OPTION_MAX_STEPS(explore_args),
    {"hang", OPTION_SECONDS, AT(hang), "S",
     "fail a run in which one step computes for more than S seconds (default: 10)", 0, 0, 0},
    {"spin-rounds", OPTION_COUNT, AT(spin_rounds), "N",
     "continue loops that yield or spin for N rounds, then others run first (default: 0, then up to 1,000)", 1, 1000000,
     0},
    {"apart", OPTION_FLAG, AT(apart), NULL, "programs: give each run a process of its own", 0, 0, 0},
    {"real-threads", OPTION_FLAG, AT(real_threads), NULL,
     "programs: run each thread on one of the system, to compare; slow, implies --apart", 0, 0, 0},
    {"twice", OPTION_FLAG, AT(twice), NULL, "run each schedule twice; report nondeterminism", 0, 0, 0},
    {"check", OPTION_FLAG, AT(check), NULL, "check Raddle's own structures after each step; slow", 0, 0, 0},
    {"races", OPTION_TEXT, AT(races), "WHAT",
     "after a data race: continue the run, or end it (fatal); default: continue", 0, 0, 0},
    OPTION_SUPPRESS(explore_args),
    {"clock", OPTION_TEXT, AT(clock), "HOW",
     "programs: time passes when nothing can run (quiet) or at any time (free); default: quiet, "
     "then free",
     0, 0, 0},
    {"spurious", OPTION_TEXT, AT(spurious), "HOW",
     "programs with threads: waits may end without a signal (yes) or not (no); default: no, then "
     "yes for a tenth of the runs",
     0, 0, 0},
    {"processors", OPTION_COUNT, AT(processors), "N",
     "programs: the program sees N processors, on any machine (default: 4)", 1, 1024, 0},
    {"memory", OPTION_TEXT, AT(memory), "SIZE",
     "programs: fail a run that holds more than SIZE, such as 64M; 0: no limit (default: 1G)", 0, 0, 0},
    {"scratch", OPTION_FLAG, AT(scratch), NULL,
     "programs: give each run an empty directory, as current directory and TMPDIR", 0, 0, 0},
    {"closed", OPTION_FLAG, AT(closed), NULL, "programs: treat a send to a closed channel as a failure", 0, 0, 0},
    {"stdin", OPTION_TEXT, AT(input), "FILE",
     "programs: read stdin from FILE, each run from the beginning (default: empty)", 0, 0, 0},
    {"show-output", OPTION_TEXT, AT(shown), "FILE",
     "programs: keep what all runs print in FILE (default: what the drawn run prints is shown)", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "DIR", "existing directory for schedule files (default: .)", 0, 0, 0},
    {"no-shrink", OPTION_FLAG, AT(no_shrink), NULL, "do not shrink failures", 0, 0, 0},
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

static void write_head(hunt *h, const rad_target *t, const explore_args *a)
{
    char text[256];
    rad_target_text(t, text, sizeof text);
    snprintf(h->head, sizeof h->head, "explore %s", text);
    snprintf(h->head_rest, sizeof h->head_rest, ": strategy %.80s, up to %s runs, seed %llu",
             a->strategy ? a->strategy : "auto", number(a->runs ? a->runs : RAD_RUNS_DEFAULT),
             (unsigned long long)a->seed);
}

/* A program is explored as it is, then with a free clock if it has timers, and with spurious wakeups if its threads
 * wait for conditions, unless --clock and --spurious say how. */
typedef struct searched {
    rad_target target;
    rad_exploration result;
    bool done;
} searched;

static void report_json(hunt *h, const rad_target *t, const explore_args *a, const searched *s, const catalog *k)
{
    writer j;
    put_begin(&j, h->c);
    put_text(&j, "verb", "explore");
    put_target(&j, t);
    put_text(&j, "strategy", a->strategy ? a->strategy : "auto");
    put_count(&j, "seed", a->seed);
    put_count(&j, "runs_budget", a->runs ? a->runs : RAD_RUNS_DEFAULT);
    const rad_exploration *done[PASSES];
    for (uint32_t i = 0; i < PASSES; i++) done[i] = s[i].done ? &s[i].result : NULL;
    coverage_json(&j, t, &s->result);
    if (k->text) goals_json(&j, k, program_test(), &s->result);
    if (h->c->program_words) {
        put_bool(&j, "repeatable", h->differs[0] == 0);
        put_text(&j, "difference", h->differs[0] ? h->differs : NULL);
    }
    for (uint32_t i = PASS_FIRST + 1; i < PASSES; i++) {
        if (!s[i].done) continue;
        put_object(&j, i == PASS_FREE_CLOCK ? "free_clock" : "spurious_wakeups");
        coverage_json(&j, &s[i].target, &s[i].result);
        put_close(&j, '}');
    }
    suppressions_json(&j, h->suppressed);
    hunt_json(&j, h, done);
    put_end(&j);
}

/* At least one, and no more than a schedule file takes. */
static uint32_t hang_ms(double seconds)
{
    double ms = seconds * 1e3;
    return ms < 1 ? 1 : ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

static int check_races(cli *c, const char *word)
{
    if (word == NULL || strcmp(word, "continue") == 0 || strcmp(word, "fatal") == 0) return 0;
    return bad_usage(c, "--races '%.80s': use continue or fatal", word);
}

/* `word` may be NULL. */
static int set_clock(cli *c, const char *word, rad_target *t)
{
    rad_error error = {.code = 0};
    if (word == NULL) return 0;
    bool is_free = strcmp(word, "free") == 0;
    if (!is_free && strcmp(word, "quiet") != 0) return bad_usage(c, "--clock '%.80s': use quiet or free", word);
    int code = rad_target_set(t, is_free ? "clock=1" : "clock=0", &error);
    return code == 0 ? 0 : bad_usage(c, "--clock needs a program: raddle explore --clock free ./PROGRAM");
}

/* `word` may be NULL. */
static int set_spurious(cli *c, const char *word, rad_target *t)
{
    rad_error error = {.code = 0};
    if (word == NULL) return 0;
    bool is_on = strcmp(word, "yes") == 0;
    if (!is_on && strcmp(word, "no") != 0) return bad_usage(c, "--spurious '%.80s': use no or yes", word);
    bool known = c->program_words != NULL;
    int code = known ? rad_target_set(t, is_on ? "spurious=1" : "spurious=0", &error) : -1;
    return code == 0 ? 0 : bad_usage(c, "--spurious needs a program with threads");
}

/* 0: as it is. */
static int set_processors(cli *c, uint64_t count, rad_target *t)
{
    rad_error error = {.code = 0};
    char setting[40];
    if (count == 0) return 0;
    snprintf(setting, sizeof setting, "processors=%llu", (unsigned long long)count);
    int code = c->program_words ? rad_target_set(t, setting, &error) : -1;
    return code == 0 ? 0 : bad_usage(c, "--processors needs a program");
}

/* `word` may be NULL. The memory of a program is counted in MiB. */
static int set_memory(cli *c, const char *word, rad_target *t)
{
    static const char letters[] = "KMGT";
    rad_error error = {.code = 0};
    char *end = NULL, setting[40];
    if (word == NULL) return 0;
    double size = strtod(word, &end);
    const char *letter = *end ? strchr(letters, *end & ~32) : NULL;
    bool known = end != word && (*end == 0 || (letter && end[1] == 0)) && size >= 0 && size < 1e15;
    double bytes = letter ? size * (double)(UINT64_C(1024) << 10 * (letter - letters)) : size;
    double mib = bytes / (1 << 20);
    if (!known || (mib > 0 && mib < 1) || mib > 1 << 30)
        return bad_usage(c, "--memory '%.80s': use a size of at least 1M, such as 64M or 2G, or 0", word);
    snprintf(setting, sizeof setting, "memory=%llu", (unsigned long long)mib);
    int code = c->program_words ? rad_target_set(t, setting, &error) : -1;
    return code == 0 ? 0 : bad_usage(c, "--memory needs a program: raddle explore --memory 64M ./PROGRAM");
}

/* The input of a program has been taken from the command already: cli/fibers.c. */
static int set_around(cli *c, const explore_args *a, rad_target *t)
{
    rad_error error = {.code = 0};
    bool any = a->scratch || a->input || a->shown || a->closed || a->real_threads || a->apart;
    if (any && c->program_words == NULL) {
        return bad_usage(c, "--%s needs a program: raddle explore [options] ./PROGRAM",
                         a->scratch        ? "scratch"
                         : a->input        ? "stdin"
                         : a->shown        ? "show-output"
                         : a->closed       ? "closed"
                         : a->real_threads ? "real-threads"
                                           : "apart");
    }
    test_real_threads(a->real_threads);
    if (a->closed && rad_target_set(t, "closed=1", &error) != 0) return complain_error(c, &error);
    return a->scratch && rad_target_set(t, "scratch=1", &error) != 0 ? complain_error(c, &error) : 0;
}

/* 0: looked for, what was found is in the hunt; otherwise the exit status. */
static int search(hunt *h, const explore_args *a, uint64_t runs, double seconds, searched *s)
{
    rad_error error = {.code = 0};
    rad_exploration *e = &s->result;
    rad_explore_options options = {
        .strategy = a->strategy,
        .runs = runs,
        .steps = a->steps,
        .seconds = seconds,
        .seed = a->seed,
        .jobs = (uint32_t)a->jobs,
        .stop_on_first = a->stop_on_first,
        .twice = a->twice,
        .check = a->check,
        .apart = a->apart,
        .races_fatal = a->races && strcmp(a->races, "fatal") == 0,
        .suppressed = h->suppressed->patterns,
        .progress = h->c->progress ? on_progress : NULL,
        .found = on_found,
        .context = h,
        .interrupted = h->c->stop,
    };
    int code = rad_lab_explore(&s->target, &options, e, &error);
    progress_clear(h->c);
    if (code != 0 && code != RAD_EINTERRUPTED) return complain_error(h->c, &error);
    s->done = true;
    e->interrupted = e->interrupted || code == RAD_EINTERRUPTED;
    hunt_head(h);
    return hunt_explain(h, e, !a->no_shrink);
}

/* Of a program that raddle cc has built. */
static void report_inserted(cli *c)
{
    uint64_t files;
    const char *without;
    uint64_t calls = program_inserted(&files, &without);
    if (files == 0) return;
    report_label(c, "watched");
    out(c, "%s place%s in %s file%s built by raddle cc\n", number(calls), plural(calls), number(files), plural(files));
    if (without) {
        report_label(c, "unwatched");
        out(c,
            "%.100s: linked by raddle cc, but no access to memory is watched; compile it with "
            "raddle "
            "cc, too\n",
            without);
    }
}

/* Accesses that raced become points, and the search begins anew with these, until no further ones race: what comes of a
 * race needs a decision between two plain accesses. */
static int search_points(hunt *h, const explore_args *a, const searched *first, searched *s)
{
    enum { ROUNDS = 4 };
    const searched *last = first;
    double most = a->seconds > 0 ? a->seconds : a->runs == 0 ? RAD_SECONDS_DEFAULT : 0, used = 0;
    h->pass = PASS_POINTS;
    for (uint32_t i = 0; i < ROUNDS && h->c->program_words; i++) {
        const rad_exploration *e = &last->result;
        rad_target next;
        bool more = false;
        used += e->elapsed;
        if (e->interrupted || (a->stop_on_first && e->failures > 0) || (most > 0 && used >= most)) return 0;
        int status = program_points(h->c, &next, &last->target, e, &more);
        if (status != 0 || !more) return status;
        if (last == s) {
            rad_exploration_free(&s->result);
            rad_target_free(&s->target);
        }
        *s = (searched){.target = next};
        status = search(h, a, a->runs, most == 0 ? 0 : most - used, s);
        if (status != 0) return status;
        last = s;
    }
    return 0;
}

/* Whether the program has what this pass is about, and no option says how to explore it. */
static bool is_wanted(enum hunt_pass pass, const explore_args *a, const rad_exploration *first)
{
    return pass == PASS_FREE_CLOCK ? a->clock == NULL && first->timed : a->spurious == NULL && first->waited;
}

/* What was not found so far, in the time that is left. A wait without a loop needs few runs. */
static int search_late(hunt *h, const explore_args *a, searched *s, enum hunt_pass pass)
{
    enum { SHARE_OF_SPURIOUS = 10 };
    rad_error ignored = {.code = 0};
    uint64_t runs = a->runs;
    double most = a->seconds > 0 ? a->seconds : a->runs == 0 ? RAD_SECONDS_DEFAULT : 0, used = 0;
    bool wanted = h->c->program_words && is_wanted(pass, a, &s->result);
    for (uint32_t i = 0; i < pass; i++) {
        const rad_exploration *e = &s[i].result;
        wanted = wanted && !e->interrupted && !(a->stop_on_first && e->failures > 0);
        used += e->elapsed;
    }
    if (!wanted || (most > 0 && used >= most)) return 0;
    s[pass].target = s[PASS_POINTS].done ? s[PASS_POINTS].target : s->target;
    rad_target_set(&s[pass].target, hunt_pass_setting(pass), &ignored); /* programs have it */
    h->pass = pass;
    if (pass == PASS_SPURIOUS) runs = ((runs ? runs : RAD_RUNS_DEFAULT) + SHARE_OF_SPURIOUS - 1) / SHARE_OF_SPURIOUS;
    return search(h, a, runs, most == 0 ? 0 : most - used, &s[pass]);
}

/* What needs neither a delay nor a spurious wakeup. */
static bool has_found(const hunt *h, const rad_exploration *e)
{
    bool found = e->finding_count > 0 || rad_exploration_all_cut(e);
    for (uint32_t i = 0; i < h->bug_count; i++) {
        const bug *b = &h->bugs[i];
        found = found || (!hunt_needs(b, PASS_FREE_CLOCK) && !hunt_needs(b, PASS_SPURIOUS));
    }
    return found;
}

static int explore(hunt *h, const rad_target *t, const explore_args *a, const catalog *k)
{
    static searched s[PASSES]; /* too large for a stack */
    for (uint32_t i = 0; i < PASSES; i++) s[i] = (searched){.done = false};
    s->target = *t;
    const rad_exploration *first = &s->result;
    bool differs = h->c->program_words && !repeats(t, a->seed, h->differs), interrupted = false;
    if (differs && !h->json) {
        hunt_head(h);
        report_unrepeatable(h->c, h->differs);
    }
    int status = search(h, a, a->runs, a->seconds, s);
    if (status == 0) status = search_points(h, a, s, &s[PASS_POINTS]);
    for (uint32_t i = PASS_POINTS + 1; i < PASSES && status == 0; i++) status = search_late(h, a, s, i);
    for (uint32_t i = 0; i < PASSES; i++) {
        if (i > 0) goals_join(k, &s->result, &s[i].result);
        interrupted = interrupted || s[i].result.interrupted;
        suppressions_add(h->suppressed, &s[i].result);
    }
    if (s->done && h->json) {
        report_json(h, t, a, s, k);
    } else if (s->done) {
        out_text(h->c, "\n");
        coverage_report(h->c, t, first, a->seed);
        report_inserted(h->c);
        for (uint32_t i = PASS_FIRST + 1; i < PASSES; i++)
            if (s[i].done) coverage_late(h, i, &s[i].target, &s[i].result);
        if (k->text) goals_report(h->c, k, program_test(), first);
        suppressions_report(h->c, h->suppressed);
    }
    bool found = h->differs[0] || has_found(h, first);
    found = found || (k->text && goals_bad(k, program_test(), first, NULL, 0) > 0);
    if (found && h->c->program_lacks && !h->json) {
        report_label(h->c, "lacks");
        out(h->c, "%s\n", h->c->program_lacks);
    }
    for (uint32_t i = 0; i < PASSES; i++) rad_exploration_free(&s[i].result);
    if (s[PASS_POINTS].done) rad_target_free(&s[PASS_POINTS].target);
    return status ? status : interrupted ? EXIT_INTERRUPTED : found ? EXIT_FOUND : EXIT_FINE;
}

/* Files of a test have its name, too. */
static void name_files(hunt *h, const rad_target *t, const words *w)
{
    char name[256];
    const char *test = program_test();
    snprintf(name, sizeof name, "%s%s%s", t->machine->name, test ? "-" : "", test ? test : "");
    hunt_name(h, target_file(w->at, w->count), name);
}

static int explore_run(cli *c, int argc, char **argv)
{
    static hunt h; /* too large for a stack */
    explore_args a = {.seed = 1, .jobs = 1};
    rad_target t;
    words w;
    int status = options_parse(c, &VERB_EXPLORE, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    suppressions suppressed;
    if ((status = load_policy(c, &a.strategy)) != 0 || (status = check_strategy(c, a.strategy)) != 0 ||
        (status = check_races(c, a.races)) != 0 || (status = check_output(c, a.output)) != 0)
        return status;
    if ((status = suppressions_read(c, a.suppress, &suppressed)) != 0) return status;
    if ((status = read_target(c, w.at, w.count, a.repaired, a.max_steps, &t)) != 0) {
        suppressions_free(&suppressed);
        return status;
    }
    t.c.spin_rounds = (uint32_t)a.spin_rounds;
    if (a.hang > 0) t.c.hang_ms = hang_ms(a.hang);
    if (c->program_words && a.strategy && strchr(a.strategy, '/')) {
        status = bad_usage(c,
                           "--strategy '%.200s': policies in shared objects do not work on "
                           "programs; use a name of 'raddle list'",
                           a.strategy);
    } else {
        status = set_clock(c, a.clock, &t);
        status = status ? status : set_spurious(c, a.spurious, &t);
        status = status ? status : set_processors(c, a.processors, &t);
        status = status ? status : set_memory(c, a.memory, &t);
        status = status ? status : set_around(c, &a, &t);
    }
    if (status != 0) {
        suppressions_free(&suppressed);
        rad_target_free(&t);
        return status;
    }
    h = (hunt){.c = c, .dir = a.output, .json = a.json, .suppressed = &suppressed};
    h.shrink_all = a.seconds;
    h.limits = (progress_limits){c, a.seconds};
    name_files(&h, &t, &w);
    write_head(&h, &t, &a);
    catalog k = {.text = NULL};
    status = program_test() ? catalog_read(c, &k) : 0;
    status = status == 0 ? explore(&h, &t, &a, &k) : status;
    catalog_free(&k);
    suppressions_free(&suppressed);
    hunt_free(&h);
    rad_target_free(&t);
    return status;
}

static const char *const EXPLORE_EXAMPLES[] = {
    "raddle explore buffer",
    "find the failures of the machine buffer; save, shrink and draw each kind",
    "raddle explore reorder n=10 --strategy surw --runs 100000",
    "other parameters, another strategy, a larger budget",
    "raddle explore philosophers --fixed -j 4",
    "the fixed version, four processes",
    "raddle explore buffer --json | jq .findings[0].failure",
    "for scripts",
    "raddle explore mine.json",
    "a test case in a file (docs/files.md)",
    "raddle explore --runs 5000 ./wait",
    "a program with threads; its arguments would follow",
    NULL,
};

const verb VERB_EXPLORE = {
    .name = "explore",
    .about = "run a target under many schedules; save, shrink and draw failures",
    .usage = "TARGET [NAME=VALUE ...] [options]\n[options] ./PROGRAM [MACHINE] [ARGUMENTS]",
    .text = "Run TARGET under many schedules; save, shrink and draw each kind of failure.\n\n"
            "A TARGET is a machine ('raddle list') with parameters, or a file: a protocol "
            "(.session), a workflow (.flow), a load scenario (.toml), a test case or a schedule "
            "file (.json), a decision log. A path with a slash is a program: with threads or with "
            "fibers, which is run as it is, or with machines of its own, one of which follows.\n\n"
            "Each kind of failure is saved as NAME.raddle.json at once and shrunk to "
            "NAME.min.raddle.json. A coverage summary ends the output. Results depend only on the "
            "arguments; with --time also on the host.\n\n"
            "Without --clock, a program is explored with a quiet clock first. If it has timers, it "
            "is then explored with a free one: what fails only then needs a fiber or thread that "
            "is slower than a timer. It is reported, but does not change the exit status.",
    .status = "0 no failure, 1 failure, or every run was cut, " STATUS_ERRORS ", 130 interrupted (failures are kept)",
    .options = EXPLORE_OPTIONS,
    .examples = EXPLORE_EXAMPLES,
    .run = explore_run,
};
