/* load_logs.c — `raddle load replay`, `analyze`, `diff`, `report` and `strip`: what can be done with a log. */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct log_words {
    const char *output, *filter, *percentiles, *format;
    uint64_t tick;
    double threshold;
    bool verify, step, summary, json, csv, prometheus, html;
} log_words;

#define AT(field) offsetof(log_words, field)

/* A log, or a folder with one in it. */
static const char *log_in(const char *path, char room[4096])
{
    size_t length = strlen(path);
    FILE *file = NULL;
    if (!ends_with(path, ".log") && length > 0 && join_path(room, 4096, path, "events.log"))
        file = fopen(room, "rb");
    if (file == NULL) return path;
    fclose(file);
    return room;
}

static int one_log(cli *c, const words *w, const char **path, char room[4096])
{
    if (w->count == 1) {
        *path = log_in(w->at[0], room);
        if (*path == room) return 0;
    }
    return read_file_word(c, w->at, w->count, path);
}

/* ---- replay ---------------------------------------------------------------------------------------------- */

static const option REPLAY_OPTIONS[] = {
    {"verify", OPTION_FLAG, AT(verify), NULL, "compare byte by byte (it always does)", 0, 0, 0},
    {"step", OPTION_FLAG, AT(step), NULL,
     "tick by tick, forward and back: reads commands from stdin", 0, 0, 0},
    {"summary", OPTION_FLAG, AT(summary), NULL, "print the summary of the run, too", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "FILE", "write the log anew", 0, 0, 'o'},
    OPTION_JSON(log_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static void tell_verdict(cli *c, const char *path, const rad_load_verdict *v,
                         const rad_load_result *r, bool json)
{
    rad_load_facts f = {.seed = 0};
    if (r != NULL) rad_load_result_facts(r, &f);
    if (json) {
        out(c,
            "{\"same\":%s,\"cut_off\":%s,\"turns\":%" PRIu64 ",\"records\":%" PRIu64
            ",\"record\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"requests\":%" PRIu64 "}\n",
            v->same ? "true" : "false", v->cut_off ? "true" : "false", v->turns, v->records,
            v->record, f.seed, f.requests);
        return;
    }
    if (!v->same)
        out(c, "%s%s%s differs: %s\n", style(c, STYLE_BAD), path, style(c, STYLE_OFF), v->text);
    else
        out(c,
            "%s%s%s replays byte for byte: %s turns, %s records, %s requests, seed %" PRIu64 "%s\n",
            style(c, STYLE_GOOD), path, style(c, STYLE_OFF), number(v->turns), number(v->records),
            number(f.requests), f.seed,
            v->cut_off ? "; the log was cut off, this is as far as it goes" : "");
}

static int load_replay_run(cli *c, int argc, char **argv)
{
    log_words l = {.verify = true};
    words w;
    const char *path;
    char room[4096];
    rad_load_verdict v;
    rad_load_result *r = NULL;
    rad_error error = {.code = 0};
    int status = options_parse(c, &VERB_LOAD_REPLAY, argc, argv, &l, &w);
    if (status != GO_ON) return status;
    if ((status = one_log(c, &w, &path, room)) != 0) return status;
    if (l.step) return step_log(c, path);
    if (rad_load_replay(&v, &r, path, l.output, &error) != 0) return complain_error(c, &error);
    if (r != NULL || !v.same || l.json)
        tell_verdict(c, path, &v, r, l.json);
    else
        out(c, "%s: made whole\n", l.output);
    if (l.summary && r != NULL) print_form(c, r, RAD_LOAD_SUMMARY);
    rad_load_result_free(r);
    return v.same ? EXIT_FINE : EXIT_FOUND;
}

static const char *const REPLAY_EXAMPLES[] = {
    "raddle load replay events.log --verify", "does it make the same run again?",
    "raddle load replay events.log --step",
    "tick by tick: n next, b back, g 1000 go to, s state, q quit", NULL};

const verb VERB_LOAD_REPLAY = {
    "load replay",
    "run a log again without any server",
    "EVENTS.log [options]",
    "Feeds the inputs of a log (clock readings, answers, connections) to the scheduler and "
    "compares what it writes with "
    "the file, byte by byte. A log that was cut off is replayed as far as it goes.\n\n"
    "Exit status: 0 the same, 1 it differs (the record is told), 2 damaged or no log, 3 trouble "
    "with files or memory.",
    REPLAY_OPTIONS,
    REPLAY_EXAMPLES,
    load_replay_run,
};

/* ---- analyze --------------------------------------------------------------------------------------------- */

static const option ANALYZE_OPTIONS[] = {
    {"filter", OPTION_TEXT, AT(filter), "EXPR",
     "only requests for which it holds: 'status >= 500 && service_ms > 20'", 0, 0, 0},
    {"percentiles", OPTION_TEXT, AT(percentiles), "LIST", "such as 50,90,99.9: prints just these",
     0, 0, 0},
    {"format", OPTION_TEXT, AT(format), "F", "summary (preset), json, csv or prometheus", 0, 0, 0},
    {"csv", OPTION_FLAG, AT(csv), NULL, "one line for each second", 0, 0, 0},
    {"prometheus", OPTION_FLAG, AT(prometheus), NULL, "Prometheus' text format", 0, 0, 0},
    OPTION_JSON(log_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* "99.9" is 999,000 millionths: at most four decimals. */
static bool read_percent(const char **text, uint32_t *ppm)
{
    uint32_t whole = 0, scale = 10000;
    const char *at = *text;
    if (*at < '0' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9' && whole <= 100; at++)
        whole = whole * 10 + (uint32_t)(*at - '0');
    *ppm = whole * 10000;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && scale >= 10; at++)
            *ppm += (uint32_t)(*at - '0') * (scale /= 10);
    *text = at;
    return *ppm <= 1000000;
}

/* All of the list before anything is printed. */
static int check_percentiles(cli *c, const char *list)
{
    for (const char *at = list;; at++) {
        const char *begin = at;
        uint32_t ppm;
        if (!read_percent(&at, &ppm) || (*at != ',' && *at != 0))
            return bad_usage(
                c, "--percentiles: '%.40s': expected numbers from 0 to 100, such as 50,99.9",
                begin);
        if (*at == 0) return 0;
    }
}

static void print_percentiles(cli *c, const rad_load_result *r, const char *list, bool json)
{
    bool first = true;
    for (const char *at = list; *at != 0; first = false) {
        const char *begin = at;
        uint32_t ppm = 0;
        read_percent(&at, &ppm);
        int length = (int)(at - begin);
        uint64_t ns = rad_load_percentile(r, false, ppm),
                 response = rad_load_percentile(r, true, ppm);
        if (json)
            out(c, "%s\"p%.*s\":{\"service_ns\":%" PRIu64 ",\"response_ns\":%" PRIu64 "}",
                first ? "{" : ",", length, begin, ns, response);
        else
            out(c, "p%-7.*s %12.3f ms service  %12.3f ms response\n", length, begin,
                (double)ns * 1e-6, (double)response * 1e-6);
        at += *at == ',';
    }
    if (json) out(c, "}\n");
}

static int pick_form(cli *c, const log_words *l, enum rad_load_form *form)
{
    static const char *const NAMES[] = {"summary", "json", "csv", "prometheus"};
    *form = l->json         ? RAD_LOAD_JSON
            : l->csv        ? RAD_LOAD_CSV
            : l->prometheus ? RAD_LOAD_PROMETHEUS
                            : RAD_LOAD_SUMMARY;
    if (l->format == NULL) return 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (strcmp(l->format, NAMES[i]) == 0) {
            *form = (enum rad_load_form)i;
            return 0;
        }
    }
    return bad_usage(c, "--format: '%.40s': expected summary, json, csv or prometheus", l->format);
}

static int load_analyze_run(cli *c, int argc, char **argv)
{
    log_words l = {.verify = true};
    words w;
    const char *path;
    char room[4096];
    enum rad_load_form form;
    rad_load_result *r;
    rad_error error = {.code = 0};
    int status = options_parse(c, &VERB_LOAD_ANALYZE, argc, argv, &l, &w);
    if (status != GO_ON) return status;
    if ((status = one_log(c, &w, &path, room)) != 0 || (status = pick_form(c, &l, &form)) != 0)
        return status;
    if (l.percentiles != NULL && (status = check_percentiles(c, l.percentiles)) != 0) return status;
    if (rad_load_analyze(&r, path, l.filter, &error) != 0) return complain_error(c, &error);
    if (l.percentiles != NULL)
        print_percentiles(c, r, l.percentiles, l.json);
    else
        status = print_form(c, r, form);
    rad_load_result_free(r);
    return status;
}

static const char *const ANALYZE_EXAMPLES[] = {
    "raddle load analyze events.log --percentiles 50,90,99,99.9", "some percentiles",
    "raddle load analyze events.log --filter 'name == \"login\"' --json",
    "everything about one request", NULL};

const verb VERB_LOAD_ANALYZE = {
    "load analyze",
    "statistics of a log",
    "EVENTS.log [options]",
    "Reads the events of a log, checks that they can have happened in this order, and counts. "
    "Without a filter it says "
    "what the run's own summary said.\n\nExit status: 0, 2 a damaged log or a bad filter, 3 "
    "trouble with files.",
    ANALYZE_OPTIONS,
    ANALYZE_EXAMPLES,
    load_analyze_run,
};

/* ---- diff ------------------------------------------------------------------------------------------------ */

static const option DIFF_OPTIONS[] = {
    {"threshold", OPTION_SECONDS, AT(threshold), "PCT",
     "differences of no more percent do not count (preset: 5)", 0, 0, 0},
    {"format", OPTION_TEXT, AT(format), "F", "text (preset) or json", 0, 0, 0},
    OPTION_JSON(log_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static int load_diff_run(cli *c, int argc, char **argv)
{
    log_words l = {.threshold = 5};
    words w;
    char rooms[2][4096];
    rad_load_result *r[2] = {NULL, NULL};
    rad_error error = {.code = 0};
    uint32_t worse = 0;
    int status = options_parse(c, &VERB_LOAD_DIFF, argc, argv, &l, &w);
    if (status != GO_ON) return status;
    if (w.count != 2) return bad_usage(c, "expected two logs, or folders with results");
    if (l.format != NULL && strcmp(l.format, "text") != 0 && strcmp(l.format, "json") != 0)
        return bad_usage(c, "--format: '%.40s': expected text or json", l.format);
    for (int i = 0; i < 2; i++) {
        if (rad_load_analyze(&r[i], log_in(w.at[i], rooms[i]), NULL, &error) == 0) continue;
        rad_load_result_free(r[0]);
        return complain_error(c, &error);
    }
    bool json = l.json || (l.format != NULL && strcmp(l.format, "json") == 0);
    char *text = rad_load_diff(r[0], r[1], l.threshold, json, &worse, &error);
    status = text == NULL ? complain_error(c, &error) : worse > 0 ? EXIT_FOUND : EXIT_FINE;
    if (text != NULL) out_text(c, text);
    rad_free(text);
    rad_load_result_free(r[0]);
    rad_load_result_free(r[1]);
    return status;
}

const verb VERB_LOAD_DIFF = {
    "load diff",
    "compare two runs",
    "BEFORE AFTER [options]",
    "Compares the statistics of two logs (or folders with results).\n\n"
    "Exit status: 0 nothing got worse by more than the threshold, 1 something did, 2 bad usage or "
    "logs.",
    DIFF_OPTIONS,
    NULL,
    load_diff_run,
};

/* ---- report, strip --------------------------------------------------------------------------------------- */

static const option REPORT_OPTIONS[] = {
    {"html", OPTION_FLAG, AT(html), NULL, "a page (it always is)", 0, 0, 0},
    {"filter", OPTION_TEXT, AT(filter), "EXPR", "only requests for which it holds", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "FILE", "where it goes (preset: stdout)", 0, 0, 'o'},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static int load_report_run(cli *c, int argc, char **argv)
{
    log_words l = {.html = true};
    words w;
    const char *path;
    char room[4096];
    rad_load_result *r;
    rad_error error = {.code = 0};
    int status = options_parse(c, &VERB_LOAD_REPORT, argc, argv, &l, &w);
    if (status != GO_ON) return status;
    if ((status = one_log(c, &w, &path, room)) != 0) return status;
    if (rad_load_analyze(&r, path, l.filter, &error) != 0) return complain_error(c, &error);
    if (l.output == NULL)
        status = print_form(c, r, RAD_LOAD_HTML);
    else if (rad_load_save(r, RAD_LOAD_HTML, l.output, &error) != 0)
        status = complain_error(c, &error);
    else
        out(c, "wrote %s\n", l.output);
    rad_load_result_free(r);
    return status;
}

const verb VERB_LOAD_REPORT = {
    "load report",
    "a page with plots of a run",
    "EVENTS.log [--html] [-o FILE.html]",
    "One HTML file that needs nothing else: latency over time, percentiles, rate, errors, users.",
    REPORT_OPTIONS,
    NULL,
    load_report_run,
};

static const option STRIP_OPTIONS[] = {
    {"output", OPTION_TEXT, AT(output), "FILE", "where it goes", 0, 0, 'o'},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static int load_strip_run(cli *c, int argc, char **argv)
{
    log_words l = {.html = false};
    words w;
    const char *path;
    rad_error error = {.code = 0};
    int status = options_parse(c, &VERB_LOAD_STRIP, argc, argv, &l, &w);
    if (status != GO_ON) return status;
    if ((status = read_file_word(c, w.at, w.count, &path)) != 0) return status;
    if (l.output == NULL) return bad_usage(c, "expected --output FILE");
    if (rad_load_strip(path, l.output, &error) != 0) return complain_error(c, &error);
    out(c, "wrote %s: only inputs; 'raddle load replay %s --output FILE' makes it whole\n",
        l.output, shell_word(l.output));
    return EXIT_FINE;
}

const verb VERB_LOAD_STRIP = {
    "load strip",
    "a log with its inputs only",
    "EVENTS.log --output FILE",
    "Leaves out everything that a replay makes again: what is left is all that came from outside.",
    STRIP_OPTIONS,
    NULL,
    load_strip_run,
};

/* ---- export ---------------------------------------------------------------------------------------------- */

static int load_export_run(cli *c, int argc, char **argv)
{
    log_words l = {.html = false};
    words w;
    const char *path;
    char room[4096];
    uint64_t records = 0;
    rad_error error = {.code = 0};
    int status = options_parse(c, &VERB_LOAD_EXPORT, argc, argv, &l, &w);
    if (status != GO_ON) return status;
    if ((status = one_log(c, &w, &path, room)) != 0) return status;
    if (l.output == NULL) return bad_usage(c, "expected --output FILE");
    if (rad_load_export_z6(path, l.output, &records, &error) != 0) return complain_error(c, &error);
    out(c, "wrote %s: %s records of 272 bytes\n", l.output, number(records));
    return EXIT_FINE;
}

const verb VERB_LOAD_EXPORT = {
    "load export",
    "a log in the format of Z6",
    "EVENTS.log --output FILE",
    "Writes the events as an event log of Z6's, version 1, as its source has it. 'raddle load "
    "analyze' reads such files.",
    STRIP_OPTIONS,
    NULL,
    load_export_run,
};
