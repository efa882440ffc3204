/* read.c — a log, block by block, each checked before anything in it is believed. */
#include "base/error.h"
#include "load/log/hash.h"
#include "load/log/log.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { HEAD = sizeof(struct rad__load_block_header) };

static bool texts_end(const rad__load_log_reader *r)
{
    const struct rad__load_log_header *h = &r->header;
    return h->scenario_size > 0 && h->changes_size > 0 &&
           strnlen(r->scenario, h->scenario_size) == h->scenario_size - 1 &&
           strnlen(r->changes, h->changes_size) == h->changes_size - 1;
}

static const char *header_wrong(const struct rad__load_log_header *h)
{
    if (h->shards == 0 || h->shards > 4096) return "an impossible number of shards";
    if (h->tick_ns == 0) return "a tick of no length";
    if (h->level != RAD__LOAD_LEVEL_SIMULATED && h->level != RAD__LOAD_LEVEL_RECORDED) return "an unknown level";
    if (h->stripped > 1) return "an unknown kind of log";
    return NULL;
}

static const char MAGIC[8] = "RADLOAD\n";

bool rad__load_log_is_stub(const void *data, size_t size)
{
    struct rad__load_log_header h;
    size_t known = size < sizeof MAGIC ? size : sizeof MAGIC;
    if (known > 0 && memcmp(data, MAGIC, known) != 0) return false;
    if (size < sizeof h) return true;
    memcpy(&h, data, sizeof h);
    bool known_version = h.version >= RAD__LOAD_LOG_OLDEST && h.version <= RAD__LOAD_LOG_VERSION;
    bool adds_up = h.size == sizeof h + (uint64_t)h.scenario_size + h.changes_size + 8;
    return known_version && adds_up && h.size > size;
}

int rad__load_log_read(rad__load_log_reader *r, const char *name, const void *data, size_t size, rad_error *error)
{
    *r = (rad__load_log_reader){.name = name, .data = data, .size = size};
    struct rad__load_log_header *h = &r->header;
    if (rad__load_log_is_stub(data, size))
        return rad__error(error, RAD_EINPUT, "%s: cut off inside its header, after %zu bytes: 0 turns, 0 records", name,
                          size);
    if (size < sizeof *h || memcmp(data, MAGIC, sizeof MAGIC) != 0)
        return rad__error(error, RAD_EINPUT, "%s: not an event log of raddle load (expected it to begin with RADLOAD)",
                          name);
    memcpy(h, data, sizeof *h);
    if (h->version < RAD__LOAD_LOG_OLDEST || h->version > RAD__LOAD_LOG_VERSION)
        return rad__error(error, RAD_EINPUT,
                          "%s: version %" PRIu32 " of the log; this raddle reads versions %d to %d%s", name, h->version,
                          RAD__LOAD_LOG_OLDEST, RAD__LOAD_LOG_VERSION,
                          h->version > RAD__LOAD_LOG_VERSION ? ": use the one that wrote it" : "");
    uint64_t texts = (uint64_t)h->scenario_size + h->changes_size;
    if (h->size != sizeof *h + texts + 8)
        return rad__error(error, RAD_EINPUT, "%s: the header is damaged: its sizes do not add up", name);
    uint64_t hash = rad__load_hash(r->data, h->size - 8, 0);
    if (memcmp(&hash, r->data + h->size - 8, 8) != 0)
        return rad__error(error, RAD_EINPUT, "%s: the header is damaged: its hash does not fit", name);
    r->scenario = (const char *)r->data + sizeof *h;
    r->changes = r->scenario + h->scenario_size;
    const char *wrong = texts_end(r) ? header_wrong(h) : "a text without end";
    if (wrong != NULL) return rad__error(error, RAD_EINPUT, "%s: the header has %s", name, wrong);
    r->chain = hash;
    r->at = h->size;
    return 0;
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

static int damaged(rad__load_log_reader *r, const char *what, rad_error *error)
{
    return rad__error(error, RAD_EINPUT,
                      "%s: block %" PRIu64 " at byte %" PRIu64 " is damaged (after record %" PRIu64 "): %s", r->name,
                      r->blocks + 1, r->at, r->record, what);
}

static int read_block(rad__load_log_reader *r, rad_error *error)
{
    uint64_t left = r->size - r->at;
    if (r->stop != NULL && *r->stop != 0)
        return rad__error(error, RAD_EINTERRUPTED, "%s: interrupted after record %" PRIu64, r->name, r->record);
    if (left < HEAD) {
        r->cut_off = true;
        return 0;
    }
    struct rad__load_block_header *b = &r->block;
    memcpy(b, r->data + r->at, HEAD);
    bool end = memcmp(&b->magic, "REND", 4) == 0;
    if (!end && memcmp(&b->magic, "RBLK", 4) != 0) return damaged(r, "it does not begin like a block", error);
    if (b->head != rad__load_hash(b, offsetof(struct rad__load_block_header, head), 0))
        return damaged(r, "the hash of its header does not fit", error);
    if (b->size > left - HEAD) {
        r->cut_off = true;
        return 0;
    }
    const uint8_t *records = r->data + r->at + HEAD;
    if (b->hash != rad__load_hash(records, b->size, 0))
        return damaged(r, "the hash of its records does not fit", error);
    r->chain = rad__load_hash(&b->head, 16, r->chain);
    if (b->chain != r->chain) return damaged(r, "it does not follow the block before it", error);
    if (b->first != r->record + 1) return damaged(r, "its records are misnumbered", error);
    if (b->shard >= r->header.shards) return damaged(r, "it belongs to a shard that does not exist", error);
    if (end && (b->size != 0 || r->at + HEAD != r->size)) return damaged(r, "something follows the end", error);
    r->records = rad__reader(records, b->size);
    r->at += HEAD + (uint64_t)b->size;
    r->blocks++;
    r->ended = end;
    return end ? 0 : 1;
}

int rad__load_log_next(rad__load_log_reader *r, struct rad__load_raw *raw, rad_error *error)
{
    while (r->records.at == r->records.end) {
        if (r->blocks > 0 && r->record + 1 != r->block.first + r->block.records)
            return damaged(r, "the block before it has another number of records than it says", error);
        if (r->ended || r->cut_off) return 0;
        int got = read_block(r, error);
        if (got != 1) return got;
    }
    r->record++;
    if (!rad__load_get_raw(&r->records, raw))
        return rad__error(error, RAD_EINPUT, "%s: record %" PRIu64 " is not one of ours", r->name, r->record);
    return 1;
}

int rad__load_log_survey(const rad__load_log_reader *from, struct rad__load_extent *extent, rad_error *error)
{
    rad__load_log_reader r = *from;
    struct rad__load_raw raw;
    int got;
    *extent = (struct rad__load_extent){0};
    while ((got = rad__load_log_next(&r, &raw, error)) == 1) extent->turns += raw.kind == RAD__LOAD_RECORD_TURN;
    extent->records = r.record;
    extent->cut_off = r.cut_off;
    return got;
}
