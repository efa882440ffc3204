/* log.c — records of a log: the writer (an observer of a run) and the reader; see log.h.
 *
 * The first byte of a record: its type in the low two bits, six bits more by type.
 *     DECISION  removed count (3 bits), added count (3 bits); 7 means that the count follows
 *     PICK      kind
 *     DEFINE    0
 *     OTHER     0 = CHANGES, 1 = END
 *
 * Writer: between two decisions among actions the set may change many times; only the net change is
 * written. For that each action has three bits: was it a member at the last decision written, is it one
 * now, and is it in the list of those that moved since.
 *
 * Reader: believes nothing.
 * R1  members[a] says whether action a is in the set of the last decision read; member_count counts them.
 * R2  a record is given out only when everything in it has been checked.
 * R3  after the first error nothing more is given out. */
#include "core/log.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

enum { LOG_TYPE_DECISION = 0, LOG_TYPE_PICK = 1, LOG_TYPE_DEFINE = 2, LOG_TYPE_OTHER = 3 };
enum { LOG_OTHER_CHANGES = 0, LOG_OTHER_END = 1 };
enum { LOG_COUNT_FOLLOWS = 7 };

/* ==== Writer ======================================================================================= */

enum { MEMBER_WRITTEN = 1, MEMBER_NOW = 2, MOVED = 4 };

/* The longest record: all changes as five-byte numbers, and some fields. */
enum { RECORD_MAX = RAD_LOG_CHANGES_MAX * 5 + 64 };
_Static_assert(RAD_LOG_BLOCK_HEAD_MAX + RECORD_MAX <= RAD_LOG_BLOCK_MAX, "W2");

struct rad_log_writer {
    rad_observer observer; /* first: the kernel hands it back */
    void *context;
    rad_log_emit emit;
    rad_error error;   /* sticky */
    uint8_t *states;   /* per action, the bits above */
    uint32_t capacity; /* of states */
    uint32_t *moved;
    uint32_t moved_count, moved_capacity;
    uint32_t defined; /* actions written so far */
    uint32_t actor;   /* of the last DEFINE */
    uint64_t records, decisions;
    uint32_t size; /* of the block so far */
    uint8_t block[RAD_LOG_BLOCK_MAX];
};

/* ---- Bytes ---------------------------------------------------------------------------------------- */

static inline void write_varint(rad_log_writer *w, uint64_t value)
{
    uint8_t *at = w->block + w->size;
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    w->size = (uint32_t)(at - w->block);
}

/* RAD_NONE becomes 0: it is frequent and must be short. */
static inline void write_number(rad_log_writer *w, uint32_t number)
{
    write_varint(w, (uint32_t)(number + 1));
}

static void write_flush(rad_log_writer *w)
{
    if (w->error.code == 0 && w->size > 0) {
        int code = w->emit(w->context, w->block, w->size, &w->error);
        if (code < 0) {
            rad__error(&w->error, code, "cannot write the log");
        }
    }
    w->size = 0;
}

/* Makes room for one record of at most `need` bytes and counts it. */
static inline void write_begin(rad_log_writer *w, uint32_t need)
{
    if (RAD_UNLIKELY(w->size + need > RAD_LOG_BLOCK_MAX)) {
        write_flush(w);
    }
    if (RAD_UNLIKELY(w->size == 0)) {
        write_varint(w, w->records);
        write_varint(w, w->decisions);
    }
    w->records++;
}

/* ---- Records -------------------------------------------------------------------------------------- */

static void write_definitions(rad_log_writer *w, const rad_kernel *k)
{
    for (; w->defined < k->action_count; w->defined++) {
        const rad_action_entry *a = &k->actions[w->defined];
        uint32_t step = a->actor - w->actor; /* modulo 2^32; folded so that -1 is short too */
        write_begin(w, 64);
        w->block[w->size++] = LOG_TYPE_DEFINE;
        write_varint(w, a->kind);
        write_varint(w, step << 1 ^ (uint32_t) - (step >> 31));
        write_number(w, a->object);
        write_varint(w, a->argument);
        w->actor = a->actor;
    }
}

/* Ascending, so the first is written as it is and the others as distances. */
static void write_ids(rad_log_writer *w, const uint32_t *ids, uint32_t count, uint8_t state)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (w->states[ids[i]] == state) {
            write_varint(w, ids[i] - next);
            next = ids[i] + 1;
        }
    }
}

/* Ascending; two or three are the rule, many come from a broadcast. */
static void write_sort(uint32_t *items, uint32_t count)
{
    uint32_t gap = 1;
    while (gap < count / 3) {
        gap = gap * 3 + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (uint32_t i = gap; i < count; i++) {
            uint32_t item = items[i], at = i;
            for (; at >= gap && items[at - gap] > item; at -= gap) {
                items[at] = items[at - gap];
            }
            items[at] = item;
        }
    }
}

/* Keeps of `moved` what really differs from the last decision written; says how many of them left. */
static uint32_t write_settle(rad_log_writer *w)
{
    uint32_t kept = 0, removed = 0;
    for (uint32_t i = 0; i < w->moved_count; i++) {
        uint32_t action = w->moved[i];
        uint8_t *state = &w->states[action];
        *state &= (uint8_t)~MOVED;
        if (*state == MEMBER_WRITTEN || *state == MEMBER_NOW) {
            w->moved[kept++] = action;
            removed += *state == MEMBER_WRITTEN;
        }
    }
    w->moved_count = kept;
    if (kept > 1) {
        write_sort(w->moved, kept);
    }
    return removed;
}

static void write_changes(rad_log_writer *w, const uint32_t *ids, uint32_t count)
{
    write_ids(w, ids, count, MEMBER_WRITTEN);
    write_ids(w, ids, count, MEMBER_NOW);
    for (uint32_t i = 0; i < count; i++) {
        w->states[ids[i]] ^= MEMBER_WRITTEN; /* as it is now */
    }
}

static void write_decision(rad_log_writer *w, uint32_t site, uint32_t chosen)
{
    uint32_t removed = w->moved_count ? write_settle(w) : 0;
    const uint32_t *ids = w->moved;
    uint32_t count = w->moved_count;
    for (; count > RAD_LOG_CHANGES_MAX; count -= RAD_LOG_CHANGES_MAX, ids += RAD_LOG_CHANGES_MAX) {
        uint32_t part = 0;
        for (uint32_t i = 0; i < RAD_LOG_CHANGES_MAX; i++) {
            part += w->states[ids[i]] == MEMBER_WRITTEN;
        }
        write_begin(w, RECORD_MAX);
        w->block[w->size++] = LOG_TYPE_OTHER | LOG_OTHER_CHANGES << 2;
        write_varint(w, part);
        write_varint(w, RAD_LOG_CHANGES_MAX - part);
        write_changes(w, ids, RAD_LOG_CHANGES_MAX);
        removed -= part;
    }
    uint32_t added = count - removed;
    uint32_t short_removed = removed < LOG_COUNT_FOLLOWS ? removed : LOG_COUNT_FOLLOWS;
    uint32_t short_added = added < LOG_COUNT_FOLLOWS ? added : LOG_COUNT_FOLLOWS;
    write_begin(w, count * 5 + 64);
    w->block[w->size++] = (uint8_t)(LOG_TYPE_DECISION | short_removed << 2 | short_added << 5);
    if (short_removed == LOG_COUNT_FOLLOWS) {
        write_varint(w, removed);
    }
    if (short_added == LOG_COUNT_FOLLOWS) {
        write_varint(w, added);
    }
    write_number(w, site);
    write_varint(w, chosen);
    write_changes(w, ids, count);
    w->moved_count = 0;
}

static void write_pick(rad_log_writer *w, const rad_decision *d, uint32_t chosen)
{
    write_begin(w, 64);
    w->block[w->size++] = (uint8_t)(LOG_TYPE_PICK | (uint32_t)d->kind << 2);
    write_number(w, d->site);
    write_varint(w, d->count);
    write_varint(w, chosen);
}

/* ---- The observer --------------------------------------------------------------------------------- */

static void log_begin(rad_observer *o, rad_kernel *k)
{
    rad_log_writer *w = (rad_log_writer *)o;
    (void)k;
    RAD_ASSERT(w->records == 0); /* one writer, one run */
}

static void log_changed(rad_observer *o, rad_kernel *k, uint32_t action, bool enabled)
{
    rad_log_writer *w = (rad_log_writer *)o;
    if (!RAD_GROW(&w->states, &w->capacity, action + 1) ||
        !RAD_GROW(&w->moved, &w->moved_capacity, w->moved_count + 1)) {
        rad__error_memory(&w->error);
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in the log");
        return;
    }
    uint8_t *state = &w->states[action];
    if (!(*state & MOVED)) {
        w->moved[w->moved_count++] = action;
    }
    *state = (uint8_t)((*state & MEMBER_WRITTEN) | MOVED | (enabled ? MEMBER_NOW : 0));
}

static void log_decided(rad_observer *o, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    rad_log_writer *w = (rad_log_writer *)o;
    if (k->action_count > RAD_LOG_ACTIONS_MAX) {
        rad__error(&w->error, RAD_ELIMIT, "more than %d actions in one log", RAD_LOG_ACTIONS_MAX);
    } else if (w->decisions >= RAD_CHOICES_MAX) {
        rad__error(&w->error, RAD_ELIMIT, "more than %d decisions in one log", RAD_CHOICES_MAX);
    } else if (d->kind != RAD_PICK_ACTION) {
        write_pick(w, d, chosen);
    } else {
        write_definitions(w, k);
        write_decision(w, d->site, rad__action_at(k, d, chosen));
    }
    w->decisions++;
    if (RAD_UNLIKELY(w->error.code != 0)) {
        rad__kernel_error(k, w->error.code, w->error.text);
    }
}

/* ---- Life ----------------------------------------------------------------------------------------- */

int rad__log_writer_open(rad_log_writer **out, void *context, rad_log_emit emit, rad_error *error)
{
    rad_log_writer *w = rad__alloc(1, sizeof *w);
    *out = w;
    if (w == NULL) {
        return rad__error_memory(error);
    }
    w->observer = (rad_observer){
        .begin = log_begin,
        .changed = log_changed,
        .decided = log_decided,
    };
    w->context = context;
    w->emit = emit;
    return 0;
}

rad_observer *rad__log_writer_observer(rad_log_writer *w)
{
    return &w->observer;
}

enum rad_log_result rad__log_result(const rad_kernel *k)
{
    switch (k->outcome) {
    case RAD_OUTCOME_FAILED: return RAD_LOG_FAILED;
    case RAD_OUTCOME_CUT: return RAD_LOG_CUT;
    default: return RAD_LOG_FINISHED;
    }
}

int rad__log_writer_finish(rad_log_writer *w, const rad_kernel *k, rad_error *error)
{
    RAD_ASSERT(w->error.code != 0 || k->outcome == RAD_OUTCOME_FINISHED ||
               k->outcome == RAD_OUTCOME_FAILED || k->outcome == RAD_OUTCOME_CUT);
    write_begin(w, 64);
    w->block[w->size++] = LOG_TYPE_OTHER | LOG_OTHER_END << 2;
    write_varint(w, rad__log_result(k));
    write_varint(w, k->step);
    write_varint(w, w->decisions);
    rad_digest digest = rad__kernel_digest(k);
    memcpy(w->block + w->size, &digest, sizeof digest);
    w->size += (uint32_t)sizeof digest;
    write_flush(w);
    if (w->error.code != 0) {
        return rad__error(error, w->error.code, "%s", w->error.text);
    }
    return 0;
}

void rad__log_writer_close(rad_log_writer *w)
{
    if (w != NULL) {
        rad__free(w->states);
        rad__free(w->moved);
        rad__free(w);
    }
}

/* ==== Reader ======================================================================================= */

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
    return rad__error(error, RAD_EINPUT, "%s: record %llu (byte %llu): %s", r->name,
                      (unsigned long long)r->records,
                      (unsigned long long)(r->before + (uint64_t)(r->record - r->begin)), what);
}

/* ---- Bytes ---------------------------------------------------------------------------------------- */

/* False past the end of the block or beyond 64 bits. */
static inline bool read_varint(rad_log_reader *r, uint64_t *value)
{
    if (RAD_LIKELY(r->at < r->end && *r->at < 0x80)) {
        *value = *r->at++;
        return true;
    }
    rad_reader in = rad__reader(r->at, (size_t)(r->end - r->at));
    *value = rad__read_varint(&in);
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
    if (!read_varint(r, &record) || !read_varint(r, &decision)) {
        return read_cut(r, error);
    }
    if (r->ended) {
        return 1; /* the caller complains */
    }
    if (decision != r->decisions) {
        return read_bad(r, error, "sequence gap: expected decision %llu, found %llu",
                        (unsigned long long)r->decisions, (unsigned long long)decision);
    }
    if (record != r->records) {
        return read_bad(r, error, "sequence gap: expected record %llu, found %llu",
                        (unsigned long long)r->records, (unsigned long long)record);
    }
    if (r->at == r->end) {
        return read_bad(r, error, "expected a record, found the end of the block");
    }
    return 1;
}

/* ---- Records -------------------------------------------------------------------------------------- */

static int read_define(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    uint32_t step, object;
    rad_log_action *a = &out->definition;
    if (!read_u32(r, &a->kind) || !read_u32(r, &step) || !read_u32(r, &object) ||
        !read_varint(r, &a->argument)) {
        return read_cut(r, error);
    }
    if (r->defined == RAD_LOG_ACTIONS_MAX) {
        return read_bad(r, error, "more than %d actions", RAD_LOG_ACTIONS_MAX);
    }
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
        if (!read_varint(r, &distance)) {
            return read_cut(r, error);
        }
        if (distance >= r->defined || next + distance >= r->defined) {
            bool huge = distance > UINT64_MAX - next;
            return read_bad(r, error, "action %llu out of range: %u are defined",
                            (unsigned long long)(huge ? UINT64_MAX : next + distance),
                            (unsigned)r->defined);
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

static int read_changes(rad_log_reader *r, rad_log_record *out, uint64_t removed, uint64_t added,
                        rad_error *error)
{
    if (removed > RAD_LOG_CHANGES_MAX || added > RAD_LOG_CHANGES_MAX - removed) {
        return read_bad(r, error, "more than %d changes in one record", RAD_LOG_CHANGES_MAX);
    }
    out->removed = r->ids;
    out->removed_count = (uint32_t)removed;
    out->added = r->ids + removed;
    out->added_count = (uint32_t)added;
    int code = read_ids(r, r->ids, out->removed_count, true, error);
    return code < 0 ? code : read_ids(r, r->ids + removed, out->added_count, false, error);
}

static int read_sequence(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    if (r->decisions == RAD_CHOICES_MAX) {
        return read_bad(r, error, "more than %d decisions", RAD_CHOICES_MAX);
    }
    out->sequence = r->decisions++;
    return 1;
}

static int read_decision(rad_log_reader *r, uint8_t head, rad_log_record *out, rad_error *error)
{
    uint64_t removed = head >> 2 & 7, added = head >> 5;
    uint32_t site, chosen;
    if ((removed == LOG_COUNT_FOLLOWS && !read_varint(r, &removed)) ||
        (added == LOG_COUNT_FOLLOWS && !read_varint(r, &added)) || !read_u32(r, &site) ||
        !read_u32(r, &chosen)) {
        return read_cut(r, error);
    }
    int code = read_changes(r, out, removed, added, error);
    if (code < 0) {
        return code;
    }
    if (chosen >= r->defined) {
        return read_bad(r, error, "chosen action %u out of range: %u are defined", (unsigned)chosen,
                        (unsigned)r->defined);
    }
    if (!r->members[chosen]) {
        return read_bad(r, error, "chosen action %u is not in the set", (unsigned)chosen);
    }
    if (r->member_count < 2) {
        return read_bad(r, error, "a decision needs a set of two or more, found %u",
                        (unsigned)r->member_count);
    }
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
    if (out->kind == RAD_PICK_ACTION || out->kind >= RAD_PICK_KINDS) {
        return read_bad(r, error, "unknown kind of choice %u", (unsigned)out->kind);
    }
    if (!read_u32(r, &site) || !read_u32(r, &out->count) || !read_u32(r, &out->chosen)) {
        return read_cut(r, error);
    }
    out->site = site - 1;
    if (out->count < 2) {
        return read_bad(r, error, "a choice needs two or more values, found %u",
                        (unsigned)out->count);
    }
    if (out->chosen >= out->count) {
        return read_bad(r, error, "index %u out of range: %u values", (unsigned)out->chosen,
                        (unsigned)out->count);
    }
    return read_sequence(r, out, error);
}

static int read_end(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    uint64_t result;
    out->what = RAD_LOG_END;
    if (!read_varint(r, &result) || !read_varint(r, &out->steps) ||
        !read_varint(r, &out->decisions)) {
        return read_cut(r, error);
    }
    if ((size_t)(r->end - r->at) < sizeof out->digest) {
        return read_bad(r, error, "expected a digest, found the end of the block");
    }
    memcpy(&out->digest, r->at, sizeof out->digest);
    r->at += sizeof out->digest;
    if (result > RAD_LOG_CUT) {
        return read_bad(r, error, "unknown result %llu", (unsigned long long)result);
    }
    if (out->decisions != r->decisions) {
        return read_bad(r, error, "the end record counts %llu decisions, found %llu",
                        (unsigned long long)out->decisions, (unsigned long long)r->decisions);
    }
    out->result = (enum rad_log_result)result;
    r->ended = true;
    if (r->at == r->end) {
        int got = read_block(r, error);
        if (got <= 0) {
            return got < 0 ? got : 1;
        }
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
        if (head >> 2 == 0) {
            return read_define(r, out, error);
        }
        break;
    default:
        if (head >> 2 == LOG_OTHER_END) {
            return read_end(r, out, error);
        }
        if (head >> 2 == LOG_OTHER_CHANGES) {
            uint64_t removed, added;
            if (!read_varint(r, &removed) || !read_varint(r, &added)) {
                return read_cut(r, error);
            }
            out->what = RAD_LOG_CHANGES;
            return read_changes(r, out, removed, added, error);
        }
    }
    return read_bad(r, error, "unknown record type %u", (unsigned)head);
}

int rad__log_next(rad_log_reader *r, rad_log_record *out, rad_error *error)
{
    if (r->failed) {
        return rad__error(error, RAD_EINPUT, "%s: reading failed before", r->name);
    }
    if (r->ended) {
        return 0;
    }
    if (r->at == r->end) {
        int got = read_block(r, error);
        if (got < 0) {
            return got;
        }
        if (got == 0) {
            return read_bad(r, error, "the log ends without its end record");
        }
    }
    r->record = r->at;
    out->number = r->records;
    int code = read_record(r, out, error);
    if (code > 0) {
        r->records++;
    }
    return code;
}

/* ---- Life ----------------------------------------------------------------------------------------- */

int rad__log_reader_open(rad_log_reader **out, const char *name, void *context,
                         rad_log_refill refill, rad_error *error)
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
