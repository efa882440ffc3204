/* exec_explore.c — `raddle exec explore`: the exhaustive tier.
 *
 * A case is searched by states first (dedup: each state once). Where these are too many, it is searched by delays
 * against the baseline, and what is reported is the highest bound that was exhausted. The list is fixed and so are the
 * budgets, in runs: the answer is the same on every machine. */
#include "command/coverage.h"
#include "command/report.h"
#include "exec.h"
#include "fan.h"

#include <stdio.h>
#include <string.h>

enum { STATE_RUNS = 8000, DELAY_RUNS = 4000, DELAYS_MAX = 6, TIER_SEED = 1, KILLED_MOST = 8 };

typedef struct tier_args {
    uint64_t cases, first, runs, jobs, max_steps;
    const char *output;
    bool no_shrink, json;
} tier_args;

#define AT(field) offsetof(tier_args, field)

static const option TIER_OPTIONS[] = {
    {"cases", OPTION_COUNT, AT(cases), "N", "try N of the listed cases (default: all that follow)", 1, RAD_EXEC_LISTED,
     0},
    {"first", OPTION_COUNT, AT(first), "I", "begin with case I (default: 0)", 0, RAD_EXEC_LISTED - 1, 0},
    {"runs", OPTION_COUNT, AT(runs), "N", "search a case by states with at most N runs (default: 8,000)", 1,
     UINT64_C(1000000000), 0},
    {"jobs", OPTION_COUNT, AT(jobs), "N", "run N processes; results are the same for every N (default: 1)", 1,
     FAN_JOBS_MAX, 'j'},
    OPTION_MAX_STEPS(tier_args),
    {"output", OPTION_TEXT, AT(output), "DIR", "existing directory for schedule files (default: .)", 0, 0, 0},
    {"no-shrink", OPTION_FLAG, AT(no_shrink), NULL, "do not shrink failures", 0, 0, 0},
    OPTION_JSON(tier_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

/* What came of one case. */
typedef struct case_result {
    char name[32];
    uint32_t workers, tasks, instructions;
    uint64_t states, runs, steps, classes;
    bool complete; /* every state there is */
    bool bounded;  /* otherwise: every schedule with at most `delays` */
    uint32_t delays;
    bool failed;
    int code; /* of an error */
    char text[512];
    double elapsed;
    uint64_t evaluations[RAD_ORACLES_MAX];
} case_result;

_Static_assert(sizeof(case_result) <= FAN_RESULT_MAX, "a result goes through a pipe at once");

typedef struct tier {
    cli *c;
    const tier_args *args;
    hunt *hunt;
    const rad_target *only; /* one case instead of the list; its name is the hunt's */
    writer json;
    uint64_t count, done, complete;
    uint64_t by_delays[DELAYS_MAX + 1], unbounded;
    case_result sum;
    int status;
} tier;

/* ---- One case -------------------------------------------------------------------------------------- */

static void result_add(case_result *r, const rad_exploration *e)
{
    r->states += e->states;
    r->runs += e->runs;
    r->steps += e->steps;
    r->classes += e->classes;
    r->elapsed += e->elapsed;
    r->failed = r->failed || e->failures > 0;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) r->evaluations[i] += e->evaluations[i];
}

static int search(tier *t, const rad_target *target, const char *strategy, uint64_t runs, uint32_t jobs,
                  rad_exploration *e, case_result *r)
{
    rad_error error = {.code = 0};
    rad_explore_options options = {.strategy = strategy,
                                   .runs = runs,
                                   .seed = TIER_SEED,
                                   .jobs = jobs,
                                   .stop_on_first = true,
                                   .interrupted = t->c->stop};
    *e = (rad_exploration){.runs = 0};
    for (int tries = 0; tries < KILLED_MOST && r->code == 0; tries++) {
        rad_exploration_free(e);
        r->code = rad_lab_explore(target, &options, e, &error);
        if (e->killed == 0) break; /* visited states die with a worker: counts would differ */
    }
    if (r->code != 0) {
        snprintf(r->text, sizeof r->text, "%s", error.text);
        return r->code;
    }
    result_add(r, e);
    return 0;
}

/* By states, then by delays. On failure *e has the finding. */
static void search_case(tier *t, const rad_target *target, uint32_t jobs, rad_exploration *e, case_result *r)
{
    char strategy[24];
    if (search(t, target, "dedup", t->args->runs, jobs, e, r) != 0 || r->failed || *t->c->stop) return;
    r->complete = e->phase_count > 0 && e->phases[0].exhausted;
    if (r->complete) return;
    rad_exploration_free(e);
    snprintf(strategy, sizeof strategy, "delay:%d", DELAYS_MAX);
    if (search(t, target, strategy, DELAY_RUNS, jobs, e, r) != 0) return;
    r->complete = e->complete;
    for (uint32_t i = 0; i < e->phase_count && i <= DELAYS_MAX; i++) {
        r->bounded = r->bounded || e->phases[i].exhausted;
        r->delays = e->phases[i].exhausted ? i : r->delays;
    }
}

/* The case and its name; the target is to be freed. */
static int tier_case(const tier *t, uint64_t item, char name[32], rad_target *target, rad_error *error)
{
    int code = rad_exec_listed((uint32_t)(t->args->first + item), name, target, error);
    if (code == 0) target->c.max_steps = t->args->max_steps;
    return code;
}

static void result_shape(case_result *r, const rad_target *target)
{
    rad_exec_shape shape;
    rad_error error = {.code = 0};
    if ((r->code = rad_exec_shape_of(target, &shape, &error)) != 0) {
        snprintf(r->text, sizeof r->text, "%s", error.text);
        return;
    }
    r->workers = shape.workers;
    r->tasks = shape.tasks;
    r->instructions = shape.instructions;
}

static void tier_work(void *context, uint64_t item, void *result)
{
    tier *t = context;
    case_result *r = result;
    rad_error error = {.code = 0};
    rad_exploration e = {.runs = 0};
    rad_target target;
    r->code = tier_case(t, item, r->name, &target, &error);
    if (r->code != 0) {
        snprintf(r->text, sizeof r->text, "%s", error.text);
        return;
    }
    result_shape(r, &target);
    if (r->code == 0) search_case(t, &target, 1, &e, r);
    rad_exploration_free(&e);
    rad_target_free(&target);
}

/* ---- Telling --------------------------------------------------------------------------------------- */

static void coverage_text(const case_result *r, char *text, size_t size)
{
    if (r->failed)
        snprintf(text, size, "FAILED");
    else if (r->complete)
        snprintf(text, size, "complete");
    else if (r->bounded)
        snprintf(text, size, "every schedule with at most %u delay%s", r->delays, plural(r->delays));
    else
        snprintf(text, size, "no bound is complete");
}

static void tell_case(tier *t, const case_result *r)
{
    char text[80];
    coverage_text(r, text, sizeof text);
    if (!t->args->json) {
        const char *on = r->failed ? style(t->c, STYLE_BAD) : "";
        out(t->c, "%-16s %7u %5u %12u %9s %13s  %s%s%s\n", r->name, r->workers, r->tasks, r->instructions,
            number(r->states), number(r->runs), on, text, *on ? style(t->c, STYLE_OFF) : "");
        return;
    }
    writer *j = &t->json;
    put_object(j, NULL);
    put_text(j, "name", r->name);
    put_count(j, "workers", r->workers);
    put_count(j, "tasks", r->tasks);
    put_count(j, "instructions", r->instructions);
    put_count(j, "states", r->states);
    put_count(j, "interleavings", r->runs);
    put_count(j, "steps", r->steps);
    put_bool(j, "complete", r->complete);
    if (!r->complete && r->bounded)
        put_count(j, "delays", r->delays);
    else
        put_text(j, "delays", NULL);
    put_text(j, "coverage", text);
    put_bool(j, "failed", r->failed);
    put_close(j, '}');
}

static void sum_up(tier *t, const case_result *r)
{
    t->done++;
    t->complete += r->complete && !r->failed;
    if (!r->complete && r->bounded && !r->failed)
        t->by_delays[r->delays]++;
    else if (!r->complete && !r->failed)
        t->unbounded++;
    t->sum.states += r->states;
    t->sum.runs += r->runs;
    t->sum.steps += r->steps;
    t->sum.elapsed += r->elapsed;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) t->sum.evaluations[i] += r->evaluations[i];
}

static bool tier_take(void *context, uint64_t item, const void *result)
{
    tier *t = context;
    case_result r;
    memcpy(&r, result, sizeof r);
    progress_clear(t->c);
    if (r.code != 0) {
        complain(t->c, "%s: %s", r.name, r.text);
        t->status = exit_status(r.code);
        return false;
    }
    sum_up(t, &r);
    tell_case(t, &r);
    out_flush(t->c);
    progress_items(t->c, "case", item + 1, t->count);
    t->sum.failed = r.failed;
    return !r.failed && t->c->write_error == 0; /* nobody reads any more */
}

static void tell_heading(tier *t)
{
    if (t->args->json) {
        put_begin(&t->json, t->c);
        put_text(&t->json, "verb", "exec explore");
        put_count(&t->json, "seed", TIER_SEED);
        put_array(&t->json, "cases");
        return;
    }
    out(t->c, "%sexec explore%s: %s case%s, seed %d\n", style(t->c, STYLE_BOLD), style(t->c, STYLE_OFF),
        number(t->count), plural(t->count), TIER_SEED);
    out(t->c, "%s%-16s %7s %5s %12s %9s %13s  %s%s\n", style(t->c, STYLE_DIM), "case", "workers", "tasks",
        "instructions", "states", "interleavings", "covered", style(t->c, STYLE_OFF));
}

/* What is known now, with its limits. */
static void verdict_text(const tier *t, char *text, size_t size)
{
    const rad_target any = {.machine = rad_machine_find("exec")};
    const char *limits = rad_target_limits(&any);
    uint64_t rest = t->done - t->complete - t->sum.failed;
    int used = snprintf(text, size, "%s %s case%s%s",
                        t->sum.failed ? "a failure was found in the last of" : "nothing found in", number(t->done),
                        plural(t->done), *t->c->stop ? " before it was interrupted" : "");
    if (t->sum.failed) {
        snprintf(text + used, size - (size_t)used, ".");
    } else if (rest == 0) {
        snprintf(text + used, size - (size_t)used, "; every state of each was visited, %s.", limits ? limits : "");
    } else {
        snprintf(text + used, size - (size_t)used,
                 "; every state of %s was visited, %s %s searched up to a bound only, %s.", number(t->complete),
                 number(rest), rest == 1 ? "was" : "were", limits ? limits : "");
    }
}

static void tell_totals(tier *t)
{
    cli *c = t->c;
    const case_result *sum = &t->sum;
    out(c, "\n%sCovered%s\n", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    report_label(c, "cases");
    out(c, "%s of %s: %s complete", number(t->done), number(t->count), number(t->complete));
    for (uint32_t i = 0; i <= DELAYS_MAX; i++)
        if (t->by_delays[i]) out(c, ", %s up to %u delay%s", number(t->by_delays[i]), i, plural(i));
    out(c, t->unbounded ? ", %s without a bound\n" : "\n", number(t->unbounded));
    report_label(c, "runs");
    out(c, "%s interleavings, %s states, %s steps, %.2f s of computing\n", number(sum->runs), number(sum->states),
        number(sum->steps), sum->elapsed);
    report_evaluations(c, sum->evaluations);
    report_label(c, "seed");
    out(c, "%d\n", TIER_SEED);
    char text[300];
    verdict_text(t, text, sizeof text);
    out(c, "%s%s%s\n", style(c, sum->failed ? STYLE_BAD : STYLE_GOOD), text, style(c, STYLE_OFF));
}

static void totals_json(tier *t, const rad_exploration *e)
{
    writer *j = &t->json;
    put_count(j, "done", t->done);
    put_count(j, "complete", t->complete);
    put_array(j, "up_to_delays");
    for (uint32_t i = 0; i <= DELAYS_MAX; i++) put_count(j, NULL, t->by_delays[i]);
    put_close(j, ']');
    put_count(j, "unbounded", t->unbounded);
    put_count(j, "interleavings", t->sum.runs);
    put_count(j, "states", t->sum.states);
    put_count(j, "steps", t->sum.steps);
    put_real(j, "elapsed", t->sum.elapsed);
    put_evaluations(j, t->sum.evaluations);
    char text[300];
    verdict_text(t, text, sizeof text);
    put_text(j, "verdict", text);
    const rad_exploration *done[PASSES] = {[PASS_FIRST] = e};
    hunt_json(j, t->hunt, done);
    put_end(j);
}

/* ---- A failure: done again here, kept, shrunk, told ------------------------------------------------- */

static int tell_failure(tier *t, const rad_target *target, const char *name, rad_exploration *e)
{
    case_result again = {.runs = 0};
    char text[80];
    search_case(t, target, (uint32_t)t->args->jobs, e, &again);
    if (again.code != 0) {
        complain(t->c, "%s: %s", name, again.text);
        return exit_status(again.code);
    }
    snprintf(text, sizeof text, "exec-%s", name);
    hunt_name(t->hunt, NULL, text);
    return hunt_explain(t->hunt, e, !t->args->no_shrink);
}

static int failure_of_list(tier *t, rad_exploration *e)
{
    rad_error error = {.code = 0};
    rad_target target;
    char name[32];
    if (tier_case(t, t->done - 1, name, &target, &error) != 0) return complain_error(t->c, &error);
    int status = tell_failure(t, &target, name, e);
    rad_target_free(&target);
    return status;
}

static int explore_only(tier *t, rad_exploration *e)
{
    case_result r = {.runs = 0};
    snprintf(r.name, sizeof r.name, "%.31s", t->hunt->name);
    result_shape(&r, t->only);
    if (r.code == 0) search_case(t, t->only, (uint32_t)t->args->jobs, e, &r);
    if (*t->c->stop) return EXIT_INTERRUPTED;
    tier_take(t, 0, &r);
    return r.failed ? hunt_explain(t->hunt, e, !t->args->no_shrink) : t->status;
}

static int explore_tier(tier *t)
{
    rad_exploration e = {.runs = 0};
    fan f = {.c = t->c,
             .jobs = (uint32_t)t->args->jobs,
             .count = t->count,
             .size = sizeof(case_result),
             .work = tier_work,
             .take = tier_take,
             .context = t};
    int status;
    tell_heading(t);
    if (t->only) {
        status = explore_only(t, &e);
        if (t->args->json) put_close(&t->json, ']');
    } else {
        status = fan_run(&f);
        status = status ? status : t->status;
        progress_clear(t->c);
        if (t->args->json) put_close(&t->json, ']');
        if (status == 0 && t->sum.failed) status = failure_of_list(t, &e);
    }
    if (t->args->json)
        totals_json(t, &e);
    else
        tell_totals(t);
    bool interrupted = e.interrupted;
    rad_exploration_free(&e);
    return status ? status : interrupted ? EXIT_INTERRUPTED : t->sum.failed ? EXIT_FOUND : EXIT_FINE;
}

static int explore_run(cli *c, int argc, char **argv)
{
    static hunt h; /* too large for a stack */
    static tier t;
    tier_args a = {.runs = STATE_RUNS, .jobs = 1};
    rad_target target;
    words w;
    int status = options_parse(c, &VERB_EXEC_EXPLORE, argc, argv, &a, &w);
    if (status != GO_ON || (status = check_output(c, a.output)) != 0) return status;
    h = (hunt){.c = c, .dir = a.output, .json = a.json};
    t = (tier){.c = c, .args = &a, .hunt = &h};
    if (w.count > 0) {
        if (a.cases || a.first) return bad_usage(c, "--cases and --first choose from the list; the file is one case");
        if ((status = read_exec_case(c, w.at, w.count, &target)) != 0) return status;
        target.c.max_steps = a.max_steps ? a.max_steps : target.c.max_steps;
        hunt_name(&h, target_is_file(w.at[0]) ? w.at[0] : NULL, "exec");
        t.only = &target;
        t.count = 1;
        status = explore_tier(&t);
        rad_target_free(&target);
    } else {
        uint64_t left = RAD_EXEC_LISTED - a.first;
        t.count = a.cases && a.cases < left ? a.cases : left;
        status = explore_tier(&t);
    }
    hunt_free(&h);
    return status;
}

static const char *const TIER_EXAMPLES[] = {
    "raddle exec explore -j 2 --cases 10",
    "the first 10 cases, two at a time; without --cases all 520, in half a minute",
    "raddle exec explore --first 12 --cases 5",
    "five others",
    "raddle exec explore mine.json",
    "one case in a file",
    NULL,
};

const verb VERB_EXEC_EXPLORE = {
    .name = "exec explore",
    .about = "try every schedule of the listed cases, or of one",
    .usage = "[CASE.json] [options]",
    .text = "Try every schedule of the listed cases one by one, or of the case in a file.\n\n"
            "A case is searched by states first, each visited once, with at most --runs runs. If "
            "that is not enough, it is searched by delays against the baseline (0, 1, ... 6) with "
            "at most 4,000 runs. Each line says what is known: \"complete\", or the highest number "
            "of delays for which every schedule was tried. The first failure ends the search; it "
            "is saved, shrunk and drawn.",
    .status = "0 no failure, 1 failure, " STATUS_ERRORS ", 130 interrupted",
    .options = TIER_OPTIONS,
    .examples = TIER_EXAMPLES,
    .run = explore_run,
};
