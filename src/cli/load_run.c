/* load_run.c — `raddle load run` and `validate`. */
#include "load.h"

#include "command/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------------------- */

#define AT(field) offsetof(load_words, field)
static const option RUN_OPTIONS[] = {
    {"seed", OPTION_COUNT, AT(seed), "S",
     "seed (default: the scenario's; if it has none, Raddle picks one and prints it)", 1, SEED_MAX, 0},
    {"output", OPTION_TEXT, AT(output), "PATH",
     "directory for results (default: results), or FILE.log for the log alone", 0, 0, 'o'},
    {"target", OPTION_TEXT, AT(target), "URL", "send requests to URL instead of the scenario's target", 0, 0, 0},
    {"engine", OPTION_TEXT, AT(engine), "E",
     "simulated, epoll or uring (default: simulated if the scenario has a simulated target, "
     "otherwise epoll)",
     0, 0, 0},
    {"shards", OPTION_COUNT, AT(shards), "N",
     "run N schedulers on threads, each with its share of the virtual users (default: 1)", 1, 256, 0},
    {"live", OPTION_FLAG, AT(live), NULL, "show a panel while it runs, even if stderr is not a terminal", 0, 0, 0},
    {"no-log", OPTION_FLAG, AT(no_log), NULL, "write nothing", 0, 0, 0},
    {"quiet", OPTION_FLAG, AT(quiet), NULL, "print no summary", 0, 0, 'q'},
    {"csv", OPTION_FLAG, AT(csv), NULL, "print one line a second instead of the summary", 0, 0, 0},
    {"prometheus", OPTION_FLAG, AT(prometheus), NULL, "print Prometheus' text format instead of the summary", 0, 0, 0},
    OPTION_JSON(load_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* url: the target is typed, and so not simulated. */
static int read_engine(cli *c, const char *text, bool url, enum rad_load_engine *engine)
{
    static const char *const NAMES[] = {"auto", "simulated", "epoll", "uring"};
    for (uint32_t i = 0; i < 4; i++) {
        if (strcmp(text, NAMES[i]) == 0 && !(url && i == RAD_LOAD_SIMULATED)) {
            *engine = (enum rad_load_engine)i;
            return 0;
        }
    }
    return bad_usage(c, "--engine '%.80s': use %sepoll or uring", text, url ? "" : "simulated, ");
}

/* ---- The panel ------------------------------------------------------------------------------------------- */

static void panel(void *context, const rad_load_progress *p)
{
    char bar[11], p50[32] = "-", p99[32] = "-";
    double seconds = (double)p->now_ns * 1e-9, all = (double)p->duration_ns * 1e-9;
    int filled = p->duration_ns > 0 ? (int)(10.0 * seconds / all) : 0;
    for (int i = 0; i < 10; i++) bar[i] = i < filled ? '#' : '.';
    bar[10] = 0;
    if (p->p50_ns != RAD_LOAD_NO_DATA) {
        snprintf(p50, sizeof p50, "%.2f ms", (double)p->p50_ns * 1e-6);
        snprintf(p99, sizeof p99, "%.2f ms", (double)p->p99_ns * 1e-6);
    }
    char line[256];
    snprintf(line, sizeof line, "[%s] %.1f/%.0f s  %u VUs  %.0f req/s  p50 %s  p99 %s  %" PRIu64 " errors", bar,
             seconds, all, p->users, (double)p->rate_milli / 1000.0, p50, p99, p->errors);
    progress_line(context, line);
}

/* ---- Where results go ------------------------------------------------------------------------------------ */

struct places {
    rad_load_folder *folder; /* NULL: none */
    const char *log;         /* NULL: none */
};

static int find_places(cli *c, const load_words *w, struct places *p)
{
    rad_error error = {.code = 0};
    *p = (struct places){NULL, NULL};
    const char *output = w->output != NULL ? w->output : "results";
    if (w->no_log) return 0;
    if (ends_with(output, ".log")) {
        p->log = output;
        return 0;
    }
    if (rad_load_folder_open(&p->folder, output, &error) != 0) return complain_error(c, &error);
    p->log = rad_load_folder_log(p->folder);
    return 0;
}

int one_form(cli *c, bool json, bool csv, bool prometheus, bool format)
{
    const char *names[4];
    uint32_t count = 0;
    if (json) names[count++] = "json";
    if (csv) names[count++] = "csv";
    if (prometheus) names[count++] = "prometheus";
    if (format) names[count++] = "format";
    return count < 2 ? 0 : bad_usage(c, "--%s and --%s: give one", names[0], names[1]);
}

/* ---- A run ----------------------------------------------------------------------------------------------- */

static int status_of(cli *c, const rad_load_facts *f)
{
    if (f->end == RAD_LOAD_INTERRUPTED) return EXIT_INTERRUPTED;
    if (f->end == RAD_LOAD_EXHAUSTED) {
        complain(c, "the log reached its limit (limits.max_event_log_size_mb); the run ended early");
        return EXIT_RUNTIME;
    }
    int judged = judge_data(c, f);
    return f->assertions_failed > 0 ? EXIT_FOUND : judged;
}

static int tell(cli *c, const rad_load_result *r, const load_words *w, const struct places *places, bool lost)
{
    int status = 0;
    if (w->json)
        status = print_form(c, r, RAD_LOAD_JSON);
    else if (w->csv)
        status = print_form(c, r, RAD_LOAD_CSV);
    else if (w->prometheus)
        status = print_form(c, r, RAD_LOAD_PROMETHEUS);
    else if (!w->quiet)
        status = print_form(c, r, RAD_LOAD_SUMMARY);
    if (status == 0 && !w->json && !w->csv && !w->prometheus && places->log != NULL)
        out(c, "\nlog: %s\nnext: raddle load replay %s%s\n", places->log, shell_word(places->log),
            lost ? " --partial" : "");
    return status;
}

/* lost: the disk was full or too slow, so the log is cut off. */
static int finish(cli *c, const rad_load_result *r, const load_words *w, const struct places *places, bool lost)
{
    rad_load_facts facts;
    rad_error error = {.code = 0};
    rad_load_result_facts(r, &facts);
    int status = status_of(c, &facts), told = tell(c, r, w, places, lost);
    if (told != 0) status = told;
    if (places->folder != NULL &&
        rad_load_folder_keep(places->folder, r, w->scenario_path, w->command_line, status, &error) != 0)
        status = complain_error(c, &error);
    return status;
}

int run_scenario(cli *c, rad_load_scenario *s, const load_words *w)
{
    struct places places = {NULL, NULL};
    rad_load_options o = rad_load_defaults();
    rad_load_result *r = NULL;
    rad_error error = {.code = 0};
    int status = w->engine != NULL ? read_engine(c, w->engine, w->is_url, &o.engine) : 0;
    if (status == 0) status = find_places(c, w, &places);
    if (status == 0) {
        o.seed = w->seed;
        o.shards = (uint32_t)w->shards;
        o.target = w->target;
        o.stop = c->stop;
        o.log = places.log;
        if (c->progress || w->live) o.watch = panel;
        o.context = c;
        int code = rad_load_run(&r, s, &o, &error);
        if (o.watch != NULL) progress_line(c, "");
        if (r != NULL) status = finish(c, r, w, &places, code != 0);
        if (code != 0) status = complain_error(c, &error);
    }
    rad_load_folder_free(places.folder);
    rad_load_result_free(r);
    rad_load_free(s);
    return status;
}

static int read_scenario(cli *c, const words *w, rad_load_scenario **s)
{
    const char *path;
    rad_error error = {.code = 0};
    int status = read_file_word(c, w->at, w->count, &path);
    if (status != 0) return status;
    return rad_load_read(s, path, &error) == 0 ? 0 : complain_error(c, &error);
}

static int load_run_run(cli *c, int argc, char **argv)
{
    load_words words_of = {.shards = 1};
    rad_load_scenario *s;
    words w;
    words_of.command_line = command_line(argc, argv);
    int status = options_parse(c, &VERB_LOAD_RUN, argc, argv, &words_of, &w);
    if (status != GO_ON) return status;
    status = one_form(c, words_of.json, words_of.csv, words_of.prometheus, false);
    if (status == 0) status = read_scenario(c, &w, &s);
    if (status == 0) words_of.scenario_path = w.at[0];
    return status != 0 ? status : run_scenario(c, s, &words_of);
}

static const char *const RUN_EXAMPLES[] = {
    "raddle load run examples/load/sim-arrivals.toml --seed 7",
    "a constant rate of requests to a simulated target",
    "raddle load run examples/load/quick.toml --target http://127.0.0.1:8080 --output run.log",
    "a real server; only the log is kept",
    NULL,
};

const verb VERB_LOAD_RUN = {
    .name = "load run",
    .about = "run a scenario",
    .usage = "SCENARIO.toml [options]",
    .text = "Run a scenario: on its simulated target if it has one and --target is not given, "
            "otherwise on the real one.\n\n"
            "Results go to a new directory below --output: events.log, metrics.json, summary.txt, "
            "timeseries.csv, config.toml, metadata.json.",
    .status = "0 all assertions hold, 1 one fails (without data all do), or there was no response "
              "at all, " STATUS_ERRORS ", 130 interrupted (what is known is written)",
    .options = RUN_OPTIONS,
    .examples = RUN_EXAMPLES,
    .run = load_run_run,
};

/* ---- validate -------------------------------------------------------------------------------------------- */

static int load_validate_run(cli *c, int argc, char **argv)
{
    load_words ignored = {.shards = 1};
    rad_load_scenario *s;
    rad_error error = {.code = 0};
    words w;
    int status = options_parse(c, &VERB_LOAD_VALIDATE, argc, argv, &ignored, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_LOAD_VALIDATE);
    status = read_scenario(c, &w, &s);
    if (status != 0) return status;
    if (rad_load_check(s, &error) != 0) {
        rad_load_free(s);
        return complain_error(c, &error);
    }
    char *text = rad_load_outline(s);
    if (text != NULL) out_text(c, text);
    rad_free(text);
    rad_load_free(s);
    return text != NULL ? EXIT_FINE : EXIT_RUNTIME;
}

static const char *const VALIDATE_EXAMPLES[] = {
    "raddle load validate examples/load/sim-ramp.toml",
    "what it would do",
    NULL,
};

const verb VERB_LOAD_VALIDATE = {
    .name = "load validate",
    .about = "check a scenario; say what it would do",
    .usage = "SCENARIO.toml",
    .text = "Read a scenario, the files and environment variables it names, and say what a run "
            "would do. Mistakes are reported with line and column.",
    .status = "0 well-formed, 2 not, 3 I/O, memory or limit, 4 bug in Raddle",
    .examples = VALIDATE_EXAMPLES,
    .run = load_validate_run,
};
