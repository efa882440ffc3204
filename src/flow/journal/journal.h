/* journal.h — what a case has lived through, as bytes that are only ever appended to.
 *
 *     header   magic, version of the format, size, checksum, then: who wrote it, hash of the flow's text, its name, the
 *              case, policy, seed, the time, and the data it began with
 *     record   size, sequence, type, checksum of these, a mark, the payload, its checksum, another mark
 *
 * A case is its inputs: INPUT records have the step before which each was fed and the digest of the trace up to there,
 * so a reader who feeds them again knows at each of them that he is on the same way. The others are about effects:
 * which were begun, so that none is begun twice.
 *
 * A writer that dies leaves a record cut short, or, when the machine dies, a file that ends in zeros which were never
 * written. Both are a torn end: reading stops before it. No record ends in a zero (the mark), and sizes have a
 * checksum of their own, so everything else is damage: told with record and place, and refused. That is
 * also so for the last record: a flipped bit is never taken for a torn end.
 *
 * When the disk is full, a write may leave the beginning of a record: a torn end, too. The runner ends with RAD_EIO and
 * starts nothing more; the next runner cuts the torn end off and continues (flow/run, docs/flow-durability.md).
 *
 * Little-endian; numbers are varints (base/bytes.h), texts have their length before and a zero behind them. */
#ifndef RAD_FLOW_JOURNAL_JOURNAL_H
#define RAD_FLOW_JOURNAL_JOURNAL_H

#include "base/bytes.h"
#include "base/crc32.h"
#include "base/digest.h"
#include "flow/machine/instance.h"

enum {
    RAD_JOURNAL_VERSION = 1,
    RAD_JOURNAL_RECORD_MAX = 1 << 28, /* of a payload, in bytes */
    RAD_JOURNAL_INITIAL_MAX = RAD_FLOW_VARIABLES_MAX
};

/* ---- What is in it -------------------------------------------------------------------------------------- */

typedef struct rad_flow_journal_header {
    const char *raddle; /* version of the program that wrote it */
    const char *hash;   /* of the flow's text, SHA-256 in hexadecimal */
    const char *flow, *case_id, *policy;
    uint64_t seed, wall_ns;
    const rad_flow_initial *initial;
    uint32_t initial_count;
} rad_flow_journal_header;

enum rad_flow_record_type {
    RAD_RECORD_INPUT = 1, /* step, digest, wall, input, id */
    RAD_RECORD_STARTED,   /* wall, key, attempt, run, task: synced before anything is done */
    RAD_RECORD_STOPPED,   /* wall, key, attempt: nobody wants its result, and it has ended */
    RAD_RECORD_RESUMED,   /* wall: another runner continues from here */
    RAD_RECORD_DOUBT,     /* wall, key, attempt, run, settled */
    RAD_RECORD_END,       /* wall, step, state, whole digest, text: why it failed */
    RAD_RECORD_TYPES
};

/* How a doubt was settled. An effect that is run again has the next run. */
enum rad_flow_settled {
    RAD_SETTLED_NOT = 0, /* it was seen to be in doubt */
    RAD_SETTLED_DONE,
    RAD_SETTLED_FAILED,
    RAD_SETTLED_AGAIN,
    RAD_SETTLEDS
};

typedef struct rad_flow_record {
    enum rad_flow_record_type type;
    uint64_t sequence; /* from 1 */
    uint64_t offset;   /* in the file */
    uint64_t wall_ns, step;
    rad_digest digest; /* of an INPUT only the low half */
    rad_flow_input input;
    const char *id; /* of a signal or wish that waited in the spool; "" otherwise */
    const char *key;
    uint32_t attempt, run, task;
    enum rad_flow_settled settled;
    enum rad_flow_state state;
    const char *text;
    rad_flow_write writes[RAD_FLOW_VARIABLES_MAX]; /* of the input */
} rad_flow_record;

/* ---- Writing -------------------------------------------------------------------------------------------- */

/* Both append to `out`; out->failed when memory ran out. */
RAD_INTERNAL void rad__flow_journal_begin(rad_bytes *out, const rad_crc32 *crc, const rad_flow_journal_header *header);
RAD_INTERNAL void rad__flow_journal_put(rad_bytes *out, const rad_crc32 *crc, const rad_flow_record *record);

/* ---- Reading -------------------------------------------------------------------------------------------- */

typedef struct rad_flow_journal {
    const char *name; /* in messages; borrowed, as are the bytes */
    const uint8_t *data;
    size_t size;
    rad_crc32 crc;
    rad_flow_journal_header header; /* texts point into the bytes */
    rad_flow_initial initial[RAD_JOURNAL_INITIAL_MAX];
    size_t at;         /* of the next record; at the end: where the whole ones end */
    uint64_t sequence; /* of the last record */
    bool torn;         /* at the end: there is more, which is no whole record */
} rad_flow_journal;

/* RAD_EINPUT: no journal, another version (with both), a damaged header. */
RAD_INTERNAL int rad__flow_journal_open(rad_flow_journal *j, const char *name, const void *data, size_t size,
                                        rad_error *error);

/* 1: the next record, whose texts point into the bytes; 0: that was all; RAD_EINPUT: damage, with record and byte. */
RAD_INTERNAL int rad__flow_journal_next(rad_flow_journal *j, rad_flow_record *record, rad_error *error);

RAD_INTERNAL const char *rad__flow_record_name(enum rad_flow_record_type type);

/* ---- Texts in bytes, for the small files beside it ------------------------------------------------------- */

RAD_INTERNAL void rad__flow_put_text(rad_bytes *out, const char *text, size_t length);
/* NULL when it is none; *length may be NULL. */
RAD_INTERNAL const char *rad__flow_read_text(rad_reader *r, size_t *length);

#endif
