/* log_write.c — an observer that writes the records of a run; see log.h.
 *
 * Between two decisions among actions the set may change many times; only the net change is written. For that each
 * action has three bits: was it a member at the last decision written, is it one now, and is it in the list of those
 * that moved since. */
#include "core/log.h"
#include "core/log_record.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/sort.h"

#include <string.h>

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
    w->size = (uint32_t)(rad__varint_write(w->block + w->size, value) - w->block);
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
        if (code < 0) rad__error(&w->error, code, "cannot write the log");
    }
    w->size = 0;
}

/* Makes room for one record of at most `need` bytes and counts it. */
static inline void write_begin(rad_log_writer *w, uint32_t need)
{
    if (RAD_UNLIKELY(w->size + need > RAD_LOG_BLOCK_MAX)) write_flush(w);
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
    if (kept > 1) rad__sort_u32(w->moved, kept); /* two or three are the rule, many come from a broadcast */
    return removed;
}

static void write_changes(rad_log_writer *w, const uint32_t *ids, uint32_t count)
{
    write_ids(w, ids, count, MEMBER_WRITTEN);
    write_ids(w, ids, count, MEMBER_NOW);
    for (uint32_t i = 0; i < count; i++) w->states[ids[i]] ^= MEMBER_WRITTEN; /* as it is now */
}

static void write_decision(rad_log_writer *w, uint32_t site, uint32_t chosen)
{
    uint32_t removed = w->moved_count ? write_settle(w) : 0;
    const uint32_t *ids = w->moved;
    uint32_t count = w->moved_count;
    for (; count > RAD_LOG_CHANGES_MAX; count -= RAD_LOG_CHANGES_MAX, ids += RAD_LOG_CHANGES_MAX) {
        uint32_t part = 0;
        for (uint32_t i = 0; i < RAD_LOG_CHANGES_MAX; i++) part += w->states[ids[i]] == MEMBER_WRITTEN;
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
    if (short_removed == LOG_COUNT_FOLLOWS) write_varint(w, removed);
    if (short_added == LOG_COUNT_FOLLOWS) write_varint(w, added);
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
    if (!(*state & MOVED)) w->moved[w->moved_count++] = action;
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
    if (RAD_UNLIKELY(w->error.code != 0)) rad__kernel_error(k, w->error.code, w->error.text);
}

/* ---- Life ----------------------------------------------------------------------------------------- */

int rad__log_writer_open(rad_log_writer **out, void *context, rad_log_emit emit, rad_error *error)
{
    rad_log_writer *w = rad__alloc(1, sizeof *w);
    *out = w;
    if (w == NULL) return rad__error_memory(error);
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
    RAD_ASSERT(w->error.code != 0 || k->outcome == RAD_OUTCOME_FINISHED || k->outcome == RAD_OUTCOME_FAILED ||
               k->outcome == RAD_OUTCOME_CUT);
    write_begin(w, 64);
    w->block[w->size++] = LOG_TYPE_OTHER | LOG_OTHER_END << 2;
    write_varint(w, rad__log_result(k));
    write_varint(w, k->step);
    write_varint(w, w->decisions);
    rad_digest digest = rad__kernel_digest(k);
    memcpy(w->block + w->size, &digest, sizeof digest);
    w->size += (uint32_t)sizeof digest;
    write_flush(w);
    if (w->error.code != 0) return rad__error(error, w->error.code, "%s", w->error.text);
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
