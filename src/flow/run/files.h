/* files.h — the folder of a case.
 *
 *     journal                 what the case has lived through (journal.h); is there from the first sync on; held by
 *                             the runner
 *     flow                    the text it was begun with
 *     where                   the folder its commands run in
 *     lock                    held by the runner; has its process number
 *     effects/ID.lock         the effect has begun; held by its shim while that lives; has its process number
 *     effects/ID.receipt      how it ended: written whole, or not at all
 *     effects/ID.stop         its result is no longer wanted: its shim ends it
 *     effects/ID.out, .log    its standard output (the first MiB) and errors, for people
 *     signals/TIME-N          a signal, or a wish to cancel, that no runner has taken yet
 *
 * ID is the key of the effect in letters that files may have, its attempt, and its run if it was run again out of
 * doubt. Of two shims that want to begin an effect one gets the name of the lock (it is linked, already locked): only
 * that keeps an effect from running twice when a runner was killed between launching and knowing. */
#ifndef RAD_FLOW_RUN_FILES_H
#define RAD_FLOW_RUN_FILES_H

#include "flow/journal/journal.h"
#include "flow/run/host.h"

enum { RAD_FLOW_ID_MAX = 200, RAD_FLOW_FILE_MAX = RAD_FLOW_ID_MAX + 90, RAD_FLOW_OUTPUT_MAX = 1 << 20 };

RAD_INTERNAL void rad__flow_effect_id(char id[RAD_FLOW_ID_MAX], const char *key, uint32_t attempt, uint32_t run);
/* "effects/ID.END" */
RAD_INTERNAL void rad__flow_effect_file(char name[RAD_FLOW_FILE_MAX], const char *id, const char *end);

/* What is written under another name at first gets one that nobody else has: process numbers are not enough, for two
 * processes in two namespaces may have the same. */
RAD_INTERNAL void rad__flow_temporary(const rad_flow_host *host, char name[RAD_FLOW_FILE_MAX]);

/* A temporary file, synced, renamed, and the folder synced. `folder` is part of the name. */
RAD_INTERNAL int rad__flow_write_whole(const rad_flow_host *host, const char *folder, const char *name,
                                       const void *data, size_t size, rad_error *error);

/* Begins an effect: 1: it is ours, and *file holds the lock; 0: another process was first. */
RAD_INTERNAL int rad__flow_claim(const rad_flow_host *host, const char *id, int *file, rad_error *error);

/* enum rad_os_holder: whether a process has begun the effect, and lives. A lock that was deleted does not make it one
 * that was never begun: the file for its errors has its name by then, too. */
RAD_INTERNAL int rad__flow_effect_holder(const rad_flow_host *host, const char *id, rad_error *error);

/* Whoever has begun the effect, or is about to, is asked to end it: he looks for the file. No process number is needed
 * for that, which may be another process's by now, or mean another one where he lives. */
RAD_INTERNAL int rad__flow_ask_to_end(const rad_flow_host *host, const char *id, rad_error *error);
RAD_INTERNAL bool rad__flow_is_asked_to_end(const rad_flow_host *host, const char *id);

/* Which process wrote the lock file, for people; 0: it does not say. */
RAD_INTERNAL int rad__flow_lock_owner(const rad_flow_host *host, const char *name);

/* ---- Receipts ------------------------------------------------------------------------------------------- */

enum {
    RAD_RECEIPT_TIMED_OUT = 1,
    RAD_RECEIPT_CANCELLED = 2,
    RAD_RECEIPT_TOO_LONG = 4,   /* output beyond RAD_FLOW_OUTPUT_MAX was thrown away */
    RAD_RECEIPT_NOT_STARTED = 8 /* no process could be had */
};

typedef struct rad_flow_receipt {
    const char *key;
    uint32_t attempt, run;
    uint64_t began_ns, ended_ns;
    int status, signal;
    uint32_t flags;
    const char *output; /* if it was to be kept */
    size_t output_size;
} rad_flow_receipt;

RAD_INTERNAL void rad__flow_receipt_put(rad_bytes *out, const rad_flow_receipt *receipt);
/* Texts point into the bytes. */
RAD_INTERNAL int rad__flow_receipt_read(rad_flow_receipt *receipt, const char *name, const void *data, size_t size,
                                        rad_error *error);

/* ---- The spool ------------------------------------------------------------------------------------------ */

/* Whole, and in the order of sending as far as the clock tells it. */
RAD_INTERNAL int rad__flow_spool_put(const rad_flow_host *host, const rad_flow_input *input, rad_error *error);
/* Of a file in there: whether it is one of ours, and not a file of the user. */
RAD_INTERNAL bool rad__flow_is_spool_name(const char *name);
RAD_INTERNAL int rad__flow_spool_read(rad_flow_input *input, const char *name, const void *data, size_t size,
                                      rad_error *error);

#endif
