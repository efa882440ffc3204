/* test.c — `raddle test`: explores each test of a program. A program has tests (raddle/test.h), or machines of its own
 * (rad_lab_main): then each machine is one. Any other program with fibers is one test as a whole. See test.h. */
#include "test.h"

#include "base/whole.h"
#include "coverage.h"
#include "options.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

enum { TEST_RUNS_DEFAULT = 2000, SHRINK_SECONDS = 20, WORDS_MAX = 62 };

typedef struct test_args {
    const char *strategy, *output, *clock, *junit, *suppress;
    uint64_t runs, steps, seed, jobs, max_steps;
    double seconds;
    bool list, threads, tap, no_shrink, json;
} test_args;

#define AT(field) offsetof(test_args, field)

static const option TEST_OPTIONS[] = {
    {"list", OPTION_FLAG, AT(list), NULL, "print the names of the tests, and explore none", 0, 0, 0},
    {"threads", OPTION_FLAG, AT(threads), NULL, "run each test on real threads instead, 100 times or --runs", 0, 0, 0},
    {"tap", OPTION_FLAG, AT(tap), NULL, "print TAP, for 'meson test' and 'prove'", 0, 0, 0},
    {"junit", OPTION_TEXT, AT(junit), "FILE", "also write the results to FILE, as JUnit does", 0, 0, 0},
    {"runs", OPTION_COUNT, AT(runs), "N", "stop a test after N runs (default: 2,000)", 1, UINT64_C(1000000000000), 0},
    {"steps", OPTION_COUNT, AT(steps), "N", "stop a test after N steps (default: 5,000 a run, at least 100 million)", 1,
     UINT64_C(1000000000000000), 0},
    {"time", OPTION_SECONDS, AT(seconds), "S", "stop a test after S seconds (default: none)", 0, 0, 0},
    OPTION_SEED(test_args),
    {"jobs", OPTION_COUNT, AT(jobs), "N", "run N processes; results are the same for every N (default: 1)", 1, 64, 'j'},
    {"strategy", OPTION_TEXT, AT(strategy), "S", "search strategy (default: auto; see 'raddle list')", 0, 0, 0},
    OPTION_MAX_STEPS(test_args),
    {"clock", OPTION_TEXT, AT(clock), "HOW",
     "time passes only when nothing can run (quiet) or at any time (free); default: quiet", 0, 0, 0},
    OPTION_SUPPRESS(test_args),
    {"output", OPTION_TEXT, AT(output), "DIR", "existing directory for schedule files (default: .)", 0, 0, 0},
    {"no-shrink", OPTION_FLAG, AT(no_shrink), NULL, "do not shrink failures", 0, 0, 0},
    OPTION_JSON(test_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

/* What is to be explored. */
typedef struct suite {
    cli *c;
    const test_args *args;
    catalog k;
    char **patterns, **params; /* words without and with '=' */
    uint32_t pattern_count, param_count;
    suppressions suppressed;
    bool stopped; /* a test failed before its budget was used up */
    test_report report;
    const char *limits;
} suite;

/* ---- Names ----------------------------------------------------------------------------------------- */

/* `*` stands for anything. */
static bool matches(const char *pattern, const char *name)
{
    for (; *pattern; pattern++, name++) {
        if (*pattern == '*') {
            for (;; name++) {
                if (matches(pattern + 1, name)) return true;
                if (*name == 0) return false;
            }
        }
        if (*pattern != *name) return false;
    }
    return *name == 0;
}

static bool is_wanted(const suite *s, const char *name)
{
    for (uint32_t i = 0; i < s->pattern_count; i++)
        if (matches(s->patterns[i], name)) return true;
    return s->pattern_count == 0;
}

/* The n-th there is, NULL after the last: tests, or machines of the program. */
static const char *name_at(const suite *s, uint32_t n)
{
    const rad_machine *m;
    if (s->k.text) return n < s->k.test_count ? s->k.tests[n].name : NULL;
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++)
        if (rad_machine_is_added(m) && n-- == 0) return m->name;
    return NULL;
}

static int check_pattern(suite *s, const char *pattern)
{
    rad_suggest n;
    const char *name;
    rad__suggest_begin(&n, pattern, strlen(pattern));
    for (uint32_t i = 0; (name = name_at(s, i)) != NULL; i++) {
        if (matches(pattern, name)) return 0;
        rad__suggest_consider(&n, name);
    }
    return bad_usage(s->c, "unknown test '%.80s'%s", pattern, rad__suggest_or_all(&n));
}

static int check_param(suite *s, const char *word)
{
    rad_suggest n;
    char name[80];
    int64_t value;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    rad__suggest_begin(&n, name, strlen(name));
    for (uint32_t i = 0; i < s->k.param_count; i++) {
        if (strcmp(s->k.params[i].name, name) == 0)
            return rad__whole_read(word + strlen(name) + 1, &value)
                       ? 0
                       : bad_usage(s->c, "'%.80s': the value is not a whole number", word);
        rad__suggest_consider(&n, s->k.params[i].name);
    }
    return bad_usage(s->c, "unknown parameter '%.80s'%s", name,
                     s->k.param_count == 0 ? "; these tests have none" : rad__suggest_or_all(&n));
}

static int check_words(suite *s)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < s->pattern_count; i++) status = check_pattern(s, s->patterns[i]);
    for (uint32_t i = 0; s->k.text && status == 0 && i < s->param_count; i++) status = check_param(s, s->params[i]);
    return status;
}

static int sort_words(suite *s, words *w)
{
    static char *patterns[WORDS_MAX], *params[WORDS_MAX];
    if (w->count > WORDS_MAX) return bad_usage(s->c, "more than %d arguments", WORDS_MAX);
    s->patterns = patterns;
    s->params = params;
    for (uint32_t i = 0; i < w->count; i++)
        if (strchr(w->at[i], '='))
            params[s->param_count++] = w->at[i];
        else
            patterns[s->pattern_count++] = w->at[i];
    return 0;
}

/* ---- One test --------------------------------------------------------------------------------------- */

static void on_progress(void *context, const rad_progress *p)
{
    hunt *h = context;
    progress_explore(&h->limits, p);
}

static void on_found(void *context, const rad_artifact *a)
{
    hunt_keep(context, a);
}

/* The target of the n-th name. Returns 0 or a code of the library. */
static int aim(suite *s, const char *name, rad_target *t, rad_error *error)
{
    static char *argv[WORDS_MAX + 3];
    char all[1024] = "";
    size_t used = 0;
    const rad_machine *m;
    if (s->k.text) {
        uint32_t count = 0;
        argv[count++] = (char *)(uintptr_t)s->c->program; /* never written to. tidy: address ok */
        argv[count++] = (char *)(uintptr_t)name;          /* tidy: address ok */
        for (uint32_t i = 0; i < s->param_count; i++) argv[count++] = s->params[i];
        argv[count] = NULL;
        if (test_program_again(s->c, argv) != 0) return RAD_EINPUT;
        for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL && !rad_machine_is_added(m); i++) {
        }
        return m ? rad_target_init(t, m->name, error) : RAD_EBUG;
    }
    int code = rad_target_init(t, name, error);
    for (uint32_t i = 0; i < s->param_count && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? " " : "", s->params[i]);
    return code == 0 && used > 0 ? rad_target_set(t, all, error) : code;
}

static int set_clock(suite *s, rad_target *t, rad_error *error)
{
    const char *word = s->args->clock;
    if (word == NULL) return 0;
    return rad_target_set(t, strcmp(word, "free") == 0 ? "clock=1" : "clock=0", error);
}

/* Of the run that is drawn. */
static const rad_verdict *told(const bug *b)
{
    return b->is_shrunk && b->small.artifact ? rad_artifact_verdict(b->small.artifact) : &b->verdict;
}

/* What `explore` says of it, from the number of runs on: "40 runs; every schedule was tried, code between …". */
static void runs_text(const rad_target *t, const rad_exploration *e, char text[RAD_STATEMENT_MAX])
{
    static const char lead[] = "nothing found in ";
    char outside[300]; /* of many the first */
    rad_exploration_text(t, e, text);
    size_t size = strlen(text), skipped = strncmp(text, lead, sizeof lead - 1) == 0 ? sizeof lead - 1 : 0;
    if (size > 0 && text[size - 1] == '.') text[--size] = 0;
    memmove(text, text + skipped, size - skipped + 1);
    size -= skipped;
    coverage_outside(t, e, outside, sizeof outside);
    if (outside[0]) snprintf(text + size, RAD_STATEMENT_MAX - size, "; %s", outside);
}

static void judge(suite *s, const rad_target *t, test_outcome *o, const rad_exploration *e, const hunt *h)
{
    char text[400], runs[RAD_STATEMENT_MAX];
    runs_text(t, e, runs);
    if (h->bug_count > 0) {
        const rad_verdict *v = told(&h->bugs[0]);
        o->result = TEST_FAILED;
        o->kind = v->kind;
        rad__readable_text(o->message, sizeof o->message, "%s at step %s: %s", v->kind, number(v->failure_step),
                           report_message(v));
    } else if (rad_exploration_all_cut(e)) {
        o->result = TEST_FAILED;
        o->kind = "cut";
        snprintf(o->message, sizeof o->message, "no run came to its end within the limit of steps: nothing is known");
    } else if (goals_bad(&s->k, o->name, e, text, sizeof text) > 0) {
        o->result = TEST_FAILED;
        o->kind = "sometimes";
        const char *limits = strchr(runs, ';');
        snprintf(o->message, sizeof o->message, "%s%s", text, limits ? limits : "");
    } else {
        snprintf(o->message, sizeof o->message, "%s", runs);
    }
}

/* Explores it, with what is printed meanwhile kept for the report. Returns 0, or the code of an error that ends the
 * whole; what is wrong with the test itself is its outcome. */
static int explore_test(suite *s, const rad_target *t, test_outcome *o, hunt *h, rad_exploration *e, rad_error *error)
{
    const test_args *a = s->args;
    rad_explore_options options = {
        .strategy = a->strategy,
        .runs = a->runs ? a->runs : TEST_RUNS_DEFAULT,
        .steps = a->steps,
        .seconds = a->seconds,
        .seed = a->seed,
        .jobs = (uint32_t)a->jobs,
        .stop_on_first = true,
        .suppressed = s->suppressed.patterns,
        .progress = s->c->progress ? on_progress : NULL,
        .found = on_found,
        .context = h,
        .interrupted = s->c->stop,
    };
    uint32_t width = s->c->width;
    bool colour = s->c->colour;
    s->c->capture = &o->details;
    s->c->width = width > 60 ? width - 6 : width;
    s->c->colour = colour && s->report.form == TEST_LINES && s->report.junit == NULL;
    h->json = true; /* the outcome says what was found */
    int code = rad_lab_explore(t, &options, e, error);
    h->json = false;
    progress_clear(s->c);
    if (code == 0) {
        hunt_explain(h, e, !a->no_shrink);
        if (h->bug_count == 0 && goals_bad(&s->k, o->name, e, NULL, 0) > 1) goals_report(s->c, &s->k, o->name, e);
    }
    s->c->capture = NULL;
    s->c->width = width;
    s->c->colour = colour;
    return code;
}

static void note_goals(suite *s, const char *test, const rad_exploration *e)
{
    for (uint32_t i = 0; i < s->k.goal_count; i++) {
        catalog_goal *g = &s->k.goals[i];
        enum goal_state state = goal_of_test(&s->k, i, test, e);
        g->come_to |= state != GOAL_ELSEWHERE && state != GOAL_NOT_COME_TO;
        g->held |= state == GOAL_HELD;
        g->told |= goal_is_bad(state);
    }
}

/* The words of the program that runs a test on threads. */
static int run_on_threads(suite *s, uint32_t index, const char *name)
{
    test_outcome o = {.name = name, .file = s->k.tests[index].file, .line = s->k.tests[index].line};
    thread_request r = {.program = s->c->program,
                        .test = name,
                        .params = s->params,
                        .param_count = s->param_count,
                        .runs = s->args->runs,
                        .seed = s->args->seed,
                        .seconds = s->args->seconds};
    int status = test_on_threads(s->c, &r, &o);
    if (status == 0) report_test(&s->report, &s->k, &o);
    rad__bytes_free(&o.details);
    return status == 0 ? GO_ON : status;
}

/* GO_ON, or the exit status of what ended the whole. */
static int run_test(suite *s, uint32_t index, const char *name)
{
    static hunt h; /* too large for a stack */
    static char file[300];
    rad_error error = {.code = 0};
    rad_exploration e = {.runs = 0};
    rad_target t;
    test_outcome o = {.name = name, .hunt = &h};
    if (s->k.text) {
        o.file = s->k.tests[index].file;
        o.line = s->k.tests[index].line;
    }
    h = (hunt){.c = s->c, .dir = s->args->output, .shrink_seconds = SHRINK_SECONDS};
    h.limits = (progress_limits){s->c, s->args->seconds};
    int code = aim(s, name, &t, &error);
    bool aimed = code == 0;
    if (code == 0) code = set_clock(s, &t, &error);
    if (code == 0) {
        if (s->args->max_steps) t.c.max_steps = s->args->max_steps;
        snprintf(file, sizeof file, "%s%s%s", t.machine->name, s->k.text ? "-" : "", s->k.text ? name : "");
        hunt_name(&h, NULL, file);
        s->limits = rad_target_limits(&t);
        code = explore_test(s, &t, &o, &h, &e, &error);
    }
    int status = GO_ON;
    if (code == 0) {
        o.e = &e;
        judge(s, &t, &o, &e, &h);
        note_goals(s, name, &e);
        suppressions_add(&s->suppressed, &e);
        s->stopped |= h.bug_count > 0 || rad_exploration_all_cut(&e);
    } else if (code == RAD_EINPUT) {
        o.result = TEST_UNFIT;
        s->stopped = true;
        rad__readable_text(o.message, sizeof o.message, "%s", error.text);
    } else {
        status = code == RAD_EINTERRUPTED ? EXIT_INTERRUPTED : complain_error(s->c, &error);
    }
    if (status == GO_ON && !e.interrupted) report_test(&s->report, &s->k, &o);
    if (e.interrupted) status = EXIT_INTERRUPTED;
    rad_exploration_free(&e);
    hunt_free(&h);
    rad__bytes_free(&o.details);
    if (aimed) rad_target_free(&t);
    return status;
}

/* ---- All of them ------------------------------------------------------------------------------------- */

/* Goals outside of tests belong to all of them together: a last test, when no test was left out. */
static bool judges_goals(const suite *s)
{
    static const char begin[] = "rad_test_of_";
    if (s->pattern_count > 0 || s->args->threads) return false;
    for (uint32_t i = 0; i < s->k.goal_count; i++)
        if (strncmp(s->k.goals[i].function, begin, sizeof begin - 1) != 0) return true;
    return false;
}

static void judge_goals(suite *s)
{
    test_outcome o = {.name = "every_sometimes", .kind = "sometimes"};
    uint32_t missed = 0;
    for (uint32_t i = 0; i < s->k.goal_count && !s->stopped; i++) {
        const catalog_goal *g = &s->k.goals[i];
        char text[400];
        if (g->held || g->told) continue;
        rad__readable_text(text, sizeof text, "%s: %s (%s:%u)", g->come_to ? "true in no test" : "no test came to",
                           g->what, g->file, g->line);
        if (missed++ == 0)
            snprintf(o.message, sizeof o.message, "%s", text);
        else
            rad__bytes_format(&o.details, "%s\n", text);
    }
    o.result = s->stopped ? TEST_SKIPPED : missed ? TEST_FAILED : TEST_PASSED;
    if (s->stopped)
        snprintf(o.message, sizeof o.message, "not judged: a test failed before its budget was up");
    else if (missed == 0)
        snprintf(o.message, sizeof o.message, "each rad_sometimes outside of tests was true in one");
    report_test(&s->report, &s->k, &o);
    rad__bytes_free(&o.details);
}

static int run_suite(suite *s)
{
    uint32_t planned = 0;
    const char *name;
    int status = GO_ON;
    for (uint32_t i = 0; (name = name_at(s, i)) != NULL; i++) planned += is_wanted(s, name);
    bool goals = judges_goals(s);
    report_begin(&s->report, planned + goals);
    for (uint32_t i = 0; status == GO_ON && (name = name_at(s, i)) != NULL; i++)
        if (is_wanted(s, name))
            status = *s->c->stop        ? EXIT_INTERRUPTED
                     : s->args->threads ? run_on_threads(s, i, name)
                                        : run_test(s, i, name);
    if (status == GO_ON && goals) judge_goals(s);
    int written = report_end(&s->report, s->limits, &s->suppressed, status == EXIT_INTERRUPTED);
    if (status != GO_ON) return status;
    return written ? written : s->report.failed ? EXIT_FOUND : EXIT_FINE;
}

static int list_tests(suite *s)
{
    const char *name;
    writer j;
    if (s->args->json) {
        put_begin(&j, s->c);
        put_text(&j, "verb", "test");
        put_array(&j, "tests");
    }
    for (uint32_t i = 0; (name = name_at(s, i)) != NULL; i++) {
        if (!is_wanted(s, name)) continue;
        if (s->args->json)
            put_text(&j, NULL, name);
        else
            out(s->c, "%s\n", name);
    }
    if (s->args->json) {
        put_close(&j, ']');
        put_array(&j, "parameters");
        for (uint32_t i = 0; i < s->k.param_count; i++) {
            put_object(&j, NULL);
            put_text(&j, "name", s->k.params[i].name);
            put_json(&j, "default", s->k.params[i].value);
            put_text(&j, "about", s->k.params[i].about);
            put_close(&j, '}');
        }
        put_close(&j, ']');
        put_end(&j);
    }
    return EXIT_FINE;
}

static int check_args(cli *c, test_args *a)
{
    if (a->json && a->tap) return bad_usage(c, "--json and --tap: give one");
    if (a->clock && strcmp(a->clock, "free") != 0 && strcmp(a->clock, "quiet") != 0)
        return bad_usage(c, "--clock '%.80s': use quiet or free", a->clock);
    if (a->strategy && strchr(a->strategy, '/'))
        return bad_usage(c, "--strategy '%.200s': use a name of 'raddle list'", a->strategy);
    int status = check_strategy(c, a->strategy);
    return status ? status : check_output(c, a->output);
}

static int test_run(cli *c, int argc, char **argv)
{
    static suite s;
    test_args a = {.seed = 1, .jobs = 1};
    words w;
    int status = options_parse(c, &VERB_TEST, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    s = (suite){.c = c, .args = &a};
    if (rad_lab_program_own() == NULL && w.count > 0)
        return bad_usage(c, "'%.200s': a program is a path with a slash, such as ./%.200s", w.at[0], w.at[0]);
    if (rad_lab_program_own() == NULL)
        return bad_usage(c, "missing ./PROGRAM; usage: raddle test ./PROGRAM [NAME ...]");
    const char *path = rad_lab_program_own()->path, *slash = strrchr(path, '/');
    if ((status = check_args(c, &a)) != 0 || (status = sort_words(&s, &w)) != 0) return status;
    s.report = (test_report){.c = c,
                             .form = a.json  ? TEST_JSON
                                     : a.tap ? TEST_TAP
                                             : TEST_LINES,
                             .program = slash ? slash + 1 : path,
                             .seed = a.seed,
                             .junit = a.junit};
    if ((status = catalog_read(c, &s.k)) != 0) return status;
    if (a.threads && a.suppress) return bad_usage(c, "--threads and --suppress: give one; threads are not watched");
    if (a.threads && s.k.text == NULL) return bad_usage(c, "--threads needs a program with tests (raddle/test.h)");
    if ((status = suppressions_read(c, a.suppress, &s.suppressed)) == 0) {
        if ((status = check_words(&s)) == 0) status = a.list ? list_tests(&s) : run_suite(&s);
        suppressions_free(&s.suppressed);
    }
    catalog_free(&s.k);
    return status;
}

static const char *const TEST_EXAMPLES[] = {
    "raddle test ./tests",
    "one line a test; failures are shrunk and drawn",
    "raddle test ./tests 'two_*' --runs 20000",
    "some of them, with a larger budget",
    "raddle test ./tests --tap",
    "for meson test (protocol: 'tap') and prove",
    "RADDLE_OPTIONS='--runs 500 --junit out.xml' ./tests",
    "options where ctest or meson types the command",
    NULL,
};

const verb VERB_TEST = {
    .name = "test",
    .about = "explore each test of a program",
    .usage = "./PROGRAM [NAME ...] [PARAMETER=VALUE ...] [options]",
    .text = "Explore each test of a program until it fails or its budget is used up.\n\n"
            "Tests come from raddle/test.h (docs/guide-testing.md). In a program with machines "
            "each machine is a test; any other program with fibers or threads is one test. In a "
            "NAME * matches anything. A failure is saved as PROGRAM-NAME.raddle.json, shrunk to "
            "PROGRAM-NAME.min.raddle.json, and drawn. Words of the variable RADDLE_OPTIONS come "
            "before those of the command line.",
    .status = "0 all passed, 1 one failed, 2 bad arguments, or no tests, 3 I/O, memory or limit, 4 "
              "bug in Raddle, 130 interrupted",
    .options = TEST_OPTIONS,
    .examples = TEST_EXAMPLES,
    .run = test_run,
};
