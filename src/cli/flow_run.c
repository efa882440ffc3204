/* flow_run.c — `raddle flow run` and `raddle flow resume`. */
#include "flow.h"

#include "command/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SETTINGS_MOST = 256 };

typedef struct run_words {
    const char *flow, *dir, *policy, *output;
    text_list doubts;
    uint64_t seed, jobs;
    bool json, quiet, no_sync;
} run_words;

#define AT(field) offsetof(run_words, field)
#define OPTION_JOBS                                                                                                    \
    {                                                                                                                  \
        "jobs", OPTION_COUNT, AT(jobs), "N", "run at most N commands at a time (default: as many as processors)", 1,   \
            4096, 'j'                                                                                                  \
    }
#define OPTION_NO_SYNC                                                                                                 \
    {                                                                                                                  \
        "no-sync", OPTION_FLAG, AT(no_sync), NULL, "do not sync files: faster; survives a kill, not a power failure",  \
            0, 0, 0                                                                                                    \
    }
#define OPTION_QUIET                                                                                                   \
    {                                                                                                                  \
        "quiet", OPTION_FLAG, AT(quiet), NULL, "print only how it ended", 0, 0, 'q'                                    \
    }

static const option RUN_OPTIONS[] = {
    {"dir", OPTION_TEXT, AT(dir), "DIR", "directory of the execution, which must not hold one (default: NAME.case)", 0,
     0, 0},
    OPTION_FLOW(run_words),
    OPTION_JOBS,
    {"policy", OPTION_TEXT, AT(policy), "P",
     "policy that picks the next step when several are possible (default: first; see 'raddle "
     "list') or ./FILE.so",
     0, 0, 0},
    OPTION_SEED(run_words),
    OPTION_NO_SYNC,
    OPTION_QUIET,
    OPTION_JSON(run_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static const option RESUME_OPTIONS[] = {
    OPTION_FLOW(run_words),
    OPTION_JOBS,
    {"doubt", OPTION_TEXTS, AT(doubts), "KEY=WHAT",
     "settle a task in doubt: KEY=done, KEY=failed or KEY=again; once for each", 0, 0, 0},
    {"with-output", OPTION_TEXT, AT(output), "TEXT", "with KEY=done: what the command printed", 0, 0, 0},
    OPTION_BEGUN_WITH(run_words),
    OPTION_NO_SYNC,
    OPTION_QUIET,
    OPTION_JSON(run_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* ---- Telling ------------------------------------------------------------------------------------------------ */

typedef struct teller {
    cli *c;
    const char *policy; /* as it was typed */
    bool quiet, json;
    char head[4600]; /* told before the first event; a run that is refused has none */
} teller;

static void tell_head(teller *t)
{
    if (t->head[0] != 0 && !t->json && !t->quiet) note("%s\n", t->head);
    t->head[0] = 0;
}

static const char *took_text(uint64_t ns, char text[24])
{
    double seconds = (double)ns * 1e-9;
    snprintf(text, 24, seconds < 1 ? "%.0f ms" : "%.1f s", seconds < 1 ? seconds * 1e3 : seconds);
    return text;
}

/* A line for what happened; "" when it is not worth one. */
static void news_line(const rad_flow_progress *p, char *line, size_t size)
{
    char took[24], again[24] = "", task[160];
    bool is_one = p->instance[0] != 0; /* of many */
    snprintf(task, sizeof task, "%s%s%s%s", p->task, is_one ? " [" : "", p->instance, is_one ? "]" : "");
    if (p->attempt > 1) snprintf(again, sizeof again, " (attempt %u)", p->attempt);
    line[0] = 0;
    switch (p->news) {
    case RAD_FLOW_TASK_STARTED: snprintf(line, size, "> %s%s", task, again); break;
    case RAD_FLOW_TASK_TAKEN_OVER: snprintf(line, size, "> %s still runs", task); break;
    case RAD_FLOW_TASK_DONE: snprintf(line, size, "+ %s%s, %s", task, again, took_text(p->took_ns, took)); break;
    case RAD_FLOW_TASK_FAILED: snprintf(line, size, "! %s%s failed: %s", task, again, p->text); break;
    case RAD_FLOW_TASK_STOPPED: snprintf(line, size, "x %s cancelled", task); break;
    case RAD_FLOW_TASK_IN_DOUBT: snprintf(line, size, "? %s is in doubt", task); break;
    case RAD_FLOW_TASK_AGAIN: snprintf(line, size, "> %s again", task); break;
    case RAD_FLOW_SIGNAL_TAKEN: snprintf(line, size, "* signal %s", p->text); break;
    case RAD_FLOW_CANCEL_TAKEN: snprintf(line, size, "x cancel %s", p->text); break;
    case RAD_FLOW_TIMER_FIRED: break;
    case RAD_FLOW_JOURNAL_CUT: snprintf(line, size, "the journal: %s", p->text); break;
    }
}

static void watch(void *context, const rad_flow_progress *p)
{
    teller *t = context;
    char line[800];
    if (t->c->progress) note("\r\033[K");
    tell_head(t);
    news_line(p, line, sizeof line);
    if (line[0] != 0 && !t->quiet) note("%s\n", line);
    if (t->c->progress) { /* a line that does not fit would be written over in part only */
        snprintf(line, sizeof line, "%u running, %u queued, %u timers, %" PRIu64 " done, %" PRIu64 " failed",
                 p->running, p->queued, p->timers, p->done, p->failed);
        note("%.*s", t->c->width > 1 ? (int)t->c->width - 1 : 79, line);
    }
}

static void tell_json(cli *c, const char *folder, const rad_flow_result *r)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "case", r->case_id);
    put_text(&j, "folder", folder);
    put_text(&j, "end", flow_end_name(r->end));
    put_text(&j, "text", r->text);
    put_count(&j, "steps", r->steps);
    put_text(&j, "digest", r->digest);
    put_end(&j);
}

/* What somebody will want to do then. */
static void tell_next(const teller *t, const char *folder, const rad_flow_result *r)
{
    cli *c = t->c;
    if (r->end == RAD_FLOW_END_IN_DOUBT && r->doubt[0] != 0)
        out(c, "next: raddle flow resume %s%s --doubt '%s=done'\n", shell_word(folder), policy_words(t->policy),
            r->doubt);
    else if (r->end == RAD_FLOW_END_INTERRUPTED || r->end == RAD_FLOW_END_IN_DOUBT)
        out(c, "next: raddle flow resume %s%s\n", shell_word(folder), policy_words(t->policy));
    else if (r->task[0] != 0)
        out(c, "next: raddle flow logs %s %s\n", shell_word(folder), r->task);
    else
        out(c, "next: raddle flow draw %s%s --output run.svg\n", shell_word(folder), policy_words(t->policy));
}

static void tell_text(const teller *t, const char *folder, const rad_flow_result *r)
{
    cli *c = t->c;
    char text[sizeof r->text];
    enum style s = r->end == RAD_FLOW_END_DONE          ? STYLE_GOOD
                   : r->end == RAD_FLOW_END_INTERRUPTED ? STYLE_MARK
                                                        : STYLE_BAD;
    const char *name = flow_end_name(r->end), *rest = text;
    memcpy(text, r->text, sizeof text);
    if (strncmp(text, name, strlen(name)) == 0) rest = text + strlen(name); /* said once */
    if (rest > text && rest[0] == ':') rest += 1 + (rest[1] == ' ');
    out(c, "%s%s%s%s%s\n", style(c, s), name, style(c, STYLE_OFF), rest[0] ? ": " : "", rest);
    out(c, "execution %s, %s step%s, digest %s\n", r->case_id, number(r->steps), plural(r->steps), r->digest);
    tell_next(t, folder, r);
}

static int ended(teller *t, const char *folder, int code, const rad_error *error, const rad_flow_result *r)
{
    cli *c = t->c;
    progress_clear(c);
    if (code == RAD_EIO && r->case_id[0] != 0) { /* nothing is lost: what was written is whole */
        int status = complain_error(c, error);
        note("after mending that: raddle flow resume %s%s\n", shell_word(folder), policy_words(t->policy));
        return status;
    }
    if (code != 0) return complain_error(c, error);
    tell_head(t);
    if (t->json)
        tell_json(c, folder, r);
    else
        tell_text(t, folder, r);
    if (r->end == RAD_FLOW_END_INTERRUPTED) return EXIT_INTERRUPTED;
    return r->end == RAD_FLOW_END_DONE ? EXIT_FINE : EXIT_FOUND;
}

static rad_flow_options options_of(cli *c, const run_words *w, teller *t)
{
    rad_flow_options o = rad_flow_defaults();
    *t = (teller){.c = c, .policy = w->policy, .quiet = w->quiet, .json = w->json};
    o.jobs = (uint32_t)w->jobs;
    o.unsynced = w->no_sync;
    o.stop = c->stop;
    o.watch = watch;
    o.context = t;
    return o;
}

/* ---- run ------------------------------------------------------------------------------------------------------ */

/* name=value */
static int read_settings(cli *c, const words *w, rad_flow_setting *settings, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 1; i < w->count; i++) {
        char *equals = strchr(w->at[i], '=');
        if (equals == NULL || equals == w->at[i]) return bad_usage(c, "'%.80s': use NAME=VALUE", w->at[i]);
        if (*count == SETTINGS_MOST) return bad_usage(c, "more than %d NAME=VALUE", SETTINGS_MOST);
        *equals = 0;
        for (uint32_t k = 0; k < *count; k++)
            if (strcmp(settings[k].name, w->at[i]) == 0) return bad_usage(c, "'%.80s': given twice", w->at[i]);
        settings[(*count)++] = (rad_flow_setting){w->at[i], equals + 1};
    }
    return 0;
}

static int flow_run_run(cli *c, int argc, char **argv)
{
    run_words r = {.policy = "first", .seed = 1};
    static rad_flow_setting settings[SETTINGS_MOST];
    words w;
    int status = options_parse(c, &VERB_FLOW_RUN, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    if (w.count == 0) return bad_usage(c, "missing FILE.flow; usage: raddle flow run FILE.flow");
    rad_error error = {.code = 0};
    rad_flow *f;
    teller t;
    rad_flow_options o = options_of(c, &r, &t);
    if ((status = read_policy_word(c, &r.policy)) != 0) return status;
    if ((status = read_settings(c, &w, settings, &o.setting_count)) != 0) return status;
    if (rad_flow_read(&f, w.at[0], r.flow, &error) != 0) return complain_error(c, &error);
    char usual[200];
    snprintf(usual, sizeof usual, "%.100s.case", rad_flow_name(f));
    const char *folder = r.dir != NULL ? r.dir : usual;
    rad_flow_result result = {.steps = 0};
    o.policy = r.policy;
    o.seed = r.seed;
    o.settings = settings;
    snprintf(t.head, sizeof t.head, "execution in %s, policy %s, seed %" PRIu64, folder, r.policy, r.seed);
    int code = rad_flow_run(f, folder, &o, &result, &error);
    status = ended(&t, folder, code, &error, &result);
    rad_flow_free(f);
    return status;
}

static const char *const RUN_EXAMPLES[] = {
    "raddle flow run examples/flow/build.flow --dir build.2",
    "an execution in a directory of its own",
    "raddle flow run examples/flow/order.flow reason=unknown --policy random --seed 7",
    "other data, and another order of what can run in either",
    NULL,
};

const verb VERB_FLOW_RUN = {
    .name = "flow run",
    .about = "start an execution",
    .usage = "FILE.flow [NAME=VALUE ...] [options]",
    .text = "Run a flow. NAME=VALUE replaces an initial value of its data.\n\n"
            "The directory gets a journal (every input, and every command before it starts), the "
            "text of the flow, and the output of the commands. Commands run in the current "
            "directory, or in the one the task names. Their environment has the data the task "
            "reads, and RADDLE_EFFECT_ID, the idempotency key: a rerun of the same task attempt "
            "gets the same one.\n\n"
            "Ctrl-C ends the runner, not the commands: raddle flow resume takes their results.",
    .status = "0 done, 1 failed, cancelled, deadlock or in doubt, " STATUS_ERRORS ", 130 interrupted",
    .options = RUN_OPTIONS,
    .examples = RUN_EXAMPLES,
    .run = flow_run_run,
};

/* ---- resume --------------------------------------------------------------------------------------------------- */

static int read_doubt(cli *c, char *doubt, const char *output, rad_flow_settle *s)
{
    static const char *const NAMES[] = {"done", "failed", "again"};
    char *equals = strrchr(doubt, '=');
    if (equals == NULL || equals == doubt) return bad_usage(c, "--doubt: use KEY=done, KEY=failed or KEY=again");
    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(equals + 1, NAMES[i]) != 0) continue;
        *equals = 0;
        *s = (rad_flow_settle){doubt, (enum rad_flow_answer)(RAD_FLOW_ANSWER_DONE + i), output};
        return 0;
    }
    return bad_usage(c, "--doubt '%.40s': use KEY=done, KEY=failed or KEY=again", equals + 1);
}

/* All of them are answered at once, or none. */
static int read_doubts(cli *c, const run_words *r, rad_flow_settle *settles)
{
    if (r->output != NULL && r->doubts.count != 1)
        return bad_usage(c, "--with-output needs exactly one --doubt; there %s",
                         r->doubts.count == 0 ? "is none" : "are several");
    for (uint32_t i = 0; i < r->doubts.count; i++) {
        char *word = (char *)(uintptr_t)r->doubts.items[i]; /* tidy: address ok: of argv */
        int status = read_doubt(c, word, r->output, &settles[i]);
        if (status != 0) return status;
    }
    return 0;
}

/* The difference, which is what people need to see. */
static void show_changes(const rad_flow *f, const char *path, const char *folder)
{
    char *text = NULL;
    rad_error ignored = {.code = 0};
    if (rad_flow_changes(f, folder, &text, &ignored) == 0 && text[0] != 0) {
        note_text("", text, "");
        note("next: raddle flow replay %s --on ", shell_word(folder));
        note("%s (would it have done the same so far?)\n", shell_word(path));
    }
    rad_free(text);
}

static int flow_resume_run(cli *c, int argc, char **argv)
{
    run_words r = {.seed = 1};
    words w;
    int status = options_parse(c, &VERB_FLOW_RESUME, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    if (w.count == 0 || w.count > 2) return bad_usage(c, "usage: raddle flow resume DIR [FILE.flow]");
    rad_error error = {.code = 0};
    rad_flow *f = NULL;
    rad_flow_settle settles[OPTION_TEXTS_MOST];
    teller t;
    rad_flow_options o = options_of(c, &r, &t);
    if ((status = read_doubts(c, &r, settles)) != 0 || (status = load_begun_with(c, r.policy)) != 0) return status;
    o.settles = settles;
    o.settle_count = r.doubts.count;
    if (w.count == 2 && rad_flow_read(&f, w.at[1], r.flow, &error) != 0) return complain_error(c, &error);
    rad_flow_result result = {.steps = 0};
    int code = rad_flow_resume(f, w.at[0], &o, &result, &error);
    if (code == RAD_EINPUT && f != NULL) show_changes(f, w.at[1], w.at[0]);
    status = ended(&t, w.at[0], code, &error, &result);
    rad_flow_free(f);
    return status;
}

static const char *const RESUME_EXAMPLES[] = {
    "raddle flow resume build.1",
    "continue where it was",
    "raddle flow resume doubt.1 --doubt '0#1=done'",
    "the command had done its work when the host went down",
    NULL,
};

const verb VERB_FLOW_RESUME = {
    .name = "flow resume",
    .about = "continue an execution that was left or killed",
    .usage = "DIR [FILE.flow] [options]",
    .text = "Repeat every step from the journal without running anything, then continue: wait for "
            "commands that still run, take the results of finished ones, start those that never "
            "started.\n\n"
            "A command whose own process was killed, or whose host went down, is in doubt: the "
            "task's on_doubt decides, or --doubt.\n\n"
            "With FILE.flow, the execution must have been started with that text; otherwise the "
            "difference is printed and nothing runs.",
    .status = "0 done, 1 failed, cancelled, deadlock or in doubt, " STATUS_ERRORS ", 130 interrupted",
    .options = RESUME_OPTIONS,
    .examples = RESUME_EXAMPLES,
    .run = flow_resume_run,
};
