/* corpus.c — `raddle corpus`: replays every artifact of a folder. */
#include "options.h"
#include "realign.h"
#include "report.h"
#include "suppressions.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct corpus_args {
    bool accept, realign, json;
    const char *suppress;
} corpus_args;

#define AT(field) offsetof(corpus_args, field)

static const option CORPUS_OPTIONS[] = {
    {"accept", OPTION_FLAG, AT(accept), NULL, "expect a pass from now on where the recorded failure is gone", 0, 0, 0},
    {"realign", OPTION_FLAG, AT(realign), NULL, "follow what differs by actors and code locations; list what is stale",
     0, 0, 0},
    OPTION_SUPPRESS(corpus_args),
    OPTION_JSON(corpus_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

/* Realigned: what was recorded holds in code that was edited. Stale: it cannot be told. */
enum outcome { AS_RECORDED = 0, DIFFERS, UNREADABLE, ACCEPTED, REALIGNED, STALE, OUTCOMES };

static const char *const OUTCOME_WORDS[OUTCOMES] = {"ok", "DIFFERS", "UNREADABLE", "accepted", "realigned", "STALE"};

typedef struct tally {
    uint64_t counts[OUTCOMES];
    int trouble;             /* the highest exit status of what could not be done */
    rad_lab_program program; /* of the first artifact that needs one; path "": none does */
} tally;

static void escape_pattern(char *to, size_t size, const char *dir)
{
    size_t used = 0;
    for (; *dir && used + 3 < size; dir++) {
        if (strchr("*?[\\", *dir)) to[used++] = '\\';
        to[used++] = *dir;
    }
    to[used] = 0;
}

/* The artifacts of a folder, sorted by name. Returns 0 or an exit status. */
static int find_artifacts(cli *c, const char *dir, glob_t *files)
{
    char escaped[8192], pattern[8256];
    struct stat about;
    if (stat(dir, &about) != 0) {
        complain(c, "cannot open '%.400s': %s", dir, strerror(errno));
        return EXIT_USAGE;
    }
    if (!S_ISDIR(about.st_mode)) {
        complain(c, "'%.400s': not a directory; 'raddle replay' takes a file", dir);
        return EXIT_USAGE;
    }
    escape_pattern(escaped, sizeof escaped, dir);
    if (!join_path(pattern, sizeof pattern, escaped, "*.raddle.json")) {
        complain(c, "path too long");
        return EXIT_USAGE;
    }
    int code = glob(pattern, GLOB_ERR, NULL, files);
    if (code == GLOB_NOMATCH) {
        complain(c, "'%.400s': no *.raddle.json in it", dir);
        return EXIT_USAGE;
    }
    if (code != 0) {
        complain(c, "cannot read directory '%.400s'", dir);
        return code == GLOB_NOSPACE ? EXIT_RUNTIME : EXIT_USAGE;
    }
    return 0;
}

/* What a replay that is as recorded did, in a few words. */
static void describe(const rad_artifact *a, const rad_replay *r, char *text, size_t size)
{
    if (!r->as_recorded)
        snprintf(text, size, "%s", r->reason);
    else if (rad_artifact_expects_failure(a))
        snprintf(text, size, "fails as recorded: %s at step %s", r->actual.kind, number(r->actual.failure_step));
    else if (r->actual.result == RAD_RESULT_CUT)
        snprintf(text, size, "cut as recorded: at step %s", number(r->actual.steps));
    else
        snprintf(text, size, "passes as recorded");
}

static enum outcome accept(rad_artifact *a, const char *path, char *text, size_t size, int *trouble)
{
    rad_error error = {.code = 0};
    if (rad_artifact_accept(a, &error) != 0 || rad_artifact_write(a, path, &error) != 0) {
        snprintf(text, size, "%s", error.text);
        *trouble = exit_status(error.code);
        return DIFFERS;
    }
    snprintf(text, size, "the failure is gone; expected to pass from now on");
    return ACCEPTED;
}

static enum outcome realigned_outcome(const rad_realignment *r)
{
    switch (r->answer) {
    case RAD_REALIGNED_FAILS:
    case RAD_REALIGNED_PASSES: return REALIGNED;
    case RAD_REALIGNED_GONE:
    case RAD_REALIGNED_OTHER: return DIFFERS;
    default: return STALE;
    }
}

/* An artifact that differs, by actors and sites. With --accept it becomes what its run is now, if that is known. */
static enum outcome realign(const rad_artifact *a, const char *path, const corpus_args *args, char *text, size_t size,
                            int *trouble)
{
    rad_error error = {.code = 0};
    rad_realignment r;
    if (rad_lab_realign(a, NULL, &r, &error) != 0) {
        snprintf(text, size, "%s", error.text);
        *trouble = error.code == RAD_EINPUT ? 0 : exit_status(error.code);
        return STALE;
    }
    enum outcome result = realigned_outcome(&r);
    realigned_line(&r, text, size);
    size_t used = strlen(text);
    snprintf(text + used, size - used, "; %s of %s recorded steps found, %s new", number(r.found), number(r.recorded),
             number(r.added));
    used = strlen(text);
    if (args->accept && (result == REALIGNED || r.answer == RAD_REALIGNED_GONE)) {
        bool written = rad_artifact_write(r.artifact, path, &error) == 0;
        *trouble = written ? 0 : exit_status(error.code);
        result = written ? ACCEPTED : result;
        snprintf(text + used, size - used, "; %s", written ? "expected from now on" : error.text);
    }
    rad_realignment_free(&r);
    return result;
}

static enum outcome try_artifact(const char *path, const corpus_args *args, char *text, size_t size, int *trouble)
{
    rad_error error = {.code = 0};
    rad_artifact *a = NULL;
    rad_replay r = {.as_recorded = false};
    *trouble = 0;
    bool is_read = rad_artifact_read(&a, path, false, &error) == 0;
    if (!is_read || rad_lab_replay(a, NULL, &r, &error) != 0) {
        /* A program that does not take the run any more: its test is gone, say. */
        bool stale = is_read && error.code == RAD_EINPUT && rad_artifact_program(a) != NULL;
        snprintf(text, size, "%s", error.text);
        *trouble = stale ? 0 : exit_status(error.code);
        rad_artifact_free(a);
        return stale ? STALE : UNREADABLE;
    }
    describe(a, &r, text, size);
    if (!r.as_recorded && other_build(rad_artifact_program(a))) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, " (recorded with another build of the program)");
    }
    enum outcome result = r.as_recorded ? AS_RECORDED : DIFFERS;
    bool fixed = rad_artifact_expects_failure(a) && r.actual.result == RAD_RESULT_PASS;
    if (args->realign && !r.as_recorded)
        result = realign(a, path, args, text, size, trouble);
    else if (args->accept && fixed && !r.as_recorded)
        result = accept(a, path, text, size, trouble);
    rad_artifact_free(a);
    return result;
}

static void tell_artifact(cli *c, writer *j, const char *path, enum outcome o, const char *text)
{
    if (j) {
        put_object(j, NULL);
        put_text(j, "file", path);
        put_text(j, "outcome", OUTCOME_WORDS[o]);
        put_text(j, "text", text);
        put_close(j, '}');
        return;
    }
    bool good = o == AS_RECORDED || o == ACCEPTED || o == REALIGNED;
    size_t length = strlen(path);
    bool names_it = strncmp(text, path, length) == 0 && text[length] == ':';
    out(c, "%s%-10s%s %s%s%s\n", style(c, good ? STYLE_GOOD : STYLE_BAD), OUTCOME_WORDS[o], style(c, STYLE_OFF),
        names_it ? "" : path, names_it ? "" : ": ", text);
    out_flush(c);
}

static int corpus(cli *c, const char *dir, const glob_t *files, const corpus_args *args)
{
    tally t = {.trouble = 0};
    writer j;
    if (args->json) {
        put_begin(&j, c);
        put_text(&j, "verb", "corpus");
        put_array(&j, "artifacts");
    }
    for (size_t i = 0; i < files->gl_pathc && !*c->stop; i++) {
        char text[900];
        int trouble;
        enum outcome o = try_artifact(files->gl_pathv[i], args, text, sizeof text, &trouble);
        t.counts[o]++;
        t.trouble = trouble > t.trouble ? trouble : t.trouble;
        if (o == UNREADABLE && t.program.path[0] == 0 && rad_lab_program_own() == NULL)
            rad_lab_program_of(files->gl_pathv[i], &t.program);
        tell_artifact(c, args->json ? &j : NULL, files->gl_pathv[i], o, text);
    }
    if (args->json) {
        put_close(&j, ']');
        put_count(&j, "as_recorded", t.counts[AS_RECORDED]);
        put_count(&j, "differ", t.counts[DIFFERS]);
        put_count(&j, "unreadable", t.counts[UNREADABLE]);
        put_count(&j, "accepted", t.counts[ACCEPTED]);
        put_count(&j, "realigned", t.counts[REALIGNED]);
        put_count(&j, "stale", t.counts[STALE]);
        put_end(&j);
    } else {
        out(c, "%s as recorded, %s differ, %s unreadable, %s accepted", number(t.counts[AS_RECORDED]),
            number(t.counts[DIFFERS]), number(t.counts[UNREADABLE]), number(t.counts[ACCEPTED]));
        if (args->realign || t.counts[STALE] > 0)
            out(c, ", %s realigned, %s stale", number(t.counts[REALIGNED]), number(t.counts[STALE]));
        out_text(c, "\n");
    }
    if (t.program.path[0]) name_program(c, dir, &t.program);
    if (*c->stop) return EXIT_INTERRUPTED;
    bool good = t.counts[DIFFERS] == 0 && t.counts[STALE] == 0;
    return t.trouble ? t.trouble : good ? EXIT_FINE : EXIT_FOUND;
}

static int corpus_run(cli *c, int argc, char **argv)
{
    corpus_args a = {.accept = false};
    glob_t files = {.gl_pathc = 0};
    words w;
    int status = options_parse(c, &VERB_CORPUS, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if (w.count == 0) return bad_usage(c, "missing DIR; usage: raddle corpus DIR");
    if (w.count > 1) return bad_usage(c, "unexpected argument '%.200s': give one directory", w.at[1]);
    a.realign = a.realign || c->program_words; /* programs are edited */
    suppressions known;
    if ((status = suppressions_read(c, a.suppress, &known)) != 0) return status;
    status = find_artifacts(c, w.at[0], &files);
    if (status == 0) status = corpus(c, w.at[0], &files, &a);
    globfree(&files);
    suppressions_free(&known);
    return status;
}

static const char *const CORPUS_EXAMPLES[] = {
    "raddle corpus corpus",
    "every schedule file of the directory",
    "raddle corpus corpus --accept",
    "after a fix: from now on its schedule file has to pass",
    "raddle corpus corpus --realign",
    "after an edit: which still hold, which differ, which are stale",
    NULL,
};

const verb VERB_CORPUS = {
    .name = "corpus",
    .about = "replay every schedule file of a directory",
    .usage = "DIR [options] [-- ./PROGRAM [ARGUMENTS]]",
    .text = "Replay each *.raddle.json of a directory, sorted by name; print one line each.\n\n"
            "With --accept, a file whose recorded failure is gone is rewritten to expect a pass. A "
            "file that still fails stays as it is.\n\n"
            "With --realign, a file that differs is followed by actors and code locations, as "
            "raddle replay --realign does: \"realigned\" if what was recorded still holds, DIFFERS "
            "if the failure is gone or another one, STALE if that cannot be decided. --accept then "
            "also rewrites the realigned ones. For programs under test --realign is the default.",
    .status = "0 all as recorded, accepted or realigned, 1 one differs or is stale, 2 bad arguments, or "
              "one cannot be read (all are tried first), 3 I/O, memory or limit, 4 bug in Raddle",
    .options = CORPUS_OPTIONS,
    .examples = CORPUS_EXAMPLES,
    .run = corpus_run,
};
