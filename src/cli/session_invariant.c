/* session_invariant.c — `raddle session invariant`: the search for two runs that some thread could tell apart. */
#include "command/report.h"
#include "session.h"

#include <stdio.h>
#include <string.h>

enum { NS_MOST = 32, FUEL = 100000 };

typedef struct invariant_args {
    run_words run;
    const char *ns, *policies, *output;
    uint64_t seeds, starts;
    bool json;
} invariant_args;

#define AT(field) offsetof(invariant_args, field)

static const option INVARIANT_OPTIONS[] = {
    OPTION_PROTOCOL(invariant_args, run.protocol),
    {"n", OPTION_TEXT, AT(ns), "N,N,...", "values of N (default: 1,2,3,7,inf)", 0, 0, 0},
    {"policies", OPTION_TEXT, AT(policies), "P,P,...", "policies to try, or all (default: all)", 0, 0, 0},
    {"seeds", OPTION_COUNT, AT(seeds), "S", "try S seeds (default: 20)", 1, 1000000, 0},
    {"seed", OPTION_COUNT, AT(run.seed), "S", "first seed (default: 1)", 0, SEED_MAX, 0},
    {"starts", OPTION_COUNT, AT(starts), "S", "shuffled start orders besides the plain one (default: 2)", 1, 1000, 0},
    {"fuel", OPTION_COUNT, AT(run.fuel), "F", "stop each run after F rounds (default: 100,000)", 1,
     UINT64_C(1000000000), 0},
    OPTION_SESSIONS(invariant_args, run.sessions),
    OPTION_CAPACITY(invariant_args, run.capacity),
    OPTION_FULL(invariant_args, run.full),
    {"threads", OPTION_COUNT, AT(run.threads), "T", "also run on T OS threads; 0: do not (default: 2)", 0, 256, 0},
    {"output", OPTION_TEXT, AT(output), "DIR", "existing directory for the schedule file of a difference (default: .)",
     0, 0, 0},
    OPTION_JSON(invariant_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

/* The next word of a list with commas; false: there is none. */
static bool next_word(const char **at, char word[32])
{
    size_t length = strcspn(*at, ",");
    if (length == 0 && **at == 0) return false;
    snprintf(word, 32, "%.*s", length < 31 ? (int)length : 31, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

static int read_ns(cli *c, const char *text, uint32_t *ns, uint32_t *count)
{
    char word[32];
    for (*count = 0; next_word(&text, word);) {
        if (*count == NS_MOST) return bad_usage(c, "--n: %d values at most", NS_MOST);
        int status = read_n(c, word, &ns[(*count)++]);
        if (status != 0) return status;
    }
    return *count ? 0 : bad_usage(c, "--n: use numbers from 1 on, or inf, with commas between");
}

static int read_policies(cli *c, const char *text, uint32_t *mask)
{
    char word[32];
    *mask = 0;
    if (strcmp(text, "all") == 0) {
        *mask = 7;
        return 0;
    }
    while (next_word(&text, word)) {
        enum rad_session_policy policy;
        if (read_policy_of(word, &policy) != 0)
            return bad_usage(c, "--policies '%.30s': use cooperative, round-robin, progress or all", word);
        *mask |= UINT32_C(1) << policy;
    }
    return *mask ? 0 : bad_usage(c, "--policies: use names with commas between, or all");
}

static void on_progress(void *context, uint64_t done, uint64_t all)
{
    progress_items(context, "runs", done, all);
}

/* Lines of the next session that was opened from outside, and of those it opened: "7 A …", "7/A.0 B …". */
static size_t family_of(const char *trace)
{
    size_t root = strcspn(trace, " /"), size = 0;
    while (trace[size] != 0 && strncmp(trace + size, trace, root) == 0 &&
           (trace[size + root] == ' ' || trace[size + root] == '/'))
        size += strcspn(trace + size, "\n") + 1;
    return size;
}

static bool has_fault(const char *lines, size_t size)
{
    for (const char *at = lines; at < lines + size; at += strcspn(at, "\n") + 1) {
        const char *kind = at;
        for (int word = 0; word < 2; word++) kind += strcspn(kind, " ") + 1;
        if (strncmp(kind, "faulted ", 8) == 0) return true;
    }
    return false;
}

/* Nobody promises how far the others of a session come before one of them faults it. */
static bool same_but_for_faults(const char *a, const char *b)
{
    while (*a != 0 && *b != 0) {
        size_t size_a = family_of(a), size_b = family_of(b);
        bool equal = size_a == size_b && memcmp(a, b, size_a) == 0;
        bool both_fault = has_fault(a, size_a) && has_fault(b, size_b);
        if (!equal && !both_fault) return false;
        a += size_a;
        b += size_b;
    }
    return *a == *b;
}

/* Two runs of all sessions: on one thread, and on several. */
typedef struct thread_runs {
    char *traces[2];
    rad_session_info info[2];
    enum rad_session_end end[2];
} thread_runs;

static bool are_the_same(const thread_runs *t)
{
    if (t->end[0] == RAD_SESSION_EXHAUSTED || t->end[1] == RAD_SESSION_EXHAUSTED)
        return true; /* each part has its own fuel */
    if (t->info[0].sessions_faulted + t->info[1].sessions_faulted > 0)
        return t->end[0] == t->end[1] && same_but_for_faults(t->traces[0], t->traces[1]);
    return strcmp(t->info[0].digest, t->info[1].digest) == 0 && strcmp(t->traces[0], t->traces[1]) == 0;
}

static void count_runs(rad_invariance *r, const thread_runs *t)
{
    for (int k = 0; k < 2; k++) {
        bool faulted = t->end[k] == RAD_SESSION_COMPLETE && t->info[k].sessions_faulted > 0;
        r->runs++;
        r->complete += t->end[k] == RAD_SESSION_COMPLETE && !faulted;
        r->faulted += faulted;
        r->exhausted += t->end[k] == RAD_SESSION_EXHAUSTED;
        r->stuck += t->end[k] == RAD_SESSION_STUCK;
        for (const char *at = t->traces[k]; (at = strchr(at, '\n')) != NULL; at++) r->events++;
    }
}

static int run_both(const rad_protocols *p, const invariant_args *a, const rad_invariance_options *o, uint64_t seed,
                    thread_runs *t, rad_error *error)
{
    rad_session_options options = {.policy = RAD_SESSION_ROUND_ROBIN,
                                   .capacity = o->capacity,
                                   .full = o->full,
                                   .seed = seed,
                                   .log = true,
                                   .interrupted = o->interrupted};
    rad_session_crowd crowd = {.protocol = o->protocol, .sessions = o->sessions, .rounds = o->rounds};
    int code = 0;
    for (int k = 0; k < 2 && code == 0; k++) {
        options.n = k ? RAD_SESSION_ALL : 1;
        crowd.threads = k ? (uint32_t)a->run.threads : 1;
        code = rad_session_run_crowd(p, &options, &crowd, &t->end[k], &t->info[k], &t->traces[k], error);
    }
    if (code == 0 && *o->interrupted) {
        *error = (rad_error){.code = RAD_EINTERRUPTED, .text = "interrupted"};
        code = error->code;
    }
    return code;
}

/* On threads, what each session experiences must be what it is on one. */
static int try_threads(const rad_protocols *p, const invariant_args *a, const rad_invariance_options *o,
                       rad_invariance *r, rad_error *error)
{
    int code = 0;
    for (uint32_t i = 0; i < o->seeds && r->holds && code == 0; i++) {
        thread_runs t = {.traces = {NULL, NULL}};
        code = run_both(p, a, o, o->seed + i, &t, error);
        if (code == 0) count_runs(r, &t);
        if (code == 0 && !are_the_same(&t)) {
            r->holds = false;
            r->seed = o->seed + i;
            snprintf(r->difference, sizeof r->difference, "%u threads: the traces differ", (unsigned)a->run.threads);
        }
        rad_free(t.traces[0]);
        rad_free(t.traces[1]);
    }
    return code;
}

/* What holds, and as far as what. */
static void verdict_text(const invariant_args *a, const rad_invariance *r, char *text, size_t size)
{
    int used = snprintf(text, size, "no coroutine can tell any two of these runs apart");
    if (r->faulted > 0) {
        used += snprintf(text + used, size - (size_t)used, ", up to the faults: %s of %s had faulted sessions",
                         number(r->faulted), number(r->runs));
    }
    if (r->exhausted > 0) {
        snprintf(text + used, size - (size_t)used, ", as far as they went: %s of %s were out of fuel after %s rounds",
                 number(r->exhausted), number(r->runs), number(a->run.fuel));
    }
}

static void report_text(cli *c, const invariant_args *a, const rad_invariance *r)
{
    out(c, "%ssession invariant%s: n %s, policies %s, %s seed%s from %llu, %s session%s\n", style(c, STYLE_BOLD),
        style(c, STYLE_OFF), a->ns, a->policies, number(a->seeds), plural(a->seeds), (unsigned long long)a->run.seed,
        number(a->run.sessions), plural(a->run.sessions));
    report_label(c, "runs");
    out(c, "%s, %s events: %s complete, %s faulted, %s out of fuel, %s stuck\n", number(r->runs), number(r->events),
        number(r->complete), number(r->faulted), number(r->exhausted), number(r->stuck));
    report_label(c, "digest");
    out(c, "%s (seed %llu)\n", r->digest, (unsigned long long)a->run.seed);
    report_label(c, "answer");
    if (r->holds && r->stuck == 0) {
        char text[300];
        verdict_text(a, r, text, sizeof text);
        out(c, "%sthe same%s: %s\n", style(c, STYLE_GOOD), style(c, STYLE_OFF), text);
        return;
    }
    if (r->holds) {
        out(c, "%sstuck%s, ", style(c, STYLE_BAD), style(c, STYLE_OFF));
        if (r->stuck == r->runs)
            out(c, "in all of these runs alike");
        else
            out(c, "in %s of these runs, with the same seeds whatever the schedule", number(r->stuck));
        out(c, ": see 'raddle session check'\n");
        return;
    }
    char n[16];
    n_text(r->n, n);
    out(c, "%snot the same%s: %s\n", style(c, STYLE_BAD), style(c, STYLE_OFF), r->difference);
    if (r->n) {
        report_label(c, "runs that differ");
        out(c, "n 1, round-robin; n %s, %s; seed %llu\n", n, policy_name(r->policy), (unsigned long long)r->seed);
    }
}

static void report_json(cli *c, const invariant_args *a, const rad_invariance *r, const hunt *h)
{
    writer j;
    char n[16];
    n_text(r->n, n);
    put_begin(&j, c);
    put_text(&j, "verb", "session invariant");
    put_text(&j, "n", a->ns);
    put_text(&j, "policies", a->policies);
    put_count(&j, "seed", a->run.seed);
    put_count(&j, "seeds", a->seeds);
    put_count(&j, "sessions", a->run.sessions);
    put_bool(&j, "holds", r->holds);
    put_count(&j, "runs", r->runs);
    put_count(&j, "events", r->events);
    put_count(&j, "complete", r->complete);
    put_count(&j, "faulted", r->faulted);
    put_count(&j, "exhausted", r->exhausted);
    put_count(&j, "stuck", r->stuck);
    put_text(&j, "digest", r->digest);
    char text[300];
    verdict_text(a, r, text, sizeof text);
    put_text(&j, "verdict", r->holds && r->stuck == 0 ? text : NULL);
    put_text(&j, "difference", r->holds ? NULL : r->difference);
    put_text(&j, "differs_n", r->holds || r->n == 0 ? NULL : n);
    put_text(&j, "differs_policy", r->holds || r->n == 0 ? NULL : policy_name(r->policy));
    put_text(&j, "artifact", h->bug_count ? h->bugs[0].minimised.path : NULL);
    put_end(&j);
}

static int report(cli *c, const char *path, const invariant_args *a, const rad_invariance *r)
{
    static hunt h; /* too large for a stack */
    bool good = r->holds && r->stuck == 0;
    int status = 0;
    h = (hunt){.c = c, .dir = a->output, .json = a->json};
    if (!a->json) report_text(c, a, r);
    if (!good) {
        rad_session_options o = rad_session_defaults();
        o.n = r->n ? r->n : 1;
        o.capacity = (uint32_t)a->run.capacity;
        o.seed = r->holds ? a->run.seed : r->seed;
        status = read_full(c, a->run.full, &o.full);
        status = status ? status : session_hunt(&h, path, &a->run, &o);
    }
    if (a->json) report_json(c, a, r, &h);
    hunt_free(&h);
    return status ? status : good ? EXIT_FINE : EXIT_FOUND;
}

static int search(cli *c, const rad_protocols *p, const char *path, const invariant_args *a, rad_invariance_options *o)
{
    rad_invariance r;
    rad_error error = {.code = 0};
    int code = rad_session_invariant(p, o, &r, &error);
    if (code == 0 && r.holds && a->run.threads > 0) code = try_threads(p, a, o, &r, &error);
    progress_clear(c);
    if (code == RAD_EINTERRUPTED) {
        complain(c, "interrupted: no difference in %s run%s so far", number(r.runs), plural(r.runs));
        return EXIT_INTERRUPTED;
    }
    return code ? complain_error(c, &error) : report(c, path, a, &r);
}

static int invariant_run(cli *c, int argc, char **argv)
{
    invariant_args a = {.run = RUN_WORDS_DEFAULT, .ns = "1,2,3,7,inf", .policies = "all", .seeds = 20, .starts = 2};
    a.run.threads = 2;
    a.run.fuel = FUEL;
    uint32_t ns[NS_MOST], protocol;
    rad_invariance_options o = {.ns = ns, .context = c, .interrupted = c->stop};
    rad_protocols *p;
    words w;
    int status = options_parse(c, &VERB_SESSION_INVARIANT, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if ((status = read_ns(c, a.ns, ns, &o.n_count)) != 0 || (status = read_policies(c, a.policies, &o.policies)) != 0 ||
        (status = read_full(c, a.run.full, &o.full)) != 0 || (status = check_output(c, a.output)) != 0 ||
        (status = read_protocols(c, &w, &p)) != 0)
        return status;
    o.protocol = a.run.protocol;
    o.sessions = (uint32_t)a.run.sessions;
    o.starts = (uint32_t)a.starts;
    o.seed = a.run.seed;
    o.seeds = (uint32_t)a.seeds;
    o.capacity = (uint32_t)a.run.capacity;
    o.rounds = a.run.fuel;
    o.progress = c->progress ? on_progress : NULL;
    status = read_protocol(c, p, a.run.protocol, &protocol);
    status = status ? status : search(c, p, w.at[0], &a, &o);
    rad_protocols_free(p);
    return status;
}

static const char *const INVARIANT_EXAMPLES[] = {
    "raddle session invariant examples/session/two_buyer.session --sessions 5 --seeds 50",
    "50 seeds, every N and policy, shuffled starts, two OS threads",
    "raddle session invariant examples/session/two_buyer.session --full drop --seeds 2",
    "buffers that drop messages: one run gets stuck, others do not; saved and shrunk",
    NULL,
};

const verb VERB_SESSION_INVARIANT = {
    .name = "session invariant",
    .about = "check schedule independence: other N, policies, orders, threads",
    .usage = "FILE.session [options]",
    .text = "Check that no coroutine can tell two runs apart: run the same sessions with every N, "
            "every policy, shuffled starts and on OS threads, and compare each run with N = 1, "
            "round-robin.\n\n"
            "Compared are the events of each coroutine with their causes, its effects, final state "
            "and registers, as far as fuel goes. A difference is named, found again by the "
            "explorer, saved and shrunk. Each run counts once: complete, faulted (complete, with a "
            "faulted session), out of fuel (exhausted in JSON) or stuck.",
    .status = "0 no difference, 1 a difference, or stuck, " STATUS_ERRORS,
    .options = INVARIANT_OPTIONS,
    .examples = INVARIANT_EXAMPLES,
    .run = invariant_run,
};
