/* log_file.h — a log as a file: what was tried, then the records of core/log.h in packed blocks.
 *
 * To record:   rad__log_create, run with rad__log_observer among the observers, then
 *              rad__log_keep when the run finished or failed, rad__log_discard when it did not.
 * To replay:   rad__log_open, rad__log_head says what to run, rad__policy_replay on rad__log_reader,
 *              run, rad__log_close.
 *
 * The file appears under its name only in rad__log_keep. docs/files.md has the layout. */
#ifndef RAD_LAB_LOG_FILE_H
#define RAD_LAB_LOG_FILE_H

#include "core/log.h"
#include "lab/json.h"

#include <raddle/lab.h>

enum {
    RAD_LOG_HEAD_MAX = 64 << 20,  /* most of it is the body of the case */
    RAD_LOG_BYTES_MAX = 256 << 20 /* default limit of a writer, fixed limit of a reader */
};

/* Unpacked content: a packed block may be much smaller, so the file's size alone bounds nothing. */
#define RAD_LOG_UNPACKED_MAX (UINT64_C(4) << 30)

/* ---- Writing -------------------------------------------------------------------------------------- */

typedef struct rad_log_out rad_log_out;

/* `limit` in bytes of the file, 0 = RAD_LOG_BYTES_MAX, which is also the most; a run whose log would be
 * larger ends with RAD_ELIMIT. A seed above INT64_MAX is RAD_EINPUT. */
RAD_INTERNAL int rad__log_create(rad_log_out **out, const char *path, const rad_target *t, const char *policy,
                                 uint64_t seed, uint64_t limit, rad_error *error);
RAD_INTERNAL rad_observer *rad__log_observer(rad_log_out *out);

/* The same into memory, which another process may share; `size` is what was written so far. */
typedef struct rad_log_memory {
    volatile uint64_t size;
    uint64_t capacity; /* of bytes; more is RAD_ELIMIT */
    uint8_t bytes[];
} rad_log_memory;
RAD_INTERNAL int rad__log_create_in(rad_log_out **out, rad_log_memory *memory, const rad_target *t, const char *policy,
                                    uint64_t seed, rad_error *error);

/* Both end it. Keep fails without leaving a file. */
RAD_INTERNAL int rad__log_keep(rad_log_out *out, const rad_kernel *k, rad_error *error);
RAD_INTERNAL void rad__log_discard(rad_log_out *out); /* may be NULL */

/* ---- Reading -------------------------------------------------------------------------------------- */

typedef struct rad_log_head {
    rad_target target; /* owns its body */
    char policy[48];
    uint64_t seed;
    rad_json_build build;
    rad_lab_program program; /* that has the machine; path "": none */
} rad_log_head;

typedef struct rad_log_in rad_log_in;

/* Reads and checks the head; blocks are checked as they are read. */
RAD_INTERNAL int rad__log_open(rad_log_in **in, const char *path, rad_error *error);

/* The same from memory, which is borrowed; `name` is for messages. */
RAD_INTERNAL int rad__log_open_bytes(rad_log_in **in, const void *data, size_t size, const char *name,
                                     rad_error *error);

/* The program that has the machine, known here or not; path "": none, or the head cannot be read. */
RAD_INTERNAL void rad__log_program(const char *path, rad_lab_program *out);

RAD_INTERNAL const rad_log_head *rad__log_head(const rad_log_in *in);
RAD_INTERNAL rad_log_reader *rad__log_reader(rad_log_in *in);
RAD_INTERNAL void rad__log_close(rad_log_in *in); /* may be NULL */

#endif
