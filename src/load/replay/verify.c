/* verify.c — whether a log is what its inputs make of it. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/log/merge.h"
#include "load/replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = sizeof(struct rad__load_block_header) };
static const char GOES_ON[] = "the log continues after the run was over";

/* Where the run's log is compared with the file: piece by piece, as it is written. */
struct comparison {
    const rad__load_log_reader *file;
    uint64_t at;
    struct rad__load_verdict *verdict;
};

static void differ(struct rad__load_verdict *v, uint64_t record, const char *theirs, const char *ours)
{
    v->same = false;
    v->record = record;
    if (record != 0)
        snprintf(v->text, sizeof v->text, "record %" PRIu64 " of the log is %s; its inputs make %s", record, theirs,
                 ours);
    else
        snprintf(v->text, sizeof v->text, "%s; its inputs make %s", theirs, ours);
}

static bool equal(const struct rad__load_raw *a, const struct rad__load_raw *b)
{
    return a->kind == b->kind && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Both blocks begin at the same record: the first pair that is not equal is the difference. */
static void locate(struct comparison *c, const uint8_t *ours, size_t size)
{
    struct rad__load_block_header mine, theirs = {0};
    const uint8_t *file = c->file->data + c->at;
    uint64_t left = c->file->size - c->at; /* nothing, or a whole block: the file was surveyed */
    memcpy(&mine, ours, HEAD);
    if (left >= HEAD) memcpy(&theirs, file, HEAD);
    rad_reader a = rad__reader(file + (left >= HEAD ? HEAD : left), left >= HEAD ? theirs.size : 0);
    rad_reader b = rad__reader(ours + HEAD, size - HEAD);
    for (uint64_t record = mine.first;; record++) {
        struct rad__load_raw x, y;
        char has[200] = "missing", makes[200] = "none";
        bool in_file = a.at < a.end && rad__load_get_raw(&a, &x), in_run = b.at < b.end && rad__load_get_raw(&b, &y);
        if (in_file && in_run && equal(&x, &y)) continue;
        if (!in_file && !in_run) {
            differ(c->verdict, 0, "blocks are cut elsewhere in the log", "other ones");
            return;
        }
        if (in_file) rad__load_record_text(&x, has, sizeof has);
        if (in_run) rad__load_record_text(&y, makes, sizeof makes);
        differ(c->verdict, record, has, makes);
        return;
    }
}

static int compare(void *context, const void *data, size_t size, rad_error *error)
{
    struct comparison *c = context;
    (void)error;
    if (!c->verdict->same) return 0;
    uint64_t left = c->file->size - c->at;
    if (left < size || memcmp(c->file->data + c->at, data, size) != 0) {
        if (c->at < c->file->header.size)
            differ(c->verdict, 0, "the header has something no run writes", "another one");
        else
            locate(c, data, size);
    }
    c->at += size;
    return 0;
}

/* Where goes what a replay writes. */
struct output {
    rad__load_sink *sink;
    void *context;
    rad__load_tap *tap; /* may be NULL */
    void *tap_context;
};

/* What the inputs of one shard make. The statistics go to `metrics` (may be NULL): into it, or added to it. */
static int replay_shard(const rad__load_log_reader *from, const rad__load_scenario *scenario, uint32_t shard,
                        const struct output *to, struct rad__load_verdict *verdict, rad__load_metrics *metrics,
                        rad_error *error)
{
    rad__load_replayer r;
    int result = rad__load_replayer_open(&r, from, scenario, shard, to->sink, to->context, error), got = result;
    r.log.tap = to->tap;
    r.log.tap_context = to->tap_context;
    while (result == 0 && (got = rad__load_replayer_step(&r, error)) == 1) {
    }
    if (got < 0) result = got;
    if (result == 0) result = rad__load_replayer_finish(&r, error);
    verdict->turns += r.turns;
    rad__load_counters_add(&verdict->counters, &r.scheduler.counters);
    bool over = result == 0 && rad__load_scheduler_over(&r.scheduler);
    verdict->over &= over;
    verdict->unfinished |= r.turns > 0 && !over;
    if (result == 0 && metrics != NULL && shard == 0) {
        *metrics = r.scheduler.metrics;
        r.scheduler.metrics = (rad__load_metrics){0};
    } else if (result == 0 && metrics != NULL && !rad__load_metrics_merge(metrics, &r.scheduler.metrics)) {
        result = rad__error_memory(error);
    }
    rad__load_replayer_close(&r);
    return result;
}

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    rad_bytes *bytes = context;
    rad__bytes_put(bytes, data, size);
    return bytes->failed ? rad__error_memory(error) : 0;
}

/* Each shard's log is made anew in memory, then they are merged as they were the first time. */
static int replay_shards(const rad__load_log_reader *from, const rad__load_scenario *scenario, rad__load_sink *sink,
                         void *context, struct rad__load_verdict *verdict, rad__load_metrics *metrics, rad_error *error)
{
    uint32_t count = from->header.shards;
    rad_bytes *files = rad__alloc(count, sizeof *files);
    rad__load_log_reader *readers = rad__alloc(count, sizeof *readers);
    int result = files != NULL && readers != NULL ? 0 : rad__error_memory(error);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct output out = {.sink = keep, .context = &files[i]};
        result = replay_shard(from, scenario, i, &out, verdict, metrics, error);
        if (result == 0) result = rad__load_log_read(&readers[i], from->name, files[i].data, files[i].size, error);
    }
    if (result == 0) result = rad__load_merge(readers, count, sink, context, error);
    for (uint32_t i = 0; files != NULL && i < count; i++) rad__bytes_free(&files[i]);
    rad__free(files);
    rad__free(readers);
    return result;
}

int rad__load_regenerate(const rad__load_log_reader *from, const rad__load_scenario *scenario, rad__load_sink *sink,
                         void *context, struct rad__load_verdict *verdict, rad__load_metrics *metrics, rad_error *error)
{
    struct output out = {.sink = sink, .context = context};
    verdict->over = true;
    if (from->header.shards == 1) return replay_shard(from, scenario, 0, &out, verdict, metrics, error);
    return replay_shards(from, scenario, sink, context, verdict, metrics, error);
}

/* ---- Logs that were cut off -------------------------------------------------------------------------------- */

/* One shard of such a log, record by record beside what its inputs make: the last turn may have lost some of its
 * inputs, so the run ends before the last block does, and blocks of several shards lie differently. */
struct along {
    rad__load_log_reader file;
    uint32_t shard;
    bool behind; /* the run has gone beyond the file */
    struct rad__load_verdict *verdict;
};

static bool next_of_shard(struct along *a, struct rad__load_raw *raw)
{
    while (rad__load_log_next(&a->file, raw, NULL) == 1)
        if (a->file.block.shard == a->shard) return true;
    return false;
}

static void follow(void *context, const uint8_t *record, size_t size)
{
    struct along *a = context;
    struct rad__load_raw theirs, ours;
    rad_reader r = rad__reader(record, size);
    if (!a->verdict->same || a->behind || !rad__load_get_raw(&r, &ours)) return;
    a->behind = !next_of_shard(a, &theirs);
    if (a->behind || equal(&theirs, &ours)) return;
    char has[200], makes[200];
    rad__load_record_text(&theirs, has, sizeof has);
    rad__load_record_text(&ours, makes, sizeof makes);
    differ(a->verdict, a->file.record, has, makes);
}

/* What the run did not come to: a turn of which there are not all inputs, and nothing else. */
static void check_rest(struct along *a, bool over)
{
    struct rad__load_raw raw;
    bool first = true;
    while (a->verdict->same && !a->behind && next_of_shard(a, &raw)) {
        char has[200];
        bool turn = raw.kind == RAD__LOAD_RECORD_TURN;
        rad__load_record_text(&raw, has, sizeof has);
        if (over)
            differ(a->verdict, 0, GOES_ON, "nothing more");
        else if (rad__load_record_is_output(raw.kind) || turn != first)
            differ(a->verdict, a->file.record, has, "none");
        first = false;
    }
}

static int discard(void *context, const void *data, size_t size, rad_error *error)
{
    (void)context;
    (void)data;
    (void)size;
    (void)error;
    return 0;
}

static int verify_cut_off(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                          struct rad__load_verdict *verdict, rad__load_metrics *metrics, rad_error *error)
{
    int result = 0;
    verdict->over = true;
    for (uint32_t i = 0; i < from->header.shards && result == 0; i++) {
        struct along a = {.file = *from, .shard = i, .verdict = verdict};
        struct output out = {.sink = discard, .tap = follow, .tap_context = &a};
        bool over = verdict->over;
        verdict->over = true;
        result = replay_shard(from, scenario, i, &out, verdict, metrics, error);
        if (result == 0) check_rest(&a, verdict->over);
        verdict->over &= over;
    }
    return result;
}

/* ---- The whole file ---------------------------------------------------------------------------------------- */

int rad__load_verify(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                     struct rad__load_verdict *verdict, rad__load_metrics *metrics, rad_error *error)
{
    struct rad__load_extent extent;
    *verdict = (struct rad__load_verdict){.same = true};
    if (metrics != NULL) *metrics = (rad__load_metrics){0};
    int result = rad__load_log_survey(from, &extent, error); /* damage is told as damage */
    if (result != 0) return result;
    verdict->records = extent.records;
    verdict->cut_off = extent.cut_off;
    if (verdict->cut_off) return verify_cut_off(from, scenario, verdict, metrics, error);
    struct comparison c = {from, 0, verdict};
    result = rad__load_regenerate(from, scenario, compare, &c, verdict, metrics, error);
    verdict->unfinished |= verdict->turns == 0;
    if (result == 0 && verdict->same && c.at != from->size) differ(verdict, 0, GOES_ON, "nothing more");
    if (result == 0 && verdict->same && verdict->unfinished)
        differ(verdict, 0, "the log has an end", "a run that is not over");
    return result;
}
