/* load_logs.c — `raddle load replay`, `analyze`, `report`, `strip` and `export`: what can be done with a log. */
#include "load.h"

#include "command/json.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct log_words {
    const char *output, *filter, *percentiles, *format;
    uint64_t tick;
    bool verify, step, summary, json, csv, prometheus, html, partial;
} log_words;

#define AT(field) offsetof(log_words, field)
#define OPTION_PARTIAL                                                                                                 \
    {                                                                                                                  \
        "partial", OPTION_FLAG, AT(partial), NULL, "accept a log that was cut off, as far as it goes", 0, 0, 0         \
    }

const char *log_in(const char *path, char room[4096])
{
    bool may = !ends_with(path, ".log") && *path && join_path(room, 4096, path, "events.log");
    return may && rad__os_exists(room) ? room : path;
}

static int one_log(cli *c, const words *w, const char **path, char room[4096])
{
    if (w->count == 1) {
        *path = log_in(w->at[0], room);
        if (*path == room) return 0;
    }
    return read_file_word(c, w->at, w->count, path);
}

/* What is wrong with the run a log is of: it was killed, nothing answered. 0 or an exit status. */
static int judge_log(cli *c, const char *path, const rad_load_facts *f, bool partial)
{
    int accepted = accept_facts(c, path, f, partial), judged = judge_data(c, f);
    return accepted != 0 ? accepted : judged;
}

/* ---- replay ---------------------------------------------------------------------------------------------- */

static const option REPLAY_OPTIONS[] = {
    {"verify", OPTION_FLAG, AT(verify), NULL, "compare byte by byte (always on)", 0, 0, 0},
    {"step", OPTION_FLAG, AT(step), NULL, "step through it, tick by tick, with commands from stdin", 0, 0, 0},
    {"summary", OPTION_FLAG, AT(summary), NULL, "also print the summary of the run", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "FILE", "write the whole log to FILE", 0, 0, 'o'},
    OPTION_PARTIAL,
    OPTION_JSON(log_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static void verdict_json(cli *c, const rad_load_verdict *v, const rad_load_facts *f)
{
    writer j;
    put_begin_compact(&j, c);
    put_bool(&j, "same", v->same);
    put_bool(&j, "cut_off", v->cut_off);
    put_count(&j, "turns", v->turns);
    put_count(&j, "records", v->records);
    put_count(&j, "record", v->record);
    put_count(&j, "seed", f->seed);
    put_count(&j, "requests", f->requests);
    put_end(&j);
}

static void tell_verdict(cli *c, const char *path, const rad_load_verdict *v, const rad_load_result *r, bool json)
{
    rad_load_facts f = {.seed = 0};
    if (r != NULL) rad_load_result_facts(r, &f);
    if (json) {
        verdict_json(c, v, &f);
        return;
    }
    if (!v->same)
        out(c, "%s%s%s differs: %s\n", style(c, STYLE_BAD), path, style(c, STYLE_OFF), v->text);
    else
        out(c, "%s%s%s %s: %s turns, %s records, %s requests, seed %" PRIu64 "%s\n",
            style(c, v->cut_off ? STYLE_BAD : STYLE_GOOD), path, style(c, STYLE_OFF),
            v->cut_off ? "is cut off; what there is of it replays" : "replays byte for byte", number(v->turns),
            number(v->records), number(f.requests), f.seed, v->cut_off ? "; no end" : "");
}

/* A log whose outputs were taken out has nothing to compare: it is made whole, unless it was cut off. */
static void tell_made_whole(cli *c, const log_words *l, const char *path, const rad_load_verdict *v)
{
    if (!v->cut_off)
        out(c, "%s: made whole\n", l->output);
    else if (l->partial)
        out(c, "%s: %s turns, as far as %s goes\n", l->output, number(v->turns), path);
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
    if (l.step) return step_log(c, path, l.partial);
    if (rad_load_replay(&v, &r, path, l.output, l.partial, &error) != 0) return complain_log(c, path, &error);
    if (r != NULL || !v.same || l.json)
        tell_verdict(c, path, &v, r, l.json);
    else
        tell_made_whole(c, &l, path, &v);
    if (l.summary && r != NULL) print_form(c, r, RAD_LOAD_SUMMARY);
    rad_load_result_free(r);
    if (!v.same) return EXIT_FOUND;
    rad_load_extent e = {.cut_off = v.cut_off, .turns = v.turns, .records = v.records};
    return accept_extent(c, path, &e, l.partial);
}

static const char *const REPLAY_EXAMPLES[] = {
    "raddle load replay run.log",
    "does the log make the same run again?",
    "echo n | raddle load replay run.log --step",
    "tick by tick: n next, b back, g 1000 go to, s state, q quit",
    NULL,
};

const verb VERB_LOAD_REPLAY = {
    .name = "load replay",
    .about = "replay a log without a server; compare byte by byte",
    .usage = "EVENTS.log [options]",
    .text = "Feed the inputs of a log (clock readings, responses, connections) to the scheduler, and "
            "compare what it writes with the file, byte by byte.\n\n"
            "EVENTS.log may also be a directory of results. A log that was cut off, because its run "
            "was killed, is replayed as far as it goes; that is a failure unless --partial is given.",
    .status = "0 the same, 1 differs (the first such record is printed) or cut off, 2 damaged, or "
              "not a log, 3 I/O, memory or limit, 4 bug in Raddle",
    .options = REPLAY_OPTIONS,
    .examples = REPLAY_EXAMPLES,
    .run = load_replay_run,
};

/* ---- analyze --------------------------------------------------------------------------------------------- */

static const option ANALYZE_OPTIONS[] = {
    {"filter", OPTION_TEXT, AT(filter), "EXPR",
     "only requests for which EXPR holds, such as 'status >= 500 && service_ms > 20'", 0, 0, 0},
    {"percentiles", OPTION_TEXT, AT(percentiles), "LIST", "print only these, such as 50,90,99.9", 0, 0, 0},
    {"format", OPTION_TEXT, AT(format), "F", "summary, json, csv or prometheus (default: summary)", 0, 0, 0},
    {"csv", OPTION_FLAG, AT(csv), NULL, "print one line a second", 0, 0, 0},
    {"prometheus", OPTION_FLAG, AT(prometheus), NULL, "print Prometheus' text format", 0, 0, 0},
    OPTION_PARTIAL,
    OPTION_JSON(log_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* "99.9" is 999,000 millionths: at most four decimals. */
static bool read_percent(const char **text, uint32_t *ppm)
{
    uint32_t whole = 0, scale = 10000;
    const char *at = *text;
    if (*at < '0' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9' && whole <= 100; at++) whole = whole * 10 + (uint32_t)(*at - '0');
    *ppm = whole * 10000;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && scale >= 10; at++) *ppm += (uint32_t)(*at - '0') * (scale /= 10);
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
            return bad_usage(c, "--percentiles '%.40s': use numbers from 0 to 100, such as 50,99.9", begin);
        if (*at == 0) return 0;
    }
}

static void time_json(writer *j, const char *key, uint64_t ns)
{
    if (ns == RAD_LOAD_NO_DATA)
        put_json(j, key, "null");
    else
        put_count(j, key, ns);
}

static void print_time(cli *c, uint64_t ns, const char *what)
{
    if (ns == RAD_LOAD_NO_DATA)
        out(c, "      no data %s", what);
    else
        out(c, " %12.3f ms %s", (double)ns * 1e-6, what);
}

/* Of one percentile: `name` is its number, as it was typed. */
static void print_percentile(cli *c, const rad_load_result *r, uint32_t ppm, const char *name, writer *j)
{
    uint64_t service = rad_load_percentile(r, false, ppm), response = rad_load_percentile(r, true, ppm);
    if (j == NULL) {
        out(c, "p%-7s", name);
        print_time(c, service, "service ");
        print_time(c, response, "response");
        out(c, "\n");
        return;
    }
    char key[80];
    snprintf(key, sizeof key, "p%s", name);
    put_object(j, key);
    time_json(j, "service_ns", service);
    time_json(j, "response_ns", response);
    put_close(j, '}');
}

static void print_percentiles(cli *c, const rad_load_result *r, const char *list, bool json)
{
    writer j;
    if (json) put_begin_compact(&j, c);
    for (const char *at = list; *at != 0; at += *at == ',') {
        const char *begin = at;
        char name[64];
        uint32_t ppm = 0;
        read_percent(&at, &ppm);
        snprintf(name, sizeof name, "%.*s", (int)(at - begin), begin);
        print_percentile(c, r, ppm, name, json ? &j : NULL);
    }
    if (json) put_end(&j);
}

static int pick_form(cli *c, const log_words *l, enum rad_load_form *form)
{
    static const char *const NAMES[] = {"summary", "json", "csv", "prometheus"};
    int status = one_form(c, l->json, l->csv, l->prometheus, l->format != NULL);
    if (status != 0) return status;
    *form = l->json ? RAD_LOAD_JSON : l->csv ? RAD_LOAD_CSV : l->prometheus ? RAD_LOAD_PROMETHEUS : RAD_LOAD_SUMMARY;
    if (l->format == NULL) return 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (strcmp(l->format, NAMES[i]) == 0) {
            *form = (enum rad_load_form)i;
            return 0;
        }
    }
    return bad_usage(c, "--format '%.40s': use summary, json, csv or prometheus", l->format);
}

/* Prints what was asked for; frees the result. The exit status. */
static int tell_analysis(cli *c, const log_words *l, const char *path, enum rad_load_form form, rad_load_result *r)
{
    rad_load_facts facts;
    int status = 0;
    rad_load_result_facts(r, &facts);
    if (l->percentiles != NULL)
        print_percentiles(c, r, l->percentiles, l->json);
    else
        status = print_form(c, r, form);
    rad_load_result_free(r);
    return status != 0 ? status : judge_log(c, path, &facts, l->partial);
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
    ends_at_once(c, &VERB_LOAD_ANALYZE);
    if ((status = one_log(c, &w, &path, room)) != 0 || (status = pick_form(c, &l, &form)) != 0) return status;
    if (l.percentiles != NULL && (status = check_percentiles(c, l.percentiles)) != 0) return status;
    if (rad_load_analyze(&r, path, l.filter, &error) != 0) return complain_log(c, path, &error);
    return tell_analysis(c, &l, path, form, r);
}

static const char *const ANALYZE_EXAMPLES[] = {
    "raddle load analyze run.log --percentiles 50,90,99,99.9",
    "some percentiles",
    "raddle load analyze run.log --filter 'status == 200' --json",
    "everything about some of the requests",
    NULL,
};

const verb VERB_LOAD_ANALYZE = {
    .name = "load analyze",
    .about = "print statistics of a log",
    .usage = "EVENTS.log [options]",
    .text = "Read the events of a log, check that they can have happened in this order, and print "
            "statistics.\n\n"
            "Without --filter they equal the run's own summary. A Z6 event file "
            "(docs/load-results.md) is read, too.",
    .status = "0 done, 1 cut off, or no response at all, 2 bad arguments, a damaged log or a bad "
              "filter, 3 I/O, memory or limit, 4 bug in Raddle",
    .options = ANALYZE_OPTIONS,
    .examples = ANALYZE_EXAMPLES,
    .run = load_analyze_run,
};

/* ---- report, strip --------------------------------------------------------------------------------------- */

static const option REPORT_OPTIONS[] = {
    {"html", OPTION_FLAG, AT(html), NULL, "write HTML (always on)", 0, 0, 0},
    {"filter", OPTION_TEXT, AT(filter), "EXPR", "only requests for which EXPR holds", 0, 0, 0},
    {"output", OPTION_TEXT, AT(output), "FILE", "file to write (default: stdout)", 0, 0, 'o'},
    OPTION_PARTIAL,
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
    if (rad_load_analyze(&r, path, l.filter, &error) != 0) return complain_log(c, path, &error);
    rad_load_facts facts;
    rad_load_result_facts(r, &facts);
    if (l.output == NULL)
        status = print_form(c, r, RAD_LOAD_HTML);
    else if (rad_load_save(r, RAD_LOAD_HTML, l.output, &error) != 0)
        status = complain_error(c, &error);
    else
        out(c, "wrote %s\n", l.output);
    rad_load_result_free(r);
    return status != 0 ? status : judge_log(c, path, &facts, l.partial);
}

static const char *const REPORT_EXAMPLES[] = {
    "raddle load report run.log --output run.html",
    "a page for a browser",
    NULL,
};

const verb VERB_LOAD_REPORT = {
    .name = "load report",
    .about = "write an HTML page with plots",
    .usage = "EVENTS.log [options]",
    .text = "Write one HTML file that needs nothing else: latency over time, percentiles, rate, "
            "errors, virtual users.",
    .status = "0 done, 1 cut off, or no response at all, 2 bad arguments, a damaged log or a bad "
              "filter, 3 I/O, memory or limit, 4 bug in Raddle",
    .options = REPORT_OPTIONS,
    .examples = REPORT_EXAMPLES,
    .run = load_report_run,
};

static const option STRIP_OPTIONS[] = {
    {"output", OPTION_TEXT, AT(output), "FILE", "file to write (required)", 0, 0, 'o'},
    OPTION_PARTIAL,
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* Nothing is written of a log that was cut off, unless that is accepted. */
static int check_extent(cli *c, const char *path, bool partial)
{
    rad_load_extent e;
    rad_error error = {.code = 0};
    if (rad_load_survey(&e, path, &error) != 0) return complain_error(c, &error);
    return accept_extent(c, path, &e, partial);
}

static int load_strip_run(cli *c, int argc, char **argv)
{
    log_words l = {.html = false};
    words w;
    const char *path;
    rad_error error = {.code = 0};
    int status = options_parse(c, &VERB_LOAD_STRIP, argc, argv, &l, &w);
    if (status != GO_ON) return status;
    if ((status = read_file_word(c, w.at, w.count, &path)) != 0) return status;
    if (l.output == NULL) return bad_usage(c, "missing --output FILE");
    if ((status = check_extent(c, path, l.partial)) != 0) return status;
    if (rad_load_strip(path, l.output, &error) != 0) return complain_error(c, &error);
    out(c, "wrote %s: only inputs; 'raddle load replay %s --output FILE' makes it whole\n", l.output,
        shell_word(l.output));
    return EXIT_FINE;
}

static const char *const STRIP_EXAMPLES[] = {
    "raddle load strip run.log --output small.log",
    "the inputs",
    "raddle load replay small.log --output whole.log",
    "the whole log again",
    NULL,
};

const verb VERB_LOAD_STRIP = {
    .name = "load strip",
    .about = "write a log with its inputs only",
    .usage = "EVENTS.log --output FILE [options]",
    .text = "Write a log without everything a replay makes again. raddle load replay --output "
            "restores it byte for byte.",
    .status = "0 done, 1 cut off, " STATUS_ERRORS,
    .options = STRIP_OPTIONS,
    .examples = STRIP_EXAMPLES,
    .run = load_strip_run,
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
    if (l.output == NULL) return bad_usage(c, "missing --output FILE");
    if ((status = check_extent(c, path, l.partial)) != 0) return status;
    if (rad_load_export_z6(path, l.output, &records, &error) != 0) return complain_error(c, &error);
    out(c, "wrote %s: %s records of 272 bytes\n", l.output, number(records));
    return EXIT_FINE;
}

static const char *const EXPORT_EXAMPLES[] = {
    "raddle load export run.log --output run.z6",
    "the events as fixed-size records",
    NULL,
};

const verb VERB_LOAD_EXPORT = {
    .name = "load export",
    .about = "write a log in the format of Z6",
    .usage = "EVENTS.log --output FILE [options]",
    .text = "Write the events in the format of Z6, version 1: 272 bytes a record "
            "(docs/load-results.md). raddle load analyze reads such files.",
    .status = "0 done, 1 cut off, " STATUS_ERRORS,
    .options = STRIP_OPTIONS,
    .examples = EXPORT_EXAMPLES,
    .run = load_export_run,
};
