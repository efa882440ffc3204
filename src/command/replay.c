/* replay.c — `raddle replay`: does an artifact or a log still behave as recorded? */
#include "keep.h"
#include "options.h"
#include "program.h"
#include "realign.h"
#include "report.h"
#include "suppressions.h"

#include <string.h>

typedef struct replay_args {
    bool edited, repaired, original, realign, gdb, json, real_threads;
    const char *output, *suppress;
} replay_args;

#define AT(field) offsetof(replay_args, field)

static const option REPLAY_OPTIONS[] = {
    {"edited", OPTION_FLAG, AT(edited), NULL, "accept a schedule file that was edited by hand", 0, 0, 0},
    {"fixed", OPTION_FLAG, AT(repaired), NULL, "try its choices on the fixed version; also --repaired", 0, 0, 0},
    {"repaired", OPTION_FLAG, AT(repaired), NULL, NULL, 0, 0, 0},
    {"original", OPTION_FLAG, AT(original), NULL, "try its choices on the version with the bug", 0, 0, 0},
    {"realign", OPTION_FLAG, AT(realign), NULL, "find its steps by actor and code location, in edited code", 0, 0, 0},
    {"gdb", OPTION_FLAG, AT(gdb), NULL, "programs: stop in gdb where the run fails", 0, 0, 0},
    {"real-threads", OPTION_FLAG, AT(real_threads), NULL, "programs: run each thread on one of the system", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "FILE", "with --realign: save the run as it is now", 0, 0, 0},
    OPTION_SUPPRESS(replay_args),
    OPTION_JSON(replay_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void report_head(cli *c, const rad_target *t, const char *path)
{
    char text[256];
    rad_target_text(t, text, sizeof text);
    out(c, "%sreplay %s%s: %s\n", style(c, STYLE_BOLD), path, style(c, STYLE_OFF), text);
}

static int replay_log(cli *c, const char *path, const replay_args *a)
{
    rad_error error = {.code = 0};
    rad_target t;
    rad_verdict v = {.steps = 0};
    if (a->repaired || a->original || a->edited || a->realign || a->gdb) {
        return bad_usage(c,
                         "'%.200s': a decision log replays without --edited, --fixed, --original, "
                         "--realign and --gdb",
                         path);
    }
    if (rad_lab_replay_log(path, &t, &v, &error) != 0) return refuse_file(c, path, &error);
    rad_lab_program recorded;
    bool of_program = rad_lab_program_of(path, &recorded);
    bool other = of_program && other_build(&recorded);
    note_build(c, path, of_program ? &recorded : NULL);
    bool same = v.result != RAD_RESULT_DIVERGED;
    if (a->json) {
        writer j;
        put_begin(&j, c);
        put_text(&j, "verb", "replay");
        put_text(&j, "file", path);
        put_text(&j, "form", "log");
        put_target(&j, &t);
        put_bool(&j, "as_recorded", same);
        put_bool(&j, "other_build", other);
        put_verdict(&j, &v);
        put_end(&j);
    } else {
        report_head(c, &t, path);
        report_verdict(c, 0, &v);
        if (same) {
            out(c, "%sas recorded%s: %s decision%s\n", style(c, STYLE_GOOD), style(c, STYLE_OFF), number(v.decisions),
                plural(v.decisions));
        }
    }
    rad_target_free(&t);
    return same ? EXIT_FINE : EXIT_FOUND;
}

/* The answer in two words: replayed on itself, or on the other twin. */
static const char *answer(const rad_artifact *a, bool other, const rad_replay *r)
{
    if (!other) return r->as_recorded ? "as recorded" : "differs";
    if (r->actual.result == RAD_RESULT_CUT) return "cut";
    if (r->actual.result == RAD_RESULT_PASS) return rad_artifact_expects_failure(a) ? "gone" : "passes";
    return !rad_artifact_expects_failure(a) ? "fails" : r->same_failure ? "still fails" : "fails differently";
}

static void report_replay(cli *c, const rad_artifact *a, bool other, const rad_replay *r)
{
    bool good = other ? r->actual.result == RAD_RESULT_PASS : r->as_recorded;
    report_verdict(c, 0, &r->actual);
    out(c, "%s%s%s", style(c, good ? STYLE_GOOD : STYLE_BAD), answer(a, other, r), style(c, STYLE_OFF));
    if (!other && !r->as_recorded) out(c, ": %s", r->reason);
    out_text(c, "\n");
    report_label(c, "seed");
    out(c, "%llu, policy %s, %s choice%s\n", (unsigned long long)rad_artifact_seed(a), rad_artifact_policy(a),
        number(rad_artifact_choice_count(a)), plural(rad_artifact_choice_count(a)));
}

static void report_replay_json(cli *c, const char *path, const rad_artifact *a, const rad_target *t, bool other,
                               const rad_replay *r)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "verb", "replay");
    put_text(&j, "file", path);
    put_text(&j, "form", "artifact");
    put_target(&j, t);
    put_text(&j, "policy", rad_artifact_policy(a));
    put_count(&j, "seed", rad_artifact_seed(a));
    put_count(&j, "choices", rad_artifact_choice_count(a));
    put_text(&j, "answer", answer(a, other, r));
    put_bool(&j, "as_recorded", r->as_recorded);
    put_bool(&j, "other_build", other_build(rad_artifact_program(a)));
    put_text(&j, "reason", r->as_recorded ? NULL : r->reason);
    put_verdict(&j, &r->actual);
    put_end(&j);
}

/* ---- On code that was edited ------------------------------------------------------------------------- */

static void report_realign(cli *c, const char *path, const rad_artifact *a, const rad_target *t,
                           const rad_realignment *r, const kept *k)
{
    report_head(c, t, path);
    report_verdict(c, 0, &r->actual);
    report_realigned(c, r);
    if (k) keep_report(c, "written", k);
    if (t->c.body && t->c.body == rad_artifact_target(a)->c.body) {
        report_label(c, "document");
        out_text(c, "the recorded one, which the file has; an edited one is the next word\n");
    }
    report_label(c, "seed");
    out(c, "%llu, policy %s\n", (unsigned long long)rad_artifact_seed(a), rad_artifact_policy(a));
}

static void report_realign_json(cli *c, const char *path, const rad_artifact *a, const rad_target *t,
                                const rad_realignment *r, const kept *k)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "verb", "replay");
    put_text(&j, "file", path);
    put_text(&j, "form", "artifact");
    put_target(&j, t);
    put_text(&j, "policy", rad_artifact_policy(a));
    put_count(&j, "seed", rad_artifact_seed(a));
    put_realigned(&j, r);
    put_bool(&j, "other_build", other_build(rad_artifact_program(a)));
    if (k) keep_json(&j, k);
    put_verdict(&j, &r->actual);
    put_end(&j);
}

static int realign_artifact(cli *c, const char *path, const rad_artifact *a, const rad_target *t,
                            const rad_target *other, const replay_args *args)
{
    static kept k;
    rad_error error = {.code = 0};
    rad_realignment r;
    if (rad_lab_realign(a, other, &r, &error) != 0) return complain_error(c, &error);
    if (args->output) keep_artifact(c, r.artifact, args->output, &k);
    (args->json ? report_realign_json : report_realign)(c, path, a, t, &r, args->output ? &k : NULL);
    int status = realigned_well(&r) ? EXIT_FINE : EXIT_FOUND;
    if (args->output) {
        status = k.written ? status : EXIT_RUNTIME;
        keep_free(&k);
    }
    rad_realignment_free(&r);
    return status;
}

/* A document in the place of the recorded one: `given` are its file and parameters. Those not given are the recorded
 * ones; a file of JSON has all of its own. */
static int read_document(cli *c, const rad_target *recorded, char **given, uint32_t count, rad_target *t)
{
    rad_error error = {.code = 0};
    int status = read_target(c, given, 1, recorded->c.repaired, recorded->c.max_steps, t);
    if (status != 0) return status;
    if (t->machine != recorded->machine) {
        complain(c, "'%.400s': for machine '%s', but the run was recorded on '%s'", given[0], t->machine->name,
                 recorded->machine->name);
        rad_target_free(t);
        return EXIT_USAGE;
    }
    t->c.spin_rounds = recorded->c.spin_rounds;
    t->c.hang_ms = recorded->c.hang_ms;
    if (!ends_with(given[0], ".json")) memcpy(t->c.params, recorded->c.params, sizeof t->c.params);
    for (uint32_t i = 1; i < count; i++) {
        if (rad_target_set(t, given[i], &error) != 0) {
            rad_target_free(t);
            return complain_error(c, &error);
        }
    }
    return 0;
}

static int realign_document(cli *c, const char *path, char **given, uint32_t count, const replay_args *args)
{
    rad_artifact *a = NULL;
    rad_target t;
    int status = read_artifact(c, path, args->edited, &a);
    if (status != 0) return status;
    status = read_document(c, rad_artifact_target(a), given, count, &t);
    if (status == 0) {
        status = realign_artifact(c, path, a, &t, &t, args);
        rad_target_free(&t);
    }
    rad_artifact_free(a);
    return status;
}

static int replay_artifact(cli *c, const char *path, const replay_args *args)
{
    rad_error error = {.code = 0};
    rad_artifact *a = NULL;
    rad_replay r = {.as_recorded = false};
    int status = read_artifact(c, path, args->edited, &a);
    if (status != 0) return status;
    rad_target t = *rad_artifact_target(a);
    bool twin = args->repaired || args->original;
    bool other = twin && t.c.repaired != args->repaired;
    t.c.repaired = twin ? args->repaired : t.c.repaired;
    if (args->gdb) {
        report_head(c, &t, path);
        status = debug_artifact(c, a);
    } else if (args->realign) {
        status = realign_artifact(c, path, a, &t, other ? &t : NULL, args);
    } else if (rad_lab_replay(a, other ? &t : NULL, &r, &error) != 0) {
        status = complain_error(c, &error);
    } else {
        bool good = other ? r.actual.result == RAD_RESULT_PASS : r.as_recorded;
        status = good ? EXIT_FINE : EXIT_FOUND;
        if (args->json) {
            report_replay_json(c, path, a, &t, other, &r);
        } else {
            report_head(c, &t, path);
            report_replay(c, a, other, &r);
        }
    }
    rad_artifact_free(a);
    return status;
}

static int replay_run(cli *c, int argc, char **argv)
{
    replay_args a = {.edited = false};
    const char *path;
    words w;
    int status = options_parse(c, &VERB_REPLAY, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if (a.repaired && a.original) return bad_usage(c, "--fixed and --original: give one");
    if ((a.repaired || a.original) && c->program_words) return no_fixed_version(c, a.original ? "original" : "fixed");
    if (a.real_threads && !c->program_words)
        return bad_usage(c, "--real-threads needs a program: raddle replay FILE -- ./PROGRAM");
    if (a.output && !a.realign) return bad_usage(c, "--output needs --realign");
    test_real_threads(a.real_threads);
    if (a.gdb && (a.realign || a.json || a.repaired || a.original))
        return bad_usage(c, "--gdb: the only other option it takes is --edited");
    bool document = w.count > 1 && target_is_file(w.at[1]);
    if (document && (!a.realign || a.repaired || a.original))
        return a.realign
                   ? bad_usage(c, "'%.200s': with another document, --realign takes no --fixed or --original", w.at[1])
                   : bad_usage(c, "unexpected argument '%.200s': give one file; a DOCUMENT needs --realign", w.at[1]);
    if ((status = read_file_word(c, w.at, document ? 1 : w.count, &path)) != 0) return status;
    if (document && rad_is_log(path)) return bad_usage(c, "'%.200s': a decision log replays without --realign", path);
    suppressions known;
    if ((status = suppressions_read(c, a.suppress, &known)) != 0) return status;
    status = document           ? realign_document(c, path, w.at + 1, w.count - 1, &a)
             : rad_is_log(path) ? replay_log(c, path, &a)
                                : replay_artifact(c, path, &a);
    suppressions_free(&known);
    return status;
}

static const char *const REPLAY_EXAMPLES[] = {
    "raddle replay buffer.min.raddle.json",
    "the recorded failure again",
    "raddle replay buffer.min.raddle.json --fixed",
    "does the fixed version pass?",
    "raddle replay wait.min.raddle.json -- ./wait",
    "a run of a program",
    "raddle replay buffer.raddle.json --realign --output now.raddle.json",
    "the same schedule in edited code, saved as it is now",
    "raddle replay order.raddle.json --realign order.flow",
    "the same schedule in an edited document",
    "raddle replay bank.raddle.log",
    "a decision log: each decision must find the recorded set of choices",
    NULL,
};

const verb VERB_REPLAY = {
    .name = "replay",
    .about = "run a schedule file or a decision log again and compare",
    .usage = "FILE [options] [-- ./PROGRAM [ARGUMENTS]]\nFILE --realign [DOCUMENT [NAME=VALUE "
             "...]] [options]",
    .text = "Run a schedule file (*.raddle.json) or a decision log (raddle run --log) again, and "
            "compare with what was recorded.\n\n"
            "If the run was recorded in a program, name it after --. With --fixed or --original, "
            "the recorded choices are tried on the other version: the answer is \"still fails\", "
            "\"fails differently\" or \"gone\".\n\n"
            "With --realign, the recorded steps are found again by actor and code location instead "
            "of by choice number, so the answer survives edits: \"still fails\", \"gone\", \"fails "
            "differently\", or \"diverged at step N because ...\". A file of a protocol, workflow, "
            "load scenario or test case holds that document; DOCUMENT replaces it.",
    .status = "0 as recorded, or gone, 1 differs, or still fails, " STATUS_ERRORS,
    .options = REPLAY_OPTIONS,
    .examples = REPLAY_EXAMPLES,
    .run = replay_run,
};
