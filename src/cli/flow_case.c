/* flow_case.c — `raddle flow status`, `logs`, `signal`, `cancel`: a case seen from outside. */
#include "flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct case_words {
    const char *policy;
    bool json, raw;
} case_words;

static const option STATUS_OPTIONS[] = {
    OPTION_BEGUN_WITH(case_words), OPTION_JSON(case_words), {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* ---- status ---------------------------------------------------------------------------------------------------- */

static const char *task_state_name(enum rad_flow_task_state state)
{
    static const char *const NAMES[] = {"queued", "running", "ended, not seen yet", "in doubt"};
    return NAMES[state];
}

static const char *state_of(const rad_flow_status *s)
{
    if (s->has_ended) return flow_end_name(s->end);
    for (uint32_t i = 0; i < s->task_count; i++)
        if (s->tasks[i].state == RAD_FLOW_TASK_IS_IN_DOUBT) return "in doubt";
    return s->runner != 0 ? "running" : "left";
}

static void status_json(cli *c, const rad_flow_status *s)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "flow", s->flow);
    put_text(&j, "case", s->case_id);
    put_text(&j, "state", state_of(s));
    put_text(&j, "text", s->text);
    put_text(&j, "policy", s->policy);
    put_count(&j, "seed", s->seed);
    put_count(&j, "steps", s->steps);
    put_count(&j, "records", s->records);
    put_integer(&j, "runner", s->runner);
    put_count(&j, "began_ns", s->began_ns);
    put_count(&j, "last_ns", s->last_ns);
    put_count(&j, "signals", s->signals);
    put_count(&j, "timers", s->timers);
    put_bool(&j, "torn", s->torn);
    put_array(&j, "tasks");
    for (uint32_t i = 0; i < s->task_count; i++) {
        put_object(&j, NULL);
        put_text(&j, "task", s->tasks[i].task);
        put_text(&j, "key", s->tasks[i].key);
        put_text(&j, "instance", s->tasks[i].instance);
        put_count(&j, "attempt", s->tasks[i].attempt);
        put_text(&j, "state", task_state_name(s->tasks[i].state));
        put_count(&j, "since_ns", s->tasks[i].since_ns);
        put_close(&j, '}');
    }
    put_close(&j, ']');
    put_object(&j, "data");
    for (uint32_t i = 0; i < s->data_count; i++) put_text(&j, s->data[i].name, s->data[i].text);
    put_close(&j, '}');
    put_end(&j);
}

/* Values may be long, and have more than one line. */
static void out_value(cli *c, const char *name, const char *text)
{
    enum { MOST = 92 };
    size_t length = strcspn(text, "\n");
    bool cut = length > MOST || text[length] != 0;
    out(c, "  %s = %.*s%s\n", name, length < MOST ? (int)length : MOST, text, cut ? " …" : "");
}

static void status_text(cli *c, const char *folder, const char *policy, const rad_flow_status *s)
{
    out(c, "%s%s%s  flow %s, execution %s\n", style(c, STYLE_BOLD), state_of(s), style(c, STYLE_OFF), s->flow,
        s->case_id);
    out(c, "started %s, last record %s (UTC); %s step%s, %s record%s\n", time_text(s->began_ns), time_text(s->last_ns),
        number(s->steps), plural(s->steps), number(s->records), plural(s->records));
    if (s->runner > 0) out(c, "run by process %d\n", s->runner);
    if (s->runner < 0) out_text(c, "run by a process whose number is not known\n");
    if (s->text != NULL && s->text[0] != 0) out(c, "%s\n", s->text);
    for (uint32_t i = 0; i < s->task_count; i++) {
        const rad_flow_task_status *t = &s->tasks[i];
        char name[160];
        bool is_one = t->instance[0] != 0; /* of many */
        snprintf(name, sizeof name, "%s%s%s%s", t->task, is_one ? " [" : "", t->instance, is_one ? "]" : "");
        out(c, "  %-20s %s, attempt %u, since %s  (%s)\n", name, task_state_name(t->state), t->attempt,
            time_text(t->since_ns), t->key);
    }
    if (s->timers > 0)
        out(c, "%u timer%s, the next at %s\n", s->timers, plural(s->timers), time_text(s->next_timer_ns));
    if (s->signals > 0)
        out(c, "%u signal%s or cancel%s not taken yet\n", s->signals, plural(s->signals), plural(s->signals));
    if (s->data_count > 0) out(c, "data\n");
    for (uint32_t i = 0; i < s->data_count; i++) out_value(c, s->data[i].name, s->data[i].text);
    if (!s->has_ended && s->runner == 0)
        out(c, "next: raddle flow resume %s%s\n", shell_word(folder), policy_words(policy));
}

static int flow_status_run(cli *c, int argc, char **argv)
{
    case_words r = {.json = false};
    words w;
    const char *folder;
    int status = options_parse(c, &VERB_FLOW_STATUS, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_FLOW_STATUS);
    if ((status = read_folder_word(c, &w, &folder)) != 0 || (status = load_begun_with(c, r.policy)) != 0) return status;
    rad_flow_status s;
    rad_error error = {.code = 0};
    int code = rad_flow_look(&s, folder, &error);
    if (code != 0)
        status = complain_error(c, &error);
    else if (r.json)
        status_json(c, &s);
    else
        status_text(c, folder, r.policy, &s);
    rad_flow_status_free(&s);
    return status;
}

static const char *const STATUS_EXAMPLES[] = {
    "raddle flow status build.1",
    "where it is",
    NULL,
};

const verb VERB_FLOW_STATUS = {
    .name = "flow status",
    .about = "print what an execution did, runs and waits for",
    .usage = "DIR [options]",
    .text = "Print what an execution has done, what runs, what it waits for, and its data; also "
            "while a runner works on it.",
    .status = "0 done, 2 bad arguments, not an execution, or a damaged journal, 3 I/O, memory or "
              "limit, 4 bug in Raddle",
    .options = STATUS_OPTIONS,
    .examples = STATUS_EXAMPLES,
    .run = flow_status_run,
};

/* ---- logs ------------------------------------------------------------------------------------------------------ */

static int flow_logs_run(cli *c, int argc, char **argv)
{
    case_words r = {.json = false};
    words w;
    int status = options_parse(c, &VERB_FLOW_LOGS, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_FLOW_LOGS);
    if (w.count == 0 || w.count > 2) return bad_usage(c, "usage: raddle flow logs DIR [TASK | KEY]");
    char *text = NULL;
    rad_error error = {.code = 0};
    if (rad_flow_logs(w.at[0], w.count == 2 ? w.at[1] : NULL, &text, &error) != 0) return complain_error(c, &error);
    if (r.raw || !c->terminal)
        out_raw(c, text, strlen(text));
    else
        out_text(c, text);
    rad_free(text);
    return EXIT_FINE;
}

static const option LOGS_OPTIONS[] = {
    {"raw", OPTION_FLAG, offsetof(case_words, raw), NULL, "print bytes unchanged, also on a terminal", 0, 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};
static const option NO_OPTIONS[] = {{NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static const char *const LOGS_EXAMPLES[] = {
    "raddle flow logs build.1", "everything", "raddle flow logs build.1 compile", "the task compile", NULL,
};

const verb VERB_FLOW_LOGS = {
    .name = "flow logs",
    .about = "print the output of its commands",
    .usage = "DIR [TASK | KEY] [options]",
    .text = "Print what the commands wrote to stdout and stderr, oldest first: of all tasks, of "
            "one, or of one task attempt (KEY, as raddle flow status prints it).\n\n"
            "On a terminal control characters are shown as \\x1b. In a pipe or file the bytes are "
            "unchanged, except that zero bytes become \"?\".",
    .status = "0 done, " STATUS_ERRORS,
    .options = LOGS_OPTIONS,
    .examples = LOGS_EXAMPLES,
    .run = flow_logs_run,
};

/* ---- signal and cancel ------------------------------------------------------------------------------------------ */

static int flow_signal_run(cli *c, int argc, char **argv)
{
    case_words r = {.json = false};
    words w;
    int status = options_parse(c, &VERB_FLOW_SIGNAL, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    if (w.count < 2 || w.count > 3) return bad_usage(c, "usage: raddle flow signal DIR NAME [TEXT]");
    rad_error error = {.code = 0};
    if (rad_flow_send(w.at[0], w.at[1], w.count == 3 ? w.at[2] : NULL, &error) != 0) return complain_error(c, &error);
    out(c, "signal %s sent\n", w.at[1]);
    return EXIT_FINE;
}

static const char *const SIGNAL_EXAMPLES[] = {
    "raddle flow signal approval.case approve",
    "what it waits for",
    "raddle flow signal approval.case approve 'by Ann'",
    "with a text, for 'into'",
    NULL,
};

const verb VERB_FLOW_SIGNAL = {
    .name = "flow signal",
    .about = "send an execution a signal, now or later",
    .usage = "DIR NAME [TEXT]",
    .text = "Send an execution a signal. The directory keeps it until a runner takes it and the "
            "execution waits for it, so it can be sent early and while nothing runs. Each is taken "
            "once.",
    .status = "0 done, " STATUS_ERRORS,
    .options = NO_OPTIONS,
    .examples = SIGNAL_EXAMPLES,
    .run = flow_signal_run,
};

static int flow_cancel_run(cli *c, int argc, char **argv)
{
    static const char *const PARTS[] = {
        [RAD_FLOW_PART_TASK] = "task", [RAD_FLOW_PART_REGION] = "region", [RAD_FLOW_PART_CASE] = "case"};
    case_words r = {.json = false};
    words w;
    int status = options_parse(c, &VERB_FLOW_CANCEL, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    uint32_t part = RAD_FLOW_PART_CASE;
    if (w.count == 3)
        for (part = 0; part < RAD_FLOW_PART_CASE && strcmp(w.at[1], PARTS[part]) != 0;) part++;
    bool names_one = part != RAD_FLOW_PART_CASE;
    if ((w.count != 1 && w.count != 3) || names_one != (w.count == 3))
        return bad_usage(c, "usage: raddle flow cancel DIR [region NAME | task NAME]");
    rad_error error = {.code = 0};
    if (rad_flow_cancel(w.at[0], (enum rad_flow_part)part, w.count == 3 ? w.at[2] : NULL, &error) != 0)
        return complain_error(c, &error);
    out(c, "cancel sent: %s%s%s\n", PARTS[part], names_one ? " " : "", names_one ? w.at[2] : "");
    return EXIT_FINE;
}

static const char *const CANCEL_EXAMPLES[] = {
    "raddle flow cancel order.case",
    "all of it",
    "raddle flow cancel order.case region purchase",
    "what is inside that region; its handler runs",
    NULL,
};

const verb VERB_FLOW_CANCEL = {
    .name = "flow cancel",
    .about = "cancel an execution, a region or a task",
    .usage = "DIR [region NAME | task NAME]",
    .text = "Cancel an execution, what is inside a region, or a task. Like a signal, the request "
            "is kept until a runner takes it. Running commands and all processes that came from "
            "them get SIGTERM, then SIGKILL after 3 seconds.",
    .status = "0 done, " STATUS_ERRORS,
    .options = NO_OPTIONS,
    .examples = CANCEL_EXAMPLES,
    .run = flow_cancel_run,
};
