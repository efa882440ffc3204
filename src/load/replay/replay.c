/* replay.c — the engine that is a log. */
#include "load/replay/replay.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>

int rad__load_replayer_open(rad__load_replayer *r, const rad__load_log_reader *from, const rad__load_scenario *scenario,
                            uint32_t shard, rad__load_sink *sink, void *context, rad_error *error)
{
    const struct rad__load_log_header *h = &from->header;
    bool logical = h->level == RAD__LOAD_LEVEL_SIMULATED;
    *r = (rad__load_replayer){.reader = *from, .shard = shard};
    rad__load_log_open(&r->log, sink, context);
    r->log.shard = shard;
    struct rad__load_log_header header = *h;
    header.stripped = 0;
    int result = rad__load_log_begin(&r->log, header, from->scenario, from->changes);
    if (result != 0) {
        if (error != NULL) *error = r->log.error;
        return result;
    }
    return rad__load_scheduler_open(&r->scheduler, scenario, h->seed, shard, h->shards, logical, &r->log, error);
}

void rad__load_replayer_close(rad__load_replayer *r)
{
    if (r->scheduler.scenario != NULL) rad__load_scheduler_close(&r->scheduler);
    rad__load_log_close(&r->log);
    rad__free(r->inputs);
    *r = (rad__load_replayer){0};
}

/* ---- Inputs of a turn ------------------------------------------------------------------------------------ */

/* The next input record of this shard. */
static int next_input_record(rad__load_replayer *r, struct rad__load_raw *raw, rad_error *error)
{
    int got;
    do {
        got = rad__load_log_next(&r->reader, raw, error);
    } while (got == 1 && (rad__load_record_is_output(raw->kind) || r->reader.block.shard != r->shard));
    return got;
}

static int bad(const rad__load_replayer *r, const char *wrong, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "%s: record %" PRIu64 ": %s", r->reader.name, r->reader.record, wrong);
}

/* A turn whose inputs are not all there is as if it had not begun: 0. */
static int read_inputs(rad__load_replayer *r, uint64_t count, rad__load_turn *turn, rad_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        struct rad__load_raw raw;
        int got = next_input_record(r, &raw, error);
        if (got == 0 && !r->reader.cut_off) return bad(r, "the log ends inside a turn", error);
        if (got != 1) return got;
        if (raw.kind == RAD__LOAD_RECORD_TURN) return bad(r, "a turn begins before the one before it has all", error);
        if (!RAD_GROW(&r->inputs, &r->input_capacity, (uint32_t)i + 1)) return rad__error_memory(error);
        const char *wrong = rad__load_get_input(&raw, turn->now_ns, &r->inputs[i]);
        if (wrong != NULL) return bad(r, wrong, error);
    }
    turn->inputs = r->inputs;
    turn->input_count = (uint32_t)count;
    return 1;
}

static int read_turn(rad__load_replayer *r, rad__load_turn *turn, rad_error *error)
{
    struct rad__load_raw raw;
    struct rad__load_turn_record record;
    int got = next_input_record(r, &raw, error);
    if (got != 1) return got;
    if (raw.kind != RAD__LOAD_RECORD_TURN) return bad(r, "an input outside a turn", error);
    const char *wrong = rad__load_get_turn(&raw, &record);
    if (wrong == NULL && (record.passed_ns > UINT64_MAX / 2 - r->now_ns)) wrong = "time runs over";
    if (wrong == NULL && record.inputs > UINT32_MAX / 4) wrong = "more inputs than there can be";
    if (wrong != NULL) return bad(r, wrong, error);
    r->first_record = r->reader.record;
    *turn = (rad__load_turn){.now_ns = r->now_ns + record.passed_ns,
                             .paused = (record.flags & RAD__LOAD_TURN_PAUSED) != 0,
                             .interrupted = (record.flags & RAD__LOAD_TURN_INTERRUPTED) != 0};
    got = read_inputs(r, record.inputs, turn, error);
    r->last_record = r->reader.record;
    return got;
}

int rad__load_replayer_step(rad__load_replayer *r, rad_error *error)
{
    rad__load_turn turn;
    rad_error why = {0};
    if (rad__load_scheduler_over(&r->scheduler)) return 0;
    int got = read_turn(r, &turn, error);
    if (got != 1) return got;
    r->now_ns = turn.now_ns;
    r->turns++;
    int result = rad__load_scheduler_turn(&r->scheduler, &turn, &why);
    if (result == 0) return 1;
    return rad__error(error, result, "%s: records %" PRIu64 " to %" PRIu64 ": %s", r->reader.name, r->first_record,
                      r->last_record, why.text);
}

int rad__load_replayer_finish(rad__load_replayer *r, rad_error *error)
{
    rad__load_metrics_end(&r->scheduler.metrics);
    if (r->reader.cut_off) rad__load_log_flush(&r->log); /* what there is of it, without an end */
    int result = r->reader.cut_off ? r->log.failed : rad__load_log_end(&r->log);
    if (result != 0 && error != NULL) *error = r->log.error;
    return result;
}
