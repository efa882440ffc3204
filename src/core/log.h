/* log.h — the strict form of a run: every decision with the set it was made from.
 *
 * A log is a stream of records in blocks of at most 64 KiB. This file makes and reads records; it does no
 * input or output: finished blocks go to a callback, and the reader asks a callback for the next one.
 * lab/log_file.c packs blocks into a file. docs/files.md has the layout byte by byte.
 *
 * Record     DEFINE    the next action number: kind, actor, object, argument
 *            CHANGES   a part of the changes of the next decision, when there are very many
 *            DECISION  site, what left and entered the set since the last one, the action chosen
 *            PICK      kind, site, count, the index chosen
 *            END       result, steps, decisions, digest of the trace
 *
 * W1  every action that exists at a decision is defined before it; the log's numbers are the kernel's.
 * W2  a record lies in one block; a block begins with the numbers of its first record and decision.
 * W3  the writer keeps what a decision needs, not the run: memory grows with actions, not with steps. */
#ifndef RAD_CORE_LOG_H
#define RAD_CORE_LOG_H

#include "core/kernel.h"

enum {
    RAD_LOG_VERSION = 1,
    RAD_LOG_BLOCK_MAX = 64 << 10,
    RAD_LOG_CHANGES_MAX = 4096,    /* removed and added, in one record */
    RAD_LOG_ACTIONS_MAX = 1 << 24, /* of one run */
    RAD_LOG_BLOCK_HEAD_MAX = 20    /* two numbers */
};

enum rad_log_what { RAD_LOG_DEFINE = 1, RAD_LOG_CHANGES, RAD_LOG_DECISION, RAD_LOG_PICK, RAD_LOG_END };

enum rad_log_result { RAD_LOG_FINISHED = 0, RAD_LOG_FAILED = 1, RAD_LOG_CUT = 2 };

/* ---- Writing -------------------------------------------------------------------------------------- */

/* Takes a finished block (it is valid during the call); a negative result ends the run. */
typedef int (*rad_log_emit)(void *context, const uint8_t *block, uint32_t size, rad_error *error);

typedef struct rad_log_writer rad_log_writer;

RAD_INTERNAL int rad__log_writer_open(rad_log_writer **w, void *context, rad_log_emit emit, rad_error *error);

/* To be given to the one run it writes. */
RAD_INTERNAL rad_observer *rad__log_writer_observer(rad_log_writer *w);

/* How a run ended, as the END record has it. */
RAD_INTERNAL enum rad_log_result rad__log_result(const rad_kernel *k);

/* After the run, which must have finished, failed or been cut: the END record and the last block. */
RAD_INTERNAL int rad__log_writer_finish(rad_log_writer *w, const rad_kernel *k, rad_error *error);
RAD_INTERNAL void rad__log_writer_close(rad_log_writer *w); /* may be NULL */

/* ---- Reading -------------------------------------------------------------------------------------- */

typedef struct rad_log_action {
    uint64_t argument;
    uint32_t kind;
    uint32_t actor;
    uint32_t object;
} rad_log_action;

typedef struct rad_log_record {
    enum rad_log_what what;
    uint64_t number;   /* of the record, from 0 */
    uint64_t sequence; /* DECISION, PICK: of the decision, from 0 */
    uint32_t kind;     /* DECISION, PICK: enum rad_pick_kind */
    uint32_t site;     /* DECISION, PICK */
    uint32_t count;    /* DECISION, PICK: how many could be chosen */
    uint32_t chosen;   /* DECISION: an action, a member; PICK: an index below count */
    uint32_t action;   /* DEFINE: its number */
    rad_log_action definition;
    const uint32_t *removed, *added; /* CHANGES, DECISION: ascending; valid until the next record */
    uint32_t removed_count, added_count;
    enum rad_log_result result; /* END, from here on */
    uint64_t steps, decisions;
    rad_digest digest;
} rad_log_record;

/* Gives the next block: 1, or 0 at the end of the log, or a negative code. */
typedef int (*rad_log_refill)(void *context, const uint8_t **block, uint32_t *size, rad_error *error);

typedef struct rad_log_reader rad_log_reader;

/* `name` is for messages ("trial.log"); it is copied. */
RAD_INTERNAL int rad__log_reader_open(rad_log_reader **r, const char *name, void *context, rad_log_refill refill,
                                      rad_error *error);

/* 1 and a record, 0 after END, or RAD_EINPUT: "trial.log: record 17 (byte 1234): …". The byte counts
 * unpacked block content. All a record says has been checked against the records before it. */
RAD_INTERNAL int rad__log_next(rad_log_reader *r, rad_log_record *out, rad_error *error);
RAD_INTERNAL void rad__log_reader_close(rad_log_reader *r); /* may be NULL */

/* ---- Replay (policy_replay.c) --------------------------------------------------------------------- */

/* The strict policy; the reader is borrowed, at its beginning, and good for one run. */
RAD_INTERNAL int rad__policy_replay(rad_policy **p, rad_log_reader *r, rad_error *error);

/* What diverged, in full: the kernel's error has room for the first 511 bytes only. "" when nothing. */
RAD_INTERNAL const char *rad__replay_report(const rad_policy *p);

extern const rad_policy_class rad__replay_class; /* for the table of policies */

#endif
