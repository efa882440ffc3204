/* story.c — flows and cases to look at: what is in a file, pictures, and every step of a case again. */
#include <raddle/flow.h>

#include "base/alloc.h"
#include "base/error.h"
#include "flow/journal/follow.h"
#include "flow/journal/replay.h"
#include "flow/machine/history.h"
#include "flow/run/api.h"
#include "flow/svg/draw.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

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
        if (!tree->variables[v].is_local && i-- == 0) return rad__flow_name(&f->program->file, tree->variables[v].name);
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
    rad_flow_kept kept;
    rad_flow_rerun replay;
} reading;

static void reading_free(reading *r)
{
    rad__flow_history_free(&r->history);
    rad__flow_case_close(r->replay.c);
    rad__flow_kept_free(&r->kept);
}

static int read_folder(reading *r, const char *folder, rad_error *error)
{
    rad_flow_host host;
    *r = (reading){.replay = {.c = NULL}};
    int status = rad__flow_host_open(&host, folder, false, error);
    if (status != 0) return status;
    status = rad__flow_kept_read(&r->kept, &host, error);
    rad__flow_host_close(&host);
    return status;
}

static int replay_folder(reading *r, const char *folder, bool with_steps, rad_error *error)
{
    int status = read_folder(r, folder, error);
    if (status == 0 && !rad__flow_history_open(&r->history, r->kept.program, with_steps))
        status = rad__error_memory(error);
    if (status == 0)
        status = rad__flow_replay_journal(&r->replay, r->kept.program, &r->kept.journal, &r->history, 0, error);
    if (status == 0 && r->history.failed) status = rad__error_memory(error);
    rad__flow_say_where(error, folder);
    return status;
}

int rad_flow_replay(const char *folder, rad_flow_replayed *out, char **steps, rad_error *error)
{
    reading r;
    rad__error_clear(error);
    if (steps != NULL) *steps = NULL;
    int status = replay_folder(&r, folder, steps != NULL, error);
    if (status == 0) {
        *out = (rad_flow_replayed){.as_recorded = r.replay.as_recorded,
                                   .state = rad__flow_state_name(r.replay.c->state),
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

/* ---- A case on another flow ---------------------------------------------------------------------------------- */

static void show(rad_flow_replayed_on *out, const rad_flow_following *f)
{
    *out = (rad_flow_replayed_on){
        .fits = f->fits,
        .state = rad__flow_state_name(f->state),
        .steps = f->steps,
        .inputs = f->inputs,
        .record = f->record,
        .step = f->step.count > 0 ? f->step.items[0] : "",
        .reason = f->reason.count > 0 ? f->reason.items[0] : "",
        .recorded = (const char *const *)f->recorded.items,
        .recorded_count = f->recorded.count,
        .offered = (const char *const *)f->offered.items,
        .offered_count = f->offered.count,
    };
}

int rad_flow_replay_on(const char *folder, const char *path, const char *name, rad_flow_replayed_on *out,
                       rad_error *error)
{
    reading r;
    rad_flow *f = NULL;
    rad__error_clear(error);
    *out = (rad_flow_replayed_on){.state = "", .step = "", .reason = ""};
    rad_flow_following *following = rad__alloc(1, sizeof *following);
    if (following == NULL) return rad__error_memory(error);
    int status = read_folder(&r, folder, error);
    rad__flow_say_where(error, folder);
    if (status == 0) status = rad_flow_read(&f, path, name != NULL ? name : r.kept.journal.header.flow, error);
    if (status == 0) {
        status = rad__flow_follow(following, r.kept.program, f->program, "journal", r.kept.bytes, r.kept.size, error);
        rad__flow_say_where(error, folder);
    }
    if (status == 0) show(out, following);
    out->inside = following;
    rad_flow_free(f);
    reading_free(&r);
    return status;
}

void rad_flow_replayed_on_free(rad_flow_replayed_on *r)
{
    if (r->inside != NULL) rad__flow_following_free(r->inside);
    rad__free(r->inside);
    *r = (rad_flow_replayed_on){0};
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
    if (status == 0 && !r.replay.as_recorded) status = rad__error(error, RAD_EINPUT, "%s: %s", folder, r.replay.reason);
    if (status == 0) {
        *svg = rad__flow_draw(&r.kept.program->file, r.kept.program->tree, r.history.visits);
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
