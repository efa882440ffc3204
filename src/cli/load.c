/* load.c — `raddle load`: load tests that can be repeated and replayed. */
#include "load.h"

#include <stdio.h>
#include <string.h>

static const verb *const PARTS[] = {&VERB_LOAD_QUICK, &VERB_LOAD_RUN,      &VERB_LOAD_REPLAY, &VERB_LOAD_ANALYZE,
                                    &VERB_LOAD_DIFF,  &VERB_LOAD_VALIDATE, &VERB_LOAD_REPORT, &VERB_LOAD_SERVE,
                                    &VERB_LOAD_STRIP, &VERB_LOAD_EXPORT};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

static int load_run(cli *c, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strstr(argv[i], "://") != NULL && argv[0][0] != 'r' && argv[0][0] != 'v') return load_quick(c, argc, argv);
    return run_part(c, &VERB_LOAD, argc, argv);
}

const char *command_line(int argc, char **argv)
{
    static char line[1024];
    size_t used = (size_t)snprintf(line, sizeof line, "raddle load");
    for (int i = 0; i < argc && used < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, " %s", shell_word(argv[i]));
    return line;
}

int print_form(cli *c, const rad_load_result *r, enum rad_load_form form)
{
    rad_error error = {.code = 0};
    char *text = rad_load_text(r, form, &error);
    if (text == NULL) return complain_error(c, &error);
    out_text(c, text);
    rad_free(text);
    return 0;
}

int judge_data(cli *c, const rad_load_facts *f)
{
    if (f->no_data[0] == 0) return 0;
    complain(c, "%s", f->no_data);
    return EXIT_FOUND;
}

/* ---- Logs that were cut off --------------------------------------------------------------------------------- */

int accept_extent(cli *c, const char *path, const rad_load_extent *e, bool partial)
{
    if (!e->cut_off || (partial && !e->in_header)) return 0;
    complain(c, "%s: the log is cut off: it has %s turns, %s records and no end%s", path, number(e->turns),
             number(e->records), e->in_header ? "; its header is not whole" : "; --partial accepts what there is");
    return EXIT_FOUND;
}

int accept_facts(cli *c, const char *path, const rad_load_facts *f, bool partial)
{
    rad_load_extent e = {.cut_off = f->cut_off, .turns = f->turns, .records = f->records};
    return accept_extent(c, path, &e, partial);
}

int complain_log(cli *c, const char *path, const rad_error *error)
{
    rad_load_extent e;
    rad_error ignored = {.code = 0};
    if (rad_load_survey(&e, path, &ignored) == 0 && e.in_header) return accept_extent(c, path, &e, false);
    return complain_error(c, error);
}

static const char *const LOAD_EXAMPLES[] = {
    "raddle load run examples/load/sim-closed.toml --seed 42 --output run.log",
    "a whole run without a server, the same every time",
    "raddle load replay run.log",
    "does the log make the same run again, byte for byte?",
    "raddle load analyze run.log --filter 'service_ms > 20'",
    "statistics of some of the requests",
    NULL,
};

const verb VERB_LOAD = {
    .name = "load",
    .about = "load tests: run, replay, analyze, diff, validate, report, serve, strip, "
             "export, toml",
    .text = "Run load tests and replay their logs (docs/load.md).\n\n"
            "A scenario (TOML) says which virtual users send which requests when, and what must "
            "hold. It runs on a simulated target or on a real server, and writes a log.\n\n"
            "The same scenario and seed give the same plan (requests, think times, arrivals), also "
            "on a real server; on a simulated target the same log, byte for byte. The log of any "
            "run replays without a server.",
    .status = "0 all as it should be, 1 an assertion fails, a run had no response, a replay "
              "differs, a log is cut off, or a run got worse, " STATUS_ERRORS ", 130 interrupted",
    .examples = LOAD_EXAMPLES,
    .parts = PARTS,
    .part_count = PART_COUNT,
    .run = load_run,
};
