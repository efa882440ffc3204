/* exec_run.c — `raddle exec run`: one run of a case: how it ended, and where everything is. */
#include "command/report.h"
#include "exec.h"

typedef struct run_args {
    uint64_t seed, policy_seed, max_steps;
    bound_args bounds;
    const char *policy, *artifact;
    bool json;
} run_args;

#define AT(field) offsetof(run_args, field)

static const option RUN_OPTIONS[] = {
    {"seed", OPTION_COUNT, AT(seed), "S", "generate the case from this seed, instead of a file", 0, SEED_MAX, 0},
    OPTIONS_OF_BOUNDS(run_args),
    {"policy", OPTION_TEXT, AT(policy), "P", "policy: a name (default: random; see 'raddle list') or ./FILE.so", 0, 0,
     0},
    {"policy-seed", OPTION_COUNT, AT(policy_seed), "S", "seed of the policy (default: 1)", 0, SEED_MAX, 0},
    OPTION_MAX_STEPS(run_args),
    {"artifact", OPTION_TEXT, AT(artifact), "FILE", "save the run as a schedule file, pass or fail", 0, 0, 0},
    OPTION_JSON(run_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void report_text(cli *c, const rad_target *t, const run_args *a, const rad_story *s)
{
    char shape[256];
    const rad_verdict *v = &s->verdict;
    const char *outcome = rad_exec_outcome(s);
    shape_text(t, shape, sizeof shape);
    out(c, "%sexec run%s: ", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    if (a->seed != NOT_GIVEN) out(c, "seed %llu, ", (unsigned long long)a->seed);
    out(c, "policy %s, policy seed %llu\n", a->policy, (unsigned long long)a->policy_seed);
    report_label(c, "case");
    out(c, "%s\n", shape);
    report_label(c, "outcome");
    bool good = v->result == RAD_RESULT_PASS;
    out(c, "%s%s%s after %s step%s, %s decision%s; %s\n", style(c, good ? STYLE_GOOD : STYLE_BAD), outcome,
        style(c, STYLE_OFF), number(v->steps), plural(v->steps), number(v->decisions), plural(v->decisions),
        good ? "as the case expects" : "not as the case expects");
    report_label(c, "trace");
    out(c, "%s\n", v->trace_hash);
    if (a->artifact) {
        report_label(c, "artifact");
        out(c, "%s\n", a->artifact);
    }
    if (!good) {
        report_label(c, "failure");
        report_verdict(c, 13, v);
    }
    out_text(c, "\n");
    report_state(c, s);
    if (!good) report_events(c, s);
}

static void report_json(cli *c, const rad_target *t, const run_args *a, const rad_story *s)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "verb", "exec run");
    if (a->seed != NOT_GIVEN) put_count(&j, "seed", a->seed);
    put_text(&j, "policy", a->policy);
    put_count(&j, "policy_seed", a->policy_seed);
    put_shape(&j, t);
    put_text(&j, "outcome", rad_exec_outcome(s));
    put_bool(&j, "as_expected", s->verdict.result == RAD_RESULT_PASS);
    put_verdict(&j, &s->verdict);
    put_lines(&j, "state", s->state);
    put_array(&j, "last_events");
    for (uint64_t i = first_event(s); i < s->line_count; i++) {
        char text[256];
        event_text(s, i, text, sizeof text);
        put_text(&j, NULL, text);
    }
    put_close(&j, ']');
    put_text(&j, "artifact", a->artifact);
    put_target(&j, t);
    put_end(&j);
}

static int run_case(cli *c, const rad_target *t, const run_args *a)
{
    rad_error error = {.code = 0};
    rad_verdict v;
    rad_artifact *run = NULL;
    rad_story *story = NULL;
    rad_run_request request = {.policy = a->policy, .seed = a->policy_seed, .artifact = &run};
    int code = rad_lab_run(t, &request, &v, &error), status = 0;
    if (code == 0 && a->artifact) code = rad_artifact_write(run, a->artifact, &error);
    if (code == 0) code = rad_lab_story(run, &story, &error);
    if (code != 0)
        status = complain_error(c, &error);
    else if (a->json)
        report_json(c, t, a, story);
    else
        report_text(c, t, a, story);
    if (status == 0) status = v.result == RAD_RESULT_PASS ? EXIT_FINE : EXIT_FOUND;
    rad_story_free(story);
    rad_artifact_free(run);
    return status;
}

static int read_case(cli *c, const run_args *a, const words *w, rad_target *t)
{
    rad_exec_bounds bounds;
    if (w->count > 0 && a->seed != NOT_GIVEN) return bad_usage(c, "CASE.json and --seed: give one");
    if (w->count > 0 && bounds_given(&a->bounds))
        return bad_usage(c, "bounds are for cases from a seed; the file has its own");
    if (w->count > 0) return read_exec_case(c, w->at, w->count, t);
    if (a->seed == NOT_GIVEN) return bad_usage(c, "missing CASE.json or --seed S");
    int status = read_bounds(c, &a->bounds, &bounds);
    return status ? status : generate(c, a->seed, &bounds, t);
}

static int run_run(cli *c, int argc, char **argv)
{
    run_args a = {.seed = NOT_GIVEN, .policy_seed = 1, .bounds = BOUNDS_NOT_GIVEN, .policy = "random"};
    rad_target t;
    words w;
    int status = options_parse(c, &VERB_EXEC_RUN, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if ((status = read_policy_word(c, &a.policy)) != 0 || (status = read_case(c, &a, &w, &t)) != 0) return status;
    t.c.max_steps = a.max_steps ? a.max_steps : t.c.max_steps;
    status = run_case(c, &t, &a);
    rad_target_free(&t);
    return status;
}

static const char *const RUN_EXAMPLES[] = {
    "raddle exec run mine.json",
    "a case in a file, random choices",
    "raddle exec run --seed 7 --policy fair",
    "a generated case, workers in turn",
    "raddle exec run mine.json --artifact mine.raddle.json && raddle show mine.raddle.json",
    "save the run, and draw it",
    NULL,
};

const verb VERB_EXEC_RUN = {
    .name = "exec run",
    .about = "run one case; say how it ended and where everything is",
    .usage = "CASE.json [options]\n--seed S [options]",
    .text = "Run a test case once; print how it ended and where every task, permit and sleeper is.\n\n"
            "A run ends as completed, refused (some tasks came too late), deadlock (some are blocked "
            "forever), step-limit, or with the name of the check that failed. If the run does not end "
            "as the case expects, its last 200 events follow.",
    .status = "0 as the case expects, 1 not as it expects, " STATUS_ERRORS,
    .options = RUN_OPTIONS,
    .examples = RUN_EXAMPLES,
    .run = run_run,
};
