/* verify.c — whether a log is what its inputs make of it. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/merge.h"
#include "load/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = sizeof(struct rad__load_block_header) };

/* Where the run's log is compared with the file: piece by piece, as it is written. */
struct comparison {
    const rad__load_log_reader *file;
    uint64_t at;
    struct rad__load_verdict *verdict;
};

static void differ(struct comparison *c, uint64_t record, const char *theirs, const char *ours)
{
    struct rad__load_verdict *v = c->verdict;
    v->same = false;
    v->record = record;
    if (record != 0)
        snprintf(v->text, sizeof v->text, "record %" PRIu64 " of the log is %s; its inputs make %s",
                 record, theirs, ours);
    else
        snprintf(v->text, sizeof v->text, "%s; its inputs make %s", theirs, ours);
}

/* Both blocks begin at the same record: the first pair that is not equal is the difference. */
static void locate(struct comparison *c, const uint8_t *ours, size_t size)
{
    struct rad__load_block_header mine, theirs = {0};
    const uint8_t *file = c->file->data + c->at;
    uint64_t left = c->file->size - c->at;
    memcpy(&mine, ours, HEAD);
    if (left >= HEAD) memcpy(&theirs, file, HEAD);
    rad_reader a = rad__reader(file + (left >= HEAD ? HEAD : left), left >= HEAD ? theirs.size : 0);
    rad_reader b = rad__reader(ours + HEAD, size - HEAD);
    for (uint64_t record = mine.first;; record++) {
        struct rad__load_raw x, y;
        char has[200] = "missing", makes[200] = "none";
        bool in_file = a.at < a.end && rad__load_get_raw(&a, &x),
             in_run = b.at < b.end && rad__load_get_raw(&b, &y);
        if (in_file && in_run && x.kind == y.kind && x.size == y.size &&
            memcmp(x.bytes, y.bytes, x.size) == 0)
            continue;
        if (!in_file && !in_run) {
            differ(c, 0, "blocks are cut elsewhere in the log", "other ones");
            return;
        }
        if (in_file) rad__load_record_text(&x, has, sizeof has);
        if (in_run) rad__load_record_text(&y, makes, sizeof makes);
        differ(c, record, has, makes);
        return;
    }
}

/* A file that was cut off is compared as far as it goes. */
static int compare(void *context, const void *data, size_t size, rad_error *error)
{
    struct comparison *c = context;
    (void)error;
    if (!c->verdict->same) return 0;
    uint64_t left = c->file->size - c->at;
    if (left < size && c->verdict->cut_off) size = (size_t)left;
    if (left < size || memcmp(c->file->data + c->at, data, size) != 0) {
        if (c->at < c->file->header.size)
            differ(c, 0, "the header has something no run writes", "another one");
        else
            locate(c, data, size);
    }
    c->at += size;
    return 0;
}

/* Reads the whole file once before anything is replayed: damage is told as damage. */
static int survey(const rad__load_log_reader *from, struct rad__load_verdict *verdict,
                  rad_error *error)
{
    rad__load_log_reader r = *from;
    struct rad__load_raw raw;
    int got;
    while ((got = rad__load_log_next(&r, &raw, error)) == 1) {
    }
    verdict->records = r.record;
    verdict->cut_off = r.cut_off;
    return got;
}

/* What the inputs of one shard make. The statistics go to `metrics` (may be NULL): into it, or added to it. */
static int replay_shard(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                        uint32_t shard, rad__load_sink *sink, void *context,
                        struct rad__load_verdict *verdict, rad__load_metrics *metrics,
                        rad_error *error)
{
    rad__load_replayer r;
    int result = rad__load_replayer_open(&r, from, scenario, shard, sink, context, error),
        got = result;
    while (result == 0 && (got = rad__load_replayer_step(&r, error)) == 1) {
    }
    if (got < 0) result = got;
    if (result == 0) result = rad__load_replayer_finish(&r, error);
    verdict->turns += r.turns;
    rad__load_counters_add(&verdict->counters, &r.core.counters);
    verdict->over &= result == 0 && rad__load_core_over(&r.core);
    if (result == 0 && metrics != NULL && shard == 0) {
        *metrics = r.core.metrics;
        r.core.metrics = (rad__load_metrics){0};
    } else if (result == 0 && metrics != NULL &&
               !rad__load_metrics_merge(metrics, &r.core.metrics)) {
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
static int replay_shards(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                         rad__load_sink *sink, void *context, struct rad__load_verdict *verdict,
                         rad__load_metrics *metrics, rad_error *error)
{
    uint32_t count = from->header.shards;
    rad_bytes *files = rad__alloc(count, sizeof *files);
    rad__load_log_reader *readers = rad__alloc(count, sizeof *readers);
    int result = files != NULL && readers != NULL ? 0 : rad__error_memory(error);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        result = replay_shard(from, scenario, i, keep, &files[i], verdict, metrics, error);
        if (result == 0)
            result =
                rad__load_log_read(&readers[i], from->name, files[i].data, files[i].size, error);
    }
    if (result == 0) result = rad__load_merge(readers, count, sink, context, error);
    for (uint32_t i = 0; files != NULL && i < count; i++) rad__bytes_free(&files[i]);
    rad__free(files);
    rad__free(readers);
    return result;
}

int rad__load_regenerate(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                         rad__load_sink *sink, void *context, struct rad__load_verdict *verdict,
                         rad__load_metrics *metrics, rad_error *error)
{
    verdict->over = true;
    if (from->header.shards == 1)
        return replay_shard(from, scenario, 0, sink, context, verdict, metrics, error);
    return replay_shards(from, scenario, sink, context, verdict, metrics, error);
}

int rad__load_verify(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                     struct rad__load_verdict *verdict, rad__load_metrics *metrics,
                     rad_error *error)
{
    *verdict = (struct rad__load_verdict){.same = true};
    if (metrics != NULL) *metrics = (rad__load_metrics){0};
    int result = survey(from, verdict, error);
    if (result != 0) return result;
    struct comparison c = {from, 0, verdict};
    result = rad__load_regenerate(from, scenario, compare, &c, verdict, metrics, error);
    if (result == 0 && verdict->same && !verdict->cut_off && c.at != from->size)
        differ(&c, 0, "the log goes on after the run was over", "nothing more");
    return result;
}
