/* merge.c — see merge.h. */
#include "load/log/merge.h"

#include "base/alloc.h"
#include "base/error.h"

/* A log that stands before its next block. */
struct part {
    rad__load_log_reader reader; /* has handed out nothing of the block yet */
    uint64_t now_ns;             /* at the end of the block before it */
    uint64_t end_ns;             /* at the end of this one */
    bool done;
};

/* Reads ahead through one block, with a copy of the reader, to see when it ends. */
static int look_ahead(struct part *p, rad_error *error)
{
    rad__load_log_reader r = p->reader;
    struct rad__load_raw raw;
    uint64_t now = p->now_ns, blocks = r.blocks;
    int got;
    do {
        got = rad__load_log_next(&r, &raw, error);
        if (got == 1 && raw.kind == RAD__LOAD_RECORD_TURN) {
            struct rad__load_turn_record turn;
            const char *wrong = rad__load_get_turn(&raw, &turn);
            if (wrong != NULL) return rad__error(error, RAD_EINPUT, "%s: %s", r.name, wrong);
            now += turn.passed_ns;
        }
    } while (got == 1 && (r.records.at != r.records.end || r.blocks == blocks));
    if (got < 0) return got;
    p->done = got == 0;
    p->end_ns = now;
    if (p->done) p->reader = r;
    return 0;
}

static int take_block(struct part *p, rad__load_log *to, rad_error *error)
{
    struct rad__load_raw raw;
    do {
        int got = rad__load_log_next(&p->reader, &raw, error);
        if (got < 0) return got;
        RAD_ASSERT(got == 1);
        rad__load_log_raw(to, &raw);
    } while (p->reader.records.at != p->reader.records.end);
    rad__load_log_flush(to);
    p->now_ns = p->end_ns;
    return look_ahead(p, error);
}

static int merge_all(struct part *parts, uint32_t count, rad__load_log *to, rad_error *error)
{
    for (;;) {
        uint32_t first = RAD_NONE;
        bool cut_off = false;
        for (uint32_t i = 0; i < count; i++) {
            cut_off |= parts[i].done && parts[i].reader.cut_off;
            if (!parts[i].done && (first == RAD_NONE || parts[i].end_ns < parts[first].end_ns)) first = i;
        }
        if (first == RAD_NONE) return cut_off ? 0 : rad__load_log_end(to);
        to->shard = first;
        int result = take_block(&parts[first], to, error);
        if (result == 0) result = to->failed;
        if (result != 0) return result;
    }
}

int rad__load_merge(rad__load_log_reader *readers, uint32_t count, rad__load_sink *sink, void *context,
                    rad_error *error)
{
    struct part *parts = rad__alloc(count, sizeof *parts);
    rad__load_log to;
    if (parts == NULL) return rad__error_memory(error);
    rad__load_log_open(&to, sink, context);
    to.uncut = true; /* blocks stay as they are */
    int result = rad__load_log_begin(&to, readers[0].header, readers[0].scenario, readers[0].changes);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        parts[i].reader = readers[i];
        result = look_ahead(&parts[i], error);
    }
    if (result == 0) result = merge_all(parts, count, &to, error);
    if (result == to.failed && result != 0 && error != NULL) *error = to.error;
    rad__load_log_close(&to);
    rad__free(parts);
    return result;
}
