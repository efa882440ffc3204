/* journal.c — what a runner writes down, and tells. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/run/parts.h"

#include <string.h>

int rad__flow_runner_put(rad_flow_runner *r, rad_flow_record *record, rad_error *error)
{
    uint64_t now = r->host->now(r->host->context);
    record->sequence = r->sequence + 1;
    record->wall_ns = now > r->clock_ns ? now : r->clock_ns; /* a clock that is set back does not stop time */
    r->room.size = 0;
    rad__flow_journal_put(&r->room, &r->crc, record);
    if (r->room.failed) return rad__error_memory(error);
    if (r->room.size > RAD_JOURNAL_RECORD_MAX)
        return rad__error(error, RAD_ELIMIT, "a result of %lu bytes is more than a journal takes",
                          (unsigned long)r->room.size);
    int code = r->host->put(r->host->context, r->journal, r->room.data, r->room.size, error);
    if (code != 0) r->size = UINT64_MAX; /* a part of it may be there */
    if (code != 0) return code;
    if (r->size != UINT64_MAX) r->size += r->room.size;
    r->sequence++;
    if (!r->dirty) r->dirty_since_ns = now;
    r->dirty = true;
    return 0;
}

int rad__flow_runner_check(rad_flow_runner *r, rad_error *error)
{
    uint64_t size = 0;
    int same = r->host->is_file(r->host->context, r->journal, "journal", &size, error);
    if (same < 0) return same;
    if (same == 0)
        return rad__error(error, RAD_EIO,
                          "journal: not the file any more that this runner has open: it was "
                          "deleted, replaced or moved; nothing more is started");
    if (r->size == UINT64_MAX || size == r->size) return 0;
    return rad__error(error, RAD_EIO,
                      "journal: another process has written to it, or cut it: %llu bytes, not %llu; "
                      "nothing more is started",
                      (unsigned long long)size, (unsigned long long)r->size);
}

int rad__flow_runner_sync(rad_flow_runner *r, rad_error *error)
{
    int code = r->dirty ? r->host->sync(r->host->context, r->journal, error) : 0;
    if (code == 0) code = rad__flow_runner_check(r, error);
    if (code != 0) return code;
    r->dirty = false;
    for (uint32_t i = 0; i < r->taken_count; i++) {
        code = r->host->remove(r->host->context, r->taken[i], error);
        if (code != 0) return code;
    }
    r->taken_count = 0;
    return 0;
}

int rad__flow_runner_feed(rad_flow_runner *r, const rad_flow_input *input, const char *id, rad_error *error)
{
    bool used;
    rad_flow_record record = {.type = RAD_RECORD_INPUT,
                              .step = rad__flow_case_steps(r->c),
                              .digest = rad__flow_case_digest(r->c),
                              .input = *input,
                              .id = id};
    int code = rad__flow_runner_put(r, &record, error);
    if (code != 0) return code;
    r->clock_ns = record.wall_ns;
    return rad__flow_case_feed(r->c, input, &used, error);
}

void rad__flow_tell(rad_flow_runner *r, enum rad_flow_news news, const rad_flow_effect *e, const char *text,
                    uint64_t took_ns)
{
    const rad_flow_options *o = &r->options->given;
    if (news == RAD_FLOW_TASK_DONE) r->done_count++;
    if (news == RAD_FLOW_TASK_FAILED) r->failed_count++;
    if (o->watch == NULL) return;
    rad_flow_progress p = {.news = news, .task = "", .key = "", .instance = "", .text = text != NULL ? text : ""};
    if (e != NULL) {
        p.task = rad__flow_name(&r->program->file, rad__flow_task_of(r, e)->name);
        p.key = e->key;
        p.instance = e->instance;
        p.attempt = e->attempt;
    }
    p.took_ns = took_ns;
    p.steps = r->c != NULL ? rad__flow_case_steps(r->c) : 0;
    p.running = rad__flow_count(r, RAD_EFFECT_RUNNING) + rad__flow_count(r, RAD_EFFECT_PROBED);
    p.queued = r->queue_count;
    p.timers = rad__flow_timers_count(&r->timers);
    p.done = r->done_count;
    p.failed = r->failed_count;
    o->watch(o->context, &p);
}
