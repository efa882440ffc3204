/* session_run.c — `raddle session run` and `trace`: sessions of a protocol, once. */
#include "command/report.h"
#include "session.h"

#include <string.h>

enum { SLICE = 5000000, TRACE_FUEL = 100000 };

typedef struct run_args {
    run_words run;
    const char *output;
    uint64_t session;
    bool json, normalize;
} run_args;

#define AT(field) offsetof(run_args, field)

static const option RUN_OPTIONS[] = {
    OPTIONS_OF_RUN(run_args, run, "run to the end"),
    {"seed", OPTION_COUNT, AT(run.seed), "S", "seed for random values and choices (default: 1)", 0, SEED_MAX, 0},
    {"output", OPTION_TEXT, AT(output), "DIR", "existing directory for schedule files of what went wrong (default: .)",
     0, 0, 0},
    OPTION_JSON(run_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static const option TRACE_OPTIONS[] = {
    OPTIONS_OF_RUN(run_args, run, "100,000"),
    {"seed", OPTION_COUNT, AT(run.seed), "S", "seed for random values and choices (default: 1)", 0, SEED_MAX, 0},
    {"session", OPTION_COUNT, AT(session), "S", "print only session S", 0, 10000000, 0},
    {"normalize", OPTION_FLAG, AT(normalize), NULL, "leave out rounds; one coroutine after the other", 0, 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

/* What a run came to. */
typedef struct result {
    enum rad_session_end end;
    rad_session_info info;
    char *report, *trace; /* rad_free */
} result;

static const char *end_name(const cli *c, enum rad_session_end end, bool json)
{
    static const char *const names[] = {"complete", "out of fuel", "stuck", "out of memory"};
    if (end != RAD_SESSION_EXHAUSTED) return names[end];
    return *c->stop ? "interrupted" : json ? "exhausted" : names[end];
}

/* So that somebody who looks sees that it goes on. */
static enum rad_session_end run_in_slices(const cli *c, rad_session_vm *vm, uint64_t fuel)
{
    uint64_t left = fuel ? fuel : UINT64_MAX;
    enum rad_session_end end = RAD_SESSION_EXHAUSTED;
    while (end == RAD_SESSION_EXHAUSTED && left > 0 && !*c->stop) {
        uint64_t slice = left < SLICE ? left : SLICE;
        end = rad_session_run(vm, slice);
        left -= slice;
        if (end == RAD_SESSION_EXHAUSTED && c->progress) {
            rad_session_info info;
            rad_session_look(vm, &info);
            progress_items(c, "sessions closed:", info.sessions_closed, info.sessions);
        }
    }
    progress_clear(c);
    return end;
}

static int run_here(const cli *c, const rad_protocols *p, const run_args *a, const rad_session_options *o, result *r,
                    rad_error *error)
{
    rad_session_vm *vm;
    int code = rad_session_create(&vm, p, o, error);
    if (code != 0) return code;
    code = rad_session_open(vm, a->run.protocol, (uint32_t)a->run.sessions, error);
    if (code == 0) {
        r->end = run_in_slices(c, vm, a->run.fuel);
        rad_session_look(vm, &r->info);
        r->report = *c->stop ? NULL : rad_session_report(vm); /* a line for each that is left */
        uint32_t only = a->session == NOT_GIVEN ? RAD_NONE : (uint32_t)a->session;
        if (o->log) r->trace = rad_session_trace_text(vm, only, a->normalize);
    }
    rad_session_destroy(vm);
    return code;
}

static int run_on_threads(const rad_protocols *p, const run_args *a, const rad_session_options *o, result *r,
                          rad_error *error)
{
    rad_session_crowd crowd = {.protocol = a->run.protocol,
                               .sessions = (uint32_t)a->run.sessions,
                               .threads = (uint32_t)a->run.threads,
                               .rounds = a->run.fuel};
    return rad_session_run_crowd(p, o, &crowd, &r->end, &r->info, o->log ? &r->trace : NULL, error);
}

static void report_text(cli *c, const run_args *a, const rad_session_options *o, const result *r)
{
    const rad_session_info *i = &r->info;
    char n[16];
    bool good = r->end != RAD_SESSION_STUCK && i->sessions_faulted == 0;
    n_text(o->n, n);
    out(c, "%ssession run%s: n %s, policy %s, seed %llu\n", style(c, STYLE_BOLD), style(c, STYLE_OFF), n,
        policy_name(o->policy), (unsigned long long)o->seed);
    report_label(c, "end");
    out(c, "%s%s%s after %s round%s, %s instruction%s, %s message%s\n", style(c, good ? STYLE_GOOD : STYLE_BAD),
        end_name(c, r->end, false), style(c, STYLE_OFF), number(i->rounds), plural(i->rounds), number(i->instructions),
        plural(i->instructions), number(i->messages), plural(i->messages));
    report_label(c, "sessions");
    out(c, "%s opened, %s closed, %s faulted\n", number(i->sessions), number(i->sessions_closed),
        number(i->sessions_faulted));
    report_label(c, "coroutines");
    out(c, "%s ended, %s ready, %s blocked\n", number(i->ended), number(i->ready), number(i->blocked));
    report_label(c, "digest");
    out(c, "%s%s\n", i->digest, a->run.threads ? " (the same on one thread)" : "");
    if (r->report && *r->report && !(good && r->end == RAD_SESSION_COMPLETE)) {
        out_text(c, "\n");
        out_text(c, r->report);
    }
}

static void report_json(cli *c, const run_args *a, const rad_session_options *o, const result *r, const hunt *h)
{
    const rad_session_info *i = &r->info;
    writer j;
    char n[16];
    n_text(o->n, n);
    put_begin(&j, c);
    put_text(&j, "verb", "session run");
    put_text(&j, "n", n);
    put_text(&j, "policy", policy_name(o->policy));
    put_count(&j, "seed", o->seed);
    put_count(&j, "threads", a->run.threads);
    put_text(&j, "end", end_name(c, r->end, true));
    put_count(&j, "sessions", i->sessions);
    put_count(&j, "sessions_closed", i->sessions_closed);
    put_count(&j, "sessions_faulted", i->sessions_faulted);
    put_count(&j, "ended", i->ended);
    put_count(&j, "ready", i->ready);
    put_count(&j, "blocked", i->blocked);
    put_count(&j, "rounds", i->rounds);
    put_count(&j, "instructions", i->instructions);
    put_count(&j, "messages", i->messages);
    put_count(&j, "effects", i->effects);
    put_text(&j, "digest", i->digest);
    put_lines(&j, "report", r->report);
    put_text(&j, "artifact", h->bug_count ? h->bugs[0].minimised.path : NULL);
    put_end(&j);
}

static int report(cli *c, const char *path, const run_args *a, const rad_session_options *o, const result *r)
{
    static hunt h; /* too large for a stack */
    bool good = r->end != RAD_SESSION_STUCK && r->info.sessions_faulted == 0;
    int status = 0;
    h = (hunt){.c = c, .dir = a->output, .json = a->json};
    if (!a->json) report_text(c, a, o, r);
    if (!good && !a->run.threads) status = session_hunt(&h, path, &a->run, o);
    if (a->json) report_json(c, a, o, r, &h);
    hunt_free(&h);
    return status ? status : good ? EXIT_FINE : EXIT_FOUND;
}

static int run_file(cli *c, const verb *v, int argc, char **argv, bool traces)
{
    run_args a = {.run = RUN_WORDS_DEFAULT, .session = NOT_GIVEN};
    rad_session_options o;
    rad_protocols *p;
    rad_error error = {.code = 0};
    result r = {.end = RAD_SESSION_COMPLETE};
    uint32_t protocol;
    words w;
    int status = options_parse(c, v, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if (traces) ends_at_once(c, v);
    if ((status = read_run(c, &a.run, &o)) != 0 || (status = check_output(c, a.output)) != 0 ||
        (status = read_protocols(c, &w, &p)) != 0)
        return status;
    if (a.session != NOT_GIVEN && a.session >= a.run.sessions) {
        rad_protocols_free(p);
        return bad_usage(c, "--session '%llu': there are %s, counted from 0; --sessions opens more",
                         (unsigned long long)a.session, number(a.run.sessions));
    }
    o.log = traces;
    o.interrupted = c->stop;
    if (traces && a.run.fuel == 0) a.run.fuel = TRACE_FUEL;
    status = read_protocol(c, p, a.run.protocol, &protocol);
    if (status == 0 && traces && a.run.threads && (!a.normalize || a.session != NOT_GIVEN))
        status = bad_usage(c, "--threads needs --normalize, and takes no --session");
    if (status == 0) {
        int code = a.run.threads ? run_on_threads(p, &a, &o, &r, &error) : run_here(c, p, &a, &o, &r, &error);
        if (code == 0 && r.end == RAD_SESSION_NO_MEMORY)
            error = (rad_error){.code = RAD_ENOMEM, .text = "out of memory"};
        status = error.code ? complain_error(c, &error) : 0;
    }
    if (status == 0 && traces) {
        out_text(c, r.trace ? r.trace : "");
        status = r.end == RAD_SESSION_STUCK || r.info.sessions_faulted ? EXIT_FOUND : EXIT_FINE;
    } else if (status == 0) {
        status = report(c, w.at[0], &a, &o, &r);
    }
    rad_free(r.report);
    rad_free(r.trace);
    rad_protocols_free(p);
    return *c->stop ? EXIT_INTERRUPTED : status;
}

static int run_run(cli *c, int argc, char **argv)
{
    return run_file(c, &VERB_SESSION_RUN, argc, argv, false);
}

static int trace_run(cli *c, int argc, char **argv)
{
    return run_file(c, &VERB_SESSION_TRACE, argc, argv, true);
}

static const char *const RUN_EXAMPLES[] = {
    "raddle session run examples/session/two_buyer.session",
    "one session, one coroutine a round",
    "raddle session run examples/session/ring.session --sessions 10000 --n inf --threads 2",
    "10,000 sessions on two OS threads",
    NULL,
};

const verb VERB_SESSION_RUN = {
    .name = "session run",
    .about = "run a protocol once; say how it ended",
    .usage = "FILE.session [options]",
    .text = "Open sessions of a protocol and run the coroutines of all roles, N a round, one "
            "instruction each.\n\n"
            "Values and choices come from the seed; they, and the digest, are the same for every N "
            "and policy. A run that gets stuck, or in which a session faults, is saved as a "
            "schedule file and shrunk.",
    .status = "0 complete or out of fuel, 1 stuck or faulted, " STATUS_ERRORS,
    .options = RUN_OPTIONS,
    .examples = RUN_EXAMPLES,
    .run = run_run,
};

static const char *const TRACE_EXAMPLES[] = {
    "raddle session trace examples/session/two_buyer.session --normalize",
    "what each coroutine saw, in its order",
    NULL,
};

const verb VERB_SESSION_TRACE = {
    .name = "session trace",
    .about = "print what happened, event by event",
    .usage = "FILE.session [options]",
    .text = "Run as session run does; print a line per event: round, session, coroutine, what "
            "happened, and a hash of everything it depends on.\n\n"
            "With --normalize, rounds are left out and coroutines follow one another. These lines "
            "are the same for all N and policies, on threads and in WebAssembly.",
    .status = "0 complete or out of fuel, 1 stuck or faulted, " STATUS_ERRORS,
    .options = TRACE_OPTIONS,
    .examples = TRACE_EXAMPLES,
    .run = trace_run,
};
