/* write.c — records into blocks, blocks into a sink. */
#include "base/error.h"
#include "load/log/hash.h"
#include "load/log/log.h"

#include <stddef.h>
#include <string.h>

enum { HEAD = sizeof(struct rad__load_block_header) };
_Static_assert(sizeof(struct rad__load_log_header) == 64 && HEAD == 48, "the format has no holes");

void rad__load_log_open(rad__load_log *log, rad__load_sink *sink, void *context)
{
    *log = (rad__load_log){.sink = sink, .context = context, .version = RAD__LOAD_LOG_VERSION, .next_record = 1};
}

void rad__load_log_close(rad__load_log *log)
{
    rad__bytes_free(&log->block);
}

static void put(rad__load_log *log, const void *data, size_t size)
{
    if (log->failed == 0) log->failed = log->sink(log->context, data, size, &log->error);
    log->written += size;
}

int rad__load_log_begin(rad__load_log *log, struct rad__load_log_header header, const char *scenario,
                        const char *changes)
{
    rad_bytes all = {0};
    memcpy(header.magic, "RADLOAD\n", sizeof header.magic);
    if (header.version != 0) log->version = header.version;
    header.version = log->version;
    header.scenario_size = (uint32_t)strlen(scenario) + 1;
    header.changes_size = (uint32_t)strlen(changes) + 1;
    header.size = (uint32_t)sizeof header + header.scenario_size + header.changes_size + 8;
    log->inputs_only = header.stripped != 0;
    rad__bytes_put(&all, &header, sizeof header);
    rad__bytes_put(&all, scenario, header.scenario_size);
    rad__bytes_put(&all, changes, header.changes_size);
    log->chain = rad__load_hash(all.data, all.size, 0);
    rad__bytes_put(&all, &log->chain, 8);
    if (all.failed)
        log->failed = rad__error_memory(&log->error);
    else
        put(log, all.data, all.size);
    rad__bytes_free(&all);
    return log->failed;
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

static void finish_block(rad__load_log *log, const char magic[4])
{
    struct rad__load_block_header head = {.size = log->block.size - HEAD,
                                          .records = log->records,
                                          .shard = log->shard,
                                          .first = log->next_record - log->records};
    memcpy(&head.magic, magic, 4);
    head.head = rad__load_hash(&head, offsetof(struct rad__load_block_header, head), 0);
    head.hash = rad__load_hash(log->block.data + HEAD, head.size, 0);
    head.chain = log->chain = rad__load_hash(&head.head, 16, log->chain);
    memcpy(log->block.data, &head, HEAD);
    put(log, log->block.data, log->block.size);
    log->blocks++;
    log->records = 0;
    log->block.size = 0;
}

static void cut_when_full(rad__load_log *log)
{
    if (RAD_UNLIKELY(log->block.size >= RAD__LOAD_BLOCK && !log->uncut)) finish_block(log, "RBLK");
}

/* Room for the header comes first, with the first record of a block. */
static bool begin_record(rad__load_log *log)
{
    static const uint8_t HOLE[HEAD];
    if (RAD_UNLIKELY(log->block.size == 0)) rad__bytes_put(&log->block, HOLE, HEAD);
    log->record_start = log->block.size;
    return log->failed == 0;
}

static void end_record(rad__load_log *log)
{
    log->records++;
    log->next_record++;
    if (RAD_UNLIKELY(log->tap != NULL) && !log->block.failed)
        log->tap(log->tap_context, log->block.data + log->record_start, log->block.size - log->record_start);
    if (RAD_UNLIKELY(log->block.failed))
        log->failed = rad__error_memory(&log->error);
    else if (log->version == 1)
        cut_when_full(log);
}

/* Before a turn begins: a block has whole turns. */
static void between_turns(rad__load_log *log)
{
    if (log->version > 1 && log->failed == 0) cut_when_full(log);
}

void rad__load_log_turn(rad__load_log *log, const struct rad__load_turn_record *turn)
{
    between_turns(log);
    if (!begin_record(log)) return;
    rad__load_put_turn(&log->block, turn);
    end_record(log);
}

void rad__load_log_input(rad__load_log *log, const rad__load_input *input, uint64_t now_ns)
{
    if (!begin_record(log)) return;
    rad__load_put_input(&log->block, input, now_ns);
    end_record(log);
}

void rad__load_log_event(rad__load_log *log, const rad__load_event *event)
{
    if (log->inputs_only || !begin_record(log)) return;
    rad__load_put_event(&log->block, event);
    end_record(log);
}

void rad__load_log_raw(rad__load_log *log, const struct rad__load_raw *raw)
{
    if (raw->kind == RAD__LOAD_RECORD_TURN) between_turns(log);
    if (!begin_record(log)) return;
    uint8_t kind = (uint8_t)raw->kind;
    rad__bytes_put(&log->block, &kind, 1);
    rad__bytes_put_varint(&log->block, raw->size);
    rad__bytes_put(&log->block, raw->bytes, raw->size);
    end_record(log);
}

void rad__load_log_flush(rad__load_log *log)
{
    if (log->records > 0 && log->failed == 0) finish_block(log, "RBLK");
}

int rad__load_log_end(rad__load_log *log)
{
    rad__load_log_flush(log);
    if (begin_record(log) && !log->block.failed) finish_block(log, "REND");
    return log->failed;
}
