/* flow_file.c — `raddle flow check`, `draw` and `replay`. */
#include "flow.h"

#include <stdio.h>
#include <string.h>

typedef struct file_words {
    const char *flow, *output, *on, *policy;
    bool json, steps;
} file_words;

#define AT(field) offsetof(file_words, field)

/* ---- check ------------------------------------------------------------------------------------------------------ */

static const option CHECK_OPTIONS[] = {
    OPTION_FLOW(file_words), OPTION_JSON(file_words), {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static void put_names(writer *j, const char *key, const rad_flow *f, const char *(*name)(const rad_flow *, uint32_t))
{
    const char *text;
    put_array(j, key);
    for (uint32_t i = 0; (text = name(f, i)) != NULL; i++) put_text(j, NULL, text);
    put_close(j, ']');
}

static void check_json(cli *c, const rad_flow *f, const rad_flow_facts *facts)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "flow", rad_flow_name(f));
    put_text(&j, "about", facts->about);
    put_text(&j, "sha256", facts->sha256);
    put_count(&j, "statements", facts->statements);
    put_count(&j, "operations", facts->operations);
    put_names(&j, "tasks", f, rad_flow_task_name);
    put_names(&j, "data", f, rad_flow_data_name);
    put_names(&j, "signals", f, rad_flow_signal_name);
    put_end(&j);
}

static void out_names(cli *c, const char *what, uint32_t count, const rad_flow *f,
                      const char *(*name)(const rad_flow *, uint32_t))
{
    enum { MOST = 12 };
    if (count == 0) return;
    out(c, "  %u %s%s", count, what, plural(count));
    for (uint32_t i = 0; i < count && i < MOST; i++) out(c, "%s%s", i == 0 ? ": " : ", ", name(f, i));
    out(c, "%s\n", count > MOST ? ", …" : "");
}

static int flow_check_run(cli *c, int argc, char **argv)
{
    file_words r = {.flow = NULL};
    words w;
    const char *path;
    int status = options_parse(c, &VERB_FLOW_CHECK, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_FLOW_CHECK);
    if ((status = read_file_word(c, w.at, w.count, &path)) != 0) return status;
    rad_error error = {.code = 0};
    rad_flow *f;
    rad_flow_facts facts;
    if (rad_flow_read(&f, path, r.flow, &error) != 0) return complain_error(c, &error);
    rad_flow_look_at(f, &facts);
    if (r.json) {
        check_json(c, f, &facts);
    } else {
        out(c, "flow %s%s%s: well-formed, %s statement%s, %s operation%s\n", rad_flow_name(f),
            facts.about[0] ? ", " : "", facts.about, number(facts.statements), plural(facts.statements),
            number(facts.operations), plural(facts.operations));
        out_names(c, "task", facts.tasks, f, rad_flow_task_name);
        out_names(c, "variable", facts.data, f, rad_flow_data_name);
        out_names(c, "signal", facts.signals, f, rad_flow_signal_name);
        out(c, "next: raddle flow validate %s\n", shell_word(path));
    }
    rad_flow_free(f);
    return EXIT_FINE;
}

static const char *const CHECK_EXAMPLES[] = {
    "raddle flow check examples/flow/order.flow",
    "what is in it",
    NULL,
};

const verb VERB_FLOW_CHECK = {
    .name = "flow check",
    .about = "check a flow file; list what is in it",
    .usage = "FILE.flow [options]",
    .text = "Read a flow file and list what is in it. Mistakes are reported with line and column.",
    .status = "0 well-formed, 2 not, 3 I/O, memory or limit, 4 bug in Raddle",
    .options = CHECK_OPTIONS,
    .examples = CHECK_EXAMPLES,
    .run = flow_check_run,
};

/* ---- draw ------------------------------------------------------------------------------------------------------- */

static const option DRAW_OPTIONS[] = {
    OPTION_FLOW(file_words),
    {"output", OPTION_TEXT, AT(output), "FILE.svg", "file to write (default: stdout)", 0, 0, 'o'},
    OPTION_BEGUN_WITH(file_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static int flow_draw_run(cli *c, int argc, char **argv)
{
    file_words r = {.flow = NULL};
    words w;
    int status = options_parse(c, &VERB_FLOW_DRAW, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_FLOW_DRAW);
    if (w.count != 1) return bad_usage(c, "missing FILE.flow or DIR");
    if ((status = load_begun_with(c, r.policy)) != 0) return status;
    rad_error error = {.code = 0};
    rad_flow *f = NULL;
    char *svg = NULL;
    int code;
    if (ends_with(w.at[0], ".flow")) {
        code = rad_flow_read(&f, w.at[0], r.flow, &error);
        if (code == 0) code = rad_flow_draw(f, &svg, &error);
    } else {
        code = rad_flow_draw_case(w.at[0], &svg, &error);
    }
    if (code == 0 && r.output != NULL) code = rad_flow_keep(r.output, svg, &error);
    if (code == 0 && r.output == NULL) out_text(c, svg);
    if (code == 0 && r.output != NULL) out(c, "%s\n", r.output);
    rad_free(svg);
    rad_flow_free(f);
    return code == 0 ? EXIT_FINE : complain_error(c, &error);
}

static const char *const DRAW_EXAMPLES[] = {
    "raddle flow draw examples/flow/order.flow -o order.svg",
    "the graph",
    "raddle flow draw order.case -o run.svg",
    "which branch was taken when",
    NULL,
};

const verb VERB_FLOW_DRAW = {
    .name = "flow draw",
    .about = "draw a flow or an execution (SVG)",
    .usage = "FILE.flow [options]\nDIR [options]",
    .text = "Draw the graph of a flow as SVG. Of an execution (DIR) it also shows what happened: "
            "numbers give the order, frames what was done, waits, failed or was cancelled.",
    .status = "0 done, " STATUS_ERRORS,
    .options = DRAW_OPTIONS,
    .examples = DRAW_EXAMPLES,
    .run = flow_draw_run,
};

/* ---- replay ----------------------------------------------------------------------------------------------------- */

static const option REPLAY_OPTIONS[] = {
    {"on", OPTION_TEXT, AT(on), "FILE.flow", "compare with this flow, which may have been edited", 0, 0, 0},
    OPTION_FLOW(file_words),
    {"steps", OPTION_FLAG, AT(steps), NULL, "print every step", 0, 0, 0},
    OPTION_BEGUN_WITH(file_words),
    OPTION_JSON(file_words),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static void replay_json(cli *c, const rad_flow_replayed *r)
{
    writer j;
    put_begin(&j, c);
    put_bool(&j, "as_recorded", r->as_recorded);
    put_text(&j, "reason", r->reason);
    put_text(&j, "state", r->state);
    put_count(&j, "steps", r->steps);
    put_count(&j, "inputs", r->inputs);
    put_text(&j, "digest", r->digest);
    put_end(&j);
}

/* ---- replay --on ------------------------------------------------------------------------------------------------ */

static void put_names_of(writer *j, const char *key, const char *const *lines, uint32_t count)
{
    put_array(j, key);
    for (uint32_t i = 0; i < count; i++) put_text(j, NULL, lines[i]);
    put_close(j, ']');
}

static void replay_on_json(cli *c, const char *path, const rad_flow_replayed_on *r)
{
    writer j;
    put_begin(&j, c);
    put_text(&j, "on", path);
    put_bool(&j, "fits", r->fits);
    put_text(&j, "state", r->state);
    put_count(&j, "steps", r->steps);
    put_count(&j, "inputs", r->inputs);
    if (!r->fits) {
        put_count(&j, "record", r->record);
        put_text(&j, "step", r->step);
        put_text(&j, "reason", r->reason);
        put_names_of(&j, "recorded", r->recorded, r->recorded_count);
        put_names_of(&j, "offered", r->offered, r->offered_count);
    }
    put_end(&j);
}

static void out_line(cli *c, const char *before, const char *text)
{
    out(c, "%s%s\n", before, text);
}

static void out_lines(cli *c, const char *const *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) out_line(c, "    ", lines[i]);
}

static void replay_on_text(cli *c, const char *path, const rad_flow_replayed_on *r)
{
    if (r->fits) {
        out(c, "fits: %s after %s step%s and %s input%s, as recorded\n", r->state, number(r->steps), plural(r->steps),
            number(r->inputs), plural(r->inputs));
        return;
    }
    out(c, "differs after %s step%s and %s input%s", number(r->steps), plural(r->steps), number(r->inputs),
        plural(r->inputs));
    if (r->record > 0) out(c, ", at or before record %s", number(r->record));
    out_text(c, "\n");
    out_line(c, "  recorded step: ", r->step);
    if (r->reason[0] != 0) out_line(c, "  difference: ", r->reason);
    if (r->recorded_count > 0) out_text(c, "  could run when it was recorded:\n");
    out_lines(c, r->recorded, r->recorded_count);
    if (r->offered_count > 0) out(c, "  can run in %s:\n", path);
    out_lines(c, r->offered, r->offered_count);
}

static int replay_on(cli *c, const char *folder, const file_words *r)
{
    rad_error error = {.code = 0};
    rad_flow_replayed_on done;
    int status = EXIT_FINE;
    if (r->steps) return bad_usage(c, "--steps and --on: give one");
    if (rad_flow_replay_on(folder, r->on, r->flow, &done, &error) != 0)
        status = complain_error(c, &error);
    else if (r->json)
        replay_on_json(c, r->on, &done);
    else
        replay_on_text(c, r->on, &done);
    if (status == EXIT_FINE && !done.fits) status = EXIT_FOUND;
    rad_flow_replayed_on_free(&done);
    return status;
}

static int flow_replay_run(cli *c, int argc, char **argv)
{
    file_words r = {.flow = NULL};
    words w;
    const char *folder;
    int status = options_parse(c, &VERB_FLOW_REPLAY, argc, argv, &r, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_FLOW_REPLAY);
    if ((status = read_folder_word(c, &w, &folder)) != 0 || (status = load_begun_with(c, r.policy)) != 0) return status;
    if (r.on != NULL) return replay_on(c, folder, &r);
    if (r.flow != NULL) return bad_usage(c, "--flow needs --on");
    rad_error error = {.code = 0};
    rad_flow_replayed done;
    char *steps = NULL;
    if (rad_flow_replay(folder, &done, r.steps ? &steps : NULL, &error) != 0) return complain_error(c, &error);
    if (steps != NULL) out_text(c, steps);
    rad_free(steps);
    if (r.json)
        replay_json(c, &done);
    else if (done.as_recorded)
        out(c, "as recorded: %s after %s step%s and %s input%s, digest %s\n", done.state, number(done.steps),
            plural(done.steps), number(done.inputs), plural(done.inputs), done.digest);
    else
        out(c, "differs: %s\n", done.reason);
    return done.as_recorded ? EXIT_FINE : EXIT_FOUND;
}

static const char *const REPLAY_EXAMPLES[] = {
    "raddle flow replay order.case",
    "as recorded?",
    "raddle flow replay order.case --on order.flow",
    "would the edited flow have done the same so far?",
    NULL,
};

const verb VERB_FLOW_REPLAY = {
    .name = "flow replay",
    .about = "repeat an execution from its journal, running nothing; compare",
    .usage = "DIR [options]",
    .text = "Feed the journal of an execution to its flow, and compare the trace at each step. No "
            "command runs; nothing is written.\n\n"
            "With --on, do the same with another text of the flow, side by side with the recorded "
            "one. Steps are compared by stable names (the path of the token, the name of the "
            "task), not by line. At the first difference the recorded step is printed, what could "
            "run then, and what can run in FILE.flow.",
    .status = "0 as recorded, 1 differs, 2 bad arguments, not an execution, a damaged journal or a "
              "bad file, 3 I/O, memory or limit, 4 bug in Raddle",
    .options = REPLAY_OPTIONS,
    .examples = REPLAY_EXAMPLES,
    .run = flow_replay_run,
};
