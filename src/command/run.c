/* run.c — `raddle run`: one run under a policy, perhaps recorded as a log. */
#include "options.h"
#include "report.h"
#include "suppressions.h"

typedef struct run_args {
    const char *policy, *log, *artifact, *suppress;
    uint64_t seed, log_limit, max_steps;
    bool repaired, json;
} run_args;

#define AT(field) offsetof(run_args, field)

static const option RUN_OPTIONS[] = {
    {"policy", OPTION_TEXT, AT(policy), "P", "policy: a name (default: random; see 'raddle list') or ./FILE.so", 0, 0,
     0},
    OPTION_SEED(run_args),
    {"log", OPTION_TEXT, AT(log), "FILE", "record every decision in FILE, for 'raddle replay'", 0, 0, 0},
    {"log-limit", OPTION_COUNT, AT(log_limit), "BYTES", "fail if the log gets larger (default: 256 MiB)", 1,
     UINT64_C(1) << 40, 0},
    {"artifact", OPTION_TEXT, AT(artifact), "FILE", "save the run as a schedule file, pass or fail", 0, 0, 0},
    OPTION_FIXED(run_args),
    OPTION_MAX_STEPS(run_args),
    OPTION_SUPPRESS(run_args),
    OPTION_JSON(run_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void report_run(cli *c, const rad_target *t, const run_args *a, const rad_verdict *v)
{
    char text[256];
    rad_target_text(t, text, sizeof text);
    out(c, "%srun %s%s: policy %s, seed %llu\n", style(c, STYLE_BOLD), text, style(c, STYLE_OFF), a->policy,
        (unsigned long long)a->seed);
    report_verdict(c, 0, v);
    if (v->result != RAD_RESULT_PASS) {
        report_label(c, "steps");
        out(c, "%s, %s decision%s\n", number(v->steps), number(v->decisions), plural(v->decisions));
    }
    report_label(c, "trace");
    out(c, "%s\n", v->trace_hash);
    if (a->log) {
        report_label(c, "log");
        out(c, "%s\n", a->log);
        report_label(c, "replay");
        char command[8192];
        command_text(c, "replay", a->log, command, sizeof command);
        out(c, "%s\n", command);
    }
    if (a->artifact) {
        report_label(c, "artifact");
        out(c, "%s\n", a->artifact);
    }
}

static void report_run_json(cli *c, const rad_target *t, const run_args *a, const rad_verdict *v)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "verb", "run");
    put_target(&j, t);
    put_text(&j, "policy", a->policy);
    put_count(&j, "seed", a->seed);
    put_verdict(&j, v);
    put_text(&j, "log", a->log);
    put_text(&j, "artifact", a->artifact);
    put_end(&j);
}

/* Runs, and keeps what was asked for. Returns 0 or an exit status. */
static int run_once(cli *c, const rad_target *t, const run_args *a, rad_verdict *v)
{
    rad_error error = {.code = 0};
    rad_artifact *artifact = NULL;
    rad_run_request request = {.policy = a->policy,
                               .seed = a->seed,
                               .log = a->log,
                               .log_limit = a->log_limit,
                               .artifact = a->artifact ? &artifact : NULL};
    int code = rad_lab_run(t, &request, v, &error);
    if (code == 0 && a->artifact) code = rad_artifact_write(artifact, a->artifact, &error);
    rad_artifact_free(artifact);
    return code ? complain_error(c, &error) : 0;
}

static int run_run(cli *c, int argc, char **argv)
{
    run_args a = {.policy = "random", .seed = 1};
    rad_target t;
    words w;
    rad_verdict v = {.steps = 0};
    int status = options_parse(c, &VERB_RUN, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if ((status = read_target(c, w.at, w.count, a.repaired, a.max_steps, &t)) != 0) return status;
    suppressions known;
    if ((status = suppressions_read(c, a.suppress, &known)) != 0) {
        rad_target_free(&t);
        return status;
    }
    if (a.log_limit && a.log == NULL) {
        status = bad_usage(c, "--log-limit needs --log");
    } else if ((status = read_policy_word(c, &a.policy)) == 0 && (status = run_once(c, &t, &a, &v)) == 0) {
        (a.json ? report_run_json : report_run)(c, &t, &a, &v);
        status = v.result == RAD_RESULT_PASS ? EXIT_FINE : EXIT_FOUND;
    }
    suppressions_free(&known);
    rad_target_free(&t);
    return status;
}

static const char *const RUN_EXAMPLES[] = {
    "raddle run counter",
    "random choices, seed 1",
    "raddle run buffer --policy pct:3 --seed 7",
    "another policy, another seed",
    "raddle run bank --log bank.raddle.log; raddle replay bank.raddle.log",
    "record a run; check that it repeats, decision by decision",
    "raddle run mine.json --policy fair",
    "a test case in a file (docs/files.md)",
    NULL,
};

const verb VERB_RUN = {
    .name = "run",
    .about = "run a target once; record it with --log or --artifact",
    .usage = "TARGET [NAME=VALUE ...] [options]\n[options] ./PROGRAM [MACHINE] [ARGUMENTS]",
    .text = "Run TARGET once under a policy, and say how it ended.\n\n"
            "A TARGET is a machine ('raddle list') with parameters, or a file: a protocol "
            "(.session), a workflow (.flow), a load scenario (.toml), a test case or a schedule "
            "file (.json), a decision log. A path with a slash is a program: with threads or with "
            "fibers, which is run as it is, or with machines of its own, one of which follows.",
    .status = "0 passed, 1 failed or cut, " STATUS_ERRORS,
    .options = RUN_OPTIONS,
    .examples = RUN_EXAMPLES,
    .run = run_run,
};
