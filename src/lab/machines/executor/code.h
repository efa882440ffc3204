/* code.h — the instructions of the executor's trial tasks, and how people write them.
 *
 *     yield local | global | external             behind all work of the worker | of everybody
 *     spawn NAME local | global | external        a new task with program NAME; external asks the gate
 *     spawn NAME to WORKER                        to the inbox of one worker
 *     sleep TICKS                                 blocked until the time has come
 *     wait-io TOKEN [else PLACE]                  blocked until the event came; on its failure, go to PLACE
 *     try-acquire RESOURCE UNITS ok PLACE fail PLACE
 *     release RESOURCE UNITS
 *     jump PLACE
 *     complete                                    also what comes behind the last instruction
 *     panic                                       the task fails
 * PLACE is the number of an instruction; the length of the program means its end.
 *
 * An instruction takes one step of a worker. After all but yield, sleep, a wait that has to wait, complete and panic
 * the task stays its worker's current one: a new token would let other workers in between, which no task of a
 * real program can see happen, since nothing there gives the worker up. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_CODE_H
#define RAD_LAB_MACHINES_EXECUTOR_CODE_H

#include "base/bytes.h"
#include "base/check.h"

#define RAD_OP_LIST(X)                                                                                                 \
    X(YIELD, "yield")                                                                                                  \
    X(SPAWN, "spawn")                                                                                                  \
    X(SLEEP, "sleep")                                                                                                  \
    X(WAIT_IO, "wait-io")                                                                                              \
    X(ACQUIRE, "try-acquire")                                                                                          \
    X(RELEASE, "release")                                                                                              \
    X(JUMP, "jump")                                                                                                    \
    X(COMPLETE, "complete")                                                                                            \
    X(PANIC, "panic")

enum rad_op {
#define RAD_OP_ENUM(name, text) RAD_OP_##name,
    RAD_OP_LIST(RAD_OP_ENUM)
#undef RAD_OP_ENUM
        RAD_OP_COUNT
};

enum rad_place { RAD_PLACE_LOCAL = 0, RAD_PLACE_GLOBAL, RAD_PLACE_EXTERNAL, RAD_PLACE_TO };

enum { RAD_CODE_MAX = 256, RAD_TICKS_MAX = 1000000, RAD_BATCHES_MAX = 1000000 };

/* What is not used by an operation is 0. */
typedef struct rad_exec_instruction {
    uint8_t op;
    uint8_t place;
    uint16_t ok;     /* try-acquire; jump: where to */
    uint16_t fail;   /* try-acquire; wait-io: where to when it fails */
    uint16_t what;   /* program, resource, token */
    uint32_t amount; /* ticks, units; spawn to: the worker */
} rad_exec_instruction;

/* Reads one instruction. Program names are looked up by `find` (RAD_NONE: there is none). On failure false, and
 * `expected` says what should have been there. Numbers are checked against what an instruction can hold, not
 * against the case: that is done when all programs are known. */
typedef struct rad_code_names {
    uint32_t (*find)(const void *context, const char *name, size_t length);
    const char *(*name)(const void *context, uint32_t program);
    const void *context;
} rad_code_names;

RAD_INTERNAL bool rad__code_parse(const char *text, const rad_code_names *names, uint32_t self_length,
                                  rad_exec_instruction *out, const char **expected);
RAD_INTERNAL void rad__code_print(const rad_exec_instruction *in, const rad_code_names *names, char *text, size_t size);

RAD_INTERNAL const char *rad__opcode_name(uint32_t op);
RAD_INTERNAL const char *rad__place_name(uint32_t place);

#endif
