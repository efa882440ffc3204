/* flow_run_story.c — flows and cases to look at: what is in a file, pictures, and every step of a case again. */
#include <raddle/flow.h>

#include "base/alloc.h"
#include "base/error.h"
#include "flow/draw.h"
#include "flow/flow_run_api.h"
#include "flow/history.h"
#include "flow/replay.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

enum { JOURNAL_MOST = 1 << 30, PATH_MOST = 4096 };

/* ---- What is in it ----------------------------------------------------------------------------------------- */

void rad_flow_look_at(const rad_flow *f, rad_flow_facts *facts)
{
    const rad_flow_program *p = f->program;
    const rad_flow_tree *tree = p->tree;
    uint32_t data = 0;
    for (uint32_t i = 0; i < tree->variable_count; i++) data += !tree->variables[i].is_local;
    *facts = (rad_flow_facts){
        .about = tree->about != RAD_NONE ? rad__flow_name(&p->file, tree->about) : "",
        .sha256 = p->hash,
        .statements = tree->statement_count,
        .operations = p->code_count,
        .tasks = tree->task_count,
        .data = data,
        .signals = tree->signal_count,
    };
}

const char *rad_flow_task_name(const rad_flow *f, uint32_t i)
{
    const rad_flow_tree *tree = f->program->tree;
    return i < tree->task_count ? rad__flow_name(&f->program->file, tree->tasks[i].name) : NULL;
}

const char *rad_flow_data_name(const rad_flow *f, uint32_t i)
{
    const rad_flow_tree *tree = f->program->tree;
    for (uint32_t v = 0; v < tree->variable_count; v++)
        if (!tree->variables[v].is_local && i-- == 0)
            return rad__flow_name(&f->program->file, tree->variables[v].name);
    return NULL;
}

const char *rad_flow_signal_name(const rad_flow *f, uint32_t i)
{
    const rad_flow_tree *tree = f->program->tree;
    return i < tree->signal_count ? rad__flow_name(&f->program->file, tree->signals[i]) : NULL;
}

/* ---- A case again -------------------------------------------------------------------------------------------- */

typedef struct reading {
    rad_flow_history history;
    char *journal_bytes;
    rad_flow_journal journal;
    rad_flow_program *program;
    rad_flow_rerun replay;
} reading;

static void reading_free(reading *r)
{
    rad__flow_history_free(&r->history);
    rad__flow_case_close(r->replay.c);
    rad__flow_program_free(r->program);
    rad__free(r->journal_bytes);
}

static int read_in(const char *folder, const char *name, uint64_t most, char path[PATH_MOST],
                   char **data, size_t *size, rad_error *error)
{
    if (snprintf(path, PATH_MOST, "%s/%s", folder, name) >= PATH_MOST)
        return rad__error(error, RAD_EINPUT, "%s: the name is too long", folder);
    return rad__os_read_file(path, most, data, size, error);
}

/* The flow as the folder has it, and all of the journal. */
static int replay_folder(reading *r, const char *folder, bool with_steps, rad_error *error)
{
    char path[PATH_MOST], *text = NULL;
    size_t size, journal_size;
    *r = (reading){.journal_bytes = NULL};
    int status =
        read_in(folder, "journal", JOURNAL_MOST, path, &r->journal_bytes, &journal_size, error);
    if (status == 0)
        status = rad__flow_journal_open(&r->journal, path, r->journal_bytes, journal_size, error);
    static const char flow_name[] = "flow";
    char flow_path[PATH_MOST];
    if (status == 0)
        status = read_in(folder, flow_name, RAD_FLOW_TEXT_MAX, flow_path, &text, &size, error);
    if (status == 0)
        status = rad__flow_program_read(&r->program, flow_path, text, size, r->journal.header.flow,
                                        error);
    if (status == 0 && !rad__flow_history_open(&r->history, r->program, with_steps))
        status = rad__error_memory(error);
    if (status == 0)
        status =
            rad__flow_replay_journal(&r->replay, r->program, &r->journal, &r->history, 0, error);
    if (status == 0 && r->history.failed) status = rad__error_memory(error);
    rad__free(text);
    return status;
}

static const char *state_name(enum rad_flow_state state)
{
    static const char *const names[] = {"running",   "waiting",  "done",     "failed",
                                        "cancelled", "deadlock", "diverged", "broken"};
    return names[state];
}

int rad_flow_replay(const char *folder, rad_flow_replayed *out, char **steps, rad_error *error)
{
    reading r;
    rad__error_clear(error);
    if (steps != NULL) *steps = NULL;
    int status = replay_folder(&r, folder, steps != NULL, error);
    if (status == 0) {
        *out = (rad_flow_replayed){.as_recorded = r.replay.as_recorded,
                                   .state = state_name(r.replay.c->state),
                                   .steps = rad__flow_case_steps(r.replay.c),
                                   .inputs = r.replay.inputs};
        memcpy(out->reason, r.replay.reason, sizeof out->reason);
        rad__digest_text(rad__flow_case_digest(r.replay.c), out->digest);
        if (steps != NULL) { /* the caller's from here on */
            *steps = (char *)r.history.text.data;
            r.history.text = (rad_bytes){0};
        }
    }
    reading_free(&r);
    return status;
}

/* ---- Pictures ------------------------------------------------------------------------------------------------- */

int rad_flow_draw(const rad_flow *f, char **svg, rad_error *error)
{
    rad__error_clear(error);
    *svg = rad__flow_draw(&f->program->file, f->program->tree, NULL);
    return *svg != NULL ? 0 : rad__error_memory(error);
}

int rad_flow_draw_case(const char *folder, char **svg, rad_error *error)
{
    reading r;
    rad__error_clear(error);
    *svg = NULL;
    int status = replay_folder(&r, folder, false, error);
    if (status == 0 && !r.replay.as_recorded)
        status = rad__error(error, RAD_EINPUT, "%s: %s", folder, r.replay.reason);
    if (status == 0) {
        *svg = rad__flow_draw(&r.program->file, r.program->tree, r.history.visits);
        if (*svg == NULL) status = rad__error_memory(error);
    }
    reading_free(&r);
    return status;
}

int rad_flow_keep(const char *path, const char *text, rad_error *error)
{
    rad__error_clear(error);
    return rad__os_write_file(path, text, strlen(text), error);
}
