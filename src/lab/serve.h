/* serve.h — a process that does batches: reads them from one pipe, writes the results to another. */
#ifndef RAD_LAB_SERVE_H
#define RAD_LAB_SERVE_H

#include "lab/batch.h"
#include "lab/programs/source_name.h"

/* A message is its size and its bytes. 1 = read, 0 = end of stream, negative = error. */
RAD_INTERNAL int rad__message_read(int fd, rad_bytes *into, rad_error *error);
RAD_INTERNAL int rad__message_write(int fd, const rad_bytes *b, rad_error *error);

/* Instead of a result: what became of the process that did the batch. A result is longer. */
enum rad_worker_what {
    RAD_WORKER_DIED = 1, /* in a run, of which the shared memory tells */
    RAD_WORKER_AGAIN     /* the batch is to be done again, by another one: it is to be sent once more */
};

typedef struct rad_worker_note {
    uint32_t what;
    int32_t status, signal; /* as in rad_os_exit */
} rad_worker_note;

/* … or a question of a program's process, in the middle of a run: which source file is this of, or which line, as
 * reports have it? Answered in rad_rig_shared. */
typedef struct rad_worker_question {
    uint64_t number, offset, line;
    char module[RAD_SOURCE_MAX]; /* a library; "": the program */
} rad_worker_question;

_Static_assert(sizeof(rad_worker_question) < sizeof(rad_batch_result), "they are told apart by their size");

/* Until the stream of batches ends: 0, or the exit status of a process that gives up, for a reason of ours. All it
 * keeps is on the heap: a rig may run its kernel in children (rad_rig.apart), which share that. */
RAD_INTERNAL int rad__serve_batches(rad_rig *rig, int in, int out);

#endif
