/* shrink.c — `raddle shrink`: a smaller artifact with the same failure. */
#include "keep.h"
#include "options.h"
#include "report.h"
#include "suppressions.h"

typedef struct shrink_args {
    const char *output, *suppress;
    double seconds;
    bool json;
} shrink_args;

#define AT(field) offsetof(shrink_args, field)

static const option SHRINK_OPTIONS[] = {
    {"output", OPTION_TEXT, AT(output), "FILE", "file to write (default: NAME.min.raddle.json)", 0, 0, 0},
    {"time", OPTION_SECONDS, AT(seconds), "S", "stop after S seconds, and the certificate after S more (default: 120)",
     0, 0, 0},
    OPTION_SUPPRESS(shrink_args),
    OPTION_JSON(shrink_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void report_shrink(cli *c, const char *path, const shrunk *s, const kept *k)
{
    char text[256];
    rad_target_text(rad_artifact_target(s->artifact), text, sizeof text);
    out(c, "%sshrink %s%s: %s, seed %llu\n", style(c, STYLE_BOLD), path, style(c, STYLE_OFF), text,
        (unsigned long long)rad_artifact_seed(s->artifact));
    report_verdict(c, 0, rad_artifact_verdict(s->artifact));
    shrunk_report(c, s);
    if (s->report.second) {
        report_label(c, "second");
        out(c, "another bug was met on the way: %s\n", rad_artifact_verdict(s->report.second)->identity);
    }
    keep_report(c, "written", k);
    if (k->written) {
        report_label(c, "next");
        char command[2 * KEEP_PATH_MAX];
        command_text(c, "show", k->path, command, sizeof command);
        out(c, "%s\n", command);
    }
}

static void report_shrink_json(cli *c, const char *path, const shrunk *s, const kept *k)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "verb", "shrink");
    put_text(&j, "file", path);
    put_target(&j, rad_artifact_target(s->artifact));
    put_count(&j, "seed", rad_artifact_seed(s->artifact));
    keep_json(&j, k);
    shrunk_json(&j, s);
    if (s->report.second)
        put_failure(&j, "second", rad_artifact_verdict(s->report.second));
    else
        put_text(&j, "second", NULL);
    put_end(&j);
}

static int shrink_file(cli *c, const char *path, const shrink_args *args)
{
    static kept k;
    static char target[KEEP_PATH_MAX];
    rad_artifact *a = NULL;
    shrunk s;
    int status = read_artifact(c, path, false, &a);
    if (status != 0) return status;
    if (!rad_artifact_expects_failure(a)) {
        rad_artifact_free(a);
        complain(c, "'%.400s': records no failure, so there is nothing to shrink", path);
        return EXIT_USAGE;
    }
    if (args->output == NULL && !minimised_path(target, sizeof target, path)) {
        rad_artifact_free(a);
        return bad_usage(c, "the name of the file is too long; give --output FILE");
    }
    status = shrink_artifact(c, a, args->seconds, &s);
    rad_artifact_free(a);
    if (status == 0) {
        keep_artifact(c, s.artifact, args->output ? args->output : target, &k);
        if (args->json)
            report_shrink_json(c, path, &s, &k);
        else
            report_shrink(c, path, &s, &k);
        status = !k.written ? EXIT_RUNTIME : *c->stop ? EXIT_INTERRUPTED : EXIT_FINE;
        keep_free(&k);
    }
    shrunk_free(&s);
    return status;
}

static int shrink_run(cli *c, int argc, char **argv)
{
    shrink_args a = {.output = NULL};
    const char *path;
    words w;
    int status = options_parse(c, &VERB_SHRINK, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    suppressions known;
    if ((status = read_file_word(c, w.at, w.count, &path)) != 0 ||
        (status = suppressions_read(c, a.suppress, &known)) != 0)
        return status;
    status = shrink_file(c, path, &a);
    suppressions_free(&known);
    return status;
}

static const char *const SHRINK_EXAMPLES[] = {
    "raddle shrink buffer.raddle.json",
    "writes buffer.min.raddle.json",
    "raddle shrink buffer.raddle.json --output small.raddle.json --json",
    "another name; one JSON object for scripts",
    NULL,
};

const verb VERB_SHRINK = {
    .name = "shrink",
    .about = "make a schedule file smaller; the failure stays the same",
    .usage = "FILE [options] [-- ./PROGRAM [ARGUMENTS]]",
    .text = "Make the test case, the list of choices and the number of preemptions smaller while "
            "the failure stays the same.\n\n"
            "Then every schedule with fewer preemptions is tried; if none fails, the result is "
            "certified as minimal. Shrinking is deterministic, and shrinking the result again "
            "changes nothing.",
    .status = "0 done, " STATUS_ERRORS " (the file is then printed as base64), 130 interrupted",
    .options = SHRINK_OPTIONS,
    .examples = SHRINK_EXAMPLES,
    .run = shrink_run,
};
