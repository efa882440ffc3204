/* exec_stress.c — `raddle exec stress`: the stress tier: seeds × drivers.
 *
 * A seed makes a case, and the case is run under a fair driver and under three that are not, each run twice: the second
 * must be the same. Steps are limited, and what a run into the limit means is found out, not assumed: generated
 * cases end under every schedule, so it is done again with many more (RETRY times as many, at least RETRY_STEPS). If it
 * ends then, the case was large, and the run is counted as one that needed more steps; if not, it is a failure,
 * step-limit. With the defaults 187 of 200 runs stay below the limit, the longest takes 13,179 steps. */
#include "command/report.h"
#include "exec.h"
#include "fan.h"

#include <stdio.h>
#include <string.h>

enum { SEEDS_DEFAULT = 50, STEPS_DEFAULT = 5000, RETRY = 20, RETRY_STEPS = 100000 };

typedef struct stress_args {
    uint64_t seeds, max_steps, programs, tasks, seed_base, workers, length, jobs;
    const char *output;
    bool no_shrink, json;
} stress_args;

#define AT(field) offsetof(stress_args, field)

enum { SEEDS_MAX = 100000000, STEPS_MAX = 10000000 };

static const option STRESS_OPTIONS[] = {
    {"seeds", OPTION_COUNT, AT(seeds), "N", "try N seeds (default: 50)", 1, SEEDS_MAX, 0},
    {"max-steps", OPTION_COUNT, AT(max_steps), "N", "steps of a run (default: 5,000)", 1, STEPS_MAX, 0},
    {"max-programs", OPTION_COUNT, AT(programs), "N", "at most N programs a case (default: 8)", 1, UINT32_MAX, 0},
    {"max-tasks", OPTION_COUNT, AT(tasks), "N", "at most N tasks from outside (default: 16)", 1, UINT32_MAX, 0},
    {"seed-base", OPTION_COUNT, AT(seed_base), "S", "first seed (default: 1)", 0, SEED_MAX, 0},
    {"workers", OPTION_COUNT, AT(workers), "N", "at most N workers (default: 8)", 1, UINT32_MAX, 0},
    {"length", OPTION_COUNT, AT(length), "N", "at most N instructions a program (default: 32)", 1, UINT32_MAX, 0},
    {"jobs", OPTION_COUNT, AT(jobs), "N", "run N processes; results are the same for every N (default: 1)", 1,
     FAN_JOBS_MAX, 'j'},
    {"output", OPTION_TEXT, AT(output), "DIR", "existing directory for schedule files (default: .)", 0, 0, 0},
    {"no-shrink", OPTION_FLAG, AT(no_shrink), NULL, "do not shrink failures", 0, 0, 0},
    OPTION_JSON(stress_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static const char *const DRIVERS[] = {"fair", "random", "pct:3", "first"};
enum { DRIVER_COUNT = sizeof DRIVERS / sizeof *DRIVERS };

enum ending { COMPLETED = 0, REFUSED, NEEDED_MORE, FAILED, ENDINGS };
static const char *const ENDING_WORDS[ENDINGS] = {"completed", "refused", "needed_more", "failed"};

typedef struct seed_result {
    uint64_t runs, steps, longest;
    uint64_t endings[ENDINGS];
    uint32_t driver; /* FAILED: under which one */
    int code;        /* of an error */
    char text[512];
    double elapsed;
    uint64_t evaluations[RAD_ORACLES_MAX];
} seed_result;

_Static_assert(sizeof(seed_result) <= FAN_RESULT_MAX, "a result goes through a pipe at once");

typedef struct stress {
    cli *c;
    const stress_args *args;
    hunt *hunt;
    rad_exec_bounds bounds;
    seed_result sum;
    uint64_t done;
    bool failed;
    uint32_t driver;
    int status;
} stress;

/* ---- One seed -------------------------------------------------------------------------------------- */

static uint64_t seed_of(const stress *s, uint64_t item)
{
    return s->args->seed_base + item;
}

static int run_once(stress *s, const rad_target *t, uint32_t driver, uint64_t seed, rad_exploration *e,
                    rad_error *error)
{
    rad_explore_options options = {.strategy = DRIVERS[driver],
                                   .runs = 1,
                                   .seed = seed,
                                   .jobs = 1,
                                   .stop_on_first = true,
                                   .twice = true,
                                   .interrupted = s->c->stop};
    return rad_lab_explore(t, &options, e, error);
}

static bool is_at_limit(const rad_exploration *e)
{
    return e->finding_count > 0 && strcmp(rad_artifact_verdict(e->findings[0].artifact)->kind, "step-limit") == 0;
}

/* Under one driver; *e is to be freed, also after an error. */
static int drive(stress *s, rad_target *t, uint32_t driver, uint64_t seed, rad_exploration *e, enum ending *how,
                 rad_error *error)
{
    *e = (rad_exploration){.runs = 0};
    t->c.max_steps = s->args->max_steps;
    int code = run_once(s, t, driver, seed, e, error);
    *how = e->failures ? FAILED : rad_exec_met(e, "refused") ? REFUSED : COMPLETED;
    if (code != 0 || !is_at_limit(e)) return code;
    rad_exploration longer = {.runs = 0};
    t->c.max_steps = RETRY * s->args->max_steps;
    t->c.max_steps = t->c.max_steps > RETRY_STEPS ? t->c.max_steps : RETRY_STEPS;
    code = run_once(s, t, driver, seed, &longer, error);
    *how = longer.failures ? FAILED : NEEDED_MORE;
    if (code == 0 && longer.failures) { /* that one is the finding, whatever it is */
        rad_exploration_free(e);
        *e = longer;
    } else {
        rad_exploration_free(&longer);
    }
    return code;
}

static void result_add(seed_result *r, const rad_exploration *e, enum ending how)
{
    r->runs += e->runs;
    r->steps += e->steps;
    r->longest = e->steps > r->longest ? e->steps : r->longest;
    r->elapsed += e->elapsed;
    r->endings[how]++;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) r->evaluations[i] += e->evaluations[i];
}

static void stress_work(void *context, uint64_t item, void *result)
{
    stress *s = context;
    seed_result *r = result;
    rad_error error = {.code = 0};
    rad_target t;
    r->code = rad_exec_generate(seed_of(s, item), &s->bounds, &t, &error);
    if (r->code != 0) {
        snprintf(r->text, sizeof r->text, "%s", error.text);
        return;
    }
    for (uint32_t i = 0; i < DRIVER_COUNT && r->code == 0 && r->endings[FAILED] == 0; i++) {
        rad_exploration e;
        enum ending how;
        r->code = drive(s, &t, i, seed_of(s, item), &e, &how, &error);
        if (r->code == 0) {
            result_add(r, &e, how);
            r->driver = i;
        }
        rad_exploration_free(&e);
    }
    if (r->code != 0) snprintf(r->text, sizeof r->text, "%s", error.text);
    rad_target_free(&t);
}

static bool stress_take(void *context, uint64_t item, const void *result)
{
    stress *s = context;
    seed_result r;
    memcpy(&r, result, sizeof r);
    if (r.code != 0) {
        progress_clear(s->c);
        complain(s->c, "seed %llu: %s", (unsigned long long)seed_of(s, item), r.text);
        s->status = exit_status(r.code);
        return false;
    }
    s->done++;
    s->sum.runs += r.runs;
    s->sum.steps += r.steps;
    s->sum.longest = r.longest > s->sum.longest ? r.longest : s->sum.longest;
    s->sum.elapsed += r.elapsed;
    for (uint32_t i = 0; i < ENDINGS; i++) s->sum.endings[i] += r.endings[i];
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) s->sum.evaluations[i] += r.evaluations[i];
    s->failed = r.endings[FAILED] > 0;
    s->driver = r.driver;
    progress_items(s->c, "seed", item + 1, s->args->seeds);
    return !s->failed;
}

/* ---- A failure: done again here, kept, shrunk, told ------------------------------------------------- */

static int tell_failure(stress *s, rad_exploration *e)
{
    rad_error error = {.code = 0};
    rad_target t;
    enum ending how;
    char name[80];
    uint64_t seed = seed_of(s, s->done - 1);
    int status = generate(s->c, seed, &s->bounds, &t);
    if (status != 0) return status;
    snprintf(name, sizeof name, "exec-seed-%llu", (unsigned long long)seed);
    hunt_name(s->hunt, NULL, name);
    if (!s->args->json) out(s->c, "seed %llu fails under %s\n", (unsigned long long)seed, DRIVERS[s->driver]);
    status = drive(s, &t, s->driver, seed, e, &how, &error) == 0 ? hunt_explain(s->hunt, e, !s->args->no_shrink)
                                                                 : complain_error(s->c, &error);
    rad_target_free(&t);
    return status;
}

/* ---- Telling --------------------------------------------------------------------------------------- */

static void tell_heading(const stress *s)
{
    if (!s->args->json) {
        out(s->c,
            "%sexec stress%s: %s seed%s from %llu, up to %s steps, %u workers, %u tasks, %u "
            "programs of %u\n",
            style(s->c, STYLE_BOLD), style(s->c, STYLE_OFF), number(s->args->seeds), plural(s->args->seeds),
            (unsigned long long)s->args->seed_base, number(s->args->max_steps), s->bounds.workers, s->bounds.tasks,
            s->bounds.programs, s->bounds.length);
    }
}

static void tell_totals(const stress *s)
{
    cli *c = s->c;
    const seed_result *sum = &s->sum;
    out(c, "\n%sCovered%s\n", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    report_label(c, "seeds");
    out(c, "%s of %s, from %llu; policies fair, random, pct:3, first\n", number(s->done), number(s->args->seeds),
        (unsigned long long)s->args->seed_base);
    report_label(c, "runs");
    out(c, "%s, each twice; %s steps, the longest %s; %.2f s of computing", number(sum->runs), number(sum->steps),
        number(sum->longest), sum->elapsed);
    if (sum->elapsed > 0.01) /* both of the two runs take steps */
        out(c, " (%s steps/s)", number((uint64_t)(2 * (double)sum->steps / sum->elapsed)));
    out_text(c, "\n");
    report_label(c, "outcomes");
    for (uint32_t i = 0; i < ENDINGS; i++) {
        out(c, "%s%s ", i ? ", " : "", number(sum->endings[i]));
        if (i == NEEDED_MORE)
            out(c, "needed more than %s steps", number(s->args->max_steps));
        else
            out_text(c, ENDING_WORDS[i]);
    }
    out_text(c, "\n");
    report_evaluations(c, sum->evaluations);
    out(c, "%s%s%s %s %s run%s%s.\n", style(c, s->failed ? STYLE_BAD : STYLE_GOOD),
        s->failed ? "a failure was found" : "nothing found", style(c, STYLE_OFF), s->failed ? "in the last of" : "in",
        number(sum->runs), plural(sum->runs), *c->stop ? " before it was interrupted" : "");
}

static void report_json(stress *s, const rad_exploration *e)
{
    writer j;
    const seed_result *sum = &s->sum;
    put_begin(&j, s->c);
    put_text(&j, "verb", "exec stress");
    put_count(&j, "seed_base", s->args->seed_base);
    put_count(&j, "seeds", s->args->seeds);
    put_count(&j, "max_steps", s->args->max_steps);
    put_count(&j, "max_workers", s->bounds.workers);
    put_count(&j, "max_programs", s->bounds.programs);
    put_count(&j, "max_tasks", s->bounds.tasks);
    put_count(&j, "max_length", s->bounds.length);
    put_array(&j, "drivers");
    for (uint32_t i = 0; i < DRIVER_COUNT; i++) put_text(&j, NULL, DRIVERS[i]);
    put_close(&j, ']');
    put_count(&j, "done", s->done);
    put_count(&j, "runs", sum->runs);
    put_count(&j, "steps", sum->steps);
    put_count(&j, "longest", sum->longest);
    put_real(&j, "elapsed", sum->elapsed);
    put_object(&j, "outcomes");
    for (uint32_t i = 0; i < ENDINGS; i++) put_count(&j, ENDING_WORDS[i], sum->endings[i]);
    put_close(&j, '}');
    put_evaluations(&j, sum->evaluations);
    const rad_exploration *done[PASSES] = {[PASS_FIRST] = e};
    hunt_json(&j, s->hunt, done);
    put_end(&j);
}

/* ---- The verb -------------------------------------------------------------------------------------- */

static int read_variable(cli *c, enum stress_variable v, uint64_t min, uint64_t max, uint64_t *value)
{
    const char *text = c->stress[v];
    uint64_t given;
    if (*text == 0) return 0;
    if (!read_count(text, max, &given) || given < min) {
        return bad_usage(c, "%s '%.80s': use a whole number from %llu to %llu", STRESS_NAMES[v], text,
                         (unsigned long long)min, (unsigned long long)max);
    }
    *value = given;
    return 0;
}

static int read_environment(cli *c, stress_args *a)
{
    int status = read_variable(c, STRESS_SEEDS, 1, SEEDS_MAX, &a->seeds);
    status = status ? status : read_variable(c, STRESS_MAX_STEPS, 1, STEPS_MAX, &a->max_steps);
    status = status ? status : read_variable(c, STRESS_MAX_PROGRAMS, 1, 63, &a->programs);
    status = status ? status : read_variable(c, STRESS_MAX_TASKS, 1, 255, &a->tasks);
    return status ? status : read_variable(c, STRESS_SEED_BASE, 0, SEED_MAX, &a->seed_base);
}

/* The first case tells whether the bounds are in range. */
static int check_bounds(cli *c, const stress *s)
{
    rad_target t;
    int status = 0;
    if (SEED_MAX - s->args->seed_base < s->args->seeds - 1)
        return bad_usage(c, "--seed-base: the last seed would be above %llu", (unsigned long long)SEED_MAX);
    if ((status = generate(c, s->args->seed_base, &s->bounds, &t)) == 0) rad_target_free(&t);
    return status;
}

static int stress_all(stress *s)
{
    rad_exploration e = {.runs = 0};
    fan f = {.c = s->c,
             .jobs = (uint32_t)s->args->jobs,
             .count = s->args->seeds,
             .size = sizeof(seed_result),
             .work = stress_work,
             .take = stress_take,
             .context = s};
    tell_heading(s);
    int status = fan_run(&f);
    status = status ? status : s->status;
    progress_clear(s->c);
    if (status == 0 && s->failed) status = tell_failure(s, &e);
    if (s->args->json)
        report_json(s, &e);
    else
        tell_totals(s);
    bool interrupted = e.interrupted;
    rad_exploration_free(&e);
    return status ? status : interrupted ? EXIT_INTERRUPTED : s->failed ? EXIT_FOUND : EXIT_FINE;
}

static int stress_run(cli *c, int argc, char **argv)
{
    static hunt h; /* too large for a stack */
    rad_exec_bounds defaults = rad_exec_bounds_stress();
    stress_args a = {.seeds = SEEDS_DEFAULT,
                     .max_steps = STEPS_DEFAULT,
                     .programs = defaults.programs,
                     .tasks = defaults.tasks,
                     .seed_base = 1,
                     .workers = defaults.workers,
                     .length = defaults.length,
                     .jobs = 1};
    words w;
    int bad = read_environment(c, &a), status = options_parse(c, &VERB_EXEC_STRESS, argc, argv, &a, &w);
    if (status != GO_ON || (status = bad) != 0) return status;
    if (w.count > 0) return bad_usage(c, "unexpected argument '%.80s'", w.at[0]);
    if ((status = check_output(c, a.output)) != 0) return status;
    h = (hunt){.c = c, .dir = a.output, .json = a.json};
    stress s = {.c = c, .args = &a, .hunt = &h, .bounds = defaults};
    s.bounds.workers = (uint32_t)a.workers;
    s.bounds.programs = (uint32_t)a.programs;
    s.bounds.tasks = (uint32_t)a.tasks;
    s.bounds.length = (uint32_t)a.length;
    if ((status = check_bounds(c, &s)) == 0) status = stress_all(&s);
    hunt_free(&h);
    return status;
}

static const char *const STRESS_EXAMPLES[] = {
    "raddle exec stress",
    "50 seeds, each case under four policies",
    "raddle exec stress --seeds 20 --max-steps 100000 --workers 16 --length 256 -j 2",
    "larger cases; with --seeds 10000 all night",
    "SCHEDULER_SIM_STRESS_SEEDS=20 raddle exec stress",
    "defaults from the environment",
    NULL,
};

const verb VERB_EXEC_STRESS = {
    .name = "exec stress",
    .about = "run generated cases under four policies",
    .usage = "[options]",
    .text = "Generate a case from each seed and run it under the policies fair, random, pct:3 and "
            "first, each run twice; both must be the same.\n\n"
            "Generated cases end under every schedule. A run that reaches --max-steps is repeated "
            "with twenty times as many, at least 100,000. If it ends then, it is counted as one "
            "that needed more steps; if not, it is the failure step-limit. The first failure ends "
            "the search; it is saved, shrunk and drawn.\n\n"
            "Defaults come from SCHEDULER_SIM_STRESS_SEEDS, _MAX_STEPS, _MAX_PROGRAMS, _MAX_TASKS "
            "and _SEED_BASE in the environment; options win.",
    .status = "0 no failure, 1 failure, " STATUS_ERRORS ", 130 interrupted",
    .options = STRESS_OPTIONS,
    .examples = STRESS_EXAMPLES,
    .run = stress_run,
};
