/* log_read.c — reads the records of a log; see log.h. Believes nothing.
 *
 * R1  members[a] says whether action a is in the set of the last decision read; member_count counts them.
 * R2  a record is given out only when everything in it has been checked.
 * R3  after the first error nothing more is given out. */
#include "core/log.h"
#include "core/log_record.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

struct rad_log_reader {
    void *context;
    rad_log_refill refill;
    char *name;
    const uint8_t *begin, *at, *end; /* of the block */
    uint64_t before;                 /* bytes in the blocks before this one */
    const uint8_t *record;           /* where the record under way began */
    uint64_t records, decisions;
    uint8_t *members;
    uint32_t capacity; /* of members */
    uint32_t member_count;
    uint32_t defined;
    uint32_t actor; /* of the last DEFINE */
    uint32_t ids[RAD_LOG_CHANGES_MAX];
    bool ended, failed;
};

static const uint8_t read_nothing[1]; /* the block before the first and after the last */

/* ---- Errors --------------------------------------------------------------------------------------- */

static int read_bad(rad_log_reader *r, rad_error *error, const char *format, ...) RAD_PRINTF(3, 4);
static int read_bad(rad_log_reader *r, rad_error *error, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    r->failed = true;
    return rad__error(error, RAD_EINPUT, "%s: record %llu (byte %llu): %s", r->name, (unsigned long long)r->records,
                      (unsigned long long)(r->before + (uint64_t)(r->record - r->begin)), what);
}

/* ---- Bytes ---------------------------------------------------------------------------------------- */

/* False past the end of the block or beyond 64 bits. */
static inline bool read_varint(rad_log_reader *r, uint64_t *value)
{
    rad_reader in = rad__reader(r->at, (size_t)(r->end - r->at));
    *value = rad__read_short_varint(&in);
    r->at = in.at;
    return !in.failed;
}

/* A number below 2^32. */
static inline bool read_u32(rad_log_reader *r, uint32_t *value)
{
    uint64_t wide;
    bool ok = read_varint(r, &wide) && wide <= UINT32_MAX;
    *value = ok ? (uint32_t)wide : 0;
    return ok;
}

static int read_cut(rad_log_reader *r, rad_error *error)
{
    return read_bad(r, error, "expected a number, found %s",
                    r->at >= r->end ? "the end of the block" : "one that is too large");
}

/* ---- Blocks --------------------------------------------------------------------------------------- */

/* 1 when there is a byte to read, 0 at the end of the log. */
static int read_block(rad_log_reader *r, rad_error *error)
{
    uint32_t size = 0;
    uint64_t record, decision;
    r->before += (uint64_t)(r->end - r->begin);
    r->begin = r->at = r->end = r->record = read_nothing;
    const uint8_t *block = NULL;
    int got = r->refill(r->context, &block, &size, error);
    if (got <= 0) {
        r->failed = got < 0;
        return got;
    }
    r->begin = r->at = r->record = block;
    r->end = r->begin + size;
    if (!read_varint(r, &record) || !read_varint(r, &decision)) return read_cut(r, error);
    if (r->ended) return 1; /* the caller complains */
    if (decision != r->decisions) {
        return read_bad(r, error, "sequence gap: expected decision %llu, found %llu", (unsigned long long)r->decisions,
                        (unsigned long long)decision);
    }
    if (record != r->records) {
        return read_bad(r, error, "sequence gap: expected record %llu, found %llu", (unsigned long long)r->records,
                        (unsigned long long)record);
    }
    if (r->at == r->end) return read_bad(r, error, "expected a record, found the end of the block");
    return 1;
}

/* ---- Records -------------------------------------------------------------------------------------- */

static int read_define(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    uint32_t step, object;
    rad_log_action *a = &out->definition;
    if (!read_u32(r, &a->kind) || !read_u32(r, &step) || !read_u32(r, &object) || !read_varint(r, &a->argument))
        return read_cut(r, error);
    if (r->defined == RAD_LOG_ACTIONS_MAX) return read_bad(r, error, "more than %d actions", RAD_LOG_ACTIONS_MAX);
    if (!RAD_GROW(&r->members, &r->capacity, r->defined + 1)) {
        r->failed = true;
        return rad__error_memory(error);
    }
    a->actor = r->actor + (step >> 1 ^ (uint32_t) - (step & 1));
    a->object = object - 1;
    r->actor = a->actor;
    r->members[r->defined] = 0;
    out->what = RAD_LOG_DEFINE;
    out->action = r->defined++;
    return 1;
}

/* `count` ascending numbers of actions that all are (or are not) members, into ids; toggles them. */
static int read_ids(rad_log_reader *r, uint32_t *ids, uint32_t count, bool member, rad_error *error)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t distance;
        if (!read_varint(r, &distance)) return read_cut(r, error);
        if (distance >= r->defined || next + distance >= r->defined) {
            bool huge = distance > UINT64_MAX - next;
            return read_bad(r, error, "action %llu out of range: %u are defined",
                            (unsigned long long)(huge ? UINT64_MAX : next + distance), (unsigned)r->defined);
        }
        uint32_t action = (uint32_t)(next + distance);
        if (r->members[action] != member) {
            return read_bad(r, error,
                            member ? "removes action %u, which is not in the set"
                                   : "adds action %u, which is in the set already",
                            (unsigned)action);
        }
        r->members[action] = !member;
        ids[i] = action;
        next = (uint64_t)action + 1;
    }
    r->member_count += member ? -count : count;
    return 1;
}

static int read_changes(rad_log_reader *r, rad_log_record *out, uint64_t removed, uint64_t added, rad_error *error)
{
    if (removed > RAD_LOG_CHANGES_MAX || added > RAD_LOG_CHANGES_MAX - removed)
        return read_bad(r, error, "more than %d changes in one record", RAD_LOG_CHANGES_MAX);
    out->removed = r->ids;
    out->removed_count = (uint32_t)removed;
    out->added = r->ids + removed;
    out->added_count = (uint32_t)added;
    int code = read_ids(r, r->ids, out->removed_count, true, error);
    return code < 0 ? code : read_ids(r, r->ids + removed, out->added_count, false, error);
}

static int read_sequence(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    if (r->decisions == RAD_CHOICES_MAX) return read_bad(r, error, "more than %d decisions", RAD_CHOICES_MAX);
    out->sequence = r->decisions++;
    return 1;
}

static int read_decision(rad_log_reader *r, uint8_t head, rad_log_record *out, rad_error *error)
{
    uint64_t removed = head >> 2 & 7, added = head >> 5;
    uint32_t site, chosen;
    if ((removed == LOG_COUNT_FOLLOWS && !read_varint(r, &removed)) ||
        (added == LOG_COUNT_FOLLOWS && !read_varint(r, &added)) || !read_u32(r, &site) || !read_u32(r, &chosen))
        return read_cut(r, error);
    int code = read_changes(r, out, removed, added, error);
    if (code < 0) return code;
    if (chosen >= r->defined) {
        return read_bad(r, error, "chosen action %u out of range: %u are defined", (unsigned)chosen,
                        (unsigned)r->defined);
    }
    if (!r->members[chosen]) return read_bad(r, error, "chosen action %u is not in the set", (unsigned)chosen);
    if (r->member_count < 2)
        return read_bad(r, error, "a decision needs a set of two or more, found %u", (unsigned)r->member_count);
    out->what = RAD_LOG_DECISION;
    out->kind = RAD_PICK_ACTION;
    out->site = site - 1;
    out->count = r->member_count;
    out->chosen = chosen;
    return read_sequence(r, out, error);
}

static int read_pick(rad_log_reader *r, uint8_t head, rad_log_record *out, rad_error *error)
{
    uint32_t site;
    out->what = RAD_LOG_PICK;
    out->kind = head >> 2;
    if (out->kind == RAD_PICK_ACTION || out->kind >= RAD_PICK_KINDS)
        return read_bad(r, error, "unknown kind of choice %u", (unsigned)out->kind);
    if (!read_u32(r, &site) || !read_u32(r, &out->count) || !read_u32(r, &out->chosen)) return read_cut(r, error);
    out->site = site - 1;
    if (out->count < 2) return read_bad(r, error, "a choice needs two or more values, found %u", (unsigned)out->count);
    if (out->chosen >= out->count)
        return read_bad(r, error, "index %u out of range: %u values", (unsigned)out->chosen, (unsigned)out->count);
    return read_sequence(r, out, error);
}

static int read_end(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    uint64_t result;
    out->what = RAD_LOG_END;
    if (!read_varint(r, &result) || !read_varint(r, &out->steps) || !read_varint(r, &out->decisions))
        return read_cut(r, error);
    if ((size_t)(r->end - r->at) < sizeof out->digest)
        return read_bad(r, error, "expected a digest, found the end of the block");
    memcpy(&out->digest, r->at, sizeof out->digest);
    r->at += sizeof out->digest;
    if (result > RAD_LOG_CUT) return read_bad(r, error, "unknown result %llu", (unsigned long long)result);
    if (out->decisions != r->decisions) {
        return read_bad(r, error, "the end record counts %llu decisions, found %llu",
                        (unsigned long long)out->decisions, (unsigned long long)r->decisions);
    }
    out->result = (enum rad_log_result)result;
    r->ended = true;
    if (r->at == r->end) {
        int got = read_block(r, error);
        if (got <= 0) return got < 0 ? got : 1;
    }
    r->record = r->at;
    r->records++;
    return read_bad(r, error, "data after the end record");
}

static int read_record(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    uint8_t head = *r->at++;
    switch (head & 3) {
    case LOG_TYPE_DECISION: return read_decision(r, head, out, error);
    case LOG_TYPE_PICK: return read_pick(r, head, out, error);
    case LOG_TYPE_DEFINE:
        if (head >> 2 == 0) return read_define(r, out, error);
        break;
    default:
        if (head >> 2 == LOG_OTHER_END) return read_end(r, out, error);
        if (head >> 2 == LOG_OTHER_CHANGES) {
            uint64_t removed, added;
            if (!read_varint(r, &removed) || !read_varint(r, &added)) return read_cut(r, error);
            out->what = RAD_LOG_CHANGES;
            return read_changes(r, out, removed, added, error);
        }
    }
    return read_bad(r, error, "unknown record type %u", (unsigned)head);
}

int rad__log_next(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    if (r->failed) return rad__error(error, RAD_EINPUT, "%s: reading failed before", r->name);
    if (r->ended) return 0;
    if (r->at == r->end) {
        int got = read_block(r, error);
        if (got < 0) return got;
        if (got == 0) return read_bad(r, error, "the log ends without its end record");
    }
    r->record = r->at;
    out->number = r->records;
    int code = read_record(r, out, error);
    if (code > 0) r->records++;
    return code;
}

/* ---- Life ----------------------------------------------------------------------------------------- */

int rad__log_reader_open(rad_log_reader **out, const char *name, void *context, rad_log_refill refill, rad_error *error)
{
    rad_log_reader *r = rad__alloc(1, sizeof *r);
    char *copy = rad__copy_text(name);
    *out = NULL;
    if (r == NULL || copy == NULL) {
        rad__free(r);
        rad__free(copy);
        return rad__error_memory(error);
    }
    r->name = copy;
    r->context = context;
    r->refill = refill;
    r->begin = r->at = r->end = r->record = read_nothing;
    *out = r;
    return 0;
}

void rad__log_reader_close(rad_log_reader *r)
{
    if (r != NULL) {
        rad__free(r->members);
        rad__free(r->name);
        rad__free(r);
    }
}
