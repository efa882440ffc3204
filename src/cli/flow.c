/* flow.c — `raddle flow`: workflows, and what its parts share. */
#include "flow.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const verb *const PARTS[] = {&VERB_FLOW_CHECK, &VERB_FLOW_RUN,     &VERB_FLOW_RESUME, &VERB_FLOW_STATUS,
                                    &VERB_FLOW_LOGS,  &VERB_FLOW_SIGNAL,  &VERB_FLOW_CANCEL, &VERB_FLOW_REPLAY,
                                    &VERB_FLOW_DRAW,  &VERB_FLOW_VALIDATE};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

static int flow_run(cli *c, int argc, char **argv)
{
    return run_part(c, &VERB_FLOW, argc, argv);
}

/* ---- Shared ------------------------------------------------------------------------------------------------ */

int load_begun_with(cli *c, const char *path)
{
    if (path != NULL && strchr(path, '/') == NULL)
        return bad_usage(c, "--policy '%.80s': use the path of a shared object, such as ./FILE.so", path);
    return load_policy(c, &path);
}

const char *policy_words(const char *path)
{
    static char text[4200];
    text[0] = 0;
    if (path != NULL && strchr(path, '/') != NULL) snprintf(text, sizeof text, " --policy %s", shell_word(path));
    return text;
}

int read_folder_word(cli *c, const words *w, const char **folder)
{
    if (w->count != 1) return bad_usage(c, "missing DIR of an execution");
    *folder = w->at[0];
    return 0;
}

const char *flow_end_name(enum rad_flow_end end)
{
    static const char *const NAMES[] = {"done", "failed", "cancelled", "deadlock", "in doubt", "interrupted"};
    return NAMES[end];
}

const char *time_text(uint64_t ns)
{
    static char texts[4][32];
    static uint32_t next;
    if (ns == 0) return "-";
    char *text = texts[next++ % 4];
    struct tm at;
    time_t seconds = (time_t)(ns / 1000000000);
    strftime(text, sizeof texts[0], "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &at));
    return text;
}

static const char *const FLOW_EXAMPLES[] = {
    "raddle flow check examples/flow/build.flow",
    "is it well-formed, and what is in it?",
    "raddle flow run examples/flow/build.flow --dir build.1 --jobs 4",
    "run it, four commands at a time",
    "raddle flow resume build.1",
    "continue after a kill",
    "raddle flow validate examples/flow/approval.flow",
    "try every order and outcome: can it get stuck?",
    "raddle flow draw build.1 --output run.svg",
    "which branch was taken when, as a diagram",
    NULL,
};

const verb VERB_FLOW = {
    .name = "flow",
    .about = "workflows: check, run, resume, status, logs, signal, cancel, replay, draw, validate",
    .text = "Run workflows whose tasks are shell commands, and validate them (docs/flow.md).\n\n"
            "A flow file says which tasks there are and what follows what: in order, in parallel, "
            "in loops, with choices, cancellation, deadlines and compensation. Each execution has "
            "a directory with a journal. If the runner is killed, raddle flow resume continues; "
            "finished commands are not rerun. Tasks that call C functions need a program: "
            "raddle/flow.h. raddle explore FILE.flow tries the schedules of a flow.",
    .status = "0 all as it should be, 1 an execution failed, was cancelled, is stuck or in doubt, "
              "a property fails, or a replay differs, " STATUS_ERRORS ", 130 interrupted",
    .examples = FLOW_EXAMPLES,
    .parts = PARTS,
    .part_count = PART_COUNT,
    .run = flow_run,
};
