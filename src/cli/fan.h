/* fan.h — many items, done by several processes, taken in order.
 *
 * Item i is done by process i mod N, which sends its result, a record without pointers, through a pipe. The caller
 * takes results strictly by number, so nothing it says depends on N. With one job everything happens in the caller. An
 * item whose process was killed is done again by another. */
#ifndef RAD_CLI_FAN_H
#define RAD_CLI_FAN_H

#include "command/cli.h"

enum { FAN_JOBS_MAX = 64, FAN_RESULT_MAX = 4096 };

typedef struct fan {
    cli *c;
    uint32_t jobs;
    uint64_t count;
    size_t size;                                                    /* of a result */
    void (*work)(void *context, uint64_t item, void *result);       /* in any process */
    bool (*take)(void *context, uint64_t item, const void *result); /* in the caller; false: stop */
    void *context;
} fan;

/* Returns 0, or an exit status with the message printed (EXIT_INTERRUPTED without one). */
int fan_run(const fan *f);

#endif
