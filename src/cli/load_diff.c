/* load_diff.c — `raddle load diff`: runs before and after, as a gate. */
#include "load.h"

#include <string.h>

typedef struct diff_words {
    const char *format;
    double threshold, level;
    bool json, partial;
} diff_words;

#define AT(field) offsetof(diff_words, field)
static const option DIFF_OPTIONS[] = {
    {"threshold", OPTION_PERCENT, AT(threshold), "PCT",
     "a row may be worse by PCT percent (default: 5 when tested, otherwise any)", 0, 0, 0},
    {"level", OPTION_PERCENT, AT(level), "PCT", "chance in percent that equal targets fail, over all rows (default: 1)",
     0, 0, 0},
    {"format", OPTION_TEXT, AT(format), "F", "text or json (default: text)", 0, 0, 0},
    {"partial", OPTION_FLAG, AT(partial), NULL, "accept logs that were cut off, as far as they go", 0, 0, 0},
    OPTION_JSON(diff_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* ---- The two sides --------------------------------------------------------------------------------------- */

enum { RUNS_MOST = 1000 };

typedef struct side {
    char **paths;
    uint32_t count;
    rad_load_result *runs[RUNS_MOST]; /* those that were read so far; the others are NULL */
} side;

static void side_free(side *s)
{
    for (uint32_t i = 0; i < s->count; i++) rad_load_result_free(s->runs[i]);
}

/* 0 or an exit status; *cut_off: that of a log that was cut off, which is compared all the same. */
static int side_read(cli *c, side *s, bool partial, int *cut_off)
{
    char room[4096];
    rad_error error = {.code = 0};
    for (uint32_t i = 0; i < s->count; i++) {
        rad_load_facts facts;
        const char *path = log_in(s->paths[i], room);
        if (rad_load_analyze(&s->runs[i], path, NULL, &error) != 0) return complain_log(c, path, &error);
        rad_load_result_facts(s->runs[i], &facts);
        int accepted = accept_facts(c, path, &facts, partial);
        if (accepted != 0) *cut_off = accepted;
        if (facts.no_data[0] != 0) complain(c, "%s: %s", path, facts.no_data);
    }
    return 0;
}

/* Options may stand on both sides of the "--". Without one, there are two runs. */
static int read_words(cli *c, int argc, char **argv, diff_words *d, side sides[2])
{
    int at = 0;
    words w[2] = {{argv, 0}, {argv, 0}};
    while (at < argc && strcmp(argv[at], "--") != 0) at++;
    int status = options_parse(c, &VERB_LOAD_DIFF, at, argv, d, &w[0]);
    if (status == GO_ON && at < argc)
        status = options_parse(c, &VERB_LOAD_DIFF, argc - at - 1, argv + at + 1, d, &w[1]);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_LOAD_DIFF);
    if (at == argc && w[0].count == 2) {
        w[1] = (words){w[0].at + 1, 1};
        w[0].count = 1;
    }
    if (w[0].count == 0 || w[1].count == 0)
        return bad_usage(c, at == argc ? "usage: raddle load diff BEFORE AFTER, or BEFORE... -- AFTER..."
                                       : "runs are needed on both sides of --");
    for (int i = 0; i < 2; i++) {
        if (w[i].count > RUNS_MOST) return bad_usage(c, "more than %d runs on a side", RUNS_MOST);
        sides[i].paths = w[i].at;
        sides[i].count = w[i].count;
    }
    return GO_ON;
}

/* ---- The comparison -------------------------------------------------------------------------------------- */

static int compare(cli *c, const diff_words *d, const side sides[2])
{
    rad_load_diff_options o = {.threshold_pct = d->threshold,
                               .level_pct = d->level,
                               .json = d->json || (d->format != NULL && strcmp(d->format, "json") == 0)};
    rad_load_difference difference;
    rad_error error = {.code = 0};
    char *text = rad_load_diff((const rad_load_result *const *)sides[0].runs, sides[0].count,
                               (const rad_load_result *const *)sides[1].runs, sides[1].count, &o, &difference, &error);
    if (text == NULL) return complain_error(c, &error);
    out_text(c, text);
    rad_free(text);
    return difference.worse > 0 || difference.no_data ? EXIT_FOUND : EXIT_FINE;
}

static int load_diff_run(cli *c, int argc, char **argv)
{
    diff_words d = {.threshold = -1, .level = rad_load_diff_defaults().level_pct};
    static side sides[2];
    int cut_off = 0, status = read_words(c, argc, argv, &d, sides);
    if (status != GO_ON) return status;
    if (d.format != NULL && strcmp(d.format, "text") != 0 && strcmp(d.format, "json") != 0)
        return bad_usage(c, "--format '%.40s': use text or json", d.format);
    if (!(d.level > 0 && d.level <= 50)) return bad_usage(c, "--level: use percent above 0, up to 50");
    status = side_read(c, &sides[0], d.partial, &cut_off);
    if (status == 0) status = side_read(c, &sides[1], d.partial, &cut_off);
    if (status == 0) status = compare(c, &d, sides);
    side_free(&sides[0]);
    side_free(&sides[1]);
    return status != 0 ? status : cut_off;
}

static const char *const DIFF_EXAMPLES[] = {
    "raddle load diff before/* -- after/*",
    "several runs a side; alternate the runs of both sides",
    "raddle load diff before.log after.log --threshold 10",
    "one run a side: a difference above 10 percent fails",
    NULL,
};

const verb VERB_LOAD_DIFF = {
    .name = "load diff",
    .about = "compare runs before and after a change",
    .usage = "BEFORE AFTER [options]\nBEFORE... -- AFTER... [options]",
    .text = "Compare logs, or directories of results: p10, p50, p99, responses a second and the failed "
            "share, of each request name and of all. Each run gives one value a row.\n\n"
            "With several runs a side, a row is worse if a test says so (Wilcoxon-Mann-Whitney, "
            "one-sided, exact up to 50 runs in all, Holm's correction over all rows) and its median is "
            "off by more than --threshold. With too few runs no test is possible: differences are "
            "printed, and nothing fails without --threshold. Minimum times and counts never fail.",
    .status = "0 nothing is worse, 1 something is, a side has no data, or a log is cut "
              "off, " STATUS_ERRORS,
    .options = DIFF_OPTIONS,
    .examples = DIFF_EXAMPLES,
    .run = load_diff_run,
};
