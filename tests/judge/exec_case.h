/* exec_case.h — the language of executor cases (docs/dev/executor-cases.md): values that can be made, written, cut. */
#ifndef RAD_TEST_EXEC_CASE_H
#define RAD_TEST_EXEC_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CASE_WORKERS = 4,
    CASE_RESOURCES = 2,
    CASE_PROGRAMS = 4,
    CASE_LENGTH = 8,
    CASE_LISTED = 6, /* tasks of the list */
    CASE_TASKS = 24, /* with those that are spawned */
    CASE_EVENTS = 5,
    CASE_TOKENS = 3,
    CASE_NO_PLACE = 255,
    CASE_TEXT = 8192
};

enum case_op {
    CASE_YIELD_LOCAL,
    CASE_YIELD_GLOBAL,
    CASE_YIELD_EXTERNAL,
    CASE_SPAWN_LOCAL,
    CASE_SPAWN_GLOBAL,
    CASE_SPAWN_EXTERNAL,
    CASE_SPAWN_TO,
    CASE_SLEEP,
    CASE_WAIT_IO,
    CASE_TRY_ACQUIRE,
    CASE_RELEASE,
    CASE_JUMP,
    CASE_COMPLETE,
    CASE_PANIC,
    CASE_OPS
};

typedef struct case_instruction {
    uint8_t op;
    uint8_t a; /* program, ticks, token, resource, place */
    uint8_t b; /* worker, place of else (or CASE_NO_PLACE), units */
    uint8_t ok, fail;
} case_instruction;

typedef struct case_program {
    uint8_t length;
    case_instruction code[CASE_LENGTH];
} case_program;

enum case_event_kind { CASE_IO, CASE_FAIL_IO, CASE_START, CASE_CLOSE, CASE_EVENT_KINDS };

typedef struct case_event {
    uint8_t time, kind, argument;
} case_event;

enum case_expect { CASE_EXPECT_ENDS, CASE_EXPECT_COMPLETED, CASE_EXPECT_REFUSED, CASE_EXPECT_DEADLOCK, CASE_EXPECTS };

typedef struct exec_case {
    uint8_t workers, steal_tries, ring;
    uint16_t hoard;
    bool round_robin, stop, eager;
    uint8_t resource_count, resources[CASE_RESOURCES];
    uint8_t program_count;
    case_program programs[CASE_PROGRAMS];
    uint8_t task_count;
    struct {
        uint8_t program, at;
    } tasks[CASE_LISTED];
    uint8_t runnable_count, runnable[CASE_LISTED];
    uint8_t event_count;
    case_event events[CASE_EVENTS];
    uint8_t expect;
    uint16_t max_steps; /* 0: the lab's own */
} exec_case;

/* The instruction as the case file has it; "complete" for running off the end. */
void exec_case_instruction_text(const exec_case *c, uint8_t program, uint8_t place, char *text, size_t size);

/* The case as a case file of that machine. */
void exec_case_json(const exec_case *c, const char *machine, char text[CASE_TEXT]);

const char *exec_case_expect_name(uint8_t expect);

/* The n-th way to make the case smaller, one thing at a time: an event, a task, an instruction, a worker, an option.
 * False: there are not that many. The result may be the same case, or one that the lab refuses. */
bool exec_case_cut(const exec_case *c, uint32_t n, exec_case *smaller);

#endif
