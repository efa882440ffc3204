/* replay.c — a journal's inputs, fed again before the steps before which they were fed. No effect is run, and
 * the digest of the trace is compared at each input: a program that does something else than the one that wrote the
 * journal is found out at the first input behind the difference. */
#include "flow/journal/replay.h"
#include "base/error.h"
#include "flow/run/parts.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

static int diverged(const rad_flow_journal *j, const rad_flow_record *record, const char *what, rad_error *error)
{
    return rad__error(error, RAD_EINPUT,
                      "%s: record %llu (%s) at step %llu does not fit: %s. It was written by raddle %s", j->name,
                      (unsigned long long)record->sequence, rad__flow_record_name(record->type),
                      (unsigned long long)record->step, what, j->header.raddle);
}

static int after_steps(void *runner, rad_error *error)
{
    return rad__flow_take_asks(runner, error);
}

static int go_to(rad_flow_runner *r, const rad_flow_journal *j, const rad_flow_record *record, rad_error *error)
{
    int code = rad__flow_go_to(r->c, record->step, UINT64_MAX, after_steps, r, error);
    if (code != 0) return code;
    if (r->c->state == RAD_CASE_BROKEN) return rad__error(error, r->c->error.code, "%s", r->c->error.text);
    const char *what = rad__flow_differs(r->c, record);
    return what == NULL ? 0 : diverged(j, record, what, error);
}

static int replay_input(rad_flow_runner *r, const rad_flow_journal *j, const rad_flow_record *record, rad_error *error)
{
    bool used;
    const rad_flow_input *input = &record->input;
    int code = go_to(r, j, record, error);
    if (code != 0) return code;
    if (record->id[0] != 0 && !rad__flow_note_seen(r, record->id)) return rad__error_memory(error);
    if (input->kind == RAD_INPUT_TIMER) rad__flow_timers_drop(&r->timers, input->key, input->alternative);
    if (input->kind == RAD_INPUT_RESULT) {
        rad_flow_effect *e = rad__flow_effect_of(r, input->key);
        if (e == NULL) return rad__error_memory(error);
        if (e->attempt == input->attempt) e->state = RAD_EFFECT_OVER;
    }
    rad_error why = {0};
    code = rad__flow_case_feed(r->c, input, &used, &why);
    if (code == RAD_EINPUT) return diverged(j, record, why.text, error);
    if (code != 0) return rad__error(error, code, "%s", why.text);
    r->clock_ns = record->wall_ns;
    return 0;
}

static uint64_t id_hash(const char *id)
{
    return rad__digest_of(id, strlen(id)).low;
}

static int replay_started(rad_flow_runner *r, const rad_flow_record *record, rad_error *error)
{
    char id[RAD_FLOW_ID_MAX];
    rad_flow_effect *e = rad__flow_effect_of(r, record->key);
    if (e == NULL) return rad__error_memory(error);
    e->begun_attempt = record->attempt;
    e->begun_run = record->run;
    e->since_ns = record->wall_ns;
    rad__flow_effect_id(id, record->key, record->attempt, record->run);
    if (rad__map64_find(&r->known, id_hash(id)) == RAD_NONE && !rad__map64_add(&r->known, id_hash(id), 0))
        return rad__error_memory(error);
    return 0;
}

static int replay_one(rad_flow_runner *r, const rad_flow_journal *j, const rad_flow_record *record, rad_error *error)
{
    rad_flow_effect *e;
    if (r->ended) return diverged(j, record, "the execution has ended before it", error);
    switch (record->type) {
    case RAD_RECORD_INPUT: return replay_input(r, j, record, error);
    case RAD_RECORD_STARTED: return replay_started(r, record, error);
    case RAD_RECORD_STOPPED:
        e = rad__flow_effect_of(r, record->key);
        if (e == NULL) return rad__error_memory(error);
        if (e->attempt == record->attempt) e->state = RAD_EFFECT_OVER;
        return 0;
    case RAD_RECORD_END: {
        int code = go_to(r, j, record, error);
        if (code != 0) return code;
        r->ended = true;
        r->end = *record;
        r->end.text = r->end_text;
        strncpy(r->end_text, record->text, sizeof r->end_text - 1);
        return 0;
    }
    case RAD_RECORD_RESUMED:
    case RAD_RECORD_DOUBT: /* what was said about it counts only with what was done then, which has its own records */
    case RAD_RECORD_TYPES: break;
    }
    return 0;
}

int rad__flow_replay(rad_flow_runner *r, rad_flow_journal *j, rad_error *error)
{
    rad_flow_record record;
    int got, code = 0;
    r->replaying = true;
    while ((got = rad__flow_journal_next(j, &record, error)) == 1) {
        code = replay_one(r, j, &record, error);
        if (code != 0) return code;
    }
    r->replaying = false;
    r->sequence = j->sequence;
    return got;
}

/* ---- Effects the journal does not know ------------------------------------------------------------------- */

/* "ID.lock" and "ID.receipt" without their ends, and without the number of a probe. */
static bool id_of_file(const char *name, char id[RAD_FLOW_ID_MAX])
{
    size_t length = strlen(name), end = 0;
    if (length > 5 && strcmp(name + length - 5, ".lock") == 0) end = length - 5;
    if (length > 8 && strcmp(name + length - 8, ".receipt") == 0) end = length - 8;
    if (end == 0 || end >= RAD_FLOW_ID_MAX) return false;
    memcpy(id, name, end);
    id[end] = 0;
    char *probe = strrchr(id, 'p');
    if (probe != NULL && strchr(id, '@') != NULL && probe > strrchr(id, '@')) *probe = 0;
    return true;
}

int rad__flow_check_effects(rad_flow_runner *r, rad_error *error)
{
    rad_os_names names;
    char id[RAD_FLOW_ID_MAX];
    int code = r->host->list(r->host->context, "effects", &names, error);
    if (code != 0) return code;
    for (uint32_t i = 0; code == 0 && i < names.count; i++) {
        if (!id_of_file(names.items[i], id)) continue;
        if (rad__map64_find(&r->known, id_hash(id)) != RAD_NONE) continue;
        char name[RAD_FLOW_FILE_MAX + 16];
        snprintf(name, sizeof name, "effects/%.*s", (int)RAD_FLOW_FILE_MAX, names.items[i]);
        code = r->host->exists(r->host->context, name, error); /* no link is taken for one */
        if (code >= 0)
            code = rad__error(error, RAD_EINPUT,
                              "effects/%s: this was run, and the journal does not know of "
                              "it: it has lost records",
                              names.items[i]);
    }
    rad__os_names_free(&names);
    return code;
}
